//! `zx1 qa review`.

use super::Place;
use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Table};
use serde::Serialize;
use zx1_operator::qa::proposal::{Kept, list, of_entry};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of the entry; all proposals if left out
    #[arg(value_name = "INDEX")]
    entry: Option<u64>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Listed {
    proposals: Vec<Kept>,
}

/// Whether branch, patch and runs agree, as a clause.
fn standing(kept: &Kept) -> &'static str {
    match (&kept.commit, kept.tree_agrees, kept.trailer.as_deref() == Some(&kept.gate)) {
        (None, ..) => "its branch is gone",
        (_, false, _) => "its branch holds something else than the patch",
        (.., false) => "its branch names other runs",
        _ => "passed",
    }
}

pub(super) fn draw(kept: &Kept, page: &mut Page) {
    let (before, new) = kept.tests;
    page.field("entry", kept.about.entry)
        .field("finding", kept.about.finding.lines().next().unwrap_or_default())
        .field("from", &kept.about.sender)
        .field("branch", &kept.branch)
        .maybe("commit", kept.commit.as_deref())
        .field("base", &kept.base)
        .field("gate", format!("{} ({})", standing(kept), kept.gate))
        .field("tests", format!("{before} before, {new} new"))
        .field(
            "runs",
            format!("{} source hunks undone, {} calls like the reported one", kept.hunks, kept.siblings),
        )
        .heading("Patch");
    for line in kept.patch.lines() {
        page.line(line);
    }
    if standing(kept) == "passed" {
        page.next(format!("zx1 qa merge {}", kept.about.entry));
    }
}

fn draw_list(listed: &Listed, page: &mut Page) {
    let mut table = Table::new(["entry", "branch", "gate", "finding"]).prose(3);
    for kept in &listed.proposals {
        let finding = kept.about.finding.lines().next().unwrap_or_default();
        table.row([&kept.about.entry, &kept.branch, &standing(kept), &finding]);
    }
    page.table(table, "No proposals.");
    if let Some(kept) = listed.proposals.first() {
        page.next(format!("zx1 qa review {}", kept.about.entry));
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let state = args.place.state(context)?;
    match args.entry {
        Some(entry) => context.show(&of_entry(&state, entry)?, draw),
        None => context.show(&Listed { proposals: list(&state)? }, draw_list),
    }
}
