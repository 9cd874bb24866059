//! Where every value comes from: flag, environment, zx1's config.toml, the Solana command line's
//! configuration (decision A1), default. The first that has a value wins.

use crate::config_file::ConfigFile;
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::flags::Global;
use crate::output::Format;
use solana_commitment_config::CommitmentConfig;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zx1_cli_common::config::layer;
use zx1_home::config::{FileLayer, Unfit, folder};

pub use zx1_home::config::{Key, Setting, Source, expand_home, user_home};

/// What [`Source`] calls zx1's own file.
pub const CONFIG: &str = "config.toml";
/// What [`Source`] calls the Solana command line's file.
pub const SOLANA: &str = "Solana's config.yml";

/// All settings, in the order in which they are shown.
pub const KEYS: &[Key] = &[
    Key::new("url", "ZX1_URL", "--url").explained(
        "The cluster's RPC address",
        "an http(s) address, localhost, devnet, testnet or mainnet-beta",
        |text| cluster_url(text).is_some(),
    ),
    Key::new("keypair", "ZX1_KEYPAIR", "--keypair").explained(
        "The key that signs and pays",
        "the path of a keypair file",
        is_filled,
    ),
    Key::new("batch_key", "ZX1_BATCH_KEY", "--batch-key").explained(
        "The key that signs batches",
        "the path of a keypair file",
        is_filled,
    ),
    Key::new("deal_key", "ZX1_DEAL_KEY", "--deal-key").explained(
        "The key that signs deals",
        "the path of a keypair file",
        is_filled,
    ),
    Key::new("peer_key", "ZX1_PEER_KEY", "--peer-key").explained(
        "The key that signs all other messages",
        "the path of a keypair file",
        is_filled,
    ),
    Key::new("second_url", "ZX1_SECOND_URL", "--second-url").explained(
        "The RPC address of a second node, queried before a batch is signed",
        "an http(s) address, localhost, devnet, testnet or mainnet-beta",
        |text| cluster_url(text).is_some(),
    ),
    Key::new("commitment", "ZX1_COMMITMENT", "--commitment").explained(
        "The commitment level",
        "processed, confirmed or finalized",
        |text| text.parse::<CommitmentConfig>().is_ok(),
    ),
    Key::new("output", "ZX1_OUTPUT", "--output").explained(
        "The output format",
        "display, json or json-compact",
        |text| text.parse::<Format>().is_ok(),
    ),
    Key::new("compute_unit_price", "ZX1_COMPUTE_UNIT_PRICE", "--with-compute-unit-price").explained(
        "The priority fee per compute unit",
        "a number of micro-lamports, or auto",
        |text| text == "auto" || text.parse::<u64>().is_ok(),
    ),
    Key::new("agent", "ZX1_AGENT", "--agent").explained(
        "The default agent",
        "a local name or a mint address",
        is_filled,
    ),
    Key::new("relay", "ZX1_RELAY", "--relay").explained(
        "The relay for chat",
        "an address that begins with ws:// or wss://",
        |text| zx1_relay_client::Relay::parse(text).is_ok(),
    ),
    Key::new("upload", "ZX1_UPLOAD", "--upload").explained(
        "The place to which batch submit uploads batch data",
        "a folder or an http(s) address",
        |text| is_filled(text) && zx1_log::AnyStore::parse(text).is_ok(),
    ),
];

fn is_filled(text: &str) -> bool {
    !text.trim().is_empty()
}

/// The setting of that name.
pub fn key(name: &str) -> Result<&'static Key> {
    // As a flag writes it, too.
    let plain = name.trim_start_matches('-').replace('-', "_");
    KEYS.iter().find(|key| key.name == plain).ok_or_else(|| {
        let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        Error::UnknownKey { key: name.to_owned(), known: known.join(", ") }.into()
    })
}

/// The settings of this run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The cluster's RPC address; monikers are resolved.
    pub url: Setting<String>,
    /// The keypair file.
    pub keypair: Setting<PathBuf>,
    /// The file of the key that signs batches; the keypair file unless one is set.
    pub batch_key: Setting<PathBuf>,
    /// The file of the key that signs deals; the keypair file unless one is set.
    pub deal_key: Setting<PathBuf>,
    /// The file of the key that signs all other messages; the keypair file unless one is set.
    pub peer_key: Setting<PathBuf>,
    /// The RPC address of a second node; monikers are resolved.
    pub second_url: Setting<Option<String>>,
    /// How final a state must be.
    pub commitment: Setting<CommitmentConfig>,
    /// How results are shown.
    pub output: Setting<Format>,
    /// Micro-lamports for each compute unit; without one what recent transactions paid.
    pub compute_unit_price: Setting<Option<u64>>,
    /// The default agent, by local name or mint.
    pub agent: Setting<Option<String>>,
    /// The relay's address.
    pub relay: Setting<String>,
    /// Where batch data goes.
    pub upload: Setting<Option<String>>,
}

/// The RPC address behind a moniker or an address; `None` when it is neither.
pub fn cluster_url(text: &str) -> Option<String> {
    zx1_chain::rpc::Cluster::parse(text).ok().map(|cluster| cluster.url().to_owned())
}

/// zx1's folder: ZX1_HOME, or ~/.config/zx1.
pub fn zx1_home() -> Result<PathBuf> {
    folder("ZX1_HOME", defaults::HOME).ok_or_else(|| Error::NoHome.into())
}

impl From<Unfit> for Failure {
    fn from(Unfit { name, allowed, value, from }: Unfit) -> Self {
        let (key, source, allowed) = (name.to_owned(), from.to_string(), allowed.to_owned());
        Error::BadSetting { key, value, source, allowed }.into()
    }
}

impl Settings {
    /// Reads all layers.
    ///
    /// # Errors
    /// 7432 when a layer has an invalid value, 7433 when Solana's configuration cannot be parsed.
    pub fn resolve(flags: &Global, config: &ConfigFile, home: &Path) -> Result<Self> {
        let mut files = vec![layer(CONFIG, home.join(defaults::CONFIG), config)?];
        files.extend(solana_config()?);
        let read = |name: &str| -> Result<Setting<Option<String>>> {
            Ok(key(name)?.read(flags.setting(name), &files)?)
        };
        let url = read("url")?.map(|url| url.unwrap_or_else(|| defaults::URL.to_owned()));
        let commitment = read("commitment")?.map(|it| it.and_then(|text| text.parse().ok()));
        let output = read("output")?.map(|it| it.and_then(|text| text.parse().ok()));
        // What an upload needs is checked when there is one.
        let upload = key("upload")?.find(None, &files).map(|found| found.map(Some));
        let keypair = read("keypair")?
            .map(|path| path.map_or_else(|| home.join(defaults::KEYPAIR), |path| expand_home(&path)));
        let other = |name: &str| -> Result<Setting<PathBuf>> {
            let found = read(name)?;
            Ok(match found.value {
                Some(path) => Setting { value: expand_home(&path), source: found.source },
                None => keypair.clone(),
            })
        };
        let second = read("second_url")?;
        Ok(Self {
            url: url.map(|url| cluster_url(&url).unwrap_or(url)),
            batch_key: other("batch_key")?,
            deal_key: other("deal_key")?,
            peer_key: other("peer_key")?,
            second_url: second.map(|url| url.map(|url| cluster_url(&url).unwrap_or(url))),
            keypair,
            commitment: commitment.map(|it| it.unwrap_or(CommitmentConfig::confirmed())),
            output: output.map(|it| it.unwrap_or(Format::Display)),
            compute_unit_price: read("compute_unit_price")?.map(|it| it.and_then(|text| text.parse().ok())),
            agent: read("agent")?,
            relay: read("relay")?.map(|relay| relay.unwrap_or_else(|| defaults::RELAY.to_owned())),
            upload: upload.unwrap_or(Setting { value: None, source: Source::Default }),
        })
    }

    /// A setting's value as text, and its source.
    pub fn show(&self, name: &str) -> Result<(Option<String>, Source)> {
        let text = |value: &str, source: &Source| (Some(value.to_owned()), source.clone());
        Ok(match key(name)?.name {
            "url" => text(&self.url.value, &self.url.source),
            "keypair" => text(&files::shown(&self.keypair.value), &self.keypair.source),
            "batch_key" => text(&files::shown(&self.batch_key.value), &self.batch_key.source),
            "deal_key" => text(&files::shown(&self.deal_key.value), &self.deal_key.source),
            "peer_key" => text(&files::shown(&self.peer_key.value), &self.peer_key.source),
            "second_url" => (self.second_url.value.clone(), self.second_url.source.clone()),
            "commitment" => text(&self.commitment.value.commitment.to_string(), &self.commitment.source),
            "output" => text(self.output.value.name(), &self.output.source),
            "compute_unit_price" => {
                let price = self.compute_unit_price.value.map(|price| price.to_string());
                text(price.as_deref().unwrap_or("auto"), &self.compute_unit_price.source)
            }
            "agent" => (self.agent.value.clone(), self.agent.source.clone()),
            "relay" => text(&self.relay.value, &self.relay.source),
            _ => (self.upload.value.clone(), self.upload.source.clone()),
        })
    }
}

fn solana_config() -> Result<Option<FileLayer>> {
    let Some(path) = user_home().map(|home| home.join(defaults::SOLANA_CONFIG)) else { return Ok(None) };
    if !path.exists() {
        return Ok(None);
    }
    let config = solana_cli_config::Config::load(&path.to_string_lossy()).map_err(|error| {
        let why = error.to_string().trim_end_matches('.').replace('\n', " ");
        Error::SolanaConfigMalformed { path: files::shown(&path), why }
    })?;
    let values =
        [("url", config.json_rpc_url), ("keypair", config.keypair_path), ("commitment", config.commitment)];
    let values: BTreeMap<_, _> = values.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    Ok(Some(layer(SOLANA, path, &values)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monikers_and_addresses_are_clusters_and_nothing_else() {
        assert_eq!(cluster_url("l").as_deref(), Some(defaults::URL));
        assert_eq!(cluster_url("devnet"), cluster_url("d"));
        assert!(cluster_url("https://rpc.example/path?key=1").is_some());
        for text in ["", "mainnet", "http://", "ftp://x", "127.0.0.1:8899", "http://a b"] {
            assert_eq!(cluster_url(text), None, "{text}");
        }
    }

    #[test]
    fn the_default_cluster_is_this_machine() {
        assert_eq!(defaults::URL, zx1_chain::rpc::Cluster::default().url());
        assert!(zx1_chain::rpc::Cluster::default().is_local());
    }
}
