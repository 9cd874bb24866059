//! FeedbackLog (spec "autonomous loop", decision B13): an append-only log that anyone may write to and
//! nobody can edit.
#![cfg_attr(target_os = "solana", no_std)]

extern crate alloc;

use alloc::vec::Vec;
use anchor_lang::prelude::*;
#[cfg(target_os = "solana")]
use solana_compiler_builtins as _;

mod instructions;
mod state;

use instructions::*;

declare_id!("BEU1rk9Q3d6t1GB6mhVngjHDWizLFQMhrvWncPgJg1jj");

/// The instructions of the program.
#[program]
pub mod zx1_feedback_log {
    use super::*;

    /// Appends an entry whose text fits the transaction.
    pub fn submit_feedback(ctx: &mut Context<SubmitFeedback>, index: u64, text: Vec<u8>) -> Result<()> {
        ctx.accounts.handle(index, &text)
    }

    /// Opens a draft for a longer text.
    pub fn begin_draft(
        ctx: &mut Context<BeginDraft>,
        nonce: u64,
        len: u32,
        text_hash: [u8; 32],
    ) -> Result<()> {
        ctx.accounts.handle(nonce, len, text_hash)
    }

    /// Appends to a draft.
    pub fn append_draft(
        ctx: &mut Context<AppendDraft>,
        nonce: u64,
        offset: u32,
        bytes: Vec<u8>,
    ) -> Result<()> {
        ctx.accounts.handle(nonce, offset, &bytes)
    }

    /// Turns a complete draft into an entry and closes it.
    pub fn seal_draft(ctx: &mut Context<SealDraft>, nonce: u64, index: u64) -> Result<()> {
        ctx.accounts.handle(nonce, index)
    }

    /// Closes a draft that was not sealed.
    pub fn cancel_draft(ctx: &mut Context<CancelDraft>, nonce: u64) -> Result<()> {
        ctx.accounts.handle(nonce)
    }

    /// Attaches a resolution to an entry; only the maintainer may.
    pub fn resolve_entry(
        ctx: &mut Context<ResolveEntry>,
        index: u64,
        contract_hash: [u8; 32],
        commit: [u8; 32],
    ) -> Result<()> {
        ctx.accounts.handle(index, contract_hash, commit)
    }
}

zx1_runtime::describe!(FeedbackSubmitted, FeedbackDraftBegun, FeedbackDraftCanceled, FeedbackResolved);
