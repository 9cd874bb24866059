//! What the keeper spent today: written before anything is sent, so that a crash counts too much, never too
//! little.

use crate::error::{Refusal, Result};
use crate::files;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const FILE: &str = "keeper.json";
const LIMIT: u64 = 4_096;

/// The record of one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Day {
    /// The chain's epoch, which is the day.
    pub(super) epoch: u64,
    /// Micro-USDC spent in it.
    pub(super) spent_micro_usdc: u64,
    /// What the wallet had when the day was first seen.
    pub(super) lamports_at_start: u64,
}

/// The record in the agent's folder.
pub(super) struct Record {
    path: PathBuf,
    pub(super) day: Day,
    /// Whether the file differs from the record in memory.
    unsaved: bool,
}

impl Record {
    /// Reads the record and begins a new day if it is one; nothing is written before [`Self::keep`] or
    /// [`Self::spend`].
    ///
    /// # Errors
    /// 7561 when it does not parse: what was spent is then unknown, and nothing is spent.
    pub(super) fn open(folder: &Path, epoch: u64, lamports: u64) -> Result<Self> {
        let path = folder.join(FILE);
        let bad = |why: String| Refusal::KeeperState { path: path.display().to_string(), why };
        let known: Option<Day> = match files::read(&path, LIMIT)? {
            Some(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?),
            None => None,
        };
        let today = known.filter(|day| day.epoch == epoch);
        let day = today.unwrap_or(Day { epoch, spent_micro_usdc: 0, lamports_at_start: lamports });
        let mut record = Self { path, day, unsaved: today.is_none() };
        if lamports > day.lamports_at_start {
            // The owner added some: what goes is counted from there.
            record.day.lamports_at_start = lamports;
            record.unsaved = true;
        }
        Ok(record)
    }

    /// Writes the day as it began, so that what goes is counted from there.
    pub(super) fn keep(&mut self) -> Result<()> {
        if self.unsaved { self.save() } else { Ok(()) }
    }

    /// Notes what is about to be spent; durable when it returns.
    pub(super) fn spend(&mut self, micro_usdc: u64) -> Result<()> {
        self.day.spent_micro_usdc = self.day.spent_micro_usdc.saturating_add(micro_usdc);
        self.save()
    }

    /// Takes back what was noted, when the chain certainly refused it.
    pub(super) fn unspend(&mut self, micro_usdc: u64) -> Result<()> {
        self.day.spent_micro_usdc = self.day.spent_micro_usdc.saturating_sub(micro_usdc);
        self.save()
    }

    fn save(&mut self) -> Result<()> {
        let Day { epoch, spent_micro_usdc, lamports_at_start } = self.day;
        let day = serde_json::json!({
            "epoch": epoch,
            "spent_micro_usdc": spent_micro_usdc,
            "lamports_at_start": lamports_at_start,
        });
        files::replace(&self.path, day.to_string().as_bytes())?;
        self.unsaved = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_survives_and_a_new_day_begins_at_zero() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::open(folder.path(), 7, 100).unwrap();
        record.spend(5).unwrap();
        let again = Record::open(folder.path(), 7, 60).unwrap();
        assert_eq!(again.day, Day { epoch: 7, spent_micro_usdc: 5, lamports_at_start: 100 });
        let tomorrow = Record::open(folder.path(), 8, 60).unwrap();
        assert_eq!(tomorrow.day, Day { epoch: 8, spent_micro_usdc: 0, lamports_at_start: 60 });
    }

    #[test]
    fn a_damaged_record_fails_and_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), b"{\"epoch\":").unwrap();
        let refused = Record::open(folder.path(), 7, 100).map(|_| ()).unwrap_err();
        assert_eq!(refused.code(), 7561);
        assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), b"{\"epoch\":");
    }
}
