//! Creating and closing program-derived accounts. Functions that many handlers call are kept out of line:
//! an ELF's size is a deposit, and a call costs a few units.

use crate::stored::bytes_mut;
use crate::{AccountView, Address, Result, ensure};
use zx1_interface::{Error, Layout};

/// Refuses unless the account is at the address derived from the seeds; returns the canonical bump.
#[inline(never)]
pub fn find(seeds: &[&[u8]], program: &Address, view: &AccountView) -> Result<u8> {
    anchor_lang::find_and_verify_program_address(seeds, program, view.address())
        .map_err(|_| Error::WrongAddress.into())
}

/// Creates the account of a layout at its derived address with `tail` further bytes, and writes the fixed
/// part. Whoever has sent lamports there before has only paid part of the rent (decision B4). `make` gets
/// the canonical bump. Refused with `exists` when something is there already.
pub fn create<T: Layout>(
    payer: &AccountView,
    view: &AccountView,
    seeds: &[&[u8]],
    tail: usize,
    exists: Error,
    make: impl FnOnce(u8) -> T,
) -> Result<()> {
    let program = Address::new_from_array(T::PROGRAM);
    let bump = find(seeds, &program, view)?;
    ensure!(view.is_data_empty() && !view.owned_by(&program), exists);
    let space = T::SIZE.checked_add(tail).ok_or(Error::ArithmeticOverflow)?;
    allocate(payer, view, space, &program, seeds, bump)?;
    let mut view = *view;
    let data = bytes_mut(&mut view);
    let (head, rest) = data.split_first_chunk_mut::<8>().ok_or(Error::WrongAccountType)?;
    *head = T::DISCRIMINATOR;
    let body = rest.get_mut(..core::mem::size_of::<T>()).ok_or(Error::WrongAccountType)?;
    body.copy_from_slice(bytemuck::bytes_of(&make(bump)));
    Ok(())
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
