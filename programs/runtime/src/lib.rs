//! What the five programs share on chain. Everything that knows Anchor's or pinocchio's internals stands
//! here, so that handlers read as the rules they enforce and a move to Anchor's release is mechanical.
//!
//! - [`stored`]: typed accounts with our own refusals
//! - [`cpi`]: calling other programs
//! - [`create`]: creating program-derived accounts that a stranger may have funded first
//! - [`agent`]: who holds an agent, proven anew on every call (decision B3), and which key acts for it (P1)
//! - [`caller`]: who calls
//! - [`usdc`]: token accounts, pooled vaults and transfers (decisions B4 and P5)
//! - [`event`]: self-CPI events (decision B14)
//! - [`time`], [`hash`], [`signature`]: the clock, keccak, Ed25519 introspection
//! - [`idl`]: events and errors for Anchor's IDL build
#![cfg_attr(target_os = "solana", no_std)]

extern crate alloc;

pub mod agent;
pub mod caller;
pub mod cpi;
pub mod create;
pub mod draft;
pub mod event;
pub mod hash;
pub mod idl;
pub mod signature;
pub mod stored;
pub mod time;
pub mod usdc;

pub use anchor_lang::prelude::{AccountView, Address, Result};
pub use create::{close, create};
pub use event::emit;
pub use hash::Syscall;
pub use stored::{Stored, bytes, existing, load, load_optional};
pub use time::Now;
pub use zx1_interface::Error;

/// Refuses unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $error:expr) => {
        if !($condition) {
            return Err(anchor_lang::prelude::ProgramError::from($error));
        }
    };
}

/// Addresses as the 32 bytes that layouts hold.
pub fn key(view: &AccountView) -> &[u8; 32] {
    view.address().as_array()
}

/// Whether two addresses are the same. Out of line: inlined at each of some fifty places, this comparison
/// would be a tenth of a program.
#[inline(never)]
pub fn same(a: &[u8; 32], b: &[u8; 32]) -> bool {
    a == b
}

/// Whether the account is at this address.
pub fn is_at(view: &AccountView, address: &[u8; 32]) -> bool {
    same(key(view), address)
}

/// Whether the account belongs to this program.
pub fn is_owned_by(view: &AccountView, program: &[u8; 32]) -> bool {
    same(view.owner().as_array(), program)
}

/// Refuses unless the account has this address.
pub fn expect_address(view: &AccountView, address: &[u8; 32]) -> Result<()> {
    ensure!(is_at(view, address), Error::WrongAddress);
    Ok(())
}

/// Refuses unless the account is at the address derived from the seeds; returns the canonical bump.
#[inline(never)]
pub fn find(seeds: &[&[u8]], program: &Address, view: &AccountView) -> Result<u8> {
    anchor_lang::find_and_verify_program_address(seeds, program, view.address())
        .map_err(|_| Error::WrongAddress.into())
}

/// The next value of a counter that is only ever counted up.
pub fn bump(counter: &mut u64) -> Result<u64> {
    let value = *counter;
    *counter = value.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
    Ok(value)
}
