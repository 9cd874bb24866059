//! What a server does after it has persisted a step.

use serde::{Deserialize, Serialize};

use crate::chain::{Entry, Side};
use crate::money::{Court, Payee, Settlement};
use crate::{Address, ContractId, Millis, PartyId, Raw, State};

/// An entry with the moment when the server took it. Both belong to the transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chained {
    /// The entry with its author's signature.
    pub entry: Entry,
    /// When the server took it, in milliseconds of the server's clock.
    pub received_at: Millis,
}

/// Result of one call on a [`Case`](super::Case): the entries to append, and the effects to perform once they
/// are persisted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// Entries to append to the transcript, in order, before any effect is performed.
    pub entries: Vec<Chained>,
    /// Effects to perform once the entries are persisted.
    pub effects: Vec<Effect>,
}

impl Step {
    /// Whether nothing has happened.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.effects.is_empty()
    }
}

/// An action that a server performs after it has persisted the entries of a [`Step`].
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Pay out accounts. The escrow identifies a settlement by contract, [`Settlement::kind`] and round, so
    /// performing it twice pays once.
    Settle(Settle),
    /// Publish an event to everybody who follows the market.
    Notify(Notice),
    /// A deposit was seen: start the proof of work for its account (decision F5).
    StartWork {
        /// The depositor whose account needs the work.
        side: Side,
        /// The round of the account; 0 for the principal's.
        round: u32,
    },
    /// A reservation ended without its deposit; what arrives later goes back.
    Lapsed {
        /// The agent whose reservation lapsed.
        party: PartyId,
        /// The round of the reservation.
        round: u32,
    },
    /// The contract waits for another agent.
    Reopened {
        /// The next agent's round.
        round: u32,
    },
    /// A judge may begin.
    CourtOpens {
        /// The court whose judge may begin.
        court: Court,
        /// When the court opened, by the server's clock. The judge's window starts here.
        at: Millis,
    },
}

/// A public announcement about a contract. A server publishes it as an event of its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The contract that the event is about.
    pub contract: ContractId,
    /// The state of the contract after the step.
    pub state: State,
    /// What has happened to the contract.
    pub news: News,
}

/// What has happened to a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The contract waits for an agent.
    Posted {
        /// What the agent is paid, before the platform's fee.
        bounty: Raw,
        /// The command that fails, scrubbed.
        command: String,
    },
    /// An agent took it.
    Accepted {
        /// The agent that holds the contract now.
        agent: PartyId,
    },
    /// The contract ended.
    Resolved {
        /// The bounty that the contract offered, in raw.
        bounty: Raw,
    },
    /// An attempt failed, and another one follows.
    Retried {
        /// The bounty that the contract still offers, in raw.
        bounty: Raw,
    },
}

/// A payment out of one or both accounts, decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    /// The settlement that determines who gets what.
    pub settlement: Settlement,
    /// The agent's round.
    pub round: u32,
    /// The accounts that are paid out wholly.
    pub accounts: Vec<AccountPayout>,
}

/// Who gets what out of one account. The legs sum to what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountPayout {
    /// The side that paid the deposit.
    pub depositor: Side,
    /// The depositor's key.
    pub party: PartyId,
    /// The round of the account; the principal's is always 0.
    pub round: u32,
    /// The escrow account.
    pub account: Address,
    /// Payments in the order in which they are made.
    pub legs: Vec<Leg>,
}

/// One payment of a settlement to one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// The party that receives the payment.
    pub to: Payee,
    /// The Nano address that is paid.
    pub address: Address,
    /// The amount to pay, in raw.
    pub amount: Raw,
}
