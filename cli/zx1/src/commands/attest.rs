//! `zx1 attest`: ratings at SATI that neither side can take back (protocol.md, 7.2; decision D5).

use crate::context::{self, Context};
use crate::errors::Result;
use crate::input;
use crate::output::Page;
use crate::tx::Shown as _;
use clap::Subcommand;
use zx1_operator::attest::{Presigned, Rated, Rating, Submitted};
use zx1_protocol::units::Slot;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 attest presign --conversation ID --with AGENT --slot 4711   as envelope make does at ACCEPT
  zx1 attest submit --conversation ID --about AGENT               file your rating from your log
  zx1 attest show --conversation ID --about AGENT --by AGENT

At ACCEPT, before anybody knows how it ends, each side signs that it will be
rated for this task. That signature travels in the ACCEPT and in the first
message after it. With it the other side can file its rating, good or bad. The
rating's hash then goes into the rated agent's next batch. SATI takes the
owners' signatures only.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Sign that another agent may rate yours for a task
    Presign {
        /// Conversation id, 32 hex digits
        #[arg(long, value_name = "ID")]
        conversation: String,
        /// Agent that will rate
        #[arg(long, value_name = "AGENT")]
        with: String,
        /// block_ref of the ACCEPT message
        #[arg(long, value_name = "SLOT")]
        slot: u64,
    },
    /// File a rating of the counterparty at SATI
    Submit(SubmitArgs),
    /// Show a filed rating
    Show {
        /// Conversation id, 32 hex digits
        #[arg(long, value_name = "ID")]
        conversation: String,
        /// Agent that is rated
        #[arg(long, value_name = "AGENT")]
        about: String,
        /// Agent that rated
        #[arg(long, value_name = "AGENT")]
        by: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct SubmitArgs {
    /// Conversation id, 32 hex digits
    #[arg(long, value_name = "ID")]
    conversation: String,
    /// Agent that is rated
    #[arg(long, value_name = "AGENT")]
    about: String,
    /// Score from -100 to 100 [default: that of your FEEDBACK message in the log]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-100..=100))]
    score: Option<i8>,
    /// Rated agent's pre-signature, 128 hex digits [default: from the log]
    #[arg(long, value_name = "HEX", requires = "slot")]
    presignature: Option<String>,
    /// block_ref of the ACCEPT message [default: from the log]
    #[arg(long, value_name = "SLOT", requires = "presignature")]
    slot: Option<u64>,
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Presign { conversation, with, slot } => presign(context, &conversation, &with, Slot(slot)),
        Action::Submit(args) => submit(&args, context),
        Action::Show { conversation, about, by } => show(context, &conversation, &about, &by),
    }
}

fn draw_presigned(presigned: &Presigned, page: &mut Page) {
    page.field("agent", presigned.agent)
        .field("rated by", presigned.counterparty)
        .field("conversation", presigned.conversation)
        .field("accepted in slot", presigned.slot)
        .field("signature", &presigned.signature);
}

fn presign(context: &Context, conversation: &str, with: &str, slot: Slot) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let conversation = input::conversation(conversation)?;
    let other = context::find_agent(&context.config()?, with)?;
    let presigned = context.wait(async {
        let operator = context.operator_of(&agent).await?;
        Ok(operator.presign(&agent, &key, &other, &conversation, slot).await?)
    })?;
    context.show(&presigned, draw_presigned)
}

fn draw_rated(rated: &Rated, page: &mut Page) {
    page.field("about", rated.agent)
        .field("by", &rated.counterparty)
        .field("conversation", rated.conversation)
        .field("outcome", rated.outcome)
        .field("content", &rated.content)
        .field("address", &rated.address)
        .field("attestation hash", &rated.attestation_hash);
}

fn show(context: &Context, conversation: &str, about: &str, by: &str) -> Result<()> {
    let conversation = input::conversation(conversation)?;
    let config = context.config()?;
    let (about, by) = (context::find_agent(&config, about)?, context::find_agent(&config, by)?);
    let rated = context
        .wait(async { Ok(context.operator().await?.filed_rating(&conversation, &about, &by).await?) })?;
    context.show(&rated, draw_rated)
}

fn draw_submitted(submitted: &Submitted, page: &mut Page) {
    submitted.sent.draw(page);
    let (score, sati) = (submitted.score, submitted.sati_score);
    page.field("score", format!("{score} (SATI counts from 0 to 100: {sati})"));
    if let Some(rating) = &submitted.rating {
        draw_rated(rating, page);
    }
}

fn submit(args: &SubmitArgs, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let conversation = input::conversation(&args.conversation)?;
    let given: Option<[u8; 64]> =
        args.presignature.as_deref().map(|text| input::hex_array(text, "The pre-signature")).transpose()?;
    let about = context::find_agent(&context.config()?, &args.about)?;
    let agreed = args.slot.map(Slot).zip(given);
    let rating = Rating { conversation, about: &about, score: args.score, agreed };
    context.wait(async {
        let operator = context.spender_of(&agent).await?;
        let submitted = operator.submit_rating(&agent, &key, &rating).await?;
        context.finish(submitted, |it| &it.sent, draw_submitted).await
    })
}
