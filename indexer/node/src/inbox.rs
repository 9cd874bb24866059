//! Received messages, in the order of the agent's log, which is where they are kept.

use crate::error::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use zx1_home::files;
use zx1_log::{Appended, LogReader, StoredEntry};
use zx1_mesh::payload;
use zx1_operator::message::type_name;
use zx1_operator::node::wire::{Inbox, Message};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader};
use zx1_protocol::hash::Sha3;
use zx1_protocol::units::Epoch;

/// The file that says up to where the agent has handled its messages.
const ACKNOWLEDGED: &str = "node.ack";

/// A place in the log: what a reader resumes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    epoch: Epoch,
    index: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch.0, self.index)
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = || {
            let (epoch, index) = text.split_once('-')?;
            let place = Self { epoch: Epoch(epoch.parse().ok()?), index: index.parse().ok()? };
            (place.to_string() == text).then_some(place)
        };
        parsed().ok_or_else(|| Error::BadRequest("a message's id has the form 20783-12".to_owned()))
    }
}

impl From<Appended> for Place {
    fn from(Appended { epoch, index, .. }: Appended) -> Self {
        Self { epoch, index }
    }
}

/// Up to `limit` received messages after a place. Blocks.
///
/// # Errors
/// The log's.
pub fn page(reader: &LogReader, after: Option<Place>, limit: usize) -> Result<Inbox> {
    let from = after.map_or(Epoch(0), |after| after.epoch);
    let mut entries = reader.entries(from, Epoch(u64::MAX))?;
    let mut inbox = Inbox { next: after.map(|after| after.to_string()), ..Inbox::default() };
    while inbox.messages.len() < limit {
        let Some(stored) = entries.next_entry()? else { break };
        let place = Place { epoch: stored.epoch, index: stored.index };
        if stored.direction != Direction::Received || after.is_some_and(|after| place <= after) {
            continue;
        }
        inbox.messages.push(of_entry(reader, &stored)?);
        inbox.next = Some(place.to_string());
    }
    Ok(inbox)
}

/// Whether the log has an entry at this place. Blocks.
///
/// # Errors
/// The log's.
pub fn has(reader: &LogReader, place: Place) -> Result<bool> {
    let epochs = reader.epochs()?;
    Ok(epochs.iter().any(|epoch| epoch.epoch == place.epoch && place.index < epoch.entries))
}

fn of_entry(reader: &LogReader, stored: &StoredEntry<'_>) -> Result<Message> {
    let entry = stored.entry().map_err(zx1_log::LogError::from)?;
    let header = &entry.header;
    let kept = if entry.payload.is_empty() && header.payload_len > 0 {
        // A payload that was pruned is not shown; the message is.
        reader.payload(header.payload_hash).unwrap_or_default()
    } else {
        Some(entry.payload.to_vec())
    };
    let place = Place { epoch: stored.epoch, index: stored.index };
    Ok(shown(header, kept.as_deref(), place, stored.arrival_micros))
}

/// A message that was just taken into the log.
pub fn of_envelope(envelope: &Envelope<'_>, place: Appended, arrival_micros: u64) -> Message {
    shown(&envelope.header, Some(envelope.payload), place.into(), arrival_micros)
}

fn shown(header: &EnvelopeHeader<'_>, payload: Option<&[u8]>, place: Place, arrival_micros: u64) -> Message {
    let taken_apart = payload.map(|payload| payload::show(header.msg_type, payload));
    Message {
        id: place.to_string(),
        message: hex::encode(header.message32::<Sha3>()),
        r#type: type_name(header.msg_type),
        sender: header.sender().to_string(),
        conversation: header.conversation().to_string(),
        timestamp_micros: header.timestamp,
        arrival_micros,
        block_ref: header.block_ref.0,
        nonce: header.nonce,
        payload_hash: hex::encode(header.payload_hash),
        payload_len: header.payload_len,
        payload: taken_apart.and_then(|payload| serde_json::to_value(payload).ok()),
    }
}

/// Up to where the agent has handled its messages, on disk.
#[derive(Debug)]
pub struct Acknowledged {
    path: PathBuf,
}

impl Acknowledged {
    /// In this folder.
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join(ACKNOWLEDGED) }
    }

    /// The place; `None` before the first acknowledgement. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn get(&self) -> Result<Option<Place>> {
        let failed = |why: String| Error::File { action: "read", path: self.path.clone(), why };
        let Some(bytes) = files::read_if_there(&self.path).map_err(|error| failed(error.to_string()))? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
        text.trim().parse().map(Some).map_err(|_| failed("it holds no place in a log".to_owned()))
    }

    /// Everything up to here was handled; an earlier place than before changes nothing. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn set(&self, place: Place) -> Result<Place> {
        let before = self.get()?;
        if let Some(before) = before.filter(|before| *before >= place) {
            return Ok(before);
        }
        let failed = |error: std::io::Error| Error::File {
            action: "written",
            path: self.path.clone(),
            why: error.to_string(),
        };
        files::replace(&self.path, format!("{place}\n").as_bytes()).map_err(failed)?;
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_epoch_and_index_and_nothing_else() {
        let place: Place = "20783-12".parse().unwrap();
        assert_eq!(place, Place { epoch: Epoch(20_783), index: 12 });
        for text in ["", "-", "1", "1-", "-1", "01-1", "1-01", "+1-1", "1-4294967296", "1-1 ", "a-b"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_acknowledgement_never_goes_back_and_survives() {
        let folder = tempfile::tempdir().unwrap();
        let acknowledged = Acknowledged::new(folder.path());
        assert_eq!(acknowledged.get().unwrap(), None);
        let (early, late) = ("5-9".parse().unwrap(), "6-0".parse().unwrap());
        assert_eq!(acknowledged.set(late).unwrap(), late);
        assert_eq!(acknowledged.set(early).unwrap(), late);
        assert_eq!(Acknowledged::new(folder.path()).get().unwrap(), Some(late));
        std::fs::write(folder.path().join(ACKNOWLEDGED), "x").unwrap();
        assert!(matches!(acknowledged.get(), Err(Error::File { action: "read", .. })));
    }
}
