//! begin_evidence (decisions B10 and P4).

use crate::stake_lock::Era;
use crate::state::{Drafted, expect_era, rank};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{EvidenceDraft, StakeLockAccount};
use zx1_interface::constants::MAX_EVIDENCE_BYTES;
use zx1_interface::events::EvidenceDraftBegun;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::hash::Hash;
use zx1_runtime::create::send_lamports;
use zx1_runtime::{Stored, agent, create, emit, ensure, key, same, time};

/// Accounts of begin_evidence.
#[event_cpi]
#[derive(Accounts)]
pub struct BeginEvidence {
    /// Who collects evidence; pays rent and deposit and gets them back.
    #[account(mut)]
    pub owner: Signer,
    /// Where the draft goes; checked by address.
    #[account(mut)]
    pub draft: UncheckedAccount,
    /// The stake in whose order the rank is taken; checked by type, agent and era. None without a rank.
    #[account(mut)]
    pub stake: Option<Stored<StakeLockAccount>>,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl BeginEvidence {
    /// Refuses unless the stake is the named era's; then takes its next rank.
    fn take_rank(&self, agent: &[u8; 32], era: u32) -> Result<u32> {
        let stake = self.stake.as_ref().ok_or(Error::StakeMissing)?;
        expect_era(stake, agent, era)?;
        let era = Era { program: &self.stake_lock_program, authority: &self.challenge_authority, stake };
        era.take_rank()
    }

    pub(crate) fn handle(
        &mut self,
        nonce: u64,
        len: u32,
        agent_id: &[u8; 32],
        era: u32,
        commit: &Hash,
    ) -> Result<()> {
        let ranked = !same(commit, &[0; 32]);
        ensure!(len as usize <= MAX_EVIDENCE_BYTES && (ranked || len != 0), Error::InvalidDraftLength);
        let now = time::now()?;
        let taken = if ranked { self.take_rank(agent_id, era)? } else { 0 };
        let deposit = if ranked { agent::config(&self.config)?.rank_deposit } else { 0 };

        let owner = key(&self.owner);
        let draft_seeds: &[&[u8]] = &[seeds::DRAFT, owner, &nonce.to_le_bytes()];
        let make = |account: &mut EvidenceDraft, bump| {
            account.nonce = nonce;
            account.created_slot = now.slot.0;
            account.event_sequence = 1;
            account.len = len;
            account.owner = *owner;
            account.bump = bump;
            if ranked {
                account.begin_slot = now.slot.0;
                account.deposit = deposit;
                account.rank = taken;
                account.era = era;
                account.agent = *agent_id;
                account.commit = *commit;
                account.state = rank::HELD;
            }
        };
        let draft = create(&self.owner, &self.draft, draft_seeds, len as usize, Error::AccountExists, make)?;
        draft.invariant()?;
        // On top of the rent, whoever paid that.
        if deposit != 0 {
            send_lamports(&self.owner, &self.draft, deposit)?;
        }
        let event = EvidenceDraftBegun {
            draft: *key(&self.draft),
            owner: *owner,
            len,
            agent_id: draft.agent,
            era: draft.era,
            rank: taken,
            commit: *commit,
            sequence: 0,
            account_created_slot: now.slot.0,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
