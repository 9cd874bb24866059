//! Builders of SATI's instructions, with February's account lists.

use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_sdk_ids::{system_program, sysvar};

use super::{
    Attestation, PROGRAM, SAS, SignatureMode, Storage, agent_index_address, attestation_address,
    attestation_authority, event_authority, instruction_discriminator as discriminator, registry_address,
    sas_attestation_address, schema_config_address,
};
use crate::token;

/// Builds instruction data in Borsh's form.
struct Data(Vec<u8>);

impl Data {
    fn new(discriminator: [u8; 8]) -> Self {
        Self(discriminator.to_vec())
    }
    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
    fn u8(self, value: u8) -> Self {
        self.raw(&[value])
    }
    fn bytes(self, bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.raw(&length.to_le_bytes()).raw(bytes)
    }
    fn address(self, address: &Address) -> Self {
        self.raw(address.as_array())
    }
}

fn read(address: Address) -> AccountMeta {
    AccountMeta::new_readonly(address, false)
}

fn write(address: Address) -> AccountMeta {
    AccountMeta::new(address, false)
}

/// Anchor's way to leave an optional account out: the program's own address.
fn optional(address: Option<Address>) -> AccountMeta {
    read(address.unwrap_or(PROGRAM))
}

fn instruction(accounts: Vec<AccountMeta>, data: Data) -> Instruction {
    Instruction { program_id: PROGRAM, accounts, data: data.0 }
}

/// Creates the registry. The group mint must exist (see [`token::create_group_mint`]).
pub fn initialize(authority: &Address, group_mint: &Address) -> Instruction {
    instruction(
        vec![
            AccountMeta::new(*authority, true),
            write(registry_address().0),
            write(*group_mint),
            read(system_program::ID),
        ],
        Data::new(discriminator::INITIALIZE),
    )
}

/// What a new agent is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewAgent {
    /// Name, 32 bytes at most.
    pub name: String,
    /// Symbol, 10 bytes at most.
    pub symbol: String,
    /// Address of the registration file, 200 bytes at most.
    pub uri: String,
    /// More metadata: 10 pairs at most, keys of 32 and values of 200 bytes. With any, the owner signs.
    pub metadata: Vec<(String, String)>,
    /// Soulbound, for ever.
    pub non_transferable: bool,
}

/// The accounts of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterAgent {
    /// Pays the rent; signs.
    pub payer: Address,
    /// Who owns the agent.
    pub owner: Address,
    /// The registry's group mint.
    pub group_mint: Address,
    /// The new mint; signs.
    pub agent_mint: Address,
    /// Number of the new agent: `total_agents` + 1.
    pub member_number: u64,
}

/// Registers an agent.
pub fn register_agent(accounts: &RegisterAgent, agent: &NewAgent) -> Instruction {
    let mut data = Data::new(discriminator::REGISTER_AGENT)
        .bytes(agent.name.as_bytes())
        .bytes(agent.symbol.as_bytes())
        .bytes(agent.uri.as_bytes());
    if agent.metadata.is_empty() {
        data = data.u8(0);
    } else {
        let count = u32::try_from(agent.metadata.len()).unwrap_or(u32::MAX);
        data = data.u8(1).raw(&count.to_le_bytes());
        for (key, value) in &agent.metadata {
            data = data.bytes(key.as_bytes()).bytes(value.as_bytes());
        }
    }
    let token_account =
        token::associated_address(&accounts.owner, &accounts.agent_mint, &token::TOKEN_2022_PROGRAM);
    instruction(
        vec![
            AccountMeta::new(accounts.payer, true),
            AccountMeta::new_readonly(accounts.owner, !agent.metadata.is_empty()),
            write(registry_address().0),
            write(accounts.group_mint),
            AccountMeta::new(accounts.agent_mint, true),
            write(token_account),
            read(token::TOKEN_2022_PROGRAM),
            write(agent_index_address(accounts.member_number).0),
            read(token::ASSOCIATED_TOKEN_PROGRAM),
            read(system_program::ID),
        ],
        data.u8(u8::from(agent.non_transferable)),
    )
}

/// Hands the registry to another authority; none makes it immutable.
pub fn update_registry_authority(authority: &Address, new_authority: Option<&Address>) -> Instruction {
    let mut data = Data::new(discriminator::UPDATE_REGISTRY_AUTHORITY);
    data = match new_authority {
        None => data.u8(0),
        Some(new) => data.u8(1).address(new),
    };
    instruction(vec![AccountMeta::new_readonly(*authority, true), write(registry_address().0)], data)
}

/// Registers the rules of a schema.
pub fn register_schema_config(
    payer: &Address,
    authority: &Address,
    sas_schema: &Address,
    signature_mode: SignatureMode,
    storage: Storage,
    delegation_schema: Option<&Address>,
    closeable_and_name: (bool, &str),
) -> Instruction {
    let mut data = Data::new(discriminator::REGISTER_SCHEMA_CONFIG)
        .address(sas_schema)
        .u8(signature_mode as u8)
        .u8(storage as u8);
    data = match delegation_schema {
        None => data.u8(0),
        Some(schema) => data.u8(1).address(schema),
    };
    let (closeable, name) = closeable_and_name;
    instruction(
        vec![
            AccountMeta::new(*payer, true),
            read(registry_address().0),
            AccountMeta::new_readonly(*authority, true),
            write(schema_config_address(sas_schema).0),
            read(system_program::ID),
        ],
        data.u8(u8::from(closeable)).bytes(name.as_bytes()),
    )
}

/// Links an EVM address to an agent; it only emits an event.
pub fn link_evm_address(
    owner: &Address,
    agent_mint: &Address,
    evm_address: &[u8; 20],
    chain_id: &str,
    signature: &[u8; 64],
    recovery_id: u8,
) -> Instruction {
    let token_account = token::associated_address(owner, agent_mint, &token::TOKEN_2022_PROGRAM);
    instruction(
        vec![
            AccountMeta::new_readonly(*owner, true),
            read(*agent_mint),
            read(token_account),
            read(token::TOKEN_2022_PROGRAM),
        ],
        Data::new(discriminator::LINK_EVM_ADDRESS)
            .raw(evm_address)
            .bytes(chain_id.as_bytes())
            .raw(signature)
            .u8(recovery_id),
    )
}

/// Who takes part in writing or closing an attestation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actors {
    /// Pays, or gets the rent back; signs.
    pub payer: Address,
    /// The schema at SAS.
    pub sas_schema: Address,
    /// The agent's token account.
    pub agent_token_account: Address,
    /// The credential at SAS, for regular attestations.
    pub credential: Address,
}

/// Creates a compressed attestation. The two signatures are Ed25519 instructions of the same transaction.
///
/// The accounts after the program are the stand-in's: its plain account and the system program stand
/// where the real program takes Light's trees, and it ignores the proof.
pub fn create_compressed_attestation(
    actors: &Actors,
    attestation: &Attestation,
    nonce: &[u8; 32],
) -> Instruction {
    let account = attestation_address(&actors.sas_schema, &attestation.agent, nonce).0;
    instruction(
        vec![
            AccountMeta::new(actors.payer, true),
            read(schema_config_address(&actors.sas_schema).0),
            read(sysvar::instructions::ID),
            optional(Some(actors.agent_token_account)),
            optional(Some(token::TOKEN_2022_PROGRAM)),
            read(attestation.agent),
            optional(None),
            optional(None),
            optional(None),
            read(event_authority().0),
            read(PROGRAM),
            write(account),
            read(system_program::ID),
        ],
        // Tree index, no proof, address tree info.
        Data::new(discriminator::CREATE_COMPRESSED).bytes(&attestation.encode()).raw(&[0; 6]),
    )
}

/// Closes a compressed attestation (the stand-in's form: its plain account instead of a proof).
pub fn close_compressed_attestation(
    actors: &Actors,
    signer: &Address,
    mint: &Address,
    nonce: &[u8; 32],
) -> Instruction {
    let account = attestation_address(&actors.sas_schema, mint, nonce).0;
    instruction(
        vec![
            AccountMeta::new(*signer, true),
            read(schema_config_address(&actors.sas_schema).0),
            read(event_authority().0),
            read(PROGRAM),
            write(account),
        ],
        Data::new(discriminator::CLOSE_COMPRESSED),
    )
}

/// Creates a regular attestation: an account at SAS. The order of the accounts is the stand-in's.
pub fn create_regular_attestation(
    actors: &Actors,
    attestation: &Attestation,
    nonce: &[u8; 32],
    expiry: i64,
) -> Instruction {
    let account = sas_attestation_address(&actors.credential, &actors.sas_schema, nonce).0;
    instruction(
        vec![
            AccountMeta::new(actors.payer, true),
            read(schema_config_address(&actors.sas_schema).0),
            read(sysvar::instructions::ID),
            read(actors.agent_token_account),
            read(token::TOKEN_2022_PROGRAM),
            read(attestation.agent),
            read(attestation_authority().0),
            read(actors.credential),
            read(actors.sas_schema),
            write(account),
            read(SAS),
            read(system_program::ID),
            read(event_authority().0),
            read(PROGRAM),
        ],
        Data::new(discriminator::CREATE_REGULAR).bytes(&attestation.encode()).raw(&expiry.to_le_bytes()),
    )
}

/// Closes a regular attestation; the agent's present owner or its counterparty signs.
pub fn close_regular_attestation(
    actors: &Actors,
    signer: &Address,
    agent_mint: &Address,
    attestation: &Address,
) -> Instruction {
    instruction(
        vec![
            AccountMeta::new(actors.payer, true),
            AccountMeta::new_readonly(*signer, true),
            read(schema_config_address(&actors.sas_schema).0),
            read(actors.agent_token_account),
            read(*agent_mint),
            read(attestation_authority().0),
            read(actors.credential),
            write(*attestation),
            read(SAS),
            read(system_program::ID),
            read(event_authority().0),
            read(PROGRAM),
        ],
        Data::new(discriminator::CLOSE_REGULAR),
    )
}
