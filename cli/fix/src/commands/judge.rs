//! `fix judge`: the three courts, as a process of their own (decisions E5, E6).

use super::{logs, stop_signal, stopped};
use crate::context::{Context, Who};
use crate::errors::{Error, Result};
use crate::{bridge, fixing, market, models};
use serde_json::json;
use std::sync::Arc;
use zx1_agent::courtroom::{CourtModels, Courtroom, CourtroomOptions, SandboxBench};
use zx1_agent::judge::{Outcome, scripted};
use zx1_model::Model;

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

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model of all courts that name none of their own
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The first court's model
    #[arg(long, value_name = "MODEL")]
    district: Option<String>,
    /// The second court's model
    #[arg(long, value_name = "MODEL")]
    appeals: Option<String>,
    /// The last court's model
    #[arg(long, value_name = "MODEL")]
    supreme: Option<String>,
    /// Rule this whatever happened, for demonstrations and tests
    #[arg(long, value_name = "OUTCOME", conflicts_with_all = ["model", "district", "appeals", "supreme"])]
    always: Option<String>,
    /// Print this judge's key and end
    #[arg(long)]
    id: bool,
    /// Dollars for a million tokens read and written
    #[arg(long, value_name = "IN/OUT", default_value = "0/0")]
    price: String,
}

/// Rulings that a demonstration has in store.
const DEMO: usize = 10_000;

fn models(args: &Args) -> Result<CourtModels> {
    if let Some(word) = &args.always {
        let all = ["fulfilled", "canceled", "impossible", "evil_agent", "evil_principal", "evil_both"];
        let outcome: Option<Outcome> = serde_json::from_value(json!(word)).ok();
        let unknown = Error::BadWord { what: "ruling", text: word.clone(), known: all.join(", ") };
        let outcome = outcome.ok_or(unknown)?;
        return Ok(CourtModels::all(scripted(std::iter::repeat_n(outcome, DEMO)).shared()));
    }
    let price = models::price(&args.price)?;
    let court = |own: &Option<String>, name: &str| -> Result<Vec<Arc<dyn Model>>> {
        let missing =
            || Error::Usage { message: format!("The {name} court has no model: give --model or --{name}.") };
        let named = own.as_ref().or(args.model.as_ref()).ok_or_else(missing)?;
        let none = || Error::BadModel { text: named.clone(), why: "rules cannot judge".to_owned() };
        Ok(vec![models::named(named, price)?.ok_or_else(none)?])
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
        let id = context.key(Who::Judge)?.id();
        return Ok(zx1_cli_common::output::write_out(format!("{id}\n").as_bytes())?);
    }
    let models = models(&args)?;
    logs("warn,zx1_agent=info");
    let runtime = fixing::threads()?;
    runtime.block_on(async {
        let market = market::connect(context, Who::Judge).await?;
        let data = json!({ "judge": market.id().to_string(), "market": market.url() });
        let text = format!("Judge {} waits for disputes at {}. Ctrl+C stops it.", market.id(), market.url());
        context.screen(false).step("ready", data, &text);
        let bench = SandboxBench { masks: context.secret_places(Who::Judge)?, ..SandboxBench::default() };
        let options =
            CourtroomOptions { bridge: bridge::of(context, Who::Judge)?, ..CourtroomOptions::default() };
        let court = Courtroom::new(market, models, Arc::new(bench), options);
        court.run(stop_signal()).await?;
        Ok::<(), crate::errors::Failure>(())
    })?;
    stopped(context, "The judge has stopped.");
    Ok(())
}
