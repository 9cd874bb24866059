//! Envelopes of a conversation shown to somebody who did not receive them, such as its notary: the payload of a
//! DELIVER, [`CONTEXT_HINT`] and then a CBOR array of byte strings, each an envelope as it travelled (wire.md,
//! "Context").
//!
//! Nothing here looks into the envelopes. Whoever reads them checks form, signature and key of each with
//! [`Candidate::evidence`](crate::validate::Candidate::evidence), and whether it belongs there; nonce and time
//! were checked by the one who received them.

use crate::canonical::{Canonical, CborReader};
use crate::error::sentences;
use crate::payload::FORMAT_HINT_LEN;
use minicbor::encode::{Encoder, Error, Write};

/// The format hint of a context.
pub const CONTEXT_HINT: &[u8; FORMAT_HINT_LEN] = b"CTX1";
/// Longest context payload, in bytes, hint included. The rest of the conversation goes into further DELIVERs.
pub const MAX_CONTEXT_LEN: usize = 60_000;
/// Maximum number of envelopes in one payload. An envelope has over 240 bytes, so the length is the bound that
/// binds first.
pub const MAX_CONTEXT_ENVELOPES: usize = 256;

/// Bytes of the hint and of the longest array head that is needed.
const FRAME_LEN: usize = FORMAT_HINT_LEN + 3;
/// Bytes of the longest byte string head that is needed.
const ITEM_HEAD_LEN: usize = 3;

/// Why bytes are not a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextError {
    /// More than [`MAX_CONTEXT_LEN`] bytes.
    TooLong,
    /// The first four bytes are not [`CONTEXT_HINT`].
    Hint,
    /// What follows is not an array of byte strings.
    Malformed,
    /// The bytes are not the one encoding of what they mean, or something follows them.
    NotCanonical,
    /// No envelope, or more than [`MAX_CONTEXT_ENVELOPES`].
    Count,
    /// One envelope alone does not fit a context.
    EnvelopeTooLong,
}

sentences!(ContextError {
    Self::TooLong => "A context has at most {MAX_CONTEXT_LEN} bytes.";
    Self::Hint => "The payload does not begin with the format hint of a context.";
    Self::Malformed => "The context is not a list of envelopes.";
    Self::NotCanonical => "The context is not in its canonical encoding.";
    Self::Count => "A context has from 1 to {MAX_CONTEXT_ENVELOPES} envelopes.";
    Self::EnvelopeTooLong => "An envelope is too long to be shown in a context.";
});

/// The envelopes of one payload, borrowed from it; not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// Each the CBOR of an envelope, if the sender is honest.
    pub envelopes: Vec<&'a [u8]>,
}

impl<'a> Context<'a> {
    /// Whether a DELIVER's payload says that it is a context, and so not a work product.
    pub fn is_one(payload: &[u8]) -> bool {
        payload.starts_with(CONTEXT_HINT)
    }

    /// Reads the payload.
    pub fn decode(payload: &'a [u8]) -> Result<Self, ContextError> {
        if payload.len() > MAX_CONTEXT_LEN {
            return Err(ContextError::TooLong);
        }
        let list = payload.strip_prefix(CONTEXT_HINT).ok_or(ContextError::Hint)?;
        let mut cbor = CborReader::new(list);
        let count = cbor.array().ok_or(ContextError::Malformed)?;
        let envelopes: Option<Vec<_>> = (0..count).map(|_| cbor.bytes()).collect();
        let context = Self { envelopes: envelopes.ok_or(ContextError::Malformed)? };
        if !cbor.is_canonical() {
            return Err(ContextError::NotCanonical);
        }
        context.check_count()?;
        Ok(context)
    }

    /// The payload; refuses what [`Self::decode`] would refuse.
    pub fn to_payload(&self) -> Result<Vec<u8>, ContextError> {
        self.check_count()?;
        let payload = [CONTEXT_HINT.as_slice(), &self.encode_to_vec()].concat();
        if payload.len() > MAX_CONTEXT_LEN { Err(ContextError::TooLong) } else { Ok(payload) }
    }

    /// The payloads in which these envelopes go, in their order, each as full as that allows.
    pub fn split(envelopes: &[&'a [u8]]) -> Result<Vec<Vec<u8>>, ContextError> {
        let mut payloads = Vec::new();
        let (mut part, mut len) = (Vec::new(), FRAME_LEN);
        for envelope in envelopes {
            let item = envelope.len().saturating_add(ITEM_HEAD_LEN);
            if FRAME_LEN.saturating_add(item) > MAX_CONTEXT_LEN {
                return Err(ContextError::EnvelopeTooLong);
            }
            if len.saturating_add(item) > MAX_CONTEXT_LEN || part.len() == MAX_CONTEXT_ENVELOPES {
                payloads.push(Self { envelopes: core::mem::take(&mut part) }.to_payload()?);
                len = FRAME_LEN;
            }
            part.push(*envelope);
            len = len.saturating_add(item);
        }
        if !part.is_empty() {
            payloads.push(Self { envelopes: part }.to_payload()?);
        }
        Ok(payloads)
    }

    fn check_count(&self) -> Result<(), ContextError> {
        let fits = (1..=MAX_CONTEXT_ENVELOPES).contains(&self.envelopes.len());
        if fits { Ok(()) } else { Err(ContextError::Count) }
    }
}

impl Canonical for Context<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder.array(u64::try_from(self.envelopes.len()).unwrap_or(u64::MAX))?;
        for envelope in &self.envelopes {
            encoder.bytes(envelope)?;
        }
        Ok(())
    }
}
