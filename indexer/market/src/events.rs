//! The public stream's events: the store gives them their ids, and a [`Hub`] hands them out.

use std::sync::Arc;

use zx1_market::Raw;
use zx1_market::wire::SseEvent;
use zx1_server::hub::{self, Failure, Hub, Page, PageFuture, Source};
use zx1_server::reader::Filter;

use crate::error::Result;
use crate::store::{EventRow, Store};

/// An event, ready to be sent.
#[derive(Debug)]
pub struct Event {
    /// The event's id. Ids rise, and clients resume after the last one that they saw.
    pub id: i64,
    /// The event as subscribers receive it; filters read it.
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
}

impl hub::Event for Event {
    fn id(&self) -> i64 {
        self.id
    }

    fn frame(&self) -> axum::body::Bytes {
        self.frame.clone()
    }
}

/// A subscriber's filter.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// Events with a smaller bounty or none are left out.
    pub(crate) min_bounty: Raw,
    /// Only events with this status.
    pub(crate) status: Option<String>,
}

impl Filter<Event> for Wanted {
    fn wants(&self, event: &Event) -> bool {
        event.event.passes(self.min_bounty, self.status.as_deref())
    }
}

/// The store's events.
struct Stored(Arc<dyn Store>);

impl Source<Event> for Stored {
    fn after(&self, id: i64, most: i64) -> PageFuture<'_, Event> {
        Box::pin(async move {
            let rows = self.0.events_after(id, most).await;
            let rows = rows.map_err(|error| Failure { code: error.code(), sentence: error.to_string() })?;
            Ok(Page::of(&rows, most, |row| row.id, Event::of))
        })
    }
}

/// The stream. Clones share everything.
pub type Events = Hub<Event>;

/// A stream of what the store gets from now on, with a ring of so many events.
pub async fn stream(store: Arc<dyn Store>, ring: usize) -> Result<Events> {
    let last = store.last_event().await?;
    Ok(Hub::new(Arc::new(Stored(store)), ring, last))
}
