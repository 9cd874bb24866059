//! Addresses that follow from the program ids alone, derived when this crate is built.

/// A program-derived address with its canonical bump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derived {
    /// The derived address.
    pub address: crate::ids::Address,
    /// The canonical bump.
    pub bump: u8,
    /// The program that derives it and can sign for it.
    pub program: crate::ids::Address,
}

include!(concat!(env!("OUT_DIR"), "/pda.rs"));
