//! `zx1 challenge answer`: the record that the challenged batch holds, with its proof. Anyone may answer.

use crate::agent_files;
use crate::chain::Chain;
use crate::commands::batch::{commitment_of, fetch};
use crate::context::{self, Agent, Context};
use crate::errors::{Error, Result};
use crate::input;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::actions::{Actions, intents};
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{Flow, Stored};
use zx1_interface::accounts::{BatchAccount, ChallengeAccount};
use zx1_interface::instruction::AnswerChallenge;
use zx1_log::{AnyStore, SavedBatches};
use zx1_protocol::bundle::Bundle;
use zx1_protocol::finder;
use zx1_protocol::units::Epoch;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The challenge's address
    #[arg(value_name = "CHALLENGE")]
    challenge: String,
    /// Where the batch's data is, when it is not saved here [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
}

#[derive(Serialize)]
struct Answered {
    #[serde(flatten)]
    sent: Sent,
    challenge: String,
    agent: String,
    epoch: u64,
    /// None where an earlier run answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u32>,
}

impl Report for Answered {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("challenge", &self.challenge)
            .field("agent", &self.agent)
            .field("epoch", self.epoch)
            .maybe("record", self.record)
            .next(format!("zx1 challenge resolve {} when its window is over", self.challenge));
    }
}

/// Where the data of a challenged batch may lie.
pub(crate) struct Data<'a> {
    /// The agent's own saved batches, when they are on this machine.
    pub(crate) saved: Option<SavedBatches>,
    /// A place that serves data.
    pub(crate) store: Option<&'a AnyStore>,
}

impl<'a> Data<'a> {
    /// What this machine has, and the place that serves.
    pub(crate) fn of(context: &Context, agent: &Agent, store: Option<&'a AnyStore>) -> Result<Self> {
        let here = agent_files::folder(context, agent)?.exists();
        let saved =
            here.then(|| agent_files::reader(context, agent)).transpose()?.map(|reader| reader.batches());
        Ok(Self { saved, store })
    }

    async fn bundle(&self, account: &BatchAccount) -> Result<Vec<u8>> {
        let epoch = Epoch(account.epoch_number);
        if let Some(bytes) = self.saved.as_ref().map(|saved| saved.bundle_bytes(epoch)).transpose()?.flatten()
        {
            let commitment = commitment_of(account);
            let same = Bundle::decode(&bytes).is_ok_and(|bundle| bundle.check_against(&commitment).is_ok());
            if same {
                return Ok(bytes);
            }
        }
        match self.store {
            Some(store) => fetch(store, account).await,
            None => Err(Error::BatchMissing { epoch: epoch.0 }.into()),
        }
    }
}

/// The answer to a challenge, and the number of the record in it.
///
/// # Errors
/// 7544 when the data holds none; 7526, 7523, 7525 when there is no data.
pub(crate) async fn find_answer(
    chain: &Chain,
    challenge: &Stored<ChallengeAccount>,
    data: &Data<'_>,
) -> Result<(AnswerChallenge, u32)> {
    let (agent, epoch) = (Address::new_from_array(challenge.agent_id), challenge.epoch_number);
    let account = chain.client.batch(agent, epoch).await?;
    let account = account.ok_or_else(|| Error::NoBatchOnChain { agent: agent.to_string(), epoch })?;
    let bytes = data.bundle(&account).await?;
    let none = || Error::NoAnswer { address: challenge.address.to_string() };
    let bundle = Bundle::decode(&bytes).map_err(|_| none())?;
    let checked = bundle.check_against(&commitment_of(&account)).map_err(|_| none())?;
    let expected = challenge.expected_record.get(..usize::from(challenge.expected_len)).unwrap_or_default();
    let answer = finder::answer(&checked, expected, challenge.value_known != 0).ok_or_else(none)?;
    let arguments = AnswerChallenge {
        leaf_index: answer.proof.index,
        merkle_proof: answer.proof.path,
        bid_value: answer.value,
        attestation: answer.attestation,
    };
    Ok((arguments, answer.entry))
}

/// The transactions that answer a challenge.
pub(crate) async fn draft(
    chain: &Chain,
    answerer: Address,
    challenge: Address,
    arguments: AnswerChallenge,
) -> Result<Box<dyn Flow>> {
    let sati = Sati::connect(&chain.client).await?;
    let actions = Actions::new(&chain.client, &sati).await?;
    Ok(Box::new(actions.answer(answerer, challenge, &arguments).await?))
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.challenge, "The challenge")?;
    let key = context.key()?;
    let store = agent_files::store(context, args.data.as_deref())?;
    let config = context.config()?;
    context.wait(async {
        let chain = context.connect().await?;
        let challenge = super::need(&chain.client, address).await?;
        // It may be an interrupted run of this command that answered.
        if let Some(sent) = tx::earlier(context, &chain, &intents::answer(&address)).await? {
            let report = Answered {
                sent,
                challenge: address.to_string(),
                agent: Address::new_from_array(challenge.agent_id).to_string(),
                epoch: challenge.epoch_number,
                record: None,
            };
            return report.sent.finish(context, &report).await;
        }
        if challenge.answered != 0 {
            return Err(Error::AlreadyAnswered { address: challenge.address.to_string() }.into());
        }
        let now = agent_files::Now::ask(&chain).await?;
        let clock = super::clock(&challenge);
        if clock.is_over(now.slot) {
            let what = format!("the window of {} ended with slot {}", challenge.address, clock.deadline().0);
            return Err(Error::WindowOver { what }.into());
        }
        let agent = Address::new_from_array(challenge.agent_id);
        let agent = context::find_agent(&config, &agent.to_string())?;
        let data = Data::of(context, &agent, store.as_ref())?;
        let (arguments, record) = find_answer(&chain, &challenge, &data).await?;
        let flow = draft(&chain, key.address(), challenge.address, arguments).await?;
        let Some(sent) = tx::run(context, &chain, flow.as_ref(), &key).await? else { return Ok(()) };
        let report = Answered {
            sent,
            challenge: challenge.address.to_string(),
            agent: agent.mint.to_string(),
            epoch: challenge.epoch_number,
            record: Some(record),
        };
        report.sent.finish(context, &report).await
    })
}
