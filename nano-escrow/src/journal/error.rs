//! Errors of the journal: numbers 8600 to 8607 and 8683.

use std::path::PathBuf;

use crate::{Coded, Network};

/// An error of the journal: its file, its lock, or its contents.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A database operation failed.
    #[error("the journal's database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// A file cannot be read or written.
    #[error("the file {path} cannot be used: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Another process holds the journal's lock.
    #[error("another process has the journal {0} open for writing")]
    Locked(PathBuf),
    /// The journal was made with another seed.
    #[error("the journal belongs to the seed with fingerprint {journal}, not to this one ({given})")]
    WrongSeed {
        /// Fingerprint that the journal records.
        journal: String,
        /// Fingerprint of the seed that was given.
        given: String,
    },
    /// The journal is for another network.
    #[error("the journal is of the {journal} network, not of {given}")]
    WrongNetwork {
        /// Name of the network that the journal records.
        journal: String,
        /// The network that was asked for.
        given: Network,
    },
    /// The schema is newer than this program.
    #[error("the journal's schema is not known to this program: {0}")]
    Schema(String),
    /// A stored value cannot be read.
    #[error("the journal holds something that it must not: {0}")]
    Corrupt(String),
    /// A writing call on a journal that was opened for reading.
    #[error("the journal is open for reading only")]
    ReadOnly,
    /// The file to be written already exists.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// A stored key, address or amount was refused.
    #[error(transparent)]
    Type(#[from] crate::Error),
}

impl JournalError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> JournalError {
        let path = path.into();
        move |source| JournalError::File { path, source }
    }
}

impl JournalError {
    /// The stable number.
    pub fn code(&self) -> u16 {
        Coded::code(self)
    }
}

impl Coded for JournalError {
    fn code(&self) -> u16 {
        match self {
            JournalError::Database(_) => 8600,
            JournalError::File { .. } => 8601,
            JournalError::Locked(_) => 8602,
            JournalError::WrongSeed { .. } => 8603,
            JournalError::WrongNetwork { .. } => 8604,
            JournalError::Schema(_) => 8605,
            JournalError::Corrupt(_) => 8606,
            JournalError::ReadOnly => 8607,
            JournalError::Exists(_) => 8683,
            JournalError::Type(e) => e.code(),
        }
    }

    fn next(&self) -> &str {
        match self {
            JournalError::Database(_) => "Check the disk; nothing is lost, start again once it works.",
            JournalError::File { .. } => "Check the path and its permissions.",
            JournalError::Locked(_) => "Use the running process, or stop it first.",
            JournalError::WrongSeed { .. } => "Give the seed that the journal was made with.",
            JournalError::WrongNetwork { .. } => "Name the journal's network, or use another folder.",
            JournalError::Schema(_) => "Use the program version that wrote it, or a newer one.",
            JournalError::Corrupt(_) => "Do not edit the journal; restore an export into an empty folder.",
            JournalError::ReadOnly => "Open the journal for writing, with the seed.",
            JournalError::Exists(_) => "Restore into an empty folder.",
            JournalError::Type(e) => e.next(),
        }
    }
}
