//! How a rule ends without a repair.

/// Why a rule stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The failure is not this rule's.
    NotMine,
    /// This read-only command's output is needed first.
    Ask(String),
    /// The failure is this rule's, but it cannot be repaired with certainty.
    Decline(String),
    /// The contract does not grant what the repair needs.
    NotGranted(&'static str),
}

impl Halt {
    pub(crate) fn decline(reason: impl Into<String>) -> Self {
        Self::Decline(reason.into())
    }
}

/// The result of a rule, or of a step in one.
pub(crate) type Try<T> = Result<T, Halt>;
