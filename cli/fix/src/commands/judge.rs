//! `fix judge`: the three courts, as a process of their own (decisions E5, E6).

use super::{logs, stop_signal, stopped};
use crate::context::Context;
use crate::errors::{Error, Failure, Result};
use crate::fixing;
use serde_json::json;
use std::sync::Arc;
use zx1_agent::courtroom::{CourtModels, Courtroom, CourtroomOptions};
use zx1_agent::judge::{Outcome, scripted};
use zx1_model::{Model, NameError};
use zx1_principal::Role;
use zx1_trial::SandboxBench;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix judge --id                             your key as judge, for fix serve --judge
  fix serve --judge fix_... &
  fix judge --model openrouter:VENDOR/MODEL
  fix judge --district openrouter:A --appeals anthropic:B --supreme anthropic:C
  fix judge --always fulfilled               a demo: no model

A judge first runs the disputed fix again, on the files that the contract holds,
in a clean sandbox; then its model reads the transcript and rules. Models as in
fix agent --help, but rules.";

/// Arguments of `fix judge`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Model of every court that has none of its own
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Model of the district court
    #[arg(long, value_name = "MODEL")]
    district: Option<String>,
    /// Model of the appeals court
    #[arg(long, value_name = "MODEL")]
    appeals: Option<String>,
    /// Model of the supreme court
    #[arg(long, value_name = "MODEL")]
    supreme: Option<String>,
    /// Always rule this way, for demonstrations and tests
    #[arg(long, value_name = "OUTCOME", conflicts_with_all = ["model", "district", "appeals", "supreme"])]
    always: Option<String>,
    /// Print the judge's key and exit
    #[arg(long)]
    id: bool,
    /// Price in dollars per million tokens read and written
    #[arg(long, value_name = "IN/OUT", default_value = "0/0")]
    price: String,
}

/// Number of rulings that `--always` can give.
const DEMO: usize = 10_000;

fn models(args: &Args) -> Result<CourtModels> {
    if let Some(word) = &args.always {
        let all = ["fulfilled", "canceled", "impossible", "evil_agent", "evil_principal", "evil_both"];
        let outcome: Option<Outcome> = serde_json::from_value(json!(word)).ok();
        let unknown = Error::BadWord { what: "ruling", text: word.clone(), known: all.join(", ") };
        let outcome = outcome.ok_or(unknown)?;
        return Ok(CourtModels::all(scripted(std::iter::repeat_n(outcome, DEMO)).shared()));
    }
    let price = super::agent::price(&args.price)?;
    let court = |own: &Option<String>, name: &str| -> Result<Vec<Arc<dyn Model>>> {
        let missing =
            || Error::Usage { message: format!("The {name} court has no model: give --model or --{name}.") };
        let named = own.as_ref().or(args.model.as_ref()).ok_or_else(missing)?;
        let none = || NameError::BadModel { text: named.clone(), why: "rules cannot judge".to_owned() };
        Ok(vec![zx1_model::named(named, price)?.ok_or_else(none)?])
    };
    Ok(CourtModels {
        district: court(&args.district, "district")?,
        appeals: court(&args.appeals, "appeals")?,
        supreme: court(&args.supreme, "supreme")?,
    })
}

/// Judges until SIGINT or SIGTERM.
pub fn run(args: Args, context: &Context) -> Result<()> {
    if args.id {
        let id = context.key(Role::Judge)?.id();
        return Ok(zx1_cli_common::output::write_out(format!("{id}\n").as_bytes())?);
    }
    let models = models(&args)?;
    logs("warn,zx1_agent=info");
    let runtime = fixing::threads()?;
    let (party, market) = context.connect(Role::Judge, &runtime)?;
    runtime.block_on(async {
        let data = json!({ "judge": market.id().to_string(), "market": market.url() });
        let text = format!("Judge {} waits for disputes at {}. Ctrl+C stops it.", market.id(), market.url());
        context.screen(false).step("ready", data, &text);
        let bench = SandboxBench { masks: context.secret_places(Role::Judge)?, helper: None };
        let options = CourtroomOptions { bridge: party.bridge()?, ..CourtroomOptions::default() };
        let court = Courtroom::new(market, models, Arc::new(bench), options);
        court.run(stop_signal()).await?;
        Ok::<(), Failure>(())
    })?;
    stopped(context, "The judge has stopped.");
    Ok(())
}
