//! begin_draft (decision B13).

use anchor_lang::prelude::*;
use zx1_interface::accounts::FeedbackDraft;
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_interface::constants::MAX_FEEDBACK_BYTES;
use zx1_interface::events::FeedbackDraftBegun;
use zx1_interface::{Error, pda, seeds};
use zx1_runtime::{create, emit, ensure, key, time};

/// Accounts of begin_draft.
#[event_cpi]
#[derive(Accounts)]
pub struct BeginDraft {
    /// Pays the draft's rent and gets it back; may be the sender or a sponsor.
    #[account(mut, unsafe(dup))]
    pub payer: Signer,
    /// The wallet that writes the text.
    pub sender: Signer,
    /// Where the draft goes; checked by address.
    #[account(mut)]
    pub draft: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl BeginDraft {
    pub(crate) fn handle(&mut self, nonce: u64, len: u32, text_hash: [u8; 32]) -> Result<()> {
        ensure!(len != 0, Error::EmptyText);
        ensure!(len as usize <= MAX_FEEDBACK_BYTES, Error::TextTooLong);
        let now = time::now()?;
        let (sender, payer) = (*key(&self.sender), *key(&self.payer));
        let draft_seeds: &[&[u8]] = &[seeds::DRAFT, &sender, &nonce.to_le_bytes()];
        let make = |account: &mut FeedbackDraft, bump| {
            account.nonce = nonce;
            account.created_slot = now.slot.0;
            account.event_sequence = 1;
            account.len = len;
            account.sender = sender;
            account.payer = payer;
            account.text_hash = text_hash;
            account.version = LAYOUT_VERSION;
            account.bump = bump;
        };
        create(&self.payer, &self.draft, draft_seeds, len as usize, Error::AccountExists, make)?;
        let event = FeedbackDraftBegun {
            draft: *key(&self.draft),
            sender,
            payer,
            len,
            sequence: 0,
            account_created_slot: now.slot.0,
        };
        emit(&self.program, &self.event_authority, &pda::FEEDBACK_LOG_EVENTS, &event)
    }
}
