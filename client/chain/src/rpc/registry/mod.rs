//! Who an agent is. One trait stands before every registry, so that another one can be added beside SATI,
//! which is the first and the default (decision A3).

mod attest;
mod members;
mod metadata;
mod sati;

pub use attest::{Agreement, Feedback, ReadAttestation};
pub use members::Member;
pub use metadata::Metadata;
pub(super) use sati::member;
use sati::registry_config;
pub use sati::{Edition, Sati, first_token_account, indexed_mint, registered_mint};

use super::draft::{Asked, Flow};
use super::error::{ChainError, Result};
use crate::instructions::AgentAddresses;
use crate::sati::NewAgent;
use solana_address::Address;
use solana_keypair::Keypair;
use std::sync::Arc;
use zx1_protocol::ids::AgentId;

/// An agent as its registry knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRecord {
    /// The mint, which is the agent's id.
    pub mint: AgentId,
    /// Its number in the registry, from 1.
    pub member_number: u64,
    /// The registry's index account of that number.
    pub index: Address,
    /// The wallet that owns it; None when the token was burned.
    pub owner: Option<Address>,
    /// The token account that holds it; None when the token was burned.
    pub token: Option<Address>,
    /// Names and the address of the registration file.
    pub metadata: Metadata,
    /// Whether it can never change hands.
    pub soulbound: bool,
}

impl AgentRecord {
    /// The addresses that prove who owns it.
    ///
    /// # Errors
    ///
    /// [`ChainError::AgentBurned`].
    pub fn addresses(&self) -> Result<AgentAddresses> {
        let token = self.token.ok_or(ChainError::AgentBurned { mint: self.mint })?;
        Ok(AgentAddresses { mint: self.mint, index: self.index, token })
    }

    /// The addresses for what the last owner of a burned agent may still do (decision B6): any account serves
    /// as the token account.
    pub fn addresses_even_if_burned(&self) -> AgentAddresses {
        AgentAddresses { mint: self.mint, index: self.index, token: self.token.unwrap_or(self.mint.into()) }
    }
}

/// A key that a DelegateV1 attestation names. It is shown and gives no authority: key accounts do (decision
/// P1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delegate {
    /// The delegation's account.
    pub account: Address,
    /// Key of the delegate.
    pub delegate: Address,
    /// The owner who gave the delegation.
    pub delegator: Address,
    /// Unix seconds after which it counts no more; 0 is never.
    pub expiry: i64,
    /// Whether SATI counts it now: given by the present owner, and not expired.
    pub live: bool,
}

/// Parameters of a registration.
#[derive(Clone)]
pub struct Registration {
    /// Wallet that pays the rent and the fee.
    pub payer: Address,
    /// Owner of the agent; it signs as well where metadata entries are given.
    pub owner: Address,
    /// Name, symbol and metadata of the agent.
    pub agent: NewAgent,
    /// The new mint's key.
    pub mint: Arc<Keypair>,
}

/// A registry of agents.
pub trait IdentityRegistry: Send + Sync {
    /// Name of the registry.
    fn name(&self) -> &'static str;

    /// A flow that registers an agent.
    ///
    /// # Errors
    ///
    /// [`ChainError::Invalid`] for names that the registry would refuse.
    fn register(&self, wish: &Registration) -> Result<Box<dyn Flow>>;

    /// An agent by its mint; None when the registry has no such agent.
    fn look_up(&self, mint: AgentId) -> Asked<'_, Option<AgentRecord>>;

    /// Whether this wallet owns the agent now.
    fn verify_ownership(&self, mint: AgentId, wallet: Address) -> Asked<'_, bool>;

    /// The delegations that were filed for the agent and not taken back, live or not.
    fn delegates(&self, mint: AgentId) -> Asked<'_, Vec<Delegate>>;

    /// The agents that a wallet owns, by number.
    fn agents_of_wallet(&self, wallet: Address) -> Asked<'_, Vec<AgentRecord>>;

    /// What an agent says of itself on chain.
    fn metadata(&self, mint: AgentId) -> Asked<'_, Metadata>;
}

/// An agent by its mint.
///
/// # Errors
///
/// [`ChainError::NotAnAgent`].
pub(crate) async fn need(registry: &dyn IdentityRegistry, mint: AgentId) -> Result<AgentRecord> {
    let missing = ChainError::NotAnAgent { mint, registry: registry.name() };
    registry.look_up(mint).await?.ok_or(missing)
}
