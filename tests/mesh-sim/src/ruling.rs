//! What is decided about a message, and by which view of it.

use zx1_mesh::Reason;

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is forwarded.
    Accept,
    /// It is dropped.
    Ignore(Reason),
    /// It is dropped, and its bringer pays.
    Reject(Reason),
}

impl Ruling {
    /// Of a message that the gate let through, or rates or nonces did not.
    pub(crate) fn refused(reason: Reason) -> Self {
        if reason.is_reject() { Self::Reject(reason) } else { Self::Ignore(reason) }
    }
}

/// What of a view decides about a given message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewKind {
    pub(crate) is_timely: bool,
    pub(crate) is_new: bool,
}

/// What the gate said of one message.
#[derive(Clone, Debug, Default)]
pub struct Verdicts(pub(crate) Vec<(ViewKind, Ruling)>);
