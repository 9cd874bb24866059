//! settle (decisions B12 and P4).

use crate::state::{Stake, expect_era};
use anchor_lang::prelude::*;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::events::StakeMoved;
use zx1_interface::instruction as data;
use zx1_interface::{Error, pda};
use zx1_runtime::usdc::{self, Vault};
use zx1_runtime::{Stored, bump, caller, emit, time};

/// Accounts of settle.
#[event_cpi]
#[derive(Accounts)]
pub struct Settle {
    /// Challenge's authority, which only Challenge can make sign.
    pub challenge_authority: UncheckedAccount,
    /// The stake; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The shard of the agent; checked by type and number.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// Who gets the first part, if there is one; Challenge chooses, and the token program refuses any mint but
    /// the vault's. Both parts may go to one account, which is only passed on.
    #[account(mut, unsafe(dup))]
    pub first_usdc: Option<UncheckedAccount>,
    /// Who gets the second part, if there is one.
    #[account(mut, unsafe(dup))]
    pub second_usdc: Option<UncheckedAccount>,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
}

impl Settle {
    fn validate(&self, agent: &[u8; 32], era: u32) -> Result<Vault<'_>> {
        caller::expect_challenge(&self.challenge_authority)?;
        // stake, shard, vault, token_program: the named agent's and era's.
        expect_era(&self.stake, agent, era)?;
        usdc::token_program(&self.token_program)?;
        Vault::of(agent, &self.shard, &self.vault)
    }

    pub(crate) fn handle(&mut self, moves: &data::Settle) -> Result<()> {
        let mut vault = self.validate(&moves.agent_mint, moves.era)?;
        for (recipient, amount) in [(&self.first_usdc, moves.first), (&self.second_usdc, moves.second)] {
            if amount != 0 {
                vault.pay(recipient.as_ref().ok_or(Error::AccountMissing)?, amount)?;
            }
        }

        let was_slashed = self.stake.slashed_slot != 0;
        self.stake.settle(moves, time::now()?.slot)?;
        if [moves.from_stake, moves.to_stake, moves.from_pot, moves.to_pot] == [0; 4] {
            return Ok(());
        }
        let event = StakeMoved {
            agent_mint: moves.agent_mint,
            era: moves.era,
            from_stake: moves.from_stake,
            to_stake: moves.to_stake,
            stake_usdc: self.stake.stake_usdc,
            pot_usdc: self.stake.pot_usdc,
            slashed: u8::from(self.stake.slashed_slot != 0 && !was_slashed),
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
