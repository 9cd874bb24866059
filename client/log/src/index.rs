//! What is remembered of an epoch's entries: which are there, and how many of whom.

use crate::nonces::Line;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::channel_of;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;

/// The first half of a hash. Two entries with the same half would take 2^64 hashes to find, and the only
/// gain would be that one's own second message is not logged. At 2^20 entries this halves the memory.
pub(crate) type Half = [u8; 16];

/// What an entry says that later ones are compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) leaf: Hash,
    /// Of a message between this agent and another: the conversation.
    conversation: Option<ConversationId>,
    /// Of a received message: whose nonce it is.
    pub(crate) received: Option<(Line, u64)>,
}

impl Facts {
    pub(crate) fn of(agent: &AgentId, direction: Direction, entry: &LogEntry<'_>, leaf: Hash) -> Self {
        let header = &entry.header;
        let line = (header.sender(), channel_of(header.msg_type));
        let received = (direction == Direction::Received).then_some((line, header.nonce));
        let takes_part = direction == Direction::Sent || header.recipient() == *agent;
        // Zero is the conversation of what belongs to none.
        let conversation = Some(header.conversation())
            .filter(|conversation| takes_part && *conversation != ConversationId::default());
        Self { leaf, conversation, received }
    }
}

/// One epoch's entries.
#[derive(Debug, Default)]
pub(crate) struct EpochIndex {
    leaves: HashMap<Half, u32>,
    conversations: HashSet<ConversationId>,
    /// Keyed hashes of (sender, channel, nonce): 8 bytes an entry, and nobody can choose two that are equal.
    nonces: HashSet<u64>,
    /// Received entries by the keyed hash of their sender.
    senders: HashMap<u64, u32>,
    key: RandomState,
}

impl EpochIndex {
    pub(crate) fn add(&mut self, index: u32, facts: &Facts) {
        self.leaves.entry(half(&facts.leaf)).or_insert(index);
        self.conversations.extend(facts.conversation);
        if let Some(received @ ((sender, _), _)) = &facts.received {
            self.nonces.insert(self.key.hash_one(received));
            let from_it = self.senders.entry(self.key.hash_one(sender)).or_default();
            *from_it = from_it.saturating_add(1);
        }
    }

    /// The place of the entry with this leaf.
    pub(crate) fn find(&self, leaf: &Hash) -> Option<u32> {
        self.leaves.get(&half(leaf)).copied()
    }

    pub(crate) fn has_conversation(&self, conversation: &ConversationId) -> bool {
        self.conversations.contains(conversation)
    }

    /// How many of the entries were received from this sender.
    pub(crate) fn count_from(&self, sender: &AgentId) -> u32 {
        self.senders.get(&self.key.hash_one(sender)).copied().unwrap_or_default()
    }

    /// Whether a received entry has this nonce.
    pub(crate) fn has_nonce(&self, received: &(Line, u64)) -> bool {
        self.nonces.contains(&self.key.hash_one(received))
    }
}

fn half(hash: &Hash) -> Half {
    let mut half = Half::default();
    half.iter_mut().zip(hash).for_each(|(to, from)| *to = *from);
    half
}
