//! `fix chat`: messages between the parties of a contract.

use super::contract::Which;
use crate::context::Context;
use crate::errors::Result;
use crate::fixing;
use serde::Serialize;
use std::io::IsTerminal as _;
use zx1_cli_common::confirm;
use zx1_cli_common::output::{Format, Page, Report};
use zx1_market::chain::{Data, Side};
use zx1_market::wire::MessageKind;
use zx1_market_client::View;
use zx1_principal::Refusal;
use zx1_scrub::Scrubber;
use zx1_scrub::neutral::neutral;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix chat 0123456789abcdef                      show messages and ask for one
  fix chat 0123456789abcdef 'use the old API'    send a message
  fix chat --as-agent 0123456789abcdef 'done?'   as the agent

Secrets are removed before a message is sent; it becomes a signed part of the transcript.";

/// Arguments of `fix chat`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Message, read by the other side and the judge
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

#[derive(Serialize)]
struct Line {
    seq: u64,
    from: &'static str,
    kind: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Talk {
    contract: String,
    state: String,
    said: Vec<Line>,
}

impl Report for Talk {
    fn draw(&self, page: &mut Page) {
        if self.said.is_empty() {
            page.line("No messages yet.");
        }
        for line in &self.said {
            let verb = match (line.kind, line.from) {
                ("ask", "you") => " ask",
                ("ask", _) => " asks",
                _ => "",
            };
            page.line(format!("{}{verb}: {}", line.from, line.text));
        }
    }
}

/// Everything that was said, safe to be shown.
fn talk_of(view: &View) -> Talk {
    let ours = view.side();
    let said = view.entries().iter().filter_map(|entry| {
        let (Data::Chat { message }
        | Data::Message { message }
        | Data::Ask { message }
        | Data::Answer { message }) = entry.read().ok()?.0
        else {
            return None;
        };
        let side = if entry.author() == view.case().principal() { Side::Principal } else { Side::Agent };
        let from = match side {
            side if Some(side) == ours => "you",
            Side::Principal => "the principal",
            Side::Agent => "the agent",
        };
        let text = neutral(&message, None).text;
        Some(Line { seq: entry.seq(), from, kind: entry.kind().as_str(), text })
    });
    Talk { contract: view.id().to_string(), state: view.state().to_string(), said: said.collect() }
}

/// Shows what was said; says something.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let id = args.which.id()?;
    let (runtime, _) = fixing::start()?;
    let (_, market) = context.connect(args.which.role(), &runtime)?;
    let view = runtime.block_on(market.view(id))?;
    let Some(side) = view.side() else { return Err(Refusal::NotOurs { id }.into()) };
    let can_ask = confirm::can_ask() && std::io::stderr().is_terminal();
    let text = match args.text {
        Some(text) => text,
        None => {
            context.print(&talk_of(&view))?;
            if view.state().is_terminal() || !can_ask || context.format() != Format::Display {
                return Ok(());
            }
            confirm::read_line("Your message (Enter: none): ")
        }
    };
    let text = Scrubber::new().scrub(text.trim()).text;
    if text.is_empty() {
        return Ok(());
    }
    // Only the agent asks and only the principal answers.
    let kind = match side {
        Side::Principal if view.open_question().is_some() => MessageKind::Answer,
        _ => MessageKind::Message,
    };
    runtime.block_on(market.chat(id, kind, &text))?;
    let after = runtime.block_on(market.view(id))?;
    context.print(&talk_of(&after))
}
