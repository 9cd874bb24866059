//! `zx1 sponsor`: paying for other people's feedback, and for nothing else (decision B13).

mod ledger;
mod serve;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 sponsor serve              on 127.0.0.1:8895, 5 texts a sender, 0.1 SOL, both a day
  zx1 sponsor serve --listen 0.0.0.0:8895 --per-sender 2 --per-day 0.05
  zx1 feedback submit --sponsor http://127.0.0.1:8895 'the build fails on Debian 12'

The sponsor's key signs only transactions that the sponsor built itself, and
they do nothing but append a text to the feedback log. It answers POST
/v1/feedback {\"sender\", \"text\"} with {\"transaction\", \"last\"}; the sender
signs and sends it, and asks again until `last`. What it spent survives a
restart.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Serve until Ctrl+C
    Serve(serve::Args),
}

/// Runs `zx1 sponsor`. `serve` runs until the process is stopped.
pub fn run(args: Args, context: &Context) -> Result<()> {
    match args.action {
        Action::Serve(args) => serve::run(&args, context),
    }
}
