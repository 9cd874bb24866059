//! From events and account states to rows. Pure: what is known goes in, what is to be written comes out.
//!
//! Events tell the history, accounts tell how things stand. Where both say the same, the account counts,
//! because it is read later. An event that arrives behind its successors (a repair, a transaction that only
//! the finalized history shows) must not turn a row back, so its agent is folded anew from all its events
//! ([`Merge::refold`]).

mod announce;
mod states;

pub use announce::{
    KINDS, ground_name, is_retraction, retraction as announce_retraction, scope_names, stream_row, tree_name,
};
pub use states::{Trust, life_of};

use crate::parse::{Addresses, Parsed, REGISTERED, Registration, Touched, event_of};
use crate::store::{
    AgentRow, AskRow, BatchRow, ChallengeRow, EpochRow, EventRow, FeedbackRow, GapRow, KeyRow, LifeRow,
    StakeRow, StreamRow, TenureRow, fixed, signed, unsigned,
};
use std::collections::{BTreeMap, BTreeSet};
use zx1_chain::rpc::Event;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_interface::events;
use zx1_interface::states::{asked, outcome};
use zx1_protocol::batch::head_digest;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// The address of an account.
pub type Key = [u8; 32];
/// An account in one life of it.
pub type Life = (Key, i64);

/// Which rows a set of events needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Agents with their tenures, keys and stakes, by mint.
    pub agents: BTreeSet<AgentId>,
    /// Batches, by agent and epoch.
    pub batches: BTreeSet<(AgentId, i64)>,
    /// Challenges, by address and creation slot.
    pub challenges: BTreeSet<Life>,
    /// Asks, by address and creation slot.
    pub asks: BTreeSet<Life>,
    /// Feedback entries, by index.
    pub feedback: BTreeSet<i64>,
    /// Account incarnations, by address and creation slot.
    pub lives: BTreeSet<Life>,
}

impl Needs {
    /// Collects the keys of the rows that merging these events needs.
    pub fn of(events: &[EventRow]) -> Self {
        let mut needs = Self::default();
        for row in events {
            let account = fixed(&row.account);
            needs.lives.insert((account, row.created_slot));
            needs.agents.extend(row.agent);
            match event_of(row) {
                Some(Event::BatchSubmitted(e)) => needs.batch(e.agent_id, e.epoch_number),
                Some(Event::BatchClosed(e)) => needs.batch(e.agent_id, e.epoch_number),
                Some(Event::BatchWithheld(e)) => needs.batch(e.agent_id, e.epoch_number),
                Some(Event::ChallengeSubmitted(e)) => {
                    needs.batch(e.agent_id, e.epoch_number);
                    needs.challenges.insert((account, row.created_slot));
                }
                Some(
                    Event::ChallengeAnswered(_) | Event::ChallengeResolved(_) | Event::ChallengeClosed(_),
                ) => {
                    needs.challenges.insert((account, row.created_slot));
                }
                Some(
                    Event::LeafAsked(_) | Event::LeafShown(_) | Event::AskSettled(_) | Event::AskClosed(_),
                ) => {
                    needs.asks.insert((account, row.created_slot));
                }
                Some(Event::FeedbackSubmitted(e)) => {
                    needs.feedback.insert(signed(e.index));
                }
                Some(Event::FeedbackResolved(e)) => {
                    needs.feedback.insert(signed(e.index));
                }
                _ => {}
            }
        }
        needs
    }

    fn batch(&mut self, agent: [u8; 32], epoch: u64) {
        self.batches.insert((AgentId(agent), signed(epoch)));
    }
}

/// The rows that are known, and what the events make of them.
#[derive(Debug, Clone, Default)]
pub struct Merge {
    /// Agents, by mint.
    pub agents: BTreeMap<AgentId, AgentRow>,
    /// Tenures, by agent and number.
    pub tenures: BTreeMap<(AgentId, i64), TenureRow>,
    /// Keys, by agent, key and creation slot.
    pub keys: BTreeMap<(AgentId, Key, i64), KeyRow>,
    /// Stakes, by agent and era.
    pub stakes: BTreeMap<(AgentId, i64), StakeRow>,
    /// Batches, by agent and epoch.
    pub batches: BTreeMap<(AgentId, i64), BatchRow>,
    /// Challenges, by address and creation slot.
    pub challenges: BTreeMap<Life, ChallengeRow>,
    /// Asks, by address and creation slot.
    pub asks: BTreeMap<Life, AskRow>,
    /// Feedback entries, by index.
    pub feedback: BTreeMap<i64, FeedbackRow>,
    /// Account incarnations, by address and creation slot.
    pub lives: BTreeMap<Life, LifeRow>,
    /// How agents stood at the ends of epochs.
    pub epochs: BTreeMap<(AgentId, i64), EpochRow>,
    /// Gaps that were found.
    pub gaps: Vec<GapRow>,
    /// Stream events to be published.
    pub stream: Vec<StreamRow>,
    /// Accounts whose state is to be read.
    pub touched: BTreeSet<Touched>,
    /// Agents of whom the registry is to be asked.
    pub unidentified: BTreeSet<AgentId>,
    /// Agents whose rows must be folded anew from all their events.
    pub refold: BTreeSet<AgentId>,
    /// Agents that were folded anew: their tenures, keys and stakes replace all that are stored.
    pub renewed: BTreeSet<AgentId>,
    /// Agents whose reputation is to be computed anew.
    pub stale: BTreeSet<AgentId>,
    /// Lives in which an event came behind a later one.
    pub recheck: BTreeSet<Life>,
    /// Whether events are announced to the streams. A refold announces nothing a second time.
    pub silent: bool,
    /// Unix milliseconds, for what is announced.
    pub now_ms: i64,
    /// The cluster's genesis hash, which batches' messages name.
    pub network: Hash,
}

/// `reputation` of an agent's row before the first one was computed.
const NO_REPUTATION: &str = "{}";

/// The row of an agent of which nothing but the mint is known.
pub fn new_agent(mint: AgentId) -> AgentRow {
    AgentRow {
        mint,
        head_digest: vec![0; 32],
        metadata: "[]".to_owned(),
        delegates: "[]".to_owned(),
        reputation: NO_REPUTATION.to_owned(),
        search: mint.to_string().to_lowercase(),
        ..AgentRow::default()
    }
}

/// The rows of transactions that are not in the index yet, in the order of the ledger. `positions` gives the
/// place of a transaction among those of its slot.
pub fn event_rows(addresses: &mut Addresses, parsed: &[(Parsed, i64)]) -> Vec<EventRow> {
    parsed.iter().flat_map(|(parsed, position)| addresses.rows(parsed, *position)).collect()
}

/// What an event adds to the index digest: keccak256(signature ‖ ordinal u32 big-endian ‖ program ‖ payload).
pub fn event_digest(row: &EventRow) -> [u8; 32] {
    let ordinal = u32::try_from(row.ordinal).unwrap_or(u32::MAX).to_be_bytes();
    let program = crate::parse::Program::of_number(row.program).map_or([0; 32], |it| it.address().to_bytes());
    Sha3::hashv(&[&row.signature, &ordinal, &program, &row.payload])
}

/// Adds (or takes away) a number of 256 bits, modulo 2^256, so that the order of events does not matter. It
/// compares two indexers; it proves nothing against one that chooses its events.
pub fn add_digest(sum: &mut [u8; 32], digest: &[u8; 32], take_away: bool) {
    let mut carry = u16::from(take_away);
    for (to, from) in sum.iter_mut().rev().zip(digest.iter().rev()) {
        // Two's complement: taking away is adding the inverse and one.
        let from = if take_away { !*from } else { *from };
        carry = carry.wrapping_add(u16::from(*to)).wrapping_add(u16::from(from));
        *to = carry.to_be_bytes()[1];
        carry >>= 8;
    }
}

impl Merge {
    /// An agent's row, made if it is not known.
    pub fn agent(&mut self, mint: AgentId) -> &mut AgentRow {
        self.agents.entry(mint).or_insert_with(|| new_agent(mint))
    }

    /// Takes the stored rows that are not known here yet.
    pub fn join(&mut self, stored: Self) {
        fn add<K: Ord, V>(to: &mut BTreeMap<K, V>, from: BTreeMap<K, V>) {
            for (key, row) in from {
                to.entry(key).or_insert(row);
            }
        }
        add(&mut self.agents, stored.agents);
        add(&mut self.tenures, stored.tenures);
        add(&mut self.keys, stored.keys);
        add(&mut self.stakes, stored.stakes);
        add(&mut self.batches, stored.batches);
        add(&mut self.challenges, stored.challenges);
        add(&mut self.asks, stored.asks);
    }

    /// Takes new events in the order of the ledger.
    pub fn take(&mut self, events: &[EventRow]) {
        for row in events {
            if self.count(row) {
                self.apply(row);
            } else if let Some(agent) = self.agent_of(row) {
                self.refold.insert(agent);
            } else {
                // Without an agent nothing can be turned back: each such row is written once.
                self.apply(row);
            }
        }
    }

    /// Folds an agent anew: its rows as they are without any event, then all its events in order.
    pub fn refold(&mut self, mint: AgentId, events: &[EventRow]) {
        // What no event tells is read again from the accounts.
        self.touch(mint);
        self.tenures.retain(|(agent, _), _| *agent != mint);
        self.keys.retain(|(agent, ..), _| *agent != mint);
        self.stakes.retain(|(agent, _), _| *agent != mint);
        self.renewed.insert(mint);
        self.outdate(mint);
        let row = self.agent(mint);
        (row.tenure, row.tenure_owner, row.tenure_from, row.tenure_slot) = (None, None, None, None);
        row.era = 0;
        row.stake = None;
        row.open_challenges = 0;
        row.slashed = MicroUsdc(0);
        row.fined = MicroUsdc(0);
        row.paid_through = None;
        row.lease_paid_slot = None;
        row.lease_paid = MicroUsdc(0);
        row.batches = 0;
        row.last_epoch = None;
        row.last_batch_slot = None;
        row.first_epoch = None;
        row.head_digest = vec![0; 32];
        row.challenges_answered = 0;
        row.challenges_lost = 0;
        (row.asks_open, row.asks_shown, row.asks_withheld) = (0, 0, 0);
        row.last_active = None;
        row.registered_slot = None;
        for batch in self.batches.values_mut().filter(|batch| batch.agent == mint) {
            batch.challenges = 0;
            batch.open = 1;
            batch.withheld_slot = None;
        }
        let was = std::mem::replace(&mut self.silent, true);
        events.iter().for_each(|row| self.apply(row));
        self.silent = was;
        self.touch(mint);
        self.recount_batches(mint);
        self.recount_answered(mint);
    }

    /// Has the accounts of an agent read again, as far as they are known.
    pub fn touch(&mut self, mint: AgentId) {
        self.touched.extend([Touched::Tenure(mint), Touched::Lease(mint), Touched::Head(mint)]);
        let present = self.agents.get(&mint).map_or(0, |agent| agent.era);
        let stakes = self.stakes.range((mint, i64::MIN)..=(mint, i64::MAX));
        let eras = stakes.filter(|(_, stake)| stake.claimed_slot.is_none()).map(|((_, era), _)| *era);
        self.touched.extend(eras.chain([present]).map(|era| Touched::Stake(mint, number(era))));
        let keys = self.keys.values().filter(|key| key.agent == mint && key.closed == 0);
        self.touched.extend(keys.map(|key| Touched::Key(mint, fixed(&key.key))));
    }

    /// Batches without data, and those that are marked, from the batches that are known.
    pub fn recount_batches(&mut self, mint: AgentId) {
        let mine = || self.batches.range((mint, i64::MIN)..=(mint, i64::MAX)).map(|(_, batch)| batch);
        let count = |rows: usize| i64::try_from(rows).unwrap_or(i64::MAX);
        let missing = count(mine().filter(|batch| batch.data_bytes.is_none()).count());
        let withheld = count(mine().filter(|batch| batch.withheld_slot.is_some()).count());
        let agent = self.agent(mint);
        (agent.missing, agent.withheld) = (missing, withheld);
    }

    /// Counts an event of its life. False when one with a larger number was there before.
    fn count(&mut self, row: &EventRow) -> bool {
        let life = (fixed(&row.account), row.created_slot);
        let known = self.lives.entry(life).or_insert_with(|| LifeRow {
            account: row.account.clone(),
            created_slot: row.created_slot,
            events: 0,
            last: -1,
        });
        known.events = known.events.saturating_add(1);
        if row.sequence <= known.last {
            self.recheck.insert(life);
            return false;
        }
        let expected = known.last.saturating_add(1);
        if row.sequence > expected {
            self.gaps.push(GapRow {
                account: row.account.clone(),
                created_slot: row.created_slot,
                first: expected,
                last: row.sequence.saturating_sub(1),
                found_slot: row.slot,
                state: "open".to_owned(),
            });
        }
        known.last = row.sequence;
        true
    }

    fn agent_of(&self, row: &EventRow) -> Option<AgentId> {
        let life = (fixed(&row.account), row.created_slot);
        let challenged = || self.challenges.get(&life).map(|challenge| challenge.agent);
        let asked = || self.asks.get(&life).map(|ask| ask.agent);
        row.agent.or_else(challenged).or_else(asked)
    }

    fn apply(&mut self, row: &EventRow) {
        if row.name == REGISTERED {
            if let Some(registration) = Registration::read(&row.payload) {
                self.registered(row, &registration);
            }
            return;
        }
        let Some(event) = event_of(row) else { return };
        if let Some(mint) = row.agent {
            let agent = self.agent(mint);
            agent.last_active = agent.last_active.max(Some(row.slot));
            if agent.identified == 0 {
                self.unidentified.insert(mint);
            }
        }
        match event {
            Event::TenureOpened(e) => {
                self.tenure_began(row, e.agent_mint.into(), 1, &e.owner, e.from_epoch);
            }
            Event::TakenOver(e) => {
                self.tenure_began(row, e.agent_mint.into(), e.number, &e.owner, e.from_epoch);
                self.era_began(e.agent_mint.into(), e.era);
                self.announce_taken_over(row, &e);
            }
            Event::KeyAdded(e) => self.key_added(row, &e),
            Event::KeyEnded(e) => {
                let mint = AgentId(e.agent_mint);
                if let Some(key) = self.keys.get_mut(&(mint, e.key, row.created_slot)) {
                    key.until_epoch = Some(signed(e.until_epoch));
                    key.ended_slot = Some(signed(e.slot));
                }
                self.touched.insert(Touched::Key(mint, e.key));
                self.announce_key_ended(row, &e);
            }
            Event::KeyClosed(e) => {
                if let Some(key) = self.keys.get_mut(&(e.agent_mint.into(), e.key, row.created_slot)) {
                    key.closed = 1;
                }
            }
            Event::StakeLocked(e) => {
                self.era_began(e.agent_mint.into(), e.era);
                self.change_stake(row, e.agent_mint.into(), e.era, |stake| {
                    stake.owner = e.owner.to_vec();
                    stake.stake = MicroUsdc(e.stake_usdc);
                    stake.created_slot = Some(row.created_slot);
                    stake.since = Some(row.created_slot);
                });
            }
            Event::EraEnded(e) => self.change_stake(row, e.agent_mint.into(), e.era, |stake| {
                stake.ended_slot = Some(signed(e.slot));
            }),
            Event::UnlockQueued(e) => self.change_stake(row, e.agent_mint.into(), e.era, |stake| {
                stake.unlock_slot = Some(signed(e.unlock_available_slot));
            }),
            Event::UnlockCanceled(e) => self.change_stake(row, e.agent_mint.into(), e.era, |stake| {
                stake.unlock_slot = None;
            }),
            Event::StakeClaimed(e) => {
                // Whoever claims the present era begins the next one; an earlier one changes nothing.
                self.era_began(e.agent_mint.into(), e.era.saturating_add(1));
                self.change_stake(row, e.agent_mint.into(), e.era, |stake| {
                    stake.stake = MicroUsdc(0);
                    stake.unlock_slot = None;
                    stake.claimed_slot = Some(row.slot);
                });
            }
            Event::StakeMoved(e) => self.stake_moved(row, &e),
            Event::LeasePaid(e) => {
                let agent = self.agent(e.agent_id.into());
                agent.paid_through = Some(signed(e.epoch));
                agent.lease_paid = agent.lease_paid.saturating_add(MicroUsdc(e.amount));
                agent.lease_paid_slot = Some(row.slot);
                self.touched.insert(Touched::Lease(e.agent_id.into()));
                self.end_of_epoch(row, e.agent_id.into());
                match e.kind {
                    0 => self.announce_joined(row, e.agent_id.into(), "first_lease"),
                    2 => self.announce_joined(row, e.agent_id.into(), "reactivation"),
                    _ => {}
                }
            }
            Event::GracePeriodEntered(e) => {
                self.touched.insert(Touched::Lease(e.agent_id.into()));
            }
            Event::LeaseExpired(e) => {
                self.touched.insert(Touched::Lease(e.agent_id.into()));
                self.announce_deactivated(Some(row), e.agent_id.into(), "tick", signed(e.epoch));
            }
            Event::HeadOpened(e) => {
                let agent = self.agent(e.agent_id.into());
                agent.first_epoch = Some(signed(e.last_epoch.saturating_add(1)));
                agent.head_digest = e.digest.to_vec();
                self.touched.insert(Touched::Head(e.agent_id.into()));
            }
            Event::BatchSubmitted(e) => self.batch_submitted(row, &e),
            Event::BatchWithheld(e) => {
                if self.mark_withheld(e.agent_id.into(), e.epoch_number, row.slot) {
                    self.announce_withheld(row, &e);
                }
                self.touched.insert(Touched::Head(e.agent_id.into()));
            }
            Event::BatchClosed(e) => {
                if let Some(batch) = self.batches.get_mut(&(e.agent_id.into(), signed(e.epoch_number))) {
                    batch.open = 0;
                }
                self.touched.insert(Touched::Head(e.agent_id.into()));
            }
            Event::ChallengeSubmitted(e) => self.challenge_submitted(row, &e),
            Event::ChallengeAnswered(e) => self.challenge_answered(row, &e),
            Event::ChallengeResolved(e) => self.challenge_resolved(row, &e),
            Event::ChallengeClosed(e) => {
                if let Some(challenge) = self.challenges.get_mut(&(e.challenge, row.created_slot)) {
                    challenge.closed = 1;
                }
            }
            Event::LeafAsked(e) => self.leaf_asked(row, &e),
            Event::LeafShown(e) => self.change_ask((e.ask, row.created_slot), |ask| {
                ask.state = SHOWN;
                ask.settled_slot = Some(row.slot);
                ask.shower = Some(e.shower.to_vec());
                ask.leaf_hash = Some(e.leaf_hash.to_vec());
            }),
            Event::AskSettled(e) => {
                self.change_ask((e.ask, row.created_slot), |ask| {
                    ask.state = i64::from(e.state);
                    ask.settled_slot = Some(row.slot);
                    ask.fine = Some(MicroUsdc(e.fine));
                    ask.to_asker = Some(MicroUsdc(e.to_asker));
                });
            }
            Event::AskClosed(e) => {
                if let Some(ask) = self.asks.get_mut(&(e.ask, row.created_slot)) {
                    ask.closed = 1;
                }
            }
            Event::FeedbackSubmitted(e) => {
                let entry = self.feedback.entry(signed(e.index)).or_default();
                *entry = FeedbackRow {
                    number: signed(e.index),
                    timestamp: e.timestamp,
                    slot: row.slot,
                    sender: e.sender.into(),
                    payer: e.payer.into(),
                    head: e.head.to_vec(),
                    signature: Some(row.signature.clone()),
                    ..std::mem::take(entry)
                };
                self.touched.insert(Touched::Entry(e.index));
            }
            Event::FeedbackResolved(e) => {
                let entry = self.feedback.entry(signed(e.index)).or_default();
                entry.number = signed(e.index);
                entry.resolution_slot = Some(row.slot);
                entry.contract_hash = Some(e.contract_hash.to_vec());
                entry.fix_commit = Some(e.commit.to_vec());
                self.touched.insert(Touched::Resolution(e.index));
            }
            Event::ConfigInitialized(_)
            | Event::EvidenceDraftBegun(_)
            | Event::EvidenceSealed(_)
            | Event::EvidenceDraftCanceled(_)
            | Event::RankPassed(_)
            | Event::FeedbackDraftBegun(_)
            | Event::FeedbackDraftCanceled(_) => {}
        }
    }

    fn registered(&mut self, row: &EventRow, registration: &Registration) {
        let agent = self.agent(registration.mint);
        agent.registered_slot = Some(row.slot);
        agent.member_index = Some(registration.index.to_vec());
        // Until the registry is asked; a later sale is seen then.
        if agent.identified == 0 {
            agent.owner = Some(registration.owner.to_vec());
            self.unidentified.insert(registration.mint);
        }
        self.announce_joined(row, registration.mint, "registered");
    }

    fn tenure_began(
        &mut self,
        row: &EventRow,
        mint: AgentId,
        number: u32,
        owner: &[u8; 32],
        from_epoch: u64,
    ) {
        let tenure = TenureRow {
            agent: mint,
            number: i64::from(number),
            owner: owner.to_vec(),
            from_epoch: signed(from_epoch),
            slot: Some(row.slot),
        };
        let agent = self.agent(mint);
        agent.tenure = Some(tenure.number);
        agent.tenure_owner = Some(tenure.owner.clone());
        agent.tenure_from = Some(tenure.from_epoch);
        agent.tenure_slot = tenure.slot;
        self.tenures.insert((mint, tenure.number), tenure);
        self.outdate(mint);
        self.touched.insert(Touched::Tenure(mint));
    }

    /// Has an agent's reputation computed anew, where there is one.
    fn outdate(&mut self, mint: AgentId) {
        if self.agents.get(&mint).is_some_and(|agent| agent.reputation != NO_REPUTATION) {
            self.stale.insert(mint);
        }
    }

    /// No era is used twice, so it only rises.
    fn era_began(&mut self, mint: AgentId, era: u32) {
        let agent = self.agent(mint);
        agent.era = agent.era.max(i64::from(era));
    }

    fn key_added(&mut self, row: &EventRow, e: &events::KeyAdded) {
        let mint = AgentId(e.agent_mint);
        let key = KeyRow {
            agent: mint,
            key: e.key.to_vec(),
            created_slot: row.created_slot,
            owner: e.owner.to_vec(),
            tenure: i64::from(e.tenure),
            scopes: i64::from(e.scopes),
            from_epoch: signed(e.from_epoch),
            ..KeyRow::default()
        };
        self.keys.insert((mint, e.key, row.created_slot), key);
        self.touched.insert(Touched::Key(mint, e.key));
        self.announce_key_added(row, e);
    }

    /// Changes an era's stake, and what follows for the agent.
    fn change_stake(&mut self, row: &EventRow, mint: AgentId, era: u32, change: impl FnOnce(&mut StakeRow)) {
        change(self.stake(mint, i64::from(era)));
        self.restake(mint);
        self.touched.insert(Touched::Stake(mint, era));
        self.end_of_epoch(row, mint);
    }

    /// The stake of an era, made if it is not known.
    fn stake(&mut self, mint: AgentId, era: i64) -> &mut StakeRow {
        let none = || StakeRow { agent: mint, era, ..StakeRow::default() };
        self.stakes.entry((mint, era)).or_insert_with(none)
    }

    /// What an agent has locked, and how many challenges are open, from its stakes.
    pub(super) fn restake(&mut self, mint: AgentId) {
        let mine = self.stakes.range((mint, i64::MIN)..=(mint, i64::MAX)).map(|(_, stake)| stake);
        let (mut locked, mut open) = (None::<MicroUsdc>, 0_i64);
        for stake in mine.filter(|stake| stake.claimed_slot.is_none()) {
            open = open.saturating_add(stake.open_challenges);
            if stake.created_slot.is_some() {
                locked = Some(locked.unwrap_or_default().saturating_add(stake.stake));
            }
        }
        let agent = self.agent(mint);
        (agent.stake, agent.open_challenges) = (locked, open);
    }

    fn stake_moved(&mut self, row: &EventRow, e: &events::StakeMoved) {
        let amount = MicroUsdc(e.from_stake);
        let agent = self.agent(e.agent_mint.into());
        let sum = if e.slashed != 0 { &mut agent.slashed } else { &mut agent.fined };
        *sum = sum.saturating_add(amount);
        self.change_stake(row, e.agent_mint.into(), e.era, |stake| {
            stake.stake = MicroUsdc(e.stake_usdc);
            stake.pot = MicroUsdc(e.pot_usdc);
            if e.slashed != 0 {
                stake.slashed_slot = Some(row.slot);
                stake.ended_slot = stake.ended_slot.or(Some(row.slot));
            }
        });
    }

    fn batch_submitted(&mut self, row: &EventRow, e: &events::BatchSubmitted) {
        let (mint, epoch, network) = (AgentId(e.agent_id), signed(e.epoch_number), self.network);
        let batch = self.batches.entry((mint, epoch)).or_insert_with(|| BatchRow {
            agent: mint,
            epoch,
            open: 1,
            ..BatchRow::default()
        });
        let is_new = batch.signature.is_empty();
        batch.covers_from = signed(e.covers_from_epoch);
        batch.era = i64::from(e.era);
        batch.tenure = i64::from(e.tenure);
        batch.submitted_slot = signed(e.submitted_slot);
        batch.block_time = row.block_time;
        batch.signature.clone_from(&row.signature);
        batch.signer = e.signer.to_vec();
        batch.payer = e.payer.to_vec();
        batch.previous_digest = e.previous_digest.to_vec();
        batch.batch_hash = e.batch_hash.to_vec();
        batch.log_root = e.log_merkle_root.to_vec();
        batch.log_len = i64::from(e.log_len);
        batch.arrays_root = e.arrays_root.to_vec();
        batch.arrays_len = i64::from(e.arrays_len);
        let message = batch.message(&network).to_bytes();
        let agent = self.agent(mint);
        agent.batches = agent.batches.saturating_add(1);
        agent.last_epoch = agent.last_epoch.max(Some(epoch));
        agent.last_batch_slot = agent.last_batch_slot.max(Some(signed(e.submitted_slot)));
        agent.head_digest = head_digest::<Sha3>(&e.previous_digest, &message).to_vec();
        if is_new {
            agent.missing = agent.missing.saturating_add(1);
        }
        self.touched.insert(Touched::Head(mint));
    }

    /// Notes that a batch is marked. Whether it was not before.
    pub(super) fn mark_withheld(&mut self, mint: AgentId, epoch: u64, slot: i64) -> bool {
        let Some(batch) = self.batches.get_mut(&(mint, signed(epoch))) else { return false };
        if batch.withheld_slot.is_some() {
            return false;
        }
        batch.withheld_slot = Some(slot);
        let agent = self.agent(mint);
        agent.withheld = agent.withheld.saturating_add(1);
        self.outdate(mint);
        true
    }

    fn challenge_submitted(&mut self, row: &EventRow, e: &events::ChallengeSubmitted) {
        let (mint, life) = (AgentId(e.agent_id), (e.challenge, row.created_slot));
        let is_new = e.replaced == [0; 32];
        if let Some(challenge) = self.challenges.get_mut(&life).filter(|_| !is_new) {
            challenge.challenger = e.challenger.to_vec();
            challenge.rank = i64::from(e.rank);
            challenge.draft = e.draft.to_vec();
        } else {
            let first = if is_new { e.challenger } else { e.replaced };
            let challenge = ChallengeRow {
                address: e.challenge.to_vec(),
                submitted_slot: row.created_slot,
                agent: mint,
                epoch: signed(e.epoch_number),
                era: i64::from(e.era),
                rank: i64::from(e.rank),
                claim: e.claim.to_vec(),
                challenger: e.challenger.to_vec(),
                first_challenger: first.to_vec(),
                ground: i64::from(e.ground),
                value_known: i64::from(e.value_known),
                entry_hash: e.entry_hash.to_vec(),
                draft: e.draft.to_vec(),
                signature: row.signature.clone(),
                // A refold keeps what only the account has said.
                expected: self.challenges.get(&life).and_then(|known| known.expected.clone()),
                ..ChallengeRow::default()
            };
            self.challenges.insert(life, challenge);
            if let Some(batch) = self.batches.get_mut(&(mint, signed(e.epoch_number))) {
                batch.challenges = batch.challenges.saturating_add(1);
            }
            let stake = self.stake(mint, i64::from(e.era));
            stake.open_challenges = stake.open_challenges.saturating_add(1);
            self.restake(mint);
        }
        self.touched.insert(Touched::Challenge(e.challenge, e.account_created_slot));
        self.touched.insert(Touched::Stake(mint, e.era));
        self.announce_challenge(row, e);
    }

    fn challenge_answered(&mut self, row: &EventRow, e: &events::ChallengeAnswered) {
        self.settled(row, e.challenge, |challenge| {
            challenge.outcome = ANSWERED;
            challenge.answerer = Some(e.answerer.to_vec());
            challenge.leaf_index = Some(i64::from(e.leaf_index));
            challenge.to_stake = Some(MicroUsdc(e.to_stake));
            challenge.to_answerer = Some(MicroUsdc(e.to_answerer));
        });
        self.announce_answered(row, e);
    }

    fn challenge_resolved(&mut self, row: &EventRow, e: &events::ChallengeResolved) {
        self.settled(row, e.challenge, |challenge| {
            challenge.outcome = i64::from(e.outcome);
            challenge.slashed = Some(MicroUsdc(e.slashed));
            challenge.reward = Some(MicroUsdc(e.reward));
        });
        let agent = self.agent(e.agent_id.into());
        agent.challenges_lost = agent.challenges_lost.saturating_add(1);
        self.announce_resolved(row, e);
    }

    /// Settles a challenge that is known, in its era too.
    fn settled(&mut self, row: &EventRow, address: Key, change: impl FnOnce(&mut ChallengeRow)) {
        let life = (address, row.created_slot);
        self.touched.insert(Touched::Challenge(address, unsigned(row.created_slot)));
        self.change_challenge(life, |challenge| {
            challenge.settled_slot = Some(row.slot);
            change(challenge);
        });
        let Some((mint, era)) = self.challenges.get(&life).map(|it| (it.agent, it.era)) else { return };
        let stake = self.stake(mint, era);
        stake.open_challenges = stake.open_challenges.saturating_sub(1).max(0);
        self.restake(mint);
        self.touched.insert(Touched::Stake(mint, number(era)));
    }

    /// Changes a challenge that is known, and counts an answer once.
    pub(super) fn change_challenge(&mut self, life: Life, change: impl FnOnce(&mut ChallengeRow)) {
        let Some(challenge) = self.challenges.get_mut(&life) else { return };
        let before = challenge.outcome;
        change(challenge);
        if before != ANSWERED
            && challenge.outcome == ANSWERED
            && let Some(agent) = self.agents.get_mut(&challenge.agent)
        {
            agent.challenges_answered = agent.challenges_answered.saturating_add(1);
        }
    }

    fn leaf_asked(&mut self, row: &EventRow, e: &events::LeafAsked) {
        let ask = AskRow {
            address: e.ask.to_vec(),
            created_slot: row.created_slot,
            agent: AgentId(e.agent_id),
            epoch: signed(e.epoch_number),
            era: i64::from(e.era),
            rank: i64::from(e.rank),
            tree: i64::from(e.tree),
            leaf_index: i64::from(e.index),
            asker: e.asker.to_vec(),
            signature: row.signature.clone(),
            ..AskRow::default()
        };
        self.asks.insert((e.ask, row.created_slot), ask);
        let agent = self.agent(e.agent_id.into());
        agent.asks_open = agent.asks_open.saturating_add(1);
        self.announce_asked(row, e);
    }

    /// Changes an ask that is known, and moves it from one of its agent's counters to the other.
    pub(super) fn change_ask(&mut self, life: Life, change: impl FnOnce(&mut AskRow)) {
        fn counter(agent: &mut AgentRow, state: i64) -> &mut i64 {
            match state {
                OPEN => &mut agent.asks_open,
                SHOWN => &mut agent.asks_shown,
                _ => &mut agent.asks_withheld,
            }
        }
        let Some(ask) = self.asks.get_mut(&life) else { return };
        let before = ask.state;
        change(ask);
        let (mint, after) = (ask.agent, ask.state);
        let agent = self.agent(mint);
        let left = counter(agent, before);
        *left = left.saturating_sub(1).max(0);
        let reached = counter(agent, after);
        *reached = reached.saturating_add(1);
    }

    /// Challenges that the agent has answered, from those that are known.
    fn recount_answered(&mut self, mint: AgentId) {
        let mine =
            self.challenges.values().filter(|row| row.agent == mint && row.outcome == ANSWERED).count();
        self.agent(mint).challenges_answered = i64::try_from(mine).unwrap_or(i64::MAX);
    }

    /// How the agent stands now is how it stood when this epoch ended, until a later event says otherwise.
    fn end_of_epoch(&mut self, row: &EventRow, mint: AgentId) {
        let Some(epoch) = row.block_time.and_then(|at| at.checked_div(signed(EPOCH_SECONDS))) else { return };
        let agent = self.agent(mint);
        let stood = epoch_row(agent, epoch);
        self.epochs.insert((mint, epoch), stood);
    }
}

/// `outcome` of a challenge that was answered.
pub const ANSWERED: i64 = outcome::ANSWERED as i64;
/// `state` of an ask that nobody has answered yet.
const OPEN: i64 = asked::OPEN as i64;
/// `state` of an ask whose leaf was shown.
const SHOWN: i64 = asked::SHOWN as i64;

/// The number of an era or tenure in a signed column.
pub fn number(column: i64) -> u32 {
    u32::try_from(column).unwrap_or(u32::MAX)
}

/// How an agent stands, as the row of an epoch.
pub fn epoch_row(agent: &AgentRow, epoch: i64) -> EpochRow {
    EpochRow {
        agent: agent.mint,
        epoch,
        stake: agent.stake.unwrap_or_default(),
        paid_through: agent.paid_through,
        reliability: agent.reliability,
        cooperation: agent.cooperation,
        notary: agent.notary,
    }
}

/// The ranges of numbers that are missing from a sorted list that should be 0, 1, 2, … up to `last`.
pub fn missing(sequences: &[i64], last: i64) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    let mut next = 0_i64;
    for sequence in sequences.iter().copied().chain([last.saturating_add(1)]) {
        if sequence > next {
            found.push((next, sequence.saturating_sub(1)));
        }
        next = next.max(sequence.saturating_add(1));
    }
    found
}

#[cfg(test)]
mod tests;
