//! Reads and writes in `/bot` from outside. Everything there is hostile: no link is followed, nothing but ordinary files
//! is opened, and every read has a bound.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};

fn open(bot: impl AsFd, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(bot, path, flags, mode, resolve)?)
}

fn file(bot: impl AsFd, path: &str, flags: OFlags) -> io::Result<File> {
    let file = open(bot, path, flags)?;
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink != 1 {
        return Err(io::Error::other("not an ordinary file"));
    }
    Ok(File::from(file))
}

/// A folder in it.
pub(crate) fn folder(bot: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    open(bot, path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// The last bytes of a file, at most `most`.
pub(crate) fn tail(bot: impl AsFd, path: &str, most: u64) -> io::Result<Vec<u8>> {
    let mut file = file(bot, path, OFlags::RDONLY)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Appends to a file, and gives its size then. Its folder must be there.
pub(crate) fn append(bot: impl AsFd, path: &str, bytes: &[u8]) -> io::Result<u64> {
    let mut file = file(bot, path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?;
    file.write_all(bytes)?;
    Ok(file.metadata()?.len())
}

/// Keeps the first and the last bytes of a file that is larger.
pub(crate) fn cut(bot: impl AsFd, path: &str, keep: u64) -> io::Result<()> {
    let mut file = file(bot, path, OFlags::RDWR)?;
    let length = file.metadata()?.len();
    if length <= keep.saturating_mul(2) {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length.saturating_sub(keep)))?;
    let mut last = Vec::new();
    (&mut file).take(keep).read_to_end(&mut last)?;
    file.set_len(keep)?;
    file.seek(SeekFrom::Start(keep))?;
    file.write_all(b"\n[... left out by the watcher ...]\n")?;
    file.write_all(&last)
}
