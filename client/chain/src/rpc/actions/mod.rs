//! What the command line does, as drafts and flows: accounts are looked up, missing token accounts are made,
//! and long things go through draft buffers. Nothing here signs or sends.

mod batches;
mod challenges;
mod feedback;
mod stakes;

pub use super::intents;
pub use challenges::{ChallengeRequest, ChallengeWith, challenge_address};

use super::client::Client;
use super::draft::{Draft, Intent};
use super::error::{ChainError, Result};
use super::registry::{AgentRecord, IdentityRegistry, need};
use crate::token::{self, TOKEN_PROGRAM};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use zx1_interface::accounts::Config;
use zx1_protocol::ids::AgentId;

/// Builds drafts for one cluster and one registry.
pub struct Actions<'a> {
    client: &'a Client,
    registry: &'a dyn IdentityRegistry,
    config: Config,
    tables: Vec<AddressLookupTableAccount>,
}

impl<'a> Actions<'a> {
    /// Reads the protocol's configuration.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotConfigured`].
    pub async fn new(client: &'a Client, registry: &'a dyn IdentityRegistry) -> Result<Self> {
        let config = client.config().await?.value;
        Ok(Self { client, registry, config, tables: Vec::new() })
    }

    /// The same with lookup tables, which leave more room in every transaction ([`super::lookup`]).
    #[must_use]
    pub fn with_tables(mut self, tables: Vec<AddressLookupTableAccount>) -> Self {
        self.tables = tables;
        self
    }

    /// The configuration that all programs read.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The USDC mint.
    pub fn usdc_mint(&self) -> Address {
        Address::new_from_array(self.config.usdc_mint)
    }

    /// A wallet's associated USDC account, there or not: the one that all commands pay from and into.
    pub fn usdc_of(&self, wallet: &Address) -> Address {
        token::associated_address(wallet, &self.usdc_mint(), &TOKEN_PROGRAM)
    }

    fn draft(&self, intent: Intent, title: String, payer: Address, list: Vec<Instruction>) -> Draft {
        Draft::new(intent, title, payer, list).with_tables(self.tables.clone())
    }

    async fn agent(&self, mint: AgentId) -> Result<AgentRecord> {
        need(self.registry, mint).await
    }

    /// The account that a wallet pays from.
    ///
    /// # Errors
    ///
    /// [`ChainError::NoUsdc`] where it is not there; whether it holds enough is for the programs to say.
    async fn paying(&self, wallet: Address) -> Result<Address> {
        let account = self.usdc_of(&wallet);
        match self.client.token_account(account).await? {
            Some(_) => Ok(account),
            None => Err(ChainError::NoUsdc { wallet, local: self.client.cluster().is_local() }),
        }
    }

    /// A wallet's USDC account and, where it is not there, the instruction that makes it.
    async fn usdc_or_create(
        &self,
        payer: Address,
        wallet: Address,
    ) -> Result<(Address, Option<Instruction>)> {
        let account = self.usdc_of(&wallet);
        let there = self.client.token_account(account).await?.is_some();
        let mint = self.usdc_mint();
        let create = (!there).then(|| token::create_associated(&payer, &wallet, &mint, &TOKEN_PROGRAM));
        Ok((account, create))
    }

    /// The treasury's USDC account, made by the payer where it is not there.
    async fn treasury(&self, payer: Address) -> Result<(Address, Option<Instruction>)> {
        self.usdc_or_create(payer, Address::new_from_array(self.config.treasury)).await
    }

    /// The delegation by which `wallet` acts for an agent: None for the owner itself.
    async fn delegation(&self, agent: &AgentRecord, wallet: Address) -> Result<Option<Address>> {
        if agent.owner == Some(wallet) {
            return Ok(None);
        }
        let delegates = self.registry.delegates(agent.mint).await?;
        let found = delegates.into_iter().find(|delegate| delegate.live && delegate.delegate == wallet);
        let denied = ChainError::NotAuthorized { mint: agent.mint, wallet };
        found.map(|delegate| Some(delegate.account)).ok_or(denied)
    }
}

/// The first eight bytes of a hash as a draft's nonce: the same intent finds the same draft again.
fn nonce(parts: &[&[u8]]) -> u64 {
    use sha3::{Digest, Keccak256};
    let mut hash = Keccak256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    let hash: [u8; 32] = hash.finalize().into();
    hash.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
