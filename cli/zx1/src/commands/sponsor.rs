//! `zx1 sponsor`: paying for other people's feedback, and for nothing else (decision B13).

mod ledger;
mod serve;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;
use serde::{Deserialize, Serialize};

/// Where the sponsor listens for requests.
pub(crate) const ROUTE: &str = "/v1/feedback";

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

/// Does it.
pub fn run(args: Args, context: &Context) -> Result<()> {
    match args.action {
        Action::Serve(args) => serve::run(&args, context),
    }
}

/// What a sender asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The sender's wallet in base58.
    pub(crate) sender: String,
    /// The text, 1 to 2 048 bytes.
    pub(crate) text: String,
}

/// The next transaction, signed by the sponsor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// As `--sign-only` writes one.
    pub(crate) transaction: serde_json::Value,
    /// Whether the text stands once this one landed.
    pub(crate) last: bool,
}
