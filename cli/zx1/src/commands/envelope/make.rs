//! `zx1 envelope make`.

use super::{check_form, types};
use crate::context::{self, Agent, Context};
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::input;
use crate::keys::Key;
use crate::output::{self, Page, Report};
use clap::ValueEnum;
use serde::Serialize;
use std::path::PathBuf;
use zx1_operator::message::{Made, Request};
use zx1_protocol::beacon::Beacon;
use zx1_protocol::draft::DraftError;
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::ConversationId;
use zx1_protocol::payload::{self, BidType, Feedback, NotarizeBid};

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
    /// Content as text; for a beacon its name
    #[arg(long, value_name = "TEXT", conflicts_with = "content_file")]
    content: Option<String>,
    /// Read the content from a file
    #[arg(long, value_name = "PATH")]
    content_file: Option<PathBuf>,
    /// Format of the content, four characters
    #[arg(long, value_name = "HINT")]
    hint: Option<String>,
    /// FEEDBACK: rated agent
    #[arg(long, value_name = "AGENT")]
    about: Option<String>,
    /// FEEDBACK: score from -100 to 100
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i8).range(-100..=100))]
    score: Option<i8>,
    /// FEEDBACK: outcome [default: follows from the score]
    #[arg(long, value_enum)]
    outcome: Option<OutcomeArg>,
    /// FEEDBACK: role of the rated agent
    #[arg(long, value_enum, default_value = "participant")]
    role: RoleArg,
    /// FEEDBACK: mark the outcome as disputed
    #[arg(long)]
    dispute: bool,
    /// NOTARIZE_BID: offer to notarize instead of asking for a notary
    #[arg(long)]
    offer: bool,
    /// Omit the pre-signature for the counterparty's SATI rating
    #[arg(long)]
    no_presign: bool,
    /// Output file for the message [default: printed in hex]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutcomeArg {
    Negative,
    Neutral,
    Positive,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArg {
    Participant,
    Notary,
}

#[derive(Serialize)]
struct Written {
    #[serde(flatten)]
    made: Made,
    file: Option<String>,
    envelope: String,
}

impl Report for Written {
    fn draw(&self, page: &mut Page) {
        let made = &self.made;
        page.field("type", &made.kind)
            .field("from", &made.sender)
            .field("to", made.recipient.as_deref().unwrap_or("everybody"))
            .field("conversation", &made.conversation)
            .field("slot", made.slot)
            .field("logged", format!("epoch {}, entry {}", made.epoch, made.index))
            .field("leaf", &made.leaf);
        if made.presigned {
            page.field("pre-signed", "yes, for the counterparty's SATI rating");
        }
        match &self.file {
            Some(file) => page
                .field("written to", file)
                .next(format!("send it to the recipient, who can check it with zx1 envelope check {file}")),
            None => page.raw(&self.envelope),
        };
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.message_key(args.kind.is_deal())?;
    // Only to pre-sign: without it the message is made all the same.
    let owner = context.key_if_any().ok().flatten();
    let request = request(args, context, &agent, &key)?;
    files::check_wanted(args.out.as_deref())?;
    let made = context.wait(async {
        Ok(context.operator_of(&agent).await?.make_message(&agent, &key, owner.as_deref(), &request).await?)
    })?;
    if made.presign_refused {
        output::warn(
            "only the owner's wallet can pre-sign for SATI (decision D5); the message has no pre-signature",
        );
    }
    let written = args.out.as_ref().map(|path| files::create_private(path, &made.cbor));
    let file = args.out.as_deref().filter(|_| matches!(written, Some(Ok(())))).map(files::shown);
    // The message is logged by now: where the file cannot be written, it is at least printed.
    context.print(&Written { file, envelope: hex::encode(&made.cbor), made })?;
    Ok(written.unwrap_or(Ok(()))?)
}

fn usage(message: &str) -> Error {
    Error::Usage { message: message.to_owned() }
}

/// The message, checked as far as the command line tells.
fn request(args: &Args, context: &Context, agent: &Agent, key: &Key) -> Result<Request> {
    let kind = args.kind;
    let config = context.config()?;
    let other =
        |named: &Option<String>| named.as_ref().map(|named| context::find_agent(&config, named)).transpose();
    let (recipient, about) = (other(&args.to)?, other(&args.about)?);
    check_form(kind, recipient.is_some(), args.value.is_some())?;
    let rates = about.is_some() && args.score.is_some();
    if (kind == MsgType::Feedback) != rates || (about.is_some() != args.score.is_some()) {
        return Err(
            usage("Feedback messages need --about and --score, and no other message takes them.").into()
        );
    }
    let conversation = match &args.conversation {
        Some(text) => input::conversation(text)?,
        None if kind.begins_conversation() => random_conversation()?,
        None => {
            return Err(usage("Messages of this type belong to a conversation: give --conversation.").into());
        }
    };
    let body = body(args)?;
    let payload = match kind {
        MsgType::Feedback => {
            let score = args.score.unwrap_or_default();
            let feedback = Feedback {
                conversation_id: conversation,
                target_agent: about.map_or(BROADCAST, |agent| agent.mint),
                score,
                outcome: args.outcome.map_or_else(|| payload::outcome_of(score), |outcome| outcome as u8),
                is_dispute: args.dispute,
                role: args.role as u8,
            };
            feedback.to_cbor().map_err(|error| {
                Failure::of(&DraftError::Payload(error), Some("give --score from -100 to 100"))
            })?
        }
        MsgType::NotarizeBid => {
            let bid_type = if args.offer { BidType::Offer } else { BidType::Request };
            NotarizeBid { bid_type, conversation_id: conversation, terms: &body }.to_bytes()
        }
        MsgType::Beacon => {
            let name =
                std::str::from_utf8(&body).map_err(|_| usage("The name of a beacon must be UTF-8."))?;
            Beacon { agent_id: agent.mint, verifying_key: key.address(), name }.to_bytes()
        }
        _ => match args.value {
            Some(value) => payload::bid_payload(value, &body),
            None => body,
        },
    };
    let recipient = recipient.map(|agent| agent.mint);
    Ok(Request { msg_type: kind, recipient, conversation, payload, presign: !args.no_presign })
}

fn body(args: &Args) -> Result<Vec<u8>> {
    let content = match (&args.content, &args.content_file) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(path)) => files::read_needed(path, crate::defaults::MAX_MESSAGE as u64)?.to_vec(),
        (None, None) => Vec::new(),
    };
    let hint = args.hint.as_deref().unwrap_or_default();
    if !hint.is_empty() && hint.len() != 4 {
        return Err(usage("A format hint must have four characters.").into());
    }
    Ok([hint.as_bytes(), &content].concat())
}

fn random_conversation() -> Result<ConversationId> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| Error::RandomFailed { why: error.to_string() })?;
    Ok(ConversationId(id))
}
