//! Self-CPI events (decision B14): instruction data cannot be truncated by others, as log lines can.

use crate::{AccountView, Result, expect_address};
use alloc::vec;
use pinocchio::cpi::{Seed, Signer, invoke_signed};
use pinocchio::instruction::{InstructionAccount, InstructionView};
use zx1_interface::pda::Derived;
use zx1_interface::{Error, Event, seeds};

/// Emits an event of the running program, `program`, whose event authority is `authority` at `derived`.
pub fn emit<E: Event>(
    program: &AccountView,
    authority: &AccountView,
    derived: &Derived,
    event: &E,
) -> Result<()> {
    let mut buffer = vec![0; E::SIZE];
    let data = event.write(&mut buffer).ok_or(Error::InvariantBroken)?;
    invoke_self(program, authority, derived, data)
}

#[inline(never)]
fn invoke_self(program: &AccountView, authority: &AccountView, derived: &Derived, data: &[u8]) -> Result<()> {
    // Anchor leaves both unchecked: another program here would swallow the event, and get a signature.
    expect_address(authority, &derived.address)?;
    expect_address(program, &derived.program)?;
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
