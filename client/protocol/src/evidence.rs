//! The bytes of an evidence draft (decision B10). They are parsed without copying: a proof stays where it
//! lies in the account. An envelope has no bytes here: it is signed in the transaction that seals the draft.
//!
//! ```text
//! kind 1, a log entry:
//!   1, leaf_index u32 LE, proof_count u8, proof 32 × n, entry_len u16 LE, entry, shown u8
//!   and when shown is 1: payload_len u16 LE, payload
//! kind 2, a double bid: 2, then twice
//!   record 105 bytes, leaf_index u32 LE, proof_count u8, proof 32 × n
//! ```

use crate::bytes::Reader;
use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use crate::merkle::{self, MerkleError};
use crate::record::{BID_LEN, Bid};

/// Kind byte of a [`LogEvidence`].
pub const KIND_LOG_ENTRY: u8 = 1;
/// Kind byte of [`Evidence::DoubleBid`].
pub const KIND_DOUBLE_BID: u8 = 2;

/// Why bytes are not evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceError {
    /// No such kind, or no bytes at all.
    UnknownKind,
    /// The bytes end too early.
    Truncated,
    /// Something follows the evidence.
    TrailingBytes,
    /// The byte that says whether a payload is shown is neither 0 nor 1.
    BadFlag,
    /// A record of a double bid is not a bid.
    NotABid,
}

sentences!(EvidenceError {
    Self::UnknownKind => "The evidence is of no known kind.";
    Self::Truncated => "The evidence ends too early.";
    Self::TrailingBytes => "Bytes follow the evidence.";
    Self::BadFlag => "The byte that says whether a payload is shown must be 0 or 1.";
    Self::NotABid => "A record of the double bid is not a bid.";
});

/// Evidence, borrowed from its bytes.
#[allow(clippy::large_enum_variant, reason = "it is looked at where it was parsed, and never stored")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence<'a> {
    /// An entry of the agent's log.
    LogEntry(LogEvidence<'a>),
    /// Two bids under the same arrays root.
    DoubleBid(ProvenBid<'a>, ProvenBid<'a>),
}

/// An entry of the agent's log with its place under log_merkle_root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEvidence<'a> {
    /// Index in the padded tree.
    pub leaf_index: u32,
    /// Siblings, from the leaf up.
    pub proof: &'a [Hash],
    /// The encoded log entry.
    pub entry: &'a [u8],
    /// The payload, when the challenger disputes a bid's value.
    pub shown_payload: Option<&'a [u8]>,
}

/// A bid with its place under arrays_root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenBid<'a> {
    /// The packed record.
    pub record: &'a [u8; BID_LEN],
    /// The bid, unpacked.
    pub bid: Bid,
    /// Index in the padded tree.
    pub leaf_index: u32,
    /// Siblings, from the leaf up.
    pub proof: &'a [Hash],
}

impl<'a> Evidence<'a> {
    /// Reads evidence and nothing else. Inlined, what it returns is not moved.
    #[inline(always)]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, EvidenceError> {
        let mut reader = Reader::new(bytes);
        match reader.u8() {
            Some(KIND_LOG_ENTRY) => {
                let evidence = LogEvidence::read(&mut reader)?;
                expect_end(&reader)?;
                Ok(Self::LogEntry(evidence))
            }
            Some(KIND_DOUBLE_BID) => {
                let a = ProvenBid::read(&mut reader)?;
                let b = ProvenBid::read(&mut reader)?;
                expect_end(&reader)?;
                Ok(Self::DoubleBid(a, b))
            }
            _ => Err(EvidenceError::UnknownKind),
        }
    }

    /// The kind byte.
    pub fn kind(&self) -> u8 {
        match self {
            Self::LogEntry(_) => KIND_LOG_ENTRY,
            Self::DoubleBid(..) => KIND_DOUBLE_BID,
        }
    }

    /// The bytes; `None` when a part is too long for its length field.
    #[cfg(feature = "std")]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![self.kind()];
        match self {
            Self::LogEntry(evidence) => evidence.write(&mut bytes)?,
            Self::DoubleBid(a, b) => {
                a.write(&mut bytes)?;
                b.write(&mut bytes)?;
            }
        }
        Some(bytes)
    }
}

impl<'a> LogEvidence<'a> {
    /// The entry's leaf.
    pub fn leaf<K: Keccak>(&self) -> Hash {
        merkle::leaf::<K>(self.entry)
    }

    /// Whether the entry stands under this log root.
    pub fn verify<K: Keccak>(&self, log_merkle_root: &Hash, log_len: u32) -> Result<(), MerkleError> {
        merkle::verify::<K>(log_merkle_root, log_len, self.leaf_index, &self.leaf::<K>(), self.proof)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, EvidenceError> {
        let (leaf_index, proof) = read_place(reader).ok_or(EvidenceError::Truncated)?;
        let entry = read_long(reader).ok_or(EvidenceError::Truncated)?;
        let shown_payload = match reader.u8() {
            Some(0) => None,
            Some(1) => Some(read_long(reader).ok_or(EvidenceError::Truncated)?),
            Some(_) => return Err(EvidenceError::BadFlag),
            None => return Err(EvidenceError::Truncated),
        };
        Ok(Self { leaf_index, proof, entry, shown_payload })
    }

    #[cfg(feature = "std")]
    fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        write_place(bytes, self.leaf_index, self.proof)?;
        write_long(bytes, self.entry)?;
        bytes.push(u8::from(self.shown_payload.is_some()));
        self.shown_payload.map_or(Some(()), |payload| write_long(bytes, payload))
    }
}

impl<'a> ProvenBid<'a> {
    /// The record's leaf.
    pub fn leaf<K: Keccak>(&self) -> Hash {
        merkle::leaf::<K>(self.record)
    }

    /// Whether the bid stands under this arrays root.
    pub fn verify<K: Keccak>(&self, arrays_root: &Hash, arrays_len: u32) -> Result<(), MerkleError> {
        merkle::verify::<K>(arrays_root, arrays_len, self.leaf_index, &self.leaf::<K>(), self.proof)
    }

    /// A bid from its packed record.
    pub fn new(record: &'a [u8; BID_LEN], leaf_index: u32, proof: &'a [Hash]) -> Result<Self, EvidenceError> {
        let bid = Bid::parse(record).ok_or(EvidenceError::NotABid)?;
        Ok(Self { record, bid, leaf_index, proof })
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, EvidenceError> {
        let record = reader.array().ok_or(EvidenceError::Truncated)?;
        let (leaf_index, proof) = read_place(reader).ok_or(EvidenceError::Truncated)?;
        Self::new(record, leaf_index, proof)
    }

    #[cfg(feature = "std")]
    fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        bytes.extend_from_slice(self.record);
        write_place(bytes, self.leaf_index, self.proof)
    }
}

fn expect_end(reader: &Reader<'_>) -> Result<(), EvidenceError> {
    if reader.is_empty() { Ok(()) } else { Err(EvidenceError::TrailingBytes) }
}

/// leaf_index u32 LE, proof_count u8, proof.
fn read_place<'a>(reader: &mut Reader<'a>) -> Option<(u32, &'a [Hash])> {
    let leaf_index = u32::from_le_bytes(*reader.array()?);
    let count = usize::from(reader.u8()?);
    let (proof, _) = reader.slice(count.checked_mul(size_of::<Hash>())?)?.as_chunks();
    Some((leaf_index, proof))
}

/// A byte string with its length as u16 LE before it.
fn read_long<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let len = u16::from_le_bytes(*reader.array()?);
    reader.slice(usize::from(len))
}

#[cfg(feature = "std")]
fn write_place(bytes: &mut Vec<u8>, leaf_index: u32, proof: &[Hash]) -> Option<()> {
    bytes.extend_from_slice(&leaf_index.to_le_bytes());
    bytes.push(u8::try_from(proof.len()).ok()?);
    bytes.extend_from_slice(proof.as_flattened());
    Some(())
}

#[cfg(feature = "std")]
fn write_long(bytes: &mut Vec<u8>, long: &[u8]) -> Option<()> {
    bytes.extend_from_slice(&u16::try_from(long.len()).ok()?.to_le_bytes());
    bytes.extend_from_slice(long);
    Some(())
}
