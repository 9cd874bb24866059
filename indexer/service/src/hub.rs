//! The streams: events leave in the order of their ids, which the store has given them.
//!
//! One task reads new events from the store and hands each to all subscribers through one ring, so that a
//! thousand readers cost a thousand cursors and no copies. Who falls behind by a whole ring is dropped and
//! told so; it comes back with its last id and misses nothing.

use crate::error::Result;
use crate::store::{Find, Store, StoredStream};
use axum::body::Bytes;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

/// So many events are read at once.
pub const PAGE: i64 = 256;

/// An event, ready to be sent.
#[derive(Debug, Clone)]
pub struct Told {
    /// Its id.
    pub id: i64,
    /// Its type.
    pub kind: String,
    /// The agent that it is about.
    pub agent: Option<[u8; 32]>,
    /// The JSON, id included.
    pub json: axum::extract::ws::Utf8Bytes,
    /// As a frame of server-sent events.
    pub frame: Bytes,
}

impl Told {
    /// Of a row.
    pub fn of(stored: &StoredStream) -> Self {
        let StoredStream { id, row } = stored;
        // The body is an object that this crate wrote.
        let rest = row.body.strip_prefix('{').unwrap_or("}");
        let json = format!("{{\"id\":{id},{rest}");
        let frame = format!("id: {id}\nevent: {}\ndata: {json}\n\n", row.kind).into();
        let agent = row.agent.as_deref().map(crate::store::fixed);
        Self { id: *id, kind: row.kind.clone(), agent, json: json.into(), frame }
    }

    /// The JSON as a value.
    pub fn value(&self) -> Option<Value> {
        serde_json::from_str(self.json.as_str()).ok()
    }
}

/// What a subscriber wants; empty sets want everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Types.
    pub kinds: BTreeSet<String>,
    /// Agents.
    pub agents: BTreeSet<[u8; 32]>,
}

impl Filter {
    /// Whether the subscriber gets this event.
    pub fn wants(&self, told: &Told) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&told.kind))
            && (self.agents.is_empty() || told.agent.is_some_and(|agent| self.agents.contains(&agent)))
    }
}

/// The hub. Clones share everything.
#[derive(Debug, Clone)]
pub struct Hub {
    ring: broadcast::Sender<Arc<Told>>,
    wake: Arc<Notify>,
    last: Arc<AtomicI64>,
}

impl Hub {
    /// A hub that holds `ring` events for subscribers that are a little behind.
    pub fn new(ring: usize) -> Self {
        let (ring, _) = broadcast::channel(ring.max(1));
        Self { ring, wake: Arc::default(), last: Arc::default() }
    }

    /// There are new events in the store.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// From now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Told>> {
        self.ring.subscribe()
    }

    /// The last event that was handed out.
    pub fn last(&self) -> i64 {
        self.last.load(Ordering::Acquire)
    }

    /// Begins after what the store holds now.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn begin(&self, store: &dyn Store) -> Result<()> {
        self.last.store(store.stream_bounds().await?.0, Ordering::Release);
        Ok(())
    }

    /// Events after this one, in order.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn after(store: &dyn Store, id: i64) -> Result<Vec<Told>> {
        let find = Find::all().and("id", ">", id).order(&["id"]).limit(PAGE);
        Ok(store.stream(find).await?.iter().map(Told::of).collect())
    }

    /// Hands out what the store gets, until cancelled.
    pub async fn run(self, store: Arc<dyn Store>, cancel: CancellationToken) {
        loop {
            let trouble = loop {
                match Self::after(&*store, self.last()).await {
                    Ok(told) if told.is_empty() => break false,
                    Ok(told) => {
                        for told in told {
                            let id = told.id;
                            // Nobody listening is no error.
                            let _ = self.ring.send(Arc::new(told));
                            self.last.store(id, Ordering::Release);
                        }
                    }
                    Err(error) => {
                        tracing::error!(code = error.code(), %error, "the streams' events cannot be read");
                        break true;
                    }
                }
            };
            let retry = Duration::from_secs(1);
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.wake.notified() => {}
                () = tokio::time::sleep(retry), if trouble => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StreamRow;

    fn told(kind: &str, agent: Option<u8>) -> Told {
        let row = StreamRow {
            kind: kind.to_owned(),
            agent: agent.map(|byte| vec![byte; 32]),
            body: format!("{{\"type\":\"{kind}\"}}"),
            ..StreamRow::default()
        };
        Told::of(&StoredStream { id: 7, row })
    }

    #[test]
    fn an_event_carries_its_id_in_both_forms() {
        let told = told("agent_joined", None);
        assert_eq!(told.json.as_str(), "{\"id\":7,\"type\":\"agent_joined\"}");
        let frame = String::from_utf8(told.frame.to_vec()).unwrap_or_default();
        assert_eq!(frame, format!("id: 7\nevent: agent_joined\ndata: {}\n\n", told.json.as_str()));
    }

    #[test]
    fn a_filter_without_words_wants_everything() {
        let mut filter = Filter::default();
        assert!(filter.wants(&told("message", None)));
        filter.kinds.insert("agent_joined".to_owned());
        assert!(!filter.wants(&told("message", None)));
        assert!(filter.wants(&told("agent_joined", Some(1))));
        filter.agents.insert([2; 32]);
        assert!(!filter.wants(&told("agent_joined", Some(1))));
        assert!(!filter.wants(&told("agent_joined", None)));
        assert!(filter.wants(&told("agent_joined", Some(2))));
    }
}
