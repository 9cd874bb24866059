//! What a party keeps of its contracts, so that no server can rewrite them (decision E14).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use zx1_home::files;
use zx1_market::case::Transcript;
use zx1_market::{ContractId, Entry, PartyId};

use super::error::{ClientError, Result};

/// A folder of transcripts: `<server's key>/<contract>.json`, in the form that `fix verify` and
/// `fix serve --import` read. A file is replaced whole and durable when [`Transcripts::save`] returns.
#[derive(Debug, Clone)]
pub struct Transcripts {
    folder: PathBuf,
    /// One writer at a time: a shorter view that was asked for earlier must not replace a longer one.
    writing: Arc<Mutex<()>>,
}

impl Transcripts {
    /// In this folder, which is made if it is not there.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Transcripts> {
        let folder = folder.into();
        files::make_folder(&folder).map_err(|e| disk(&folder, "written", &e))?;
        Ok(Transcripts { folder, writing: Arc::default() })
    }

    /// The file of a contract.
    pub fn path(&self, server: &PartyId, id: ContractId) -> PathBuf {
        self.folder.join(server.hex()).join(format!("{id}.json"))
    }

    /// What was saved of a contract.
    pub fn load(&self, server: &PartyId, id: ContractId) -> Result<Option<Transcript>> {
        let path = self.path(server, id);
        let Some(bytes) = files::read_if_there(&path).map_err(|e| disk(&path, "read", &e))? else {
            return Ok(None);
        };
        let transcript = Transcript::parse(&bytes).map_err(|e| disk(&path, "read", &e))?;
        Ok(Some(transcript))
    }

    /// Keep a transcript. It must have the saved one as its beginning (9375 otherwise); a shorter one that
    /// the saved one begins with is kept as it is.
    pub fn save(&self, server: &PartyId, id: ContractId, transcript: &Transcript) -> Result<()> {
        let path = self.path(server, id);
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(saved) = self.load(server, id)? {
            if let Some(at) = first_difference(&saved.entries, &transcript.entries) {
                return Err(ClientError::Rewritten { id, seq: at, file: path });
            }
            let unchanged = saved.entries.len() == transcript.entries.len()
                && (transcript.received_at.is_empty() || saved.received_at == transcript.received_at);
            if unchanged || saved.entries.len() > transcript.entries.len() {
                return Ok(());
            }
        }
        if let Some(folder) = path.parent() {
            files::make_folder(folder).map_err(|e| disk(folder, "written", &e))?;
        }
        let text = transcript.to_json().canonical();
        files::replace(&path, text.as_bytes()).map_err(|e| disk(&path, "written", &e))
    }

    /// The saved transcript of a contract at any server, in a folder that need not exist.
    pub fn find(folder: &Path, id: ContractId) -> Option<PathBuf> {
        let servers = std::fs::read_dir(folder).ok()?;
        let mut paths = servers.flatten().map(|server| server.path().join(format!("{id}.json")));
        paths.find(|path| path.exists())
    }

    /// Every saved contract of a server.
    pub fn list(&self, server: &PartyId) -> Result<Vec<ContractId>> {
        let folder = self.folder.join(server.hex());
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(disk(&folder, "read", &error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| disk(&folder, "read", &e))?;
            let name = entry.file_name();
            let id: Option<ContractId> =
                name.to_str().and_then(|name| name.strip_suffix(".json")?.parse().ok());
            ids.extend(id);
        }
        ids.sort_unstable_by_key(ToString::to_string);
        Ok(ids)
    }
}

/// The number of the first entry that both have and that is not the same in both.
fn first_difference(saved: &[Entry], now: &[Entry]) -> Option<u64> {
    saved.iter().zip(now).find(|(a, b)| a != b).map(|(a, _)| a.seq())
}

pub(super) fn disk(path: &Path, doing: &'static str, why: &dyn std::fmt::Display) -> ClientError {
    ClientError::Disk { path: path.to_owned(), doing, why: why.to_string() }
}
