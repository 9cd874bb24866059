//! Why the indexer refuses or fails: numbers 9600 to 9699. What goes to a client is in `http::answer`.

use crate::store::StoreError;
use zx1_chain::rpc::ChainError;
use zx1_server::body::BodyFault;
use zx1_server::limits::{Full, TooOften};

/// A refusal or a failure. Each is a full sentence that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store: 9600 to 9606.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The chain's own number.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// 9610
    #[error("{0}")]
    Config(String),
    /// 9611
    #[error("The indexer cannot listen on {0} ({1}); choose another address with --bind or --port.")]
    Listen(String, std::io::Error),
    /// 9612
    #[error(
        "The database belongs to the cluster with the genesis {stored}, and the node is of {found}; \
         give another database or another node."
    )]
    OtherCluster {
        /// What the database says.
        stored: String,
        /// What the node says.
        found: String,
    },
    /// 9613
    #[error("The websocket {url} cannot be used ({detail}); check chain.ws, or leave it empty to poll.")]
    Websocket {
        /// Where.
        url: String,
        /// Why.
        detail: String,
    },
    /// 9614
    #[error(
        "The node listed the transaction {0} and does not give it; nothing behind it is indexed until it \
         does, so name a node with the whole history (chain.rpc)."
    )]
    Hole(String),
    /// 9615
    #[error("The node does not list what it announced up to slot {0} yet; it is asked again.")]
    Behind(u64),
    /// 9616
    #[error("The node's answer to {what} cannot be used: {detail}. Name another node (chain.rpc).")]
    Malformed {
        /// Which question.
        what: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// 9617
    #[error("The batch data in {path} cannot be used ({detail}); have the agent upload it again.")]
    Bundle {
        /// The file.
        path: String,
        /// What is wrong.
        detail: String,
    },
    /// 9618
    #[error("The market {url} cannot be read ({detail}); it is asked again.")]
    Market {
        /// Where.
        url: String,
        /// What is wrong.
        detail: String,
    },
    /// 9630
    #[error("The parameter {name} cannot be read: {detail}.")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What it must be.
        detail: &'static str,
    },
    /// 9631
    #[error("The parameter '{0}' is not known here; /openapi.json lists those that are.")]
    UnknownParameter(String),
    /// 9632
    #[error("The cursor is not of this list; begin again without it.")]
    Cursor,
    /// 9640
    #[error("There is no such page; /openapi.json lists those that there are.")]
    NoPage,
    /// 9641
    #[error(
        "No such agent is known here at slot {0}; check the mint, or wait until the slot of its registration."
    )]
    NoAgent(u64),
    /// 9642
    #[error("No such batch is on chain at slot {0}; submit it first, or wait a moment if you just did.")]
    NoBatch(u64),
    /// 9643
    #[error("No such challenge is known here; check its address.")]
    NoChallenge,
    /// 9644
    #[error("The feedback log has no such entry yet.")]
    NoFeedback,
    /// 9645
    #[error("No such contract is known here; ask its market.")]
    NoContract,
    /// 9646
    #[error("Nobody serves the data of this batch here: it is withheld. Its agent can upload it.")]
    Withheld,
    /// 9647
    #[error("This page is not for this method; see /openapi.json.")]
    Method,
    /// 9648
    #[error("The body is larger than {0} bytes.")]
    LargeBody(usize),
    /// 9649
    #[error("The body did not come in time; send it again.")]
    SlowBody,
    /// 9650
    #[error("{0}")]
    BundleRefused(String),
    /// 9651
    #[error("{0}")]
    EnvelopeRefused(String),
    /// 9652
    #[error("{0}")]
    BindingRefused(String),
    /// 9653
    #[error("No binding record of this wallet is known here; its owner can put one with zx1 bind.")]
    NoBinding,
    /// 9655
    #[error("That is too often; wait {0} s.")]
    TooMany(u64),
    /// 9656
    #[error("More than {0} streams are open; close one, or come back later.")]
    TooManyStreams(usize),
    /// 9657
    #[error("The indexer is stopping; come back in a moment.")]
    Stopping,
    /// 9659
    #[error("So many uploads are arriving that there is no room for yours; send it again in a moment.")]
    NoRoom,
    /// 9658
    #[error("The first backfill is not done; come back when /readyz says so.")]
    NotReady,
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The number.
    pub fn code(&self) -> u16 {
        match self {
            Self::Store(error) => error.code(),
            Self::Chain(error) => error.code(),
            Self::Config(_) => 9610,
            Self::Listen(..) => 9611,
            Self::OtherCluster { .. } => 9612,
            Self::Websocket { .. } => 9613,
            Self::Hole(_) => 9614,
            Self::Behind(_) => 9615,
            Self::Malformed { .. } => 9616,
            Self::Bundle { .. } => 9617,
            Self::Market { .. } => 9618,
            Self::Parameter { .. } => 9630,
            Self::UnknownParameter(_) => 9631,
            Self::Cursor => 9632,
            Self::NoPage => 9640,
            Self::NoAgent(_) => 9641,
            Self::NoBatch(_) => 9642,
            Self::NoChallenge => 9643,
            Self::NoFeedback => 9644,
            Self::NoContract => 9645,
            Self::Withheld => 9646,
            Self::Method => 9647,
            Self::LargeBody(_) => 9648,
            Self::SlowBody => 9649,
            Self::BundleRefused(_) => 9650,
            Self::EnvelopeRefused(_) => 9651,
            Self::BindingRefused(_) => 9652,
            Self::NoBinding => 9653,
            Self::TooMany(_) => 9655,
            Self::TooManyStreams(_) => 9656,
            Self::Stopping => 9657,
            Self::NotReady => 9658,
            Self::NoRoom => 9659,
        }
    }

    /// The HTTP status that says it.
    pub fn status(&self) -> u16 {
        match self {
            Self::Parameter { .. } | Self::UnknownParameter(_) | Self::Cursor => 400,
            Self::NoPage
            | Self::NoAgent(_)
            | Self::NoBatch(_)
            | Self::NoChallenge
            | Self::NoFeedback
            | Self::NoContract
            | Self::Withheld
            | Self::NoBinding => 404,
            Self::Method => 405,
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
            // One that is kept in a file has its own error.
            BodyFault::Slow | BodyFault::File(_) => Self::SlowBody,
        }
    }
}
