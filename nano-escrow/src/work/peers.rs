//! Other machines that make work.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::WorkError;
use crate::node::{NodeApi, NodeCalls};
use crate::{BlockHash, Work};

/// A peer that failed rests so long, twice as long after each further failure.
const REST: Duration = Duration::from_secs(10);
/// A peer that lied rests so long.
const REST_AFTER_LIE: Duration = Duration::from_secs(3600);
/// No rest is longer than this many doublings.
const DOUBLINGS: u32 = 8;

/// How a peer has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerRecord {
    /// Number of valid answers.
    pub good: u64,
    /// Failures since the last good answer.
    pub failures: u32,
    /// Answers that were no work for the root and the threshold.
    pub lies: u32,
    rests_until: Option<Instant>,
}

struct Peer {
    name: String,
    node: Arc<dyn NodeApi>,
    record: Mutex<PeerRecord>,
}

impl Peer {
    fn with<T>(&self, f: impl FnOnce(&mut PeerRecord) -> T) -> T {
        f(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Machines that answer `work_generate`: nodes, work servers with GPUs. Nothing that they say is believed:
/// the work is checked here. One that lies goes to the end of the queue for an hour, one that fails for a
/// while.
#[derive(Clone, Default)]
pub struct WorkPeers {
    peers: Arc<Vec<Peer>>,
    patience: Duration,
}

impl WorkPeers {
    /// These peers, by name. `patience`: how long one of them may take; a GPU takes 0.2 s for a live send.
    pub fn new<N: Into<String>>(
        peers: impl IntoIterator<Item = (N, Arc<dyn NodeApi>)>,
        patience: Duration,
    ) -> WorkPeers {
        let peers = peers
            .into_iter()
            .map(|(name, node)| Peer { name: name.into(), node, record: Mutex::default() })
            .collect();
        WorkPeers { peers: Arc::new(peers), patience }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// How each has done.
    pub fn records(&self) -> Vec<(String, PeerRecord)> {
        self.peers.iter().map(|p| (p.name.clone(), p.with(|r| r.clone()))).collect()
    }

    /// Ask one after another, the best first; those that rest are not asked. The answer is checked.
    pub async fn work(&self, root: BlockHash, threshold: u64) -> Result<Work, WorkError> {
        let mut order: Vec<&Peer> = self
            .peers
            .iter()
            .filter(|p| p.with(|r| r.rests_until.is_none_or(|t| t <= Instant::now())))
            .collect();
        order.sort_by_key(|p| p.with(|r| (r.lies, r.failures)));
        let mut said = Vec::new();
        for peer in order {
            match tokio::time::timeout(self.patience, peer.node.work_generate(root, threshold)).await {
                Ok(Ok(work)) => match work.check(&root, threshold) {
                    Ok(()) => {
                        peer.with(|r| {
                            r.good += 1;
                            r.failures = 0;
                            r.rests_until = None;
                        });
                        return Ok(work);
                    }
                    Err(lie) => {
                        tracing::warn!(peer = peer.name, %root, %work, "a work peer lied");
                        peer.with(|r| {
                            r.lies = r.lies.saturating_add(1);
                            r.rests_until = Some(Instant::now() + REST_AFTER_LIE);
                        });
                        said.push(format!("{} lied: {lie}", peer.name));
                    }
                },
                Ok(Err(error)) => {
                    failed(peer);
                    said.push(format!("{}: {error}", peer.name));
                }
                Err(_) => {
                    failed(peer);
                    said.push(format!("{} took longer than {} ms", peer.name, self.patience.as_millis()));
                }
            }
        }
        if said.is_empty() {
            said.push(if self.peers.is_empty() { "there are no peers" } else { "all peers rest" }.into());
        }
        Err(WorkError::NoSource { root, reason: said.join("; ") })
    }
}

fn failed(peer: &Peer) {
    peer.with(|r| {
        let rest = REST * 2_u32.pow(r.failures.min(DOUBLINGS));
        r.failures = r.failures.saturating_add(1);
        r.rests_until = Some(Instant::now() + rest);
    });
}
