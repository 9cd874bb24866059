//! Builds the instructions of Lease.

use super::{AgentAddresses, evented, optional, read, sign_write, system, token, write};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::ids;
use zx1_interface::instruction as data;

/// Where a lease's fee comes from and goes to.
#[derive(Clone, Copy, Debug)]
pub struct LeasePayment {
    /// The agent's owner or its delegate; pays.
    pub authority: Address,
    /// The authority's DelegateV1 attestation, unless it is the owner.
    pub delegation: Option<Address>,
    /// The authority's USDC account.
    pub authority_usdc: Address,
    /// A USDC account of the treasury's wallet.
    pub treasury_usdc: Address,
    /// Epochs to pay.
    pub epochs: u32,
}

/// Builds the instruction pay_lease.
pub fn pay_lease(agent: &AgentAddresses, payment: &LeasePayment) -> Instruction {
    evented(
        vec![
            sign_write(payment.authority),
            read(pda::config()),
            read(agent.mint),
            read(agent.index),
            read(agent.token),
            optional(payment.delegation, ids::LEASE, read),
            write(pda::lease(&agent.mint)),
            write(payment.authority_usdc),
            write(payment.treasury_usdc),
            token(),
            system(),
        ],
        &data::PayLease { agent_id: agent.mint.to_bytes(), epochs: payment.epochs },
    )
}

/// Builds the instruction tick_lease.
pub fn tick_lease(agent: Address) -> Instruction {
    evented(vec![write(pda::lease(&agent))], &data::TickLease { agent_id: agent.to_bytes() })
}
