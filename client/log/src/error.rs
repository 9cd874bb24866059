//! Every refusal of this crate: a number from 7200 on, a sentence, and what to do next.

use std::io;
use std::path::{Path, PathBuf};
use zx1_interface::constants::{MAX_EVIDENCE_PAYLOAD, MAX_TREE_LEN};
use zx1_protocol::behavior_batch::BuildError;
use zx1_protocol::bundle::BundleError;
use zx1_protocol::envelope::EnvelopeError;
use zx1_protocol::merkle::TreeError;
use zx1_protocol::nonce::NonceError;
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::{MAX_MESSAGE_SIZE, Reason};

/// What this crate's functions return.
pub type Result<T, E = LogError> = std::result::Result<T, E>;

/// Why the log refuses. The text is a full sentence; [`Self::next`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system refused an operation on a file.
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
    #[error("The agent's folder {} is in use by another process.", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The process that has the log ended, or closed the connection, before it answered. What it was asked
    /// to do may have been done.
    #[error("The process that has the agent's log ended before it answered.")]
    OwnerLost,
    /// The process that has the log has not answered in time. What it was asked to do may be done yet.
    #[error("The process that has the agent's log did not answer in time.")]
    OwnerSilent,
    /// What the process at the other end of the log's socket says is not this protocol, of another version,
    /// or about another agent.
    #[error("The process that has the agent's log does not speak this program's language: {0}.")]
    OwnerUnknown(&'static str),
    /// A refusal of the process that has the log, as it came over its socket.
    #[error("{sentence}")]
    ByOwner {
        /// The number that the refusal has there.
        code: u16,
        /// Its text.
        sentence: String,
        /// [`Self::is_of_message`] there.
        of_message: bool,
    },
    /// The file is of another agent or of another epoch than its place says.
    #[error("The file {} belongs to another agent or to another epoch.", path.display())]
    WrongOwner {
        /// The file.
        path: PathBuf,
    },
    /// The file does not begin as a file of this kind and version does.
    #[error("The file {} is not a file of this kind, or of a newer version of it.", path.display())]
    WrongFormat {
        /// The file.
        path: PathBuf,
    },
    /// A write failed half-way and could not be taken back, or a sync failed.
    #[error("An earlier write to {} failed, so nothing more is added to it.", path.display())]
    WriteFailedBefore {
        /// The file.
        path: PathBuf,
    },
    /// What had been synced to disk is no longer readable. Never repaired silently.
    #[error("The file {} is damaged at byte {offset}: {why}.", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the first unreadable record begins.
        offset: u64,
        /// What does not fit.
        why: &'static str,
    },
    /// A batch of this epoch, or of a later one, has been signed.
    #[error("Epoch {} is closed: a batch that covers it has been signed.", .0.0)]
    EpochSealed(Epoch),
    /// A second own PROPOSE, COUNTER or ACCEPT with equal conversation, recipient and block_ref
    /// (decision C6).
    #[error("A bid of this conversation to this recipient at slot {slot} is in the log already.")]
    DuplicateBid {
        /// The block_ref that both have.
        slot: u64,
    },
    /// A sent message that is not from this agent, or a received one that is not to it.
    #[error("The message is neither from this agent nor to it, or its direction is wrong.")]
    NotOurs,
    /// A received message breaks a rule of receivers (spec section 5.5).
    #[error("{0}")]
    Rule(#[from] Reason),
    /// A payload that a challenge could not rest on (decision B11).
    #[error("The payload has {len} bytes; for this type of message {MAX_EVIDENCE_PAYLOAD} are the most.")]
    PayloadTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// Longer than a message can be (spec section 3.3).
    #[error("The message has {len} bytes; {MAX_MESSAGE_SIZE} are the most.")]
    MessageTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The envelope contradicts itself.
    #[error("The envelope cannot be logged: {0}")]
    Envelope(#[from] EnvelopeError),
    /// The epochs that the next batch covers hold as many entries as a batch can have.
    #[error("The log of the open epochs is full: a batch can have {MAX_TREE_LEN} entries at most.")]
    LogFull,
    /// The nonce is not greater than the sender's last on this channel, or there is no next one.
    #[error("The nonce cannot be used: {0}")]
    Nonce(#[from] NonceError),
    /// A payload that the batch needs is not in the store.
    #[error("The payload {hash} is not in the payload store.")]
    PayloadMissing {
        /// Its keccak256, as hex.
        hash: String,
    },
    /// A payload file's bytes do not have the hash that its name says.
    #[error("The payload file {} does not have the content that its name says.", path.display())]
    PayloadDamaged {
        /// The file.
        path: PathBuf,
    },
    /// A different batch has been signed for this epoch.
    #[error("Another batch of epoch {} has been signed and saved already.", .0.0)]
    SealedDifferently(Epoch),
    /// The log does not have the batch's root: entries came in after it was built, or it is of another log.
    #[error("The log of the covered epochs is not the one that the batch was built from.")]
    LogChanged,
    /// The batch cannot be built.
    #[error("The batch cannot be built: {0}")]
    Build(#[from] BuildError),
    /// A bundle does not hold together.
    #[error("The batch's data is not valid: {0}")]
    Bundle(#[from] BundleError),
    /// A bundle of another agent or epoch than was asked for.
    #[error("The batch's data is of another agent or of another epoch.")]
    WrongBundle,
    /// The range has more entries than a tree can count.
    #[error("The log is too long for a tree: {0}")]
    Tree(#[from] TreeError),
    /// A backup goes into an empty folder only, and is restored into an empty one only.
    #[error("The folder {} is not empty.", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The backup has no readable list of its files, or one of another version or agent.
    #[error("The folder {} is not a complete backup of this agent.", path.display())]
    NotABackup {
        /// The folder.
        path: PathBuf,
    },
    /// A file of the backup is missing or is not what the list says.
    #[error("The backup's file {} is missing or has changed.", path.display())]
    BackupDamaged {
        /// The file.
        path: PathBuf,
    },
    /// The server knows no such batch on chain (404 on PUT).
    #[error("The server does not see this batch on chain: {sentence}")]
    NotOnChain {
        /// What the server said.
        sentence: String,
    },
    /// The server compared the data with the chain and they differ (422).
    #[error("The server refused the data (its number {code}): {sentence}")]
    Mismatch {
        /// The server's error number.
        code: u64,
        /// What the server said.
        sentence: String,
    },
    /// Any other answer that is not success.
    #[error("The server at {url} answered with status {status}: {sentence}")]
    Refused {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened.
        sentence: String,
    },
    /// No connection, or it broke.
    #[error("The server at {url} cannot be reached: {why}.")]
    Unreachable {
        /// Where.
        url: String,
        /// What went wrong.
        why: String,
    },
    /// No answer in time.
    #[error("The server at {url} did not answer in time.")]
    TooSlow {
        /// Where.
        url: String,
    },
    /// More bytes than a bundle can have.
    #[error("The data is larger than {limit} bytes, the most that a batch's data can be.")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// Neither a folder nor an http address.
    #[error("`{0}` is neither a folder nor an http or https address.")]
    BadLocation(String),
}

impl LogError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, why: &'static str) -> Self {
        Self::Damaged { path: path.to_owned(), offset, why }
    }

    /// The number of this refusal, 7200 to 7299, or that of the rule that a message breaks
    /// ([`Reason::code`]); never used again for another one.
    pub fn code(&self) -> u16 {
        match self {
            Self::Io { .. } => 7200,
            Self::InUse { .. } => 7201,
            Self::WrongOwner { .. } => 7202,
            Self::OwnerLost => 7204,
            Self::OwnerSilent => 7205,
            Self::OwnerUnknown(_) => 7206,
            Self::ByOwner { code, .. } => *code,
            Self::Rule(reason) => reason.code(),
            Self::WrongFormat { .. } => 7203,
            Self::WriteFailedBefore { .. } => 7211,
            Self::Damaged { .. } => 7212,
            Self::EpochSealed(_) => 7220,
            Self::DuplicateBid { .. } => 7221,
            Self::NotOurs => 7222,
            Self::PayloadTooLong { .. } => 7223,
            Self::MessageTooLong { .. } => 7224,
            Self::Envelope(_) => 7225,
            Self::LogFull => 7226,
            Self::Nonce(_) => 7227,
            Self::PayloadMissing { .. } => 7228,
            Self::PayloadDamaged { .. } => 7229,
            Self::SealedDifferently(_) => 7230,
            Self::LogChanged => 7231,
            Self::Build(_) => 7232,
            Self::Bundle(_) => 7233,
            Self::WrongBundle => 7234,
            Self::Tree(_) => 7235,
            Self::NotEmpty { .. } => 7240,
            Self::NotABackup { .. } => 7241,
            Self::BackupDamaged { .. } => 7242,
            Self::NotOnChain { .. } => 7260,
            Self::Mismatch { .. } => 7261,
            Self::Refused { .. } => 7262,
            Self::Unreachable { .. } => 7263,
            Self::TooSlow { .. } => 7264,
            Self::TooLarge { .. } => 7265,
            Self::BadLocation(_) => 7267,
        }
    }

    /// Whether this one message is refused for what it is. Nothing was written, and the log takes others.
    pub fn is_of_message(&self) -> bool {
        matches!(
            self,
            Self::ByOwner { of_message: true, .. }
                | Self::Rule(_)
                | Self::EpochSealed(_)
                | Self::DuplicateBid { .. }
                | Self::NotOurs
                | Self::PayloadTooLong { .. }
                | Self::MessageTooLong { .. }
                | Self::Envelope(_)
                | Self::Nonce(_)
        )
    }

    /// What to do next, as a full sentence.
    pub fn next(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "Free some disk space and try again; what was logged before is intact."
                }
                io::ErrorKind::FileTooLarge => "Raise the limit on file sizes (ulimit -f) and try again.",
                io::ErrorKind::PermissionDenied => {
                    "Run as the user who owns the folder, or correct its owner."
                }
                _ => "Check the disk and the folder, and try again.",
            },
            Self::InUse { .. } => {
                "Wait until the other process (perhaps `zx1 keeper`) has ended, or stop it."
            }
            Self::OwnerLost => {
                "Look at the log before you repeat what is not to be done twice, then try again."
            }
            Self::OwnerSilent => "Look at the process that has the log; it may be busy or stopped.",
            Self::OwnerUnknown(_) => "Update all programs of this agent to the same version.",
            Self::ByOwner { .. } => "Look at the log with `zx1 log list`, and at the disk that it is on.",
            Self::Rule(_) => "Drop the message; a receiver answers nothing.",
            Self::WrongOwner { .. } => "Move the file back to the folder of its own agent and epoch.",
            Self::WrongFormat { .. } => "Update zx1, or restore the file from a backup.",
            Self::WriteFailedBefore { .. } => {
                "Check the disk, then start again: the log is checked when it opens."
            }
            Self::Damaged { .. } => {
                "Restore the folder from a backup, or save what is readable with `zx1 log repair --epoch N`."
            }
            Self::EpochSealed(_) => "Check this machine's clock; new messages belong to the current epoch.",
            Self::DuplicateBid { .. } => "Wait for the next slot and sign the message again.",
            Self::NotOurs => "Choose the agent that sent or received the message, and the right direction.",
            Self::PayloadTooLong { .. } => "Send the bulk in a DELIVER message, or refer to it by its hash.",
            Self::MessageTooLong { .. } => "Split the content, or refer to it by its hash.",
            Self::Envelope(_) => "Ask the sender for the message again.",
            Self::LogFull => "Build and sign the batch of the epochs that are over.",
            Self::Nonce(_) => "Drop the message; it was seen before.",
            Self::PayloadMissing { .. } => {
                "Restore the payloads folder from a backup, or add the payload again."
            }
            Self::PayloadDamaged { .. } => {
                "Remove the file and restore it from a backup, or add the payload again."
            }
            Self::SealedDifferently(_) => {
                "Submit the saved batch; two signed batches of one epoch contradict."
            }
            Self::LogChanged => "Build the batch again and sign that one.",
            Self::Build(_) => {
                "Look at the entry with `zx1 log list`, and at the epochs that the batch covers."
            }
            Self::Bundle(_) => "Fetch the data from elsewhere, or build the batch again from the log.",
            Self::WrongBundle => "Check the agent and the epoch that you asked for.",
            Self::Tree(_) => "Choose fewer epochs.",
            Self::NotEmpty { .. } => "Choose a new folder.",
            Self::NotABackup { .. } => {
                "Choose a folder that an export has finished writing, and its own agent."
            }
            Self::BackupDamaged { .. } => "Use another copy of the backup.",
            Self::NotOnChain { .. } => "Submit the batch first, then upload its data again.",
            Self::Mismatch { .. } => "Upload the data of the batch that was submitted: `zx1 batch show`.",
            Self::Refused { .. } => "Try again later, or upload to another server or to a folder.",
            Self::Unreachable { .. } => "Check the address and the network, then try again.",
            Self::TooSlow { .. } => "Try again later, or upload to another server or to a folder.",
            Self::TooLarge { .. } => "Do not use this source; it does not serve batch data.",
            Self::BadLocation(_) => "Give a path, or an address that begins with http:// or https://.",
        }
    }
}
