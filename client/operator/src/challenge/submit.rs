//! Submitting a prepared challenge: ranks, evidence, and the challenger's stake for each claim.

use super::{Prepared, clock};
use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::rpc::actions::{ChallengeRequest, challenge_addresses};
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::amounts::Amounts;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// A submitted challenge, with one account for each claim.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Submitted {
    #[serde(flatten)]
    pub sent: Sent,
    pub agent: AgentId,
    pub epoch: u64,
    pub challenges: Vec<Opened>,
    /// What each of them puts up.
    pub stake_micro_usdc: MicroUsdc,
    /// What a rank's deposit is, in lamports; it returns with the draft.
    pub deposit_lamports: u64,
}

/// A claim that is open.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Opened {
    pub challenge: String,
    /// What the batch is said to lack.
    pub ground: &'static str,
    /// The place in the era's order.
    pub rank: Option<u32>,
    /// Whether the claim is this wallet's; another's with a lower rank stands in its place.
    pub ours: Option<bool>,
    /// The last slot in which it can be answered; none when nothing can answer it.
    pub answerable_through_slot: Option<u64>,
}

impl Operator {
    /// Takes a rank for every claim, writes and seals the evidence, and opens the claims. A run that was
    /// interrupted goes on where it stopped.
    ///
    /// # Errors
    /// 7526 without such a batch, 7551 when nothing is left to win.
    pub async fn submit_challenge(&self, prepared: Prepared, key: &Wallet) -> Result<Attempt<Submitted>> {
        let Prepared { agent, epoch, claims } = prepared;
        let batch = self.client().batch(agent, epoch).await?;
        let batch = batch.ok_or_else(|| Refusal::NoBatchOnChain { agent: agent.to_string(), epoch })?;
        let stake = self.client().stake(agent, batch.era).await?;
        if stake.is_none_or(|stake| stake.stake_usdc == 0 && stake.pot_usdc == 0) {
            return Err(Refusal::EraEmpty { agent: agent.to_string(), era: batch.era }.into());
        }
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        let amounts = Amounts::of(actions.config());
        let grounds: Vec<&'static str> = claims.iter().map(|claim| claim.ground.name()).collect();
        let request = ChallengeRequest { challenger: key.address(), agent, epoch, claims };
        let addresses = challenge_addresses(&request)?;
        let flow = actions.challenge(&request).await?;
        let sent = done!(self.send(flow.as_ref(), key).await?);
        let mut challenges = Vec::new();
        for (address, ground) in addresses.into_iter().zip(grounds) {
            let account = self.client().challenge(address).await?;
            let answerable = account.as_ref().filter(|one| one.expected_len > 0);
            challenges.push(Opened {
                challenge: address.to_string(),
                ground,
                rank: account.as_ref().map(|one| one.rank),
                ours: account.as_ref().map(|one| one.challenger == key.address().to_bytes()),
                answerable_through_slot: answerable.map(|one| clock(one).deadline().0),
            });
        }
        Ok(Attempt::Done(Submitted {
            sent,
            agent,
            epoch,
            challenges,
            stake_micro_usdc: MicroUsdc(amounts.challenge_stake),
            deposit_lamports: amounts.rank_deposit,
        }))
    }
}
