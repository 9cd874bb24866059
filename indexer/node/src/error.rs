//! Why the node's process does not start or refuses a request: numbers 7680 to 7699.

use axum::response::{IntoResponse, Response};
use std::path::PathBuf;
use zx1_chain::rpc::ChainError;
use zx1_coded::Coded;
use zx1_home::LockError;
use zx1_home::keys::KeyFileError;
use zx1_log::LogError;
use zx1_mesh::conversation::ConversationError;
use zx1_mesh::node::NodeError;
use zx1_mesh::notary::NotaryError;
use zx1_mesh::outbox::OutboxError;
use zx1_protocol::draft::DraftError;
use zx1_server::answer::{A_MOMENT, Advice};
use zx1_server::body::BodyFault;
use zx1_server::problem::{Refused, refused};

/// An error of the node. Its text is a full sentence, where it helps with the next step.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Error {
    /// The cluster does not answer, or refuses.
    #[code(inner)]
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The agent's log.
    #[code(inner)]
    #[error(transparent)]
    Log(#[from] LogError),
    /// The transport of the mesh fails.
    #[code(inner)]
    #[error(transparent)]
    Mesh(#[from] NodeError),
    /// The outbox does not take it.
    #[code(inner)]
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// The table of deals.
    #[code(inner)]
    #[error(transparent)]
    Conversation(#[from] ConversationError),
    /// The tables of notaries.
    #[code(inner)]
    #[error(transparent)]
    Notary(#[from] NotaryError),
    /// The message would be dropped by receivers.
    #[code(inner)]
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// An option or a combination of them is invalid.
    #[code(7680)]
    #[error("{0}")]
    Config(String),
    /// Another node of this agent runs.
    #[code(7681)]
    #[error("A node of this agent runs already ({0}); stop it first.")]
    Runs(LockError),
    /// The key file cannot be used.
    #[code(7682)]
    #[error("The keypair file {} cannot be used: {why}.", path.display())]
    Key {
        /// Path of the key file.
        path: PathBuf,
        /// What is wrong with it.
        why: KeyFileError,
    },
    /// A file of the node cannot be read or written.
    #[code(7683)]
    #[error("{} cannot be {action}: {why}.", path.display())]
    File {
        /// "read" or "written".
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Binding the listener of the local API failed.
    #[code(7684)]
    #[error("Nothing can be served at {0} ({1}); choose another address for the local API.")]
    CannotListen(String, std::io::Error),
    /// The local API is for this machine.
    #[code(7685)]
    #[error(
        "The local API is for this machine only, and {0} is not a loopback address; choose 127.0.0.1 or [::1]."
    )]
    NotLoopback(std::net::SocketAddr),
    /// Only a default names the main network.
    #[code(7686)]
    #[error(
        "{0} is the main network, and only the Solana command line's configuration says so; name the cluster if you \
         mean it."
    )]
    MainnetUnasked(String),
    /// The request does not carry the token.
    #[code(7687)]
    #[error("The request does not carry the node's token; read it from node.token in the agent's folder.")]
    Token,
    /// The body or a parameter is not understood.
    #[code(7688)]
    #[error("The request is not understood: {0}.")]
    BadRequest(String),
    /// There is no such thing.
    #[code(7689)]
    #[error("There is no {0}.")]
    Missing(String),
    /// The path is not served.
    #[code(7690)]
    #[error("There is no such page; /openapi.json lists all.")]
    NoPage,
    /// The path is served for other methods.
    #[code(7691)]
    #[error("This page is not for this method; /openapi.json lists all.")]
    Method,
    /// The body is larger than this many bytes.
    #[code(7692)]
    #[error("The body is larger than {0} bytes; send less.")]
    LargeBody(usize),
    /// Reading the body took too long.
    #[code(7693, transient)]
    #[error("The body did not arrive in time; send it again.")]
    SlowBody,
    /// The body is not of this media type.
    #[code(7694)]
    #[error("The body is not of the type {0}; send that type, and name it in Content-Type.")]
    MediaType(&'static str),
    /// Too much waits.
    #[code(7695, transient)]
    #[error("The node is busy; try again in a moment.")]
    Busy,
    /// No signer holds the deal key.
    #[code(7696, transient)]
    #[error("No signer for deals is connected; start one, with the deal key.")]
    NoSigner,
    /// The signer refused, or did not sign what it was asked.
    #[code(7697)]
    #[error("The signer refused: {0}.")]
    Signer(String),
    /// Other nodes would drop the message.
    #[code(7698, transient)]
    #[error("Other nodes do not take this agent's messages: {0}")]
    NoStanding(String),
    /// The agent has no key by which its node can be found.
    #[code(7699, transient)]
    #[error("No node of the recipient can be reached: {0}.")]
    Unreachable(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Refused for Error {
    fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::Draft(_) => 400,
            Self::Token => 401,
            Self::Missing(_) | Self::NoPage => 404,
            Self::Outbox(OutboxError::Unknown(_)) | Self::Conversation(ConversationError::Unknown(_)) => 404,
            Self::Notary(NotaryError::Unknown(_)) => 404,
            Self::Method => 405,
            Self::SlowBody => 408,
            Self::Outbox(OutboxError::Full { .. }) => 429,
            Self::Outbox(OutboxError::Draft(_) | OutboxError::Ttl { .. }) => 400,
            Self::Notary(NotaryError::Payload(_)) => 400,
            Self::Outbox(_) | Self::Conversation(_) | Self::Notary(_) => 409,
            Self::LargeBody(_) => 413,
            Self::MediaType(_) => 415,
            Self::Chain(error) if error.transient() => 502,
            Self::Busy | Self::NoSigner | Self::NoStanding(_) | Self::Unreachable(_) => 503,
            _ => 500,
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Self::Busy | Self::NoSigner | Self::Outbox(OutboxError::Full { .. }) => A_MOMENT,
            Self::LargeBody(_) | Self::SlowBody => Advice::Reconnect,
            _ => Advice::Read,
        }
    }

    fn is_public(&self) -> bool {
        // Whoever has the token is the operator.
        true
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

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        refused(&self)
    }
}
