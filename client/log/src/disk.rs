//! The crate's files, with its refusals: what zx1-home does, in terms of [`LogError`].

use crate::error::{LogError, Result};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_home::files::{self, Draft};
use zx1_home::{Lock, LockError};

pub(crate) const LOCK_FILE: &str = "lock";

/// Makes the folder and those above it, readable for its owner only, durable.
pub(crate) fn create_dir(dir: &Path) -> Result<()> {
    files::make_private_folder(dir).map_err(LogError::io("create the folder", dir))
}

/// Makes names that were added to or removed from the folder durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    files::sync_folder(dir).map_err(LogError::io("sync the folder", dir))
}

/// A file under another name until it is complete and synced: nobody ever sees half of it.
pub(crate) struct Pending {
    draft: Draft,
    path: PathBuf,
}

impl Pending {
    /// Begins the file that will be `path`.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        Self::new_in(files::folder_of(path), path)
    }

    /// The same, but the unfinished file is in another folder of the same disk: in one that is small, so
    /// that [`remove_unfinished`] is quick.
    pub(crate) fn new_in(folder: &Path, path: &Path) -> Result<Self> {
        let draft = Draft::new_in(folder, path).map_err(LogError::io("create", path))?;
        Ok(Self { draft, path: path.to_owned() })
    }

    /// Appends bytes to the file.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.draft.write_all(bytes).map_err(LogError::io("write", &self.path))
    }

    /// Syncs the content and gives the file its name. The name is durable after [`sync_dir`].
    pub(crate) fn finish(self) -> Result<()> {
        self.draft.replace_before_sync().map_err(LogError::io("name", &self.path))
    }
}

/// Replaces or creates the whole file: after a crash it has the old content or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    files::replace(path, bytes).map_err(LogError::io("write", path))
}

/// The whole file, or `None` when there is none.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    files::read_if_there(path).map_err(LogError::io("read", path))
}

/// Removes the file for good; whether there was one.
pub(crate) fn remove_if_there(path: &Path) -> Result<bool> {
    files::remove(path).map_err(LogError::io("remove", path))
}

/// Removes what a crash left half-written. Needs the lock.
pub(crate) fn remove_unfinished(dir: &Path) -> Result<()> {
    files::remove_unfinished(dir).map_err(LogError::io("read the folder", dir))
}

/// The files in the folder, sorted by name, without unfinished ones; none when there is no folder.
pub(crate) fn files_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LogError::io("read the folder", dir)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(LogError::io("read the folder", dir))?;
        let path = entry.path();
        let is_file = entry.file_type().map_err(LogError::io("read", &path))?.is_file();
        if is_file && !files::is_unfinished(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Takes the exclusive lock of an agent's folder. Waits up to `limit`.
pub(crate) fn lock(dir: &Path, limit: Duration) -> Result<Lock> {
    Lock::take_within(&dir.join(LOCK_FILE), limit).map_err(|error| match error {
        LockError::Held { .. } => LogError::InUse { path: dir.to_owned() },
        LockError::Io { path, source } => LogError::io("lock", path)(source),
    })
}

/// Blocking work on a thread for it.
#[cfg(feature = "http")]
pub(crate) async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
    path: &Path,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(LogError::io("use", path)(std::io::Error::other(error))))
}
