//! `zx1 message send`.

use crate::commands::envelope::{check_form, types};
use crate::context::{Context, find_agent};
use crate::errors::{Error, Result, json_fault};
use crate::input;
use crate::node::{self, Content, Sending};
use zx1_operator::message::type_name;
use zx1_operator::node::wire::{self, Fields};
use zx1_protocol::envelope::MsgType;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Type of the message
    #[arg(value_name = "TYPE", value_parser = types())]
    kind: MsgType,
    /// Recipient: a local name or a mint; broadcasts have none
    #[arg(long, value_name = "AGENT")]
    to: Option<String>,
    /// Conversation id, 32 hex digits [default: a new conversation]
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Value of the deal, in units that the agents have agreed on
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    value: Option<i128>,
    #[command(flatten)]
    content: Content,
    /// Content as the fields of a format that the protocol knows: a JSON object whose kind is the type
    #[arg(long, value_name = "JSON", conflicts_with_all = ["text", "hex", "file", "value"])]
    fields: Option<String>,
    #[command(flatten)]
    sending: Sending,
}

fn usage(message: impl Into<String>) -> Error {
    Error::Usage { message: message.into() }
}

/// The message, checked as far as the command line tells.
fn message(args: &Args, context: &Context) -> Result<wire::Send> {
    let kind = args.kind;
    if kind == MsgType::Beacon {
        return Err(usage("The node sends beacons by itself, when it starts and every ten minutes.").into());
    }
    check_form(kind, args.to.is_some(), args.value.is_some())?;
    let config = context.config()?;
    let recipient = args.to.as_ref().map(|named| find_agent(&config, named)).transpose()?;
    let conversation = args.conversation.as_deref().map(input::conversation).transpose()?;
    if conversation.is_none() && !kind.begins_conversation() {
        return Err(usage("Messages of this type belong to a conversation: give --conversation.").into());
    }
    let fields = args.fields.as_deref().map(|text| fields(text, kind)).transpose()?;
    if fields.is_none() && args.content.is_none() && kind == MsgType::Feedback {
        return Err(usage("Feedback messages need --fields, with target, score and outcome.").into());
    }
    let mut message = wire::Send {
        r#type: type_name(kind),
        recipient: recipient.map(|agent| agent.mint.to_string()),
        conversation: conversation.map(|id| id.to_string()),
        value: args.value.map(|value| value.to_string()),
        fields,
        ..wire::Send::default()
    };
    args.content.put(&mut message)?;
    Ok(message)
}

/// Fields of the message's own type.
fn fields(text: &str, kind: MsgType) -> Result<Fields> {
    let fields: Fields = serde_json::from_str(text)
        .map_err(|error| usage(format!("Invalid value for --fields: {}.", json_fault(&error))))?;
    let found = match fields {
        Fields::Advertise { .. } => MsgType::Advertise,
        Fields::Discover { .. } => MsgType::Discover,
        Fields::Feedback { .. } => MsgType::Feedback,
        Fields::Verdict { .. } => MsgType::Verdict,
        Fields::Dispute { .. } => MsgType::Dispute,
    };
    if found == kind {
        return Ok(fields);
    }
    let (found, kind) = (type_name(found), type_name(kind));
    Err(usage(format!("--fields are those of {found}, and the message is of type {kind}.")).into())
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let message = message(args, context)?;
    let client = node::client(context, &agent)?;
    context.wait(args.sending.send(context, &client, message))
}
