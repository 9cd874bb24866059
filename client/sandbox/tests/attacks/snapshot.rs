//! Everything that can be seen of a tree, one line a file, to compare before and after.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Type, mode, owner, links, times, attributes, content of every file by its path.
pub(crate) type Snapshot = BTreeMap<PathBuf, String>;

/// What a snapshot looks at besides what a user can see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Inode and change time too: nobody touched anything, not even to put it back.
    Untouched,
    /// What a user can see: equal after a commit and its undo.
    Visible,
}

/// Reads a whole tree. What is mounted below is read too, except for the kernel's own windows.
pub(crate) fn take(top: &Path, depth: Depth) -> Snapshot {
    let mut snapshot = Snapshot::new();
    walk(top, depth, &mut snapshot);
    snapshot
}

fn walk(path: &Path, depth: Depth, snapshot: &mut Snapshot) {
    const SKIPPED: [&str; 6] = ["/proc", "/sys", "/dev/pts", "/dev/shm", "/usr", "/opt/attack"];
    if SKIPPED.iter().any(|skipped| Path::new(skipped) == path) {
        return;
    }
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    let mut line = format!(
        "{:o} {}:{} links {} mtime {}.{:09}",
        meta.mode(),
        meta.uid(),
        meta.gid(),
        if meta.is_dir() { 0 } else { meta.nlink() },
        meta.mtime(),
        meta.mtime_nsec(),
    );
    if depth == Depth::Untouched {
        line += &format!(" inode {} ctime {}.{:09}", meta.ino(), meta.ctime(), meta.ctime_nsec());
    }
    line += &format!(" xattrs {:?}", attributes(path));
    let kind = meta.file_type();
    if kind.is_symlink() {
        line += &format!(" -> {:?}", fs::read_link(path).unwrap_or_default());
    } else if kind.is_file() {
        let mut state = DefaultHasher::new();
        fs::read(path).unwrap_or_default().hash(&mut state);
        line += &format!(" size {} hash {:016x}", meta.len(), state.finish());
    } else if kind.is_char_device() || kind.is_block_device() {
        line += &format!(" device {}", meta.rdev());
    }
    snapshot.insert(path.to_owned(), line);
    if kind.is_dir() {
        let mut names: Vec<_> =
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            walk(&path.join(name), depth, snapshot);
        }
    }
}

fn attributes(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut list = vec![0u8; 4096];
    let Ok(length) = rustix::fs::llistxattr(path, &mut list[..]) else { return Vec::new() };
    let names = list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| {
            let mut value = vec![0u8; 65536];
            let length = rustix::fs::lgetxattr(path, name, &mut value[..]).unwrap_or(0);
            value.truncate(length);
            (String::from_utf8_lossy(name).into_owned(), value)
        })
        .collect()
}

/// Every line that differs, readable; empty when the snapshots are equal.
pub(crate) fn differences(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut lines = Vec::new();
    for path in before.keys().chain(after.keys().filter(|path| !before.contains_key(*path))) {
        let (old, new) = (before.get(path), after.get(path));
        if old != new {
            let path = String::from_utf8_lossy(path.as_os_str().as_bytes()).escape_debug().to_string();
            lines.push(format!("{path}\n    was {}\n    is  {}", show(old), show(new)));
        }
    }
    lines
}

fn show(line: Option<&String>) -> &str {
    line.map_or("not there", String::as_str)
}
