//! `zx1 qa run`.

use super::probe::Report;
use super::{AtMost, Place, seed};
use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use serde::Serialize;
use std::time::Duration;
use zx1_home::{Clock as _, SystemClock};
use zx1_operator::qa::Tools;
use zx1_operator::qa::tick::tick;

/// How often a loop without a due persona looks at the kill switch, in seconds.
const LOOK: u64 = 1;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run what is due once, and end
    #[arg(long)]
    once: bool,
    /// Seed of everything that is chosen; random if left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Minutes after which a persona begins nothing new
    #[arg(long, value_name = "N", default_value_t = 5)]
    minutes: u64,
    #[command(flatten)]
    at_most: AtMost,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Ran {
    persona: &'static str,
    #[serde(flatten)]
    report: Report,
}

#[derive(Debug, Serialize)]
struct Ticked {
    rung: String,
    ran: Vec<Ran>,
    next_seconds: Option<u64>,
}

fn draw(ticked: &Ticked, page: &mut Page) {
    page.field("dial", &ticked.rung);
    if ticked.ran.is_empty() {
        page.line("No persona is due.");
    }
    for ran in &ticked.ran {
        page.heading(ran.persona);
        ran.report.draw(page);
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let state = args.place.state(context)?;
    let tools = Tools::of_this_program()?;
    let time = Duration::from_secs(args.minutes.saturating_mul(60));
    loop {
        let seed = seed(args.seed)?;
        let rung = state.given(args.at_most.rung()).map_err(zx1_operator::qa::QaError::from)?.rung();
        let done = tick(&state, &tools, args.at_most.rung(), seed, time)?;
        let now = i64::try_from(SystemClock.unix_secs()).unwrap_or(i64::MAX);
        let left = u64::try_from(done.next.saturating_sub(now)).ok();
        let ran = done
            .ran
            .into_iter()
            .map(|(persona, seen, _)| Ran { persona, report: Report::of(persona, seed, seen) });
        let ticked = Ticked { rung: rung.word().to_owned(), ran: ran.collect(), next_seconds: left };
        if args.once || !ticked.ran.is_empty() {
            context.show(&ticked, draw)?;
        }
        if args.once {
            return Ok(());
        }
        for _ in 0..left.unwrap_or(60).max(1) {
            if state.is_stopped() {
                break;
            }
            std::thread::sleep(Duration::from_secs(LOOK));
        }
    }
}
