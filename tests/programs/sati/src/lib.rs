//! A local stand-in for SATI at its real address: the registry with real Token-2022 agents, schema
//! configurations and attestations, with the real program's discriminators, addresses, account layouts
//! and events. It is for tests and local clusters, and **never deployed**: the real program is on chain.
//!
//! It takes **February's** account lists (an `agent_mint` account in the attestation instructions); those
//! of January are not supported. What is different on purpose:
//!
//! - Compressed attestations are plain accounts `["attestation", schema, mint, nonce]`. The validity proof
//!   and tree numbers are read and ignored; the account and the system program follow the program account,
//!   where the real program takes Light's accounts.
//! - Delegated signatures are not taken: the agent's owner signs.
//! - An Ed25519 instruction counts only if all its parts lie in its own data; the real program does not
//!   look.
//! - The order of accounts of the regular instructions, most error numbers and the fields of the events
//!   RegistryInitialized, SchemaConfigRegistered, AttestationClosed and EvmAddressLinked are this file's
//!   own, as they are not published.
#![cfg_attr(target_os = "solana", no_std)]

extern crate alloc;
use solana_compiler_builtins as _;

mod attestation;
mod error;
mod events;
mod registry;
mod runtime;
mod schema;
mod signatures;
mod token;

pub use error::SatiError;

use pinocchio::{AccountView, Address, ProgramResult, error::ProgramError};
use runtime::Reader;

/// SATI's program id on every cluster.
pub const ID: Address =
    Address::new_from_array(five8_const::decode_32_const("satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe"));

pinocchio::program_entrypoint!(process);
#[cfg(target_os = "solana")]
pinocchio::default_allocator!();
#[cfg(target_os = "solana")]
pinocchio::nostd_panic_handler!();

fn process(program: &Address, accounts: &mut [AccountView], data: &[u8]) -> ProgramResult {
    if *program != ID {
        return Err(ProgramError::IncorrectProgramId);
    }
    let (head, rest) = data.split_first_chunk::<8>().ok_or(ProgramError::InvalidInstructionData)?;
    let accounts = &*accounts;
    let input = &mut Reader(rest);
    match *head {
        [0xaf, 0xaf, 0x6d, 0x1f, 0x0d, 0x98, 0x9b, 0xed] => registry::initialize(accounts),
        [0x87, 0x9d, 0x42, 0xc3, 0x02, 0x71, 0xaf, 0x1e] => registry::register_agent(accounts, input),
        [0x24, 0x67, 0x0f, 0x95, 0x75, 0x86, 0x1a, 0x29] => registry::update_authority(accounts, input),
        [0x9c, 0x4b, 0x83, 0xb2, 0x40, 0x6e, 0xec, 0x40] => registry::link_evm_address(accounts, input),
        [0x15, 0x83, 0xbc, 0x7c, 0xbd, 0xca, 0x46, 0xd2] => schema::register(accounts, input),
        [0xcc, 0xfb, 0x3d, 0x6d, 0x19, 0x85, 0xed, 0x4d] => attestation::create_compressed(accounts, input),
        [0x50, 0x07, 0x13, 0xce, 0x8a, 0x9e, 0x5c, 0x18] => attestation::close_compressed(accounts),
        [0x45, 0x06, 0x1c, 0xe4, 0xbe, 0xf0, 0x8e, 0x4f] => attestation::create_regular(accounts, input),
        [0xf3, 0x0a, 0x92, 0xa3, 0xa9, 0x4b, 0x40, 0x1c] => attestation::close_regular(accounts),
        events::TAG => events::receive(accounts),
        _ => Err(ProgramError::InvalidInstructionData),
    }
}

/// Refuses with `error` unless the condition holds.
fn require(condition: bool, error: SatiError) -> ProgramResult {
    if condition { Ok(()) } else { Err(error.into()) }
}

fn require_signer(account: &AccountView) -> ProgramResult {
    if account.is_signer() { Ok(()) } else { Err(ProgramError::MissingRequiredSignature) }
}
