//! Reads signal files. Whoever writes them is hostile, and may write while they are read.
//!
//! A signal is first given another name, so that one that comes meanwhile is not lost, and removed when what follows
//! from it is on disk.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::defaults::SIGNAL_MAX;
use crate::error::{CapsuleError, Result};
use crate::signal::{Kind, Signal};

fn taken(kind: Kind) -> &'static str {
    match kind {
        Kind::Bootstrap => ".taken-bootstrap",
        Kind::Rollback => ".taken-rollback",
    }
}

fn failed(error: impl Into<io::Error>) -> CapsuleError {
    CapsuleError::SignalIo { detail: error.into().to_string() }
}

/// Looks for a signal in its folder. `None` when there is none. It comes again until [`done`].
///
/// # Errors
/// 7913 when the folder cannot be used. What the file holds is in the inner result: 7910 to 7912, 7900, 7901.
pub fn look(folder: impl AsFd, kind: Kind) -> Result<Option<Result<Signal>>> {
    let folder = folder.as_fd();
    if let Some(said) = open(folder, kind)? {
        return Ok(Some(said));
    }
    match rustix::fs::renameat(folder, kind.file(), folder, taken(kind)) {
        Ok(()) => open(folder, kind),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Removes the signal that was looked at.
///
/// # Errors
/// 7913.
pub fn done(folder: impl AsFd, kind: Kind) -> Result<()> {
    let folder = folder.as_fd();
    let name = taken(kind);
    let removed = match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR),
        done => done,
    };
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        // A folder with something in it only keeps its agent from this signal.
        Err(error) => Err(failed(error)),
    }
}

fn open(folder: std::os::fd::BorrowedFd<'_>, kind: Kind) -> Result<Option<Result<Signal>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(folder, taken(kind), flags, Mode::empty(), resolve) {
        Ok(file) => Ok(Some(read(File::from(file), kind))),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::AGAIN | Errno::INTR | Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
            Err(failed(Errno::AGAIN))
        }
        // A link, a socket, a device.
        Err(_) => Ok(Some(Err(CapsuleError::SignalKind { name: kind.file() }))),
    }
}

fn read(file: File, kind: Kind) -> Result<Signal> {
    let stat = rustix::fs::fstat(&file).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink != 1 {
        return Err(CapsuleError::SignalKind { name: kind.file() });
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > SIGNAL_MAX {
        return Err(CapsuleError::SignalTooLarge { bytes: size, most: SIGNAL_MAX });
    }
    let mut bytes = Vec::new();
    file.take(SIGNAL_MAX.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    Signal::parse(kind, &bytes)
}
