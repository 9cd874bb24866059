//! Reverting an applied fix (decision E11).

use crate::{Refusal, Result};
use std::path::{Path, PathBuf};
use zx1_sandbox::{RecordInfo, RecordState, Records};

/// All undo records of `home`, newest first.
///
/// # Errors
/// 9230 to 9235: the records.
pub fn list(home: &Path) -> Result<Vec<RecordInfo>> {
    let place = folder(home);
    if !place.exists() {
        return Ok(Vec::new());
    }
    Ok(sorted(&Records::open(place)?)?)
}

/// Which record is undone.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The one with this id.
    Id(&'a str),
    /// The last one that was applied in this folder.
    LastIn(&'a Path),
}

/// Restores the files of an applied fix byte for byte, but for those that were changed since: these are given.
///
/// # Errors
/// 9532, 9533: there is none; 9230 to 9235: the records.
pub fn undo(home: &Path, which: Which<'_>) -> Result<(RecordInfo, Vec<PathBuf>)> {
    let missing = || match which {
        Which::Id(id) => Refusal::NoSuchRecord { id: id.to_owned() },
        Which::LastIn(_) => Refusal::NothingToUndo,
    };
    let place = folder(home);
    if !place.exists() {
        return Err(missing().into());
    }
    let records = Records::open(place)?;
    let chosen = sorted(&records)?.into_iter().find(|record| match which {
        Which::Id(id) => record.id == id,
        Which::LastIn(folder) => record.state == RecordState::Done && record.work_tree == folder,
    });
    let chosen = chosen.ok_or_else(missing)?;
    let left = records.undo(&chosen.id)?;
    Ok((chosen, left))
}

fn sorted(records: &Records) -> Result<Vec<RecordInfo>, zx1_sandbox::SandboxError> {
    let mut all = records.list()?;
    all.sort_by_key(|record| std::cmp::Reverse(record.created));
    Ok(all)
}

pub(crate) fn folder(home: &Path) -> std::path::PathBuf {
    home.join("undo")
}
