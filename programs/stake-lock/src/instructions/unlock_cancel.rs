//! cancel_unlock (decision B6).

use crate::state::{Stake, expect_agent, lease_facts};
use anchor_lang::prelude::*;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::events::UnlockCanceled;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, agent, bump, emit, ensure, key, time};

/// Accounts of cancel_unlock.
#[event_cpi]
#[derive(Accounts)]
pub struct CancelUnlock {
    /// Holds the agent's NFT.
    pub owner: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the owner.
    pub agent_token: UncheckedAccount,
    /// The stake; checked by type and agent.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The lease, or its empty address.
    pub lease: UncheckedAccount,
}

impl CancelUnlock {
    pub(crate) fn handle(&mut self, agent_mint: &Address) -> Result<()> {
        let config = agent::config(&self.config)?;
        // agent_mint, agent_index, agent_token, owner: the signer holds the named agent's NFT.
        ensure!(agent_mint == self.agent_mint.address(), Error::WrongAgent);
        agent::registered(config, &self.agent_mint, &self.agent_index)?;
        ensure!(
            agent::holder(key(&self.agent_mint), &self.agent_token)? == *key(&self.owner),
            Error::NotAgentOwner
        );
        // stake: the named agent's.
        expect_agent(&self.stake, agent_mint)?;
        // lease: live.
        let now = time::now()?;
        let lease = lease_facts(agent_mint.as_array(), &self.lease, &now)?;

        self.stake.cancel(&lease)?;
        let event = UnlockCanceled {
            agent_mint: self.stake.agent_mint,
            slot: now.slot.0,
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
