//! Saving what is readable of a damaged log file. Never done by itself: it loses entries that had been
//! acknowledged, and someone has to know that.

use crate::disk;
use crate::error::{LogError, Result};
use crate::frames::{self, FrameFile};
use crate::layout::{BATCH_DIR, LOG_DIR, SIGNATURE_ENDING, epochs_in, log_file, log_identity};
use crate::record::StoredEntry;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

/// What [`salvage`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// Entries of the new file, in the order of the old one.
    pub kept: u32,
    /// Bytes that belonged to no readable entry. 0 means that only the header was damaged.
    pub lost_bytes: u64,
    /// The damaged file.
    pub damaged_copy: PathBuf,
}

/// Writes a new file of the readable entries of a damaged one, and keeps the damaged one beside it.
///
/// Refuses an epoch for which a batch has been signed: its leaves must stay as they are. Restore that one
/// from a backup, or leave it: the saved batch has all its leaves.
pub fn salvage(dir: impl AsRef<Path>, agent: AgentId, epoch: Epoch) -> Result<Salvaged> {
    let dir = dir.as_ref();
    let _lock = disk::lock(dir, Duration::ZERO)?;
    let sealed = epochs_in(&dir.join(BATCH_DIR), SIGNATURE_ENDING)?.last().copied();
    if sealed.is_some_and(|sealed| epoch <= sealed) {
        return Err(LogError::EpochSealed(epoch));
    }
    let (path, identity) = (log_file(dir, epoch), log_identity(&agent, epoch));
    let mut bodies = Vec::new();
    let lost_bytes = frames::salvage(&path, &identity, |body| {
        // The index does not matter here; whether it is an entry does.
        if StoredEntry::decode_entry(body, epoch, 0, &path).is_ok() {
            bodies.push(body.to_vec());
        }
    })?;
    let damaged_copy = free_name(&path);
    fs::copy(&path, &damaged_copy).map_err(LogError::io("copy", &path))?;
    let synced = fs::File::open(&damaged_copy).and_then(|file| file.sync_all());
    synced.map_err(LogError::io("sync", &damaged_copy))?;
    disk::sync_dir(&dir.join(LOG_DIR))?;
    let file = FrameFile::create_with(&path, &identity, bodies.into_iter())?;
    Ok(Salvaged { kept: file.count(), lost_bytes, damaged_copy })
}

/// The first of `20783.log.damaged-1`, `-2` and so on that is free.
fn free_name(path: &Path) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        PathBuf::from(name)
    };
    (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(u32::MAX))
}
