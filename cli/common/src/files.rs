//! Files that a crash leaves whole, with this command line's refusals.

use crate::errors::{Fault, reason};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use zeroize::Zeroizing;
use zx1_home::files::{self, Draft, ReadError};
use zx1_home::{Lock, LockError};

/// Formats a path for messages.
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
    files::make_folder(path).map_err(|error| write_failed(path, &error))
}

/// A file's bytes, wiped when dropped. `None` when there is no file.
///
/// # Errors
/// [`Fault::ReadFailed`] when it cannot be read, [`Fault::InputTooLarge`] when it is larger than `limit`
/// bytes.
pub fn read_limited(path: &Path, limit: u64) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
    files::read(path, limit).map_err(|error| unread(&error, &shown(path)))
}

/// "cannot be read" or "is too large", with the reason or the size.
pub fn unread(error: &ReadError, what: &str) -> Fault {
    match error {
        ReadError::Io(error) => Fault::ReadFailed { path: what.to_owned(), why: reason(error) },
        ReadError::TooLarge { size, limit } => {
            Fault::InputTooLarge { what: what.to_owned(), size: *size, limit: *limit }
        }
    }
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
pub fn read_all(from: impl Read, what: &str, limit: u64) -> Result<Zeroizing<Vec<u8>>, Fault> {
    files::read_all(from, limit).map_err(|error| unread(&error, what))
}

/// Writes a new file that only this user can read, and flushes it to the disk.
///
/// # Errors
/// [`Fault::Exists`] when the path is taken; [`Fault::WriteFailed`] when the system refuses.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    make_room(path)?;
    files::create(path, bytes).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Fault::Exists { path: shown(path) },
        _ => write_failed(path, &error),
    })
}

/// Replaces a file, or makes it, in one step.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    make_room(path)?;
    files::replace(path, bytes).map_err(|error| write_failed(path, &error))
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
    // Begun and dropped.
    let draft = Draft::new_in(nearest_folder(path)?, path);
    draft.map(drop).map_err(|error| write_failed(path, &error))
}

/// Creates the parent directory of a file that is to be written.
fn make_room(path: &Path) -> Result<(), Fault> {
    nearest_folder(path)?;
    files::make_folder(files::folder_of(path)).map_err(|error| write_failed(path, &error))
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

/// Flushes the directory of a file, so that a rename or a new name survives a crash.
pub fn sync_folder_of(path: &Path) -> Result<(), Fault> {
    let folder = files::folder_of(path);
    files::sync_folder(folder).map_err(|error| write_failed(folder, &error))
}

/// Waits for the lock of a folder, so that two processes do not write one file at once.
pub fn lock_folder(folder: &Path) -> Result<Lock, Fault> {
    make_private_folder(folder)?;
    let path = folder.join(".lock");
    Lock::wait(&path).map_err(|error: LockError| write_failed(&path, &error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
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

    #[test]
    fn a_reader_that_never_ends_is_refused_all_the_same() {
        let refused = read_all(io::repeat(7), "it", 99).unwrap_err();
        let Fault::InputTooLarge { size, limit: 99, .. } = refused else { panic!("{refused:?}") };
        assert!(size > 1 << 20, "{size}");
        let device = read_limited(Path::new("/dev/zero"), 99).unwrap_err();
        assert!(matches!(device, Fault::InputTooLarge { .. }), "{device:?}");
    }
}
