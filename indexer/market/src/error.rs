//! Every refusal of the server's own: numbers 9400 to 9499. What the market's rules refuse has their numbers.

#[cfg(feature = "devnet")]
use nano_devnet::DevnetError;
use nano_escrow::escrow::EscrowError;
use zx1_market::Refusal;
use zx1_server::body::BodyFault;
use zx1_server::limits::{Full, TooOften};

use crate::store::StoreError;

/// Why the server could not fulfil a request or start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The market's rules, 9000 to 9199.
    #[error("{0}")]
    Market(#[from] Refusal),
    /// The store, 9410 to 9416.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The escrow, 8000 to 8999.
    #[error("{0}")]
    Escrow(#[from] EscrowError),
    /// The embedded ledger, 8500 to 8599.
    #[cfg(feature = "devnet")]
    #[error("{0}")]
    Devnet(#[from] DevnetError),
    /// 9400: no contract has this id.
    #[error("There is no contract {0}; check the id.")]
    NoContract(String),
    /// 9401: the caller did not sign as a party who may read this.
    #[error(
        "The transcript of a running contract is for its parties and the judge; sign with a party's key."
    )]
    NotForYou,
    /// 9402: no resource has this path.
    #[error("There is no such page; see /openapi.json for all of them.")]
    NoPage,
    /// 9403: a query parameter, which is named here, is malformed.
    #[error("`{0}` in the query is not understood; see /openapi.json.")]
    Query(&'static str),
    /// 9404: the rate limit is reached. Carries the seconds to wait.
    #[error("Too many requests; try again in {0} s.")]
    TooMany(u64),
    /// 9405: the maximum number of streams, which is carried here, is open.
    #[error("{0} streams are open, and no more are served; try again later.")]
    TooManyStreams(usize),
    /// 9406: the body took longer than the configured time.
    #[error("The body did not arrive in time; send it faster.")]
    SlowBody,
    /// 9407: the body is larger than this number of bytes.
    #[error("The body has more than {0} bytes; send less.")]
    LargeBody(usize),
    /// 9408: the server is shutting down.
    #[error("The server is stopping; try again in a moment.")]
    Stopping,
    /// 9409: a call that needs the escrow reached a server without one.
    #[error("This server holds no escrow; only contracts without a judge can be posted.")]
    NoEscrow,
    /// 9420: the configuration is invalid, as the sentence says.
    #[error("{0}")]
    Config(String),
    /// 9421: the file with the server's key cannot be read or made.
    #[error(
        "The key file {path} cannot be used ({why}); give a file with mode 0600 that holds a 32-byte key."
    )]
    KeyFile {
        /// Path of the key file.
        path: String,
        /// What is wrong with the file.
        why: String,
    },
    /// 9422: the server cannot bind this address.
    #[error("The address {0} cannot be listened on ({1}); choose another port.")]
    Listen(String, std::io::Error),
    /// 9423: a test clock was to be served on a public address.
    #[cfg(feature = "testing")]
    #[error("A test clock is served on a loopback address only; leave it out or listen on 127.0.0.1.")]
    TestClock,
    /// 9424: the operating system provides no randomness.
    #[error("There are no random bytes ({0}); repair the system.")]
    Random(String),
    /// 9425: another process changed the contract meanwhile.
    #[error("The contract is changed by too many at once; try again.")]
    Busy,
    /// 9426: the embedded ledger is not compiled in.
    #[error(
        "This server was built without the embedded ledger; give a node's URL (--nano), or none for free contracts."
    )]
    NoDevnet,
    /// 9427: a transcript to import is not valid.
    #[error("The contract cannot be imported ({0}); verify its transcript.")]
    Import(String),
    /// 9428: the named dead letter is not in the outbox.
    #[error("There is no such dead letter; `fix-server dead-letters` lists them.")]
    NoDeadLetter,
}

impl Error {
    /// The error code. Errors of the market's rules, the store and the escrow keep their own.
    pub fn code(&self) -> u32 {
        match self {
            Error::Market(refusal) => refusal.code(),
            Error::Store(error) => error.code(),
            Error::Escrow(error) => error.code().into(),
            #[cfg(feature = "devnet")]
            Error::Devnet(error) => nano_escrow::Coded::code(error).into(),
            Error::NoContract(_) => 9400,
            Error::NotForYou => 9401,
            Error::NoPage => 9402,
            Error::Query(_) => 9403,
            Error::TooMany(_) => 9404,
            Error::TooManyStreams(_) => 9405,
            Error::SlowBody => 9406,
            Error::LargeBody(_) => 9407,
            Error::Stopping => 9408,
            Error::NoEscrow => 9409,
            Error::Config(_) => 9420,
            Error::KeyFile { .. } => 9421,
            Error::Listen(..) => 9422,
            #[cfg(feature = "testing")]
            Error::TestClock => 9423,
            Error::Random(_) => 9424,
            Error::Busy => 9425,
            Error::NoDevnet => 9426,
            Error::Import(_) => 9427,
            Error::NoDeadLetter => 9428,
        }
    }

    /// The status in HTTP (wire.md, "Market HTTP").
    pub fn status(&self) -> u16 {
        match self {
            Error::Market(refusal) => refusal.class().status(),
            Error::Store(StoreError::Replayed) => 401,
            Error::Store(StoreError::Exists | StoreError::Moved) | Error::Busy => 409,
            Error::NoContract(_) | Error::NoPage => 404,
            Error::NotForYou => 403,
            Error::Query(_) | Error::Import(_) => 400,
            Error::TooMany(_) => 429,
            Error::TooManyStreams(_) | Error::Stopping => 503,
            Error::SlowBody => 408,
            Error::LargeBody(_) => 413,
            Error::NoEscrow => 501,
            _ => 500,
        }
    }
}

/// What the server's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<TooOften> for Error {
    fn from(TooOften(seconds): TooOften) -> Error {
        Error::TooMany(seconds)
    }
}

impl From<Full> for Error {
    fn from(Full(most): Full) -> Error {
        Error::TooManyStreams(most)
    }
}

impl From<BodyFault> for Error {
    fn from(fault: BodyFault) -> Error {
        match fault {
            BodyFault::Large(most) => Error::LargeBody(most),
            // No body of this server is kept in a file.
            BodyFault::Slow | BodyFault::File(_) => Error::SlowBody,
        }
    }
}
