//! The local API of a node that only observes.

use super::seen::{Mark, Seen};
use crate::clock::NodeClock;
use crate::error::{Error, Result};
use crate::facts::Cluster;
use crate::http::door::{Door, refused};
use crate::http::routes;
use crate::http::routes::{cluster_of, limit_of, ok, parameters};
use crate::judge::Judge;
use crate::metrics::Metrics;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use zx1_home::Clock as _;
use zx1_mesh::gate::Mode;
use zx1_mesh::node::Node;
use zx1_operator::node::wire::{MeshMap, MeshPeer, MeshTopic, ObservedPage};
use zx1_protocol::channel::Channel;

/// The parts of a node that only observes.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Parts {
    pub seen: Arc<Mutex<Seen>>,
    pub cluster: Arc<Cluster>,
    pub judge: Arc<Judge>,
    pub node: Node,
    pub clock: Arc<NodeClock>,
    pub metrics: Metrics,
    pub token: String,
    pub genesis: String,
    /// The OpenAPI document that is served.
    pub document: &'static str,
    pub started_micros: u64,
    /// Cancelled by a request to stop.
    pub stop: CancellationToken,
}

/// What every handler sees.
pub type Observing = Arc<Parts>;

impl Parts {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves all routes; on loopback each request needs the token.
pub fn router(parts: Observing, needs_token: bool) -> Router {
    let door = Door { token: parts.token.as_str().into(), figures: parts.metrics.http.clone() };
    let served = described()
        .routes(routes!(stop))
        .routes(routes!(metrics))
        .routes(routes!(healthz))
        .routes(routes!(document));
    door.guard(Router::from(served), needs_token).with_state(parts)
}

/// What only such a node serves, with its description.
pub fn described() -> OpenApiRouter<Observing> {
    refused(OpenApiRouter::new().routes(routes!(mesh)).routes(routes!(observed)))
}

/// The mesh as this node sees it
///
/// Only of a node that observes. It names no addresses.
#[utoipa::path(get, path = "/v1/mesh", responses((status = 200, body = MeshMap)))]
pub(crate) async fn mesh(State(parts): State<Observing>) -> Result<Response> {
    let mut found = parts.node.peers().await?;
    found.sort_by_key(|peer| (std::cmp::Reverse(peer.score), peer.peer));
    let tally = parts.judge.tally();
    let now = parts.clock.unix_micros();
    let mut seen = parts.seen();
    let topics = Channel::ALL.into_iter().filter_map(|channel| {
        let traffic = seen.traffic(channel, now);
        Some(MeshTopic {
            topic: channel.topic()?.to_owned(),
            peers: found.iter().filter(|peer| peer.mesh.contains(&channel)).count(),
            per_minute: traffic.per_minute,
            total: traffic.total,
        })
    });
    let topics = topics.collect();
    let shown = found.iter().map(|peer| {
        let id = peer.peer.to_string();
        let named = seen.heard().named(&id);
        MeshPeer {
            agent: named.map(|(agent, _)| agent.to_string()),
            name: named.map(|(_, name)| name.to_owned()).filter(|name| !name.is_empty()),
            program: peer.agent.clone(),
            mesh: peer.mesh.iter().filter_map(|channel| channel.topic()).map(str::to_owned).collect(),
            is_outbound: peer.outbound,
            score: peer.score,
            is_graylisted: peer.graylisted,
            ping_micros: peer.ping_micros,
            peer: id,
        }
    });
    ok(&MeshMap {
        peer: parts.node.peer_id().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_micros: parts.started_micros,
        gates: routes::gates(parts.judge.mode() == Mode::Dev).to_owned(),
        cluster: cluster_of(&parts.cluster, &parts.genesis, tally.is_away),
        topics,
        peers: shown.collect(),
        agents: seen.heard().count(),
        refused: tally.refused.into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
    })
}

/// Where to begin, and how many.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
pub(crate) struct ObservedQuery {
    /// id of the last message that the reader has; without one from the oldest that is kept
    after: Option<String>,
    /// maximum number of messages [default: 256]
    limit: Option<u32>,
}

/// Messages that went over topics, the oldest first
///
/// Only of a node that observes. The latest 4 096 are kept; payloads are left out, but for those of ratings.
#[utoipa::path(get, path = "/v1/observed", params(ObservedQuery), responses((status = 200, body = ObservedPage)))]
pub(crate) async fn observed(State(parts): State<Observing>, RawQuery(raw): RawQuery) -> Result<Response> {
    let mut given = parameters(raw.as_deref(), &["after", "limit"])?;
    let after: Option<Mark> = given.remove("after").map(|after| after.parse()).transpose()?;
    let limit = limit_of(given.remove("limit"))?;
    let page = parts.seen().page(after, limit);
    ok(&page)
}

#[utoipa::path(post, path = "/v1/stop", responses((status = 200, body = Object)))]
async fn stop(State(parts): State<Observing>) -> Result<Response> {
    parts.stop.cancel();
    ok(&json!({ "stopping": true }))
}

#[utoipa::path(get, path = "/metrics", responses((status = 200, content_type = "text/plain", body = String)))]
async fn metrics(State(parts): State<Observing>, headers: HeaderMap) -> Response {
    parts.metrics.served(&headers)
}

#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Object)))]
async fn healthz(State(parts): State<Observing>) -> Result<Response, Error> {
    let health: Value = json!({
        "peers": parts.node.peers().await?.len(),
        "cluster_age_seconds": parts.cluster.seen().age_seconds,
    });
    ok(&health)
}

#[utoipa::path(get, path = "/openapi.json", responses((status = 200, body = Object)))]
async fn document(State(parts): State<Observing>) -> Response {
    zx1_server::openapi::served(parts.document)
}
