//! One counter for each outcome, so that what is dropped is seen.

use crate::reason::Reason;
use std::collections::BTreeMap;
use zx1_coded::{Coded as _, Row};
use zx1_protocol::validate;

/// The names of all reasons.
fn names() -> impl Iterator<Item = &'static str> {
    let of = |rows: &'static [Row]| rows.iter().map(|row| row.name);
    of(validate::Reason::ROWS).chain(of(Reason::ROWS))
}

/// Messages by outcome, since the process began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Those that keep all rules, rates included.
    pub accepted: u64,
    /// Those that were put aside until facts about their senders came; each has a second outcome later.
    pub waited: u64,
    /// Those that were not accepted, by the name of the reason; every name is there from the beginning.
    by_reason: BTreeMap<&'static str, u64>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { accepted: 0, waited: 0, by_reason: names().map(|name| (name, 0)).collect() }
    }
}

impl Counts {
    /// Counts one message that was not accepted.
    pub fn refused(&mut self, reason: &Reason) {
        let count = self.by_reason.entry(reason.name()).or_default();
        *count = count.saturating_add(1);
    }

    /// Messages that were not accepted for this reason.
    pub fn of(&self, reason: &Reason) -> u64 {
        self.by_reason.get(reason.name()).copied().unwrap_or_default()
    }

    /// The names of all reasons in their order, each with its count.
    pub fn refusals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.by_reason.iter().map(|(name, count)| (*name, *count))
    }
}
