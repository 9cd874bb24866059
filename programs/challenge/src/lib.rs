//! Challenge (protocol.md, 8.6 and 10.4): a batch that hides a deal is answered or loses its agent's stake.
#![cfg_attr(target_os = "solana", no_std)]

extern crate alloc;

use alloc::vec::Vec;
use anchor_lang::prelude::*;
#[cfg(target_os = "solana")]
use solana_compiler_builtins as _;

mod behavior_log;
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

    /// Opens a draft, with a rank unless the commitment is zero.
    pub fn begin_evidence(
        ctx: &mut Context<BeginEvidence>,
        nonce: u64,
        len: u32,
        agent_id: Address,
        era: u32,
        commit: [u8; 32],
    ) -> Result<()> {
        ctx.accounts.handle(nonce, len, agent_id.as_array(), era, &commit)
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

    /// Verifies the evidence against a batch and keeps what it claims.
    pub fn seal_evidence(ctx: &mut Context<SealEvidence>, nonce: u64, ground: u8) -> Result<()> {
        ctx.accounts.handle(nonce, ground)
    }

    /// Closes an evidence draft; a lapsed rank's deposit is burnt. Of a rank that is still in its era's order, pays
    /// the deposit back where that is due.
    pub fn cancel_evidence(ctx: &mut Context<CancelEvidence>, nonce: u64) -> Result<()> {
        ctx.accounts.handle(nonce)
    }

    /// Opens the claim of a sealed draft, or takes it over from a higher rank.
    pub fn submit_challenge(ctx: &mut Context<SubmitChallenge>, nonce: u64) -> Result<()> {
        ctx.accounts.handle(nonce)
    }

    /// Shows the record that an honest batch must hold, and settles the challenge.
    pub fn answer_challenge(
        ctx: &mut Context<AnswerChallenge>,
        leaf_index: u32,
        merkle_proof: &[[u8; 32]],
        bid_value: i128,
        attestation: [u8; 32],
    ) -> Result<()> {
        ctx.accounts.handle(leaf_index, merkle_proof, bid_value, &attestation)
    }

    /// Settles a challenge that nothing answered, once its rank is first.
    pub fn resolve_challenge(ctx: &mut Context<ResolveChallenge>) -> Result<()> {
        ctx.accounts.handle()
    }

    /// Returns a settled challenge's rent.
    pub fn close_challenge(ctx: &mut Context<CloseChallenge>) -> Result<()> {
        ctx.accounts.handle()
    }

    /// Moves an era's order past a settled challenge or a lapsed draft.
    pub fn pass_rank(ctx: &mut Context<PassRank>) -> Result<()> {
        ctx.accounts.handle()
    }

    /// Pays what is left of the finders' part to the treasury, once nobody can claim it.
    pub fn settle_era(ctx: &mut Context<SettleEra>, agent_id: Address, era: u32) -> Result<()> {
        ctx.accounts.handle(agent_id.as_array(), era)
    }

    /// Asks for a leaf of a batch.
    pub fn ask_leaf(ctx: &mut Context<AskLeaf>, tree: u8, index: u32) -> Result<()> {
        ctx.accounts.handle(tree, index)
    }

    /// Shows a leaf that was asked for.
    pub fn show_leaf(ctx: &mut Context<ShowLeaf>, merkle_proof: &[[u8; 32]], leaf: Vec<u8>) -> Result<()> {
        ctx.accounts.handle(merkle_proof, &leaf)
    }

    /// Settles an ask that nobody answered in time.
    pub fn settle_ask(ctx: &mut Context<SettleAsk>) -> Result<()> {
        ctx.accounts.handle()
    }

    /// Returns a settled ask's rent.
    pub fn close_ask(ctx: &mut Context<CloseAsk>) -> Result<()> {
        ctx.accounts.handle()
    }
}

zx1_runtime::describe!(
    EvidenceDraftBegun,
    EvidenceSealed,
    EvidenceDraftCanceled,
    ChallengeSubmitted,
    ChallengeAnswered,
    ChallengeResolved,
    RankPassed,
    ChallengeClosed,
    LeafAsked,
    LeafShown,
    AskSettled,
    AskClosed,
);
