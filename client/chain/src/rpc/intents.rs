//! The intents of commands, by the names under which a rerun finds them, for commands that have to look for
//! their own success before the chain's state refuses them ([`crate::rpc::Sender::earlier`]).

use crate::rpc::draft::Intent;
use solana_address::Address;
use zx1_protocol::ids::AgentId;

/// Intent to submit this batch.
pub fn submit_batch(mint: &AgentId, epoch: u64, batch_hash: &[u8; 32]) -> Intent {
    Intent::new("submit-batch", &[mint, &epoch, &Address::new_from_array(*batch_hash)])
}

/// Intent to close the batch of this epoch.
pub fn close_batch(mint: &AgentId, epoch: u64) -> Intent {
    Intent::new("close-batch", &[mint, &epoch])
}

/// To answer a challenge. One answer is enough, so it does not matter with which record.
pub fn answer(challenge: &Address) -> Intent {
    Intent::new("answer-challenge", &[challenge])
}

/// Intent to settle a challenge.
pub fn resolve(challenge: &Address) -> Intent {
    Intent::new("resolve-challenge", &[challenge])
}

/// Intent to close a settled challenge.
pub fn close_challenge(challenge: &Address) -> Intent {
    Intent::new("close-challenge", &[challenge])
}

/// Intent to make the vault of a shard.
pub fn open_vault(shard: u8) -> Intent {
    Intent::new("open-vault", &[&shard])
}

/// Intent to open an agent's first tenure.
pub fn open_tenure(mint: &AgentId) -> Intent {
    Intent::new("open-tenure", &[mint])
}

/// Intent to take an agent over from the tenure of this number.
pub fn take_over(mint: &AgentId, former_number: u32) -> Intent {
    Intent::new("take-over", &[mint, &former_number])
}

/// Intent to list a key.
pub fn add_key(mint: &AgentId, key: &Address) -> Intent {
    Intent::new("add-key", &[mint, key])
}

/// Intent to end a key.
pub fn end_key(mint: &AgentId, key: &Address) -> Intent {
    Intent::new("end-key", &[mint, key])
}

/// Intent to close an ended key.
pub fn close_key(mint: &AgentId, key: &Address) -> Intent {
    Intent::new("close-key", &[mint, key])
}

/// Intent to claim the stake of an era.
pub fn claim_stake(mint: &AgentId, era: u32) -> Intent {
    Intent::new("claim-stake", &[mint, &era])
}

/// How the intents to claim a stake of an agent begin.
pub fn claim_stake_of_any_era(mint: &AgentId) -> String {
    format!("{} ", Intent::new("claim-stake", &[mint]))
}

/// Intent to open an agent's head.
pub fn open_head(mint: &AgentId) -> Intent {
    Intent::new("open-head", &[mint])
}

/// Intent to move an era's order past a challenge or a draft.
pub fn pass_rank(account: &Address) -> Intent {
    Intent::new("pass-rank", &[account])
}

/// Intent to pay the rest of an era's finders' part out.
pub fn settle_era(mint: &AgentId, era: u32) -> Intent {
    Intent::new("settle-era", &[mint, &era])
}

/// Intent to take a draft back.
pub fn cancel_evidence(owner: &Address, nonce: u64) -> Intent {
    Intent::new("cancel-evidence", &[owner, &nonce])
}

/// How the intents to take back a draft of this wallet begin.
pub fn cancel_evidence_of_any_nonce(owner: &Address) -> String {
    format!("{} ", Intent::new("cancel-evidence", &[owner]))
}

/// Intent to ask for a leaf.
pub fn ask_leaf(ask: &Address) -> Intent {
    Intent::new("ask-leaf", &[ask])
}

/// Intent to show a leaf that was asked for.
pub fn show_leaf(ask: &Address) -> Intent {
    Intent::new("show-leaf", &[ask])
}

/// Intent to settle an ask that is in this state: it may take two times.
pub fn settle_ask(ask: &Address, state: u8) -> Intent {
    Intent::new("settle-ask", &[ask, &state])
}

/// Intent to close a settled ask.
pub fn close_ask(ask: &Address) -> Intent {
    Intent::new("close-ask", &[ask])
}

/// Intent to revoke a delegation.
pub fn revoke_delegate(mint: &AgentId, delegate: &Address) -> Intent {
    Intent::new("revoke-delegate", &[mint, delegate])
}
