//! The public stream: events leave in the order of their ids, which the store has given them.
//!
//! One task reads new events from the store and hands each to all subscribers through one ring, so that ten
//! thousand idle streams cost ten thousand cursors and no copies. A subscriber that falls behind by a whole
//! ring is dropped and told why; it comes back with `Last-Event-ID` and misses nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use zx1_market::Raw;
use zx1_market::wire::SseEvent;

use crate::error::Result;
use crate::store::{EventRow, Store};

/// An event, ready to be sent.
#[derive(Debug)]
pub struct Event {
    /// Its id.
    pub id: i64,
    /// What happened, for filters.
    pub event: SseEvent,
    /// `id: …`, `data: …` and the empty line.
    pub frame: axum::body::Bytes,
}

impl Event {
    /// Of a row; `None` when it cannot be read.
    pub fn of(row: &EventRow) -> Option<Event> {
        let event = serde_json::from_str(&row.body).ok()?;
        let frame = format!("id: {}\ndata: {}\n\n", row.id, row.body).into();
        Some(Event { id: row.id, event, frame })
    }

    /// Whether a subscriber with this filter gets it.
    pub fn passes(&self, min_bounty: Raw, status: Option<&str>) -> bool {
        self.event.passes(min_bounty, status)
    }
}

/// The stream. Clones share everything.
#[derive(Debug, Clone)]
pub struct Events {
    ring: broadcast::Sender<Arc<Event>>,
    wake: Arc<Notify>,
    last: Arc<AtomicI64>,
}

/// So many events are read at once.
const BATCH: i64 = 256;

impl Events {
    /// A stream that holds `ring` events for subscribers that are a little behind.
    pub fn new(ring: usize) -> Events {
        let (ring, _) = broadcast::channel(ring.max(1));
        Events { ring, wake: Arc::default(), last: Arc::default() }
    }

    /// There are new events in the store.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// From now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Event>> {
        self.ring.subscribe()
    }

    /// The last event that was handed out.
    pub fn last(&self) -> i64 {
        self.last.load(Ordering::Acquire)
    }

    /// Begin after what the store holds now.
    pub async fn begin(&self, store: &dyn Store) -> Result<()> {
        self.last.store(store.last_event().await?, Ordering::Release);
        Ok(())
    }

    /// Hand out what the store gets, until cancelled.
    pub async fn run(self, store: Arc<dyn Store>, cancel: CancellationToken) {
        loop {
            let mut trouble = false;
            loop {
                match store.events_after(self.last(), BATCH).await {
                    Ok(rows) if rows.is_empty() => break,
                    Ok(rows) => {
                        for row in rows {
                            if let Some(event) = Event::of(&row) {
                                // Nobody listening is no error.
                                let _ = self.ring.send(Arc::new(event));
                            }
                            self.last.store(row.id, Ordering::Release);
                        }
                    }
                    Err(error) => {
                        tracing::error!(code = error.code(), %error, "events cannot be read");
                        trouble = true;
                        break;
                    }
                }
            }
            let retry = async {
                if trouble {
                    tokio::time::sleep(Duration::from_secs(1)).await
                } else {
                    std::future::pending().await
                }
            };
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.wake.notified() => {}
                () = retry => {}
            }
        }
    }
}
