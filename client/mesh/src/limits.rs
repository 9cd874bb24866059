//! How many messages are accepted of one author, and of one connection (decision I3).
//!
//! Only what keeps all other rules counts, so nobody uses up another's rate with messages in its name.

use crate::defaults::{
    AUTHOR_RATE, BEACON_RATE, CLOCK_JITTER, DIRECT_RATE, FEEDBACK_RATE, MAX_AUTHORS, MAX_CONNECTIONS,
    NOTARIZE_BID_RATE,
};
use crate::lru::Lru;
use crate::rate::Rate;
use crate::reason::Reason;
use std::hash::Hash;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::AgentId;

/// Something that goes away with time: a microsecond of it in each microsecond.
///
/// A clock that jumps back neither adds nor takes anything; one that only jitters, as between two threads, stands
/// still until it is past where it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Debt {
    micros: u64,
    at: u64,
}

impl Debt {
    /// What is left of it.
    pub fn left(&mut self, now: u64) -> u64 {
        match now.checked_sub(self.at) {
            Some(passed) => (self.micros, self.at) = (self.micros.saturating_sub(passed), now),
            None if self.at.saturating_sub(now) > CLOCK_JITTER => self.at = now,
            None => {}
        }
        self.micros
    }

    /// Adds to it, if it is at most `most` then; whether it was.
    pub fn add(&mut self, micros: u64, most: u64, now: u64) -> bool {
        let Some(sum) = self.left(now).checked_add(micros).filter(|sum| *sum <= most) else { return false };
        self.micros = sum;
        true
    }
}

/// A token bucket, full at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The time until it is full again.
    missing: Debt,
}

impl Bucket {
    /// Whether there is a token.
    pub fn has(&mut self, rate: Rate, now: u64) -> bool {
        let missing = self.missing.left(now);
        missing.checked_add(rate.interval_micros).is_some_and(|missing| missing <= rate.fill_micros())
    }

    /// Takes tokens, all or none; whether there were enough.
    pub fn take(&mut self, rate: Rate, tokens: u64, now: u64) -> bool {
        let time = rate.interval_micros.checked_mul(tokens);
        time.is_some_and(|time| self.missing.add(time, rate.fill_micros(), now))
    }
}

/// The rates of one author, on all channels together.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthorRates {
    all: Bucket,
    beacon: Bucket,
    notarize_bid: Bucket,
    feedback: Bucket,
}

impl AuthorRates {
    /// As [`AuthorLimits::take`].
    ///
    /// # Errors
    /// The rate that is exceeded; that of its type comes first.
    pub fn take(&mut self, msg_type: MsgType, now: u64) -> Result<(), Reason> {
        let of_type = match msg_type {
            MsgType::Beacon => Some((&mut self.beacon, BEACON_RATE, Reason::BeaconRate)),
            MsgType::NotarizeBid => {
                Some((&mut self.notarize_bid, NOTARIZE_BID_RATE, Reason::NotarizeBidRate))
            }
            MsgType::Feedback => Some((&mut self.feedback, FEEDBACK_RATE, Reason::FeedbackRate)),
            _ => None,
        };
        let Some((bucket, rate, reason)) = of_type else {
            return if self.all.take(AUTHOR_RATE, 1, now) { Ok(()) } else { Err(Reason::AuthorRate) };
        };
        // Both or neither.
        if !bucket.has(rate, now) {
            return Err(reason);
        }
        if !self.all.take(AUTHOR_RATE, 1, now) {
            return Err(Reason::AuthorRate);
        }
        bucket.take(rate, 1, now);
        Ok(())
    }
}

/// The rates of many authors.
#[derive(Clone, Debug)]
pub struct AuthorLimits {
    authors: Lru<AgentId, AuthorRates>,
}

impl Default for AuthorLimits {
    fn default() -> Self {
        Self::new(MAX_AUTHORS)
    }
}

impl AuthorLimits {
    /// Of at most `most` authors.
    pub fn new(most: usize) -> Self {
        Self { authors: Lru::new(most) }
    }

    /// Counts a message of this author, whose signature and key were verified. One that is refused counts nowhere.
    ///
    /// # Errors
    /// The rate that it exceeds; that of its type comes first.
    pub fn take(&mut self, author: &AgentId, msg_type: MsgType, now: u64) -> Result<(), Reason> {
        self.authors.update(author, AuthorRates::default, |rates| rates.take(msg_type, now))
    }

    /// Number of authors that are remembered.
    pub fn len(&self) -> usize {
        self.authors.len()
    }

    /// Whether no author is remembered.
    pub fn is_empty(&self) -> bool {
        self.authors.is_empty()
    }
}

/// The rates of connections on the direct stream, counted before anything is read.
#[derive(Clone, Debug)]
pub struct ConnectionLimits<C> {
    connections: Lru<C, Bucket>,
}

impl<C: Clone + Eq + Hash> Default for ConnectionLimits<C> {
    fn default() -> Self {
        Self { connections: Lru::new(MAX_CONNECTIONS) }
    }
}

impl<C: Clone + Eq + Hash> ConnectionLimits<C> {
    /// Counts a direct message that this connection brings.
    ///
    /// # Errors
    /// [`Reason::DirectRate`].
    pub fn take(&mut self, connection: &C, now: u64) -> Result<(), Reason> {
        self.connections.update(connection, Bucket::default, |bucket| {
            if bucket.take(DIRECT_RATE, 1, now) { Ok(()) } else { Err(Reason::DirectRate) }
        })
    }

    /// Forgets a connection that was closed.
    pub fn closed(&mut self, connection: &C) {
        self.connections.remove(connection);
    }
}
