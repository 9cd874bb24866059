//! answer_challenge (decisions B10 and P4).

use crate::stake_lock::{Moves, settlement};
use crate::state::{Answer, Challenged, expect_batch, into_stake};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, ChallengeAccount, StakeLockAccount};
use zx1_interface::events::ChallengeAnswered;
use zx1_interface::instruction::mark;
use zx1_interface::pda;
use zx1_protocol::amounts::Amounts;
use zx1_runtime::{Stored, bump, emit, key, time};

/// Accounts of answer_challenge. Anyone may answer.
#[event_cpi]
#[derive(Accounts)]
pub struct AnswerChallenge {
    /// Who answers, and gets a part of the challenger's stake.
    pub answerer: Signer,
    /// The challenge; checked by type.
    #[account(mut)]
    pub challenge: Stored<ChallengeAccount>,
    /// The challenged batch; checked against the challenge.
    pub batch: Stored<BatchAccount>,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The stake of the challenge's era; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The total of the agent's shard; checked by StakeLock.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by StakeLock.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// A USDC account of the answerer.
    #[account(mut, unsafe(dup))]
    pub first_usdc: UncheckedAccount,
    /// A USDC account of the treasury's wallet; may be the first one.
    #[account(mut, unsafe(dup))]
    pub second_usdc: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// StakeLock's event authority; checked by StakeLock.
    pub stake_lock_events: UncheckedAccount,
    /// The legacy token program; checked by StakeLock.
    pub token_program: UncheckedAccount,
}

impl AnswerChallenge {
    pub(crate) fn handle(
        &mut self,
        leaf_index: u32,
        proof: &[[u8; 32]],
        bid_value: i128,
        attestation: &[u8; 32],
    ) -> Result<()> {
        expect_batch(&self.challenge.batch, &self.batch)?;
        let settlement = settlement!(self);
        let answerer = key(&self.answerer);
        let config =
            settlement.expect(&self.config, &self.challenge.agent_id, self.challenge.era, answerer)?;
        let answer = Answer { answerer, leaf_index, proof, bid_value, attestation };
        self.challenge.answer(&self.batch, &answer, &time::now()?)?;
        let mut marks = mark::CHALLENGE;
        if self.challenge.rank == self.stake.settled_rank {
            self.challenge.pass()?;
            marks |= mark::ORDER;
        }

        let deposit = self.challenge.stake_usdc;
        let lost = Amounts::of(config).lost(deposit);
        let (to_stake, to_treasury) = into_stake(&self.stake, lost.stake, lost.treasury)?;
        settlement.settle(&Moves {
            from_deposits: deposit,
            to_stake,
            first: lost.answerer,
            second: to_treasury,
            marks,
            ..Moves::default()
        })?;
        let event = ChallengeAnswered {
            agent_id: self.challenge.agent_id,
            challenge: *self.challenge.key(),
            answerer: self.challenge.answerer,
            leaf_index,
            to_stake,
            to_answerer: lost.answerer,
            sequence: bump(&mut self.challenge.event_sequence)?,
            account_created_slot: self.challenge.submitted_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
