//! Compares the upper layers with the real filesystem.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::class::{Protected, Sides, classify};
use super::{ChangeSet, Entry, FileType, Identity, Kind, Meta, diff};
use crate::consent::Class;
use crate::error::{Result, SandboxError};
use crate::raw::Raw;
use crate::wire::{Node, Upper};

/// All diffs together, bytes; nobody reads more, and a hostile command could make them fill the memory.
const DIFFS_MAX: usize = 8 << 20;
/// Time for all diffs.
const DIFFS_TIME: Duration = Duration::from_secs(5);

/// What the comparison has to know.
pub(crate) struct Context {
    pub(crate) work_tree: PathBuf,
    pub(crate) masked: Vec<PathBuf>,
    pub(crate) protected: Protected,
    /// Directories of which the commands saw only `shown`.
    pub(crate) unseen: Vec<PathBuf>,
    pub(crate) shown: Vec<PathBuf>,
}

impl Context {
    /// Whether the commands could not see what is really there.
    fn is_unseen(&self, path: &Path) -> bool {
        self.unseen.iter().any(|root| path.starts_with(root) && path != root)
            && !self.shown.iter().any(|shown| path.starts_with(shown))
    }
}

/// Reads the real filesystem beside every object of the upper layers. `open` gives a file as commands left
/// it.
pub(crate) fn compare(
    uppers: Vec<Upper>,
    context: &Context,
    mut open: impl FnMut(&Path) -> Result<File>,
) -> Result<ChangeSet> {
    let uppers: BTreeMap<PathBuf, Upper> =
        uppers.into_iter().map(|upper| (upper.path.path(), upper)).collect();
    let mut comparison = Comparison {
        uppers: &uppers,
        context,
        entries: BTreeMap::new(),
        dirs: Vec::new(),
        unseen: Vec::new(),
    };
    let mut cut_off = BTreeSet::new();
    let mut opaque = BTreeSet::new();
    for (path, upper) in &uppers {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let is_cut_off = cut_off.contains(parent);
        let below = if is_cut_off { None } else { look(path)? };
        let below_is_dir = below.as_ref().is_some_and(|meta| meta.file_type == FileType::Dir);
        let is_unseen = below.is_some() && context.is_unseen(path);
        if let Node::Dir { opaque: own } = upper.node {
            if is_unseen && below_is_dir {
                // Made where another one is: that one stays as it is.
                continue;
            }
            if !below_is_dir {
                cut_off.insert(path.clone());
            } else if own || opaque.contains(parent) {
                opaque.insert(path.clone());
                comparison.emptied(path)?;
            }
        }
        if is_unseen {
            if upper.node == Node::Whiteout {
                continue;
            }
            comparison.unseen.push(Raw::from(path));
        }
        comparison.entry(path, upper, below)?;
    }
    comparison.links();
    comparison.repositories();
    comparison.diffs(&mut open);
    let digest = digest(uppers.values());
    let Comparison { entries, dirs, unseen, .. } = comparison;
    let entries = entries.into_values().collect();
    Ok(ChangeSet { entries, digest, work_tree: context.work_tree.clone(), dirs, unseen })
}

struct Comparison<'a> {
    uppers: &'a BTreeMap<PathBuf, Upper>,
    context: &'a Context,
    entries: BTreeMap<PathBuf, Entry>,
    dirs: Vec<(Raw, (i64, u32))>,
    unseen: Vec<Raw>,
}

impl Comparison<'_> {
    fn entry(&mut self, path: &Path, upper: &Upper, before: Option<Meta>) -> Result<()> {
        if upper.node == Node::Whiteout {
            // A whiteout of nothing is left behind by a file that was made and removed.
            if let Some(before) = before {
                self.add(path, Kind::Deleted, Some(before), None, None);
            }
            return Ok(());
        }
        let Some(mut after) = meta_of(upper) else {
            // Its process is dead: a socket leads nowhere.
            return Ok(());
        };
        let Some(mut before) = before else {
            self.add(path, Kind::Added, None, Some(after), upper.link_to.clone());
            return Ok(());
        };
        let (same_type, same_content) = match (&before.file_type, &after.file_type) {
            (FileType::File, FileType::File) => (true, self.same_content(path, &mut before, &after)?),
            (FileType::Symlink(a), FileType::Symlink(b)) => (true, a == b),
            (a, b) => (a == b, a == b),
        };
        let kind = if !same_type {
            Kind::Replaced
        } else if !same_content {
            Kind::Modified
        } else if after.file_type == FileType::Dir {
            self.dirs.push((upper.path.clone(), after.mtime));
            // A directory's time follows from its changes.
            after.mtime = before.mtime;
            if same_rights(&before, &after) {
                return Ok(());
            }
            Kind::Meta
        } else if same_rights(&before, &after) && before.mtime == after.mtime {
            // Copied up without a change.
            return Ok(());
        } else if matches!(after.file_type, FileType::Symlink(_)) && before.mtime != after.mtime {
            // A link that was made again.
            Kind::Modified
        } else {
            Kind::Meta
        };
        self.add(path, kind, Some(before), Some(after), upper.link_to.clone());
        Ok(())
    }

    fn same_content(&self, path: &Path, before: &mut Meta, after: &Meta) -> Result<bool> {
        if before.size != after.size {
            // Whether it was text decides which consent a change of it needs.
            before.text = after.text && read_real(path)?.1;
            return Ok(false);
        }
        let (hash, text) = read_real(path)?;
        let same = after.hash.as_ref() == Some(&hash);
        (before.hash, before.text) = (Some(hash), text);
        Ok(same)
    }

    /// Everything of the real directory that the emptied one does not have is deleted.
    fn emptied(&mut self, path: &Path) -> Result<()> {
        for entry in fs::read_dir(path).map_err(|error| SandboxError::scan(path, error))? {
            let child = path.join(entry.map_err(|error| SandboxError::scan(path, error))?.file_name());
            if !self.uppers.contains_key(&child)
                && let Some(before) = look(&child)?
            {
                self.add(&child, Kind::Deleted, Some(before), None, None);
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        path: &Path,
        kind: Kind,
        before: Option<Meta>,
        after: Option<Meta>,
        link_to: Option<Raw>,
    ) {
        let sides =
            Sides { kind, before: before.as_ref(), after: after.as_ref(), is_link: link_to.is_some() };
        let mut classes = classify(path, &sides, &self.context.protected);
        let is_dir = |meta: &Option<Meta>| meta.as_ref().is_some_and(|meta| meta.file_type == FileType::Dir);
        if is_dir(&before) && !is_dir(&after) {
            self.classify_below(path, &mut classes);
        }
        let entry = Entry { path: path.to_owned(), kind, before, after, link_to, classes, diff: None };
        self.entries.insert(path.to_owned(), entry);
    }

    /// A directory that goes takes all that is in it along: tests, hooks, start-up files.
    fn classify_below(&self, dir: &Path, classes: &mut BTreeSet<Class>) {
        let mut todo = vec![dir.to_owned()];
        while let Some(dir) = todo.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                classes.extend(classify(&entry.path(), &Sides::gone(), &self.context.protected));
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    todo.push(entry.path());
                }
            }
        }
    }

    /// Of a file with several names some may be unchanged; the others then link to one of those.
    fn links(&mut self) {
        let mut groups: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for (path, upper) in self.uppers {
            if let Some(first) = &upper.link_to {
                groups.entry(first.path()).or_insert_with(|| vec![first.path()]).push(path.clone());
            }
        }
        for names in groups.into_values() {
            // A commit writes in the order of paths, so the first one is the file and the others are links to
            // it.
            let unchanged = names.iter().find(|name| !self.entries.contains_key(*name));
            let Some(target) = unchanged.or_else(|| names.iter().min()).cloned() else { continue };
            for name in &names {
                if let Some(entry) = self.entries.get_mut(name) {
                    entry.link_to = (*name != target).then(|| Raw::from(&target));
                }
            }
        }
        // Whoever writes to one name of a file writes to all: a link belongs where its target belongs, too.
        for entry in self.entries.values_mut() {
            if let Some(target) = &entry.link_to {
                let target = target.path();
                entry.classes.extend(classify(&target, &Sides::touched(), &self.context.protected));
                entry.classes.insert(Class::Link);
            }
        }
    }

    /// All of a directory that is, or becomes, a git directory of any name: whoever enters it obeys its settings.
    fn repositories(&mut self) {
        let mut found = BTreeSet::new();
        for path in self.entries.keys() {
            let name = path.file_name().unwrap_or_default();
            let tells = ["HEAD", "objects", "refs", "commondir", "gitdir", "packed-refs", "config"];
            let Some(dir) = path.parent().filter(|_| tells.iter().any(|tell| name == *tell)) else {
                continue;
            };
            let there = |name: &str| {
                let path = dir.join(name);
                match self.entries.get(&path) {
                    Some(entry) => entry.after.is_some(),
                    None => fs::symlink_metadata(&path).is_ok(),
                }
            };
            let is_bare = there("HEAD") && (there("objects") || there("refs"));
            if is_bare || there("commondir") || there("gitdir") {
                found.insert(dir.to_owned());
            }
        }
        for entry in self.entries.values_mut() {
            if found.iter().any(|dir| entry.path.starts_with(dir)) {
                entry.classes.insert(Class::Hook);
            }
        }
    }

    fn diffs(&mut self, open: &mut impl FnMut(&Path) -> Result<File>) {
        let mut room = DIFFS_MAX;
        let until = Instant::now() + DIFFS_TIME;
        for entry in self.entries.values_mut() {
            if room == 0 || Instant::now() > until {
                return;
            }
            if crate::secrets::is_masked(&entry.path, &self.context.masked) || entry.kind == Kind::Meta {
                continue;
            }
            let is_file =
                |meta: &Option<Meta>| meta.as_ref().is_some_and(|meta| meta.file_type == FileType::File);
            let side = |is_file: bool, file: Option<File>| {
                if is_file { file.and_then(diff::text) } else { Some(String::new()) }
            };
            if !is_file(&entry.before) && !is_file(&entry.after) {
                continue;
            }
            let before = side(is_file(&entry.before), open_real(&entry.path).ok());
            let after = side(is_file(&entry.after), open(&entry.path).ok());
            entry.diff = before.zip(after).map(|(before, after)| diff::unified(&before, &after));
            room = room.saturating_sub(entry.diff.as_ref().map_or(0, String::len));
        }
    }
}

/// Hash of a real file, and whether it is text.
fn read_real(path: &Path) -> Result<(String, bool)> {
    let read = open_real(path).and_then(crate::hash::content);
    let (_, hash, text) = read.map_err(|error| SandboxError::scan(path, error))?;
    Ok((hash, text))
}

fn same_rights(a: &Meta, b: &Meta) -> bool {
    // A link has no mode of its own.
    let link = matches!(a.file_type, FileType::Symlink(_));
    (a.mode == b.mode || link) && a.uid == b.uid && a.gid == b.gid && a.xattrs == b.xattrs
}

/// Opens a real file without following a link and without waiting for a pipe.
fn open_real(path: &Path) -> std::io::Result<File> {
    fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// What is on the real filesystem; `None` if nothing is.
pub(crate) fn look(path: &Path) -> Result<Option<Meta>> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) => {
            return match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR) => Ok(None),
                // What this user cannot look at it cannot have changed either.
                _ => Err(SandboxError::scan(path, error)),
            };
        }
    };
    let kind = meta.file_type();
    let file_type = if kind.is_file() {
        FileType::File
    } else if kind.is_dir() {
        FileType::Dir
    } else if kind.is_symlink() {
        FileType::Symlink(fs::read_link(path).map_err(|error| SandboxError::scan(path, error))?)
    } else if kind.is_fifo() {
        FileType::Fifo
    } else {
        FileType::Other
    };
    Ok(Some(Meta {
        size: if kind.is_file() { meta.len() } else { 0 },
        file_type,
        mode: meta.mode() & 0o7777,
        uid: meta.uid(),
        gid: meta.gid(),
        mtime: (meta.mtime(), u32::try_from(meta.mtime_nsec()).unwrap_or(0)),
        hash: None,
        text: false,
        xattrs: crate::hash::attributes(path),
        identity: Some(Identity {
            dev: meta.dev(),
            ino: meta.ino(),
            ctime: (meta.ctime(), meta.ctime_nsec()),
        }),
    }))
}

/// An object of an upper layer; `None` for sockets.
fn meta_of(upper: &Upper) -> Option<Meta> {
    let (file_type, size, hash) = match &upper.node {
        Node::File { size, hash, .. } => (FileType::File, *size, Some(hash.clone())),
        Node::Dir { .. } => (FileType::Dir, 0, None),
        Node::Symlink { target } => (FileType::Symlink(target.path()), 0, None),
        Node::Fifo => (FileType::Fifo, 0, None),
        Node::Device => (FileType::Other, 0, None),
        Node::Socket | Node::Whiteout => return None,
    };
    Some(Meta {
        file_type,
        mode: upper.mode,
        uid: upper.uid,
        gid: upper.gid,
        size,
        mtime: upper.mtime,
        hash,
        text: matches!(upper.node, Node::File { text: true, .. }),
        xattrs: upper.xattrs.clone(),
        identity: None,
    })
}

/// The digest of a change set, from what lies in the layers.
pub(crate) fn digest_of(uppers: &[Upper]) -> String {
    let sorted: BTreeMap<PathBuf, &Upper> = uppers.iter().map(|upper| (upper.path.path(), upper)).collect();
    digest(sorted.into_values())
}

/// BLAKE2b-256 over all objects, sorted by path.
fn digest<'a>(uppers: impl Iterator<Item = &'a Upper>) -> String {
    let mut state = crate::hash::state();
    for upper in uppers {
        let text = serde_json::to_vec(upper).unwrap_or_default();
        state.update(&(text.len() as u64).to_le_bytes());
        state.update(&text);
    }
    hex::encode(state.finalize().as_bytes())
}
