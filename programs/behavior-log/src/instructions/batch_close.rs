//! close_batch (decisions B8 and P4).

use crate::state::Chain;
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, HeadAccount, StakeLockAccount};
use zx1_interface::events::BatchClosed;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::challenge::Clock;
use zx1_protocol::units::Slot;
use zx1_runtime::{Now, Stored, bump, close, emit, ensure, key, load_optional, time};

/// Accounts of close_batch. Anyone may call it; the rent goes to whoever paid it.
#[event_cpi]
#[derive(Accounts)]
pub struct CloseBatch {
    /// Who paid the batch's rent; checked against the batch.
    #[account(mut)]
    pub payer: UncheckedAccount,
    /// The batch; checked by type, agent and epoch.
    #[account(mut)]
    pub batch: Stored<BatchAccount>,
    /// The agent's head, which counts the events; checked by type and agent.
    #[account(mut)]
    pub head: Stored<HeadAccount>,
    /// The stake of the batch's era, which counts open challenges and asks, or its empty address.
    pub stake: UncheckedAccount,
}

impl CloseBatch {
    /// Refuses unless nothing can need the batch any more and its rent goes to who paid it.
    fn validate(&self, agent: &[u8; 32], epoch_number: u64, now: &Now) -> Result<()> {
        // batch, head: the named agent's, the named epoch's.
        ensure!(self.batch.agent_id == *agent && self.head.agent_id == *agent, Error::WrongAgent);
        ensure!(self.batch.epoch_number == epoch_number, Error::WrongBatch);
        // payer: gets back what it paid.
        ensure!(self.batch.payer == *key(&self.payer), Error::WrongPayer);
        // The window is over, so that no new challenge or ask can need the batch.
        let window = Clock { submitted: Slot(self.batch.submitted_slot) };
        ensure!(window.is_over(now.slot), Error::WindowNotOver);
        // stake: no challenge and no ask of the era is open. Without it there can be none: a claim needs zero.
        let era_seeds: &[&[u8]] = &[seeds::STAKE, agent, &self.batch.era.to_le_bytes()];
        if let Some(stake) = load_optional::<StakeLockAccount>(&self.stake, era_seeds)? {
            ensure!(stake.agent_mint == *agent, Error::WrongAgent);
            ensure!(stake.era == self.batch.era, Error::WrongEra);
            ensure!(stake.open_challenges == 0, Error::OpenChallenges);
            ensure!(stake.open_asks == 0, Error::AskNotSettled);
        }
        Ok(())
    }

    pub(crate) fn handle(&mut self, agent_id: &Address, epoch_number: u64) -> Result<()> {
        let agent = agent_id.as_array();
        self.validate(agent, epoch_number, &time::now()?)?;

        let event = BatchClosed {
            agent_id: *agent,
            epoch_number,
            payer: self.batch.payer,
            sequence: bump(&mut self.head.event_sequence)?,
            account_created_slot: self.head.created_slot,
        };
        self.head.invariant()?;
        emit(&self.program, &self.event_authority, &pda::BEHAVIOR_LOG_EVENTS, &event)?;
        close(&self.batch.view(), &self.payer)
    }
}
