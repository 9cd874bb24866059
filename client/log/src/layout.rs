//! Where things are in an agent's folder, and what the files begin with.

use crate::frames::{Identity, MAGIC_LEN};
use std::path::{Path, PathBuf};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

pub(crate) const LOG_DIR: &str = "log";
pub(crate) const PAYLOAD_DIR: &str = "payloads";
pub(crate) const BATCH_DIR: &str = "batches";
pub(crate) const NONCES: &str = "nonces";
pub(crate) const ATTESTATIONS: &str = "attestations";
/// The log's own id, drawn when it was made.
pub(crate) const LOG_ID: &str = "id";
/// The head that a person has said to go on from.
pub(crate) const ADOPTED: &str = "adopted";
/// The owner's socket.
pub(crate) const SOCKET: &str = "log.sock";
pub(crate) const BUNDLE_ENDING: &str = "zx1batch";
pub(crate) const SIGNATURE_ENDING: &str = "sig";
const LOG_ENDING: &str = "log";

// The last byte is the format's version: 2. Files of version 1 are refused.
const LOG_MAGIC: &[u8; MAGIC_LEN] = b"ZX1LOG\0\x02";
const NONCES_MAGIC: &[u8; MAGIC_LEN] = b"ZX1NON\0\x02";
const ATTESTATIONS_MAGIC: &[u8; MAGIC_LEN] = b"ZX1ATT\0\x02";
const LOG_ID_MAGIC: &[u8; MAGIC_LEN] = b"ZX1LID\0\x02";
const ADOPTED_MAGIC: &[u8; MAGIC_LEN] = b"ZX1HED\0\x02";

/// The folder of an agent: `<config>/agents/<mint in base58>`.
pub fn agent_dir(config_dir: &Path, agent: &AgentId) -> PathBuf {
    config_dir.join("agents").join(agent.to_string())
}

pub(crate) fn log_file(dir: &Path, epoch: Epoch) -> PathBuf {
    dir.join(LOG_DIR).join(format!("{}.{LOG_ENDING}", epoch.0))
}

pub(crate) fn log_identity(agent: &AgentId, epoch: Epoch) -> Identity {
    Identity::new(LOG_MAGIC, agent, epoch.0)
}

pub(crate) fn nonces_identity(agent: &AgentId) -> Identity {
    Identity::new(NONCES_MAGIC, agent, 0)
}

pub(crate) fn attestations_identity(agent: &AgentId) -> Identity {
    Identity::new(ATTESTATIONS_MAGIC, agent, 0)
}

pub(crate) fn id_identity(agent: &AgentId) -> Identity {
    Identity::new(LOG_ID_MAGIC, agent, 0)
}

pub(crate) fn adopted_identity(agent: &AgentId) -> Identity {
    Identity::new(ADOPTED_MAGIC, agent, 0)
}

/// The epoch in a name like `20783.log`; `None` for other names, also for other ways to write the number.
pub(crate) fn epoch_of(path: &Path, ending: &str) -> Option<Epoch> {
    let stem = path.file_stem()?.to_str()?;
    let epoch: u64 = stem.parse().ok()?;
    (path.extension()? == ending && epoch.to_string() == stem).then_some(Epoch(epoch))
}

/// The epochs that have a log file, ascending.
pub(crate) fn log_epochs(dir: &Path) -> crate::Result<Vec<Epoch>> {
    epochs_in(&dir.join(LOG_DIR), LOG_ENDING)
}

/// The epochs that have a file with this ending, ascending.
pub(crate) fn epochs_in(dir: &Path, ending: &str) -> crate::Result<Vec<Epoch>> {
    let files = crate::disk::files_in(dir)?;
    let mut epochs: Vec<Epoch> = files.iter().filter_map(|path| epoch_of(path, ending)).collect();
    epochs.sort_unstable();
    Ok(epochs)
}
