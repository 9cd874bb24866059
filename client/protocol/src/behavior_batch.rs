//! The BehaviorBatch: an agent's own account of an epoch (protocol.md, 8.2 and 8.3; decision C6).
//!
//! It is a canonical CBOR array of 21: the version, the other fields of protocol.md, 8.2 in order, with log_len,
//! arrays_root and arrays_len last. Its hash is what the chain keeps as `batch_hash`. [`Builder`] makes one from a log.

mod builder;
mod cbor;

pub use builder::{BuildError, Builder, Built, Direction};
pub(crate) use cbor::OverflowHash;

use crate::batch::{BatchMessage, check_trees};
use crate::canonical::{Canonical, CborReader};
use crate::error::numbered;
use crate::hash::{Hash, Keccak, Sha3};
use crate::ids::AgentId;
use crate::merkle::ZERO;
use crate::payload::check_rating;
use crate::record::{Bid, Feedback, Selection, Verifier};
use crate::units::{Epoch, Slot};
use zx1_interface::accounts::BatchAccount;
use zx1_interface::constants::MAX_TREE_LEN;

/// Entries of each array that the batch itself holds (protocol.md, 11); the rest is only committed to.
pub const MAX_BATCH_ENTRIES: usize = 1_000;
/// No batch is longer, in bytes of CBOR: 1000 entries of each kind and the widest numbers take 435 294.
pub const MAX_BATCH_BYTES: usize = 436_000;
/// The version of a batch that is written and read. The first edition's had no such field.
pub const BATCH_VERSION: u8 = 2;
/// Counters of message types: one for each number, of which 0, 14 and 15 are unused.
pub const MSG_TYPE_COUNTERS: usize = 16;

/// Why bytes are not a batch, or not one that can be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchFormatError {
    /// More than [`MAX_BATCH_BYTES`].
    TooLarge,
    /// Not the fields of a batch.
    Malformed,
    /// Another version than [`BATCH_VERSION`]; 1 for a batch of the first edition.
    Version {
        /// The version that was found.
        version: u8,
    },
    /// Not the one encoding of what it means.
    NotCanonical,
    /// An array with more than [`MAX_BATCH_ENTRIES`].
    TooManyEntries,
    /// A rating out of range.
    RatingOutOfRange,
    /// An array that is not ordered by slot.
    NotChronological,
    /// The epoch ends before it begins.
    SlotsReversed,
    /// Counters that contradict each other.
    Counters,
    /// A tree longer than [`MAX_TREE_LEN`].
    TreeTooLong,
    /// Array lengths, overflow flag and overflow hash that contradict each other.
    Overflow,
    /// A tree without entries and with a root, or the other way round.
    EmptyRoot,
}

numbered!(BatchFormatError {
    7336 Self::Version { version } =>
        "Unsupported batch version {version}: only version {BATCH_VERSION} is read.";
    7340 Self::TooLarge => "The batch has more than {MAX_BATCH_BYTES} bytes.";
    7341 Self::Malformed => "The bytes do not have the fields of a batch.";
    7342 Self::NotCanonical => "The batch is not in its canonical encoding.";
    7343 Self::TooManyEntries => "An array of the batch holds more than {MAX_BATCH_ENTRIES} entries.";
    7344 Self::RatingOutOfRange => "A feedback event's score, outcome or role is out of range.";
    7345 Self::NotChronological => "An array of the batch is not ordered by slot.";
    7346 Self::SlotsReversed => "The batch's last slot is before its first.";
    7347 Self::Counters => "The batch's counters contradict each other.";
    7348 Self::TreeTooLong => "The batch speaks of a tree with more than {MAX_TREE_LEN} leaves.";
    7349 Self::Overflow => "The batch's array lengths, overflow flag and overflow hash do not fit together.";
    7350 Self::EmptyRoot => "The batch gives a root for a tree without entries, or none for one with entries.";
});

/// A batch. All counters cover exactly the log whose root it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviorBatch {
    /// The agent: its SATI mint.
    pub agent_id: AgentId,
    /// The batch's epoch, the last that it covers (decision B7).
    pub epoch_number: Epoch,
    /// Slot at the start of what it covers.
    pub slot_start: Slot,
    /// Slot at its end.
    pub slot_end: Slot,
    /// Number of messages sent in the epoch.
    pub message_count: u32,
    /// Messages sent, by type: `[msg_type]`; index 0 is unused. Their sum is `message_count`.
    pub msg_type_counts: [u32; MSG_TYPE_COUNTERS],
    /// Distinct agents that sent a message to this one, or got one from it; broadcasts do not count.
    pub unique_counterparties: u32,
    /// Number of VERDICTs received.
    pub tasks_completed: u32,
    /// Number of VERDICTs sent.
    pub notarizations: u32,
    /// DISPUTEs sent or received.
    pub disputes: u32,
    /// The first bids, by slot.
    pub bid_values: Vec<Bid>,
    /// The first selections, by slot.
    pub task_selections: Vec<Selection>,
    /// The first verifier assignments, by slot.
    pub verifier_ids: Vec<Verifier>,
    /// The first feedback events, by slot.
    pub feedback_events: Vec<Feedback>,
    /// Whether any of the arrays was cut.
    pub overflow: bool,
    /// Hash of the uncut arrays; zeros when none was cut.
    pub overflow_data_hash: Hash,
    /// Root over the log.
    pub log_merkle_root: Hash,
    /// Entries of the log.
    pub log_len: u32,
    /// Root over the packed records of the uncut arrays (decision B9).
    pub arrays_root: Hash,
    /// Number of records under `arrays_root`.
    pub arrays_len: u32,
}

/// What the chain keeps of a batch, and a batch key signs (decision B7). Two are equal exactly when
/// the batch is the one that was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitment {
    /// Agent id: the mint of the agent's NFT.
    pub agent: AgentId,
    /// The batch's epoch.
    pub epoch: Epoch,
    /// Root over the log.
    pub log_merkle_root: Hash,
    /// Entries of the log.
    pub log_len: u32,
    /// keccak256 of the batch's CBOR.
    pub batch_hash: Hash,
    /// Root over the packed records.
    pub arrays_root: Hash,
    /// Number of records.
    pub arrays_len: u32,
}

impl Commitment {
    /// What a batch key signs (wire.md, "Batch"), on this network and after this head.
    pub fn message(&self, network: &Hash, covers_from: Epoch, previous_digest: &Hash) -> BatchMessage {
        BatchMessage {
            network: *network,
            agent: *self.agent.as_bytes(),
            covers_from,
            epoch: self.epoch,
            previous_digest: *previous_digest,
            log_merkle_root: self.log_merkle_root,
            log_len: self.log_len,
            batch_hash: self.batch_hash,
            arrays_root: self.arrays_root,
            arrays_len: self.arrays_len,
        }
    }
}

/// What a message commits to.
impl From<&BatchMessage> for Commitment {
    fn from(message: &BatchMessage) -> Self {
        Self {
            agent: AgentId(message.agent),
            epoch: message.epoch,
            log_merkle_root: message.log_merkle_root,
            log_len: message.log_len,
            batch_hash: message.batch_hash,
            arrays_root: message.arrays_root,
            arrays_len: message.arrays_len,
        }
    }
}

/// What the chain keeps.
impl From<&BatchAccount> for Commitment {
    fn from(account: &BatchAccount) -> Self {
        Self {
            agent: AgentId(account.agent_id),
            epoch: Epoch(account.epoch_number),
            log_merkle_root: account.log_merkle_root,
            log_len: account.log_len,
            batch_hash: account.batch_hash,
            arrays_root: account.arrays_root,
            arrays_len: account.arrays_len,
        }
    }
}

impl BehaviorBatch {
    /// Reads canonical CBOR and nothing else, and [checks](Self::check) it.
    pub fn decode(bytes: &[u8]) -> Result<Self, BatchFormatError> {
        if bytes.len() > MAX_BATCH_BYTES {
            return Err(BatchFormatError::TooLarge);
        }
        let mut cbor = CborReader::new(bytes);
        let batch = cbor::read(&mut cbor)?;
        if !cbor.is_canonical() {
            return Err(BatchFormatError::NotCanonical);
        }
        batch.check()?;
        Ok(batch)
    }

    /// Whether the batch can be true: what it says must not contradict itself. That it fits its log and
    /// its arrays is [`crate::bundle::Bundle::check`]'s.
    pub fn check(&self) -> Result<(), BatchFormatError> {
        if self.array_lens().iter().any(|len| *len > MAX_BATCH_ENTRIES) {
            return Err(BatchFormatError::TooManyEntries);
        }
        let ratings = self.feedback_events.iter();
        if ratings.map(|event| check_rating(event.score, event.outcome, event.role)).any(|it| it.is_err()) {
            return Err(BatchFormatError::RatingOutOfRange);
        }
        let chronological = self.bid_values.is_sorted_by_key(|bid| bid.slot)
            && self.task_selections.is_sorted_by_key(|selection| selection.slot)
            && self.verifier_ids.is_sorted_by_key(|assignment| assignment.slot)
            && self.feedback_events.is_sorted_by_key(|event| event.slot);
        if !chronological {
            return Err(BatchFormatError::NotChronological);
        }
        if self.slot_end < self.slot_start {
            return Err(BatchFormatError::SlotsReversed);
        }
        self.check_counters()?;
        if self.log_len > MAX_TREE_LEN || self.arrays_len > MAX_TREE_LEN {
            return Err(BatchFormatError::TreeTooLong);
        }
        self.check_overflow()?;
        let trees = check_trees(self.log_len, &self.log_merkle_root, self.arrays_len, &self.arrays_root);
        // The lengths are right, so nothing else is left to be wrong.
        trees.map_err(|_| BatchFormatError::EmptyRoot)
    }

    /// The CBOR. A batch that fails [`Self::check`] has one too, which nobody will read.
    pub fn to_cbor(&self) -> Vec<u8> {
        self.encode_to_vec()
    }

    /// `batch_hash`: keccak256 of the CBOR.
    pub fn hash(&self) -> Hash {
        Sha3::hashv(&[&self.to_cbor()])
    }

    /// What the chain keeps of this batch. Encodes it to hash it.
    pub fn commitment(&self) -> Commitment {
        self.commitment_with(self.hash())
    }

    pub(crate) fn commitment_with(&self, batch_hash: Hash) -> Commitment {
        Commitment {
            agent: self.agent_id,
            epoch: self.epoch_number,
            log_merkle_root: self.log_merkle_root,
            log_len: self.log_len,
            batch_hash,
            arrays_root: self.arrays_root,
            arrays_len: self.arrays_len,
        }
    }

    /// Lengths of the arrays, in the batch's order.
    fn array_lens(&self) -> [usize; 4] {
        [
            self.bid_values.len(),
            self.task_selections.len(),
            self.verifier_ids.len(),
            self.feedback_events.len(),
        ]
    }

    fn check_counters(&self) -> Result<(), BatchFormatError> {
        let [unused_0, _, _, _, _, _, _, _, _, _, verdicts, _, disputes, _, unused_14, unused_15] =
            self.msg_type_counts;
        let sent: u64 = self.msg_type_counts.iter().copied().map(u64::from).sum();
        let received = u64::from(self.log_len).checked_sub(sent);
        // What was received besides what was sent must account for the counters that receiving moves.
        let possible = received.is_some_and(|received| {
            let disputes_received = self.disputes.checked_sub(disputes);
            let needed = disputes_received
                .map(|disputes| u64::from(disputes).saturating_add(u64::from(self.tasks_completed)));
            needed.is_some_and(|needed| needed <= received)
        });
        let consistent = [unused_0, unused_14, unused_15] == [0; 3]
            && sent == u64::from(self.message_count)
            && verdicts == self.notarizations
            && self.unique_counterparties <= self.log_len
            && possible;
        if consistent { Ok(()) } else { Err(BatchFormatError::Counters) }
    }

    fn check_overflow(&self) -> Result<(), BatchFormatError> {
        let lens = self.array_lens();
        let held = lens.iter().fold(0u64, |sum, len| sum.saturating_add(*len as u64));
        let total = u64::from(self.arrays_len);
        let consistent = if self.overflow {
            lens.contains(&MAX_BATCH_ENTRIES) && held < total && self.overflow_data_hash != ZERO
        } else {
            held == total && self.overflow_data_hash == ZERO
        };
        if consistent { Ok(()) } else { Err(BatchFormatError::Overflow) }
    }
}
