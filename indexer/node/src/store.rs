//! The outbox on disk: one file a message, written whole and synced before anything follows from it.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use zx1_home::files;
use zx1_mesh::outbox::{Outbox, Row};

const FOLDER: &str = "outbox";
const ENDING: &str = "json";
/// A payload of 64 KiB as hex, and the rest.
const MAX_ROW: u64 = 256 << 10;

/// The folder of the rows.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens the store in an agent's folder, and what is in it. What was on its way when the process ended is
    /// unanswered. Blocks.
    ///
    /// # Errors
    /// 7683 for a file that is none of this store; the outbox's for rows that do not fit together.
    pub fn open(agent_folder: &Path) -> Result<(Self, Outbox)> {
        let folder = agent_folder.join(FOLDER);
        let store = Self { folder };
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
        for row in rows {
            let path = self.path(row.id);
            let failed = |why: String| Error::File { action: "written", path: path.clone(), why };
            let bytes = serde_json::to_vec(row).map_err(|error| failed(error.to_string()))?;
            files::replace(&path, &bytes).map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }

    /// Takes rows out. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn remove(&self, ids: &[u64]) -> Result<()> {
        for id in ids {
            let path = self.path(*id);
            files::remove(&path).map_err(|error| Error::File {
                action: "written",
                path: path.clone(),
                why: error.to_string(),
            })?;
        }
        Ok(())
    }

    fn path(&self, id: u64) -> PathBuf {
        self.folder.join(format!("{id}.{ENDING}"))
    }
}

fn read(path: &Path) -> Result<Row> {
    let failed = |why: String| Error::File { action: "read", path: path.to_owned(), why };
    let bytes = files::read(path, MAX_ROW).map_err(|error| failed(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| failed("it is gone".to_owned()))?;
    let row: Row = serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
    let is_named = path.file_stem().is_some_and(|stem| *stem == *row.id.to_string());
    if is_named { Ok(row) } else { Err(failed("its name is not its number".to_owned())) }
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
        std::fs::rename(store.path(1), store.path(7)).unwrap();
        assert!(matches!(Store::open(folder.path()), Err(Error::File { action: "read", .. })));
        std::fs::write(store.path(7), "{}").unwrap();
        assert!(matches!(Store::open(folder.path()), Err(Error::File { action: "read", .. })));
    }
}
