//! `zx1 notary`: looking for the notary of a task, and being one.

mod desk;
mod offers;
mod run;

use crate::context::{Context, find_agent};
use crate::errors::{Error, Result, sentence};
use crate::input;
use crate::node;
use clap::{Subcommand, ValueEnum};
use zx1_operator::node::wire;
use zx1_protocol::mesh_payload::{MAX_REASON_LEN, Offer};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 notary ask CONVERSATION --unit raw     ask all agents for offers, as a party
  zx1 notary offers CONVERSATION             the offers so far, the best first
  zx1 notary choose CONVERSATION NOTARY      30 s later, and within five minutes
  zx1 notary run --fee 5 --seconds 600       be a notary until Ctrl+C, as any agent
  zx1 notary desk                            tasks to judge
  zx1 notary desk CONVERSATION               what the parties have shown
  zx1 notary judge CONVERSATION --outcome positive --reason 'as ordered'

A party chooses; the node assigns the notary, tells the other party, and shows the
notary the conversation. A notary that is silent is followed by the next offer, once;
then the task ends unjudged. Afterwards all rate all: zx1 negotiate rate.";

/// The conversation of a task.
#[derive(Debug, clap::Args)]
pub(crate) struct Task {
    /// Conversation id of the task, 32 hex digits
    #[arg(value_name = "CONVERSATION")]
    conversation: String,
}

/// A task, or all.
#[derive(Debug, clap::Args)]
pub(crate) struct Tasks {
    /// Conversation id of the task, 32 hex digits [default: list all]
    #[arg(value_name = "CONVERSATION")]
    conversation: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    task: Task,
    /// Unit in which the fee is to be counted; offers in others rank behind
    #[arg(long, value_name = "UNIT", default_value = "raw")]
    unit: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Choose {
    #[command(flatten)]
    task: Task,
    /// Notary: a local name or a mint
    #[arg(value_name = "NOTARY")]
    notary: String,
}

/// The terms of a notary's offers.
#[derive(Debug, clap::Args)]
pub(crate) struct Terms {
    /// Fee for a task
    #[arg(long, value_name = "NUMBER", default_value_t = 0, allow_negative_numbers = true)]
    fee: i128,
    /// Unit in which the fee is counted
    #[arg(long, value_name = "UNIT", default_value = "raw")]
    unit: String,
    /// Seconds from the assignment to the verdict, at most 3600
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    seconds: u32,
    /// Maximum number of tasks at a time, offers included
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=256))]
    max: u16,
}

impl Terms {
    fn wire(&self) -> Result<wire::Serve> {
        let offer = Offer { fee: self.fee, unit: &self.unit, seconds: self.seconds };
        offer.to_payload().map_err(|error| usage(&error.to_string()))?;
        Ok(wire::Serve {
            fee: self.fee.to_string(),
            unit: self.unit.clone(),
            seconds: self.seconds,
            max: Some(self.max.into()),
        })
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outcome {
    /// The work is not what was agreed on
    Negative,
    /// Neither positive nor negative
    Neutral,
    /// The work is what was agreed on
    Positive,
}

impl Outcome {
    /// As payloads have it.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Negative => 0,
            Self::Neutral => 1,
            Self::Positive => 2,
        }
    }
}

/// The word for an outcome of a payload.
pub(crate) fn outcome(number: u8) -> &'static str {
    match number {
        0 => "negative",
        1 => "neutral",
        2 => "positive",
        _ => "unknown",
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Judge {
    #[command(flatten)]
    task: Task,
    /// How the task ended
    #[arg(long, value_name = "OUTCOME", value_enum)]
    outcome: Outcome,
    /// Payload hash of the delivery that is judged [default: the last one that was shown]
    #[arg(long, value_name = "HEX")]
    deliver: Option<String>,
    /// Reason in your words, which both parties get
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Offer to be a notary, and show the tasks that come, until Ctrl+C
    Run(Terms),
    /// Offer to be a notary from now on, and return
    Serve(Terms),
    /// Make no further offers
    Stop,
    /// Ask all agents for a notary for a task
    Ask(Ask),
    /// Show the search for a notary and its offers, or list all searches
    Offers(Tasks),
    /// Choose a notary among the offers
    Choose(Choose),
    /// Show a task of this agent as a notary, or list all
    Desk(Tasks),
    /// Give the verdict of a task
    Judge(Judge),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Run(terms) => run::run(&terms, context),
        Action::Serve(terms) => run::serve(&terms, context),
        Action::Stop => run::stop(context),
        Action::Ask(args) => ask(&args, context),
        Action::Offers(args) => offers::run(args.conversation.as_deref(), context),
        Action::Choose(args) => choose(&args, context),
        Action::Desk(args) => desk::run(args.conversation.as_deref(), context),
        Action::Judge(args) => judge(args, context),
    }
}

fn usage(message: &str) -> Error {
    Error::Usage { message: sentence(message) }
}

fn ask(args: &Ask, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = input::conversation(&args.task.conversation)?.to_string();
    let request = wire::AskNotary { conversation, unit: args.unit.clone() };
    let client = node::client(context, &agent)?;
    let search = context.wait(async { Ok(client.ask_notary(&request).await?) })?;
    context.show(&search, offers::draw)
}

fn choose(args: &Choose, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = input::conversation(&args.task.conversation)?.to_string();
    let notary = find_agent(&context.config()?, &args.notary)?.mint.to_string();
    let client = node::client(context, &agent)?;
    let choice = wire::ChooseNotary { conversation, notary };
    let search = context.wait(async { Ok(client.choose_notary(&choice).await?) })?;
    context.show(&search, offers::draw)
}

fn judge(args: Judge, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = input::conversation(&args.task.conversation)?.to_string();
    let deliver = args.deliver.as_deref().map(|hash| input::hex_array::<32>(hash, "The delivery's hash"));
    if args.reason.len() > MAX_REASON_LEN {
        return Err(usage(&format!("The reason has at most {MAX_REASON_LEN} bytes.")).into());
    }
    let judgement = wire::Judge {
        conversation,
        outcome: args.outcome.number(),
        deliver: deliver.transpose()?.map(hex::encode),
        reason: args.reason,
    };
    let client = node::client(context, &agent)?;
    let desk = context.wait(async { Ok(client.judge(&judgement).await?) })?;
    context.show(&desk, desk::draw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(subcommand)]
        action: Action,
    }

    fn parsed(line: &str) -> Result<Action, clap::Error> {
        Line::try_parse_from(["notary"].into_iter().chain(line.split(' '))).map(|line| line.action)
    }

    #[test]
    fn what_a_notary_cannot_offer_is_refused_before_the_node_is_asked() {
        let terms = |line: &str| match parsed(line).unwrap() {
            Action::Run(terms) | Action::Serve(terms) => terms.wire(),
            other => panic!("{other:?}"),
        };
        let usual = terms("run").unwrap();
        assert_eq!((usual.fee.as_str(), usual.unit.as_str(), usual.seconds), ("0", "raw", 600));
        assert!(terms("serve --fee 5 --unit XNO --seconds 3600 --max 1").is_ok());
        for line in ["run --fee -1", "run --unit=", &format!("serve --unit {}", "u".repeat(33))] {
            assert_eq!(terms(line).unwrap_err().code, 7400, "{line}");
        }
        for line in
            ["run --seconds 0", "run --seconds 3601", "run --max 0", "run --max 257", "run --fee much"]
        {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_verdict_has_one_of_three_outcomes() {
        for (number, word) in ["negative", "neutral", "positive"].into_iter().enumerate() {
            let Ok(Action::Judge(args)) = parsed(&format!("judge 00 --outcome {word}")) else { panic!() };
            assert_eq!(usize::from(args.outcome.number()), number);
            assert_eq!(outcome(args.outcome.number()), word);
        }
        assert_eq!(outcome(3), "unknown");
        for line in ["judge 00", "judge 00 --outcome good", "judge --outcome positive", "choose 00", "ask"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
