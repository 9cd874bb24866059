//! Why the sponsor refuses or fails. What goes to a client is in [`crate::http`].

use zx1_chain::rpc::ChainError;
use zx1_coded::Coded;
use zx1_home::LockError;
use zx1_home::keys::KeyFileError;
use zx1_server::answer::{A_MOMENT, Advice};
use zx1_server::body::BodyFault;
use zx1_server::limits::TooOften;
use zx1_server::problem::Refused;

/// An error of the sponsor. Its text is a full sentence with the next step.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Error {
    /// An error of the chain's client, with its own number.
    #[code(inner)]
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The feedback log does not take the text.
    #[code(inner)]
    #[error(transparent)]
    Text(#[from] zx1_operator::Refusal),
    /// Binding the listener failed.
    #[code(7574)]
    #[error("Nothing can be served at {0} ({1}); choose another address.")]
    CannotListen(String, std::io::Error),
    /// The sender's cap is reached.
    #[code(7575)]
    #[error("This sender has had its {0} texts of today; try tomorrow.")]
    SponsorShare(u32),
    /// The cap of the day is reached.
    #[code(7576)]
    #[error("The sponsor has spent what it gives a day; try tomorrow.")]
    SponsorSpent,
    /// The record cannot be used, so what was spent is unknown.
    #[code(7577)]
    #[error(
        "The sponsor's record {path} cannot be used ({why}); move it away only if you know what was spent today."
    )]
    SponsorState {
        /// Path of the record.
        path: String,
        /// What is wrong with it, for the error's text.
        why: String,
    },
    /// The configuration is invalid.
    #[code(9700)]
    #[error("{0}")]
    Config(String),
    /// The key file cannot be used.
    #[code(9701)]
    #[error("The keypair file {path} cannot be used: {why}.")]
    Key {
        /// Path of the key file.
        path: String,
        /// What is wrong with it.
        why: KeyFileError,
    },
    /// Only a default names the main network.
    #[code(9702)]
    #[error(
        "{0} is the main network, and only the Solana command line's configuration says so; name the cluster \
         if you mean it."
    )]
    MainnetUnasked(String),
    /// Another process spends by the same record. Holds the lock's error.
    #[code(9703)]
    #[error("{0}; stop that process, or use another data folder.")]
    RecordHeld(LockError),
    /// The body is not a request. Holds the reason.
    #[code(9710)]
    #[error("The request is not understood ({0}); send an object with the texts \"sender\" and \"text\".")]
    BadRequest(String),
    /// The sender is not an address.
    #[code(9711)]
    #[error("The sender is not a Solana address; send 32 bytes in base58.")]
    BadSender,
    /// The sender is the sponsor.
    #[code(9712)]
    #[error("The sponsor does not sponsor itself; use another wallet.")]
    OwnText,
    /// The text is in the log.
    #[code(9713)]
    #[error("The feedback log holds this text already; there is nothing to pay for.")]
    Stands,
    /// Too many transactions are being built.
    #[code(9714, transient)]
    #[error("The sponsor is busy; try again in a moment.")]
    Busy,
    /// The cluster took too long.
    #[code(9715, transient)]
    #[error("The cluster did not answer in time; try again.")]
    Late,
    /// The rate limit is reached. Holds the seconds to wait.
    #[code(9716, transient)]
    #[error("Too many requests; try again in {0} s.")]
    TooMany(u64),
    /// The limit in bytes.
    #[code(9717)]
    #[error("The body is larger than {0} bytes; send less.")]
    LargeBody(usize),
    /// Reading the body took too long.
    #[code(9718, transient)]
    #[error("The body did not arrive in time; send it again.")]
    SlowBody,
    /// The path is not served.
    #[code(9719)]
    #[error("There is no such page; a sponsor takes POST /v1/feedback.")]
    NoPage,
    /// The path is served for other methods.
    #[code(9720)]
    #[error("This page is not for this method; a sponsor takes POST /v1/feedback.")]
    Method,
    /// The body is not of this media type.
    #[code(9721)]
    #[error("The body is not of the type {0}; send that type, and name it in Content-Type.")]
    MediaType(&'static str),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Refused for Error {
    fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::BadSender | Self::OwnText | Self::Stands | Self::Text(_) => 400,
            Self::NoPage => 404,
            Self::Method => 405,
            Self::MediaType(_) => 415,
            Self::SlowBody => 408,
            Self::LargeBody(_) => 413,
            // The programs refuse what was simulated.
            Self::Chain(ChainError::Refused(_)) => 422,
            Self::SponsorShare(_) | Self::SponsorSpent | Self::TooMany(_) => 429,
            Self::Chain(error) if error.transient() => 502,
            Self::Busy => 503,
            Self::Late => 504,
            _ => 500,
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Self::TooMany(seconds) => Advice::Wait(*seconds),
            Self::Busy | Self::Late => A_MOMENT,
            Self::LargeBody(_) | Self::SlowBody => Advice::Reconnect,
            _ => Advice::Read,
        }
    }

    fn is_public(&self) -> bool {
        // The address of the node is the operator's.
        self.status() < 500 || matches!(self, Self::Busy | Self::Late)
    }
}

impl From<TooOften> for Error {
    fn from(TooOften(seconds): TooOften) -> Self {
        Self::TooMany(seconds)
    }
}

impl From<BodyFault> for Error {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::Large(most) => Self::LargeBody(most),
            BodyFault::Kind(kind) => Self::MediaType(kind),
            BodyFault::Slow | BodyFault::File(_) => Self::SlowBody,
        }
    }
}
