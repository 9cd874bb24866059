//! `fix status`: what fix works with.

use crate::ask::budget;
use crate::context::Context;
use crate::errors::Result;
use crate::fixing;
use serde::Serialize;
use zx1_cli_common::output::{Page, Report};
use zx1_cli_common::words::count;
use zx1_cli_common::{Fault, files, keys};
use zx1_market::PartyKey;
use zx1_model::Spend;
use zx1_model::budget::Caps;
use zx1_principal::{Own, Role, health, record};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix status
  fix --json status";

/// Arguments of `fix status`.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Status {
    key: String,
    /// None before the first use.
    fix_id: Option<String>,
    model: Option<Model>,
    market: String,
    market_source: String,
    /// Why it does not answer.
    market_error: Option<String>,
    /// Contracts under way, as far as this machine knows.
    contracts: Vec<String>,
}

#[derive(Serialize)]
struct Model {
    name: String,
    url: String,
    /// Whether the user has agreed to send failures there.
    agreed: bool,
    /// Why it cannot be used.
    error: Option<String>,
    #[serde(flatten)]
    today: Option<Today>,
}

#[derive(Clone, Copy, Serialize)]
struct Today {
    micro_usd_today: u64,
    micro_usd_per_day: u64,
    tokens_today: u64,
    tokens_per_day: u64,
}

impl Today {
    fn of(spent: Spend, caps: Caps) -> Self {
        Self {
            micro_usd_today: spent.micro_usd,
            micro_usd_per_day: caps.micro_usd,
            tokens_today: spent.tokens,
            tokens_per_day: caps.tokens,
        }
    }
}

impl Report for Status {
    fn draw(&self, page: &mut Page) {
        match &self.fix_id {
            Some(id) => page.field("you are", id).field("key", &self.key),
            None => page.field("key", "none yet: the first contract makes one, or fix init"),
        };
        match &self.model {
            None => page.field("model", "none (fix init)"),
            Some(model) => page.field("model", format!("{} at {}", model.name, model.url)),
        };
        if let Some(Model { error: Some(error), .. }) = &self.model {
            page.field("", error);
        }
        if let Some(Model { today: Some(today), .. }) = &self.model {
            let spent =
                Spend { micro_usd: today.micro_usd_today, tokens: today.tokens_today, ..Spend::default() };
            let caps = Caps { micro_usd: today.micro_usd_per_day, tokens: today.tokens_per_day, millis: 0 };
            page.field("budget", budget(spent, caps));
        }
        page.field("market", format!("{} ({})", self.market, self.market_source));
        page.field(
            "",
            self.market_error.as_ref().map_or("answers".to_owned(), |why| format!("does not answer: {why}")),
        );
        page.field(
            "contracts",
            match self.contracts.len() {
                0 => "none under way".to_owned(),
                some => format!("{} under way", count(some, "contract", "contracts")),
            },
        );
        if let [id, ..] = self.contracts.as_slice() {
            page.next(format!("fix resume {id}"));
        }
    }
}

/// Shows what fix works with. Nothing is made.
pub fn run(_: Args, context: &Context) -> Result<()> {
    let (runtime, _) = fixing::start()?;
    let path = context.key_path(Role::Principal)?;
    let fix_id = match keys::read(&path) {
        Ok((seed, _)) => Some(PartyKey::from_seed(&seed).id().to_string()),
        Err(Fault::KeyMissing { .. }) => None,
        Err(fault) => return Err(fault.into()),
    };
    let model = match context.model(None)? {
        None => None,
        Some((named, settings)) => {
            let opened = Own::open(named.clone(), &settings, context.home()?);
            let today = opened.as_ref().map_err(ToString::to_string).and_then(|own| {
                own.today().map(|spent| Today::of(spent, own.per_day())).map_err(|error| error.to_string())
            });
            Some(Model {
                agreed: opened.as_ref().is_ok_and(Own::is_agreed),
                error: today.as_ref().err().cloned(),
                today: today.ok(),
                name: named.model,
                url: named.url,
            })
        }
    };
    let market = context.server()?;
    let records = record::all(context.home()?)?;
    context.print(&Status {
        key: files::shown(&path),
        fix_id,
        model,
        market_error: runtime.block_on(health::market(&market.value)).err(),
        market: market.value,
        market_source: market.source.to_string(),
        contracts: records.iter().filter_map(|(_, record)| Some(record.id?.to_string())).collect(),
    })
}
