//! `fix init`: the party's key (decision A1).

use crate::context::Context;
use crate::errors::{Error, Failure, Result};
use serde::Serialize;
use std::path::PathBuf;
use zx1_cli_common::output::{Page, Report};
use zx1_cli_common::{Fault, files, keys};
use zx1_home::config::{Setting, Source};
use zx1_market::PartyKey;
use zx1_net::Endpoint;
use zx1_principal::Role;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix init                                     a new key in ~/.fix/key.ed25519
  fix init --import ~/.config/zx1/id.json      use zx1's key: one party, one key
  fix init --import ~/.config/solana/id.json   use Solana's key
  fix init --market https://fix.example.org    store the market too

A key file is a JSON array of 64 numbers, 32 raw bytes, or 64 hexadecimal digits.
To use fix's key in zx1: zx1 init --import ~/.fix/key.ed25519.";

/// Arguments of `fix init`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Import the key from this file instead of creating one
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Store this market in config.toml
    #[arg(long, value_name = "URL")]
    market: Option<String>,
}

#[derive(Serialize)]
struct Made {
    fix_id: String,
    key: String,
    imported_from: Option<String>,
    market: String,
    /// The layer of the settings that names the market.
    market_source: String,
    /// Other keys of this user.
    others: Vec<String>,
}

impl Report for Made {
    fn draw(&self, page: &mut Page) {
        match &self.imported_from {
            Some(from) => page.line(format!("Imported the key from {from}.")),
            None => page.line("Created a new key. Whoever has its file has your money: keep it safe."),
        };
        page.field("you are", &self.fix_id)
            .field("key", &self.key)
            .field("market", format!("{} ({})", self.market, self.market_source));
        if self.imported_from.is_none() {
            keys::draw_others(page, &self.others, "fix");
        }
        page.next("fix COMMAND");
    }
}

/// Creates or imports the key.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let target = context.key_path(Role::Principal)?;
    let mut config = context.config()?.clone();
    if let Some(market) = &args.market {
        if Endpoint::parse(market).is_err() {
            let source = Source::Flag("--market").to_string();
            return Err(Error::BadUrl { url: market.clone(), source }.into());
        }
        config.server = Some(market.clone());
    }
    let missing = |fault: Fault| match fault {
        fault @ Fault::KeyMissing { .. } => {
            Failure::from(fault).next("check the path, or make a new key: fix init")
        }
        other => other.into(),
    };
    let seed = match &args.import {
        Some(file) => keys::read(file).map_err(missing)?.0,
        None => keys::random()?,
    };
    if target.is_dir() {
        return Err(Error::KeyIsFolder { path: files::shown(&target) }.into());
    }
    keys::write(&seed, &target).map_err(|fault| match fault {
        Fault::Exists { path } => Failure::from(Error::KeyExists { path }),
        other => other.into(),
    })?;
    if args.market.is_some() {
        config.write(&context.place("config.toml")?)?;
    }
    let market = match args.market {
        Some(value) => {
            let path = context.place("config.toml")?;
            Setting { value, source: Source::File { name: "config.toml", path } }
        }
        None => context.server()?,
    };
    context.print(&Made {
        fix_id: PartyKey::from_seed(&seed).id().to_string(),
        key: files::shown(&target),
        imported_from: args.import.as_deref().map(files::shown),
        market: market.value,
        market_source: market.source.to_string(),
        others: keys::others(&target, &[".config/zx1/id.json", ".config/solana/id.json"]),
    })
}
