//! Builds the instructions of BehaviorLog.

use super::{AgentAddresses, accounts};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction::{CloseBatch, SubmitBatch};
use zx1_protocol::ids::AgentId;

/// submit_batch. The Ed25519 check of the batch message must be the instruction right before it.
pub fn submit_batch(
    agent: &AgentAddresses,
    payer: Address,
    delegation: Option<Address>,
    batch: &SubmitBatch,
) -> Instruction {
    accounts::SubmitBatch {
        payer,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        delegation,
        stake: pda::stake(&agent.mint),
        lease: pda::lease(&agent.mint),
        head: pda::head(&agent.mint),
        batch: pda::batch(&agent.mint, batch.epoch_number),
    }
    .with(batch)
}

/// close_batch: the rent goes to `payer`, who paid it.
pub fn close_batch(agent: AgentId, epoch_number: u64, payer: Address) -> Instruction {
    accounts::CloseBatch {
        payer,
        batch: pda::batch(&agent, epoch_number),
        head: pda::head(&agent),
        stake: pda::stake(&agent),
    }
    .with(&CloseBatch { agent_id: agent.into(), epoch_number })
}
