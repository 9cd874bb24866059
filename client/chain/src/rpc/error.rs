//! What can go wrong between this machine and a cluster: numbers 7000 to 7199. A program's refusal keeps the
//! program's own number ([`Refusal`]).

use super::refusal::Refusal;
use solana_address::Address;
use solana_signature::Signature;
use std::borrow::Cow;
use std::path::PathBuf;
use zx1_coded::Coded;
use zx1_protocol::ids::AgentId;

/// An error of this crate.
#[derive(Debug, thiserror::Error, Coded)]
pub enum ChainError {
    /// The node does not answer.
    #[code(7000, transient)]
    #[error("No answer from {url}: {detail}.")]
    Unreachable {
        /// URL of the node.
        url: String,
        /// Error of the connection.
        detail: String,
    },
    /// The node limits the number of requests.
    #[code(7001, transient)]
    #[error("{url} limits the number of requests and refused this one.")]
    RateLimited {
        /// URL of the node.
        url: String,
    },
    /// The server is not a Solana node, or lacks this method.
    #[code(7002)]
    #[error("What answers at {url} does not serve Solana's RPC method {method}: {detail}.")]
    WrongNode {
        /// URL of the node.
        url: String,
        /// The RPC method that was called.
        method: String,
        /// What the server answered instead.
        detail: String,
    },
    /// Another cluster than the one that was meant.
    #[code(7003)]
    #[error("{url} should be {expected}, but the node there belongs to {found}.")]
    WrongCluster {
        /// URL of the node.
        url: String,
        /// The cluster that the caller expects.
        expected: String,
        /// The cluster that the node belongs to.
        found: String,
    },
    /// An answer that cannot be read.
    #[code(7004, transient)]
    #[error("The answer of {url} to {method} cannot be read: {detail}.")]
    Malformed {
        /// URL of the node.
        url: String,
        /// The RPC method that was called.
        method: String,
        /// Why the answer cannot be read.
        detail: String,
    },
    /// The node answered the call with an error.
    #[code(7005)]
    #[error("{url} refused {method} with its error {number}: {message}.")]
    NodeRefused {
        /// URL of the node.
        url: String,
        /// The RPC method that was called.
        method: String,
        /// Error number of JSON-RPC.
        number: i64,
        /// Message of the node.
        message: String,
    },
    /// The node reports that it is behind the cluster.
    #[code(7006, transient)]
    #[error("The node at {url} is behind the cluster and answers nothing reliable now.")]
    NodeBehind {
        /// URL of the node.
        url: String,
    },
    /// The text is neither a URL nor a cluster's moniker.
    #[code(7007)]
    #[error("'{text}' is neither a URL that begins with http:// or https:// nor a cluster's moniker.")]
    BadUrl {
        /// The text as it was given.
        text: String,
    },
    /// The protocol's configuration was written for another cluster.
    #[code(7008)]
    #[error("The configuration names the network {configured}, but the node at {url} belongs to {found}.")]
    WrongNetwork {
        /// URL of the node.
        url: String,
        /// The genesis hash in the configuration account.
        configured: Address,
        /// The cluster that the node belongs to.
        found: String,
    },

    /// An account that the call needs does not exist.
    #[code(7010)]
    #[error("There is no {what} at {address}.")]
    AccountMissing {
        /// The expected type of the account.
        what: Cow<'static, str>,
        /// Address of the account.
        address: Address,
    },
    /// The account belongs to another program than expected.
    #[code(7011)]
    #[error("The account {address} is not of type {what}: it belongs to the program {owner}.")]
    WrongOwner {
        /// The expected type of the account.
        what: Cow<'static, str>,
        /// Address of the account.
        address: Address,
        /// The program that owns the account.
        owner: Address,
    },
    /// The account's data does not have the expected form.
    #[code(7012)]
    #[error("The account {address} is not of type {what}: its {size} bytes do not have that form.")]
    MalformedAccount {
        /// The expected type of the account.
        what: Cow<'static, str>,
        /// Address of the account.
        address: Address,
        /// Size of the account's data in bytes.
        size: usize,
    },
    /// The protocol was not deployed or never configured on this cluster.
    #[code(7013)]
    #[error("The zx1 protocol is not set up on {cluster}: it has no configuration account.")]
    NotConfigured {
        /// The cluster that was searched.
        cluster: String,
    },
    /// The mint is not one of a registered agent.
    #[code(7014)]
    #[error("{mint} is not an agent of the registry {registry}.")]
    NotAnAgent {
        /// The mint as it was given.
        mint: AgentId,
        /// The registry that was searched.
        registry: &'static str,
    },
    /// The agent's token was burned, so that the agent has no owner.
    #[code(7015)]
    #[error("The agent {mint} was burned: nobody owns it any more.")]
    AgentBurned {
        /// Mint of the agent.
        mint: AgentId,
    },
    /// The node has no transaction of this signature.
    #[code(7016)]
    #[error("The node knows no transaction {signature}.")]
    TransactionMissing {
        /// Signature of the transaction.
        signature: Signature,
    },
    /// The wallet may not act for the agent.
    #[code(7017)]
    #[error("The wallet {wallet} neither holds the agent {mint} nor is a key of it that may do this.")]
    NotAuthorized {
        /// Mint of the agent.
        mint: AgentId,
        /// Address of the wallet.
        wallet: Address,
    },

    /// The wallet has no token account of USDC.
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
    /// A signed transaction whose outcome is not known yet.
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
    /// The node's history does not reach back far enough to decide whether the transaction landed.
    #[code(7062)]
    #[error(
        "Whether the transaction {signature} landed cannot be told: the history of {url} begins at slot \
         {first_slot}, after it was signed."
    )]
    HistoryGone {
        /// Signature of the transaction.
        signature: Signature,
        /// URL of the node.
        url: String,
        /// The first slot of the node's history.
        first_slot: u64,
    },
    /// The transaction exceeds the size limit.
    #[code(7063)]
    #[error("The transaction would have {size} bytes; {max} are allowed.")]
    TooLarge {
        /// Size of the transaction in bytes.
        size: usize,
        /// Maximum size in bytes.
        max: usize,
    },
    /// A signature is missing.
    #[code(7064)]
    #[error("The signature of {address} is missing.")]
    MissingSigner {
        /// Address whose key is missing.
        address: Address,
    },
    /// A signature does not fit the transaction.
    #[code(7065)]
    #[error("The signature of {address} does not fit this transaction.")]
    BadSignature {
        /// Address whose signature does not fit.
        address: Address,
    },
    /// The bytes do not decode as a transaction or message.
    #[code(7066)]
    #[error("The transaction cannot be read: {detail}.")]
    BadTransaction {
        /// Why decoding failed.
        detail: String,
    },
    /// Two partly signed files of different transactions.
    #[code(7067)]
    #[error("The two files hold different transactions, so their signatures cannot be put together.")]
    DifferentTransactions,
    /// The user declined to send the transaction.
    #[code(7068)]
    #[error("Nothing was sent, as you did not agree.")]
    Declined,

    /// The outbox cannot be read or written.
    #[code(7080)]
    #[error("The outbox file {path} cannot be used: {detail}.", path = .path.display())]
    Outbox {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        detail: String,
    },
    /// A record of the outbox cannot be read.
    #[code(7081)]
    #[error("The outbox record {path} is damaged: {detail}.", path = .path.display())]
    OutboxDamaged {
        /// Path of the file.
        path: PathBuf,
        /// Why decoding failed.
        detail: String,
    },
    /// Another process is sending the same transaction.
    #[code(7082)]
    #[error("Another process is sending this very transaction ({intent}).")]
    OutboxBusy {
        /// Name of the intent.
        intent: String,
    },

    /// An argument is invalid, as the sentence says.
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
