//! `fix config`: settings, their values, and where these come from.

use crate::context::{CONFIG, Context};
use crate::errors::{Error, Result};
use crate::settings::{self, KEYS};
use serde::Serialize;
use zx1_cli_common::files;
use zx1_cli_common::output::{Page, Report, Table};
use zx1_home::config::{Key, Source};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix config                                      all settings
  fix config get model
  fix config set model openai:qwen@http://127.0.0.1:8080/v1
  fix config set server https://fix.example.org   the market
  fix config unset model";

/// Arguments of `fix config`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What is done with settings.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Show one value
    Get {
        /// Name of the setting
        #[arg(value_name = "SETTING")]
        name: String,
    },
    /// Set a value in config.toml
    Set {
        /// Name of the setting
        #[arg(value_name = "SETTING")]
        name: String,
        /// Value to store
        value: String,
    },
    /// Remove a value from config.toml
    Unset {
        /// Name of the setting
        #[arg(value_name = "SETTING")]
        name: String,
    },
}

#[derive(Serialize)]
struct Value {
    setting: &'static str,
    value: Option<String>,
    source: String,
    about: &'static str,
    allowed: &'static str,
}

impl Value {
    fn of(key: &Key, context: &Context) -> Result<Self> {
        let found = context.setting(key, None)?;
        let source = found.as_ref().map_or(Source::Default, |found| found.source.clone()).to_string();
        let Key { name, about, allowed, .. } = *key;
        Ok(Self { setting: name, value: found.map(|found| found.value), source, about, allowed })
    }
}

impl Report for Value {
    fn draw(&self, page: &mut Page) {
        page.raw(self.value.as_deref().unwrap_or_default());
    }
}

#[derive(Serialize)]
struct Values {
    config: String,
    settings: Vec<Value>,
}

impl Report for Values {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["setting", "value", "from", "meaning"]).prose(3);
        for value in &self.settings {
            table.row([&value.setting, &value.value.as_deref().unwrap_or("-"), &value.source, &value.about]);
        }
        page.table(table, "");
        page.blank().field("config.toml", &self.config);
    }
}

#[derive(Serialize)]
struct Changed {
    setting: &'static str,
    /// The value in config.toml.
    value: Option<String>,
    config: String,
    /// The value that counts, which the environment may have.
    effective: Option<String>,
    source: String,
}

impl Report for Changed {
    fn draw(&self, page: &mut Page) {
        match &self.value {
            Some(value) => page.line(format!("{} is {value} in {}.", self.setting, self.config)),
            None => page.line(format!("{} is no longer set in {}.", self.setting, self.config)),
        };
        if self.effective != self.value {
            let effective = self.effective.as_deref().unwrap_or("nothing");
            page.line(format!("The effective value is {effective} ({}).", self.source));
        }
    }
}

/// Shows or changes settings.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let key = |name: &str| {
        settings::key(name).ok_or_else(|| Error::NoSetting { name: name.chars().take(80).collect() })
    };
    match args.action {
        None => {
            let settings = KEYS.iter().map(|key| Value::of(key, context)).collect::<Result<_>>()?;
            context.print(&Values { config: files::shown(&context.place(CONFIG)?), settings })
        }
        Some(Action::Get { name }) => context.print(&Value::of(key(&name)?, context)?),
        Some(Action::Set { name, value }) => set(key(&name)?, Some(value), context),
        Some(Action::Unset { name }) => set(key(&name)?, None, context),
    }
}

fn set(key: &'static Key, value: Option<String>, context: &Context) -> Result<()> {
    if let Some(value) = &value {
        key.check(value, &Source::Argument).map_err(Error::unfit)?;
    }
    let path = context.place(CONFIG)?;
    let config = context.config()?.with(key.name, value.as_deref(), &path)?;
    config.write(&path)?;
    let found = key.find(None, &[zx1_cli_common::config::layer(CONFIG, path.clone(), &config)?]);
    let source = found.as_ref().map_or(Source::Default, |found| found.source.clone()).to_string();
    context.print(&Changed {
        setting: key.name,
        value,
        config: files::shown(&path),
        effective: found.map(|found| found.value),
        source,
    })
}
