//! Reading the log: without the lock, one entry at a time.

use crate::attestations;
use crate::batches::SavedBatches;
use crate::error::{LogError, Result};
use crate::frames::{FrameReader, Watermark, peek};
use crate::layout::{self, log_epochs, log_file, log_identity};
use crate::payloads::Payloads;
use crate::record::StoredEntry;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{Builder, Built, Direction};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::merkle::{Proof, StreamingRoot, Tree, TreeError};
use zx1_protocol::payload::Feedback;
use zx1_protocol::units::{Epoch, Slot};

/// Reads an agent's folder, also while another process writes to it. It sees what has been synced.
#[derive(Clone, Debug)]
pub struct LogReader {
    dir: PathBuf,
    agent: AgentId,
    payloads: Payloads,
}

/// One epoch's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochSummary {
    /// Epoch of the entry.
    pub epoch: Epoch,
    /// How many entries it has.
    pub entries: u32,
    /// The file's length in bytes.
    pub bytes: u64,
}

/// An entry that [`LogReader::find`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The epoch that it belongs to.
    pub epoch: Epoch,
    /// Its place in the epoch, from 0.
    pub index: u32,
    /// Its place in the range that was searched, from 0: what [`LogReader::proof`] takes.
    pub position: u32,
    /// Sent or received.
    pub direction: Direction,
    /// When it was added, unix microseconds.
    pub arrival_micros: u64,
    /// Its canonical CBOR.
    pub encoded: Vec<u8>,
}

impl LogReader {
    /// A reader of the folder; nothing is opened yet. A folder that does not exist is an empty log.
    pub fn new(dir: impl Into<PathBuf>, agent: AgentId) -> Self {
        let dir = dir.into();
        let payloads = Payloads::new(&dir);
        Self { dir, agent, payloads }
    }

    /// The agent whose log it is.
    pub fn agent(&self) -> AgentId {
        self.agent
    }

    /// The agent's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The epochs that have entries, ascending. Reads only the files' headers.
    pub fn epochs(&self) -> Result<Vec<EpochSummary>> {
        let summary = |epoch| {
            let mark = peek(&log_file(&self.dir, epoch), &log_identity(&self.agent, epoch))?;
            Ok(EpochSummary { epoch, entries: mark.count, bytes: mark.len })
        };
        log_epochs(&self.dir)?.into_iter().map(summary).collect()
    }

    /// The entries of the epochs from `from` to `to`, both included, in the log's order, which is that of
    /// the leaves.
    pub fn entries(&self, from: Epoch, to: Epoch) -> Result<Entries> {
        Entries::new(self, from, to)
    }

    /// How many entries the range has. Reads only headers.
    pub fn len(&self, from: Epoch, to: Epoch) -> Result<u32> {
        Ok(self.entries(from, to)?.count()?)
    }

    /// The Merkle root of the range (decision C5), in constant memory.
    pub fn root(&self, from: Epoch, to: Epoch) -> Result<Hash> {
        let mut entries = self.entries(from, to)?;
        let mut root = StreamingRoot::<Sha3>::new(entries.count()?);
        while let Some(entry) = entries.next_entry()? {
            root.push(entry.leaf())?;
        }
        Ok(root.finish()?)
    }

    /// The leaves of the range in the log's order: 32 bytes of memory each.
    pub fn leaves(&self, from: Epoch, to: Epoch) -> Result<Vec<Hash>> {
        let mut entries = self.entries(from, to)?;
        let mut leaves = Vec::with_capacity(usize::try_from(entries.count()?).unwrap_or_default());
        while let Some(entry) = entries.next_entry()? {
            leaves.push(entry.leaf());
        }
        Ok(leaves)
    }

    /// The proof of the `position`-th entry of the range, counted from 0 without the padding; `None` when
    /// there are not so many.
    pub fn proof(&self, from: Epoch, to: Epoch, position: u32) -> Result<Option<Proof>> {
        Ok(Tree::<Sha3>::new(self.leaves(from, to)?)?.proof_of_entry(position))
    }

    /// The first entry of the range with this leaf.
    pub fn find(&self, from: Epoch, to: Epoch, leaf: &Hash) -> Result<Option<Found>> {
        let mut entries = self.entries(from, to)?;
        let mut position = 0;
        while let Some(entry) = entries.next_entry()? {
            if entry.leaf() == *leaf {
                let StoredEntry { epoch, index, direction, arrival_micros, encoded } = entry;
                let encoded = encoded.to_vec();
                return Ok(Some(Found { epoch, index, position, direction, arrival_micros, encoded }));
            }
            position += 1;
        }
        Ok(None)
    }

    /// The payload of this hash, compared with it; `None` when it is not in the store.
    pub fn payload(&self, hash: &Hash) -> Result<Option<Vec<u8>>> {
        self.payloads.get(hash)
    }

    /// The attestation's hash of this rater's rating in this conversation.
    pub fn attestation(&self, conversation: &ConversationId, rater: &AgentId) -> Result<Option<Hash>> {
        let path = self.dir.join(layout::ATTESTATIONS);
        let known = attestations::read(&path, &layout::attestations_identity(&self.agent))?;
        Ok(known.get(&(*conversation, *rater)).copied())
    }

    /// The batch of the covered epochs (decision C6), streamed from the log with its payloads and
    /// attestations. The slots are those at the epoch's start and end.
    pub fn build(&self, covered: Covered, slot_start: Slot, slot_end: Slot) -> Result<Built> {
        let path = self.dir.join(layout::ATTESTATIONS);
        let attestations = attestations::read(&path, &layout::attestations_identity(&self.agent))?;
        let mut builder = Builder::new(self.agent, covered, slot_start, slot_end)?;
        let mut entries = self.entries(covered.from, covered.to)?;
        while let Some(stored) = entries.next_entry()? {
            let entry = stored.entry()?;
            let header = &entry.header;
            let own_bid = stored.direction == Direction::Sent && header.msg_type.has_bid_value();
            let payload = if own_bid {
                let missing = || LogError::PayloadMissing { hash: hex::encode(header.payload_hash) };
                Some(self.payload(header.payload_hash)?.ok_or_else(missing)?)
            } else {
                None
            };
            let rating = (header.msg_type == MsgType::Feedback && stored.direction == Direction::Received)
                .then(|| Feedback::decode(entry.payload).ok())
                .flatten()
                .filter(|rating| rating.target_agent == self.agent);
            let attestation = rating
                .and_then(|rating| attestations.get(&(rating.conversation_id, header.sender())).copied());
            builder.push_encoded(stored.direction, stored.encoded, payload.as_deref(), attestation)?;
        }
        Ok(builder.finish()?)
    }

    /// The batches that were signed.
    pub fn batches(&self) -> SavedBatches {
        SavedBatches::new(&self.dir, self.agent)
    }
}

/// Entries one after the other. Only one is in memory at a time, so it is not an `Iterator`. It ends where
/// the log ended when it was made, whatever is added meanwhile.
pub struct Entries {
    agent: AgentId,
    /// The files that come, and how much of each.
    files: VecDeque<(Epoch, PathBuf, Watermark)>,
    current: Option<(Epoch, PathBuf, FrameReader)>,
    index: u32,
}

impl Entries {
    fn new(reader: &LogReader, from: Epoch, to: Epoch) -> Result<Self> {
        let mut files = VecDeque::new();
        for epoch in log_epochs(&reader.dir)? {
            if from <= epoch && epoch <= to {
                let path = log_file(&reader.dir, epoch);
                let mark = peek(&path, &log_identity(&reader.agent, epoch))?;
                files.push_back((epoch, path, mark));
            }
        }
        Ok(Self { agent: reader.agent, files, current: None, index: 0 })
    }

    /// How many entries come, if none has been read yet.
    fn count(&self) -> Result<u32, TreeError> {
        let counts = self.files.iter().map(|(_, _, mark)| mark.count);
        counts.into_iter().try_fold(0u32, u32::checked_add).ok_or(TreeError::TooManyLeaves)
    }

    /// The next entry; `None` after the last. Anything unreadable is an error, never skipped.
    pub fn next_entry(&mut self) -> Result<Option<StoredEntry<'_>>> {
        while !self.advance()? {
            let Some((epoch, path, mark)) = self.files.pop_front() else { return Ok(None) };
            let frames = FrameReader::open(&path, &log_identity(&self.agent, epoch), mark)?;
            self.current = Some((epoch, path, frames));
            self.index = 0;
        }
        let Some((epoch, path, frames)) = &self.current else { return Ok(None) };
        let index = self.index;
        self.index = index.saturating_add(1);
        StoredEntry::decode(frames.current(), *epoch, index, path).map(Some)
    }

    /// Reads the next record of the current file; false when there is none.
    fn advance(&mut self) -> Result<bool> {
        self.current.as_mut().map_or(Ok(false), |(_, _, frames)| frames.advance())
    }
}
