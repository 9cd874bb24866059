//! What the log's file holds for each message: direction, arrival, the log entry.

use crate::error::{LogError, Result};
use std::path::Path;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::EnvelopeError;
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::units::Epoch;

const SENT: u8 = 1;
const RECEIVED: u8 = 2;
const NOT_AN_ENTRY: &str = "a record is not a log entry";

/// An entry as it stands in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEntry<'a> {
    /// The epoch that it belongs to (decision C6).
    pub epoch: Epoch,
    /// Its place in the epoch, from 0.
    pub index: u32,
    /// Whether this agent sent or received it.
    pub direction: Direction,
    /// When it was added, unix microseconds, as the caller's clock had it.
    pub arrival_micros: u64,
    /// The entry's canonical CBOR: what its leaf is the hash of.
    pub encoded: &'a [u8],
}

impl<'a> StoredEntry<'a> {
    /// The entry's fields.
    pub fn entry(&self) -> Result<LogEntry<'a>, EnvelopeError> {
        LogEntry::decode::<Sha3>(self.encoded)
    }

    /// The entry's leaf in the log's tree.
    pub fn leaf(&self) -> Hash {
        LogEntry::leaf::<Sha3>(self.encoded)
    }

    pub(crate) fn decode(record: &'a [u8], epoch: Epoch, index: u32, path: &Path) -> Result<Self> {
        let split = || {
            let (direction, rest) = record.split_first()?;
            let direction = match *direction {
                SENT => Direction::Sent,
                RECEIVED => Direction::Received,
                _ => return None,
            };
            let (arrival, encoded) = rest.split_first_chunk::<8>()?;
            Some(Self { epoch, index, direction, arrival_micros: u64::from_be_bytes(*arrival), encoded })
        };
        // Its checksum held, so it was written like this: the place in the file does not matter.
        split().ok_or_else(|| LogError::damaged(path, 0, NOT_AN_ENTRY))
    }

    /// The same, and the entry's fields, which must parse.
    pub(crate) fn decode_entry(
        record: &'a [u8],
        epoch: Epoch,
        index: u32,
        path: &Path,
    ) -> Result<(Self, LogEntry<'a>)> {
        let stored = Self::decode(record, epoch, index, path)?;
        let entry = stored.entry().map_err(|_| LogError::damaged(path, 0, NOT_AN_ENTRY))?;
        Ok((stored, entry))
    }
}

/// direction | arrival u64 | entry.
pub(crate) fn encode(direction: Direction, arrival_micros: u64, entry: &[u8]) -> Vec<u8> {
    let direction = match direction {
        Direction::Sent => SENT,
        Direction::Received => RECEIVED,
    };
    [&[direction], arrival_micros.to_be_bytes().as_slice(), entry].concat()
}
