//! Creating and closing program-derived accounts. Functions that many handlers call are kept out of line:
//! an ELF's size is a deposit, and a call costs a few units.

use crate::stored::bytes_mut;
use crate::{AccountView, Address, Result, Stored, ensure};
use anchor_lang::AnchorAccount;
use zx1_interface::{Error, Layout};

/// Refuses unless the account is at the address derived from the seeds; returns the canonical bump.
#[inline(never)]
pub fn find(seeds: &[&[u8]], program: &Address, view: &AccountView) -> Result<u8> {
    anchor_lang::find_and_verify_program_address(seeds, program, view.address())
        .map_err(|_| Error::WrongAddress.into())
}

/// Creates the account of a layout at its derived address with `tail` further bytes, and fills in the fixed
/// part, which is zero before. Whoever has sent lamports there before has only paid part of the rent
/// (decision B4). `fill` gets the canonical bump. Refused with `exists` when something is there already.
pub fn create<T: Layout>(
    payer: &AccountView,
    view: &AccountView,
    seeds: &[&[u8]],
    tail: usize,
    exists: Error,
    fill: impl FnOnce(&mut T, u8),
) -> Result<Stored<T>> {
    let space = T::SIZE.checked_add(tail).ok_or(Error::ArithmeticOverflow)?;
    let bump = create_bytes(payer, view, seeds, space, &T::PROGRAM, &T::DISCRIMINATOR, exists)?;
    let mut account = <Stored<T> as AnchorAccount>::load(*view)?;
    fill(&mut account, bump);
    Ok(account)
}

#[inline(never)]
fn create_bytes(
    payer: &AccountView,
    view: &AccountView,
    seeds: &[&[u8]],
    space: usize,
    program: &[u8; 32],
    discriminator: &[u8; 8],
    exists: Error,
) -> Result<u8> {
    let program = Address::new_from_array(*program);
    let bump = find(seeds, &program, view)?;
    ensure!(view.is_data_empty() && !view.owned_by(&program), exists);
    allocate(payer, view, space, &program, seeds, bump)?;
    let mut view = *view;
    *bytes_mut(&mut view).first_chunk_mut().ok_or(Error::WrongAccountType)? = *discriminator;
    Ok(bump)
}

/// Allocates bytes at a derived address for any owner.
#[inline(never)]
pub fn allocate(
    payer: &AccountView,
    view: &AccountView,
    space: usize,
    owner: &Address,
    seeds: &[&[u8]],
    bump: u8,
) -> Result<()> {
    let bump = [bump];
    match *seeds {
        [a] => anchor_lang::create_account_signed(payer, view, space, owner, &[a, &bump]),
        [a, b] => anchor_lang::create_account_signed(payer, view, space, owner, &[a, b, &bump]),
        [a, b, c] => anchor_lang::create_account_signed(payer, view, space, owner, &[a, b, c, &bump]),
        [a, b, c, d] => anchor_lang::create_account_signed(payer, view, space, owner, &[a, b, c, d, &bump]),
        _ => Err(Error::WrongAddress.into()),
    }
}

/// Closes an account of the running program and gives its rent back.
#[inline(never)]
pub fn close(view: &AccountView, recipient: &AccountView) -> Result<()> {
    ensure!(view.address() != recipient.address(), Error::WrongAddress);
    let (mut view, mut recipient) = (*view, *recipient);
    let sum = recipient.lamports().checked_add(view.lamports()).ok_or(Error::ArithmeticOverflow)?;
    recipient.set_lamports(sum);
    view.set_lamports(0);
    view.close()
}
