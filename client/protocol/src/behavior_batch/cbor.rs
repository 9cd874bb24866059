//! The batch's CBOR, and the hash over uncut arrays.

use super::{BATCH_VERSION, BatchFormatError, BehaviorBatch, MAX_BATCH_ENTRIES, MSG_TYPE_COUNTERS};
use crate::canonical::{Canonical, CborReader};
use crate::hash::{Hash, KeccakStream};
use crate::ids::{AgentId, ConversationId};
use crate::record::{Bid, Feedback, Record, Selection, Verifier};
use crate::units::{Epoch, Slot};
use minicbor::encode::{Encoder, Error, Write};

/// The fields of protocol.md, 8.2.
const FIELDS: u64 = 21;
/// Those of the first edition, which had no version.
const FIRST_EDITION_FIELDS: u64 = 20;
/// More than the longest record's CBOR: a feedback event's 132 bytes.
const MAX_RECORD_CBOR: usize = 160;
/// Longest head of a CBOR array.
const MAX_HEAD: usize = 9;

pub(super) fn read(cbor: &mut CborReader<'_>) -> Result<BehaviorBatch, BatchFormatError> {
    let malformed = BatchFormatError::Malformed;
    let version = match cbor.array().ok_or(malformed)? {
        FIRST_EDITION_FIELDS => 1,
        FIELDS => cbor.u8().ok_or(malformed)?,
        _ => return Err(malformed),
    };
    if version != BATCH_VERSION {
        return Err(BatchFormatError::Version { version });
    }
    let front = read_front(cbor).ok_or(malformed)?;
    let bid_values = read_array(cbor)?;
    let task_selections = read_array(cbor)?;
    let verifier_ids = read_array(cbor)?;
    let feedback_events = read_array(cbor)?;
    let back = read_back(cbor).ok_or(malformed)?;
    Ok(BehaviorBatch { bid_values, task_selections, verifier_ids, feedback_events, ..merge(front, back) })
}

/// The fields before the arrays, in a batch that is empty otherwise.
fn read_front(cbor: &mut CborReader<'_>) -> Option<BehaviorBatch> {
    Some(BehaviorBatch {
        agent_id: AgentId(*cbor.byte_array()?),
        epoch_number: Epoch(cbor.unsigned()?),
        slot_start: Slot(cbor.unsigned()?),
        slot_end: Slot(cbor.unsigned()?),
        message_count: cbor.u32()?,
        msg_type_counts: read_counts(cbor)?,
        unique_counterparties: cbor.u32()?,
        tasks_completed: cbor.u32()?,
        notarizations: cbor.u32()?,
        disputes: cbor.u32()?,
        bid_values: Vec::new(),
        task_selections: Vec::new(),
        verifier_ids: Vec::new(),
        feedback_events: Vec::new(),
        overflow: false,
        overflow_data_hash: [0; 32],
        log_merkle_root: [0; 32],
        log_len: 0,
        arrays_root: [0; 32],
        arrays_len: 0,
    })
}

fn read_counts(cbor: &mut CborReader<'_>) -> Option<[u32; MSG_TYPE_COUNTERS]> {
    cbor.array_of(MSG_TYPE_COUNTERS as u64)?;
    let mut counts = [0; MSG_TYPE_COUNTERS];
    for count in &mut counts {
        *count = cbor.u32()?;
    }
    Some(counts)
}

/// The fields behind the arrays.
struct Back {
    overflow: bool,
    overflow_data_hash: Hash,
    log_merkle_root: Hash,
    log_len: u32,
    arrays_root: Hash,
    arrays_len: u32,
}

fn read_back(cbor: &mut CborReader<'_>) -> Option<Back> {
    Some(Back {
        overflow: cbor.bool()?,
        overflow_data_hash: *cbor.byte_array()?,
        log_merkle_root: *cbor.byte_array()?,
        log_len: cbor.u32()?,
        arrays_root: *cbor.byte_array()?,
        arrays_len: cbor.u32()?,
    })
}

fn merge(front: BehaviorBatch, back: Back) -> BehaviorBatch {
    let Back { overflow, overflow_data_hash, log_merkle_root, log_len, arrays_root, arrays_len } = back;
    BehaviorBatch { overflow, overflow_data_hash, log_merkle_root, log_len, arrays_root, arrays_len, ..front }
}

fn read_array<T: Entry>(cbor: &mut CborReader<'_>) -> Result<Vec<T>, BatchFormatError> {
    let len = cbor.array().ok_or(BatchFormatError::Malformed)?;
    // Before anything is allocated for it.
    let len = usize::try_from(len).ok().filter(|len| *len <= MAX_BATCH_ENTRIES);
    let len = len.ok_or(BatchFormatError::TooManyEntries)?;
    let mut entries = Vec::with_capacity(len);
    for _ in 0..len {
        entries.push(T::read(cbor).ok_or(BatchFormatError::Malformed)?);
    }
    Ok(entries)
}

/// An entry of an array: a CBOR array of its fields in the order of protocol.md, 8.3.
trait Entry: Canonical + Sized {
    fn read(cbor: &mut CborReader<'_>) -> Option<Self>;
}

impl Entry for Bid {
    fn read(cbor: &mut CborReader<'_>) -> Option<Self> {
        cbor.array_of(5)?;
        Some(Self {
            conversation: ConversationId(*cbor.byte_array()?),
            counterparty: AgentId(*cbor.byte_array()?),
            value: i128::from_be_bytes(*cbor.byte_array()?),
            slot: Slot(cbor.unsigned()?),
            message: *cbor.byte_array()?,
        })
    }
}

impl Entry for Selection {
    fn read(cbor: &mut CborReader<'_>) -> Option<Self> {
        cbor.array_of(4)?;
        Some(Self {
            conversation: ConversationId(*cbor.byte_array()?),
            counterparty: AgentId(*cbor.byte_array()?),
            slot: Slot(cbor.unsigned()?),
            message: *cbor.byte_array()?,
        })
    }
}

impl Entry for Verifier {
    fn read(cbor: &mut CborReader<'_>) -> Option<Self> {
        cbor.array_of(4)?;
        Some(Self {
            conversation: ConversationId(*cbor.byte_array()?),
            verifier: AgentId(*cbor.byte_array()?),
            slot: Slot(cbor.unsigned()?),
            message: *cbor.byte_array()?,
        })
    }
}

impl Entry for Feedback {
    fn read(cbor: &mut CborReader<'_>) -> Option<Self> {
        cbor.array_of(8)?;
        Some(Self {
            conversation: ConversationId(*cbor.byte_array()?),
            from: AgentId(*cbor.byte_array()?),
            score: cbor.i8()?,
            outcome: cbor.u8()?,
            role: cbor.u8()?,
            slot: Slot(cbor.unsigned()?),
            attestation: *cbor.byte_array()?,
            message: *cbor.byte_array()?,
        })
    }
}

impl Canonical for Bid {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(5)?
            .bytes(self.conversation.as_bytes())?
            .bytes(self.counterparty.as_bytes())?
            .bytes(&self.value.to_be_bytes())?
            .u64(self.slot.0)?
            .bytes(&self.message)?;
        Ok(())
    }
}

impl Canonical for Selection {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(4)?
            .bytes(self.conversation.as_bytes())?
            .bytes(self.counterparty.as_bytes())?
            .u64(self.slot.0)?
            .bytes(&self.message)?;
        Ok(())
    }
}

impl Canonical for Verifier {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(4)?
            .bytes(self.conversation.as_bytes())?
            .bytes(self.verifier.as_bytes())?
            .u64(self.slot.0)?
            .bytes(&self.message)?;
        Ok(())
    }
}

impl Canonical for Feedback {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(8)?
            .bytes(self.conversation.as_bytes())?
            .bytes(self.from.as_bytes())?
            .i8(self.score)?
            .u8(self.outcome)?
            .u8(self.role)?
            .u64(self.slot.0)?
            .bytes(&self.attestation)?
            .bytes(&self.message)?;
        Ok(())
    }
}

impl Canonical for Record {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        match self {
            Self::Bid(bid) => bid.write(encoder),
            Self::Selection(selection) => selection.write(encoder),
            Self::Verifier(assignment) => assignment.write(encoder),
            Self::Feedback(event) => event.write(encoder),
        }
    }
}

fn write_array<W: Write, T: Entry>(encoder: &mut Encoder<W>, entries: &[T]) -> Result<(), Error<W::Error>> {
    encoder.array(entries.len() as u64)?;
    entries.iter().try_for_each(|entry| entry.write(encoder))
}

impl Canonical for BehaviorBatch {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(FIELDS)?
            .u8(BATCH_VERSION)?
            .bytes(self.agent_id.as_bytes())?
            .u64(self.epoch_number.0)?
            .u64(self.slot_start.0)?
            .u64(self.slot_end.0)?
            .u32(self.message_count)?
            .array(MSG_TYPE_COUNTERS as u64)?;
        for count in self.msg_type_counts {
            encoder.u32(count)?;
        }
        encoder
            .u32(self.unique_counterparties)?
            .u32(self.tasks_completed)?
            .u32(self.notarizations)?
            .u32(self.disputes)?;
        write_array(encoder, &self.bid_values)?;
        write_array(encoder, &self.task_selections)?;
        write_array(encoder, &self.verifier_ids)?;
        write_array(encoder, &self.feedback_events)?;
        encoder
            .bool(self.overflow)?
            .bytes(&self.overflow_data_hash)?
            .bytes(&self.log_merkle_root)?
            .u32(self.log_len)?
            .bytes(&self.arrays_root)?
            .u32(self.arrays_len)?;
        Ok(())
    }
}

/// overflow_data_hash (protocol.md, 8.2): keccak256 of the four uncut arrays' CBOR, one after the other,
/// each a definite array with its length in its head. The arrays never lie in memory as CBOR.
#[derive(Default)]
pub(crate) struct OverflowHash(KeccakStream);

impl OverflowHash {
    /// Begins the next array.
    pub(crate) fn array(&mut self, len: usize) {
        let mut head = [0; MAX_HEAD];
        let room = head.len();
        let mut encoder = Encoder::new(&mut head[..]);
        // Nine bytes are enough for every head.
        let _ = encoder.array(len as u64);
        let written = room.saturating_sub(encoder.into_writer().len());
        self.0.update(head.get(..written).unwrap_or_default());
    }

    /// The array's next entry.
    pub(crate) fn record(&mut self, record: &Record) {
        let mut buffer = [0; MAX_RECORD_CBOR];
        let written = record.encode_to(&mut buffer).unwrap_or(0);
        self.0.update(buffer.get(..written).unwrap_or_default());
    }

    pub(crate) fn finish(self) -> Hash {
        self.0.finish()
    }
}
