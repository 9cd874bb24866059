//! cancel_evidence (decision B8).

use anchor_lang::prelude::*;
use zx1_interface::accounts::EvidenceDraft;
use zx1_interface::events::EvidenceDraftCanceled;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, bump, close, emit, ensure, key, same};

/// Accounts of cancel_evidence.
#[event_cpi]
#[derive(Accounts)]
pub struct CancelEvidence {
    /// Who began the draft; gets the rent.
    #[account(mut)]
    pub owner: Signer,
    /// The draft; checked by type, owner and nonce.
    #[account(mut)]
    pub draft: Stored<EvidenceDraft>,
}

impl CancelEvidence {
    pub(crate) fn handle(&mut self, nonce: u64) -> Result<()> {
        ensure!(same(&self.draft.owner, key(&self.owner)), Error::NotDraftOwner);
        ensure!(self.draft.nonce == nonce, Error::WrongAddress);
        let event = EvidenceDraftCanceled {
            draft: *self.draft.key(),
            owner: self.draft.owner,
            sequence: bump(&mut self.draft.event_sequence)?,
            account_created_slot: self.draft.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)?;
        close(&self.draft.view(), &self.owner)
    }
}
