//! Puts the old objects of a commit back, byte for byte, and carries an interrupted undo to its end.

use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::journal::{Action, Folder, Op, Plan, RecordState};
use super::testing::step;
use super::tree::{self, Looks, at};
use crate::changes::{FileType, Meta, look};
use crate::error::{Result, SandboxError, show};

/// Undoes a finished commit.
pub(super) fn undo(folder: &Folder, plan: &Plan) -> Result<()> {
    for op in &plan.ops {
        check(op)?;
    }
    folder.set_state(RecordState::Undoing)?;
    step();
    carry_on(folder, plan)
}

/// What the commit made is still as it made it.
fn check(op: &Op) -> Result<()> {
    let conflict = || SandboxError::UndoConflict { path: show(&op.path) };
    let now = look(&op.path)?;
    let same = match &op.action {
        Action::Place { stamp, .. } => now.is_some() && tree::stamp(&op.path).ok() == *stamp,
        Action::Remove => now.is_none(),
        Action::Meta { after, .. } => now.is_some_and(|now| same_looks(&now, after)),
    };
    if same { Ok(()) } else { Err(conflict()) }
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
    for (index, op) in plan.ops.iter().enumerate().rev() {
        undo_one(op, &folder.backup(index)).map_err(|error| fail(&op.path, error))?;
        step();
    }
    for op in &plan.ops {
        // The new object, or the backup's copy whose work is done.
        if !matches!(op.action, Action::Meta { .. }) {
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
    for index in 0..plan.ops.len() {
        tree::remove(&folder.backup(index)).map_err(|error| fail(folder.path(), error))?;
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
