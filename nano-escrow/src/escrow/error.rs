//! Errors of escrow and wallet: numbers 8600 to 8899.

use crate::journal::JournalError;
use crate::node::NodeError;
use crate::{Address, BlockHash, Coded, Network, Raw};

/// A refusal of the journal, the escrow or the wallet. Money has not moved when one is returned from a request; a
/// plan that is decided stays decided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EscrowError {
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Randomness failed.
    #[error("the system gives no random bytes: {0}")]
    Random(String),

    /// The node or the work failed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Work could not be made.
    #[error(transparent)]
    Work(#[from] crate::work::WorkError),
    /// A type or a block was refused.
    #[error(transparent)]
    Type(#[from] crate::Error),

    /// The contract has no such account.
    #[error("there is no account for {0}")]
    NoAccount(String),
    /// A name that cannot be a contract's, a depositor's, a kind's or an id.
    #[error("the {what} {value:?} is not usable: 1 to {limit} characters without control characters")]
    Name {
        /// What was named.
        what: &'static str,
        /// The name.
        value: String,
        /// How long it may be.
        limit: usize,
    },
    /// The same account was asked for again with other terms.
    #[error("the account for {0} exists with other terms")]
    OtherTerms(String),
    /// An account of another contract in a settlement.
    #[error("the account {account} belongs to another contract than {contract}")]
    OtherContract {
        /// The account.
        account: Address,
        /// The contract.
        contract: String,
    },
    /// An account twice in one settlement, or none at all.
    #[error("a settlement names each account once, and at least one; {0}")]
    BadRequest(String),
    /// The account has been settled.
    #[error("the account {0} is closed: it was settled or it expired")]
    Closed(Address),

    /// More is asked than held.
    #[error("the legs of {account} sum to {asked} raw, more than the {held} raw that it holds")]
    TooMuch {
        /// The account.
        account: Address,
        /// What it holds for the contract.
        held: Raw,
        /// What the legs sum to.
        asked: Raw,
    },
    /// Less is asked than held.
    #[error("the legs of {account} sum to {asked} raw, less than the {held} raw that it holds")]
    TooLittle {
        /// The account.
        account: Address,
        /// What it holds for the contract.
        held: Raw,
        /// What the legs sum to.
        asked: Raw,
    },
    /// A leg to the paying account.
    #[error("the account {0} would pay itself")]
    PaysItself(Address),
    /// A leg to the burn account.
    #[error("a leg of {0} goes to the burn account")]
    Burns(Address),
    /// The key was used for something else.
    #[error("{contract} has already decided {kind} {key}, with other payments")]
    OtherLegs {
        /// The contract.
        contract: String,
        /// The plan's kind.
        kind: String,
        /// The plan's key.
        key: String,
    },
    /// No such plan.
    #[error("{contract} has no plan {kind} {key}")]
    NoPlan {
        /// The contract.
        contract: String,
        /// The plan's kind.
        kind: String,
        /// The plan's key.
        key: String,
    },
    /// No such deposit.
    #[error("no deposit {0} is known")]
    NoDeposit(BlockHash),
    /// The deposit has nothing to give back, or too little.
    #[error("the deposit {0} has no excess above the dust limit to give back")]
    NothingToRefund(BlockHash),
    /// The chain has a payment that the legs do not have.
    #[error("{account} has already paid {paid} (block {block}), which the legs do not contain")]
    PaidOtherwise {
        /// The account.
        account: Address,
        /// The block.
        block: BlockHash,
        /// How much, and who got it.
        paid: String,
    },
    /// The account waits for blocks in flight.
    #[error("the account {0} has blocks that are not confirmed yet")]
    Busy(Address),

    /// The node knows a later block than we, and it is not confirmed.
    #[error("{account} has a block {block} that is not in the journal and not confirmed yet")]
    Waiting {
        /// The account.
        account: Address,
        /// The unconfirmed block.
        block: BlockHash,
    },
    /// The node shows a frontier that it cannot prove.
    #[error("the node's account of {account} does not hold: {what}")]
    NodeLies {
        /// The account.
        account: Address,
        /// What does not fit.
        what: String,
    },
    /// The node is behind the journal.
    #[error("the node does not know the block {block} of {account}, which was confirmed before")]
    NodeBehind {
        /// The account.
        account: Address,
        /// The block.
        block: BlockHash,
    },
    /// The node is of another network.
    #[error("the node is of another network than {expected}: {found}")]
    NodeNetwork {
        /// What the journal is of.
        expected: Network,
        /// What the node says.
        found: String,
    },
    /// Work on the account has stopped.
    #[error("the account {account} is stopped ({code}): {reason}")]
    Stopped {
        /// The account.
        account: Address,
        /// The number of the reason.
        code: u16,
        /// The reason.
        reason: String,
    },
    /// A wait ran out.
    #[error("{what} was not confirmed within {seconds} seconds")]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long.
        seconds: u64,
    },

    /// Sums do not agree.
    #[error("the books do not balance: {0}")]
    Audit(String),
    /// An export that cannot be read.
    #[error("the export is not usable: {0}")]
    Export(String),
    /// The export is for another seed, or was changed.
    #[error("the export was made with another seed, or was changed since")]
    ExportSeal,
}

impl EscrowError {
    /// The stable number.
    pub fn code(&self) -> u16 {
        Coded::code(self)
    }
}

impl From<sqlx::Error> for EscrowError {
    fn from(error: sqlx::Error) -> EscrowError {
        EscrowError::Journal(error.into())
    }
}

impl Coded for EscrowError {
    fn code(&self) -> u16 {
        match self {
            EscrowError::Journal(e) => e.code(),
            EscrowError::Random(_) => 8608,
            EscrowError::Node(e) => e.code(),
            EscrowError::Work(e) => e.code(),
            EscrowError::Type(e) => e.code(),
            EscrowError::NoAccount(_) => 8620,
            EscrowError::Name { .. } => 8621,
            EscrowError::OtherTerms(_) => 8622,
            EscrowError::OtherContract { .. } => 8623,
            EscrowError::BadRequest(_) => 8624,
            EscrowError::Closed(_) => 8625,
            EscrowError::TooMuch { .. } => 8640,
            EscrowError::TooLittle { .. } => 8641,
            EscrowError::PaysItself(_) => 8642,
            EscrowError::Burns(_) => 8643,
            EscrowError::OtherLegs { .. } => 8644,
            EscrowError::NoPlan { .. } => 8645,
            EscrowError::NoDeposit(_) => 8646,
            EscrowError::NothingToRefund(_) => 8647,
            EscrowError::Busy(_) => 8648,
            EscrowError::PaidOtherwise { .. } => 8649,
            EscrowError::Waiting { .. } => 8660,
            EscrowError::NodeLies { .. } => 8661,
            EscrowError::NodeBehind { .. } => 8662,
            EscrowError::NodeNetwork { .. } => 8663,
            EscrowError::Stopped { .. } => 8664,
            EscrowError::Timeout { .. } => 8665,
            EscrowError::Audit(_) => 8680,
            EscrowError::Export(_) => 8681,
            EscrowError::ExportSeal => 8682,
        }
    }

    fn next(&self) -> &str {
        match self {
            EscrowError::Journal(e) => e.next(),
            EscrowError::Random(_) => "Repair the system; keys need random bytes.",
            EscrowError::Node(e) => e.next(),
            EscrowError::Work(e) => e.next(),
            EscrowError::Type(e) => e.next(),
            EscrowError::NoAccount(_) => "Create the account first.",
            EscrowError::Name { .. } => "Choose a shorter, printable name.",
            EscrowError::OtherTerms(_) => "Use the terms of the first request, or another round.",
            EscrowError::OtherContract { .. } => "Name accounts of this contract only.",
            EscrowError::BadRequest(_) => "Name every account once.",
            EscrowError::Closed(_) => {
                "What arrives now goes back to its sender; read the contract's statement."
            }
            EscrowError::TooMuch { .. } | EscrowError::TooLittle { .. } => {
                "Wait for deposits to be confirmed, or correct the legs; nothing was paid."
            }
            EscrowError::PaysItself(_) | EscrowError::Burns(_) => {
                "Correct the destination; nothing was paid."
            }
            EscrowError::OtherLegs { .. } => "Read the statement: what was decided first stands.",
            EscrowError::NoPlan { .. } | EscrowError::NoDeposit(_) => "Read the contract's statement.",
            EscrowError::NothingToRefund(_) => "Nothing is to do.",
            EscrowError::Busy(_) => "Try again when they are.",
            EscrowError::PaidOtherwise { .. } => {
                "Find out what was decided before the backup was restored, and settle with those legs."
            }
            EscrowError::Waiting { .. } => "Wait for the network's election, then try again.",
            EscrowError::NodeLies { .. } => {
                "Nothing was signed. Ask another node, and do not trust this one."
            }
            EscrowError::NodeBehind { .. } => "Wait until the node has caught up, or use another one.",
            EscrowError::NodeNetwork { .. } => "Give the URL of a node of the right network.",
            EscrowError::Stopped { .. } => {
                "Look at the account on another node; resume it when you know why."
            }
            EscrowError::Timeout { .. } => "Nothing is lost: recover continues where this ended.",
            EscrowError::Audit(_) => "Stop paying out and look at the accounts that are named.",
            EscrowError::Export(_) => "Give a file that export has written.",
            EscrowError::ExportSeal => "Give the right seed, and the file as it was written.",
        }
    }
}
