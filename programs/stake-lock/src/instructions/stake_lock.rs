//! lock_stake (protocol.md, 10.5; decisions B6 and P1).

use crate::state::{Stake, Turn, expect_era};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{Config, StakeLockAccount, TenureAccount};
use zx1_interface::events::StakeLocked;
use zx1_interface::{Error, Event, pda, seeds};
use zx1_runtime::usdc::{self, Vault};
use zx1_runtime::{Now, Stored, agent, bump, create, emit, ensure, existing, key, same, time};

/// Accounts of lock_stake.
#[event_cpi]
#[derive(Accounts)]
pub struct LockStake {
    /// Holds the agent's NFT, in a tenure of its own; pays the stake and the rent.
    #[account(mut)]
    pub owner: Signer,
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
    /// The stake of the tenure's era, when this one is of the next; checked by type, agent and era.
    #[account(mut)]
    pub previous: Option<UncheckedAccount>,
    /// The stake; created when absent. Checked by address or type, agent and era.
    #[account(mut)]
    pub stake: UncheckedAccount,
    /// The shard of the agent; checked by type and number.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The owner's USDC account.
    #[account(mut)]
    pub owner_usdc: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl LockStake {
    fn validate(&self, config: &Config, agent: &[u8; 32], amount: u64) -> Result<Stored<TenureAccount>> {
        // agent_mint, agent_index, agent_token, owner: the signer holds the named agent's NFT.
        let (mint, index, token) = (&self.agent_mint, &self.agent_index, &self.agent_token);
        agent::expect_holder(config, agent, mint, index, token, key(&self.owner))?;
        // owner_usdc, token_program: the owner's money and the program that moves it.
        usdc::expect_funds(config, &self.owner_usdc, &self.owner, amount)?;
        usdc::token_program(&self.token_program)?;
        // tenure: the signer's.
        agent::tenure_of(&self.tenure, agent, key(&self.owner))
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, era: u32, amount: u64) -> Result<()> {
        let config = agent::config(&self.config)?;
        let agent = agent_mint.as_array();
        let mut tenure = self.validate(config, agent, amount)?;
        // shard, vault: the agent's.
        let mut vault = Vault::of(agent, &self.shard, &self.vault)?;

        let now = time::now()?;
        if era != tenure.era {
            self.begin_next(agent, &mut tenure, era, &now)?;
        }
        let mut stake =
            if self.stake.is_data_empty() { self.open(agent, era, &now)? } else { existing(&self.stake)? };
        expect_era(&stake, agent, era)?;
        ensure!(same(&stake.owner, key(&self.owner)), Error::NotStakeOwner);
        stake.add(amount, config.min_stake)?;
        let event = StakeLocked {
            agent_mint: *agent,
            era,
            owner: stake.owner,
            lamports: amount,
            slot: now.slot.0,
            stake_usdc: stake.stake_usdc,
            sequence: bump(&mut stake.event_sequence)?,
            account_created_slot: stake.created_slot,
        };
        vault.take(&self.owner_usdc, &self.owner, amount)?;
        self.emit(&event)
    }

    /// Begins the next era, where the present one is over or challenged: new money answers for new batches.
    fn begin_next(&self, agent: &[u8; 32], tenure: &mut TenureAccount, era: u32, now: &Now) -> Result<()> {
        let present = tenure.era;
        ensure!(era.checked_sub(present) == Some(1), Error::WrongEra);
        let previous = self.previous.as_deref().ok_or(Error::EraNotEnded)?;
        let mut previous: Stored<StakeLockAccount> = existing(previous)?;
        expect_era(&previous, agent, present)?;
        ensure!(previous.ended_slot != 0 || previous.open_challenges != 0, Error::EraNotEnded);
        tenure.begin_era()?;
        match previous.end(now)? {
            Some(event) => self.emit(&event),
            None => Ok(()),
        }
    }

    fn open(&self, agent: &[u8; 32], era: u32, now: &Now) -> Result<Stored<StakeLockAccount>> {
        let fill = |stake: &mut StakeLockAccount, bump| {
            stake.locked_since_slot = now.slot.0;
            stake.created_slot = now.slot.0;
            stake.era = era;
            stake.bump = bump;
            stake.agent_mint = *agent;
            stake.owner = *key(&self.owner);
        };
        let era_seeds: &[&[u8]] = &[seeds::STAKE, agent, &era.to_le_bytes()];
        create(&self.owner, &self.stake, era_seeds, 0, Error::AccountExists, fill)
    }

    fn emit<E: Event>(&self, event: &E) -> Result<()> {
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, event)
    }
}
