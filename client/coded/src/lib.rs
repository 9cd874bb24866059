//! One way to fail, for every crate of this repository.
//!
//! A library says what is wrong. What to do next is the front end's business: a command line names a command,
//! a server names nothing. So the trait has no advice in it.
//!
//! The derive macro [`Coded`](macro@Coded) takes the numbers from the variants of a `thiserror` enum, and makes
//! the list from which `docs/errors.md` is written:
//!
//! ```
//! use zx1_coded::Coded;
//!
//! #[derive(Debug, thiserror::Error, Coded)]
//! pub enum ReadError {
//!     #[code(1)]
//!     #[error("The file {path} cannot be read.")]
//!     Disk { path: String },
//!     #[code(2, transient)]
//!     #[error("The file is locked.")]
//!     Locked,
//! }
//!
//! assert_eq!((ReadError::Locked.code(), ReadError::Locked.transient()), (2, true));
//! assert_eq!(ReadError::ROWS.iter().map(|row| row.code).collect::<Vec<_>>(), [1, 2]);
//! ```
//!
//! * `#[code(7000)]`: the number; trying again does not help.
//! * `#[code(7000, transient)]`: trying again can help.
//! * `#[code(7000, transient = Self::may_pass)]`: asks a `fn(&Self) -> bool`.
//! * `#[code(inner)]`: number, name and transience are those of the only field, or of the field `source`, which
//!   is [`Coded`] itself.

#![no_std]

extern crate alloc;

use alloc::boxed::Box;

pub use zx1_coded_derive::Coded;

/// An error with a stable number.
///
/// `Display` is the message: one or more full sentences without any command line's words.
pub trait Coded: core::error::Error {
    /// The stable number, unique in this repository and never reused (`docs/errors.md` lists all).
    fn code(&self) -> u32;

    /// The name behind the number, in CamelCase: the variant's.
    fn name(&self) -> &'static str;

    /// Whether the same call can succeed later although nobody changes anything: a node that is away, a lock
    /// that is held. What is not transient must not be retried.
    fn transient(&self) -> bool {
        false
    }
}

impl<T: Coded> Coded for Box<T> {
    fn code(&self) -> u32 {
        (**self).code()
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn transient(&self) -> bool {
        (**self).transient()
    }
}

/// One number of a crate, as `docs/errors.md` lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The error's number.
    pub code: u32,
    /// The variant's name.
    pub name: &'static str,
    /// The message as it is written in the source, with its placeholders.
    pub message: &'static str,
    /// Whether trying again can help; `None` where it depends on the error's fields.
    pub transient: Option<bool>,
}
