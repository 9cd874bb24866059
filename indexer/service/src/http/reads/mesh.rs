//! The mesh, as an observing node sees it.

use crate::error::Result;
use crate::http::App;
use crate::http::answer::json;
use crate::http::query::Query;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde::Serialize;
use std::sync::PoisonError;
use utoipa::ToSchema;
use zx1_operator::node::wire::MeshMap;

/// The mesh as the observing node last described it.
#[derive(Serialize, ToSchema)]
struct MeshAnswer {
    /// whether a node observes the mesh for this indexer
    configured: bool,
    /// whether it answered when last asked
    reachable: bool,
    /// when it described the mesh, in Unix milliseconds
    at: Option<i64>,
    mesh: Option<MeshMap>,
}

/// The mesh: peers, topics, rates
///
/// As one node sees it that only observes. Peers stand with their ids and agents, never with their addresses.
#[utoipa::path(get, path = "/v1/mesh", responses((status = 200, body = MeshAnswer)))]
pub(in crate::http) async fn map(State(app): State<App>, uri: Uri) -> Result<Response> {
    Query::read(&uri, &[])?;
    let map = app.map.read().unwrap_or_else(PoisonError::into_inner).clone();
    let configured = !app.index.config.mesh.folder.as_os_str().is_empty();
    let (at, mesh) = map.unzip();
    let reachable = configured && mesh.is_some() && app.index.metrics.mesh.get() == 1;
    Ok(json(StatusCode::OK, &MeshAnswer { configured, reachable, at, mesh }))
}
