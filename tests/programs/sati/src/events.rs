//! Events: some in the log, some as a call of the program to itself.

use alloc::vec::Vec;
use pinocchio::{AccountView, ProgramResult};

use crate::{
    ID, SatiError, require, require_signer,
    runtime::{Meta, call, expect_derived, read},
};

/// Begins the data of a self-CPI event.
pub(crate) const TAG: [u8; 8] = [0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d];
const AUTHORITY: &[u8] = b"__event_authority";

/// Writes an event to the log, as base64 after "Program data:".
pub(crate) fn log(event: &[u8]) {
    #[cfg(target_os = "solana")]
    {
        let parts = [event];
        // SAFETY: one slice, which lives until the call returns.
        unsafe { pinocchio::syscalls::sol_log_data(parts.as_ptr().cast(), 1) };
    }
    #[cfg(not(target_os = "solana"))]
    let _ = event;
}

/// Calls the program itself with an event.
pub(crate) fn emit(authority: &AccountView, program: &AccountView, event: &[u8]) -> ProgramResult {
    require(*program.address() == ID, SatiError::InvalidAccount)?;
    let bump = expect_derived(authority, &[AUTHORITY], &ID)?;
    let data: Vec<u8> = [&TAG[..], event].concat();
    call(&ID, &[Meta::signs(read(authority))], &data, &[AUTHORITY, &[bump]])
}

/// An event that arrives: only the program itself can sign for the authority.
pub(crate) fn receive(accounts: &[AccountView]) -> ProgramResult {
    let [authority, ..] = accounts else { return Err(SatiError::InvalidAccount.into()) };
    require_signer(authority)?;
    expect_derived(authority, &[AUTHORITY], &ID).map(|_| ())
}
