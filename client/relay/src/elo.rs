//! Ratings: how a settled proposal moves them.

use crate::defaults::{FIRST_RATING, RATING_FLOOR};

/// One agent's rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rating {
    /// At least [`RATING_FLOOR`].
    pub rating: u32,
    /// Settled proposals, which decide the K-factor.
    pub transactions: u32,
}

impl Default for Rating {
    fn default() -> Rating {
        Rating { rating: FIRST_RATING, transactions: 0 }
    }
}

/// What one settlement did to one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The rating before.
    pub old: u32,
    /// The rating after, the floor included.
    pub new: u32,
    /// Settled proposals, this one included.
    pub transactions: u32,
}

/// How far one result moves an agent of this experience.
pub const fn k_factor(transactions: u32) -> u32 {
    match transactions {
        0..30 => 32,
        30..100 => 24,
        _ => 16,
    }
}

/// The expected result of `own` against `other`, 0 to 1.
pub fn expected(own: u32, other: u32) -> f64 {
    1.0 / (1.0 + 10f64.powf((f64::from(other) - f64::from(own)) / 400.0))
}

/// JavaScript's `Math.round`, for what is not below zero.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn round(value: f64) -> u32 {
    (value + 0.5).floor() as u32
}

/// What `own` gains by a completion with `other`: half of a win, 1 at least; the n-th of a pair gains 1/n.
pub fn gain(own: Rating, other: Rating, n: u32) -> u32 {
    let full =
        round(f64::from(k_factor(own.transactions)) * (1.0 - expected(own.rating, other.rating))).max(1);
    let half = round(f64::from(full) / 2.0).max(1);
    round(f64::from(half) / f64::from(n.max(1))).max(1)
}

/// What `own` loses when a ruling is for `other`.
pub fn loss(own: Rating, other: Rating) -> u32 {
    round(f64::from(k_factor(own.transactions)) * expected(own.rating, other.rating)).max(1)
}

/// What `own` wins when a ruling is against `other`.
pub fn win(own: Rating, other: Rating) -> u32 {
    round(f64::from(k_factor(own.transactions)) * (1.0 - expected(own.rating, other.rating))).max(1)
}

impl Rating {
    /// Applies a change and counts the transaction.
    pub fn moved(&mut self, by: i64) -> Change {
        let old = self.rating;
        let new = i64::from(old).saturating_add(by).max(i64::from(RATING_FLOOR));
        self.rating = u32::try_from(new).unwrap_or(u32::MAX);
        self.transactions = self.transactions.saturating_add(1);
        Change { old, new: self.rating, transactions: self.transactions }
    }
}
