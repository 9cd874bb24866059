//! `zx1 node signer`: signs the agent's deals in a process of its own (decision I5).

use crate::context::Context;
use crate::errors::{Failure, Result};
use crate::node::{Lasting, not_negative};
use crate::output::{self, Page, Report};
use crate::words;
use serde::Serialize;
use std::time::{Duration, Instant};
use zx1_home::{Clock as _, SystemClock};
use zx1_operator::message::type_of;
use zx1_operator::node::signer::{Limits, Signer};
use zx1_operator::node::wire::ToSign;
use zx1_operator::{Error as Operation, Refusal, Wallet};
use zx1_protocol::payload::bid_value;

/// A node that has nothing to sign answers later than this; one that does not is asked again only then.
const LEAST: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Largest value of a deal to sign, in the unit that the agents agreed on [default: any]
    #[arg(long, value_name = "NUMBER", value_parser = not_negative)]
    max_value: Option<i128>,
    /// Maximum number of messages to sign in any hour
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    per_hour: u32,
}

/// One line for each thing that happens.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Started {
        agent: String,
        key: String,
        max_value: Option<String>,
        per_hour: u32,
    },
    Signed(Asked<'a>),
    Refused {
        #[serde(flatten)]
        asked: Asked<'a>,
        why: String,
    },
}

/// A message that the node wants signed.
#[derive(Serialize)]
struct Asked<'a> {
    r#type: &'a str,
    recipient: &'a str,
    conversation: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

impl<'a> Asked<'a> {
    fn of(question: &'a ToSign) -> Self {
        let has_value = type_of(&question.r#type).is_some_and(|msg_type| msg_type.has_bid_value());
        let payload = hex::decode(&question.payload).ok().filter(|_| has_value);
        Self {
            r#type: &question.r#type,
            recipient: &question.recipient,
            conversation: &question.conversation,
            value: payload.map(|payload| bid_value(&payload).to_string()),
        }
    }

    fn in_words(&self) -> String {
        let of = self.value.as_ref().map(|value| format!(" of {value}")).unwrap_or_default();
        // What a node asks is its own affair, and a line stays a line.
        let asked = format!("{}{of} to {}, conversation {}", self.r#type, self.recipient, self.conversation);
        words::one_line(&asked, 400)
    }
}

impl Report for Line<'_> {
    fn draw(&self, page: &mut Page) {
        match self {
            Self::Started { agent, key, max_value, per_hour } => {
                let most =
                    max_value.as_ref().map_or("of any value".to_owned(), |most| format!("up to {most}"));
                page.raw(format!("Signing deals of {agent} {most} with {key}, at most {per_hour} an hour."))
            }
            Self::Signed(asked) => page.raw(format!("signed: {}", asked.in_words())),
            Self::Refused { asked, why } => {
                page.raw(format!("refused: {}: {}", asked.in_words(), words::one_line(why, 400)))
            }
        };
    }
}

/// Lines for people go to standard error, objects for programs to standard output.
fn say(context: &Context, line: &Line<'_>) -> Result<()> {
    if context.format()?.is_json() {
        return context.print(line);
    }
    let mut page = Page::new(output::MAX_WIDTH);
    line.draw(&mut page);
    output::write_err(&page.finish());
    Ok(())
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.message_key(true)?;
    let limits = Limits {
        value: args.max_value.unwrap_or(i128::MAX),
        per_hour: usize::try_from(args.per_hour).unwrap_or(usize::MAX),
    };
    let mut signer = Signer::new(agent.mint, Wallet::new(key.keypair().insecure_clone()), limits);
    let mut node = Lasting::new(context, &agent)?;
    context.serve(async {
        // Whether the node is there at all.
        let status = node.client().status().await;
        node.outlast(status).await?;
        let (max_value, per_hour) = (args.max_value.map(|most| most.to_string()), args.per_hour);
        say(
            context,
            &Line::Started { agent: agent.shown(), key: key.address().to_string(), max_value, per_hour },
        )?;
        loop {
            let begun = Instant::now();
            let asked = node.client().to_sign().await;
            let Some(asked) = node.outlast(asked).await? else { continue };
            match asked {
                Some(question) => answer(context, &mut signer, &mut node, &question).await?,
                None => tokio::time::sleep(LEAST.saturating_sub(begun.elapsed())).await,
            }
        }
    })
}

/// Answers one question and says so. A node that does not take the answer has given the question up.
async fn answer(
    context: &Context,
    signer: &mut Signer,
    node: &mut Lasting<'_>,
    question: &ToSign,
) -> Result<()> {
    let answer = signer.answer(question, SystemClock.unix_micros());
    let asked = Asked::of(question);
    let line = match &answer.why {
        None => Line::Signed(asked),
        Some(why) => Line::Refused { asked, why: why.clone() },
    };
    match node.client().signed(question.id, &answer).await {
        Ok(()) => say(context, &line),
        Err(error @ Operation::Refused(Refusal::NodeRefused { .. })) => {
            let why = words::clause(&Failure::from(&error).message);
            say(context, &Line::Refused { asked: Asked::of(question), why })
        }
        Err(error) => node.outlast(Err::<(), _>(error)).await.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_a_question_is_one_line() {
        let question = ToSign {
            id: 1,
            r#type: "propose".into(),
            sender: String::new(),
            recipient: "a\u{1b}[2J\nb".into(),
            conversation: "c".into(),
            timestamp_micros: 0,
            block_ref: 0,
            nonce: 0,
            payload: hex::encode(zx1_protocol::payload::bid_payload(250, b"")),
        };
        assert_eq!(Asked::of(&question).in_words(), "propose of 250 to a [2J b, conversation c");
        let other = ToSign { r#type: "notarize-assign".into(), ..question };
        assert_eq!(Asked::of(&other).value, None);
    }
}
