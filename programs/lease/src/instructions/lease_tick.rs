//! tick_lease (protocol.md, 10.3; decision B5).

use crate::state::Leased;
use anchor_lang::prelude::*;
use zx1_interface::accounts::LeaseAccount;
use zx1_interface::events::{GracePeriodEntered, LeaseExpired};
use zx1_interface::{Error, pda};
use zx1_protocol::lease::LeaseState;
use zx1_runtime::{Stored, bump, emit, ensure, time};

/// Accounts of tick_lease. Anyone may call it.
#[event_cpi]
#[derive(Accounts)]
pub struct TickLease {
    /// The lease; checked by type and agent.
    #[account(mut)]
    pub lease: Stored<LeaseAccount>,
}

impl TickLease {
    pub(crate) fn handle(&mut self, agent_id: &Address) -> Result<()> {
        ensure!(self.lease.agent_id == *agent_id.as_array(), Error::WrongAgent);
        let now = time::now()?;
        let Some(entered) = self.lease.tick(&now)? else { return Ok(()) };
        let (agent_id, epoch) = (self.lease.agent_id, now.epoch.0);
        let sequence = bump(&mut self.lease.event_sequence)?;
        let account_created_slot = self.lease.created_slot;
        let (program, authority, derived) = (&self.program, &self.event_authority, &pda::LEASE_EVENTS);
        if entered == LeaseState::Grace {
            emit(
                program,
                authority,
                derived,
                &GracePeriodEntered { agent_id, epoch, sequence, account_created_slot },
            )
        } else {
            emit(
                program,
                authority,
                derived,
                &LeaseExpired { agent_id, epoch, sequence, account_created_slot },
            )
        }
    }
}
