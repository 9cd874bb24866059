//! Files and trees on the real filesystem: addressed by their parent's descriptor, so that no link on the way
//! can lead elsewhere, and copied with everything that a user can see of them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Stat, Timespec, Timestamps, Uid,
    XattrFlags,
};

use crate::raw::Raw;
use serde::{Deserialize, Serialize};

/// A name in an open directory.
pub(super) struct At {
    dir: OwnedFd,
    name: OsString,
}

/// The parent directory of a path, opened without following any link, and the last name.
pub(super) fn at(path: &Path) -> Result<At> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::new(ErrorKind::InvalidInput, "the root cannot be replaced"));
    };
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let parent = parent.strip_prefix("/").unwrap_or(parent);
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = match rustix::fs::openat2(&root, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // A directory that may be searched but not read.
        Err(rustix::io::Errno::ACCESS) => rustix::fs::openat2(
            &root,
            parent,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::NO_SYMLINKS,
        )?,
        other => other?,
    };
    Ok(At { dir, name: name.to_owned() })
}

impl At {
    /// Device and inode; `None` if nothing is there.
    pub(super) fn id(&self) -> Result<Option<(u64, u64)>> {
        Ok(self.stat()?.map(|stat| (stat.st_dev, stat.st_ino)))
    }

    fn stat(&self) -> Result<Option<Stat>> {
        match rustix::fs::statat(&self.dir, self.name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A path for calls that take nothing else. It passes through the open directory, so nobody can bend it;
    /// the last name must not be followed by the call.
    fn via(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.dir.as_raw_fd())).join(&self.name)
    }

    /// Opens the directory itself.
    fn open_dir(&self) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.dir, self.name.as_os_str(), flags, Mode::empty()).map_err(Into::into)
    }

    /// Names in the directory.
    fn children(&self) -> Result<Vec<At>> {
        let dir = self.open_dir()?;
        let mut children = Vec::new();
        for entry in rustix::fs::Dir::read_from(&dir)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                children.push(At { dir: dir.try_clone()?, name: name.to_owned() });
            }
        }
        Ok(children)
    }

    /// Sets the permission bits, never those of what a link leads to.
    fn set_mode(&self, mode: u32) -> Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.dir, self.name.as_os_str(), flags, Mode::empty())?;
        if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == FileType::Symlink {
            return Err(Error::new(ErrorKind::InvalidInput, "a link is in the place of a file"));
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::chmod(path, Mode::from_raw_mode(mode)).map_err(Into::into)
    }

    /// A new directory that nobody else can enter before it has its final mode.
    pub(super) fn make_dir(&self) -> Result<()> {
        rustix::fs::mkdirat(&self.dir, self.name.as_os_str(), Mode::from_raw_mode(0o700)).map_err(Into::into)
    }

    pub(super) fn make_link(&self, target: &Path) -> Result<()> {
        rustix::fs::symlinkat(target, &self.dir, self.name.as_os_str()).map_err(Into::into)
    }

    /// One more name for a file; of a link the link itself.
    pub(super) fn make_hard_link(&self, to: &At) -> Result<()> {
        let (from, name) = (to.name.as_os_str(), self.name.as_os_str());
        rustix::fs::linkat(&to.dir, from, &self.dir, name, AtFlags::empty()).map_err(Into::into)
    }

    pub(super) fn make_fifo(&self) -> Result<()> {
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(&self.dir, self.name.as_os_str(), FileType::Fifo, mode, 0).map_err(Into::into)
    }

    /// A new file that nobody else can open before it has its final mode.
    pub(super) fn create(&self) -> Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        Ok(File::from(rustix::fs::openat(&self.dir, self.name.as_os_str(), flags, mode)?))
    }

    fn set_mtime(&self, mtime: (i64, u32)) -> Result<()> {
        let name = self.name.as_os_str();
        rustix::fs::utimensat(&self.dir, name, &times(mtime), AtFlags::SYMLINK_NOFOLLOW).map_err(Into::into)
    }

    /// The descriptor of the directory, for fsync.
    pub(super) fn dir(&self) -> &OwnedFd {
        &self.dir
    }
}

/// Renames; the target must not exist.
pub(super) fn move_to(from: &At, to: &At) -> Result<()> {
    rename(from, to, RenameFlags::NOREPLACE)
}

/// Lets two names change places in one step; where the filesystem cannot, the caller goes another way.
pub(super) fn exchange(a: &At, b: &At) -> Result<()> {
    rename(a, b, RenameFlags::EXCHANGE)
}

fn rename(from: &At, to: &At, flags: RenameFlags) -> Result<()> {
    rustix::fs::renameat_with(&from.dir, from.name.as_os_str(), &to.dir, to.name.as_os_str(), flags)
        .map_err(Into::into)
}

/// Removes a file or a whole tree; nothing there is well, too.
pub(super) fn remove(path: &Path) -> Result<()> {
    // A parent that is gone took it along.
    match at(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(place) => remove_at(&place),
    }
}

fn remove_at(place: &At) -> Result<()> {
    let Some(stat) = place.stat()? else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return rustix::fs::unlinkat(&place.dir, place.name.as_os_str(), AtFlags::empty())
            .map_err(Into::into);
    }
    // A directory without write permission cannot be emptied by its owner.
    let _ = place.set_mode(0o700);
    for child in place.children()? {
        remove_at(&child)?;
    }
    rustix::fs::unlinkat(&place.dir, place.name.as_os_str(), AtFlags::REMOVEDIR).map_err(Into::into)
}

/// Everything that a user can see of a file but its content and type.
pub(super) struct Looks<'a> {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) mtime: (i64, u32),
    pub(super) xattrs: &'a [(Raw, Raw)],
}

impl Looks<'_> {
    /// Gives them to a file without following a link. The order matters: a new owner clears set-id bits, and
    /// everything else changes times.
    pub(super) fn give(&self, place: &At, is_link: bool) -> Result<()> {
        let stat = place.stat()?.ok_or(ErrorKind::NotFound)?;
        if (stat.st_uid, stat.st_gid) != (self.uid, self.gid) {
            let owner = (Some(Uid::from_raw(self.uid)), Some(Gid::from_raw(self.gid)));
            let name = place.name.as_os_str();
            rustix::fs::chownat(&place.dir, name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        if !is_link {
            let path = place.via();
            for (name, _) in crate::hash::attributes(&path) {
                if !self.xattrs.iter().any(|(wanted, _)| *wanted == name) {
                    rustix::fs::lremovexattr(&path, &name.0[..])?;
                }
            }
            for (name, value) in self.xattrs {
                rustix::fs::lsetxattr(&path, &name.0[..], &value.0, XattrFlags::empty())?;
            }
            // After the access list, whose mask is part of the mode.
            place.set_mode(self.mode)?;
        }
        place.set_mtime(self.mtime)
    }
}

fn times(mtime: (i64, u32)) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: mtime.0, tv_nsec: i64::from(mtime.1) },
    }
}

/// Sets the modification time of a directory in which something was put or removed, where this user may: in
/// one of another user, such as /tmp, the time of the change itself stays.
pub(super) fn set_dir_mtime(path: &Path, mtime: (i64, u32)) -> Result<()> {
    match set_mtime(path, mtime) {
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            Ok(())
        }
        result => result,
    }
}

fn set_mtime(path: &Path, mtime: (i64, u32)) -> Result<()> {
    if path.parent().is_none() {
        // The root has no name, and nobody can put a link in its place.
        return rustix::fs::utimensat(CWD, path, &times(mtime), AtFlags::empty()).map_err(Into::into);
    }
    at(path)?.set_mtime(mtime)
}

/// Copies a file or tree with modes, owners, times, attributes, links and hard links within it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    copy_one(&at(from)?, &at(to)?, &mut HashMap::new())
}

fn copy_one(from: &At, to: &At, links: &mut HashMap<(u64, u64), At>) -> Result<()> {
    let stat = from.stat()?.ok_or(ErrorKind::NotFound)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if stat.st_nlink > 1 && kind != FileType::Directory {
        if let Some(first) = links.get(&(stat.st_dev, stat.st_ino)) {
            return to.make_hard_link(first);
        }
        links.insert((stat.st_dev, stat.st_ino), At { dir: to.dir.try_clone()?, name: to.name.clone() });
    }
    match kind {
        FileType::Directory => {
            to.make_dir()?;
            let dir = to.open_dir()?;
            for child in from.children()? {
                let target = At { dir: dir.try_clone()?, name: child.name.clone() };
                copy_one(&child, &target, links)?;
            }
        }
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&from.dir, from.name.as_os_str(), Vec::new())?;
            to.make_link(Path::new(OsStr::from_bytes(target.to_bytes())))?;
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let source = rustix::fs::openat(&from.dir, from.name.as_os_str(), flags, Mode::empty())?;
            std::io::copy(&mut File::from(source), &mut to.create()?)?;
        }
        FileType::Fifo => to.make_fifo()?,
        FileType::CharacterDevice | FileType::BlockDevice => {
            let mode = Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(&to.dir, to.name.as_os_str(), kind, mode, stat.st_rdev)?;
        }
        // A socket: its process made it and would make it again.
        _ => return Ok(()),
    }
    let xattrs = crate::hash::attributes(&from.via());
    let looks = Looks {
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        mtime: (stat.st_mtime, u32::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        xattrs: &xattrs,
    };
    looks.give(to, kind == FileType::Symlink)
}

/// What a stamp compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stamped {
    Dir,
    /// BLAKE2b-256 of the content.
    File(String),
    Link(Raw),
    Other,
}

/// What lies at a path, as undo compares it: kind and content. `None`: nothing.
pub(super) fn stamped(path: &Path) -> Result<Option<Stamped>> {
    let place = match at(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        place => place?,
    };
    let Some(stat) = place.stat()? else { return Ok(None) };
    Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Stamped::Dir,
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&place.dir, place.name.as_os_str(), Vec::new())?;
            Stamped::Link(Raw(target.to_bytes().to_vec()))
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&place.dir, place.name.as_os_str(), flags, Mode::empty())?;
            Stamped::File(crate::hash::reader(File::from(file))?.1)
        }
        _ => Stamped::Other,
    }))
}

/// Whether a directory holds nothing but these names.
pub(super) fn holds_only(dir: &Path, known: &dyn Fn(&OsStr) -> bool) -> Result<bool> {
    Ok(fs::read_dir(dir)?.flatten().all(|entry| known(&entry.file_name())))
}

/// Removes a file, a link or an empty directory; one that is not empty stays.
pub(super) fn remove_one(path: &Path) -> Result<()> {
    let place = match at(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        place => place?,
    };
    let Some(stat) = place.stat()? else { return Ok(()) };
    let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let flags = if is_dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match rustix::fs::unlinkat(&place.dir, place.name.as_os_str(), flags) {
        Err(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::EXIST) if is_dir => Ok(()),
        done => done.map_err(Into::into),
    }
}

/// Bytes that a tree takes.
pub(super) fn size(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else { return 0 };
    let own = if meta.is_file() { meta.len() } else { 0 };
    let below = || {
        fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| size(&entry.path()))
            .fold(0, u64::saturating_add)
    };
    if meta.is_dir() { below() } else { own }
}

/// Writes everything of the filesystem that holds this directory to the disk.
pub(super) fn sync(dir: impl AsFd) -> Result<()> {
    rustix::fs::syncfs(dir).map_err(Into::into)
}
