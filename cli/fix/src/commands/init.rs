//! `fix init`: the party's key (decision A1).

use crate::context::{Context, Who};
use crate::errors::{Error, Failure, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_cli_common::output::{Page, Report};
use zx1_cli_common::{Fault, files, keys};
use zx1_market::PartyKey;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix init                                     a new key in ~/.fix/key.ed25519
  fix init --import ~/.config/zx1/id.json      take over zx1's key: one party, one key
  fix init --import ~/.config/solana/id.json   take over Solana's key
  fix init --market https://fix.example.org    and remember the market

A key file is a JSON array of 64 numbers, 32 raw bytes, or 64 hexadecimal digits.
zx1 takes over fix's key with zx1 init --import ~/.fix/key.ed25519.";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take over the key in this file instead of making one
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Remember this market in config.toml
    #[arg(long, value_name = "URL")]
    market: Option<String>,
}

#[derive(Serialize)]
struct Made {
    fix_id: String,
    key: String,
    imported_from: Option<String>,
    market: String,
    /// Keys of this user that were not taken.
    others: Vec<String>,
}

impl Report for Made {
    fn draw(&self, page: &mut Page) {
        match &self.imported_from {
            Some(from) => page.line(format!("The key in {from} is yours here too.")),
            None => page.line("A new key is made. Whoever has its file has your money: keep it."),
        };
        page.field("you are", &self.fix_id).field("key", &self.key).field("market", &self.market);
        if self.imported_from.is_none() && !self.others.is_empty() {
            page.line(format!("You have other keys: {}.", self.others.join(", ")));
            page.line("To use one of them instead, move this one away and run fix init --import FILE.");
        }
        page.next("fix COMMAND");
    }
}

/// Makes or takes the key.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let target = context.key_path(Who::Principal)?;
    let mut config = context.config()?.clone();
    if let Some(market) = &args.market {
        if !market.starts_with("http://") && !market.starts_with("https://") {
            return Err(Error::BadUrl { url: market.clone() }.into());
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
    context.print(&Made {
        fix_id: PartyKey::from_seed(&seed).id().to_string(),
        key: files::shown(&target),
        imported_from: args.import.as_deref().map(files::shown),
        market: args.market.map_or_else(|| context.server(), Ok)?,
        others: others(&target),
    })
}

/// Keys of zx1 and Solana, where they usually lie.
fn others(chosen: &Path) -> Vec<String> {
    let Some(home) = zx1_home::config::user_home() else { return Vec::new() };
    [".config/zx1/id.json", ".config/solana/id.json"]
        .iter()
        .map(|path| home.join(path))
        .filter(|path| path.exists() && path != chosen)
        .map(|path| files::shown(&path))
        .collect()
}
