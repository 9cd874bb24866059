//! What a node hears that only observes the mesh: `message` events, ratings, and the map of its peers.
//!
//! Nothing is read before the index is live, since ratings are judged by the keys that it knows. Messages are bounded in
//! rate, ratings apart from all others, stay for hours only, and say who said what, never the payload. Ratings go the way of all
//! ratings that are brought: they make the real-time scores, which stand apart from those of batches (decision D2). Up to
//! where the observer was read stands in the transaction that stores what it said, so that a restart neither loses nor
//! doubles any.

use crate::error::Result;
use crate::index::{Index, now_ms};
use crate::merge::stream_row;
use crate::ratings;
use crate::status::Phase;
use crate::store::{AgentRow, Commit, Find, StreamRow};
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use zx1_operator::node::NodeClient;
use zx1_operator::node::wire::{MAX_PAGE, MeshMap, Observed, ObservedPage};
use zx1_protocol::ids::AgentId;

/// How often the observer is asked for messages.
const EVERY: Duration = Duration::from_secs(1);
/// How often it is asked for its peers.
const MAP_EVERY: Duration = Duration::from_secs(5);
/// Seconds over which the rate is averaged.
const SECONDS: u64 = 200;
/// The named fact that says up to where the observer was read.
const MARK: &str = "mesh";

/// The mesh as the observer last described it, with the time in Unix milliseconds.
pub type Map = Arc<RwLock<Option<(i64, MeshMap)>>>;

/// How many messages may be taken.
#[derive(Debug)]
struct Allowance {
    per_second: u64,
    left: u64,
    at: Instant,
}

impl Allowance {
    fn new(per_second: u32, now: Instant) -> Self {
        let per_second = u64::from(per_second.max(1));
        Self { per_second, left: per_second.saturating_mul(SECONDS), at: now }
    }

    /// Whether one more may be taken now.
    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs();
        self.at += Duration::from_secs(passed);
        let most = self.per_second.saturating_mul(SECONDS);
        self.left = self.left.saturating_add(passed.saturating_mul(self.per_second)).min(most);
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}

/// The job that reads an observing node.
#[derive(Debug)]
pub struct Mesh {
    index: Arc<Index>,
    map: Map,
    /// For ratings, and for everything else, so that neither crowds the other out.
    allowances: [Allowance; 2],
    is_away: bool,
}

impl Mesh {
    /// Of this index.
    pub fn new(index: Arc<Index>, map: Map) -> Self {
        let now = Instant::now();
        let allowances = [(); 2].map(|()| Allowance::new(index.config.mesh.per_second, now));
        Self { index, map, allowances, is_away: false }
    }

    /// Reads until cancelled.
    pub async fn run(mut self, cancel: CancellationToken) {
        let mut mapped: Option<Instant> = None;
        loop {
            let wants_map = mapped.is_none_or(|mapped| mapped.elapsed() >= MAP_EVERY);
            if wants_map {
                mapped = Some(Instant::now());
            }
            // A request is cut, a transaction is finished.
            let Some(looked) = cancel.run_until_cancelled(self.look(wants_map)).await else { return };
            self.say(looked.err());
            if cancel.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_none() {
                return;
            }
        }
    }

    fn say(&mut self, trouble: Option<Trouble>) {
        let was_away = std::mem::replace(&mut self.is_away, matches!(trouble, Some(Trouble::Away(_))));
        self.index.metrics.mesh.set(i64::from(!self.is_away));
        match trouble {
            Some(Trouble::Away(why)) if !was_away => {
                tracing::warn!("the observing node of the mesh does not answer: {why}");
            }
            Some(Trouble::Store(error)) => {
                tracing::warn!(code = error.code(), %error, "messages of the mesh could not be stored");
            }
            None if was_away => tracing::info!("the observing node of the mesh answers again"),
            _ => {}
        }
    }

    /// Reads what is new; the peers too when they are wanted.
    async fn look(&mut self, wants_map: bool) -> Result<(), Trouble> {
        // Read each time: a node that was started anew has another address.
        let client = NodeClient::observer(&self.index.config.mesh.folder)?;
        if wants_map {
            let map = client.mesh().await?;
            *self.map.write().unwrap_or_else(PoisonError::into_inner) = Some((now_ms(), map));
        }
        while self.index.status.get().phase == Phase::Live {
            let mark =
                self.index.store.meta().await.map_err(|error| Trouble::Store(error.into()))?.remove(MARK);
            let page = client.observed(mark.as_deref(), MAX_PAGE).await?;
            let is_last = page.messages.len() < MAX_PAGE;
            self.store(page, mark).await.map_err(Trouble::Store)?;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Stores a page, with where to go on.
    async fn store(&mut self, page: ObservedPage, mark: Option<String>) -> Result<()> {
        let metrics = &self.index.metrics;
        if page.has_gap && mark.is_some() {
            metrics.message_gaps.inc();
            tracing::warn!(
                "messages of the mesh may have been missed; the node was started anew, or was not read in time"
            );
        }
        let Some(next) = page.next.filter(|next| mark.as_ref() != Some(next)) else { return Ok(()) };
        let now = Instant::now();
        let [ratings, others] = &mut self.allowances;
        let may = |message: &&Observed| {
            let allowance = if message.envelope.is_some() { &mut *ratings } else { &mut *others };
            allowance.take(now)
        };
        let messages: Vec<_> = page.messages.iter().filter(may).collect();
        let left_out = page.messages.len().saturating_sub(messages.len());
        metrics.messages.inc_by(messages.len() as u64);
        metrics.messages_left_out.inc_by(left_out as u64);
        let senders: BTreeSet<AgentId> =
            messages.iter().filter_map(|message| message.sender.parse().ok()).collect();
        let known = self.index.store.agents(Find::any("mint", senders)).await?;
        let known: HashMap<AgentId, AgentRow> = known.into_iter().map(|row| (row.mint, row)).collect();
        let now = now_ms();
        let commit = Commit {
            stream: messages.iter().map(|message| told(message, &known, now)).collect(),
            meta: vec![(MARK, next)],
            ..Commit::default()
        };
        // Through the door of all ratings, which judges them anew. Before the mark: a restart brings them again.
        for message in &messages {
            let Some(rating) = message.envelope.as_deref().and_then(|hex| hex::decode(hex).ok()) else {
                continue;
            };
            match ratings::put(&self.index, &rating).await {
                Ok(_) => {}
                // What the index does not know yet of a key or an agent stops nothing.
                Err(crate::Error::EnvelopeRefused(why)) => {
                    tracing::debug!("a rating that was heard is not taken: {why}")
                }
                Err(error) => return Err(error),
            }
        }
        let index = Arc::clone(&self.index);
        // Not cut where it was begun.
        let written = tokio::spawn(async move {
            let _writer = index.writer().await;
            index.write_rows(commit).await
        });
        written.await.unwrap_or(Ok(()))
    }
}

/// Why nothing was read.
#[derive(Debug)]
enum Trouble {
    Away(zx1_operator::Error),
    Store(crate::Error),
}

impl From<zx1_operator::Error> for Trouble {
    fn from(error: zx1_operator::Error) -> Self {
        Self::Away(error)
    }
}

/// The `message` event (protocol.md, 9): never the payload.
fn told(message: &Observed, known: &HashMap<AgentId, AgentRow>, now: i64) -> StreamRow {
    let sender = message.sender.parse().ok().and_then(|sender: AgentId| known.get(&sender));
    let mut fields = json!({
        "source": "mesh",
        "hash": message.hash,
        "version": message.version,
        "msg_type": message.msg_type,
        "sender": message.sender,
        "recipient": message.recipient,
        "timestamp": message.timestamp,
        "block_ref": message.block_ref,
        // Beyond what numbers of JSON are read as.
        "nonce": message.nonce.to_string(),
        "conversation": message.conversation,
        "payload_hash": message.payload_hash,
        "payload_len": message.payload_len,
    });
    if let (Some(fields), Some(summary)) = (fields.as_object_mut(), &message.summary) {
        fields.insert("summary".to_owned(), summary.clone());
    }
    stream_row("message", format!("mesh/{}", message.hash), sender, None, now, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn message(msg_type: &str, summary: Option<Value>) -> Observed {
        Observed {
            id: "1-1".to_owned(),
            hash: "ab".repeat(32),
            version: 1,
            msg_type: msg_type.to_owned(),
            sender: AgentId([2; 32]).to_string(),
            recipient: None,
            timestamp: 1_700_000_000_000_000,
            block_ref: 7,
            nonce: u64::MAX,
            conversation: "09".repeat(16),
            payload_hash: "cd".repeat(32),
            payload_len: 3,
            summary,
            envelope: None,
            heard_micros: 1_700_000_000_000_001,
        }
    }

    #[test]
    fn a_message_event_has_the_header_and_never_more() {
        let row = told(&message("advertise", None), &HashMap::new(), 5);
        assert_eq!((row.kind.as_str(), row.origin), ("message", format!("mesh/{}", "ab".repeat(32))));
        let body: Value = serde_json::from_str(&row.body).unwrap();
        let names: BTreeSet<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
        let own = [
            "source",
            "hash",
            "version",
            "msg_type",
            "sender",
            "recipient",
            "timestamp",
            "block_ref",
            "nonce",
            "conversation",
            "payload_hash",
            "payload_len",
        ];
        let common = ["type", "slot", "block_time", "at", "agent", "agent_name", "signature", "retracts"];
        assert_eq!(names, own.into_iter().chain(common).collect());
        assert_eq!(body["nonce"], u64::MAX.to_string());
        let rated = told(&message("feedback", Some(json!({ "score": -40 }))), &HashMap::new(), 5);
        let body: Value = serde_json::from_str(&rated.body).unwrap();
        assert_eq!(body["summary"]["score"], -40);
    }

    #[test]
    fn more_than_the_rate_is_left_out() {
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut allowance = Allowance::new(10, now);
        let mut taken = |at: Instant| (0..5_000).filter(|_| allowance.take(at)).count();
        assert_eq!(
            [taken(now), taken(after(3)), taken(after(3)), taken(after(10_000))],
            [2_000, 30, 0, 2_000]
        );
    }
}
