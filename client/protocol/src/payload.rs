//! The payloads that the protocol itself reads: the value of a bid (decision B11), FEEDBACK and
//! NOTARIZE_BID (protocol.md, 7.2 and 5.4; decision C3).

use crate::bytes::Reader;
use crate::canonical::{Canonical, CborReader};
use crate::error::sentences;
use crate::ids::{AgentId, ConversationId};
use minicbor::encode::{Encoder, Error, Write};

/// Bytes of a bid value at the front of a PROPOSE, COUNTER or ACCEPT payload.
pub const BID_VALUE_LEN: usize = 16;
/// Bytes of a format hint (protocol.md, 5.4).
pub const FORMAT_HINT_LEN: usize = 4;
/// Bytes of the pre-signature at the end of an ACCEPT payload (decision D5).
pub const PRESIGNATURE_LEN: usize = 64;
/// The largest score, and negated the smallest.
pub const MAX_SCORE: i8 = 100;
/// The largest outcome: 0 negative, 1 neutral, 2 positive.
pub const MAX_OUTCOME: u8 = 2;
/// The largest role: 0 participant, 1 notary.
pub const MAX_ROLE: u8 = 1;

/// Fields of a FEEDBACK payload.
const FEEDBACK_FIELDS: u64 = 6;

/// Why a payload does not parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadError {
    /// The bytes have not the fields.
    Malformed,
    /// The bytes are not the one encoding of what they mean, or something follows them.
    NotCanonical,
    /// A score beyond ±100.
    Score,
    /// An outcome above 2.
    Outcome,
    /// A role above 1.
    Role,
    /// A notarize-bid type above 1.
    BidType,
    /// The buffer is too small for the encoding.
    BufferTooSmall,
}

sentences!(PayloadError {
    Self::Malformed => "The payload does not have the fields of its type.";
    Self::NotCanonical => "The payload is not in its canonical encoding.";
    Self::Score => "A score lies between -{MAX_SCORE} and {MAX_SCORE}.";
    Self::Outcome => "An outcome is 0, 1 or 2.";
    Self::Role => "A role is 0 or 1.";
    Self::BidType => "A notarize-bid type is 0 or 1.";
    Self::BufferTooSmall => "The buffer is too small for the encoding.";
});

/// Checks the ranges of protocol.md, 7.2, which a record of the rating must keep as well.
pub fn check_rating(score: i8, outcome: u8, role: u8) -> Result<(), PayloadError> {
    if score.unsigned_abs() > MAX_SCORE.unsigned_abs() {
        return Err(PayloadError::Score);
    }
    if outcome > MAX_OUTCOME {
        return Err(PayloadError::Outcome);
    }
    if role > MAX_ROLE {
        return Err(PayloadError::Role);
    }
    Ok(())
}

/// The outcome that a score stands for: 0 negative, 1 neutral, 2 positive.
pub const fn outcome_of(score: i8) -> u8 {
    match score {
        i8::MIN..=-1 => 0,
        0 => 1,
        1.. => 2,
    }
}

/// The value of a bid: the payload's first 16 bytes, little-endian. A shorter payload is extended with
/// zeros, so that every payload has a value and none is an excuse (decision B11).
pub fn bid_value(payload: &[u8]) -> i128 {
    let mut value = [0; BID_VALUE_LEN];
    for (byte, given) in value.iter_mut().zip(payload) {
        *byte = *given;
    }
    i128::from_le_bytes(value)
}

/// A PROPOSE, COUNTER or ACCEPT payload: the bid value, then format hint and content.
#[cfg(feature = "std")]
pub fn bid_payload(value: i128, content: &[u8]) -> Vec<u8> {
    [value.to_le_bytes().as_slice(), content].concat()
}

/// [`bid_payload`] with the format hint of protocol.md, 5.4 before the content, such as `b"JSON"`.
#[cfg(feature = "std")]
pub fn bid_payload_with_hint(value: i128, hint: &[u8; FORMAT_HINT_LEN], content: &[u8]) -> Vec<u8> {
    [value.to_le_bytes().as_slice(), hint, content].concat()
}

/// A PROPOSE, COUNTER or ACCEPT payload, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BidPayload<'a> {
    /// The bid, in units that the agents agree on.
    pub value: i128,
    /// The four bytes behind the value, where a format hint may stand; `None` when
    /// there are fewer. The protocol does not know whether they are meant as one.
    pub hint: Option<&'a [u8; FORMAT_HINT_LEN]>,
    /// What follows behind the hint, or behind the value when there is none.
    pub content: &'a [u8],
}

impl<'a> BidPayload<'a> {
    /// Every payload can be taken apart (decision B11).
    pub fn parse(payload: &'a [u8]) -> Self {
        let value = bid_value(payload);
        let mut rest = Reader::new(payload.get(BID_VALUE_LEN..).unwrap_or_default());
        let hint = rest.array();
        Self { value, hint, content: rest.rest() }
    }
}

/// An ACCEPT payload with the owner's pre-signature over SATI's hash at its end (decision D5).
#[cfg(feature = "std")]
pub fn accept_payload(value: i128, content: &[u8], presignature: &[u8; PRESIGNATURE_LEN]) -> Vec<u8> {
    [value.to_le_bytes().as_slice(), content, presignature].concat()
}

/// Appends a pre-signature to any payload: the counterparty's first message after ACCEPT carries one too
/// (decision D5).
#[cfg(feature = "std")]
pub fn append_presignature(mut payload: Vec<u8>, presignature: &[u8; PRESIGNATURE_LEN]) -> Vec<u8> {
    payload.extend_from_slice(presignature);
    payload
}

/// What may be a pre-signature: the last 64 bytes, and what stands before them. `None` when the payload is
/// shorter. Nothing marks one, so only its verification against SATI's hash says whether it is one. In an
/// ACCEPT the bid's value must stand before it: see [`split_accept_presignature`].
pub fn split_presignature(payload: &[u8]) -> Option<(&[u8], &[u8; PRESIGNATURE_LEN])> {
    payload.split_last_chunk()
}

/// [`split_presignature`] of an ACCEPT payload, where the first 16 bytes are the bid's value and no part of
/// a signature.
pub fn split_accept_presignature(payload: &[u8]) -> Option<(&[u8], &[u8; PRESIGNATURE_LEN])> {
    split_presignature(payload).filter(|(rest, _)| rest.len() >= BID_VALUE_LEN)
}

/// A FEEDBACK payload: CBOR array of 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Conversation id of the task.
    pub conversation_id: ConversationId,
    /// Agent id of whom it is about.
    pub target_agent: AgentId,
    /// -100 to 100.
    pub score: i8,
    /// 0 negative, 1 neutral, 2 positive.
    pub outcome: u8,
    /// Whether the outcome is contested.
    pub is_dispute: bool,
    /// 0 rated as participant, 1 as notary.
    pub role: u8,
}

impl Feedback {
    /// Reads canonical CBOR with all values in range.
    pub fn decode(bytes: &[u8]) -> Result<Self, PayloadError> {
        let mut cbor = CborReader::new(bytes);
        let feedback = Self::read(&mut cbor).ok_or(PayloadError::Malformed)?;
        if !cbor.is_canonical() {
            return Err(PayloadError::NotCanonical);
        }
        feedback.check()?;
        Ok(feedback)
    }

    /// Whether score, outcome and role are in range.
    pub fn check(&self) -> Result<(), PayloadError> {
        check_rating(self.score, self.outcome, self.role)
    }

    /// Writes the CBOR to the front of `buffer` and returns its length. Refuses what [`Self::decode`]
    /// would refuse.
    pub fn encode_into(&self, buffer: &mut [u8]) -> Result<usize, PayloadError> {
        self.check()?;
        self.encode_to(buffer).ok_or(PayloadError::BufferTooSmall)
    }

    /// The CBOR; refuses values out of range.
    #[cfg(feature = "std")]
    pub fn to_cbor(&self) -> Result<Vec<u8>, PayloadError> {
        self.check()?;
        Ok(self.encode_to_vec())
    }

    fn read(cbor: &mut CborReader<'_>) -> Option<Self> {
        cbor.array_of(FEEDBACK_FIELDS)?;
        let (conversation_id, target_agent) = (cbor.byte_array()?, cbor.byte_array()?);
        Some(Self {
            conversation_id: ConversationId(*conversation_id),
            target_agent: AgentId(*target_agent),
            score: cbor.i8()?,
            outcome: cbor.u8()?,
            is_dispute: cbor.bool()?,
            role: cbor.u8()?,
        })
    }
}

impl Canonical for Feedback {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(FEEDBACK_FIELDS)?
            .bytes(self.conversation_id.as_bytes())?
            .bytes(self.target_agent.as_bytes())?
            .i8(self.score)?
            .u8(self.outcome)?
            .bool(self.is_dispute)?
            .u8(self.role)?;
        Ok(())
    }
}

/// Role of the sender of a NOTARIZE_BID.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BidType {
    /// A participant asks for a notary.
    Request = 0,
    /// A notary offers itself.
    Offer = 1,
}

/// A NOTARIZE_BID payload, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotarizeBid<'a> {
    /// Request or offer.
    pub bid_type: BidType,
    /// The task to be notarized.
    pub conversation_id: ConversationId,
    /// Fee, deadline and terms: the agents' own business.
    pub terms: &'a [u8],
}

impl<'a> NotarizeBid<'a> {
    /// Reads the packed bytes.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, PayloadError> {
        let mut packed = Reader::new(bytes);
        let bid_type = match packed.u8() {
            Some(0) => BidType::Request,
            Some(1) => BidType::Offer,
            Some(_) => return Err(PayloadError::BidType),
            None => return Err(PayloadError::Malformed),
        };
        let conversation_id = ConversationId(*packed.array().ok_or(PayloadError::Malformed)?);
        Ok(Self { bid_type, conversation_id, terms: packed.rest() })
    }

    /// The packed bytes.
    #[cfg(feature = "std")]
    pub fn to_bytes(&self) -> Vec<u8> {
        [&[self.bid_type as u8], self.conversation_id.as_ref(), self.terms].concat()
    }
}
