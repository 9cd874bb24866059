//! What a sponsor gave away today: written before a signature leaves the house.

use crate::errors::{Error, Result};
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LIMIT: u64 = 64 << 20;

/// The day's sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Day {
    epoch: u64,
    lamports: u64,
    /// Texts begun by each sender.
    senders: BTreeMap<String, u32>,
    /// Transactions signed for each text, by sender and hash: a text that was begun may be finished.
    texts: BTreeMap<String, u32>,
}

/// The caps of a sponsor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caps {
    /// Texts for each sender and day.
    pub(super) per_sender: u32,
    /// Lamports a day.
    pub(super) per_day: u64,
}

/// A text of 2 048 bytes takes five transactions; a few more for those that expire.
const TRANSACTIONS_A_TEXT: u32 = 16;

/// The file.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    caps: Caps,
    day: Day,
}

impl Ledger {
    /// Reads the file; refuses one that it does not understand, because then nobody knows what was spent.
    pub(super) fn open(path: &Path, caps: Caps) -> Result<Self> {
        let day = match files::read_limited(path, LIMIT)? {
            Some(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| Error::SponsorState { path: files::shown(path), why: error.to_string() })?,
            None => Day::default(),
        };
        Ok(Self { path: path.to_owned(), caps, day })
    }

    /// Notes a transaction for this text that may cost so many lamports. Durable when it returns.
    ///
    /// # Errors
    /// 7575 when the sender has had its share, 7576 when the day's money is gone.
    pub(super) fn charge(&mut self, epoch: u64, sender: &str, text_hash: &str, lamports: u64) -> Result<()> {
        let mut day = if epoch > self.day.epoch { Day { epoch, ..Day::default() } } else { self.day.clone() };
        day.lamports = day.lamports.saturating_add(lamports);
        if day.lamports > self.caps.per_day {
            return Err(Error::SponsorSpent.into());
        }
        let signed = day.texts.entry(format!("{sender} {text_hash}")).or_insert(0);
        if *signed == 0 {
            let texts = day.senders.entry(sender.to_owned()).or_insert(0);
            *texts = texts.saturating_add(1);
            if *texts > self.caps.per_sender {
                return Err(Error::SponsorShare { limit: self.caps.per_sender }.into());
            }
        }
        *signed = signed.saturating_add(1);
        if *signed > TRANSACTIONS_A_TEXT {
            return Err(Error::SponsorShare { limit: self.caps.per_sender }.into());
        }
        let failed = |error: serde_json::Error| Error::WriteFailed {
            path: files::shown(&self.path),
            why: error.to_string(),
        };
        files::replace_private(&self.path, &serde_json::to_vec(&day).map_err(failed)?)?;
        self.day = day;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps { per_sender: 2, per_day: 100 };

    fn code(result: Result<()>) -> Option<u32> {
        result.err().map(|failure| failure.code)
    }

    #[test]
    fn caps_hold_across_a_restart_and_end_with_the_day() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sponsor.json");
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        assert_eq!(code(ledger.charge(5, "a", "t1", 10)), None);
        assert_eq!(code(ledger.charge(5, "a", "t1", 10)), None, "a begun text may be finished");
        assert_eq!(code(ledger.charge(5, "a", "t2", 10)), None);
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        assert_eq!(code(ledger.charge(5, "a", "t3", 10)), Some(7575));
        assert_eq!(code(ledger.charge(5, "b", "t3", 71)), Some(7576));
        assert_eq!(code(ledger.charge(5, "b", "t3", 70)), None);
        assert_eq!(code(ledger.charge(6, "a", "t3", 100)), None);
    }

    #[test]
    fn one_text_cannot_be_signed_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("s"), Caps { per_day: u64::MAX, ..CAPS }).unwrap();
        for _ in 0..TRANSACTIONS_A_TEXT {
            assert_eq!(code(ledger.charge(5, "a", "t", 1)), None);
        }
        assert_eq!(code(ledger.charge(5, "a", "t", 1)), Some(7575));
    }

    #[test]
    fn a_clock_that_went_back_opens_no_new_day() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("s"), CAPS).unwrap();
        assert_eq!(code(ledger.charge(9, "a", "t1", 100)), None);
        assert_eq!(code(ledger.charge(8, "a", "t2", 1)), Some(7576));
    }
}
