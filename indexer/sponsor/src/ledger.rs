//! The record of what a sponsor spent today: on the disk before a signature is handed out.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zx1_home::{Lock, LockError, files};

/// Largest record in bytes.
const LIMIT: u64 = 64 << 20;

/// What a sponsor spent in one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Day {
    epoch: u64,
    lamports: u64,
    /// Number of texts that each sender began.
    senders: BTreeMap<String, u32>,
    /// Transactions signed for each text, by sender and hash: a text that was begun may be finished.
    texts: BTreeMap<String, u32>,
    /// What was signed and is not known to have landed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open: Vec<Charge>,
}

/// What a signed transaction may cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// The sponsor's own, by which the cluster knows the transaction.
    pub signature: String,
    /// The last block height at which it can land.
    pub last_height: u64,
    /// The sender's wallet in base58.
    pub sender: String,
    /// Keccak-256 of the text, in hex.
    pub text_hash: String,
    /// Fee, and everything that moves from the sponsor.
    pub lamports: u64,
}

impl Charge {
    fn text(&self) -> String {
        format!("{} {}", self.sender, self.text_hash)
    }
}

impl Day {
    /// As if this had never been signed.
    fn give_back(&mut self, charge: &Charge) {
        self.lamports = self.lamports.saturating_sub(charge.lamports);
        let text = charge.text();
        let signed = self.texts.get(&text).copied().unwrap_or(0).saturating_sub(1);
        if signed > 0 {
            self.texts.insert(text, signed);
            return;
        }
        let texts = self.senders.get(&charge.sender).copied().unwrap_or(0);
        // The text was not begun after all.
        if self.texts.remove(&text).is_some() {
            self.senders.insert(charge.sender.clone(), texts.saturating_sub(1));
        }
    }
}

/// Limits on what a sponsor spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Texts for each sender and day.
    pub per_sender: u32,
    /// Maximum number of lamports to spend in a day.
    pub per_day: u64,
}

/// Blocks in which a blockhash serves, and some more: nodes are not at the same height.
const SERVES: u64 = 150 + 32;

/// A text of 2 048 bytes takes five transactions; a few more for those that expire.
const TRANSACTIONS_A_TEXT: u32 = 16;

/// The file in which a sponsor records what it spent today.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    caps: Caps,
    day: Day,
    /// A second process with the same record would spend its caps a second time.
    _lock: Lock,
}

impl Ledger {
    /// Refuses a record that cannot be parsed, because what was spent is unknown. Changes nothing.
    ///
    /// # Errors
    /// 7577
    pub fn check(path: &Path) -> Result<()> {
        read(path).map(drop)
    }

    /// Locks the record, makes its folder if need be, and reads it.
    ///
    /// # Errors
    /// 7577, and 9703 while another process has it.
    pub fn open(path: &Path, caps: Caps) -> Result<Self> {
        files::make_folder(files::folder_of(path)).map_err(|error| unusable(path, error))?;
        let lock = Lock::try_take(&path.with_extension("lock")).map_err(|error| match error {
            LockError::Held { .. } => Error::RecordHeld(error),
            LockError::Io { .. } => unusable(path, error),
        })?;
        Ok(Self { path: path.to_owned(), caps, day: read(path)?, _lock: lock })
    }

    /// Charges a transaction, at most what it may cost. Durable when it returns.
    ///
    /// # Errors
    /// 7575 when the sender's cap is reached, 7576 when the day's is, 7577.
    pub fn charge(&mut self, epoch: u64, charge: Charge) -> Result<()> {
        let is_same = |open: &Charge| open.signature == charge.signature && !open.signature.is_empty();
        // The very same transaction, asked for twice, lands once.
        if epoch <= self.day.epoch && self.day.open.iter().any(is_same) {
            return Ok(());
        }
        let Charge { sender, lamports, .. } = &charge;
        let mut day = if epoch > self.day.epoch { Day { epoch, ..Day::default() } } else { self.day.clone() };
        day.lamports = day.lamports.saturating_add(*lamports);
        if day.lamports > self.caps.per_day {
            return Err(Error::SponsorSpent);
        }
        let signed = day.texts.entry(charge.text()).or_insert(0);
        if *signed == 0 {
            let texts = day.senders.entry(sender.to_owned()).or_insert(0);
            *texts = texts.saturating_add(1);
            if *texts > self.caps.per_sender {
                return Err(Error::SponsorShare(self.caps.per_sender));
            }
        }
        *signed = signed.saturating_add(1);
        if *signed > TRANSACTIONS_A_TEXT {
            return Err(Error::SponsorShare(self.caps.per_sender));
        }
        day.open.push(charge);
        self.keep(day)
    }

    /// Signatures that cannot land any more when a blockhash that is given out now serves up to this height:
    /// up to `most` of them, those of this sender first, then the oldest.
    pub fn expired(&self, sender: &str, newest: u64, most: usize) -> Vec<String> {
        let over = |charge: &&Charge| charge.last_height.saturating_add(SERVES) < newest;
        let (own, others): (Vec<&Charge>, Vec<&Charge>) =
            self.day.open.iter().filter(over).partition(|charge| charge.sender == sender);
        own.into_iter().chain(others).take(most).map(|charge| charge.signature.clone()).collect()
    }

    /// Refunds what was charged for transactions that can no longer land. Each comes with whether it has landed.
    ///
    /// # Errors
    /// 7577
    pub fn settle(&mut self, fates: &[(String, bool)]) -> Result<()> {
        let mut day = self.day.clone();
        for (signature, landed) in fates {
            let Some(at) = day.open.iter().position(|open| open.signature == *signature) else { continue };
            let charge = day.open.remove(at);
            if !landed {
                day.give_back(&charge);
            }
        }
        if day == self.day { Ok(()) } else { self.keep(day) }
    }

    fn keep(&mut self, day: Day) -> Result<()> {
        let text = serde_json::to_vec(&day).map_err(|error| unusable(&self.path, error))?;
        files::replace(&self.path, &text).map_err(|error| unusable(&self.path, error))?;
        self.day = day;
        Ok(())
    }
}

fn read(path: &Path) -> Result<Day> {
    match files::read(path, LIMIT).map_err(|error| unusable(path, error))? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| unusable(path, error)),
        None => Ok(Day::default()),
    }
}

fn unusable(path: &Path, why: impl ToString) -> Error {
    Error::SponsorState { path: path.display().to_string(), why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps { per_sender: 2, per_day: 100 };

    fn code(result: Result<()>) -> Option<u32> {
        result.err().map(|error| error.code())
    }

    /// Each transaction has a signature of its own, and can land up to height 1 000.
    fn charge(ledger: &mut Ledger, epoch: u64, sender: &str, text: &str, lamports: u64) -> Result<()> {
        let charge = Charge {
            signature: format!("{sender}-{text}-{}", ledger.day.open.len()),
            last_height: 1_000,
            sender: sender.to_owned(),
            text_hash: text.to_owned(),
            lamports,
        };
        ledger.charge(epoch, charge)
    }

    #[test]
    fn what_never_landed_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        for (sender, text) in [("a", "t1"), ("a", "t1"), ("a", "t2"), ("b", "t1")] {
            assert_eq!(code(charge(&mut ledger, 5, sender, text, 25)), None);
        }
        assert_eq!(code(charge(&mut ledger, 5, "c", "t1", 1)), Some(7576));
        assert_eq!(ledger.expired("b", 1_000 + SERVES, 9), Vec::<String>::new(), "they may land");
        assert_eq!(ledger.expired("b", 1_001 + SERVES, 2), ["b-t1-3", "a-t1-0"]);
        drop(ledger);
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        // One of two for t1 landed, so that text was begun; t2 and b's were not.
        let fates = [("a-t1-0", true), ("a-t1-1", false), ("a-t2-2", false), ("b-t1-3", false)];
        let fates = fates.map(|(signature, landed)| (signature.to_owned(), landed));
        ledger.settle(&fates).unwrap();
        ledger.settle(&fates).unwrap();
        assert_eq!(ledger.expired("a", u64::MAX, 9), Vec::<String>::new());
        drop(ledger);
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        assert_eq!((ledger.day.lamports, &ledger.day.senders["a"], &ledger.day.senders["b"]), (25, &1, &0));
        assert_eq!(code(charge(&mut ledger, 5, "a", "t3", 1)), None);
        assert_eq!(code(charge(&mut ledger, 5, "a", "t4", 1)), Some(7575));
        assert_eq!(code(charge(&mut ledger, 5, "b", "t1", 75)), Some(7576));
        assert_eq!(code(charge(&mut ledger, 5, "b", "t1", 74)), None);
    }

    #[test]
    fn two_sponsors_never_share_a_record_and_spend_its_caps_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/sponsor.json");
        let first = Ledger::open(&path, CAPS).unwrap();
        assert_eq!(Ledger::open(&path, CAPS).err().map(|error| error.code()), Some(9703));
        drop(first);
        assert!(Ledger::open(&path, CAPS).is_ok());
    }

    #[test]
    fn the_same_transaction_is_charged_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("s"), CAPS).unwrap();
        assert_eq!(code(charge(&mut ledger, 5, "a", "t", 60)), None);
        let again = ledger.day.open[0].clone();
        assert_eq!(code(ledger.charge(5, again)), None);
        assert_eq!((ledger.day.lamports, ledger.day.open.len()), (60, 1));
    }

    #[test]
    fn a_record_of_before_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let before = r#"{"epoch":5,"lamports":90,"senders":{"a":1},"texts":{"a t1":1}}"#;
        std::fs::write(&path, before).unwrap();
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        assert_eq!(code(charge(&mut ledger, 5, "a", "t1", 11)), Some(7576));
    }

    #[test]
    fn caps_hold_across_a_restart_and_end_with_the_day() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sponsor.json");
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        assert_eq!(code(charge(&mut ledger, 5, "a", "t1", 10)), None);
        assert_eq!(code(charge(&mut ledger, 5, "a", "t1", 10)), None, "a begun text may be finished");
        assert_eq!(code(charge(&mut ledger, 5, "a", "t2", 10)), None);
        drop(ledger);
        let mut ledger = Ledger::open(&path, CAPS).unwrap();
        assert_eq!(code(charge(&mut ledger, 5, "a", "t3", 10)), Some(7575));
        assert_eq!(code(charge(&mut ledger, 5, "b", "t3", 71)), Some(7576));
        assert_eq!(code(charge(&mut ledger, 5, "b", "t3", 70)), None);
        assert_eq!(code(charge(&mut ledger, 6, "a", "t3", 100)), None);
    }

    #[test]
    fn one_text_cannot_be_signed_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("s"), Caps { per_day: u64::MAX, ..CAPS }).unwrap();
        for _ in 0..TRANSACTIONS_A_TEXT {
            assert_eq!(code(charge(&mut ledger, 5, "a", "t", 1)), None);
        }
        assert_eq!(code(charge(&mut ledger, 5, "a", "t", 1)), Some(7575));
    }

    #[test]
    fn a_clock_that_went_back_opens_no_new_day() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("s"), CAPS).unwrap();
        assert_eq!(code(charge(&mut ledger, 9, "a", "t1", 100)), None);
        assert_eq!(code(charge(&mut ledger, 8, "a", "t2", 1)), Some(7576));
    }
}
