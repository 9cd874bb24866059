//! `zx1 log`: the agent's log of messages, from which its batches are made (protocol.md, 8.1).

use crate::agent_files::{self, Now, refused};
use crate::commands::envelope::{keys_of, type_name};
use crate::commands::merkle::ProofFile;
use crate::context::{Agent, Context};
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::input;
use crate::output::{Page, Report, Table};
use crate::words::{self, count};
use clap::Subcommand;
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use zx1_chain::rpc::registry::Sati;
use zx1_log::{Admitted, LogError, LogHandle, LogReader, Origin};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::BROADCAST;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::{Candidate, Reason};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 log append offer.cbor                 a message that was received, or signed elsewhere
  zx1 log list                              the present epoch's entries
  zx1 log list --epoch 20777 --output json
  zx1 log root --epoch 20777
  zx1 log prove --epoch 20777 --index 3 --output json > proof.json && zx1 merkle verify proof.json

append checks a message by the rules of a receiver first and keeps what holds and
concerns the agent: what is addressed to it, rates it, or belongs to one of its
conversations. A message that is there already is not added again. A sent message
belongs to the epoch of its timestamp, a received one to that of its arrival.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Args)]
struct Range {
    /// The epoch; by default the present one
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// Up to this epoch
    #[arg(long, value_name = "EPOCH", requires = "epoch")]
    through: Option<u64>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check messages and add them
    Append {
        /// Messages: files, hex, base64, or - for one in hex a line from standard input
        #[arg(required = true, value_name = "ENVELOPE")]
        envelopes: Vec<String>,
        /// When they arrived, in unix microseconds; by default now
        #[arg(long, value_name = "MICROS")]
        arrival: Option<u64>,
    },
    /// List entries
    List {
        #[command(flatten)]
        range: Range,
        /// At most so many, the last ones
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Print the Merkle root of epochs
    Root(Range),
    /// Make the proof that an entry is under the root
    Prove {
        #[command(flatten)]
        range: Range,
        /// The entry, counted from 0
        #[arg(long, value_name = "N")]
        index: u32,
    },
    /// Cut a damaged epoch's file behind its last sound entry; the damaged file is kept
    Repair {
        /// The epoch
        #[arg(long, value_name = "EPOCH")]
        epoch: u64,
    },
}

/// Runs `zx1 log` on the log of the chosen agent.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    match args.action {
        Action::Append { envelopes, arrival } => append(context, &agent, &envelopes, arrival),
        Action::List { range, limit } => list(context, &agent, &range, limit),
        Action::Root(range) => root(context, &agent, &range),
        Action::Prove { range, index } => prove(context, &agent, &range, index),
        Action::Repair { epoch } => repair(context, &agent, Epoch(epoch)),
    }
}

/// The epochs; the present one is asked from the chain only when none is named.
fn epochs(context: &Context, range: &Range) -> Result<(Epoch, Epoch)> {
    if let Some(epoch) = range.epoch {
        let through = range.through.unwrap_or(epoch);
        if through < epoch {
            let message = "--through is an epoch before --epoch.".to_owned();
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
            "Epoch {} keeps {}; {} behind them were cut off.",
            self.epoch,
            count(self.kept, "entry", "entries"),
            count(self.lost_bytes, "byte", "bytes"),
        ))
        .field("damaged file", &self.damaged_copy)
        .line(
            "What was cut off may hold messages that a counterparty can prove. Add them again with zx1 log \
             append before the batch is built.",
        );
    }
}

#[derive(Serialize)]
struct Added {
    agent: String,
    added: Vec<AddedOne>,
}

#[derive(Serialize)]
struct AddedOne {
    #[serde(rename = "type")]
    kind: String,
    direction: &'static str,
    epoch: u64,
    index: u32,
    leaf: String,
    new: bool,
}

impl Report for Added {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["epoch", "entry", "type", "direction", "leaf", ""]).ids(&[4]);
        for one in &self.added {
            let note = if one.new { "added" } else { "was there" };
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
        let chain = context.connect().await?;
        context.check_agent(&chain, agent)?;
        let sati = Sati::connect(&chain.client).await?;
        let arrival = match arrival {
            Some(micros) => micros,
            None => Now::ask(&chain).await?.micros,
        };
        let log = agent_files::open_log(context, agent)?;
        let progress = context.spinner("Adding messages");
        let mut keys: HashMap<AgentId, Vec<PublicKey>> = HashMap::new();
        let mut added = Vec::with_capacity(messages.len());
        for message in &messages {
            let candidate = Candidate::parse(&message.bytes)
                .map_err(|reason| refused_reason(reason).in_input(&message.name))?;
            let sender = candidate.sender();
            if let Entry::Vacant(unknown) = keys.entry(sender) {
                unknown.insert(keys_of(&sati, sender).await?);
            }
            added.push(
                append_one(&log, &candidate, &message.bytes, &keys, arrival)
                    .map_err(|failure| failure.in_input(&message.name))?,
            );
            progress.say(format!("Added {}", count(added.len(), "message", "messages")));
        }
        Ok(added)
    })?;
    context.print(&Added { agent: agent.mint.to_string(), added })
}

fn refused_reason(reason: Reason) -> Failure {
    let next = match reason.rule() {
        Some(6) => "say when it arrived with --arrival MICROS (unix microseconds)",
        Some(3) => "register the sender, or choose its cluster with -u",
        _ => "zx1 inspect envelope shows its fields; a message that does not hold is not logged",
    };
    let failure = refused(reason.code(), &reason, next);
    match reason {
        Reason::Timestamp { off_by } => off_by_in_words(failure, off_by),
        _ => failure,
    }
}

/// The protocol counts microseconds; people do not.
pub(crate) fn off_by_in_words(failure: Failure, off_by: u64) -> Failure {
    let off_by = words::duration(off_by / 1_000_000);
    let allowed = defaults::CLOCK_SKEW_SECONDS;
    Failure {
        message: format!("The timestamp is {off_by} away from the clock, and {allowed} s are allowed."),
        ..failure
    }
}

fn append_one(
    log: &LogHandle,
    candidate: &Candidate<'_>,
    bytes: &[u8],
    keys: &HashMap<AgentId, Vec<PublicKey>>,
    arrival: u64,
) -> Result<AddedOne> {
    let Admitted { direction, logged } =
        log.inbox().admit(bytes, keys, arrival, Origin::File).map_err(|error| match error {
            LogError::Rule(reason) => refused_reason(reason),
            other => other.into(),
        })?;
    // What concerns others keeps all rules, and is for a person to hear that it was left out.
    let place = logged.ok_or(LogError::NotOurs)?;
    Ok(AddedOne {
        kind: type_name(candidate.msg_type()),
        direction: direction_name(direction),
        epoch: place.epoch.0,
        index: place.index,
        leaf: hex::encode(place.leaf),
        new: place.new,
    })
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Sent => "sent",
        Direction::Received => "received",
    }
}

#[derive(Serialize)]
struct Listed {
    agent: String,
    from: u64,
    through: u64,
    total: u32,
    entries: Vec<ListedEntry>,
    epochs: Vec<ListedEpoch>,
}

#[derive(Serialize)]
struct ListedEpoch {
    epoch: u64,
    entries: u32,
    bytes: u64,
    sealed: bool,
}

#[derive(Serialize)]
struct ListedEntry {
    epoch: u64,
    index: u32,
    direction: &'static str,
    #[serde(rename = "type")]
    kind: String,
    counterparty: String,
    conversation: ConversationId,
    slot: u64,
    timestamp: u64,
    leaf: String,
}

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        let mut table =
            Table::new(["epoch", "entry", "", "type", "with", "conversation", "slot"]).ids(&[4, 5]);
        for entry in &self.entries {
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
        let epochs = shown_epochs(self.from, self.through);
        page.table(table, &format!("The log has no entries of epoch {epochs}."));
        let shown = self.entries.len();
        if u32::try_from(shown).is_ok_and(|shown| shown < self.total) {
            page.line(format!("The last {shown} of {}; --limit shows more.", self.total));
        }
        if self.entries.is_empty() && self.epochs.is_empty() {
            page.next("zx1 envelope make, or zx1 log append for a message that you received");
        }
        if self.entries.is_empty() && !self.epochs.is_empty() {
            let mut table = Table::new(["epoch", "entries", "bytes", "batch"]);
            for epoch in &self.epochs {
                let sealed = if epoch.sealed { "signed" } else { "open" };
                table.row([&epoch.epoch, &epoch.entries, &epoch.bytes, &sealed]);
            }
            page.heading("Epochs with entries").table(table, "");
            if let Some(last) = self.epochs.last() {
                page.next(format!("zx1 log list --epoch {}", last.epoch));
            }
        }
    }
}

fn list(context: &Context, agent: &Agent, range: &Range, limit: usize) -> Result<()> {
    let (from, to) = epochs(context, range)?;
    let reader = agent_files::reader(context, agent)?;
    let sealed = reader.batches().list()?.iter().map(zx1_log::SavedBatch::epoch).max();
    let listed = |summary: zx1_log::EpochSummary| ListedEpoch {
        epoch: summary.epoch.0,
        entries: summary.entries,
        bytes: summary.bytes,
        sealed: sealed.is_some_and(|sealed| summary.epoch <= sealed),
    };
    let epochs = reader.epochs()?.into_iter().map(listed).collect();
    let total = reader.len(from, to)?;
    let skip = total.saturating_sub(u32::try_from(limit).unwrap_or(u32::MAX));
    let entries = read_entries(&reader, from, to, skip)?;
    context.print(&Listed {
        agent: agent.mint.to_string(),
        from: from.0,
        through: to.0,
        total,
        entries,
        epochs,
    })
}

fn read_entries(reader: &LogReader, from: Epoch, to: Epoch, skip: u32) -> Result<Vec<ListedEntry>> {
    let mut found = Vec::new();
    let mut entries = reader.entries(from, to)?;
    let mut position = 0u32;
    while let Some(stored) = entries.next_entry()? {
        position = position.saturating_add(1);
        if position <= skip {
            continue;
        }
        let entry = stored.entry().map_err(zx1_log::LogError::from)?;
        let header = entry.header;
        let sent = stored.direction == Direction::Sent;
        let other = if sent { header.recipient() } else { header.sender() };
        let counterparty = if other == BROADCAST { "everybody".to_owned() } else { other.to_string() };
        found.push(ListedEntry {
            epoch: stored.epoch.0,
            index: stored.index,
            direction: direction_name(stored.direction),
            kind: type_name(header.msg_type),
            counterparty,
            conversation: header.conversation(),
            slot: header.block_ref.0,
            timestamp: header.timestamp,
            leaf: hex::encode(stored.leaf()),
        });
    }
    Ok(found)
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
    let (from, to) = epochs(context, range)?;
    let reader = agent_files::reader(context, agent)?;
    let len = reader.len(from, to)?;
    let none = || Error::NoSuchEntry { index: index.into(), entries: count(len, "entry", "entries") };
    let proof = reader.proof(from, to, index)?.ok_or_else(none)?;
    let leaves = reader.leaves(from, to)?;
    let leaf = usize::try_from(index).ok().and_then(|index| leaves.get(index)).copied().ok_or_else(none)?;
    context.print(&ProofFile {
        root: hex::encode(reader.root(from, to)?),
        len,
        index: proof.index,
        entry_index: Some(index.into()),
        leaf: hex::encode(leaf),
        path: proof.path.iter().map(hex::encode).collect(),
    })
}
