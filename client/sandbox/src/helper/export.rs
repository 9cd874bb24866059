//! Reads the upper layers: what the commands left there is the change set.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use super::mounts::is_under;
use super::view::{Overlay, View};
use crate::raw::Raw;
use crate::wire::{Node, Upper};

/// Entries in one frame.
const BATCH: usize = 500;

/// Path and reason of a failure.
pub(super) type Failure = (PathBuf, io::Error);

/// Lists all upper layers, parents before children, to `send`.
pub(super) fn scan(view: &View, mut send: impl FnMut(Vec<Upper>) -> io::Result<()>) -> Result<(), Failure> {
    let mut scanner = Scanner { view, batch: Vec::new(), links: HashMap::new(), read: 0 };
    for overlay in &view.overlays {
        scanner.root(overlay)?;
        scanner.directory(overlay, Path::new(""), &mut send)?;
    }
    send(std::mem::take(&mut scanner.batch)).map_err(|error| (PathBuf::from("/"), error))
}

/// Deepest path and longest one that a run may leave, and how many: what a commit can take, so that the run fails
/// and not the scan. The kernel takes no path of more than 4096 bytes.
const DEPTH_MAX: usize = 128;
const PATH_MAX: usize = 3_000;
const FILES_MAX: usize = 200_000;

/// Whether a run has left more than anybody reads. Looks at names and sizes only.
pub(super) fn is_excessive(view: &View) -> bool {
    let (mut files, mut bytes) = (0usize, 0u64);
    for overlay in &view.overlays {
        let above = overlay.point.components().count();
        let mut todo = vec![PathBuf::new()];
        while let Some(relative) = todo.pop() {
            let length = overlay.point.as_os_str().len() + relative.as_os_str().len();
            if above + relative.components().count() > DEPTH_MAX || length > PATH_MAX {
                return true;
            }
            let Ok(entries) = fs::read_dir(overlay.upper.join(&relative)) else { return true };
            for entry in entries {
                let Ok(entry) = entry else { return true };
                let Ok(meta) = entry.metadata() else { return true };
                let relative = relative.join(entry.file_name());
                files += 1;
                if meta.is_file() && meta.nlink() == 1 {
                    bytes = bytes.saturating_add(meta.len());
                }
                let length = overlay.point.as_os_str().len() + relative.as_os_str().len();
                if files > FILES_MAX || bytes > view.disk_limit || length > PATH_MAX {
                    return true;
                }
                if meta.is_dir() {
                    todo.push(relative);
                }
            }
        }
    }
    false
}

/// Opens a file of an upper layer.
pub(super) fn open(view: &View, path: &Path) -> io::Result<File> {
    let overlay = view
        .overlays
        .iter()
        .filter(|overlay| is_under(path, &overlay.point))
        .max_by_key(|overlay| overlay.point.as_os_str().len())
        .ok_or(io::ErrorKind::NotFound)?;
    let relative = path.strip_prefix(&overlay.point).map_err(io::Error::other)?;
    let root =
        rustix::fs::open(&overlay.upper, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = rustix::fs::openat2(&root, relative, flags, Mode::empty(), resolve)?;
    Ok(File::from(file))
}

struct Scanner<'a> {
    view: &'a View,
    batch: Vec<Upper>,
    /// First path of every file with several names.
    links: HashMap<(u64, u64), Raw>,
    /// Bytes of all files so far.
    read: u64,
}

impl Scanner<'_> {
    /// The root of an overlay, if a command changed its mode.
    fn root(&mut self, overlay: &Overlay) -> Result<(), Failure> {
        let fail = |error| (overlay.point.clone(), error);
        let meta = fs::symlink_metadata(&overlay.upper).map_err(fail)?;
        if meta.mode() & 0o7777 != overlay.mode {
            let entry = self.entry(&overlay.upper, &overlay.point, &meta).map_err(fail)?;
            self.batch.push(entry);
        }
        Ok(())
    }

    fn directory(
        &mut self,
        overlay: &Overlay,
        relative: &Path,
        send: &mut impl FnMut(Vec<Upper>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        // An explicit stack: a hostile command can nest directories deeper than our own stack.
        let mut todo = vec![relative.to_owned()];
        while let Some(relative) = todo.pop() {
            let dir = overlay.upper.join(&relative);
            let shown = |path: &Path| overlay.point.join(path);
            let fail = |path: &Path, error| (shown(path), error);
            let mut names: Vec<_> = fs::read_dir(&dir)
                .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.file_name())).collect())
                .map_err(|error| fail(&relative, error))?;
            names.sort();
            for entry in names {
                let relative = relative.join(&entry);
                let path = overlay.upper.join(&relative);
                let meta = fs::symlink_metadata(&path).map_err(|error| fail(&relative, error))?;
                let item =
                    self.entry(&path, &shown(&relative), &meta).map_err(|error| fail(&relative, error))?;
                self.batch.push(item);
                if meta.is_dir() {
                    todo.push(relative.clone());
                }
                if self.batch.len() >= BATCH {
                    send(std::mem::take(&mut self.batch)).map_err(|error| fail(&relative, error))?;
                }
            }
        }
        Ok(())
    }

    /// Files that hold more than fits the layer are mostly holes: reading and committing them would take for
    /// ever.
    fn count(&mut self, meta: &Metadata) -> io::Result<()> {
        if meta.nlink() == 1 || !self.links.contains_key(&(meta.dev(), meta.ino())) {
            self.read = self.read.saturating_add(meta.len());
        }
        if self.read > self.view.disk_limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }

    fn entry(&mut self, path: &Path, shown: &Path, meta: &Metadata) -> io::Result<Upper> {
        let kind = meta.file_type();
        let xattrs = if kind.is_char_device() { Vec::new() } else { crate::hash::attributes(path) };
        let opaque = format!("{}overlay.opaque", self.view.attributes);
        let node = if kind.is_dir() {
            let value = crate::hash::attribute(path, opaque.as_bytes()).unwrap_or_default();
            Node::Dir { opaque: value == b"y" }
        } else if kind.is_symlink() {
            Node::Symlink { target: Raw::from(&fs::read_link(path)?) }
        } else if kind.is_file() {
            self.count(meta)?;
            let (size, hash, text) = hash_file(path)?;
            Node::File { size, hash, text }
        } else if kind.is_fifo() {
            Node::Fifo
        } else if kind.is_socket() {
            Node::Socket
        } else if kind.is_char_device() && meta.rdev() == 0 {
            Node::Whiteout
        } else {
            Node::Device
        };
        let shown = Raw::from(shown);
        let link_to = if meta.nlink() > 1 && !kind.is_dir() && node != Node::Whiteout {
            let first = self.links.entry((meta.dev(), meta.ino())).or_insert_with(|| shown.clone());
            (*first != shown).then(|| first.clone())
        } else {
            None
        };
        Ok(Upper {
            path: shown,
            node,
            mode: meta.mode() & 0o7777,
            uid: meta.uid(),
            gid: meta.gid(),
            mtime: (meta.mtime(), u32::try_from(meta.mtime_nsec()).unwrap_or(0)),
            xattrs,
            link_to,
        })
    }
}

/// Size and BLAKE2b-256 of a file, and whether it is text.
fn hash_file(path: &Path) -> io::Result<(u64, String, bool)> {
    // O_NOFOLLOW, and the helper may read files of any mode that the command made.
    let file =
        rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    crate::hash::content(File::from(file))
}
