//! What a session fails with. Texts name no command line: the next step is the front end's.

use nano_escrow::escrow::EscrowError;
use nano_escrow::journal::JournalError;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use zx1_agent::bridge::BridgeError;
use zx1_coded::Coded;
use zx1_fixer::rules::Decline;
use zx1_home::files::ReadError;
use zx1_market::ContractId;
use zx1_market::contract::ChangeClass;
use zx1_market_client::ClientError;
use zx1_model::budget::BudgetError;
use zx1_model::{ModelError, NameError};
use zx1_sandbox::SandboxError;
use zx1_trial::Lack;

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This crate's own errors.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Consent is needed and nobody can be asked.
    #[error("Nobody is there to agree to it.")]
    Unattended,
    /// The user declined.
    #[error("The user declined.")]
    Declined,
    /// The user stopped it, and nothing was under way at the market.
    #[error("Stopped by the user.")]
    Interrupted,
    /// The user stopped it, and the contract was dealt with.
    #[error("Stopped by the user.")]
    Stopped(Stopped),
    /// The market, or its client.
    #[error(transparent)]
    Market(Box<ClientError>),
    /// The market's rules.
    #[error(transparent)]
    Rules(#[from] zx1_market::Refusal),
    /// The log of 0x01 envelopes.
    #[error(transparent)]
    Envelope(Box<BridgeError>),
    /// Error of the sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The built-in rules know no fix.
    #[error(transparent)]
    Rule(#[from] Decline),
    /// The user's own model cannot be set up.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The user's own model gives no answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What the user's own model may cost.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// Error of the wallet.
    #[error(transparent)]
    Wallet(#[from] EscrowError),
    /// The wallet's journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be read.
    #[error("{} cannot be read: {source}.", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Why it is not read.
        source: ReadError,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}.", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        Self::Market(Box::new(error))
    }
}

impl From<BridgeError> for Error {
    fn from(error: BridgeError) -> Self {
        match error {
            BridgeError::Client(error) => error.into(),
            error => Self::Envelope(Box::new(error)),
        }
    }
}

impl Error {
    pub(crate) fn read(path: &Path) -> impl FnOnce(ReadError) -> Self {
        move |source| Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { path: path.to_owned(), source }
    }

    /// Number of the error, where it has one: the rest says what the user did, or what the system did.
    pub fn code(&self) -> Option<u32> {
        Some(match self {
            Self::Refused(error) => error.code(),
            Self::Market(error) => error.code(),
            Self::Rules(error) => error.code(),
            Self::Envelope(error) => error.code(),
            Self::Sandbox(error) => error.code(),
            Self::Rule(error) => error.code(),
            Self::Name(error) => error.code(),
            Self::Model(error) => error.code(),
            Self::Budget(error) => error.code(),
            Self::Wallet(error) => error.code(),
            Self::Journal(error) => error.code(),
            _ => return None,
        })
    }

    /// Whether a fix may still be found elsewhere: nobody has declined, and what failed is not this machine's.
    pub(crate) fn leaves_hope(&self) -> bool {
        matches!(
            self,
            Self::Rule(_)
                | Self::Name(_)
                | Self::Model(_)
                | Self::Budget(_)
                | Self::Refused(Refusal::Unfixed | Refusal::ModelDeclines { .. } | Refusal::NotReproduced)
        )
    }

    /// Whether the user declined, where a user was asked.
    pub(crate) fn is_no(&self) -> bool {
        matches!(
            self,
            Self::Declined | Self::Refused(Refusal::NotConsented { .. } | Refusal::CommandNotAccepted { .. })
        )
    }
}

/// What a stop meant for the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nobody had taken it, so it was canceled.
    Canceled(ContractId),
    /// It was halted. In a contract with a bounty a judge decides after 30 s, unless it is resumed.
    Halted {
        /// The contract's id.
        contract: ContractId,
        /// Whether it has no bounty.
        free: bool,
    },
    /// It had ended before.
    Ended(ContractId),
    /// It goes on without this party.
    GoesOn(ContractId),
}

impl Stopped {
    /// The contract's id.
    pub fn contract(&self) -> ContractId {
        match self {
            Self::Canceled(contract)
            | Self::Halted { contract, .. }
            | Self::Ended(contract)
            | Self::GoesOn(contract) => *contract,
        }
    }
}

/// This crate's own errors, numbers 9532 to 9575.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Refusal {
    #[code(9532)]
    #[error("There is no applied fix in this folder to undo.")]
    NothingToUndo,
    #[code(9533)]
    #[error("There is no undo record {id}.")]
    NoSuchRecord { id: String },
    #[code(9540)]
    #[error("The command is not UTF-8, so no contract can hold it.")]
    NotUtf8,
    #[code(9541)]
    #[error("{program} cannot be run: {why}.")]
    CannotRun { program: String, why: String },
    #[code(9544)]
    #[error("It is not fixed: the proposal does not work in the sandbox, so nothing was changed.")]
    Unfixed,
    #[code(9570)]
    #[error(
        "The failure cannot be reproduced: in the sandbox the command ends otherwise than on your machine, so no fix \
         can be proven there."
    )]
    NotReproduced,
    #[code(9571)]
    #[error("The command works in the sandbox, but not on this machine, so the changes were taken back.")]
    OutsideFailed,
    #[code(9572)]
    #[error("Not run: {line} could not be tested without {lack}, and nobody is here to agree to it.")]
    Unproven { line: String, lack: Lack },
    #[code(9573)]
    #[error(
        "Not sent: the command was not found (exit code 127), which is often a typing error, and nobody is here to \
         confirm it."
    )]
    NotFoundUnconfirmed,
    #[code(9574)]
    #[error("The model {model} proposes no fix: {why}")]
    ModelDeclines { model: String, why: String },
    #[code(9545)]
    #[error("The expected output holds a secret ({found}), and every agent reads it.")]
    SecretExpected { found: String },
    #[code(9546)]
    #[error("{path} is not below the folder in which the command failed.")]
    InputOutside { path: String },
    #[code(9547)]
    #[error("Not applied: the fix changes {what}, and nobody agreed to that.")]
    NotConsented { what: String, needs: BTreeSet<ChangeClass> },
    #[code(9548)]
    #[error("Not applied: the fix puts {line} in place of your command, and nobody agreed to that.")]
    CommandNotAccepted { line: String },
    #[code(9549)]
    #[error("Not applied: the fix changes {count} {what}, too many to confirm unseen.")]
    TooManyPaths { count: usize, what: String },
    #[code(9550)]
    #[error("There is no contract {what} here.")]
    NoContract { what: String },
    #[code(9551)]
    #[error("Contract {id} has ended: it is {state}.")]
    Ended { id: ContractId, state: &'static str },
    #[code(9552)]
    #[error("Contract {id} is not yours.")]
    NotOurs { id: ContractId },
    #[code(9553)]
    #[error("The record {path} does not parse: {why}.")]
    StateMalformed { path: String, why: String },
    #[code(9556)]
    #[error("Another process is working on contract {id}.")]
    OtherRun { id: String },
    #[code(9560)]
    #[error("No Nano node is named, so the wallet cannot reach the ledger.")]
    NoNode,
    #[code(9561)]
    #[error("invalid Nano network '{text}': expected live, beta, dev or test.")]
    BadNetwork { text: String },
    #[code(9562)]
    #[error("The wallet's first block on {network} needs a representative, and none is named.")]
    NoRepresentative { network: String },
    #[code(9565)]
    #[error("invalid Nano address '{text}': {why}.")]
    BadAddress { text: String, why: String },
    #[code(9566)]
    #[error("There is an agent id, and no Solana cluster is named.")]
    NoCluster,
    #[code(9567)]
    #[error("The test clock of {url} must not say when you sign: the market is not on this machine.")]
    TestClock { url: String },
}
