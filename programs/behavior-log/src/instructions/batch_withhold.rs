//! mark_withheld (decision P4).

use crate::state::{Batch, Chain};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, HeadAccount};
use zx1_interface::events::BatchWithheld;
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, bump, caller, emit, ensure};

/// Accounts of mark_withheld.
#[event_cpi]
#[derive(Accounts)]
pub struct MarkWithheld {
    /// Challenge's authority, which only Challenge can make sign.
    pub challenge_authority: UncheckedAccount,
    /// The batch; checked by type, agent and epoch.
    #[account(mut)]
    pub batch: Stored<BatchAccount>,
    /// The agent's head, which counts the events; checked by type and agent.
    #[account(mut)]
    pub head: Stored<HeadAccount>,
}

impl MarkWithheld {
    /// Refuses unless Challenge calls, for the agent's batch of this epoch and the agent's head.
    fn validate(&self, agent: &[u8; 32], epoch_number: u64) -> Result<()> {
        caller::expect_challenge(&self.challenge_authority)?;
        // batch, head: the named agent's, the named epoch's.
        ensure!(self.batch.agent_id == *agent && self.head.agent_id == *agent, Error::WrongAgent);
        ensure!(self.batch.epoch_number == epoch_number, Error::WrongBatch);
        Ok(())
    }

    pub(crate) fn handle(&mut self, agent_id: &Address, epoch_number: u64) -> Result<()> {
        let agent = agent_id.as_array();
        self.validate(agent, epoch_number)?;

        self.batch.withhold()?;
        let event = BatchWithheld {
            agent_id: *agent,
            epoch_number,
            sequence: bump(&mut self.head.event_sequence)?,
            account_created_slot: self.head.created_slot,
        };
        self.head.invariant()?;
        emit(&self.program, &self.event_authority, &pda::BEHAVIOR_LOG_EVENTS, &event)
    }
}
