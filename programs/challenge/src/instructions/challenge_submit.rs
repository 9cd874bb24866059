//! submit_challenge (protocol.md, 10.4; decisions B10 and B11).

use crate::claim::{Claim, ground, seed};
use crate::stake_lock::StakeLock;
use anchor_lang::prelude::*;
use zx1_interface::accounts::{
    BatchAccount, ChallengeAccount, Config, EvidenceDraft, RecordedEnvelope, StakeLockAccount, VERSION,
};
use zx1_interface::constants::CHALLENGE_STAKE;
use zx1_interface::events::ChallengeSubmitted;
use zx1_interface::{Error, Layout, pda, seeds};
use zx1_protocol::challenge::{Clock, Ground};
use zx1_protocol::units::Slot;
use zx1_runtime::{Stored, agent, bytes, close, create, emit, ensure, is_at, key, load, same, time, usdc};

/// Accounts of submit_challenge.
#[event_cpi]
#[derive(Accounts)]
pub struct SubmitChallenge {
    /// Who challenges; pays stake and rent.
    #[account(mut)]
    pub challenger: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The batch; checked by type, agent and epoch.
    pub batch: Stored<BatchAccount>,
    /// The agent's stake, which counts open challenges; checked by StakeLock.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// Where the challenge goes; checked by address.
    #[account(mut)]
    pub challenge: UncheckedAccount,
    /// Where the challenger's stake goes; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The configured USDC mint.
    pub usdc_mint: UncheckedAccount,
    /// The challenger's USDC account.
    #[account(mut)]
    pub challenger_usdc: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// A complete draft or a recorded envelope of the challenger, closed by this; none for inline evidence.
    #[account(mut)]
    pub evidence: Option<UncheckedAccount>,
    /// Holds the agent's NFT: needed when an envelope was not signed by the batch's signer.
    pub agent_token: Option<UncheckedAccount>,
    /// The DelegateV1 attestation of the key that signed an envelope, if a delegate did.
    pub delegation: Option<UncheckedAccount>,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
    /// The system program, called to create the accounts; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl SubmitChallenge {
    /// Checks the evidence, wherever it lies; what is invalid locks nothing.
    fn fill(
        &self,
        claim: &mut Claim,
        config: &Config,
        ground: Ground,
        inline: &[u8],
        unix: i64,
    ) -> Result<()> {
        let Some(evidence) = self.evidence.as_deref() else {
            ensure!(!inline.is_empty(), Error::EvidenceMissing);
            return claim.fill_from_bytes(&self.batch, ground, inline);
        };
        ensure!(inline.is_empty(), Error::EvidenceMissing);
        let is_envelope = bytes(evidence).first_chunk() == Some(&RecordedEnvelope::DISCRIMINATOR);
        if is_envelope {
            let envelope: &RecordedEnvelope = load(evidence)?;
            ensure!(is_at(&self.challenger, &envelope.owner), Error::NotDraftOwner);
            claim.fill_from_envelope(&self.batch, ground, envelope)?;
            return self.expect_signer(config, &envelope.signer, unix);
        }
        let draft: &EvidenceDraft = load(evidence)?;
        ensure!(is_at(&self.challenger, &draft.owner), Error::NotDraftOwner);
        ensure!(draft.written == draft.len, Error::DraftIncomplete);
        let tail = bytes(evidence).get(EvidenceDraft::SIZE..).ok_or(Error::WrongAccountType)?;
        claim.fill_from_bytes(&self.batch, ground, tail)
    }

    /// Refuses unless the agent's owner, its live delegate or the batch's signer signed the envelope.
    fn expect_signer(&self, config: &Config, signer: &[u8; 32], unix: i64) -> Result<()> {
        if same(signer, &self.batch.signer) {
            return Ok(());
        }
        let token = self.agent_token.as_deref().ok_or(Error::WrongEnvelopeSigner)?;
        let agent_id = &self.batch.agent_id;
        let owner = agent::holder(agent_id, token)?;
        let delegation = self.delegation.as_deref();
        agent::owner_or_delegate(
            config,
            agent_id,
            &owner,
            signer,
            delegation,
            unix,
            Error::WrongEnvelopeSigner,
        )
    }

    pub(crate) fn handle(
        &mut self,
        agent_id: &Address,
        epoch_number: u64,
        number: u8,
        inline: &[u8],
    ) -> Result<()> {
        let config = agent::config(&self.config)?;
        let now = time::now()?;
        let agent_id = agent_id.as_array();
        // batch, stake: the named agent's; the batch of the named epoch and still open.
        ensure!(same(&self.batch.agent_id, agent_id), Error::WrongAgent);
        ensure!(same(&self.stake.agent_mint, agent_id), Error::WrongAgent);
        ensure!(self.batch.epoch_number == epoch_number, Error::WrongBatch);
        let window = Clock { submitted: Slot(self.batch.submitted_slot) };
        ensure!(window.is_open(now.slot), Error::ChallengeWindowOver);
        // usdc_mint, token_program: the configured ones. challenger_usdc is checked where it pays.
        ensure!(is_at(&self.usdc_mint, &config.usdc_mint), Error::WrongUsdcMint);
        usdc::token_program(&self.token_program)?;
        // challenge_authority, stake_lock_program: the real ones.
        let stake = self.stake.view();
        let stake_lock = StakeLock {
            program: &self.stake_lock_program,
            authority: &self.challenge_authority,
            stake: &stake,
            agent: agent_id,
        };
        stake_lock.validate()?;
        // evidence, agent_token, delegation.
        let mut claim = Claim::EMPTY;
        self.fill(&mut claim, config, ground(number)?, inline, now.unix)?;

        let (batch, challenger) = (self.batch.key(), key(&self.challenger));
        let claim_seed = seed(&claim.evidence_hash, number);
        // The same challenge again is told apart from a wrong address: both exist at a derived one.
        let challenge_seeds: &[&[u8]] = &[seeds::CHALLENGE, batch, challenger, &claim_seed];
        let mut vault_bump = 0;
        if self.challenge.is_data_empty() {
            vault_bump = usdc::open_vault(
                &self.challenger,
                &self.vault,
                &self.usdc_mint,
                &self.challenge,
                &[seeds::VAULT, key(&self.challenge)],
                &crate::ID,
            )?;
        }
        create(
            &self.challenger,
            &self.challenge,
            challenge_seeds,
            0,
            Error::ChallengeExists,
            |account: &mut ChallengeAccount, bump| {
                account.epoch_number = epoch_number;
                account.submitted_slot = now.slot.0;
                account.event_sequence = 1;
                account.agent_id = *agent_id;
                account.batch = *batch;
                account.challenger = *challenger;
                account.entry_hash = claim.entry_hash;
                account.evidence_hash = claim.evidence_hash;
                account.expected_record = claim.record;
                account.expected_len = claim.record_len;
                account.value_known = u8::from(claim.value_known);
                account.ground = number;
                account.version = VERSION;
                account.bump = bump;
                account.vault_bump = vault_bump;
            },
        )?;
        usdc::pay(config, &self.challenger_usdc, &self.vault, &self.challenger, CHALLENGE_STAKE)?;
        stake_lock.open_challenge()?;
        let event = ChallengeSubmitted {
            agent_id: *agent_id,
            epoch_number,
            challenger: *challenger,
            challenge: *key(&self.challenge),
            evidence: self.evidence.as_deref().map_or([0; 32], |account| *key(account)),
            entry_hash: claim.entry_hash,
            evidence_hash: claim.evidence_hash,
            ground: number,
            sequence: 0,
            account_created_slot: now.slot.0,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)?;
        match self.evidence.as_deref() {
            Some(evidence) => close(evidence, &self.challenger),
            None => Ok(()),
        }
    }
}
