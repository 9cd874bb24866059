//! `fix contracts|show|cancel|halt|resume|back-out|dispute|respond|appeal|waive|review`: contracts by hand.

use super::verify::Checked;
use crate::bridge;
use crate::context::{Context, Who};
use crate::errors::{Error, Failure, Result};
use crate::fixing::record;
use crate::fixing::{self, Failed, Session, hire};
use crate::flags::Fixing;
use crate::market;
use clap::ValueEnum;
use serde::Serialize;
use std::process::ExitCode;
use zx1_agent::bridge::BridgeError;
use zx1_cli_common::output::{self, Page, Report, Table};
use zx1_cli_common::words::short;
use zx1_cli_common::{confirm, files};
use zx1_market::case;
use zx1_market::wire::ReviewAction;
use zx1_market::{ContractId, Millis, State};
use zx1_market_client::{ListFilter, Market, View};
use zx1_scrub::Scrubber;

/// Shown by `--help` of contracts.
pub const LIST_EXAMPLES: &str = "\
Examples:
  fix contracts              yours that are under way
  fix contracts --all        also those that have ended
  fix contracts --open       what agents can take now";

/// Shown by `--help` of show.
pub const SHOW_EXAMPLES: &str = "\
Examples:
  fix show 0123456789abcdef
  fix --json show 0123456789abcdef";

/// Shown by `--help` of the commands that act on a contract.
pub const ACT_EXAMPLES: &str = "\
Examples:
  fix cancel 0123456789abcdef                 nobody has taken it yet
  fix halt 0123456789abcdef 'it runs rm -rf'  stop everything; a judge decides
  fix resume 0123456789abcdef                 take a halt back, or go on after a crash
  fix back-out 0123456789abcdef               leave; after 30 s it costs 20 %
  fix dispute 0123456789abcdef 'it never worked'
  fix respond 0123456789abcdef 'see the exit code'
  fix appeal 0123456789abcdef 'the test was skipped'
  fix waive 0123456789abcdef                  accept a ruling at once
  fix review 0123456789abcdef accept          autonomous mode: accept, reject, dispute";

/// `fix contracts`.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Also those that have ended
    #[arg(long)]
    all: bool,
    /// Contracts of everybody that wait for an agent
    #[arg(long, conflicts_with = "all")]
    open: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
}

/// Which contract, and as whom.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The contract's id: 16 hexadecimal digits
    #[arg(value_name = "ID")]
    id: String,
    /// Act with the agent's key instead of the principal's
    #[arg(long)]
    as_agent: bool,
}

/// `fix show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    which: Which,
}

/// A contract, and why.
#[derive(Debug, clap::Args)]
pub struct Because {
    #[command(flatten)]
    which: Which,
    /// Why; the other side and a judge read it
    #[arg(value_name = "REASON", default_value = "")]
    reason: String,
}

/// A contract, and what to say to the court.
#[derive(Debug, clap::Args)]
pub struct Argue {
    #[command(flatten)]
    which: Which,
    /// The argument; the other side and the judge read it
    #[arg(value_name = "ARGUMENT")]
    argument: String,
}

/// What to do with a fix that waits for review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Verdict {
    /// The agent is paid
    Accept,
    /// The bounty comes back, unless the agent objects
    Reject,
    /// A court decides
    Dispute,
}

/// `fix review`.
#[derive(Debug, clap::Args)]
pub struct Review {
    #[command(flatten)]
    which: Which,
    /// What to do
    verdict: Verdict,
    /// Why; the other side and a judge read it
    #[arg(value_name = "REASON", default_value = "")]
    reason: String,
}

#[derive(Serialize)]
struct Line {
    id: Option<String>,
    state: Option<String>,
    bounty: Option<String>,
    command: String,
    folder: Option<String>,
    here: bool,
}

#[derive(Serialize)]
#[serde(transparent)]
struct Listed(Vec<Line>);

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["contract", "state", "XNO", "command"]).prose(3);
        for line in &self.0 {
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            let first = line.command.lines().next().unwrap_or_default();
            table.row([&text(&line.id), &text(&line.state), &text(&line.bounty), &first]);
        }
        page.table(table, "There are none.");
        if self.0.iter().any(|line| line.here) {
            page.next("fix resume ID");
        }
    }
}

/// Lists this user's contracts, or with `--open` those of everybody that wait for an agent.
pub fn list(args: List, context: &Context) -> Result<()> {
    let (runtime, _) = fixing::start()?;
    let market = runtime.block_on(market::connect(context, Who::Principal))?;
    let filter =
        ListFilter { status: args.open.then_some(State::Open), limit: Some(args.limit), mine: !args.open };
    let found = runtime.block_on(market.list(filter))?;
    let kept = record::all(context)?;
    let mut lines = Vec::new();
    for view in found {
        if !args.all && view.status.is_terminal() {
            continue;
        }
        let record = kept.iter().map(|(_, record)| record).find(|record| record.id == Some(view.id));
        // A running contract is not in the market's list; this machine knows it.
        let contract = record.map_or(&view.contract, |record| &record.contract);
        let posted = |part: &str, name: &str| Some(contract.get(part)?.get(name)?.as_str()?.to_owned());
        lines.push(Line {
            id: Some(view.id.to_string()),
            state: Some(view.status.to_string()),
            bounty: posted("escrow", "bounty"),
            command: record
                .map(|record| record.line.clone())
                .or(posted("task", "command"))
                .unwrap_or_default(),
            folder: record.map(|record| files::shown(&record.folder)),
            here: record.is_some(),
        });
    }
    context.print(&Listed(lines))
}

pub(super) fn id_of(which: &Which) -> Result<ContractId> {
    which.id.parse().map_err(|_| Error::BadId { text: which.id.chars().take(40).collect() }.into())
}

pub(super) fn who(which: &Which) -> Who {
    if which.as_agent { Who::Agent } else { Who::Principal }
}

/// Shows a contract: fetched, verified here, saved.
pub fn show(args: Show, context: &Context) -> Result<()> {
    let id = id_of(&args.which)?;
    let (runtime, _) = fixing::start()?;
    let market = runtime.block_on(market::connect(context, who(&args.which)))?;
    let view = runtime.block_on(market.view(id))?;
    if let Some(bridge) = bridge::of(context, who(&args.which))? {
        // What the other side has left since belongs into the log too.
        // A cluster that does not answer keeps nobody from reading.
        match runtime.block_on(bridge.keep(&market, &view)) {
            Err(error @ BridgeError::Keys { .. }) => {
                output::warn(&format!("error {}: {error}", error.code()));
            }
            kept => drop(kept?),
        }
    }
    let report = case::replay(view.transcript());
    context.print(&Checked { report: &report, transcript: view.transcript() })
}

/// What was done, and what may come next.
#[derive(Serialize)]
struct Done {
    contract: String,
    done: &'static str,
    state: String,
    /// What to do next, for people.
    #[serde(skip)]
    next: &'static str,
}

impl Report for Done {
    fn draw(&self, page: &mut Page) {
        page.line(format!("{}: contract {} is {}.", self.done, self.contract, self.state));
        page.next(format!("fix {} {}", self.next, self.contract));
    }
}

/// One act of a party on a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Take a contract back that no agent has taken.
    Cancel,
    /// Stop all work at once.
    Halt,
    /// Leave a contract in the middle.
    BackOut,
    /// Take the contract to the district court.
    Dispute,
    /// Answer the other side's dispute.
    Respond,
    /// Appeal to the next court.
    Appeal,
    /// Accept a ruling at once, without an appeal.
    Waive,
}

impl Act {
    /// What it may cost, asked before it is done; `None` where it costs nothing.
    fn price(self, view: &View, now: Millis) -> Option<String> {
        let case = view.case();
        let fees = &case.terms().fees;
        if case.contract().is_free() {
            return None;
        }
        match self {
            Self::BackOut if case.grace_until().is_none_or(|until| now >= until) => {
                let percent = fees.cancel_fee_bp / 100;
                Some(format!(
                    "Leaving now costs {percent} % of the bounty of {} XNO.",
                    case.contract().bounty.xno()
                ))
            }
            Self::Dispute => {
                let fee = zx1_market::money::Court::District.fee(fees).xno();
                Some(format!("Who loses before the first court pays {fee} XNO."))
            }
            Self::Appeal => {
                let next = case.proceedings()?.court.next()?;
                Some(format!("Who loses before the {next} court pays {} XNO.", next.fee(fees).xno()))
            }
            _ => None,
        }
    }

    async fn send(self, market: &Market, id: ContractId, text: &str) -> Result<&'static str> {
        Ok(match self {
            Self::Cancel => market.cancel(id, text).await.map(|_| "Canceled")?,
            Self::Halt => market.halt(id, text).await.map(|_| "Halted")?,
            Self::BackOut => market.back_out(id, text).await.map(|_| "Left")?,
            Self::Dispute => market.dispute(id, text).await.map(|_| "Disputed")?,
            Self::Respond => market.respond(id, text).await.map(|_| "Answered")?,
            Self::Appeal => market.appeal(id, text).await.map(|_| "Appealed")?,
            Self::Waive => market.waive(id).await.map(|_| "Waived")?,
        })
    }
}

/// A reason or an argument as it is signed: others read it, and it stays in the transcript.
fn without_secrets(text: &str) -> String {
    Scrubber::new().scrub(text.trim()).text
}

/// Does one act.
fn act(which: &Which, act: Act, text: &str, context: &Context) -> Result<()> {
    let id = id_of(which)?;
    let (runtime, _) = fixing::start()?;
    let market = runtime.block_on(market::connect(context, who(which)))?;
    let view = runtime.block_on(market.view(id))?;
    if view.state().is_terminal() {
        return Err(Error::Ended { id: id.to_string(), state: view.state().to_string() }.into());
    }
    if view.side().is_none() {
        return Err(Error::NotOurs { id: id.to_string() }.into());
    }
    let now = runtime.block_on(market.now())?;
    if let Some(price) = act.price(&view, now).filter(|_| !context.yes()) {
        confirm::ask(&format!("{price} Go on?"))?;
    }
    let done = runtime.block_on(act.send(&market, id, &without_secrets(text)))?;
    let after = runtime.block_on(market.view(id))?;
    context.print(&Done { contract: id.to_string(), done, state: after.state().to_string(), next: "show" })
}

/// Acts that take a reason.
pub fn because(args: Because, kind: Act, context: &Context) -> Result<()> {
    act(&args.which, kind, &args.reason, context)
}

/// Acts that take an argument.
pub fn argue(args: Argue, kind: Act, context: &Context) -> Result<()> {
    act(&args.which, kind, &args.argument, context)
}

/// Gives up an appeal.
pub fn waive(args: Show, context: &Context) -> Result<()> {
    act(&args.which, Act::Waive, "", context)
}

/// Accepts, rejects or disputes a fix in review.
pub fn review(args: Review, context: &Context) -> Result<()> {
    let id = id_of(&args.which)?;
    let (runtime, _) = fixing::start()?;
    let market = runtime.block_on(market::connect(context, who(&args.which)))?;
    let (action, done) = match args.verdict {
        Verdict::Accept => (ReviewAction::Accept, "Accepted"),
        Verdict::Reject => (ReviewAction::Reject, "Rejected"),
        Verdict::Dispute => (ReviewAction::Dispute, "Disputed"),
    };
    runtime.block_on(market.review(id, action, &without_secrets(&args.reason)))?;
    let after = runtime.block_on(market.view(id))?;
    // An accepted fix is applied by whoever goes on with the contract here.
    let here = args.verdict == Verdict::Accept && record::of(context, id)?.is_some();
    let next = if here { "resume" } else { "show" };
    context.print(&Done { contract: id.to_string(), done, state: after.state().to_string(), next })
}

/// Takes a halt back, and goes on with a contract of this machine.
pub fn resume(args: Because, context: &Context) -> Result<ExitCode> {
    let id = id_of(&args.which)?;
    let (runtime, interrupts) = fixing::start()?;
    let market = runtime.block_on(market::connect(context, who(&args.which)))?;
    let view = runtime.block_on(market.view(id))?;
    if view.state() == State::Halted {
        runtime.block_on(market.resume(id, &without_secrets(&args.reason)))?;
    }
    let Some(found) = record::of(context, id)? else {
        if let Some(bridge) = bridge::of(context, who(&args.which))?.filter(|_| view.state().is_terminal()) {
            runtime.block_on(bridge.close(&market, &view))?;
        }
        let after = runtime.block_on(market.view(id))?;
        let done = if view.state() == State::Halted { "Resumed" } else { "Nothing to resume here" };
        context.print(&Done {
            contract: id.to_string(),
            done,
            state: after.state().to_string(),
            next: "show",
        })?;
        return Ok(ExitCode::SUCCESS);
    };
    let held = record::take(found)?;
    let record = &held.record;
    let folder = record.folder.canonicalize();
    let folder = folder.map_err(|error| Error::NoFolder { why: crate::errors::reason(&error) })?;
    let failed = Failed { line: record.line.clone(), folder, output: String::new(), exit: record.exit };
    let exit = record.exit;
    let name = short(&id.to_string());
    let mut session = Session::new(failed, Fixing::default(), context, &runtime, interrupts)?;
    let data = serde_json::json!({ "contract": id.to_string() });
    context.screen(false).step("resumed", data, &format!("Going on with {name}."));
    let ended = hire::resume(&mut session, held);
    drop(session);
    runtime.shutdown_background();
    match ended {
        Ok(fixing::Ended::Fixed) => Ok(ExitCode::SUCCESS),
        Ok(fixing::Ended::AsBefore) => Ok(ExitCode::from(exit)),
        Err(failure) => Err::<ExitCode, Failure>(failure),
    }
}
