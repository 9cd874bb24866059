//! settle_ask (decision P4).

use crate::behavior_log::mark_withheld;
use crate::stake_lock::{Moves, settlement};
use crate::state::{Asked, Unanswered, expect_batch};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{AskAccount, BatchAccount, StakeLockAccount};
use zx1_interface::events::AskSettled;
use zx1_interface::instruction::mark;
use zx1_interface::{Error, pda};
use zx1_protocol::amounts::{Amounts, Fine};
use zx1_runtime::{Stored, bump, emit, time};

/// Accounts of settle_ask. Anyone may call it.
#[event_cpi]
#[derive(Accounts)]
pub struct SettleAsk {
    /// The ask; checked by type.
    #[account(mut)]
    pub ask: Stored<AskAccount>,
    /// The batch; checked against the ask.
    #[account(mut)]
    pub batch: Stored<BatchAccount>,
    /// The agent's head, which counts the batch's events; checked by BehaviorLog.
    #[account(mut)]
    pub head: UncheckedAccount,
    /// BehaviorLog; checked by address.
    pub behavior_log_program: UncheckedAccount,
    /// BehaviorLog's event authority; checked by BehaviorLog.
    pub behavior_log_events: UncheckedAccount,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The stake of the batch's era; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The total of the agent's shard; checked by StakeLock.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by StakeLock.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// A USDC account of the asker.
    #[account(mut, unsafe(dup))]
    pub first_usdc: UncheckedAccount,
    /// A USDC account of the treasury's wallet; may be the first one.
    #[account(mut, unsafe(dup))]
    pub second_usdc: UncheckedAccount,
    /// This program's signer towards StakeLock and BehaviorLog; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// StakeLock's event authority; checked by StakeLock.
    pub stake_lock_events: UncheckedAccount,
    /// The legacy token program; checked by StakeLock.
    pub token_program: UncheckedAccount,
}

impl SettleAsk {
    pub(crate) fn handle(&mut self) -> Result<()> {
        expect_batch(&self.ask.batch, &self.batch)?;
        let settlement = settlement!(self);
        let (ask, price) = (&self.ask, self.ask.price_usdc);
        let config = settlement.expect(&self.config, &ask.agent_id, ask.era, &ask.asker)?;
        let unanswered = self.ask.settle(&self.batch, &self.stake, &time::now()?)?;
        if unanswered != Unanswered::PriceBack && self.batch.withheld == 0 {
            mark_withheld(
                &self.behavior_log_program,
                &self.challenge_authority,
                &self.batch,
                &self.head,
                &self.behavior_log_events,
            )?;
        }
        let fine = match unanswered {
            Unanswered::Fine => Amounts::of(config).fine_of(self.stake.stake_usdc),
            Unanswered::Wait | Unanswered::PriceBack => Fine { asker: 0, treasury: 0 },
        };
        let whole = fine.asker.checked_add(fine.treasury).ok_or(Error::ArithmeticOverflow)?;
        let mut to_asker = 0;
        if unanswered != Unanswered::Wait {
            to_asker = price.checked_add(fine.asker).ok_or(Error::ArithmeticOverflow)?;
            settlement.settle(&Moves {
                from_deposits: price,
                from_stake: whole,
                first: to_asker,
                second: fine.treasury,
                marks: mark::ASK,
                ..Moves::default()
            })?;
        }
        let event = AskSettled {
            agent_id: self.ask.agent_id,
            ask: *self.ask.key(),
            state: self.ask.state,
            fine: whole,
            to_asker,
            sequence: bump(&mut self.ask.event_sequence)?,
            account_created_slot: self.ask.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
