//! Adding entries: what may be added is decided for a whole group before anything of it is written.

use super::{AgentLog, Append, Appended, LIVE_EPOCHS, Live};
use crate::error::{LogError, Result};
use crate::frames::FrameFile;
use crate::index::{EpochIndex, Facts};
use crate::layout::{log_file, log_identity};
use crate::limits::{MAX_FROM_SENDER, RESERVED_FOR_SENT};
use crate::record;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use zx1_interface::constants::{MAX_COVERED_EPOCHS, MAX_EVIDENCE_PAYLOAD, MAX_TREE_LEN};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::{BROADCAST, Envelope, MAX_LOGGED_PAYLOAD};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::AgentId;
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
    added: BTreeMap<Epoch, u32>,
    /// Received messages by sender.
    senders: HashMap<AgentId, u32>,
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
        self.load_together_with(epoch)?;
        let sender = entry.header.sender();
        if *direction == Direction::Received && self.count_from(&sender, epoch, group) >= MAX_FROM_SENDER {
            return Err(LogError::SenderFull);
        }
        if self.room(epoch, group, *direction) == 0 {
            return Err(LogError::LogFull);
        }
        let facts = Facts::of(&self.agent, *direction, &entry, leaf);
        let record = record::encode(*direction, *arrival_micros, &encoded);
        let place = group.entries.len();
        group.leaves.insert(leaf, place);
        let added = group.added.entry(epoch).or_insert(0);
        *added = added.saturating_add(1);
        if *direction == Direction::Received {
            let added = group.senders.entry(sender).or_insert(0);
            *added = added.saturating_add(1);
        }
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
        if header.msg_type.is_deal() && len > MAX_EVIDENCE_PAYLOAD {
            return Err(LogError::PayloadTooLong { len });
        }
        if header.msg_type.payload_is_logged() && len > MAX_LOGGED_PAYLOAD {
            return Err(LogError::LoggedPayloadTooLong { len });
        }
        // Before the encoding, which takes memory of that size.
        let len = if len > MAX_MESSAGE_SIZE { len } else { envelope.to_cbor().len() };
        if len > MAX_MESSAGE_SIZE {
            return Err(LogError::MessageTooLong { len });
        }
        Ok(envelope.check_payload::<Sha3>()?)
    }

    /// Reads the epochs that the next batch can cover together with this one.
    fn load_together_with(&mut self, epoch: Epoch) -> Result<()> {
        let there = self.open_counts.range(together_with(epoch)).map(|(epoch, _)| *epoch);
        let missing: Vec<Epoch> = there.filter(|epoch| !self.live.contains_key(epoch)).collect();
        missing.into_iter().try_for_each(|epoch| self.load(epoch))
    }

    /// How many messages of this sender the next batch would have with this epoch.
    fn count_from(&self, sender: &AgentId, epoch: Epoch, group: &Group) -> u32 {
        let live = self.live.range(together_with(epoch)).filter(|(epoch, _)| **epoch >= self.open_from);
        let counts = live.map(|(_, live)| live.index.count_from(sender));
        counts.chain(group.senders.get(sender).copied()).fold(0, u32::saturating_add)
    }

    /// How many more entries the next batch can take of this epoch.
    fn room(&self, epoch: Epoch, group: &Group, direction: Direction) -> u32 {
        let counts =
            self.open_counts.range(together_with(epoch)).chain(group.added.range(together_with(epoch)));
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

    /// What no batch can cover together with the newest epoch does not stay in memory.
    fn forget_old(&mut self) {
        // One more, which may be the newest that is closed.
        while self.live.len() > LIVE_EPOCHS + 1 {
            self.live.pop_first();
        }
    }
}

/// The epochs that one batch can cover beside this one, before it or behind it.
fn together_with(epoch: Epoch) -> RangeInclusive<Epoch> {
    let reach = MAX_COVERED_EPOCHS - 1;
    Epoch(epoch.0.saturating_sub(reach))..=Epoch(epoch.0.saturating_add(reach))
}
