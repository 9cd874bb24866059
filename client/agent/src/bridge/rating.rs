//! How one side rates the other when a contract has ended (decisions G1, D1).

use zx1_market::chain::{CloseReason, Data, Side};
use zx1_market::money::Outcome;
use zx1_market::{Case, Entry, EntryType, State};

/// A rating, as FEEDBACK carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rating {
    /// -100 to 100.
    pub score: i8,
    /// 0 negative, 1 neutral, 2 positive.
    pub outcome: u8,
    /// Whether a court had to decide.
    pub is_dispute: bool,
}

const fn of(score: i8, outcome: u8, is_dispute: bool) -> Rating {
    Rating { score, outcome, is_dispute }
}

/// What `side` says of the other side. It follows from the chain alone, so nobody rates out of spite.
pub fn rating(case: &Case, entries: &[Entry], side: Side) -> Rating {
    let disputed = entries.iter().any(|e| matches!(e.kind(), EntryType::DisputeFiled | EntryType::Ruling));
    match case.state() {
        State::Fulfilled => of(100, 2, disputed),
        State::Voided => of(0, 1, disputed),
        State::Resolved => ruled(entries, side),
        _ => closed(entries, side, disputed),
    }
}

fn ruled(entries: &[Entry], side: Side) -> Rating {
    let last = entries.iter().rev().find_map(|entry| match entry.read().ok()?.0 {
        Data::Ruling(ruling) => Some(ruling.outcome),
        _ => None,
    });
    match (last, side) {
        // Of the agent: what it did; of the principal: whether it kept to its word.
        (Some(Outcome::Fulfilled), Side::Principal) => of(60, 2, true),
        (Some(Outcome::Fulfilled), Side::Agent) => of(-40, 0, true),
        (Some(Outcome::Canceled), Side::Principal) => of(-40, 0, true),
        (Some(Outcome::Canceled), Side::Agent) => of(0, 1, true),
        (Some(Outcome::EvilAgent), Side::Principal) | (Some(Outcome::EvilPrincipal), Side::Agent) => {
            of(-100, 0, true)
        }
        (Some(Outcome::EvilAgent), Side::Agent) | (Some(Outcome::EvilPrincipal), Side::Principal) => {
            of(0, 1, true)
        }
        (Some(Outcome::EvilBoth), _) => of(-100, 0, true),
        (Some(Outcome::Impossible) | None, _) => of(0, 1, true),
    }
}

fn closed(entries: &[Entry], side: Side, disputed: bool) -> Rating {
    let reason = entries.iter().rev().find_map(|entry| match entry.read().ok()?.0 {
        Data::Closed { reason } => Some(reason),
        _ => None,
    });
    match (reason, side) {
        (Some(CloseReason::AttemptsExhausted | CloseReason::ReviewRejected), Side::Principal) => {
            of(-20, 0, disputed)
        }
        (Some(CloseReason::BackedOutLate), Side::Agent) => of(-50, 0, disputed),
        _ => of(0, 1, disputed),
    }
}
