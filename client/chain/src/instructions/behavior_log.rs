//! Builds the instructions of BehaviorLog.

use super::{AgentAddresses, evented, optional, program, read, sign_write, system, write};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::ids;
use zx1_interface::instruction::{CloseBatch, SubmitBatch};

/// submit_batch. The Ed25519 check of the batch message must be the instruction right before it.
pub fn submit_batch(
    agent: &AgentAddresses,
    payer: Address,
    delegation: Option<Address>,
    batch: &SubmitBatch,
) -> Instruction {
    evented(
        vec![
            sign_write(payer),
            read(pda::config()),
            read(agent.mint),
            read(agent.index),
            read(agent.token),
            optional(delegation, ids::BEHAVIOR_LOG, read),
            read(pda::stake(&agent.mint)),
            read(pda::lease(&agent.mint)),
            write(pda::head(&agent.mint)),
            write(pda::batch(&agent.mint, batch.epoch_number)),
            read(program(ids::INSTRUCTIONS_SYSVAR)),
            system(),
        ],
        batch,
    )
}

/// close_batch: the rent goes to `payer`, who paid it.
pub fn close_batch(agent: Address, epoch_number: u64, payer: Address) -> Instruction {
    evented(
        vec![
            write(payer),
            write(pda::batch(&agent, epoch_number)),
            write(pda::head(&agent)),
            read(pda::stake(&agent)),
        ],
        &CloseBatch { agent_id: agent.to_bytes(), epoch_number },
    )
}
