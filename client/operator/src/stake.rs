//! The stake that answers for an agent (protocol.md, 10.5; decision B6).

use crate::done;
use crate::error::{Refusal, Result};
use crate::facts::{Accounts, StakeReport};
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// A change of a stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Lock this amount, or add it to a locked stake.
    Lock(MicroUsdc),
    /// Queue the unlock.
    Unlock,
    /// Cancel a queued unlock.
    Cancel,
    /// Transfer the stake to the owner after the delay.
    Claim,
}

/// A stake after its change.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Changed {
    #[serde(flatten)]
    pub sent: Sent,
    pub agent: AgentId,
    /// None once it is claimed.
    pub stake: Option<StakeReport>,
}

impl Operator {
    /// Changes the agent's stake.
    pub async fn change_stake(
        &self,
        agent: &Agent,
        owner: &Wallet,
        change: Change,
    ) -> Result<Attempt<Changed>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = Actions::new(self.client(), &sati).await?;
        let (mint, wallet) = (agent.mint, owner.address());
        let draft = match change {
            Change::Lock(amount) => actions.lock_stake(mint, wallet, amount).await?,
            Change::Unlock => actions.queue_unlock(mint, wallet).await?,
            Change::Cancel => actions.cancel_unlock(mint, wallet).await?,
            Change::Claim => actions.claim_stake(mint, wallet).await?,
        };
        let sent = done!(self.send(&draft, owner).await?);
        let stake = Accounts::read(self.client(), mint).await?.stake_report(mint);
        Ok(Attempt::Done(Changed { sent, agent: mint, stake }))
    }

    /// The agent's stake.
    ///
    /// # Errors
    /// 7500 when it has none.
    pub async fn stake(&self, agent: &Agent) -> Result<StakeReport> {
        let stake = Accounts::read(self.client(), agent.mint).await?.stake_report(agent.mint);
        stake.ok_or_else(|| Refusal::NoStake { agent: agent.shown() }.into())
    }
}
