//! answer_challenge (decision B10).

use crate::state::{Answer, Challenged, expect_batch};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, ChallengeAccount};
use zx1_interface::events::ChallengeAnswered;
use zx1_interface::pda;
use zx1_runtime::{Stored, bump, emit, key, time};

/// Accounts of answer_challenge. Anyone may answer.
#[event_cpi]
#[derive(Accounts)]
pub struct AnswerChallenge {
    /// Who answers; noted in the challenge and named in the event, and paid nothing.
    pub answerer: Signer,
    /// The challenge; checked by type.
    #[account(mut)]
    pub challenge: Stored<ChallengeAccount>,
    /// The challenged batch; checked against the challenge.
    pub batch: Stored<BatchAccount>,
}

impl AnswerChallenge {
    pub(crate) fn handle(
        &mut self,
        leaf_index: u32,
        proof: &[[u8; 32]],
        bid_value: i128,
        attestation: &[u8; 32],
    ) -> Result<()> {
        expect_batch(&self.challenge, &self.batch)?;
        let now = time::now()?;
        let answer = Answer { answerer: key(&self.answerer), leaf_index, proof, bid_value, attestation };
        self.challenge.answer(&self.batch, &answer, &now)?;
        let event = ChallengeAnswered {
            agent_id: self.challenge.agent_id,
            challenge: *self.challenge.key(),
            answerer: *key(&self.answerer),
            leaf_index,
            sequence: bump(&mut self.challenge.event_sequence)?,
            account_created_slot: self.challenge.submitted_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
