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

/// Intent to revoke a delegation.
pub fn revoke_delegate(mint: &AgentId, delegate: &Address) -> Intent {
    Intent::new("revoke-delegate", &[mint, delegate])
}
