//! Calling other programs. All calls go through one function: pinocchio's are generic over the number of
//! accounts and inlined, which would give every call its own copy.

use crate::{AccountView, Address, Error, Result};
use pinocchio::cpi::{Seed, Signer, invoke_signed_with_bounds};
use pinocchio::instruction::{InstructionAccount, InstructionView};

/// The most accounts that a program of ours passes on (a slash).
const MAX_ACCOUNTS: usize = 7;
/// The most seeds with which a program of ours signs, the bump among them (a challenge for its vault).
pub const MAX_SEEDS: usize = 5;

const NO_ADDRESS: Address = Address::new_from_array([0; 32]);

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
    let [first, ..] = accounts else { return Err(Error::InvariantBroken.into()) };
    let mut views = [first.view; MAX_ACCOUNTS];
    let mut metas = [const { InstructionAccount::readonly(&NO_ADDRESS) }; MAX_ACCOUNTS];
    for ((view, meta), passed) in views.iter_mut().zip(&mut metas).zip(accounts) {
        *view = passed.view;
        *meta = InstructionAccount::new(passed.view.address(), passed.writable, passed.signer);
    }
    let mut signer_seeds: [Seed; MAX_SEEDS] = core::array::from_fn(|_| Seed::from(&[]));
    for (place, seed) in signer_seeds.iter_mut().zip(seeds) {
        *place = Seed::from(*seed);
    }
    let (Some(views), Some(metas), Some(signer_seeds)) =
        (views.get(..accounts.len()), metas.get(..accounts.len()), signer_seeds.get(..seeds.len()))
    else {
        return Err(Error::InvariantBroken.into());
    };
    let signers = [Signer::from(signer_seeds)];
    invoke_signed_with_bounds::<MAX_ACCOUNTS, _>(
        &InstructionView { program_id: program, accounts: metas, data },
        views,
        if seeds.is_empty() { &[] } else { &signers },
    )
}
