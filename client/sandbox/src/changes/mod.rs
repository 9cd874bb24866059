//! The change set: what commands in a sandbox did to the filesystem, as people and programs read it.

mod class;
mod compare;
mod diff;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use crate::consent::{Class, Consents};

pub(crate) use class::Protected;
pub(crate) use compare::{Context, compare, digest_of, look};

use crate::error::show;
use crate::raw::Raw;

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// It did not exist.
    Added,
    /// A file or link with other content.
    Modified,
    /// It exists no more; of a directory, all below it too.
    Deleted,
    /// Same content, other mode, owner, attributes or (files) modification time.
    Meta,
    /// It is another type of file now.
    Replaced,
}

/// Type of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory, without what it holds.
    Dir,
    /// A symbolic link and its target.
    Symlink(#[serde(with = "crate::raw::path")] PathBuf),
    /// A named pipe.
    Fifo,
    /// A socket or a device; never committed.
    Other,
}

/// A file before or after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Type of the file.
    pub file_type: FileType,
    /// Permission bits with set-id and sticky bits.
    pub mode: u32,
    /// User id of the owner.
    pub uid: u32,
    /// Group id of the file.
    pub gid: u32,
    /// Size in bytes; of regular files only.
    pub size: u64,
    /// Modification time, seconds and nanoseconds since 1970.
    pub mtime: (i64, u32),
    /// BLAKE2b-256 of the content of a regular file, where it was needed.
    pub hash: Option<String>,
    /// Whether a regular file is text, where that was looked at.
    #[serde(default)]
    pub(crate) text: bool,
    /// Extended attributes, sorted.
    pub(crate) xattrs: Vec<(Raw, Raw)>,
    /// Device, inode and change time: whether it is still the same file.
    pub(crate) identity: Option<Identity>,
}

/// Tells whether a file is the one that was looked at, unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) ctime: (i64, i64),
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Absolute path on the real filesystem.
    #[serde(with = "crate::raw::path")]
    pub path: PathBuf,
    /// Kind of the change.
    pub kind: Kind,
    /// On the real filesystem when the change set was made.
    pub before: Option<Meta>,
    /// As the sandbox left it.
    pub after: Option<Meta>,
    /// The path of which this is a hard link.
    pub(crate) link_to: Option<Raw>,
    /// Where it belongs; all but [`Class::InTree`] need a consent.
    pub classes: BTreeSet<Class>,
    /// Unified diff of small text files. Not cleaned for terminals; the change set's `Display` is.
    pub diff: Option<String>,
}

impl Entry {
    /// The path of which this file became a hard link.
    #[must_use]
    pub fn hard_link_of(&self) -> Option<PathBuf> {
        self.link_to.as_ref().map(Raw::path)
    }
}

/// Everything that differs from the real filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// BLAKE2b-256 over all that would be committed: equal digests are equal changes.
    pub digest: String,
    #[serde(with = "crate::raw::path")]
    pub(crate) work_tree: PathBuf,
    /// Directories that stay, with the modification times that the sandbox gave them.
    pub(crate) dirs: Vec<(Raw, (i64, u32))>,
    /// Paths that exist, though the commands did not see them.
    #[serde(default)]
    pub(crate) unseen: Vec<Raw>,
}

impl ChangeSet {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All classes that occur.
    #[must_use]
    pub fn classes(&self) -> BTreeSet<Class> {
        self.entries.iter().flat_map(|entry| entry.classes.iter().copied()).collect()
    }

    /// These changes when only `fixed` of them are a fix's, and the rest is what the verified command made after it.
    /// The programs that a command makes of its own need no consent. What would need another one is left out, because
    /// the command makes it again; unless a stranger wrote the command (`is_strange`), whose doing all of it is.
    #[must_use]
    pub fn with_products_of(mut self, fixed: &ChangeSet, is_strange: bool) -> ChangeSet {
        let mut left_out: Option<PathBuf> = None;
        self.entries.retain_mut(|entry| {
            if left_out.as_ref().is_some_and(|top| entry.path.starts_with(top)) {
                return false;
            }
            if fixed.get(&entry.path).is_some() {
                return true;
            }
            for own in [Class::Binary, Class::Executable] {
                entry.classes.remove(&own);
            }
            let stays = is_strange || !entry.classes.iter().any(|class| class.needs_consent());
            if !stays {
                left_out = Some(entry.path.clone());
            }
            stays
        });
        self
    }

    /// These changes without those that the verified command made after the fix where unseen files lie, as a tool's cache
    /// in the home: the command makes them again.
    #[must_use]
    pub fn without_unseen_products(mut self, fixed: &ChangeSet) -> ChangeSet {
        self.unseen.retain(|path| fixed.unseen.contains(path));
        self
    }

    /// How many paths are new, gone, and different.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |kind: Kind| self.entries.iter().filter(|entry| entry.kind == kind).count();
        let (created, deleted) = (of(Kind::Added), of(Kind::Deleted));
        (created, deleted, self.entries.len().saturating_sub(created).saturating_sub(deleted))
    }

    /// The entry of a path.
    #[must_use]
    pub fn get(&self, path: impl AsRef<Path>) -> Option<&Entry> {
        let path = path.as_ref();
        self.entries
            .binary_search_by(|entry| entry.path.as_path().cmp(path))
            .ok()
            .and_then(|at| self.entries.get(at))
    }

    /// The entries of a path and of all below it: they lie side by side.
    pub(crate) fn below(&self, path: &Path) -> &[Entry] {
        let first = self.entries.partition_point(|entry| entry.path.as_path() < path);
        let rest = self.entries.get(first..).unwrap_or_default();
        let count = rest.partition_point(|entry| entry.path.starts_with(path));
        rest.get(..count).unwrap_or_default()
    }

    /// The first path at which two change sets differ.
    pub(crate) fn first_difference(&self, other: &Self) -> String {
        let only = |a: &Self, b: &Self| {
            a.entries.iter().find(|entry| !b.entries.contains(entry)).map(|e| show(&e.path))
        };
        only(self, other).or_else(|| only(other, self)).unwrap_or_else(|| "a directory's time".to_owned())
    }
}

impl fmt::Display for ChangeSet {
    /// Each class that needs a consent under its own heading, then the ordinary changes: those may be many,
    /// and must not hide the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(f, "no changes");
        }
        let special = self.entries.iter().any(|entry| !is_ordinary(entry));
        self.write_special(f)?;
        if special && self.entries.iter().any(is_ordinary) {
            writeln!(f, "\n{}:", Class::InTree)?;
        }
        self.write_ordinary(f)
    }
}

fn is_ordinary(entry: &Entry) -> bool {
    entry.classes.iter().all(|class| !class.needs_consent())
}

impl ChangeSet {
    /// What needs a consent of its own, as text: each class under its own heading. Empty when there is none.
    #[must_use]
    pub fn special(&self) -> String {
        let mut text = String::new();
        // A string takes all that is written to it.
        let _ = self.write_special(&mut text);
        text
    }

    /// Every changed name on a line of its own: first what needs a consent of its own, by classes.
    #[must_use]
    pub fn names(&self) -> String {
        let mut text = String::new();
        let classes = self.classes().into_iter().filter(|class| class.needs_consent());
        for class in classes {
            text.push_str(&format!("needs a consent of its own: {class}\n"));
            for entry in self.entries.iter().filter(|entry| entry.classes.contains(&class)) {
                text.push_str(&self.name_of(entry));
            }
            text.push('\n');
        }
        let ordinary: Vec<&Entry> = self.entries.iter().filter(|entry| is_ordinary(entry)).collect();
        if !text.is_empty() && !ordinary.is_empty() {
            text.push_str(&format!("{}:\n", Class::InTree));
        }
        text.extend(ordinary.into_iter().map(|entry| self.name_of(entry)));
        text
    }

    /// The diffs of all changed files, each under its name. A file without one says why.
    #[must_use]
    pub fn diffs(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            match &entry.diff {
                Some(diff) if diff.is_empty() => {}
                Some(_) => {
                    // A string takes all that is written to it.
                    let _ = self.write_entry(&mut text, entry);
                }
                None if has_content(entry) => {
                    text.push_str(self.name_of(entry).trim_end());
                    text.push_str("  diff not shown: not text, or too large\n");
                }
                None => {}
            }
        }
        text
    }

    fn name_of(&self, entry: &Entry) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_name(&mut text, entry);
        text
    }

    /// The changes that need no consent of their own, as text.
    #[must_use]
    pub fn ordinary(&self) -> String {
        let mut text = String::new();
        let _ = self.write_ordinary(&mut text);
        text
    }

    fn write_special(&self, f: &mut impl fmt::Write) -> fmt::Result {
        let classes = self.classes().into_iter().filter(|class| class.needs_consent());
        for (at, class) in classes.enumerate() {
            let gap = if at > 0 { "\n" } else { "" };
            writeln!(f, "{gap}needs a consent of its own: {class}")?;
            for entry in self.entries.iter().filter(|entry| entry.classes.contains(&class)) {
                self.write_entry(f, entry)?;
            }
        }
        Ok(())
    }

    fn write_ordinary(&self, f: &mut impl fmt::Write) -> fmt::Result {
        self.entries
            .iter()
            .filter(|entry| is_ordinary(entry))
            .try_for_each(|entry| self.write_entry(f, entry))
    }

    fn write_entry(&self, f: &mut impl fmt::Write, entry: &Entry) -> fmt::Result {
        self.write_name(f, entry)?;
        match &entry.diff {
            Some(diff) => {
                let text = diff::for_terminal(diff);
                // The next entry begins a line of its own, whatever the file ends with.
                f.write_str(text.strip_suffix('\n').unwrap_or(&text))?;
                if text.is_empty() { Ok(()) } else { writeln!(f) }
            }
            None => Ok(()),
        }
    }

    fn write_name(&self, f: &mut impl fmt::Write, entry: &Entry) -> fmt::Result {
        let path = entry.path.strip_prefix(&self.work_tree).unwrap_or(&entry.path);
        let sign = match entry.kind {
            Kind::Added => 'A',
            Kind::Modified => 'M',
            Kind::Deleted => 'D',
            Kind::Meta => 'm',
            Kind::Replaced => 'R',
        };
        write!(f, "{sign} {}{}", show(path), if is_dir(entry) { "/" } else { "" })?;
        for note in notes(entry) {
            write!(f, "  {note}")?;
        }
        writeln!(f)
    }
}

/// Whether a file's content is new or different.
fn has_content(entry: &Entry) -> bool {
    let is_file = entry.after.as_ref().is_some_and(|meta| meta.file_type == FileType::File);
    is_file && entry.link_to.is_none() && entry.kind != Kind::Meta
}

fn is_dir(entry: &Entry) -> bool {
    let meta = entry.after.as_ref().or(entry.before.as_ref());
    meta.is_some_and(|meta| meta.file_type == FileType::Dir)
}

/// What a line of the list says besides the path.
fn notes(entry: &Entry) -> Vec<String> {
    let mut notes = Vec::new();
    let size = |meta: &Option<Meta>| {
        meta.as_ref().filter(|meta| meta.file_type == FileType::File).map(|meta| meta.size)
    };
    match (size(&entry.before), size(&entry.after)) {
        (None, Some(after)) => notes.push(format!("{after} bytes")),
        (Some(before), None) => notes.push(format!("was {before} bytes")),
        (Some(before), Some(after)) if before != after => notes.push(format!("{before} -> {after} bytes")),
        _ => {}
    }
    if let Some(FileType::Symlink(target)) = entry.after.as_ref().map(|meta| &meta.file_type) {
        notes.push(format!("-> {}", show(target)));
    }
    if is_dir(entry) && entry.after.is_none() {
        notes.push("with all that is in it".to_owned());
    }
    if entry.after.as_ref().is_some_and(|meta| meta.file_type == FileType::Fifo) {
        notes.push("named pipe".to_owned());
    }
    if let Some(target) = &entry.link_to {
        notes.push(format!("hard link of {}", show(&target.path())));
    }
    if let (Some(before), Some(after)) = (&entry.before, &entry.after) {
        if before.mode != after.mode {
            notes.push(format!("mode {:04o} -> {:04o}", before.mode, after.mode));
        }
        if (before.uid, before.gid) != (after.uid, after.gid) {
            notes.push(format!("owner {}:{} -> {}:{}", before.uid, before.gid, after.uid, after.gid));
        }
        if before.xattrs != after.xattrs {
            notes.push("attributes".to_owned());
        }
        if entry.kind == Kind::Meta && notes.is_empty() {
            notes.push("time".to_owned());
        }
    } else if let Some(after) =
        entry.after.as_ref().filter(|after| after.mode & 0o6111 != 0 && !is_dir(entry))
        && !matches!(after.file_type, FileType::Symlink(_))
    {
        notes.push(format!("mode {:04o}", after.mode));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, classes: &[Class]) -> Entry {
        Entry {
            path: PathBuf::from(path),
            kind: Kind::Added,
            before: None,
            after: None,
            link_to: None,
            classes: classes.iter().copied().collect(),
            diff: None,
        }
    }

    #[test]
    fn what_needs_a_consent_comes_before_everything_else() {
        let changes = ChangeSet {
            entries: vec![
                entry("/tree/a", &[Class::InTree]),
                entry("/tree/tests/t", &[Class::InTree, Class::Tests]),
                entry("/usr/x", &[Class::OutsideTree]),
            ],
            digest: String::new(),
            work_tree: PathBuf::from("/tree"),
            dirs: Vec::new(),
            unseen: Vec::new(),
        };
        assert_eq!(
            changes.special(),
            "needs a consent of its own: files outside of the working tree\nA /usr/x\n\n\
             needs a consent of its own: tests\nA tests/t\n"
        );
        assert_eq!(changes.ordinary(), "A a\n");
        let all = changes.to_string();
        let both = format!("{}\nfiles of the working tree:\n{}", changes.special(), changes.ordinary());
        assert_eq!(all, both);
    }
}
