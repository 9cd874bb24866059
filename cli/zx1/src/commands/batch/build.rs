//! `zx1 batch build`.

use crate::agent_files::{self, Now, refused};
use crate::chain::Chain;
use crate::commands::attest;
use crate::context::{Agent, Context};
use crate::errors::{Error, Result};
use crate::files;
use crate::output::{Page, Report};
use crate::words::{self, count};
use serde::Serialize;
use std::path::PathBuf;
use zx1_log::LogHandle;
use zx1_protocol::batch::{BatchError, Covered, check_epoch};
use zx1_protocol::behavior_batch::{Built, Commitment};
use zx1_protocol::units::{Epoch, Slot};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The batch's epoch; by default the last one that is over
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// File for the unsigned batch; by default in the agent's folder
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

/// Which epochs a batch covers, and their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The epochs.
    pub(crate) covered: Covered,
    /// The first slot of the first.
    pub(crate) slot_start: Slot,
    /// The last slot of the last.
    pub(crate) slot_end: Slot,
}

/// What a batch says, for people and scripts.
#[derive(Serialize)]
pub(super) struct Described {
    agent: String,
    epoch: u64,
    covers_from: u64,
    log_len: u32,
    log_merkle_root: String,
    batch_hash: String,
    arrays_len: u32,
    arrays_root: String,
    bids: usize,
    selections: usize,
    verifiers: usize,
    feedback: usize,
    overflow: bool,
}

impl Described {
    pub(super) fn of(built: &Built, covered: Covered, agent: &Agent) -> Self {
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

    pub(super) fn draw(&self, page: &mut Page) {
        let epochs = if self.covers_from == self.epoch {
            words::epoch(self.epoch)
        } else {
            format!("{}, covers {} to {}", words::epoch(self.epoch), self.covers_from, self.epoch)
        };
        page.field("epoch", epochs)
            .field("messages", self.log_len)
            .field(
                "records",
                format!(
                    "{} ({}, {}, {}, {}{})",
                    self.arrays_len,
                    count(self.bids, "bid", "bids"),
                    count(self.selections, "selection", "selections"),
                    count(self.verifiers, "verifier", "verifiers"),
                    count(self.feedback, "rating", "ratings"),
                    if self.overflow { ", cut at 1000 each in the batch itself" } else { "" },
                ),
            )
            .field("log root", &self.log_merkle_root)
            .field("arrays root", &self.arrays_root)
            .field("batch hash", &self.batch_hash);
    }
}

#[derive(Serialize)]
struct Report_ {
    #[serde(flatten)]
    batch: Described,
    file: String,
}

impl Report for Report_ {
    fn draw(&self, page: &mut Page) {
        self.batch.draw(page);
        page.field("unsigned file", &self.file)
            .next(format!("zx1 batch sign --epoch {0} (or zx1 batch submit --epoch {0})", self.batch.epoch));
    }
}

/// Where an unsigned batch is kept.
pub(super) fn unsigned_path(context: &Context, agent: &Agent, epoch: Epoch) -> Result<PathBuf> {
    Ok(agent_files::folder(context, agent)?.join("unsigned").join(format!("{}.zx1batch", epoch.0)))
}

/// Which epochs the next batch covers, as the chain sees it now.
///
/// # Errors
/// 7520 with the reason when the chain would refuse a batch of this epoch.
pub(crate) async fn plan(chain: &Chain, agent: &Agent, epoch: Option<u64>) -> Result<Plan> {
    let now = Now::ask(chain).await?;
    let head = chain.client.head(agent.mint).await?;
    let last = head.map(|head| Epoch(head.last_epoch));
    let epoch = epoch.map_or(Epoch(now.epoch.0.saturating_sub(1)), Epoch);
    let nothing =
        |error: BatchError| Error::NothingToBatch { epoch: epoch.0, why: words::clause(&error.to_string()) };
    let covered = check_epoch(epoch, now.epoch, last).map_err(nothing)?;
    let (slot_start, slot_end) = chain.client.slots_of_epochs(covered.from, covered.to).await?;
    Ok(Plan { covered, slot_start, slot_end })
}

/// Builds the batch, after the attestations of received ratings were looked up, and keeps it unsigned.
pub(crate) async fn build_and_keep(
    context: &Context,
    chain: &Chain,
    agent: &Agent,
    log: &LogHandle,
    plan: Plan,
) -> Result<(Built, PathBuf)> {
    attest::collect(chain, agent, log, plan.covered).await?;
    let progress = context.spinner(format!("Building the batch of epoch {}", plan.covered.to.0));
    let built = log.build(plan.covered, plan.slot_start, plan.slot_end)?;
    drop(progress);
    let bundle = built.bundle().map_err(|error| refused(error.code(), &error, "zx1 log list"))?;
    let path = unsigned_path(context, agent, plan.covered.to)?;
    files::replace_private(&path, &bundle.to_vec())?;
    Ok((built, path))
}

/// The message that a batch's signature covers, and what it commits to.
pub(super) fn message(commitment: &Commitment) -> Vec<u8> {
    commitment.message().to_vec()
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    if let Some(path) = &args.out {
        files::check_writable(path, Error::Exists { path: files::shown(path) })?;
    }
    let (built, covered, path) = context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let plan = plan(&chain, &agent, args.epoch).await?;
        let log = agent_files::open_log(context, &agent)?;
        let (built, path) = build_and_keep(context, &chain, &agent, &log, plan).await?;
        Ok((built, plan.covered, path))
    })?;
    let path = match &args.out {
        Some(out) => {
            let bundle = built.bundle().map_err(|error| refused(error.code(), &error, "zx1 log list"))?;
            files::create_private(out, &bundle.to_vec(), Error::Exists { path: files::shown(out) })?;
            out.clone()
        }
        None => path,
    };
    let batch = Described::of(&built, covered, &agent);
    context.print(&Report_ { batch, file: files::shown(&path) })
}
