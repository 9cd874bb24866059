//! Writing what was received. Every folder is opened in its parent and no link is followed, so nothing outside of the
//! folder that was named is written, whoever changes it meanwhile.

use std::fs::File as Handle;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fsync, linkat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use zx1_home::files::{UNFINISHED, make_folder};
use zx1_relay_rules::slurp::{File, Paths};

use super::read::disk;
use crate::client::token;
use crate::{ClientError, Result};

/// Writes files into a folder, which is made where it is missing: all of them, or none when one cannot be. Existing
/// files stay. What is written is for its owner only.
///
/// # Errors
///
/// Paths that leave the folder, existing files, links in the way, the disk.
pub fn store(folder: &Path, files: &[File]) -> Result<Vec<PathBuf>> {
    let mut paths = Paths::default();
    for file in files {
        paths.take(&file.path)?;
    }
    make_folder(folder).map_err(|error| disk(folder, error))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, folder, flags, Mode::empty()).map_err(|error| disk(folder, error.into()))?;
    for file in files {
        is_free(&root, folder, &file.path)?;
    }
    let mut written: Vec<&str> = Vec::new();
    for file in files {
        if let Err(error) = write(&root, folder, file) {
            for path in &written {
                take_back(&root, path);
            }
            return Err(error);
        }
        written.push(file.path.as_str());
    }
    Ok(written.into_iter().map(|path| folder.join(path)).collect())
}

/// The folders of a path, and its last name.
fn parts(path: &str) -> (Vec<&str>, &str) {
    match path.rsplit_once('/') {
        Some((folders, name)) => (folders.split('/').collect(), name),
        None => (Vec::new(), path),
    }
}

/// Opens a folder in its parent; `None` when it is missing.
fn enter(parent: impl AsFd, name: &str, shown: &Path) -> Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(parent, name, flags, Mode::empty()) {
        Ok(folder) => Ok(Some(folder)),
        Err(Errno::NOENT) => Ok(None),
        // A link, or a file where a folder has to be.
        Err(Errno::LOOP | Errno::NOTDIR) => Err(ClientError::NotPlain { path: shown.display().to_string() }),
        Err(error) => Err(disk(shown, error.into())),
    }
}

/// Whether a file can be made there. What is checked here is refused again when it is written.
fn is_free(root: &OwnedFd, folder: &Path, path: &str) -> Result<()> {
    let (folders, name) = parts(path);
    let mut inner: Option<OwnedFd> = None;
    let mut shown = folder.to_owned();
    for part in folders {
        shown.push(part);
        let parent = inner.as_ref().unwrap_or(root);
        let Some(next) = enter(parent, part, &shown)? else { return Ok(()) };
        inner = Some(next);
    }
    shown.push(name);
    match statat(inner.as_ref().unwrap_or(root), name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(()),
        Ok(_) => Err(ClientError::Taken { path: shown.display().to_string() }),
        Err(error) => Err(disk(&shown, error.into())),
    }
}

fn write(root: &OwnedFd, folder: &Path, file: &File) -> Result<()> {
    let (folders, name) = parts(&file.path);
    let mut inner: Option<OwnedFd> = None;
    let mut shown = folder.to_owned();
    for part in folders {
        shown.push(part);
        let parent = inner.as_ref().unwrap_or(root);
        match mkdirat(parent, part, Mode::RWXU) {
            Ok(()) => fsync(parent).map_err(|error| disk(&shown, error.into()))?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(disk(&shown, error.into())),
        }
        let missing = || ClientError::NotPlain { path: shown.display().to_string() };
        let next = enter(parent, part, &shown)?.ok_or_else(missing)?;
        inner = Some(next);
    }
    let parent = inner.as_ref().unwrap_or(root);
    shown.push(name);
    let failed = |error: Errno| match error {
        Errno::EXIST => ClientError::Taken { path: shown.display().to_string() },
        error => disk(&shown, error.into()),
    };
    // Under another name until it is whole; the last step fails where the name is taken.
    let draft = format!(".{}.{UNFINISHED}", token()?);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut handle = Handle::from(openat(parent, &draft, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?);
    let done =
        handle.write_all(&file.bytes).and_then(|()| handle.sync_all()).map_err(|error| disk(&shown, error));
    let named = done.and_then(|()| linkat(parent, &draft, parent, name, AtFlags::empty()).map_err(failed));
    let removed = unlinkat(parent, &draft, AtFlags::empty()).map_err(failed);
    named.and(removed)?;
    fsync(parent).map_err(failed)
}

/// Removes a file that this call wrote. Folders stay.
fn take_back(root: &OwnedFd, path: &str) {
    let (folders, name) = parts(path);
    let mut inner: Option<OwnedFd> = None;
    for part in folders {
        let parent = inner.as_ref().unwrap_or(root);
        let Ok(Some(next)) = enter(parent, part, Path::new(part)) else { return };
        inner = Some(next);
    }
    let _ = unlinkat(inner.as_ref().unwrap_or(root), name, AtFlags::empty());
}
