//! Self-CPI events (decision B14): instruction data cannot be truncated by others, as log lines can.

use crate::cpi::{call, signer};
use crate::{AccountView, Result, expect_address};
use zx1_interface::pda::Derived;
use zx1_interface::{Event, seeds};

/// Emits an event of the running program, `program`, whose event authority is `authority` at `derived`.
#[inline(always)]
pub fn emit<E: Event>(
    program: &AccountView,
    authority: &AccountView,
    derived: &Derived,
    event: &E,
) -> Result<()> {
    invoke_self(program, authority, derived, event.to_bytes().as_ref())
}

#[inline(never)]
fn invoke_self(program: &AccountView, authority: &AccountView, derived: &Derived, data: &[u8]) -> Result<()> {
    // Anchor leaves both unchecked: another program here would swallow the event, and get a signature.
    expect_address(authority, &derived.address)?;
    expect_address(program, &derived.program)?;
    call(program.address(), &[signer(authority)], data, &[seeds::EVENT_AUTHORITY, &[derived.bump]])
}
