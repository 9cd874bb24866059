//! The batches that were signed: kept before they are published, to answer challenges and to upload again.

use crate::disk::{self, Pending};
use crate::error::{LogError, Result};
use crate::frames::{MAGIC_LEN, wrong_magic};
use crate::layout::{self, BUNDLE_ENDING, SIGNATURE_ENDING, epochs_in};
use std::path::{Path, PathBuf};
use zx1_protocol::batch::{BATCH_MESSAGE_LEN, BatchMessage, Covered};
use zx1_protocol::bundle::{Bundle, Checked, Signed};
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::units::Epoch;

// The last byte is the format's version: 2. Files of version 1 are refused.
const MAGIC: &[u8; MAGIC_LEN] = b"ZX1SIG\0\x02";

/// A batch that was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedBatch {
    /// What was signed. Whether it can still land is computed from the chain, and not kept.
    pub message: BatchMessage,
    /// The log in which it was sealed.
    pub log_id: [u8; 16],
    /// The batch key that signed.
    pub signer: WalletKey,
    /// Its signature over [`BatchMessage::to_bytes`].
    pub signature: [u8; 64],
    /// Whether the data is still here, or was removed with [`SavedBatches::prune`].
    pub has_data: bool,
}

impl SavedBatch {
    /// The batch's own epoch.
    pub fn epoch(&self) -> Epoch {
        self.message.epoch
    }

    /// The epochs that it covers; `to` is its own.
    pub fn covered(&self) -> Covered {
        self.message.covered()
    }

    /// As it stands in the data.
    pub fn signed(&self) -> Signed {
        Signed { message: self.message, signer: self.signer, signature: self.signature }
    }

    fn encode(&self) -> Vec<u8> {
        let message = self.message.to_bytes();
        let fields: [&[u8]; 5] = [MAGIC, &self.log_id, &message, self.signer.as_array(), &self.signature];
        let mut bytes = fields.concat();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8], path: &Path, agent: &AgentId, epoch: Epoch, has_data: bool) -> Result<Self> {
        let damaged = || LogError::damaged(path, 0, "it does not have its checksum");
        let (fields, crc) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
        let (magic, rest) = fields.split_first_chunk::<MAGIC_LEN>().ok_or_else(damaged)?;
        if magic != MAGIC {
            return Err(wrong_magic(magic, MAGIC, path));
        }
        if crc32fast::hash(fields).to_be_bytes() != *crc {
            return Err(damaged());
        }
        let parse = || {
            let (log_id, rest) = rest.split_first_chunk::<16>()?;
            let (message, rest) = rest.split_first_chunk::<BATCH_MESSAGE_LEN>()?;
            let (signer, rest) = rest.split_first_chunk::<32>()?;
            let (message, signature) = (BatchMessage::parse(message)?, *rest.as_array::<64>()?);
            Some(Self { message, log_id: *log_id, signer: WalletKey::from(*signer), signature, has_data })
        };
        let saved = parse().ok_or_else(damaged)?;
        if saved.message.agent != *agent.as_bytes() || saved.epoch() != epoch {
            return Err(LogError::WrongOwner { path: path.to_owned() });
        }
        Ok(saved)
    }
}

/// The folder of signed batches. Reading needs no lock.
#[derive(Clone, Debug)]
pub struct SavedBatches {
    dir: PathBuf,
    agent: AgentId,
}

impl SavedBatches {
    pub(crate) fn new(agent_dir: &Path, agent: AgentId) -> Self {
        Self { dir: agent_dir.join(layout::BATCH_DIR), agent }
    }

    /// Where the data of this epoch's batch is, or would be.
    pub fn data_path(&self, epoch: Epoch) -> PathBuf {
        self.dir.join(format!("{}.{BUNDLE_ENDING}", epoch.0))
    }

    pub(crate) fn signature_path(&self, epoch: Epoch) -> PathBuf {
        self.dir.join(format!("{}.{SIGNATURE_ENDING}", epoch.0))
    }

    /// All of them, the oldest first.
    pub fn list(&self) -> Result<Vec<SavedBatch>> {
        let all = epochs_in(&self.dir, SIGNATURE_ENDING)?.into_iter().map(|epoch| self.get(epoch));
        all.filter_map(Result::transpose).collect()
    }

    /// The batch of this epoch, if one was signed.
    pub fn get(&self, epoch: Epoch) -> Result<Option<SavedBatch>> {
        let path = self.signature_path(epoch);
        let Some(bytes) = disk::read_if_there(&path)? else { return Ok(None) };
        let has_data = self.data_path(epoch).is_file();
        SavedBatch::decode(&bytes, &path, &self.agent, epoch, has_data).map(Some)
    }

    /// The data of this epoch's batch, with message and signature: a bundle that holds together and is the one
    /// that was signed.
    /// `None` when no batch was signed or its data was removed.
    pub fn bundle_bytes(&self, epoch: Epoch) -> Result<Option<Vec<u8>>> {
        let Some(saved) = self.get(epoch)? else { return Ok(None) };
        let path = self.data_path(epoch);
        let Some(bytes) = disk::read_if_there(&path)? else { return Ok(None) };
        let checked = check_bundle(&bytes, &self.agent, epoch)?;
        if checked.signed() != Some(&saved.signed()) {
            return Err(LogError::WrongBundle);
        }
        Ok(Some(bytes))
    }

    /// Removes the data of this epoch's batch; whether there was any. The signature stays, so the epoch
    /// stays closed. Only for batches whose challenge window is over and that have no open challenge, which
    /// the caller reads from the chain: without the data a challenge cannot be answered.
    pub fn prune(&self, epoch: Epoch) -> Result<bool> {
        // Without a signature it is a draft of a run that ended early, and not this function's business.
        if self.get(epoch)?.is_none() {
            return Ok(false);
        }
        disk::remove_if_there(&self.data_path(epoch))
    }

    /// Saves the data, then the signature: what has a signature has had its data on disk. Needs the lock.
    pub(crate) fn save(&self, saved: &SavedBatch, bundle: &Bundle<'_>) -> Result<()> {
        self.save_data(saved.epoch(), bundle)?;
        disk::write_whole(&self.signature_path(saved.epoch()), &saved.encode())
    }

    pub(crate) fn save_data(&self, epoch: Epoch, bundle: &Bundle<'_>) -> Result<()> {
        let mut pending = Pending::new(&self.data_path(epoch))?;
        for part in bundle.parts().slices() {
            pending.write(part)?;
        }
        pending.finish()?;
        disk::sync_dir(&self.dir)
    }
}

/// Whether these bytes have the form of a bundle. That is all that data must have before it is compared with
/// the chain: a batch that lies about itself was committed to all the same, and is what challenges are for.
pub(crate) fn check_form(bytes: &[u8]) -> Result<()> {
    Bundle::decode(bytes)?;
    Ok(())
}

/// Decodes the bundle and recomputes everything in it; refuses one of another agent or epoch. For what one
/// signs, saves and uploads oneself.
pub(crate) fn check_bundle<'b>(bytes: &'b [u8], agent: &AgentId, epoch: Epoch) -> Result<Checked<'b>> {
    let checked = Bundle::decode(bytes)?.check()?;
    let commitment = checked.commitment();
    if commitment.agent != *agent || commitment.epoch != epoch {
        return Err(LogError::WrongBundle);
    }
    Ok(checked)
}
