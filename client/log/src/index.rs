//! What is remembered of an epoch's entries: which are there, and which bids were made.

use std::collections::{HashMap, HashSet};
use zx1_protocol::behavior_batch::{BidKey, Direction};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::log_entry::LogEntry;

/// The first half of a hash. Two entries with the same half would take 2^64 hashes to find, and the only
/// gain would be that one's own second message is not logged. At 2^20 entries this halves the memory.
pub(crate) type Half = [u8; 16];

/// One epoch's entries.
#[derive(Debug, Default)]
pub(crate) struct EpochIndex {
    leaves: HashMap<Half, u32>,
    bids: HashSet<Half>,
}

impl EpochIndex {
    pub(crate) fn add(&mut self, index: u32, leaf: &Hash, bid: Option<Half>) {
        self.leaves.entry(half(leaf)).or_insert(index);
        self.bids.extend(bid);
    }

    /// The place of the entry with this leaf.
    pub(crate) fn find(&self, leaf: &Hash) -> Option<u32> {
        self.leaves.get(&half(leaf)).copied()
    }

    pub(crate) fn has_bid(&self, bid: &Half) -> bool {
        self.bids.contains(bid)
    }
}

fn half(hash: &Hash) -> Half {
    let mut half = Half::default();
    half.iter_mut().zip(hash).for_each(|(to, from)| *to = *from);
    half
}

/// What no second own bid may share (decision C6): conversation, recipient and slot. A PROPOSE and an
/// ACCEPT clash as well, because both give a bid, and two bids with these three contradict (decision B11).
pub(crate) fn bid_of(direction: Direction, entry: &LogEntry<'_>) -> Option<Half> {
    let key = BidKey::of(&entry.header).filter(|_| direction == Direction::Sent)?;
    Some(half(&Sha3::hashv(&[&key.conversation, &key.counterparty, &key.slot.0.to_be_bytes()])))
}
