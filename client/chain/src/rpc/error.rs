//! What can go wrong between this machine and a cluster: numbers 7000 to 7199. A program's refusal keeps the
//! program's own number ([`Refusal`]).

use super::refusal::Refusal;
use solana_address::Address;
use solana_signature::Signature;
use std::borrow::Cow;
use std::path::PathBuf;
use zx1_coded::Coded;

/// An error of this crate.
#[derive(Debug, thiserror::Error, Coded)]
pub enum ChainError {
    /// The node does not answer.
    #[code(7000, transient)]
    #[error("No answer from {url}: {detail}.")]
    Unreachable {
        /// Where it was asked.
        url: String,
        /// What the connection said.
        detail: String,
    },
    /// The node wants fewer requests.
    #[code(7001, transient)]
    #[error("{url} limits the number of requests and refused this one.")]
    RateLimited {
        /// Where it was asked.
        url: String,
    },
    /// The server is not a Solana node, or lacks this method.
    #[code(7002)]
    #[error("What answers at {url} does not serve Solana's RPC method {method}: {detail}.")]
    WrongNode {
        /// Where it was asked.
        url: String,
        /// What was asked.
        method: String,
        /// What came back.
        detail: String,
    },
    /// Another cluster than the one that was meant.
    #[code(7003)]
    #[error("{url} should be {expected}, but the node there belongs to {found}.")]
    WrongCluster {
        /// Where it was asked.
        url: String,
        /// The cluster that was meant.
        expected: String,
        /// The cluster that is there.
        found: String,
    },
    /// An answer that cannot be read.
    #[code(7004, transient)]
    #[error("The answer of {url} to {method} cannot be read: {detail}.")]
    Malformed {
        /// Where it was asked.
        url: String,
        /// What was asked.
        method: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The node says no.
    #[code(7005)]
    #[error("{url} refused {method} with its error {number}: {message}.")]
    NodeRefused {
        /// Where it was asked.
        url: String,
        /// What was asked.
        method: String,
        /// Error number of JSON-RPC.
        number: i64,
        /// Message of the node.
        message: String,
    },
    /// The node knows that it is behind.
    #[code(7006, transient)]
    #[error("The node at {url} is behind the cluster and answers nothing reliable now.")]
    NodeBehind {
        /// Where it was asked.
        url: String,
    },
    /// Neither URL nor moniker.
    #[code(7007)]
    #[error("'{text}' is neither a URL that begins with http:// or https:// nor a cluster's moniker.")]
    BadUrl {
        /// What was given.
        text: String,
    },

    /// A needed account is not there.
    #[code(7010)]
    #[error("There is no {what} at {address}.")]
    AccountMissing {
        /// What should be there.
        what: Cow<'static, str>,
        /// Address of the account.
        address: Address,
    },
    /// An account of another program.
    #[code(7011)]
    #[error("The account {address} is not of type {what}: it belongs to the program {owner}.")]
    WrongOwner {
        /// What should be there.
        what: Cow<'static, str>,
        /// Address of the account.
        address: Address,
        /// Whose it is.
        owner: Address,
    },
    /// An account whose bytes are not what they should be.
    #[code(7012)]
    #[error("The account {address} is not of type {what}: its {size} bytes do not have that form.")]
    MalformedAccount {
        /// What should be there.
        what: Cow<'static, str>,
        /// Address of the account.
        address: Address,
        /// How many bytes there are.
        size: usize,
    },
    /// The protocol is not there or was never configured.
    #[code(7013)]
    #[error("The zx1 protocol is not set up on {cluster}: it has no configuration account.")]
    NotConfigured {
        /// Where it was looked for.
        cluster: String,
    },
    /// A mint that is not an agent.
    #[code(7014)]
    #[error("{mint} is not an agent of the registry {registry}.")]
    NotAnAgent {
        /// What was given.
        mint: Address,
        /// Where it was looked for.
        registry: &'static str,
    },
    /// Nobody holds the agent's token.
    #[code(7015)]
    #[error("The agent {mint} was burned: nobody owns it any more.")]
    AgentBurned {
        /// Mint of the agent.
        mint: Address,
    },
    /// No transaction of this signature.
    #[code(7016)]
    #[error("The node knows no transaction {signature}.")]
    TransactionMissing {
        /// Signature of the transaction.
        signature: Signature,
    },
    /// The wallet may not act for the agent.
    #[code(7017)]
    #[error("The wallet {wallet} neither owns the agent {mint} nor is its live delegate.")]
    NotAuthorized {
        /// Mint of the agent.
        mint: Address,
        /// Address of the wallet.
        wallet: Address,
    },

    /// A wallet without any account of USDC.
    #[code(7018)]
    #[error("The wallet {wallet} has no USDC on this cluster.")]
    NoUsdc {
        /// Address of the wallet.
        wallet: Address,
        /// Whether the cluster is a local one.
        local: bool,
    },

    /// The cluster refuses the transaction, in simulation or after it landed.
    #[code(inner)]
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// A signed transaction of unknown fate.
    #[code(7060)]
    #[error(
        "The transaction {signature} is not confirmed and may still land, until block height \
         {last_valid_block_height}."
    )]
    NotConfirmed {
        /// Signature of the transaction.
        signature: Signature,
        /// The last block in which it can land.
        last_valid_block_height: u64,
    },
    /// A signed transaction that never landed and never can.
    #[code(7061)]
    #[error("The transaction {signature} expired before it landed. Nothing was done.")]
    Expired {
        /// Signature of the transaction.
        signature: Signature,
    },
    /// The node's memory does not reach back far enough to decide.
    #[code(7062)]
    #[error(
        "Whether the transaction {signature} landed cannot be told: the history of {url} begins at slot \
         {first_slot}, after it was signed."
    )]
    HistoryGone {
        /// Signature of the transaction.
        signature: Signature,
        /// Where it was asked.
        url: String,
        /// The node's first slot.
        first_slot: u64,
    },
    /// More bytes than a transaction may have.
    #[code(7063)]
    #[error("The transaction would have {size} bytes; {max} are allowed.")]
    TooLarge {
        /// What it would have.
        size: usize,
        /// What is allowed.
        max: usize,
    },
    /// A signature is missing.
    #[code(7064)]
    #[error("The signature of {address} is missing.")]
    MissingSigner {
        /// Address whose key is missing.
        address: Address,
    },
    /// A signature that does not hold.
    #[code(7065)]
    #[error("The signature of {address} does not fit this transaction.")]
    BadSignature {
        /// Address whose key is missing.
        address: Address,
    },
    /// A transaction or message that is none.
    #[code(7066)]
    #[error("The transaction cannot be read: {detail}.")]
    BadTransaction {
        /// What is wrong.
        detail: String,
    },
    /// Two partly signed files of different transactions.
    #[code(7067)]
    #[error("The two files hold different transactions, so their signatures cannot be put together.")]
    DifferentTransactions,
    /// The user said no.
    #[code(7068)]
    #[error("Nothing was sent, as you did not agree.")]
    Declined,

    /// The outbox cannot be read or written.
    #[code(7080)]
    #[error("The outbox file {path} cannot be used: {detail}.", path = .path.display())]
    Outbox {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// A record of the outbox cannot be read.
    #[code(7081)]
    #[error("The outbox record {path} is damaged: {detail}.", path = .path.display())]
    OutboxDamaged {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// Another process is at the same transaction.
    #[code(7082)]
    #[error("Another process is sending this very transaction ({intent}).")]
    OutboxBusy {
        /// What it does.
        intent: String,
    },

    /// A wrong argument.
    #[code(7090)]
    #[error("{0}")]
    Invalid(String),
}

/// A result of this crate.
pub type Result<T, E = ChainError> = std::result::Result<T, E>;

impl From<Refusal> for ChainError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}
