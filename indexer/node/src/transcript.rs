//! Reading the agent's log as the envelopes that travelled. Payloads are kept beside the log.

use crate::error::Result;
use zx1_log::LogReader;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::ConversationId;
use zx1_protocol::units::Epoch;

/// A message of the log.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Said {
    pub direction: Direction,
    /// When it came or went, unix microseconds.
    pub at: u64,
    /// The envelope as it travelled.
    pub cbor: Vec<u8>,
}

/// Goes through the log from an epoch on, in its order: the messages that `wants` picks by their headers, each with
/// direction and time. A payload that was pruned is empty. Blocks.
///
/// # Errors
/// The log's.
pub fn each(
    reader: &LogReader,
    from: Epoch,
    wants: impl Fn(&EnvelopeHeader<'_>) -> bool,
    mut take: impl FnMut(&Envelope<'_>, Direction, u64),
) -> Result<()> {
    let mut entries = reader.entries(from, Epoch(u64::MAX))?;
    while let Some(stored) = entries.next_entry()? {
        let (direction, at) = (stored.direction, stored.arrival_micros);
        let Ok(entry) = stored.entry() else { continue };
        if !wants(&entry.header) {
            continue;
        }
        let kept = if entry.payload.is_empty() && entry.header.payload_len > 0 {
            reader.payload(entry.header.payload_hash).ok().flatten().unwrap_or_default()
        } else {
            entry.payload.to_vec()
        };
        take(&Envelope { header: entry.header, payload: &kept, signature: entry.signature }, direction, at);
    }
    Ok(())
}

/// The messages of one conversation whose payloads are kept, from an epoch on. Blocks.
///
/// # Errors
/// The log's.
pub fn of(reader: &LogReader, from: Epoch, conversation: ConversationId) -> Result<Vec<Said>> {
    let mut all = Vec::new();
    each(
        reader,
        from,
        |header| header.conversation() == conversation,
        |envelope, direction, at| {
            if envelope.check_payload::<Sha3>().is_ok() {
                all.push(Said { direction, at, cbor: envelope.to_cbor() });
            }
        },
    )?;
    Ok(all)
}
