//! seal_draft (decision B13).

use crate::state::Append;
use anchor_lang::prelude::*;
use zx1_interface::accounts::FeedbackDraft;
use zx1_interface::{Error, pda};
use zx1_protocol::hash::Keccak;
use zx1_runtime::{Stored, Syscall, close, emit, ensure, key};

/// Accounts of seal_draft.
#[event_cpi]
#[derive(Accounts)]
pub struct SealDraft {
    /// Pays the entry's rent; may be the sender or a sponsor.
    #[account(mut, unsafe(dup))]
    pub payer: Signer,
    /// The wallet that writes the text.
    pub sender: Signer,
    /// The complete draft; checked by type, sender and nonce, and closed by this.
    #[account(mut)]
    pub draft: Stored<FeedbackDraft>,
    /// Who paid the draft's rent and gets it back; checked against the draft. May be the payer.
    #[account(mut, unsafe(dup))]
    pub draft_payer: UncheckedAccount,
    /// The log's head; created by the first entry. Checked by address.
    #[account(mut)]
    pub feedback_log: UncheckedAccount,
    /// Where the entry goes; checked by address.
    #[account(mut)]
    pub entry: UncheckedAccount,
    /// The system program, called to create the accounts; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl SealDraft {
    pub(crate) fn handle(&mut self, nonce: u64, index: u64) -> Result<()> {
        ensure!(self.draft.sender == *key(&self.sender), Error::NotDraftOwner);
        ensure!(self.draft.nonce == nonce, Error::WrongAddress);
        ensure!(self.draft.payer == *key(&self.draft_payer), Error::WrongPayer);
        ensure!(self.draft.written == self.draft.len, Error::DraftIncomplete);
        ensure!(Syscall::hashv(&[self.draft.tail()]) == self.draft.text_hash, Error::DraftHashMismatch);
        let append = Append {
            payer: &self.payer,
            sender: &self.sender,
            log: &self.feedback_log,
            entry: &self.entry,
            draft: *self.draft.key(),
        };
        let event = append.append(index, self.draft.tail())?;
        emit(&self.program, &self.event_authority, &pda::FEEDBACK_LOG_EVENTS, &event)?;
        close(&self.draft.view(), &self.draft_payer)
    }
}
