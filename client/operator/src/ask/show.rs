//! Showing a leaf that was asked for: an entry of the agent's own log, or a record from the batch's data. Anyone
//! who has it may.

use super::{OPEN, State, Tree, deadline, tree_name};
use crate::batch::commitment_of;
use crate::done;
use crate::error::{Origin, Refusal, Result};
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{Flow, Stored};
use zx1_interface::accounts::{AskAccount, BatchAccount};
use zx1_log::AnyStore;
use zx1_protocol::amounts::Amounts;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::AgentId;
use zx1_protocol::merkle::Proof;
use zx1_protocol::units::{Epoch, MicroUsdc};

/// A leaf that was shown.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Shown {
    #[serde(flatten)]
    pub sent: Sent,
    pub ask: String,
    pub agent: AgentId,
    pub epoch: u64,
    pub tree: &'static str,
    pub index: u32,
    /// Bytes of the leaf; none where an earlier run showed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// What showing it brings.
    pub reward_micro_usdc: MicroUsdc,
}

/// A leaf with its proof.
struct Leaf {
    bytes: Vec<u8>,
    proof: Vec<Hash>,
}

impl Operator {
    /// Shows a leaf that was asked for, from the log here, the batch that is saved here, or the place that serves
    /// its data.
    ///
    /// # Errors
    /// 7554 when there is no such ask, 7558 when it needs no answer, 7559 when its time is over, 7563 when the leaf
    /// is not to be had.
    pub async fn show_leaf(
        &self,
        address: Address,
        key: &Wallet,
        store: Option<&AnyStore>,
    ) -> Result<Attempt<Shown>> {
        let ask = self.ask_at(address).await?;
        let config = self.client().config().await?;
        let reward = Amounts::of(&config).shown(ask.price_usdc).shower;
        let shown = |sent, bytes| Shown {
            sent,
            ask: address.to_string(),
            agent: AgentId(ask.agent_id),
            epoch: ask.epoch_number,
            tree: tree_name(ask.tree),
            index: ask.index,
            bytes,
            reward_micro_usdc: MicroUsdc(reward),
        };
        // It may be an interrupted run of this that showed it.
        if let Some(sent) = self.earlier(&intents::show_leaf(&address)).await? {
            return Ok(Attempt::Done(shown(sent, None)));
        }
        let now = self.now().await?.slot;
        if ask.state != OPEN {
            let state = State::of(&ask, now).name();
            return Err(Refusal::AskSettled { address: address.to_string(), state }.into());
        }
        if deadline(&ask) < now {
            let slot = deadline(&ask).0;
            return Err(Refusal::ShowOver { address: address.to_string(), slot }.into());
        }
        let leaf = self.find_leaf(&ask, store).await?;
        let bytes = leaf.bytes.len();
        let flow = self.show_flow(&ask, leaf, key).await?;
        let sent = done!(self.send(flow.as_ref(), key).await?);
        Ok(Attempt::Done(shown(sent, Some(bytes))))
    }

    /// The same, for what runs by itself.
    pub(crate) async fn show_unasked(
        &self,
        address: Address,
        key: &Wallet,
        store: Option<&AnyStore>,
    ) -> Result<Sent> {
        let ask = self.ask_at(address).await?;
        let leaf = self.find_leaf(&ask, store).await?;
        let flow = self.show_flow(&ask, leaf, key).await?;
        self.send_unasked(flow.as_ref(), key).await
    }

    async fn show_flow(&self, ask: &Stored<AskAccount>, leaf: Leaf, key: &Wallet) -> Result<Box<dyn Flow>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        Ok(actions.show_leaf(key.address(), ask.address, leaf.bytes, leaf.proof).await?)
    }

    async fn find_leaf(&self, ask: &AskAccount, store: Option<&AnyStore>) -> Result<Leaf> {
        let agent = Agent { name: None, mint: AgentId(ask.agent_id) };
        let unknown =
            || Refusal::LeafUnknown { tree: tree_name(ask.tree), index: ask.index, epoch: ask.epoch_number };
        let batch = self.batch_on_chain(&agent, ask.epoch_number).await?;
        let found = match Tree::from_number(ask.tree) {
            Some(Tree::Log) => self.entry_of_log(&agent, &batch, ask.index)?,
            Some(Tree::Arrays) => {
                let bytes = self.data_of(&batch, &agent, store).await?;
                let bundle = Bundle::decode(&bytes).map_err(Origin::Served.error())?;
                let checked = bundle.check_against(&commitment_of(&batch));
                let checked = checked.map_err(Origin::ServedOther.error())?;
                let record = checked.record_bytes(ask.index).map(<[u8]>::to_vec);
                record.zip(checked.record_proof(ask.index))
            }
            None => None,
        };
        let (bytes, proof) = found.ok_or_else(unknown)?;
        Ok(Leaf { bytes, proof: proof.path })
    }

    /// The entry of a batch's log, which only who keeps the log has: served data holds its hash. `None` when the
    /// log here is not the one that the batch commits to.
    fn entry_of_log(
        &self,
        agent: &Agent,
        batch: &BatchAccount,
        index: u32,
    ) -> Result<Option<(Vec<u8>, Proof)>> {
        let reader = self.log_reader(agent);
        let (from, to) = (Epoch(batch.covers_from_epoch), Epoch(batch.epoch_number));
        if !crate::agent_folder(&self.home, agent).exists()
            || reader.len(from, to)? != batch.log_len
            || reader.root(from, to)? != batch.log_merkle_root
        {
            return Ok(None);
        }
        let mut entries = reader.entries(from, to)?;
        let mut position = 0_u32;
        while let Some(stored) = entries.next_entry()? {
            if position == index {
                let bytes = stored.encoded.to_vec();
                let proof = reader.proof(from, to, index)?;
                return Ok(proof.map(|proof| (bytes, proof)));
            }
            position = position.saturating_add(1);
        }
        Ok(None)
    }
}
