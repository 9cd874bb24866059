//! `zx1 feedback list` and `show`.

use super::qa::{self, Finding};
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::{Page, Report, Table};
use crate::words;
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::FeedbackItem;

/// Entries that one call reads.
const PAGE: usize = 100;

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Only entries before this one
    #[arg(long, value_name = "INDEX")]
    before: Option<u64>,
    /// Only findings about this part of the system
    #[arg(long, value_name = "WORD")]
    surface: Option<String>,
    /// Only findings of this severity; `unknown` for prose
    #[arg(long, value_name = "WORD")]
    severity: Option<String>,
    /// Only findings of this agent
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Only entries of this wallet
    #[arg(long, value_name = "ADDRESS")]
    sender: Option<String>,
    /// Only entries that nobody has resolved
    #[arg(long)]
    unresolved: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The entry
    #[arg(value_name = "INDEX")]
    index: u64,
}

#[derive(Serialize)]
struct Entry {
    index: u64,
    timestamp: i64,
    time: String,
    slot: u64,
    sender: String,
    payer: String,
    text: String,
    finding: Finding,
    resolution: Option<Resolution>,
}

#[derive(Serialize)]
struct Resolution {
    slot: u64,
    contract_hash: String,
    commit: String,
    maintainer: String,
}

/// UTC, to the second.
fn shown_time(unix: i64) -> String {
    jiff::Timestamp::from_second(unix).map_or_else(|_| unix.to_string(), |time| time.to_string())
}

/// A commit id: a SHA-1 id is followed by twelve zero bytes (decision B13).
fn shown_commit(commit: &[u8; 32]) -> String {
    let (sha1, rest) = commit.split_at(20);
    if rest.iter().all(|byte| *byte == 0) { hex::encode(sha1) } else { hex::encode(commit) }
}

impl Entry {
    fn of(item: &FeedbackItem) -> Self {
        let entry = &item.entry;
        let resolution = item.resolution.as_ref().map(|resolution| Resolution {
            slot: resolution.slot,
            contract_hash: hex::encode(resolution.contract_hash),
            commit: shown_commit(&resolution.commit),
            maintainer: Address::new_from_array(resolution.maintainer).to_string(),
        });
        Self {
            index: entry.index,
            timestamp: entry.timestamp,
            time: shown_time(entry.timestamp),
            slot: entry.slot,
            sender: Address::new_from_array(entry.sender).to_string(),
            payer: Address::new_from_array(entry.payer).to_string(),
            finding: qa::parse(&item.text),
            text: item.text.clone(),
            resolution,
        }
    }
}

#[derive(Serialize)]
struct Listed {
    count: u64,
    entries: Vec<Entry>,
}

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["entry", "time", "severity", "surface", "text", ""]).prose(4);
        for entry in &self.entries {
            let line = entry.finding.summary.lines().next().unwrap_or_default();
            let surface = entry.finding.surface.as_deref().unwrap_or("-");
            let done = if entry.resolution.is_some() { "resolved" } else { "" };
            let time = words::moment(entry.timestamp);
            table.row([&entry.index, &time, &entry.finding.severity, &surface, &line, &done]);
        }
        if self.count == 0 {
            page.line("The feedback log is empty.").next("zx1 feedback submit TEXT");
            return;
        }
        let all = words::count(self.count, "entry", "entries");
        page.table(table, "No entry fits what you asked for.").line(format!("{all} in the log."));
        if let Some(newest) = self.entries.first() {
            page.next(format!("zx1 feedback show {}", newest.index));
        }
    }
}

impl Report for Entry {
    fn draw(&self, page: &mut Page) {
        page.field("entry", self.index)
            .field("time", words::moment(self.timestamp))
            .field("from", &self.sender)
            .field("paid by", &self.payer);
        page.maybe("source", self.finding.source.as_deref())
            .field("severity", &self.finding.severity)
            .maybe("surface", self.finding.surface.as_deref());
        match &self.resolution {
            Some(resolution) => page.field("resolved", format!("in commit {}", resolution.commit)),
            None => page.field("resolved", "no"),
        };
        page.blank().line(&self.finding.summary);
        if let Some(repro) = &self.finding.repro {
            page.heading("To see it again").line(repro);
        }
    }
}

impl ListArgs {
    fn takes(&self, entry: &Entry, sender: Option<&Address>) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        is(&self.surface, entry.finding.surface.as_deref())
            && is(&self.severity, Some(&entry.finding.severity))
            && is(&self.source, entry.finding.source.as_deref())
            && sender.is_none_or(|sender| sender.to_string() == entry.sender)
            && !(self.unresolved && entry.resolution.is_some())
    }
}

pub(super) fn run(args: &ListArgs, context: &Context) -> Result<()> {
    let sender = args.sender.as_deref().map(|text| crate::input::address(text, "The sender")).transpose()?;
    let listed = context.wait(async {
        let client = context.connect().await?.client;
        let count = client.feedback_log().await?.map_or(0, |log| log.count);
        let mut end = args.before.unwrap_or(count).min(count);
        let mut entries = Vec::new();
        // Newest first, a page a call, until there are enough.
        while entries.len() < args.limit && end > 0 {
            let page = client.feedback(Some(end.saturating_sub(1)), PAGE).await?;
            let read = u64::try_from(page.len()).unwrap_or(0);
            entries.extend(page.iter().map(Entry::of).filter(|entry| args.takes(entry, sender.as_ref())));
            end = end.saturating_sub(read.max(1));
        }
        entries.truncate(args.limit);
        Ok(Listed { count, entries })
    })?;
    context.print(&listed)
}

pub(super) fn show(args: &ShowArgs, context: &Context) -> Result<()> {
    let item = context.wait(async {
        let client = context.connect().await?.client;
        let count = client.feedback_log().await?.map_or(0, |log| log.count);
        let item = client.feedback_entry(args.index).await?;
        item.ok_or_else(|| {
            Error::NoFeedback { index: args.index, entries: words::count(count, "entry", "entries") }.into()
        })
    })?;
    context.print(&Entry::of(&item))
}
