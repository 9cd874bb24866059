//! What an agent pays a day (protocol.md, 10.3; decision B5).

use crate::done;
use crate::error::Result;
use crate::facts::LeaseReport;
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::rpc::registry::Sati;

/// A lease after its change.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Changed {
    #[serde(flatten)]
    pub sent: Sent,
    pub lease: LeaseReport,
}

impl Operator {
    /// Pays that many epochs of the agent's lease, as its holder or a pay key. Without a number it moves the lease
    /// to the state that the clock implies, which anyone may do.
    pub async fn change_lease(
        &self,
        agent: &Agent,
        payer: &Wallet,
        epochs: Option<u32>,
    ) -> Result<Attempt<Changed>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        let draft = match epochs {
            Some(epochs) => actions.pay_lease(agent.mint, payer.address(), epochs).await?,
            None => actions.tick_lease(agent.mint, payer.address()).await?,
        };
        let sent = done!(self.send(&draft, payer).await?);
        Ok(Attempt::Done(Changed { sent, lease: self.lease(agent).await? }))
    }

    /// The agent's lease.
    pub async fn lease(&self, agent: &Agent) -> Result<LeaseReport> {
        let (time, lease) = tokio::try_join!(self.client().time(), self.client().lease(agent.mint))?;
        Ok(LeaseReport::new(agent.mint, lease.as_deref(), time))
    }
}
