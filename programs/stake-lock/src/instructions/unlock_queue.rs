//! queue_unlock (protocol.md, 10.5; decision B6).

use crate::state::{Stake, expect_agent, lease_facts};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{Config, StakeLockAccount};
use zx1_interface::events::UnlockQueued;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, agent, bump, emit, ensure, key, time};

/// Accounts of queue_unlock.
#[event_cpi]
#[derive(Accounts)]
pub struct QueueUnlock {
    /// Holds the agent's NFT, or is the last recorded owner of a burned one.
    pub owner: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the owner; any account when the NFT was burned.
    pub agent_token: UncheckedAccount,
    /// The stake; checked by type and agent.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The lease, or its empty address.
    pub lease: UncheckedAccount,
}

/// The wallet that a stake belongs to now: the NFT's holder, or the last recorded owner when the NFT was
/// burned, which is how an agent retires (decision B6).
pub(super) fn beneficiary(
    config: &Config,
    stake: &Stored<StakeLockAccount>,
    mint: &AccountView,
    index: &AccountView,
    token: &AccountView,
) -> Result<[u8; 32]> {
    let registered = agent::registered(config, mint, index)?;
    if registered.supply == 0 { Ok(stake.owner) } else { agent::holder(key(mint), token) }
}

impl QueueUnlock {
    pub(crate) fn handle(&mut self, agent_mint: &Address) -> Result<()> {
        let config = agent::config(&self.config)?;
        // agent_mint, stake: the named agent's.
        ensure!(agent_mint == self.agent_mint.address(), Error::WrongAgent);
        expect_agent(&self.stake, agent_mint)?;
        // agent_index, agent_token, owner: the signer is whom the stake belongs to.
        let owner = beneficiary(config, &self.stake, &self.agent_mint, &self.agent_index, &self.agent_token)?;
        ensure!(owner == *key(&self.owner), Error::NotAgentOwner);
        // lease: dead, or proven absent.
        let now = time::now()?;
        let lease = lease_facts(agent_mint.as_array(), &self.lease, &now)?;

        self.stake.queue(owner, &lease, &now)?;
        let event = UnlockQueued {
            agent_mint: self.stake.agent_mint,
            unlock_available_slot: self.stake.unlock_available_slot,
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
