//! The books: what was spent and what is reserved. No clock, no I/O.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Spend;

/// How many days a contract without calls stays in the books. Contracts live hours.
const KEEP_DAYS: i64 = 30;

/// What one contract has cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Settled calls.
    pub spent: Spend,
    /// The UTC day of the last call, in days since 1970.
    pub last_day: i64,
}

/// A reservation that is not settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The contract.
    pub contract: String,
    /// The most that the call can cost.
    pub worst: Spend,
}

/// Everything that a [`super::Store`] keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Books {
    /// The UTC day that `today` is about, in days since 1970. Never moves back.
    pub day: i64,
    /// What this day's settled calls have cost.
    pub today: Spend,
    /// By contract.
    pub contracts: BTreeMap<String, Account>,
    /// Reservations by number.
    pub open: BTreeMap<u64, Open>,
    /// The number of the next reservation.
    pub next: u64,
}

impl Books {
    /// Move to a later day. Reservations stay: their calls may end on the new day, so it bears them too.
    pub(super) fn begin_day(&mut self, day: i64) {
        if day <= self.day {
            return;
        }
        self.day = day;
        self.today = Spend::default();
        let open = &self.open;
        self.contracts.retain(|name, account| {
            day.saturating_sub(account.last_day) <= KEEP_DAYS || open.values().any(|o| o.contract == *name)
        });
    }

    /// What a contract has cost, reservations included.
    pub fn contract_total(&self, contract: &str) -> Spend {
        let spent = self.contracts.get(contract).map(|a| a.spent).unwrap_or_default();
        let open = self.open.values().filter(|o| o.contract == contract);
        open.fold(spent, |sum, o| sum.plus(o.worst))
    }

    /// What the day has cost, reservations included.
    pub fn day_total(&self) -> Spend {
        self.open.values().fold(self.today, |sum, o| sum.plus(o.worst))
    }

    /// Write a reservation down; its number.
    pub(super) fn reserve(&mut self, contract: &str, worst: Spend) -> u64 {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        self.open.insert(id, Open { contract: contract.to_owned(), worst });
        id
    }

    /// Replace a reservation by what it cost. Once only: a second time changes nothing.
    pub(super) fn settle(&mut self, id: u64, actual: Spend) {
        let Some(open) = self.open.remove(&id) else { return };
        self.today = self.today.plus(actual);
        let account = self.contracts.entry(open.contract).or_default();
        account.spent = account.spent.plus(actual);
        account.last_day = self.day;
    }

    /// Settle everything at its worst case: nobody is left who knows better.
    pub(super) fn settle_all(&mut self) {
        while let Some((id, worst)) = self.open.first_key_value().map(|(id, o)| (*id, o.worst)) {
            self.settle(id, worst);
        }
    }
}
