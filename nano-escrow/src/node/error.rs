//! Errors of calls to a node.

use std::fmt;
use std::time::Duration;

use zx1_coded::Coded;

use crate::{BlockHash, Network};

/// A node's refusal, whatever its dialect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The previous block is not known.
    GapPrevious,
    /// The send that a receive takes up is not known.
    GapSource,
    /// The ledger has the block already.
    Old,
    /// The signature does not hold.
    BadSignature,
    /// Another block follows the same previous.
    Fork,
    /// The send was received already, or is not for this account.
    Unreceivable,
    /// The balance goes up in a send.
    NegativeSpend,
    /// The balance and the amount do not fit.
    BalanceMismatch,
    /// The block cannot follow its previous.
    BlockPosition,
    /// The work is below what the ledger wants for this block.
    InsufficientWork,
    /// The work is below what any block needs.
    WorkBelowEntry,
    /// Opens the burn account.
    OpenedBurn,
    /// An epoch block that opens an account for which nothing waits.
    GapEpochOpen,
    /// The balance does not fit the given subtype. Also the answer to a send that is in the ledger already.
    SubtypeBalance,
    /// The previous does not fit the given subtype.
    SubtypePrevious,
    /// The node does not know the given subtype.
    Subtype,
    /// Not the link of an epoch.
    EpochLink,
    /// The block cannot be parsed.
    InvalidBlock,
    /// The node failed.
    Processing,
    /// The node is stopping.
    Stopped,
    /// The account has no blocks.
    AccountNotFound,
    /// The account is not a valid address.
    BadAccount,
    /// The block does not exist.
    BlockNotFound,
    /// The hash is invalid.
    BadHash,
    /// The node's option `enable_control` is off.
    ControlDisabled,
    /// The node could not read the request.
    BadJson,
    /// The node does not know the action.
    UnknownAction,
    /// The node does not compute work.
    WorkDisabled,
    /// Anything else, as the node said it (at most 300 characters).
    Other(String),
}

impl Fault {
    /// Read a node's sentence. Dialects differ in case, in a full stop, and in a few words.
    pub fn from_text(text: &str) -> Fault {
        let plain = text.trim().trim_end_matches('.').to_ascii_lowercase();
        match plain.as_str() {
            "gap previous block" | "gap previous" => Fault::GapPrevious,
            "gap source block" | "gap source" => Fault::GapSource,
            "old block" | "old" => Fault::Old,
            "bad signature" => Fault::BadSignature,
            "fork" => Fault::Fork,
            "unreceivable" => Fault::Unreceivable,
            "negative spend" => Fault::NegativeSpend,
            "balance and amount delta do not match"
            | "balance and amount delta don't match"
            | "balance mismatch" => Fault::BalanceMismatch,
            "this block cannot follow the previous block" | "block position" => Fault::BlockPosition,
            "block work is insufficient" | "insufficient work" => Fault::InsufficientWork,
            "block work is less than threshold" => Fault::WorkBelowEntry,
            "block attempts to open the burn account" | "opened burn account" => Fault::OpenedBurn,
            "gap pending for open epoch block" | "gap epoch open pending" => Fault::GapEpochOpen,
            "invalid block balance for given subtype" => Fault::SubtypeBalance,
            "invalid previous block for given subtype" => Fault::SubtypePrevious,
            "invalid block subtype" => Fault::Subtype,
            "invalid epoch link" => Fault::EpochLink,
            "block is invalid" => Fault::InvalidBlock,
            "error processing block" => Fault::Processing,
            "stopped" => Fault::Stopped,
            "account not found" => Fault::AccountNotFound,
            "bad account number" => Fault::BadAccount,
            "block not found" => Fault::BlockNotFound,
            "invalid block hash" | "bad hash number" | "invalid hash number" => Fault::BadHash,
            "rpc control is disabled" => Fault::ControlDisabled,
            "unable to parse json" => Fault::BadJson,
            "unknown command" => Fault::UnknownAction,
            "work generation is disabled" => Fault::WorkDisabled,
            _ => Fault::Other(text.chars().take(300).collect()),
        }
    }

    /// The sentence of the usual node.
    pub fn text(&self) -> &str {
        match self {
            Fault::GapPrevious => "Gap previous block",
            Fault::GapSource => "Gap source block",
            Fault::Old => "Old block",
            Fault::BadSignature => "Bad signature",
            Fault::Fork => "Fork",
            Fault::Unreceivable => "Unreceivable",
            Fault::NegativeSpend => "Negative spend",
            Fault::BalanceMismatch => "Balance and amount delta do not match",
            Fault::BlockPosition => "This block cannot follow the previous block",
            Fault::InsufficientWork => "Block work is insufficient",
            Fault::WorkBelowEntry => "Block work is less than threshold",
            Fault::OpenedBurn => "Block attempts to open the burn account",
            Fault::GapEpochOpen => "Gap pending for open epoch block",
            Fault::SubtypeBalance => "Invalid block balance for given subtype",
            Fault::SubtypePrevious => "Invalid previous block for given subtype",
            Fault::Subtype => "Invalid block subtype",
            Fault::EpochLink => "Invalid epoch link",
            Fault::InvalidBlock => "Block is invalid",
            Fault::Processing => "Error processing block",
            Fault::Stopped => "Stopped",
            Fault::AccountNotFound => "Account not found",
            Fault::BadAccount => "Bad account number",
            Fault::BlockNotFound => "Block not found",
            Fault::BadHash => "Invalid block hash",
            Fault::ControlDisabled => "RPC control is disabled",
            Fault::BadJson => "Unable to parse JSON",
            Fault::UnknownAction => "Unknown command",
            Fault::WorkDisabled => "Work generation is disabled",
            Fault::Other(text) => text,
        }
    }

    /// Whether better work would help.
    pub fn is_work(&self) -> bool {
        matches!(self, Fault::InsufficientWork | Fault::WorkBelowEntry)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// A failure of a call to a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum NodeError {
    /// The node has refused the call.
    #[code(8200, transient = Self::may_pass)]
    #[error("the node refuses {action}: {fault}")]
    Refused {
        /// Name of the RPC call.
        action: &'static str,
        /// The fault that the node reported.
        fault: Fault,
    },
    /// No answer in time. Whether the node did it is unknown.
    #[code(8201, transient)]
    #[error("the node did not answer {action} within {} ms", within.as_millis())]
    Timeout {
        /// Name of the RPC call.
        action: &'static str,
        /// Timeout that passed.
        within: Duration,
    },
    /// No connection, or it broke. Whether the node did it is unknown.
    #[code(8202, transient)]
    #[error("the node cannot be reached for {action}: {reason}")]
    Unreachable {
        /// Name of the RPC call.
        action: &'static str,
        /// Error of the network, for the error's text.
        reason: String,
    },
    /// An HTTP status other than 200 without a sentence that is known.
    #[code(8203, transient = Self::may_pass)]
    #[error("the node answers {action} with HTTP status {status}: {text}")]
    Http {
        /// Name of the RPC call.
        action: &'static str,
        /// HTTP status of the answer.
        status: u16,
        /// Beginning of the answer's body.
        text: String,
    },
    /// An answer that is not what the action answers.
    #[code(8204)]
    #[error("the node's answer to {action} cannot be read: {reason}")]
    Unreadable {
        /// Name of the RPC call.
        action: &'static str,
        /// Why the answer cannot be read.
        reason: String,
    },
    /// The node is in another network.
    #[code(8205)]
    #[error("the node is not of the {expected} network: its genesis is {genesis}")]
    WrongNetwork {
        /// The network that was expected.
        expected: Network,
        /// Hash of the genesis block that the node reports.
        genesis: BlockHash,
    },
    /// The block cannot go out as it is.
    #[code(inner)]
    #[error(transparent)]
    Block(#[from] crate::Error),
    /// A URL that cannot be used.
    #[code(8206)]
    #[error("invalid URL of a node {url:?}: {reason}")]
    Url {
        /// The URL that was given.
        url: String,
        /// Why the URL is invalid.
        reason: String,
    },
    /// The websocket failed; polling goes on.
    #[code(8207, transient)]
    #[error("the websocket of the node failed: {0}")]
    Websocket(String),
}

impl NodeError {
    /// The node's refusal, when it is one.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            NodeError::Refused { fault, .. } => Some(fault),
            _ => None,
        }
    }

    fn may_pass(&self) -> bool {
        match self {
            NodeError::Http { status, .. } => *status >= 500 || *status == 429 || *status == 408,
            NodeError::Refused { fault, .. } => matches!(fault, Fault::Processing | Fault::Stopped),
            _ => false,
        }
    }
}
