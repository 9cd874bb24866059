//! discard_envelope (decision B8).

use anchor_lang::prelude::*;
use zx1_interface::accounts::RecordedEnvelope;
use zx1_interface::events::EnvelopeDiscarded;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, bump, close, emit, ensure, key, same};

/// Accounts of discard_envelope.
#[event_cpi]
#[derive(Accounts)]
pub struct DiscardEnvelope {
    /// Who recorded it; gets the rent.
    #[account(mut)]
    pub owner: Signer,
    /// The recorded envelope; checked by type, owner and nonce.
    #[account(mut)]
    pub record: Stored<RecordedEnvelope>,
}

impl DiscardEnvelope {
    pub(crate) fn handle(&mut self, nonce: u64) -> Result<()> {
        ensure!(same(&self.record.owner, key(&self.owner)), Error::NotDraftOwner);
        ensure!(self.record.nonce == nonce, Error::WrongAddress);
        let event = EnvelopeDiscarded {
            record: *self.record.key(),
            owner: self.record.owner,
            sequence: bump(&mut self.record.event_sequence)?,
            account_created_slot: self.record.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)?;
        close(&self.record.view(), &self.owner)
    }
}
