//! close_ask (decisions B8 and P4).

use crate::state::asked;
use anchor_lang::prelude::*;
use zx1_interface::accounts::AskAccount;
use zx1_interface::events::AskClosed;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, bump, close, emit, ensure, is_at};

/// Accounts of close_ask. Anyone may call it; the rent goes to the asker.
#[event_cpi]
#[derive(Accounts)]
pub struct CloseAsk {
    /// The ask; checked by type.
    #[account(mut)]
    pub ask: Stored<AskAccount>,
    /// Who asked; checked against the ask.
    #[account(mut)]
    pub asker: UncheckedAccount,
}

impl CloseAsk {
    fn validate(&self) -> Result<()> {
        let settled = self.ask.state == asked::SHOWN || self.ask.state == asked::SETTLED;
        ensure!(settled, Error::AskNotSettled);
        ensure!(is_at(&self.asker, &self.ask.asker), Error::WrongPayer);
        Ok(())
    }

    pub(crate) fn handle(&mut self) -> Result<()> {
        self.validate()?;
        let event = AskClosed {
            ask: *self.ask.key(),
            asker: self.ask.asker,
            sequence: bump(&mut self.ask.event_sequence)?,
            account_created_slot: self.ask.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)?;
        close(&self.ask.view(), &self.asker)
    }
}
