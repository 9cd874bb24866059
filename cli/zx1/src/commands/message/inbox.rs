//! `zx1 message inbox`.

use crate::context::{Agent, Context};
use crate::errors::Result;
use crate::node::{self, Lasting, draw_payload, moment};
use crate::output::{Page, Report};
use serde::Serialize;
use std::time::Duration;
use zx1_operator::node::NodeClient;
use zx1_operator::node::wire::{Inbox, MAX_PAGE, Message};

/// Longest place in a log.
const MAX_ID: usize = 64;
/// Interval of questions for new messages.
const POLL: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show messages after this one [default: the last one that was acknowledged]
    #[arg(long, value_name = "ID", value_parser = id)]
    after: Option<String>,
    /// Maximum number of messages to show
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=MAX_PAGE as i64))]
    limit: u16,
    /// Acknowledge the messages once they are printed: all up to the last one were handled
    #[arg(long)]
    ack: bool,
    /// Go on with each message that comes, until Ctrl+C
    #[arg(long)]
    follow: bool,
}

fn id(text: &str) -> Result<String, String> {
    let fits = (1..=MAX_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { Ok(text.to_owned()) } else { Err("expected a message as the inbox shows it".to_owned()) }
}

/// A page of messages.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    inbox: Inbox,
    /// Whether there may be more.
    #[serde(skip)]
    is_full: bool,
    #[serde(skip)]
    acks: bool,
}

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        for (index, message) in self.inbox.messages.iter().enumerate() {
            if index > 0 {
                page.blank();
            }
            draw(message, page);
        }
        match self.inbox.messages.last() {
            None => page.line("There are no new messages."),
            Some(last) if self.is_full => page.next(format!("zx1 message inbox --after {}", last.id)),
            Some(_) if !self.acks => page.next("zx1 message inbox --ack, once they are handled"),
            Some(_) => page,
        };
    }
}

/// One message of a stream.
#[derive(Serialize)]
#[serde(transparent)]
struct One<'a>(&'a Message);

impl Report for One<'_> {
    fn draw(&self, page: &mut Page) {
        draw(self.0, page);
        page.blank();
    }
}

fn draw(message: &Message, page: &mut Page) {
    page.field("message", &message.id)
        .field("type", &message.r#type)
        .field("from", &message.sender)
        .field("conversation", &message.conversation)
        .field("received", moment(message.arrival_micros));
    draw_payload(message.payload.as_ref(), message.payload_len, page);
}

/// From where messages are shown: the argument, or behind what was acknowledged.
async fn start(args: &Args, client: &NodeClient) -> zx1_operator::Result<Option<String>> {
    match &args.after {
        Some(after) => Ok(Some(after.clone())),
        None => Ok(client.inbox(None, 1).await?.acknowledged),
    }
}

async fn once(args: &Args, context: &Context, client: &NodeClient) -> Result<()> {
    let after = start(args, client).await?;
    let inbox = client.inbox(after.as_deref(), args.limit.into()).await?;
    let last = inbox.messages.last().map(|last| last.id.clone());
    let is_full = inbox.messages.len() >= usize::from(args.limit);
    // Printed first: what nobody saw is not acknowledged.
    context.print(&Listed { inbox, is_full, acks: args.ack })?;
    if let Some(last) = last.filter(|_| args.ack) {
        client.acknowledge(&last).await?;
    }
    Ok(())
}

async fn follow(args: &Args, context: &Context, agent: &Agent) -> Result<()> {
    let mut node = Lasting::new(context, agent)?;
    let mut after = loop {
        let from = start(args, node.client()).await;
        if let Some(after) = node.outlast(from).await? {
            break after;
        }
    };
    loop {
        let inbox = node.client().inbox(after.as_deref(), args.limit.into()).await;
        let Some(inbox) = node.outlast(inbox).await? else { continue };
        for message in &inbox.messages {
            context.print(&One(message))?;
        }
        if let Some(last) = inbox.messages.last() {
            after = Some(last.id.clone());
        }
        if args.ack
            && let Some(last) = inbox.messages.last()
        {
            let acknowledged = node.client().acknowledge(&last.id).await;
            // After a restart of the node the next ones acknowledge these, too.
            node.outlast(acknowledged).await?;
        }
        if inbox.messages.len() < usize::from(args.limit) {
            tokio::time::sleep(POLL).await;
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    if args.follow {
        return context.serve(follow(args, context, &agent));
    }
    let client = node::client(context, &agent)?;
    context.wait(once(args, context, &client))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_log_is_a_short_word() {
        assert!(id("20778:12").is_ok());
        for text in [String::new(), "a b".to_owned(), "a\u{1b}".to_owned(), "1".repeat(MAX_ID + 1)] {
            assert!(id(&text).is_err(), "{text:?}");
        }
    }
}
