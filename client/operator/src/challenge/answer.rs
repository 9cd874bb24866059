//! Answering a challenge: the record that the challenged batch holds, with its proof. Anyone may answer.

use super::{OPEN, clock, outcome_name};
use crate::batch::{commitment_of, fetch};
use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::lookup::roomy;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{Flow, Stored};
use zx1_interface::accounts::{BatchAccount, ChallengeAccount};
use zx1_interface::instruction::AnswerChallenge;
use zx1_log::AnyStore;
use zx1_protocol::amounts::Amounts;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::finder;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, MicroUsdc};

/// An answered challenge.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Answered {
    #[serde(flatten)]
    pub sent: Sent,
    pub challenge: String,
    pub agent: AgentId,
    pub epoch: u64,
    /// The record's number in the batch; none where an earlier run answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u32>,
    /// What the answer pays out, of the challenger's stake; none where an earlier run answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid: Option<Paid>,
}

/// Where the stake of a lost challenge goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Paid {
    pub to_stake_micro_usdc: MicroUsdc,
    pub to_answerer_micro_usdc: MicroUsdc,
    pub to_treasury_micro_usdc: MicroUsdc,
}

impl Operator {
    /// Answers a challenge, from the batch that is saved here or from the place that serves its data. That settles
    /// it, and pays out.
    ///
    /// # Errors
    /// 7543 when there is none, 7545 when it is settled, 7547 when its window is over, 7544 when the data
    /// holds no answer, 7523 and 7525 when there is no data.
    pub async fn answer_challenge(
        &self,
        address: Address,
        key: &Wallet,
        store: Option<&AnyStore>,
    ) -> Result<Attempt<Answered>> {
        let challenge = self.challenge_at(address).await?;
        let agent = Agent { name: None, mint: AgentId(challenge.agent_id) };
        let answered = |sent, record, paid| Answered {
            sent,
            challenge: address.to_string(),
            agent: agent.mint,
            epoch: challenge.epoch_number,
            record,
            paid,
        };
        // It may be an interrupted run of this that answered.
        if let Some(sent) = self.earlier(&intents::answer(&address)).await? {
            return Ok(Attempt::Done(answered(sent, None, None)));
        }
        let address = address.to_string();
        if challenge.outcome != OPEN {
            let outcome = outcome_name(challenge.outcome);
            return Err(Refusal::AlreadySettled { address, outcome }.into());
        }
        let (now, clock) = (self.now().await?.slot, clock(&challenge));
        if clock.is_over(now) {
            return Err(Refusal::WindowOver { address, slot: clock.deadline().0 }.into());
        }
        let (arguments, record) = self.find_answer(&challenge, &agent, store).await?;
        let paid = self.paid_by(&challenge).await?;
        let flow = self.answer_flow(&challenge, key, &arguments).await?;
        let sent = done!(self.send(flow.as_ref(), key).await?);
        Ok(Attempt::Done(answered(sent, Some(record), Some(paid))))
    }

    /// What an answer pays out now. An era of which nothing is left takes nothing.
    async fn paid_by(&self, challenge: &ChallengeAccount) -> Result<Paid> {
        let config = self.client().config().await?;
        let lost = Amounts::of(&config).lost(challenge.stake_usdc);
        let stake = self.client().stake(AgentId(challenge.agent_id), challenge.era).await?;
        let lives = stake.is_some_and(|stake| stake.stake_usdc > 0);
        let (to_stake, rest) = if lives { (lost.stake, 0) } else { (0, lost.stake) };
        Ok(Paid {
            to_stake_micro_usdc: MicroUsdc(to_stake),
            to_answerer_micro_usdc: MicroUsdc(lost.answerer),
            to_treasury_micro_usdc: MicroUsdc(lost.treasury.saturating_add(rest)),
        })
    }

    /// The same, for what runs by itself.
    pub(crate) async fn answer_unasked(
        &self,
        challenge: &Stored<ChallengeAccount>,
        agent: &Agent,
        key: &Wallet,
        store: Option<&AnyStore>,
    ) -> Result<Sent> {
        let (arguments, _) = self.find_answer(challenge, agent, store).await?;
        let flow = self.answer_flow(challenge, key, &arguments).await?;
        self.send_unasked(flow.as_ref(), key).await
    }

    async fn answer_flow(
        &self,
        challenge: &Stored<ChallengeAccount>,
        key: &Wallet,
        arguments: &AnswerChallenge,
    ) -> Result<Box<dyn Flow>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        Ok(Box::new(roomy(actions.answer(key.address(), challenge.address, arguments).await?)))
    }

    /// The answer to a challenge, and the number of the record in it.
    async fn find_answer(
        &self,
        challenge: &Stored<ChallengeAccount>,
        agent: &Agent,
        store: Option<&AnyStore>,
    ) -> Result<(AnswerChallenge, u32)> {
        let (mint, epoch) = (AgentId(challenge.agent_id), challenge.epoch_number);
        let account = self.client().batch(mint, epoch).await?;
        let account = account.ok_or_else(|| Refusal::NoBatchOnChain { agent: mint.to_string(), epoch })?;
        let bytes = self.data_of(&account, agent, store).await?;
        let none = || Refusal::NoAnswer { address: challenge.address.to_string() };
        let bundle = Bundle::decode(&bytes).map_err(|_| none())?;
        let checked = bundle.check_against(&commitment_of(&account)).map_err(|_| none())?;
        let expected = usize::from(challenge.expected_len);
        let expected = challenge.expected_record.get(..expected).unwrap_or_default();
        let answer = finder::answer(&checked, expected, challenge.value_known != 0).ok_or_else(none)?;
        let arguments = AnswerChallenge {
            leaf_index: answer.proof.index,
            merkle_proof: answer.proof.path,
            bid_value: answer.value,
            attestation: answer.attestation,
        };
        Ok((arguments, answer.entry))
    }

    /// The data of a batch on chain: saved here, or from the place.
    ///
    /// # Errors
    /// 7523 and 7525 when there is none.
    pub(crate) async fn data_of(
        &self,
        account: &BatchAccount,
        agent: &Agent,
        store: Option<&AnyStore>,
    ) -> Result<Vec<u8>> {
        let epoch = Epoch(account.epoch_number);
        if crate::agent_folder(&self.home, agent).exists()
            && let Some(bytes) = self.log_reader(agent).batches().bundle_bytes(epoch)?
        {
            let commitment = commitment_of(account);
            if Bundle::decode(&bytes).is_ok_and(|bundle| bundle.check_against(&commitment).is_ok()) {
                return Ok(bytes);
            }
        }
        match store {
            Some(store) => fetch(store, account).await,
            None => Err(Refusal::BatchMissing { epoch: epoch.0 }.into()),
        }
    }
}
