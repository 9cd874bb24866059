//! Builds the instructions of StakeLock.

use super::{AgentAddresses, evented, plain, program, read, sign, sign_write, system, token, write};
use crate::pda;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use zx1_interface::ids;
use zx1_interface::instruction as data;

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
    evented(
        vec![
            sign_write(authority),
            read(pda::program_data(ids::STAKE_LOCK)),
            read(config.usdc_mint),
            read(config.registry),
            write(pda::config()),
            system(),
        ],
        &data::InitializeConfig {
            treasury: config.treasury.to_bytes(),
            maintainer: config.maintainer.to_bytes(),
            delegate_credential: config.delegate_credential.to_bytes(),
            delegate_schema: config.delegate_schema.to_bytes(),
        },
    )
}

/// lock_stake: `amount` micro-USDC from `owner_usdc`.
pub fn lock_stake(
    agent: &AgentAddresses,
    owner: Address,
    usdc_mint: Address,
    owner_usdc: Address,
    amount: u64,
) -> Instruction {
    evented(
        vec![
            sign_write(owner),
            read(pda::config()),
            read(agent.mint),
            read(agent.index),
            read(agent.token),
            write(pda::stake(&agent.mint)),
            write(pda::stake_vault(&agent.mint)),
            read(usdc_mint),
            write(owner_usdc),
            token(),
            system(),
        ],
        &data::LockStake { agent_mint: agent.mint.to_bytes(), amount },
    )
}

/// The accounts of queue_unlock and cancel_unlock.
fn unlock_accounts(agent: &AgentAddresses, owner: Address) -> Vec<AccountMeta> {
    vec![
        sign(owner),
        read(pda::config()),
        read(agent.mint),
        read(agent.index),
        read(agent.token),
        write(pda::stake(&agent.mint)),
        read(pda::lease(&agent.mint)),
    ]
}

/// Builds the instruction queue_unlock.
pub fn queue_unlock(agent: &AgentAddresses, owner: Address) -> Instruction {
    evented(unlock_accounts(agent, owner), &data::QueueUnlock { agent_mint: agent.mint.to_bytes() })
}

/// Builds the instruction cancel_unlock.
pub fn cancel_unlock(agent: &AgentAddresses, owner: Address) -> Instruction {
    evented(unlock_accounts(agent, owner), &data::CancelUnlock { agent_mint: agent.mint.to_bytes() })
}

/// claim_stake: stake into `owner_usdc`, rent to `owner`.
pub fn claim_stake(agent: &AgentAddresses, owner: Address, owner_usdc: Address) -> Instruction {
    evented(
        vec![
            sign_write(owner),
            read(pda::config()),
            read(agent.mint),
            read(agent.index),
            read(agent.token),
            write(pda::stake(&agent.mint)),
            write(pda::stake_vault(&agent.mint)),
            write(owner_usdc),
            read(pda::lease(&agent.mint)),
            read(pda::head(&agent.mint)),
            token(),
        ],
        &data::ClaimStake { agent_mint: agent.mint.to_bytes() },
    )
}

/// slash, which only Challenge can call with success; here for tests and inspection.
pub fn slash(agent: Address, authority: Address, recipient: Address, amount: u64) -> Instruction {
    evented(
        vec![
            sign(authority),
            write(pda::stake(&agent)),
            write(pda::stake_vault(&agent)),
            write(recipient),
            read(program(ids::TOKEN)),
        ],
        &data::Slash { agent_mint: agent.to_bytes(), amount },
    )
}

/// open_challenge, which only Challenge can call with success; here for tests and inspection.
pub fn open_challenge(agent: Address, authority: Address) -> Instruction {
    plain(
        vec![sign(authority), write(pda::stake(&agent))],
        &data::OpenChallenge { agent_mint: agent.to_bytes() },
    )
}

/// settle_challenge, which only Challenge can call with success; here for tests and inspection.
pub fn settle_challenge(agent: Address, authority: Address) -> Instruction {
    plain(
        vec![sign(authority), write(pda::stake(&agent))],
        &data::SettleChallenge { agent_mint: agent.to_bytes() },
    )
}
