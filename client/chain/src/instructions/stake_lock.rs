//! Builds the instructions of StakeLock.

use super::{AgentAddresses, accounts};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;
use zx1_protocol::amounts::Amounts;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::MicroUsdc;

/// The amounts of a fresh local cluster.
pub const AMOUNTS: Amounts = Amounts::DEFAULT;

/// What initialize_config writes (decisions B2 and P5).
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
    /// Credential of the delegations that clients show.
    pub delegate_credential: Address,
    /// Schema of the delegations that clients show.
    pub delegate_schema: Address,
    /// The cluster's genesis hash.
    pub network: [u8; 32],
    /// What the moves of the challenge game cost and bring.
    pub amounts: Amounts,
}

/// initialize_config, signed by StakeLock's upgrade authority.
pub fn initialize_config(authority: Address, config: &ConfigAddresses) -> Instruction {
    let amounts = &config.amounts;
    accounts::InitializeConfig { authority, usdc_mint: config.usdc_mint, registry: config.registry }.with(
        &data::InitializeConfig {
            treasury: config.treasury.to_bytes(),
            maintainer: config.maintainer.to_bytes(),
            delegate_credential: config.delegate_credential.to_bytes(),
            delegate_schema: config.delegate_schema.to_bytes(),
            network: config.network,
            min_stake: amounts.min_stake,
            challenge_stake: amounts.challenge_stake,
            lost_to_stake: amounts.lost_to_stake,
            lost_to_answerer: amounts.lost_to_answerer,
            ask_price: amounts.ask_price,
            ask_to_shower: amounts.ask_to_shower,
            ask_to_stake: amounts.ask_to_stake,
            fine: amounts.fine,
            fine_to_asker: amounts.fine_to_asker,
            rank_deposit: amounts.rank_deposit,
            finders_percent: amounts.finders_percent,
            share_percent: amounts.share_percent,
        },
    )
}

/// Builds the instruction open_vault.
pub fn open_vault(payer: Address, usdc_mint: Address, shard: u8) -> Instruction {
    accounts::OpenVault { payer, shard: pda::shard(shard), vault: pda::vault(shard), usdc_mint }
        .with(&data::OpenVault { shard })
}

/// Builds the instruction open_tenure.
pub fn open_tenure(agent: &AgentAddresses, owner: Address) -> Instruction {
    accounts::OpenTenure {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        tenure: pda::tenure(&agent.mint),
    }
    .with(&data::OpenTenure { agent_mint: agent.mint.into() })
}

/// take_over: `era` is the former tenure's, `live_keys` are all its live keys, in any order; the instruction
/// has room for 8.
pub fn take_over(agent: &AgentAddresses, owner: Address, era: u32, live_keys: &[Address]) -> Instruction {
    let key = |place: usize| live_keys.get(place).map(|key| pda::key(&agent.mint, key));
    accounts::TakeOver {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        tenure: pda::tenure(&agent.mint),
        stake: pda::stake(&agent.mint, era),
        key_0: key(0),
        key_1: key(1),
        key_2: key(2),
        key_3: key(3),
        key_4: key(4),
        key_5: key(5),
        key_6: key(6),
        key_7: key(7),
    }
    .with(&data::TakeOver { agent_mint: agent.mint.into() })
}

/// add_key, which the key signs as well. `era` is the tenure's.
pub fn add_key(
    agent: &AgentAddresses,
    owner: Address,
    key: Address,
    scopes: Scopes,
    era: u32,
) -> Instruction {
    accounts::AddKey {
        owner,
        key,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        tenure: pda::tenure(&agent.mint),
        key_account: pda::key(&agent.mint, &key),
        stake: pda::stake(&agent.mint, era),
        head: pda::head(&agent.mint),
    }
    .with(&data::AddKey { agent_mint: agent.mint.into(), scopes: scopes.0 })
}

/// end_key, by the holder whose tenure it is or by the key itself.
pub fn end_key(agent: &AgentAddresses, authority: Address, key: Address) -> Instruction {
    accounts::EndKey {
        authority,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        tenure: pda::tenure(&agent.mint),
        key_account: pda::key(&agent.mint, &key),
    }
    .with(&data::EndKey { agent_mint: agent.mint.into(), key: key.to_bytes() })
}

/// close_key: the rent goes to `payer`, who paid it.
pub fn close_key(agent: AgentId, key: Address, payer: Address) -> Instruction {
    accounts::CloseKey { payer, key_account: pda::key(&agent, &key), head: pda::head(&agent) }
        .with(&data::CloseKey { agent_mint: agent.into(), key: key.to_bytes() })
}

/// lock_stake: `amount` from `owner_usdc` into the stake of `era`. `previous` is the tenure's era where that
/// is over or challenged and `era` is the next one.
pub fn lock_stake(
    agent: &AgentAddresses,
    owner: Address,
    owner_usdc: Address,
    era: u32,
    previous: Option<u32>,
    amount: MicroUsdc,
) -> Instruction {
    let shard = pda::shard_of(&agent.mint);
    accounts::LockStake {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        tenure: pda::tenure(&agent.mint),
        previous: previous.map(|previous| pda::stake(&agent.mint, previous)),
        stake: pda::stake(&agent.mint, era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
        owner_usdc,
    }
    .with(&data::LockStake { agent_mint: agent.mint.into(), era, amount: amount.0 })
}

/// Builds the instruction queue_unlock.
pub fn queue_unlock(agent: &AgentAddresses, owner: Address, era: u32) -> Instruction {
    accounts::QueueUnlock {
        owner,
        agent_mint: agent.mint.into(),
        agent_token: agent.token,
        stake: pda::stake(&agent.mint, era),
        lease: pda::lease(&agent.mint),
    }
    .with(&data::QueueUnlock { agent_mint: agent.mint.into(), era })
}

/// Builds the instruction cancel_unlock.
pub fn cancel_unlock(agent: &AgentAddresses, owner: Address, era: u32) -> Instruction {
    accounts::CancelUnlock {
        owner,
        agent_mint: agent.mint.into(),
        agent_index: agent.index,
        agent_token: agent.token,
        stake: pda::stake(&agent.mint, era),
        lease: pda::lease(&agent.mint),
    }
    .with(&data::CancelUnlock { agent_mint: agent.mint.into(), era })
}

/// claim_stake: stake into `owner_usdc`, rent to `owner`.
pub fn claim_stake(agent: &AgentAddresses, owner: Address, owner_usdc: Address, era: u32) -> Instruction {
    let shard = pda::shard_of(&agent.mint);
    accounts::ClaimStake {
        owner,
        agent_mint: agent.mint.into(),
        agent_token: agent.token,
        tenure: pda::tenure(&agent.mint),
        stake: pda::stake(&agent.mint, era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
        owner_usdc,
        lease: pda::lease(&agent.mint),
        head: pda::head(&agent.mint),
    }
    .with(&data::ClaimStake { agent_mint: agent.mint.into(), era })
}

/// take_rank, which only Challenge can call with success; here for tests and inspection.
pub fn take_rank(agent: AgentId, authority: Address, era: u32) -> Instruction {
    accounts::TakeRank { challenge_authority: authority, stake: pda::stake(&agent, era) }
        .with(&data::TakeRank { agent_mint: agent.into(), era })
}

/// take_deposit, which only Challenge can call with success; here for tests and inspection.
pub fn take_deposit(
    authority: Address,
    payer: Address,
    payer_usdc: Address,
    deposit: &data::TakeDeposit,
) -> Instruction {
    let agent = AgentId(deposit.agent_mint);
    let shard = pda::shard_of(&agent);
    accounts::TakeDeposit {
        challenge_authority: authority,
        stake: pda::stake(&agent, deposit.era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
        payer_usdc,
        payer,
    }
    .with(deposit)
}

/// settle, which only Challenge can call with success; here for tests and inspection.
pub fn settle(
    authority: Address,
    first_usdc: Address,
    second_usdc: Address,
    moves: &data::Settle,
) -> Instruction {
    let agent = AgentId(moves.agent_mint);
    let shard = pda::shard_of(&agent);
    accounts::Settle {
        challenge_authority: authority,
        stake: pda::stake(&agent, moves.era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
        first_usdc: Some(first_usdc),
        second_usdc: Some(second_usdc),
    }
    .with(moves)
}
