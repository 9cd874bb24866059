//! The payloads beside the log: one file each, named by its keccak256 (decision C2).

use crate::disk::{self, Pending};
use crate::error::{LogError, Result};
use crate::layout::PAYLOAD_DIR;
use std::path::{Path, PathBuf};
use zx1_protocol::hash::{Hash, Keccak, Sha3};

/// The folder of payloads. Reading needs no lock; writing is [`crate::AgentLog`]'s.
#[derive(Clone, Debug)]
pub(crate) struct Payloads {
    dir: PathBuf,
    /// The agent's folder.
    above: PathBuf,
}

impl Payloads {
    pub(crate) fn new(agent_dir: &Path) -> Self {
        Self { dir: agent_dir.join(PAYLOAD_DIR), above: agent_dir.to_owned() }
    }

    fn path(&self, hash: &Hash) -> PathBuf {
        self.dir.join(hex::encode(hash))
    }

    /// The payload of this hash, compared with it; `None` when there is none. The empty payload is always
    /// there.
    pub(crate) fn get(&self, hash: &Hash) -> Result<Option<Vec<u8>>> {
        if *hash == Sha3::hashv(&[]) {
            return Ok(Some(Vec::new()));
        }
        let path = self.path(hash);
        let Some(payload) = disk::read_if_there(&path)? else { return Ok(None) };
        if Sha3::hashv(&[&payload]) != *hash {
            return Err(LogError::PayloadDamaged { path });
        }
        Ok(Some(payload))
    }

    /// Stores all of them with one sync of the folder; they are on disk when it returns. A file whose
    /// content has been damaged is written again.
    pub(crate) fn put_all<'p>(&self, payloads: impl IntoIterator<Item = (&'p Hash, &'p [u8])>) -> Result<()> {
        let mut any = false;
        for (hash, payload) in payloads {
            if payload.is_empty() {
                continue;
            }
            any = true;
            let path = self.path(hash);
            if !has_content(&path, payload)? {
                let mut pending = Pending::new_in(&self.above, &path)?;
                pending.write(payload)?;
                pending.finish()?;
            }
        }
        // Also for a file that was there: its name may be from a run that ended before this sync.
        if any { disk::sync_dir(&self.dir) } else { Ok(()) }
    }
}

fn has_content(path: &Path, payload: &[u8]) -> Result<bool> {
    Ok(disk::read_if_there(path)?.is_some_and(|content| content == payload))
}
