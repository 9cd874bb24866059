//! Sending a message: what a receiver would drop is refused before it is signed.
//!
//! No key comes in here. The caller signs, with whatever holds its key.

use crate::beacon::{Beacon, BeaconError};
use crate::envelope::{Envelope, EnvelopeHeader, MAX_LOGGED_PAYLOAD, MsgType, PROTOCOL_VERSION};
use crate::error::numbered;
use crate::hash::{Hash, Keccak, Sha3};
use crate::ids::{AgentId, ConversationId};
use crate::payload::PayloadError;
use crate::units::Slot;
use crate::validate::{
    MAX_MESSAGE_SIZE, check_defined_payload, is_too_long_for_evidence, is_too_long_for_log,
};
use zx1_interface::constants::MAX_EVIDENCE_PAYLOAD;

/// Why a message is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftError {
    /// The envelope would have more than [`MAX_MESSAGE_SIZE`] bytes.
    TooLarge,
    /// A PROPOSE, COUNTER, ACCEPT or NOTARIZE_ASSIGN with a longer payload than decision B11 allows.
    TooLongForEvidence,
    /// A NOTARIZE_BID with a longer payload than a log keeps (decision P4).
    TooLongForLog,
    /// A FEEDBACK or NOTARIZE_BID payload that does not parse.
    Payload(PayloadError),
    /// A BEACON payload that does not parse, or speaks of another agent (decision C3).
    Beacon(BeaconError),
}

numbered!(DraftError {
    7330 Self::TooLarge =>
        "The message would have more than {MAX_MESSAGE_SIZE} bytes; send the bulk elsewhere, here its hash.";
    7331 Self::TooLongForEvidence =>
        "A payload of this message type has at most {MAX_EVIDENCE_PAYLOAD} bytes; send bulk with DELIVER.";
    7337 Self::TooLongForLog =>
        "A payload of this message type has at most {MAX_LOGGED_PAYLOAD} bytes, because logs keep it whole.";
    7332 Self::Payload(error) => "The payload does not parse. {error}";
    7333 Self::Beacon(error) => "The BEACON payload is not right. {error}";
});

/// Why a message was not signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignError<E> {
    /// The message itself is refused; the signer was not asked.
    Draft(DraftError),
    /// The signer's own error.
    Signer(E),
}

impl<E: core::fmt::Display> core::fmt::Display for SignError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Draft(error) => error.fmt(f),
            Self::Signer(error) => error.fmt(f),
        }
    }
}

impl<E: core::fmt::Debug + core::fmt::Display> std::error::Error for SignError<E> {}

/// A message before its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft<'a> {
    /// Type of the message.
    pub msg_type: MsgType,
    /// The sending agent's id.
    pub sender: AgentId,
    /// Agent id of the recipient, or [`crate::envelope::BROADCAST`].
    pub recipient: AgentId,
    /// The local clock, unix microseconds.
    pub timestamp: u64,
    /// The present slot.
    pub block_ref: Slot,
    /// From [`crate::nonce::next_nonce`], saved already.
    pub nonce: u64,
    /// Random for the first message of a negotiation, then the same.
    pub conversation_id: ConversationId,
    /// Payload of the message.
    pub payload: &'a [u8],
}

impl Draft<'_> {
    /// Whether receivers would take the message.
    pub fn check(&self) -> Result<(), DraftError> {
        // Far too long is not encoded to be measured.
        if self.payload.len() > MAX_MESSAGE_SIZE {
            return Err(DraftError::TooLarge);
        }
        self.check_payload()?;
        let envelope =
            Envelope { header: self.header(&[0; 32])?, payload: self.payload, signature: &[0; 64] };
        if envelope.to_cbor().len() > MAX_MESSAGE_SIZE { Err(DraftError::TooLarge) } else { Ok(()) }
    }

    /// The bytes that the signature covers.
    pub fn signing_bytes(&self) -> Result<Vec<u8>, DraftError> {
        self.check()?;
        let hash = Sha3::hashv(&[self.payload]);
        Ok([self.header(&hash)?.signing_header().as_slice(), self.payload].concat())
    }

    /// Signs with a signer that cannot fail, and returns the envelope's CBOR.
    pub fn sign(&self, signer: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<Vec<u8>, DraftError> {
        let signed = self.try_sign(|bytes| Ok::<_, core::convert::Infallible>(signer(bytes)));
        signed.map_err(|error| match error {
            SignError::Draft(error) => error,
            SignError::Signer(never) => match never {},
        })
    }

    /// Signs with a signer that may fail (a hardware wallet, an agent process), and returns the envelope's
    /// CBOR.
    pub fn try_sign<E>(
        &self,
        signer: impl FnOnce(&[u8]) -> Result<[u8; 64], E>,
    ) -> Result<Vec<u8>, SignError<E>> {
        let signing_bytes = self.signing_bytes().map_err(SignError::Draft)?;
        let signature = signer(&signing_bytes).map_err(SignError::Signer)?;
        let hash = Sha3::hashv(&[self.payload]);
        let header = self.header(&hash).map_err(SignError::Draft)?;
        Ok(Envelope { header, payload: self.payload, signature: &signature }.to_cbor())
    }

    fn check_payload(&self) -> Result<(), DraftError> {
        check_defined_payload(self.msg_type, self.payload).map_err(DraftError::Payload)?;
        if self.msg_type == MsgType::Beacon {
            let beacon = Beacon::parse(self.payload).map_err(DraftError::Beacon)?;
            if beacon.agent_id != self.sender {
                return Err(DraftError::Beacon(BeaconError::OtherAgent));
            }
        }
        if is_too_long_for_evidence(self.msg_type, self.payload) {
            return Err(DraftError::TooLongForEvidence);
        }
        if is_too_long_for_log(self.msg_type, self.payload) {
            return Err(DraftError::TooLongForLog);
        }
        Ok(())
    }

    fn header<'h>(&'h self, payload_hash: &'h Hash) -> Result<EnvelopeHeader<'h>, DraftError> {
        // A longer payload is far beyond the message size.
        let payload_len = u32::try_from(self.payload.len()).map_err(|_| DraftError::TooLarge)?;
        Ok(EnvelopeHeader {
            version: PROTOCOL_VERSION,
            msg_type: self.msg_type,
            sender: self.sender.as_bytes(),
            recipient: self.recipient.as_bytes(),
            timestamp: self.timestamp,
            block_ref: self.block_ref,
            nonce: self.nonce,
            conversation_id: self.conversation_id.as_bytes(),
            payload_hash,
            payload_len,
        })
    }
}
