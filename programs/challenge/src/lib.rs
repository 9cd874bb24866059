//! Challenge (spec sections 8.6 and 10.4): a batch that hides a deal is answered or loses its agent's stake.
#![cfg_attr(target_os = "solana", no_std)]

extern crate alloc;

use alloc::vec::Vec;
use anchor_lang::prelude::*;
#[cfg(target_os = "solana")]
use solana_compiler_builtins as _;

mod claim;
mod instructions;
mod stake_lock;
mod state;

use instructions::*;

declare_id!("C2TcF7GNezwzpG3TS85i9AKqKNmeWpJr85VZHWqeRvD1");

/// The instructions of the program.
#[program]
pub mod zx1_challenge {
    use super::*;

    /// Challenges a batch with evidence given inline, in a draft or as a recorded envelope.
    pub fn submit_challenge(
        ctx: &mut Context<SubmitChallenge>,
        agent_id: Address,
        epoch_number: u64,
        ground: u8,
        contradicting_entry: Vec<u8>,
    ) -> Result<()> {
        ctx.accounts.handle(&agent_id, epoch_number, ground, &contradicting_entry)
    }

    /// Verifies an envelope's signature by introspection and keeps the record it implies.
    pub fn record_envelope(ctx: &mut Context<RecordEnvelope>, ground: u8, nonce: u64) -> Result<()> {
        ctx.accounts.handle(ground, nonce)
    }

    /// Closes a recorded envelope that was not used.
    pub fn discard_envelope(ctx: &mut Context<DiscardEnvelope>, nonce: u64) -> Result<()> {
        ctx.accounts.handle(nonce)
    }

    /// Opens a draft for evidence that does not fit one transaction.
    pub fn begin_evidence(ctx: &mut Context<BeginEvidence>, nonce: u64, len: u32) -> Result<()> {
        ctx.accounts.handle(nonce, len)
    }

    /// Appends to an evidence draft.
    pub fn append_evidence(
        ctx: &mut Context<AppendEvidence>,
        nonce: u64,
        offset: u32,
        bytes: Vec<u8>,
    ) -> Result<()> {
        ctx.accounts.handle(nonce, offset, &bytes)
    }

    /// Closes an evidence draft that was not used.
    pub fn cancel_evidence(ctx: &mut Context<CancelEvidence>, nonce: u64) -> Result<()> {
        ctx.accounts.handle(nonce)
    }

    /// Shows the record that an honest batch must hold.
    pub fn answer_challenge(
        ctx: &mut Context<AnswerChallenge>,
        leaf_index: u32,
        merkle_proof: Vec<[u8; 32]>,
        bid_value: i128,
        attestation: [u8; 32],
    ) -> Result<()> {
        ctx.accounts.handle(leaf_index, &merkle_proof, bid_value, &attestation)
    }

    /// Settles a challenge after its window.
    pub fn resolve_challenge(ctx: &mut Context<ResolveChallenge>) -> Result<()> {
        ctx.accounts.handle()
    }

    /// Returns a settled challenge's rent.
    pub fn close_challenge(ctx: &mut Context<CloseChallenge>) -> Result<()> {
        ctx.accounts.handle()
    }
}

zx1_runtime::describe!(
    ChallengeSubmitted,
    ChallengeAnswered,
    ChallengeResolved,
    ChallengeClosed,
    EnvelopeRecorded,
    EnvelopeDiscarded,
    EvidenceDraftBegun,
    EvidenceDraftCanceled,
);
