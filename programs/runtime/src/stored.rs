//! Typed accounts over the layouts of the interface.

#![allow(unsafe_code)] // The only place that turns account memory into references.

use crate::{AccountView, Address, Result, ensure, find, is_owned_by, key};
use anchor_lang::{AnchorAccount, IdlAccountType};
use core::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_interface::{Error, Layout};

/// An existing account of one layout: owned by its program, with its discriminator, version and size. As every
/// program creates an account of a layout only at its derived address, and checks the agent or owner that
/// the account names, the address need not be derived again to be trusted.
#[repr(transparent)]
pub struct Stored<T: Layout> {
    view: AccountView,
    layout: PhantomData<T>,
}

/// What tells a layout's accounts from others. One value that is pointed to: its four parts at every place
/// would be a good part of a program's ELF.
pub(crate) struct Shape {
    pub(crate) program: [u8; 32],
    pub(crate) discriminator: [u8; 8],
    pub(crate) size: usize,
    pub(crate) version_at: usize,
}

pub(crate) trait Shaped {
    const SHAPE: Shape;
}

impl<T: Layout> Shaped for T {
    const SHAPE: Shape = Shape {
        program: T::PROGRAM,
        discriminator: T::DISCRIMINATOR,
        size: T::SIZE,
        version_at: T::VERSION_AT,
    };
}

/// Refuses unless the account is of this layout, in this edition's version.
#[inline(never)]
fn check(view: &AccountView, shape: &Shape) -> Result<()> {
    if !is_owned_by(view, &shape.program) {
        let absent = view.is_data_empty();
        return Err(if absent { Error::AccountMissing } else { Error::WrongAccountOwner }.into());
    }
    let data = bytes(view);
    let fits = data.len() >= shape.size && data.first_chunk() == Some(&shape.discriminator);
    ensure!(fits, Error::WrongAccountType);
    ensure!(data.get(shape.version_at) == Some(&LAYOUT_VERSION), Error::WrongVersion);
    Ok(())
}

/// An account's data.
pub fn bytes(view: &AccountView) -> &[u8] {
    // SAFETY: no mutable reference to account data outlives a statement of a handler, and CPIs, which can
    // change data, take place between such statements.
    unsafe { view.borrow_unchecked() }
}

/// An account's data, to be written.
pub fn bytes_mut(view: &mut AccountView) -> &mut [u8] {
    // SAFETY: as in `bytes`; Anchor refuses a mutable account that is passed twice.
    unsafe { view.borrow_unchecked_mut() }
}

/// An account of this layout, after checking owner, discriminator, version and size. A reference: copies of
/// whole accounts would be a good part of a program's ELF.
pub fn load<T: Layout>(view: &AccountView) -> Result<&T> {
    check(view, &T::SHAPE)?;
    // SAFETY: `check` checked the size; a layout is Pod, so any bytes are valid; account data begins at a
    // multiple of 8 and the discriminator is 8 bytes, so the alignment fits.
    Ok(unsafe { &*bytes(view).as_ptr().add(8).cast::<T>() })
}

/// The same as a value that can be written through.
pub fn existing<T: Layout>(view: &AccountView) -> Result<Stored<T>> {
    Stored::load(*view)
}

/// The same for an account that may not exist. Its absence is proven: the address must be the derived one
/// and hold nothing.
pub fn load_optional<'a, T: Layout>(view: &'a AccountView, seeds: &[&[u8]]) -> Result<Option<&'a T>> {
    if is_owned_by(view, &T::PROGRAM) {
        return load(view).map(Some);
    }
    find(seeds, &Address::new_from_array(T::PROGRAM), view)?;
    ensure!(view.is_data_empty(), Error::WrongAccountOwner);
    Ok(None)
}

impl<T: Layout> Stored<T> {
    /// The account's address.
    pub fn key(&self) -> &[u8; 32] {
        key(&self.view)
    }

    /// The untyped account.
    pub fn view(&self) -> AccountView {
        self.view
    }

    /// The bytes behind the fixed part.
    pub fn tail(&self) -> &[u8] {
        bytes(&self.view).get(T::SIZE..).unwrap_or_default()
    }

    /// The fixed part to be written, and the bytes behind it.
    pub fn parts(&mut self) -> (&mut T, &[u8]) {
        let (fixed, tail) = bytes_mut(&mut self.view).split_at_mut(T::SIZE);
        // SAFETY: as in `deref`; the tail is apart from it.
        (unsafe { &mut *fixed.as_mut_ptr().add(8).cast::<T>() }, tail)
    }

    /// What follows the fixed part, to be written.
    pub fn tail_mut(&mut self) -> &mut [u8] {
        bytes_mut(&mut self.view).get_mut(T::SIZE..).unwrap_or_default()
    }
}

impl<T: Layout> AnchorAccount for Stored<T> {
    type Data = T;
    const MIN_DATA_LEN: usize = T::SIZE;

    #[inline(always)]
    fn load(view: AccountView) -> Result<Self> {
        check(&view, &T::SHAPE)?;
        Ok(Self { view, layout: PhantomData })
    }

    fn account(&self) -> &AccountView {
        &self.view
    }
}

impl<T: Layout> Deref for Stored<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: `load` checked the size; a layout is Pod, so any bytes are valid; account data begins at
        // a multiple of 8 and the discriminator is 8 bytes, so the alignment fits.
        unsafe { &*bytes(&self.view).as_ptr().add(8).cast::<T>() }
    }
}

impl<T: Layout> DerefMut for Stored<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { &mut *bytes_mut(&mut self.view).as_mut_ptr().add(8).cast::<T>() }
    }
}

impl<T: Layout> AsRef<AccountView> for Stored<T> {
    fn as_ref(&self) -> &AccountView {
        &self.view
    }
}

impl<T: Layout> IdlAccountType for Stored<T> {
    #[cfg(not(target_os = "solana"))]
    fn __idl_account_entry() -> Option<&'static str> {
        Some(crate::idl::account_entry::<T>())
    }
    #[cfg(not(target_os = "solana"))]
    fn __idl_type_def() -> Option<&'static str> {
        Some(crate::idl::account_type::<T>())
    }
    #[cfg(not(target_os = "solana"))]
    fn __register_idl_deps(
        accounts: &mut alloc::vec::Vec<&'static str>,
        types: &mut alloc::vec::Vec<&'static str>,
    ) {
        accounts.extend(Self::__idl_account_entry());
        types.extend(Self::__idl_type_def());
    }
}
