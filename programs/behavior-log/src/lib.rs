//! BehaviorLog (protocol.md, 10.2): one commitment an epoch and agent.
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

    /// Makes an agent's head; anyone may, once.
    pub fn open_head(ctx: &mut Context<OpenHead>, agent_id: Address) -> Result<()> {
        ctx.accounts.handle(&agent_id)
    }

    /// Lands a batch. The instruction before it must be the Ed25519 check of its message.
    pub fn submit_batch(ctx: &mut Context<SubmitBatch>) -> Result<()> {
        ctx.accounts.handle()
    }

    /// Marks a batch that withholds a leaf; only Challenge may call it.
    pub fn mark_withheld(
        ctx: &mut Context<MarkWithheld>,
        agent_id: Address,
        epoch_number: u64,
    ) -> Result<()> {
        ctx.accounts.handle(&agent_id, epoch_number)
    }

    /// Returns a batch's rent once it can no longer be challenged.
    pub fn close_batch(ctx: &mut Context<CloseBatch>, agent_id: Address, epoch_number: u64) -> Result<()> {
        ctx.accounts.handle(&agent_id, epoch_number)
    }
}

zx1_runtime::describe!(HeadOpened, BatchSubmitted, BatchWithheld, BatchClosed);
