//! The local API: REST and a websocket for the agent's own programs, on loopback with a token, and on a socket that only
//! the same user reaches.

pub mod asyncapi;
mod news;
mod notary;
pub mod openapi;
mod routes;
mod signer;

use crate::agent::Agent;
use crate::defaults::MAX_SUBSCRIBERS;
use crate::error::Error;
use crate::facts::Cluster;
use crate::inbox::Acknowledged;
use crate::judge::Judge;
use crate::metrics::Metrics;
use crate::notary::Notary;
use crate::notary::ways::Live;
use crate::outbox::Sender;
use crate::pen::Pen;
use crate::registration::Registrar;
use crate::signers::Signers;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use zx1_mesh::node::Node;
use zx1_server::problem::numbered;

/// What every handler sees.
#[derive(Clone, Debug)]
pub struct App {
    pub(crate) inner: Arc<Inner>,
}

/// The parts of a running node.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Inner {
    pub agent: Arc<Agent>,
    pub cluster: Arc<Cluster>,
    pub judge: Arc<Judge>,
    pub node: Node,
    pub pen: Arc<Pen>,
    pub sender: Arc<Sender>,
    pub notary: Arc<Notary<Live>>,
    pub signers: Arc<Signers>,
    pub registrar: Arc<Registrar>,
    pub acknowledged: Arc<Mutex<Acknowledged>>,
    pub metrics: Metrics,
    pub token: String,
    pub genesis: String,
    pub started_micros: u64,
    /// Streams end when it is cancelled.
    pub stopping: CancellationToken,
    /// Cancelled by a request to stop.
    pub stop: CancellationToken,
    pub seats: Arc<Semaphore>,
}

impl App {
    /// The interface of these parts.
    pub fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Seats for subscribers of news.
    pub fn seats() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(MAX_SUBSCRIBERS))
    }

    /// Serves all routes; on loopback each request needs the token.
    pub fn router(self, needs_token: bool) -> Router {
        let router = Router::from(routes())
            .fallback(async || Error::NoPage)
            .method_not_allowed_fallback(async || Error::Method)
            .layer(from_fn_with_state(self.clone(), count));
        let router = if needs_token { router.layer(from_fn_with_state(self.clone(), token)) } else { router };
        router.with_state(self)
    }
}

/// The routes with their description.
fn routes() -> OpenApiRouter<App> {
    let all = OpenApiRouter::new()
        .routes(routes!(routes::status))
        .routes(routes!(routes::identity))
        .routes(routes!(routes::peers))
        .routes(routes!(routes::send))
        .routes(routes!(routes::outbox))
        .routes(routes!(routes::draft, routes::take_back))
        .routes(routes!(routes::settle))
        .routes(routes!(routes::inbox))
        .routes(routes!(routes::acknowledge))
        .routes(routes!(routes::conversations))
        .routes(routes!(routes::conversation))
        .routes(routes!(notary::ask))
        .routes(routes!(notary::searches))
        .routes(routes!(notary::search))
        .routes(routes!(notary::choose))
        .routes(routes!(notary::terms, notary::serve, notary::stop))
        .routes(routes!(notary::desks))
        .routes(routes!(notary::desk))
        .routes(routes!(notary::judge))
        .routes(routes!(notary::rate))
        .routes(routes!(routes::adverts))
        .routes(routes!(routes::heard))
        .routes(routes!(routes::reputation))
        .routes(routes!(signer::next))
        .routes(routes!(signer::signed))
        .routes(routes!(news::websocket))
        .routes(routes!(routes::stop))
        .routes(routes!(routes::metrics))
        .routes(routes!(routes::healthz))
        .routes(routes!(openapi::served))
        .routes(routes!(asyncapi::served));
    OpenApiRouter::with_openapi(openapi::base()).merge(openapi::refused(all))
}

/// Who has the token is the agent's own program. Health and the documents are for whoever watches the process.
async fn token(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    let open = openapi::OPEN.contains(&request.uri().path());
    let header = request.headers().get(header::AUTHORIZATION).and_then(|header| header.to_str().ok());
    let given = header.and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default();
    if open || is_same(given.as_bytes(), app.inner.token.as_bytes()) {
        next.run(request).await
    } else {
        Error::Token.into_response()
    }
}

/// Compares in a time that tells nothing of where they differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

async fn count(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let waits = matches!(request.uri().path(), "/v1/ws" | "/v1/signer/next");
    let response = numbered(next.run(request).await, &Error::NoPage);
    let figures = &app.inner.metrics.http;
    figures.request(response.status().as_u16());
    if !waits {
        figures.seconds.observe(began.elapsed().as_secs_f64());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_same() {
        assert!(is_same(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abcd", b"abd", b"Abc"] {
            assert!(!is_same(other, b"abc"));
        }
    }
}
