//! claim_stake (protocol.md, 10.5; decisions B6 and P1).

use crate::state::{NO_LEASE, Stake, Turn, expect_era, last_batch, lease_facts};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{Config, StakeLockAccount};
use zx1_interface::events::StakeClaimed;
use zx1_interface::{Error, pda};
use zx1_runtime::usdc::{self, Vault};
use zx1_runtime::{Now, Stored, agent, bump, close, emit, ensure, is_at, key, time};

/// Accounts of claim_stake.
#[event_cpi]
#[derive(Accounts)]
pub struct ClaimStake {
    /// Who locked the stake; gets stake and rent.
    #[account(mut)]
    pub owner: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; checked by address. Any account when the era has ended, and so the next one.
    pub agent_mint: UncheckedAccount,
    /// Holds the NFT for whoever holds it; any account when the NFT was burned.
    pub agent_token: UncheckedAccount,
    /// The agent's tenure; checked by type and agent.
    #[account(mut)]
    pub tenure: UncheckedAccount,
    /// The stake; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The shard of the agent; checked by type and number.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The owner's USDC account.
    #[account(mut)]
    pub owner_usdc: UncheckedAccount,
    /// The lease, or its empty address. Any account when the era has ended, and so the next one.
    pub lease: UncheckedAccount,
    /// The agent's head of batches, or its empty address.
    pub head: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
}

impl ClaimStake {
    fn validate(&self, config: &Config, agent: &[u8; 32], era: u32, now: &Now) -> Result<()> {
        // stake, owner: the named agent's and era's, locked by the signer.
        expect_era(&self.stake, agent, era)?;
        ensure!(is_at(&self.owner, &self.stake.owner), Error::NotStakeOwner);
        // owner_usdc, token_program: the owner's money and the program that moves it.
        usdc::account_of(config, &self.owner_usdc, key(&self.owner))?;
        usdc::token_program(&self.token_program)?;
        if self.stake.ended_slot != 0 {
            return self.stake.check_claim_ended(now);
        }
        // agent_mint, agent_token: whether the signer still holds the NFT. lease, head: real, or proven absent.
        let holds = agent::is_held_by(agent, &self.agent_mint, &self.agent_token, key(&self.owner))?;
        let lease = if holds { lease_facts(agent, &self.lease, now)? } else { NO_LEASE };
        self.stake.check_claim(&lease, last_batch(agent, &self.head)?, now)
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, era: u32) -> Result<()> {
        let agent = agent_mint.as_array();
        self.validate(agent::config(&self.config)?, agent, era, &time::now()?)?;
        // tenure, shard, vault: the agent's.
        let mut tenure = agent::tenure(&self.tenure, agent)?;
        let mut vault = Vault::of(agent, &self.shard, &self.vault)?;

        if tenure.era == era {
            tenure.begin_era()?;
        }
        let event = StakeClaimed {
            agent_mint: *agent,
            era,
            owner: self.stake.owner,
            lamports: self.stake.stake_usdc,
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        vault.pay(&self.owner_usdc, event.lamports)?;
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)?;
        close(&self.stake.view(), &self.owner)
    }
}
