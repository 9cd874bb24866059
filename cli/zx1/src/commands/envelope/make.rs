//! `zx1 envelope make`.

use super::{Kind, keys_of, type_name};
use crate::agent_files::{self, Now, refused};
use crate::chain::Chain;
use crate::context::{self, Agent, Context};
use crate::errors::{Error, Result};
use crate::files;
use crate::input;
use crate::keys::Key;
use crate::output::{self, Page, Report};
use clap::ValueEnum;
use serde::Serialize;
use solana_address::Address;
use solana_signer::Signer as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_chain::rpc::registry::{Agreement, Sati};
use zx1_log::{LogError, LogHandle};
use zx1_operator::identity::owner_of;
use zx1_protocol::beacon::Beacon;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::channel_of;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::hash::{Keccak as _, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::{self, BidType, Feedback, NotarizeBid};
use zx1_protocol::units::{Epoch, Slot};

/// Epochs back in which the ACCEPT of a conversation is looked for.
const CONVERSATION_EPOCHS: u64 = 7;
/// How long the next slot is waited for, and how often it is asked for.
const SLOT_PATIENCE: Duration = Duration::from_secs(20);
const SLOT_PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the message is
    #[arg(value_enum, value_name = "TYPE")]
    kind: Kind,
    /// Agent that receives it: a local name or a mint; broadcasts have none
    #[arg(long, value_name = "AGENT")]
    to: Option<String>,
    /// Conversation, 32 hex digits; a random one begins a new one
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Value of the deal, in units that the agents agree on
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    value: Option<i128>,
    /// Content as text; the name of a beacon
    #[arg(long, value_name = "TEXT", conflicts_with = "content_file")]
    content: Option<String>,
    /// Content from a file
    #[arg(long, value_name = "PATH")]
    content_file: Option<PathBuf>,
    /// Four characters that name the content's format
    #[arg(long, value_name = "HINT")]
    hint: Option<String>,
    /// FEEDBACK: the agent that is rated
    #[arg(long, value_name = "AGENT")]
    about: Option<String>,
    /// FEEDBACK: -100 to 100
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i8).range(-100..=100))]
    score: Option<i8>,
    /// FEEDBACK: how it went; by default what the score says
    #[arg(long, value_enum)]
    outcome: Option<OutcomeArg>,
    /// FEEDBACK: what the agent was
    #[arg(long, value_enum, default_value = "participant")]
    role: RoleArg,
    /// FEEDBACK: the outcome is contested
    #[arg(long)]
    dispute: bool,
    /// NOTARIZE_BID: an offer of a notary, not a request for one
    #[arg(long)]
    offer: bool,
    /// Leave out the pre-signature for the counterparty's SATI rating
    #[arg(long)]
    no_presign: bool,
    /// File for the message; without it, it is printed in hex
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
struct Made {
    #[serde(rename = "type")]
    kind: String,
    sender: String,
    recipient: Option<String>,
    conversation: ConversationId,
    nonce: u64,
    slot: u64,
    epoch: u64,
    index: u32,
    leaf: String,
    payload_hash: String,
    presigned: bool,
    file: Option<String>,
    envelope: String,
}

impl Report for Made {
    fn draw(&self, page: &mut Page) {
        page.field("type", &self.kind)
            .field("from", &self.sender)
            .field("to", self.recipient.as_deref().unwrap_or("everybody"))
            .field("conversation", self.conversation)
            .field("slot", self.slot)
            .field("logged", format!("epoch {}, entry {}", self.epoch, self.index))
            .field("leaf", &self.leaf);
        if self.presigned {
            page.field("pre-signed", "yes, for the counterparty's SATI rating");
        }
        match &self.file {
            Some(file) => page
                .field("written to", file)
                .next(format!("give it to the receiver, who checks it with zx1 envelope check {file}")),
            None => page.raw(&self.envelope),
        };
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let config = context.config()?;
    let other =
        |named: &Option<String>| named.as_ref().map(|named| context::find_agent(&config, named)).transpose();
    let wish = Wish::of(args, other(&args.to)?, other(&args.about)?)?;
    let taken = |path: &Path| Error::Exists { path: files::shown(path) };
    if let Some(path) = &args.out {
        files::check_writable(path, taken(path))?;
    }
    let (cbor, mut made) = context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        check_signer(&chain, &agent, &key).await?;
        let log = agent_files::open_log(context, &agent)?;
        make(&chain, &agent, &key, &log, &wish).await
    })?;
    let written = args.out.as_ref().map(|path| files::create_private(path, &cbor, taken(path)));
    if let Some(Ok(())) = written {
        made.file = args.out.as_deref().map(files::shown);
    }
    // The message is logged by now: where the file cannot be written, it is at least printed.
    context.print(&made)?;
    written.unwrap_or(Ok(()))
}

/// Refuses to sign with a key that no receiver would accept: the message would be logged for nothing.
async fn check_signer(chain: &Chain, agent: &Agent, key: &Key) -> Result<()> {
    let sati = Sati::connect(&chain.client).await?;
    let keys = keys_of(&sati, agent.mint).await?;
    if keys.is_empty() {
        return Err(zx1_operator::Refusal::NotRegistered { agent: agent.shown() }.into());
    }
    if keys.iter().any(|known| known.to_bytes() == key.address().to_bytes()) {
        return Ok(());
    }
    Err(zx1_operator::Refusal::NotASigner { key: key.address().to_string(), agent: agent.shown() }.into())
}

/// What is to be said, checked as far as the command line tells.
struct Wish<'a> {
    args: &'a Args,
    recipient: Option<Agent>,
    about: Option<Agent>,
    conversation: ConversationId,
    body: Vec<u8>,
}

impl<'a> Wish<'a> {
    fn of(args: &'a Args, recipient: Option<Agent>, about: Option<Agent>) -> Result<Self> {
        let usage = |message: &str| Error::Usage { message: message.to_owned() };
        let kind = args.kind;
        if kind.is_broadcast() == recipient.is_some() {
            return Err(usage(if recipient.is_some() {
                "A message of this type goes to everybody: leave --to out."
            } else {
                "A message of this type goes to one agent: name it with --to."
            })
            .into());
        }
        if kind.has_value() != args.value.is_some() {
            return Err(usage(if args.value.is_some() {
                "Only propose, counter and accept have a --value."
            } else {
                "A deal has a value: give --value, in the units that you agreed on."
            })
            .into());
        }
        let rates = about.is_some() && args.score.is_some();
        if (kind == Kind::Feedback) != rates || (about.is_some() != args.score.is_some()) {
            return Err(usage("A feedback message, and no other, has --about and --score.").into());
        }
        let conversation = match &args.conversation {
            Some(text) => ConversationId(input::hex_array(text, "The conversation")?),
            None if kind.begins() => random_conversation()?,
            None => {
                return Err(
                    usage("This message belongs to a conversation: name it with --conversation.").into()
                );
            }
        };
        Ok(Self { args, recipient, about, conversation, body: body(args)? })
    }

    fn recipient(&self) -> AgentId {
        self.recipient.as_ref().map_or(BROADCAST, |agent| agent.mint)
    }

    /// The payload, with the pre-signature where it has one.
    fn payload(&self, agent: &Agent, key: &Key, presignature: Option<[u8; 64]>) -> Result<Vec<u8>> {
        let args = self.args;
        let payload = match args.kind {
            Kind::Feedback => {
                let score = args.score.unwrap_or_default();
                let about = self.about.as_ref().map_or(BROADCAST, |agent| agent.mint);
                let feedback = Feedback {
                    conversation_id: self.conversation,
                    target_agent: about,
                    score,
                    outcome: outcome(args.outcome, score),
                    is_dispute: args.dispute,
                    role: args.role as u8,
                };
                feedback.to_cbor().map_err(|error| refused(7332, &error, "give --score from -100 to 100"))?
            }
            Kind::NotarizeBid => {
                let bid_type = if args.offer { BidType::Offer } else { BidType::Request };
                NotarizeBid { bid_type, conversation_id: self.conversation, terms: &self.body }.to_bytes()
            }
            Kind::Beacon => {
                let name = std::str::from_utf8(&self.body)
                    .map_err(|_| Error::Usage { message: "A beacon's name is text.".to_owned() })?;
                let verifying_key = key.address();
                Beacon { agent_id: agent.mint, verifying_key, name }.to_bytes()
            }
            _ => {
                let bare = match args.value {
                    Some(value) => payload::bid_payload(value, &self.body),
                    None => self.body.clone(),
                };
                match presignature {
                    Some(presignature) => payload::append_presignature(bare, &presignature),
                    None => bare,
                }
            }
        };
        Ok(payload)
    }
}

/// 0 negative, 1 neutral, 2 positive.
fn outcome(given: Option<OutcomeArg>, score: i8) -> u8 {
    match given {
        Some(outcome) => outcome as u8,
        None => match score.signum() {
            -1 => OutcomeArg::Negative as u8,
            0 => OutcomeArg::Neutral as u8,
            _ => OutcomeArg::Positive as u8,
        },
    }
}

fn body(args: &Args) -> Result<Vec<u8>> {
    let content = match (&args.content, &args.content_file) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(path)) => files::read_needed(path, crate::defaults::MAX_MESSAGE as u64)?.to_vec(),
        (None, None) => Vec::new(),
    };
    let hint = args.hint.as_deref().unwrap_or_default();
    if !hint.is_empty() && hint.len() != 4 {
        return Err(Error::Usage { message: "A format hint has four characters.".to_owned() }.into());
    }
    Ok([hint.as_bytes(), &content].concat())
}

fn random_conversation() -> Result<ConversationId> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| Error::RandomFailed { why: error.to_string() })?;
    Ok(ConversationId(id))
}

/// Signs and logs the message. The nonce and the log entry are on disk before anybody sees the bytes.
async fn make(
    chain: &Chain,
    agent: &Agent,
    key: &Key,
    log: &LogHandle,
    wish: &Wish<'_>,
) -> Result<(Vec<u8>, Made)> {
    let msg_type = wish.args.kind.msg_type();
    let mut now = Now::ask(chain).await?;
    let accepted = if wish.args.no_presign { None } else { accepted_slot(log, wish, now)? };
    let presigns = !wish.args.no_presign && (msg_type == MsgType::Accept || accepted.is_some());
    let presigner = match (&wish.recipient, presigns) {
        (Some(other), true) => presigner(chain, agent, key, other).await?,
        _ => None,
    };
    let deadline = tokio::time::Instant::now() + SLOT_PATIENCE;
    loop {
        // An ACCEPT fixes the slot itself; an answer to one takes the slot of that one (decision D5).
        let slot = if msg_type == MsgType::Accept { now.slot } else { accepted.unwrap_or(now.slot) };
        let presignature = presigner.as_ref().map(|(sati, other, wallet)| {
            let agreement = Agreement::of_task(agent.mint, *other, *wallet, &wish.conversation, slot);
            <[u8; 64]>::from(key.keypair().sign_message(&sati.agreement_message(&agreement)))
        });
        let payload = wish.payload(agent, key, presignature)?;
        let mut draft = Draft {
            msg_type,
            sender: agent.mint,
            recipient: wish.recipient(),
            timestamp: now.micros,
            block_ref: now.slot,
            nonce: 0,
            conversation_id: wish.conversation,
            payload: &payload,
        };
        // Asked before a nonce is spent.
        let sample = sign(&draft, |_| [0; 64])?;
        let sample = Envelope::decode(&sample).map_err(zx1_log::LogError::from)?;
        match log.check_own(&sample, now.micros) {
            // Decision C6: the same deal again waits for another slot.
            Err(LogError::DuplicateBid { .. }) if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(SLOT_PAUSE).await;
                now = Now::ask(chain).await?;
                continue;
            }
            checked => checked?,
        }
        draft.nonce = log.reserve_nonce(channel_of(msg_type), now.micros)?;
        let cbor = sign(&draft, |bytes| key.keypair().sign_message(bytes).into())?;
        let envelope = Envelope::decode(&cbor).map_err(zx1_log::LogError::from)?;
        let appended = log.append_own(&envelope, now.micros)?;
        let made = Made {
            kind: type_name(msg_type),
            sender: agent.mint.to_string(),
            recipient: wish.recipient.as_ref().map(|agent| agent.mint.to_string()),
            conversation: wish.conversation,
            nonce: draft.nonce,
            slot: now.slot.0,
            epoch: appended.epoch.0,
            index: appended.index,
            leaf: hex::encode(appended.leaf),
            payload_hash: hex::encode(Sha3::hashv(&[&payload])),
            presigned: presigner.is_some(),
            file: None,
            envelope: hex::encode(&cbor),
        };
        return Ok((cbor, made));
    }
}

/// What a pre-signature needs. SATI takes the owner's only, so a delegate's message goes without, and says so.
async fn presigner(
    chain: &Chain,
    agent: &Agent,
    key: &Key,
    other: &Agent,
) -> Result<Option<(Sati, AgentId, Address)>> {
    let sati = Sati::connect(&chain.client).await?;
    if owner_of(&sati, agent.mint).await? != key.address() {
        output::warn("a delegate cannot pre-sign for SATI (decision D5), so the message goes without it");
        return Ok(None);
    }
    let wallet = owner_of(&sati, other.mint).await?;
    Ok(Some((sati, other.mint, wallet)))
}

fn sign(draft: &Draft<'_>, signer: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<Vec<u8>> {
    draft.sign(signer).map_err(|error| refused(error.code(), &error, "send less, or the bulk by its hash"))
}

/// The slot of the counterparty's ACCEPT in this conversation, when this is the first message after it: it
/// then carries the pre-signature (decision D5).
fn accepted_slot(log: &LogHandle, wish: &Wish<'_>, now: Now) -> Result<Option<Slot>> {
    let opaque = !wish.args.kind.msg_type().payload_is_logged() && !wish.args.kind.is_broadcast();
    if !opaque || wish.args.kind == Kind::Accept {
        return Ok(None);
    }
    let from = Epoch(now.epoch.0.saturating_sub(CONVERSATION_EPOCHS));
    let mut entries = log.reader().entries(from, now.epoch)?;
    let mut accepted = None;
    while let Some(stored) = entries.next_entry()? {
        let entry: LogEntry<'_> = stored.entry().map_err(zx1_log::LogError::from)?;
        let header = entry.header;
        if header.conversation() != wish.conversation {
            continue;
        }
        match stored.direction {
            Direction::Received
                if header.msg_type == MsgType::Accept && header.sender() == wish.recipient() =>
            {
                accepted = Some(header.block_ref);
            }
            Direction::Sent if header.recipient() == wish.recipient() => accepted = None,
            _ => {}
        }
    }
    Ok(accepted)
}
