//! add_key (decision P1).

use crate::state::{Key, Turn, last_batch};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{KeyAccount, StakeLockAccount, TenureAccount};
use zx1_interface::events::KeyAdded;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::keys::{OPEN, Scopes, first_epoch};
use zx1_runtime::{Stored, agent, bump, create, emit, key, load_optional, time};

/// Accounts of add_key.
#[event_cpi]
#[derive(Accounts)]
pub struct AddKey {
    /// Holds the agent's NFT, in a tenure of its own; pays the rent. It may list itself.
    #[account(mut, unsafe(dup))]
    pub owner: Signer,
    /// The key, which agrees by signing.
    pub key: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the owner.
    pub agent_token: UncheckedAccount,
    /// The agent's tenure; checked by type and agent.
    #[account(mut)]
    pub tenure: UncheckedAccount,
    /// Where the key's account goes; checked by address.
    #[account(mut)]
    pub key_account: UncheckedAccount,
    /// The stake of the tenure's era, or its empty address.
    pub stake: UncheckedAccount,
    /// The agent's head of batches, or its empty address.
    pub head: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl AddKey {
    fn validate(&self, agent: &[u8; 32], scopes: Scopes) -> Result<Stored<TenureAccount>> {
        // agent_mint, agent_index, agent_token, owner: the signer holds the named agent's NFT.
        let config = agent::config(&self.config)?;
        let (mint, index, token) = (&self.agent_mint, &self.agent_index, &self.agent_token);
        agent::expect_holder(config, agent, mint, index, token, key(&self.owner))?;
        scopes.check().map_err(|_| Error::InvalidScopes)?;
        // tenure: the signer's.
        agent::tenure_of(&self.tenure, agent, key(&self.owner))
    }

    /// Whether nothing is at risk yet: nobody has held the agent before, no stake is locked, no batch landed.
    fn is_first_use(&self, agent: &[u8; 32], tenure: &TenureAccount) -> Result<bool> {
        if tenure.number != 1 {
            return Ok(false);
        }
        // stake, head: real, or proven absent. A stake of another era or agent only costs the notice.
        let era_seeds: &[&[u8]] = &[seeds::STAKE, agent, &tenure.era.to_le_bytes()];
        let staked = load_optional::<StakeLockAccount>(&self.stake, era_seeds)?.is_some();
        Ok(!staked && last_batch(agent, &self.head)?.is_none())
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, scopes: u8) -> Result<()> {
        let agent = agent_mint.as_array();
        let mut tenure = self.validate(agent, Scopes(scopes))?;

        let now = time::now()?;
        let first_use = self.is_first_use(agent, &tenure)?;
        let first_after_take_over = tenure.number > 1 && tenure.has_listed == 0;
        let from = first_epoch(now.epoch, first_use, first_after_take_over);
        tenure.list_key()?;
        let fill = |account: &mut KeyAccount, bump| {
            account.created_slot = now.slot.0;
            account.from_epoch = from.0;
            account.until_epoch = OPEN;
            account.tenure = tenure.number;
            account.scopes = scopes;
            account.bump = bump;
            account.agent = *agent;
            account.key = *key(&self.key);
            account.owner = *key(&self.owner);
            account.payer = *key(&self.owner);
        };
        let key_seeds: &[&[u8]] = &[seeds::KEY, agent, key(&self.key)];
        let mut account = create(&self.owner, &self.key_account, key_seeds, 0, Error::AccountExists, fill)?;
        account.invariant()?;
        let event = KeyAdded {
            agent_mint: *agent,
            key: account.key,
            owner: account.owner,
            scopes,
            from_epoch: from.0,
            tenure: tenure.number,
            sequence: bump(&mut account.event_sequence)?,
            account_created_slot: account.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
