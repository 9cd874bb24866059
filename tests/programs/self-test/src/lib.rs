//! The tool chain's self-test: a program whose instructions each exercise one property that a
//! compiler back end can get wrong. `tests/vm/tests/toolchain.rs` runs every one of them in LiteSVM
//! and natively, on the same inputs, and compares. It is never deployed.
#![cfg_attr(target_os = "solana", no_std)]

extern crate alloc;
use solana_compiler_builtins as _;

mod cases;

use pinocchio::{AccountView, Address, ProgramResult, error::ProgramError};

pinocchio::program_entrypoint!(process);
#[cfg(target_os = "solana")]
pinocchio::default_allocator!();
#[cfg(target_os = "solana")]
pinocchio::nostd_panic_handler!();

/// Instruction data: the number of the case, then its input. The result is the return data.
fn process(_program: &Address, _accounts: &mut [AccountView], data: &[u8]) -> ProgramResult {
    let (case, input) = data.split_first().ok_or(ProgramError::InvalidInstructionData)?;
    let output = cases::run(*case, input).ok_or(ProgramError::InvalidInstructionData)?;
    pinocchio::cpi::set_return_data(&output);
    Ok(())
}
