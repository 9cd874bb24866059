//! What is left of an ask: marking the batch, the money, the rent. Anyone may.

use super::{OPEN, WITHHELD, deadline};
use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{Draft, Stored};
use zx1_interface::accounts::AskAccount;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Slot;

/// What was done about an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// Its batch is marked as withheld, and the money waits until no challenge of the era is open.
    Marked,
    /// The asker was paid.
    Settled,
    /// Its account is closed, and the rent is the asker's.
    Closed,
}

/// An ask after the next thing was done about it.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Settled {
    #[serde(flatten)]
    pub sent: Sent,
    pub ask: String,
    pub agent: AgentId,
    pub epoch: u64,
    pub done: Done,
}

/// What is next about an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Mark its batch, or pay.
    Settle,
    /// Return its rent.
    Close,
    /// The leaf can be shown through this slot.
    Wait(Slot),
}

pub(crate) fn next(ask: &AskAccount, now: Slot) -> Next {
    match ask.state {
        OPEN if now <= deadline(ask) => Next::Wait(deadline(ask)),
        OPEN | WITHHELD => Next::Settle,
        _ => Next::Close,
    }
}

impl Operator {
    /// Does what is next about an ask: marks the batch whose leaf was not shown in time, pays once no challenge of
    /// the era is open, or closes its account.
    ///
    /// # Errors
    /// 7554 when there is none, 7564 while the leaf can be shown, 7565 while the money has to wait.
    pub async fn settle_ask(&self, address: Address, key: &Wallet) -> Result<Attempt<Settled>> {
        let shown = address.to_string();
        let gone =
            |sent, done| Settled { sent, ask: shown.clone(), agent: AgentId::default(), epoch: 0, done };
        let found = self.client().leaf_ask(address).await?;
        // What an interrupted run did is shown before the next thing is done.
        for state in [OPEN, WITHHELD] {
            if let Some(sent) = self.earlier(&intents::settle_ask(&address, state)).await? {
                let done = match found.as_ref().map(|ask| ask.state) {
                    Some(WITHHELD) => Done::Marked,
                    _ => Done::Settled,
                };
                let Some(ask) = found else { return Ok(Attempt::Done(gone(sent, done))) };
                let (agent, epoch) = (AgentId(ask.agent_id), ask.epoch_number);
                return Ok(Attempt::Done(Settled { sent, ask: shown, agent, epoch, done }));
            }
        }
        let Some(ask) = found else {
            // Of an interrupted run that closed it there is nothing left to see.
            return match self.earlier(&intents::close_ask(&address)).await? {
                Some(sent) => Ok(Attempt::Done(gone(sent, Done::Closed))),
                None => Err(Refusal::NoAsk { address: shown }.into()),
            };
        };
        let (agent, epoch) = (AgentId(ask.agent_id), ask.epoch_number);
        let now = self.now().await?.slot;
        let next = next(&ask, now);
        if let Next::Wait(slot) = next {
            let left = slot.0.saturating_sub(now.0).saturating_add(1);
            return Err(Refusal::ShowOpen { address: shown, slot: slot.0, left }.into());
        }
        if ask.state == WITHHELD {
            let stake = self.client().stake(agent, ask.era).await?;
            let open = stake.map_or(0, |stake| stake.open_challenges);
            if open > 0 {
                return Err(Refusal::FineWaits { address: shown, open }.into());
            }
        }
        let draft = self.settle_ask_draft(&ask, next, key).await?;
        let sent = done!(self.send(&draft, key).await?);
        let after = self.client().leaf_ask(address).await?;
        let done = match after.map(|ask| ask.state) {
            None => Done::Closed,
            Some(WITHHELD) => Done::Marked,
            Some(_) if next == Next::Close => Done::Closed,
            Some(_) => Done::Settled,
        };
        Ok(Attempt::Done(Settled { sent, ask: shown, agent, epoch, done }))
    }

    pub(crate) async fn settle_ask_draft(
        &self,
        ask: &Stored<AskAccount>,
        next: Next,
        payer: &Wallet,
    ) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        let payer = payer.address();
        Ok(match next {
            Next::Close => actions.close_ask(ask.address, payer).await?,
            Next::Settle | Next::Wait(_) => actions.settle_ask(ask.address, payer).await?,
        })
    }
}
