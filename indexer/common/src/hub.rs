//! A stream of events: they leave in the order of their ids, which a store has given them.
//!
//! One task reads new events from the store and hands each to all subscribers through one [feed](Feed), so that ten
//! thousand idle streams cost ten thousand cursors and no copies. A subscriber that falls behind by a whole
//! ring is dropped and told why; it comes back with its last id and misses nothing.

use crate::topics::{Feed, Follower};
use axum::body::Bytes;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// An event of a stream, as subscribers receive it.
pub trait Event: Send + Sync + 'static {
    /// Id of the event; ids ascend.
    fn id(&self) -> i64;
    /// The event as a frame of server-sent events, with the empty line that ends it.
    fn frame(&self) -> Bytes;
}

/// Events that a store has returned.
#[derive(Debug)]
pub struct Page<E> {
    /// The events that can be read, in the order of their ids.
    pub events: Vec<E>,
    /// The last id that was examined, also where its event could not be read.
    pub last: Option<i64>,
    /// Whether the page has as many rows as were asked for, so that there may be more.
    pub is_full: bool,
}

impl<E> Page<E> {
    /// Makes a page from rows in the order of their ids, of which `most` were asked for. `read` makes an
    /// event from a row, or nothing when the row cannot be read.
    pub fn of<R>(
        rows: &[R],
        most: i64,
        id: impl Fn(&R) -> i64,
        read: impl FnMut(&R) -> Option<E>,
    ) -> Page<E> {
        let is_full = i64::try_from(rows.len()).is_ok_and(|rows| rows >= most);
        Page { last: rows.last().map(id), events: rows.iter().filter_map(read).collect(), is_full }
    }
}

/// Why a store's events could not be read: a number and a text for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Stable number of the store's error.
    pub code: u32,
    /// Text of the store's error.
    pub sentence: String,
}

/// The future of a page of events.
pub type PageFuture<'a, E> = Pin<Box<dyn Future<Output = Result<Page<E>, Failure>> + Send + 'a>>;

/// Reads events from the store.
pub trait Source<E>: Send + Sync + 'static {
    /// Up to `most` events after this id, in order.
    fn after(&self, id: i64, most: i64) -> PageFuture<'_, E>;
}

/// Maximum number of events that are read at once.
pub const PAGE: i64 = 256;

/// Distributes new events to all subscribers of a stream. Clones share the state.
pub struct Hub<E> {
    source: Arc<dyn Source<E>>,
    ring: Feed<Arc<E>>,
    wake: Arc<Notify>,
    last: Arc<AtomicI64>,
}

impl<E> Clone for Hub<E> {
    fn clone(&self) -> Hub<E> {
        let Hub { source, ring, wake, last } = self;
        Hub { source: source.clone(), ring: ring.clone(), wake: wake.clone(), last: last.clone() }
    }
}

impl<E> std::fmt::Debug for Hub<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("last", &self.last).finish_non_exhaustive()
    }
}

impl<E: Event> Hub<E> {
    /// Creates a hub that keeps `ring` events for subscribers that are behind, and begins after the id
    /// `last`.
    pub fn new(source: Arc<dyn Source<E>>, ring: usize, last: i64) -> Hub<E> {
        Hub {
            source,
            ring: Feed::new(ring, usize::MAX),
            wake: Arc::default(),
            last: Arc::new(AtomicI64::new(last)),
        }
    }

    /// Call when the store has new events.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Subscribes to the events from now on.
    pub fn subscribe(&self) -> Follower<Arc<E>> {
        self.ring.follow()
    }

    /// Id of the last event that was distributed.
    pub fn last(&self) -> i64 {
        self.last.load(Ordering::Acquire)
    }

    /// The store that the events are read from.
    pub fn source(&self) -> &dyn Source<E> {
        &*self.source
    }

    /// Distributes new events of the store until cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        loop {
            let trouble = loop {
                match self.source.after(self.last(), PAGE).await {
                    Ok(page) => {
                        for event in page.events {
                            let id = event.id();
                            self.ring.push(id.unsigned_abs(), event.frame().len(), Arc::new(event));
                            self.last.store(id, Ordering::Release);
                        }
                        match page.last {
                            Some(id) => self.last.store(id, Ordering::Release),
                            None => break false,
                        }
                    }
                    Err(Failure { code, sentence }) => {
                        tracing::error!(code, error = sentence, "the streams' events cannot be read");
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
