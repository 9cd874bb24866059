//! Instructions of the five programs: account lists here, data in [`zx1_interface::instruction`]. A test
//! compares every list with the committed IDLs.

pub mod behavior_log;
pub mod challenge;
pub mod feedback_log;
pub mod lease;
pub mod stake_lock;

use crate::pda;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use zx1_interface::ids;
use zx1_interface::instruction::Instruction as Data;

/// The addresses that prove who owns an agent (decision B3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentAddresses {
    /// The SATI mint, which is the agent's id.
    pub mint: Address,
    /// SATI's AgentIndex of the mint's member number.
    pub index: Address,
    /// The Token-2022 account that holds the NFT.
    pub token: Address,
}

fn program(id: [u8; 32]) -> Address {
    Address::new_from_array(id)
}

fn read(address: Address) -> AccountMeta {
    AccountMeta::new_readonly(address, false)
}

fn write(address: Address) -> AccountMeta {
    AccountMeta::new(address, false)
}

fn sign(address: Address) -> AccountMeta {
    AccountMeta::new_readonly(address, true)
}

fn sign_write(address: Address) -> AccountMeta {
    AccountMeta::new(address, true)
}

/// Anchor's sign for an optional account that is not given is the program itself.
fn optional(address: Option<Address>, id: [u8; 32], meta: fn(Address) -> AccountMeta) -> AccountMeta {
    address.map_or_else(|| read(program(id)), meta)
}

fn token() -> AccountMeta {
    read(program(ids::TOKEN))
}

fn system() -> AccountMeta {
    read(program(ids::SYSTEM))
}

/// An instruction without events.
fn plain<D: Data>(accounts: Vec<AccountMeta>, data: &D) -> Instruction {
    Instruction { program_id: program(D::PROGRAM), accounts, data: data.data() }
}

/// An instruction with events: event authority and program come last.
fn evented<D: Data>(mut accounts: Vec<AccountMeta>, data: &D) -> Instruction {
    accounts.push(read(pda::event_authority(D::PROGRAM)));
    accounts.push(read(program(D::PROGRAM)));
    plain(accounts, data)
}
