//! settle_era (decision P4).

use crate::stake_lock::{Era, Moves, Pool, Recipients, Settlement};
use crate::state::expect_era;
use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::StakeLockAccount;
use zx1_runtime::{Stored, agent, ensure, usdc};

/// Accounts of settle_era. Anyone may call it.
#[derive(Accounts)]
pub struct SettleEra {
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The era's stake; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The total of the agent's shard; checked by StakeLock.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by StakeLock.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// A USDC account of the treasury's wallet.
    #[account(mut)]
    pub second_usdc: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// StakeLock's event authority; checked by StakeLock.
    pub stake_lock_events: UncheckedAccount,
    /// The legacy token program; checked by StakeLock.
    pub token_program: UncheckedAccount,
}

impl SettleEra {
    fn validate(&self, agent_id: &[u8; 32], era: u32) -> Result<()> {
        let config = agent::config(&self.config)?;
        // stake: the named era's, with nobody left who could win.
        let stake = &self.stake;
        expect_era(stake, agent_id, era)?;
        ensure!(stake.pot_usdc != 0, Error::EraEmpty);
        ensure!(stake.open_challenges == 0, Error::OpenChallenges);
        ensure!(stake.settled_rank == stake.next_rank, Error::RanksOutstanding);
        // second_usdc: the treasury's.
        usdc::treasury(config, &self.second_usdc)?;
        Ok(())
    }

    pub(crate) fn handle(&mut self, agent_id: &[u8; 32], era: u32) -> Result<()> {
        self.validate(agent_id, era)?;
        let pot = self.stake.pot_usdc;
        Settlement {
            era: Era {
                program: &self.stake_lock_program,
                authority: &self.challenge_authority,
                stake: &self.stake,
            },
            pool: Pool { shard: &self.shard, vault: &self.vault, token_program: &self.token_program },
            recipients: Recipients {
                first: &self.second_usdc,
                second: &self.second_usdc,
                events: &self.stake_lock_events,
            },
        }
        .settle(&Moves { from_pot: pot, second: pot, ..Moves::default() })
    }
}
