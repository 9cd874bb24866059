//! `zx1 qa dial`.

use super::Place;
use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use serde::Serialize;
use zx1_operator::qa::state::DIAL;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// observe, exercise, or the maintainer's signed line; shows the dial if left out
    #[arg(value_name = "RUNG|LINE")]
    line: Option<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Dial {
    dial: String,
    why: Option<String>,
    stopped: bool,
    file: String,
    fleet: String,
    root: String,
}

fn draw(dial: &Dial, page: &mut Page) {
    page.field("dial", &dial.dial)
        .maybe("why", dial.why.as_deref())
        .field("stopped", if dial.stopped { "yes" } else { "no" })
        .field("file", &dial.file)
        .field("fleet", &dial.fleet)
        .field("root commit", &dial.root);
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let state = args.place.state(context)?;
    if let Some(line) = &args.line {
        state.set_dial(line)?;
    }
    let dial = state.dial();
    let shown = Dial {
        dial: dial.rung.word().to_owned(),
        why: dial.why.map(|why| why.to_string()),
        stopped: dial.stopped,
        file: state.folder().join(DIAL).display().to_string(),
        fleet: solana_address::Address::new_from_array(*state.fleet()).to_string(),
        root: state.root().to_owned(),
    };
    context.show(&shown, draw)
}
