//! resolve_challenge (protocol.md, 10.4; decisions B12 and P4).

use crate::stake_lock::{Moves, settlement};
use crate::state::Challenged;
use anchor_lang::prelude::*;
use zx1_interface::accounts::{ChallengeAccount, StakeLockAccount};
use zx1_interface::events::ChallengeResolved;
use zx1_interface::instruction::mark;
use zx1_interface::{Error, pda};
use zx1_protocol::amounts::Amounts;
use zx1_runtime::{Stored, bump, emit, time};

/// Accounts of resolve_challenge. Anyone may call it.
#[event_cpi]
#[derive(Accounts)]
pub struct ResolveChallenge {
    /// The challenge; checked by type.
    #[account(mut)]
    pub challenge: Stored<ChallengeAccount>,
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
    /// A USDC account of the challenger.
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

/// What the first of an era's finders takes, and what it leaves.
struct Won {
    reward: u64,
    moves: Moves,
}

impl ResolveChallenge {
    pub(crate) fn handle(&mut self) -> Result<()> {
        let settlement = settlement!(self);
        let challenge = &self.challenge;
        let config =
            settlement.expect(&self.config, &challenge.agent_id, challenge.era, &challenge.challenger)?;
        self.challenge.resolve(&self.stake, &time::now()?)?;
        let won = won(&Amounts::of(config), &self.stake, &self.challenge);
        let Won { reward, moves } = won.ok_or(Error::ArithmeticOverflow)?;
        settlement.settle(&moves)?;
        let event = ChallengeResolved {
            agent_id: self.challenge.agent_id,
            epoch_number: self.challenge.epoch_number,
            outcome: self.challenge.outcome,
            challenger: self.challenge.challenger,
            challenge: *self.challenge.key(),
            slashed: moves.from_stake,
            reward,
            sequence: bump(&mut self.challenge.event_sequence)?,
            account_created_slot: self.challenge.submitted_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}

/// The first slash divides the stake; each finder in its order then takes its share of what is left.
fn won(amounts: &Amounts, stake: &StakeLockAccount, challenge: &ChallengeAccount) -> Option<Won> {
    let deposit = challenge.stake_usdc;
    let slashed = amounts.slash(stake.stake_usdc);
    let pot = stake.pot_usdc.checked_add(slashed.pot)?;
    let reward = amounts.share(pot);
    let left = pot.checked_sub(reward)?;
    // Nobody else holds a rank: what is left is the treasury's.
    let is_last = stake.open_challenges == 1 && challenge.rank.checked_add(1)? == stake.next_rank;
    let (kept, swept) = if is_last { (0, left) } else { (left, 0) };
    let slash = if stake.stake_usdc == 0 { 0 } else { mark::SLASH };
    let moves = Moves {
        from_deposits: deposit,
        from_stake: stake.stake_usdc,
        from_pot: stake.pot_usdc.saturating_sub(kept),
        to_stake: 0,
        to_pot: kept.saturating_sub(stake.pot_usdc),
        first: deposit.checked_add(reward)?,
        second: slashed.treasury.checked_add(swept)?,
        marks: mark::CHALLENGE | mark::ORDER | slash,
    };
    Some(Won { reward, moves })
}
