//! `fix chat`: what the parties of a contract say to each other.

use super::contract::{Which, id_of, who};
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::fixing::{self, talk};
use crate::market;
use serde::Serialize;
use std::io::IsTerminal as _;
use zx1_cli_common::confirm;
use zx1_cli_common::output::{Format, Page, Report};
use zx1_market::chain::{Data, Side};
use zx1_market::wire::MessageKind;
use zx1_market_client::View;
use zx1_scrub::Scrubber;
use zx1_scrub::neutral::neutral;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix chat 0123456789abcdef                      what was said; asks for a line to send
  fix chat 0123456789abcdef 'use the old API'    say it
  fix chat --as-agent 0123456789abcdef 'done?'   as the agent

Secrets are removed before it is sent; it becomes a signed part of the transcript.";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// What to say; the other side and a judge read it
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
            page.line("Nothing was said yet.");
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
    let id = id_of(&args.which)?;
    let (runtime, _) = fixing::start()?;
    let market = runtime.block_on(market::connect(context, who(&args.which)))?;
    let view = runtime.block_on(market.view(id))?;
    let Some(side) = view.side() else { return Err(Error::NotOurs { id: id.to_string() }.into()) };
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
        Side::Principal if talk::question(&view).is_some() => MessageKind::Answer,
        _ => MessageKind::Message,
    };
    runtime.block_on(market.chat(id, kind, &text))?;
    let after = runtime.block_on(market.view(id))?;
    context.print(&talk_of(&after))
}
