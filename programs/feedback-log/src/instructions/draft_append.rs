//! append_draft (decision B13).

use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::FeedbackDraft;
use zx1_runtime::{Stored, draft, ensure, key};

/// Accounts of append_draft.
#[derive(Accounts)]
pub struct AppendDraft {
    /// The wallet that writes the text.
    pub sender: Signer,
    /// The draft; checked by type, sender and nonce.
    #[account(mut)]
    pub draft: Stored<FeedbackDraft>,
}

impl AppendDraft {
    pub(crate) fn handle(&mut self, nonce: u64, offset: u32, bytes: &[u8]) -> Result<()> {
        ensure!(self.draft.sender == *key(&self.sender), Error::NotDraftOwner);
        ensure!(self.draft.nonce == nonce, Error::WrongAddress);
        let (len, written) = (self.draft.len, self.draft.written);
        self.draft.written = draft::append(self.draft.tail_mut(), len, written, offset, bytes)?;
        Ok(())
    }
}
