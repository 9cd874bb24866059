//! The log of one agent, open for writing.

mod admit;
mod stage;

pub(crate) use admit::{Incoming, NonceRule};

use crate::attestations::Attestations;
use crate::batches::{SavedBatch, SavedBatches};
use crate::disk;
use crate::error::{LogError, Result};
use crate::frames::{FrameFile, Torn, has_open_tail, peek, read_one, write_one};
use crate::head::{Decision, Next, Seen, decide};
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
use zx1_interface::constants::MAX_COVERED_EPOCHS;
use zx1_protocol::batch::{BatchMessage, Covered, check_epoch};
use zx1_protocol::behavior_batch::{Built, Commitment, Direction};
use zx1_protocol::bundle::{Bundle, Signed};
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::Envelope;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::units::{Epoch, Slot};

/// Epochs whose entries are in memory: a batch covers no more.
const LIVE_EPOCHS: usize = MAX_COVERED_EPOCHS as usize;

/// An agent's folder with its lock: the only writer, for whoever wants it alone. What runs beside other
/// programs of the agent uses [`crate::LogHandle`]. See the crate's documentation.
#[derive(Debug)]
pub struct AgentLog {
    dir: PathBuf,
    agent: AgentId,
    /// Drawn when the log was made: two logs of one agent differ in it.
    id: LogId,
    live: BTreeMap<Epoch, Live>,
    /// Entries of every epoch with a file from `open_from` on.
    open_counts: BTreeMap<Epoch, u32>,
    sealed_through: Option<Epoch>,
    /// The first epoch that the next batch may cover, as far as it is known here: it is behind the last batch
    /// that is known to have landed.
    open_from: Epoch,
    payloads: Payloads,
    nonces: Nonces,
    attestations: Attestations,
    recovery: Recovery,
    // Dropped last: the other files are closed before another process may open them.
    _lock: zx1_home::Lock,
}

/// What tells two logs of one agent apart.
pub(crate) type LogId = [u8; 16];

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
        let signed = SavedBatches::new(&dir, agent).list()?;
        let id = log_id(&dir, &agent, !signed.is_empty())?;
        if let Some(other) = signed.iter().find(|saved| saved.log_id != id) {
            let path = SavedBatches::new(&dir, agent).signature_path(other.epoch());
            return Err(LogError::OtherLog { path });
        }
        let payloads = Payloads::new(&dir);
        let mut log = Self {
            dir,
            agent,
            id,
            live: BTreeMap::new(),
            open_counts: BTreeMap::new(),
            sealed_through: signed.last().map(SavedBatch::epoch),
            // It was signed on a head behind which everything had landed.
            open_from: signed.last().map_or(Epoch(0), |last| last.covered().from),
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
    /// Refuses a payload that no challenge could rest on (decision B11), one whose entry nobody could show
    /// (decision P4), a closed epoch, and messages of others. If one is refused, none is added. After an error
    /// of the disk some of them may have been added; adding them again is safe.
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

    /// What comes next of this agent's batches, by what nodes show: a signed one again, or a new one. The log
    /// also learns from it what has landed.
    ///
    /// # Errors
    /// [`LogError::ForeignBatch`] when the head was moved by a batch that was not signed here: the log then
    /// takes messages as before, and signs nothing. [`LogError::HeadsDiffer`] when nodes contradict each other
    /// or lie behind.
    pub fn next_batch(&mut self, seen: &Seen) -> Result<Next> {
        let signed: Vec<BatchMessage> = self.batches().list()?.iter().map(|saved| saved.message).collect();
        let adopted = read_one(&self.dir.join(layout::ADOPTED), &layout::adopted_identity(&self.agent))?;
        let Decision { next, landed } = decide(&self.agent, &signed, adopted.as_ref(), seen)?;
        if let Some(landed) = landed {
            self.open_after(Epoch(landed.0.saturating_add(1)));
        }
        Ok(next)
    }

    /// Goes on from a head that was moved elsewhere. Only for a person who knows that no other log of this
    /// agent is in use: deals that the other one has and this one lacks are left out of the next batch, which
    /// can cost the stake (decision B11).
    pub fn adopt(&mut self, digest: &Hash) -> Result<()> {
        write_one(&self.dir.join(layout::ADOPTED), &layout::adopted_identity(&self.agent), digest)
    }

    /// Saves a signed batch and closes the epochs up to its own. Call it **before** the batch is
    /// published: then a crash leaves nothing on chain whose data is lost, and no second message for its head.
    /// The same batch again is fine, and brings back data that was pruned.
    ///
    /// Refuses everything else while [`Self::next_batch`] says to send another one; a message that does not
    /// follow the head, covers other epochs than it must, or could not land; a bundle that does not hold
    /// together or is not of the log as it is now; and another batch for an epoch that has one, also when that
    /// one is void.
    pub fn seal(
        &mut self,
        bundle: &Bundle<'_>,
        message: &BatchMessage,
        signer: WalletKey,
        signature: [u8; 64],
        seen: &Seen,
    ) -> Result<()> {
        let checked = bundle.check()?;
        if checked.commitment().agent != self.agent {
            return Err(LogError::WrongBundle);
        }
        if *checked.commitment() != Commitment::from(message) {
            return Err(LogError::NotThisBatch);
        }
        let bundle = bundle.with_signed(Signed { message: *message, signer, signature })?;
        let (batches, epoch) = (self.batches(), message.epoch);
        if let Some(saved) = batches.get(epoch)? {
            if saved.message != *message {
                return Err(LogError::SealedDifferently(epoch));
            }
            return if saved.has_data { Ok(()) } else { batches.save_data(epoch, &bundle) };
        }
        // So that what was signed later is of a later epoch.
        if self.is_sealed(epoch) {
            return Err(LogError::EpochSealed(epoch));
        }
        let view = match self.next_batch(seen)? {
            Next::Send(unlanded) => return Err(LogError::MayStillLand(unlanded)),
            Next::Sign(view) => view,
        };
        if message.network != seen.network || message.previous_digest != view.digest {
            return Err(LogError::NotThisBatch);
        }
        let covered = check_epoch(epoch, view.current, view.last_epoch, seen.tenure_from)?;
        if covered != message.covered() {
            return Err(LogError::WrongCoverage { covers_from: message.covers_from, must: covered.from });
        }
        let reader = self.reader();
        let same = reader.len(covered.from, covered.to)? == message.log_len
            && reader.root(covered.from, covered.to)? == message.log_merkle_root;
        if !same {
            return Err(LogError::LogChanged);
        }
        self.nonces.sync()?;
        let saved = SavedBatch { message: *message, log_id: self.id, signer, signature, has_data: true };
        batches.save(&saved, &bundle)?;
        self.sealed_through = self.sealed_through.max(Some(epoch));
        self.open_after(covered.from);
        Ok(())
    }

    /// Nothing before this epoch is covered any more.
    fn open_after(&mut self, first: Epoch) {
        self.open_from = self.open_from.max(first);
        self.open_counts = self.open_counts.split_off(&self.open_from);
        // The newest closed epoch stays in memory: a message may come twice around midnight.
        let newest = self.sealed_through.unwrap_or_default().min(self.open_from);
        self.live = self.live.split_off(&newest);
    }

    fn is_sealed(&self, epoch: Epoch) -> bool {
        self.sealed_through.is_some_and(|sealed| epoch <= sealed)
    }

    /// Reads what the rules need: the epochs that one batch can cover, and the newest one before them. Of the
    /// others, tails are checked.
    fn load_open_epochs(&mut self) -> Result<()> {
        let epochs = log_epochs(&self.dir)?;
        let before = epochs.iter().rev().find(|epoch| **epoch < self.open_from).copied();
        let open: Vec<Epoch> = epochs.into_iter().filter(|epoch| *epoch >= self.open_from).collect();
        let first_live = open.len().saturating_sub(LIVE_EPOCHS);
        for (place, epoch) in open.into_iter().enumerate() {
            let (path, identity) = (log_file(&self.dir, epoch), log_identity(&self.agent, epoch));
            if place >= first_live || has_open_tail(&path, &identity)? {
                self.load(epoch)?;
            } else {
                self.open_counts.insert(epoch, peek(&path, &identity)?.count);
            }
        }
        before.map_or(Ok(()), |epoch| self.load(epoch))
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
        if epoch >= self.open_from {
            self.open_counts.insert(epoch, file.count());
        }
        self.live.insert(epoch, Live { file, index });
        Ok(())
    }
}

/// The log's id, drawn at the first time. A log that has had one and lost it is not the same any more.
fn log_id(dir: &Path, agent: &AgentId, has_signed: bool) -> Result<LogId> {
    let (path, identity) = (dir.join(layout::LOG_ID), layout::id_identity(agent));
    if let Some(id) = read_one(&path, &identity)? {
        return Ok(id);
    }
    if has_signed || !log_epochs(dir)?.is_empty() {
        return Err(LogError::damaged(&path, 0, "the log's id is missing"));
    }
    let mut id = LogId::default();
    getrandom::fill(&mut id)
        .map_err(|error| LogError::io("draw an id for", &path)(std::io::Error::other(error.to_string())))?;
    write_one(&path, &identity, &id)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{MAX_FROM_SENDER, RESERVED_FOR_SENT};
    use zx1_interface::constants::MAX_TREE_LEN;
    use zx1_protocol::envelope::{EnvelopeHeader, MsgType, PROTOCOL_VERSION};

    const AGENT: AgentId = AgentId([1; 32]);
    const PEER: AgentId = AgentId([2; 32]);

    /// Adds a message without a payload to the epoch, or says why not.
    fn add_to(
        log: &mut AgentLog,
        epoch: u64,
        peer: &AgentId,
        direction: Direction,
        nonce: u64,
    ) -> Result<Appended> {
        let (sender, recipient) = if direction == Direction::Sent { (&AGENT, peer) } else { (peer, &AGENT) };
        let timestamp = epoch * 86_400_000_000 + nonce;
        let header = EnvelopeHeader {
            version: PROTOCOL_VERSION,
            msg_type: MsgType::Reject,
            sender: sender.as_bytes(),
            recipient: recipient.as_bytes(),
            timestamp,
            block_ref: Slot(1),
            nonce,
            conversation_id: &[3; 16],
            payload_hash: &Sha3::hashv(&[]),
            payload_len: 0,
        };
        let envelope = Envelope { header, payload: &[], signature: &[0; 64] };
        let added = log.add_all(&[Append { envelope, direction, arrival_micros: timestamp }])?;
        Ok(added[0])
    }

    fn add(log: &mut AgentLog, direction: Direction, nonce: u64) -> Result<Appended> {
        add_to(log, 0, &PEER, direction, nonce)
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
    fn the_epochs_that_one_batch_can_cover_share_the_room() {
        let temp = tempfile::tempdir().unwrap();
        let mut log = AgentLog::open(temp.path(), AGENT).unwrap();
        for (epoch, fits) in [(7, true), (8, false), (37, false), (66, false), (67, true)] {
            log.open_counts = [(Epoch(37), MAX_TREE_LEN)].into();
            let added = add_to(&mut log, epoch, &PEER, Direction::Sent, epoch);
            assert_eq!(added.is_ok(), fits, "{epoch}: {added:?}");
        }
        // What has landed takes no room.
        log.open_counts = [(Epoch(40), MAX_TREE_LEN)].into();
        log.open_after(Epoch(41));
        add_to(&mut log, 41, &PEER, Direction::Sent, 1).unwrap();
    }

    #[test]
    fn one_sender_fills_its_own_part_and_no_more_until_a_batch_lands() {
        let temp = tempfile::tempdir().unwrap();
        let mut log = AgentLog::open(temp.path(), AGENT).unwrap();
        // In groups: a sync for each of so many would take long.
        let received = |log: &mut AgentLog, epoch: u64, nonces: std::ops::Range<u64>| {
            let hash = Sha3::hashv(&[]);
            let at = |nonce: u64| epoch * 86_400_000_000 + nonce;
            let headers: Vec<EnvelopeHeader<'_>> = nonces
                .map(|nonce| EnvelopeHeader {
                    version: PROTOCOL_VERSION,
                    msg_type: MsgType::Reject,
                    sender: PEER.as_bytes(),
                    recipient: AGENT.as_bytes(),
                    timestamp: at(nonce),
                    block_ref: Slot(1),
                    nonce,
                    conversation_id: &[3; 16],
                    payload_hash: &hash,
                    payload_len: 0,
                })
                .collect();
            let all: Vec<Append<'_>> = headers
                .into_iter()
                .map(|header| Append {
                    arrival_micros: header.timestamp,
                    envelope: Envelope { header, payload: &[], signature: &[0; 64] },
                    direction: Direction::Received,
                })
                .collect();
            log.add_all(&all)
        };
        let most = u64::from(MAX_FROM_SENDER);
        assert_eq!(received(&mut log, 1, 0..most + 1).unwrap_err().code(), 7221, "in one group");
        received(&mut log, 1, 0..most - 1).unwrap();
        received(&mut log, 2, 0..1).unwrap();
        for reopened in [false, true] {
            if reopened {
                drop(log);
                log = AgentLog::open(temp.path(), AGENT).unwrap();
            }
            for epoch in [1, 2, 30] {
                let error = add_to(&mut log, epoch, &PEER, Direction::Received, most + 5).unwrap_err();
                assert!(error.code() == 7221 && error.is_of_message(), "{error}");
            }
        }
        // Others are not kept out, nor are answers, nor what no batch can cover together with it.
        let other = AgentId([7; 32]);
        add_to(&mut log, 2, &other, Direction::Received, 1).unwrap();
        add_to(&mut log, 2, &PEER, Direction::Sent, 2).unwrap();
        add_to(&mut log, 32, &PEER, Direction::Received, 3).unwrap();
        // A batch of the first two epochs lands.
        log.open_after(Epoch(2));
        add_to(&mut log, 2, &PEER, Direction::Received, most + 5).unwrap();
    }
}
