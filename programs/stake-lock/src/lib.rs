//! StakeLock (spec section 10.5): agents' stakes, one vault each, and the configuration that all five
//! programs read.
#![cfg_attr(target_os = "solana", no_std)]

use anchor_lang::prelude::*;
#[cfg(target_os = "solana")]
use solana_compiler_builtins as _;

mod instructions;
mod state;

use instructions::*;

declare_id!("5mcuH9RPxQCtLdK41VAbrTQZKnEkZtfPzjiKJ3b3ZrwK");

/// The instructions of the program.
#[program]
pub mod zx1_stake_lock {
    use super::*;

    /// Writes the configuration, once, by the upgrade authority.
    pub fn initialize_config(
        ctx: &mut Context<InitializeConfig>,
        treasury: Address,
        maintainer: Address,
        delegate_credential: Address,
        delegate_schema: Address,
    ) -> Result<()> {
        ctx.accounts.handle(treasury, maintainer, delegate_credential, delegate_schema)
    }

    /// Creates or tops up an agent's stake.
    pub fn lock_stake(ctx: &mut Context<LockStake>, agent_mint: Address, amount: u64) -> Result<()> {
        ctx.accounts.handle(&agent_mint, amount)
    }

    /// Starts the unlock delay of a deactivated agent.
    pub fn queue_unlock(ctx: &mut Context<QueueUnlock>, agent_mint: Address) -> Result<()> {
        ctx.accounts.handle(&agent_mint)
    }

    /// Takes a queued unlock back once the lease is paid again.
    pub fn cancel_unlock(ctx: &mut Context<CancelUnlock>, agent_mint: Address) -> Result<()> {
        ctx.accounts.handle(&agent_mint)
    }

    /// Pays the stake out and closes its accounts.
    pub fn claim_stake(ctx: &mut Context<ClaimStake>, agent_mint: Address) -> Result<()> {
        ctx.accounts.handle(&agent_mint)
    }

    /// Takes from a stake; only Challenge may call it.
    pub fn slash(ctx: &mut Context<Slash>, agent_mint: Address, amount: u64) -> Result<()> {
        ctx.accounts.handle(&agent_mint, amount)
    }

    /// Counts a challenge as open; only Challenge may call it.
    pub fn open_challenge(ctx: &mut Context<CountChallenge>, agent_mint: Address) -> Result<()> {
        ctx.accounts.open(&agent_mint)
    }

    /// Counts a challenge as settled; only Challenge may call it.
    pub fn settle_challenge(ctx: &mut Context<CountChallenge>, agent_mint: Address) -> Result<()> {
        ctx.accounts.settle(&agent_mint)
    }
}

zx1_runtime::describe!(
    ConfigInitialized,
    StakeLocked,
    UnlockQueued,
    UnlockCanceled,
    StakeClaimed,
    StakeSlashed
);
