//! GET /v1/stream (server-sent events) and GET /v1/ws (a websocket): the same events, filters and ids.

use super::App;
use super::answer::text;
use super::limits::Seat;
use super::query::{Query, key};
use crate::error::{Error, Result};
use crate::hub::{Filter, Hub, PAGE, Told};
use crate::merge::KINDS;
use crate::store::signed;
use axum::body::{Body, Bytes};
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream::unfold;
use serde::Deserialize;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// A client's own message: at most this long.
const MAX_MESSAGE: usize = 64 << 10;

/// Counts an open stream.
struct Open(App);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.index.metrics.streams.dec();
    }
}

/// One subscriber.
struct Reader {
    app: App,
    ring: Receiver<Arc<Told>>,
    /// Older events that were read, to be sent first.
    backlog: VecDeque<Arc<Told>>,
    /// Whether the store may hold more older events.
    behind: bool,
    /// The last id that was looked at.
    last: i64,
    filter: Filter,
    _seat: Seat,
    _open: Open,
}

/// What comes next.
enum Next {
    Event(Arc<Told>),
    /// Nothing for a while.
    Silence,
    /// The reader was too slow: so many events are missing.
    Dropped(u64),
    Stopping,
    Failed,
}

fn filter(query: &Query) -> Result<Filter> {
    let words = query.get("types").unwrap_or_default();
    let agents = query.get("agent").unwrap_or_default();
    build(words.split(','), agents.split(','))
}

fn build<'t>(kinds: impl Iterator<Item = &'t str>, agents: impl Iterator<Item = &'t str>) -> Result<Filter> {
    let mut filter = Filter::default();
    for kind in kinds.map(str::trim).filter(|kind| !kind.is_empty()) {
        if !KINDS.contains(&kind) {
            return Err(Error::Parameter { name: "types", detail: "one of its words is no type of event" });
        }
        filter.kinds.insert(kind.to_owned());
    }
    for agent in agents.map(str::trim).filter(|agent| !agent.is_empty()) {
        let bad = Error::Parameter { name: "agent", detail: "one of its words is no address in base58" };
        filter.agents.insert(key(agent).ok_or(bad)?);
    }
    Ok(filter)
}

impl Reader {
    /// Of a request. From here on no event is missed; with a last id none since that one.
    fn new(app: &App, request: &Request) -> Result<Self> {
        let query = Query::read(request.uri(), &["types", "agent", "last_event_id"])?;
        let filter = filter(&query)?;
        let since = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
        let since = since.or_else(|| query.get("last_event_id"));
        let bad =
            |_| Error::Parameter { name: "last_event_id", detail: "it must be the id of an event, or 0" };
        let since: Option<i64> =
            since.map(|text| text.trim().parse::<u64>()).transpose().map_err(bad)?.map(signed);
        if app.stopping.is_cancelled() {
            return Err(Error::Stopping);
        }
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let seat = app.streams.seat(peer)?;
        app.index.metrics.streams.inc();
        // First the ring, then the store: what comes between is in both, and sent once.
        let ring = app.index.hub.subscribe();
        Ok(Self {
            behind: since.is_some(),
            last: since.unwrap_or_else(|| app.index.hub.last()),
            ring,
            backlog: VecDeque::new(),
            filter,
            _seat: seat,
            _open: Open(app.clone()),
            app: app.clone(),
        })
    }

    async fn next(&mut self) -> Next {
        let keepalive = Duration::from_millis(self.app.index.config.limits.keepalive_ms.max(100));
        loop {
            while let Some(told) = self.backlog.pop_front() {
                self.last = told.id;
                if self.filter.wants(&told) {
                    return Next::Event(told);
                }
            }
            if self.behind {
                match Hub::after(&*self.app.index.store, self.last).await {
                    Ok(told) => {
                        self.behind = told.len() == usize::try_from(PAGE).unwrap_or(usize::MAX);
                        self.backlog = told.into_iter().map(Arc::new).collect();
                    }
                    Err(error) => {
                        tracing::error!(code = error.code(), %error, "a stream could not resume");
                        return Next::Failed;
                    }
                }
                continue;
            }
            tokio::select! {
                () = self.app.stopping.cancelled() => return Next::Stopping,
                told = self.ring.recv() => match told {
                    Ok(told) if told.id <= self.last => {}
                    Ok(told) => {
                        self.last = told.id;
                        if self.filter.wants(&told) {
                            return Next::Event(told);
                        }
                    }
                    Err(RecvError::Lagged(missed)) => {
                        self.app.index.metrics.dropped.inc();
                        return Next::Dropped(missed);
                    }
                    Err(RecvError::Closed) => return Next::Stopping,
                },
                () = tokio::time::sleep(keepalive) => return Next::Silence,
            }
        }
    }
}

/// GET /v1/stream
pub(super) async fn events(State(app): State<App>, request: Request) -> Result<Response> {
    let reader = Reader::new(&app, &request)?;
    let frames = unfold(Some(reader), |reader| async move {
        let mut reader = reader?;
        let last = |reader: &Reader| format!("reconnect with Last-Event-ID: {}\n\n", reader.last);
        let (frame, goes_on): (Bytes, bool) = match reader.next().await {
            Next::Event(told) => (told.frame.clone(), true),
            Next::Silence => (Bytes::from_static(b": keepalive\n\n"), true),
            Next::Dropped(missed) => {
                let why =
                    format!(": dropped: this stream was read too slowly, {missed} events are missing; ");
                ((why + &last(&reader)).into(), false)
            }
            Next::Stopping => ((": the indexer is stopping; ".to_owned() + &last(&reader)).into(), false),
            Next::Failed => ((": the indexer failed; ".to_owned() + &last(&reader)).into(), false),
        };
        Some((Ok::<_, std::convert::Infallible>(frame), goes_on.then_some(reader)))
    });
    let mut response = text(StatusCode::OK, "text/event-stream", Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// GET /v1/ws
pub(super) async fn websocket(State(app): State<App>, request: Request) -> Result<Response> {
    let reader = Reader::new(&app, &request)?;
    let (mut parts, _) = request.into_parts();
    let no_upgrade =
        |_| Error::Parameter { name: "upgrade", detail: "this page is for websockets; use /v1/stream" };
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await.map_err(no_upgrade)?;
    let upgrade = upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| talk(socket, reader)))
}

/// A client's message: a new filter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    agents: Vec<String>,
}

async fn talk(mut socket: WebSocket, mut reader: Reader) {
    let limit = Duration::from_millis(reader.app.index.config.limits.write_ms);
    loop {
        let message = tokio::select! {
            // A client that says something is heard before it is told more.
            biased;
            heard = socket.recv() => match heard {
                Some(Ok(Message::Text(text))) => match wish(text.as_str()) {
                    Ok(filter) => {
                        reader.filter = filter;
                        continue;
                    }
                    Err(reason) => close(close_code::POLICY, reason),
                },
                // Pings are answered by the library.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => {
                    close(close_code::UNSUPPORTED, "only text is understood".to_owned())
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            next = reader.next() => match next {
                Next::Event(told) => Message::Text(told.json.clone()),
                Next::Silence => Message::Ping(Bytes::new()),
                Next::Dropped(missed) => {
                    let last = reader.last;
                    close(close_code::AGAIN, format!("{missed} events are missing; resume from {last}"))
                }
                Next::Stopping => {
                    close(close_code::RESTART, format!("stopping; resume from {}", reader.last))
                }
                Next::Failed => close(close_code::ERROR, format!("failed; resume from {}", reader.last)),
            },
        };
        let ends = matches!(message, Message::Close(_));
        // Whoever takes nothing for so long is gone.
        let sent = tokio::time::timeout(limit, socket.send(message)).await;
        if ends || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

fn wish(text: &str) -> std::result::Result<Filter, String> {
    let wish: Wish =
        serde_json::from_str(text).map_err(|_| "a filter is {\"types\":[],\"agents\":[]}".to_owned())?;
    let kinds = wish.types.iter().map(String::as_str);
    let agents = wish.agents.iter().map(String::as_str);
    build(kinds, agents).map_err(|error| error.to_string())
}

fn close(code: u16, reason: String) -> Message {
    // A control frame holds 123 bytes of it; our sentences are ASCII.
    let reason: String = reason.chars().take(120).collect();
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}
