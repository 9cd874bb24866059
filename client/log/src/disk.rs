//! Files that survive a crash: private folders, whole-file writes that are there or not, the lock.

use crate::error::{LogError, Result};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIR: u32 = 0o700;
/// Unfinished files have this ending. Whoever holds the lock may remove them.
const UNFINISHED: &str = "unfinished";
pub(crate) const LOCK_FILE: &str = "lock";
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Makes the folder and those above it, readable for its owner only, durable.
pub(crate) fn create_dir(dir: &Path) -> Result<()> {
    if !dir.is_dir() {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            create_dir(parent)?;
        }
        match DirBuilder::new().mode(PRIVATE_DIR).create(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(LogError::io("create the folder", dir))?,
        }
        sync_dir(parent.unwrap_or(Path::new(".")))?;
    }
    let mode = fs::metadata(dir).map_err(LogError::io("read", dir))?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(dir, Permissions::from_mode(PRIVATE_DIR))
            .map_err(LogError::io("protect the folder", dir))?;
    }
    Ok(())
}

/// Makes names that were added to or removed from the folder durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(LogError::io("sync the folder", dir))
}

/// A new private file for reading and writing; fails when there is one.
fn create_new(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(PRIVATE_FILE);
    options.open(path).map_err(LogError::io("create", path))
}

fn unfinished(folder: &Path, path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(UNFINISHED);
    folder.join(name)
}

/// A file under another name until it is complete and synced: nobody ever sees half of it.
pub(crate) struct Pending {
    file: File,
    path: PathBuf,
    unfinished: PathBuf,
    done: bool,
}

impl Pending {
    /// Begins the file that will be `path`. Needs the folder's lock.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        Self::new_in(path.parent().unwrap_or(Path::new("")), path)
    }

    /// The same, but the unfinished file is in another folder of the same disk: in one that is small, so
    /// that [`remove_unfinished`] is quick.
    pub(crate) fn new_in(folder: &Path, path: &Path) -> Result<Self> {
        let unfinished = unfinished(folder, path);
        remove_if_there(&unfinished)?;
        let file = create_new(&unfinished)?;
        Ok(Self { file, path: path.to_owned(), unfinished, done: false })
    }

    /// Adds bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(LogError::io("write", &self.unfinished))
    }

    /// Syncs the content and gives the file its name. The name is durable after [`sync_dir`].
    pub(crate) fn finish(mut self) -> Result<()> {
        self.file.sync_all().map_err(LogError::io("sync", &self.unfinished))?;
        fs::rename(&self.unfinished, &self.path).map_err(LogError::io("name", &self.path))?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.done {
            // Best effort: it would be removed at the next open.
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// Replaces or creates the whole file: after a crash it has the old content or the new one.
pub(crate) fn write_whole(path: &Path, parts: &[&[u8]]) -> Result<()> {
    let mut pending = Pending::new(path)?;
    for part in parts {
        pending.write(part)?;
    }
    pending.finish()?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// The whole file, or `None` when there is none.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LogError::io("read", path)(error)),
    }
}

/// Removes the file; whether there was one.
pub(crate) fn remove_if_there(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(LogError::io("remove", path)(error)),
    }
}

/// The files in the folder, sorted by name, without unfinished ones; none when there is no folder.
pub(crate) fn files_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = all_files_in(dir)?;
    files.retain(|path| path.extension().is_none_or(|ending| ending != UNFINISHED));
    Ok(files)
}

/// Removes what a crash left half-written. Needs the lock.
pub(crate) fn remove_unfinished(dir: &Path) -> Result<()> {
    for path in all_files_in(dir)? {
        if path.extension().is_some_and(|ending| ending == UNFINISHED) {
            remove_if_there(&path)?;
        }
    }
    Ok(())
}

fn all_files_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LogError::io("read the folder", dir)(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(LogError::io("read the folder", dir))?;
        if entry.file_type().map_err(LogError::io("read", entry.path()))?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// The exclusive lock of an agent's folder (flock). The kernel takes it back when the process ends,
/// however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or says who cannot have it. Waits up to `limit`.
    pub(crate) fn take(dir: &Path, limit: Duration) -> Result<Self> {
        let path = dir.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(PRIVATE_FILE);
        let file = options.open(&path).map_err(LogError::io("open", &path))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if begun.elapsed() >= limit => {
                    return Err(LogError::InUse { path: dir.to_owned() });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
                Err(TryLockError::Error(error)) => return Err(LogError::io("lock", &path)(error)),
            }
        }
    }
}
