//! queue_unlock (protocol.md, 10.5; decisions B6 and P1).

use crate::state::{LeaseFacts, NO_LEASE, Stake, expect_era, lease_facts};
use anchor_lang::prelude::*;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::events::UnlockQueued;
use zx1_interface::{Error, pda};
use zx1_runtime::{Now, Stored, agent, bump, emit, ensure, is_at, key, time};

/// Accounts of queue_unlock.
#[event_cpi]
#[derive(Accounts)]
pub struct QueueUnlock {
    /// Who locked the stake.
    pub owner: Signer,
    /// The agent's mint; checked by address.
    pub agent_mint: UncheckedAccount,
    /// Holds the NFT for whoever holds it; any account when the NFT was burned.
    pub agent_token: UncheckedAccount,
    /// The stake; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The lease, or its empty address.
    pub lease: UncheckedAccount,
}

impl QueueUnlock {
    fn validate(&self, agent: &[u8; 32], era: u32, now: &Now) -> Result<LeaseFacts> {
        // stake, owner: the named agent's and era's, locked by the signer.
        expect_era(&self.stake, agent, era)?;
        ensure!(is_at(&self.owner, &self.stake.owner), Error::NotStakeOwner);
        // agent_mint, agent_token: whether the signer still holds the NFT. lease: real, or proven absent.
        let holds = agent::is_held_by(agent, &self.agent_mint, &self.agent_token, key(&self.owner))?;
        if holds { lease_facts(agent, &self.lease, now) } else { Ok(NO_LEASE) }
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, era: u32) -> Result<()> {
        let now = time::now()?;
        let lease = self.validate(agent_mint.as_array(), era, &now)?;

        self.stake.queue(&lease, &now)?;
        let event = UnlockQueued {
            agent_mint: self.stake.agent_mint,
            era,
            unlock_available_slot: self.stake.unlock_available_slot,
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
