//! StakeLock (protocol.md, 10.5; decisions P1 and P5): whose turn an agent is, its keys, its stakes, the pooled
//! vaults that hold all money, and the configuration that all five programs read.
#![cfg_attr(target_os = "solana", no_std)]

use anchor_lang::prelude::*;
#[cfg(target_os = "solana")]
use solana_compiler_builtins as _;
use zx1_interface::instruction as data;

mod instructions;
mod state;

use instructions::*;

declare_id!("5mcuH9RPxQCtLdK41VAbrTQZKnEkZtfPzjiKJ3b3ZrwK");

/// The instructions of the program.
#[program]
pub mod zx1_stake_lock {
    use super::*;

    /// Writes the configuration, once, by the upgrade authority.
    #[allow(clippy::too_many_arguments)]
    pub fn initialize_config(
        ctx: &mut Context<InitializeConfig>,
        treasury: Address,
        maintainer: Address,
        delegate_credential: Address,
        delegate_schema: Address,
        network: [u8; 32],
        min_stake: u64,
        challenge_stake: u64,
        lost_to_stake: u64,
        lost_to_answerer: u64,
        ask_price: u64,
        ask_to_shower: u64,
        ask_to_stake: u64,
        fine: u64,
        fine_to_asker: u64,
        rank_deposit: u64,
        finders_percent: u8,
        share_percent: u8,
    ) -> Result<()> {
        ctx.accounts.handle(&data::InitializeConfig {
            treasury: treasury.to_bytes(),
            maintainer: maintainer.to_bytes(),
            delegate_credential: delegate_credential.to_bytes(),
            delegate_schema: delegate_schema.to_bytes(),
            network,
            min_stake,
            challenge_stake,
            lost_to_stake,
            lost_to_answerer,
            ask_price,
            ask_to_shower,
            ask_to_stake,
            fine,
            fine_to_asker,
            rank_deposit,
            finders_percent,
            share_percent,
        })
    }

    /// Makes the pooled vault of a shard; anyone may, once.
    pub fn open_vault(ctx: &mut Context<OpenVault>, shard: u8) -> Result<()> {
        ctx.accounts.handle(shard)
    }

    /// Makes an agent's first tenure, its holder's.
    pub fn open_tenure(ctx: &mut Context<OpenTenure>, agent_mint: Address) -> Result<()> {
        ctx.accounts.handle(&agent_mint)
    }

    /// Begins the holder's tenure: ends every live key and the era.
    pub fn take_over(ctx: &mut Context<TakeOver>, agent_mint: Address) -> Result<()> {
        ctx.accounts.handle(&agent_mint)
    }

    /// Lists a key of the agent, which signs with the owner.
    pub fn add_key(ctx: &mut Context<AddKey>, agent_mint: Address, scopes: u8) -> Result<()> {
        ctx.accounts.handle(&agent_mint, scopes)
    }

    /// Ends a key: it acts no more, and what it signs later does not count.
    pub fn end_key(ctx: &mut Context<EndKey>, agent_mint: Address, key: Address) -> Result<()> {
        ctx.accounts.handle(&agent_mint, &key)
    }

    /// Returns an ended key's rent; anyone may call it.
    pub fn close_key(ctx: &mut Context<CloseKey>, agent_mint: Address, key: Address) -> Result<()> {
        ctx.accounts.handle(&agent_mint, &key)
    }

    /// Creates or tops up an agent's stake of an era.
    pub fn lock_stake(
        ctx: &mut Context<LockStake>,
        agent_mint: Address,
        era: u32,
        amount: u64,
    ) -> Result<()> {
        ctx.accounts.handle(&agent_mint, era, amount)
    }

    /// Starts the unlock delay.
    pub fn queue_unlock(ctx: &mut Context<QueueUnlock>, agent_mint: Address, era: u32) -> Result<()> {
        ctx.accounts.handle(&agent_mint, era)
    }

    /// Takes a queued unlock back once the lease is paid again.
    pub fn cancel_unlock(ctx: &mut Context<CancelUnlock>, agent_mint: Address, era: u32) -> Result<()> {
        ctx.accounts.handle(&agent_mint, era)
    }

    /// Pays an era's stake out and closes its account.
    pub fn claim_stake(ctx: &mut Context<ClaimStake>, agent_mint: Address, era: u32) -> Result<()> {
        ctx.accounts.handle(&agent_mint, era)
    }

    /// Gives out the next rank of an era; only Challenge may call it.
    pub fn take_rank(ctx: &mut Context<TakeRank>, agent_mint: Address, era: u32) -> Result<()> {
        ctx.accounts.handle(&agent_mint, era)
    }

    /// Takes a challenge's stake or an ask's price in; only Challenge may call it.
    pub fn take_deposit(
        ctx: &mut Context<TakeDeposit>,
        agent_mint: Address,
        era: u32,
        amount: u64,
        what: u8,
    ) -> Result<()> {
        ctx.accounts.handle(&agent_mint, era, amount, what)
    }

    /// Moves what a settled challenge or ask decides; only Challenge may call it.
    #[allow(clippy::too_many_arguments)]
    pub fn settle(
        ctx: &mut Context<Settle>,
        agent_mint: Address,
        era: u32,
        from_deposits: u64,
        from_stake: u64,
        from_pot: u64,
        to_stake: u64,
        to_pot: u64,
        first: u64,
        second: u64,
        marks: u8,
    ) -> Result<()> {
        ctx.accounts.handle(&data::Settle {
            agent_mint: agent_mint.to_bytes(),
            era,
            from_deposits,
            from_stake,
            from_pot,
            to_stake,
            to_pot,
            first,
            second,
            marks,
        })
    }
}

zx1_runtime::describe!(
    ConfigInitialized,
    TenureOpened,
    TakenOver,
    KeyAdded,
    KeyEnded,
    KeyClosed,
    StakeLocked,
    EraEnded,
    UnlockQueued,
    UnlockCanceled,
    StakeClaimed,
    StakeMoved,
);
