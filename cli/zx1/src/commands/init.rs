//! `zx1 init`: a key and a configuration (decision A1).

use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Result};
use crate::files;
use crate::keys::Key;
use crate::output::{Page, Report};
use crate::settings;
use serde::Serialize;
use zx1_cli_common::keys;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 init                                    create a key, cluster localhost
  zx1 init -u devnet
  zx1 init --keypair ./agent.json             create the key in this file
  zx1 init --import ~/.config/solana/id.json  import Solana's key
  zx1 init --import ~/.fix/key.ed25519        import fix's key, to be the same party

A keypair file is a JSON array of 64 numbers, 32 raw bytes, or 64 hexadecimal
digits. To use a file in place, without a copy: zx1 config set keypair PATH.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Import the key in this file instead of creating one
    #[arg(long, value_name = "FILE")]
    import: Option<String>,
}

#[derive(Serialize)]
struct Made {
    address: String,
    keypair: String,
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
    let settings = context.settings()?;
    let home = context.home()?;
    // A configuration that names a key keeps it; Solana's default key is not ours to write.
    let target = match &settings.keypair.source {
        source if source.is_file(settings::SOLANA) => home.join(defaults::KEYPAIR),
        _ => settings.keypair.value.clone(),
    };
    let imported = match &args.import {
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
    let key = match &imported {
        Some(key) => key.copy_to(&target)?,
        None => Key::create(&target)?,
    };
    let path = std::path::absolute(key.path()).unwrap_or_else(|_| key.path().to_owned());
    let url = context.flags().url.clone();
    context.update_config(|config| {
        config.keypair = Some(files::shown(&path));
        config.url = url.or(config.url.take()).or(Some("localhost".to_owned()));
        Ok(())
    })?;
    let url = context.config()?.url.unwrap_or_default();
    context.print(&Made {
        address: key.address().to_string(),
        keypair: files::shown(&path),
        imported_from: args.import,
        config: files::shown(&context.config_path()?),
        url: settings::cluster_url(&url).unwrap_or(url),
        others: keys::others(&path, &[defaults::SOLANA_KEYPAIR, defaults::FIX_KEYPAIR]),
    })
}
