//! close_challenge (decision B8).

use anchor_lang::prelude::*;
use zx1_interface::accounts::ChallengeAccount;
use zx1_interface::events::ChallengeClosed;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, bump, close, emit, ensure, is_at};

/// Accounts of close_challenge. Anyone may call it; the rent goes to whoever challenged.
#[event_cpi]
#[derive(Accounts)]
pub struct CloseChallenge {
    /// The challenge; checked by type.
    #[account(mut)]
    pub challenge: Stored<ChallengeAccount>,
    /// Who challenged; checked against the challenge.
    #[account(mut)]
    pub challenger: UncheckedAccount,
}

impl CloseChallenge {
    pub(crate) fn handle(&mut self) -> Result<()> {
        ensure!(self.challenge.resolved == 1, Error::NotResolved);
        ensure!(is_at(&self.challenger, &self.challenge.challenger), Error::WrongPayer);
        let event = ChallengeClosed {
            challenge: *self.challenge.key(),
            challenger: self.challenge.challenger,
            sequence: bump(&mut self.challenge.event_sequence)?,
            account_created_slot: self.challenge.submitted_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)?;
        close(&self.challenge.view(), &self.challenger)
    }
}
