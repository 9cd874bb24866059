//! Resolving and closing challenges: anyone may, and the chain decides who is paid.

use super::clock;
use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Draft;
use zx1_chain::rpc::actions::{Actions, intents};
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// A settled challenge.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Resolved {
    #[serde(flatten)]
    pub sent: Sent,
    pub challenge: String,
    pub agent: AgentId,
    pub epoch: u64,
    pub succeeded: bool,
    pub stake_before_micro_usdc: MicroUsdc,
    pub stake_after_micro_usdc: MicroUsdc,
}

/// A closed challenge.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Closed {
    #[serde(flatten)]
    pub sent: Sent,
    pub challenge: String,
    /// The challenger's rent; none where an earlier run closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rent_lamports: Option<u64>,
}

impl Operator {
    /// Settles a challenge whose window is over.
    ///
    /// # Errors
    /// 7543 when there is none, 7546 while its window is open.
    pub async fn resolve_challenge(&self, address: Address, key: &Wallet) -> Result<Attempt<Resolved>> {
        let challenge = self.challenge_at(address).await?;
        let now = self.now().await?.slot;
        let clock = clock(&challenge);
        if challenge.resolved == 0 && clock.is_open(now) {
            let slot = clock.deadline().0;
            let left = slot.saturating_sub(now.0).saturating_add(1);
            return Err(Refusal::WindowOpen { address: address.to_string(), slot, left }.into());
        }
        let agent = AgentId(challenge.agent_id);
        let stake_before_micro_usdc = self.stake_of(agent).await?;
        let draft = self.resolve_draft(address, key).await?;
        let sent = done!(self.send(&draft, key).await?);
        let stake_after_micro_usdc = self.stake_of(agent).await?;
        let settled = self.client().challenge(address).await?;
        Ok(Attempt::Done(Resolved {
            sent,
            challenge: address.to_string(),
            agent,
            epoch: challenge.epoch_number,
            succeeded: settled.map_or(challenge.answered == 0, |settled| settled.succeeded != 0),
            stake_before_micro_usdc,
            stake_after_micro_usdc,
        }))
    }

    /// Closes a settled challenge; its rent goes to the challenger.
    ///
    /// # Errors
    /// 7543 when there is none.
    pub async fn close_challenge(&self, address: Address, key: &Wallet) -> Result<Attempt<Closed>> {
        let challenge = address.to_string();
        // Of an interrupted run that closed it there is nothing left to see.
        if let Some(sent) = self.earlier(&intents::close_challenge(&address)).await? {
            return Ok(Attempt::Done(Closed { sent, challenge, rent_lamports: None }));
        }
        let account = self.challenge_at(address).await?;
        let draft = self.close_draft(address, key).await?;
        let sent = done!(self.send(&draft, key).await?);
        Ok(Attempt::Done(Closed { sent, challenge, rent_lamports: Some(account.lamports) }))
    }

    async fn stake_of(&self, agent: AgentId) -> Result<MicroUsdc> {
        Ok(MicroUsdc(self.client().stake(agent).await?.map_or(0, |stake| stake.stake_usdc)))
    }

    pub(crate) async fn resolve_draft(&self, challenge: Address, payer: &Wallet) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        Ok(Actions::new(self.client(), &sati).await?.resolve(challenge, payer.address()).await?)
    }

    pub(crate) async fn close_draft(&self, challenge: Address, payer: &Wallet) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        Ok(Actions::new(self.client(), &sati).await?.close_challenge(challenge, payer.address()).await?)
    }
}
