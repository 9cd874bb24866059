//! `fix init`: the party's key (decision A1), the user's own model, the market.

use crate::context::{CONFIG, Context};
use crate::errors::{Error, Failure, Result};
use crate::settings::{MARKET, MODEL};
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_cli_common::keys::Seed;
use zx1_cli_common::output::{Page, Report, write_err};
use zx1_cli_common::{Fault, confirm, files, keys};
use zx1_home::config::{Setting, Source};
use zx1_market::PartyKey;
use zx1_model::Named;
use zx1_principal::Role;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix init                                     a key in ~/.fix/key.ed25519, or zx1's
  fix init --new                               a key of its own, also where zx1 has one
  fix init --import ~/.config/solana/id.json   use Solana's key
  fix init --model openai:qwen@http://127.0.0.1:8080/v1
  fix init --market https://fix.example.org    store the market too

A key file is a JSON array of 64 numbers, 32 raw bytes, or 64 hexadecimal digits.
The model's own key comes from OPENAI_API_KEY, OPENROUTER_API_KEY or FIX_API_KEY,
or from ~/.fix/model.key (chmod 600). zx1 init takes fix's key, too.";

/// Arguments of `fix init`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Import the key from this file instead of creating one
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Create a new key, even if zx1 has one
    #[arg(long, conflicts_with = "import")]
    new: bool,
    /// Store this market in config.toml
    #[arg(long, value_name = "URL")]
    market: Option<String>,
    /// Store this language model in config.toml; rules: none
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

/// Where the key comes from.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Origin {
    Created,
    Imported,
    Kept,
}

#[derive(Serialize)]
struct Made {
    fix_id: String,
    key: String,
    origin: Origin,
    imported_from: Option<String>,
    market: String,
    /// The layer of the settings that names the market.
    market_source: String,
    model: Option<String>,
    /// Other keys of this user.
    others: Vec<String>,
}

impl Report for Made {
    fn draw(&self, page: &mut Page) {
        match (&self.imported_from, self.origin) {
            (Some(from), _) => page.line(format!("Imported the key from {from}.")),
            (None, Origin::Kept) => page.line("You have a key already; it stays."),
            (None, _) => page.line("Created a new key. Whoever has its file has your money: keep it safe."),
        };
        page.field("you are", &self.fix_id)
            .field("key", &self.key)
            .field("model", self.model.as_deref().unwrap_or("none (fix init --model MODEL)"))
            .field("market", format!("{} ({})", self.market, self.market_source));
        if self.origin == Origin::Created {
            keys::draw_others(page, &self.others, "fix");
        }
        page.next("fix COMMAND, or fix doctor to see whether all works");
    }
}

/// Sets up what is missing. What cannot be right is refused before anything is written.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let target = context.key_path(Role::Principal)?;
    let place = context.place(CONFIG)?;
    let mut config = context.config()?.clone();
    if let Some(market) = &args.market {
        let source = Source::Flag("--market");
        let refused = |_| Error::BadUrl { url: market.clone(), source: source.to_string() };
        MARKET.check(market, &source).map_err(refused)?;
        config = config.with(MARKET.name, Some(market), &place)?;
    }
    if let Some(model) = &args.model {
        Named::parse(model)?;
        config = config.with(MODEL.name, Some(model), &place)?;
    }
    let (seed, origin, from) = key(&args, &target, context)?;
    if args.model.is_none() && context.setting(&MODEL, None)?.is_none() && can_ask(context) {
        config = config.with(MODEL.name, Some(&ask_model()?), &place)?;
    }
    if config != *context.config()? {
        config.write(&place)?;
    }
    let market = match args.market {
        Some(value) => Setting { value, source: Source::File { name: CONFIG, path: place } },
        None => context.server()?,
    };
    context.print(&Made {
        fix_id: PartyKey::from_seed(&seed).id().to_string(),
        key: files::shown(&target),
        origin,
        imported_from: from.as_deref().map(files::shown),
        market: market.value,
        market_source: market.source.to_string(),
        model: config.model.filter(|model| model != "rules"),
        others: keys::others(&target, &[".config/zx1/id.json", ".config/solana/id.json"]),
    })
}

fn can_ask(context: &Context) -> bool {
    confirm::can_ask() && !context.yes() && !context.format().is_json()
}

/// The key, where it comes from, and the file that it was imported from.
fn key(args: &Args, target: &Path, context: &Context) -> Result<(Seed, Origin, Option<PathBuf>)> {
    let missing = |fault: Fault| match fault {
        fault @ Fault::KeyMissing { .. } => {
            Failure::from(fault).next("check the path, or make a new key: fix init")
        }
        other => other.into(),
    };
    let import = match &args.import {
        Some(file) => Some((keys::read(file).map_err(missing)?.0, file.clone())),
        None => None,
    };
    let taken = || Failure::from(Error::KeyExists { path: files::shown(target) });
    match (keys::read(target), import) {
        (Ok((seed, _)), Some((wanted, _))) if *seed != *wanted => Err(taken()),
        (Ok(_), None) if args.new => Err(taken()),
        (Ok((seed, _)), _) => Ok((seed, Origin::Kept, None)),
        (Err(Fault::KeyMissing { .. }), Some((seed, from))) => {
            keys::write(&seed, target)?;
            Ok((seed, Origin::Imported, Some(from)))
        }
        (Err(Fault::KeyMissing { .. }), None) => {
            let (seed, from) = match args.new {
                true => keys::first(target, None, |_, _| Ok(false))?,
                false => context.first_key(Role::Principal, target)?,
            };
            Ok((seed, if from.is_some() { Origin::Imported } else { Origin::Created }, from))
        }
        (Err(fault), _) => Err(fault.into()),
    }
}

/// Asks for the user's model until the answer is one; `rules` stands for none, and is not asked for again.
fn ask_model() -> Result<String> {
    write_err(
        "A language model of yours can be asked when no rule knows a failure. It is sent\n\
         what you see first, without secrets; its fixes are tried in the sandbox.\n\
         \x20 openai:MODEL@URL         any OpenAI-compatible server, also on this machine\n\
         \x20 openrouter:VENDOR/MODEL  with the key in OPENROUTER_API_KEY\n\
         \x20 anthropic:MODEL          with the key in FIX_API_KEY\n",
    );
    loop {
        let answer = confirm::read_line("Your model (Enter: none): ");
        if answer.is_empty() {
            return Ok("rules".to_owned());
        }
        match Named::parse(&answer) {
            Ok(_) => return Ok(answer),
            Err(error) => write_err(&format!("{error}\n")),
        }
    }
}
