//! `zx1 qa status`.

use super::Place;
use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Table};
use serde::Serialize;
use zx1_operator::qa::journal::Line;
use zx1_operator::qa::proposal::list;
use zx1_qa::finding::Text;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Finding {
    severity: String,
    surface: String,
    summary: String,
    repro: Option<String>,
    text: String,
}

#[derive(Debug, Serialize)]
struct Status {
    repository: String,
    folder: String,
    fleet: String,
    dial: String,
    /// Why the dial is not higher.
    why: Option<String>,
    stopped: bool,
    running: bool,
    runs: usize,
    calls: usize,
    failed_calls: usize,
    findings: Vec<Finding>,
    proposals: usize,
}

fn draw(status: &Status, page: &mut Page) {
    page.field("repository", &status.repository)
        .field("folder", &status.folder)
        .field("fleet", &status.fleet)
        .field("dial", &status.dial)
        .maybe("why", status.why.as_deref())
        .field("stopped", if status.stopped { "yes" } else { "no" })
        .field("running", if status.running { "yes" } else { "no" })
        .field("runs", status.runs)
        .field("calls", format!("{}, of which {} failed", status.calls, status.failed_calls))
        .field("proposals", status.proposals)
        .heading("Findings");
    let mut table = Table::new(["severity", "surface", "finding", "repro"]).prose(2).prose(3);
    for finding in &status.findings {
        let repro = finding.repro.as_deref().unwrap_or("-");
        table.row([&finding.severity, &finding.surface, &finding.summary, &repro]);
    }
    page.table(table, "None.");
    if status.stopped {
        page.next("zx1 qa dial observe");
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let state = args.place.state(context)?;
    let lines = state.lines()?;
    let dial = state.dial();
    let calls = |wanted: bool| {
        lines.iter().filter(|line| matches!(line, Line::Observed { ok, .. } if *ok == wanted)).count()
    };
    let findings = lines.iter().filter_map(|line| match line {
        Line::Found { text, .. } => match Text::parse(text) {
            Text::Finding(finding) => Some(Finding {
                severity: finding.severity().word().to_owned(),
                surface: finding.surface.clone().unwrap_or_default(),
                repro: finding.repro.as_ref().map(ToString::to_string),
                summary: finding.summary,
                text: text.clone(),
            }),
            _ => None,
        },
        _ => None,
    });
    let (works, fails) = (calls(true), calls(false));
    let status = Status {
        repository: state.git().folder().display().to_string(),
        folder: state.folder().display().to_string(),
        fleet: solana_address::Address::new_from_array(*state.fleet()).to_string(),
        dial: dial.rung.word().to_owned(),
        why: dial.why.map(|why| why.to_string()),
        stopped: dial.stopped,
        running: state.lock().is_err(),
        runs: lines.iter().filter(|line| matches!(line, Line::Begun { .. })).count(),
        calls: works.saturating_add(fails),
        failed_calls: fails,
        findings: findings.collect(),
        proposals: list(&state)?.len(),
    };
    context.show(&status, draw)
}
