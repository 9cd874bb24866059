//! The records of the four economic arrays, as they stand under `arrays_root` (decisions B9 and P3):
//! packed big-endian, a kind byte first, every kind of a fixed length, last the hash of the message's header.

use crate::bytes::{Reader, Writer};
use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use crate::ids::{AgentId, ConversationId};
use crate::merkle;
use crate::payload::check_rating;
use crate::units::Slot;

/// Kind byte of a [`Bid`].
pub const KIND_BID: u8 = 0x01;
/// Kind byte of a [`Selection`].
pub const KIND_SELECTION: u8 = 0x02;
/// Kind byte of a [`Verifier`].
pub const KIND_VERIFIER: u8 = 0x03;
/// Kind byte of a [`Feedback`].
pub const KIND_FEEDBACK: u8 = 0x04;

/// Length of a packed [`Bid`].
pub const BID_LEN: usize = 105;
/// Length of a packed [`Selection`].
pub const SELECTION_LEN: usize = 89;
/// Length of a packed [`Verifier`].
pub const VERIFIER_LEN: usize = 89;
/// Length of a packed [`Feedback`].
pub const FEEDBACK_LEN: usize = 124;
/// Where a packed bid's value begins: behind kind, conversation and counterparty.
const BID_VALUE_AT: usize = 1 + 16 + 32;
/// Where a packed feedback event's attestation begins: two hashes end it.
const FEEDBACK_ATTESTATION_AT: usize = FEEDBACK_LEN - 2 * size_of::<Hash>();
/// The longest of them. None is 64, so no record can be taken for an inner node of the tree.
pub const MAX_LEN: usize = FEEDBACK_LEN;

/// protocol.md, 8.3, TypedBid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
    /// Conversation id of the negotiation.
    pub conversation: ConversationId,
    /// Agent id of who receives the bid.
    pub counterparty: AgentId,
    /// The bid, in units that the agents agree on.
    pub value: i128,
    /// When it was made: the envelope's block_ref.
    pub slot: Slot,
    /// The message's [`message32`](crate::envelope::EnvelopeHeader::message32).
    pub message: Hash,
}

/// protocol.md, 8.3, TaskSelection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The negotiation that was accepted.
    pub conversation: ConversationId,
    /// Agent id of who was selected.
    pub counterparty: AgentId,
    /// block_ref of the ACCEPT.
    pub slot: Slot,
    /// The message's [`message32`](crate::envelope::EnvelopeHeader::message32).
    pub message: Hash,
}

/// protocol.md, 8.3, VerifierAssignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verifier {
    /// The task to be notarized.
    pub conversation: ConversationId,
    /// Agent id of the notary.
    pub verifier: AgentId,
    /// block_ref of the NOTARIZE_ASSIGN.
    pub slot: Slot,
    /// The message's [`message32`](crate::envelope::EnvelopeHeader::message32).
    pub message: Hash,
}

/// protocol.md, 8.3, FeedbackEvent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The task that is rated.
    pub conversation: ConversationId,
    /// Agent id of who rated.
    pub from: AgentId,
    /// -100 to 100.
    pub score: i8,
    /// 0 negative, 1 neutral, 2 positive.
    pub outcome: u8,
    /// 0 rated as participant, 1 as notary.
    pub role: u8,
    /// block_ref of the FEEDBACK.
    pub slot: Slot,
    /// keccak256 of the SATI attestation's address, zeros without one.
    pub attestation: Hash,
    /// The message's [`message32`](crate::envelope::EnvelopeHeader::message32).
    pub message: Hash,
}

/// One entry of one of the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// An entry of `bid_values`.
    Bid(Bid),
    /// An entry of `task_selections`.
    Selection(Selection),
    /// An entry of `verifier_ids`.
    Verifier(Verifier),
    /// An entry of `feedback_events`.
    Feedback(Feedback),
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// No such kind, or no bytes at all.
    UnknownKind,
    /// Not the length of its kind.
    WrongLength,
    /// A rating out of range.
    OutOfRange,
}

sentences!(RecordError {
    Self::UnknownKind => "The record is of no known kind.";
    Self::WrongLength => "The record does not have the length of its kind.";
    Self::OutOfRange => "The record's score, outcome or role is out of range.";
});

impl Record {
    /// Writes the packed record into `buffer` and returns the part that it takes.
    #[inline(never)]
    pub fn pack<'b>(&self, buffer: &'b mut [u8; MAX_LEN]) -> &'b [u8] {
        let mut packed = Writer::new(buffer);
        match self {
            Self::Bid(bid) => packed
                .put(&[KIND_BID])
                .put(bid.conversation.as_bytes())
                .put(bid.counterparty.as_bytes())
                .put(&bid.value.to_be_bytes())
                .put(&bid.slot.0.to_be_bytes())
                .put(&bid.message),
            Self::Selection(selection) => packed
                .put(&[KIND_SELECTION])
                .put(selection.conversation.as_bytes())
                .put(selection.counterparty.as_bytes())
                .put(&selection.slot.0.to_be_bytes())
                .put(&selection.message),
            Self::Verifier(assignment) => packed
                .put(&[KIND_VERIFIER])
                .put(assignment.conversation.as_bytes())
                .put(assignment.verifier.as_bytes())
                .put(&assignment.slot.0.to_be_bytes())
                .put(&assignment.message),
            Self::Feedback(event) => packed
                .put(&[KIND_FEEDBACK])
                .put(event.conversation.as_bytes())
                .put(event.from.as_bytes())
                .put(&event.score.to_be_bytes())
                .put(&[event.outcome, event.role])
                .put(&event.slot.0.to_be_bytes())
                .put(&event.attestation)
                .put(&event.message),
        };
        packed.finish()
    }

    /// Reads a packed record: of its kind's exact length, ratings in range.
    #[inline(never)]
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut packed = Reader::new(bytes);
        let kind = packed.u8().ok_or(RecordError::UnknownKind)?;
        let record = match kind {
            KIND_BID => Bid::unpack(&mut packed).map(Self::Bid),
            KIND_SELECTION => Selection::unpack(&mut packed).map(Self::Selection),
            KIND_VERIFIER => Verifier::unpack(&mut packed).map(Self::Verifier),
            KIND_FEEDBACK => Feedback::unpack(&mut packed).map(Self::Feedback),
            _ => return Err(RecordError::UnknownKind),
        };
        let record = record.filter(|_| packed.is_empty()).ok_or(RecordError::WrongLength)?;
        if let Self::Feedback(event) = &record {
            check_rating(event.score, event.outcome, event.role).map_err(|_| RecordError::OutOfRange)?;
        }
        Ok(record)
    }

    /// The hash of the header of the message that obliges to it.
    pub fn message(&self) -> &Hash {
        match self {
            Self::Bid(bid) => &bid.message,
            Self::Selection(selection) => &selection.message,
            Self::Verifier(assignment) => &assignment.message,
            Self::Feedback(event) => &event.message,
        }
    }

    /// The record's leaf under `arrays_root`.
    pub fn leaf<K: Keccak>(&self) -> Hash {
        merkle::leaf::<K>(self.pack(&mut [0; MAX_LEN]))
    }

    /// The packed record.
    #[cfg(feature = "std")]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.pack(&mut [0; MAX_LEN]).to_vec()
    }
}

/// Writes a packed bid's value.
pub(crate) fn set_bid_value(packed: &mut [u8], value: i128) {
    if let Some(place) = packed.get_mut(BID_VALUE_AT..).and_then(<[u8]>::first_chunk_mut) {
        *place = value.to_be_bytes();
    }
}

/// Writes a packed feedback event's attestation.
pub(crate) fn set_attestation(packed: &mut [u8], attestation: &Hash) {
    if let Some(place) = packed.get_mut(FEEDBACK_ATTESTATION_AT..).and_then(<[u8]>::first_chunk_mut) {
        *place = *attestation;
    }
}

impl Bid {
    /// Reads a packed bid; `None` when it is a record of another kind.
    pub(crate) fn parse(packed: &[u8; BID_LEN]) -> Option<Self> {
        let mut packed = Reader::new(packed);
        (packed.u8()? == KIND_BID).then_some(())?;
        Self::unpack(&mut packed)
    }

    fn unpack(packed: &mut Reader<'_>) -> Option<Self> {
        let (conversation, counterparty) = ids(packed)?;
        let (value, slot) = (i128::from_be_bytes(*packed.array()?), slot(packed)?);
        Some(Self { conversation, counterparty, value, slot, message: *packed.array()? })
    }
}

impl Selection {
    fn unpack(packed: &mut Reader<'_>) -> Option<Self> {
        let (conversation, counterparty) = ids(packed)?;
        Some(Self { conversation, counterparty, slot: slot(packed)?, message: *packed.array()? })
    }
}

impl Verifier {
    fn unpack(packed: &mut Reader<'_>) -> Option<Self> {
        let (conversation, verifier) = ids(packed)?;
        Some(Self { conversation, verifier, slot: slot(packed)?, message: *packed.array()? })
    }
}

impl Feedback {
    fn unpack(packed: &mut Reader<'_>) -> Option<Self> {
        let (conversation, from) = ids(packed)?;
        Some(Self {
            conversation,
            from,
            score: i8::from_be_bytes(*packed.array()?),
            outcome: packed.u8()?,
            role: packed.u8()?,
            slot: slot(packed)?,
            attestation: *packed.array()?,
            message: *packed.array()?,
        })
    }
}

/// The ids at the front of every kind.
fn ids(packed: &mut Reader<'_>) -> Option<(ConversationId, AgentId)> {
    Some((ConversationId(*packed.array()?), AgentId(*packed.array()?)))
}

fn slot(packed: &mut Reader<'_>) -> Option<Slot> {
    packed.array().map(|bytes| Slot(u64::from_be_bytes(*bytes)))
}

/// The slot of a packed record.
#[cfg(feature = "std")]
pub(crate) fn slot_of(packed: &[u8]) -> u64 {
    const HASH: usize = size_of::<Hash>();
    let behind = if packed.len() == FEEDBACK_LEN { HASH.saturating_mul(2) } else { HASH };
    let end = packed.len().saturating_sub(behind);
    let slot = packed.get(..end).and_then(|front| front.last_chunk()).copied();
    slot.map_or(0, u64::from_be_bytes)
}
