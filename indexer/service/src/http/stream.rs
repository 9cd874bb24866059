//! GET /v1/stream (server-sent events) and GET /v1/ws (a websocket): the same events, filters and ids.

use super::App;
use super::openapi::StreamQuery;
use super::query::Query;
use crate::error::{Error, Result};
use crate::hub::{self, Filter, Told};
use crate::merge::KINDS;
use crate::store::signed;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use serde::Deserialize;
use std::time::Duration;
use zx1_server::limits::Client;
use zx1_server::reader::{self, Desk, Next, resumes};

/// Maximum size of a client's message in bytes.
const MAX_MESSAGE: usize = 64 << 10;

/// A subscription to the hub with the client's filter.
type Reader = reader::Reader<Told, Filter>;

fn filter(query: &Query) -> Result<Filter> {
    let words = query.get("types").unwrap_or_default();
    let agents = query.get("agent").unwrap_or_default();
    build(words.split(','), agents.split(','))
}

fn build<'t>(kinds: impl Iterator<Item = &'t str>, agents: impl Iterator<Item = &'t str>) -> Result<Filter> {
    let mut filter = Filter::default();
    for kind in kinds.map(str::trim).filter(|kind| !kind.is_empty()) {
        if !KINDS.contains(&kind) {
            let words = KINDS.join(", ");
            return Err(Error::parameter("types", format!("its words must be of {words}")));
        }
        filter.kinds.insert(kind.to_owned());
    }
    for agent in agents.map(str::trim).filter(|agent| !agent.is_empty()) {
        let bad = |_| Error::parameter("agent", "one of its words is not an address in base58");
        filter.agents.insert(agent.parse().map_err(bad)?);
    }
    Ok(filter)
}

/// Maximum value of the parameter `last`.
const MOST_PAST: u64 = 1_000;

/// A subscriber. From here on no event is missed; with a last id none since that one, unless the client wants
/// a shorter past.
async fn subscribe(app: &App, request: &Parts) -> Result<Reader> {
    let query = Query::read(&request.uri, &["types", "agent", "last_event_id", "last"])?;
    let filter = filter(&query)?;
    let past = match query.number("last")? {
        None => None,
        Some(past @ 1..=MOST_PAST) => Some(signed(past)),
        Some(_) => return Err(Error::parameter("last", "it must be from 1 to 1000")),
    };
    let bad = |_| Error::parameter("last_event_id", "it must be the id of an event, or 0");
    let since = resumes(&request.headers, query.get("last_event_id"));
    let since: Option<i64> = since.map(str::parse::<u64>).transpose().map_err(bad)?.map(signed);
    if app.stopping.is_cancelled() {
        return Err(Error::Stopping);
    }
    let seat = app.seats.seat(request.extensions.get::<Client>().copied())?;
    let desk = Desk {
        hub: app.index.hub.clone(),
        figures: app.index.metrics.http.clone(),
        stopping: app.stopping.clone(),
        keepalive: app.index.config.limits.keepalive(),
    };
    let mut reader = Reader::new(desk, filter, since, seat);
    if let Some(most) = past {
        reader.begin_with(hub::last(&*app.index.store, &reader.filter, since, most).await?);
    }
    Ok(reader)
}

/// News of the index as server-sent events
///
/// From here on no event is missed; with a last id none since that one.
#[utoipa::path(get, path = "/v1/stream", params(StreamQuery), responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(super) async fn events(State(app): State<App>, request: Request) -> Result<Response> {
    let (parts, _) = request.into_parts();
    Ok(subscribe(&app, &parts).await?.into_sse("the indexer"))
}

/// The same as a websocket
///
/// A client may send a new filter at any time: `{"types":[],"agents":[]}`.
#[utoipa::path(get, path = "/v1/ws", params(StreamQuery), responses((status = 101, description = "A websocket")))]
pub(super) async fn websocket(State(app): State<App>, request: Request) -> Result<Response> {
    let (mut parts, _) = request.into_parts();
    let reader = subscribe(&app, &parts).await?;
    let no_upgrade = |_| Error::NoUpgrade;
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await.map_err(no_upgrade)?;
    let upgrade = upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE);
    let limit = app.index.config.limits.write_time();
    Ok(upgrade.on_upgrade(move |socket| talk(socket, reader, limit)))
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

/// Whoever takes nothing for `limit` is gone.
async fn talk(mut socket: WebSocket, mut reader: Reader, limit: Duration) {
    loop {
        let message = tokio::select! {
            // A client's message is read before more events are sent to it.
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
                    let last = reader.last();
                    close(close_code::AGAIN, format!("{missed} events are missing; resume from {last}"))
                }
                Next::Stopping => {
                    close(close_code::RESTART, format!("stopping; resume from {}", reader.last()))
                }
                Next::Failed => close(close_code::ERROR, format!("failed; resume from {}", reader.last())),
            },
        };
        let ends = matches!(message, Message::Close(_));
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
