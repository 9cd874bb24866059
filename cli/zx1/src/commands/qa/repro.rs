//! `zx1 qa repro`.

use super::{AtMost, Place};
use crate::context::Context;
use crate::errors::{Failure, Result};
use crate::output::Page;
use serde::Serialize;
use zx1_operator::qa::repeat::{Verdict, call_of, repeat};
use zx1_operator::qa::{QaError, Run, Tools};
use zx1_qa::repro::Repro;

/// It fails as reported.
const FAILS: i32 = 10;
/// It cannot run here.
const NOT_RUNNABLE: i32 = 11;
/// It works and fails.
const FLAKY: i32 = 12;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of an entry of the feedback log, or a line qa_tool(JSON)
    #[arg(value_name = "INDEX|LINE")]
    what: String,
    #[command(flatten)]
    at_most: AtMost,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Report {
    call: String,
    verdict: &'static str,
    error: Option<String>,
    latency_ms: Vec<u64>,
    seed: Option<u64>,
    version: Option<String>,
}

fn draw(report: &Report, page: &mut Page) {
    page.field("call", &report.call).field("verdict", report.verdict).maybe("error", report.error.as_deref());
}

/// The line of an entry, or the one that was typed.
fn call(what: &str, context: &Context) -> Result<Result<Repro, QaError>> {
    let Ok(index) = what.parse::<u64>() else { return Ok(call_of(what)) };
    let entry = context.wait(async { Ok(context.operator().await?.feedback_entry(index).await?) })?;
    // Prose that happens to be a call is prose: only a finding's last line runs.
    Ok(match entry.finding.repro {
        Some(line) => Repro::parse(&line).map_err(QaError::from),
        None => Err(QaError::NoRepro { entry: index }),
    })
}

fn ran(args: &Args, call: &Repro, context: &Context) -> Result<(Report, i32), QaError> {
    let home = context.home().map_err(|_| QaError::NoRepository { path: args.place.repository.clone() })?;
    let state = zx1_operator::qa::State::open(home, &args.place.repository)?;
    let mut run = Run::begin(&state, "repro", args.at_most.rung())?;
    let (verdict, answers) = repeat(&Tools::of_this_program()?, &mut run, call)?;
    run.end("done")?;
    let exit = match verdict {
        Verdict::Works => 0,
        Verdict::Fails => FAILS,
        Verdict::Flaky => FLAKY,
    };
    let report = Report {
        call: call.to_string(),
        verdict: verdict.word(),
        error: answers.iter().find_map(|answer| answer.error.clone()),
        latency_ms: answers.iter().map(|answer| answer.latency_ms).collect(),
        seed: answers.first().and_then(|answer| answer.seed),
        version: answers.first().map(|answer| answer.version.clone()),
    };
    Ok((report, exit))
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let call = call(&args.what, context)?;
    match call.and_then(|call| ran(args, &call, context)) {
        Ok((report, exit)) => {
            context.show(&report, draw)?;
            if exit != 0 {
                std::process::exit(exit);
            }
            Ok(())
        }
        Err(error) => {
            let _ = Failure::from(error).end(context.error_format());
            std::process::exit(NOT_RUNNABLE);
        }
    }
}
