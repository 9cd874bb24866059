//! take_deposit (decision P4).

use crate::state::{Stake, expect_era};
use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::instruction::deposit;
use zx1_runtime::usdc::{self, Vault};
use zx1_runtime::{Stored, caller};

/// Accounts of take_deposit.
#[derive(Accounts)]
pub struct TakeDeposit {
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
    /// Where the deposit comes from; the token program refuses any mint but the vault's.
    #[account(mut)]
    pub payer_usdc: UncheckedAccount,
    /// Whose it is.
    pub payer: Signer,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
}

impl TakeDeposit {
    fn validate(&self, agent: &[u8; 32], era: u32) -> Result<Vault<'_>> {
        caller::expect_challenge(&self.challenge_authority)?;
        // stake, shard, vault, token_program: the named agent's and era's.
        expect_era(&self.stake, agent, era)?;
        usdc::token_program(&self.token_program)?;
        Vault::of(agent, &self.shard, &self.vault)
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, era: u32, amount: u64, what: u8) -> Result<()> {
        self.validate(agent_mint.as_array(), era)?.take(&self.payer_usdc, &self.payer, amount)?;
        match what {
            deposit::RANKED_CHALLENGE => self.stake.open_challenge()?,
            deposit::CHALLENGE => {
                self.stake.take_rank()?;
                self.stake.open_challenge()?;
            }
            deposit::ASK => self.stake.open_ask()?,
            _ => return Err(Error::InvalidInstruction.into()),
        }
        self.stake.hold(amount)
    }
}
