//! Calls into StakeLock, which obeys this program's authority alone. The data is put together on the stack:
//! the interface's own `data()` serves clients and grows a heap for it.

use crate::state::expect_era;
use anchor_lang::prelude::*;
use zx1_interface::accounts::{Config, StakeLockAccount};
use zx1_interface::instruction::{Instruction, Settle, TakeDeposit, TakeRank};
use zx1_interface::{Scalar, ids, pda, seeds};
use zx1_runtime::cpi::{Passed, call, readonly, signer, writable};
use zx1_runtime::{Stored, agent, expect_address, usdc};

/// An era, and how it is reached.
pub struct Era<'a> {
    /// The StakeLock program.
    pub program: &'a AccountView,
    /// This program's authority.
    pub authority: &'a AccountView,
    /// The era's stake.
    pub stake: &'a Stored<StakeLockAccount>,
}

/// The pool that an era's money lies in; StakeLock checks all three.
pub struct Pool<'a> {
    /// The total of the agent's shard.
    pub shard: &'a AccountView,
    /// The shard's vault.
    pub vault: &'a AccountView,
    /// The legacy token program.
    pub token_program: &'a AccountView,
}

/// Who is paid.
pub struct Recipients<'a> {
    /// USDC account that is paid [`Moves::first`].
    pub first: &'a AccountView,
    /// USDC account that is paid [`Moves::second`].
    pub second: &'a AccountView,
    /// StakeLock's event authority; StakeLock checks it.
    pub events: &'a AccountView,
}

/// Everything that a settlement needs.
pub struct Settlement<'a> {
    /// The era whose stake, deposits and pot are moved.
    pub era: Era<'a>,
    /// The pool of the agent's shard.
    pub pool: Pool<'a>,
    /// Who is paid.
    pub recipients: Recipients<'a>,
}

/// The settlement of an instruction with these accounts. Their fields are borrowed one by one, so that the others
/// can be written meanwhile.
macro_rules! settlement {
    ($accounts:ident) => {
        $crate::stake_lock::Settlement {
            era: $crate::stake_lock::Era {
                program: &$accounts.stake_lock_program,
                authority: &$accounts.challenge_authority,
                stake: &$accounts.stake,
            },
            pool: $crate::stake_lock::Pool {
                shard: &$accounts.shard,
                vault: &$accounts.vault,
                token_program: &$accounts.token_program,
            },
            recipients: $crate::stake_lock::Recipients {
                first: &$accounts.first_usdc,
                second: &$accounts.second_usdc,
                events: &$accounts.stake_lock_events,
            },
        }
    };
}
pub(crate) use settlement;

/// What a settlement moves, in micro-USDC; what goes out is what comes in.
#[derive(Clone, Copy, Default)]
pub struct Moves {
    /// Out of the held deposits.
    pub from_deposits: u64,
    /// Out of the stake.
    pub from_stake: u64,
    /// Out of the finders' part.
    pub from_pot: u64,
    /// Into the stake.
    pub to_stake: u64,
    /// Into the finders' part.
    pub to_pot: u64,
    /// To the first recipient.
    pub first: u64,
    /// To the second recipient.
    pub second: u64,
    /// Sum of the interface's `mark`.
    pub marks: u8,
}

/// How the data of every call begins.
const HEAD: usize = 8 + 32 + 4;

impl Era<'_> {
    /// Takes the era's next rank and returns it.
    pub fn take_rank(&self) -> Result<u32> {
        let rank = self.stake.next_rank;
        let mut data = [0; HEAD];
        self.head(&mut data, &TakeRank::DISCRIMINATOR);
        let stake = self.stake.view();
        self.call(&[signer(self.authority), writable(&stake)], &data)?;
        Ok(rank)
    }

    /// Takes a deposit in, which the payer must hold; `what` is one of the interface's `deposit`.
    #[inline(never)]
    pub fn take_deposit(
        &self,
        pool: &Pool,
        config: &Config,
        payer: &AccountView,
        payer_usdc: &AccountView,
        amount: u64,
        what: u8,
    ) -> Result<()> {
        usdc::expect_funds(config, payer_usdc, payer, amount)?;
        let mut data = [0; HEAD + 8 + 1];
        let rest = self.head(&mut data, &TakeDeposit::DISCRIMINATOR);
        what.put(amount.put(rest));
        let stake = self.stake.view();
        let passed = [
            signer(self.authority),
            writable(&stake),
            writable(pool.shard),
            writable(pool.vault),
            writable(payer_usdc),
            signer(payer),
            readonly(pool.token_program),
        ];
        self.call(&passed, &data)
    }

    /// Nobody, by the called program's own id, where nothing is paid.
    fn recipient<'b>(&'b self, view: &'b AccountView, amount: u64) -> Passed<'b> {
        if amount == 0 { readonly(self.program) } else { writable(view) }
    }

    /// Writes discriminator, agent and era; returns the rest of the buffer.
    #[inline(always)]
    fn head<'b>(&self, data: &'b mut [u8], discriminator: &[u8; 8]) -> &'b mut [u8] {
        let rest = discriminator.put(data);
        let rest = self.stake.agent_mint.put(rest);
        self.stake.era.put(rest)
    }

    fn call(&self, accounts: &[Passed], data: &[u8]) -> Result<()> {
        call_with_authority(self.program, &ids::STAKE_LOCK, self.authority, accounts, data)
    }
}

impl Settlement<'_> {
    /// Refuses unless the stake is the one of this agent's era, the first recipient a USDC account of this wallet,
    /// and the second one of the treasury's. Returns the configuration.
    #[inline(never)]
    pub fn expect<'c>(
        &self,
        config: &'c AccountView,
        agent: &[u8; 32],
        era: u32,
        first: &[u8; 32],
    ) -> Result<&'c Config> {
        let config = agent::config(config)?;
        expect_era(self.era.stake, agent, era)?;
        usdc::account_of(config, self.recipients.first, first)?;
        usdc::treasury(config, self.recipients.second)?;
        Ok(config)
    }

    /// Moves what is decided.
    #[inline(never)]
    pub fn settle(&self, moves: &Moves) -> Result<()> {
        let (era, pool, recipients) = (&self.era, &self.pool, &self.recipients);
        let mut data = [0; HEAD + 7 * 8 + 1];
        let rest = era.head(&mut data, &Settle::DISCRIMINATOR);
        let rest = moves.from_deposits.put(rest);
        let rest = moves.from_stake.put(rest);
        let rest = moves.from_pot.put(rest);
        let rest = moves.to_stake.put(rest);
        let rest = moves.to_pot.put(rest);
        let rest = moves.first.put(rest);
        let rest = moves.second.put(rest);
        moves.marks.put(rest);
        let stake = era.stake.view();
        let passed = [
            signer(era.authority),
            writable(&stake),
            writable(pool.shard),
            writable(pool.vault),
            era.recipient(recipients.first, moves.first),
            era.recipient(recipients.second, moves.second),
            readonly(pool.token_program),
            readonly(recipients.events),
            readonly(era.program),
        ];
        era.call(&passed, &data)
    }
}

/// Calls another program of ours. Whoever is called sees the authority sign, so it must be the real one.
#[inline(never)]
pub fn call_with_authority(
    program: &AccountView,
    expected: &[u8; 32],
    authority: &AccountView,
    accounts: &[Passed],
    data: &[u8],
) -> Result<()> {
    expect_address(program, expected)?;
    expect_address(authority, &pda::CHALLENGE_AUTHORITY.address)?;
    call(program.address(), accounts, data, &[seeds::AUTHORITY, &[pda::CHALLENGE_AUTHORITY.bump]])
}
