//! An agent's batches: on chain, saved here, and whether their data is served.

use super::fetch;
use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator};
use serde::Serialize;
use solana_address::Address;
use std::collections::BTreeMap;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, BatchStore as _, SavedBatch};
use zx1_protocol::challenge::Clock;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Slot;

/// An agent's batches, the oldest first.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Batches {
    pub agent: AgentId,
    /// The slot of this view.
    pub slot: u64,
    pub epoch: u64,
    /// Whether the chain of batches is open.
    pub open: bool,
    /// The last epoch that is over, when it has no batch yet.
    pub next_epoch: Option<u64>,
    /// The store that was asked for data.
    pub place: Option<String>,
    pub batches: Vec<Listed>,
    /// Number of older batches that were left out.
    pub hidden: usize,
}

/// A batch. Hashes are in hex, the signer in base58; what only the chain says is `None` for a batch that is
/// saved here and not on chain.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names are those of the batch account's fields")]
pub struct Listed {
    pub epoch: u64,
    pub covers_from: Option<u64>,
    pub on_chain: bool,
    pub submitted_slot: Option<u64>,
    pub challengeable_through_slot: Option<u64>,
    pub challengeable: bool,
    /// The era whose stake answers for it.
    pub era: Option<u32>,
    /// Whether it is marked: a leaf that was asked for was not shown.
    pub withheld: bool,
    pub log_len: Option<u32>,
    pub arrays_len: Option<u32>,
    pub batch_hash: Option<String>,
    pub log_merkle_root: Option<String>,
    pub arrays_root: Option<String>,
    pub signer: Option<String>,
    /// Whether its data is in the agent's folder.
    pub saved: bool,
    pub data: Availability,
}

/// Whether a batch's data is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// The data is served, and the chain commits to it.
    Served,
    /// The data is not served, or other data is served in its place (decision C7).
    Withheld,
    /// No store is configured.
    NotAsked,
}

async fn availability(store: Option<&AnyStore>, account: &BatchAccount) -> Result<Availability> {
    let Some(store) = store else { return Ok(Availability::NotAsked) };
    match fetch(store, account).await {
        Ok(_) => Ok(Availability::Served),
        Err(error) if error.is_unavailable() => Err(error),
        Err(_) => Ok(Availability::Withheld),
    }
}

impl Operator {
    /// The agent's batches, or the one of an epoch: at most the `newest`.
    ///
    /// # Errors
    /// 7526 when there is none of that epoch.
    pub async fn batches(
        &self,
        agent: &Agent,
        epoch: Option<u64>,
        newest: usize,
        store: Option<&AnyStore>,
    ) -> Result<Batches> {
        let saved = self.log_reader(agent).batches().list()?;
        let saved: BTreeMap<u64, SavedBatch> = saved.into_iter().map(|it| (it.epoch().0, it)).collect();
        let now = self.now().await?;
        let accounts = self.client().batches(agent.mint).await?;
        let head = self.client().head(agent.mint).await?;
        let mut epochs: Vec<u64> = accounts.iter().map(|account| account.epoch_number).collect();
        epochs.extend(saved.keys());
        epochs.sort_unstable();
        epochs.dedup();
        epochs.retain(|it| epoch.is_none_or(|wanted| wanted == *it));
        if let (Some(epoch), true) = (epoch, epochs.is_empty()) {
            return Err(Refusal::NoBatchOnChain { agent: agent.mint.to_string(), epoch }.into());
        }
        let hidden = epochs.len().saturating_sub(newest);
        let mut batches = Vec::new();
        for epoch in epochs.into_iter().skip(hidden) {
            let account = accounts.iter().find(|account| account.epoch_number == epoch);
            let data = match account {
                Some(account) => availability(store, account).await?,
                None => Availability::NotAsked,
            };
            batches.push(listed(epoch, account.map(|it| &it.value), saved.get(&epoch), data, now.slot));
        }
        let last_over = now.epoch.0.saturating_sub(1);
        let missing = head.as_ref().is_none_or(|head| head.last_epoch < last_over);
        Ok(Batches {
            agent: agent.mint,
            slot: now.slot.0,
            epoch: now.epoch.0,
            open: head.is_some(),
            next_epoch: missing.then_some(last_over),
            place: store.map(AnyStore::describe),
            batches,
            hidden,
        })
    }
}

fn listed(
    epoch: u64,
    account: Option<&BatchAccount>,
    saved: Option<&SavedBatch>,
    data: Availability,
    now: Slot,
) -> Listed {
    let clock = account.map(|account| Clock { submitted: Slot(account.submitted_slot) });
    let hash = account.map(|it| it.batch_hash).or(saved.map(|saved| saved.message.batch_hash));
    let signer = account.map(|it| Address::from(it.signer)).or(saved.map(|saved| saved.signer));
    Listed {
        epoch,
        covers_from: account.map(|it| it.covers_from_epoch).or(saved.map(|saved| saved.covered().from.0)),
        on_chain: account.is_some(),
        submitted_slot: account.map(|it| it.submitted_slot),
        challengeable_through_slot: clock.map(|clock| clock.deadline().0),
        challengeable: clock.is_some_and(|clock| clock.is_open(now)),
        era: account.map(|it| it.era),
        withheld: account.is_some_and(|it| it.withheld != 0),
        log_len: account.map(|it| it.log_len),
        arrays_len: account.map(|it| it.arrays_len),
        batch_hash: hash.map(hex::encode),
        log_merkle_root: account.map(|it| hex::encode(it.log_merkle_root)),
        arrays_root: account.map(|it| hex::encode(it.arrays_root)),
        signer: signer.map(|signer| signer.to_string()),
        saved: saved.is_some_and(|saved| saved.has_data),
        data,
    }
}
