//! Opening the agent's chain of batches (decision P2).

use crate::done;
use crate::error::Result;
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::ids::AgentId;

/// A chain of batches that is open.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Opened {
    #[serde(flatten)]
    pub sent: Sent,
    pub agent: AgentId,
    /// The first epoch that the next batch can cover.
    pub first_epoch: u64,
    /// How many batches have landed.
    pub batches: u64,
}

/// A head from which this folder goes on.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Adopted {
    pub agent: AgentId,
    pub last_epoch: u64,
    /// The head's digest in hex.
    pub digest: String,
}

impl Operator {
    /// Lets this folder go on after the agent's last batch, which it did not sign: a person knows that no other
    /// log of the agent is in use.
    ///
    /// # Errors
    /// 7531 without a chain of batches; the log's, 7238 when two nodes do not agree.
    pub async fn adopt_head(&self, agent: &Agent) -> Result<Adopted> {
        let head = self.seen(agent).await?.agreed()?;
        self.open_log(agent)?.adopt(&head.digest)?;
        let digest = hex::encode(head.digest);
        Ok(Adopted { agent: agent.mint, last_epoch: head.last_epoch.0, digest })
    }

    /// Opens the agent's chain of batches, once; anyone may. What was logged in earlier epochs is covered by no
    /// batch.
    pub async fn open_head(&self, agent: &Agent, payer: &Wallet) -> Result<Attempt<Opened>> {
        let mint = agent.mint;
        let sent = match self.earlier(&intents::open_head(&mint)).await? {
            Some(sent) => sent,
            None if self.client().head(mint).await?.is_some() => {
                self.nothing_to_do("the chain of batches is open".to_owned())?
            }
            None => {
                let sati = Sati::connect(self.client()).await?;
                let draft = self.actions(&sati).await?.open_head(mint, payer.address()).await?;
                done!(self.send(&draft, payer).await?)
            }
        };
        let head = self.client().head(mint).await?;
        let last = match &head {
            Some(head) => head.last_epoch,
            // A node behind the one that confirmed.
            None => self.now().await?.epoch.0.saturating_sub(1),
        };
        let (first_epoch, batches) = (last.saturating_add(1), head.map_or(0, |head| head.count));
        Ok(Attempt::Done(Opened { sent, agent: mint, first_epoch, batches }))
    }
}
