//! Errors of escrow and wallet.

use zx1_coded::Coded;

use crate::journal::JournalError;
use crate::node::NodeError;
use crate::{Address, AmountError, BlockHash, Network, Raw};

/// An error of the journal, the escrow or the wallet. A request that returns one has not moved money; a plan
/// that was decided before stays decided.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum EscrowError {
    /// The journal failed.
    #[code(inner)]
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The system's random number generator failed; carries the system's reason.
    #[code(8608)]
    #[error("the system gives no random bytes: {0}")]
    Random(String),
    /// No nonce secret makes the address that was handed out.
    #[code(8609)]
    #[error("the address of {0} follows from none of the nonce secrets")]
    NotDerived(String),
    /// The journal knows another nonce secret, which is not among the given ones.
    #[code(8610)]
    #[error("the journal's nonce secret is {journal}, which was not given; {given} would replace it")]
    OtherSecret {
        /// Id of the last secret that the journal knows.
        journal: String,
        /// Id of the secret that was given.
        given: String,
    },

    /// A request to the Nano node failed.
    #[code(inner)]
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Proof of work could not be computed.
    #[code(inner)]
    #[error(transparent)]
    Work(#[from] crate::work::WorkError),
    /// A key, an address, an amount or a block is invalid.
    #[code(inner)]
    #[error(transparent)]
    Type(#[from] crate::Error),

    /// The journal has no account for this address, contract or key.
    #[code(8620)]
    #[error("there is no account for {0}")]
    NoAccount(String),
    /// The name of a contract, depositor, kind or id is empty, too long or has control characters.
    #[code(8621)]
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
    #[code(8622)]
    #[error("the account for {0} exists with other terms")]
    OtherTerms(String),
    /// A settlement names an account of another contract.
    #[code(8623)]
    #[error("the account {account} belongs to another contract than {contract}")]
    OtherContract {
        /// The account that belongs to another contract.
        account: Address,
        /// The contract that the settlement is for.
        contract: String,
    },
    /// A settlement names an account twice, or no account at all.
    #[code(8624)]
    #[error("a settlement names each account once, and at least one; {0}")]
    BadRequest(String),
    /// The account was settled or has expired.
    #[code(8625)]
    #[error("the account {0} is closed: it was settled or it expired")]
    Closed(Address),

    /// The legs sum to more than the account holds.
    #[code(8640)]
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
    #[code(8641)]
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
    #[code(8642)]
    #[error("the account {0} would pay itself")]
    PaysItself(Address),
    /// A leg pays the burn account; carries the paying account.
    #[code(8643)]
    #[error("a leg of {0} goes to the burn account")]
    Burns(Address),
    /// The idempotency key was used for other payments.
    #[code(8644)]
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
    #[code(8645)]
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
    #[code(8646)]
    #[error("no deposit {0} is known")]
    NoDeposit(BlockHash),
    /// The deposit has no excess, or less than the dust limit.
    #[code(8647)]
    #[error("the deposit {0} has no excess above the dust limit to give back")]
    NothingToRefund(BlockHash),
    /// The ledger has a payment that the legs do not contain.
    #[code(8649)]
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
    #[code(8648, transient)]
    #[error("the account {0} has blocks that are not confirmed yet")]
    Busy(Address),

    /// The node knows a block later than the journal's head, and it is not confirmed yet.
    #[code(8660, transient)]
    #[error("{account} has a block {block} that is not in the journal and not confirmed yet")]
    Waiting {
        /// The account that has the unconfirmed block.
        account: Address,
        /// Hash of the unconfirmed block.
        block: BlockHash,
    },
    /// The node shows blocks that do not verify.
    #[code(8661)]
    #[error("the node's account of {account} does not hold: {what}")]
    NodeLies {
        /// The account that the node was asked about.
        account: Address,
        /// Why the node's answer does not verify, for the error's text.
        what: String,
    },
    /// The node does not know a block that was confirmed before.
    #[code(8662, transient)]
    #[error("the node does not know the block {block} of {account}, which was confirmed before")]
    NodeBehind {
        /// The account that the node was asked about.
        account: Address,
        /// Hash of the block that it does not know.
        block: BlockHash,
    },
    /// The node belongs to another network.
    #[code(8663)]
    #[error("the node is of another network than {expected}: {found}")]
    NodeNetwork {
        /// Network of the journal.
        expected: Network,
        /// Network that the node reports.
        found: String,
    },
    /// Work on the account has stopped until an operator resumes it.
    #[code(8664)]
    #[error("the account {account} is stopped ({code}): {reason}")]
    Stopped {
        /// The account that is stopped.
        account: Address,
        /// Stable number of the error that stopped it.
        code: u32,
        /// Text of the error that stopped it.
        reason: String,
    },
    /// Blocks were not confirmed in time. They may still be confirmed later.
    #[code(8665, transient)]
    #[error("{what} was not confirmed within {seconds} seconds")]
    Timeout {
        /// What was waited for, for the error's text.
        what: String,
        /// Length of the wait in seconds.
        seconds: u64,
    },

    /// An account holds something, and neither a contract nor a source is owed it.
    #[code(8666)]
    #[error("{amount} raw on {account} are owed to nobody")]
    Nobodys {
        /// The account that holds it.
        account: Address,
        /// How much, in raw.
        amount: Raw,
    },

    /// An account holds something for a contract that its caller has lost.
    #[code(8667)]
    #[error("{amount} raw on {account} are held for {contract}, which is not known any more")]
    Orphan {
        /// The account that holds it.
        account: Address,
        /// Name of the contract.
        contract: String,
        /// How much has come in, in raw.
        amount: Raw,
    },

    /// The books do not balance; carries the first problem.
    #[code(8680)]
    #[error("the books do not balance: {0}")]
    Audit(String),
    /// An export cannot be read.
    #[code(8681)]
    #[error("the export is not usable: {0}")]
    Export(String),
    /// The export was made with another seed, or was changed.
    #[code(8682)]
    #[error("the export was made with another seed, or was changed since")]
    ExportSeal,
}

impl From<AmountError> for EscrowError {
    fn from(error: AmountError) -> EscrowError {
        EscrowError::Type(error.into())
    }
}

impl From<sqlx::Error> for EscrowError {
    fn from(error: sqlx::Error) -> EscrowError {
        EscrowError::Journal(error.into())
    }
}
