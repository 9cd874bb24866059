//! `zx1 feedback list` and `show`.

use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Table};
use crate::words;
use zx1_operator::feedback::{Entry, Filter, Listed};

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Maximum number of entries to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// List entries before this index
    #[arg(long, value_name = "INDEX")]
    before: Option<u64>,
    /// List findings about this part of the system
    #[arg(long, value_name = "WORD")]
    surface: Option<String>,
    /// List findings of this severity; `unknown` for other texts
    #[arg(long, value_name = "WORD")]
    severity: Option<String>,
    /// List findings of this agent
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// List entries of this wallet
    #[arg(long, value_name = "ADDRESS")]
    sender: Option<String>,
    /// List unresolved entries
    #[arg(long)]
    unresolved: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Index of the entry
    #[arg(value_name = "INDEX")]
    index: u64,
}

fn draw_list(list: &Listed, page: &mut Page) {
    let mut table = Table::new(["entry", "time", "severity", "surface", "text", ""]).prose(4);
    for entry in &list.entries {
        let line = entry.finding.summary.lines().next().unwrap_or_default();
        let surface = entry.finding.surface.as_deref().unwrap_or("-");
        let done = if entry.resolution.is_some() { "resolved" } else { "" };
        let time = words::moment(entry.timestamp);
        table.row([&entry.index, &time, &entry.finding.severity, &surface, &line, &done]);
    }
    if list.count == 0 {
        page.line("The feedback log is empty.").next("zx1 feedback submit TEXT");
        return;
    }
    let all = words::count(list.count, "entry", "entries");
    page.table(table, "No entries match.").line(format!("{all} in the log."));
    if let Some(newest) = list.entries.first() {
        page.next(format!("zx1 feedback show {}", newest.index));
    }
}

fn draw_entry(entry: &Entry, page: &mut Page) {
    page.field("entry", entry.index)
        .field("time", words::moment(entry.timestamp))
        .field("from", &entry.sender)
        .field("paid by", &entry.payer);
    page.maybe("source", entry.finding.source.as_deref())
        .field("severity", &entry.finding.severity)
        .maybe("surface", entry.finding.surface.as_deref());
    match &entry.resolution {
        Some(resolution) => page.field("resolved", format!("in commit {}", resolution.commit)),
        None => page.field("resolved", "no"),
    };
    page.blank().line(&entry.finding.summary);
    if let Some(repro) = &entry.finding.repro {
        page.heading("To reproduce").line(repro);
    }
}

pub(super) fn run(args: &ListArgs, context: &Context) -> Result<()> {
    let sender = args.sender.as_deref().map(|text| crate::input::address(text, "The sender")).transpose()?;
    let filter = Filter {
        limit: args.limit,
        before: args.before,
        surface: args.surface.clone(),
        severity: args.severity.clone(),
        source: args.source.clone(),
        sender,
        unresolved: args.unresolved,
    };
    let listed = context.wait(async { Ok(context.operator().await?.feedback(&filter).await?) })?;
    context.show(&listed, draw_list)
}

pub(super) fn show(args: &ShowArgs, context: &Context) -> Result<()> {
    let entry = context.wait(async { Ok(context.operator().await?.feedback_entry(args.index).await?) })?;
    context.show(&entry, draw_entry)
}
