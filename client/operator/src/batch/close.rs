//! The rent comes back once nobody can challenge any more (decision B8).

use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::rpc::Draft;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::challenge::Clock;
use zx1_protocol::units::Slot;

/// A closed batch.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Closed {
    #[serde(flatten)]
    pub sent: Sent,
    pub epoch: u64,
    /// The rent that came back; none where an earlier run closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rent_lamports: Option<u64>,
}

impl Operator {
    /// Closes a batch whose window is over.
    ///
    /// # Errors
    /// 7529 while it can be challenged.
    pub async fn close_batch(&self, agent: &Agent, key: &Wallet, epoch: u64) -> Result<Attempt<Closed>> {
        // Of an interrupted run that closed it there is nothing left to see.
        if let Some(sent) = self.earlier(&intents::close_batch(&agent.mint, epoch)).await? {
            return Ok(Attempt::Done(Closed { sent, epoch, rent_lamports: None }));
        }
        let account = self.client().batch(agent.mint, epoch).await?;
        if let Some(account) = &account {
            let now = self.client().time().await?.slot;
            let clock = Clock { submitted: Slot(account.submitted_slot) };
            if clock.is_open(Slot(now)) {
                let deadline = clock.deadline().0;
                let left = deadline.saturating_sub(now).saturating_add(1);
                return Err(Refusal::CannotClose { epoch, deadline, left }.into());
            }
        }
        let draft = self.close_batch_draft(agent, key, epoch).await?;
        let sent = done!(self.send(&draft, key).await?);
        let rent_lamports = account.map(|account| account.lamports);
        Ok(Attempt::Done(Closed { sent, epoch, rent_lamports }))
    }

    pub(crate) async fn close_batch_draft(&self, agent: &Agent, key: &Wallet, epoch: u64) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        Ok(actions.close_batch(agent.mint, epoch, key.address()).await?)
    }
}
