//! `zx1 config`: settings, their values, and where these come from.

use crate::agent_files;
use crate::context::{self, Context};
use crate::errors::Result;
use crate::files;
use crate::output::{self, Page, Report, Table};
use crate::settings::{self, KEYS, Source};
use crate::steps;
use clap::Subcommand;
use serde::Serialize;
use std::path::Path;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 config get                        all values and their sources
  zx1 config get url                    one value, for scripts
  zx1 config set url devnet
  zx1 config set keypair ~/agent.json
  zx1 config set batch_key ~/hot.json   a key that signs batches (see zx1 keys)
  zx1 config unset url
  zx1 config list                       all settings and their allowed values";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Show values and their sources
    Get {
        /// Name of the setting [default: all settings]
        key: Option<String>,
    },
    /// Set a value in config.toml
    Set {
        /// Name of the setting, as shown by config list
        key: String,
        /// New value of the setting
        value: String,
    },
    /// Remove a value from config.toml
    Unset {
        /// Name of the setting, as shown by config list
        key: String,
    },
    /// Explain all settings
    List,
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Get { key: None } => context.print(&Values::of_all(context)?),
        Action::Get { key: Some(key) } => context.print(&Value::of(context, &key)?),
        Action::Set { key, value } => set(context, &key, Some(value)),
        Action::Unset { key } => set(context, &key, None),
        Action::List => context.print(&Known::all(context)?),
    }
}

#[derive(Serialize)]
struct Value {
    key: &'static str,
    value: Option<String>,
    source: String,
}

impl Value {
    fn of(context: &Context, name: &str) -> Result<Self> {
        let key = settings::key(name)?;
        let (value, source) = context.settings()?.show(key.name)?;
        Ok(Self { key: key.name, value, source: source.to_string() })
    }
}

impl Report for Value {
    fn draw(&self, page: &mut Page) {
        page.raw(self.value.as_deref().unwrap_or_default());
    }
}

#[derive(Serialize)]
struct Values {
    home: String,
    config: String,
    settings: Vec<Value>,
}

impl Values {
    fn of_all(context: &Context) -> Result<Self> {
        let settings = KEYS.iter().map(|key| Value::of(context, key.name)).collect::<Result<_>>()?;
        let config = files::shown(&context.config_path()?);
        Ok(Self { home: files::shown(context.home()?), config, settings })
    }
}

impl Report for Values {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["setting", "value", "from"]);
        for value in &self.settings {
            table.row([&value.key, &value.value.as_deref().unwrap_or("-"), &value.source]);
        }
        page.table(table, "");
        page.blank().field("zx1's folder", &self.home).field("config.toml", &self.config);
    }
}

#[derive(Serialize)]
struct Changed {
    key: &'static str,
    value: Option<String>,
    config: String,
    /// The value in effect, which a flag or the environment may override.
    effective: Option<String>,
    effective_source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
}

impl Report for Changed {
    fn draw(&self, page: &mut Page) {
        match &self.value {
            Some(value) => page.line(format!("{} is {value} in {}.", self.key, self.config)),
            None => page.line(format!("{} is no longer set in {}.", self.key, self.config)),
        };
        if self.effective != self.value {
            let effective = self.effective.as_deref().unwrap_or("nothing");
            page.line(format!("The effective value is {effective}, from {}.", self.effective_source));
        }
        if let Some(next) = self.next {
            page.next(next);
        }
    }
}

fn set(context: &Context, name: &str, value: Option<String>) -> Result<()> {
    let key = settings::key(name)?;
    let value = value.map(|value| settle(context, key, value)).transpose()?;
    let path = context.config_path()?;
    context.update_config(|config| {
        let value = value.clone();
        match key.name {
            "url" => config.url = value,
            "keypair" => config.keypair = value,
            "batch_key" => config.batch_key = value,
            "deal_key" => config.deal_key = value,
            "peer_key" => config.peer_key = value,
            "second_url" => config.second_url = value,
            "commitment" => config.commitment = value,
            "output" => config.output = value,
            "agent" => config.agent = value,
            "relay" => config.relay = value,
            "upload" => config.upload = value,
            // "auto" does not parse as a number, so the file then has no price.
            _ => config.compute_unit_price = value.and_then(|price| price.parse().ok()),
        }
        Ok(())
    })?;
    let (effective, source) = context.settings()?.show(key.name)?;
    let effective = match key.name {
        // Shown as it was written: a moniker and its address are the same.
        "url" | "second_url" if value.as_deref().and_then(settings::cluster_url) == effective => {
            value.clone()
        }
        "keypair" | "batch_key" | "deal_key" | "peer_key" if source.is_file(settings::CONFIG) => {
            value.clone()
        }
        _ => effective,
    };
    let (config, effective_source) = (files::shown(&path), source.to_string());
    // With a place for batch data an agent is complete.
    let next = (key.name == "upload" && value.is_some()).then_some(steps::KEEP);
    context.print(&Changed { key: key.name, value, config, effective, effective_source, next })
}

/// The value as it is written: what it cannot be is refused, and a path counts from everywhere.
pub(super) fn settle(context: &Context, key: &settings::Key, value: String) -> Result<String> {
    key.check(&value, &Source::Argument)?;
    match key.name {
        "agent" => {
            context::find_agent(&context.config()?, &value)?;
            Ok(value)
        }
        // Solana's names of hardware wallets and prompts are not paths.
        "keypair" | "batch_key" | "deal_key" | "peer_key" if !value.contains(':') && value != "ASK" => {
            let path = settings::expand_home(&value);
            if !path.exists() {
                output::warn(&format!("{} does not exist yet", files::shown(&path)));
            }
            Ok(absolute(&path))
        }
        "upload" if !value.contains("://") => {
            agent_files::store(context, Some(&value))?;
            Ok(absolute(&settings::expand_home(&value)))
        }
        _ => Ok(value),
    }
}

fn absolute(path: &Path) -> String {
    files::shown(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

#[derive(Serialize)]
struct Explained {
    key: &'static str,
    about: &'static str,
    allowed: &'static str,
    flag: &'static str,
    environment: &'static str,
    set: bool,
}

#[derive(Serialize)]
struct Known {
    settings: Vec<Explained>,
}

impl Known {
    fn all(context: &Context) -> Result<Self> {
        let config = toml::Table::try_from(context.config()?).unwrap_or_default();
        let explain = |key: &settings::Key| Explained {
            key: key.name,
            about: key.about,
            allowed: key.allowed,
            flag: key.flag,
            environment: key.variable,
            set: config.contains_key(key.name),
        };
        Ok(Self { settings: KEYS.iter().map(explain).collect() })
    }
}

impl Report for Known {
    fn draw(&self, page: &mut Page) {
        for setting in &self.settings {
            page.heading(setting.key)
                .line(format!("{}.", setting.about))
                .field("allowed", setting.allowed)
                .field("flag", setting.flag)
                .field("environment", setting.environment)
                .field("config.toml", if setting.set { "set" } else { "not set" });
        }
    }
}
