//! Lock files: one process at a time. The kernel takes a lock back when its process ends, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a lock that is held is tried again.
const POLL: Duration = Duration::from_millis(20);

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process, or another part of this one, has it.
    #[error("{} is locked by {}", path.display(), by(*owner))]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The owner's process id, where it could be read.
        owner: Option<u32>,
    },
    /// The system refuses.
    #[error("{} cannot be locked: {source}", path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

fn by(owner: Option<u32>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}

impl From<LockError> for io::Error {
    fn from(error: LockError) -> io::Error {
        match error {
            LockError::Io { source, .. } => source,
            held => io::Error::new(io::ErrorKind::WouldBlock, held.to_string()),
        }
    }
}

/// An exclusive lock on a file (flock), held until it is dropped. The file holds the owner's process id.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock, or says who has it. The file is made when it is missing; its folder must exist.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn try_take(path: &Path) -> Result<Lock, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        loop {
            let mut file = open(path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { path: path.to_owned(), owner: owner(&mut file) });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            if let Some(lock) = Lock::own(file, path).map_err(failed)? {
                return Ok(lock);
            }
        }
    }

    /// Takes the lock, and waits up to `limit` for whoever has it. Blocks the thread.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn take_within(path: &Path, limit: Duration) -> Result<Lock, LockError> {
        let begun = Instant::now();
        loop {
            match Lock::try_take(path) {
                Err(LockError::Held { .. }) if begun.elapsed() < limit => std::thread::sleep(POLL),
                done => return done,
            }
        }
    }

    /// Takes the lock, however long somebody else has it. Blocks the thread.
    ///
    /// # Errors
    /// [`LockError::Io`].
    pub fn wait(path: &Path) -> Result<Lock, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        loop {
            let file = open(path).map_err(failed)?;
            file.lock().map_err(failed)?;
            if let Some(lock) = Lock::own(file, path).map_err(failed)? {
                return Ok(lock);
            }
        }
    }

    /// Signs the file that was locked, unless its name is gone or another file's by now: whoever had the lock
    /// before may have removed the file.
    fn own(mut file: File, path: &Path) -> io::Result<Option<Lock>> {
        if !is_at(&file, path) {
            return Ok(None);
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        writeln!(file, "{}", std::process::id())?;
        Ok(Some(Lock { file, path: path.to_owned() }))
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets go of the lock before the value is dropped, where clones of its owner may live on.
    pub fn release(&self) {
        // Closing the file would do, were it not for a process that this one is just starting: until it runs
        // its program it has the file open too, and the lock would outlive its owner.
        let _ = self.file.unlock();
    }

    /// Lets go of the lock and removes its file, for locks with many names. A file that cannot be removed
    /// does no harm.
    pub fn remove(self) {
        // Still locked, so that nobody is in between.
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.release();
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let both = file.metadata().and_then(|open| Ok((open, fs::metadata(path)?)));
    both.is_ok_and(|(open, named)| (open.dev(), open.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_value_although_a_child_process_still_has_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::try_take(&path).unwrap();
        // As between fork and exec of a process that is being started.
        let inherited = lock.file.try_clone().unwrap();
        drop(lock);
        assert!(Lock::try_take(&path).is_ok());
        drop(inherited);
    }
}
