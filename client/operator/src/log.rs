//! The agent's log, from which its batches are made: messages taken in, listed and proven (protocol.md, 8.1).

use crate::error::{Error, Result};
use crate::message::type_name;
use crate::operator::{Agent, Operator};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use zx1_chain::rpc::Client;
use zx1_log::{Admitted, LogError, LogHandle, LogReader, Origin, SavedBatch, StoredEntry};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::{BROADCAST, Envelope, EnvelopeHeader};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::AgentKey;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::Proof;
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::validate::Candidate;

/// Epochs from the first through the second.
pub type Range = (Epoch, Epoch);

/// A message in the log.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Added {
    #[serde(rename = "type")]
    pub kind: String,
    /// "sent" or "received".
    pub direction: &'static str,
    pub epoch: u64,
    pub index: u32,
    pub leaf: String,
    /// Whether it was not in the log before.
    pub new: bool,
}

/// Takes messages into an agent's log, by the rules of a receiver.
pub struct Inbox {
    log: LogHandle,
    client: Client,
    keys: HashMap<AgentId, Vec<AgentKey>>,
    arrival: u64,
    /// The slot of the arrival, while it is known.
    slot: Option<Slot>,
}

impl Operator {
    /// Opens the agent's log for messages that arrived then, in unix microseconds; by default now.
    ///
    /// # Errors
    /// The cluster's and the log's.
    pub async fn inbox(&self, agent: &Agent, arrival: Option<u64>) -> Result<Inbox> {
        let (arrival, slot) = match arrival {
            Some(micros) => (micros, None),
            None => {
                let now = self.now().await?;
                (now.micros, Some(now.slot))
            }
        };
        let (log, client) = (self.open_log(agent)?, self.client().clone());
        Ok(Inbox { log, client, keys: HashMap::new(), arrival, slot })
    }
}

impl Inbox {
    /// Checks a message, and logs it if it concerns the agent.
    ///
    /// # Errors
    /// [`LogError::Rule`] when a rule is broken, [`LogError::NotOurs`] when the message concerns others.
    pub async fn add(&mut self, bytes: &[u8]) -> Result<Added> {
        let candidate = Candidate::parse(bytes).map_err(LogError::Rule)?;
        let sender = candidate.sender();
        if let Entry::Vacant(unknown) = self.keys.entry(sender) {
            unknown.insert(self.client.receiving_keys(sender).await?);
        }
        let admitted =
            self.log.inbox().admit(bytes, &self.keys, self.arrival, Origin::File { slot: self.slot })?;
        let Admitted { direction, logged } = admitted;
        // What concerns others keeps all rules, and is for a person to hear that it was left out.
        let place = logged.ok_or(LogError::NotOurs)?;
        Ok(Added {
            kind: type_name(candidate.msg_type()),
            direction: direction_name(direction),
            epoch: place.epoch.0,
            index: place.index,
            leaf: hex::encode(place.leaf),
            new: place.new,
        })
    }
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Sent => "sent",
        Direction::Received => "received",
    }
}

/// Entries of some epochs, and the epochs that have any.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Listed {
    pub agent: String,
    pub from: u64,
    pub through: u64,
    /// Number of entries of these epochs.
    pub total: u32,
    /// The last ones of them.
    pub entries: Vec<ListedEntry>,
    pub epochs: Vec<ListedEpoch>,
}

/// An epoch with entries.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ListedEpoch {
    pub epoch: u64,
    pub entries: u32,
    pub bytes: u64,
    /// Whether a signed batch covers it.
    pub sealed: bool,
}

/// An entry of the log.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ListedEntry {
    pub epoch: u64,
    pub index: u32,
    /// "sent" or "received".
    pub direction: &'static str,
    #[serde(rename = "type")]
    pub kind: String,
    /// An agent, or "everybody".
    pub counterparty: String,
    pub conversation: String,
    pub slot: u64,
    pub timestamp: u64,
    pub leaf: String,
}

/// The last `limit` entries of these epochs.
///
/// # Errors
/// The log's.
pub fn list(reader: &LogReader, agent: &Agent, (from, to): Range, limit: usize) -> Result<Listed> {
    let sealed = reader.batches().list()?.iter().map(SavedBatch::epoch).max();
    let listed = |summary: zx1_log::EpochSummary| ListedEpoch {
        epoch: summary.epoch.0,
        entries: summary.entries,
        bytes: summary.bytes,
        sealed: sealed.is_some_and(|sealed| summary.epoch <= sealed),
    };
    let epochs = reader.epochs()?.into_iter().map(listed).collect();
    let total = reader.len(from, to)?;
    let skip = total.saturating_sub(u32::try_from(limit).unwrap_or(u32::MAX));
    let entries = entries(reader, (from, to), skip)?;
    Ok(Listed { agent: agent.mint.to_string(), from: from.0, through: to.0, total, entries, epochs })
}

fn entries(reader: &LogReader, (from, to): Range, skip: u32) -> Result<Vec<ListedEntry>> {
    let mut found = Vec::new();
    let mut entries = reader.entries(from, to)?;
    let mut position = 0u32;
    while let Some(stored) = entries.next_entry()? {
        position = position.saturating_add(1);
        if position <= skip {
            continue;
        }
        found.push(listed_entry(&stored, &stored.entry().map_err(LogError::from)?.header));
    }
    Ok(found)
}

fn listed_entry(stored: &StoredEntry<'_>, header: &EnvelopeHeader<'_>) -> ListedEntry {
    let sent = stored.direction == Direction::Sent;
    let other = if sent { header.recipient() } else { header.sender() };
    let counterparty = if other == BROADCAST { "everybody".to_owned() } else { other.to_string() };
    ListedEntry {
        epoch: stored.epoch.0,
        index: stored.index,
        direction: direction_name(stored.direction),
        kind: type_name(header.msg_type),
        counterparty,
        conversation: hex::encode(header.conversation_id),
        slot: header.block_ref.0,
        timestamp: header.timestamp,
        leaf: hex::encode(stored.leaf()),
    }
}

/// A logged message as it was signed.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Exported {
    #[serde(flatten)]
    pub entry: ListedEntry,
    /// The envelope's bytes.
    #[serde(skip)]
    pub envelope: Vec<u8>,
}

/// The message whose entry has this index among those of these epochs; `None` when there are not as many.
///
/// # Errors
/// The log's; 7228 when the payload is not kept.
pub fn export(reader: &LogReader, (from, to): Range, index: u32) -> Result<Option<Exported>> {
    let mut entries = reader.entries(from, to)?;
    let mut position = 0u32;
    while let Some(stored) = entries.next_entry()? {
        if position < index {
            position = position.saturating_add(1);
            continue;
        }
        let LogEntry { header, signature, payload } = stored.entry().map_err(LogError::from)?;
        let kept =
            if header.msg_type.payload_is_logged() { None } else { reader.payload(header.payload_hash)? };
        let envelope = Envelope { header, payload: kept.as_deref().unwrap_or(payload), signature };
        if envelope.check_payload::<Sha3>().is_err() {
            return Err(LogError::PayloadMissing { hash: hex::encode(header.payload_hash) }.into());
        }
        let envelope = envelope.to_cbor();
        return Ok(Some(Exported { entry: listed_entry(&stored, &header), envelope }));
    }
    Ok(None)
}

/// A proof that an entry is under a root, as a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProofFile {
    /// The root in hex.
    pub root: String,
    /// Number of entries.
    pub len: u32,
    /// Index of the leaf in the padded tree.
    pub index: u32,
    /// The same without the padding, for people.
    #[serde(default)]
    pub entry_index: Option<u64>,
    /// The leaf's hash in hex.
    pub leaf: String,
    /// Hashes from the leaf up, in hex.
    pub path: Vec<String>,
}

impl ProofFile {
    /// Writes a proof down.
    pub fn new(root: &Hash, len: u32, leaf: &Hash, entry_index: u64, proof: &Proof) -> Self {
        Self {
            root: hex::encode(root),
            len,
            index: proof.index,
            entry_index: Some(entry_index),
            leaf: hex::encode(leaf),
            path: proof.path.iter().map(hex::encode).collect(),
        }
    }
}

/// The proof that the entry with this index is under the root of these epochs; `None` when there are not as many.
///
/// # Errors
/// The log's.
pub fn prove(reader: &LogReader, (from, to): Range, index: u32) -> Result<Option<ProofFile>> {
    let Some(proof) = reader.proof(from, to, index)? else { return Ok(None) };
    let leaves = reader.leaves(from, to)?;
    let Some(leaf) = usize::try_from(index).ok().and_then(|index| leaves.get(index)) else { return Ok(None) };
    let (root, len) = (reader.root(from, to)?, reader.len(from, to)?);
    Ok(Some(ProofFile::new(&root, len, leaf, index.into(), &proof)))
}

impl Error {
    /// The rule of a receiver that a message breaks.
    pub fn broken_rule(&self) -> Option<&zx1_protocol::validate::Reason> {
        match self {
            Self::Log(LogError::Rule(reason)) => Some(reason),
            _ => None,
        }
    }
}
