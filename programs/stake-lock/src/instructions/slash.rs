//! slash (protocol.md, 10.5; decision B12).

use crate::state::{Stake, expect_agent, expect_vault};
use anchor_lang::prelude::*;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::events::StakeSlashed;
use zx1_interface::{Error, pda, seeds};
use zx1_runtime::usdc::{self, Vault};
use zx1_runtime::{Stored, bump, emit, ensure, key};

/// Accounts of slash.
#[event_cpi]
#[derive(Accounts)]
pub struct Slash {
    /// Challenge's authority, which only Challenge can make sign.
    pub challenge_authority: UncheckedAccount,
    /// The stake; checked by type and agent.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The stake's vault; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// Who gets it; Challenge chooses, and the token program refuses any mint but the vault's.
    #[account(mut)]
    pub recipient: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
}

/// Refuses unless Challenge calls.
pub(super) fn expect_challenge(authority: &AccountView) -> Result<()> {
    let genuine = *key(authority) == pda::CHALLENGE_AUTHORITY.address && authority.is_signer();
    ensure!(genuine, Error::NotChallengeProgram);
    Ok(())
}

impl Slash {
    pub(crate) fn handle(&mut self, agent_mint: &Address, amount: u64) -> Result<()> {
        expect_challenge(&self.challenge_authority)?;
        expect_agent(&self.stake, agent_mint)?;
        expect_vault(&self.stake, &self.vault)?;
        usdc::token_program(&self.token_program)?;

        self.stake.take(amount)?;
        let event = StakeSlashed {
            agent_mint: self.stake.agent_mint,
            amount,
            recipient: *key(&self.recipient),
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        let seeds: &[&[u8]] = &[seeds::STAKE, agent_mint.as_array(), &[self.stake.bump]];
        let stake = self.stake.view();
        Vault { account: &self.vault, authority: &stake, seeds }.send(&self.recipient, amount)?;
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
