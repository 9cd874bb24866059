//! Errors of the embedded ledger.

use std::io;
use std::path::PathBuf;

use crate::Refusal;
use nano_escrow::BlockHash;
use zx1_coded::Coded;

/// A refusal of the embedded ledger, apart from what it answers to its clients by RPC.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum DevnetError {
    /// The folder cannot be made or opened.
    #[code(8500)]
    #[error("the folder {path} of the ledger cannot be used: {source}")]
    Folder {
        /// Folder of the ledger.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process uses the folder.
    #[code(8501, transient)]
    #[error("another process holds the ledger in {0}")]
    Locked(PathBuf),
    /// The block file does not begin as one.
    #[code(8502)]
    #[error("{0} is not a block file of this program")]
    NotOurs(PathBuf),
    /// The block file is of another version.
    #[code(8503)]
    #[error("the block file is of version {found}, this program reads {expected}")]
    Version {
        /// In the file.
        found: u32,
        /// Of the program.
        expected: u32,
    },
    /// The block file was made with another genesis epoch.
    #[code(8504)]
    #[error("the block file begins at epoch {found}, but epoch {asked} is asked for")]
    GenesisEpoch {
        /// In the file.
        found: u8,
        /// In the options.
        asked: u8,
    },
    /// A frame in the middle of the file does not match its checksum, with whole frames behind it.
    #[code(8505)]
    #[error("the block file is damaged at byte {offset}, and whole records follow, so it is not a torn end")]
    Damaged {
        /// Offset of the damage in bytes.
        offset: u64,
    },
    /// A record of the file is not one that the ledger accepts.
    #[code(8506)]
    #[error("record {record} of the block file is refused on replay: {reason}")]
    Replay {
        /// Counted from 0.
        record: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Writing failed; the ledger answers nothing any more, because it could not keep it.
    #[code(8507)]
    #[error("the block file cannot be written: {0}")]
    Write(String),
    /// An address cannot be listened on.
    #[code(8510)]
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// Address to listen on.
        address: std::net::SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The control endpoint would be reachable from other machines.
    #[code(8511)]
    #[error("the control endpoint can only listen on this machine, not on {0}")]
    ControlAddress(std::net::SocketAddr),
    /// A block that the ledger itself or a test submits was refused.
    #[code(8520)]
    #[error("the ledger refuses the block {hash}: {refusal}")]
    Refused {
        /// Hash of the refused block.
        hash: BlockHash,
        /// Why the ledger refuses it.
        refusal: Refusal,
    },
    /// Genesis has less than what is asked for.
    #[code(8521)]
    #[error("the faucet holds {held} raw, less than the {asked} asked for")]
    FaucetEmpty {
        /// What is left.
        held: nano_escrow::Raw,
        /// What was asked.
        asked: nano_escrow::Raw,
    },
    /// A faucet payment of nothing.
    #[code(8522)]
    #[error("the faucet cannot send zero raw")]
    FaucetZero,
    /// No such block.
    #[code(8523)]
    #[error("the block {0} is not in the ledger")]
    Unknown(BlockHash),
    /// A confirmed block cannot be taken back.
    #[code(8524)]
    #[error("the block {0} is confirmed, or a confirmed block depends on it, so it cannot be rolled back")]
    Cemented(BlockHash),
    /// No further epoch exists for the account.
    #[code(8525)]
    #[error("the account is at epoch {0} already, and no epoch block can follow")]
    NoEpoch(u8),
    /// Waiting took too long.
    #[code(8530, transient)]
    #[error("nothing came of it within {0:?}")]
    Timeout(std::time::Duration),
    /// The ledger stops.
    #[code(8531)]
    #[error("the ledger has stopped")]
    Stopped,
    /// The books do not balance: a defect of this program.
    #[code(8540)]
    #[error("the ledger's books do not balance: {0}")]
    Audit(String),
    /// The system refuses threads or signals.
    #[code(8542)]
    #[error("the system refuses {what}: {source}")]
    System {
        /// What was asked of the system.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A request that a web page could have sent.
    #[code(8550)]
    #[error("the control endpoint takes application/json from programs only, without Origin")]
    ControlRequest,
    /// A control command that cannot be read.
    #[code(8551)]
    #[error("the command cannot be read: {0}")]
    ControlCommand(String),
}
