//! Builds the instructions of Lease.

use super::{AgentAddresses, accounts};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;
use zx1_protocol::ids::AgentId;

/// Where a lease's fee comes from and goes to.
#[derive(Clone, Copy, Debug)]
pub struct LeasePayment {
    /// The agent's holder or a pay key of its; pays.
    pub authority: Address,
    /// The authority's key account, unless it holds the agent.
    pub key: Option<Address>,
    /// The authority's USDC account.
    pub authority_usdc: Address,
    /// A USDC account of the treasury's wallet.
    pub treasury_usdc: Address,
    /// Epochs to pay.
    pub epochs: u32,
}

/// Builds the instruction pay_lease.
pub fn pay_lease(agent: &AgentAddresses, payment: &LeasePayment) -> Instruction {
    accounts::PayLease {
        authority: payment.authority,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        key: payment.key,
        lease: pda::lease(&agent.mint),
        authority_usdc: payment.authority_usdc,
        treasury_usdc: payment.treasury_usdc,
    }
    .with(&data::PayLease { agent_id: agent.mint.into(), epochs: payment.epochs })
}

/// Builds the instruction tick_lease.
pub fn tick_lease(agent: AgentId) -> Instruction {
    accounts::TickLease { lease: pda::lease(&agent) }.with(&data::TickLease { agent_id: agent.into() })
}
