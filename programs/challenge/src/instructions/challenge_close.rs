//! close_challenge (decisions B8 and P4).

use crate::state::{outcome, stake_of};
use anchor_lang::prelude::*;
use zx1_interface::accounts::ChallengeAccount;
use zx1_interface::events::ChallengeClosed;
use zx1_interface::{Error, pda};
use zx1_protocol::challenge::Clock;
use zx1_protocol::units::Slot;
use zx1_runtime::{Stored, bump, close, emit, ensure, is_at, time};

/// Accounts of close_challenge. Anyone may call it; the rent goes to who paid it.
#[event_cpi]
#[derive(Accounts)]
pub struct CloseChallenge {
    /// The challenge; checked by type.
    #[account(mut)]
    pub challenge: Stored<ChallengeAccount>,
    /// Who paid the rent; checked against the challenge.
    #[account(mut)]
    pub payer: UncheckedAccount,
    /// The stake of the challenge's era, or its empty address; any account once the order has moved past its rank.
    pub stake: UncheckedAccount,
}

impl CloseChallenge {
    fn validate(&self) -> Result<()> {
        let challenge = &self.challenge;
        ensure!(challenge.outcome != outcome::OPEN, Error::NotResolved);
        ensure!(is_at(&self.payer, &challenge.payer), Error::WrongPayer);
        // Closed within the batch's window, the claim could be opened again.
        let window = Clock { submitted: Slot(challenge.submitted_slot) };
        ensure!(window.is_over(time::now()?.slot), Error::WindowNotOver);
        if challenge.passed == 0 {
            let stake = stake_of(&self.stake, &challenge.agent_id, challenge.era)?;
            ensure!(stake.is_none(), Error::RankNotPassed);
        }
        Ok(())
    }

    pub(crate) fn handle(&mut self) -> Result<()> {
        self.validate()?;
        let event = ChallengeClosed {
            challenge: *self.challenge.key(),
            payer: self.challenge.payer,
            sequence: bump(&mut self.challenge.event_sequence)?,
            account_created_slot: self.challenge.submitted_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)?;
        close(&self.challenge.view(), &self.payer)
    }
}
