//! `zx1 chat listen` and `join`.

use super::connect::{Relaying, agent, channel};
use super::line::Line;
use super::proposals::read_act;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::{self, Page, Report};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use zx1_relay_client::{Answer, Client, ClientError, News, proposals};
use zx1_relay_rules::client::{Frame, Target};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Channels to join [default: none, which shows what is said to the agent alone]
    #[arg(value_name = "CHANNEL", value_parser = channel)]
    channels: Vec<String>,
    /// Number of messages after which to stop [default: until Ctrl+C]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    relaying: Relaying,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Join {
    /// Channel to join
    #[arg(value_name = "CHANNEL", value_parser = channel)]
    channel: String,
    /// Create the channel
    #[arg(long)]
    create: bool,
    /// Let only those in who are invited
    #[arg(long, requires = "create")]
    invite_only: bool,
    #[command(flatten)]
    relaying: Relaying,
}

/// What a typed line means.
#[derive(Debug, PartialEq)]
enum Typed {
    Say(Target, String),
    Act(zx1_relay_rules::proposal::Act, String, Answer),
    Invite(zx1_relay_rules::AgentId),
    Who,
    Quit,
    Nothing,
}

const COMMANDS: &str = "/msg @id TEXT, /who, /invite @id, /accept ID, /reject ID [REASON], /complete ID [PROOF], \
                        /dispute ID REASON, /quit";

/// Reads a line. Only lines that the user types come here, never a message.
fn typed(line: &str, channel: &str) -> std::result::Result<Typed, String> {
    let line = line.trim_end_matches(['\n', '\r']);
    let Some(command) = line.strip_prefix('/') else {
        let to = Target::Channel(channel.to_owned());
        return Ok(if line.trim().is_empty() { Typed::Nothing } else { Typed::Say(to, line.to_owned()) });
    };
    let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
    let (first, text) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let text = Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    match word {
        "msg" => {
            let content = text.ok_or_else(|| "expected /msg @id TEXT".to_owned())?;
            Ok(Typed::Say(Target::Agent(agent(first)?), content))
        }
        "invite" => Ok(Typed::Invite(agent(first)?)),
        "who" => Ok(Typed::Who),
        "quit" => Ok(Typed::Quit),
        _ => {
            let act = read_act(word).ok_or_else(|| format!("commands are {COMMANDS}"))?;
            if first.is_empty() {
                return Err(format!("expected /{word} and the proposal's id"));
            }
            let answer = Answer { reason: text.clone(), proof: text, ..Answer::default() };
            Ok(Typed::Act(act, first.to_owned(), answer))
        }
    }
}

fn show(context: &Context, news: &News) -> Result<Option<Line>> {
    let Some(line) = Line::of(news) else { return Ok(None) };
    context.print(&line)?;
    Ok(Some(line))
}

/// Who the client is: an event of its own for programs, a line on standard error for people.
fn greet(context: &Context, client: &Client) -> Result<()> {
    let line = Line::here(client.welcome());
    if context.format()?.is_json() {
        return context.print(&line);
    }
    let mut page = Page::new(output::MAX_WIDTH);
    line.draw(&mut page);
    output::write_err(&page.finish());
    Ok(())
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let options = args.relaying.options(context)?;
    context.serve(async {
        let mut client = Client::connect(options).await?;
        greet(context, &client)?;
        for channel in &args.channels {
            client.join(channel).await?;
        }
        let mut left = args.count;
        while let Some(news) = client.next().await {
            if let News::Ended(error) = news {
                return Err(error.into());
            }
            let line = show(context, &news)?;
            if line.is_some_and(|line| line.is_message()) {
                left = left.map(|left| left - 1);
            }
            if left == Some(0) {
                break;
            }
        }
        client.close().await;
        Ok(())
    })
}

pub(super) fn join(args: &Join, context: &Context) -> Result<()> {
    let options = args.relaying.options(context)?;
    context.serve(async {
        let mut client = Client::connect(options).await?;
        greet(context, &client)?;
        if args.create {
            client.create(&args.channel, args.invite_only).await?;
        } else {
            client.join(&args.channel).await?;
        }
        let mut input = BufReader::new(tokio::io::stdin()).lines();
        loop {
            tokio::select! {
                news = client.next() => match news {
                    None => return Err(ClientError::Ended.into()),
                    Some(News::Ended(error)) => return Err(error.into()),
                    Some(news) => drop(show(context, &news)?),
                },
                line = input.next_line() => {
                    let failed = |error: std::io::Error| Error::ReadFailed {
                        path: "Standard input".to_owned(),
                        why: crate::errors::reason(&error),
                    };
                    let Some(line) = line.map_err(failed)? else { break };
                    match typed(&line, &args.channel) {
                        Ok(Typed::Quit) => break,
                        Ok(typed) => perform(&mut client, &args.channel, typed, context).await?,
                        Err(why) => output::warn(&format!("Nothing was sent: {why}.")),
                    }
                }
            }
        }
        // What the relay says to the last line is shown.
        let settled = client.settled().await;
        while let Some(news) = client.passed_over() {
            show(context, &news)?;
        }
        if let Err(refusal) = settled {
            return Err(refusal.into());
        }
        client.close().await;
        Ok(())
    })
}

/// Does what was typed. A refusal is shown and ends nothing.
async fn perform(client: &mut Client, channel: &str, typed: Typed, context: &Context) -> Result<()> {
    let done = match typed {
        Typed::Say(to, content) => client.send(Frame::Msg { to, content, sig: None }).await,
        Typed::Act(act, id, answer) => match proposals::answer(client, act, &id, &answer) {
            Ok(frame) => client.send(frame).await,
            Err(refusal) => Err(refusal),
        },
        Typed::Invite(agent) => client.send(Frame::Invite { channel: channel.to_owned(), agent }).await,
        Typed::Who => match client.agents(channel).await {
            Ok(list) => return context.print(&super::talk::Listed::members(&list)),
            Err(refusal) => Err(refusal),
        },
        Typed::Quit | Typed::Nothing => Ok(()),
    };
    match done {
        Err(ClientError::Ended) => Err(ClientError::Ended.into()),
        Err(refusal) => {
            output::warn(&crate::errors::Failure::from(refusal).message);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_relay_rules::proposal::Act;

    #[test]
    fn a_line_is_said_and_a_slash_begins_a_command() {
        let general = Target::Channel("#general".into());
        let read = |line: &str| typed(line, "#general");
        assert_eq!(read("hello / there\r"), Ok(Typed::Say(general, "hello / there".into())));
        assert_eq!(read("  "), Ok(Typed::Nothing));
        assert_eq!(read("/quit"), Ok(Typed::Quit));
        let to = Target::Agent(agent("@1a2b3c4d").unwrap());
        assert_eq!(read("/msg @1a2b3c4d only you"), Ok(Typed::Say(to, "only you".into())));
        let late =
            Answer { reason: Some("too late".into()), proof: Some("too late".into()), ..Answer::default() };
        assert_eq!(read("/dispute prop_1 too late"), Ok(Typed::Act(Act::Dispute, "prop_1".into(), late)));
        assert_eq!(read("/accept prop_1"), Ok(Typed::Act(Act::Accept, "prop_1".into(), Answer::default())));
        for wrong in ["/msg", "/msg general x", "/msg @a", "/accept", "/expire prop_1", "/shell ls", "/"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
