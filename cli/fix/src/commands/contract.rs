//! `fix contracts|show|cancel|halt|resume|back-out|dispute|respond|appeal|waive|review`: contracts by hand.

use super::verify::Checked;
use crate::context::Context;
use crate::errors::{Error, Failure, Result, reason};
use crate::fixing;
use crate::flags::{Fixing, Ledger};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;
use tokio::runtime::Runtime;
use zx1_agent::bridge::BridgeError;
use zx1_cli_common::output::{self, Page, Report, Table};
use zx1_cli_common::words::short;
use zx1_cli_common::{confirm, files};
use zx1_market::case;
use zx1_market::money::Court;
use zx1_market::wire::ReviewAction;
use zx1_market::{ContractId, State};
use zx1_market_client::{Act, ListFilter, Market, Price};
use zx1_principal::record::{self, Record};
use zx1_principal::{Acted, Ended, Failed, Party, Role};

/// Shown by `--help` of contracts.
pub const LIST_EXAMPLES: &str = "\
Examples:
  fix contracts              your contracts that are under way
  fix contracts --all        all of your contracts
  fix contracts --open       contracts that agents can take now";

/// Shown by `--help` of show.
pub const SHOW_EXAMPLES: &str = "\
Examples:
  fix show 0123456789abcdef
  fix --json show 0123456789abcdef";

/// Shown by `--help` of the commands that act on a contract.
pub const ACT_EXAMPLES: &str = "\
Examples:
  fix cancel 0123456789abcdef                 no agent has taken it yet
  fix halt 0123456789abcdef 'it runs rm -rf'  stop everything; a judge decides
  fix resume 0123456789abcdef                 after a halt or a crash
  fix back-out 0123456789abcdef               after 30 s it costs 20 %
  fix dispute 0123456789abcdef 'it never worked'
  fix respond 0123456789abcdef 'see the exit code'
  fix appeal 0123456789abcdef 'the test was skipped'
  fix waive 0123456789abcdef                  accept a ruling without appeal
  fix review 0123456789abcdef accept          autonomous mode: accept, reject, dispute";

/// Arguments of `fix contracts`.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Include contracts that have ended
    #[arg(long)]
    all: bool,
    /// List everybody's contracts that wait for an agent
    #[arg(long, conflicts_with = "all")]
    open: bool,
    /// Maximum number to list
    #[arg(long, value_name = "N", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
}

/// Contract to act on, and the key to act with.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// Contract id: 16 hexadecimal digits
    #[arg(value_name = "ID")]
    id: String,
    /// Act with the agent's key instead of the principal's
    #[arg(long)]
    as_agent: bool,
}

impl Which {
    pub(super) fn id(&self) -> Result<ContractId> {
        self.id.parse().map_err(|_| Error::BadId { text: self.id.chars().take(40).collect() }.into())
    }

    pub(super) fn role(&self) -> Role {
        if self.as_agent { Role::Agent } else { Role::Principal }
    }

    /// Connects as this party, after the id was checked.
    fn open(&self, context: &Context, runtime: &Runtime) -> Result<(ContractId, Party, Market)> {
        let id = self.id()?;
        let (party, market) = context.connect(self.role(), runtime)?;
        Ok((id, party, market))
    }
}

/// Arguments of `fix show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    which: Which,
}

/// A contract and a reason.
#[derive(Debug, clap::Args)]
pub struct Because {
    #[command(flatten)]
    which: Which,
    /// Reason, read by the other side and the judge
    #[arg(value_name = "REASON", default_value = "")]
    reason: String,
}

/// A contract and an argument for the court.
#[derive(Debug, clap::Args)]
pub struct Argue {
    #[command(flatten)]
    which: Which,
    /// Argument, read by the other side and the judge
    #[arg(value_name = "ARGUMENT")]
    argument: String,
}

/// Verdict on a fix that waits for review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Verdict {
    /// Pay the agent
    Accept,
    /// Take the bounty back, unless the agent objects
    Reject,
    /// Let a court decide
    Dispute,
}

/// Arguments of `fix review`.
#[derive(Debug, clap::Args)]
pub struct Review {
    #[command(flatten)]
    which: Which,
    /// Verdict on the fix
    verdict: Verdict,
    /// Reason, read by the other side and the judge
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
struct Listed(Vec<Line>, #[serde(skip)] &'static str);

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["contract", "state", "XNO", "command"]).prose(3);
        for line in &self.0 {
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            let first = line.command.lines().next().unwrap_or_default();
            table.row([&text(&line.id), &text(&line.state), &text(&line.bounty), &first]);
        }
        page.table(table, self.1);
        if self.0.iter().any(|line| line.here) {
            page.next("fix resume ID");
        }
    }
}

impl Line {
    /// A contract of the market's list. A running one is not whole there; this machine's record is.
    fn of(view: &zx1_market::wire::ContractView, record: Option<&Record>) -> Self {
        let contract = record.map_or(&view.contract, |record| &record.contract);
        let posted = |part: &str, name: &str| Some(contract.get(part)?.get(name)?.as_str()?.to_owned());
        let command = record.map(|record| record.line.clone()).or_else(|| posted("task", "command"));
        Self {
            id: Some(view.id.to_string()),
            state: Some(view.status.to_string()),
            bounty: posted("escrow", "bounty"),
            command: command.unwrap_or_default(),
            folder: record.map(|record| files::shown(&record.folder)),
            here: record.is_some(),
        }
    }
}

/// Lists this user's contracts, or with `--open` those of everybody that wait for an agent.
pub fn list(args: List, context: &Context) -> Result<()> {
    let (runtime, _) = fixing::start()?;
    let (party, market) = context.connect(Role::Principal, &runtime)?;
    let filter =
        ListFilter { status: args.open.then_some(State::Open), limit: Some(args.limit), mine: !args.open };
    let found = runtime.block_on(market.list(filter))?;
    let kept = record::all(&party.home)?;
    let shown = found.iter().filter(|view| args.all || !view.status.is_terminal());
    let record_of = |id| kept.iter().map(|(_, record)| record).find(|record| record.id == Some(id));
    let none = match (args.all, args.open) {
        (true, _) => "No contracts yet.",
        (_, true) => "No contracts wait for an agent.",
        _ => "No contracts under way. All of yours: fix contracts --all",
    };
    context.print(&Listed(shown.map(|view| Line::of(view, record_of(view.id))).collect(), none))
}

/// Shows a contract: fetched, verified here, saved.
pub fn show(args: Show, context: &Context) -> Result<()> {
    let (runtime, _) = fixing::start()?;
    let (id, party, market) = args.which.open(context, &runtime)?;
    let view = runtime.block_on(market.view(id))?;
    if let Some(bridge) = party.bridge()? {
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

/// An act and the contract's state after it.
#[derive(Serialize)]
struct Done {
    contract: String,
    done: &'static str,
    state: &'static str,
    /// Command of fix to suggest next, for people.
    #[serde(skip)]
    next: &'static str,
}

impl Done {
    fn of(acted: Acted, done: &'static str, next: &'static str) -> Self {
        Self { contract: acted.contract.to_string(), done, state: acted.state.as_str(), next }
    }
}

impl Report for Done {
    fn draw(&self, page: &mut Page) {
        page.line(format!("{}: contract {} is {}.", self.done, self.contract, self.state));
        page.next(format!("fix {} {}", self.next, self.contract));
    }
}

/// What an act may cost, in a sentence.
fn sentence_of(price: Price) -> String {
    match price {
        Price::Share { percent, bounty } => {
            format!("Leaving now costs {percent} % of the bounty of {} XNO.", bounty.xno())
        }
        Price::Loser { court, fee } => {
            let court = if court == Court::District { "first" } else { court.as_str() };
            format!("Who loses before the {court} court pays {} XNO.", fee.xno())
        }
    }
}

/// Sends one act and prints the state after it.
fn act(which: &Which, act: Act, text: &str, context: &Context) -> Result<()> {
    let (runtime, _) = fixing::start()?;
    let (id, _, market) = which.open(context, &runtime)?;
    let agree = |price| match context.yes() {
        true => Ok(()),
        false => Ok(confirm::ask(&format!("{} Go on?", sentence_of(price)))?),
    };
    let acted = runtime.block_on(zx1_principal::act::<Failure>(&market, id, act, text, agree))?;
    let done = match act {
        Act::Cancel => "Canceled",
        Act::Halt => "Halted",
        Act::BackOut => "Left",
        Act::Dispute => "Disputed",
        Act::Respond => "Answered",
        Act::Appeal => "Appealed",
        Act::Waive => "Waived",
    };
    context.print(&Done::of(acted, done, "show"))
}

/// Acts that take a reason.
pub fn because(args: Because, kind: Act, context: &Context) -> Result<()> {
    act(&args.which, kind, &args.reason, context)
}

/// Acts that take an argument.
pub fn argue(args: Argue, kind: Act, context: &Context) -> Result<()> {
    act(&args.which, kind, &args.argument, context)
}

/// Accepts a ruling without appeal.
pub fn waive(args: Show, context: &Context) -> Result<()> {
    act(&args.which, Act::Waive, "", context)
}

/// Accepts, rejects or disputes a fix in review.
pub fn review(args: Review, context: &Context) -> Result<()> {
    let (runtime, _) = fixing::start()?;
    let (id, party, market) = args.which.open(context, &runtime)?;
    let (action, done) = match args.verdict {
        Verdict::Accept => (ReviewAction::Accept, "Accepted"),
        Verdict::Reject => (ReviewAction::Reject, "Rejected"),
        Verdict::Dispute => (ReviewAction::Dispute, "Disputed"),
    };
    let acted = runtime.block_on(zx1_principal::review(&market, id, action, &args.reason))?;
    // An accepted fix is applied by whoever goes on with the contract here.
    let here = args.verdict == Verdict::Accept && record::of(&party.home, id)?.is_some();
    context.print(&Done::of(acted, done, if here { "resume" } else { "show" }))
}

/// Ends a halt, and continues a contract of this machine.
pub fn resume(args: Because, context: &Context) -> Result<ExitCode> {
    let (runtime, watch) = fixing::start()?;
    let (id, party, market) = args.which.open(context, &runtime)?;
    let resumed = runtime.block_on(zx1_principal::resume(&party, &market, id, &args.reason))?;
    let Some(held) = resumed.record else {
        let done = if resumed.was_halted { "Resumed" } else { "Nothing to resume here" };
        context.print(&Done::of(resumed.acted, done, "show"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let record = &held.record;
    let folder = record.folder.canonicalize();
    let folder = folder.map_err(|error| Error::NoFolder { why: reason(&error) })?;
    let exit = record.exit;
    let failed = Failed { line: record.line.clone(), folder, output: String::new(), exit };
    let mut session = fixing::session(failed, &Fixing::default(), context, &runtime, &watch)?;
    let text = format!("Going on with {}.", short(&id.to_string()));
    context.screen(false).step("resumed", json!({ "contract": id.to_string() }), &text);
    let ended = session.resume(&context.party(Role::Principal, &Ledger::default())?, held);
    drop(session);
    runtime.shutdown_background();
    Ok(match ended? {
        Ended::Fixed => ExitCode::SUCCESS,
        Ended::AsBefore | Ended::Unproven { .. } => ExitCode::from(exit),
    })
}
