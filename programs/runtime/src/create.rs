//! Creating and closing program-derived accounts. Functions that many handlers call are kept out of line:
//! an ELF's size is a deposit, and a call costs a few units.

use crate::cpi::{MAX_SEEDS, call, writable, writable_signer};
use crate::stored::{Shape, Shaped, bytes_mut};
use crate::{AccountView, Address, Result, Stored, ensure, find, is_at, is_owned_by, key};
use anchor_lang::AnchorAccount;
use anchor_lang::cpi::rent_exempt_lamports;
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_interface::{Error, Layout, ids};

const SYSTEM: Address = Address::new_from_array(ids::SYSTEM);

// Instructions of the system program.
const CREATE_ACCOUNT: u32 = 0;
const ASSIGN: u32 = 1;
const TRANSFER: u32 = 2;
const ALLOCATE: u32 = 8;

/// Creates the account of a layout at its derived address with `tail` further bytes, and fills in the fixed
/// part, of which the version is set before and the rest is zero. Whoever has sent lamports there before has
/// only paid part of the rent (decision B4). `fill` gets the canonical bump. Refused with `exists` when the
/// account already exists.
pub fn create<T: Layout>(
    payer: &AccountView,
    view: &AccountView,
    seeds: &[&[u8]],
    tail: usize,
    exists: Error,
    fill: impl FnOnce(&mut T, u8),
) -> Result<Stored<T>> {
    let bump = create_shape(payer, view, seeds, tail, &T::SHAPE, exists)?;
    let mut account = <Stored<T> as AnchorAccount>::load(*view)?;
    fill(&mut account, bump);
    Ok(account)
}

#[inline(never)]
fn create_shape(
    payer: &AccountView,
    view: &AccountView,
    seeds: &[&[u8]],
    tail: usize,
    shape: &Shape,
    exists: Error,
) -> Result<u8> {
    let program = Address::new_from_array(shape.program);
    let space = shape.size.checked_add(tail).ok_or(Error::ArithmeticOverflow)?;
    let owned = is_owned_by(view, &shape.program);
    let bump = find(seeds, &program, view)?;
    ensure!(view.is_data_empty() && !owned, exists);
    allocate(payer, view, space, &program, seeds, bump)?;
    let mut view = *view;
    let data = bytes_mut(&mut view);
    *data.first_chunk_mut().ok_or(Error::WrongAccountType)? = shape.discriminator;
    *data.get_mut(shape.version_at).ok_or(Error::WrongAccountType)? = LAYOUT_VERSION;
    Ok(bump)
}

/// Allocates bytes at a derived address for any owner; `seeds` are without the bump.
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
    let mut signing: [&[u8]; MAX_SEEDS] = [&bump; MAX_SEEDS];
    // One by one: a copy of unknown length would go byte by byte.
    for (place, seed) in signing.iter_mut().zip(seeds) {
        *place = seed;
    }
    let signing = signing.get(..=seeds.len()).ok_or(Error::WrongAddress)?;

    let (rent, held) = (rent_exempt_lamports(space)?, view.lamports());
    let account = writable_signer(view);
    if held == 0 {
        let mut data = [0; 52];
        data[..4].copy_from_slice(&CREATE_ACCOUNT.to_le_bytes());
        data[4..12].copy_from_slice(&rent.to_le_bytes());
        data[12..20].copy_from_slice(&(space as u64).to_le_bytes());
        data[20..].copy_from_slice(owner.as_array());
        return call(&SYSTEM, &[writable_signer(payer), account], &data, signing);
    }
    // The system program creates only where there are no lamports yet.
    if rent > held {
        send_lamports(payer, view, rent.saturating_sub(held))?;
    }
    call(&SYSTEM, &[account], &with_number(ALLOCATE, space as u64), signing)?;
    let mut data = [0; 36];
    data[..4].copy_from_slice(&ASSIGN.to_le_bytes());
    data[4..].copy_from_slice(owner.as_array());
    call(&SYSTEM, &[account], &data, signing)
}

/// Moves lamports out of a wallet that signs.
pub fn send_lamports(from: &AccountView, to: &AccountView, lamports: u64) -> Result<()> {
    call(&SYSTEM, &[writable_signer(from), writable(to)], &with_number(TRANSFER, lamports), &[])
}

/// Data of a system instruction with one number.
fn with_number(instruction: u32, number: u64) -> [u8; 12] {
    let mut data = [0; 12];
    data[..4].copy_from_slice(&instruction.to_le_bytes());
    data[4..].copy_from_slice(&number.to_le_bytes());
    data
}

/// Closes an account of the running program and gives its rent back.
#[inline(never)]
pub fn close(view: &AccountView, recipient: &AccountView) -> Result<()> {
    ensure!(!is_at(view, key(recipient)), Error::WrongAddress);
    let (mut view, mut recipient) = (*view, *recipient);
    let sum = recipient.lamports().checked_add(view.lamports()).ok_or(Error::ArithmeticOverflow)?;
    recipient.set_lamports(sum);
    view.set_lamports(0);
    view.close()
}
