//! take_rank (decision P4).

use crate::state::{Stake, expect_era};
use anchor_lang::prelude::*;
use zx1_interface::accounts::StakeLockAccount;
use zx1_runtime::{Stored, caller};

/// Accounts of take_rank.
#[derive(Accounts)]
pub struct TakeRank {
    /// Challenge's authority, which only Challenge can make sign.
    pub challenge_authority: UncheckedAccount,
    /// The stake; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
}

impl TakeRank {
    pub(crate) fn handle(&mut self, agent_mint: &Address, era: u32) -> Result<()> {
        caller::expect_challenge(&self.challenge_authority)?;
        expect_era(&self.stake, agent_mint.as_array(), era)?;

        self.stake.take_rank()
    }
}
