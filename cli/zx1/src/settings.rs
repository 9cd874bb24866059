//! Where every value comes from: flag, environment, zx1's config.toml, the Solana command line's
//! configuration (decision A1), default. The first that has a value wins.

use crate::config_file::ConfigFile;
use crate::defaults;
use crate::errors::{Error, Result};
use crate::files;
use crate::flags::Global;
use crate::output::Format;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use zx1_home::config::{Layered, environment};

pub use zx1_home::config::{Setting, Source, expand_home, user_home};

/// What [`Source`] calls zx1's own file.
pub const CONFIG: &str = "config.toml";
/// What [`Source`] calls the Solana command line's file.
pub const SOLANA: &str = "Solana's config.yml";

/// A setting that `config get`, `set` and `list` know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The setting's name in config.toml.
    pub name: &'static str,
    /// The environment variable that overrides config.toml.
    pub env: &'static str,
    /// The flag that overrides both, with its dashes.
    pub flag: &'static str,
    /// The values that the setting accepts, in words.
    pub allowed: &'static str,
    /// What the setting is for, in words.
    pub about: &'static str,
}

/// All settings, in the order in which they are shown.
pub const KEYS: &[Key] = &[
    Key {
        name: "url",
        env: "ZX1_URL",
        flag: "--url",
        allowed: "an http(s) address, localhost, devnet, testnet or mainnet-beta",
        about: "The cluster's RPC address",
    },
    Key {
        name: "keypair",
        env: "ZX1_KEYPAIR",
        flag: "--keypair",
        allowed: "the path of a keypair file",
        about: "The key that signs and pays",
    },
    Key {
        name: "commitment",
        env: "ZX1_COMMITMENT",
        flag: "--commitment",
        allowed: "processed, confirmed or finalized",
        about: "The commitment level",
    },
    Key {
        name: "output",
        env: "ZX1_OUTPUT",
        flag: "--output",
        allowed: "display, json or json-compact",
        about: "The output format",
    },
    Key {
        name: "compute_unit_price",
        env: "ZX1_COMPUTE_UNIT_PRICE",
        flag: "--with-compute-unit-price",
        allowed: "a number of micro-lamports, or auto",
        about: "The priority fee per compute unit",
    },
    Key {
        name: "agent",
        env: "ZX1_AGENT",
        flag: "--agent",
        allowed: "a local name or a mint address",
        about: "The default agent",
    },
    Key {
        name: "upload",
        env: "ZX1_UPLOAD",
        flag: "--upload",
        allowed: "a folder or an http(s) address",
        about: "The place to which batch submit uploads batch data",
    },
];

/// The setting of that name.
pub fn key(name: &str) -> Result<&'static Key> {
    // As a flag writes it, too.
    let plain = name.trim_start_matches('-').replace('-', "_");
    KEYS.iter().find(|key| key.name == plain).ok_or_else(|| {
        let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        Error::UnknownKey { key: name.to_owned(), known: known.join(", ") }.into()
    })
}

/// How final a state must be before it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commitment {
    /// The node has processed the block.
    Processed,
    /// Most of the stake has voted for the block.
    Confirmed,
    /// The block cannot be undone.
    Finalized,
}

impl Commitment {
    /// The name that RPC uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Processed => "processed",
            Self::Confirmed => "confirmed",
            Self::Finalized => "finalized",
        }
    }
}

impl FromStr for Commitment {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Processed, Self::Confirmed, Self::Finalized]
            .into_iter()
            .find(|commitment| commitment.name() == text)
            .ok_or(())
    }
}

/// The settings of this run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The cluster's RPC address; monikers are resolved.
    pub url: Setting<String>,
    /// The keypair file.
    pub keypair: Setting<PathBuf>,
    /// How final a state must be.
    pub commitment: Setting<Commitment>,
    /// How results are shown.
    pub output: Setting<Format>,
    /// Micro-lamports for each compute unit; without one what recent transactions paid.
    pub compute_unit_price: Setting<Option<u64>>,
    /// The default agent, by local name or mint.
    pub agent: Setting<Option<String>>,
    /// Where batch data goes.
    pub upload: Setting<Option<String>>,
}

/// The two fields files and flags are looked up in, and the folders they stand in.
struct Layers<'a> {
    config: &'a ConfigFile,
    config_path: &'a Path,
    solana: Option<(solana_cli_config::Config, PathBuf)>,
}

impl Layers<'_> {
    /// The value of the first layer that has one.
    fn text(
        &self,
        name: &str,
        flag: Option<&String>,
        config: Option<&String>,
        solana: impl Fn(&solana_cli_config::Config) -> Option<String>,
    ) -> Result<Option<Setting<String>>> {
        let key = key(name)?;
        let found = Layered::new().flag(key.flag, flag.cloned()).environment(key.env).file(
            CONFIG,
            self.config_path,
            config.cloned(),
        );
        Ok(match &self.solana {
            Some((config, path)) => {
                found.file(SOLANA, path, solana(config).filter(|value| !value.is_empty()))
            }
            None => found,
        }
        .found())
    }
}

/// The RPC address behind a moniker or an address; `None` when it is neither.
pub fn cluster_url(text: &str) -> Option<String> {
    zx1_chain::rpc::Cluster::parse(text).ok().map(|cluster| cluster.url().to_owned())
}

/// zx1's folder: ZX1_HOME, or ~/.config/zx1.
pub fn zx1_home() -> Result<PathBuf> {
    let home = environment("ZX1_HOME")
        .map(PathBuf::from)
        .or_else(|| user_home().map(|home| home.join(defaults::HOME)));
    home.ok_or_else(|| Error::NoHome.into())
}

/// Refuses a value that the setting does not allow.
pub fn check(key: &Key, value: &str, source: &Source) -> Result<()> {
    let fits = match key.name {
        "url" => cluster_url(value).is_some(),
        "commitment" => Commitment::from_str(value).is_ok(),
        "output" => Format::from_str(value).is_ok(),
        "compute_unit_price" => unit_price_of(value).is_some(),
        "upload" => zx1_log::AnyStore::parse(value).is_ok() && !value.trim().is_empty(),
        _ => !value.trim().is_empty(),
    };
    if fits { Ok(()) } else { Err(bad_setting(key, value, source).into()) }
}

/// A number, or auto.
fn unit_price_of(text: &str) -> Option<Option<u64>> {
    if text == "auto" { Some(None) } else { text.parse().ok().map(Some) }
}

fn bad_setting(key: &Key, value: &str, source: &Source) -> Error {
    Error::BadSetting {
        key: key.name.to_owned(),
        value: value.to_owned(),
        source: source.to_string(),
        allowed: key.allowed.to_owned(),
    }
}

impl Settings {
    /// Reads all layers.
    ///
    /// # Errors
    /// 7432 when a layer has an invalid value, 7433 when Solana's configuration cannot be parsed.
    pub fn resolve(flags: &Global, config: &ConfigFile, home: &Path) -> Result<Self> {
        let config_path = home.join(defaults::CONFIG);
        let layers = Layers { config, config_path: &config_path, solana: solana_config()? };
        let none = |_: &solana_cli_config::Config| None;
        let price = |price: &Option<u64>| price.map(|price| price.to_string());
        let url =
            layers.text("url", flags.url.as_ref(), config.url.as_ref(), |c| Some(c.json_rpc_url.clone()))?;
        let keypair = layers.text("keypair", flags.keypair.as_ref(), config.keypair.as_ref(), |c| {
            Some(c.keypair_path.clone())
        })?;
        let commitment =
            layers.text("commitment", flags.commitment.as_ref(), config.commitment.as_ref(), |c| {
                Some(c.commitment.clone())
            })?;
        let output = layers.text("output", flags.output.as_ref(), config.output.as_ref(), none)?;
        let agent = layers.text("agent", flags.agent.as_ref(), config.agent.as_ref(), none)?;
        let upload = layers.text("upload", None, config.upload.as_ref(), none)?;
        let unit_price = layers.text(
            "compute_unit_price",
            price(&flags.compute_unit_price).as_ref(),
            price(&layers.config.compute_unit_price).as_ref(),
            none,
        )?;
        Ok(Self {
            url: parsed("url", url, defaults::URL, cluster_url)?,
            keypair: keypair_setting(filled("keypair", keypair)?, home),
            commitment: parsed("commitment", commitment, defaults::COMMITMENT, |text| text.parse().ok())?,
            output: parsed("output", output, defaults::OUTPUT, |text| text.parse().ok())?,
            compute_unit_price: parsed("compute_unit_price", unit_price, "auto", unit_price_of)?,
            agent: optional(filled("agent", agent)?),
            upload: optional(upload),
        })
    }

    /// A setting's value as text, and its source.
    pub fn show(&self, name: &str) -> Result<(Option<String>, Source)> {
        let text = |value: &str, source: &Source| (Some(value.to_owned()), source.clone());
        Ok(match key(name)?.name {
            "url" => text(&self.url.value, &self.url.source),
            "keypair" => text(&files::shown(&self.keypair.value), &self.keypair.source),
            "commitment" => text(self.commitment.value.name(), &self.commitment.source),
            "output" => text(self.output.value.name(), &self.output.source),
            "compute_unit_price" => {
                let price = self.compute_unit_price.value.map(|price| price.to_string());
                text(price.as_deref().unwrap_or("auto"), &self.compute_unit_price.source)
            }
            "agent" => (self.agent.value.clone(), self.agent.source.clone()),
            _ => (self.upload.value.clone(), self.upload.source.clone()),
        })
    }
}

fn parsed<T>(
    name: &str,
    found: Option<Setting<String>>,
    default: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Setting<T>> {
    let found = found.unwrap_or(Setting { value: default.to_owned(), source: Source::Default });
    let value = parse(&found.value).ok_or(bad_setting(key(name)?, &found.value, &found.source))?;
    Ok(Setting { value, source: found.source })
}

/// Refuses an empty text, which only a flag can be.
fn filled(name: &str, found: Option<Setting<String>>) -> Result<Option<Setting<String>>> {
    match &found {
        Some(setting) if setting.value.trim().is_empty() => {
            Err(bad_setting(key(name)?, &setting.value, &setting.source).into())
        }
        _ => Ok(found),
    }
}

fn optional(found: Option<Setting<String>>) -> Setting<Option<String>> {
    match found {
        Some(setting) => setting.map(Some),
        None => Setting { value: None, source: Source::Default },
    }
}

fn keypair_setting(found: Option<Setting<String>>, home: &Path) -> Setting<PathBuf> {
    match found {
        Some(setting) => setting.map(|value| expand_home(&value)),
        None => Setting { value: home.join(defaults::KEYPAIR), source: Source::Default },
    }
}

fn solana_config() -> Result<Option<(solana_cli_config::Config, PathBuf)>> {
    let Some(path) = user_home().map(|home| home.join(defaults::SOLANA_CONFIG)) else { return Ok(None) };
    if !path.exists() {
        return Ok(None);
    }
    match solana_cli_config::Config::load(&path.to_string_lossy()) {
        Ok(config) => Ok(Some((config, path))),
        Err(error) => {
            let why = error.to_string().trim_end_matches('.').replace('\n', " ");
            Err(Error::SolanaConfigMalformed { path: files::shown(&path), why }.into())
        }
    }
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
