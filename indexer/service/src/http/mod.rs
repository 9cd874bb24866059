//! What is served: REST, server-sent events, a websocket, the explorer.

mod answer;
mod cache;
mod cursor;
mod explorer;
mod items;
mod limits;
pub mod openapi;
mod query;
mod reads;
mod standing;
mod stream;
#[cfg(test)]
mod tests;
mod uploads;
mod words;

use crate::audit::Audit;
use crate::bundles::Bundles;
use crate::error::Error;
use crate::index::Index;
use crate::mesh::Map;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::{Arc, RwLock};
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use zx1_server::browser;
use zx1_server::limits::{Asked, Client, Seats};
use zx1_server::openapi::refusing;
use zx1_server::problem::numbered;

/// What every handler sees.
#[derive(Clone)]
pub struct App {
    pub(crate) index: Arc<Index>,
    pub(crate) bundles: Arc<Bundles>,
    pub(crate) rates: Arc<limits::Rates>,
    pub(crate) seats: Arc<Seats>,
    pub(crate) audit: Arc<RwLock<Option<Audit>>>,
    pub(crate) map: Map,
    pub(crate) cache: Arc<cache::Cache>,
    /// Questions to the store at once: some of its connections remain for whoever fills it.
    pub(crate) turns: Arc<Semaphore>,
    /// Streams end when it is cancelled.
    pub(crate) stopping: CancellationToken,
    pub(crate) started: Instant,
    pub(crate) cluster: String,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

/// Of the eight connections that read from SQLite, the ingest always finds two.
const TURNS: usize = 6;

impl App {
    /// Of this index. `cluster` is shown.
    pub fn new(
        index: Arc<Index>,
        bundles: Arc<Bundles>,
        audit: Arc<RwLock<Option<Audit>>>,
        map: Map,
        stopping: CancellationToken,
        cluster: String,
    ) -> Self {
        let limits = &index.config.limits;
        Self {
            rates: Arc::new(limits::Rates::new(limits)),
            seats: Seats::new(limits.streams, limits.streams_per_address),
            index,
            bundles,
            audit,
            map,
            cache: Arc::default(),
            turns: Arc::new(Semaphore::new(TURNS)),
            stopping,
            started: Instant::now(),
            cluster,
        }
    }

    /// Serves all routes.
    pub fn router(self) -> Router {
        Router::from(routes())
            .fallback(explorer::page)
            .method_not_allowed_fallback(|| async { Error::Method.into_response() })
            .layer(axum::middleware::from_fn_with_state(self.clone(), gate))
            .layer(browser::compressed())
            // Everything that is read here is public, and what is brought proves itself.
            .layer(browser::any_origin([Method::GET, Method::HEAD, Method::POST, Method::PUT], &[]))
            .with_state(self)
    }
}

/// The routes with their description.
fn routes() -> OpenApiRouter<App> {
    use reads::{agents, batches, lists, mesh, operations, search};
    let all = OpenApiRouter::new()
        .routes(routes!(operations::status))
        .routes(routes!(operations::network))
        .routes(routes!(operations::audit))
        .routes(routes!(operations::gaps))
        .routes(routes!(agents::list))
        .routes(routes!(batches::list))
        .routes(routes!(lists::challenges))
        .routes(routes!(lists::asks))
        .routes(routes!(lists::feedback))
        .routes(routes!(lists::events))
        .routes(routes!(lists::contracts))
        .routes(routes!(search::search))
        .routes(routes!(mesh::map))
        .routes(routes!(operations::metrics))
        .routes(routes!(openapi::served));
    let one = OpenApiRouter::new()
        .routes(routes!(agents::one))
        .routes(routes!(agents::history))
        .routes(routes!(agents::events))
        .routes(routes!(agents::counterparties))
        .routes(routes!(agents::ratings))
        .routes(routes!(agents::challenges))
        .routes(routes!(agents::asks))
        .routes(routes!(batches::of_agent))
        .routes(routes!(batches::one))
        .routes(routes!(batches::records))
        .routes(routes!(batches::leaves))
        .routes(routes!(batches::proof))
        .routes(routes!(batches::data))
        .routes(routes!(lists::challenge))
        .routes(routes!(lists::ask))
        .routes(routes!(lists::entry))
        .routes(routes!(lists::contract))
        .routes(routes!(lists::binding));
    let uploads = OpenApiRouter::new()
        .routes(routes!(uploads::bundle))
        .routes(routes!(uploads::envelope))
        .routes(routes!(uploads::binding));
    let streams = OpenApiRouter::new().routes(routes!(stream::events)).routes(routes!(stream::websocket));
    let health =
        OpenApiRouter::new().routes(routes!(operations::healthz)).routes(routes!(operations::readyz));
    OpenApiRouter::with_openapi(openapi::base())
        .merge(refusing(all, &[400, 429, 500]))
        .merge(refusing(one, &[400, 404, 429, 500, 503]))
        .merge(refusing(uploads, &[404, 408, 413, 415, 422, 429, 500, 502, 503]))
        .merge(refusing(streams, &[400, 429, 500, 503]))
        .merge(refusing(health, &[429]))
}

/// Every request passes here: the rate of its address, its time, its count.
async fn gate(State(app): State<App>, mut request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let path = request.uri().path();
    let (is_stream, is_v1) = (matches!(path, "/v1/stream" | "/v1/ws"), path.starts_with("/v1/"));
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    let proxies = &app.index.config.limits.proxies;
    let client = Client::of(request.extensions(), request.headers(), proxies);
    if let Some(client) = client {
        request.extensions_mut().insert(client);
    }
    let asked = client.map(|client| app.rates.request(client));
    let allowed = asked.map_or(Ok(()), Asked::allowed);
    let upload = client.filter(|_| !is_read && allowed.is_ok()).map(|client| app.rates.upload(client));
    let mut response = match allowed.and(upload.map_or(Ok(()), Asked::allowed)) {
        Ok(()) if cache::is_cacheable(request.method(), request.uri()) => {
            // Taken before the question is put: what changes meanwhile makes the answer newer, not older.
            let (stamp, uri) = (app.index.status.stamp(), request.uri().clone());
            match app.cache.get(stamp, &uri, request.headers()) {
                Some(kept) => kept,
                None => {
                    let _turn = app.turns.acquire().await;
                    // Whoever was before us may have asked the same.
                    match app.cache.get(stamp, &uri, request.headers()) {
                        Some(kept) => kept,
                        None => {
                            let response = numbered(next.run(request).await, &Error::NoPage);
                            app.cache.keep(stamp, &uri, response).await
                        }
                    }
                }
            }
        }
        Ok(()) => numbered(next.run(request).await, &Error::NoPage),
        Err(often) => Error::from(often).into_response(),
    };
    let headers = response.headers_mut();
    if is_read && is_v1 && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    for (name, asked) in [("address", asked), ("uploads", upload)] {
        if let Some(asked) = asked {
            asked.tell(name, headers);
        }
    }
    let figures = &app.index.metrics.http;
    figures.request(response.status().as_u16());
    if !is_stream {
        figures.seconds.observe(began.elapsed().as_secs_f64());
    }
    response
}
