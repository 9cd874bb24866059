//! From events and account states to rows. Pure: what is known goes in, what is to be written comes out.
//!
//! Events tell the history, accounts tell how things stand. Where both say the same, the account counts,
//! because it is read later. An event that arrives behind its successors (a repair, a transaction that only
//! the finalized history shows) must not turn a row back, so its agent is folded anew from all its events
//! ([`Merge::refold`]).

mod announce;
mod states;

pub use announce::{KINDS, ground_name, is_retraction, retraction as announce_retraction, stream_row};
pub use states::{Trust, life_of};

use crate::parse::{Addresses, Parsed, REGISTERED, Registration, Touched, event_of};
use crate::store::{
    AgentRow, BatchRow, ChallengeRow, EpochRow, EventRow, FeedbackRow, GapRow, LifeRow, StreamRow, fixed,
    signed,
};
use std::collections::{BTreeMap, BTreeSet};
use zx1_chain::rpc::Event;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_protocol::batch::head_digest;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, MicroUsdc};

/// The address of an account.
pub type Key = [u8; 32];
/// An account in one life of it.
pub type Life = (Key, i64);

/// Which rows a set of events needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Agents, by mint.
    pub agents: BTreeSet<AgentId>,
    /// Batches, by agent and epoch.
    pub batches: BTreeSet<(AgentId, i64)>,
    /// Challenges, by address and creation slot.
    pub challenges: BTreeSet<Life>,
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
                Some(Event::ChallengeSubmitted(e)) => {
                    needs.batch(e.agent_id, e.epoch_number);
                    needs.challenges.insert((account, row.created_slot));
                }
                Some(
                    Event::ChallengeAnswered(_) | Event::ChallengeResolved(_) | Event::ChallengeClosed(_),
                ) => {
                    needs.challenges.insert((account, row.created_slot));
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
    /// Batches, by agent and epoch.
    pub batches: BTreeMap<(AgentId, i64), BatchRow>,
    /// Challenges, by address and creation slot.
    pub challenges: BTreeMap<Life, ChallengeRow>,
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
    /// Lives in which an event came behind a later one.
    pub recheck: BTreeSet<Life>,
    /// Whether events are announced to the streams. A refold announces nothing a second time.
    pub silent: bool,
    /// Unix milliseconds, for what is announced.
    pub now_ms: i64,
}

/// The row of an agent of which nothing but the mint is known.
pub fn new_agent(mint: AgentId) -> AgentRow {
    AgentRow {
        mint,
        head_digest: vec![0; 32],
        metadata: "[]".to_owned(),
        delegates: "[]".to_owned(),
        reputation: "{}".to_owned(),
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
        let row = self.agent(mint);
        row.stake = None;
        row.stake_since = None;
        row.stake_created = None;
        row.unlock_slot = None;
        row.open_challenges = 0;
        row.slashed = MicroUsdc(0);
        row.paid_through = None;
        row.lease_paid_slot = None;
        row.lease_paid = MicroUsdc(0);
        row.batches = 0;
        row.last_epoch = None;
        row.last_batch_slot = None;
        row.head_digest = vec![0; 32];
        row.challenges_answered = 0;
        row.challenges_lost = 0;
        row.last_active = None;
        row.registered_slot = None;
        for batch in self.batches.values_mut().filter(|batch| batch.agent == mint) {
            batch.challenges = 0;
            batch.open = 1;
        }
        let was = std::mem::replace(&mut self.silent, true);
        events.iter().for_each(|row| self.apply(row));
        self.silent = was;
        for account in [Touched::Stake(mint), Touched::Lease(mint), Touched::Head(mint)] {
            self.touched.insert(account);
        }
        self.recount_withheld(mint);
        self.recount_answered(mint);
    }

    /// Batches without data, from the batches that are known.
    pub fn recount_withheld(&mut self, mint: AgentId) {
        let mine = self.batches.range((mint, i64::MIN)..=(mint, i64::MAX));
        let withheld = mine.filter(|(_, batch)| batch.data_bytes.is_none()).count();
        self.agent(mint).withheld = i64::try_from(withheld).unwrap_or(i64::MAX);
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
        let challenged = || Some(self.challenges.get(&(fixed(&row.account), row.created_slot))?.agent);
        row.agent.or_else(challenged)
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
            Event::StakeLocked(e) => {
                let agent = self.agent(e.agent_mint.into());
                agent.stake = Some(MicroUsdc(e.stake_usdc));
                agent.stake_created = Some(row.created_slot);
                agent.stake_since = Some(row.created_slot);
                self.touched.insert(Touched::Stake(e.agent_mint.into()));
                self.end_of_epoch(row, e.agent_mint.into());
            }
            Event::UnlockQueued(e) => {
                self.agent(e.agent_mint.into()).unlock_slot = Some(signed(e.unlock_available_slot));
                self.touched.insert(Touched::Stake(e.agent_mint.into()));
            }
            Event::UnlockCanceled(e) => {
                self.agent(e.agent_mint.into()).unlock_slot = None;
                self.touched.insert(Touched::Stake(e.agent_mint.into()));
            }
            Event::StakeClaimed(e) => {
                let agent = self.agent(e.agent_mint.into());
                agent.stake = None;
                agent.stake_since = None;
                agent.stake_created = None;
                agent.unlock_slot = None;
                self.touched.insert(Touched::Stake(e.agent_mint.into()));
                self.end_of_epoch(row, e.agent_mint.into());
            }
            Event::StakeSlashed(e) => {
                let agent = self.agent(e.agent_mint.into());
                let amount = MicroUsdc(e.amount);
                agent.stake = agent.stake.map(|stake| stake.saturating_sub(amount));
                agent.slashed = agent.slashed.saturating_add(amount);
                self.touched.insert(Touched::Stake(e.agent_mint.into()));
                self.end_of_epoch(row, e.agent_mint.into());
            }
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
            Event::BatchSubmitted(e) => self.batch_submitted(row, &e),
            Event::BatchClosed(e) => {
                if let Some(batch) = self.batches.get_mut(&(e.agent_id.into(), signed(e.epoch_number))) {
                    batch.open = 0;
                }
                self.touched.insert(Touched::Head(e.agent_id.into()));
            }
            Event::ChallengeSubmitted(e) => self.challenge_submitted(row, &e),
            Event::ChallengeAnswered(e) => {
                self.touched.insert(Touched::Challenge(e.challenge, e.account_created_slot));
                self.change_challenge((e.challenge, row.created_slot), |challenge| {
                    challenge.answered_slot = Some(row.slot);
                    challenge.answerer = Some(e.answerer.to_vec());
                    challenge.leaf_index = Some(i64::from(e.leaf_index));
                });
            }
            Event::ChallengeResolved(e) => self.challenge_resolved(row, &e),
            Event::ChallengeClosed(e) => {
                if let Some(challenge) = self.challenges.get_mut(&(e.challenge, row.created_slot)) {
                    challenge.closed = 1;
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
            | Event::EnvelopeRecorded(_)
            | Event::EnvelopeDiscarded(_)
            | Event::EvidenceDraftBegun(_)
            | Event::EvidenceDraftCanceled(_)
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

    fn batch_submitted(&mut self, row: &EventRow, e: &zx1_interface::events::BatchSubmitted) {
        let agent = AgentId(e.agent_id);
        let commitment = Commitment {
            agent,
            epoch: Epoch(e.epoch_number),
            log_merkle_root: e.log_merkle_root,
            log_len: e.log_len,
            batch_hash: e.batch_hash,
            arrays_root: e.arrays_root,
            arrays_len: e.arrays_len,
        };
        let epoch = signed(e.epoch_number);
        let batch = self.batches.entry((agent, epoch)).or_insert_with(|| BatchRow {
            agent,
            epoch,
            open: 1,
            ..BatchRow::default()
        });
        let is_new = batch.signature.is_empty();
        batch.covers_from = signed(e.covers_from_epoch);
        batch.submitted_slot = signed(e.submitted_slot);
        batch.block_time = row.block_time;
        batch.signature.clone_from(&row.signature);
        batch.signer = e.signer.to_vec();
        batch.payer = e.payer.to_vec();
        batch.batch_hash = e.batch_hash.to_vec();
        batch.log_root = e.log_merkle_root.to_vec();
        batch.log_len = i64::from(e.log_len);
        batch.arrays_root = e.arrays_root.to_vec();
        batch.arrays_len = i64::from(e.arrays_len);
        let agent = self.agent(agent);
        agent.batches = agent.batches.saturating_add(1);
        agent.last_epoch = agent.last_epoch.max(Some(epoch));
        agent.last_batch_slot = agent.last_batch_slot.max(Some(signed(e.submitted_slot)));
        agent.head_digest = head_digest::<Sha3>(&fixed(&agent.head_digest), &commitment.message()).to_vec();
        if is_new {
            agent.withheld = agent.withheld.saturating_add(1);
        }
        self.touched.insert(Touched::Head(e.agent_id.into()));
    }

    fn challenge_submitted(&mut self, row: &EventRow, e: &zx1_interface::events::ChallengeSubmitted) {
        let (agent, life) = (AgentId(e.agent_id), (e.challenge, row.created_slot));
        let evidence = Some(e.evidence.to_vec()).filter(|_| e.evidence != [0; 32]);
        let challenge = ChallengeRow {
            address: e.challenge.to_vec(),
            submitted_slot: row.created_slot,
            agent,
            epoch: signed(e.epoch_number),
            challenger: e.challenger.to_vec(),
            ground: i64::from(e.ground),
            entry_hash: e.entry_hash.to_vec(),
            evidence_hash: e.evidence_hash.to_vec(),
            evidence_account: evidence,
            signature: row.signature.clone(),
            // A refold keeps what only the account has said.
            expected: self.challenges.get(&life).and_then(|known| known.expected.clone()),
            ..ChallengeRow::default()
        };
        self.challenges.insert(life, challenge);
        if let Some(batch) = self.batches.get_mut(&(e.agent_id.into(), signed(e.epoch_number))) {
            batch.challenges = batch.challenges.saturating_add(1);
        }
        let agent = self.agent(e.agent_id.into());
        agent.open_challenges = agent.open_challenges.saturating_add(1);
        self.touched.insert(Touched::Challenge(e.challenge, e.account_created_slot));
        self.touched.insert(Touched::Stake(e.agent_id.into()));
        self.announce_challenge(row, e);
    }

    fn challenge_resolved(&mut self, row: &EventRow, e: &zx1_interface::events::ChallengeResolved) {
        self.change_challenge((e.challenge, row.created_slot), |challenge| {
            challenge.resolved_slot = Some(row.slot);
            challenge.succeeded = Some(i64::from(e.succeeded));
            challenge.slashed = Some(MicroUsdc(e.slashed));
            challenge.reward = Some(MicroUsdc(e.reward));
        });
        let agent = self.agent(e.agent_id.into());
        agent.open_challenges = agent.open_challenges.saturating_sub(1).max(0);
        if e.succeeded != 0 {
            agent.challenges_lost = agent.challenges_lost.saturating_add(1);
        }
        self.touched.insert(Touched::Challenge(e.challenge, e.account_created_slot));
        self.touched.insert(Touched::Stake(e.agent_id.into()));
        self.announce_resolved(row, e);
    }

    /// Changes a challenge that is known. Its agent has answered it from the answer on, not only when the answer
    /// is resolved; one whose answer was missed is known to be answered when it did not succeed.
    pub(super) fn change_challenge(&mut self, life: Life, change: impl FnOnce(&mut ChallengeRow)) {
        let Some(challenge) = self.challenges.get_mut(&life) else { return };
        let before = is_answered(challenge);
        change(challenge);
        if !before
            && is_answered(challenge)
            && let Some(agent) = self.agents.get_mut(&challenge.agent)
        {
            agent.challenges_answered = agent.challenges_answered.saturating_add(1);
        }
    }

    /// Challenges that the agent has answered, from those that are known.
    fn recount_answered(&mut self, mint: AgentId) {
        let mine = self.challenges.values().filter(|row| row.agent == mint && is_answered(row)).count();
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

fn is_answered(challenge: &ChallengeRow) -> bool {
    challenge.answered_slot.is_some() || challenge.succeeded == Some(0)
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
