//! What models may cost: caps on money, tokens and time, per contract and per day.
//!
//! Before each call the worst case is reserved and written down; afterwards it is settled with what the call
//! really cost. What was reserved when the program died counts in full after the restart, and so does a call
//! whose future was dropped. So a cap is never exceeded, as long as a call costs no more than its worst case.
//! If a server bills more than that, the truth is written down, and nothing is reserved until it fits again.
//!
//! Caps are on by default: [`crate::defaults::BUDGET`].

mod books;
mod budgeted;
mod shared;
mod store;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zx1_home::Clock;

use serde::{Deserialize, Serialize};
use zx1_coded::Coded;

pub use books::{Account, Books, Open};
pub use budgeted::Budgeted;
pub use shared::Shared;
pub use store::{FileStore, MemoryStore, Store};

use crate::Spend;

/// Caps. A cap of zero allows nothing; `u64::MAX` allows everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Cost in micro-USD.
    pub micro_usd: u64,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Milliseconds of waiting for models.
    pub millis: u64,
}

impl Caps {
    /// No caps at all.
    pub const NONE: Caps = Caps { micro_usd: u64::MAX, tokens: u64::MAX, millis: u64::MAX };

    /// The first kind that `spend` exceeds, with the spend and the cap.
    fn exceeded_by(self, spend: Spend) -> Option<(Kind, u64, u64)> {
        let all = [
            (Kind::Money, spend.micro_usd, self.micro_usd),
            (Kind::Tokens, spend.tokens, self.tokens),
            (Kind::Time, spend.millis, self.millis),
        ];
        all.into_iter().find(|(_, spent, cap)| spent > cap)
    }
}

/// Caps per contract and per day (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// For one contract.
    pub per_contract: Caps,
    /// For one day, all contracts together.
    pub per_day: Caps,
}

impl Limits {
    /// 0.50 USD, 1 million tokens and 10 minutes a contract; 5 USD, 20 million tokens and 6 hours a day. One
    /// bounty is rarely worth more than its contract's cap.
    pub const DEFAULT: Limits = Limits {
        per_contract: Caps { micro_usd: 500_000, tokens: 1_000_000, millis: 600_000 },
        per_day: Caps { micro_usd: 5_000_000, tokens: 20_000_000, millis: 21_600_000 },
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// What a cap is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Money, in micro-USD.
    Money,
    /// Tokens, read and written.
    Tokens,
    /// Time, in milliseconds.
    Time,
}

impl Kind {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::Money => ("money", "micro-USD"),
            Kind::Tokens => ("tokens", "tokens"),
            Kind::Time => ("time", "ms"),
        }
    }
}

/// What a cap is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// A cap for one contract.
    Contract,
    /// A cap for a UTC day.
    Day,
}

impl Span {
    fn word(self) -> &'static str {
        match self {
            Span::Contract => "contract",
            Span::Day => "day",
        }
    }
}

/// Why a call may not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum BudgetError {
    /// A cap would be exceeded if the call cost its worst case.
    #[code(9340)]
    #[error(
        "The call could bring this {}'s {} to {would_be} {}, and the cap is {cap}. Decline, or raise the cap.", .span.word(), .kind.words().0, .kind.words().1
    )]
    Cap {
        /// What the cap is for.
        span: Span,
        /// What the cap counts.
        kind: Kind,
        /// Spent, reserved and this call's worst case.
        would_be: u64,
        /// The cap that would be exceeded.
        cap: u64,
    },
    /// The books cannot be written; an unwritten call is not made.
    #[code(9341, transient)]
    #[error("The budget's books cannot be written: {why}. Make room or correct the folder's rights.")]
    Store {
        /// Reason of the failure.
        why: String,
    },
    /// The books cannot be read.
    #[code(9342)]
    #[error("The budget's books cannot be read: {why}. Restore the file, or remove it to begin at zero.")]
    Damaged {
        /// What is wrong.
        why: String,
    },
    /// A contract's name is empty or too long for the books.
    #[code(9343)]
    #[error("The contract's name is empty or longer than 128 bytes. Give the contract's id.")]
    Name,
}

/// The budget: limits, books, and where the books are kept. Its methods write to the store, so they block for
/// as long as that takes; [`Budgeted`] calls them on a thread for blocking work.
pub struct Budget {
    limits: Limits,
    books: Mutex<Books>,
    store: Box<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl Budget {
    /// Open the books. What was reserved when they were written last counts in full. Fails with 9342 if they
    /// cannot be read, 9341 if they cannot be written.
    pub fn open(
        limits: Limits,
        store: Box<dyn Store>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Budget>, BudgetError> {
        let mut books = store.load().map_err(|why| BudgetError::Damaged { why })?.unwrap_or_default();
        books.begin_day(day_of(&*clock));
        books.settle_all();
        store.save(&books).map_err(|why| BudgetError::Store { why })?;
        Ok(Arc::new(Budget { limits, books: Mutex::new(books), store, clock }))
    }

    /// The limits that hold.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What a contract has cost, reservations included.
    pub fn spent_on(&self, contract: &str) -> Spend {
        self.lock().contract_total(contract)
    }

    /// What the present day has cost, reservations included.
    pub fn spent_today(&self) -> Spend {
        let mut books = self.lock();
        books.begin_day(day_of(&*self.clock));
        books.day_total()
    }

    /// What the present day has cost by books that others may be writing, reservations included. Nothing is written.
    /// Fails with 9342 if they cannot be read.
    pub fn today_in(store: &dyn Store, clock: &dyn Clock) -> Result<Spend, BudgetError> {
        let mut books = store.load().map_err(|why| BudgetError::Damaged { why })?.unwrap_or_default();
        books.begin_day(day_of(clock));
        Ok(books.day_total())
    }

    /// Reserve a call's worst case. Written down before it returns. Fails with 9340 if a cap would be
    /// exceeded, 9341 if it cannot be written; nothing is reserved then.
    pub fn reserve(self: &Arc<Self>, contract: &str, worst: Spend) -> Result<Reservation, BudgetError> {
        if contract.is_empty() || contract.len() > 128 {
            return Err(BudgetError::Name);
        }
        let mut books = self.lock();
        books.begin_day(day_of(&*self.clock));
        check(Span::Contract, self.limits.per_contract, books.contract_total(contract).plus(worst))?;
        check(Span::Day, self.limits.per_day, books.day_total().plus(worst))?;
        let mut next = books.clone();
        let id = next.reserve(contract, worst);
        self.store.save(&next).map_err(|why| BudgetError::Store { why })?;
        *books = next;
        Ok(Reservation { budget: self.clone(), id, worst, open: true })
    }

    fn settle(&self, id: u64, actual: Spend) -> Result<(), BudgetError> {
        let mut books = self.lock();
        books.begin_day(day_of(&*self.clock));
        books.settle(id, actual);
        // If this is not written, the store still holds the reservation, which is the larger number.
        self.store.save(&books).map_err(|why| BudgetError::Store { why })
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        // Books are replaced whole or changed by methods that cannot panic half way.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("limits", &self.limits).finish_non_exhaustive()
    }
}

fn check(span: Span, caps: Caps, spend: Spend) -> Result<(), BudgetError> {
    match caps.exceeded_by(spend) {
        None => Ok(()),
        Some((kind, would_be, cap)) => Err(BudgetError::Cap { span, kind, would_be, cap }),
    }
}

/// The UTC day of a time.
fn day_of(clock: &dyn Clock) -> i64 {
    i64::try_from(clock.unix_secs() / 86_400).unwrap_or(i64::MAX)
}

/// A reserved worst case. Dropped without being settled, it counts in full.
#[must_use = "a reservation that is dropped counts in full"]
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    id: u64,
    worst: Spend,
    open: bool,
}

impl Reservation {
    /// What was reserved.
    pub fn worst(&self) -> Spend {
        self.worst
    }

    /// Settle with what the call really cost. Fails with 9341 if that cannot be written; the books in memory
    /// are right all the same, and the written ones count the worst case.
    pub fn settle(mut self, actual: Spend) -> Result<(), BudgetError> {
        self.open = false;
        self.budget.settle(self.id, actual)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.open {
            // A failed write leaves the reservation in the store, and it counts in full at the next start.
            if let Err(error) = self.budget.settle(self.id, self.worst) {
                tracing::warn!(code = error.code(), "{error}");
            }
        }
    }
}
