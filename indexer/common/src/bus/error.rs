//! What a bus refuses.

use zx1_coded::Coded;

/// Why a bus did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
pub enum BusError {
    /// Also when it is not known whether the bus did it.
    #[code(9680, transient)]
    #[error("The bus is away: it did not take this, or its answer was lost.")]
    Away,
    /// A topic, key or prefix.
    #[code(9681)]
    #[error("invalid topic or key: expected words between dots, 256 bytes at most")]
    Name,
    /// A message's id.
    #[code(9682)]
    #[error("invalid message id: expected 1 to 128 visible ASCII characters")]
    MessageId,
    /// A message or a lease's value.
    #[code(9683)]
    #[error("{bytes} bytes are too many for the bus: expected at most {most}")]
    TooLarge {
        /// Length in bytes.
        bytes: usize,
        /// Maximum of bytes.
        most: usize,
    },
    /// Settings that contradict themselves, or a file that they name.
    #[code(9684)]
    #[error("The bus cannot be set up: {why}.")]
    Settings {
        /// What is wrong.
        why: String,
    },
    /// Older servers lack parts that are needed, and some of them take settings without obeying them.
    #[code(9685)]
    #[error("The NATS server is of version {version}; expected at least 2.10.")]
    OldServer {
        /// What the server says.
        version: String,
    },
    /// At the start only; later it is [`BusError::Away`].
    #[code(9686, transient)]
    #[error("The NATS server does not answer: {why}.")]
    Unreachable {
        /// What the connection says.
        why: String,
    },
    /// The server is there and does not do it.
    #[code(9687)]
    #[error("The NATS server refuses {what}: {why}.")]
    Refused {
        /// What it was asked for.
        what: &'static str,
        /// What it says.
        why: String,
    },
}
