//! `zx1 qa probe`.

use super::{AtMost, Place, seed};
use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Table};
use crate::words::count;
use serde::Serialize;
use std::time::Duration;
use zx1_operator::qa::probe::{Probed, Wanted, probe};
use zx1_operator::qa::{Run, Tools};
use zx1_qa::suite::{SUITES, Suite};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Suite of calls: smoke, fuzz, ux, jail or perf
    #[arg(long, value_name = "NAME", default_value = "smoke", value_parser = SUITES.map(|suite| suite.word))]
    suite: String,
    /// Seed of everything that is chosen; random if left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Minutes after which nothing new begins
    #[arg(long, value_name = "N", default_value_t = 5)]
    minutes: u64,
    /// Maximum number of calls of each tool
    #[arg(long, value_name = "N", default_value_t = 200)]
    calls: u64,
    /// Name that findings carry as their source
    #[arg(long, value_name = "NAME", default_value = "qa-probe")]
    source: String,
    #[command(flatten)]
    at_most: AtMost,
    #[command(flatten)]
    place: Place,
}

/// A finding of a probe.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    severity: String,
    surface: String,
    summary: String,
    repro: Option<String>,
    /// The entry that reports it.
    text: String,
    new: bool,
}

/// What a probe saw.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    suite: String,
    seed: u64,
    calls: u64,
    flaky: u64,
    findings: Vec<Found>,
    left_out: Vec<(String, String)>,
    ended_by: Option<String>,
}

impl Report {
    pub(super) fn of(suite: &str, seed: u64, seen: Probed) -> Self {
        let findings = seen.findings.into_iter().map(|(finding, new)| Found {
            severity: finding.severity().word().to_owned(),
            surface: finding.surface.clone().unwrap_or_default(),
            repro: finding.repro.as_ref().map(ToString::to_string),
            text: finding.build().unwrap_or_default(),
            summary: finding.summary,
            new,
        });
        Self {
            suite: suite.to_owned(),
            seed,
            calls: seen.calls,
            flaky: seen.flaky,
            findings: findings.collect(),
            left_out: seen.left_out,
            ended_by: seen.ended_by,
        }
    }

    pub(super) fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["severity", "surface", "finding", "repro", ""]).prose(2).prose(3);
        for found in &self.findings {
            let repro = found.repro.as_deref().unwrap_or("-");
            let new = if found.new { "new" } else { "known" };
            table.row([&found.severity, &found.surface, &found.summary, &repro, &new]);
        }
        let calls = count(usize::try_from(self.calls).unwrap_or(usize::MAX), "call", "calls");
        page.field("suite", format!("{}, seed {}, {calls}", self.suite, self.seed));
        for (tool, why) in &self.left_out {
            page.field("left out", format!("{tool}: {why}"));
        }
        page.maybe("ended by", self.ended_by.as_deref()).table(table, "No findings.");
        if let Some(repro) = self.findings.iter().find_map(|found| found.repro.as_deref()) {
            page.next(format!("zx1 qa repro '{repro}'"));
        }
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    let state = args.place.state(context)?;
    let tools = Tools::of_this_program()?;
    let seed = seed(args.seed)?;
    let suite = Suite::of(&args.suite).unwrap_or(&SUITES[0]);
    let time = Duration::from_secs(args.minutes.saturating_mul(60));
    let wanted = Wanted { suite, source: args.source, seed, time, calls: args.calls };
    let seen = {
        let _spinner = context.spinner(format!("Running the suite {}", suite.word));
        let mut run = Run::begin(&state, &format!("probe {}", suite.word), args.at_most.rung())?;
        let seen = probe(&tools, &mut run, &wanted)?;
        run.end("done")?;
        seen
    };
    context.show(&Report::of(suite.word, seed, seen), Report::draw)
}
