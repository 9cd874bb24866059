//! What an agent must not forget: which contracts it has begun, the entry that it is about to send, and the
//! deposit that it is about to pay. Everything else stands in the chain.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zx1_market::{ContractId, Entry, PartyId, Raw};

use super::WorkError;
use zx1_market_client::Deposit;
use zx1_market_client::files;

/// How far an agent has come with a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The bond is signed. It may have been sent.
    Bonding,
    /// The contract is reserved, and the deposit was checked. It may have been paid.
    Paying,
    /// The contract is, or was, ours.
    Working,
}

/// One contract of an agent, as it is on disk before anything is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Which contract.
    pub contract: ContractId,
    /// At which server.
    pub server: PartyId,
    /// How far.
    pub stage: Stage,
    /// What is at stake: bounty and judge fee.
    pub stake: Raw,
    /// The signed bond.
    pub bond: Entry,
    /// What is to be paid.
    pub deposit: Option<Deposit>,
    /// The entry that was signed last and may have been sent.
    pub pending: Option<Entry>,
    /// What lost appeals have cost.
    pub appealed: Raw,
}

/// Where records are kept: one file for each contract, replaced whole and durable before it is acted upon.
pub trait Store: Send + Sync {
    /// All of them.
    fn load(&self) -> Result<Vec<Record>, WorkError>;
    /// Replace one.
    fn save(&self, record: &Record) -> Result<(), WorkError>;
    /// Forget one: the contract has ended.
    fn remove(&self, contract: ContractId) -> Result<(), WorkError>;
}

/// Records as files of JSON in a folder, only for their owner.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// In this folder, which is made if it is not there. One agent process at a time.
    pub fn open(path: impl Into<PathBuf>) -> Result<Folder, WorkError> {
        let path = path.into();
        files::make_folder(&path).map_err(|e| disk(&path, &e))?;
        Ok(Folder { path })
    }

    fn file(&self, contract: ContractId) -> PathBuf {
        self.path.join(format!("{contract}.json"))
    }
}

fn disk(path: &Path, why: &dyn std::fmt::Display) -> WorkError {
    WorkError::Disk { path: path.to_owned(), why: why.to_string() }
}

impl Store for Folder {
    fn load(&self) -> Result<Vec<Record>, WorkError> {
        let mut records = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(|e| disk(&self.path, &e))? {
            let path = entry.map_err(|e| disk(&self.path, &e))?.path();
            // Unfinished files of a crash end in `.new`.
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let bytes = std::fs::read(&path).map_err(|e| disk(&path, &e))?;
            records.push(serde_json::from_slice(&bytes).map_err(|e| disk(&path, &e))?);
        }
        records.sort_by_key(|record: &Record| record.contract.to_string());
        Ok(records)
    }

    fn save(&self, record: &Record) -> Result<(), WorkError> {
        let path = self.file(record.contract);
        let bytes = serde_json::to_vec(record).map_err(|e| disk(&path, &e))?;
        files::replace(&path, &bytes).map_err(|e| disk(&path, &e))
    }

    fn remove(&self, contract: ContractId) -> Result<(), WorkError> {
        let path = self.file(contract);
        files::remove(&path).map_err(|e| disk(&path, &e))
    }
}
