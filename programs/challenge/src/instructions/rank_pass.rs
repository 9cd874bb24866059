//! pass_rank (decision P4).

use crate::stake_lock::{Era, Moves, Pool, Recipients, Settlement};
use crate::state::{Challenged, Drafted, expect_era};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft, StakeLockAccount};
use zx1_interface::events::RankPassed;
use zx1_interface::instruction::mark;
use zx1_interface::{Error, Layout, pda};
use zx1_runtime::{Stored, bump, bytes, emit, ensure, existing, key, time};

/// Accounts of pass_rank. Anyone may call it.
#[event_cpi]
#[derive(Accounts)]
pub struct PassRank {
    /// The settled challenge, or the draft whose rank lapsed or was taken over; checked by type.
    #[account(mut)]
    pub account: UncheckedAccount,
    /// The stake of its era; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The total of the agent's shard; checked by StakeLock.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by StakeLock.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// StakeLock's event authority; checked by StakeLock.
    pub stake_lock_events: UncheckedAccount,
    /// The legacy token program; checked by StakeLock.
    pub token_program: UncheckedAccount,
}

/// A rank and its account.
struct Place {
    agent: [u8; 32],
    era: u32,
    rank: u32,
    sequence: u64,
    created_slot: u64,
}

impl PassRank {
    /// Refuses unless the account's rank can be passed; then notes that it was.
    fn pass(&mut self) -> Result<Place> {
        if bytes(&self.account).first_chunk() == Some(&EvidenceDraft::DISCRIMINATOR) {
            let mut draft = existing::<EvidenceDraft>(&self.account)?;
            draft.pass(&time::now()?)?;
            return Ok(Place {
                agent: draft.agent,
                era: draft.era,
                rank: draft.rank,
                sequence: bump(&mut draft.event_sequence)?,
                created_slot: draft.created_slot,
            });
        }
        let mut challenge = existing::<ChallengeAccount>(&self.account)?;
        challenge.pass()?;
        Ok(Place {
            agent: challenge.agent_id,
            era: challenge.era,
            rank: challenge.rank,
            sequence: bump(&mut challenge.event_sequence)?,
            created_slot: challenge.submitted_slot,
        })
    }

    pub(crate) fn handle(&mut self) -> Result<()> {
        let place = self.pass()?;
        // The stake is the one in whose order the rank was taken, and the rank its next.
        expect_era(&self.stake, &place.agent, place.era)?;
        ensure!(self.stake.settled_rank == place.rank, Error::RankNotPassable);
        // Nothing is paid, so nobody is.
        Settlement {
            era: Era {
                program: &self.stake_lock_program,
                authority: &self.challenge_authority,
                stake: &self.stake,
            },
            pool: Pool { shard: &self.shard, vault: &self.vault, token_program: &self.token_program },
            recipients: Recipients {
                first: &self.vault,
                second: &self.vault,
                events: &self.stake_lock_events,
            },
        }
        .settle(&Moves { marks: mark::ORDER, ..Moves::default() })?;
        let event = RankPassed {
            agent_id: place.agent,
            era: place.era,
            rank: place.rank,
            account: *key(&self.account),
            sequence: place.sequence,
            account_created_slot: place.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
