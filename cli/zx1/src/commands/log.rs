//! `zx1 log`: the agent's log of messages, from which its batches are made (protocol.md, 8.1).

use crate::agent_files::{self, Now};
use crate::commands::merkle::draw_proof;
use crate::context::{Agent, Context};
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::input;
use crate::output::{Page, Report, Table};
use crate::words::{self, count};
use clap::Subcommand;
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_operator::defaults::CLOCK_SKEW_SECONDS;
use zx1_operator::log::{self, Added, Exported, Listed};
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::Reason;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 log append offer.cbor                 add a received message, or one signed elsewhere
  zx1 log list                              list the current epoch's entries
  zx1 log list --epoch 20777 --output json
  zx1 log root --epoch 20777
  zx1 log prove --epoch 20777 --index 3 --output json > proof.json && zx1 merkle verify proof.json
  zx1 log export --epoch 20777 --index 3 --out deal.cbor && zx1 challenge find deal.cbor

append checks a message by the rules of a receiver and keeps it if it is valid and
concerns the agent: it is addressed to it, rates it, or belongs to one of its
conversations. A message that is already logged is not added again. A sent message
belongs to the epoch of its timestamp, a received one to that of its arrival.";

#[derive(Debug, clap::Args)]
pub(crate) struct Range {
    /// Epoch [default: the current one]
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// Last epoch of the range
    #[arg(long, value_name = "EPOCH", requires = "epoch")]
    through: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Check messages and add them to the log
    Append {
        /// Messages: files, hex, base64, or - for standard input with one hex message per line
        #[arg(required = true, value_name = "ENVELOPE")]
        envelopes: Vec<String>,
        /// Time of arrival in Unix microseconds [default: now]
        #[arg(long, value_name = "MICROS")]
        arrival: Option<u64>,
    },
    /// List the entries of one or more epochs
    List {
        #[command(flatten)]
        range: Range,
        /// Maximum number of entries to list, counted from the end
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Print the Merkle root of one or more epochs
    Root(Range),
    /// Print the proof that an entry is under the root
    Prove {
        #[command(flatten)]
        range: Range,
        /// Index of the entry, starting at 0
        #[arg(long, value_name = "N")]
        index: u32,
    },
    /// Write a message to a file as it was signed, with its payload
    Export {
        #[command(flatten)]
        range: Range,
        /// Index of the entry, starting at 0
        #[arg(long, value_name = "N")]
        index: u32,
        /// Output file for the message
        #[arg(long, value_name = "PATH")]
        out: PathBuf,
    },
    /// Truncate a damaged log file after its last valid entry; the damaged file is kept
    Repair {
        /// Epoch of the damaged file
        #[arg(long, value_name = "EPOCH")]
        epoch: u64,
    },
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    match action {
        Action::Append { envelopes, arrival } => append(context, &agent, &envelopes, arrival),
        Action::List { range, limit } => list(context, &agent, &range, limit),
        Action::Root(range) => root(context, &agent, &range),
        Action::Prove { range, index } => prove(context, &agent, &range, index),
        Action::Export { range, index, out } => export(context, &agent, &range, index, &out),
        Action::Repair { epoch } => repair(context, &agent, Epoch(epoch)),
    }
}

/// The epochs; the present one is asked from the chain only when none is named.
fn epochs(context: &Context, range: &Range) -> Result<(Epoch, Epoch)> {
    if let Some(epoch) = range.epoch {
        let through = range.through.unwrap_or(epoch);
        if through < epoch {
            let message = "--through must not be before --epoch.".to_owned();
            return Err(Error::Usage { message }.into());
        }
        return Ok((Epoch(epoch), Epoch(through)));
    }
    let now = context.wait(async { Ok(Now::ask(&context.connect().await?).await?) })?;
    Ok((now.epoch, now.epoch))
}

fn repair(context: &Context, agent: &Agent, epoch: Epoch) -> Result<()> {
    let known = agent_files::reader(context, agent)?.epochs()?;
    if known.iter().all(|it| it.epoch != epoch) {
        return Err(Error::NoEntries { epoch: epoch.0 }.into());
    }
    let salvaged = zx1_log::repair::salvage(agent_files::folder(context, agent)?, agent.mint, epoch)?;
    context.print(&Salvaged {
        epoch: epoch.0,
        kept: salvaged.kept,
        lost_bytes: salvaged.lost_bytes,
        damaged_copy: files::shown(&salvaged.damaged_copy),
    })
}

#[derive(Serialize)]
struct Salvaged {
    epoch: u64,
    kept: u32,
    lost_bytes: u64,
    damaged_copy: String,
}

impl Report for Salvaged {
    fn draw(&self, page: &mut Page) {
        page.line(format!(
            "Epoch {} keeps {}; {} after them were cut off.",
            self.epoch,
            count(self.kept, "entry", "entries"),
            count(self.lost_bytes, "byte", "bytes"),
        ))
        .field("damaged file", &self.damaged_copy)
        .line(
            "The part that was cut off may hold messages that a counterparty can prove. Add them again with zx1 log \
             append before the batch is built.",
        );
    }
}

#[derive(Serialize)]
struct AddedAll {
    agent: String,
    added: Vec<Added>,
}

impl Report for AddedAll {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["epoch", "entry", "type", "direction", "leaf", ""]).ids(&[4]);
        for one in &self.added {
            let note = if one.new { "added" } else { "already logged" };
            table.row([&one.epoch, &one.index, &one.kind, &one.direction, &one.leaf, &note]);
        }
        page.table(table, "Nothing was added.");
    }
}

/// The messages that the arguments name.
fn read_envelopes(arguments: &[String]) -> Result<Vec<input::Input>> {
    let mut messages = Vec::new();
    for argument in arguments {
        if argument != "-" {
            messages.push(input::read(argument, defaults::MAX_INPUT)?);
            continue;
        }
        let text = files::read_all(std::io::stdin().lock(), "Standard input", defaults::MAX_LARGE_INPUT)?;
        for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = String::from_utf8_lossy(line);
            if !line.trim().is_empty() {
                let name = format!("Line {} of standard input", at.saturating_add(1));
                let bytes = input::hex_bytes(&line, &name)?;
                messages.push(input::Input { bytes, encoding: "hex", name });
            }
        }
    }
    Ok(messages)
}

fn append(context: &Context, agent: &Agent, arguments: &[String], arrival: Option<u64>) -> Result<()> {
    let messages = read_envelopes(arguments)?;
    let added = context.wait(async {
        let mut inbox = context.operator_of(agent).await?.inbox(agent, arrival).await?;
        let progress = context.spinner("Adding messages");
        let mut added = Vec::with_capacity(messages.len());
        for message in &messages {
            added.push(inbox.add(&message.bytes).await.map_err(|error| {
                let failure = error.broken_rule().map(not_logged);
                failure.unwrap_or_else(|| Failure::from(&error)).in_input(&message.name)
            })?);
            progress.say(format!("Added {}", count(added.len(), "message", "messages")));
        }
        Ok(added)
    })?;
    context.print(&AddedAll { agent: agent.mint.to_string(), added })
}

fn not_logged(reason: &Reason) -> Failure {
    let next = match reason.rule() {
        Some(6) => "give the time of arrival with --arrival MICROS (Unix microseconds)",
        Some(3) => "register the sender, or select its cluster with -u",
        _ => "zx1 inspect envelope shows its fields; invalid messages are not logged",
    };
    broken_rule(reason, next)
}

/// A rule that a message breaks. The protocol counts microseconds; people do not.
pub(crate) fn broken_rule(reason: &Reason, next: &str) -> Failure {
    let failure = Failure::of(reason, Some(next));
    let Reason::Timestamp { off_by } = reason else { return failure };
    let off_by = words::duration(off_by / 1_000_000);
    let message = format!("The timestamp is off by {off_by}; at most {CLOCK_SKEW_SECONDS} s are allowed.");
    Failure { message, ..failure }
}

fn draw_listed(listed: &Listed, page: &mut Page) {
    let mut table = Table::new(["epoch", "entry", "", "type", "with", "conversation", "slot"]).ids(&[4, 5]);
    for entry in &listed.entries {
        let arrow = if entry.direction == "sent" { "to" } else { "from" };
        let row: [&dyn std::fmt::Display; 7] = [
            &entry.epoch,
            &entry.index,
            &arrow,
            &entry.kind,
            &entry.counterparty,
            &entry.conversation,
            &entry.slot,
        ];
        table.row(row);
    }
    let epochs = shown_epochs(listed.from, listed.through);
    page.table(table, &format!("The log has no entries for epoch {epochs}."));
    let shown = listed.entries.len();
    if u32::try_from(shown).is_ok_and(|shown| shown < listed.total) {
        page.line(format!("The last {shown} of {}; use --limit to show more.", listed.total));
    }
    if listed.entries.is_empty() && listed.epochs.is_empty() {
        page.next("zx1 envelope make, or zx1 log append for a message that you received");
    }
    if listed.entries.is_empty() && !listed.epochs.is_empty() {
        let mut table = Table::new(["epoch", "entries", "bytes", "batch"]);
        for epoch in &listed.epochs {
            let sealed = if epoch.sealed { "signed" } else { "open" };
            table.row([&epoch.epoch, &epoch.entries, &epoch.bytes, &sealed]);
        }
        page.heading("Epochs with entries").table(table, "");
        if let Some(last) = listed.epochs.last() {
            page.next(format!("zx1 log list --epoch {}", last.epoch));
        }
    }
}

fn list(context: &Context, agent: &Agent, range: &Range, limit: usize) -> Result<()> {
    let epochs = epochs(context, range)?;
    let listed = log::list(&agent_files::reader(context, agent)?, agent, epochs, limit)?;
    context.show(&listed, draw_listed)
}

#[derive(Serialize)]
struct Root {
    agent: String,
    from: u64,
    through: u64,
    len: u32,
    root: String,
}

impl Report for Root {
    fn draw(&self, page: &mut Page) {
        page.field("root", &self.root)
            .field("entries", self.len)
            .field("epochs", shown_epochs(self.from, self.through));
    }
}

fn shown_epochs(from: u64, through: u64) -> String {
    if from == through { words::epoch(from) } else { format!("{from} to {through}") }
}

fn root(context: &Context, agent: &Agent, range: &Range) -> Result<()> {
    let (from, to) = epochs(context, range)?;
    let reader = agent_files::reader(context, agent)?;
    let progress = context.spinner("Hashing entries");
    let (len, root) = (reader.len(from, to)?, reader.root(from, to)?);
    drop(progress);
    let agent = agent.mint.to_string();
    context.print(&Root { agent, from: from.0, through: to.0, len, root: hex::encode(root) })
}

fn prove(context: &Context, agent: &Agent, range: &Range, index: u32) -> Result<()> {
    let epochs = epochs(context, range)?;
    let reader = agent_files::reader(context, agent)?;
    let Some(proof) = log::prove(&reader, epochs, index)? else {
        let entries = count(reader.len(epochs.0, epochs.1)?, "entry", "entries");
        return Err(Error::NoSuchEntry { index: index.into(), entries }.into());
    };
    context.show(&proof, draw_proof)
}

#[derive(Serialize)]
struct ExportedTo {
    #[serde(flatten)]
    message: Exported,
    file: String,
}

impl Report for ExportedTo {
    fn draw(&self, page: &mut Page) {
        let entry = &self.message.entry;
        let arrow = if entry.direction == "sent" { "to" } else { "from" };
        page.field("message", format!("{} {arrow} {}", entry.kind, entry.counterparty))
            .field("conversation", &entry.conversation)
            .field("file", &self.file)
            .next(format!("zx1 inspect envelope {}", self.file));
    }
}

fn export(context: &Context, agent: &Agent, range: &Range, index: u32, out: &Path) -> Result<()> {
    files::check_wanted(Some(out))?;
    let epochs = epochs(context, range)?;
    let reader = agent_files::reader(context, agent)?;
    let Some(message) = log::export(&reader, epochs, index)? else {
        let entries = count(reader.len(epochs.0, epochs.1)?, "entry", "entries");
        return Err(Error::NoSuchEntry { index: index.into(), entries }.into());
    };
    files::create_private(out, &message.envelope)?;
    context.print(&ExportedTo { message, file: files::shown(out) })
}
