//! From what a node answers to what is indexed. Pure: no I/O, no clock.
//!
//! What an event is and who may emit one is `zx1_chain`'s; this module says which account numbers it, which
//! agent it is about, and keeps its bytes.

mod accounts;
mod attested;
mod base58;
mod fields;

pub use accounts::{State, Touched};
pub use attested::{ATTESTED, Attested, UNATTESTED};
pub use base58::{Base58, base58};
pub use fields::{EventFields, registration_fields};

use crate::store::{EventRow, signed};
use solana_address::Address;
use std::collections::HashMap;
use zx1_chain::pda;
use zx1_chain::rpc::{Event, LandedTransaction};
use zx1_chain::sati;
use zx1_interface::ids;
use zx1_protocol::ids::AgentId;

/// The programs whose transactions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// The program StakeLock.
    StakeLock,
    /// The program Lease.
    Lease,
    /// The program BehaviorLog.
    BehaviorLog,
    /// The program Challenge.
    Challenge,
    /// The program FeedbackLog.
    FeedbackLog,
    /// SATI, the registry.
    Sati,
}

impl Program {
    /// All of them, in the order of their numbers in the store.
    pub const ALL: [Self; 6] =
        [Self::StakeLock, Self::Lease, Self::BehaviorLog, Self::Challenge, Self::FeedbackLog, Self::Sati];

    /// Program id of the program.
    pub fn address(self) -> Address {
        Address::new_from_array(match self {
            Self::StakeLock => ids::STAKE_LOCK,
            Self::Lease => ids::LEASE,
            Self::BehaviorLog => ids::BEHAVIOR_LOG,
            Self::Challenge => ids::CHALLENGE,
            Self::FeedbackLog => ids::FEEDBACK_LOG,
            Self::Sati => ids::SATI,
        })
    }

    /// The program's name in the interface's JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::StakeLock => "stake_lock",
            Self::Lease => "lease",
            Self::BehaviorLog => "behavior_log",
            Self::Challenge => "challenge",
            Self::FeedbackLog => "feedback_log",
            Self::Sati => "sati",
        }
    }

    /// The program's number in the database.
    pub fn number(self) -> i64 {
        match self {
            Self::StakeLock => 0,
            Self::Lease => 1,
            Self::BehaviorLog => 2,
            Self::Challenge => 3,
            Self::FeedbackLog => 4,
            Self::Sati => 5,
        }
    }

    /// The program with this number.
    pub fn of_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.number() == number)
    }

    /// The program with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }

    fn of_address(address: &[u8; 32]) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.address().as_array() == address)
    }
}

/// The name under which a registration is kept.
pub const REGISTERED: &str = "AgentRegistered";

/// A registration at SATI: its payload in the store is mint ‖ owner ‖ index account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registration {
    /// Mint of the agent's NFT.
    pub mint: AgentId,
    /// Wallet that the agent was registered for.
    pub owner: [u8; 32],
    /// Index account of the agent in the registry.
    pub index: [u8; 32],
}

impl Registration {
    /// Bytes that stand for it in the index: mint, owner, index account.
    pub fn payload(&self) -> Vec<u8> {
        [self.mint.0, self.owner, self.index].concat()
    }

    /// The reverse of [`Self::payload`]; `None` for a payload of another length.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let (mint, rest) = payload.split_first_chunk()?;
        let (owner, rest) = rest.split_first_chunk()?;
        let (index, rest) = rest.split_first_chunk()?;
        rest.is_empty().then_some(Self { mint: AgentId(*mint), owner: *owner, index: *index })
    }
}

/// Events and registrations of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// First signature of the transaction.
    pub signature: [u8; 64],
    /// Slot of the transaction.
    pub slot: u64,
    /// Time of its block, in Unix seconds.
    pub block_time: Option<i64>,
    /// Its events in order, then its registrations, then its attestations.
    pub facts: Vec<Fact>,
}

/// An event or a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// An event of one of the five programs.
    Event(Event),
    /// An agent was registered.
    Registered(Registration),
    /// An attestation, or the closing of one.
    Attested(Attested),
}

/// What this transaction did; nothing if it failed. `group` is the configured registry's.
pub fn transaction(landed: &LandedTransaction, group: &[u8; 32]) -> Parsed {
    let mut facts: Vec<Fact> = landed.events().into_iter().map(Fact::Event).collect();
    if landed.error.is_none() {
        facts.extend(landed.calls.iter().filter_map(|called| {
            let call = &called.call;
            let is_registration = call.program == sati::PROGRAM
                && call.data.starts_with(&sati::instruction_discriminator::REGISTER_AGENT);
            is_registration.then_some(())?;
            // Payer, owner, registry, group, mint, token account, token program, index.
            let account = |at: usize| call.accounts.get(at).map(Address::to_bytes);
            (account(3)? == *group).then_some(())?;
            Some(Fact::Registered(Registration {
                mint: account(4)?.into(),
                owner: account(1)?,
                index: account(7)?,
            }))
        }));
        facts.extend(attested::attestations(&landed.calls));
    }
    Parsed { signature: landed.signature.into(), slot: landed.slot, block_time: landed.block_time, facts }
}

/// An account of an agent whose address is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Tenure,
    Key([u8; 32]),
    Stake(u32),
    Lease,
    Head,
}

/// Remembers derived addresses: deriving one costs more than everything else about an event.
#[derive(Debug, Default)]
pub struct Addresses {
    known: HashMap<(Of, AgentId), [u8; 32]>,
}

/// Number of addresses above which the cache is emptied.
const MAX_ADDRESSES: usize = 1 << 20;

impl Addresses {
    fn of(&mut self, of: Of, agent: &[u8; 32]) -> [u8; 32] {
        if self.known.len() >= MAX_ADDRESSES {
            self.known.clear();
        }
        let agent = AgentId(*agent);
        *self.known.entry((of, agent)).or_insert_with(|| {
            let derived = match of {
                Of::Tenure => pda::tenure(&agent),
                Of::Key(key) => pda::key(&agent, &Address::new_from_array(key)),
                Of::Stake(era) => pda::stake(&agent, era),
                Of::Lease => pda::lease(&agent),
                Of::Head => pda::head(&agent),
            };
            derived.to_bytes()
        })
    }

    /// The account that numbers this event.
    pub fn numbered_by(&mut self, event: &Event) -> [u8; 32] {
        match event {
            Event::ConfigInitialized(_) => pda::config().to_bytes(),
            Event::TenureOpened(e) => self.of(Of::Tenure, &e.agent_mint),
            Event::TakenOver(e) => self.of(Of::Tenure, &e.agent_mint),
            Event::KeyAdded(e) => self.of(Of::Key(e.key), &e.agent_mint),
            Event::KeyEnded(e) => self.of(Of::Key(e.key), &e.agent_mint),
            Event::KeyClosed(e) => self.of(Of::Key(e.key), &e.agent_mint),
            Event::StakeLocked(e) => self.of(Of::Stake(e.era), &e.agent_mint),
            Event::EraEnded(e) => self.of(Of::Stake(e.era), &e.agent_mint),
            Event::UnlockQueued(e) => self.of(Of::Stake(e.era), &e.agent_mint),
            Event::UnlockCanceled(e) => self.of(Of::Stake(e.era), &e.agent_mint),
            Event::StakeClaimed(e) => self.of(Of::Stake(e.era), &e.agent_mint),
            Event::StakeMoved(e) => self.of(Of::Stake(e.era), &e.agent_mint),
            Event::LeasePaid(e) => self.of(Of::Lease, &e.agent_id),
            Event::GracePeriodEntered(e) => self.of(Of::Lease, &e.agent_id),
            Event::LeaseExpired(e) => self.of(Of::Lease, &e.agent_id),
            Event::HeadOpened(e) => self.of(Of::Head, &e.agent_id),
            Event::BatchSubmitted(e) => self.of(Of::Head, &e.agent_id),
            Event::BatchClosed(e) => self.of(Of::Head, &e.agent_id),
            Event::BatchWithheld(e) => self.of(Of::Head, &e.agent_id),
            Event::EvidenceDraftBegun(e) => e.draft,
            Event::EvidenceSealed(e) => e.draft,
            Event::EvidenceDraftCanceled(e) => e.draft,
            Event::ChallengeSubmitted(e) => e.challenge,
            Event::ChallengeAnswered(e) => e.challenge,
            Event::ChallengeResolved(e) => e.challenge,
            Event::ChallengeClosed(e) => e.challenge,
            // A challenge's or a draft's, whose numbers it continues.
            Event::RankPassed(e) => e.account,
            Event::LeafAsked(e) => e.ask,
            Event::LeafShown(e) => e.ask,
            Event::AskSettled(e) => e.ask,
            Event::AskClosed(e) => e.ask,
            Event::FeedbackSubmitted(_) => pda::feedback_log().to_bytes(),
            Event::FeedbackDraftBegun(e) => e.draft,
            Event::FeedbackDraftCanceled(e) => e.draft,
            Event::FeedbackResolved(e) => pda::feedback_resolution(e.index).to_bytes(),
        }
    }

    /// The rows of a transaction. `position` is its place among those of its slot.
    pub fn rows(&mut self, parsed: &Parsed, position: i64) -> Vec<EventRow> {
        let row = |(ordinal, fact): (usize, &Fact)| {
            let (program, name, account, agent, (sequence, created), payload) = match fact {
                Fact::Event(event) => (
                    Program::of_address(&event.program()).map_or(0, Program::number),
                    event.name(),
                    self.numbered_by(event),
                    agent_of(event),
                    event.sequence(),
                    event.payload(),
                ),
                Fact::Registered(it) => (
                    Program::Sati.number(),
                    REGISTERED,
                    it.mint.0,
                    Some(it.mint),
                    (0, parsed.slot),
                    it.payload(),
                ),
                // SATI numbers nothing: each is the first of its slot.
                Fact::Attested(it) => (
                    Program::Sati.number(),
                    it.name(),
                    it.address,
                    Some(it.agent),
                    (0, parsed.slot),
                    it.payload(),
                ),
            };
            EventRow {
                slot: signed(parsed.slot),
                position,
                ordinal: i64::try_from(ordinal).unwrap_or(i64::MAX),
                signature: parsed.signature.to_vec(),
                block_time: parsed.block_time,
                program,
                name: name.to_owned(),
                account: account.to_vec(),
                created_slot: signed(created),
                sequence: signed(sequence),
                agent,
                payload,
            }
        };
        parsed.facts.iter().enumerate().map(row).collect()
    }
}

/// The agent that an event names; that of a closed challenge, and of an ask that was shown or closed, is known
/// only from their beginning.
pub fn agent_of(event: &Event) -> Option<AgentId> {
    let agent = match event {
        Event::TenureOpened(e) => e.agent_mint,
        Event::TakenOver(e) => e.agent_mint,
        Event::KeyAdded(e) => e.agent_mint,
        Event::KeyEnded(e) => e.agent_mint,
        Event::KeyClosed(e) => e.agent_mint,
        Event::StakeLocked(e) => e.agent_mint,
        Event::EraEnded(e) => e.agent_mint,
        Event::UnlockQueued(e) => e.agent_mint,
        Event::UnlockCanceled(e) => e.agent_mint,
        Event::StakeClaimed(e) => e.agent_mint,
        Event::StakeMoved(e) => e.agent_mint,
        Event::LeasePaid(e) => e.agent_id,
        Event::GracePeriodEntered(e) => e.agent_id,
        Event::LeaseExpired(e) => e.agent_id,
        Event::HeadOpened(e) => e.agent_id,
        Event::BatchSubmitted(e) => e.agent_id,
        Event::BatchClosed(e) => e.agent_id,
        Event::BatchWithheld(e) => e.agent_id,
        // One without a rank is begun against nobody yet.
        Event::EvidenceDraftBegun(e) if e.agent_id != [0; 32] => e.agent_id,
        Event::ChallengeSubmitted(e) => e.agent_id,
        Event::ChallengeAnswered(e) => e.agent_id,
        Event::ChallengeResolved(e) => e.agent_id,
        Event::RankPassed(e) => e.agent_id,
        Event::LeafAsked(e) => e.agent_id,
        Event::AskSettled(e) => e.agent_id,
        Event::ConfigInitialized(_)
        | Event::EvidenceDraftBegun(_)
        | Event::EvidenceSealed(_)
        | Event::EvidenceDraftCanceled(_)
        | Event::ChallengeClosed(_)
        | Event::LeafShown(_)
        | Event::AskClosed(_)
        | Event::FeedbackSubmitted(_)
        | Event::FeedbackDraftBegun(_)
        | Event::FeedbackDraftCanceled(_)
        | Event::FeedbackResolved(_) => return None,
    };
    Some(AgentId(agent))
}

/// The event in a row; `None` for a registration or bytes that are not an event.
pub fn event_of(row: &EventRow) -> Option<Event> {
    let program = Program::of_number(row.program)?;
    Event::read(program.address().as_array(), &row.payload)
}

#[cfg(test)]
mod tests;
