//! `zx1 attest submit`.

use super::{agreed, owner_of};
use crate::agent_files::{self, Now};
use crate::context::{self, Context};
use crate::errors::{Error, Result};
use crate::input;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use serde::Serialize;
use solana_address::Address;
use solana_signer::Signer as _;
use zx1_chain::rpc::registry::{Agreement, Feedback as Filed, ReadAttestation, Sati};
use zx1_chain::sati::Outcome;
use zx1_log::LogHandle;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::interaction::task_ref;
use zx1_protocol::payload::Feedback;
use zx1_protocol::units::{Epoch, Slot};

/// Epochs back in which the conversation is looked for.
const EPOCHS: u64 = 30;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The conversation, 32 hex digits
    #[arg(long, value_name = "ID")]
    conversation: String,
    /// The rated agent
    #[arg(long, value_name = "AGENT")]
    about: String,
    /// -100 to 100; by default that of your FEEDBACK message in the log
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-100..=100))]
    score: Option<i8>,
    /// The agent's pre-signature, 128 hex digits; by default from the log
    #[arg(long, value_name = "HEX", requires = "slot")]
    presignature: Option<String>,
    /// block_ref of the ACCEPT; by default from the log
    #[arg(long, value_name = "SLOT", requires = "presignature")]
    slot: Option<u64>,
}

/// A filed rating, as it is shown.
#[derive(Serialize)]
pub(crate) struct Rated {
    address: String,
    attestation_hash: String,
    agent: String,
    counterparty: String,
    conversation: String,
    outcome: &'static str,
    content: String,
}

impl Rated {
    pub(crate) fn of(found: &ReadAttestation, conversation: &[u8; 16]) -> Self {
        let attestation = &found.attestation;
        Self {
            address: found.address.to_string(),
            attestation_hash: hex::encode(found.hash),
            agent: attestation.agent.to_string(),
            counterparty: attestation.counterparty.to_string(),
            conversation: hex::encode(conversation),
            outcome: attestation.outcome.word(),
            content: String::from_utf8_lossy(&attestation.content).into_owned(),
        }
    }
}

impl Report for Rated {
    fn draw(&self, page: &mut Page) {
        page.field("about", &self.agent)
            .field("by", &self.counterparty)
            .field("conversation", &self.conversation)
            .field("outcome", self.outcome)
            .field("content", &self.content)
            .field("address", &self.address)
            .field("attestation hash", &self.attestation_hash);
    }
}

#[derive(Serialize)]
struct Submitted {
    #[serde(flatten)]
    sent: Sent,
    score: i8,
    sati_score: u8,
    rating: Option<Rated>,
}

impl Report for Submitted {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("score", format!("{} (SATI counts from 0 to 100: {})", self.score, self.sati_score));
        if let Some(rating) = &self.rating {
            rating.draw(page);
        }
    }
}

/// SATI's scores go from 0 to 100, ours from -100 to 100.
fn sati_score(score: i8) -> u8 {
    let shifted = i16::from(score).saturating_add(100).clamp(0, 200) / 2;
    u8::try_from(shifted).unwrap_or(0)
}

/// The score and the outcome that are filed. A given score brings its own outcome: that of the FEEDBACK in the
/// log belongs to the score there, and what is filed cannot be taken back.
fn verdict(given: Option<i8>, sent: Option<&Feedback>) -> Option<(i8, Outcome)> {
    let (score, sign) = match (given, sent) {
        (Some(score), _) => (score, score.signum()),
        (None, Some(rating)) => (rating.score, i8::try_from(rating.outcome).unwrap_or(1).saturating_sub(1)),
        (None, None) => return None,
    };
    let outcome = match sign {
        -1 => Outcome::Negative,
        0 => Outcome::Neutral,
        _ => Outcome::Positive,
    };
    Some((score, outcome))
}

/// The rating that the agent itself sent in this conversation: the last one.
fn own_rating(
    log: &LogHandle,
    conversation: &[u8; 16],
    about: &Address,
    (from, to): (Epoch, Epoch),
) -> Result<Option<Feedback>> {
    let mut found = None;
    let mut entries = log.reader().entries(from, to)?;
    while let Some(stored) = entries.next_entry()? {
        let entry = stored.entry().map_err(zx1_log::LogError::from)?;
        if stored.direction != Direction::Sent || entry.header.msg_type != MsgType::Feedback {
            continue;
        }
        let feedback = Feedback::decode(entry.payload).ok();
        let fits =
            |it: &Feedback| it.conversation_id == *conversation && it.target_agent == *about.as_array();
        found = feedback.filter(fits).or(found);
    }
    Ok(found)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let conversation: [u8; 16] = input::hex_array(&args.conversation, "The conversation")?;
    let given: Option<[u8; 64]> =
        args.presignature.as_deref().map(|text| input::hex_array(text, "The pre-signature")).transpose()?;
    let about = context::find_agent(&context.config()?, &args.about)?;
    context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let sati = Sati::connect(&chain.client).await?;
        let wallet = owner_of(&sati, agent.mint).await?;
        if wallet != key.address() {
            return Err(Error::NotOwner { key: key.address().to_string(), agent: agent.shown() }.into());
        }
        let now = Now::ask(&chain).await?.epoch;
        let epochs = (Epoch(now.0.saturating_sub(EPOCHS)), now);
        let log = agent_files::open_log(context, &agent)?;
        let sent = own_rating(&log, &conversation, &about.mint, epochs)?;
        let (score, outcome) = verdict(args.score, sent.as_ref()).ok_or_else(|| {
            let why =
                "the log holds no FEEDBACK of yours about that agent, and --score gives none".to_owned();
            Error::NotAccepted { why }
        })?;
        let (slot, agent_signature) = match (args.slot, given) {
            (Some(slot), Some(signature)) => (Slot(slot), signature),
            _ => agreed(&log, &conversation, &about.mint, epochs)?,
        };
        drop(log);
        // The rated agent agreed to be rated by this agent, whose wallet files it.
        let agreement = Agreement::of_task(about.mint, agent.mint, wallet, &conversation, slot);
        let sati_score = sati_score(score);
        let words = sati.rating_message(&agreement, outcome, sati_score).await?;
        let counterparty_signature: [u8; 64] = key.keypair().sign_message(&words).into();
        let filed = Filed {
            agreement,
            outcome,
            score: sati_score,
            agent_signature,
            counterparty_signature,
            payer: key.address(),
        };
        let draft = sati.attest(&filed).await?;
        let Some(sent) = tx::run(context, &chain, &draft, &key).await? else { return Ok(()) };
        let found = sati.read_attestation(&task_ref(&conversation), about.mint, wallet).await?;
        let rating = found.as_ref().map(|found| Rated::of(found, &conversation));
        let report = Submitted { sent, score, sati_score, rating };
        report.sent.finish(context, &report).await
    })
}

#[cfg(test)]
mod tests {
    use super::{Feedback, Outcome, sati_score, verdict};

    /// A FEEDBACK as the log has it: 0 is negative, 2 is positive.
    fn logged(score: i8, outcome: u8) -> Feedback {
        Feedback {
            conversation_id: [0; 16],
            target_agent: [0; 32],
            score,
            outcome,
            is_dispute: false,
            role: 0,
        }
    }

    #[test]
    fn a_given_score_is_filed_with_its_own_outcome() {
        let good = logged(90, 2);
        assert_eq!(verdict(None, Some(&good)), Some((90, Outcome::Positive)));
        assert_eq!(verdict(Some(-80), Some(&good)), Some((-80, Outcome::Negative)));
        assert_eq!(verdict(Some(0), Some(&good)), Some((0, Outcome::Neutral)));
        assert_eq!(verdict(Some(1), Some(&logged(-90, 0))), Some((1, Outcome::Positive)));
        assert_eq!(verdict(Some(-1), None), Some((-1, Outcome::Negative)));
        assert_eq!(verdict(None, Some(&logged(5, 0))), Some((5, Outcome::Negative)));
        assert_eq!(verdict(None, None), None);
    }

    #[test]
    fn our_scores_cover_satis_whole_range() {
        assert_eq!([-100, -1, 0, 1, 50, 100].map(sati_score), [0, 49, 50, 50, 75, 100]);
    }
}
