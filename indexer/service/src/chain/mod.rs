//! The Solana side: one trait, so that tests can put reorganisations, holes and late answers before the
//! ingest; behind it `zx1_chain`'s client.

mod announce;
mod rpc;

pub use announce::{Announced, Announcements};
pub use rpc::RpcLedger;

use crate::error::Result;
use crate::parse::Parsed;
use futures_util::future::BoxFuture;
use solana_address::Address;
use zx1_chain::rpc::registry::{AgentRecord, Delegate};
use zx1_chain::rpc::{ChainTime, RawAccount};
use zx1_protocol::ids::AgentId;

/// Result of a ledger's method, as a boxed future.
pub type Asked<'a, T> = BoxFuture<'a, Result<T>>;

/// How sure an answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finality {
    /// Nothing but a third of the stake could take it back.
    Confirmed,
    /// Nothing takes it back.
    Finalized,
}

/// A transaction in an address's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Listed {
    /// Slot of the transaction.
    pub slot: u64,
    /// Its first signature.
    pub signature: [u8; 64],
    /// Whether it failed; then it did nothing.
    pub failed: bool,
}

/// A kind of account of which all are listed by the self-audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Tenures of agents.
    Tenure,
    /// Keys of agents.
    Key,
    /// Stakes of agents' eras.
    Stake,
    /// Lease accounts of agents.
    Lease,
    /// Head accounts of agents' batches.
    Head,
    /// Accounts of submitted batches.
    Batch,
    /// Accounts of challenges.
    Challenge,
    /// Accounts of asks.
    Ask,
}

/// What the ingest asks of a cluster.
pub trait Ledger: Send + Sync + 'static {
    /// Genesis hash of the cluster.
    fn genesis(&self) -> Asked<'_, String>;
    /// The last slot at this finality.
    fn slot(&self, finality: Finality) -> Asked<'_, u64>;
    /// Slot and time of the cluster's clock.
    fn time(&self) -> Asked<'_, ChainTime>;
    /// Transactions that name this address, newest first, before this one. The node that answers must have
    /// reached the slot `reached` at this finality: of several behind one address another may have said where
    /// the chain ends, and what this one does not know yet would seem to have vanished.
    ///
    /// # Errors
    ///
    /// 9615 where it has not.
    fn list(
        &self,
        address: Address,
        before: Option<[u8; 64]>,
        limit: usize,
        finality: Finality,
        reached: u64,
    ) -> Asked<'_, Vec<Listed>>;
    /// What a transaction did; none when the node does not give it.
    fn transaction(&self, signature: [u8; 64], finality: Finality) -> Asked<'_, Option<Parsed>>;
    /// The signatures of a block in order; none where the node does not say.
    fn order(&self, slot: u64) -> Asked<'_, Option<Vec<[u8; 64]>>>;
    /// Accounts, in the order in which they are asked for.
    fn accounts<'a>(&'a self, addresses: &'a [Address]) -> Asked<'a, Vec<Option<RawAccount>>>;
    /// Reads all accounts of a kind.
    fn scan(&self, kind: Kind) -> Asked<'_, Vec<RawAccount>>;
    /// The mints that the registry has with the numbers after `from`, with their numbers and index accounts.
    fn members(&self, from: u64) -> Asked<'_, Vec<(u64, AgentId, Address)>>;
    /// Reads an agent from the registry; `None` for a mint that is not an agent.
    fn agent(&self, mint: AgentId) -> Asked<'_, Option<AgentRecord>>;
    /// The delegations that were filed for an agent. They give no authority.
    fn delegates(&self, mint: AgentId) -> Asked<'_, Vec<Delegate>>;
}
