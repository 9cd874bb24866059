//! Reading and writing files so that a crash leaves either the old bytes or the new ones.

use crate::errors::{Fault, reason};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A path as messages show it.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// "cannot be read", with the system's reason.
pub fn read_failed(path: &Path, error: &io::Error) -> Fault {
    Fault::ReadFailed { path: shown(path), why: reason(error) }
}

/// "cannot be read", because there is no such file.
pub fn missing(path: &Path) -> Fault {
    Fault::ReadFailed { path: shown(path), why: "there is no such file".to_owned() }
}

/// "cannot be written", with the system's reason.
pub fn write_failed(path: &Path, error: &io::Error) -> Fault {
    Fault::WriteFailed { path: shown(path), why: reason(error) }
}

/// Makes a folder and those above it, for this user only.
pub fn make_private_folder(path: &Path) -> Result<(), Fault> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| write_failed(path, &error))
}

/// A file's bytes, wiped when dropped. `None` when there is no file.
///
/// # Errors
/// [`Fault::ReadFailed`] when it cannot be read, [`Fault::InputTooLarge`] when it is larger than `limit`
/// bytes.
pub fn read_limited(path: &Path, limit: u64) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(read_failed(path, &error)),
    };
    read_all(file, &shown(path), limit).map(Some)
}

/// The bytes of a file that has to be there, wiped when dropped.
///
/// # Errors
/// [`Fault::ReadFailed`] when it is missing or cannot be read, [`Fault::InputTooLarge`] when it is larger
/// than `limit` bytes.
pub fn read_needed(path: &Path, limit: u64) -> Result<Zeroizing<Vec<u8>>, Fault> {
    if path.is_dir() {
        return Err(folder(path));
    }
    read_limited(path, limit)?.ok_or_else(|| missing(path))
}

/// "cannot be read", because it is a folder.
pub fn folder(path: &Path) -> Fault {
    Fault::ReadFailed { path: shown(path), why: "it is a folder".to_owned() }
}

/// Everything that a reader gives, wiped when dropped, at most `limit` bytes.
pub fn read_all(mut from: impl Read, what: &str, limit: u64) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let mut bytes = Zeroizing::new(Vec::new());
    let failed = |error: io::Error| Fault::ReadFailed { path: what.to_owned(), why: reason(&error) };
    let size = (&mut from).take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(size).is_ok_and(|size| size <= limit) {
        return Ok(bytes);
    }
    // Say how large it is, not only that it is too large.
    let rest = io::copy(&mut from, &mut io::sink()).map_err(failed)?;
    let size = rest.saturating_add(limit).saturating_add(1);
    Err(Fault::InputTooLarge { what: what.to_owned(), size, limit })
}

/// Writes a new file that only this user can read, and flushes it to the disk.
///
/// # Errors
/// [`Fault::Exists`] when the path is taken; [`Fault::WriteFailed`] when the system refuses.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let temporary = make_room(path)?;
    write_new(&temporary, bytes).map_err(|error| write_failed(path, &error))?;
    // A link, unlike a rename, never replaces what is there.
    let linked = fs::hard_link(&temporary, path);
    let removed = fs::remove_file(&temporary);
    match linked {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Fault::Exists { path: shown(path) });
        }
        Err(error) => return Err(write_failed(path, &error)),
    }
    removed.map_err(|error| write_failed(&temporary, &error))?;
    sync_folder_of(path)
}

/// Replaces a file, or makes it, in one step.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let temporary = make_room(path)?;
    write_new(&temporary, bytes).map_err(|error| write_failed(path, &error))?;
    fs::rename(&temporary, path).map_err(|error| write_failed(path, &error))?;
    sync_folder_of(path)
}

/// Makes sure that a new file can be written there, before work is done whose result it is to hold. Nothing
/// stays on the disk.
///
/// # Errors
/// [`Fault::Exists`] when the path is taken; [`Fault::WriteFailed`] when nothing can be written there.
pub fn check_writable(path: &Path) -> Result<(), Fault> {
    if path.exists() {
        return Err(Fault::Exists { path: shown(path) });
    }
    let folder = nearest_folder(path)?;
    let temporary = temporary_beside(&folder.join(path.file_name().unwrap_or_default()));
    let probed = write_new(&temporary, &[]).and_then(|()| fs::remove_file(&temporary));
    probed.map_err(|error| write_failed(path, &error))
}

/// The folder of a file that is to be written, made if need be, and a temporary name in it.
fn make_room(path: &Path) -> Result<PathBuf, Fault> {
    nearest_folder(path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| write_failed(path, &error))?;
    }
    Ok(temporary_beside(path))
}

/// The last folder on the way to a file that is there.
fn nearest_folder(path: &Path) -> Result<&Path, Fault> {
    let failed = |why: String| Fault::WriteFailed { path: shown(path), why };
    if path.file_name().is_none() {
        return Err(failed("it names no file".to_owned()));
    }
    let here = Path::new(".");
    let mut above =
        path.ancestors().skip(1).map(|above| if above.as_os_str().is_empty() { here } else { above });
    let nearest = above.find(|above| above.exists()).unwrap_or(here);
    if nearest.is_dir() {
        return Ok(nearest);
    }
    Err(failed(format!("{} is a file, not a folder", shown(nearest))))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a rename or a new name durable.
pub fn sync_folder_of(path: &Path) -> Result<(), Fault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| write_failed(folder, &error))
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

/// Holds a folder's lock file until it is dropped, so that two processes do not write one file at once.
#[derive(Debug)]
pub struct FolderLock(#[allow(dead_code)] File);

/// Waits for the folder's lock.
pub fn lock_folder(folder: &Path) -> Result<FolderLock, Fault> {
    make_private_folder(folder)?;
    let path = folder.join(".lock");
    let lock = || -> io::Result<File> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    Ok(FolderLock(lock().map_err(|error| write_failed(&path, &error))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_new_file_is_private_and_never_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/key");
        create_private(&path, b"one").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let refused = create_private(&path, b"two").unwrap_err();
        assert_eq!(refused, Fault::Exists { path: shown(&path) });
        assert_eq!(fs::read(&path).unwrap(), b"one");
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(names.len(), 1, "a temporary file is left: {names:?}");
    }

    #[test]
    fn a_place_that_takes_no_file_is_found_out_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let check = |name: &str| check_writable(&folder.path().join(name));
        fs::write(folder.path().join("there"), b"old").unwrap();
        check("new").unwrap();
        check("new/folder/new").unwrap();
        assert!(!folder.path().join("new/folder/new").exists());
        assert!(matches!(check("there"), Err(Fault::Exists { .. })));
        let below = check("there/x").unwrap_err();
        let Fault::WriteFailed { path, why } = below else { panic!("{below:?}") };
        assert!(path.ends_with("there/x") && why.contains("is a file"), "{path}: {why}");
        assert!(matches!(check_writable(Path::new("")), Err(Fault::WriteFailed { .. })));
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_file_over_the_limit_is_refused_with_its_size() {
        let refused = read_all([7u8; 100].as_slice(), "it", 99).unwrap_err();
        assert_eq!(refused, Fault::InputTooLarge { what: "it".to_owned(), size: 100, limit: 99 });
        assert_eq!(read_all([7u8; 100].as_slice(), "it", 100).unwrap().len(), 100);
    }
}
