//! Contracts under way, on disk before they are sent: nothing is lost by a crash, and a later session goes on where
//! this one stopped.

use crate::{Error, Refusal, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use zx1_home::{Lock, LockError, files, keys};
use zx1_market::{ContractId, Json, PartyId};
use zx1_sandbox::{Kind, RecordInfo, RecordState};

/// Largest record in bytes.
const LIMIT: u64 = 1 << 22;

/// A fix that was applied, or is being applied.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Applied {
    /// The `fix` entry's number.
    pub seq: u64,
    /// Undo records that were there before, so that the new one is recognised.
    pub before: Vec<String>,
    /// The process that applies it: its number is a part of the undo record's name.
    #[serde(default)]
    pub process: u32,
    /// What it changes, as [`fingerprint`] has it.
    #[serde(default)]
    pub changes: String,
    /// The commit is done; its undo record, unless nothing had to be changed.
    pub done: Option<Option<String>>,
}

impl Applied {
    /// Whether an undo record is this commit's. Another fix may have committed since, also in this folder: an
    /// agent must not be paid for that one.
    pub fn is(&self, undo: &RecordInfo, folder: &Path) -> bool {
        let process = undo.id.rsplit_once('-').map(|(_, process)| process);
        undo.state == RecordState::Done
            && !self.before.contains(&undo.id)
            && process == Some(self.process.to_string().as_str())
            && undo.work_tree == folder
            && fingerprint(undo.changes.iter().map(|(kind, path)| (*kind, path.as_path()))) == self.changes
    }
}

/// Which paths are changed, and how: short, whatever a fix changes.
pub fn fingerprint<'a>(changes: impl Iterator<Item = (Kind, &'a Path)>) -> String {
    let change = |(kind, path): (Kind, &Path)| Json::Str(format!("{kind:?} {}", path.display()));
    let hash = Json::Array(changes.map(change).collect()).sha256();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A contract of this user.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Its id; none until the post is known to be signed.
    pub id: Option<ContractId>,
    /// URL of the market at which it was posted.
    pub url: String,
    /// The market server's key.
    pub server: PartyId,
    /// The command to be fixed, as a shell reads it.
    pub line: String,
    /// The folder in which the command failed.
    pub folder: PathBuf,
    /// The exit code with which the command failed.
    pub exit: u8,
    /// Hosts that a fix may reach.
    pub hosts: Vec<String>,
    /// The contract, to find its post again.
    pub contract: Json,
    /// Contracts of this server whose transcripts were kept when this one was noted: its post is none of them.
    #[serde(default)]
    pub before: Vec<ContractId>,
    /// The fix that was applied.
    pub applied: Option<Applied>,
}

/// A record that this process has locked.
#[derive(Debug)]
pub struct Held {
    /// The content of the record's file.
    pub record: Record,
    path: PathBuf,
    lock: Lock,
}

fn lock(path: &Path, name: &str) -> Result<Lock> {
    Lock::try_take(&path.with_extension("lock")).map_err(|error| match error {
        LockError::Held { .. } => Refusal::OtherRun { id: name.to_owned() }.into(),
        LockError::Io { path, source } => Error::Write { path, source },
    })
}

impl Held {
    /// Notes a contract in `home` before it is posted.
    ///
    /// # Errors
    /// [`Error::Write`]: nothing may be sent then.
    pub(crate) fn begin(home: &Path, record: Record) -> Result<Self> {
        let folder = folder(home);
        files::make_folder(&folder).map_err(Error::write(&folder))?;
        let random = keys::random().map_err(Error::write(&folder))?;
        let name: String = random.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{name}.json"));
        let held = Self { lock: lock(&path, &name)?, path, record };
        held.save()?;
        Ok(held)
    }

    /// Writes what is known now, durably.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub(crate) fn save(&self) -> Result<()> {
        let text = serde_json::to_vec(&self.record).map_err(std::io::Error::other);
        text.and_then(|text| files::replace(&self.path, &text)).map_err(Error::write(&self.path))
    }

    /// Removes the record of a contract that has ended: the transcript says the rest.
    pub(crate) fn forget(self) {
        // What stays is found to have ended the next time.
        let _ = std::fs::remove_file(&self.path);
        self.lock.remove();
    }
}

fn folder(home: &Path) -> PathBuf {
    home.join("contracts")
}

/// All records of `home` with their files.
///
/// # Errors
/// [`Error::Read`], 9553.
pub fn all(home: &Path) -> Result<Vec<(PathBuf, Record)>> {
    let folder = folder(home);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::read(&folder)(error.into())),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let Some(bytes) = files::read(&path, LIMIT).map_err(Error::read(&path))? else { continue };
        let record = serde_json::from_slice(&bytes).map_err(|error| Refusal::StateMalformed {
            path: path.display().to_string(),
            why: error.to_string(),
        })?;
        found.push((path, record));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Locks a record.
///
/// # Errors
/// 9556: another process has it.
pub fn take((path, record): (PathBuf, Record)) -> Result<Held> {
    let name = record.id.map_or_else(|| "of this command".to_owned(), |id| id.to_string());
    Ok(Held { lock: lock(&path, &name)?, path, record })
}

/// The record of a contract in `home`.
///
/// # Errors
/// [`Error::Read`], 9553.
pub fn of(home: &Path, id: ContractId) -> Result<Option<(PathBuf, Record)>> {
    Ok(all(home)?.into_iter().find(|(_, record)| record.id == Some(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_commit_of_this_process_in_this_folder_with_these_changes_is_the_fix() {
        let folder = Path::new("/work");
        let changes = vec![(Kind::Added, folder.join("done"))];
        let of = |changes: &[(Kind, PathBuf)]| {
            fingerprint(changes.iter().map(|(kind, path)| (*kind, path.as_path())))
        };
        let applied = Applied {
            seq: 7,
            before: vec!["0000000000001-42".to_owned()],
            process: 42,
            changes: of(&changes),
            done: None,
        };
        let ours = RecordInfo {
            id: "0000000000002-42".to_owned(),
            created: 2,
            work_tree: folder.to_owned(),
            state: RecordState::Done,
            changes: changes.clone(),
        };
        assert!(applied.is(&ours, folder));
        let others = [
            RecordInfo { id: "0000000000001-42".to_owned(), ..ours.clone() },
            RecordInfo { id: "0000000000002-43".to_owned(), ..ours.clone() },
            RecordInfo { work_tree: PathBuf::from("/elsewhere"), ..ours.clone() },
            RecordInfo { state: RecordState::Undone, ..ours.clone() },
            RecordInfo { changes: vec![(Kind::Modified, folder.join("done"))], ..ours.clone() },
            RecordInfo { changes: Vec::new(), ..ours },
        ];
        for other in others {
            assert!(!applied.is(&other, folder), "{other:?}");
        }
    }
}
