//! `zx1 negotiate`: the moves of a deal, as messages of its conversation.

mod rate;
mod show;

use crate::context::{Context, find_agent};
use crate::errors::{Error, Failure, Result};
use crate::input;
use crate::node::{self, Content, Sending};
use clap::Subcommand;
use zx1_operator::message::type_name;
use zx1_operator::node::wire;
use zx1_protocol::envelope::MsgType;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 negotiate propose AGENT --value 250 --text 'translate 3 pages'
  zx1 negotiate counter CONVERSATION --value 300
  zx1 negotiate accept CONVERSATION               the last bid, whatever it is now
  zx1 negotiate accept CONVERSATION --value 300   this bid, and no other
  zx1 negotiate reject CONVERSATION --text 'too expensive'
  zx1 negotiate deliver CONVERSATION --file pages.txt
  zx1 negotiate show CONVERSATION
  zx1 negotiate rate CONVERSATION AGENT --score 80

The recipient, and the value of an ACCEPT, are those of the conversation as the
agent's node knows it. The node sends only what is the conversation's next move.";

/// What is said in a conversation that exists.
#[derive(Debug, clap::Args)]
pub(crate) struct Said {
    /// Conversation id, 32 hex digits
    #[arg(value_name = "CONVERSATION")]
    conversation: String,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    sending: Sending,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Propose {
    /// Recipient: a local name or a mint
    #[arg(value_name = "AGENT")]
    to: String,
    /// Value of the bid, in units that the agents have agreed on
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    value: i128,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    sending: Sending,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Counter {
    /// Value of the bid, in units that the agents have agreed on
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    value: i128,
    #[command(flatten)]
    said: Said,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Accept {
    /// Value of the bid to accept; another one is not accepted [default: the last bid]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    value: Option<i128>,
    #[command(flatten)]
    said: Said,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Conversation id, 32 hex digits
    #[arg(value_name = "CONVERSATION")]
    conversation: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Propose a deal to an agent, in a new conversation
    Propose(Propose),
    /// Answer a bid with another one
    Counter(Counter),
    /// Accept the last bid
    Accept(Accept),
    /// End the negotiation without a deal
    Reject(Said),
    /// Deliver the work
    Deliver(Said),
    /// Show a conversation
    Show(Show),
    /// Rate the other party or the notary, once the task is over
    Rate(rate::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Propose(args) => propose(&args, context),
        Action::Counter(args) => say(MsgType::Counter, Some(args.value), &args.said, context),
        Action::Accept(args) => say(MsgType::Accept, args.value, &args.said, context),
        Action::Reject(args) => say(MsgType::Reject, None, &args, context),
        Action::Deliver(args) => deliver(&args, context),
        Action::Show(args) => show::run(&args.conversation, context),
        Action::Rate(args) => rate::run(&args, context),
    }
}

fn propose(args: &Propose, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let to = find_agent(&context.config()?, &args.to)?;
    let mut message = wire::Send {
        r#type: type_name(MsgType::Propose),
        recipient: Some(to.mint.to_string()),
        value: Some(args.value.to_string()),
        ..wire::Send::default()
    };
    args.content.put(&mut message)?;
    let client = node::client(context, &agent)?;
    context.wait(args.sending.send(context, &client, message))
}

fn deliver(args: &Said, context: &Context) -> Result<()> {
    if args.content.is_none() {
        let message = "Give the work that is delivered: --text, --hex or --file.".to_owned();
        return Err(Error::Usage { message }.into());
    }
    say(MsgType::Deliver, None, args, context)
}

/// Sends a message to the other party. An ACCEPT without a value has that of the last bid.
fn say(msg_type: MsgType, value: Option<i128>, args: &Said, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = input::conversation(&args.conversation)?;
    let mut message = wire::Send {
        r#type: type_name(msg_type),
        conversation: Some(conversation.to_string()),
        value: value.map(|value| value.to_string()),
        ..wire::Send::default()
    };
    args.content.put(&mut message)?;
    let client = node::client(context, &agent)?;
    context.wait(async {
        let known = client.conversation(&conversation).await?;
        let other = known.counterparty(&agent.mint.to_string()).ok_or_else(|| {
            Failure::from(Error::NotParty { agent: agent.shown(), conversation: conversation.to_string() })
        })?;
        message.recipient = Some(other.to_owned());
        if msg_type == MsgType::Accept && message.value.is_none() {
            message.value = Some(known.value.clone());
        }
        args.sending.send(context, &client, message).await
    })
}
