//! The errors of this crate: numbers 7200 to 7299.

use crate::limits::MAX_FROM_SENDER;
use std::io;
use std::path::{Path, PathBuf};
use zx1_coded::Coded;
use zx1_interface::constants::{MAX_EVIDENCE_PAYLOAD, MAX_TREE_LEN};
use zx1_protocol::batch::BatchError;
use zx1_protocol::behavior_batch::BuildError;
use zx1_protocol::bundle::BundleError;
use zx1_protocol::envelope::{EnvelopeError, MAX_LOGGED_PAYLOAD};
use zx1_protocol::merkle::TreeError;
use zx1_protocol::nonce::NonceError;
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::{MAX_MESSAGE_SIZE, Reason};

/// What this crate's functions return.
pub type Result<T, E = LogError> = std::result::Result<T, E>;

/// Why the log refuses.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system refused an operation on a file.
    #[code(7200)]
    #[error("Could not {action} {}: {source}.", path.display())]
    Io {
        /// What was tried: "write", "read", "sync", ...
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process, or another part of this one, has the agent's folder open for writing.
    #[code(7201, transient)]
    #[error("The agent's folder {} is in use by another process.", path.display())]
    InUse {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The process that has the log ended, or closed the connection, before it answered. What it was asked
    /// to do may have been done.
    #[code(7204, transient)]
    #[error("The process that has the agent's log ended before it answered.")]
    OwnerLost,
    /// The process that has the log has not answered in time. What it was asked to do may be done yet.
    #[code(7205, transient)]
    #[error("The process that has the agent's log did not answer in time.")]
    OwnerSilent,
    /// What the process at the other end of the log's socket says is not this protocol, of another version,
    /// or about another agent.
    #[code(7206)]
    #[error("The process that has the agent's log does not speak this program's language: {0}.")]
    OwnerUnknown(&'static str),
    /// A refusal of the process that has the log, as it came over its socket.
    #[code(inner)]
    #[error(transparent)]
    ByOwner(OwnerRefusal),
    /// The file is of another agent or of another epoch than its place says.
    #[code(7202)]
    #[error("The file {} belongs to another agent or to another epoch.", path.display())]
    WrongOwner {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file does not begin as a file of this kind and version does.
    #[code(7203)]
    #[error("The file {} is not a file of this kind, or of a newer version of it.", path.display())]
    WrongFormat {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is of the first edition, whose batches and records were others. Nothing of it is read.
    #[code(7207)]
    #[error("The file {} is of an earlier version of the log, which this program does not read.", path.display())]
    OldFormat {
        /// Path of the file.
        path: PathBuf,
    },
    /// The batch was signed in a folder that is not this one, though it is of this agent.
    #[code(7208)]
    #[error("The batch {} was signed by another log of this agent.", path.display())]
    OtherLog {
        /// Path of the file.
        path: PathBuf,
    },
    /// A write failed half-way and could not be taken back, or a sync failed.
    #[code(7211)]
    #[error("An earlier write to {} failed, so nothing more is added to it.", path.display())]
    WriteFailedBefore {
        /// Path of the file.
        path: PathBuf,
    },
    /// What had been synced to disk is no longer readable. Never repaired silently.
    #[code(7212)]
    #[error("The file {} is damaged at byte {offset}: {why}.", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Where the first unreadable record begins.
        offset: u64,
        /// What does not fit.
        why: &'static str,
    },
    /// A batch of this epoch, or of a later one, has been signed.
    #[code(7220)]
    #[error("Epoch {} is closed: a batch that covers it has been signed.", .0.0)]
    EpochSealed(Epoch),
    /// The epochs that a batch can cover together hold as many messages of this sender as are taken.
    #[code(7221)]
    #[error(
        "The log has {MAX_FROM_SENDER} messages of the sender already, the most before the next batch lands."
    )]
    SenderFull,
    /// A sent message that is not from this agent, or a received one that is not to it.
    #[code(7222)]
    #[error("The message is neither from this agent nor to it, or its direction is wrong.")]
    NotOurs,
    /// A received message breaks a rule of receivers (protocol.md, 5.5).
    #[code(inner)]
    #[error("{0}")]
    Rule(#[from] Reason),
    /// A payload that a challenge could not rest on (decision B11).
    #[code(7223)]
    #[error("The payload has {len} bytes; for this type of message {MAX_EVIDENCE_PAYLOAD} are the most.")]
    PayloadTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// Longer than a message can be (protocol.md, 3.3).
    #[code(7224)]
    #[error("The message has {len} bytes; {MAX_MESSAGE_SIZE} are the most.")]
    MessageTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// A payload that the entry holds, in an entry that nobody could show when it is asked for (decision P4).
    #[code(7245)]
    #[error(
        "The payload has {len} bytes; in this type of message, which the log keeps whole, {MAX_LOGGED_PAYLOAD} are the most."
    )]
    LoggedPayloadTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The envelope contradicts itself.
    #[code(7225)]
    #[error("The envelope cannot be logged: {0}")]
    Envelope(#[from] EnvelopeError),
    /// The epochs that the next batch covers hold as many entries as a batch can have.
    #[code(7226)]
    #[error("The log of the open epochs is full: a batch can have {MAX_TREE_LEN} entries at most.")]
    LogFull,
    /// The nonce is not greater than the sender's last on this channel, or there is no next one.
    #[code(7227)]
    #[error("The nonce cannot be used: {0}")]
    Nonce(#[from] NonceError),
    /// A payload that the batch needs is not in the store.
    #[code(7228)]
    #[error("The payload {hash} is not in the payload store.")]
    PayloadMissing {
        /// Its keccak256, as hex.
        hash: String,
    },
    /// A payload file's bytes do not have the hash that its name says.
    #[code(7229)]
    #[error("The payload file {} does not have the content that its name says.", path.display())]
    PayloadDamaged {
        /// Path of the file.
        path: PathBuf,
    },
    /// A different batch has been signed for this epoch.
    #[code(7230)]
    #[error("Another batch of epoch {} has been signed and saved already.", .0.0)]
    SealedDifferently(Epoch),
    /// The log does not have the batch's root: entries came in after it was built, or it is of another log.
    #[code(7231)]
    #[error("The log of the covered epochs is not the one that the batch was built from.")]
    LogChanged,
    /// The batch cannot be built.
    #[code(7232)]
    #[error("The batch cannot be built: {0}")]
    Build(#[from] BuildError),
    /// A bundle does not hold together.
    #[code(7233)]
    #[error("The batch's data is not valid: {0}")]
    Bundle(#[from] BundleError),
    /// A bundle of another agent or epoch than was asked for.
    #[code(7234)]
    #[error("The batch's data is of another agent or of another epoch.")]
    WrongBundle,
    /// The range has more entries than a tree can count.
    #[code(7235)]
    #[error("The log is too long for a tree: {0}")]
    Tree(#[from] TreeError),
    /// A signed batch may land yet, so nothing else is signed for that head (decision P2).
    #[code(7236)]
    #[error("The batch of epoch {} is signed and may still land; send it again.", .0.0)]
    MayStillLand(Epoch),
    /// The message covers other epochs than a batch on that head must.
    #[code(7237)]
    #[error("The batch covers the epochs from {}, but it must cover those from {}.", covers_from.0, must.0)]
    WrongCoverage {
        /// The first that the message covers.
        covers_from: Epoch,
        /// The first that it must cover.
        must: Epoch,
    },
    /// The nodes show different heads, or one that lies behind what this folder has seen.
    #[code(7238, transient)]
    #[error("The nodes that were asked do not show one head that follows this folder's batches.")]
    HeadsDiffer,
    /// Another log of the agent has landed a batch in this tenure. What it has and this one lacks would be left
    /// out of every batch that is signed here (decision P2).
    #[code(7239)]
    #[error("The agent's batch of epoch {} was not signed in this folder, so another log of it is in use.", .0.0)]
    ForeignBatch(Epoch),
    /// No node was asked for the head.
    #[code(7243)]
    #[error("The agent's head is not known, so no batch is signed.")]
    HeadUnknown,
    /// What was signed is another batch than the data, of another network, or follows another head.
    #[code(7244)]
    #[error(
        "The signed message is not of this batch, this network and the present head; build and sign again."
    )]
    NotThisBatch,
    /// No batch of that epoch can land now.
    #[code(7246)]
    #[error("The batch cannot land: {0}")]
    CannotLand(#[from] BatchError),
    /// A backup goes into an empty folder only, and is restored into an empty one only.
    #[code(7240)]
    #[error("The folder {} is not empty.", path.display())]
    NotEmpty {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The backup has no readable list of its files, or one of another version or agent.
    #[code(7241)]
    #[error("The folder {} is not a complete backup of this agent.", path.display())]
    NotABackup {
        /// Path of the folder.
        path: PathBuf,
    },
    /// A file of the backup is missing or is not what the list says.
    #[code(7242)]
    #[error("The backup's file {} is missing or has changed.", path.display())]
    BackupDamaged {
        /// Path of the file.
        path: PathBuf,
    },
    /// The server knows no such batch on chain (404 on PUT).
    #[code(7260)]
    #[error("The server does not see this batch on chain: {sentence}")]
    NotOnChain {
        /// What the server said.
        sentence: String,
    },
    /// The server compared the data with the chain and they differ (422).
    #[code(7261)]
    #[error("The server refused the data (its number {code}): {sentence}")]
    Mismatch {
        /// The server's error number.
        code: u64,
        /// What the server said.
        sentence: String,
    },
    /// Any other answer that is not success.
    #[code(7262)]
    #[error("The server at {url} answered with status {status}: {sentence}")]
    Refused {
        /// URL that was asked.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened.
        sentence: String,
    },
    /// No connection, or it broke.
    #[code(7263, transient)]
    #[error("The server at {url} cannot be reached: {why}.")]
    Unreachable {
        /// URL that was asked.
        url: String,
        /// What went wrong.
        why: String,
    },
    /// No answer in time.
    #[code(7264, transient)]
    #[error("The server at {url} did not answer in time.")]
    TooSlow {
        /// URL that was asked.
        url: String,
    },
    /// More bytes than a bundle can have.
    #[code(7265)]
    #[error("The data is larger than {limit} bytes, the most that a batch's data can be.")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// Neither a folder nor an http address.
    #[code(7267)]
    #[error("`{0}` is neither a folder nor an http or https address.")]
    BadLocation(String),
}

/// A refusal of the process that has the log: what is left of it after the socket.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct OwnerRefusal {
    /// The number that it has there.
    pub code: u32,
    /// Text of the owner's error.
    pub sentence: String,
    /// [`LogError::is_of_message`] of the owner's error.
    pub of_message: bool,
    /// [`Coded::transient`] of the owner's error.
    pub transient: bool,
}

impl Coded for OwnerRefusal {
    fn code(&self) -> u32 {
        self.code
    }

    fn name(&self) -> &'static str {
        "ByOwner"
    }

    fn transient(&self) -> bool {
        self.transient
    }
}

impl LogError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, why: &'static str) -> Self {
        Self::Damaged { path: path.to_owned(), offset, why }
    }

    /// Whether this one message is refused for what it is. Nothing was written, and the log takes others.
    pub fn is_of_message(&self) -> bool {
        matches!(
            self,
            Self::ByOwner(OwnerRefusal { of_message: true, .. })
                | Self::Rule(_)
                | Self::EpochSealed(_)
                | Self::SenderFull
                | Self::NotOurs
                | Self::PayloadTooLong { .. }
                | Self::MessageTooLong { .. }
                | Self::LoggedPayloadTooLong { .. }
                | Self::Envelope(_)
                | Self::Nonce(_)
        )
    }
}
