//! Program-derived addresses of the five programs (seeds in [`zx1_interface::seeds`]).

use solana_address::Address;
use zx1_interface::{ids, pda, seeds};
use zx1_protocol::ids::AgentId;

fn find(seeds: &[&[u8]], program: [u8; 32]) -> Address {
    Address::find_program_address(seeds, &Address::new_from_array(program)).0
}

/// StakeLock's configuration, `["config"]`.
pub fn config() -> Address {
    Address::new_from_array(pda::CONFIG.address)
}

/// Whose turn an agent is.
pub fn tenure(agent: &AgentId) -> Address {
    find(&[seeds::TENURE, agent.as_ref()], ids::STAKE_LOCK)
}

/// A key of an agent.
pub fn key(agent: &AgentId, key: &Address) -> Address {
    find(&[seeds::KEY, agent.as_ref(), key.as_ref()], ids::STAKE_LOCK)
}

/// An agent's stake of an era.
pub fn stake(agent: &AgentId, era: u32) -> Address {
    find(&[seeds::STAKE, agent.as_ref(), &era.to_le_bytes()], ids::STAKE_LOCK)
}

/// The shard of an agent's money: the first byte of its id.
pub fn shard_of(agent: &AgentId) -> u8 {
    let [first, ..] = *agent.as_bytes();
    first
}

/// The total of a pooled vault, and its authority.
pub fn shard(number: u8) -> Address {
    find(&[seeds::SHARD, &[number]], ids::STAKE_LOCK)
}

/// The pooled vault of a shard.
pub fn vault(number: u8) -> Address {
    find(&[seeds::VAULT, &[number]], ids::STAKE_LOCK)
}

/// An agent's lease.
pub fn lease(agent: &AgentId) -> Address {
    find(&[seeds::LEASE, agent.as_ref()], ids::LEASE)
}

/// The head of an agent's batches.
pub fn head(agent: &AgentId) -> Address {
    find(&[seeds::HEAD, agent.as_ref()], ids::BEHAVIOR_LOG)
}

/// An agent's batch of an epoch.
pub fn batch(agent: &AgentId, epoch: u64) -> Address {
    find(&[seeds::BATCH, agent.as_ref(), &epoch.to_le_bytes()], ids::BEHAVIOR_LOG)
}

/// A challenge. `claim` is [`crate::claim::claim`] of ground and message.
pub fn challenge(batch: &Address, claim: &[u8; 32]) -> Address {
    find(&[seeds::CHALLENGE, batch.as_ref(), claim], ids::CHALLENGE)
}

/// The ask for a leaf; `tree` is 0 for the log and 1 for the arrays.
pub fn ask(batch: &Address, tree: u8, index: u32) -> Address {
    find(&[seeds::ASK, batch.as_ref(), &[tree], &index.to_le_bytes()], ids::CHALLENGE)
}

/// Challenge's signer towards StakeLock and BehaviorLog.
pub fn challenge_authority() -> Address {
    Address::new_from_array(pda::CHALLENGE_AUTHORITY.address)
}

/// An evidence draft.
pub fn evidence_draft(owner: &Address, nonce: u64) -> Address {
    find(&[seeds::DRAFT, owner.as_ref(), &nonce.to_le_bytes()], ids::CHALLENGE)
}

/// The head of the feedback log.
pub fn feedback_log() -> Address {
    Address::new_from_array(pda::FEEDBACK_LOG.address)
}

/// A feedback entry.
pub fn feedback_entry(index: u64) -> Address {
    find(&[seeds::ENTRY, &index.to_le_bytes()], ids::FEEDBACK_LOG)
}

/// A feedback draft.
pub fn feedback_draft(sender: &Address, nonce: u64) -> Address {
    find(&[seeds::DRAFT, sender.as_ref(), &nonce.to_le_bytes()], ids::FEEDBACK_LOG)
}

/// The resolution of a feedback entry.
pub fn feedback_resolution(index: u64) -> Address {
    find(&[seeds::RESOLUTION, &index.to_le_bytes()], ids::FEEDBACK_LOG)
}

/// ProgramData of one of the five programs, which names the upgrade authority.
pub fn program_data(program: [u8; 32]) -> Address {
    find(&[&program], ids::UPGRADEABLE_LOADER)
}

/// A program's event authority.
pub fn event_authority(program: [u8; 32]) -> Address {
    find(&[seeds::EVENT_AUTHORITY], program)
}
