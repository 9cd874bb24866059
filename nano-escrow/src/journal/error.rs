//! Errors of the journal.

use std::path::PathBuf;

use zx1_coded::Coded;

use crate::Network;

/// An error of the journal: its file, its lock, or its contents.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum JournalError {
    /// A database operation failed.
    #[code(8600)]
    #[error("the journal's database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// A file cannot be read or written.
    #[code(8601)]
    #[error("the file {path} cannot be used: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Another process holds the journal's lock.
    #[code(8602, transient)]
    #[error("another process has the journal {0} open for writing")]
    Locked(PathBuf),
    /// The journal was made with another seed.
    #[code(8603)]
    #[error("the journal belongs to the seed with fingerprint {journal}, not to this one ({given})")]
    WrongSeed {
        /// Fingerprint that the journal records.
        journal: String,
        /// Fingerprint of the seed that was given.
        given: String,
    },
    /// The journal is for another network.
    #[code(8604)]
    #[error("the journal is of the {journal} network, not of {given}")]
    WrongNetwork {
        /// Name of the network that the journal records.
        journal: String,
        /// The network that was asked for.
        given: Network,
    },
    /// The schema is newer than this program.
    #[code(8605)]
    #[error("the journal's schema is not known to this program: {0}")]
    Schema(String),
    /// A stored value cannot be read.
    #[code(8606)]
    #[error("the journal holds something that it must not: {0}")]
    Corrupt(String),
    /// A writing call on a journal that was opened for reading.
    #[code(8607)]
    #[error("the journal is open for reading only")]
    ReadOnly,
    /// The system's random number generator failed; carries the system's reason.
    #[code(8611)]
    #[error("the system gives no random bytes: {0}")]
    Random(String),
    /// The file to be written already exists.
    #[code(8683)]
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// A stored key, address or amount was refused.
    #[code(inner)]
    #[error(transparent)]
    Type(#[from] crate::Error),
}

impl JournalError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> JournalError {
        let path = path.into();
        move |source| JournalError::File { path, source }
    }
}
