//! The state folder: making it, holding it, forgetting what is in it.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Serialize;
use zx1_fixtures::control::Env;

use crate::LocalnetError;

/// Temporary folders begin with this.
const TEMPORARY: &str = "zx1-localnet-";
/// A temporary folder younger than this may belong to a process that has not locked it yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A state folder that this process alone uses.
pub(crate) struct Folder {
    path: PathBuf,
    lock: File,
    // Dropped last.
    _temporary: Option<tempfile::TempDir>,
}

impl Folder {
    /// Opens or makes a folder, for the user alone, and locks it. None is a temporary one, which ends with this.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, LocalnetError> {
        let temporary = match path {
            Some(_) => None,
            None => Some(temporary()?),
        };
        let path = match (path, &temporary) {
            (Some(path), _) => path,
            (None, Some(temporary)) => temporary.path(),
            (None, None) => Path::new("."),
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|why| LocalnetError::io(path, why))?;
        let path = path.canonicalize().map_err(|why| LocalnetError::io(path, why))?;
        let lock = lock(&path)?;
        Ok(Self { path, lock, _temporary: temporary })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Tells other processes where this one serves.
    pub(crate) fn publish(&self, env: &Env) -> Result<(), LocalnetError> {
        write(&self.path.join("running.json"), env)
    }

    /// Takes that back.
    pub(crate) fn retract(&self) {
        let _ = fs::remove_file(self.path.join("running.json"));
    }

    /// Removes what makes a ledger, by name: keys and whatever else lies in the folder stay.
    pub(crate) fn forget_ledgers(&self) -> Result<(), LocalnetError> {
        for name in ["ledger", "ledger.new", "clock", "programs.json", "programs.new"] {
            let path = self.path.join(name);
            gone(fs::remove_file(&path)).map_err(|why| LocalnetError::io(path, why))?;
        }
        let nano = self.path.join("nano");
        gone(fs::remove_dir_all(&nano)).map_err(|why| LocalnetError::io(nano, why))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.retract();
        let _ = self.lock.unlock();
    }
}

fn gone(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The right to use a folder, held while the file is open: a killed process holds nothing.
fn lock(folder: &Path) -> Result<File, LocalnetError> {
    let path = folder.join("lock");
    let io = |why| LocalnetError::io(&path, why);
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid);
            let (folder, pid) = (folder.to_path_buf(), pid.trim().parse().ok());
            return Err(LocalnetError::StateInUse { folder, pid });
        }
        Err(TryLockError::Error(why)) => return Err(io(why)),
    }
    file.set_len(0).and_then(|()| file.rewind()).map_err(io)?;
    writeln!(file, "{}", std::process::id()).map_err(io)?;
    Ok(file)
}

/// Whether no process uses a folder, or it is gone.
pub(crate) fn is_free(folder: &Path) -> bool {
    match OpenOptions::new().write(true).open(folder.join("lock")) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// A new temporary folder, and an end for those that killed processes have left: `anchor test` kills its
/// validator.
fn temporary() -> Result<tempfile::TempDir, LocalnetError> {
    let parent = std::env::temp_dir();
    for entry in fs::read_dir(&parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            sweep(&entry.path());
        }
    }
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()
        .map_err(|why| LocalnetError::io(parent, why))
}

/// Removes a temporary folder whose process is gone. Whatever cannot be done is left to the next start.
fn sweep(folder: &Path) {
    let lock = folder.join("lock");
    let age = |path: &Path| fs::metadata(path).ok()?.modified().ok()?.elapsed().ok();
    if age(&lock).is_none_or(|age| age < YOUNG) {
        return;
    }
    let Ok(file) = OpenOptions::new().write(true).open(&lock) else { return };
    if file.try_lock().is_ok() {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Writes a JSON file; a crash leaves the old one or the new one.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<(), LocalnetError> {
    let text = serde_json::to_vec_pretty(value).map_err(|why| LocalnetError::io(path, why))?;
    let draft = path.with_extension("new");
    fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, path))
        .map_err(|why| LocalnetError::io(path, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn left_behind(parent: &Path, name: &str, age: Duration) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir(&folder).expect("a folder");
        let lock = File::create(folder.join("lock")).expect("a file");
        lock.set_modified(SystemTime::now() - age).expect("a time");
        folder
    }

    #[test]
    fn only_old_folders_of_dead_processes_are_swept_ok() {
        let parent = tempfile::tempdir().expect("a folder");
        let dead = left_behind(parent.path(), "dead", 2 * YOUNG);
        let young = left_behind(parent.path(), "young", YOUNG / 2);
        let held = left_behind(parent.path(), "held", 2 * YOUNG);
        let holder = OpenOptions::new().write(true).open(held.join("lock")).expect("a file");
        holder.lock().expect("a lock");
        let strange = parent.path().join("strange");
        fs::create_dir(&strange).expect("a folder");
        for folder in [&dead, &young, &held, &strange] {
            sweep(folder);
        }
        assert!(!dead.exists());
        assert!(young.exists() && held.exists() && strange.exists());
    }
}
