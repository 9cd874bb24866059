//! Submitting a prepared challenge: it locks the challenger's stake.

use super::{Prepared, clock};
use crate::done;
use crate::error::Result;
use crate::operator::{Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::rpc::actions::{Actions, ChallengeRequest, challenge_address};
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::ids::AgentId;

/// A submitted challenge.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Submitted {
    #[serde(flatten)]
    pub sent: Sent,
    pub challenge: String,
    pub agent: AgentId,
    pub epoch: u64,
    /// What the batch is said to lack.
    pub ground: &'static str,
    /// The last slot in which it can be answered.
    pub answerable_through_slot: Option<u64>,
}

impl Operator {
    /// Submits a challenge.
    pub async fn submit_challenge(&self, prepared: Prepared, key: &Wallet) -> Result<Attempt<Submitted>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = Actions::new(self.client(), &sati).await?;
        let request = ChallengeRequest {
            challenger: key.address(),
            agent: prepared.agent,
            epoch: prepared.epoch,
            ground: prepared.ground,
            with: prepared.with,
        };
        let address = challenge_address(&request)?;
        let flow = actions.challenge(&request).await?;
        let sent = done!(self.send(flow.as_ref(), key).await?);
        let challenge = self.client().challenge(address).await?;
        Ok(Attempt::Done(Submitted {
            sent,
            challenge: address.to_string(),
            agent: prepared.agent,
            epoch: prepared.epoch,
            ground: prepared.ground.name(),
            answerable_through_slot: challenge.map(|one| clock(&one).deadline().0),
        }))
    }
}
