//! What a server does after it has persisted a step.

use serde::{Deserialize, Serialize};

use crate::chain::{Entry, Side};
use crate::money::{Court, Payee, Settlement};
use crate::{Address, ContractId, Millis, PartyId, Raw, State};

/// An entry with the moment when the server took it. Both belong to the transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chained {
    /// The entry.
    pub entry: Entry,
    /// By the server's clock.
    pub received_at: Millis,
}

/// What one call has brought: entries to append, in order, and effects to perform afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// New entries.
    pub entries: Vec<Chained>,
    /// What to do once they are persisted.
    pub effects: Vec<Effect>,
}

impl Step {
    /// Whether nothing has happened.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.effects.is_empty()
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Pay out accounts. The plan's key is (contract, [`Settlement::kind`], round), so doing it again does
    /// nothing.
    Settle(Settle),
    /// Tell everybody who follows the market.
    Notify(Notice),
    /// A deposit was seen: start the proof of work for its account (decision F5).
    StartWork {
        /// Whose account.
        side: Side,
        /// Of which round.
        round: u32,
    },
    /// A reservation ended without its deposit; what arrives later goes back.
    Lapsed {
        /// Whose.
        party: PartyId,
        /// Of which round.
        round: u32,
    },
    /// The contract waits for another agent.
    Reopened {
        /// The next agent's round.
        round: u32,
    },
    /// A judge may begin.
    CourtOpens {
        /// Which court.
        court: Court,
        /// Since when.
        at: Millis,
    },
}

/// What everybody may know of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The contract.
    pub contract: ContractId,
    /// Its state.
    pub state: State,
    /// What has happened.
    pub news: News,
}

/// What has happened to a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It can be taken.
    Posted {
        /// The bounty.
        bounty: Raw,
        /// The command that fails, scrubbed.
        command: String,
    },
    /// An agent took it.
    Accepted {
        /// The agent.
        agent: PartyId,
    },
    /// It ended.
    Resolved {
        /// The bounty.
        bounty: Raw,
    },
    /// An attempt failed, and another one follows.
    Retried {
        /// The bounty.
        bounty: Raw,
    },
}

/// A payment out of one or both accounts, decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    /// Why.
    pub settlement: Settlement,
    /// The agent's round.
    pub round: u32,
    /// The accounts that are paid out wholly.
    pub accounts: Vec<AccountPayout>,
}

/// Who gets what out of one account. The legs sum to what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountPayout {
    /// Who paid it in.
    pub depositor: Side,
    /// The depositor's key.
    pub party: PartyId,
    /// The round of the account; the principal's is always 0.
    pub round: u32,
    /// The escrow account.
    pub account: Address,
    /// In the order of payment.
    pub legs: Vec<Leg>,
}

/// One payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// Who gets it.
    pub to: Payee,
    /// Where.
    pub address: Address,
    /// How much.
    pub amount: Raw,
}
