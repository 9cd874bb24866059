//! Why the indexer refuses or fails: numbers 9600 to 9699. What goes to a client is in `http::answer`.

use crate::store::StoreError;
use std::borrow::Cow;
use zx1_chain::rpc::ChainError;
use zx1_coded::Coded;
use zx1_server::answer::{A_MOMENT, Advice};
use zx1_server::body::BodyFault;
use zx1_server::limits::{Full, TooOften};
use zx1_server::problem::Refused;

/// An error of the indexer. Its text is a full sentence that says what to do.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Error {
    /// An error of the store: 9600 to 9606.
    #[code(inner)]
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An error of the chain's client, with its own number.
    #[code(inner)]
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The configuration is invalid; the text says where.
    #[code(9610)]
    #[error("{0}")]
    Config(String),
    /// Binding the listener failed: the address, and the system's error.
    #[code(9611)]
    #[error("The indexer cannot listen on {0} ({1}); choose another address or port.")]
    Listen(String, std::io::Error),
    /// The database was built from another cluster.
    #[code(9612)]
    #[error(
        "The database belongs to the cluster with the genesis {stored}, and the node is of {found}; \
         give another database or another node."
    )]
    OtherCluster {
        /// Genesis hash that the database records.
        stored: String,
        /// Genesis hash that the node reports.
        found: String,
    },
    /// The node's websocket failed.
    #[code(9613)]
    #[error("The websocket {url} cannot be used ({detail}); check chain.ws, or leave it empty to poll.")]
    Websocket {
        /// URL of the websocket.
        url: String,
        /// Why it failed, for the error's text.
        detail: String,
    },
    /// A transaction is missing, by its signature.
    #[code(9614)]
    #[error(
        "The node listed the transaction {0} and does not give it; nothing behind it is indexed until it \
         does, so name a node with the whole history (chain.rpc)."
    )]
    Hole(String),
    /// The node is behind the slot that it announced.
    #[code(9615, transient)]
    #[error("The node does not list what it announced up to slot {0} yet; it is asked again.")]
    Behind(u64),
    /// An answer of the node cannot be used.
    #[code(9616)]
    #[error("The node's answer to {what} cannot be used: {detail}. Name another node (chain.rpc).")]
    Malformed {
        /// The call that was answered.
        what: &'static str,
        /// Why the answer cannot be used, for the error's text.
        detail: String,
    },
    /// The stored data of a batch cannot be used.
    #[code(9617)]
    #[error("The batch data in {path} cannot be used ({detail}); have the agent upload it again.")]
    Bundle {
        /// Path of the file that holds it.
        path: String,
        /// Why it cannot be used, for the error's text.
        detail: String,
    },
    /// A market server cannot be read.
    #[code(9618, transient)]
    #[error("The market {url} cannot be read ({detail}); it is asked again.")]
    Market {
        /// Address of the market server.
        url: String,
        /// Why it cannot be read, for the error's text.
        detail: String,
    },
    /// A query parameter has a wrong value.
    #[code(9630)]
    #[error("The parameter {name} is invalid: {detail}; correct it.")]
    Parameter {
        /// Name of the query parameter.
        name: &'static str,
        /// What its value must be, for the error's text.
        detail: Cow<'static, str>,
    },
    /// A query parameter has an unknown name.
    #[code(9631)]
    #[error("The parameter '{0}' is not known here; /openapi.json lists those that are.")]
    UnknownParameter(String),
    /// A cursor of another list, or a forged one.
    #[code(9632)]
    #[error("The cursor is not of this list; begin again without it.")]
    Cursor,
    /// The path is not served.
    #[code(9640)]
    #[error("There is no such page; /openapi.json lists those that there are.")]
    NoPage,
    /// No agent of this mint, as of the slot.
    #[code(9641)]
    #[error(
        "No such agent is known here at slot {0}; check the mint, or wait until the slot of its registration."
    )]
    NoAgent(u64),
    /// No such batch, as of the slot.
    #[code(9642, transient)]
    #[error("No such batch is on chain at slot {0}; submit it first, or wait a moment if you just did.")]
    NoBatch(u64),
    /// No challenge at this address.
    #[code(9643)]
    #[error("No such challenge is known here; check its address.")]
    NoChallenge,
    /// No ask at this address.
    #[code(9654)]
    #[error("No such ask is known here; check its address.")]
    NoAsk,
    /// No feedback entry of this index.
    #[code(9644)]
    #[error("The feedback log has no such entry yet.")]
    NoFeedback,
    /// No contract of this id.
    #[code(9645)]
    #[error("No such contract is known here; ask its market.")]
    NoContract,
    /// The data of the batch was never uploaded.
    #[code(9646)]
    #[error("Nobody has brought the data of this batch here: it is missing. Its agent can upload it.")]
    Missing,
    /// The path is served for other methods.
    #[code(9647)]
    #[error("This page is not for this method; see /openapi.json.")]
    Method,
    /// The limit in bytes.
    #[code(9648)]
    #[error("The body is larger than {0} bytes; send less.")]
    LargeBody(usize),
    /// Reading the body took too long.
    #[code(9649, transient)]
    #[error("The body did not come in time; send it again.")]
    SlowBody,
    /// An uploaded bundle is refused; the text says why.
    #[code(9650)]
    #[error("{0}")]
    BundleRefused(String),
    /// An uploaded envelope is refused; the text says why.
    #[code(9651)]
    #[error("{0}")]
    EnvelopeRefused(String),
    /// An uploaded binding record is refused; the text says why.
    #[code(9652)]
    #[error("{0}")]
    BindingRefused(String),
    /// No binding record of this wallet.
    #[code(9653)]
    #[error("No binding record of this wallet is known here; its owner can publish one.")]
    NoBinding,
    /// The batch has no record or leaf of this number.
    #[code(9667)]
    #[error("The batch has no such record or leaf; its page says how many it has.")]
    NoEntry,
    /// The page takes a websocket's upgrade only.
    #[code(9666)]
    #[error("This page is for websockets; use /v1/stream, or ask for the upgrade.")]
    NoUpgrade,
    /// The body is not of this media type.
    #[code(9665)]
    #[error("The body is not of the type {0}; send that type, and name it in Content-Type.")]
    MediaType(&'static str),
    /// Seconds until the next request is taken.
    #[code(9655, transient)]
    #[error("Rate limit exceeded; retry in {0} s.")]
    TooMany(u64),
    /// The limit of open streams.
    #[code(9656, transient)]
    #[error("More than {0} streams are open; close one, or come back later.")]
    TooManyStreams(usize),
    /// The process is shutting down.
    #[code(9657, transient)]
    #[error("The indexer is stopping; come back in a moment.")]
    Stopping,
    /// The memory for uploads is taken.
    #[code(9659, transient)]
    #[error("So many uploads are arriving that there is no room for yours; send it again in a moment.")]
    NoRoom,
    /// The index is not built yet.
    #[code(9658, transient)]
    #[error("The first backfill is not done; come back when /readyz says so.")]
    NotReady,
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A query parameter of this name must be so.
    pub fn parameter(name: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Parameter { name, detail: detail.into() }
    }
}

impl Refused for Error {
    fn status(&self) -> u16 {
        match self {
            Self::Parameter { .. } | Self::UnknownParameter(_) | Self::Cursor => 400,
            Self::NoPage
            | Self::NoAgent(_)
            | Self::NoBatch(_)
            | Self::NoChallenge
            | Self::NoAsk
            | Self::NoFeedback
            | Self::NoContract
            | Self::Missing
            | Self::NoBinding
            | Self::NoEntry => 404,
            Self::Method => 405,
            Self::MediaType(_) => 415,
            Self::NoUpgrade => 400,
            Self::LargeBody(_) => 413,
            Self::SlowBody => 408,
            Self::BundleRefused(_) | Self::EnvelopeRefused(_) | Self::BindingRefused(_) => 422,
            Self::TooMany(_) => 429,
            Self::TooManyStreams(_) | Self::Stopping | Self::NotReady | Self::NoRoom => 503,
            // The chain behind it does not answer now.
            Self::Chain(_) | Self::Hole(_) | Self::Behind(_) => 502,
            _ => 500,
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Self::TooMany(seconds) => Advice::Wait(*seconds),
            Self::TooManyStreams(_) | Self::Stopping | Self::NotReady | Self::NoRoom => A_MOMENT,
            Self::LargeBody(_) | Self::SlowBody => Advice::Reconnect,
            _ => Advice::Read,
        }
    }

    fn is_public(&self) -> bool {
        // 503 says that the indexer is busy, and nothing of its inside.
        self.status() < 500 || self.status() == 503
    }
}

impl From<TooOften> for Error {
    fn from(TooOften(seconds): TooOften) -> Self {
        Self::TooMany(seconds)
    }
}

impl From<Full> for Error {
    fn from(Full(most): Full) -> Self {
        Self::TooManyStreams(most)
    }
}

impl From<BodyFault> for Error {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::Large(most) => Self::LargeBody(most),
            BodyFault::Kind(kind) => Self::MediaType(kind),
            // One that is kept in a file has its own error.
            BodyFault::Slow | BodyFault::File(_) => Self::SlowBody,
        }
    }
}
