//! cancel_draft (decision B13).

use anchor_lang::prelude::*;
use zx1_interface::accounts::FeedbackDraft;
use zx1_interface::events::FeedbackDraftCanceled;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, bump, close, emit, ensure, key};

/// Accounts of cancel_draft.
#[event_cpi]
#[derive(Accounts)]
pub struct CancelDraft {
    /// Who speaks, or who paid: a sponsor must not wait for a sender who lost interest.
    pub authority: Signer,
    /// The draft; checked by type, nonce and authority.
    #[account(mut)]
    pub draft: Stored<FeedbackDraft>,
    /// Who paid the draft's rent and gets it back; checked against the draft. May be the authority.
    #[account(mut, unsafe(dup))]
    pub draft_payer: UncheckedAccount,
}

impl CancelDraft {
    pub(crate) fn handle(&mut self, nonce: u64) -> Result<()> {
        let authority = *key(&self.authority);
        let entitled = authority == self.draft.sender || authority == self.draft.payer;
        ensure!(entitled, Error::NotDraftOwner);
        ensure!(self.draft.nonce == nonce, Error::WrongAddress);
        ensure!(self.draft.payer == *key(&self.draft_payer), Error::WrongPayer);
        let event = FeedbackDraftCanceled {
            draft: *self.draft.key(),
            payer: self.draft.payer,
            sequence: bump(&mut self.draft.event_sequence)?,
            account_created_slot: self.draft.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::FEEDBACK_LOG_EVENTS, &event)?;
        close(&self.draft.view(), &self.draft_payer)
    }
}
