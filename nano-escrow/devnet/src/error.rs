//! Errors of the embedded ledger: numbers 8500 to 8599.

use std::io;
use std::path::PathBuf;

use crate::Refusal;
use nano_escrow::{BlockHash, Coded};

/// A refusal of the embedded ledger, apart from what it answers to its clients by RPC.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DevnetError {
    /// The folder cannot be made or opened.
    #[error("the folder {path} of the ledger cannot be used: {source}")]
    Folder {
        /// Folder of the ledger.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process uses the folder.
    #[error("another process holds the ledger in {0}")]
    Locked(PathBuf),
    /// The block file does not begin as one.
    #[error("{0} is not a block file of this program")]
    NotOurs(PathBuf),
    /// The block file is of another version.
    #[error("the block file is of version {found}, this program reads {expected}")]
    Version {
        /// In the file.
        found: u32,
        /// Of the program.
        expected: u32,
    },
    /// The block file was made with another genesis epoch.
    #[error("the block file begins at epoch {found}, but epoch {asked} is asked for")]
    GenesisEpoch {
        /// In the file.
        found: u8,
        /// In the options.
        asked: u8,
    },
    /// A frame in the middle of the file does not match its checksum, with whole frames behind it.
    #[error("the block file is damaged at byte {offset}, and whole records follow, so it is not a torn end")]
    Damaged {
        /// Offset of the damage in bytes.
        offset: u64,
    },
    /// A record of the file is not one that the ledger accepts.
    #[error("record {record} of the block file is refused on replay: {reason}")]
    Replay {
        /// Counted from 0.
        record: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Writing failed; the ledger answers nothing any more, because it could not keep it.
    #[error("the block file cannot be written: {0}")]
    Write(String),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// Address to listen on.
        address: std::net::SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The control endpoint would be reachable from other machines.
    #[error("the control endpoint can only listen on this machine, not on {0}")]
    ControlAddress(std::net::SocketAddr),
    /// A block that the ledger itself or a test submits was refused.
    #[error("the ledger refuses the block {hash}: {refusal}")]
    Refused {
        /// Hash of the refused block.
        hash: BlockHash,
        /// Why the ledger refuses it.
        refusal: Refusal,
    },
    /// Genesis has less than what is asked for.
    #[error("the faucet holds {held} raw, less than the {asked} asked for")]
    FaucetEmpty {
        /// What is left.
        held: nano_escrow::Raw,
        /// What was asked.
        asked: nano_escrow::Raw,
    },
    /// A faucet payment of nothing.
    #[error("the faucet cannot send zero raw")]
    FaucetZero,
    /// No such block.
    #[error("the block {0} is not in the ledger")]
    Unknown(BlockHash),
    /// A confirmed block cannot be taken back.
    #[error("the block {0} is confirmed, or a confirmed block depends on it, so it cannot be rolled back")]
    Cemented(BlockHash),
    /// No further epoch exists for the account.
    #[error("the account is at epoch {0} already, and no epoch block can follow")]
    NoEpoch(u8),
    /// Waiting took too long.
    #[error("nothing came of it within {0:?}")]
    Timeout(std::time::Duration),
    /// The ledger stops.
    #[error("the ledger has stopped")]
    Stopped,
    /// The books do not balance: a defect of this program.
    #[error("the ledger's books do not balance: {0}")]
    Audit(String),
    /// The options contradict each other or are out of range.
    #[error("the options cannot be used: {0}")]
    Options(String),
}

impl Coded for DevnetError {
    fn code(&self) -> u16 {
        match self {
            DevnetError::Folder { .. } => 8500,
            DevnetError::Locked(_) => 8501,
            DevnetError::NotOurs(_) => 8502,
            DevnetError::Version { .. } => 8503,
            DevnetError::GenesisEpoch { .. } => 8504,
            DevnetError::Damaged { .. } => 8505,
            DevnetError::Replay { .. } => 8506,
            DevnetError::Write(_) => 8507,
            DevnetError::Bind { .. } => 8510,
            DevnetError::ControlAddress(_) => 8511,
            DevnetError::Refused { .. } => 8520,
            DevnetError::FaucetEmpty { .. } => 8521,
            DevnetError::FaucetZero => 8522,
            DevnetError::Unknown(_) => 8523,
            DevnetError::Cemented(_) => 8524,
            DevnetError::NoEpoch(_) => 8525,
            DevnetError::Timeout(_) => 8530,
            DevnetError::Stopped => 8531,
            DevnetError::Audit(_) => 8540,
            DevnetError::Options(_) => 8541,
        }
    }

    fn next(&self) -> &str {
        match self {
            DevnetError::Folder { .. } => "Check the path and its rights, or use --memory.",
            DevnetError::Locked(_) => "Stop that process, or give this one a folder of its own.",
            DevnetError::NotOurs(_) => "Give an empty folder, or one that this program made.",
            DevnetError::Version { .. } => "Use the program that made the file, or an empty folder.",
            DevnetError::GenesisEpoch { .. } => "Start with the epoch of the file, or with an empty folder.",
            DevnetError::Damaged { .. } | DevnetError::Replay { .. } => {
                "Restore the file from a copy, or start with an empty folder; nothing was changed."
            }
            DevnetError::Write(_) => "Make room on the disk and start again; what was answered is kept.",
            DevnetError::Bind { .. } => "Choose another port, or 0 for any that is free.",
            DevnetError::ControlAddress(_) => "Use 127.0.0.1 or ::1.",
            DevnetError::Refused { .. } => "Read the account again and build the block on its frontier.",
            DevnetError::FaucetEmpty { .. } => "Ask for less, or start a new ledger.",
            DevnetError::FaucetZero => "Ask for one raw or more.",
            DevnetError::Unknown(_) => "Publish the block first.",
            DevnetError::Cemented(_) => "Let the rival win before the block is confirmed.",
            DevnetError::NoEpoch(_) => "Start the ledger with genesis epoch 0 or 1 to append epoch blocks.",
            DevnetError::Timeout(_) => {
                "Look whether confirmations are held back or the condition can come true."
            }
            DevnetError::Stopped => "Start it again.",
            DevnetError::Audit(_) => "Report this as a defect, with the block file.",
            DevnetError::Options(_) => "Read --help.",
        }
    }
}
