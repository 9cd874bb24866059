//! Where the index stands, for heads of answers, health and metrics.

use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use utoipa::ToSchema;

/// What the ingest is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Reading what happened before.
    #[default]
    Backfill,
    /// Following the chain.
    Live,
    /// The node does not answer, or holds something back.
    Stalled,
}

/// How far a backfill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Backfill {
    /// The cursor when it began.
    pub from_slot: u64,
    /// The boundary: what is later comes from the subscription.
    pub to_slot: u64,
    /// Indexed up to here.
    pub done_slot: u64,
}

/// What the last self-audit found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct LastAudit {
    /// When the audit was made, in Unix seconds.
    pub at: i64,
    /// How many differences.
    pub differences: usize,
}

/// The state of the index that headers, health and metrics report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Everything up to this slot is indexed, at confirmed commitment.
    pub slot: u64,
    /// Everything up to this slot was compared with the finalized history.
    pub finalized: u64,
    /// Digest of all stored events.
    pub digest: [u8; 32],
    /// Number of stored events.
    pub events: u64,
    /// Head of the feedback log after the last stored entry.
    pub log_head: [u8; 32],
    /// Confirmed slot of the node.
    pub chain_slot: u64,
    /// Finalized slot of the node.
    pub chain_finalized: u64,
    /// Epoch of the protocol: days since the Unix epoch.
    pub epoch: u64,
    /// Time of the chain, in Unix seconds.
    pub chain_time: i64,
    /// When the cursor last reached the node's slot, in Unix milliseconds.
    pub caught_up_ms: i64,
    /// What the ingest does.
    pub phase: Phase,
    /// Progress of the backfill that runs; `None` when none does.
    pub backfill: Option<Backfill>,
    /// Whether a backfill has finished since the start.
    pub ready: bool,
    /// Whether the subscription to the node's websocket is active.
    pub subscribed: bool,
    /// Number of gaps that are open.
    pub gaps_open: i64,
    /// Result of the last self-audit; `None` before the first.
    pub last_audit: Option<LastAudit>,
    /// Whether the Nano node answered its last call; `None` when none is configured.
    pub nano: Option<bool>,
    /// For each market server: address, whether it answered its last poll, and number of contracts.
    pub markets: Vec<(String, bool, i64)>,
    /// Genesis hash of the cluster.
    pub genesis: String,
}

/// The shared status. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct Status(Arc<RwLock<Standing>>, Arc<AtomicU64>);

impl Status {
    /// A copy of the current state.
    pub fn get(&self) -> Standing {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the status. When anything changes that answers show, the stamp rises.
    pub fn set(&self, change: impl FnOnce(&mut Standing)) {
        let changed = {
            let mut standing = self.0.write().unwrap_or_else(PoisonError::into_inner);
            let before = standing.shown();
            change(&mut standing);
            before != standing.shown()
        };
        if changed {
            self.changed();
        }
    }

    /// Marks cached answers as outdated, after something was written.
    pub fn changed(&self) {
        self.1.fetch_add(1, Ordering::AcqRel);
    }

    /// A number that rises with every change; caches compare it.
    pub fn stamp(&self) -> u64 {
        self.1.load(Ordering::Acquire)
    }
}

impl Standing {
    /// What answers other than those about the indexer itself depend on.
    fn shown(&self) -> impl PartialEq + use<> {
        let digests = (self.digest, self.log_head);
        (self.slot, self.finalized, digests, self.events, self.epoch, self.gaps_open, self.last_audit)
    }

    /// Number of slots that the index is behind the node.
    pub fn lag(&self) -> u64 {
        self.chain_slot.saturating_sub(self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_shown_makes_answers_old() {
        let status = Status::default();
        status.set(|it| it.slot = 7);
        let stamp = status.stamp();
        status.set(|it| (it.chain_slot, it.subscribed) = (9, true));
        assert_eq!(status.stamp(), stamp);
        assert_eq!(status.get().lag(), 2);
        status.set(|it| it.digest = [1; 32]);
        assert_ne!(status.stamp(), stamp);
    }
}
