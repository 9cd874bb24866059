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

    // Agents: registration, stake, tenure, keys.
    7500 NoStake { agent: String } "{agent} has no stake.";
    7503 BadMultiaddr { text: String } "Invalid libp2p address: '{text}'.";
    7505 MintUnknown { signature: String }
        "The registration {signature} landed, but the node does not show which agent it made.";
    7507 TooLong { what: &'static str, found: usize, limit: usize }
        "{what} is too long: {found} bytes, maximum {limit}.";
    7508 TooManyMetadata { found: usize, limit: usize }
        "Too many metadata entries: {found}, maximum {limit}.";
    7509 NoTenure { agent: String }
        "{agent} has no tenure yet: its holder has neither listed a key nor locked a stake.";
    7510 KeyListed { key: String, agent: String, standing: String }
        "{key} is listed as a key of {agent} already: {standing}.";
    7511 KeyUnknown { key: String, agent: String } "{key} is not listed as a key of {agent}.";
    7512 KeyOfOtherNetwork { key: String, network: String }
        "{key} is listed on another network (genesis hash {network}). A message does not name its network, so a \
         key is used on one only.";
    7513 NoSuchEra { agent: String, era: u32 } "{agent} has no stake of era {era}.";
    7514 EraNotNamed { agent: String, eras: String }
        "{agent} has stakes of several eras: {eras}.";
    7516 TooManyAddresses { found: usize, limit: usize }
        "Too many addresses on the mesh: {found}, maximum {limit}.";

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
    7528 NotASigner { key: String, agent: String, scope: String, why: String }
        "{key} is not a valid key of {agent} with the scope {scope}: {why}.";
    7529 CannotClose { epoch: u64, deadline: u64, left: u64 }
        "The batch of epoch {epoch} cannot be closed yet: it can be challenged through slot {deadline}, {left} \
         slots from now.";
    7530 NotAFolder { path: String } "{path} is a file; batch data needs a folder.";
    7531 NoHead { agent: String }
        "{agent} has no chain of batches yet. The epoch in which it is opened is the first that a batch can cover.";
    7532 OtherMessage { epoch: u64 }
        "The message to sign is not that of the batch of epoch {epoch} in the file.";
    7533 BatchVoid { epoch: u64 }
        "The signed batch of epoch {epoch} can never land: another one came before it, or it is too old. A batch of \
         a later epoch covers what it covered.";

    // Challenges.
    7540 NothingFound { why: String } "There is nothing to challenge: {why}.";
    7543 NoChallenge { address: String } "No challenge at {address}.";
    7544 NoAnswer { address: String }
        "The batch's data holds no record that answers {address}: according to this data the challenge is right.";
    7545 AlreadySettled { address: String, outcome: &'static str }
        "{address} is settled already: {outcome}.";
    7546 WindowOpen { address: String, slot: u64, left: u64 }
        "{address} cannot be resolved yet: its window ends after slot {slot}, {left} slots from now.";
    7547 WindowOver { address: String, slot: u64 }
        "It is too late: the window of {address} ended with slot {slot}.";
    7548 LowerRank { address: String, lower: String, slot: u64, left: u64 }
        "{address} has to wait: {lower} has a lower rank and is open through slot {slot}, {left} slots from now.";
    7549 RankUnknown { agent: String, era: u32, rank: u32 }
        "The node shows neither a challenge nor a draft with rank {rank} in era {era} of {agent}.";
    7550 NotSettled { address: String } "{address} is not settled yet.";
    7551 EraEmpty { agent: String, era: u32 }
        "Nothing is left of the stake of {agent} in era {era}, so nothing can be won.";
    7552 EraOpen { agent: String, era: u32, open: u32 }
        "Era {era} of {agent} cannot be settled yet: challenges are open (number: {open}).";
    7553 NoDraft { address: String } "No draft of evidence of yours at {address}.";

    // Asks.
    7554 NoAsk { address: String } "No ask at {address}.";
    7555 NoSuchLeaf { tree: &'static str, index: u32, len: u32 }
        "There is no leaf {index}: the batch's {tree} has {len}, counted from 0.";
    7556 AskWindowOver { epoch: u64, slot: u64 }
        "It is too late to ask for leaves of the batch of epoch {epoch}: that ended with slot {slot}.";
    7557 BatchWithheld { epoch: u64 }
        "The batch of epoch {epoch} is marked as withheld already, so it counts for nothing.";
    7558 AskSettled { address: String, state: &'static str } "{address} needs no answer any more: {state}.";
    7559 ShowOver { address: String, slot: u64 }
        "It is too late to show this leaf: the time of {address} ended with slot {slot}.";
    7563 LeafUnknown { tree: &'static str, index: u32, epoch: u64 }
        "Neither the log here nor the served data holds leaf {index} of the {tree} of epoch {epoch}.";
    7564 ShowOpen { address: String, slot: u64, left: u64 }
        "{address} cannot be settled yet: the leaf can be shown through slot {slot}, {left} slots from now.";
    7565 FineWaits { address: String, open: u32 }
        "{address} has to wait for its money: challenges against the era are open (number: {open}).";

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

    // The agent's mesh node.
    7592 NodeNotRunning { agent: String, why: String } "The node of {agent} does not run: {why}.";
    7593 NodeBroken { why: String } "The node's local API cannot be used: {why}.";
    7594 NodeRefused { number: u32, why: String } "The node refused ({number}): {why}";

    // Indexers.
    9619 NotAnIndexer { url: String, detail: String } "The server at {url} does not answer as an indexer ({detail}).";
}
