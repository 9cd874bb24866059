//! Where the books are kept.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use zx1_home::files;

use super::Books;

/// Keeps the books. `save` returns when they are durable: a call is made only after that.
pub trait Store: Send + Sync {
    /// The books as they were saved last; `None` if they never were. The error is half a sentence.
    fn load(&self) -> Result<Option<Books>, String>;

    /// Replace the books. After an error the old ones must still be there.
    fn save(&self, books: &Books) -> Result<(), String>;
}

/// Keeps the books in memory: for tests, and for programs that live as long as one contract. Clones share.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Option<Books>>>);

impl Store for MemoryStore {
    fn load(&self) -> Result<Option<Books>, String> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn save(&self, books: &Books) -> Result<(), String> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(books.clone());
        Ok(())
    }
}

/// Keeps the books in a file of JSON, replaced whole and flushed to the disk. One process at a time.
#[derive(Debug, Clone)]
pub struct FileStore {
    path: PathBuf,
}

impl FileStore {
    /// In this file. Its folder must exist.
    pub fn new(path: impl Into<PathBuf>) -> FileStore {
        FileStore { path: path.into() }
    }
}

impl Store for FileStore {
    fn load(&self) -> Result<Option<Books>, String> {
        let bytes = files::read_if_there(&self.path).map_err(|error| error.to_string())?;
        bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string())).transpose()
    }

    fn save(&self, books: &Books) -> Result<(), String> {
        let bytes = serde_json::to_vec(books).map_err(|error| error.to_string())?;
        files::replace(&self.path, &bytes).map_err(|error| error.to_string())
    }
}
