//! Calling other programs. All calls go through one function: pinocchio's are generic over the number of
//! accounts and inlined, which would give every call its own copy.

use crate::{AccountView, Address, Result};
use alloc::vec::Vec;
use pinocchio::cpi::{Seed, Signer, invoke_signed_with_bounds};
use pinocchio::instruction::{InstructionAccount, InstructionView};

/// The most accounts that a program of ours passes on (a slash).
const MAX_ACCOUNTS: usize = 7;
/// The most seeds with which a program of ours signs, the bump among them (a challenge for its vault).
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
    // On the heap, and only as long as needed: arrays of the greatest length would be filled on every call.
    let views: Vec<&AccountView> = accounts.iter().map(|passed| passed.view).collect();
    let metas: Vec<InstructionAccount> = accounts
        .iter()
        .map(|passed| InstructionAccount::new(passed.view.address(), passed.writable, passed.signer))
        .collect();
    let seeds: Vec<Seed> = seeds.iter().map(|seed| Seed::from(*seed)).collect();
    let signers = [Signer::from(seeds.as_slice())];
    invoke_signed_with_bounds::<MAX_ACCOUNTS, _>(
        &InstructionView { program_id: program, accounts: &metas, data },
        &views,
        if seeds.is_empty() { &[] } else { &signers },
    )
}
