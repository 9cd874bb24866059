//! Records on disk: what a commit is going to do, before it does it.
//!
//! One folder a commit: `record.json` (the operations), `state` (one word), `backup/` (what was replaced).
//! The state decides what a crash means: before `committing` nothing is in its place yet and everything is
//! taken back; from `committing` on everything is carried to its end.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zx1_home::{Lock, LockError, files};

use super::tree::Stamped;
use crate::changes::{Kind, Meta};
use crate::error::{Result, SandboxError, show};
use crate::raw::Raw;

/// Version of `record.json`.
const VERSION: u32 = 2;

/// How far a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordState {
    /// New files are being written beside their places.
    Preparing,
    /// They are being put into their places.
    Committing,
    /// The commit is complete and can be undone.
    Done,
    /// The old files are being put back.
    Undoing,
    /// The commit was undone.
    Undone,
}

impl RecordState {
    fn word(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Committing => "committing",
            Self::Done => "done",
            Self::Undoing => "undoing",
            Self::Undone => "undone",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        let all = [Self::Preparing, Self::Committing, Self::Done, Self::Undoing, Self::Undone];
        all.into_iter().find(|state| state.word() == word)
    }
}

impl std::fmt::Display for RecordState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What one operation does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Action {
    /// Puts a new object into its place; the old one, if there is one, takes the place of the new one.
    Place {
        had_old: bool,
        /// Device and inode of the new object, once it is written.
        new: Option<(u64, u64)>,
        /// Of everything in the new tree, to see later what somebody changed of it.
        stamps: Vec<Stamp>,
    },
    /// Moves an object aside.
    Remove,
    /// Changes mode, owner, attributes or time.
    Meta { before: Box<Meta>, after: Box<Meta> },
}

/// One object that a commit has put somewhere: its name below the operation's path, and its kind with content or
/// target. Times, rights and what lies beside it do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    #[serde(with = "crate::raw::path")]
    pub(super) name: PathBuf,
    pub(super) is: Stamped,
}

/// What an undo does with one operation, decided before it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Undo {
    /// All of it goes back.
    Whole,
    /// Only these names of a new directory go: the rest was changed, or is not the commit's.
    Part(Vec<Stamp>),
    /// It stays as it is.
    Left,
}

/// One operation. Its number is its index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Op {
    #[serde(with = "crate::raw::path")]
    pub(super) path: PathBuf,
    /// The name beside it under which the new object waits and the old one leaves.
    #[serde(with = "crate::raw::path")]
    pub(super) beside: PathBuf,
    pub(super) action: Action,
}

/// Modification time, seconds and nanoseconds.
type Mtime = (i64, u32);

/// Contents of `record.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) version: u32,
    pub(super) id: String,
    /// Unix time of the commit, seconds.
    pub(super) created: u64,
    pub(super) work_tree: Raw,
    pub(super) digest: String,
    pub(super) ops: Vec<Op>,
    /// Directories whose times change: before, and after if the sandbox says so.
    pub(super) dirs: Vec<(Raw, Mtime, Option<Mtime>)>,
    /// For lists: what happened to which path.
    pub(super) summary: Vec<(Kind, Raw)>,
    /// For each operation, once an undo has begun.
    #[serde(default)]
    pub(super) undo: Vec<Undo>,
}

impl Plan {
    pub(super) fn new(id: String, created: u64, work_tree: &Path, digest: &str) -> Self {
        Self {
            version: VERSION,
            id,
            created,
            work_tree: Raw::from(work_tree),
            digest: digest.to_owned(),
            ops: Vec::new(),
            dirs: Vec::new(),
            summary: Vec::new(),
            undo: Vec::new(),
        }
    }
}

/// The folder of one record.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(super) fn of(records: &Path, id: &str) -> Self {
        Self { path: records.join(id) }
    }

    pub(super) fn create(&self) -> Result<()> {
        let made = fs::DirBuilder::new()
            .mode(0o700)
            .create(&self.path)
            .and_then(|()| fs::DirBuilder::new().mode(0o700).create(self.path.join("backup")));
        made.map_err(|error| SandboxError::records(&self.path, error))
    }

    pub(super) fn backup(&self, index: usize) -> PathBuf {
        self.path.join("backup").join(index.to_string())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn save(&self, plan: &Plan) -> Result<()> {
        let text =
            serde_json::to_vec_pretty(plan).map_err(|error| SandboxError::records(&self.path, error))?;
        self.write("record.json", &text)
    }

    pub(super) fn load(&self) -> Result<Plan> {
        let path = self.path.join("record.json");
        let text = fs::read(&path).map_err(|error| SandboxError::records(&path, error))?;
        let plan: Plan =
            serde_json::from_slice(&text).map_err(|error| SandboxError::records(&path, error))?;
        if plan.version == VERSION {
            return Ok(plan);
        }
        Err(SandboxError::records(
            &path,
            format!("it is of version {}, this program knows {VERSION}", plan.version),
        ))
    }

    /// The point of no return of every phase: written, synced and renamed.
    pub(super) fn set_state(&self, state: RecordState) -> Result<()> {
        self.write("state", state.word().as_bytes())
    }

    /// A folder without a state died before its first word: nothing was touched.
    pub(super) fn state(&self) -> Result<Option<RecordState>> {
        let path = self.path.join("state");
        match fs::read_to_string(&path) {
            Ok(word) => match RecordState::parse(&word) {
                Some(state) => Ok(Some(state)),
                None => Err(SandboxError::records(&path, "its word is unknown")),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SandboxError::records(&path, error)),
        }
    }

    pub(super) fn remove(&self) -> Result<()> {
        // The state goes first: a folder that is half gone says nothing any more.
        let state = self.path.join("state");
        let _ = fs::remove_file(&state);
        super::tree::remove(&self.path).map_err(|error| SandboxError::records(&self.path, error))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        files::replace(&path, bytes).map_err(|error| SandboxError::records(&path, error))
    }
}

/// Held while the records change.
pub(super) fn lock(records: &Path) -> Result<Lock> {
    Lock::try_take(&records.join("lock")).map_err(|error| match error {
        LockError::Held { .. } => SandboxError::Locked { path: show(records) },
        LockError::Io { path, source } => SandboxError::records(&path, source),
    })
}
