//! Rows on disk: one file a row, written whole and synced before anything follows from it. The outbox is one such
//! store; searches for notaries and a notary's tasks are others.

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use zx1_home::files;
use zx1_mesh::outbox::{Outbox, Row};

const FOLDER: &str = "outbox";
const ENDING: &str = "json";

/// A row that has a file of its own.
pub trait Stored: Serialize + DeserializeOwned {
    /// Largest file, in bytes.
    const LIMIT: u64;

    /// What names it among the rows of its folder: a word of letters and digits.
    fn name(&self) -> String;
}

impl Stored for Row {
    /// A payload of 64 KiB as hex, and the rest.
    const LIMIT: u64 = 256 << 10;

    fn name(&self) -> String {
        self.id.to_string()
    }
}

/// A folder of rows of one kind.
#[derive(Clone, Debug)]
pub struct Files<R> {
    folder: PathBuf,
    rows: PhantomData<fn() -> R>,
}

impl<R: Stored> Files<R> {
    /// Opens the folder, and what is in it. Blocks.
    ///
    /// # Errors
    /// 7683 for a file that is none of this store.
    pub fn open(folder: PathBuf) -> Result<(Self, Vec<R>)> {
        let store = Self { folder, rows: PhantomData };
        let failed = |why: String| Error::File { action: "read", path: store.folder.clone(), why };
        files::make_private_folder(&store.folder).map_err(|error| failed(error.to_string()))?;
        files::remove_unfinished(&store.folder).map_err(|error| failed(error.to_string()))?;
        let mut rows = Vec::new();
        let found = std::fs::read_dir(&store.folder).map_err(|error| failed(error.to_string()))?;
        for entry in found {
            let path = entry.map_err(|error| failed(error.to_string()))?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                rows.push(read(&path)?);
            }
        }
        Ok((store, rows))
    }

    /// Writes a row. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn put(&self, row: &R) -> Result<()> {
        let path = self.path(&row.name());
        let failed = |why: String| Error::File { action: "written", path: path.clone(), why };
        let bytes = serde_json::to_vec(row).map_err(|error| failed(error.to_string()))?;
        files::replace(&path, &bytes).map_err(|error| failed(error.to_string()))
    }

    /// Takes a row out; one that is not there is no error. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        let removed = files::remove(&path);
        let failed = |error: std::io::Error| Error::File { action: "written", path, why: error.to_string() };
        removed.map(drop).map_err(failed)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{ENDING}"))
    }
}

fn read<R: Stored>(path: &Path) -> Result<R> {
    let failed = |why: String| Error::File { action: "read", path: path.to_owned(), why };
    let bytes = files::read(path, R::LIMIT).map_err(|error| failed(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| failed("it is gone".to_owned()))?;
    let row: R = serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
    let is_named = path.file_stem().is_some_and(|stem| *stem == *row.name());
    if is_named { Ok(row) } else { Err(failed("its name is not that of its row".to_owned())) }
}

/// The outbox on disk.
#[derive(Clone, Debug)]
pub struct Store {
    files: Files<Row>,
}

impl Store {
    /// Opens the store in an agent's folder, and what is in it. What was on its way when the process ended is
    /// unanswered. Blocks.
    ///
    /// # Errors
    /// 7683 for a file that is none of this store; the outbox's for rows that do not fit together.
    pub fn open(agent_folder: &Path) -> Result<(Self, Outbox)> {
        let (files, rows) = Files::<Row>::open(agent_folder.join(FOLDER))?;
        let store = Self { files };
        // Rows are forgotten only when many later ones are there, so the last number is always among them.
        let next = rows.iter().map(|row| row.id).max().map_or(1, |last| last.saturating_add(1));
        let (outbox, changed) = Outbox::load(rows, next)?;
        store.put(&changed)?;
        Ok((store, outbox))
    }

    /// Writes rows. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn put(&self, rows: &[Row]) -> Result<()> {
        rows.iter().try_for_each(|row| self.files.put(row))
    }

    /// Takes rows out. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn remove(&self, ids: &[u64]) -> Result<()> {
        ids.iter().try_for_each(|id| self.files.remove(&id.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_mesh::defaults::DRAFT_TTL;
    use zx1_mesh::outbox::{Draft, State};
    use zx1_protocol::envelope::MsgType;
    use zx1_protocol::ids::{AgentId, ConversationId};

    fn draft(name: &str) -> Draft<'_> {
        Draft {
            name,
            msg_type: MsgType::Propose,
            recipient: AgentId([2; 32]),
            conversation: ConversationId([3; 16]),
            payload: b"work",
            ttl_micros: DRAFT_TTL,
        }
    }

    #[test]
    fn rows_survive_and_what_was_on_its_way_is_unanswered() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut outbox) = Store::open(folder.path()).unwrap();
        let first = outbox.add(&draft("a"), 1).unwrap();
        let second = outbox.add(&draft("b"), 2).unwrap();
        store.put(&[first.clone(), second]).unwrap();
        store.put(&[outbox.begin(first.id, 3).unwrap()]).unwrap();
        let (store, mut outbox) = Store::open(folder.path()).unwrap();
        assert_eq!(outbox.get(1).unwrap().state, State::Unanswered);
        assert_eq!(outbox.get(2).unwrap().state, State::Queued);
        assert_eq!(outbox.add(&draft("c"), 4).unwrap().id, 3, "numbers go on");
        store.remove(&[1]).unwrap();
        let (_, outbox) = Store::open(folder.path()).unwrap();
        assert_eq!(outbox.iter().map(|row| row.id).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_row_that_this_store_did_not_write_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut outbox) = Store::open(folder.path()).unwrap();
        store.put(&[outbox.add(&draft("a"), 1).unwrap()]).unwrap();
        std::fs::rename(store.files.path("1"), store.files.path("7")).unwrap();
        assert!(matches!(Store::open(folder.path()), Err(Error::File { action: "read", .. })));
        std::fs::write(store.files.path("7"), "{}").unwrap();
        assert!(matches!(Store::open(folder.path()), Err(Error::File { action: "read", .. })));
    }
}
