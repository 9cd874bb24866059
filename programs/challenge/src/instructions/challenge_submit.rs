//! submit_challenge (protocol.md, 10.4; decisions B10, B11 and P4).

use crate::claim::stronger;
use crate::stake_lock::{Era, Pool};
use crate::state::{Challenged, Drafted, expect_batch, expect_era, expect_open, expect_winnable};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, ChallengeAccount, EvidenceDraft, StakeLockAccount};
use zx1_interface::events::ChallengeSubmitted;
use zx1_interface::instruction::deposit;
use zx1_interface::{Error, ids, pda, seeds};
use zx1_runtime::{
    Now, Stored, agent, bump, create, emit, ensure, existing, find, is_owned_by, key, same, time, usdc,
};

/// Accounts of submit_challenge.
#[event_cpi]
#[derive(Accounts)]
pub struct SubmitChallenge {
    /// Who challenges and owns the draft; pays stake and rent.
    #[account(mut)]
    pub challenger: Signer,
    /// The sealed draft; checked by type, owner and nonce.
    #[account(mut)]
    pub draft: Stored<EvidenceDraft>,
    /// The batch; checked against the draft.
    pub batch: Stored<BatchAccount>,
    /// Where the claim with the value would be; its absence is checked by address for a bid without the value, and
    /// any account serves for another claim.
    pub stronger: UncheckedAccount,
    /// Where the challenge goes, checked by address; or the one that is taken over, checked by type, batch and claim.
    #[account(mut, unsafe(dup))]
    pub challenge: UncheckedAccount,
    /// A USDC account of the challenger whose claim is taken over; None for a new claim.
    #[account(mut)]
    pub replaced: Option<UncheckedAccount>,
    /// The challenger's USDC account.
    #[account(mut)]
    pub challenger_usdc: UncheckedAccount,
    /// The stake of the batch's era; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The total of the agent's shard; checked by StakeLock.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by StakeLock.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// The legacy token program; checked by StakeLock.
    pub token_program: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl SubmitChallenge {
    fn validate(&self, nonce: u64) -> Result<()> {
        // draft: the challenger's own, sealed and not used.
        let draft = &self.draft;
        ensure!(same(&draft.owner, key(&self.challenger)), Error::NotDraftOwner);
        ensure!(draft.nonce == nonce, Error::WrongAddress);
        ensure!(draft.ground != 0, Error::NotSealed);
        ensure!(draft.used == 0, Error::AlreadyUsed);
        // batch, stake: the sealed one, and its era's.
        expect_batch(&draft.batch, &self.batch)?;
        expect_era(&self.stake, &self.batch.agent_id, self.batch.era)?;
        expect_winnable(&self.stake)
    }

    /// Refuses a claim without the value while the one with it is there.
    fn expect_strongest(&self) -> Result<()> {
        let draft = &self.draft;
        let record = draft.expected_record.get(..usize::from(draft.expected_len));
        let record = record.ok_or(Error::InvariantBroken)?;
        let Some(claim) = stronger(draft.ground, draft.value_known != 0, record) else { return Ok(()) };
        find(&[seeds::CHALLENGE, self.batch.key(), &claim], &crate::ID, &self.stronger)?;
        ensure!(self.stronger.is_data_empty(), Error::StrongerClaimOpen);
        Ok(())
    }

    /// Opens the claim, by the draft's rank or by the era's next one.
    fn open(&self, ranked: bool, now: &Now) -> Result<Stored<ChallengeAccount>> {
        expect_open(&self.batch, now)?;
        self.expect_strongest()?;
        let config = agent::config(&self.config)?;
        let amount = config.challenge_stake;
        let era = Era {
            program: &self.stake_lock_program,
            authority: &self.challenge_authority,
            stake: &self.stake,
        };
        let (draft, batch, challenger) = (&self.draft, &self.batch, key(&self.challenger));
        let (rank, what) = if ranked {
            (draft.rank, deposit::RANKED_CHALLENGE)
        } else {
            (self.stake.next_rank, deposit::CHALLENGE)
        };
        let challenge = create(
            &self.challenger,
            &self.challenge,
            &[seeds::CHALLENGE, batch.key(), &draft.claim],
            0,
            Error::ChallengeExists,
            |account: &mut ChallengeAccount, bump| {
                account.epoch_number = batch.epoch_number;
                account.submitted_slot = now.slot.0;
                account.stake_usdc = amount;
                account.rank = rank;
                account.era = batch.era;
                account.agent_id = batch.agent_id;
                account.batch = *batch.key();
                account.challenger = *challenger;
                account.payer = *challenger;
                account.claim = draft.claim;
                account.entry_hash = draft.entry_hash;
                account.expected_record = draft.expected_record;
                account.expected_len = draft.expected_len;
                account.value_known = draft.value_known;
                account.ground = draft.ground;
                account.bump = bump;
            },
        )?;
        challenge.invariant()?;
        let pool = Pool { shard: &self.shard, vault: &self.vault, token_program: &self.token_program };
        era.take_deposit(&pool, config, &self.challenger, &self.challenger_usdc, amount, what)?;
        Ok(challenge)
    }

    /// Gives the replaced challenger its stake back, straight from who takes over.
    fn repay(&self, replaced: &[u8; 32], amount: u64) -> Result<()> {
        let config = agent::config(&self.config)?;
        let account = self.replaced.as_deref().ok_or(Error::AccountMissing)?;
        usdc::account_of(config, account, replaced)?;
        usdc::pay(config, &self.challenger_usdc, account, &self.challenger, amount)
    }

    pub(crate) fn handle(&mut self, nonce: u64) -> Result<()> {
        self.validate(nonce)?;
        let now = time::now()?;
        let ranked = self.draft.holds(&self.batch, &now);
        let mut replaced = [0; 32];
        let mut challenge = if is_owned_by(&self.challenge, &ids::CHALLENGE) {
            let mut challenge = existing::<ChallengeAccount>(&self.challenge)?;
            let claimed = same(&challenge.batch, &self.draft.batch);
            ensure!(claimed && same(&challenge.claim, &self.draft.claim), Error::WrongAddress);
            ensure!(ranked, Error::ChallengeExists);
            replaced = challenge.challenger;
            let former = challenge.take_over(key(&self.challenger), self.draft.rank)?;
            self.repay(&replaced, challenge.stake_usdc)?;
            self.draft.swap_rank(former)?;
            challenge
        } else {
            let challenge = self.open(ranked, &now)?;
            if ranked {
                self.draft.use_rank()?;
            }
            challenge
        };
        let sequence = bump(&mut challenge.event_sequence)?;
        let event = ChallengeSubmitted {
            agent_id: challenge.agent_id,
            epoch_number: challenge.epoch_number,
            era: challenge.era,
            rank: challenge.rank,
            challenger: challenge.challenger,
            challenge: *challenge.key(),
            draft: *self.draft.key(),
            claim: challenge.claim,
            entry_hash: challenge.entry_hash,
            ground: challenge.ground,
            value_known: challenge.value_known,
            replaced,
            sequence,
            account_created_slot: challenge.submitted_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
