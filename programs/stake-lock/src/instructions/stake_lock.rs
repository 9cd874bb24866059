//! lock_stake (protocol.md, 10.5; decision B6).

use crate::state::{Stake, expect_agent, expect_vault};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{StakeLockAccount, VERSION};
use zx1_interface::events::StakeLocked;
use zx1_interface::{Error, pda, seeds};
use zx1_runtime::{Now, Stored, agent, bump, create, emit, ensure, existing, key, time, usdc};

/// Accounts of lock_stake.
#[event_cpi]
#[derive(Accounts)]
pub struct LockStake {
    /// Holds the agent's NFT; pays the stake and the rent.
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
    /// The stake; created when absent. Checked by address or type.
    #[account(mut)]
    pub stake: UncheckedAccount,
    /// The stake's vault; created when absent. Checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The configured USDC mint.
    pub usdc_mint: UncheckedAccount,
    /// The owner's USDC account.
    #[account(mut)]
    pub owner_usdc: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
    /// The system program, called to create the accounts; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl LockStake {
    pub(crate) fn handle(&mut self, agent_mint: &Address, amount: u64) -> Result<()> {
        let config = agent::config(&self.config)?;
        // agent_mint, agent_index: the named agent, registered with SATI.
        ensure!(agent_mint == self.agent_mint.address(), Error::WrongAgent);
        agent::registered(config, &self.agent_mint, &self.agent_index)?;
        // agent_token, owner: the signer holds the NFT.
        ensure!(
            agent::holder(key(&self.agent_mint), &self.agent_token)? == *key(&self.owner),
            Error::NotAgentOwner
        );
        // usdc_mint, token_program: the configured ones. owner_usdc is checked where it pays.
        ensure!(*key(&self.usdc_mint) == config.usdc_mint, Error::WrongUsdcMint);
        usdc::token_program(&self.token_program)?;

        let now = time::now()?;
        let mut stake = if self.stake.is_data_empty() {
            self.open(agent_mint, &now)?
        } else {
            self.existing(agent_mint)?
        };
        stake.add(*key(&self.owner), amount)?;
        let event = StakeLocked {
            agent_mint: stake.agent_mint,
            owner: stake.owner,
            lamports: amount,
            slot: now.slot.0,
            stake_usdc: stake.stake_usdc,
            sequence: bump(&mut stake.event_sequence)?,
            account_created_slot: stake.created_slot,
        };
        usdc::pay(config, &self.owner_usdc, &self.vault, &self.owner, amount)?;
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }

    /// Creates stake and vault. The stake comes first: its creation checks its address, by which the vault
    /// is then held.
    fn open(&self, agent_mint: &Address, now: &Now) -> Result<Stored<StakeLockAccount>> {
        let agent = agent_mint.as_array();
        let fill = |account: &mut StakeLockAccount, bump| {
            account.locked_since_slot = now.slot.0;
            account.created_slot = now.slot.0;
            account.version = VERSION;
            account.bump = bump;
            account.agent_mint = *agent;
            account.owner = *key(&self.owner);
        };
        let mut stake =
            create(&self.owner, &self.stake, &[seeds::STAKE, agent], 0, Error::AccountExists, fill)?;
        stake.vault_bump = usdc::open_vault(
            &self.owner,
            &self.vault,
            &self.usdc_mint,
            &self.stake,
            &[seeds::VAULT, agent],
            &crate::ID,
        )?;
        Ok(stake)
    }

    /// The stake that is there, with its vault.
    fn existing(&self, agent_mint: &Address) -> Result<Stored<StakeLockAccount>> {
        let stake = existing(&self.stake)?;
        expect_agent(&stake, agent_mint)?;
        expect_vault(&stake, &self.vault)?;
        Ok(stake)
    }
}
