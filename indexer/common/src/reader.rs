//! One subscriber of a [`Hub`]: what is sent next, and the same as server-sent events.

use crate::answer::text;
use crate::figures::{Figures, Number};
use crate::hub::{Event, Failure, Hub, PAGE};
use crate::limits::Seat;
use crate::topics::{Follower, Lagged};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream::unfold;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Selects the events that a subscriber receives.
pub trait Filter<E>: Send + 'static {
    /// Whether the subscriber receives this event.
    fn wants(&self, event: &E) -> bool;
}

/// The next thing to send to a subscriber.
#[derive(Debug)]
pub enum Next<E> {
    /// An event to send.
    Event(Arc<E>),
    /// There was no event within the keep-alive interval.
    Silence,
    /// The end: the reader was too slow and has missed this number of events.
    Dropped(u64),
    /// The end: the server is stopping.
    Stopping,
    /// The end: the store failed. The log has the error.
    Failed,
}

/// Counts an open stream.
struct Open(Number);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// What a subscription needs of its server.
pub struct Desk<E> {
    /// Source of the events.
    pub hub: Hub<E>,
    /// Metrics of the server.
    pub figures: Figures,
    /// Cancelled when the server stops.
    pub stopping: CancellationToken,
    /// Interval after which a stream without events yields [`Next::Silence`].
    pub keepalive: Duration,
}

impl<E> std::fmt::Debug for Desk<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("hub", &self.hub).finish_non_exhaustive()
    }
}

/// A subscription to a stream of events.
pub struct Reader<E, F> {
    /// The subscriber's filter; may be changed at any time.
    pub filter: F,
    desk: Desk<E>,
    ring: Follower<Arc<E>>,
    /// Older events that were read, to be sent first.
    backlog: VecDeque<Arc<E>>,
    /// Whether the store may hold more older events.
    is_behind: bool,
    last: i64,
    _seat: Seat,
    _open: Open,
}

impl<E, F: std::fmt::Debug> std::fmt::Debug for Reader<E, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("filter", &self.filter)
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl<E: Event, F: Filter<E>> Reader<E, F> {
    /// A subscriber. From here on no event is missed; with `since` none after that id.
    pub fn new(desk: Desk<E>, filter: F, since: Option<i64>, seat: Seat) -> Reader<E, F> {
        desk.figures.streams.inc();
        // First the ring, then the store: what comes between is in both, and sent once.
        let ring = desk.hub.subscribe();
        Reader {
            filter,
            ring,
            backlog: VecDeque::new(),
            is_behind: since.is_some(),
            last: since.unwrap_or_else(|| desk.hub.last()),
            _seat: seat,
            _open: Open(desk.figures.streams.clone()),
            desk,
        }
    }

    /// Takes these events for its whole past. They must have been read from the store after the subscriber
    /// was made, and stand in the order of their ids.
    pub fn begin_with(&mut self, events: impl IntoIterator<Item = E>) {
        self.backlog = events.into_iter().map(Arc::new).collect();
        self.is_behind = false;
    }

    /// The last id that was examined. A client that resumes after it misses nothing.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// Waits for the next event, silence or end. Cancel-safe: nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Next<E> {
        loop {
            while let Some(event) = self.backlog.pop_front() {
                self.last = event.id();
                if self.filter.wants(&event) {
                    return Next::Event(event);
                }
            }
            if self.is_behind {
                match self.desk.hub.source().after(self.last, PAGE).await {
                    Ok(page) => {
                        self.is_behind = page.is_full;
                        self.backlog = page.events.into_iter().map(Arc::new).collect();
                        // An event that cannot be read must not be asked for again.
                        if let (true, Some(last)) = (self.backlog.is_empty(), page.last) {
                            self.last = last;
                        }
                    }
                    Err(Failure { code, sentence }) => {
                        tracing::error!(code, error = sentence, "a stream could not resume");
                        return Next::Failed;
                    }
                }
                continue;
            }
            tokio::select! {
                () = self.desk.stopping.cancelled() => return Next::Stopping,
                event = self.ring.next() => match event {
                    Ok(event) if event.id() <= self.last => {}
                    Ok(event) => {
                        self.last = event.id();
                        if self.filter.wants(&event) {
                            return Next::Event(event);
                        }
                    }
                    Err(Lagged { missed }) => {
                        self.desk.figures.dropped.inc();
                        return Next::Dropped(missed);
                    }
                },
                () = tokio::time::sleep(self.desk.keepalive) => return Next::Silence,
            }
        }
    }

    /// As server-sent events. A silence is a comment, and so is why the stream ends; `server` is the subject
    /// of that sentence, such as `the server`.
    pub fn into_sse(self, server: &'static str) -> Response {
        let frames = unfold(Some(self), move |reader| async move {
            let mut reader = reader?;
            let end = |reader: &Reader<E, F>, why: String| {
                let last = reader.last;
                Bytes::from(format!(": {why}; reconnect with Last-Event-ID: {last}\n\n"))
            };
            let (frame, goes_on) = match reader.next().await {
                Next::Event(event) => (event.frame(), true),
                Next::Silence => (Bytes::from_static(b": keepalive\n\n"), true),
                Next::Dropped(missed) => {
                    let why =
                        format!("dropped: this stream was read too slowly, {missed} events are missing");
                    (end(&reader, why), false)
                }
                Next::Stopping => (end(&reader, format!("{server} is stopping")), false),
                Next::Failed => (end(&reader, format!("{server} failed")), false),
            };
            Some((Ok::<_, std::convert::Infallible>(frame), goes_on.then_some(reader)))
        });
        let mut response = text(StatusCode::OK, "text/event-stream", Body::from_stream(frames));
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

/// The id after which a stream resumes, as a client says it: in `Last-Event-ID`, or in the query.
pub fn resumes<'r>(headers: &'r HeaderMap, query: Option<&'r str>) -> Option<&'r str> {
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    header.or(query).map(str::trim)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::hub::{Page, PageFuture, Source};
    use crate::limits::Seats;
    use std::sync::Mutex;

    struct Number(i64);

    impl Event for Number {
        fn id(&self) -> i64 {
            self.0
        }
        fn frame(&self) -> Bytes {
            format!("id: {}\n\n", self.0).into()
        }
    }

    struct Odd;

    impl Filter<Number> for Odd {
        fn wants(&self, event: &Number) -> bool {
            event.0 % 2 == 1
        }
    }

    /// Ids that a store holds; multiples of seven cannot be read.
    #[derive(Default)]
    struct Ids(Mutex<Vec<i64>>);

    impl Source<Number> for Ids {
        fn after(&self, id: i64, most: i64) -> PageFuture<'_, Number> {
            let ids: Vec<i64> = self.0.lock().unwrap().iter().copied().filter(|it| *it > id).collect();
            let rows: Vec<i64> = ids.into_iter().take(usize::try_from(most).unwrap()).collect();
            let page = Page::of(&rows, most, |id| *id, |id| (id % 7 != 0).then_some(Number(*id)));
            Box::pin(async move { Ok(page) })
        }
    }

    struct Rig {
        ids: Arc<Ids>,
        hub: Hub<Number>,
        stopping: CancellationToken,
        figures: Figures,
    }

    impl Rig {
        fn new(ring: usize) -> Rig {
            let ids = Arc::new(Ids::default());
            let hub = Hub::new(ids.clone() as Arc<dyn Source<Number>>, ring, 0);
            let figures = Figures::new(&mut prometheus_client::registry::Registry::default());
            Rig { ids, hub, stopping: CancellationToken::new(), figures }
        }

        fn reader(&self, since: Option<i64>) -> Reader<Number, Odd> {
            let desk = Desk {
                hub: self.hub.clone(),
                figures: self.figures.clone(),
                stopping: self.stopping.clone(),
                keepalive: Duration::from_secs(3_600),
            };
            Reader::new(desk, Odd, since, Seats::new(9, 9).seat(None).unwrap())
        }

        /// Commits ids up to this one.
        fn commit(&self, last: i64) {
            let mut ids = self.ids.0.lock().unwrap();
            let first = ids.last().copied().unwrap_or(0) + 1;
            ids.extend(first..=last);
            self.hub.wake();
        }
    }

    async fn hears(reader: &mut Reader<Number, Odd>, count: usize) -> Vec<i64> {
        let mut heard = Vec::new();
        for _ in 0..count {
            match reader.next().await {
                Next::Event(event) => heard.push(event.0),
                other => panic!("{:?} after {heard:?}", other.map_id()),
            }
        }
        heard
    }

    impl Next<Number> {
        fn map_id(self) -> String {
            match self {
                Next::Event(event) => event.0.to_string(),
                Next::Silence => "silence".to_owned(),
                Next::Dropped(missed) => format!("dropped {missed}"),
                Next::Stopping => "stopping".to_owned(),
                Next::Failed => "failed".to_owned(),
            }
        }
    }

    #[tokio::test]
    async fn a_reader_hears_the_past_and_the_present_once() {
        let rig = Rig::new(1_024);
        rig.commit(600);
        let run = tokio::spawn(rig.hub.clone().run(CancellationToken::new()));
        let mut past = rig.reader(Some(0));
        let mut now = rig.reader(None);
        let wanted: Vec<i64> = (1..=700).filter(|id| id % 2 == 1 && id % 7 != 0).collect();
        let (early, late): (Vec<i64>, Vec<i64>) = wanted.iter().partition(|id| **id <= 600);
        assert_eq!(hears(&mut past, early.len()).await, early);
        while rig.hub.last() < 600 {
            tokio::task::yield_now().await;
        }
        rig.commit(700);
        assert_eq!(hears(&mut past, late.len()).await, late);
        // The one that began at once has heard all of it by the ring.
        assert_eq!(hears(&mut now, wanted.len()).await, wanted);
        run.abort();
    }

    #[tokio::test]
    async fn a_reader_that_begins_with_events_hears_none_of_them_again() {
        let rig = Rig::new(1_024);
        rig.commit(9);
        let mut readers = [rig.reader(None), rig.reader(Some(3)), rig.reader(Some(9))];
        for reader in &mut readers[..2] {
            reader.begin_with([Number(5), Number(9)]);
        }
        readers[2].begin_with([]);
        let run = tokio::spawn(rig.hub.clone().run(CancellationToken::new()));
        rig.commit(11);
        for (reader, heard) in readers.iter_mut().zip([&[5, 9, 11][..], &[5, 9, 11], &[11]]) {
            assert_eq!(hears(reader, heard.len()).await, heard);
        }
        run.abort();
    }

    #[tokio::test]
    async fn a_slow_reader_is_dropped_and_a_stop_ends_every_reader() {
        let rig = Rig::new(2);
        let mut slow = rig.reader(None);
        let mut other = rig.reader(Some(0));
        for id in 1..=5 {
            let _ = rig.hub.subscribe();
            rig.commit(id);
        }
        let run = tokio::spawn(rig.hub.clone().run(CancellationToken::new()));
        while rig.hub.last() < 5 {
            tokio::task::yield_now().await;
        }
        assert_eq!(slow.next().await.map_id(), "dropped 3");
        assert_eq!(rig.figures.dropped.get(), 1);
        assert_eq!(hears(&mut other, 3).await, [1, 3, 5]);
        assert_eq!(rig.figures.streams.get(), 2);
        rig.stopping.cancel();
        let mut third = rig.reader(None);
        assert_eq!(third.next().await.map_id(), "stopping");
        drop((slow, other, third));
        assert_eq!(rig.figures.streams.get(), 0);
        run.abort();
    }
}
