//! From a log to its batch (decision C6), in one pass over the entries and with little memory: of an entry
//! only its leaf is kept, and the packed record that it gives.

use super::{BehaviorBatch, Commitment, MSG_TYPE_COUNTERS};
use crate::batch::Covered;
use crate::bundle::{Bundle, BundleError, Sections};
use crate::challenge::Ground;
use crate::derive::{self, DeriveError};
use crate::envelope::{BROADCAST, EnvelopeError, EnvelopeHeader, MsgType};
use crate::error::numbered;
use crate::hash::{Hash, Sha3};
use crate::ids::AgentId;
use crate::log_entry::LogEntry;
use crate::merkle::{ZERO, leaf, root_of_leaves};
use crate::record::{BID_LEN, FEEDBACK_LEN, MAX_LEN, Record, SELECTION_LEN, VERIFIER_LEN, slot_of};
use crate::units::{Epoch, Slot};
use std::collections::TryReserveError;
use zx1_interface::constants::MAX_TREE_LEN;

/// Which way a logged message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From this agent.
    Sent,
    /// To this agent, or to all.
    Received,
}

/// Why a log gives no batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The epoch ends before it begins.
    SlotsReversed,
    /// The first covered epoch is after the last.
    EpochsReversed,
    /// The entry does not decode.
    Entry(EnvelopeError),
    /// An entry that is said to be sent, by another agent.
    SentByAnother,
    /// An entry that is said to be received, from this agent itself.
    ReceivedFromSelf,
    /// An own message of an epoch that this batch does not cover.
    EpochNotCovered {
        /// The epoch of its timestamp.
        epoch: Epoch,
    },
    /// The payload of an own bid is not at hand, so its value is unknown.
    PayloadMissing,
    /// The payload is not the one that the entry speaks of.
    PayloadMismatch,
    /// An attestation for an entry that does not rate this agent.
    AttestationNotUsed,
    /// More than [`MAX_TREE_LEN`] entries.
    LogTooLong,
    /// More than [`MAX_TREE_LEN`] records.
    ArraysTooLong,
    /// Packed records that are none, or not in order.
    Records(BundleError),
    /// There is not enough memory.
    OutOfMemory,
}

numbered!(BuildError {
    7351 Self::SlotsReversed => "The batch's last slot is before its first; give them in order.";
    7352 Self::EpochsReversed =>
        "The first epoch that the batch covers is after the last; give them in order.";
    7353 Self::Entry(error) => "An entry of the log does not decode; run a check of the log. {error}";
    7354 Self::SentByAnother =>
        "An entry that is marked as sent was sent by another agent; run a check of the log.";
    7355 Self::ReceivedFromSelf =>
        "An entry that is marked as received was sent by the agent itself; run a check of the log.";
    7356 Self::EpochNotCovered { epoch } =>
        "An own message is of epoch {}, which the batch does not cover; log it in that epoch.", epoch.0;
    7357 Self::PayloadMissing =>
        "The payload of an own PROPOSE, COUNTER or ACCEPT is missing, so its value is unknown; restore it.";
    7358 Self::PayloadMismatch =>
        "A payload is not the one that its log entry speaks of; restore the right one.";
    7359 Self::AttestationNotUsed => "An attestation was given for an entry that does not rate this agent.";
    7386 Self::LogTooLong => "The log has more than {MAX_TREE_LEN} entries; submit batches more often.";
    7387 Self::ArraysTooLong => "The log gives more than {MAX_TREE_LEN} records; submit batches more often.";
    7388 Self::Records(error) => "The packed records cannot be read. {error}";
    7389 Self::OutOfMemory => "There is not enough memory to build the batch.";
});

impl From<TryReserveError> for BuildError {
    fn from(_: TryReserveError) -> Self {
        Self::OutOfMemory
    }
}

/// Takes a log's entries in order and makes the batch.
#[derive(Clone, Debug)]
pub struct Builder {
    agent: AgentId,
    covered: Covered,
    slot_start: Slot,
    slot_end: Slot,
    sent: [u32; MSG_TYPE_COUNTERS],
    verdicts_received: u32,
    disputes: u32,
    peers: Peers,
    bids: Vec<[u8; BID_LEN]>,
    selections: Vec<[u8; SELECTION_LEN]>,
    verifiers: Vec<[u8; VERIFIER_LEN]>,
    feedback: Vec<[u8; FEEDBACK_LEN]>,
    leaves: Vec<Hash>,
}

/// A batch and everything that is uploaded with it (decision C7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The batch of the covered epochs.
    pub batch: BehaviorBatch,
    /// Canonical CBOR of the batch.
    pub batch_bytes: Vec<u8>,
    /// keccak256 of `batch_bytes`.
    pub batch_hash: Hash,
    /// The packed records of the uncut arrays, one after another: bids, selections, verifiers, feedback,
    /// each kind by slot and within a slot in log order.
    pub records: Vec<u8>,
    /// The log's leaves, in log order.
    pub leaves: Vec<Hash>,
}

impl Builder {
    /// Begins a batch of `agent` for these epochs. The slots are the covered time's first and last, as
    /// the chain has them; they are information and filter nothing (decision B10).
    pub fn new(
        agent: AgentId,
        covered: Covered,
        slot_start: Slot,
        slot_end: Slot,
    ) -> Result<Self, BuildError> {
        if slot_end < slot_start {
            return Err(BuildError::SlotsReversed);
        }
        if covered.to < covered.from {
            return Err(BuildError::EpochsReversed);
        }
        Ok(Self {
            agent,
            covered,
            slot_start,
            slot_end,
            sent: [0; MSG_TYPE_COUNTERS],
            verdicts_received: 0,
            disputes: 0,
            peers: Peers::default(),
            bids: Vec::new(),
            selections: Vec::new(),
            verifiers: Vec::new(),
            feedback: Vec::new(),
            leaves: Vec::new(),
        })
    }

    /// Takes the log's next entry as it lies in the file. `payload` is required for an own PROPOSE, COUNTER
    /// or ACCEPT, and not looked at otherwise. `attestation` is the hash of the SATI attestation's
    /// address, for a rating of this agent that has one. After an error the builder is as before.
    pub fn push_encoded(
        &mut self,
        direction: Direction,
        entry: &[u8],
        payload: Option<&[u8]>,
        attestation: Option<Hash>,
    ) -> Result<(), BuildError> {
        let decoded = LogEntry::decode::<Sha3>(entry).map_err(BuildError::Entry)?;
        self.add(direction, &decoded, leaf::<Sha3>(entry), payload, attestation)
    }

    /// [`Self::push_encoded`] for an entry that is not encoded yet.
    pub fn push(
        &mut self,
        direction: Direction,
        entry: &LogEntry<'_>,
        payload: Option<&[u8]>,
        attestation: Option<Hash>,
    ) -> Result<(), BuildError> {
        let encoded = entry.to_cbor::<Sha3>().map_err(BuildError::Entry)?;
        self.add(direction, entry, leaf::<Sha3>(&encoded), payload, attestation)
    }

    /// Entries so far.
    pub fn log_len(&self) -> u32 {
        // `add` keeps it below MAX_TREE_LEN.
        u32::try_from(self.leaves.len()).unwrap_or(u32::MAX)
    }

    /// Orders the records, cuts the arrays, computes roots and hashes.
    pub fn finish(mut self) -> Result<Built, BuildError> {
        let leaves = std::mem::take(&mut self.leaves);
        let mut bids = std::mem::take(&mut self.bids);
        let mut selections = std::mem::take(&mut self.selections);
        let mut verifiers = std::mem::take(&mut self.verifiers);
        let mut feedback = std::mem::take(&mut self.feedback);
        // Before the records are moved together, so that the counterparties' memory is free by then.
        let front = self.front();
        sort_by_slot(&mut bids);
        sort_by_slot(&mut selections);
        sort_by_slot(&mut verifiers);
        sort_by_slot(&mut feedback);
        let records = concatenate([
            bids.into_flattened(),
            selections.into_flattened(),
            verifiers.into_flattened(),
            feedback.into_flattened(),
        ])?;
        Built::new(front, records, leaves)
    }

    fn add(
        &mut self,
        direction: Direction,
        entry: &LogEntry<'_>,
        leaf: Hash,
        payload: Option<&[u8]>,
        attestation: Option<Hash>,
    ) -> Result<(), BuildError> {
        let header = &entry.header;
        self.check_origin(direction, header)?;
        let records = self.records_of(direction, entry, payload, attestation)?;
        if self.log_len() >= MAX_TREE_LEN {
            return Err(BuildError::LogTooLong);
        }
        let more = records.iter().flatten().count() as u64;
        if self.arrays_len().saturating_add(more) > u64::from(MAX_TREE_LEN) {
            return Err(BuildError::ArraysTooLong);
        }
        // Room for everything first, so that an error leaves nothing half done.
        self.leaves.try_reserve(1)?;
        self.bids.try_reserve(1)?;
        self.selections.try_reserve(1)?;
        self.verifiers.try_reserve(1)?;
        self.feedback.try_reserve(1)?;
        self.peers.add(self.peer(direction, header))?;
        for record in records.iter().flatten() {
            self.keep(record);
        }
        self.count(direction, header.msg_type);
        self.leaves.push(leaf);
        Ok(())
    }

    fn check_origin(&self, direction: Direction, header: &EnvelopeHeader<'_>) -> Result<(), BuildError> {
        match (direction, header.sender() == self.agent) {
            (Direction::Sent, false) => Err(BuildError::SentByAnother),
            (Direction::Received, true) => Err(BuildError::ReceivedFromSelf),
            // A received entry belongs to the epoch of its arrival, which it does not tell.
            (Direction::Received, false) => Ok(()),
            (Direction::Sent, true) => {
                let epoch = header.epoch();
                let covered = self.covered.contains(epoch);
                if covered { Ok(()) } else { Err(BuildError::EpochNotCovered { epoch }) }
            }
        }
    }

    /// What the entry obliges the agent to (decision B11), by the very rule that challenges go by.
    fn records_of(
        &self,
        direction: Direction,
        entry: &LogEntry<'_>,
        payload: Option<&[u8]>,
        attestation: Option<Hash>,
    ) -> Result<[Option<Record>; 2], BuildError> {
        let grounds: &[Ground] = match (direction, entry.header.msg_type) {
            (Direction::Sent, MsgType::Propose | MsgType::Counter) => &[Ground::Bid],
            (Direction::Sent, MsgType::Accept) => &[Ground::Bid, Ground::Selection],
            (Direction::Sent, MsgType::NotarizeAssign) => &[Ground::Verifier],
            (Direction::Received, MsgType::Feedback) => &[Ground::Feedback],
            _ => &[],
        };
        let mut records = [None; 2];
        for (place, ground) in records.iter_mut().zip(grounds) {
            let shown =
                if *ground == Ground::Bid { Some(payload.ok_or(BuildError::PayloadMissing)?) } else { None };
            let expected = match derive::from_log_entry::<Sha3>(entry, self.agent.as_bytes(), *ground, shown)
            {
                Ok(expected) => expected,
                Err(DeriveError::PayloadHashMismatch) => return Err(BuildError::PayloadMismatch),
                // A rating of somebody else, or one that does not parse, obliges to nothing.
                Err(_) => continue,
            };
            *place = Some(expected.with_free_fields(0, &attestation.unwrap_or(ZERO)));
        }
        let is_rating = matches!(records, [Some(Record::Feedback(_)), _]);
        if attestation.is_some() && !is_rating {
            return Err(BuildError::AttestationNotUsed);
        }
        Ok(records)
    }

    fn keep(&mut self, record: &Record) {
        let mut buffer = [0; MAX_LEN];
        let packed = record.pack(&mut buffer);
        match record {
            Record::Bid(_) => keep_packed(&mut self.bids, packed),
            Record::Selection(_) => keep_packed(&mut self.selections, packed),
            Record::Verifier(_) => keep_packed(&mut self.verifiers, packed),
            Record::Feedback(_) => keep_packed(&mut self.feedback, packed),
        }
    }

    fn count(&mut self, direction: Direction, msg_type: MsgType) {
        // No counter can overflow: each is at most the log's length.
        let bump = |counter: &mut u32| *counter = counter.saturating_add(1);
        match direction {
            Direction::Sent => {
                self.sent.get_mut(usize::from(msg_type.wire())).into_iter().for_each(bump);
            }
            Direction::Received if msg_type == MsgType::Verdict => bump(&mut self.verdicts_received),
            Direction::Received => {}
        }
        if msg_type == MsgType::Dispute {
            bump(&mut self.disputes);
        }
    }

    /// The other agent of a message between two; `None` for a broadcast.
    fn peer(&self, direction: Direction, header: &EnvelopeHeader<'_>) -> Option<AgentId> {
        let peer = match direction {
            Direction::Sent => header.recipient(),
            Direction::Received => header.sender(),
        };
        (header.recipient() != BROADCAST && peer != self.agent).then_some(peer)
    }

    fn arrays_len(&self) -> u64 {
        let lens = [self.bids.len(), self.selections.len(), self.verifiers.len(), self.feedback.len()];
        lens.iter().fold(0, |sum, len| u64::saturating_add(sum, *len as u64))
    }

    /// The batch without what records and leaves decide.
    fn front(self) -> BehaviorBatch {
        let verdicts_sent = self.sent.get(usize::from(MsgType::Verdict.wire())).copied();
        BehaviorBatch {
            agent_id: self.agent,
            epoch_number: self.covered.to,
            slot_start: self.slot_start,
            slot_end: self.slot_end,
            message_count: self.sent.iter().fold(0, |sum, count| sum.saturating_add(*count)),
            msg_type_counts: self.sent,
            unique_counterparties: self.peers.count(),
            tasks_completed: self.verdicts_received,
            notarizations: verdicts_sent.unwrap_or(0),
            disputes: self.disputes,
            bid_values: Vec::new(),
            task_selections: Vec::new(),
            verifier_ids: Vec::new(),
            feedback_events: Vec::new(),
            overflow: false,
            overflow_data_hash: ZERO,
            log_merkle_root: ZERO,
            log_len: 0,
            arrays_root: ZERO,
            arrays_len: 0,
        }
    }
}

impl Built {
    /// A batch with the identity and the counters of `front`, over these records and leaves: arrays,
    /// overflow, roots and lengths are computed anew. [`Builder::finish`] ends here; apart from it this
    /// serves tests that need a batch that leaves something out.
    pub fn new(front: BehaviorBatch, records: Vec<u8>, leaves: Vec<Hash>) -> Result<Self, BuildError> {
        let sections = Sections::split(&records).map_err(BuildError::Records)?;
        let log_len = u32::try_from(leaves.len()).ok().filter(|len| *len <= MAX_TREE_LEN);
        let log_len = log_len.ok_or(BuildError::LogTooLong)?;
        // The counts are right, so that the trees cannot be refused.
        let log_merkle_root = root_of_leaves::<Sha3>(log_len, leaves.iter().copied());
        let arrays_root = sections.root(&records);
        let mut batch = BehaviorBatch {
            bid_values: Vec::new(),
            task_selections: Vec::new(),
            verifier_ids: Vec::new(),
            feedback_events: Vec::new(),
            overflow: sections.overflow(),
            overflow_data_hash: sections.overflow_data_hash(&records),
            log_merkle_root: log_merkle_root.map_err(|_| BuildError::LogTooLong)?,
            log_len,
            arrays_root: arrays_root.map_err(|_| BuildError::ArraysTooLong)?,
            arrays_len: sections.len(),
            ..front
        };
        for record in sections.fronts(&records) {
            match record {
                Record::Bid(bid) => batch.bid_values.push(bid),
                Record::Selection(selection) => batch.task_selections.push(selection),
                Record::Verifier(assignment) => batch.verifier_ids.push(assignment),
                Record::Feedback(event) => batch.feedback_events.push(event),
            }
        }
        let batch_bytes = batch.to_cbor();
        let batch_hash = leaf::<Sha3>(&batch_bytes);
        Ok(Self { batch, batch_bytes, batch_hash, records, leaves })
    }

    /// What the chain will keep, and a batch key signs.
    pub fn commitment(&self) -> Commitment {
        self.batch.commitment_with(self.batch_hash)
    }

    /// What is uploaded, as [`Bundle::new`] makes it; nothing is copied.
    pub fn bundle(&self) -> Result<Bundle<'_>, BundleError> {
        Bundle::new(&self.batch_bytes, &self.records, &self.leaves)
    }
}

/// Distinct agents, in a list that is sorted and thinned out whenever it has doubled: half the memory of a
/// hash set, and no hash that a stranger could aim at.
#[derive(Clone, Debug, Default)]
struct Peers {
    seen: Vec<AgentId>,
    /// The first so many are sorted and distinct.
    thinned: usize,
}

impl Peers {
    const FIRST_THINNING: usize = 1 << 12;

    fn add(&mut self, peer: Option<AgentId>) -> Result<(), BuildError> {
        let Some(peer) = peer else { return Ok(()) };
        // Messages of one negotiation often follow each other.
        if self.seen.last() == Some(&peer) {
            return Ok(());
        }
        self.seen.try_reserve(1)?;
        self.seen.push(peer);
        if self.seen.len() >= self.thinned.saturating_mul(2).max(Self::FIRST_THINNING) {
            self.thin();
        }
        Ok(())
    }

    fn thin(&mut self) {
        self.seen.sort_unstable();
        self.seen.dedup();
        self.thinned = self.seen.len();
    }

    fn count(mut self) -> u32 {
        self.thin();
        u32::try_from(self.thinned).unwrap_or(u32::MAX)
    }
}

/// Each kind packs to its own length, so the conversion always holds.
fn keep_packed<const N: usize>(records: &mut Vec<[u8; N]>, packed: &[u8]) {
    records.extend(<[u8; N]>::try_from(packed));
}

/// Chronologically (protocol.md, 8.2); what has the same slot stays in log order.
fn sort_by_slot<const N: usize>(records: &mut [[u8; N]]) {
    // A log is nearly always in order already, and then no room for sorting is taken.
    if !records.is_sorted_by_key(|record| slot_of(record)) {
        records.sort_by_key(|record| slot_of(record));
    }
}

/// One after another, in the room of the first that holds anything.
fn concatenate(parts: [Vec<u8>; 4]) -> Result<Vec<u8>, BuildError> {
    let mut whole: Vec<u8> = Vec::new();
    for part in parts {
        if whole.is_empty() {
            whole = part;
        } else {
            whole.try_reserve_exact(part.len())?;
            whole.extend_from_slice(&part);
        }
    }
    Ok(whole)
}
