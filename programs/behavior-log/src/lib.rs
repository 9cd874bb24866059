//! BehaviorLog (spec section 10.2): one commitment an epoch and agent.
#![cfg_attr(target_os = "solana", no_std)]

use anchor_lang::prelude::*;
#[cfg(target_os = "solana")]
use solana_compiler_builtins as _;

mod instructions;
mod state;

use instructions::*;

declare_id!("6fCEMaficSjaoK96uUFTTZoWVb3EYUgyZcHpmEWRY8A6");

/// The instructions of the program.
#[program]
pub mod zx1_behavior_log {
    use super::*;

    /// Commits to an epoch's batch. The instruction before it must be the Ed25519 check of its message.
    // The arguments are the commitment's fields, as the specification lists them.
    #[allow(clippy::too_many_arguments)]
    pub fn submit_batch(
        ctx: &mut Context<SubmitBatch>,
        agent_id: Address,
        epoch_number: u64,
        log_merkle_root: [u8; 32],
        log_len: u32,
        batch_hash: [u8; 32],
        arrays_root: [u8; 32],
        arrays_len: u32,
    ) -> Result<()> {
        ctx.accounts.handle(&Commitment {
            agent_id: *agent_id.as_array(),
            epoch_number,
            log_merkle_root,
            log_len,
            batch_hash,
            arrays_root,
            arrays_len,
        })
    }

    /// Returns a batch's rent once it can no longer be challenged.
    pub fn close_batch(ctx: &mut Context<CloseBatch>, agent_id: Address, epoch_number: u64) -> Result<()> {
        ctx.accounts.handle(&agent_id, epoch_number)
    }
}

zx1_runtime::describe!(BatchSubmitted, BatchClosed);
