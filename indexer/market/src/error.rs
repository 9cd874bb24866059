//! Errors of the server. What the market's rules, the store and the escrow refuse keeps its number.

#[cfg(feature = "devnet")]
use nano_devnet::DevnetError;
use nano_escrow::escrow::EscrowError;
use serde_json::{Map, Value};
use std::borrow::Cow;
use zx1_coded::Coded;
use zx1_market::{Reason, Refusal};
use zx1_server::answer::{A_MOMENT, Advice};
use zx1_server::body::BodyFault;
use zx1_server::limits::{Full, TooOften};
use zx1_server::problem::Refused;

use crate::store::StoreError;

/// Why the server could not fulfil a request or start.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Error {
    /// The market's rules refuse it.
    #[code(inner)]
    #[error("{0}")]
    Market(#[from] Refusal),
    /// The store failed.
    #[code(inner)]
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The escrow failed.
    #[code(inner)]
    #[error("{0}")]
    Escrow(#[from] EscrowError),
    /// The embedded ledger failed.
    #[cfg(feature = "devnet")]
    #[code(inner)]
    #[error("{0}")]
    Devnet(#[from] DevnetError),
    /// No contract has this id.
    #[code(9400)]
    #[error("There is no contract {0}; check the id.")]
    NoContract(String),
    /// The caller did not sign as a party who may read this.
    #[code(9401)]
    #[error(
        "The transcript of a running contract is for its parties and the judge; sign with a party's key."
    )]
    NotForYou,
    /// No resource has this path.
    #[code(9402)]
    #[error("There is no such page; see /openapi.json for all of them.")]
    NoPage,
    /// A query parameter has an invalid value.
    #[code(9403)]
    #[error("`{name}` in the query is invalid: expected {expected}; correct it.")]
    Query {
        /// Name of the query parameter.
        name: &'static str,
        /// What its value must be, for the error's text.
        expected: Cow<'static, str>,
    },
    /// The rate limit is reached. Carries the seconds to wait.
    #[code(9404, transient)]
    #[error("Too many requests; try again in {0} s.")]
    TooMany(u64),
    /// The maximum number of streams, which is carried here, is open.
    #[code(9405, transient)]
    #[error("{0} streams are open, and no more are served; try again later.")]
    TooManyStreams(usize),
    /// The body took longer than the configured time.
    #[code(9406)]
    #[error("The body did not arrive in time; send it faster.")]
    SlowBody,
    /// The body is larger than this number of bytes.
    #[code(9407)]
    #[error("The body has more than {0} bytes; send less.")]
    LargeBody(usize),
    /// The server is shutting down.
    #[code(9408, transient)]
    #[error("The server is stopping; try again in a moment.")]
    Stopping,
    /// A call that needs the escrow reached a server without one.
    #[code(9409)]
    #[error("This server holds no escrow; only contracts without a judge can be posted.")]
    NoEscrow,
    /// The ledger does not answer or is behind, so nothing that needs money begins.
    #[code(9429, transient)]
    #[error(
        "The Nano ledger does not answer or is behind, so no deposit could be seen; free contracts and those that \
         run go on. Try again later."
    )]
    LedgerAway,
    /// One address has posted its daily number of contracts that nobody paid.
    #[code(9430)]
    #[error(
        "This address has posted {most} contracts today; send `X-Fix-Work` with the next one (docs/fix.md, \"Posting\")."
    )]
    UnpaidPosts {
        /// Maximum number of contracts of a day.
        most: u32,
        /// Seconds until the day ends.
        wait: u64,
    },
    /// Readers have left this number of bytes of long answers unread, so no further one begins for now.
    #[code(9431, transient)]
    #[error("{0} bytes of long answers are unread; read the others first, or try again in a moment.")]
    Unsent(u64),
    /// The path is served for other methods.
    #[code(9432)]
    #[error("This page is not for this method; see /openapi.json.")]
    Method,
    /// The body is not of this media type.
    #[code(9433)]
    #[error("The body is not of the type {0}; send that type, and name it in Content-Type.")]
    MediaType(&'static str),
    /// The body is not a JSON object of the right shape.
    #[code(9434)]
    #[error("{message}")]
    Shape {
        /// The kind of fault, as older clients know it.
        kind: &'static str,
        /// What is wrong, for the error's text.
        message: String,
    },
    /// The configuration is invalid, as the sentence says.
    #[code(9420)]
    #[error("{0}")]
    Config(String),
    /// The file with the server's key cannot be read or made.
    #[code(9421)]
    #[error(
        "The key file {path} cannot be used ({why}); give a file with mode 0600 that holds a 32-byte key."
    )]
    KeyFile {
        /// Path of the key file.
        path: String,
        /// What is wrong with the file.
        why: String,
    },
    /// The server cannot bind this address.
    #[code(9422)]
    #[error("The address {0} cannot be listened on ({1}); choose another port.")]
    Listen(String, std::io::Error),
    /// A test clock was to be served on a public address.
    #[cfg(feature = "testing")]
    #[code(9423)]
    #[error("A test clock is served on a loopback address only; leave it out or listen on 127.0.0.1.")]
    TestClock,
    /// The operating system provides no randomness.
    #[code(9424)]
    #[error("There are no random bytes ({0}); repair the system.")]
    Random(String),
    /// Another process changed the contract meanwhile.
    #[code(9425, transient)]
    #[error("The contract is changed by too many at once; try again.")]
    Busy,
    /// The embedded ledger is not compiled in.
    #[code(9426)]
    #[error(
        "This server was built without the embedded ledger; give a node's URL, or none for free contracts."
    )]
    NoDevnet,
    /// A transcript to import is not valid.
    #[code(9427)]
    #[error("The contract cannot be imported ({0}); verify its transcript.")]
    Import(String),
    /// The escrow's journal is another one than the database knows.
    #[code(9440)]
    #[error(
        "The escrow's journal {found} is not the one of this database ({known}); restore both from one moment, or adopt it."
    )]
    OtherJournal {
        /// Id of the journal that the database knows.
        known: String,
        /// Id of the journal in the data folder.
        found: String,
    },
    /// The contract and the escrow contradict each other; carries the contract and why.
    #[code(9441)]
    #[error("The contract {0} stands still ({1}); the operator has to look at it (fix-server release).")]
    Stopped(String, String),
    /// An operator's order was not answered.
    #[code(9442, transient)]
    #[error("No server has carried out the order; start it on this database and try again.")]
    NoServer,
    /// An operator's order was answered with an error, which was printed.
    #[code(9443)]
    #[error("The server has refused the order; its answer says why.")]
    OrderRefused,
    /// The contract does not stand still.
    #[code(9444)]
    #[error("The contract {0} does not stand still; check the id.")]
    NotStopped(String),
    /// The named dead letter is not in the outbox.
    #[code(9428)]
    #[error("There is no such dead letter.")]
    NoDeadLetter,
}

impl Error {
    /// A query parameter of this name must be so.
    pub fn query(name: &'static str, expected: impl Into<Cow<'static, str>>) -> Error {
        Error::Query { name, expected: expected.into() }
    }
}

impl Refused for Error {
    /// wire.md, "Market HTTP".
    fn status(&self) -> u16 {
        match self {
            Error::Market(refusal) => refusal.class().status(),
            Error::Store(StoreError::Replayed) => 401,
            Error::Store(StoreError::Exists | StoreError::Moved) | Error::Busy | Error::Stopped(..) => 409,
            Error::NoContract(_) | Error::NoPage => 404,
            Error::NotForYou => 403,
            Error::Query { .. } | Error::Import(_) => 400,
            Error::Method => 405,
            Error::MediaType(_) => 415,
            Error::Shape { .. } => 422,
            Error::TooMany(_) | Error::UnpaidPosts { .. } => 429,
            Error::TooManyStreams(_)
            | Error::Stopping
            | Error::LedgerAway
            | Error::Unsent(_)
            | Error::Store(StoreError::Superseded) => 503,
            Error::SlowBody => 408,
            Error::LargeBody(_) => 413,
            Error::NoEscrow => 501,
            _ => 500,
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Error::TooMany(seconds) | Error::UnpaidPosts { wait: seconds, .. } => Advice::Wait(*seconds),
            Error::Market(refusal) if refusal.reason() == Reason::TooFast => A_MOMENT,
            Error::LargeBody(_) | Error::SlowBody => Advice::Reconnect,
            _ if self.status() == 503 => A_MOMENT,
            _ => Advice::Read,
        }
    }

    fn is_public(&self) -> bool {
        self.status() < 500
            || matches!(
                self,
                Error::Market(_)
                    | Error::NoEscrow
                    | Error::Stopping
                    | Error::TooManyStreams(_)
                    | Error::LedgerAway
                    | Error::Unsent(_)
            )
    }

    /// Where the chain stands, when that is what was wrong.
    fn members(&self) -> Map<String, Value> {
        let Error::Market(refusal) = self else { return Map::new() };
        let Some(head) = refusal.head().filter(|_| refusal.reason() == Reason::ChainConflict) else {
            return Map::new();
        };
        [("chain_head", Value::from(head.hex())), ("seq", Value::from(head.seq))]
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect()
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
            BodyFault::Kind(kind) => Error::MediaType(kind),
            // No body of this server is kept in a file.
            BodyFault::Slow | BodyFault::File(_) => Error::SlowBody,
        }
    }
}
