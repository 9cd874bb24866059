//! Why something of the client fails.

use zx1_coded::Coded;
use zx1_relay_rules::RelayError;

/// What this crate's functions return.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// A refusal of the relay, of the other side, of the disk, or of the rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
#[allow(missing_docs)] // The sentences say it.
pub enum ClientError {
    /// By the rules that relay and client share.
    #[code(inner)]
    #[error(transparent)]
    Rule(#[from] RelayError),
    #[code(7780)]
    #[error("Invalid address of a relay: {why}.")]
    Address { why: String },
    #[code(7781, transient)]
    #[error("The relay {url} cannot be reached: {why}.")]
    Unreachable { url: String, why: String },
    #[code(7782, transient = Self::may_pass)]
    #[error("The relay refuses ({code}): {message}.")]
    Refused { code: String, message: String },
    #[code(7783, transient)]
    #[error("The relay did not answer in time.")]
    NoAnswer,
    #[code(7784, transient)]
    #[error("The connection to the relay was lost: {why}.")]
    Lost { why: String },
    #[code(7785)]
    #[error("The same key has connected to the relay again, which ended this connection.")]
    Displaced,
    #[code(7786)]
    #[error("The relay has removed this agent: {reason}.")]
    Removed { reason: String },
    #[code(7787)]
    #[error("The connection to the relay has ended.")]
    Ended,
    #[code(7788)]
    #[error("The key file {path} cannot be used: {why}.")]
    KeyFile { path: String, why: String },
    #[code(7789)]
    #[error("{path} cannot be read or written: {why}.")]
    Disk { path: String, why: String },
    #[code(7790)]
    #[error("{path} is a link or a special file; files and folders are sent and written.")]
    NotPlain { path: String },
    #[code(7791)]
    #[error("{path} already exists, and nothing is overwritten.")]
    Taken { path: String },
    #[code(7792)]
    #[error("There are more than {most} files, or folders more than {depth} deep.")]
    TooMany { most: usize, depth: usize },
    #[code(7793)]
    #[error("The recipient rejected the files.")]
    Rejected,
    #[code(7794)]
    #[error("The recipient could not take the files: {why}.")]
    NotTaken { why: String },
    #[code(7795)]
    #[error("No offer of files came in time.")]
    NoOffer,
    #[code(7796)]
    #[error("The offered files were declined.")]
    Declined,
    #[code(7797)]
    #[error("The key could not be verified: {reason}.")]
    NotVerified { reason: String },
}

impl ClientError {
    fn may_pass(&self) -> bool {
        matches!(self, ClientError::Refused { code, .. } if code == "RATE_LIMITED")
    }

    /// Whether a new connection cannot help.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            // The challenge of a slow connection can expire.
            ClientError::Refused { code, .. } => {
                !matches!(code.as_str(), "RATE_LIMITED" | "VERIFICATION_EXPIRED")
            }
            ClientError::Unreachable { .. } | ClientError::NoAnswer | ClientError::Lost { .. } => false,
            _ => true,
        }
    }
}
