//! The websocket's door, and what is read over HTTP: health, metrics, public channels.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Path, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use serde::Serialize;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use zx1_home::clock::{Clock, SystemClock};
use zx1_relay_rules::Close;
use zx1_relay_rules::hub::EXTENSIONS;
use zx1_server::limits::{Asked, Buckets, Client, Seats};
use zx1_server::problem::numbered;
use zx1_server::{answer, browser};

use crate::config::Limits;
use crate::error::{Error, Result};
use crate::messages::{Command, Look, Task};
use crate::session::{self, READ_LIMIT, Shared};
use crate::store::Store;

/// What every handler sees.
#[derive(Clone)]
pub struct App {
    /// What sessions share.
    pub(crate) shared: Arc<Shared>,
    /// Asked by `/readyz`.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) desk: mpsc::Sender<Task>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) seats: Arc<Seats>,
    pub(crate) rates: Arc<Buckets<Client>>,
    pub(crate) name: String,
    pub(crate) started_at: u64,
}

impl App {
    /// Every path opens a websocket; some are read as well.
    pub fn router(self) -> Router {
        Router::new()
            .route("/", any(door))
            .route("/health", get(health))
            .route("/healthz", get(async || StatusCode::NO_CONTENT))
            .route("/readyz", get(ready))
            .route("/metrics", get(metrics))
            .route("/asyncapi.json", get(async || zx1_server::openapi::served(crate::asyncapi::text())))
            .route("/v1/rooms", get(rooms))
            .route("/v1/rooms/{name}/messages", get(messages))
            // Older clients connect to any path.
            .fallback(door)
            .method_not_allowed_fallback(async || Error::Method)
            .layer(axum::middleware::from_fn_with_state(self.clone(), gate))
            .layer(browser::any_origin([Method::GET], &[]))
            .layer(browser::compressed())
            .with_state(self)
    }

    async fn look(&self) -> Result<Look> {
        let (reply, look) = oneshot::channel();
        self.shared.core.send(Command::Look(reply)).await.map_err(|_| Error::Stopping)?;
        look.await.map_err(|_| Error::Stopping)
    }
}

/// Every request passes here: the rate of its address, its count.
async fn gate(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let client = Client::of(request.extensions(), request.headers(), &app.limits.proxies);
    let asked = client.map(|client| app.rates.ask(client));
    let mut response = match asked.map_or(Ok(()), Asked::allowed) {
        Ok(()) => numbered(next.run(request).await, &Error::NoPage),
        Err(often) => Error::from(often).into_response(),
    };
    if let Some(asked) = asked {
        asked.tell("address", response.headers_mut());
    }
    app.shared.metrics.http.request(response.status().as_u16());
    app.shared.metrics.http.seconds.observe(began.elapsed().as_secs_f64());
    response
}

/// Opens a websocket at any path.
async fn door(
    State(app): State<App>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    request: Request<Body>,
) -> Result<Response> {
    let is_upgrade = request.headers().contains_key("upgrade");
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(error) if is_upgrade => return Err(Error::NoUpgrade(error.to_string())),
        Err(_) => return Err(Error::NoPage),
    };
    let client = Client::of(request.extensions(), request.headers(), &app.limits.proxies);
    let upgrade = upgrade
        .protocols([EXTENSIONS])
        .max_message_size(READ_LIMIT)
        .max_frame_size(READ_LIMIT)
        // Most connections are idle, and most frames short.
        .read_buffer_size(4 << 10)
        .write_buffer_size(64 << 10);
    let extensions = upgrade.selected_protocol().is_some();
    let shared = app.shared.clone();
    let address = client.map_or_else(|| "?".to_owned(), |client| client.to_string());
    match app.seats.seat(client) {
        Ok(seat) => Ok(upgrade.on_upgrade(async move |socket| {
            let open = shared.open.clone();
            open.track_future(session::serve(shared, socket, address, extensions)).await;
            drop(seat);
        })),
        Err(full) if full.0 == app.limits.connections => Err(full.into()),
        Err(_) => {
            tracing::info!(target: "security", %address, "closed: too many connections of one address");
            Ok(upgrade.on_upgrade(async |socket| session::refuse(socket, Close::TooManyFromAddress).await))
        }
    }
}

async fn metrics(State(app): State<App>, headers: HeaderMap) -> Response {
    app.shared.metrics.served(&headers)
}

async fn ready(State(app): State<App>) -> Result<Response> {
    app.store.ping().await?;
    app.look().await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// As the older server's.
async fn health(State(app): State<App>) -> Result<Response> {
    let look = app.look().await?;
    let (reply, census) = oneshot::channel();
    app.desk.send(Task::Census(reply)).await.map_err(|_| Error::Stopping)?;
    let (states, agents) = census.await.map_err(|_| Error::Stopping)?;
    let now = SystemClock.unix_ms();
    let by_status: serde_json::Map<_, _> =
        states.iter().map(|(state, count)| (state.as_str().to_owned(), json!(count))).collect();
    let public = look.rooms.iter().filter(|room| !room.invite_only).count();
    Ok(json_of(&json!({
        "status": "healthy",
        "server": app.name,
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": now.saturating_sub(app.started_at) / 1_000,
        "started_at": app.started_at,
        "agents": { "connected": look.connected, "with_identity": look.with_identity },
        "channels": { "total": look.rooms.len(), "public": public },
        "proposals": {
            "total": states.iter().map(|(_, count)| count).sum::<usize>(),
            "byStatus": by_status,
            "agents": agents,
        },
        "timestamp": now,
    })))
}

async fn rooms(State(app): State<App>) -> Result<Response> {
    let look = app.look().await?;
    let public: Vec<_> = look.rooms.iter().filter(|room| !room.invite_only).collect();
    Ok(json_of(&json!({ "rooms": public, "agents": look.connected })))
}

/// The buffer of a public channel, named without its `#`.
async fn messages(State(app): State<App>, Path(name): Path<String>) -> Result<Response> {
    let channel = format!("#{name}");
    let (reply, kept) = oneshot::channel();
    app.shared.core.send(Command::Read(channel.clone(), reply)).await.map_err(|_| Error::Stopping)?;
    let kept = kept.await.map_err(|_| Error::Stopping)?.ok_or(Error::NoRoom(channel))?;
    let message = |kept: &zx1_relay_rules::hub::Kept| {
        json!({
            "id": kept.msg_id,
            "from": kept.from.0.to_string(),
            "name": kept.from.1,
            "content": kept.content,
            "at": kept.at,
        })
    };
    Ok(json_of(&json!({ "messages": kept.iter().map(message).collect::<Vec<_>>() })))
}

fn json_of(value: &impl Serialize) -> Response {
    let failed = |_| StatusCode::INTERNAL_SERVER_ERROR.into_response();
    answer::json(StatusCode::OK, value).unwrap_or_else(failed)
}
