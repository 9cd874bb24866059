//! What an operation fails with. Texts name no command line: the next step is the front end's.

use std::path::PathBuf;
use zx1_chain::rpc::ChainError;
use zx1_coded::{Coded, Row};
use zx1_log::LogError;
use zx1_protocol::batch::BatchError;
use zx1_protocol::bundle::BundleError;
use zx1_protocol::draft::DraftError;
use zx1_protocol::finder::FinderError;
use zx1_protocol::reputation::ReputationError;

/// What operations return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of an operation.
#[derive(Debug, thiserror::Error, Coded)]
pub enum Error {
    /// This crate's own refusals.
    #[code(inner)]
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The cluster, or a program on it.
    #[code(inner)]
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The agent's log, or a place that serves batch data.
    #[code(inner)]
    #[error(transparent)]
    Log(#[from] LogError),
    /// A batch's data does not hold together.
    #[code(inner)]
    #[error("{source}")]
    Bundle {
        /// Source of the data.
        origin: Origin,
        /// Why the data is not a valid bundle.
        source: BundleError,
    },
    /// Evidence proves nothing against a batch of this agent.
    #[code(inner)]
    #[error("{source}")]
    Evidence {
        /// The challenged agent's mint.
        agent: String,
        /// The finder's error, which says why the evidence does not apply.
        source: FinderError,
    },
    /// A message cannot be made.
    #[code(inner)]
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// A rating is out of range.
    #[code(inner)]
    #[error(transparent)]
    Rating(ReputationError),
    /// A file cannot be written.
    #[code(7405)]
    #[error("{} cannot be written: {source}.", path.display())]
    WriteFailed {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A file cannot be read.
    #[code(7406)]
    #[error("{} cannot be read: {source}.", path.display())]
    ReadFailed {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
}

/// Source of a batch's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built from the agent's log just now.
    Log,
    /// The unsigned batch in the agent's folder.
    Unsigned,
    /// The signed batch in the agent's folder.
    Saved,
    /// A store, which does not have to be trusted.
    Served,
    /// Served, well-formed, and not what the batch on chain commits to.
    ServedOther,
    /// A file that the user named.
    File,
}

/// A source that holds no data about the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Silent {
    /// The agent has no batch on chain.
    #[error("The agent has no batch on chain to read a reputation from.")]
    Batch,
    /// No log on this machine has a rating of the agent.
    #[error("The logs on this machine hold no rating of this agent.")]
    Gossip,
}

impl Origin {
    pub(crate) fn error(self) -> impl Fn(BundleError) -> Error {
        move |source| Error::Bundle { origin: self, source }
    }
}

impl Error {
    /// Whether a place that serves data did not answer as one, which says nothing about the batch.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self,
            Self::Log(
                LogError::Refused { .. }
                    | LogError::Unreachable { .. }
                    | LogError::TooSlow { .. }
                    | LogError::TooLarge { .. }
            )
        )
    }

    /// Whether the chain has certainly refused the transaction, so that nothing of it can land.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Chain(ChainError::Refused(_)))
    }
}

macro_rules! refusals {
    ($( $code:literal $name:ident $({ $($field:ident: $ty:ty),* })? $message:literal; )*) => {
        /// What this crate refuses. The doc comment of a variant is its message.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Refusal {
            $( #[doc = $message] $name $({ $(#[doc = stringify!($field)] $field: $ty),* })?, )*
        }

        impl Refusal {
            /// The numbers, ascending.
            pub const ROWS: &'static [Row] = &[$( Row {
                code: $code,
                name: stringify!($name),
                message: $message,
                transient: Some(false),
            } ),*];
        }

        impl std::fmt::Display for Refusal {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $( Self::$name $({ $($field),* })? => write!(f, $message), )* }
            }
        }

        impl std::error::Error for Refusal {}

        impl Coded for Refusal {
            fn code(&self) -> u32 {
                match self { $( Self::$name { .. } => $code, )* }
            }

            fn name(&self) -> &'static str {
                match self { $( Self::$name { .. } => stringify!($name), )* }
            }
        }
    };
}

refusals! {
    // Backups.
    7420 BackupUnreadable { path: String, why: String } "{path} is not a backup of zx1: {why}.";
    7421 WrongPassphrase { path: String } "The passphrase does not open {path}.";
    7423 RestoreBlocked { path: String } "{path} already exists, and a restore overwrites nothing.";

    // Agents: registration and stake.
    7500 NoStake { agent: String } "{agent} has no stake.";
    7503 BadMultiaddr { text: String } "Invalid libp2p address: '{text}'.";
    7505 MintUnknown { signature: String }
        "The registration {signature} landed, but the node does not show which agent it made.";
    7507 TooLong { what: &'static str, found: usize, limit: usize }
        "{what} is too long: {found} bytes, maximum {limit}.";
    7508 TooManyMetadata { found: usize, limit: usize }
        "Too many metadata entries: {found}, maximum {limit}.";

    // Batches.
    7520 NothingToBatch { epoch: u64, why: BatchError } "There is no batch of epoch {epoch} to make. {why}";
    7521 NoStore "No place for batch data is configured.";
    7523 BatchMissing { epoch: u64 } "No saved batch for epoch {epoch}.";
    7524 NotOfChain { epoch: u64, what: String }
        "The data is not that of the batch of epoch {epoch} on chain: {what} differ.";
    7525 Withheld { agent: String, epoch: u64, place: String }
        "The batch of {agent} for epoch {epoch} is withheld: {place} does not serve its data (decision C7).";
    7526 NoBatchOnChain { agent: String, epoch: u64 } "{agent} has no batch for epoch {epoch} on chain.";
    7527 BadBatchSignature { signer: String } "The signature over the batch is not a valid signature of {signer}.";
    7528 NotASigner { key: String, agent: String }
        "{key} is neither the owner of {agent} nor a live delegate, so its signature does not count.";
    7529 CannotClose { epoch: u64, deadline: u64, left: u64 }
        "The batch of epoch {epoch} cannot be closed yet: it can be challenged through slot {deadline}, {left} \
         slots from now.";
    7530 NotAFolder { path: String } "{path} is a file; batch data needs a folder.";

    // Challenges.
    7540 NothingFound { why: String } "There is nothing to challenge: {why}.";
    7543 NoChallenge { address: String } "No challenge at {address}.";
    7544 NoAnswer { address: String }
        "The batch's data holds no record that answers {address}: according to this data the challenge is right.";
    7545 AlreadyAnswered { address: String }
        "{address} is already answered; the agent has nothing left to do.";
    7546 WindowOpen { address: String, slot: u64, left: u64 }
        "{address} cannot be resolved yet: its window ends after slot {slot}, {left} slots from now.";
    7547 WindowOver { address: String, slot: u64 }
        "It is too late: the window of {address} ended with slot {slot}.";

    // The keeper.
    7561 KeeperState { path: String, why: String } "The keeper's record {path} cannot be parsed: {why}.";

    // Feedback.
    7570 FeedbackLength { found: usize, limit: usize }
        "The text has {found} bytes; an entry has 1 to {limit}.";
    7571 NoFeedback { index: u64, count: u64 } "No entry {index}: the log has {count}.";
    7572 SponsorBroken { url: String, why: String } "The sponsor at {url} cannot be used: {why}.";
    7573 SponsorRefused { url: String, why: String } "The sponsor at {url} refused: {why}";

    // Ratings and reputation.
    7580 NotAccepted { why: &'static str } "No agreement to attest: {why}.";
    7581 NoPresignature { why: &'static str } "The rated agent's pre-signature is missing: {why}.";
    7582 NotOwner { key: String, agent: String }
        "{key} does not own {agent}, and SATI accepts only the owner's signature for this (decision D5).";
    7583 NoSuchSource { silent: Silent } "{silent}";
    7584 NotRegistered { agent: String } "{agent} is not registered on this cluster.";
    7585 NotFiled { by: String, about: String } "{by} has not filed a rating of {about} for this conversation.";

    // Indexers.
    9619 NotAnIndexer { url: String, detail: String } "The server at {url} does not answer as an indexer ({detail}).";
}
