//! Building a batch from the log.

use crate::error::{Origin, Refusal, Result};
use crate::files;
use crate::operator::{Agent, Event, Operator};
use serde::Serialize;
use std::path::PathBuf;
use zx1_log::LogHandle;
use zx1_protocol::batch::{Covered, check_epoch};
use zx1_protocol::behavior_batch::Built;
use zx1_protocol::units::{Epoch, Slot};

/// Which epochs a batch covers, and their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Plan {
    pub covered: Covered,
    /// The first slot of the first.
    pub slot_start: Slot,
    /// The last slot of the last.
    pub slot_end: Slot,
}

/// Contents of a batch. Hashes are in hex, the agent in base58.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are those of the batch's fields")]
pub struct Contents {
    pub agent: String,
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
}

impl Contents {
    fn of(built: &Built, covered: Covered, agent: &Agent) -> Self {
        let Built { batch, .. } = built;
        Self {
            agent: agent.mint.to_string(),
            epoch: covered.to.0,
            covers_from: covered.from.0,
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

impl Operator {
    /// Which epochs the next batch covers, as the chain sees it now. Without an epoch: the last one that is
    /// over.
    ///
    /// # Errors
    /// 7520 with the reason when the chain would refuse a batch of this epoch.
    pub(crate) async fn plan_batch(&self, agent: &Agent, epoch: Option<u64>) -> Result<Plan> {
        let now = self.now().await?;
        let head = self.client().head(agent.mint).await?;
        let last = head.map(|head| Epoch(head.last_epoch));
        let epoch = epoch.map_or(Epoch(now.epoch.0.saturating_sub(1)), Epoch);
        let covered = check_epoch(epoch, now.epoch, last)
            .map_err(|why| Refusal::NothingToBatch { epoch: epoch.0, why })?;
        let (slot_start, slot_end) = self.client().slots_of_epochs(covered.from, covered.to).await?;
        Ok(Plan { covered, slot_start, slot_end })
    }

    /// Builds the batch, after the attestations of received ratings were looked up, and keeps it unsigned.
    pub(crate) async fn build_and_keep(
        &self,
        agent: &Agent,
        log: &LogHandle,
        plan: Plan,
    ) -> Result<Unsigned> {
        self.collect_attestations(agent, log, plan.covered).await?;
        let stage = self.stage(Event::Building(plan.covered.to));
        let built = log.build(plan.covered, plan.slot_start, plan.slot_end)?;
        drop(stage);
        let bundle = built.bundle().map_err(Origin::Log.error())?.to_vec();
        let path = self.unsigned_path(agent, plan.covered.to);
        files::replace(&path, &bundle)?;
        Ok(Unsigned { contents: Contents::of(&built, plan.covered, agent), bundle, path })
    }

    /// Builds a batch from the log; signs and sends nothing.
    pub async fn build_batch(&self, agent: &Agent, epoch: Option<u64>) -> Result<Unsigned> {
        let plan = self.plan_batch(agent, epoch).await?;
        let log = self.open_log(agent)?;
        self.build_and_keep(agent, &log, plan).await
    }
}
