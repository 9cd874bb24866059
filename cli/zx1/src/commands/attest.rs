//! `zx1 attest`: ratings at SATI that neither side can take back (protocol.md, 7.2; decision D5).

mod submit;

use crate::chain::Chain;
use crate::commands::envelope::{Conversation, conversation_of};
use crate::context::{self, Agent, Context};
use crate::errors::{Error, Result};
use crate::input;
use crate::output::{Page, Report};
use clap::Subcommand;
use serde::Serialize;
use solana_address::Address;
use solana_signer::Signer as _;
use zx1_chain::rpc::registry::{Agreement, IdentityRegistry as _, Sati};
use zx1_log::LogHandle;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::interaction::task_ref;
use zx1_protocol::payload::Feedback;
use zx1_protocol::units::{Epoch, Slot};

pub(crate) use submit::Rated;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 attest presign --conversation ID --with AGENT --slot 4711   what envelope make does at ACCEPT
  zx1 attest submit --conversation ID --about AGENT               file your rating from your log
  zx1 attest show --conversation ID --about AGENT --by AGENT

At ACCEPT, before anybody knows how it ends, each side signs that it will be
rated for this task. That signature travels in the ACCEPT and in the first
message after it. With it the other side can file its rating, good or bad. The
rating's hash then goes into the rated agent's next batch. SATI takes the
owners' signatures only.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Sign that the agent may be rated for a task
    Presign {
        /// The conversation, 32 hex digits
        #[arg(long, value_name = "ID")]
        conversation: String,
        /// The agent that will rate
        #[arg(long, value_name = "AGENT")]
        with: String,
        /// block_ref of the ACCEPT
        #[arg(long, value_name = "SLOT")]
        slot: u64,
    },
    /// File a rating of the other side at SATI
    Submit(submit::Args),
    /// Show a filed rating
    Show {
        /// The conversation, 32 hex digits
        #[arg(long, value_name = "ID")]
        conversation: String,
        /// The rated agent
        #[arg(long, value_name = "AGENT")]
        about: String,
        /// The agent that rated
        #[arg(long, value_name = "AGENT")]
        by: String,
    },
}

/// Does it.
pub fn run(args: Args, context: &Context) -> Result<()> {
    match args.action {
        Action::Presign { conversation, with, slot } => presign(context, &conversation, &with, Slot(slot)),
        Action::Submit(args) => submit::run(&args, context),
        Action::Show { conversation, about, by } => show(context, &conversation, &about, &by),
    }
}

/// The wallet of an agent's owner.
///
/// # Errors
/// 7584 when the agent is unknown or retired.
pub(crate) async fn owner_of(sati: &Sati, agent: Address) -> Result<Address> {
    let record = sati.look_up(agent).await?;
    let owner = record.and_then(|record| record.owner);
    owner.ok_or_else(|| Error::NotRegistered { agent: agent.to_string() }.into())
}

#[derive(Serialize)]
struct Presigned {
    agent: String,
    counterparty: String,
    conversation: String,
    slot: u64,
    interaction_hash: String,
    signature: String,
}

impl Report for Presigned {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.agent)
            .field("rated by", &self.counterparty)
            .field("conversation", &self.conversation)
            .field("accepted in slot", self.slot)
            .field("signature", &self.signature);
    }
}

fn presign(context: &Context, conversation: &str, with: &str, slot: Slot) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let conversation: [u8; 16] = input::hex_array(conversation, "The conversation")?;
    let other = context::find_agent(&context.config()?, with)?;
    let presigned = context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let sati = Sati::connect(&chain.client).await?;
        if owner_of(&sati, agent.mint).await? != key.address() {
            return Err(Error::NotOwner { key: key.address().to_string(), agent: agent.shown() }.into());
        }
        let wallet = owner_of(&sati, other.mint).await?;
        let agreement = Agreement::of_task(agent.mint, other.mint, wallet, &conversation, slot);
        let message = sati.agreement_message(&agreement);
        let signature: [u8; 64] = key.keypair().sign_message(&message).into();
        Ok(Presigned {
            agent: agent.mint.to_string(),
            counterparty: other.mint.to_string(),
            conversation: hex::encode(conversation),
            slot: slot.0,
            interaction_hash: hex::encode(agreement.data_hash),
            signature: hex::encode(signature),
        })
    })?;
    context.print(&presigned)
}

fn show(context: &Context, conversation: &str, about: &str, by: &str) -> Result<()> {
    let conversation: [u8; 16] = input::hex_array(conversation, "The conversation")?;
    let config = context.config()?;
    let (about, by) = (context::find_agent(&config, about)?, context::find_agent(&config, by)?);
    let rated = context.wait(async {
        let chain = context.connect().await?;
        let sati = Sati::connect(&chain.client).await?;
        let wallet = owner_of(&sati, by.mint).await?;
        let found = sati.read_attestation(&task_ref(&conversation), about.mint, wallet).await?;
        let found = found.ok_or_else(|| Error::NotFiled { by: by.shown(), about: about.mint.to_string() })?;
        Ok(Rated::of(&found, &conversation))
    })?;
    context.print(&rated)
}

/// Looks up the attestations of the ratings that the agent received in these epochs, so that their hashes go
/// into the batch.
pub(crate) async fn collect(chain: &Chain, agent: &Agent, log: &LogHandle, covered: Covered) -> Result<()> {
    let mut open = Vec::new();
    let mut entries = log.reader().entries(covered.from, covered.to)?;
    while let Some(stored) = entries.next_entry()? {
        if stored.direction != Direction::Received {
            continue;
        }
        let entry = stored.entry().map_err(zx1_log::LogError::from)?;
        if entry.header.msg_type != MsgType::Feedback {
            continue;
        }
        let Ok(feedback) = Feedback::decode(entry.payload) else { continue };
        let known = log.attestation(&feedback.conversation_id, entry.header.sender)?.is_some();
        if feedback.target_agent == *agent.mint.as_array() && !known {
            open.push((feedback.conversation_id, *entry.header.sender));
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let sati = Sati::connect(&chain.client).await?;
    for (conversation, rater) in open {
        let record = sati.look_up(Address::new_from_array(rater)).await?;
        let Some(wallet) = record.and_then(|record| record.owner) else { continue };
        let found = sati.read_attestation(&task_ref(&conversation), agent.mint, wallet).await?;
        if let Some(found) = found {
            log.put_attestation(&conversation, &rater, found.hash)?;
        }
    }
    Ok(())
}

/// The slot of the ACCEPT between two agents, and the pre-signature of `rated`, from what the log holds.
///
/// # Errors
/// 7580 without an ACCEPT, 7581 without the pre-signature.
pub(crate) fn agreed(
    log: &LogHandle,
    conversation: &[u8; 16],
    rated: &Address,
    epochs: (Epoch, Epoch),
) -> Result<(Slot, [u8; 64])> {
    let Conversation { accepted, presigned } = conversation_of(log, conversation, rated.as_array(), epochs)?;
    let why = "the log holds no ACCEPT of this conversation with that agent".to_owned();
    let slot = accepted.ok_or(Error::NotAccepted { why })?;
    let why = "the message that should carry it is not in the log, or carries none".to_owned();
    Ok((slot, presigned.ok_or(Error::NoPresignature { why })?))
}
