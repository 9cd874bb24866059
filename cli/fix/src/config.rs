//! `config.toml` in fix's folder: what holds when neither flag nor environment says anything.

use crate::errors::Result;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zx1_cli_common::words::clause;
use zx1_cli_common::{Fault, config, files};

const HEADER: &str = "# Settings of fix. Flags and environment variables win over them.\n\n";

/// The file's content; everything is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The market's address.
    pub server: Option<String>,
    /// The bounty in XNO; without one contracts are free.
    pub bounty: Option<String>,
    /// The user's own language model; `rules` is none.
    pub model: Option<String>,
    /// What it costs, in dollars per million tokens read and written.
    pub model_price: Option<String>,
    /// What it may cost in a day, in dollars.
    pub model_budget: Option<String>,
    /// Tokens that it may use in a day.
    pub model_tokens: Option<u64>,
    /// File with its key.
    pub model_key: Option<String>,
    /// Hosts that a fix may reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_hosts: Vec<String>,
    /// The wallet's view of the ledger.
    #[serde(skip_serializing_if = "is_default")]
    pub wallet: Wallet,
    /// Agent ids in 0x01 and their cluster.
    #[serde(skip_serializing_if = "is_default")]
    pub zx1: Zx1,
}

/// Who this machine's parties are in 0x01 (decision G1). A party without an agent id trades all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Zx1 {
    /// The agent id of the principal's key: the mint of its NFT, in base58.
    pub principal: Option<String>,
    /// The agent id of the agent's key.
    pub agent: Option<String>,
    /// The agent id of the judge's key.
    pub judge: Option<String>,
    /// Key file that signs their deals; else their own keys do.
    pub deal_key: Option<String>,
    /// Their Solana cluster: an address or a name.
    pub cluster: Option<String>,
}

/// The wallet's Nano node and network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wallet {
    /// A Nano node's RPC address.
    pub node: Option<String>,
    /// live, beta, dev or test.
    pub network: Option<String>,
    /// The representative of the wallet's accounts.
    pub representative: Option<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Config {
    /// Reads the file; an absent one is empty.
    ///
    /// # Errors
    /// 9520 when it does not parse, with the line.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(config::read(path)?)
    }

    /// The same with a setting of another value; a dot in its name leads into a table. `None` takes it out.
    ///
    /// # Errors
    /// 9520: the setting is of another type.
    pub fn with(&self, name: &str, value: Option<&str>, path: &Path) -> Result<Self> {
        let malformed = |why: String| Fault::ConfigMalformed { path: files::shown(path), why: clause(&why) };
        let mut root = toml::Table::try_from(self).map_err(|error| malformed(error.to_string()))?;
        let (folder, key) = name.rsplit_once('.').map_or((None, name), |(folder, key)| (Some(folder), key));
        let table = match folder {
            None => &mut root,
            Some(folder) => {
                let empty = || toml::Value::Table(toml::Table::new());
                let table = root.entry(folder).or_insert_with(empty).as_table_mut();
                table.ok_or_else(|| malformed(format!("{folder} is not a table")))?
            }
        };
        let number =
            |text: &str| text.parse().ok().filter(|_| key == "model_tokens").map(toml::Value::Integer);
        match value {
            Some(text) => table.insert(key.to_owned(), number(text).unwrap_or_else(|| text.into())),
            None => table.remove(key),
        };
        root.try_into().map_err(|error: toml::de::Error| malformed(error.message().to_owned()).into())
    }

    /// Writes the file whole.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(config::write(path, HEADER, self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let config = Config { server: Some("http://h:1".to_owned()), ..Config::default() };
        config.write(&path).unwrap();
        assert_eq!(Config::read(&path).unwrap(), config);
    }

    #[test]
    fn a_setting_is_set_and_taken_out_also_within_a_table() {
        let path = Path::new("/x/config.toml");
        let config = Config::default().with("wallet.network", Some("live"), path).unwrap();
        assert_eq!(config.wallet.network.as_deref(), Some("live"));
        let config = config.with("model_tokens", Some("7"), path).unwrap();
        assert_eq!(config.model_tokens, Some(7));
        let config = config.with("model_price", Some("7"), path).unwrap();
        assert_eq!(config.model_price.as_deref(), Some("7"));
        assert_eq!(config.with("model_tokens", None, path).unwrap().model_tokens, None);
        assert!(config.with("model_tokens", Some("many"), path).is_err());
    }

    #[test]
    fn a_typing_error_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "bounty = \"1\"\nsevrer = \"x\"\n").unwrap();
        let refused = Config::read(&path).unwrap_err();
        assert!(refused.code == 9520 && refused.message.contains("line 2"), "{refused:?}");
    }
}
