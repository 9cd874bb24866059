//! seal_evidence (decisions B11, P4 and P5).

use crate::claim::{Claimed, ground};
use crate::state::{Drafted, expect_open, rank};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, EvidenceDraft, KeyAccount};
use zx1_interface::events::EvidenceSealed;
use zx1_interface::{Error, pda};
use zx1_protocol::challenge::commit32;
use zx1_runtime::{Stored, Syscall, bump, emit, ensure, key, same, signature, time};

/// Accounts of seal_evidence.
#[event_cpi]
#[derive(Accounts)]
pub struct SealEvidence {
    /// The wallet that began the draft.
    pub owner: Signer,
    /// The draft; checked by type, owner and nonce.
    #[account(mut)]
    pub draft: Stored<EvidenceDraft>,
    /// The batch that the evidence is against; checked by type, and with a rank against the commitment.
    pub batch: Stored<BatchAccount>,
    /// For an envelope, the key account of who signed it; checked by type, agent and key.
    pub key: Option<Stored<KeyAccount>>,
    /// For an envelope, the instructions sysvar; checked by address.
    pub instructions: UncheckedAccount,
}

impl SealEvidence {
    fn validate(&self, nonce: u64) -> Result<()> {
        let draft = &self.draft;
        ensure!(same(&draft.owner, key(&self.owner)), Error::NotDraftOwner);
        ensure!(draft.nonce == nonce, Error::WrongAddress);
        ensure!(draft.ground == 0, Error::AlreadySealed);
        ensure!(draft.written == draft.len, Error::DraftIncomplete);
        expect_open(&self.batch, &time::now()?)
    }

    pub(crate) fn handle(&mut self, nonce: u64, number: u8) -> Result<()> {
        self.validate(nonce)?;
        let ground = ground(number)?;
        let batch = &self.batch;
        let (draft, evidence) = self.draft.parts();
        if draft.len == 0 {
            let signed = signature::preceding(&self.instructions);
            let signed = signed.as_ref().map_err(Clone::clone)?;
            expect_commitment(draft, batch, signed.message)?;
            let key = self.key.as_ref().ok_or(Error::WrongEnvelopeSigner)?;
            draft.claim_by_envelope(batch, ground, signed, key)?;
        } else {
            expect_commitment(draft, batch, evidence)?;
            draft.claim_by_bytes(batch, ground, evidence)?;
        }
        draft.batch = *batch.key();
        draft.invariant()?;
        let sequence = bump(&mut draft.event_sequence)?;
        let event = EvidenceSealed {
            draft: *self.draft.key(),
            owner: self.draft.owner,
            batch: self.draft.batch,
            claim: self.draft.claim,
            entry_hash: self.draft.entry_hash,
            ground: number,
            sequence,
            account_created_slot: self.draft.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}

/// Refuses unless the draft's rank, if it took one, was taken for this evidence against this batch.
#[inline(never)]
fn expect_commitment(draft: &EvidenceDraft, batch: &Stored<BatchAccount>, evidence: &[u8]) -> Result<()> {
    if draft.state == rank::NONE {
        return Ok(());
    }
    ensure!(same(&batch.agent_id, &draft.agent), Error::WrongAgent);
    ensure!(batch.era == draft.era, Error::WrongEraOfBatch);
    let commit = commit32::<Syscall>(&draft.owner, batch.key(), evidence);
    ensure!(same(&commit, &draft.commit), Error::CommitMismatch);
    Ok(())
}
