//! Carries out a plan so that a crash at any point leaves all or nothing after repair.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::journal::{Action, Folder, Op, Plan, RecordState, Stamp};
use super::testing::step;
use super::tree::{self, At, Looks, Stamped, at};
use crate::changes::{ChangeSet, Entry, FileType, Meta};
use crate::error::{Result, SandboxError, show};
use crate::raw::Raw;

/// Path and reason of a failure.
type Failure = (PathBuf, Error);

/// Writes all new objects beside their places, puts them there, keeps the old ones.
pub(super) fn commit(
    folder: &Folder,
    mut plan: Plan,
    changes: &ChangeSet,
    open: &mut impl FnMut(&Path) -> Result<File>,
) -> Result<()> {
    folder.create()?;
    folder.save(&plan)?;
    step();
    folder.set_state(RecordState::Preparing)?;
    step();
    if let Err((path, error)) = stage(&mut plan, changes, open).and_then(|()| sync_all(&plan, folder)) {
        take_back(folder, &plan)?;
        return Err(SandboxError::Apply { path: show(&path), detail: error.to_string() });
    }
    folder.save(&plan)?;
    step();
    folder.set_state(RecordState::Committing)?;
    step();
    if let Err((path, error)) = apply(&plan) {
        roll_back(folder, &plan)?;
        return Err(SandboxError::Apply { path: show(&path), detail: error.to_string() });
    }
    finish(folder, &plan)
}

/// Carries an interrupted commit to its end.
pub(super) fn roll_forward(folder: &Folder, plan: &Plan) -> Result<()> {
    apply(plan).map_err(|(path, error)| repair_error(plan, &path, &error))?;
    finish(folder, plan)
}

/// Removes what was written beside the places; nothing is in its place yet.
pub(super) fn take_back(folder: &Folder, plan: &Plan) -> Result<()> {
    for op in &plan.ops {
        tree::remove(&op.beside).map_err(|error| repair_error(plan, &op.beside, &error))?;
        step();
    }
    for (dir, before, _) in &plan.dirs {
        let dir = dir.path();
        tree::set_dir_mtime(&dir, *before).map_err(|error| repair_error(plan, &dir, &error))?;
    }
    folder.remove()
}

/// A step failed while a process was there to see it: everything goes back.
fn roll_back(folder: &Folder, plan: &Plan) -> Result<()> {
    for op in plan.ops.iter().rev() {
        revert(op).map_err(|error| repair_error(plan, &op.path, &error))?;
    }
    // From here on a crash must not carry the commit on.
    folder.set_state(RecordState::Preparing)?;
    take_back(folder, plan)
}

fn repair_error(plan: &Plan, path: &Path, error: &Error) -> SandboxError {
    SandboxError::Repair { id: plan.id.clone(), path: show(path), detail: error.to_string() }
}

/// Writes every new object under its name beside its place.
fn stage(
    plan: &mut Plan,
    changes: &ChangeSet,
    open: &mut impl FnMut(&Path) -> Result<File>,
) -> std::result::Result<(), Failure> {
    // Final path to staged path, for hard links.
    let mut staged = BTreeMap::new();
    for op in &mut plan.ops {
        let Action::Place { new, stamps, .. } = &mut op.action else { continue };
        let fail = |error: Error| (op.path.clone(), error);
        let mut dirs = Vec::new();
        for entry in changes.below(&op.path) {
            let relative = entry.path.strip_prefix(&op.path).unwrap_or(Path::new(""));
            let target =
                if relative.as_os_str().is_empty() { op.beside.clone() } else { op.beside.join(relative) };
            let Some(after) = &entry.after else { continue };
            at(&target).and_then(|place| write(entry, after, &place, &staged, open)).map_err(fail)?;
            staged.insert(entry.path.clone(), target.clone());
            if after.file_type == FileType::Dir {
                dirs.push((target, after));
            }
            step();
        }
        // Children first: a read-only directory could not be filled, and filling changes its time.
        for (target, after) in dirs.iter().rev() {
            at(target).and_then(|place| looks(after).give(&place, false)).map_err(fail)?;
        }
        *new = at(&op.beside).and_then(|place| place.id()).map_err(fail)?;
        *stamps = changes.below(&op.path).iter().filter_map(|entry| stamp(entry, &op.path)).collect();
        step();
    }
    Ok(())
}

fn write(
    entry: &Entry,
    after: &Meta,
    target: &At,
    staged: &BTreeMap<PathBuf, PathBuf>,
    open: &mut impl FnMut(&Path) -> Result<File>,
) -> io::Result<()> {
    if let Some(link) = &entry.link_to {
        let link = link.path();
        return target.make_hard_link(&at(staged.get(&link).unwrap_or(&link))?);
    }
    match &after.file_type {
        FileType::Dir => return target.make_dir(),
        FileType::Symlink(to) => target.make_link(to)?,
        FileType::Fifo => target.make_fifo()?,
        FileType::File => {
            let source = open(&entry.path).map_err(Error::other)?;
            let mut file = target.create()?;
            let (_, hash) = crate::hash::reader(Tee { source, target: &mut file })?;
            if after.hash.as_ref() != Some(&hash) {
                return Err(Error::other("its content differs from the one that was verified"));
            }
        }
        FileType::Other => return Err(Error::new(ErrorKind::Unsupported, "a device or a socket")),
    }
    looks(after).give(target, matches!(after.file_type, FileType::Symlink(_)))
}

/// Writes what is read through it.
struct Tee<'a> {
    source: File,
    target: &'a mut File,
}

impl io::Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        io::Write::write_all(self.target, buffer.get(..count).unwrap_or_default())?;
        Ok(count)
    }
}

/// What an undo compares one new object with.
fn stamp(entry: &Entry, top: &Path) -> Option<Stamp> {
    let after = entry.after.as_ref()?;
    let is = match &after.file_type {
        FileType::Dir => Stamped::Dir,
        FileType::Symlink(target) => Stamped::Link(Raw::from(target)),
        FileType::File => Stamped::File(after.hash.clone()?),
        FileType::Fifo | FileType::Other => Stamped::Other,
    };
    Some(Stamp { name: entry.path.strip_prefix(top).ok()?.to_owned(), is })
}

fn looks(meta: &Meta) -> Looks<'_> {
    Looks { mode: meta.mode, uid: meta.uid, gid: meta.gid, mtime: meta.mtime, xattrs: &meta.xattrs }
}

/// Everything written so far is on the disk: on the filesystems of the plan and of the records, and no
/// others.
pub(super) fn sync_all(plan: &Plan, folder: &Folder) -> std::result::Result<(), Failure> {
    let mut seen = std::collections::BTreeSet::new();
    let dirs = plan.ops.iter().map(|op| op.path.clone()).chain([folder.path().join("record.json")]);
    for path in dirs {
        let fail = |error: Error| (path.clone(), error);
        let place = at(&path).map_err(fail)?;
        let device = fs::metadata(path.parent().unwrap_or(Path::new("/"))).map_err(fail)?;
        if !seen.insert(std::os::unix::fs::MetadataExt::dev(&device)) {
            continue;
        }
        match tree::sync(place.dir()) {
            Ok(()) => {}
            // A directory that may not be read cannot be synced through; the whole system then.
            Err(_) => rustix::fs::sync(),
        }
    }
    Ok(())
}

/// Does what is not done yet of every operation.
fn apply(plan: &Plan) -> std::result::Result<(), Failure> {
    for op in &plan.ops {
        apply_one(op).map_err(|error| (op.path.clone(), error))?;
        step();
    }
    Ok(())
}

fn apply_one(op: &Op) -> io::Result<()> {
    match &op.action {
        Action::Place { had_old, new, .. } => {
            let (place, beside) = (at(&op.path)?, at(&op.beside)?);
            if place.id()? == *new {
                return Ok(());
            }
            if !had_old || place.id()?.is_none() {
                return tree::move_to(&beside, &place);
            }
            match tree::exchange(&place, &beside) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => {
                    // This filesystem cannot exchange: the old object leaves under another name.
                    let old = at(&old_name(op))?;
                    tree::move_to(&place, &old)?;
                    step();
                    tree::move_to(&beside, &place)
                }
                result => result,
            }
        }
        Action::Remove => {
            let (place, beside) = (at(&op.path)?, at(&op.beside)?);
            if place.id()?.is_none() || beside.id()?.is_some() {
                return Ok(());
            }
            tree::move_to(&place, &beside)
        }
        Action::Meta { after, .. } => {
            looks(after).give(&at(&op.path)?, matches!(after.file_type, FileType::Symlink(_)))
        }
    }
}

/// The name of an old object on filesystems that cannot exchange.
fn old_name(op: &Op) -> PathBuf {
    let mut name = op.beside.clone().into_os_string();
    name.push("-old");
    PathBuf::from(name)
}

/// The reverse of `apply_one`, while nothing has been collected.
fn revert(op: &Op) -> io::Result<()> {
    match &op.action {
        Action::Place { had_old, new, .. } => {
            let (place, beside, old) = (at(&op.path)?, at(&op.beside)?, at(&old_name(op))?);
            if place.id()? == *new && new.is_some() {
                if *had_old && beside.id()?.is_some() {
                    return tree::exchange(&place, &beside);
                }
                tree::move_to(&place, &beside)?;
            }
            if old.id()?.is_some() {
                tree::move_to(&old, &place)?;
            }
            Ok(())
        }
        Action::Remove => {
            let (place, beside) = (at(&op.path)?, at(&op.beside)?);
            if beside.id()?.is_some() && place.id()?.is_none() {
                tree::move_to(&beside, &place)
            } else {
                Ok(())
            }
        }
        Action::Meta { before, .. } => {
            looks(before).give(&at(&op.path)?, matches!(before.file_type, FileType::Symlink(_)))
        }
    }
}

/// All is in its place: keeps the old objects, sets the directories' times, ends the record.
fn finish(folder: &Folder, plan: &Plan) -> Result<()> {
    let fail = |path: &Path, error: Error| repair_error(plan, path, &error);
    for (index, op) in plan.ops.iter().enumerate() {
        for leaving in [op.beside.clone(), old_name(op)] {
            keep(&leaving, &folder.backup(index)).map_err(|error| fail(&leaving, error))?;
        }
        step();
    }
    for (dir, _, after) in &plan.dirs {
        let dir = dir.path();
        if let Some(after) = after {
            tree::set_dir_mtime(&dir, *after).map_err(|error| fail(&dir, error))?;
        }
        step();
    }
    sync_all(plan, folder).map_err(|(path, error)| fail(&path, error))?;
    folder.set_state(RecordState::Done)?;
    step();
    Ok(())
}

/// Moves an old object to the records, across filesystems by a copy that counts only when it is complete.
pub(super) fn keep(leaving: &Path, backup: &Path) -> io::Result<()> {
    let from = at(leaving)?;
    if from.id()?.is_none() {
        return Ok(());
    }
    let to = at(backup)?;
    if to.id()?.is_some() {
        // Copied completely before a crash.
        return tree::remove(leaving);
    }
    match tree::move_to(&from, &to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let mut part = backup.to_owned().into_os_string();
            part.push(".part");
            let part = PathBuf::from(part);
            tree::remove(&part)?;
            tree::copy(leaving, &part)?;
            tree::sync(to.dir())?;
            step();
            tree::move_to(&at(&part)?, &to)?;
            step();
            tree::remove(leaving)
        }
        result => result,
    }
}
