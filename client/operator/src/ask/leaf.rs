//! Asking for a leaf: it costs the price, which goes back when the batch turns out to be withheld.

use super::{Tree, deadline};
use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::pda;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::challenge::{ask_deadline, may_ask};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{MicroUsdc, Slot};

/// A leaf that was asked for.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Asked {
    #[serde(flatten)]
    pub sent: Sent,
    pub ask: String,
    pub agent: AgentId,
    pub epoch: u64,
    pub tree: &'static str,
    pub index: u32,
    pub price_micro_usdc: MicroUsdc,
    /// The last slot in which it can be shown.
    pub showable_through_slot: Option<u64>,
}

impl Operator {
    /// Asks for a leaf of a batch, counted from 0 without padding.
    ///
    /// # Errors
    /// 7526 without such a batch, 7555 without such a leaf, 7556 when it is too late, 7557 when the batch is
    /// marked already.
    pub async fn ask_leaf(
        &self,
        agent: &Agent,
        key: &Wallet,
        epoch: u64,
        tree: Tree,
        index: u32,
    ) -> Result<Attempt<Asked>> {
        let batch = self.batch_on_chain(agent, epoch).await?;
        let len = match tree {
            Tree::Log => batch.log_len,
            Tree::Arrays => batch.arrays_len,
        };
        if index >= len {
            return Err(Refusal::NoSuchLeaf { tree: tree.name(), index, len }.into());
        }
        let address = pda::ask(&batch.address, tree.number(), index);
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        let mut price = actions.config().ask_price;
        let sent = match self.earlier(&intents::ask_leaf(&address)).await? {
            Some(sent) => sent,
            None => match self.client().leaf_ask(address).await? {
                Some(known) => {
                    price = known.price_usdc;
                    self.nothing_to_do(format!("this leaf is asked for since slot {}", known.created_slot))?
                }
                None => {
                    let submitted = Slot(batch.submitted_slot);
                    if !may_ask(submitted, self.now().await?.slot) {
                        let slot = ask_deadline(submitted).0;
                        return Err(Refusal::AskWindowOver { epoch, slot }.into());
                    }
                    if batch.withheld != 0 {
                        return Err(Refusal::BatchWithheld { epoch }.into());
                    }
                    let payer = key.address();
                    let draft = actions.ask_leaf(payer, agent.mint, epoch, tree.number(), index).await?;
                    done!(self.send(&draft, key).await?)
                }
            },
        };
        let ask = self.client().leaf_ask(address).await?;
        Ok(Attempt::Done(Asked {
            sent,
            ask: address.to_string(),
            agent: agent.mint,
            epoch,
            tree: tree.name(),
            index,
            price_micro_usdc: MicroUsdc(price),
            showable_through_slot: ask.map(|ask| deadline(&ask).0),
        }))
    }
}
