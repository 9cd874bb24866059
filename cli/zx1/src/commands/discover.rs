//! `zx1 discover`: who can do something.

use crate::context::Context;
use crate::errors::{Error, Result, sentence};
use crate::node::{self, capability, moment, seconds};
use crate::output::{self, Page, Report, Table};
use crate::words;
use serde::Serialize;
use std::time::Duration;
use zx1_operator::message::type_name;
use zx1_operator::node::wire::{self, Advert, Draft, Fields};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::mesh_payload::Discover;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 discover translate                   ask for agents that can translate, wait 10 s
  zx1 discover translate german --wait 1m  those that can do both
  zx1 discover                             list what the node has heard, ask nobody
  zx1 discover translate --json | jq -r '.adverts[].agent'

Agents answer if they like, with an ADVERTISE of their own. What an agent advertises is
its own word: look at zx1 reputation show --agent AGENT before you propose a deal.";

/// Longest time that answers are waited for, in seconds.
const MAX_WAIT: u32 = 600;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Capabilities that an agent must have, all of them
    #[arg(value_name = "WANT", value_parser = capability)]
    want: Vec<String>,
    /// Time to wait for answers, such as 30s or 2m, at most 10m; 0 asks nobody
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = wait)]
    wait: u32,
    /// Maximum number of agents that should answer
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    max: u32,
}

fn wait(text: &str) -> Result<u32, String> {
    let parsed = seconds(text).filter(|seconds| *seconds <= MAX_WAIT);
    parsed.ok_or_else(|| "expected 0 to 10m, such as 30s or 2m".to_owned())
}

#[derive(Serialize)]
struct Found {
    /// The search in the outbox, when one was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Draft>,
    adverts: Vec<Advert>,
}

impl Report for Found {
    fn draw(&self, page: &mut Page) {
        let header = ["agent", "price", "unit", "until", "capabilities"];
        let mut table = Table::new(header).ids(&[0]).prose(4);
        for advert in &self.adverts {
            let caps = words::one_line(&advert.caps.join(", "), 200);
            let until = moment(advert.ends_micros);
            table.row([&advert.agent, &advert.price, &advert.unit, &until, &caps]);
        }
        page.table(table, "No agent advertises this now.");
        match (self.adverts.first(), &self.search) {
            (Some(first), _) => page.next(format!("zx1 reputation show --agent {}", first.agent)),
            (None, Some(_)) => page.next("wait longer with --wait 1m, or ask for less"),
            (None, None) => page.next("zx1 discover WANT asks all agents for it"),
        };
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let asks = !args.want.is_empty() && args.wait > 0;
    if !args.want.is_empty() {
        let want = args.want.iter().map(String::as_str).collect();
        let checked = Discover { want, max: args.max }.to_payload();
        checked.map_err(|error| Error::Usage { message: sentence(&error.to_string()) })?;
    }
    let client = node::client(context, &agent)?;
    let found = context.wait(async {
        let mut search = None;
        if asks {
            let message = wire::Send {
                r#type: type_name(MsgType::Discover),
                fields: Some(Fields::Discover { want: args.want.clone(), max: args.max }),
                // Later nobody waits for an answer.
                ttl_seconds: Some(args.wait),
                ..wire::Send::default()
            };
            let draft = client.send(&message).await?;
            let progress = context.spinner("Waiting for answers");
            tokio::time::sleep(Duration::from_secs(args.wait.into())).await;
            drop(progress);
            search = Some(client.draft(draft.draft).await?);
        }
        Ok(Found { search, adverts: client.adverts(&args.want).await? })
    })?;
    if let Some(search) = found.search.as_ref().filter(|search| search.state != "sent") {
        let why = search.why.as_deref().map(|why| format!(": {}", words::clause(why))).unwrap_or_default();
        output::warn(&format!("the search was not sent, it is {}{why}", search.state));
    }
    context.print(&found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_up_to_ten_minutes() {
        assert_eq!((wait("0"), wait("10s"), wait("10m")), (Ok(0), Ok(10), Ok(600)));
        for text in ["", "11m", "601", "1h", "-1", "soon"] {
            assert!(wait(text).is_err(), "{text}");
        }
    }
}
