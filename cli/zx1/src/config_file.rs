//! zx1's own configuration, `config.toml`: settings, and the agents that this user registered or delegates
//! for. Written whole and atomically; comments in it are not kept.

use crate::errors::{Error, Result};
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Largest configuration in bytes.
const LIMIT: u64 = 1 << 20;
const HEADER: &str = "# zx1's settings. `zx1 config list` explains them; zx1 rewrites this file.\n\n";

/// The file's content. Everything is optional: what is not set comes from elsewhere (see
/// [`crate::settings`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    /// RPC address or moniker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Path of the keypair file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keypair: Option<String>,
    /// processed, confirmed or finalized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commitment: Option<String>,
    /// display, json or json-compact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Micro-lamports for each compute unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_unit_price: Option<u64>,
    /// Local name or mint of the agent that commands speak of when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Where `batch submit` uploads a batch's data: a folder or a URL (decision C7).
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub genesis: Option<String>,
    /// Where the owner hosts the registration file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

impl ConfigFile {
    /// Reads the file; an absent one is empty.
    ///
    /// # Errors
    /// 7431 when it does not parse, with the line.
    pub fn read(path: &Path) -> Result<Self> {
        let Some(bytes) = files::read_limited(path, LIMIT)? else { return Ok(Self::default()) };
        let malformed = |why: String| Error::ConfigMalformed { path: files::shown(path), why };
        let text = std::str::from_utf8(&bytes).map_err(|_| malformed("it is not UTF-8".to_owned()))?;
        toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| {
                let before = text.get(..span.start).unwrap_or_default();
                format!("line {}, ", before.matches('\n').count().saturating_add(1))
            });
            let message = error.message().trim_end_matches('.').replace('\n', " ");
            malformed(format!("{}{message}", line.unwrap_or_default())).into()
        })
    }

    /// Writes the file whole.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed =
            |error: toml::ser::Error| Error::WriteFailed { path: files::shown(path), why: error.to_string() };
        let text = toml::to_string(self).map_err(failed)?;
        Ok(files::replace_private(path, format!("{HEADER}{text}").as_bytes())?)
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
