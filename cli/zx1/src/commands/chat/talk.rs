//! `zx1 chat say`, `who` and `presence`.

use super::connect::{Relaying, channel, once, target};
use super::line::Line;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::{Page, Report, Table};
use crate::words::one_line;
use serde::Serialize;
use zx1_relay_client::{Client, ClientError, News};
use zx1_relay_rules::client::{Presence as State, Target};
use zx1_relay_rules::event::Listed as Member;

#[derive(Debug, clap::Args)]
pub(crate) struct Say {
    /// Channel, which is joined for it, or agent
    #[arg(value_name = "CHANNEL|AGENT", value_parser = target)]
    to: Target,
    /// Text, at most 4096 characters
    #[arg(value_name = "TEXT")]
    text: String,
    #[command(flatten)]
    relaying: Relaying,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Who {
    /// Channel whose members are listed [default: the public channels]
    #[arg(value_name = "CHANNEL", value_parser = channel)]
    channel: Option<String>,
    #[command(flatten)]
    relaying: Relaying,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Presence {
    /// State that others see
    #[arg(value_name = "STATE", value_parser = ["online", "away", "busy", "offline", "listening"])]
    state: String,
    /// Channels to be present in
    #[arg(value_name = "CHANNEL", required = true, value_parser = channel)]
    channels: Vec<String>,
    /// Status text, at most 100 characters
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    relaying: Relaying,
}

/// A channel or a member of one.
#[derive(Serialize)]
#[serde(untagged)]
enum Row {
    Channel {
        channel: String,
        members: u64,
    },
    Member {
        agent: String,
        name: Option<String>,
        presence: Option<&'static str>,
        status_text: Option<String>,
        verified: Option<bool>,
    },
}

/// Channels, or the members of one.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Listed {
    rows: Vec<Row>,
    #[serde(skip)]
    of_channels: bool,
}

impl Listed {
    fn channels(list: Vec<(String, u64)>) -> Listed {
        let rows = list.into_iter().map(|(channel, members)| Row::Channel { channel, members }).collect();
        Listed { rows, of_channels: true }
    }

    /// Members as the relay lists them.
    pub(super) fn members(list: &[Member]) -> Listed {
        let row = |member: &Member| Row::Member {
            agent: member.id.to_string(),
            name: member.name.clone(),
            presence: member.presence.map(|presence| presence.as_str()),
            status_text: member.status_text.clone(),
            verified: member.verified,
        };
        Listed { rows: list.iter().map(row).collect(), of_channels: false }
    }
}

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        let mut table = if self.of_channels {
            Table::new(["channel", "members"])
        } else {
            Table::new(["agent", "name", "presence", "key", "status"]).prose(4)
        };
        for row in &self.rows {
            match row {
                Row::Channel { channel, members } => table.row([&one_line(channel, 32), members]),
                Row::Member { agent, name, presence, status_text, verified } => table.row([
                    agent,
                    &one_line(name.as_deref().unwrap_or_default(), 32),
                    &presence.unwrap_or_default(),
                    &if *verified == Some(true) { "proven" } else { "none" },
                    &one_line(status_text.as_deref().unwrap_or_default(), 100),
                ]),
            };
        }
        page.table(
            table,
            if self.of_channels { "There are no public channels." } else { "The channel is empty." },
        );
    }
}

pub(super) fn say(args: &Say, context: &Context) -> Result<()> {
    let options = args.relaying.options(context)?;
    let units = zx1_relay_rules::client::units(&args.text);
    if args.text.trim().is_empty() || units > zx1_relay_rules::defaults::MAX_CONTENT {
        let message = format!("The text has {units} characters: give 1 to 4096.");
        return Err(Error::Usage { message }.into());
    }
    context.wait(async {
        let mut client = once(options).await?;
        if let Target::Channel(channel) = &args.to {
            client.join(channel).await?;
        }
        let (said, at) = client.say(&args.to, &args.text).await?;
        client.close().await;
        match Line::said(&said, at) {
            Some(line) => context.print(&line),
            None => Ok(()),
        }
    })
}

pub(super) fn who(args: &Who, context: &Context) -> Result<()> {
    let options = args.relaying.options(context)?;
    context.wait(async {
        let mut client = once(options).await?;
        let listed = match &args.channel {
            None => Listed::channels(client.channels().await?),
            Some(channel) => Listed::members(&client.agents(channel).await?),
        };
        client.close().await;
        context.print(&listed)
    })
}

pub(super) fn presence(args: &Presence, context: &Context) -> Result<()> {
    let options = args.relaying.options(context)?;
    let state = State::parse(&args.state).unwrap_or_default();
    let most = zx1_relay_rules::defaults::MAX_STATUS;
    if args.text.as_ref().is_some_and(|text| zx1_relay_rules::client::units(text) > most) {
        let message = format!("The status text is too long: give at most {most} characters.");
        return Err(Error::Usage { message }.into());
    }
    context.serve(async {
        let mut client = Client::connect(options).await?;
        for channel in &args.channels {
            client.join(channel).await?;
        }
        client.set_presence(state, args.text.clone()).await?;
        context.print(&Line::here(client.welcome()))?;
        loop {
            match client.next().await {
                None => return Err(ClientError::Ended.into()),
                Some(News::Ended(error)) => return Err(error.into()),
                // Somebody who is only present reads nothing.
                Some(_) => {}
            }
        }
    })
}
