//! Commit with an undo record, undo, repair.
//!
//! New objects are written beside their places and synced, then each is exchanged with the old one in one
//! rename; old ones are kept. The record says what is going on, so a crash is carried to its end or taken
//! back by whoever opens the records next (decision E11).

mod apply;
mod journal;
mod plan;
#[doc(hidden)]
pub mod testing;
mod tree;
mod undo;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::event::Timespec;
use zx1_home::{Clock as _, SystemClock, files};

pub use journal::RecordState;

use crate::changes::{ChangeSet, Consents, Kind};
use crate::error::{Result, SandboxError};
use crate::raw::Raw;
use journal::Folder;

/// The folder with the records of all commits of a user.
#[derive(Debug)]
pub struct Records {
    dir: PathBuf,
    repaired: Vec<Repaired>,
}

/// What was done to a commit or an undo that a crash had interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repaired {
    /// The commit of this record had not begun to take effect; nothing of it is left.
    TakenBack(String),
    /// The commit was carried to its end.
    Committed(String),
    /// The undo was carried to its end.
    Undone(String),
}

/// A finished commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRecord {
    id: String,
    folder: PathBuf,
}

impl UndoRecord {
    /// Id of the record, for [`Records::undo`].
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the record and the old files lie.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// A line of the list of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordInfo {
    /// Id of the record, for [`Records::undo`].
    pub id: String,
    /// Unix time of the commit, seconds.
    pub created: u64,
    /// The working tree.
    pub work_tree: PathBuf,
    /// Whether it can be undone.
    pub state: RecordState,
    /// What the commit did.
    pub changes: Vec<(Kind, PathBuf)>,
}

impl Records {
    /// Opens or makes the folder (mode 0700) and repairs what a crash interrupted.
    ///
    /// # Errors
    ///
    /// 9230: the folder cannot be used. 9234: another process is at it. 9235: a repair needs a person.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        let dir = dir.into();
        let made = files::make_folder(&dir).and_then(|()| fs::canonicalize(&dir));
        let dir = made.map_err(|error| SandboxError::records(&dir, error))?;
        let mut records = Self { dir, repaired: Vec::new() };
        let _lock = journal::lock(&records.dir)?;
        records.repaired = records.repair()?;
        Ok(records)
    }

    /// What opening repaired.
    #[must_use]
    pub fn repaired(&self) -> &[Repaired] {
        &self.repaired
    }

    fn repair(&self) -> Result<Vec<Repaired>> {
        let mut repaired = Vec::new();
        for id in self.ids()? {
            let folder = Folder::of(&self.dir, &id);
            match folder.state()? {
                None => folder.remove()?,
                Some(RecordState::Preparing) => {
                    apply::take_back(&folder, &folder.load()?)?;
                    repaired.push(Repaired::TakenBack(id));
                }
                Some(RecordState::Committing) => {
                    apply::roll_forward(&folder, &folder.load()?)?;
                    repaired.push(Repaired::Committed(id));
                }
                Some(RecordState::Undoing) => {
                    undo::carry_on(&folder, &folder.load()?)?;
                    repaired.push(Repaired::Undone(id));
                }
                Some(RecordState::Done | RecordState::Undone) => {}
            }
        }
        Ok(repaired)
    }

    fn ids(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.dir).map_err(|error| SandboxError::records(&self.dir, error))?;
        let mut ids: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        ids.sort();
        Ok(ids)
    }

    /// All records, oldest first.
    ///
    /// # Errors
    ///
    /// 9230: one cannot be read.
    pub fn list(&self) -> Result<Vec<RecordInfo>> {
        let mut list = Vec::new();
        for id in self.ids()? {
            let folder = Folder::of(&self.dir, &id);
            let Some(state) = folder.state()? else { continue };
            let plan = folder.load()?;
            list.push(RecordInfo {
                id,
                created: plan.created,
                work_tree: plan.work_tree.path(),
                state,
                changes: plan.summary.iter().map(|(kind, path): &(Kind, Raw)| (*kind, path.path())).collect(),
            });
        }
        Ok(list)
    }

    /// Puts back what a commit replaced and removes what it added, file by file. What was changed since, by content,
    /// stays; its paths are given.
    ///
    /// # Errors
    ///
    /// 9231: no such record. 9232: it is undone already. 9233: everything was changed since; nothing is undone
    /// then. 9235: a step failed; opening the records again carries on.
    pub fn undo(&self, id: &str) -> Result<Vec<PathBuf>> {
        let _lock = journal::lock(&self.dir)?;
        let folder = self.folder(id)?;
        match folder.state()? {
            Some(RecordState::Done) => undo::undo(&folder, folder.load()?),
            Some(state) => Err(SandboxError::NotUndoable { id: id.to_owned(), state: state.to_string() }),
            None => Err(SandboxError::NoRecord { id: id.to_owned() }),
        }
    }

    /// Removes a record and the old files; the commit stays and cannot be undone any more.
    ///
    /// # Errors
    ///
    /// 9231: no such record. 9232: it is at work.
    pub fn forget(&self, id: &str) -> Result<()> {
        let _lock = journal::lock(&self.dir)?;
        let folder = self.folder(id)?;
        match folder.state()? {
            Some(RecordState::Done | RecordState::Undone) => folder.remove(),
            Some(state) => Err(SandboxError::NotUndoable { id: id.to_owned(), state: state.to_string() }),
            None => Err(SandboxError::NoRecord { id: id.to_owned() }),
        }
    }

    /// An id is one name that exists here: never a way out of the folder.
    fn folder(&self, id: &str) -> Result<Folder> {
        if self.ids()?.iter().any(|known| known == id) {
            return Ok(Folder::of(&self.dir, id));
        }
        Err(SandboxError::NoRecord { id: id.to_owned() })
    }
}

/// Every reason against a commit.
pub(crate) fn check(
    changes: &ChangeSet,
    consents: &Consents,
    baseline: Timespec,
    records: &Records,
) -> Result<()> {
    plan::check(changes, consents, baseline, &records.dir)
}

/// Checks once more, under the lock, and commits.
pub(crate) fn commit(
    changes: &ChangeSet,
    consents: &Consents,
    baseline: Timespec,
    records: &Records,
    mut open: impl FnMut(&Path) -> Result<File>,
) -> Result<UndoRecord> {
    let _lock = journal::lock(&records.dir)?;
    plan::check(changes, consents, baseline, &records.dir)?;
    let now = SystemClock.since_epoch();
    // Sorts by time; the process id keeps two commits of one millisecond apart.
    let id = format!("{:013}-{}", now.as_millis(), std::process::id());
    let plan = plan::plan(changes, id.clone(), now.as_secs());
    let folder = Folder::of(&records.dir, &id);
    apply::commit(&folder, plan, changes, &mut open)?;
    Ok(UndoRecord { id, folder: folder.path().to_owned() })
}
