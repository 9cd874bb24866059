//! append_evidence (decision B10).

use crate::state::Drafted;
use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::EvidenceDraft;
use zx1_runtime::{Stored, draft, ensure, key, same};

/// Accounts of append_evidence.
#[derive(Accounts)]
pub struct AppendEvidence {
    /// The wallet that began the draft.
    pub owner: Signer,
    /// The draft; checked by type, owner and nonce.
    #[account(mut)]
    pub draft: Stored<EvidenceDraft>,
}

impl AppendEvidence {
    fn validate(&self, nonce: u64) -> Result<()> {
        ensure!(same(&self.draft.owner, key(&self.owner)), Error::NotDraftOwner);
        ensure!(self.draft.nonce == nonce, Error::WrongAddress);
        ensure!(self.draft.ground == 0, Error::AlreadySealed);
        Ok(())
    }

    pub(crate) fn handle(&mut self, nonce: u64, offset: u32, bytes: &[u8]) -> Result<()> {
        self.validate(nonce)?;
        let (len, written) = (self.draft.len, self.draft.written);
        self.draft.written = draft::append(self.draft.tail_mut(), len, written, offset, bytes)?;
        self.draft.invariant()
    }
}
