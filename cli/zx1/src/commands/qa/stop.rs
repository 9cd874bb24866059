//! `zx1 qa stop`.

use super::Place;
use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use serde::Serialize;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Why, for whoever looks later
    #[arg(value_name = "REASON", default_value = "zx1 qa stop")]
    reason: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Stopped {
    stopped: bool,
    reason: String,
}

fn draw(stopped: &Stopped, page: &mut Page) {
    page.line(format!("The loop is stopped: {}.", stopped.reason.trim_end_matches('.')))
        .next("zx1 qa dial observe");
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    args.place.state(context)?.stop(&args.reason)?;
    context.show(&Stopped { stopped: true, reason: args.reason.clone() }, draw)
}
