//! open_challenge and settle_challenge: the counter that keeps a stake from being claimed (decision B6).

use super::slash::expect_challenge;
use crate::state::expect_agent;
use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::StakeLockAccount;
use zx1_runtime::Stored;

/// Accounts of open_challenge and settle_challenge.
#[derive(Accounts)]
pub struct CountChallenge {
    /// Challenge's authority, which only Challenge can make sign.
    pub challenge_authority: UncheckedAccount,
    /// The stake; checked by type and agent.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
}

impl CountChallenge {
    pub(crate) fn open(&mut self, agent_mint: &Address) -> Result<()> {
        expect_challenge(&self.challenge_authority)?;
        expect_agent(&self.stake, agent_mint)?;
        let open = self.stake.open_challenges;
        self.stake.open_challenges = open.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
        Ok(())
    }

    pub(crate) fn settle(&mut self, agent_mint: &Address) -> Result<()> {
        expect_challenge(&self.challenge_authority)?;
        expect_agent(&self.stake, agent_mint)?;
        let open = self.stake.open_challenges;
        self.stake.open_challenges = open.checked_sub(1).ok_or(Error::NoOpenChallenge)?;
        Ok(())
    }
}
