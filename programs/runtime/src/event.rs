//! Self-CPI events (decision B14): instruction data cannot be truncated by others, as log lines can.

use crate::{AccountView, Result, expect_address};
use pinocchio::cpi::{Seed, Signer, invoke_signed};
use pinocchio::instruction::{InstructionAccount, InstructionView};
use zx1_interface::pda::Derived;
use zx1_interface::{Error, Event, seeds};

/// Larger than any event.
const BUFFER: usize = 256;

/// Emits an event of the program `program`, whose event authority is `authority` at `derived`.
pub fn emit<E: Event>(
    program: &AccountView,
    authority: &AccountView,
    derived: &Derived,
    event: &E,
) -> Result<()> {
    const { assert!(E::SIZE <= BUFFER) };
    let mut buffer = [0; BUFFER];
    let data = event.write(&mut buffer).ok_or(Error::InvariantBroken)?;
    invoke_self(program, authority, derived, data)
}

#[inline(never)]
fn invoke_self(program: &AccountView, authority: &AccountView, derived: &Derived, data: &[u8]) -> Result<()> {
    expect_address(authority, &derived.address)?;
    let bump = [derived.bump];
    invoke_signed(
        &InstructionView {
            program_id: program.address(),
            accounts: &[InstructionAccount::readonly_signer(authority.address())],
            data,
        },
        &[authority],
        &[Signer::from(&[Seed::from(seeds::EVENT_AUTHORITY), Seed::from(&bump)])],
    )
}
