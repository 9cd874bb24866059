//! `zx1 qa triage`.

use super::Place;
use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Table};
use crate::words;
use zx1_operator::qa::triage::Triaged;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Maximum number of findings to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// List findings of this state: new, reproduced, flaky, fixed and others
    #[arg(long, value_name = "WORD")]
    state: Option<String>,
    #[command(flatten)]
    place: Place,
}

fn draw(triaged: &Triaged, page: &mut Page) {
    let mut table =
        Table::new(["rank", "entry", "severity", "surface", "senders", "state", "finding"]).prose(6);
    for finding in &triaged.findings {
        let (rank, entry) = (finding.rank >> 16, finding.entries.first().copied().unwrap_or(0));
        let surface = if finding.surface.is_empty() { "-" } else { &finding.surface };
        table.row([
            &rank,
            &entry,
            &finding.severity,
            &surface,
            &finding.staked,
            &finding.state,
            &finding.summary,
        ]);
    }
    if let Some(entry) = triaged.halted_by {
        page.line(format!("The maintainer stopped every fleet that reads this log, with entry {entry}."));
    }
    page.table(table, "No findings.")
        .line(format!("{} read.", words::count(triaged.entries, "entry", "entries")));
    if let Some(finding) = triaged.findings.iter().find(|it| it.repro.is_some()) {
        page.next(format!("zx1 qa repro {}", finding.entries.first().copied().unwrap_or(0)));
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    let state = args.place.state(context)?;
    let lines = state.lines()?;
    let mut triaged = context.wait(async { Ok(context.operator().await?.triage(&lines).await?) })?;
    // A halt of the maintainer stops this fleet too, whether it runs now or later.
    if let Some(entry) = triaged.halted_by {
        state.stop(&format!("entry {entry} of the feedback log"))?;
    }
    if let Some(wanted) = &args.state {
        triaged.findings.retain(|finding| finding.state == wanted);
    }
    triaged.findings.truncate(args.limit);
    context.show(&triaged, draw)
}
