//! The envelope: what every message is wrapped in (protocol.md, 5.2; decision C1).
//!
//! It has two encodings. On the wire it is a canonical CBOR array of 12. What is signed is the packed
//! big-endian form of the 11 fields before the signature; a program sees only that one, in the Ed25519
//! precompile's instruction.

use crate::bytes::{Reader, Writer};
use crate::canonical::{Canonical, CborReader};
use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use crate::ids::{AgentId, ConversationId};
use crate::units::{Epoch, Slot};
use minicbor::encode::{Encoder, Error, Write};

/// The one version there is.
pub const PROTOCOL_VERSION: u8 = 1;
/// Length of the packed header, which the payload follows in what is signed:
/// 1 + 2 + 32 + 32 + 8 + 8 + 8 + 16 + 32 + 4.
pub const SIGNING_HEADER_LEN: usize = 143;
/// Longest payload, in bytes, of a type that a log keeps whole. A log entry with it fits an evidence draft, so that
/// whoever is asked for it can show it; a stranger's longer one would cost an honest agent the fine.
pub const MAX_LOGGED_PAYLOAD: usize = 4_096;
/// The recipient of a broadcast.
pub const BROADCAST: AgentId = AgentId([0; 32]);

/// Fields of an envelope, and of a log entry: the array's length.
pub(crate) const FIELDS: u64 = 12;

/// What a message is (protocol.md, 5.3). The discriminant is the wire value.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MsgType {
    /// Broadcast: "I exist, here is what I offer".
    Advertise = 0x01,
    /// Broadcast: "Who can do X?"
    Discover = 0x02,
    /// "Here is a deal."
    Propose = 0x03,
    /// "Here is a modified deal."
    Counter = 0x04,
    /// "The deal is made."
    Accept = 0x05,
    /// "There is no deal."
    Reject = 0x06,
    /// "Here is the work product."
    Deliver = 0x07,
    /// "I want to notarize this task", or the request for it.
    NotarizeBid = 0x08,
    /// "You are the notary."
    NotarizeAssign = 0x09,
    /// The notary's judgment on completion.
    Verdict = 0x0A,
    /// Rating of a counterparty or notary.
    Feedback = 0x0B,
    /// "I challenge this verdict."
    Dispute = 0x0C,
    /// "I am alive."
    Beacon = 0x0D,
}

impl MsgType {
    /// All types, in wire order.
    pub const ALL: [Self; 13] = [
        Self::Advertise,
        Self::Discover,
        Self::Propose,
        Self::Counter,
        Self::Accept,
        Self::Reject,
        Self::Deliver,
        Self::NotarizeBid,
        Self::NotarizeAssign,
        Self::Verdict,
        Self::Feedback,
        Self::Dispute,
        Self::Beacon,
    ];

    /// The number on the wire.
    pub fn wire(self) -> u16 {
        self as u16
    }

    /// Whether the protocol defines the payload, so that a log keeps it whole (protocol.md, 8.1).
    pub fn payload_is_logged(self) -> bool {
        matches!(self, Self::Feedback | Self::NotarizeBid)
    }

    /// Whether it goes to everybody.
    pub fn is_broadcast(self) -> bool {
        matches!(self, Self::Advertise | Self::Discover | Self::Beacon | Self::NotarizeBid | Self::Feedback)
    }

    /// Whether the message can be evidence, so that only a deal key signs it (decision P1).
    pub fn is_deal(self) -> bool {
        self.has_bid_value() || matches!(self, Self::NotarizeAssign)
    }

    /// Whether it carries a bid value (decision B11).
    pub fn has_bid_value(self) -> bool {
        matches!(self, Self::Propose | Self::Counter | Self::Accept)
    }

    /// Whether it may begin a conversation.
    pub fn begins_conversation(self) -> bool {
        matches!(self, Self::Advertise | Self::Discover | Self::Propose | Self::Beacon)
    }
}

impl TryFrom<u16> for MsgType {
    type Error = EnvelopeError;

    fn try_from(wire: u16) -> Result<Self, EnvelopeError> {
        match wire {
            0x01 => Ok(Self::Advertise),
            0x02 => Ok(Self::Discover),
            0x03 => Ok(Self::Propose),
            0x04 => Ok(Self::Counter),
            0x05 => Ok(Self::Accept),
            0x06 => Ok(Self::Reject),
            0x07 => Ok(Self::Deliver),
            0x08 => Ok(Self::NotarizeBid),
            0x09 => Ok(Self::NotarizeAssign),
            0x0A => Ok(Self::Verdict),
            0x0B => Ok(Self::Feedback),
            0x0C => Ok(Self::Dispute),
            0x0D => Ok(Self::Beacon),
            _ => Err(EnvelopeError::UnknownType),
        }
    }
}

/// Why bytes are not an envelope or a log entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeError {
    /// The bytes have not the shape at all: too short, or other fields.
    Malformed,
    /// The bytes mean something, but are not its one encoding; or something follows them.
    NotCanonical,
    /// The version is not [`PROTOCOL_VERSION`].
    WrongVersion,
    /// No such message type.
    UnknownType,
    /// payload_len is not the payload's length.
    PayloadLength,
    /// payload_hash is not the payload's hash.
    PayloadHash,
    /// A log entry holds a payload that its type does not log (decision C2).
    PayloadNotLogged,
    /// The buffer is too small for the encoding.
    BufferTooSmall,
}

sentences!(EnvelopeError {
    Self::Malformed => "The bytes do not have the fields of an envelope.";
    Self::NotCanonical => "The envelope is not in its canonical encoding.";
    Self::WrongVersion => "The envelope's version is not {PROTOCOL_VERSION}.";
    Self::UnknownType => "The envelope's message type is unknown.";
    Self::PayloadLength => "The payload's length is not what the envelope says.";
    Self::PayloadHash => "The payload's hash is not what the envelope says.";
    Self::PayloadNotLogged => "A log entry of this message type holds no payload.";
    Self::BufferTooSmall => "The buffer is too small for the encoding.";
});

/// The 10 fields before the payload, borrowed from the bytes that they were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeHeader<'a> {
    /// Version of the protocol: [`PROTOCOL_VERSION`].
    pub version: u8,
    /// Type of the message.
    pub msg_type: MsgType,
    /// Agent id (SATI mint) of the sender.
    pub sender: &'a [u8; 32],
    /// Agent id of the recipient, or [`BROADCAST`].
    pub recipient: &'a [u8; 32],
    /// The sender's clock, unix microseconds.
    pub timestamp: u64,
    /// The slot at the time of sending.
    pub block_ref: Slot,
    /// Strictly increasing per sender and channel (decision C4).
    pub nonce: u64,
    /// Groups the messages of one negotiation.
    pub conversation_id: &'a [u8; 16],
    /// keccak256 of the payload.
    pub payload_hash: &'a Hash,
    /// Length of the payload in bytes.
    pub payload_len: u32,
}

impl<'a> EnvelopeHeader<'a> {
    /// The agent that claims to have sent it.
    pub fn sender(&self) -> AgentId {
        AgentId(*self.sender)
    }

    /// The agent that it is for, or [`BROADCAST`].
    pub fn recipient(&self) -> AgentId {
        AgentId(*self.recipient)
    }

    /// The negotiation that it belongs to.
    pub fn conversation(&self) -> ConversationId {
        ConversationId(*self.conversation_id)
    }

    /// The packed big-endian header: what is signed, up to the payload.
    pub fn signing_header(&self) -> [u8; SIGNING_HEADER_LEN] {
        let mut packed = [0; SIGNING_HEADER_LEN];
        Writer::new(&mut packed)
            .put(&[self.version])
            .put(&self.msg_type.wire().to_be_bytes())
            .put(self.sender)
            .put(self.recipient)
            .put(&self.timestamp.to_be_bytes())
            .put(&self.block_ref.0.to_be_bytes())
            .put(&self.nonce.to_be_bytes())
            .put(self.conversation_id)
            .put(self.payload_hash)
            .put(&self.payload_len.to_be_bytes());
        packed
    }

    /// keccak256 of [`Self::signing_header`]: what every record of this message ends with (decision P3).
    #[inline(never)]
    pub fn message32<K: Keccak>(&self) -> Hash {
        K::hashv(&[&self.signing_header()])
    }

    /// The epoch of the timestamp: where the sender's log has this message (decision C6).
    pub fn epoch(&self) -> Epoch {
        Epoch::from_unix_micros(self.timestamp)
    }

    /// Whether `payload` is what this header speaks of: length first, then hash.
    pub fn check_payload<K: Keccak>(&self, payload: &[u8]) -> Result<(), EnvelopeError> {
        self.check_payload_len(payload)?;
        if K::hashv(&[payload]) == *self.payload_hash { Ok(()) } else { Err(EnvelopeError::PayloadHash) }
    }

    pub(crate) fn check_payload_len(&self, payload: &[u8]) -> Result<(), EnvelopeError> {
        let same = u32::try_from(payload.len()) == Ok(self.payload_len);
        if same { Ok(()) } else { Err(EnvelopeError::PayloadLength) }
    }

    fn unpack(packed: &mut Reader<'a>) -> Result<Self, EnvelopeError> {
        Self::unpack_raw(packed).ok_or(EnvelopeError::Malformed)?.check()
    }

    fn unpack_raw(packed: &mut Reader<'a>) -> Option<RawHeader<'a>> {
        Some(RawHeader {
            version: packed.u8()?,
            msg_type: u16::from_be_bytes(*packed.array()?),
            sender: packed.array()?,
            recipient: packed.array()?,
            timestamp: u64::from_be_bytes(*packed.array()?),
            block_ref: u64::from_be_bytes(*packed.array()?),
            nonce: u64::from_be_bytes(*packed.array()?),
            conversation_id: packed.array()?,
            payload_hash: packed.array()?,
            payload_len: u32::from_be_bytes(*packed.array()?),
        })
    }

    /// Reads the head of the array of 12 and its first 10 fields.
    pub(crate) fn read(cbor: &mut CborReader<'a>) -> Result<Self, EnvelopeError> {
        Self::read_raw(cbor).ok_or(EnvelopeError::Malformed)?.check()
    }

    pub(crate) fn read_raw(cbor: &mut CborReader<'a>) -> Option<RawHeader<'a>> {
        cbor.array_of(FIELDS)?;
        Some(RawHeader {
            version: cbor.u8()?,
            msg_type: cbor.unsigned()?.try_into().ok()?,
            sender: cbor.byte_array()?,
            recipient: cbor.byte_array()?,
            timestamp: cbor.unsigned()?,
            block_ref: cbor.unsigned()?,
            nonce: cbor.unsigned()?,
            conversation_id: cbor.byte_array()?,
            payload_hash: cbor.byte_array()?,
            payload_len: cbor.unsigned()?.try_into().ok()?,
        })
    }

    /// Writes the head of the array of 12 and its first 10 fields.
    pub(crate) fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(FIELDS)?
            .u8(self.version)?
            .u16(self.msg_type.wire())?
            .bytes(self.sender)?
            .bytes(self.recipient)?
            .u64(self.timestamp)?
            .u64(self.block_ref.0)?
            .u64(self.nonce)?
            .bytes(self.conversation_id)?
            .bytes(self.payload_hash)?
            .u32(self.payload_len)?;
        Ok(())
    }
}

/// A header whose version and type have not been looked at yet.
pub(crate) struct RawHeader<'a> {
    pub(crate) version: u8,
    pub(crate) msg_type: u16,
    sender: &'a [u8; 32],
    recipient: &'a [u8; 32],
    timestamp: u64,
    block_ref: u64,
    nonce: u64,
    conversation_id: &'a [u8; 16],
    payload_hash: &'a Hash,
    payload_len: u32,
}

impl<'a> RawHeader<'a> {
    pub(crate) fn check(self) -> Result<EnvelopeHeader<'a>, EnvelopeError> {
        if self.version != PROTOCOL_VERSION {
            return Err(EnvelopeError::WrongVersion);
        }
        Ok(EnvelopeHeader {
            version: self.version,
            msg_type: MsgType::try_from(self.msg_type)?,
            sender: self.sender,
            recipient: self.recipient,
            timestamp: self.timestamp,
            block_ref: Slot(self.block_ref),
            nonce: self.nonce,
            conversation_id: self.conversation_id,
            payload_hash: self.payload_hash,
            payload_len: self.payload_len,
        })
    }
}

/// The 11 fields that a signature covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedFields<'a> {
    /// The first 10.
    pub header: EnvelopeHeader<'a>,
    /// The payload, which is the eleventh field.
    pub payload: &'a [u8],
}

impl SignedFields<'_> {
    /// Whether payload_hash is the payload's hash. Parsing has checked the length already.
    pub fn check_payload<K: Keccak>(&self) -> Result<(), EnvelopeError> {
        self.header.check_payload::<K>(self.payload)
    }
}

/// Reads what was signed: the packed header, then the payload to the end. Checks version, type and
/// payload_len; the payload's hash is [`SignedFields::check_payload`]'s.
pub fn parse_signing_bytes(signed: &[u8]) -> Result<SignedFields<'_>, EnvelopeError> {
    let mut packed = Reader::new(signed);
    let header = EnvelopeHeader::unpack(&mut packed)?;
    let payload = packed.rest();
    header.check_payload_len(payload)?;
    Ok(SignedFields { header, payload })
}

/// A whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The 10 fields before the payload.
    pub header: EnvelopeHeader<'a>,
    /// The payload, whole.
    pub payload: &'a [u8],
    /// Ed25519 over the packed form of the fields before it.
    pub signature: &'a [u8; 64],
}

impl<'a> Envelope<'a> {
    /// Reads canonical CBOR and nothing else; payload_len must hold. Signature and payload hash are
    /// checked apart ([`Self::check_payload`]), because they cost more than the rest together.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        let mut cbor = CborReader::new(bytes);
        let header = EnvelopeHeader::read(&mut cbor)?;
        let payload = cbor.bytes().ok_or(EnvelopeError::Malformed)?;
        let signature = cbor.byte_array().ok_or(EnvelopeError::Malformed)?;
        header.check_payload_len(payload)?;
        if !cbor.is_canonical() {
            return Err(EnvelopeError::NotCanonical);
        }
        Ok(Self { header, payload, signature })
    }

    /// Writes the CBOR to the front of `buffer` and returns its length.
    pub fn encode_into(&self, buffer: &mut [u8]) -> Result<usize, EnvelopeError> {
        self.encode_to(buffer).ok_or(EnvelopeError::BufferTooSmall)
    }

    /// Whether payload_len and payload_hash are the payload's.
    pub fn check_payload<K: Keccak>(&self) -> Result<(), EnvelopeError> {
        self.header.check_payload::<K>(self.payload)
    }

    /// The fields that the signature covers.
    pub fn signed_fields(&self) -> SignedFields<'a> {
        SignedFields { header: self.header, payload: self.payload }
    }

    /// The packed header: see [`EnvelopeHeader::signing_header`].
    pub fn signing_header(&self) -> [u8; SIGNING_HEADER_LEN] {
        self.header.signing_header()
    }

    /// The canonical CBOR, as it travels.
    #[cfg(feature = "std")]
    pub fn to_cbor(&self) -> Vec<u8> {
        self.encode_to_vec()
    }

    /// What the signature covers, in one piece.
    #[cfg(feature = "std")]
    pub fn signing_bytes(&self) -> Vec<u8> {
        [self.signing_header().as_slice(), self.payload].concat()
    }
}

impl Canonical for Envelope<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        self.header.write(encoder)?;
        encoder.bytes(self.payload)?.bytes(self.signature)?;
        Ok(())
    }
}
