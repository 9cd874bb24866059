//! What the command line does, as drafts and flows: accounts are looked up, missing token accounts are made,
//! and long things go through draft buffers. Nothing here signs or sends.

mod asks;
mod batches;
mod challenges;
mod drafts;
mod feedback;
mod keys;
mod stakes;

pub use super::intents;
pub use challenges::{ChallengeRequest, ChallengeWith, ClaimWith, challenge_addresses};

use super::client::Client;
use super::draft::{Draft, Intent};
use super::error::{ChainError, Result};
use super::read::Stored;
use super::registry::{AgentRecord, IdentityRegistry, need};
use crate::pda;
use crate::token::{self, TOKEN_PROGRAM};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use zx1_interface::accounts::{BatchAccount, Config, KeyAccount};
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
    /// [`ChainError::NotConfigured`], and [`ChainError::WrongNetwork`] where the configuration is another
    /// cluster's.
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

    /// A USDC account in which a wallet can be paid, and the instructions that make it.
    async fn receiving(&self, payer: Address, wallet: Address) -> Result<(Address, Vec<Instruction>)> {
        receiving(self.client, &self.usdc_mint(), payer, wallet).await
    }

    /// The treasury's USDC account, made by the payer where it is not there.
    async fn treasury(&self, payer: Address) -> Result<(Address, Vec<Instruction>)> {
        self.receiving(payer, Address::new_from_array(self.config.treasury)).await
    }

    /// The key account by which `wallet` may act for an agent: None for the holder itself. Whether the key is
    /// live, has the scope and is the holder's is for the programs to say.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAuthorized`] where there is none.
    async fn key_of(&self, agent: &AgentRecord, wallet: Address) -> Result<Option<Address>> {
        if agent.owner == Some(wallet) {
            return Ok(None);
        }
        let found: Option<Stored<KeyAccount>> = self.client.key(agent.mint, wallet).await?;
        let denied = ChainError::NotAuthorized { mint: agent.mint, wallet };
        found.map(|key| Some(key.address)).ok_or(denied)
    }

    /// An agent's batch of an epoch.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    async fn batch(&self, agent: AgentId, epoch: u64) -> Result<Stored<BatchAccount>> {
        let address = pda::batch(&agent, epoch);
        let what = format!("batch of epoch {epoch}").into();
        self.client.batch(agent, epoch).await?.ok_or(ChainError::AccountMissing { what, address })
    }
}

/// How many accounts of its own a payer tries for one wallet that gives each of them away.
const MAX_NUMBERED: u8 = 16;

/// A USDC account in which a wallet can be paid, and the instructions by which the payer makes it where there is
/// none: the associated one, else another that the wallet holds, else one of the payer's making. A wallet that must
/// be paid can give its associated account away or have it frozen, and whoever has to pay it would stand still.
pub(super) async fn receiving(
    client: &Client,
    mint: &Address,
    payer: Address,
    wallet: Address,
) -> Result<(Address, Vec<Instruction>)> {
    let associated = token::associated_address(&wallet, mint, &TOKEN_PROGRAM);
    match client.token_account(associated).await? {
        None => {
            let create = token::create_associated(&payer, &wallet, mint, &TOKEN_PROGRAM);
            return Ok((associated, vec![create]));
        }
        Some(found) if found.owner == wallet && !found.frozen => return Ok((associated, Vec::new())),
        Some(_) => {}
    }
    if let Some(other) = client.usdc_accounts(wallet, *mint).await?.into_iter().find(|other| !other.frozen) {
        return Ok((other.address, Vec::new()));
    }
    let rent = client.rent(token::ACCOUNT_LEN).await?;
    let build = |error| ChainError::Invalid(format!("no token account for {wallet} can be made: {error}"));
    for number in 0..MAX_NUMBERED {
        let account = token::numbered_address(&payer, &wallet, number).map_err(build)?;
        if client.account(account).await?.is_none() {
            let create = token::create_numbered(&payer, &wallet, mint, rent, number).map_err(build)?;
            return Ok((account, create.into()));
        }
    }
    Err(ChainError::Invalid(format!("the wallet {wallet} holds no USDC account into which it can be paid")))
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
