//! The outbox: every signed transaction is written down before it is sent, so that a process that dies at
//! any moment, or a network that goes away, cannot make a second run of a command pay a second time.

use super::draft::Intent;
use super::error::{ChainError, Result};
use serde::{Deserialize, Serialize};
use sha3::{Digest, Keccak256};
use solana_signature::Signature;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zx1_home::{Clock as _, Lock, LockError, SystemClock, files};

/// The form of a record.
const VERSION: u32 = 1;

/// A signed transaction whose fate is not yet known, or not yet shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    /// What it is for, in the words of its [`Intent`].
    pub intent: String,
    /// What the transaction does, in a few words.
    pub title: String,
    /// The cluster, by the hash of its genesis.
    pub genesis: String,
    /// Its first signature, by which the cluster knows it.
    pub signature: String,
    /// The signed bytes in base64.
    pub transaction: String,
    /// Its blockhash in base58.
    pub blockhash: String,
    /// The last block height at which it can land.
    pub last_valid_block_height: u64,
    /// Whether that height is only known to be not too low: the bytes were signed elsewhere, with a blockhash
    /// whose age nobody here knows.
    #[serde(default)]
    pub(crate) end_is_bound: bool,
    /// A slot of the cluster not later than the first in which it could land.
    pub slot: u64,
    /// When it was written, in Unix seconds of this machine; shown, never relied on.
    pub created: u64,
}

impl Record {
    /// A record of these signed bytes.
    pub(crate) fn new(
        intent: &Intent,
        title: &str,
        genesis: &str,
        signature: &Signature,
        transaction: String,
        blockhash: &super::read::RecentBlockhash,
    ) -> Self {
        Self {
            version: VERSION,
            intent: intent.as_str().to_owned(),
            title: title.to_owned(),
            genesis: genesis.to_owned(),
            signature: signature.to_string(),
            transaction,
            blockhash: solana_address::Address::new_from_array(blockhash.hash).to_string(),
            last_valid_block_height: blockhash.last_valid_block_height,
            end_is_bound: false,
            slot: blockhash.slot,
            created: SystemClock.unix_secs(),
        }
    }
}

impl Record {
    /// The intent that the transaction serves.
    pub fn wish(&self) -> Intent {
        Intent::from_words(&self.intent)
    }
}

/// A folder of [`Record`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    folder: PathBuf,
}

impl Outbox {
    /// Opens the folder, and makes it where it is not there.
    ///
    /// # Errors
    ///
    /// [`ChainError::Outbox`].
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        files::make_folder(&folder).map_err(|error| refused(&folder, &error))?;
        Ok(Self { folder })
    }

    /// All records, the oldest first: what a user may want to see after a crash.
    ///
    /// # Errors
    ///
    /// Also when one of them is damaged.
    pub fn records(&self) -> Result<Vec<Record>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(|error| refused(&self.folder, &error))? {
            let path = entry.map_err(|error| refused(&self.folder, &error))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                found.extend(load(&path)?);
            }
        }
        found.sort_by(|a: &Record, b| (a.created, &a.signature).cmp(&(b.created, &b.signature)));
        Ok(found)
    }

    /// The intents of the steps of a flow that left a record. Records that cannot be
    /// read are passed over; they are refused where they are needed.
    pub(crate) fn steps_of(&self, genesis: &str, intent: &Intent) -> Result<Vec<Intent>> {
        let steps = intent.step("").to_string();
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(|error| refused(&self.folder, &error))? {
            let path = entry.map_err(|error| refused(&self.folder, &error))?.path();
            if path.extension().is_some_and(|extension| extension == "json")
                && let Ok(Some(record)) = load(&path)
                && record.genesis == genesis
                && record.intent.starts_with(&steps)
            {
                found.push(record.wish());
            }
        }
        Ok(found)
    }

    /// Forgets a transaction whose result was shown. Nothing happens when it is not there (any more).
    ///
    /// # Errors
    ///
    /// [`ChainError::OutboxBusy`] while another process works on the same intent.
    pub fn acknowledge(&self, genesis: &str, intent: &Intent, signature: &Signature) -> Result<()> {
        let claim = self.claim(genesis, intent)?;
        match claim.record()? {
            Some(record) if record.signature == signature.to_string() => claim.forget(),
            _ => Ok(()),
        }
    }

    /// Takes an intent for this process alone, until the claim is dropped.
    pub(crate) fn claim(&self, genesis: &str, intent: &Intent) -> Result<Claim> {
        let mut hash = Keccak256::new();
        hash.update(genesis.as_bytes());
        hash.update([0]);
        hash.update(intent.as_str().as_bytes());
        let name: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let lock =
            Lock::try_take(&self.folder.join(format!("{name}.lock"))).map_err(|error| match error {
                LockError::Held { .. } => ChainError::OutboxBusy { intent: intent.to_string() },
                LockError::Io { path, source } => refused(&path, &source),
            })?;
        Ok(Claim { path: self.folder.join(format!("{name}.json")), lock: Some(lock) })
    }
}

/// An intent that this process works on.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    /// There until it is dropped.
    lock: Option<Lock>,
}

impl Claim {
    /// The record of what was sent for the intent, if anything was.
    pub(crate) fn record(&self) -> Result<Option<Record>> {
        load(&self.path)
    }

    /// Writes a record down. When this returns it survives a loss of power.
    pub(crate) fn store(&self, record: &Record) -> Result<()> {
        let text = serde_json::to_vec_pretty(record).map_err(|error| ChainError::OutboxDamaged {
            path: self.path.clone(),
            detail: error.to_string(),
        })?;
        files::replace(&self.path, &text).map_err(|error| refused(&self.path, &error))
    }

    /// Removes the record.
    pub(crate) fn forget(&self) -> Result<()> {
        files::remove(&self.path).map(drop).map_err(|error| refused(&self.path, &error))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // An intent that left no record leaves no lock file either.
        if matches!(self.path.try_exists(), Ok(false))
            && let Some(lock) = self.lock.take()
        {
            lock.remove();
        }
    }
}

fn load(path: &Path) -> Result<Option<Record>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(path, &error)),
    };
    let damaged = |detail: String| ChainError::OutboxDamaged { path: path.to_owned(), detail };
    let record: Record = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if record.version != VERSION {
        return Err(damaged(format!("it is of version {}, this program reads {VERSION}", record.version)));
    }
    Ok(Some(record))
}

fn refused(path: &Path, error: &std::io::Error) -> ChainError {
    ChainError::Outbox { path: path.to_owned(), detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn record(intent: &Intent) -> Record {
        let blockhash =
            super::super::read::RecentBlockhash { hash: [1; 32], last_valid_block_height: 9, slot: 8 };
        let signature = Signature::from([3; 64]);
        Record::new(intent, "title", "genesis", &signature, "AQ==".into(), &blockhash)
    }

    #[test]
    fn a_record_is_found_by_its_wish_and_cluster_until_it_is_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(folder.path().join("deep/er")).unwrap();
        let intent = Intent::new("pay", &[&1, &"x"]);
        let stored = record(&intent);
        outbox.claim("genesis", &intent).unwrap().store(&stored).unwrap();
        assert_eq!(outbox.claim("genesis", &intent).unwrap().record().unwrap(), Some(stored.clone()));
        assert_eq!(outbox.claim("another", &intent).unwrap().record().unwrap(), None);
        assert_eq!(outbox.claim("genesis", &intent.step("2")).unwrap().record().unwrap(), None);
        assert_eq!(outbox.records().unwrap(), vec![stored]);
        outbox.acknowledge("genesis", &intent, &Signature::from([4; 64])).unwrap();
        assert_eq!(outbox.records().unwrap().len(), 1, "another signature is not forgotten");
        outbox.acknowledge("genesis", &intent, &Signature::from([3; 64])).unwrap();
        assert_eq!(outbox.records().unwrap(), vec![]);
    }

    #[test]
    fn one_wish_is_worked_on_by_one_at_a_time_ok() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(folder.path()).unwrap();
        let (intent, other) = (Intent::new("a", &[]), Intent::new("b", &[]));
        let claim = outbox.claim("g", &intent).unwrap();
        assert_eq!(outbox.claim("g", &intent).unwrap_err().code(), 7082);
        drop(outbox.claim("g", &other).unwrap());
        // A removed lock file does not let two in: the new one is another file.
        fs::remove_file(claim.lock.as_ref().unwrap().path()).unwrap();
        let again = outbox.claim("g", &intent).unwrap();
        assert_eq!(outbox.claim("g", &intent).unwrap_err().code(), 7082);
        drop(again);
        drop(claim);
        assert!(outbox.claim("g", &intent).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn the_steps_of_a_wish_are_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(folder.path()).unwrap();
        let wish = Intent::new("say", &[&1]);
        let other = Intent::new("say", &[&12]);
        let wishes = [wish.clone(), wish.step("begin"), wish.step("append at 9"), other.step("begin")];
        for wish in &wishes {
            outbox.claim("genesis", wish).unwrap().store(&record(wish)).unwrap();
        }
        let damaged = folder.path().join("damaged.json");
        fs::write(damaged, "{").unwrap();
        let mut found = outbox.steps_of("genesis", &wish).unwrap();
        found.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        assert_eq!(found, [wish.step("append at 9"), wish.step("begin")]);
        assert_eq!(outbox.steps_of("another", &wish).unwrap(), []);
    }

    #[test]
    fn a_damaged_record_is_an_error_and_not_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(folder.path()).unwrap();
        let intent = Intent::new("a", &[]);
        let claim = outbox.claim("g", &intent).unwrap();
        claim.store(&record(&intent)).unwrap();
        let whole = fs::read(&claim.path).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(&claim.path, &whole[..cut]).unwrap();
            assert_eq!(claim.record().unwrap_err().code(), 7081, "{cut} bytes");
        }
        fs::write(&claim.path, String::from_utf8(whole).unwrap().replace("\"version\": 1", "\"version\": 2"))
            .unwrap();
        assert_eq!(claim.record().unwrap_err().code(), 7081);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Outbox::open(file.join("sub")).unwrap_err();
        assert_eq!(error.code(), 7080);
        assert!(error.to_string().contains("file"));
    }
}
