//! begin_evidence (decision B10).

use anchor_lang::prelude::*;
use zx1_interface::accounts::{EvidenceDraft, VERSION};
use zx1_interface::constants::MAX_EVIDENCE_BYTES;
use zx1_interface::events::EvidenceDraftBegun;
use zx1_interface::{Error, pda, seeds};
use zx1_runtime::{create, emit, ensure, key, time};

/// Accounts of begin_evidence.
#[event_cpi]
#[derive(Accounts)]
pub struct BeginEvidence {
    /// Who collects evidence; pays the rent and gets it back.
    #[account(mut)]
    pub owner: Signer,
    /// Where the draft goes; checked by address.
    #[account(mut)]
    pub draft: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl BeginEvidence {
    pub(crate) fn handle(&mut self, nonce: u64, len: u32) -> Result<()> {
        ensure!(len != 0 && len as usize <= MAX_EVIDENCE_BYTES, Error::InvalidDraftLength);
        let now = time::now()?;
        let owner = key(&self.owner);
        let draft_seeds: &[&[u8]] = &[seeds::DRAFT, owner, &nonce.to_le_bytes()];
        let make = |account: &mut EvidenceDraft, bump| {
            account.nonce = nonce;
            account.created_slot = now.slot.0;
            account.event_sequence = 1;
            account.len = len;
            account.owner = *owner;
            account.version = VERSION;
            account.bump = bump;
        };
        create(&self.owner, &self.draft, draft_seeds, len as usize, Error::AccountExists, make)?;
        let event = EvidenceDraftBegun {
            draft: *key(&self.draft),
            owner: *owner,
            len,
            sequence: 0,
            account_created_slot: now.slot.0,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
