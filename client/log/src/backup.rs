//! A copy of an agent's whole folder, with a list of its files and their hashes.
//!
//! The list is written last: a copy without it is not a backup. Restoring an old copy is safe for nonces,
//! which never fall behind the clock (decision C4). It is **not** safe for the log: what was sent after
//! the copy was made is missing from it, and a batch built from it leaves deals out (decision B11). The copy
//! is the same log to those who compare ids; once the head has moved on, it signs nothing
//! ([`crate::AgentLog::next_batch`]).

use crate::disk;
use crate::error::{LogError, Result};
use crate::layout;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::AgentId;

/// The name of the list.
pub const MANIFEST: &str = "MANIFEST.json";
const VERSION: u32 = 2;
const FOLDERS: [&str; 3] = [layout::LOG_DIR, layout::PAYLOAD_DIR, layout::BATCH_DIR];
const FILES: [&str; 4] = [layout::NONCES, layout::ATTESTATIONS, layout::LOG_ID, layout::ADOPTED];

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of this format.
    pub version: u32,
    /// Whose it is.
    pub agent: AgentId,
    /// Every file, by path.
    pub files: Vec<BackupFile>,
}

/// One file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// Relative to the folder, with `/`.
    pub path: String,
    /// Length in bytes.
    pub len: u64,
    /// keccak256 of the content, as hex.
    pub keccak256: String,
}

/// Copies the agent's folder to `destination`, which is new or empty. Takes the folder's lock, so nothing
/// changes meanwhile.
pub fn export(
    agent_dir: impl AsRef<Path>,
    agent: AgentId,
    destination: impl AsRef<Path>,
) -> Result<Manifest> {
    let (from, to) = (agent_dir.as_ref(), destination.as_ref());
    let _lock = disk::lock(from, Duration::ZERO)?;
    require_empty(to)?;
    let mut files = Vec::new();
    for path in paths(from)? {
        let bytes = read(&from.join(&path))?;
        copy(to, &path, &bytes)?;
        files.push(BackupFile { len: bytes.len() as u64, keccak256: digest(&bytes), path });
    }
    let manifest = Manifest { version: VERSION, agent, files };
    let list = serde_json::to_vec_pretty(&manifest).map_err(std::io::Error::other);
    let list_path = to.join(MANIFEST);
    disk::write_whole(&list_path, &list.map_err(LogError::io("write", &list_path))?)?;
    Ok(manifest)
}

/// Reads the backup and compares every file with the list.
pub fn verify(backup: impl AsRef<Path>) -> Result<Manifest> {
    let dir = backup.as_ref();
    let not_a_backup = || LogError::NotABackup { path: dir.to_owned() };
    let list = disk::read_if_there(&dir.join(MANIFEST))?.ok_or_else(not_a_backup)?;
    let manifest: Manifest = serde_json::from_slice(&list).map_err(|_| not_a_backup())?;
    let known = manifest.files.iter().all(|file| is_known(&file.path));
    if manifest.version != VERSION || !known {
        return Err(not_a_backup());
    }
    for file in &manifest.files {
        read_listed(dir, file)?;
    }
    Ok(manifest)
}

/// Restores a backup into the agent's folder, which is new or empty. Every file is compared with the list
/// before it is written.
pub fn import(backup: impl AsRef<Path>, agent_dir: impl AsRef<Path>, agent: AgentId) -> Result<Manifest> {
    let (from, to) = (backup.as_ref(), agent_dir.as_ref());
    let manifest = verify(from)?;
    if manifest.agent != agent {
        return Err(LogError::NotABackup { path: from.to_owned() });
    }
    require_empty(to)?;
    let _lock = disk::lock(to, Duration::ZERO)?;
    for file in &manifest.files {
        copy(to, &file.path, &read_listed(from, file)?)?;
    }
    Ok(manifest)
}

/// The folder's files in this crate's layout, relative and sorted.
fn paths(dir: &Path) -> Result<Vec<String>> {
    let mut paths: Vec<String> =
        FILES.iter().filter(|name| dir.join(name).is_file()).map(|name| (*name).to_owned()).collect();
    for folder in FOLDERS {
        for path in disk::files_in(&dir.join(folder))? {
            let name = path.file_name().and_then(|name| name.to_str());
            paths.extend(name.map(|name| format!("{folder}/{name}")));
        }
    }
    Ok(paths)
}

/// Whether a path of a list is one that [`paths`] gives: it must not lead out of the folder.
fn is_known(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    let parts = (parts.next(), parts.next(), parts.next());
    match parts {
        (Some(Component::Normal(name)), None, None) => FILES.iter().any(|known| name == *known),
        (Some(Component::Normal(folder)), Some(Component::Normal(_)), None) => {
            FOLDERS.iter().any(|known| folder == *known)
        }
        _ => false,
    }
}

fn copy(to: &Path, path: &str, bytes: &[u8]) -> Result<()> {
    let target: PathBuf = to.join(path);
    if let Some(folder) = target.parent() {
        disk::create_dir(folder)?;
    }
    disk::write_whole(&target, bytes)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(LogError::io("read", path))
}

fn read_listed(dir: &Path, file: &BackupFile) -> Result<Vec<u8>> {
    let path = dir.join(&file.path);
    let damaged = || LogError::BackupDamaged { path: path.clone() };
    let bytes = disk::read_if_there(&path)?.ok_or_else(damaged)?;
    let same = bytes.len() as u64 == file.len && digest(&bytes) == file.keccak256;
    if same { Ok(bytes) } else { Err(damaged()) }
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha3::hashv(&[bytes]))
}

/// Makes the folder if there is none; it may hold a lock and nothing else.
fn require_empty(dir: &Path) -> Result<()> {
    disk::create_dir(dir)?;
    let mut entries = fs::read_dir(dir).map_err(LogError::io("read the folder", dir))?;
    let empty = entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == disk::LOCK_FILE));
    if empty { Ok(()) } else { Err(LogError::NotEmpty { path: dir.to_owned() }) }
}
