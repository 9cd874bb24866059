//! What goes before what (decision F8).

use crate::work::Urgency;

/// An hour in milliseconds.
pub(crate) const HOUR: i64 = 3_600_000;

/// What is published first, highest first.
pub(crate) mod priority {
    pub(crate) const PAYMENT: i64 = 10;
    pub(crate) const RECEIVE: i64 = 5;
    pub(crate) const REFUND: i64 = 1;
}

/// How urgent a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    /// What goes back to a source.
    Refund,
    /// Deposits that are seen, confirmed or taken up.
    Receive,
    /// What a settlement has decided.
    Payout,
}

impl Lane {
    pub(crate) const ALL: [Lane; 3] = [Lane::Payout, Lane::Receive, Lane::Refund];

    /// The lane of a plan's priority.
    pub(crate) fn of(plan: i64) -> Lane {
        match plan {
            priority::PAYMENT.. => Lane::Payout,
            priority::RECEIVE.. => Lane::Receive,
            _ => Lane::Refund,
        }
    }

    pub(crate) fn urgency(self) -> Urgency {
        match self {
            Lane::Payout => Urgency::Payment,
            Lane::Receive => Urgency::Receive,
            Lane::Refund => Urgency::Refund,
        }
    }
}
