//! `zx1 envelope check`: what a receiver would say, though it never says it (protocol.md, 5.5).

use crate::agent_files;
use crate::commands::log::broken_rule;
use crate::context::Context;
use crate::defaults;
use crate::errors::{Failure, Result};
use crate::input;
use crate::output::Page;
use zx1_operator::message::Accepted;
use zx1_protocol::validate::{Candidate, Reason};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Message: file, hex, base64, or - for standard input
    #[arg(value_name = "ENVELOPE")]
    envelope: String,
    /// Check as of this time, in Unix microseconds [default: now]
    #[arg(long, value_name = "MICROS")]
    at: Option<u64>,
    /// Accept any nonce, even one that the agent's log has seen
    #[arg(long)]
    any_nonce: bool,
}

fn draw(accepted: &Accepted, page: &mut Page) {
    page.line("Valid: the message passes all nine rules of a receiver.")
        .field("type", &accepted.kind)
        .field("sender", &accepted.sender)
        .field("signed by", format!("{} (a {} key)", accepted.signer, accepted.scopes));
}

fn dropped(reason: Reason) -> Failure {
    let rule =
        reason.rule().map_or_else(String::new, |rule| format!(" (rule {rule} of docs/protocol.md, 5.5)"));
    let then = match reason {
        Reason::Timestamp { .. } => "use --at to check as of another time",
        _ => "zx1 inspect envelope shows its fields",
    };
    broken_rule(&reason, &format!("a receiver drops it without an answer{rule}; {then}"))
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let input = input::read(&args.envelope, defaults::MAX_INPUT)?;
    let candidate = Candidate::parse(&input.bytes).map_err(dropped)?;
    // Without an own agent there is no log to compare nonces with.
    let own = context.agent().ok().filter(|_| !args.any_nonce);
    let accepted = context.wait(async {
        let operator = context.operator().await?;
        let log = match &own {
            Some(agent) if agent_files::folder(context, agent)?.exists() => Some(operator.open_log(agent)?),
            _ => None,
        };
        operator.check_message(candidate, log.as_ref(), args.at).await?.map_err(dropped)
    })?;
    context.show(&accepted, draw)
}
