//! Reading what is sent. Every folder is opened in its parent and no link is followed, so nothing outside of the paths
//! that were named is read.

use std::ffi::{OsStr, OsString};
use std::fs::File as Handle;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, openat};
use zx1_relay_rules::RelayError;
use zx1_relay_rules::defaults::MAX_RECEIVE;
use zx1_relay_rules::slurp::{File, check_path};

use crate::{ClientError, Result};

/// Files of one archive.
const MOST: usize = 256;
/// Folders in each other.
const DEPTH: usize = 32;

/// Reads files and whole folders. A folder's files keep its name before theirs.
///
/// # Errors
///
/// Links, special files, names that no receiver takes, more than 256 files or 50 MiB, the disk.
pub fn gather(paths: &[PathBuf]) -> Result<Vec<File>> {
    let mut gathered = Gathered::default();
    for path in paths {
        let name = own_name(path)?;
        let opened = open(CWD, path.as_os_str(), path)?;
        gathered.take(opened, path, &name, 0)?;
    }
    Ok(gathered.files)
}

#[derive(Default)]
struct Gathered {
    files: Vec<File>,
    bytes: u64,
}

impl Gathered {
    fn take(&mut self, opened: OwnedFd, path: &Path, name: &str, depth: usize) -> Result<()> {
        let stat = fstat(&opened).map_err(|error| disk(path, error.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.file(opened, path, name),
            FileType::Directory => self.folder(&opened, path, name, depth),
            _ => Err(ClientError::NotPlain { path: path.display().to_string() }),
        }
    }

    fn file(&mut self, opened: OwnedFd, path: &Path, name: &str) -> Result<()> {
        check_path(name)?;
        if self.files.len() >= MOST {
            return Err(too_many());
        }
        let left = MAX_RECEIVE.saturating_sub(self.bytes);
        let mut bytes = Vec::new();
        let read = Handle::from(opened).take(left.saturating_add(1)).read_to_end(&mut bytes);
        let size = read.map_err(|error| disk(path, error))? as u64;
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > MAX_RECEIVE {
            return Err(RelayError::ArchiveTooLarge { bytes: self.bytes, most: MAX_RECEIVE }.into());
        }
        self.files.push(File { path: name.to_owned(), bytes });
        Ok(())
    }

    fn folder(&mut self, opened: &OwnedFd, path: &Path, name: &str, depth: usize) -> Result<()> {
        if depth >= DEPTH {
            return Err(too_many());
        }
        for child in children(opened, path)? {
            let place = path.join(&child);
            let below = format!("{name}/{}", text(&child, &place)?);
            let inner = open(opened, &child, &place)?;
            self.take(inner, &place, &below, depth + 1)?;
        }
        Ok(())
    }
}

/// The names in a folder, sorted, so that the same folder gives the same archive.
fn children(folder: &OwnedFd, path: &Path) -> Result<Vec<OsString>> {
    let failed = |error: rustix::io::Errno| disk(path, error.into());
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
        // Of a folder of millions not even the names are kept.
        if names.len() > MOST {
            return Err(too_many());
        }
    }
    names.sort();
    Ok(names)
}

/// Opens without following a link, and without waiting for the other end of a pipe.
fn open<Fd: std::os::fd::AsFd>(folder: Fd, name: &OsStr, path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty()).map_err(|error| match error {
        rustix::io::Errno::LOOP | rustix::io::Errno::NXIO => {
            ClientError::NotPlain { path: path.display().to_string() }
        }
        error => disk(path, error.into()),
    })
}

/// The last name of a path; of `.` the folder's own.
fn own_name(path: &Path) -> Result<String> {
    match path.file_name() {
        Some(name) => text(name, path),
        None => {
            let whole = std::fs::canonicalize(path).map_err(|error| disk(path, error))?;
            text(whole.file_name().unwrap_or(OsStr::new("files")), path)
        }
    }
}

fn text(name: &OsStr, path: &Path) -> Result<String> {
    let why =
        || ClientError::Disk { path: path.display().to_string(), why: "its name is not UTF-8".to_owned() };
    name.to_str().map(str::to_owned).ok_or_else(why)
}

fn too_many() -> ClientError {
    ClientError::TooMany { most: MOST, depth: DEPTH }
}

/// A failure of the disk, with its place.
pub(super) fn disk(path: &Path, error: io::Error) -> ClientError {
    ClientError::Disk { path: path.display().to_string(), why: error.kind().to_string() }
}
