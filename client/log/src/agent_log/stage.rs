//! Adding entries: what may be added is decided for a whole group before anything of it is written.

use super::{AgentLog, Append, Appended, Live, RESERVED_FOR_SENT, newest_epochs};
use crate::error::{LogError, Result};
use crate::frames::FrameFile;
use crate::index::{EpochIndex, Facts, Half};
use crate::layout::{log_file, log_identity};
use crate::record;
use std::collections::{BTreeMap, HashMap, HashSet};
use zx1_interface::constants::{MAX_EVIDENCE_PAYLOAD, MAX_TREE_LEN};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::MAX_MESSAGE_SIZE;

/// An entry that may be added, and what goes into the file.
struct NewEntry {
    epoch: Epoch,
    record: Vec<u8>,
    facts: Facts,
}

/// What was decided about the messages of a group, before anything is written.
#[derive(Default)]
pub(super) struct Group {
    entries: Vec<NewEntry>,
    leaves: HashMap<Hash, usize>,
    bids: HashSet<Half>,
    added: BTreeMap<Epoch, u32>,
    /// Nonces of this agent's own messages.
    own: Vec<(Channel, u64)>,
}

/// Where a message is, or will be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Staged {
    Known(Appended),
    /// The place in the group's `entries`.
    New(usize),
}

impl Group {
    /// Whether a message with this leaf is among those that will be added.
    pub(super) fn has(&self, leaf: &Hash) -> bool {
        self.leaves.contains_key(leaf)
    }
}

impl Staged {
    /// Where it is after [`AgentLog::write`].
    pub(super) fn place(self, written: &[Appended]) -> Option<Appended> {
        match self {
            Self::Known(appended) => Some(appended),
            Self::New(place) => written.get(place).copied(),
        }
    }
}

/// Of several equal messages in a group the first is the new one.
pub(super) fn mark_repeated<'a>(appended: impl IntoIterator<Item = &'a mut Appended>) {
    let mut seen = HashSet::new();
    appended.into_iter().for_each(|one| one.new &= seen.insert(one.leaf));
}

impl AgentLog {
    /// Adds the messages with one sync for each epoch; see [`Self::append_own`].
    pub(super) fn add_all(&mut self, messages: &[Append<'_>]) -> Result<Vec<Appended>> {
        let mut group = Group::default();
        let staged =
            messages.iter().map(|message| self.stage(message, &mut group)).collect::<Result<Vec<_>>>()?;
        let envelopes = messages.iter().map(|message| message.envelope);
        let places = self.write(&group, envelopes)?;
        let mut appended = staged
            .into_iter()
            .map(|staged| staged.place(&places).ok_or(LogError::LogChanged))
            .collect::<Result<Vec<_>>>()?;
        mark_repeated(&mut appended);
        Ok(appended)
    }

    /// Everything that can be refused, before anything is written.
    pub(super) fn stage(&mut self, message: &Append<'_>, group: &mut Group) -> Result<Staged> {
        let Append { envelope, direction, arrival_micros } = message;
        self.check_form(envelope, *direction)?;
        let epoch = match direction {
            Direction::Sent => envelope.header.epoch(),
            Direction::Received => Epoch::from_unix_micros(*arrival_micros),
        };
        let entry = LogEntry::of(envelope);
        let encoded = entry.to_cbor::<Sha3>()?;
        let leaf = LogEntry::leaf::<Sha3>(&encoded);
        if let Some(place) = group.leaves.get(&leaf) {
            return Ok(Staged::New(*place));
        }
        self.load(epoch)?;
        if let Some(known) = self.find(&leaf) {
            return Ok(Staged::Known(known));
        }
        if self.is_sealed(epoch) {
            return Err(LogError::EpochSealed(epoch));
        }
        let facts = Facts::of(&self.agent, *direction, &entry, leaf);
        if let Some(bid) = &facts.bid
            && (group.bids.contains(bid) || self.has_open_bid(bid))
        {
            return Err(LogError::DuplicateBid { slot: entry.header.block_ref.0 });
        }
        if self.room(epoch, group, *direction) == 0 {
            return Err(LogError::LogFull);
        }
        let record = record::encode(*direction, *arrival_micros, &encoded);
        let place = group.entries.len();
        group.leaves.insert(leaf, place);
        group.bids.extend(facts.bid);
        let added = group.added.entry(epoch).or_insert(0);
        *added = added.saturating_add(1);
        group.own.extend(
            (*direction == Direction::Sent)
                .then_some((channel_of(entry.header.msg_type), entry.header.nonce)),
        );
        group.entries.push(NewEntry { epoch, record, facts });
        Ok(Staged::New(place))
    }

    fn check_form(&self, envelope: &Envelope<'_>, direction: Direction) -> Result<()> {
        let header = &envelope.header;
        let from_here = header.sender() == self.agent;
        let to_here = header.recipient() == self.agent || header.recipient() == BROADCAST;
        let ours = match direction {
            Direction::Sent => from_here,
            Direction::Received => !from_here && (to_here || self.concerns(envelope)),
        };
        if !ours {
            return Err(LogError::NotOurs);
        }
        let len = envelope.payload.len();
        let is_evidence = matches!(
            header.msg_type,
            MsgType::Propose | MsgType::Counter | MsgType::Accept | MsgType::NotarizeAssign
        );
        if is_evidence && len > MAX_EVIDENCE_PAYLOAD {
            return Err(LogError::PayloadTooLong { len });
        }
        // Before the encoding, which takes memory of that size.
        let len = if len > MAX_MESSAGE_SIZE { len } else { envelope.to_cbor().len() };
        if len > MAX_MESSAGE_SIZE {
            return Err(LogError::MessageTooLong { len });
        }
        Ok(envelope.check_payload::<Sha3>()?)
    }

    fn has_open_bid(&self, bid: &Half) -> bool {
        self.live.iter().any(|(epoch, live)| !self.is_sealed(*epoch) && live.index.has_bid(bid))
    }

    /// How many more entries the next batch can take of this epoch.
    fn room(&self, epoch: Epoch, group: &Group, direction: Direction) -> u32 {
        // The first batch covers its own epoch only, every later one all since the last (decision B7).
        let together = |other: &Epoch| self.sealed_through.is_some() || *other == epoch;
        let counts = self.open_counts.iter().chain(&group.added).filter(|(other, _)| together(other));
        let taken = counts.fold(0u32, |sum, (_, count)| sum.saturating_add(*count));
        let most = match direction {
            Direction::Sent => MAX_TREE_LEN,
            Direction::Received => MAX_TREE_LEN - RESERVED_FOR_SENT,
        };
        most.saturating_sub(taken)
    }

    /// Writes the payloads of these messages and the group's records, one sync for each epoch, and remembers
    /// them.
    pub(super) fn write<'e>(
        &mut self,
        group: &Group,
        envelopes: impl Iterator<Item = Envelope<'e>>,
    ) -> Result<Vec<Appended>> {
        let beside = envelopes.filter(|envelope| !envelope.header.msg_type.payload_is_logged());
        self.payloads.put_all(beside.map(|envelope| (envelope.header.payload_hash, envelope.payload)))?;
        let mut by_epoch: BTreeMap<Epoch, Vec<(usize, &NewEntry)>> = BTreeMap::new();
        for (place, one) in group.entries.iter().enumerate() {
            by_epoch.entry(one.epoch).or_default().push((place, one));
        }
        let mut places = BTreeMap::new();
        for (epoch, entries) in by_epoch {
            let live = match self.live.entry(epoch) {
                std::collections::btree_map::Entry::Occupied(live) => live.into_mut(),
                std::collections::btree_map::Entry::Vacant(vacant) => {
                    // Nonces are restored from the newest files only, so those before must not be needed.
                    self.nonces.sync()?;
                    let identity = log_identity(&self.agent, epoch);
                    let file = FrameFile::create(&log_file(&self.dir, epoch), &identity)?;
                    vacant.insert(Live { file, index: EpochIndex::default() })
                }
            };
            let mut index = live.file.count();
            live.file.append(entries.iter().map(|(_, one)| one.record.as_slice()))?;
            for (place, NewEntry { facts, .. }) in entries {
                live.index.add(index, facts);
                places.insert(place, Appended { epoch, index, leaf: facts.leaf, new: true });
                index = index.saturating_add(1);
            }
            self.open_counts.insert(epoch, live.file.count());
        }
        // A number that the log has is used, also when it was signed elsewhere.
        group.own.iter().for_each(|(channel, nonce)| self.nonces.restore_own(*channel, *nonce));
        self.forget_old();
        Ok(places.into_values().collect())
    }

    /// Without batches nothing is ever closed; then only the newest epochs stay in memory.
    fn forget_old(&mut self) {
        while self.sealed_through.is_none() && self.live.len() > newest_epochs() {
            self.live.pop_first();
        }
    }
}
