//! Which findings are one, and which comes first.
//!
//! Anyone can write to the log, so neither the number of entries nor the severity that a stranger claims moves a rank:
//! what counts are distinct senders that have a stake, and only logarithmically.

use crate::defaults::FLAKY_RUNS;
use crate::finding::{Finding, Text};
use crate::severity::Severity;
use crate::surface::weight;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The public key of a wallet.
pub type Sender = [u8; 32];

/// An entry of the log, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Its number in the log.
    pub entry: u64,
    /// Who signed it.
    pub sender: Sender,
    /// What it says.
    pub text: Text,
}

/// What the loop knows of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No line that can run: the item goes back to its reporters.
    NeedsRepro,
    /// Nobody of ours has run it.
    New,
    /// Our own machine saw it fail, every time.
    Reproduced,
    /// Our own machine saw it work, every time.
    NotReproduced,
    /// Our own machine saw both.
    Flaky,
    /// Resolved by the maintainer, and it works.
    Fixed,
    /// Resolved by the maintainer, and it fails.
    Regression,
}

impl State {
    /// The state that runs of our own machine show; `failed` says of each whether it failed as reported. Fewer runs than
    /// [`FLAKY_RUNS`] show nothing.
    pub fn of(has_repro: bool, resolved: bool, failed: &[bool]) -> Self {
        let enough = failed.len() >= FLAKY_RUNS;
        match (has_repro, failed.contains(&true), failed.contains(&false)) {
            (false, ..) if resolved => Self::Fixed,
            (false, ..) => Self::NeedsRepro,
            _ if !enough && resolved => Self::Fixed,
            _ if !enough => Self::New,
            (_, true, true) => Self::Flaky,
            (_, true, _) if resolved => Self::Regression,
            (_, true, _) => Self::Reproduced,
            _ if resolved => Self::Fixed,
            _ => Self::NotReproduced,
        }
    }

    /// Whether money may be offered for it. A regression is filed as an entry of its own first.
    pub fn may_be_posted(self) -> bool {
        self == Self::Reproduced
    }
}

/// What makes two entries one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The surface's word; empty when there is none.
    pub surface: String,
    /// The line in its one form; of an entry without one, its words.
    pub subject: String,
    /// Whether `subject` is a line that can run.
    pub can_run: bool,
}

impl Key {
    /// The key of a text; `None` for a halt and for a summary.
    pub fn of(text: &Text) -> Option<Self> {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        match text {
            Text::Halt => None,
            Text::Finding(finding) if finding.severity() == Severity::Meta => None,
            Text::Prose(prose) => {
                Some(Self { surface: String::new(), subject: words(prose), can_run: false })
            }
            Text::Finding(finding) => {
                let surface = finding.surface.clone().unwrap_or_default();
                let can_run = finding.repro.is_some();
                let subject =
                    finding.repro.as_ref().map_or_else(|| words(&finding.summary), |it| it.to_string());
                Some(Self { surface, subject, can_run })
            }
        }
    }
}

/// One finding with all entries that report it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What the entries have in common.
    pub key: Key,
    /// Their numbers, the oldest first.
    pub entries: Vec<u64>,
    /// How many of their senders have a stake.
    pub staked: u64,
    /// The highest that a sender with a stake gave it; where there is none, that of the oldest entry.
    pub severity: Severity,
    /// Number of the resolved entry that it names, in the oldest entry that names one.
    pub regression_of: Option<u64>,
    /// What [`rank`] computes of it.
    pub rank: u64,
}

/// Bits behind the point of a rank.
const POINT: u32 = 16;

/// log2 with 16 bits behind the point, rounded down; of integers alone, so that it is the same everywhere.
fn log2(value: u64) -> u64 {
    let whole = value.max(1).ilog2();
    // The mantissa, 1 to 2, with 32 bits behind the point: squared, its overflow is the next bit.
    let mut mantissa = (u128::from(value.max(1)) << 32) >> whole;
    let mut answer = u64::from(whole);
    for _ in 0..POINT {
        mantissa = (mantissa * mantissa) >> 32;
        let bit = mantissa >> 33;
        mantissa >>= bit;
        answer = (answer << 1) | u64::from(bit == 1);
    }
    answer
}

/// severity × log2(2 + senders with a stake) × the surface's weight, with 16 bits behind the point.
pub fn rank(severity: Severity, staked: u64, surface: &str) -> u64 {
    let factors = u64::from(severity.weight()) * u64::from(weight(surface));
    factors.saturating_mul(log2(staked.saturating_add(2)))
}

/// All findings of a log, first the one to look at first. Equal ranks stand by their oldest entry, so the order is total
/// and does not depend on that of the reports.
pub fn triage(reports: &[Report], staked: &BTreeSet<Sender>) -> Vec<Item> {
    let mut by_key: BTreeMap<Key, BTreeMap<u64, &Report>> = BTreeMap::new();
    for report in reports {
        if let Some(key) = Key::of(&report.text) {
            by_key.entry(key).or_default().insert(report.entry, report);
        }
    }
    let mut items: Vec<Item> = by_key.into_iter().map(|(key, reports)| item(key, &reports, staked)).collect();
    items.sort_by_key(|item| (Reverse(item.rank), item.entries.first().copied()));
    items
}

fn item(key: Key, reports: &BTreeMap<u64, &Report>, staked: &BTreeSet<Sender>) -> Item {
    let finding = |report: &&Report| -> Option<Finding> {
        match &report.text {
            Text::Finding(finding) => Some((**finding).clone()),
            _ => None,
        }
    };
    let severity_of = |report: &&Report| finding(report).map_or(Severity::Unknown, |it| it.severity());
    let with_stake = reports.values().filter(|report| staked.contains(&report.sender));
    let senders: BTreeSet<Sender> = with_stake.clone().map(|report| report.sender).collect();
    let oldest = reports.values().next().map_or(Severity::Unknown, severity_of);
    let severity = with_stake.map(severity_of).max().unwrap_or(oldest);
    let count = senders.len() as u64;
    Item {
        rank: rank(severity, count, &key.surface),
        entries: reports.keys().copied().collect(),
        staked: count,
        severity,
        regression_of: reports.values().filter_map(|it| finding(it)?.regression_of).next(),
        key,
    }
}
