//! Builds the instructions of StakeLock.

use super::{AgentAddresses, accounts};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// What initialize_config writes (decision B2).
#[derive(Clone, Copy, Debug)]
pub struct ConfigAddresses {
    /// The USDC mint.
    pub usdc_mint: Address,
    /// The treasury's wallet.
    pub treasury: Address,
    /// The maintainer's wallet.
    pub maintainer: Address,
    /// Address of SATI's RegistryConfig.
    pub registry: Address,
    /// Credential of the delegations that count.
    pub delegate_credential: Address,
    /// Schema of the delegations that count.
    pub delegate_schema: Address,
}

/// initialize_config, signed by StakeLock's upgrade authority.
pub fn initialize_config(authority: Address, config: &ConfigAddresses) -> Instruction {
    accounts::InitializeConfig { authority, usdc_mint: config.usdc_mint, registry: config.registry }.with(
        &data::InitializeConfig {
            treasury: config.treasury.to_bytes(),
            maintainer: config.maintainer.to_bytes(),
            delegate_credential: config.delegate_credential.to_bytes(),
            delegate_schema: config.delegate_schema.to_bytes(),
        },
    )
}

/// lock_stake: `amount` from `owner_usdc`.
pub fn lock_stake(
    agent: &AgentAddresses,
    owner: Address,
    usdc_mint: Address,
    owner_usdc: Address,
    amount: MicroUsdc,
) -> Instruction {
    accounts::LockStake {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        stake: pda::stake(&agent.mint),
        vault: pda::stake_vault(&agent.mint),
        usdc_mint,
        owner_usdc,
    }
    .with(&data::LockStake { agent_mint: agent.mint.into(), amount: amount.0 })
}

/// Builds the instruction queue_unlock.
pub fn queue_unlock(agent: &AgentAddresses, owner: Address) -> Instruction {
    accounts::QueueUnlock {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        stake: pda::stake(&agent.mint),
        lease: pda::lease(&agent.mint),
    }
    .with(&data::QueueUnlock { agent_mint: agent.mint.into() })
}

/// Builds the instruction cancel_unlock.
pub fn cancel_unlock(agent: &AgentAddresses, owner: Address) -> Instruction {
    accounts::CancelUnlock {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        stake: pda::stake(&agent.mint),
        lease: pda::lease(&agent.mint),
    }
    .with(&data::CancelUnlock { agent_mint: agent.mint.into() })
}

/// claim_stake: stake into `owner_usdc`, rent to `owner`.
pub fn claim_stake(agent: &AgentAddresses, owner: Address, owner_usdc: Address) -> Instruction {
    accounts::ClaimStake {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        stake: pda::stake(&agent.mint),
        vault: pda::stake_vault(&agent.mint),
        owner_usdc,
        lease: pda::lease(&agent.mint),
        head: pda::head(&agent.mint),
    }
    .with(&data::ClaimStake { agent_mint: agent.mint.into() })
}

/// slash, which only Challenge can call with success; here for tests and inspection.
pub fn slash(agent: AgentId, authority: Address, recipient: Address, amount: MicroUsdc) -> Instruction {
    accounts::Slash {
        challenge_authority: authority,
        stake: pda::stake(&agent),
        vault: pda::stake_vault(&agent),
        recipient,
    }
    .with(&data::Slash { agent_mint: agent.into(), amount: amount.0 })
}

/// open_challenge, which only Challenge can call with success; here for tests and inspection.
pub fn open_challenge(agent: AgentId, authority: Address) -> Instruction {
    accounts::OpenChallenge { challenge_authority: authority, stake: pda::stake(&agent) }
        .with(&data::OpenChallenge { agent_mint: agent.into() })
}

/// settle_challenge, which only Challenge can call with success; here for tests and inspection.
pub fn settle_challenge(agent: AgentId, authority: Address) -> Instruction {
    accounts::SettleChallenge { challenge_authority: authority, stake: pda::stake(&agent) }
        .with(&data::SettleChallenge { agent_mint: agent.into() })
}
