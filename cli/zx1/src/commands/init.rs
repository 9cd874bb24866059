//! `zx1 init`: a key and a configuration (decision A1).

use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Result};
use crate::files;
use crate::keys::Key;
use crate::output::{Page, Report};
use crate::settings;
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_cli_common::keys::{self, Seed};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 init                                    create a key, cluster localhost
  zx1 init -u devnet
  zx1 init --keypair ./agent.json             create the key in this file
  zx1 init --import ~/.config/solana/id.json  import Solana's key
  zx1 init --new                              a key of its own, also where fix has one

Where fix has a key, it is offered: one party, one key. A keypair file is a JSON
array of 64 numbers, 32 raw bytes, or 64 hexadecimal digits. To use a file in
place, without a copy: zx1 config set keypair PATH.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Import the key in this file instead of creating one
    #[arg(long, value_name = "FILE")]
    import: Option<String>,
    /// Create a new key, even if fix has one
    #[arg(long, conflicts_with = "import")]
    new: bool,
}

#[derive(Serialize)]
pub(super) struct Made {
    pub(super) address: String,
    pub(super) keypair: String,
    imported_from: Option<String>,
    config: String,
    url: String,
    /// Keys of this user that were not taken.
    others: Vec<String>,
}

impl Report for Made {
    fn draw(&self, page: &mut Page) {
        match &self.imported_from {
            Some(from) => page.line(format!("The key in {from} is imported.")),
            None => page.line("A new key is created. Anyone with its file controls your money; back it up."),
        };
        page.field("address", &self.address)
            .field("keypair", &self.keypair)
            .field("config.toml", &self.config)
            .field("cluster", &self.url);
        if self.imported_from.is_none() {
            keys::draw_others(page, &self.others, "zx1");
        }
        page.next("zx1 doctor");
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    context.print(&make(args.import, args.new, context)?)
}

/// Where a new key is written.
pub(super) fn target(context: &Context) -> Result<PathBuf> {
    let keypair = &context.settings()?.keypair;
    // A configuration that names a key keeps it; Solana's default key is not ours to write.
    Ok(match &keypair.source {
        source if source.is_file(settings::SOLANA) => context.home()?.join(defaults::KEYPAIR),
        _ => keypair.value.clone(),
    })
}

/// The key of `fix`, where this program's own would be a new one in its usual place.
pub(super) fn key_of_fix(context: &Context) -> Result<Option<PathBuf>> {
    let theirs = zx1_home::config::folder("FIX_HOME", ".fix").map(|home| home.join("key.ed25519"));
    // A file that is named is for another key.
    let usual = context.home()?.join(defaults::KEYPAIR);
    let target = target(context)?;
    Ok(theirs.filter(|theirs| target == usual && theirs.exists()))
}

/// Makes a key, or takes the one in a file or, unless `new`, that of `fix`, and writes the configuration.
pub(super) fn make(import: Option<String>, new: bool, context: &Context) -> Result<Made> {
    let target = target(context)?;
    let imported = match &import {
        Some(file) => {
            let path = settings::expand_home(file);
            let missing = !path.exists();
            Some(Key::read(&path).map_err(|failure| match missing {
                true => failure.next("check the path, or create a new key: zx1 init"),
                false => failure,
            })?)
        }
        None => None,
    };
    if target.is_dir() {
        return Err(Error::KeyIsFolder { path: files::shown(&target) }.into());
    }
    if target.exists() {
        return Err(Error::KeyExists { path: files::shown(&target) }.into());
    }
    let mut imported_from = import;
    let key = match &imported {
        Some(key) => key.copy_to(&target)?,
        None => {
            let theirs = if new { None } else { key_of_fix(context)? };
            let asks = !context.flags().yes && !context.format()?.is_json();
            let is_shared = |theirs: &Path, _: &Seed| Ok(keys::is_shared("fix", theirs, asks));
            let (_, from) = keys::first(&target, theirs.as_deref(), is_shared)?;
            imported_from = from.as_deref().map(files::shown);
            Key::read(&target)?
        }
    };
    let path = std::path::absolute(key.path()).unwrap_or_else(|_| key.path().to_owned());
    let url = context.flags().url.clone();
    context.update_config(|config| {
        config.keypair = Some(files::shown(&path));
        config.url = url.or(config.url.take()).or(Some("localhost".to_owned()));
        Ok(())
    })?;
    let url = context.config()?.url.unwrap_or_default();
    Ok(Made {
        address: key.address().to_string(),
        keypair: files::shown(&path),
        imported_from,
        config: files::shown(&context.config_path()?),
        url: settings::cluster_url(&url).unwrap_or(url),
        others: keys::others(&path, &[defaults::SOLANA_KEYPAIR, defaults::FIX_KEYPAIR]),
    })
}
