//! Messages, log entries and trees to challenge with.

use zx1_protocol::batch::BatchMessage;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType};
use zx1_protocol::evidence::{Evidence, LogEvidence, ProvenBid};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle;
use zx1_protocol::payload::{self, bid_payload};
use zx1_protocol::record::{BID_LEN, Bid, Record};
use zx1_protocol::units::Slot;
use zx1_vm_tests::{Agent, Batch, Filing, Key, Living, Shown};

use crate::measure::Bench;

/// The conversation of every message here.
pub(crate) const CONVERSATION: ConversationId = ConversationId([3; 16]);
/// The other side of every message here.
pub(crate) const COUNTERPARTY: [u8; 32] = [9; 32];
/// block_ref of every message here.
pub(crate) const BLOCK_REF: u64 = 399_900_000;
/// The value of every bid here.
pub(crate) const VALUE: i128 = 1_250_000;

/// A message, unsigned: what is signed, and how the log keeps it.
pub(crate) struct Message {
    pub(crate) signing_bytes: Vec<u8>,
    pub(crate) entry: Vec<u8>,
    /// Hash of the header.
    pub(crate) hash: Hash,
}

fn message(kind: MsgType, sender: &[u8; 32], recipient: &[u8; 32], epoch: u64, payload: &[u8]) -> Message {
    let header = EnvelopeHeader {
        version: 1,
        msg_type: kind,
        sender,
        recipient,
        timestamp: epoch * 86_400_000_000,
        block_ref: Slot(BLOCK_REF),
        nonce: 1_772_000_000_000_000,
        conversation_id: CONVERSATION.as_bytes(),
        payload_hash: &Sha3::hashv(&[payload]),
        payload_len: u32::try_from(payload.len()).unwrap(),
    };
    // The signature in a log entry is for whoever holds the payload; programs do not look at it.
    let envelope = Envelope { header, payload, signature: &[8; 64] };
    Message {
        hash: header.message32::<Sha3>(),
        signing_bytes: envelope.signing_bytes(),
        entry: LogEntry::of(&envelope).to_cbor::<Sha3>().unwrap(),
    }
}

/// A PROPOSE of the agent with a payload of this length.
pub(crate) fn proposal(agent: &Agent, epoch: u64, payload_len: usize) -> Message {
    let payload = bid_payload(VALUE, &vec![b'.'; payload_len - 16]);
    message(MsgType::Propose, &agent.mint.0, &COUNTERPARTY, epoch, &payload)
}

/// A FEEDBACK about the agent.
pub(crate) fn rating(agent: &Agent, epoch: u64) -> Message {
    let feedback = payload::Feedback {
        conversation_id: CONVERSATION,
        target_agent: agent.mint,
        score: 90,
        outcome: 2,
        is_dispute: false,
        role: 0,
    };
    let payload = feedback.to_cbor().unwrap();
    message(MsgType::Feedback, &COUNTERPARTY, &agent.mint.0, epoch, &payload)
}

/// The record of a proposal whose header has this hash.
pub(crate) fn bid(value: i128, message: Hash) -> [u8; BID_LEN] {
    let (conversation, counterparty, slot) = (CONVERSATION, AgentId(COUNTERPARTY), Slot(BLOCK_REF));
    let bid = Bid { conversation, counterparty, value, slot, message };
    Record::Bid(bid).to_bytes().try_into().unwrap()
}

/// A leaf in a full tree of 2^depth leaves, of which only its path is known: the others are made up.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) index: u32,
    pub(crate) path: Vec<Hash>,
    pub(crate) root: Hash,
    pub(crate) len: u32,
}

impl Place {
    pub(crate) fn of(leaf: &Hash, depth: u32) -> Self {
        Self::beside(leaf, None, depth)
    }

    /// The same, with a given leaf as the sibling.
    fn beside(leaf: &Hash, sibling: Option<&Hash>, depth: u32) -> Self {
        let mut path: Vec<Hash> =
            (0..depth).map(|level| Sha3::hashv(&[b"path", &level.to_le_bytes()])).collect();
        if let (Some(first), Some(sibling)) = (path.first_mut(), sibling) {
            *first = *sibling;
        }
        let root = path.iter().fold(*leaf, |hash, right| merkle::node::<Sha3>(&hash, right));
        Self { index: 0, path, root, len: 1 << depth }
    }
}

/// Evidence of a log entry, with its place.
pub(crate) fn log_evidence(entry: &[u8], depth: u32) -> (Vec<u8>, Place) {
    let place = Place::of(&merkle::leaf::<Sha3>(entry), depth);
    let evidence = LogEvidence { leaf_index: place.index, proof: &place.path, entry, shown_payload: None };
    (Evidence::LogEntry(evidence).to_bytes().unwrap(), place)
}

/// Evidence of two bids that contradict each other, and their place.
pub(crate) fn double_bid(message: Hash, depth: u32) -> (Vec<u8>, Place) {
    let (one, two) = (bid(1, message), bid(2, message));
    let leaves = [merkle::leaf::<Sha3>(&one), merkle::leaf::<Sha3>(&two)];
    let place = Place::beside(&leaves[0], Some(&leaves[1]), depth);
    let mut beside = place.path.clone();
    beside[0] = leaves[0];
    let first = ProvenBid::new(&one, 0, &place.path).unwrap();
    let second = ProvenBid::new(&two, 1, &beside).unwrap();
    (Evidence::DoubleBid(first, second).to_bytes().unwrap(), place)
}

/// Lands a batch of the last epoch with these trees; none is an empty tree. Goes one slot on, since a rank
/// counts for batches that landed before it.
pub(crate) fn batch(bench: &mut Bench, living: &Living, log: Option<&Place>, arrays: Option<&Place>) {
    let tree = |place: Option<&Place>| place.map_or(([0; 32], 0), |place| (place.root, place.len));
    let ((log_merkle_root, log_len), (arrays_root, arrays_len)) = (tree(log), tree(arrays));
    let world = &mut bench.world;
    let empty = world.message_of(&living.agent, &Batch::empty(world.epoch() - 1));
    let message = BatchMessage { log_merkle_root, log_len, arrays_root, arrays_len, ..empty };
    world.submit_message(&living.agent, &living.keys.batch, &message).unwrap();
    world.advance_slots(1);
}

/// A finder's evidence against the batch of the last epoch.
pub(crate) fn filing(
    bench: &Bench,
    living: &Living,
    finder: &Key,
    (ground, value_known): (Ground, bool),
    message: Hash,
    shown: Shown,
) -> Filing {
    let (finder, agent, epoch) = (finder.clone(), living.agent, bench.world.epoch() - 1);
    Filing { finder, agent, epoch, nonce: 0, ground, value_known, message, shown }
}
