//! GET /contracts/stream: server-sent events (spec, "SSE events"; `notes/fix-wire.md`).

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream::unfold;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use zx1_market::{Raw, State as Stand};

use super::answer::text_with;
use super::limits::Seat;
use super::reads::{parameter, query};
use super::{App, Client};
use crate::error::{Error, Result};
use crate::events::Event;

/// What older events are read in one go when a stream resumes.
const PAGE: i64 = 256;

struct Live {
    app: App,
    ring: Receiver<Arc<Event>>,
    /// Older events that were read, to be sent first.
    backlog: VecDeque<Event>,
    /// Whether the store may hold more older events.
    behind: bool,
    /// The last id that was looked at.
    last: i64,
    min_bounty: Raw,
    status: Option<String>,
    ended: bool,
    _seat: Seat,
    _open: Open,
}

/// Counts an open stream.
struct Open(App);

impl Open {
    fn new(app: &App) -> Open {
        app.engine.metrics().streams.inc();
        Open(app.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.engine.metrics().streams.dec();
    }
}

/// Open a stream. From here on no event is missed; with `Last-Event-ID` none since that one.
pub(super) async fn stream(State(app): State<App>, request: Request) -> Result<Response> {
    let query = query(request.uri().query());
    let min_bounty = match parameter(&query, "min_bounty").filter(|text| !text.is_empty()) {
        Some(text) => Raw::from_xno(text).map_err(|_| Error::Query("min_bounty"))?,
        None => Raw::ZERO,
    };
    let status = match parameter(&query, "status").filter(|text| !text.is_empty()) {
        Some("retry") => Some("retry".to_owned()),
        Some(word) => Some(word.parse::<Stand>().map_err(|_| Error::Query("status"))?.to_string()),
        None => None,
    };
    let since = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
    let since = since.or_else(|| parameter(&query, "last_event_id"));
    let since = match since {
        Some(text) => Some(text.trim().parse::<i64>().map_err(|_| Error::Query("last_event_id"))?),
        None => None,
    };
    if app.stopping.is_cancelled() {
        return Err(Error::Stopping);
    }
    let seat = app.streams.seat(request.extensions().get::<Client>().map(|client| client.0))?;
    // First the ring, then the store: what comes between is in both, and sent once.
    let ring = app.engine.events().subscribe();
    let live = Live {
        behind: since.is_some(),
        last: since.unwrap_or_else(|| app.engine.events().last()),
        ring,
        backlog: VecDeque::new(),
        min_bounty,
        status,
        ended: false,
        _seat: seat,
        _open: Open::new(&app),
        app,
    };
    let frames = unfold(live, |mut live| async move {
        live.next().await.map(|frame| (Ok::<_, std::convert::Infallible>(frame), live))
    });
    let mut response = text_with(StatusCode::OK, "text/event-stream", Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

impl Live {
    fn wants(&self, event: &Event) -> bool {
        event.passes(self.min_bounty, self.status.as_deref())
    }

    fn end(&mut self, comment: String) -> Option<Bytes> {
        self.ended = true;
        Some(comment.into())
    }

    /// The next frame, or the end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        loop {
            while let Some(event) = self.backlog.pop_front() {
                self.last = event.id;
                if self.wants(&event) {
                    return Some(event.frame);
                }
            }
            if self.behind {
                match self.app.engine.store().events_after(self.last, PAGE).await {
                    Ok(rows) => {
                        self.behind = rows.len() == usize::try_from(PAGE).unwrap_or(usize::MAX);
                        self.backlog = rows.iter().filter_map(Event::of).collect();
                        // A row that cannot be read must not be asked for again.
                        if self.backlog.is_empty()
                            && let Some(row) = rows.last()
                        {
                            self.last = row.id;
                        }
                    }
                    Err(error) => {
                        tracing::error!(code = error.code(), %error, "a stream could not resume");
                        return self.end(": the server failed; reconnect\n\n".to_owned());
                    }
                }
                continue;
            }
            let keepalive = self.app.limits.keepalive();
            tokio::select! {
                () = self.app.stopping.cancelled() => {
                    return self.end(": the server is stopping; reconnect\n\n".to_owned());
                }
                event = self.ring.recv() => match event {
                    Ok(event) if event.id <= self.last => {}
                    Ok(event) => {
                        self.last = event.id;
                        if self.wants(&event) {
                            return Some(event.frame.clone());
                        }
                    }
                    Err(RecvError::Lagged(missed)) => {
                        self.app.engine.metrics().dropped.inc();
                        let last = self.last;
                        return self.end(format!(
                            ": dropped: this stream was read too slowly, {missed} events are missing; \
                             reconnect with Last-Event-ID: {last}\n\n"
                        ));
                    }
                    Err(RecvError::Closed) => return None,
                },
                () = tokio::time::sleep(keepalive) => return Some(Bytes::from_static(b": keepalive\n\n")),
            }
        }
    }
}
