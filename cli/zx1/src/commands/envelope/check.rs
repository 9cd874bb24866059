//! `zx1 envelope check`: what a receiver would say, though it never says it (protocol.md, 5.5).

use super::{keys_of, type_name};
use crate::agent_files::{self, Now, refused};
use crate::commands::log::off_by_in_words;
use crate::context::Context;
use crate::defaults;
use crate::errors::Result;
use crate::input;
use crate::output::{Page, Report};
use serde::Serialize;
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::nonce::{LastNonce, SeenNonces};
use zx1_protocol::validate::{Candidate, Context as Rules, Reason, Sender};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The message: file, hex, base64, or - for standard input
    #[arg(value_name = "ENVELOPE")]
    envelope: String,
    /// Check it as of this time in unix microseconds instead of now
    #[arg(long, value_name = "MICROS")]
    at: Option<u64>,
    /// Accept any nonce, also one that the agent's log has seen
    #[arg(long)]
    any_nonce: bool,
}

#[derive(Serialize)]
struct Verdict {
    valid: bool,
    #[serde(rename = "type")]
    kind: String,
    sender: String,
    signer: String,
    signed_by: &'static str,
}

impl Report for Verdict {
    fn draw(&self, page: &mut Page) {
        page.line("A receiver takes this message: all nine rules hold.")
            .field("type", &self.kind)
            .field("sender", &self.sender)
            .field("signed by", format!("{} ({})", self.signer, self.signed_by));
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let input = input::read(&args.envelope, defaults::MAX_INPUT)?;
    let dropped = |reason: &Reason| {
        let rule =
            reason.rule().map_or_else(String::new, |rule| format!(" (rule {rule} of docs/protocol.md, 5.5)"));
        let next =
            format!("a receiver drops it without an answer{rule}; zx1 inspect envelope shows its fields");
        let failure = refused(reason.code(), reason, &next);
        match reason {
            Reason::Timestamp { off_by } => off_by_in_words(failure, *off_by).next(
                "a receiver drops it without an answer (rule 6 of docs/protocol.md, 5.5); --at checks it as of \
                       another time",
            ),
            _ => failure,
        }
    };
    let candidate = Candidate::parse(&input.bytes).map_err(|reason| dropped(&reason))?;
    let sender = candidate.sender();
    // Without an own agent there is no log to compare nonces with.
    let own = context.agent().ok();
    context.wait(async {
        let chain = context.connect().await?;
        let sati = Sati::connect(&chain.client).await?;
        let keys = keys_of(&sati, sender).await?;
        let seen = match own.as_ref().filter(|_| !args.any_nonce) {
            Some(agent) if agent_files::folder(context, agent)?.exists() => {
                agent_files::open_log(context, agent)?.seen_nonces(&sender, candidate.channel())?
            }
            _ => SeenNonces::Strict(LastNonce::default()),
        };
        let now = match args.at {
            Some(micros) => micros,
            None => Now::ask(&chain).await?.micros,
        };
        let known = if keys.is_empty() { Sender::Unknown } else { Sender::Registered { keys: &keys, seen } };
        let valid = candidate.validate(&Rules::new(now, known)).map_err(|reason| dropped(&reason))?;
        let owner = keys.first().is_some_and(|key| valid.signer == key.to_bytes().into());
        context.print(&Verdict {
            valid: true,
            kind: type_name(valid.envelope.header.msg_type),
            sender: sender.to_string(),
            signer: valid.signer.to_string(),
            signed_by: if owner { "the owner" } else { "a delegate" },
        })
    })
}
