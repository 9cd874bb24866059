//! Builds the instructions of BehaviorLog.

use super::{AgentAddresses, accounts};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;
use zx1_protocol::ids::AgentId;

/// Builds the instruction open_head.
pub fn open_head(agent: &AgentAddresses, payer: Address) -> Instruction {
    accounts::OpenHead {
        payer,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        head: pda::head(&agent.mint),
    }
    .with(&data::OpenHead { agent_id: agent.mint.into() })
}

/// submit_batch of this epoch in the tenure's era. The Ed25519 check of the batch message by `signer` must
/// be the instruction right before it.
pub fn submit_batch(
    agent: &AgentAddresses,
    payer: Address,
    signer: Address,
    era: u32,
    epoch_number: u64,
) -> Instruction {
    accounts::SubmitBatch {
        payer,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        tenure: pda::tenure(&agent.mint),
        key: pda::key(&agent.mint, &signer),
        stake: pda::stake(&agent.mint, era),
        lease: pda::lease(&agent.mint),
        head: pda::head(&agent.mint),
        batch: pda::batch(&agent.mint, epoch_number),
    }
    .with(&data::SubmitBatch {})
}

/// close_batch: the rent goes to `payer`, who paid it. `era` is the batch's.
pub fn close_batch(agent: AgentId, epoch_number: u64, era: u32, payer: Address) -> Instruction {
    accounts::CloseBatch {
        payer,
        batch: pda::batch(&agent, epoch_number),
        head: pda::head(&agent),
        stake: pda::stake(&agent, era),
    }
    .with(&data::CloseBatch { agent_id: agent.into(), epoch_number })
}

/// mark_withheld, which only Challenge can call with success; here for tests and inspection.
pub fn mark_withheld(agent: AgentId, epoch_number: u64, authority: Address) -> Instruction {
    accounts::MarkWithheld {
        challenge_authority: authority,
        batch: pda::batch(&agent, epoch_number),
        head: pda::head(&agent),
    }
    .with(&data::MarkWithheld { agent_id: agent.into(), epoch_number })
}
