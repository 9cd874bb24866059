//! Puts the old objects of a commit back, byte for byte, and carries an interrupted undo to its end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::journal::{Action, Folder, Op, Plan, RecordState, Stamp, Undo};
use super::testing::step;
use super::tree::{self, Looks, Stamped, at};
use crate::changes::{FileType, Meta, look};
use crate::error::{Result, SandboxError, show};

/// Undoes a finished commit, file by file. Gives what was left, because it was changed since.
pub(super) fn undo(folder: &Folder, mut plan: Plan) -> Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    plan.undo = plan.ops.iter_mut().map(|op| decide(op, &mut left)).collect::<Result<_>>()?;
    if plan.undo.iter().all(|undo| *undo == Undo::Left)
        && let Some(path) = left.first()
    {
        return Err(SandboxError::UndoConflict { path: show(path) });
    }
    // What goes back and what stays is on disk before anything moves.
    folder.save(&plan)?;
    folder.set_state(RecordState::Undoing)?;
    step();
    carry_on(folder, &plan)?;
    Ok(left)
}

/// What of an operation is still as the commit made it. Its identity is looked up anew: an editor that writes the
/// same content again makes a new file of it.
fn decide(op: &mut Op, left: &mut Vec<PathBuf>) -> Result<Undo> {
    let failed = |error: Error| SandboxError::scan(&op.path, error);
    let now = look(&op.path)?;
    match &mut op.action {
        Action::Place { had_old, new, stamps } => {
            let mut part = Vec::new();
            let mut whole = true;
            for stamp in stamps.iter() {
                let path = below(&op.path, &stamp.name);
                if tree::stamped(&path).map_err(failed)?.as_ref() == Some(&stamp.is) {
                    part.push(stamp.clone());
                } else {
                    whole = false;
                    left.push(path);
                }
            }
            // What somebody put beside the commit's files stays, and their directory with it.
            let known: BTreeSet<&Path> = stamps.iter().map(|stamp| stamp.name.as_path()).collect();
            for stamp in part.iter().filter(|stamp| stamp.is == Stamped::Dir) {
                let is_known = |name: &OsStr| known.contains(stamp.name.join(name).as_path());
                let dir = below(&op.path, &stamp.name);
                if !tree::holds_only(&dir, &is_known).map_err(failed)? {
                    whole = false;
                    left.push(dir);
                }
            }
            if whole && now.is_some() {
                *new = at(&op.path).and_then(|place| place.id()).map_err(failed)?;
                return Ok(Undo::Whole);
            }
            let is_dir = now.is_some_and(|now| now.file_type == FileType::Dir);
            if *had_old || !is_dir || part.iter().all(|stamp| stamp.is == Stamped::Dir) {
                if !left.contains(&op.path) {
                    left.push(op.path.clone());
                }
                return Ok(Undo::Left);
            }
            // Children before their directories.
            part.reverse();
            Ok(Undo::Part(part))
        }
        Action::Remove if now.is_none() => Ok(Undo::Whole),
        Action::Meta { after, .. } if now.as_ref().is_some_and(|now| same_looks(now, after)) => {
            Ok(Undo::Whole)
        }
        Action::Remove | Action::Meta { .. } => {
            left.push(op.path.clone());
            Ok(Undo::Left)
        }
    }
}

fn below(top: &Path, name: &Path) -> PathBuf {
    if name.as_os_str().is_empty() { top.to_owned() } else { top.join(name) }
}

fn same_looks(now: &Meta, after: &Meta) -> bool {
    let time = now.mtime == after.mtime || after.file_type == FileType::Dir;
    (now.mode, now.uid, now.gid) == (after.mode, after.uid, after.gid) && now.xattrs == after.xattrs && time
}

/// Does what is not done yet.
pub(super) fn carry_on(folder: &Folder, plan: &Plan) -> Result<()> {
    let fail = |path: &Path, error: Error| SandboxError::Repair {
        id: plan.id.clone(),
        path: show(path),
        detail: error.to_string(),
    };
    let what = |index: usize| plan.undo.get(index).unwrap_or(&Undo::Whole);
    for (index, op) in plan.ops.iter().enumerate().rev() {
        let done = match what(index) {
            Undo::Whole => undo_one(op, &folder.backup(index)),
            Undo::Part(stamps) => undo_part(op, stamps),
            Undo::Left => Ok(()),
        };
        done.map_err(|error| fail(&op.path, error))?;
        step();
    }
    for (index, op) in plan.ops.iter().enumerate() {
        // The new object, or the backup's copy whose work is done.
        if !matches!(op.action, Action::Meta { .. }) && *what(index) == Undo::Whole {
            tree::remove(&op.beside).map_err(|error| fail(&op.beside, error))?;
        }
        step();
    }
    for (dir, before, _) in &plan.dirs {
        let dir = dir.path();
        tree::set_dir_mtime(&dir, *before).map_err(|error| fail(&dir, error))?;
        step();
    }
    super::apply::sync_all(plan, folder).map_err(|(path, error)| fail(&path, error))?;
    folder.set_state(RecordState::Undone)?;
    step();
    // What was left in place keeps what it had replaced: the user may want it.
    for index in (0..plan.ops.len()).filter(|index| *what(*index) != Undo::Left) {
        tree::remove(&folder.backup(index)).map_err(|error| fail(folder.path(), error))?;
    }
    Ok(())
}

/// Removes what of a new directory is still the commit's.
fn undo_part(op: &Op, stamps: &[Stamp]) -> io::Result<()> {
    for stamp in stamps {
        let path = below(&op.path, &stamp.name);
        if tree::stamped(&path)?.as_ref() == Some(&stamp.is) {
            tree::remove_one(&path)?;
            step();
        }
    }
    Ok(())
}

fn undo_one(op: &Op, backup: &Path) -> io::Result<()> {
    let (place, beside) = (at(&op.path)?, at(&op.beside)?);
    match &op.action {
        Action::Place { had_old, new, .. } => {
            if place.id()? != *new {
                // Done before a crash, or between two steps of a filesystem that cannot exchange.
                if place.id()?.is_none() && *had_old {
                    bring(backup, &op.beside)?;
                    return tree::move_to(&beside, &place);
                }
                return Ok(());
            }
            if !had_old {
                return tree::move_to(&place, &beside);
            }
            bring(backup, &op.beside)?;
            step();
            match tree::exchange(&place, &beside) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => {
                    // The new object is not needed any more, its content is in the record's summary only.
                    tree::remove(&op.path)?;
                    step();
                    tree::move_to(&beside, &place)
                }
                result => result,
            }
        }
        Action::Remove => {
            if place.id()?.is_some() {
                return Ok(());
            }
            bring(backup, &op.beside)?;
            step();
            tree::move_to(&beside, &place)
        }
        Action::Meta { before, .. } => {
            let link = matches!(before.file_type, FileType::Symlink(_));
            let mtime = before.mtime;
            let looks =
                Looks { mode: before.mode, uid: before.uid, gid: before.gid, mtime, xattrs: &before.xattrs };
            looks.give(&place, link)
        }
    }
}

/// Gets an old object beside its place; across filesystems by a copy that counts only when it is complete.
fn bring(backup: &Path, beside: &Path) -> io::Result<()> {
    let to = at(beside)?;
    if to.id()?.is_some() {
        return Ok(());
    }
    match tree::move_to(&at(backup)?, &to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let mut part = beside.to_owned().into_os_string();
            part.push("-part");
            let part = PathBuf::from(part);
            tree::remove(&part)?;
            tree::copy(backup, &part)?;
            tree::sync(to.dir())?;
            step();
            tree::move_to(&at(&part)?, &to)
        }
        result => result,
    }
}
