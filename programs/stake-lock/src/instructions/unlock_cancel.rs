//! cancel_unlock (decisions B6 and P1).

use crate::state::{LeaseFacts, Stake, expect_era, lease_facts};
use anchor_lang::prelude::*;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::events::UnlockCanceled;
use zx1_interface::{Error, pda};
use zx1_runtime::{Now, Stored, agent, bump, emit, ensure, is_at, key, time};

/// Accounts of cancel_unlock.
#[event_cpi]
#[derive(Accounts)]
pub struct CancelUnlock {
    /// Who locked the stake, and holds the agent's NFT.
    pub owner: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the owner.
    pub agent_token: UncheckedAccount,
    /// The stake; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The lease, or its empty address.
    pub lease: UncheckedAccount,
}

impl CancelUnlock {
    fn validate(&self, agent: &[u8; 32], era: u32, now: &Now) -> Result<LeaseFacts> {
        // stake, owner: the named agent's and era's, locked by the signer.
        expect_era(&self.stake, agent, era)?;
        ensure!(is_at(&self.owner, &self.stake.owner), Error::NotStakeOwner);
        // agent_mint, agent_index, agent_token: the signer holds the NFT.
        let config = agent::config(&self.config)?;
        let (mint, index, token) = (&self.agent_mint, &self.agent_index, &self.agent_token);
        agent::expect_holder(config, agent, mint, index, token, key(&self.owner))?;
        // lease: real, or proven absent.
        lease_facts(agent, &self.lease, now)
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, era: u32) -> Result<()> {
        let now = time::now()?;
        let lease = self.validate(agent_mint.as_array(), era, &now)?;

        self.stake.cancel(&lease)?;
        let event = UnlockCanceled {
            agent_mint: self.stake.agent_mint,
            era,
            slot: now.slot.0,
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
