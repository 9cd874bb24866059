//! `zx1 challenge find`: what a message or an entry proves against a batch, before any money is put up.

use crate::agent_files;
use crate::context::{self, Context};
use crate::defaults;
use crate::errors::{Error, Result};
use crate::files;
use crate::input;
use crate::output::{Page, Report, Table};
use crate::words;
use serde::Serialize;
use std::path::PathBuf;
use zx1_operator::challenge::{Claim, Evidence, Found, FoundPresence, Preferences, Request};
use zx1_protocol::challenge::Ground;
use zx1_protocol::ids::AgentId;
use zx1_protocol::record::Record;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Message or log entry: file, hex, base64, or - for standard input
    #[arg(value_name = "EVIDENCE", required_unless_present = "double_bids")]
    evidence: Option<String>,
    /// Agent whose batches are checked [default: the message's sender]
    #[arg(long, value_name = "AGENT")]
    against: Option<String>,
    /// Check only the batch of this epoch [default: every batch that can still be challenged]
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// Place that serves batch data: a folder or an http(s) URL [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// Search the batch for bids that contradict each other
    #[arg(long, conflicts_with = "evidence", requires = "against")]
    double_bids: bool,
    /// Payload of the log entry, to dispute the bid's value too: file, hex or base64
    #[arg(long, value_name = "BYTES", requires = "evidence")]
    payload: Option<String>,
    /// Also prepare a challenge against a batch whose data is not served; it may be answered
    #[arg(long)]
    blind: bool,
    /// Also prepare a challenge if the batch holds the record; it will be answered, and you lose your stake
    #[arg(long)]
    even_if_answerable: bool,
    /// Claim only this ground [default: all that apply, so that none is left for others]
    #[arg(long, value_parser = ["bid", "selection", "verifier", "feedback", "double_bid"])]
    ground: Option<String>,
    /// Output file for the prepared challenge
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Shown {
    agent: AgentId,
    evidence: &'static str,
    claims: Vec<ShownClaim>,
    file: Option<String>,
    #[serde(skip)]
    wins: bool,
}

#[derive(Serialize)]
struct ShownClaim {
    record: String,
    #[serde(flatten)]
    claim: Claim,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("against", self.agent).field("evidence", self.evidence);
        let mut table =
            Table::new(["epoch", "ground", "the batch must hold", "and it", "until slot"]).prose(2);
        for ShownClaim { record, claim } in &self.claims {
            let verdict = match claim.presence {
                FoundPresence::Absent => "does not",
                FoundPresence::Present => "does",
                FoundPresence::Unknown => "may (withheld)",
            };
            table.row([&claim.epoch, &claim.ground, record, &verdict, &claim.challengeable_through_slot]);
        }
        page.blank().table(table, "No batch to check.");
        match &self.file {
            Some(file) => {
                page.blank().field("prepared in", file).next(format!("zx1 challenge submit {file}"))
            }
            None if self.wins => page.next("add --out challenge.json to prepare the challenge"),
            None => page.line("No challenge here would succeed."),
        };
    }
}

fn read_evidence(args: &Args) -> Result<Option<Evidence>> {
    let Some(argument) = &args.evidence else { return Ok(None) };
    let input = input::read(argument, defaults::MAX_INPUT)?;
    if input.bytes.len() > defaults::MAX_MESSAGE {
        let (size, limit) = (input.bytes.len(), defaults::MAX_MESSAGE);
        return Err(Error::MessageTooLarge { what: input.name, size, limit }.into());
    }
    let payload = args.payload.as_deref().map(|it| input::read(it, defaults::MAX_INPUT)).transpose()?;
    let evidence = Evidence::parse(input.bytes, payload.map(|payload| payload.bytes));
    evidence.map(Some).map_err(|error| {
        Error::NotEvidence { what: input.name, why: words::clause(&error.to_string()) }.into()
    })
}

fn shown_record(claim: &Claim) -> String {
    let expected = &claim.expected;
    let other = |agent: &AgentId| words::short(&agent.to_string());
    match (&expected.record, claim.other_value) {
        (Record::Bid(bid), Some(value)) => {
            format!("one value: {} and {value} stand for the same bid", bid.value)
        }
        (Record::Bid(bid), _) if expected.value_known => {
            format!("bid of {} to {}, slot {}", bid.value, other(&bid.counterparty), bid.slot.0)
        }
        (Record::Bid(bid), _) => format!("bid to {}, slot {}", other(&bid.counterparty), bid.slot.0),
        (Record::Selection(it), _) => format!("selection of {}, slot {}", other(&it.counterparty), it.slot.0),
        (Record::Verifier(it), _) => format!("notary {}, slot {}", other(&it.verifier), it.slot.0),
        (Record::Feedback(it), _) => {
            format!("rating {} from {}, slot {}", it.score, other(&it.from), it.slot.0)
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    files::check_wanted(args.out.as_deref())?;
    let evidence = read_evidence(args)?;
    let config = context.config()?;
    let against = args.against.as_ref().map(|named| context::find_agent(&config, named)).transpose()?;
    let accused = evidence.as_ref().and_then(Evidence::accused);
    let Some(agent) = against.map(|agent| agent.mint).or(accused) else {
        let why = "it does not concern any agent".to_owned();
        return Err(Error::NotEvidence { what: "The argument".to_owned(), why }.into());
    };
    let store = agent_files::store(context, args.data.as_deref())?;
    let request = Request {
        agent,
        evidence: evidence.as_ref(),
        epoch: args.epoch,
        store: store.as_ref(),
        blind: args.blind,
    };
    let found = context.wait(async { Ok(context.operator().await?.find_challenge(&request).await?) })?;
    let mut file = None;
    if let Some(path) = &args.out {
        let preferences = Preferences {
            ground: args.ground.as_deref().and_then(Ground::from_name),
            blind: args.blind,
            even_if_answerable: args.even_if_answerable,
        };
        let best = found.best(&preferences)?;
        let failed = |error: serde_json::Error| Error::WriteFailed {
            path: files::shown(path),
            why: error.to_string(),
        };
        let mut text = serde_json::to_vec_pretty(&best).map_err(failed)?;
        text.push(b'\n');
        files::create_private(path, &text)?;
        file = Some(files::shown(path));
    }
    let wins = found.wins();
    let Found { agent, evidence, claims } = found;
    let claims = claims.into_iter().map(|claim| ShownClaim { record: shown_record(&claim), claim });
    context.print(&Shown { agent, evidence, claims: claims.collect(), file, wins })
}
