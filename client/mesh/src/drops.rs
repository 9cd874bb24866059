//! What was dropped, and why.

use crate::defaults::MAX_REASONS;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why the transport dropped something. The validator's own reasons are numbers, counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dropped {
    /// The queue of messages that wait for a verdict is full, and this author's is the longest part of it.
    QueueFull,
    /// Too many messages wait for facts about their authors.
    WaitFull,
    /// Facts about the author did not come in time.
    WaitExpired,
    /// A gossiped message whose author's key cannot sign for an agent.
    AuthorKey,
    /// A topic that this node does not know.
    Topic,
    /// The verdict came after gossipsub had forgotten the message, so it was not forwarded.
    Late,
    /// A direct stream that broke before its frame was whole, or whose frame is too long or empty.
    Frame,
    /// A message on a direct stream of a peer whose score is below the threshold of the graylist.
    Graylisted,
    /// A direct stream that timed out or broke before its answer.
    Stream,
    /// The sink did not keep an accepted message.
    NotKept,
    /// Nobody reads events fast enough.
    EventReader,
    /// A peer is too slow to take what is sent to it; counted in messages.
    SlowPeer,
    /// A connection over a limit.
    Connection,
    /// Addresses that a peer gave and nobody outside its network can reach.
    Address,
}

impl Dropped {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 14] = [
        Self::QueueFull,
        Self::WaitFull,
        Self::WaitExpired,
        Self::AuthorKey,
        Self::Topic,
        Self::Late,
        Self::Frame,
        Self::Graylisted,
        Self::Stream,
        Self::NotKept,
        Self::EventReader,
        Self::SlowPeer,
        Self::Connection,
        Self::Address,
    ];
}

/// How the validator decided, for [`Counters::verdicts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The verdict was [`Ignore`](crate::validate::Verdict::Ignore).
    Ignored,
    /// The verdict was [`Reject`](crate::validate::Verdict::Reject).
    Rejected,
    /// The verdict was [`Misattributed`](crate::validate::Verdict::Misattributed).
    Misattributed,
}

/// Counters of a node. They only grow.
#[derive(Debug, Default)]
pub struct Counters {
    accepted: AtomicU64,
    drops: [AtomicU64; Dropped::ALL.len()],
    refusals: Mutex<BTreeMap<(Refusal, u32), u64>>,
}

impl Counters {
    /// Messages that the validator accepted.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// How often the transport dropped something for this reason.
    pub fn dropped(&self, reason: Dropped) -> u64 {
        self.drops.get(reason as usize).map_or(0, |it| it.load(Ordering::Relaxed))
    }

    /// The validator's refusals by the number of their reason. The number 0 stands for all reasons beyond the
    /// first [`MAX_REASONS`].
    pub fn refusals(&self) -> BTreeMap<(Refusal, u32), u64> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All refusals of one kind.
    pub fn refused(&self, kind: Refusal) -> u64 {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.iter().filter(|((it, _), _)| *it == kind).map(|(_, count)| count).sum()
    }

    pub(crate) fn accept(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn drop_one(&self, reason: Dropped) {
        self.drop_many(reason, 1);
    }

    pub(crate) fn drop_many(&self, reason: Dropped, count: u64) {
        if let Some(counter) = self.drops.get(reason as usize) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(crate) fn refuse(&self, kind: Refusal, reason: u32) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let known = refusals.contains_key(&(kind, reason)) || refusals.len() < MAX_REASONS;
        let count = refusals.entry((kind, if known { reason } else { 0 })).or_default();
        *count = count.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drop_has_a_counter_of_its_own() {
        let counters = Counters::default();
        for (index, reason) in Dropped::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            counters.drop_many(reason, 1 + index as u64);
        }
        assert!(Dropped::ALL.into_iter().all(|it| counters.dropped(it) == 1 + it as u64));
    }

    #[test]
    fn reasons_beyond_the_bound_count_as_one() {
        let counters = Counters::default();
        for reason in 1..=1_000 {
            counters.refuse(Refusal::Ignored, reason);
        }
        assert_eq!(counters.refused(Refusal::Ignored), 1_000);
        assert_eq!(counters.refusals().len(), MAX_REASONS + 1);
        assert_eq!(counters.refused(Refusal::Rejected), 0);
    }
}
