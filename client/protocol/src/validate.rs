//! Taking a message in: the nine rules of protocol.md, 5.5, in their order.
//!
//! A message that fails any rule is dropped, and its sender hears nothing. The reasons here are for the
//! receiver's own log and counters only.
//!
//! It goes in two steps, because the facts about the sender come from the chain: [`Candidate::parse`] reads
//! the bytes and says who claims to have sent them on which channel; [`Candidate::validate`] takes the facts
//! and does the rest.

use crate::canonical::CborReader;
use crate::channel::{Channel, channel_of};
use crate::envelope::{
    Envelope, EnvelopeError, EnvelopeHeader, MAX_LOGGED_PAYLOAD, MsgType, PROTOCOL_VERSION,
};
use crate::error::numbered;
use crate::hash::Sha3;
use crate::ids::{AgentId, WalletKey};
use crate::keys::AgentKey;
use crate::nonce::{NonceError, SeenNonces};
use crate::payload::{Feedback, NotarizeBid, PayloadError};
use crate::signature::PublicKey;
use crate::units::{Epoch, Slot};
use zx1_interface::constants::MAX_EVIDENCE_PAYLOAD;

/// The longest message, in bytes of CBOR: the whole envelope (protocol.md, 11).
pub const MAX_MESSAGE_SIZE: usize = 65_536;
/// How far a message's timestamp may be from the local clock, in microseconds, either way (protocol.md,
/// 11).
pub const TIMESTAMP_TOLERANCE_MICROS: u64 = 30_000_000;
/// How far a message's block_ref may be from the receiver's slot at receipt, either way (decision P2).
pub const BLOCK_REF_TOLERANCE_SLOTS: u64 = 150;

/// Why a message is dropped. 7310 + n is the number of rule n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// More than [`MAX_MESSAGE_SIZE`] bytes.
    TooLarge,
    /// Not the fields of an envelope.
    Malformed,
    /// Not the one encoding of what it means (decision C1).
    NotCanonical,
    /// It came by another channel than the one of its type. Who received it knows the channel and compares.
    WrongChannel,
    /// Rule 1: another version.
    Version,
    /// Rule 2: an unknown message type.
    MsgType,
    /// Rule 3: the sender is not registered.
    UnknownSender,
    /// Rule 4: the signature does not hold.
    Signature,
    /// Rule 5: the nonce was seen or is too old.
    Nonce(NonceError),
    /// Rule 6: the clocks differ too much.
    Timestamp {
        /// How far the timestamp is from the local clock, in microseconds.
        off_by: u64,
    },
    /// Rule 7: another hash than the payload's.
    PayloadHash,
    /// Rule 8: another length than the payload's.
    PayloadLength,
    /// Rule 9: the payload does not parse.
    Payload(PayloadError),
    /// A PROPOSE, COUNTER, ACCEPT or NOTARIZE_ASSIGN on which no challenge could rest (decision B11).
    TooLongForEvidence,
    /// A FEEDBACK or NOTARIZE_BID whose log entry nobody could show (decision P4).
    TooLongForLog,
    /// The key that signed may not sign this type, such as a deal under a peer key (decision P1).
    Scope,
    /// The key that signed is not valid in the message's epoch (decision P1).
    KeyEpoch {
        /// The epoch of the timestamp.
        epoch: Epoch,
    },
    /// The block_ref is too far from the receiver's slot (decision P2).
    BlockRef {
        /// How far, in slots.
        off_by: u64,
    },
}

numbered!(Reason {
    7300 Self::TooLarge => "The message has more than {MAX_MESSAGE_SIZE} bytes.";
    7301 Self::Malformed => "The message does not have the fields of an envelope.";
    7302 Self::NotCanonical => "The message is not in its canonical encoding.";
    7303 Self::WrongChannel => "The message came by another channel than that of its type.";
    7311 Self::Version => "The message's version is not {PROTOCOL_VERSION}.";
    7312 Self::MsgType => "The message's type is unknown.";
    7313 Self::UnknownSender => "The sender is not a registered agent.";
    7314 Self::Signature => "The signature holds under none of the keys that may sign for the sender.";
    7315 Self::Nonce(error) => "{error}";
    7316 Self::Timestamp { off_by } => "The timestamp is {off_by} microseconds away from the local clock.";
    7317 Self::PayloadHash => "The payload's hash is not what the message says.";
    7318 Self::PayloadLength => "The payload's length is not what the message says.";
    7319 Self::Payload(error) => "The payload does not parse. {error}";
    7320 Self::TooLongForEvidence =>
        "A payload of this message type has at most {MAX_EVIDENCE_PAYLOAD} bytes.";
    7324 Self::TooLongForLog =>
        "A payload of this message type has at most {MAX_LOGGED_PAYLOAD} bytes, because logs keep it whole.";
    7321 Self::Scope => "The key that signed may not sign messages of this type.";
    7322 Self::KeyEpoch { epoch } => "The key that signed is not valid in epoch {}.", epoch.0;
    7323 Self::BlockRef { off_by } => "The message's slot is {off_by} slots away from the present one.";
});

impl Reason {
    /// The rule of protocol.md, 5.5 that the message breaks; `None` for what comes before and after them.
    pub fn rule(&self) -> Option<u8> {
        match self {
            Self::TooLarge
            | Self::Malformed
            | Self::NotCanonical
            | Self::WrongChannel
            | Self::TooLongForEvidence
            | Self::TooLongForLog
            | Self::BlockRef { .. } => None,
            Self::Version => Some(1),
            Self::MsgType => Some(2),
            Self::UnknownSender => Some(3),
            Self::Signature | Self::Scope | Self::KeyEpoch { .. } => Some(4),
            Self::Nonce(_) => Some(5),
            Self::Timestamp { .. } => Some(6),
            Self::PayloadHash => Some(7),
            Self::PayloadLength => Some(8),
            Self::Payload(_) => Some(9),
        }
    }
}

/// What the chain, and the receiver's memory, say about a sender.
#[derive(Clone, Copy, Debug)]
pub enum Sender<'a> {
    /// No such agent is registered.
    Unknown,
    /// A registered agent.
    Registered {
        /// Its key accounts (decision P1): for what is received now, those that have not ended.
        keys: &'a [AgentKey],
        /// The nonces that were accepted from it on the message's channel (decisions C4 and I1).
        seen: SeenNonces,
    },
}

/// What a message is judged against.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The local clock, unix microseconds.
    pub now_micros: u64,
    /// [`TIMESTAMP_TOLERANCE_MICROS`], unless a test or a closed network says otherwise.
    pub tolerance_micros: u64,
    /// The present slot, which block_ref is compared with; `None` for what is read again later, such as a
    /// transcript.
    pub slot: Option<Slot>,
    /// Who claims to have sent it.
    pub sender: Sender<'a>,
}

impl<'a> Context<'a> {
    /// A context with the protocol's own tolerance.
    pub fn new(now_micros: u64, slot: Option<Slot>, sender: Sender<'a>) -> Self {
        Self { now_micros, tolerance_micros: TIMESTAMP_TOLERANCE_MICROS, slot, sender }
    }
}

/// A message that has the form of an envelope and keeps rules 1 and 2. Nothing in it is proven yet.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    envelope: Envelope<'a>,
}

/// A message that keeps all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valid<'a> {
    /// The envelope, which keeps all rules.
    pub envelope: Envelope<'a>,
    /// The key under which its signature holds.
    pub signer: WalletKey,
    /// The channel on which its nonce counts; the caller now remembers the nonce there.
    pub channel: Channel,
}

impl<'a> Candidate<'a> {
    /// Size, form, and rules 1 and 2.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Reason> {
        if bytes.len() > MAX_MESSAGE_SIZE {
            return Err(Reason::TooLarge);
        }
        // What another version means by the rest is not known, so its form is not judged.
        if version_of(bytes).is_some_and(|version| version != u64::from(PROTOCOL_VERSION)) {
            return Err(Reason::Version);
        }
        // Unlike `Envelope::decode` this leaves payload_len for its own rule.
        let mut cbor = CborReader::new(bytes);
        let raw = EnvelopeHeader::read_raw(&mut cbor).ok_or(Reason::Malformed)?;
        let payload = cbor.bytes().ok_or(Reason::Malformed)?;
        let signature = cbor.byte_array().ok_or(Reason::Malformed)?;
        if !cbor.is_canonical() {
            return Err(Reason::NotCanonical);
        }
        let header = raw.check().map_err(|error| match error {
            EnvelopeError::WrongVersion => Reason::Version,
            EnvelopeError::UnknownType => Reason::MsgType,
            _ => Reason::Malformed,
        })?;
        Ok(Self { envelope: Envelope { header, payload, signature } })
    }

    /// The agent that claims to have sent it.
    pub fn sender(&self) -> AgentId {
        self.envelope.header.sender()
    }

    /// The agent that it is for, or [`crate::envelope::BROADCAST`].
    pub fn recipient(&self) -> AgentId {
        self.envelope.header.recipient()
    }

    /// What it claims to be.
    pub fn msg_type(&self) -> MsgType {
        self.envelope.header.msg_type
    }

    /// The channel on which it must have come and its nonce counts.
    pub fn channel(&self) -> Channel {
        channel_of(self.msg_type())
    }

    /// The message, when its payload is the one that its header speaks of.
    pub fn envelope(&self) -> Option<&Envelope<'a>> {
        self.envelope.check_payload::<Sha3>().is_ok().then_some(&self.envelope)
    }

    /// When it claims to have been sent: unix microseconds.
    pub fn timestamp(&self) -> u64 {
        self.envelope.header.timestamp
    }

    /// The message as one that this key signed; `None` when it did not. For who learns the key from elsewhere than
    /// the chain, such as from the peer that published it, and has yet to ask whether it is the sender's.
    pub fn signed_by(&self, key: &PublicKey) -> Option<Signed<'a>> {
        self.holds_under(key).then_some(Signed { envelope: self.envelope, signer: *key })
    }

    /// What holds of a message whenever it is read, for one that somebody shows later: rules 4 and 7 to 9 and
    /// the limits of decisions B11 and P4. Nonce, time and slot bind its receipt only. `keys` are the sender's,
    /// with those that have ended, because their signatures still count in their epochs.
    pub fn evidence(&self, keys: &[AgentKey]) -> Result<Valid<'a>, Reason> {
        let signer = self.signer(keys)?;
        check_signer(&self.envelope.header, signer)?;
        check_payload(&self.envelope.header, self.envelope.payload)?;
        Ok(Valid { envelope: self.envelope, signer: signer.key.to_bytes().into(), channel: self.channel() })
    }

    /// Rules 3 to 9, then the limits of decisions B11, P4 and P2.
    pub fn validate(&self, context: &Context<'_>) -> Result<Valid<'a>, Reason> {
        let Sender::Registered { keys, seen } = context.sender else {
            return Err(Reason::UnknownSender);
        };
        check_signed(self.envelope, self.signer(keys)?, seen, context)
    }

    /// The first half of rule 4: the key under which the signature holds.
    fn signer<'k>(&self, keys: &'k [AgentKey]) -> Result<&'k AgentKey, Reason> {
        keys.iter().find(|it| self.holds_under(&it.key)).ok_or(Reason::Signature)
    }

    fn holds_under(&self, key: &PublicKey) -> bool {
        key.verify(&self.envelope.signing_bytes(), self.envelope.signature)
    }
}

/// A message whose signature holds. Whether its key signs for the sender is not known yet.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    envelope: Envelope<'a>,
    signer: PublicKey,
}

impl<'a> Signed<'a> {
    /// As [`Candidate::validate`], without verifying the signature again. It counts when the key is one of the
    /// sender's.
    pub fn validate(&self, context: &Context<'_>) -> Result<Valid<'a>, Reason> {
        let Sender::Registered { keys, seen } = context.sender else {
            return Err(Reason::UnknownSender);
        };
        let signer = keys.iter().find(|it| it.key == self.signer).ok_or(Reason::Signature)?;
        check_signed(self.envelope, signer, seen, context)
    }
}

/// The second half of rule 4, rules 5 to 9, then the limits of decisions B11, P4 and P2. The signature holds under
/// the signer's key.
fn check_signed<'a>(
    envelope: Envelope<'a>,
    signer: &AgentKey,
    seen: SeenNonces,
    context: &Context<'_>,
) -> Result<Valid<'a>, Reason> {
    let Envelope { header, payload, .. } = &envelope;
    check_signer(header, signer)?;
    seen.accept(header.nonce).map_err(Reason::Nonce)?;
    let off_by = header.timestamp.abs_diff(context.now_micros);
    if off_by > context.tolerance_micros {
        return Err(Reason::Timestamp { off_by });
    }
    check_payload(header, payload)?;
    let off_by = context.slot.map_or(0, |slot| header.block_ref.0.abs_diff(slot.0));
    if off_by > BLOCK_REF_TOLERANCE_SLOTS {
        return Err(Reason::BlockRef { off_by });
    }
    let signer = signer.key.to_bytes().into();
    Ok(Valid { envelope, signer, channel: channel_of(header.msg_type) })
}

/// The second half of rule 4: the key signs such messages, and counts in the message's epoch (decision P1).
fn check_signer(header: &EnvelopeHeader<'_>, signer: &AgentKey) -> Result<(), Reason> {
    if !signer.scopes.sign(header.msg_type) {
        return Err(Reason::Scope);
    }
    let epoch = header.epoch();
    if !signer.counts_in(epoch) {
        return Err(Reason::KeyEpoch { epoch });
    }
    Ok(())
}

/// The first field of an array; `None` where there is none, or no number.
fn version_of(bytes: &[u8]) -> Option<u64> {
    let mut decoder = minicbor::Decoder::new(bytes);
    decoder.array().ok()?;
    decoder.u64().ok()
}

/// [`Candidate::parse`] and [`Candidate::validate`] for a caller that knows the sender already.
pub fn validate<'a>(bytes: &'a [u8], context: &Context<'_>) -> Result<Valid<'a>, Reason> {
    Candidate::parse(bytes)?.validate(context)
}

/// Rules 7 to 9, and the limits of decisions B11 and P4.
fn check_payload(header: &EnvelopeHeader<'_>, payload: &[u8]) -> Result<(), Reason> {
    use crate::hash::Keccak;
    if Sha3::hashv(&[payload]) != *header.payload_hash {
        return Err(Reason::PayloadHash);
    }
    header.check_payload_len(payload).map_err(|_| Reason::PayloadLength)?;
    check_defined_payload(header.msg_type, payload).map_err(Reason::Payload)?;
    if is_too_long_for_evidence(header.msg_type, payload) {
        return Err(Reason::TooLongForEvidence);
    }
    if is_too_long_for_log(header.msg_type, payload) {
        return Err(Reason::TooLongForLog);
    }
    Ok(())
}

/// Rule 9: the payloads that the protocol defines must parse.
pub(crate) fn check_defined_payload(msg_type: MsgType, payload: &[u8]) -> Result<(), PayloadError> {
    match msg_type {
        MsgType::Feedback => Feedback::decode(payload).map(|_| ()),
        MsgType::NotarizeBid => NotarizeBid::decode(payload).map(|_| ()),
        _ => Ok(()),
    }
}

/// Decision B11: a challenge can rest on these four types only up to a length, so clients neither send nor
/// take longer ones.
pub(crate) fn is_too_long_for_evidence(msg_type: MsgType, payload: &[u8]) -> bool {
    msg_type.is_deal() && payload.len() > MAX_EVIDENCE_PAYLOAD
}

/// Decision P4: a leaf that is asked for must fit the draft in which it is shown.
pub(crate) fn is_too_long_for_log(msg_type: MsgType, payload: &[u8]) -> bool {
    msg_type.payload_is_logged() && payload.len() > MAX_LOGGED_PAYLOAD
}
