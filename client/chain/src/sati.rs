//! SATI, the registry of agents, and the attestations it writes: addresses, instructions, layouts.
//!
//! SATI's layouts come from its published sources of January and February 2026; where the two differ,
//! this follows February's account lists. `tests/programs/sati` is the stand-in that tests run.

mod accounts;
mod feedback;
mod instructions;

pub use accounts::{AgentIndex, RegistryConfig, SasAttestation, SchemaConfig, SignatureMode, Storage};
pub use feedback::{
    Attestation, ContentType, DelegateV1, Outcome, attestation_nonce, counterparty_message, delegation_nonce,
    evm_link_hash, interaction_hash,
};
pub use instructions::{
    Actors, NewAgent, RegisterAgent, close_compressed_attestation, close_regular_attestation,
    create_compressed_attestation, create_regular_attestation, initialize, link_evm_address, register_agent,
    register_schema_config, update_registry_authority,
};

use solana_address::Address;
use zx1_interface::ids;

/// SATI's program id on every cluster.
pub const PROGRAM: Address = Address::new_from_array(ids::SATI);
/// The Solana Attestation Service's program.
pub const SAS: Address = Address::new_from_array(ids::SAS);

/// First eight bytes of the accounts' data.
pub mod account_discriminator {
    /// Discriminator of RegistryConfig.
    pub const REGISTRY: [u8; 8] = [0x17, 0x76, 0x0a, 0xf6, 0xad, 0xe7, 0xf3, 0x9c];
    /// Discriminator of AgentIndex.
    pub const AGENT_INDEX: [u8; 8] = [0xf1, 0x9a, 0x23, 0x67, 0xb4, 0x8d, 0x31, 0xb3];
    /// Discriminator of SchemaConfig.
    pub const SCHEMA_CONFIG: [u8; 8] = [0xd3, 0x13, 0x69, 0xdc, 0xba, 0x3d, 0xb6, 0x2f];
}

/// First eight bytes of the instructions' data.
pub mod instruction_discriminator {
    /// Discriminator of initialize.
    pub const INITIALIZE: [u8; 8] = [0xaf, 0xaf, 0x6d, 0x1f, 0x0d, 0x98, 0x9b, 0xed];
    /// Discriminator of register_agent.
    pub const REGISTER_AGENT: [u8; 8] = [0x87, 0x9d, 0x42, 0xc3, 0x02, 0x71, 0xaf, 0x1e];
    /// Discriminator of update_registry_authority.
    pub const UPDATE_REGISTRY_AUTHORITY: [u8; 8] = [0x24, 0x67, 0x0f, 0x95, 0x75, 0x86, 0x1a, 0x29];
    /// Discriminator of register_schema_config.
    pub const REGISTER_SCHEMA_CONFIG: [u8; 8] = [0x15, 0x83, 0xbc, 0x7c, 0xbd, 0xca, 0x46, 0xd2];
    /// Discriminator of link_evm_address.
    pub const LINK_EVM_ADDRESS: [u8; 8] = [0x9c, 0x4b, 0x83, 0xb2, 0x40, 0x6e, 0xec, 0x40];
    /// Discriminator of create_compressed_attestation.
    pub const CREATE_COMPRESSED: [u8; 8] = [0xcc, 0xfb, 0x3d, 0x6d, 0x19, 0x85, 0xed, 0x4d];
    /// Discriminator of close_compressed_attestation.
    pub const CLOSE_COMPRESSED: [u8; 8] = [0x50, 0x07, 0x13, 0xce, 0x8a, 0x9e, 0x5c, 0x18];
    /// Discriminator of create_regular_attestation.
    pub const CREATE_REGULAR: [u8; 8] = [0x45, 0x06, 0x1c, 0xe4, 0xbe, 0xf0, 0x8e, 0x4f];
    /// Discriminator of close_regular_attestation.
    pub const CLOSE_REGULAR: [u8; 8] = [0xf3, 0x0a, 0x92, 0xa3, 0xa9, 0x4b, 0x40, 0x1c];
}

/// First eight bytes of the events.
pub mod event_discriminator {
    /// AgentRegistered, a log event.
    pub const AGENT_REGISTERED: [u8; 8] = [0xbf, 0x4e, 0xd9, 0x36, 0xe8, 0x64, 0xbd, 0x55];
    /// RegistryInitialized, a log event.
    pub const REGISTRY_INITIALIZED: [u8; 8] = [0x90, 0x8a, 0x3e, 0x69, 0x3a, 0x26, 0x64, 0xb1];
    /// SchemaConfigRegistered, a log event.
    pub const SCHEMA_CONFIG_REGISTERED: [u8; 8] = [0xd7, 0x1a, 0xf9, 0x8d, 0x66, 0x66, 0x34, 0x22];
    /// EvmAddressLinked, a log event.
    pub const EVM_ADDRESS_LINKED: [u8; 8] = [0x19, 0xe0, 0x7c, 0xd1, 0x19, 0xf0, 0x66, 0xc2];
    /// AttestationCreated, a self-CPI event.
    pub const ATTESTATION_CREATED: [u8; 8] = [0xd9, 0xaa, 0x13, 0xcb, 0x80, 0x33, 0x1d, 0xa3];
    /// AttestationClosed, a self-CPI event.
    pub const ATTESTATION_CLOSED: [u8; 8] = [0x7e, 0x2d, 0x60, 0xab, 0x10, 0xc9, 0x0b, 0x4e];
}

/// Address and bump of RegistryConfig.
pub fn registry_address() -> (Address, u8) {
    Address::find_program_address(&[b"registry"], &PROGRAM)
}

/// The AgentIndex of the agent with this member number; the first agent is 1.
pub fn agent_index_address(member_number: u64) -> (Address, u8) {
    Address::find_program_address(&[b"agent_index", &member_number.to_le_bytes()], &PROGRAM)
}

/// The SchemaConfig of a schema.
pub fn schema_config_address(sas_schema: &Address) -> (Address, u8) {
    Address::find_program_address(&[b"schema_config", sas_schema.as_array()], &PROGRAM)
}

/// The address with which SATI signs for attestations at SAS.
pub fn attestation_authority() -> (Address, u8) {
    Address::find_program_address(&[b"sati_attestation"], &PROGRAM)
}

/// The address that signs SATI's self-CPI events.
pub fn event_authority() -> (Address, u8) {
    Address::find_program_address(&[b"__event_authority"], &PROGRAM)
}

/// Where the stand-in keeps what SATI keeps in a compressed account.
pub fn attestation_address(schema: &Address, mint: &Address, nonce: &[u8; 32]) -> (Address, u8) {
    Address::find_program_address(&[b"attestation", schema.as_array(), mint.as_array(), nonce], &PROGRAM)
}

/// A credential at SAS.
pub fn sas_credential_address(authority: &Address, name: &str) -> (Address, u8) {
    Address::find_program_address(&[b"credential", authority.as_array(), name.as_bytes()], &SAS)
}

/// A schema at SAS.
pub fn sas_schema_address(credential: &Address, name: &str, version: u8) -> (Address, u8) {
    Address::find_program_address(&[b"schema", credential.as_array(), name.as_bytes(), &[version]], &SAS)
}

/// An attestation at SAS.
pub fn sas_attestation_address(credential: &Address, schema: &Address, nonce: &[u8; 32]) -> (Address, u8) {
    Address::find_program_address(&[b"attestation", credential.as_array(), schema.as_array(), nonce], &SAS)
}
