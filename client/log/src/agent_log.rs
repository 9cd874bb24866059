//! The log of one agent, open for writing.

mod admit;
mod stage;

pub(crate) use admit::{Incoming, NonceRule};

use crate::attestations::Attestations;
use crate::batches::{SavedBatch, SavedBatches};
use crate::disk;
use crate::error::{LogError, Result};
use crate::frames::{FrameFile, Torn, has_open_tail, peek};
use crate::index::{EpochIndex, Facts};
use crate::layout::{self, log_epochs, log_file, log_identity};
use crate::nonces::Nonces;
use crate::payloads::Payloads;
use crate::reader::LogReader;
use crate::record::StoredEntry;
use stage::Group;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_interface::constants::MAX_BATCH_AGE_EPOCHS;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{Built, Direction};
use zx1_protocol::bundle::Bundle;
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::Envelope;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::units::{Epoch, Slot};

/// Places in a batch's log that received messages leave free, so that a flood of them cannot keep the agent
/// from logging what it sends.
pub const RESERVED_FOR_SENT: u32 = 1 << 16;

/// An agent's folder with its lock: the only writer, for whoever wants it alone. What runs beside other
/// programs of the agent uses [`crate::LogHandle`]. See the crate's documentation.
#[derive(Debug)]
pub struct AgentLog {
    dir: PathBuf,
    agent: AgentId,
    live: BTreeMap<Epoch, Live>,
    /// Entries of every epoch that has a file and no signed batch.
    open_counts: BTreeMap<Epoch, u32>,
    sealed_through: Option<Epoch>,
    payloads: Payloads,
    nonces: Nonces,
    attestations: Attestations,
    recovery: Recovery,
    // Dropped last: the other files are closed before another process may open them.
    _lock: zx1_home::Lock,
}

/// An epoch whose entries are remembered.
#[derive(Debug)]
struct Live {
    file: FrameFile,
    index: EpochIndex,
}

/// What opening found and put right. Nothing in it had been acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Unfinished writes that were cut off.
    pub torn: Vec<Torn>,
}

impl Recovery {
    /// Whether the last process ended without an unfinished write.
    pub fn is_clean(&self) -> bool {
        self.torn.is_empty()
    }
}

/// A message to be logged.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// The envelope that was logged.
    pub envelope: Envelope<'a>,
    /// Whether this agent sends it or received it.
    pub direction: Direction,
    /// When it arrived, or is sent: unix microseconds. On local clusters, chain time (decision C6).
    pub arrival_micros: u64,
}

/// Where a message is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The epoch that it belongs to.
    pub epoch: Epoch,
    /// Its place in the epoch, from 0.
    pub index: u32,
    /// Its leaf in the log's tree.
    pub leaf: Hash,
    /// False when it was in the log already, and nothing was written.
    pub new: bool,
}

impl AgentLog {
    /// Opens the agent's folder for writing; makes it if there is none. Reads the open epochs, cuts off
    /// what a crash left half-written ([`Self::recovery`]) and refuses what is damaged.
    pub fn open(dir: impl AsRef<Path>, agent: AgentId) -> Result<Self> {
        Self::open_wait(dir, agent, Duration::ZERO)
    }

    /// The same, but waits up to `limit` while another process has the folder.
    pub fn open_wait(dir: impl AsRef<Path>, agent: AgentId, limit: Duration) -> Result<Self> {
        let dir = dir.as_ref().to_owned();
        disk::create_dir(&dir)?;
        let lock = disk::lock(&dir, limit)?;
        Self::open_locked(dir, agent, lock)
    }

    /// Opens the folder whose lock this process has.
    pub(crate) fn open_locked(dir: PathBuf, agent: AgentId, lock: zx1_home::Lock) -> Result<Self> {
        for folder in [layout::LOG_DIR, layout::PAYLOAD_DIR, layout::BATCH_DIR] {
            disk::create_dir(&dir.join(folder))?;
        }
        // Unfinished payloads are in the agent's folder: theirs may have a million files.
        for folder in [&dir, &dir.join(layout::LOG_DIR), &dir.join(layout::BATCH_DIR)] {
            disk::remove_unfinished(folder)?;
        }
        let (nonces, torn_nonces) = Nonces::open(&dir.join(layout::NONCES), layout::nonces_identity(&agent))?;
        let attestations_path = dir.join(layout::ATTESTATIONS);
        let (attestations, torn_attestations) =
            Attestations::open(&attestations_path, &layout::attestations_identity(&agent))?;
        let torn = torn_nonces.into_iter().chain(torn_attestations).collect();
        let sealed_through = SavedBatches::new(&dir, agent).last_epoch()?;
        let payloads = Payloads::new(&dir);
        let mut log = Self {
            dir,
            agent,
            live: BTreeMap::new(),
            open_counts: BTreeMap::new(),
            sealed_through,
            payloads,
            nonces,
            attestations,
            recovery: Recovery { torn },
            _lock: lock,
        };
        log.load_open_epochs()?;
        Ok(log)
    }

    /// The agent whose log it is.
    pub fn agent(&self) -> AgentId {
        self.agent
    }

    /// The agent's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What opening put right.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The last epoch that a signed batch covers. Epochs up to it take no more entries.
    pub fn sealed_through(&self) -> Option<Epoch> {
        self.sealed_through
    }

    /// A reader of this folder.
    pub fn reader(&self) -> LogReader {
        LogReader::new(self.dir.clone(), self.agent)
    }

    /// The batches that were signed.
    pub fn batches(&self) -> SavedBatches {
        SavedBatches::new(&self.dir, self.agent)
    }

    /// Adds messages of this agent, in this order, with one sync for all (one for each epoch, if they are of
    /// several): first the payloads, then the entries. All are on disk when it returns, so a message may be
    /// sent after this and not before. A message that the log has is not added again.
    ///
    /// Refuses a second PROPOSE, COUNTER or ACCEPT with equal conversation, recipient and block_ref
    /// (decision C6), a payload that no challenge could rest on (decision B11), a closed epoch, and messages
    /// of others. If one is refused, none is added. After an error of the disk some of them may have been
    /// added; adding them again is safe.
    pub fn append_own(&mut self, messages: &[Envelope<'_>], now_micros: u64) -> Result<Vec<Appended>> {
        let (direction, arrival_micros) = (Direction::Sent, now_micros);
        let messages: Vec<Append<'_>> = messages
            .iter()
            .map(|envelope| Append { envelope: *envelope, direction, arrival_micros })
            .collect();
        self.add_all(&messages)
    }

    /// [`Self::append_own`], and of received messages without a look at signature, time and nonce: what tests
    /// and benchmarks fill a log with. Everything else goes through [`crate::Inbox`].
    #[cfg(feature = "unchecked")]
    pub fn append_all(&mut self, messages: &[Append<'_>]) -> Result<Vec<Appended>> {
        self.add_all(messages)
    }

    /// One message: see [`Self::append_all`].
    #[cfg(feature = "unchecked")]
    pub fn append(
        &mut self,
        envelope: &Envelope<'_>,
        direction: Direction,
        arrival_micros: u64,
    ) -> Result<Appended> {
        let added = self.add_all(&[Append { envelope: *envelope, direction, arrival_micros }])?;
        // One in, one out.
        added.first().copied().ok_or(LogError::LogChanged)
    }

    /// Whether [`Self::append_own`] would take the message: ask before it is signed and sent. The signature
    /// is part of the leaf but of no rule, so any 64 bytes do.
    pub fn check_own(&mut self, envelope: &Envelope<'_>, now_micros: u64) -> Result<()> {
        let message = Append { envelope: *envelope, direction: Direction::Sent, arrival_micros: now_micros };
        self.stage(&message, &mut Group::default()).map(|_| ())
    }

    /// A nonce for the next message on this channel: above all that were given out before, also by a run
    /// that crashed (decision C4). On disk before it is returned.
    pub fn reserve_nonce(&mut self, channel: Channel, now_micros: u64) -> Result<u64> {
        self.nonces.reserve(channel, now_micros)
    }

    /// The nonces that were accepted from this sender on this channel, for
    /// [`zx1_protocol::validate::Sender`].
    pub fn seen_nonces(&self, sender: &AgentId, channel: Channel) -> SeenNonces {
        self.nonces.seen(sender, channel)
    }

    /// Where the entry with this leaf is, if it is in the epoch or in one beside it.
    pub(crate) fn find_near(&mut self, epoch: Epoch, leaf: &Hash) -> Result<Option<Appended>> {
        for epoch in [epoch.0.saturating_sub(1), epoch.0, epoch.0.saturating_add(1)] {
            self.load(Epoch(epoch))?;
        }
        Ok(self.find(leaf))
    }

    fn find(&self, leaf: &Hash) -> Option<Appended> {
        let found = self.live.iter().find_map(|(epoch, live)| Some((*epoch, live.index.find(leaf)?)));
        found.map(|(epoch, index)| Appended { epoch, index, leaf: *leaf, new: false })
    }

    /// The payload of this hash, compared with it; `None` when it is not in the store.
    pub fn payload(&self, hash: &Hash) -> Result<Option<Vec<u8>>> {
        self.payloads.get(hash)
    }

    /// Stores a payload by itself, for example one that was lost and came back. Returns its hash.
    pub fn put_payload(&mut self, payload: &[u8]) -> Result<Hash> {
        let hash = Sha3::hashv(&[payload]);
        self.payloads.put_all([(&hash, payload)])?;
        Ok(hash)
    }

    /// Keeps the hash of the SATI attestation of this rater's rating in this conversation (decision D5).
    /// It goes into the batch that is built after this.
    pub fn put_attestation(
        &mut self,
        conversation: &ConversationId,
        rater: &AgentId,
        hash: Hash,
    ) -> Result<()> {
        self.attestations.put(conversation, rater, hash)
    }

    /// The hash that [`Self::put_attestation`] kept.
    pub fn attestation(&self, conversation: &ConversationId, rater: &AgentId) -> Option<Hash> {
        self.attestations.get(conversation, rater)
    }

    /// The batch of these epochs: see [`LogReader::build`].
    pub fn build(&self, covered: Covered, slot_start: Slot, slot_end: Slot) -> Result<Built> {
        self.reader().build(covered, slot_start, slot_end)
    }

    /// Saves a signed batch and closes the epochs up to its own. Call it **before** the batch is
    /// published: then a crash leaves nothing on chain whose data is lost, and no second batch of the
    /// epoch. The same batch again is fine, and brings back data that was pruned.
    ///
    /// Refuses a bundle that does not hold together, one that is not of the log as it is now, and another
    /// batch for a closed epoch. The signature is the caller's to check.
    pub fn seal(
        &mut self,
        bundle: &Bundle<'_>,
        covered: Covered,
        signer: WalletKey,
        signature: [u8; 64],
    ) -> Result<()> {
        let checked = bundle.check()?;
        let commitment = *checked.commitment();
        if commitment.agent != self.agent || commitment.epoch != covered.to || covered.from > covered.to {
            return Err(LogError::WrongBundle);
        }
        let batches = self.batches();
        if let Some(saved) = batches.get(covered.to)? {
            if saved.batch_hash != commitment.batch_hash || saved.covered != covered {
                return Err(LogError::SealedDifferently(covered.to));
            }
            return if saved.has_data { Ok(()) } else { batches.save_data(covered.to, &checked) };
        }
        if self.sealed_through.is_some_and(|sealed| covered.from <= sealed) {
            return Err(LogError::EpochSealed(covered.from));
        }
        let reader = self.reader();
        let same = reader.len(covered.from, covered.to)? == commitment.log_len
            && reader.root(covered.from, covered.to)? == commitment.log_merkle_root;
        if !same {
            return Err(LogError::LogChanged);
        }
        self.nonces.sync()?;
        let batch_hash = commitment.batch_hash;
        let saved = SavedBatch { covered, batch_hash, signer, signature, has_data: true };
        batches.save(&saved, &checked)?;
        self.sealed_through = Some(covered.to);
        // The newest closed epoch stays in memory: a message may come twice around midnight.
        self.live = self.live.split_off(&covered.to);
        self.open_counts.retain(|epoch, _| *epoch > covered.to);
        Ok(())
    }

    fn is_sealed(&self, epoch: Epoch) -> bool {
        self.sealed_through.is_some_and(|sealed| epoch <= sealed)
    }

    /// Reads what the rules need: all epochs that the next batch covers, the newest closed one, and of an
    /// agent that has never signed a batch only the newest ones. Of the others, tails are checked.
    fn load_open_epochs(&mut self) -> Result<()> {
        let epochs = log_epochs(&self.dir)?;
        let closed = epochs.iter().rev().find(|epoch| self.is_sealed(**epoch)).copied();
        let open: Vec<Epoch> = epochs.into_iter().filter(|epoch| !self.is_sealed(*epoch)).collect();
        let first_new = open.len().saturating_sub(newest_epochs());
        for (place, epoch) in open.into_iter().enumerate() {
            let (path, identity) = (log_file(&self.dir, epoch), log_identity(&self.agent, epoch));
            if self.sealed_through.is_some() || place >= first_new || has_open_tail(&path, &identity)? {
                self.load(epoch)?;
            } else {
                self.open_counts.insert(epoch, peek(&path, &identity)?.count);
            }
        }
        closed.map_or(Ok(()), |epoch| self.load(epoch))
    }

    /// Reads an epoch that is not in memory, if it has a file.
    fn load(&mut self, epoch: Epoch) -> Result<()> {
        let path = log_file(&self.dir, epoch);
        if self.live.contains_key(&epoch) || !path.exists() {
            return Ok(());
        }
        let (mut index, mut next) = (EpochIndex::default(), 0u32);
        let (nonces, agent) = (&mut self.nonces, self.agent);
        let (file, torn) = FrameFile::open(&path, &log_identity(&self.agent, epoch), |_, bytes| {
            let (stored, entry) = StoredEntry::decode_entry(bytes, epoch, next, &path)?;
            let header = &entry.header;
            let channel = channel_of(header.msg_type);
            match stored.direction {
                Direction::Sent => nonces.restore_own(channel, header.nonce),
                Direction::Received => nonces.restore(&header.sender(), channel, header.nonce),
            }
            index.add(next, &Facts::of(&agent, stored.direction, &entry, stored.leaf()));
            next = next.saturating_add(1);
            Ok(())
        })?;
        self.recovery.torn.extend(torn);
        if !self.is_sealed(epoch) {
            self.open_counts.insert(epoch, file.count());
        }
        self.live.insert(epoch, Live { file, index });
        Ok(())
    }
}

/// The epochs that a batch can still be for (decision B7), and the current one.
fn newest_epochs() -> usize {
    usize::try_from(MAX_BATCH_AGE_EPOCHS).unwrap_or_default() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_interface::constants::MAX_TREE_LEN;
    use zx1_protocol::envelope::{EnvelopeHeader, MsgType, PROTOCOL_VERSION};

    const AGENT: AgentId = AgentId([1; 32]);
    const PEER: AgentId = AgentId([2; 32]);

    /// Adds a message without a payload to epoch 0, or says why not.
    fn add(log: &mut AgentLog, direction: Direction, nonce: u64) -> Result<Appended> {
        let (sender, recipient) =
            if direction == Direction::Sent { (&AGENT, &PEER) } else { (&PEER, &AGENT) };
        let header = EnvelopeHeader {
            version: PROTOCOL_VERSION,
            msg_type: MsgType::Reject,
            sender: sender.as_bytes(),
            recipient: recipient.as_bytes(),
            timestamp: nonce,
            block_ref: Slot(1),
            nonce,
            conversation_id: &[3; 16],
            payload_hash: &Sha3::hashv(&[]),
            payload_len: 0,
        };
        let envelope = Envelope { header, payload: &[], signature: &[0; 64] };
        let added = log.add_all(&[Append { envelope, direction, arrival_micros: nonce }])?;
        Ok(added[0])
    }

    #[test]
    fn received_messages_leave_room_for_sent_ones() {
        let temp = tempfile::tempdir().unwrap();
        let mut log = AgentLog::open(temp.path(), AGENT).unwrap();
        let most_received = MAX_TREE_LEN - RESERVED_FOR_SENT;
        // As if the epoch had so many already; each append sets it right again.
        log.open_counts.insert(Epoch(0), most_received - 1);
        add(&mut log, Direction::Received, 1).unwrap();
        log.open_counts.insert(Epoch(0), most_received);
        assert_eq!(add(&mut log, Direction::Received, 2).unwrap_err().code(), 7226);
        add(&mut log, Direction::Sent, 3).unwrap();
        log.open_counts.insert(Epoch(0), MAX_TREE_LEN);
        assert_eq!(add(&mut log, Direction::Sent, 4).unwrap_err().code(), 7226);
    }

    #[test]
    fn after_the_first_batch_all_open_epochs_share_the_room() {
        let temp = tempfile::tempdir().unwrap();
        let mut log = AgentLog::open(temp.path(), AGENT).unwrap();
        log.open_counts.insert(Epoch(7), MAX_TREE_LEN);
        add(&mut log, Direction::Sent, 1).unwrap();
        let epochs = 2 * 86_400_000_000;
        log.sealed_through = Some(Epoch(1));
        assert_eq!(add(&mut log, Direction::Sent, epochs).unwrap_err().code(), 7226);
        log.open_counts.clear();
        add(&mut log, Direction::Sent, epochs).unwrap();
    }
}
