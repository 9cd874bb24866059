use super::State;
use zx1_coded::Coded;

/// Why a draft is not taken, or a row not moved. Numbers 7650 to 7659.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum OutboxError {
    /// No row has this number.
    #[code(7650)]
    #[error("There is no message {0} in the outbox.")]
    Unknown(u64),
    /// The table has no such step now.
    #[code(7651)]
    #[error("This is not possible with message {id}, which is `{state}`.")]
    NotNow {
        /// Number of the row.
        id: u64,
        /// Where it stands.
        state: State,
    },
    /// Too many drafts wait.
    #[code(7652, transient)]
    #[error("The outbox is full: {limit} messages for all recipients or for this one.")]
    Full {
        /// The bound that was met.
        limit: usize,
    },
    /// A draft that receivers would drop.
    #[code(7653)]
    #[error("The message cannot be sent: {0}")]
    Draft(&'static str),
    /// A time to live of nothing or beyond the bound.
    #[code(7654)]
    #[error("A message's time to live is from 1 to {limit} microseconds.")]
    Ttl {
        /// Longest time to live, in microseconds.
        limit: u64,
    },
    /// A row of the store that this program did not write.
    #[code(7655)]
    #[error("A row of the outbox is not valid: {0}.")]
    Row(&'static str),
    /// Another intent has that name.
    #[code(7656)]
    #[error("Message {0} has the same name but another content.")]
    NameTaken(u64),
}
