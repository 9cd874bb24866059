//! zx1's own configuration, `config.toml`: settings, and the agents that this user registered or is a key of.
//! Written whole and atomically; comments in it are not kept.

use crate::errors::Result;
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use zx1_cli_common::config;

const HEADER: &str = "# zx1's settings. `zx1 config list` explains them; zx1 rewrites this file.\n\n";

/// The file's content. Everything is optional: what is not set comes from elsewhere (see
/// [`crate::settings`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    /// RPC address or moniker.
    pub url: Option<String>,
    /// Path of the keypair file.
    pub keypair: Option<String>,
    /// Path of the keypair file that signs batches.
    pub batch_key: Option<String>,
    /// Path of the keypair file that signs deals.
    pub deal_key: Option<String>,
    /// Path of the keypair file that signs all other messages.
    pub peer_key: Option<String>,
    /// RPC address or moniker of a second node.
    pub second_url: Option<String>,
    /// processed, confirmed or finalized.
    pub commitment: Option<String>,
    /// display, json or json-compact.
    pub output: Option<String>,
    /// Micro-lamports for each compute unit.
    pub compute_unit_price: Option<u64>,
    /// Local name or mint of the agent that commands speak of when none is named.
    pub agent: Option<String>,
    /// Address of the relay for chat.
    pub relay: Option<String>,
    /// Where `batch submit` uploads a batch's data: a folder or a URL (decision C7).
    pub upload: Option<String>,
    /// Agents by local name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, AgentEntry>,
}

/// An agent that this machine knows by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentEntry {
    /// The SATI mint, which is the agent's id, in base58.
    pub mint: String,
    /// Genesis hash of the cluster on which it is registered.
    #[serde(default)]
    pub genesis: Option<String>,
    /// Where the owner hosts the registration file.
    #[serde(default)]
    pub uri: Option<String>,
}

impl ConfigFile {
    /// Reads the file; an absent one is empty.
    ///
    /// # Errors
    /// 7431 when it does not parse, with the line.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(config::read(path)?)
    }

    /// Writes the file whole.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(config::write(path, HEADER, self)?)
    }

    /// Changes the file under the folder's lock: what two processes change at once is both kept.
    pub fn update<T>(path: &Path, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let _lock = files::lock_folder(path.parent().unwrap_or(Path::new(".")))?;
        let before = Self::read(path)?;
        let mut config = before.clone();
        let result = change(&mut config)?;
        if config != before || !path.exists() {
            config.write(path)?;
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let entry = AgentEntry { mint: "m".to_owned(), genesis: Some("g".to_owned()), uri: None };
        let written = ConfigFile::update(&path, |config| {
            config.url = Some("devnet".to_owned());
            config.agents.insert("alice".to_owned(), entry);
            Ok(config.clone())
        });
        assert_eq!(ConfigFile::read(&path).unwrap(), written.unwrap());
    }

    #[test]
    fn a_typing_error_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "url = \"devnet\"\nkeypiar = \"x\"\n").unwrap();
        let refused = ConfigFile::read(&path).unwrap_err();
        assert!(refused.message.contains("line 2, unknown field `keypiar`"), "{}", refused.message);
    }
}
