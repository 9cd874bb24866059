//! Calling other programs. All calls go through one function: pinocchio's are generic over the number of
//! accounts and inlined, which would give every call its own copy.

#![allow(unsafe_code)] // Arrays that are written only as far as needed.

use crate::{AccountView, Address, Result, ensure};
use core::{mem::MaybeUninit, slice::from_raw_parts};
use pinocchio::cpi::{CpiAccount, Seed, Signer, invoke_signed_unchecked};
use pinocchio::instruction::{InstructionAccount, InstructionView};
use zx1_interface::Error;

/// The most accounts that a program of ours passes on (a settlement).
const MAX_ACCOUNTS: usize = 9;
/// The most seeds with which a program of ours signs, the bump among them (a new ask).
pub const MAX_SEEDS: usize = 5;

/// An account that is passed on, and what the called program may do with it.
#[derive(Clone, Copy)]
pub struct Passed<'a> {
    view: &'a AccountView,
    writable: bool,
    signer: bool,
}

/// An account to be read.
pub fn readonly(view: &AccountView) -> Passed<'_> {
    Passed { view, writable: false, signer: false }
}

/// An account to be written.
pub fn writable(view: &AccountView) -> Passed<'_> {
    Passed { view, writable: true, signer: false }
}

/// An account that signs.
pub fn signer(view: &AccountView) -> Passed<'_> {
    Passed { view, writable: false, signer: true }
}

/// An account that signs and is written.
pub fn writable_signer(view: &AccountView) -> Passed<'_> {
    Passed { view, writable: true, signer: true }
}

/// Calls a program. With `seeds`, bump included, the address that they derive signs as well.
#[inline(never)]
pub fn call(program: &Address, accounts: &[Passed], data: &[u8], seeds: &[&[u8]]) -> Result<()> {
    // Written only as far as needed: arrays of the greatest length would be filled on every call.
    let mut metas = [const { MaybeUninit::<InstructionAccount>::uninit() }; MAX_ACCOUNTS];
    let mut infos = [const { MaybeUninit::<CpiAccount>::uninit() }; MAX_ACCOUNTS];
    ensure!(accounts.len() <= MAX_ACCOUNTS, Error::InvariantBroken);
    for ((passed, meta), info) in accounts.iter().zip(&mut metas).zip(&mut infos) {
        meta.write(InstructionAccount::new(passed.view.address(), passed.writable, passed.signer));
        CpiAccount::init_from_account_view(passed.view, info);
    }
    // SAFETY: as many of each are written as there are accounts. A seed is a pointer and a length, as a slice of
    // bytes is here. No reference into account data lives across a call (see `stored::bytes`).
    unsafe {
        let accounts_len = accounts.len();
        let metas = from_raw_parts(metas.as_ptr().cast::<InstructionAccount>(), accounts_len);
        let infos = from_raw_parts(infos.as_ptr().cast::<CpiAccount>(), accounts_len);
        let seeds = from_raw_parts(seeds.as_ptr().cast::<Seed>(), seeds.len());
        let signers = [Signer::from(seeds)];
        let signers = if seeds.is_empty() { &[] } else { signers.as_slice() };
        let instruction = InstructionView { program_id: program, accounts: metas, data };
        invoke_signed_unchecked(&instruction, infos, signers);
    }
    // A call that fails ends the transaction.
    Ok(())
}
