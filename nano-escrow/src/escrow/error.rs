//! Errors of escrow and wallet: numbers 8600 to 8899.

use crate::journal::JournalError;
use crate::node::NodeError;
use crate::{Address, BlockHash, Coded, Network, Raw};

/// An error of the journal, the escrow or the wallet. A request that returns one has not moved money; a plan
/// that was decided before stays decided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EscrowError {
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The system's random number generator failed; carries the system's reason.
    #[error("the system gives no random bytes: {0}")]
    Random(String),

    /// A request to the Nano node failed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Proof of work could not be computed.
    #[error(transparent)]
    Work(#[from] crate::work::WorkError),
    /// A key, an address, an amount or a block is invalid.
    #[error(transparent)]
    Type(#[from] crate::Error),

    /// The journal has no account for this address, contract or key.
    #[error("there is no account for {0}")]
    NoAccount(String),
    /// The name of a contract, depositor, kind or id is empty, too long or has control characters.
    #[error("the {what} {value:?} is not usable: 1 to {limit} characters without control characters")]
    Name {
        /// Which name it is, such as `contract` or `depositor`.
        what: &'static str,
        /// The first 40 characters of the rejected name.
        value: String,
        /// Maximum length in bytes.
        limit: usize,
    },
    /// The account already exists with another expected amount or payer.
    #[error("the account for {0} exists with other terms")]
    OtherTerms(String),
    /// A settlement names an account of another contract.
    #[error("the account {account} belongs to another contract than {contract}")]
    OtherContract {
        /// The account that belongs to another contract.
        account: Address,
        /// The contract that the settlement is for.
        contract: String,
    },
    /// A settlement names an account twice, or no account at all.
    #[error("a settlement names each account once, and at least one; {0}")]
    BadRequest(String),
    /// The account was settled or has expired.
    #[error("the account {0} is closed: it was settled or it expired")]
    Closed(Address),

    /// The legs sum to more than the account holds.
    #[error("the legs of {account} sum to {asked} raw, more than the {held} raw that it holds")]
    TooMuch {
        /// The account that the legs would be paid from.
        account: Address,
        /// Raw that it holds for the contract.
        held: Raw,
        /// Sum of the legs in raw.
        asked: Raw,
    },
    /// The legs sum to less than the account holds.
    #[error("the legs of {account} sum to {asked} raw, less than the {held} raw that it holds")]
    TooLittle {
        /// The account that the legs would be paid from.
        account: Address,
        /// Raw that it holds for the contract.
        held: Raw,
        /// Sum of the legs in raw.
        asked: Raw,
    },
    /// A leg pays the account that it is paid from.
    #[error("the account {0} would pay itself")]
    PaysItself(Address),
    /// A leg pays the burn account; carries the paying account.
    #[error("a leg of {0} goes to the burn account")]
    Burns(Address),
    /// The idempotency key was used for other payments.
    #[error("{contract} has already decided {kind} {key}, with other payments")]
    OtherLegs {
        /// Name of the contract that the earlier plan belongs to.
        contract: String,
        /// The plan's kind.
        kind: String,
        /// The plan's key.
        key: String,
    },
    /// No plan was decided under this key.
    #[error("{contract} has no plan {kind} {key}")]
    NoPlan {
        /// Name of the contract that was asked for.
        contract: String,
        /// The plan's kind.
        kind: String,
        /// The plan's key.
        key: String,
    },
    /// The journal has no deposit with this send hash.
    #[error("no deposit {0} is known")]
    NoDeposit(BlockHash),
    /// The deposit has no excess, or less than the dust limit.
    #[error("the deposit {0} has no excess above the dust limit to give back")]
    NothingToRefund(BlockHash),
    /// The ledger has a payment that the legs do not contain.
    #[error("{account} has already paid {paid} (block {block}), which the legs do not contain")]
    PaidOtherwise {
        /// The account that has paid.
        account: Address,
        /// Hash of the send that paid.
        block: BlockHash,
        /// Amount and receiver of that payment, for the error's text.
        paid: String,
    },
    /// The account has blocks that are not confirmed yet.
    #[error("the account {0} has blocks that are not confirmed yet")]
    Busy(Address),

    /// The node knows a block later than the journal's head, and it is not confirmed yet.
    #[error("{account} has a block {block} that is not in the journal and not confirmed yet")]
    Waiting {
        /// The account that has the unconfirmed block.
        account: Address,
        /// Hash of the unconfirmed block.
        block: BlockHash,
    },
    /// The node shows blocks that do not verify.
    #[error("the node's account of {account} does not hold: {what}")]
    NodeLies {
        /// The account that the node was asked about.
        account: Address,
        /// Why the node's answer does not verify, for the error's text.
        what: String,
    },
    /// The node does not know a block that was confirmed before.
    #[error("the node does not know the block {block} of {account}, which was confirmed before")]
    NodeBehind {
        /// The account that the node was asked about.
        account: Address,
        /// Hash of the block that it does not know.
        block: BlockHash,
    },
    /// The node belongs to another network.
    #[error("the node is of another network than {expected}: {found}")]
    NodeNetwork {
        /// Network of the journal.
        expected: Network,
        /// Network that the node reports.
        found: String,
    },
    /// Work on the account has stopped until an operator resumes it.
    #[error("the account {account} is stopped ({code}): {reason}")]
    Stopped {
        /// The account that is stopped.
        account: Address,
        /// Stable number of the error that stopped it.
        code: u16,
        /// Text of the error that stopped it.
        reason: String,
    },
    /// Blocks were not confirmed in time. They may still be confirmed later.
    #[error("{what} was not confirmed within {seconds} seconds")]
    Timeout {
        /// What was waited for, for the error's text.
        what: String,
        /// Length of the wait in seconds.
        seconds: u64,
    },

    /// The books do not balance; carries the first problem.
    #[error("the books do not balance: {0}")]
    Audit(String),
    /// An export cannot be read.
    #[error("the export is not usable: {0}")]
    Export(String),
    /// The export was made with another seed, or was changed.
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
