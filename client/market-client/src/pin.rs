//! The server's key is remembered: another key later is another server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use zx1_market::PartyId;

use super::error::{ClientError, Result};
use super::transcripts::disk;
use crate::files;

/// Which key a server must have.
#[derive(Debug, Clone)]
pub enum Pin {
    /// This one.
    Key(PartyId),
    /// The one that it had the first time; kept in this file of JSON, one line for each address.
    File(PathBuf),
    /// Any: for tests, and for one look at a stranger's server.
    Any,
}

impl Pin {
    /// Compare, and remember a server that was never seen. What is remembered is on disk when this returns.
    pub(super) fn check(&self, url: &str, found: PartyId) -> Result<()> {
        match self {
            Pin::Any => Ok(()),
            Pin::Key(pinned) => same(url, *pinned, found, None),
            Pin::File(path) => {
                let mut known = read(path)?;
                if let Some(pinned) = known.get(url) {
                    return same(url, *pinned, found, Some(path));
                }
                known.insert(url.to_owned(), found);
                write(path, &known)
            }
        }
    }
}

fn same(url: &str, pinned: PartyId, found: PartyId, file: Option<&Path>) -> Result<()> {
    if pinned == found {
        return Ok(());
    }
    Err(ClientError::KeyChanged { url: url.to_owned(), pinned, found, file: file.map(Path::to_owned) })
}

fn read(path: &Path) -> Result<BTreeMap<String, PartyId>> {
    match files::read(path).map_err(|e| disk(path, "read", &e))? {
        None => Ok(BTreeMap::new()),
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|e| disk(path, "read", &e)),
    }
}

fn write(path: &Path, known: &BTreeMap<String, PartyId>) -> Result<()> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        files::make_folder(folder).map_err(|e| disk(folder, "written", &e))?;
    }
    let mut text = serde_json::to_vec_pretty(known).map_err(|e| disk(path, "written", &e))?;
    text.push(b'\n');
    files::replace(path, &text).map_err(|e| disk(path, "written", &e))
}
