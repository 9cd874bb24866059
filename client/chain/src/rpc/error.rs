//! What can go wrong between this machine and a cluster. Every error has a number from 7000 to 7199, a full
//! sentence, and what to do next. A program's refusal keeps the program's own number ([`Refusal`]).

use super::refusal::Refusal;
use solana_address::Address;
use solana_signature::Signature;
use std::borrow::Cow;
use std::path::PathBuf;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// Nobody answers.
    #[error("No answer from {url}: {detail}.")]
    Unreachable {
        /// Where it was asked.
        url: String,
        /// What the connection said.
        detail: String,
    },
    /// The node wants fewer requests.
    #[error("{url} limits the number of requests and refused this one.")]
    RateLimited {
        /// Where it was asked.
        url: String,
    },
    /// What answers is no Solana node, or one that lacks this method.
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
    #[error("{url} refused {method} with its error {number}: {message}.")]
    NodeRefused {
        /// Where it was asked.
        url: String,
        /// What was asked.
        method: String,
        /// JSON-RPC's number.
        number: i64,
        /// Its words.
        message: String,
    },
    /// The node knows that it is behind.
    #[error("The node at {url} is behind the cluster and answers nothing reliable now.")]
    NodeBehind {
        /// Where it was asked.
        url: String,
    },
    /// Neither URL nor moniker.
    #[error("'{text}' is neither a URL that begins with http:// or https:// nor a cluster's moniker.")]
    BadUrl {
        /// What was given.
        text: String,
    },

    /// A needed account is not there.
    #[error("There is no {what} at {address}.")]
    AccountMissing {
        /// What should be there.
        what: Cow<'static, str>,
        /// Where.
        address: Address,
    },
    /// An account of another program.
    #[error("The account {address} is no {what}: it belongs to the program {owner}.")]
    WrongOwner {
        /// What should be there.
        what: Cow<'static, str>,
        /// Where.
        address: Address,
        /// Whose it is.
        owner: Address,
    },
    /// An account whose bytes are not what they should be.
    #[error("The account {address} is no {what}: its {size} bytes do not have that form.")]
    MalformedAccount {
        /// What should be there.
        what: Cow<'static, str>,
        /// Where.
        address: Address,
        /// How many bytes there are.
        size: usize,
    },
    /// The protocol is not there or was never configured.
    #[error("The zx1 protocol is not set up on {cluster}: it has no configuration account.")]
    NotConfigured {
        /// Where it was looked for.
        cluster: String,
    },
    /// A mint that is no agent.
    #[error("{mint} is no agent of the registry {registry}.")]
    NotAnAgent {
        /// What was given.
        mint: Address,
        /// Where it was looked for.
        registry: &'static str,
    },
    /// Nobody holds the agent's token.
    #[error("The agent {mint} was burned: nobody owns it any more.")]
    AgentBurned {
        /// The agent.
        mint: Address,
    },
    /// No transaction of this signature.
    #[error("The node knows no transaction {signature}.")]
    TransactionMissing {
        /// The signature.
        signature: Signature,
    },
    /// The wallet may not act for the agent.
    #[error("The wallet {wallet} neither owns the agent {mint} nor is its live delegate.")]
    NotAuthorized {
        /// The agent.
        mint: Address,
        /// The wallet.
        wallet: Address,
    },

    /// A wallet without any account of USDC.
    #[error("The wallet {wallet} has no USDC on this cluster.")]
    NoUsdc {
        /// The wallet.
        wallet: Address,
        /// Whether the cluster is a local one.
        local: bool,
    },

    /// The cluster refuses the transaction, in simulation or after it landed.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// A signed transaction of unknown fate.
    #[error(
        "The transaction {signature} is not confirmed and may still land, until block height \
         {last_valid_block_height}."
    )]
    NotConfirmed {
        /// Its signature.
        signature: Signature,
        /// The last block in which it can land.
        last_valid_block_height: u64,
    },
    /// A signed transaction that never landed and never can.
    #[error("The transaction {signature} expired before it landed. Nothing was done.")]
    Expired {
        /// Its signature.
        signature: Signature,
    },
    /// The node's memory does not reach back far enough to decide.
    #[error(
        "Whether the transaction {signature} landed cannot be told: the history of {url} begins at slot \
         {first_slot}, after it was signed."
    )]
    HistoryGone {
        /// Its signature.
        signature: Signature,
        /// Where it was asked.
        url: String,
        /// The node's first slot.
        first_slot: u64,
    },
    /// More bytes than a transaction may have.
    #[error("The transaction would have {size} bytes; {max} are allowed.")]
    TooLarge {
        /// What it would have.
        size: usize,
        /// What is allowed.
        max: usize,
    },
    /// A signature is missing.
    #[error("The signature of {address} is missing.")]
    MissingSigner {
        /// Whose.
        address: Address,
    },
    /// A signature that does not hold.
    #[error("The signature of {address} does not fit this transaction.")]
    BadSignature {
        /// Whose.
        address: Address,
    },
    /// A transaction or message that is none.
    #[error("This is no transaction that zx1 can read: {detail}.")]
    BadTransaction {
        /// What is wrong.
        detail: String,
    },
    /// Two partly signed files of different transactions.
    #[error("The two files hold different transactions, so their signatures cannot be put together.")]
    DifferentTransactions,
    /// The user said no.
    #[error("Nothing was sent, as you did not agree.")]
    Declined,

    /// The outbox cannot be read or written.
    #[error("The outbox file {path} cannot be used: {detail}.", path = .path.display())]
    Outbox {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// A record of the outbox cannot be read.
    #[error("The outbox record {path} is damaged: {detail}.", path = .path.display())]
    OutboxDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// Another process is at the same transaction.
    #[error("Another zx1 process is sending this very transaction ({intent}).")]
    OutboxBusy {
        /// What it does.
        intent: String,
    },

    /// A wrong argument.
    #[error("{0}")]
    Invalid(String),
}

/// A result of this crate.
pub type Result<T, E = ChainError> = std::result::Result<T, E>;

impl ChainError {
    /// The error's number.
    pub fn code(&self) -> u16 {
        match self {
            Self::Unreachable { .. } => 7000,
            Self::RateLimited { .. } => 7001,
            Self::WrongNode { .. } => 7002,
            Self::WrongCluster { .. } => 7003,
            Self::Malformed { .. } => 7004,
            Self::NodeRefused { .. } => 7005,
            Self::NodeBehind { .. } => 7006,
            Self::BadUrl { .. } => 7007,
            Self::AccountMissing { .. } => 7010,
            Self::WrongOwner { .. } => 7011,
            Self::MalformedAccount { .. } => 7012,
            Self::NotConfigured { .. } => 7013,
            Self::NotAnAgent { .. } => 7014,
            Self::AgentBurned { .. } => 7015,
            Self::TransactionMissing { .. } => 7016,
            Self::NotAuthorized { .. } => 7017,
            Self::NoUsdc { .. } => 7018,
            Self::Refused(refusal) => refusal.code,
            Self::NotConfirmed { .. } => 7060,
            Self::Expired { .. } => 7061,
            Self::HistoryGone { .. } => 7062,
            Self::TooLarge { .. } => 7063,
            Self::MissingSigner { .. } => 7064,
            Self::BadSignature { .. } => 7065,
            Self::BadTransaction { .. } => 7066,
            Self::DifferentTransactions => 7067,
            Self::Declined => 7068,
            Self::Outbox { .. } => 7080,
            Self::OutboxDamaged { .. } => 7081,
            Self::OutboxBusy { .. } => 7082,
            Self::Invalid(_) => 7090,
        }
    }

    /// What to do now.
    pub fn next(&self) -> Option<Cow<'static, str>> {
        let text: &'static str = match self {
            Self::Unreachable { url, .. } if url.contains("127.0.0.1") || url.contains("localhost") => {
                "start the local cluster with zx1-localnet, or name another one with --url"
            }
            Self::Unreachable { .. } => {
                "check the network and the address (--url), then run the command again"
            }
            Self::RateLimited { .. } => "wait a minute, or use a node of your own with --url",
            Self::WrongNode { .. } => "check the address: it must be a Solana RPC (--url)",
            Self::WrongCluster { .. } => "choose the cluster that you mean with --url",
            Self::Malformed { .. } | Self::NodeRefused { .. } => "try another node with --url",
            Self::NodeBehind { .. } => "wait until it has caught up, or try another node with --url",
            Self::BadUrl { .. } => "use localhost, devnet, testnet, mainnet-beta or a URL",
            Self::AccountMissing { .. } | Self::WrongOwner { .. } | Self::MalformedAccount { .. } => {
                "check the address and the cluster (zx1 doctor)"
            }
            Self::NotConfigured { .. } => "check the cluster with zx1 doctor; a local one: zx1-localnet",
            Self::NotAnAgent { .. } => "register an agent with zx1 register, or check the address",
            Self::AgentBurned { .. } => "its last owner can still claim the stake: zx1 stake claim",
            Self::TransactionMissing { .. } => "check the signature and the cluster (--url)",
            Self::NotAuthorized { .. } => "use the owner's wallet (--keypair), or zx1 delegate add",
            Self::NoUsdc { wallet, local: true } => {
                return Some(format!("zx1-localnet fund {wallet} --usdc 100").into());
            }
            Self::NoUsdc { .. } => "send it some USDC first",
            Self::Refused(refusal) => return refusal.next.clone(),
            Self::NotConfirmed { .. } => {
                "run the same command again: it looks for this transaction first and never pays twice"
            }
            Self::Expired { .. } => "run the same command again",
            Self::HistoryGone { .. } => "ask a node with the whole history (--url) and run the command again",
            Self::TooLarge { .. } => "shorten it",
            Self::MissingSigner { .. } => "sign with that key too (--keypair, or --sign-only and combine)",
            Self::BadSignature { .. } => "sign this transaction again",
            Self::BadTransaction { .. } => "give it as base64, as --sign-only printed it",
            Self::DifferentTransactions => "sign the same file with each key",
            Self::Declined => return None,
            Self::Outbox { .. } => "check the folder's rights and free space",
            Self::OutboxDamaged { .. } => "look the transaction up by hand before you delete the file",
            Self::OutboxBusy { .. } => "wait for the other process",
            Self::Invalid(_) => "correct it and run the command again",
        };
        Some(Cow::Borrowed(text))
    }

    /// Whether the same question may be answered the next time.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::RateLimited { .. }
                | Self::NodeBehind { .. }
                | Self::Malformed { .. }
        )
    }
}

impl From<Refusal> for ChainError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}
