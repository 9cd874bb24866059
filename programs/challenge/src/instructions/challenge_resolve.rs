//! resolve_challenge (protocol.md, 10.4; decisions B10 and B12).

use crate::stake_lock::{SlashAccounts, StakeLock};
use crate::state::{Challenged, claim_seed, expect_vault};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{ChallengeAccount, StakeLockAccount};
use zx1_interface::events::ChallengeResolved;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::slash::{Split, split};
use zx1_protocol::units::MicroUsdc;
use zx1_runtime::usdc::{self, Vault};
use zx1_runtime::{Stored, agent, bump, emit, ensure, is_at, same, time};

/// Accounts of resolve_challenge. Anyone may call it.
#[event_cpi]
#[derive(Accounts)]
pub struct ResolveChallenge {
    /// The challenge; checked by type.
    #[account(mut)]
    pub challenge: Stored<ChallengeAccount>,
    /// Who challenged, and gets the vault's rent; checked against the challenge.
    #[account(mut)]
    pub challenger: UncheckedAccount,
    /// A USDC account of the challenger.
    #[account(mut)]
    pub challenger_usdc: UncheckedAccount,
    /// A USDC account of the treasury's wallet.
    #[account(mut)]
    pub treasury_usdc: UncheckedAccount,
    /// The challenge's vault; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The agent's stake; checked by type and agent.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The stake's vault; checked by StakeLock.
    #[account(mut)]
    pub stake_vault: UncheckedAccount,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// StakeLock's event authority; checked by StakeLock.
    pub stake_lock_events: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
}

impl ResolveChallenge {
    fn validate(&self) -> Result<()> {
        let config = agent::config(&self.config)?;
        // challenger, challenger_usdc: whom the challenge names.
        ensure!(is_at(&self.challenger, &self.challenge.challenger), Error::WrongPayer);
        usdc::account_of(config, &self.challenger_usdc, &self.challenge.challenger)?;
        // treasury_usdc, token_program: the configured ones.
        usdc::treasury(config, &self.treasury_usdc)?;
        usdc::token_program(&self.token_program)?;
        // stake: the challenged agent's, nobody else's.
        ensure!(same(&self.stake.agent_mint, &self.challenge.agent_id), Error::WrongAgent);
        Ok(())
    }

    pub(crate) fn handle(&mut self) -> Result<()> {
        self.validate()?;
        self.challenge.resolve(&time::now()?)?;
        let succeeded = self.challenge.succeeded == 1;
        // vault: the challenge's own. Checked after `resolve`, which refuses a second time by name.
        expect_vault(&self.challenge, &self.vault)?;
        let stake = self.stake.view();
        let stake_lock = StakeLock {
            program: &self.stake_lock_program,
            authority: &self.challenge_authority,
            stake: &stake,
            agent: &self.challenge.agent_id,
        };
        stake_lock.validate()?;

        let split = if succeeded {
            split(MicroUsdc(self.stake.stake_usdc))
        } else {
            Split { challenger: MicroUsdc(0), treasury: MicroUsdc(0) }
        };
        self.refund(succeeded)?;
        let accounts = SlashAccounts {
            vault: &self.stake_vault,
            token_program: &self.token_program,
            event_authority: &self.stake_lock_events,
        };
        stake_lock.slash(&accounts, split.challenger.0, &self.challenger_usdc)?;
        stake_lock.slash(&accounts, split.treasury.0, &self.treasury_usdc)?;
        stake_lock.settle_challenge()?;
        let slashed = split.challenger.checked_add(split.treasury).ok_or(Error::ArithmeticOverflow)?;
        let event = ChallengeResolved {
            agent_id: self.challenge.agent_id,
            epoch_number: self.challenge.epoch_number,
            succeeded: u8::from(succeeded),
            challenger: self.challenge.challenger,
            challenge: *self.challenge.key(),
            slashed: slashed.0,
            reward: split.challenger.0,
            sequence: bump(&mut self.challenge.event_sequence)?,
            account_created_slot: self.challenge.submitted_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }

    /// Pays the challenger's stake back, or to the treasury when the agent answered, and closes the vault.
    fn refund(&self, succeeded: bool) -> Result<()> {
        let challenge = self.challenge.view();
        let seed = claim_seed(&self.challenge);
        let seeds: &[&[u8]] = &[
            seeds::CHALLENGE,
            &self.challenge.batch,
            &self.challenge.challenger,
            &seed,
            &[self.challenge.bump],
        ];
        let vault = Vault { account: &self.vault, authority: &challenge, seeds };
        let recipient = if succeeded { &self.challenger_usdc } else { &self.treasury_usdc };
        // Gifts of strangers go along: a vault that is not empty could not be closed.
        vault.send(recipient, vault.balance()?)?;
        vault.close(&self.challenger)
    }
}
