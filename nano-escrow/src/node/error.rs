//! What can go wrong with a node: numbers 8200 to 8299.

use std::fmt;
use std::time::Duration;

use crate::{BlockHash, Coded, Network};

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The node has refused the call.
    #[error("the node refuses {action}: {fault}")]
    Refused {
        /// Name of the RPC call.
        action: &'static str,
        /// The fault that the node reported.
        fault: Fault,
    },
    /// No answer in time. Whether the node did it is unknown.
    #[error("the node did not answer {action} within {} ms", within.as_millis())]
    Timeout {
        /// Name of the RPC call.
        action: &'static str,
        /// Timeout that passed.
        within: Duration,
    },
    /// No connection, or it broke. Whether the node did it is unknown.
    #[error("the node cannot be reached for {action}: {reason}")]
    Unreachable {
        /// Name of the RPC call.
        action: &'static str,
        /// Error of the network, for the error's text.
        reason: String,
    },
    /// An HTTP status other than 200 without a sentence that is known.
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
    #[error("the node's answer to {action} cannot be read: {reason}")]
    Unreadable {
        /// Name of the RPC call.
        action: &'static str,
        /// Why the answer cannot be read.
        reason: String,
    },
    /// The node is in another network.
    #[error("the node is not of the {expected} network: its genesis is {genesis}")]
    WrongNetwork {
        /// The network that was expected.
        expected: Network,
        /// Hash of the genesis block that the node reports.
        genesis: BlockHash,
    },
    /// The block cannot go out as it is.
    #[error(transparent)]
    Block(#[from] crate::Error),
    /// A URL that cannot be used.
    #[error("{url:?} is no URL of a node: {reason}")]
    Url {
        /// The URL that was given.
        url: String,
        /// Why the URL is invalid.
        reason: String,
    },
    /// The websocket failed; polling goes on.
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

    /// Whether the same call may work later: no answer, no connection, a failing node.
    pub fn is_transient(&self) -> bool {
        match self {
            NodeError::Timeout { .. } | NodeError::Unreachable { .. } | NodeError::Websocket(_) => true,
            NodeError::Http { status, .. } => *status >= 500 || *status == 429 || *status == 408,
            NodeError::Refused { fault, .. } => matches!(fault, Fault::Processing | Fault::Stopped),
            _ => false,
        }
    }
}

impl Coded for NodeError {
    fn code(&self) -> u16 {
        match self {
            NodeError::Refused { .. } => 8200,
            NodeError::Timeout { .. } => 8201,
            NodeError::Unreachable { .. } => 8202,
            NodeError::Http { .. } => 8203,
            NodeError::Unreadable { .. } => 8204,
            NodeError::WrongNetwork { .. } => 8205,
            NodeError::Block(e) => e.code(),
            NodeError::Url { .. } => 8206,
            NodeError::Websocket(_) => 8207,
        }
    }

    fn next(&self) -> &str {
        match self {
            NodeError::Refused { fault, .. } => match fault {
                Fault::Fork => {
                    "Another block took this place: stop, and compare the account with the journal."
                }
                Fault::BadSignature | Fault::BalanceMismatch | Fault::OpenedBurn => {
                    "Stop using this account until a person has looked."
                }
                Fault::GapPrevious => "Publish the blocks before it first, or wait for the node to catch up.",
                Fault::GapSource => "Wait until the node knows the send.",
                Fault::InsufficientWork | Fault::WorkBelowEntry => {
                    "Solve the work again with the right threshold."
                }
                Fault::ControlDisabled => "Set enable_control in the node's RPC configuration.",
                Fault::UnknownAction => "Use a newer node.",
                Fault::AccountNotFound => "Check the address, and that the account has received something.",
                Fault::BlockNotFound => "Check the hash, and that the node is in sync.",
                _ => "Ask block_info for the block before doing anything else.",
            },
            NodeError::Timeout { .. } | NodeError::Unreachable { .. } | NodeError::Http { .. } => {
                "Check the node and its URL. A block that was sent may have arrived: ask block_info."
            }
            NodeError::Unreadable { .. } => "Check that the URL is the RPC of a Nano node.",
            NodeError::WrongNetwork { .. } => "Use a node of the right network, or name the other network.",
            NodeError::Block(e) => e.next(),
            NodeError::Url { .. } => "Give it as http://host:port or ws://host:port.",
            NodeError::Websocket(_) => "Nothing is lost: confirmations are also polled.",
        }
    }
}
