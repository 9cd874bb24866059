//! A log entry: what an agent keeps of every envelope, and the leaf of its log's Merkle tree
//! (protocol.md, 8.1; decision C2).
//!
//! It is the envelope with the payload left out, except where the protocol defines the payload. It is
//! always longer than 64 bytes, so it cannot be taken for an inner node of the tree.

use crate::canonical::{Canonical, CborReader};
use crate::envelope::{Envelope, EnvelopeError, EnvelopeHeader};
use crate::hash::{Hash, Keccak};
use crate::merkle;
use minicbor::encode::{Encoder, Error, Write};

/// CBOR array of 12: the 10 header fields, signature, payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry<'a> {
    /// The 10 fields before the payload.
    pub header: EnvelopeHeader<'a>,
    /// The envelope's signature. It covers the payload too, so it can be checked only with it.
    pub signature: &'a [u8; 64],
    /// The payload for FEEDBACK and NOTARIZE_BID, else empty.
    pub payload: &'a [u8],
}

impl<'a> LogEntry<'a> {
    /// What the log keeps of this envelope.
    pub fn of(envelope: &Envelope<'a>) -> Self {
        let payload = if envelope.header.msg_type.payload_is_logged() { envelope.payload } else { &[] };
        Self { header: envelope.header, signature: envelope.signature, payload }
    }

    /// Reads canonical CBOR and nothing else. A payload must be there exactly when the type logs it, and
    /// then it must be the one that the header speaks of.
    #[inline(never)]
    pub fn decode<K: Keccak>(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        let mut cbor = CborReader::new(bytes);
        let header = EnvelopeHeader::read(&mut cbor)?;
        let signature = cbor.byte_array().ok_or(EnvelopeError::Malformed)?;
        let payload = cbor.bytes().ok_or(EnvelopeError::Malformed)?;
        if !cbor.is_canonical() {
            return Err(EnvelopeError::NotCanonical);
        }
        let entry = Self { header, signature, payload };
        entry.check::<K>()?;
        Ok(entry)
    }

    /// Whether the payload is there exactly when the type logs it, and fits the header.
    pub fn check<K: Keccak>(&self) -> Result<(), EnvelopeError> {
        if self.header.msg_type.payload_is_logged() {
            self.header.check_payload::<K>(self.payload)
        } else if self.payload.is_empty() {
            Ok(())
        } else {
            Err(EnvelopeError::PayloadNotLogged)
        }
    }

    /// Writes the CBOR to the front of `buffer` and returns its length. Refuses what [`Self::decode`]
    /// would refuse.
    pub fn encode_into<K: Keccak>(&self, buffer: &mut [u8]) -> Result<usize, EnvelopeError> {
        self.check::<K>()?;
        self.encode_to(buffer).ok_or(EnvelopeError::BufferTooSmall)
    }

    /// The CBOR; refuses what [`Self::decode`] would refuse.
    #[cfg(feature = "std")]
    pub fn to_cbor<K: Keccak>(&self) -> Result<Vec<u8>, EnvelopeError> {
        self.check::<K>()?;
        Ok(self.encode_to_vec())
    }

    /// The leaf of the log's tree for an encoded entry.
    pub fn leaf<K: Keccak>(encoded: &[u8]) -> Hash {
        merkle::leaf::<K>(encoded)
    }
}

impl Canonical for LogEntry<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        self.header.write(encoder)?;
        encoder.bytes(self.signature)?.bytes(self.payload)?;
        Ok(())
    }
}
