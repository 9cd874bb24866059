//! The local API: REST and a websocket for the agent's own programs, on loopback with a token, and on a socket that only
//! the same user reaches.

pub mod asyncapi;
pub(crate) mod door;
mod news;
mod notary;
pub mod openapi;
pub(crate) mod routes;
mod signer;

use crate::agent::Agent;
use crate::defaults::MAX_SUBSCRIBERS;
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
use door::Door;
use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use zx1_mesh::node::Node;

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
        let door = Door { token: self.inner.token.as_str().into(), figures: self.inner.metrics.http.clone() };
        door.guard(Router::from(routes()), needs_token).with_state(self)
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
    OpenApiRouter::with_openapi(openapi::base()).merge(door::refused(all))
}
