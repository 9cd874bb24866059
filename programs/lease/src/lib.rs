//! Lease (spec section 10.3): the daily fee in USDC that keeps an agent alive.
#![cfg_attr(target_os = "solana", no_std)]

use anchor_lang::prelude::*;
#[cfg(target_os = "solana")]
use solana_compiler_builtins as _;

mod instructions;
mod state;

use instructions::*;

declare_id!("A1NMXJ3mAyRfRWXBv7EpMy2MMToNpRdYGStzFVw7kB2q");

/// The instructions of the program.
#[program]
pub mod zx1_lease {
    use super::*;

    /// Pays for epochs; the first payment creates the lease, a late one reactivates it.
    pub fn pay_lease(ctx: &mut Context<PayLease>, agent_id: Address, epochs: u32) -> Result<()> {
        ctx.accounts.handle(&agent_id, epochs)
    }

    /// Moves a lease to the state that the clock says; anyone may call it.
    pub fn tick_lease(ctx: &mut Context<TickLease>, agent_id: Address) -> Result<()> {
        ctx.accounts.handle(&agent_id)
    }
}

zx1_runtime::describe!(LeasePaid, GracePeriodEntered, LeaseExpired);
