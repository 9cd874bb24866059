//! Where the books are kept.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

    fn folder(&self) -> &Path {
        self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

impl Store for FileStore {
    fn load(&self) -> Result<Option<Books>, String> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|e| e.to_string()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn save(&self, books: &Books) -> Result<(), String> {
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        let new = PathBuf::from(name);
        let bytes = serde_json::to_vec(books).map_err(|e| e.to_string())?;
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&new, &self.path)?;
            // The new name is durable only when its folder is.
            File::open(self.folder())?.sync_all()
        };
        write().map_err(|e| e.to_string())
    }
}
