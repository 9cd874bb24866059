//! Why the relay's process refuses or fails. What clients read in frames is in `zx1_relay_rules`.

use axum::response::{IntoResponse, Response};
use zx1_coded::Coded;
use zx1_server::answer::{A_MOMENT, Advice};
use zx1_server::limits::{Full, TooOften};
use zx1_server::problem::{Refused, refused};

use crate::store::StoreError;

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the relay. Its text is a full sentence with the next step.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Error {
    /// The store failed.
    #[code(inner)]
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration is invalid.
    #[code(7770)]
    #[error("{0}")]
    Config(String),
    /// Binding the listener failed.
    #[code(7771)]
    #[error("Nothing can be served at {0} ({1}); choose another address.")]
    CannotListen(String, std::io::Error),
    /// A file of the older server cannot be read or kept.
    #[code(7772)]
    #[error("The older server's file {0} cannot be imported ({1}).")]
    Import(String, String),
    /// No resource has this path.
    #[code(7773)]
    #[error("There is no such page; connect a websocket to /, or see /v1/rooms.")]
    NoPage,
    /// The path has another method.
    #[code(7774)]
    #[error("This page is only read; use GET.")]
    Method,
    /// The request lacks what opens a websocket.
    #[code(7775)]
    #[error("The request does not open a websocket ({0}).")]
    NoUpgrade(String),
    /// All places are taken.
    #[code(7776, transient)]
    #[error("There are {0} connections already; try again later.")]
    Full(usize),
    /// The client asked too often.
    #[code(7777, transient)]
    #[error("Too many requests; wait {0} s.")]
    TooOften(u64),
    /// No public channel has this name.
    #[code(7778)]
    #[error("There is no public channel {0}; see /v1/rooms.")]
    NoRoom(String),
    /// The core has ended.
    #[code(7779, transient)]
    #[error("The relay is stopping; try again.")]
    Stopping,
}

impl From<TooOften> for Error {
    fn from(TooOften(seconds): TooOften) -> Error {
        Error::TooOften(seconds)
    }
}

impl From<Full> for Error {
    fn from(Full(most): Full) -> Error {
        Error::Full(most)
    }
}

impl Refused for Error {
    fn status(&self) -> u16 {
        match self {
            Error::Store(_) | Error::Full(_) | Error::Stopping => 503,
            Error::NoPage | Error::NoRoom(_) => 404,
            Error::Method => 405,
            Error::NoUpgrade(_) => 400,
            Error::TooOften(_) => 429,
            Error::Config(_) | Error::CannotListen(..) | Error::Import(..) => 500,
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Error::TooOften(seconds) => Advice::Wait(*seconds),
            Error::Full(_) | Error::Stopping | Error::Store(_) => A_MOMENT,
            _ => Advice::Read,
        }
    }

    fn is_public(&self) -> bool {
        !matches!(self, Error::Store(_) | Error::Config(_) | Error::CannotListen(..) | Error::Import(..))
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        refused(&self)
    }
}
