//! Building a batch from the log.

use crate::error::{Origin, Refusal, Result};
use crate::files;
use crate::operator::{Agent, Event, Operator};
use serde::Serialize;
use std::path::PathBuf;
use zx1_chain::rpc::Client;
use zx1_log::{LogHandle, Seen, View};
use zx1_protocol::batch::{BatchMessage, Covered, check_epoch};
use zx1_protocol::behavior_batch::{Built, Commitment};
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, Slot};

/// Which epochs a batch covers, their slots, and what it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Plan {
    pub covered: Covered,
    /// The first slot of the first.
    pub slot_start: Slot,
    /// The last slot of the last.
    pub slot_end: Slot,
    /// The cluster's genesis hash.
    pub network: Hash,
    /// The digest of the head that it moves.
    pub previous_digest: Hash,
}

impl Plan {
    /// What the batch key signs for a batch with these contents.
    pub fn message(&self, commitment: &Commitment) -> BatchMessage {
        commitment.message(&self.network, self.covered.from, &self.previous_digest)
    }
}

/// Contents of a batch. Hashes are in hex, the agent in base58.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are those of the batch's fields")]
pub struct Contents {
    pub agent: AgentId,
    pub epoch: u64,
    pub covers_from: u64,
    pub log_len: u32,
    pub log_merkle_root: String,
    pub batch_hash: String,
    pub arrays_len: u32,
    pub arrays_root: String,
    pub bids: usize,
    pub selections: usize,
    pub verifiers: usize,
    pub feedback: usize,
    pub overflow: bool,
    pub previous_digest: String,
    /// What the batch key signs.
    pub message: String,
}

impl Contents {
    fn of(built: &Built, plan: &Plan, agent: &Agent) -> Self {
        let Built { batch, .. } = built;
        Self {
            agent: agent.mint,
            epoch: plan.covered.to.0,
            covers_from: plan.covered.from.0,
            log_len: batch.log_len,
            log_merkle_root: hex::encode(batch.log_merkle_root),
            batch_hash: hex::encode(built.batch_hash),
            arrays_len: batch.arrays_len,
            arrays_root: hex::encode(batch.arrays_root),
            bids: batch.bid_values.len(),
            selections: batch.task_selections.len(),
            verifiers: batch.verifier_ids.len(),
            feedback: batch.feedback_events.len(),
            overflow: batch.overflow,
            previous_digest: hex::encode(plan.previous_digest),
            message: hex::encode(plan.message(&built.commitment()).to_bytes()),
        }
    }
}

/// A batch that waits for its signature.
#[allow(missing_docs, reason = "the names say it")]
pub struct Unsigned {
    pub contents: Contents,
    pub bundle: Vec<u8>,
    /// The file in the agent's folder that holds the data.
    pub path: PathBuf,
}

/// What one node shows as final of an agent's chain of batches.
async fn view(client: &Client, agent: &Agent) -> Result<View> {
    let (head, time) = tokio::try_join!(client.head(agent.mint), client.time())?;
    let head = head.ok_or_else(|| Refusal::NoHead { agent: agent.shown() })?;
    Ok(View { last_epoch: Epoch(head.last_epoch), digest: head.digest, current: Epoch(time.epoch) })
}

impl Operator {
    /// What the next batch follows, as the asked nodes show it.
    ///
    /// # Errors
    /// 7509 without a tenure, 7531 without a head.
    pub(crate) async fn seen(&self, agent: &Agent) -> Result<Seen> {
        let client = self.client();
        let (config, tenure) = tokio::try_join!(client.config(), client.tenure(agent.mint))?;
        let tenure = tenure.ok_or_else(|| Refusal::NoTenure { agent: agent.shown() })?;
        let mut views = Vec::new();
        for node in self.witnesses() {
            views.push(view(&node, agent).await?);
        }
        Ok(Seen { network: config.network, tenure_from: Epoch(tenure.from_epoch), views })
    }

    /// Which epochs a batch on this head covers. Without an epoch: the last one that is over.
    ///
    /// # Errors
    /// 7520 with the reason when the chain would refuse a batch of this epoch.
    pub(crate) async fn plan_batch(&self, seen: &Seen, view: &View, epoch: Option<u64>) -> Result<Plan> {
        let epoch = epoch.map_or(Epoch(view.current.0.saturating_sub(1)), Epoch);
        let covered = check_epoch(epoch, view.current, view.last_epoch, seen.tenure_from)
            .map_err(|why| Refusal::NothingToBatch { epoch: epoch.0, why })?;
        let (slot_start, slot_end) = self.client().slots_of_epochs(covered.from, covered.to).await?;
        Ok(Plan { covered, slot_start, slot_end, network: seen.network, previous_digest: view.digest })
    }

    /// Builds the batch, after the attestations of received ratings were looked up, and keeps it unsigned.
    pub(crate) async fn build_and_keep(
        &self,
        agent: &Agent,
        log: &LogHandle,
        plan: &Plan,
    ) -> Result<Unsigned> {
        self.collect_attestations(agent, log, plan.covered).await?;
        let stage = self.stage(Event::Building(plan.covered.to));
        let built = log.build(plan.covered, plan.slot_start, plan.slot_end)?;
        drop(stage);
        let bundle = built.bundle().map_err(Origin::Log.error())?.to_vec();
        let path = self.unsigned_path(agent, plan.covered.to);
        files::replace(&path, &bundle)?;
        Ok(Unsigned { contents: Contents::of(&built, plan, agent), bundle, path })
    }

    /// Builds a batch from the log; signs and sends nothing.
    pub async fn build_batch(&self, agent: &Agent, epoch: Option<u64>) -> Result<Unsigned> {
        let seen = self.seen(agent).await?;
        let view = *seen.views.first().ok_or_else(|| Refusal::NoHead { agent: agent.shown() })?;
        let plan = self.plan_batch(&seen, &view, epoch).await?;
        let log = self.open_log(agent)?;
        self.build_and_keep(agent, &log, &plan).await
    }
}
