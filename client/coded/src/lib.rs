//! One way to fail, for every crate of this repository.
//!
//! A library says what is wrong. What to do next is the front end's business: a command line names a command,
//! a server names nothing. So the trait has no advice in it.

/// An error with a stable number.
///
/// `Display` is the message: one or more full sentences without any command line's words.
pub trait Coded: std::error::Error {
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
