//! What may be brought: batches' data, ratings, binding records. Nobody logs in: each proves itself.

use super::App;
use super::answer::json;
use super::openapi::MintEpoch;
use super::reads::batches::batch_row;
use crate::bundles::{Put, most_bytes};
use crate::chain::Finality;
use crate::error::{Error, Result};
use crate::store::BatchRow;
use crate::{nano, ratings};
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use zx1_server::body;

/// The media type of bundles and envelopes.
const CBOR: &str = "application/cbor";

/// The outcome of an upload.
#[derive(Serialize, ToSchema)]
struct Receipt {
    /// `stored` or `known`
    status: &'static str,
}

fn receipt(put: Put) -> Response {
    match put {
        Put::Created => json(StatusCode::CREATED, &Receipt { status: "stored" }),
        Put::Same => json(StatusCode::OK, &Receipt { status: "known" }),
    }
}

/// How long an upload waits for its own batch to be indexed.
const PATIENCE: Duration = Duration::from_secs(8);
/// Slots behind the node's within which a transaction of a moment ago may still come.
const MARGIN: u64 = 4;

/// The batch of an upload. Whoever submits a batch brings its data in the next moment, when the transaction
/// is confirmed and perhaps not indexed yet; so what is not here is waited for, until the index has passed
/// the slot that the node had when it was asked.
async fn submitted(app: &App, mint: &str, epoch: &str) -> Result<BatchRow> {
    let missing = match batch_row(app, mint, epoch).await {
        Err(error @ Error::NoBatch(_)) => error,
        found => return found,
    };
    let Ok(there) = app.index.ledger.slot(Finality::Confirmed).await else { return Err(missing) };
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let slot = app.index.status.get().slot;
        match batch_row(app, mint, epoch).await {
            Err(Error::NoBatch(_)) => {}
            found => return found,
        }
        if slot >= there.saturating_add(MARGIN) || tokio::time::Instant::now() >= deadline {
            return Err(missing);
        }
    }
}

/// Bring a batch's bundle; it must be what the chain commits to
///
/// Nobody logs in: the bytes are compared with the commitment. One that was submitted a moment ago is waited for.
#[utoipa::path(put, path = "/v1/agents/{mint}/batches/{epoch}/data", params(MintEpoch), request_body(content = String, content_type = "application/cbor"), responses((status = 200, body = Receipt), (status = 201, body = Receipt)))]
pub(super) async fn bundle(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response> {
    body::is_of(&headers, CBOR)?;
    if app.stopping.is_cancelled() {
        return Err(Error::Stopping);
    }
    let row = submitted(&app, &mint, &epoch).await?;
    let limits = &app.index.config.limits;
    // The chain says how many leaves and records there are, so how long the data can be.
    let most = most_bytes(&row).min(limits.bundle_bytes);
    let upload = app.bundles.receive(request, most, limits.body_time().saturating_mul(10)).await?;
    Ok(receipt(app.bundles.take(&app.index, row.agent, row.epoch, upload).await?))
}

/// Bring a signed FEEDBACK
///
/// An envelope as CBOR; its signature and the sender's key are checked.
#[utoipa::path(post, path = "/v1/envelopes", request_body(content = String, content_type = "application/cbor"), responses((status = 200, body = Receipt), (status = 201, body = Receipt)))]
pub(super) async fn envelope(State(app): State<App>, headers: HeaderMap, request: Body) -> Result<Response> {
    body::is_of(&headers, CBOR)?;
    let bytes = small(&app, request).await?;
    Ok(receipt(ratings::put(&app.index, &bytes).await?))
}

/// Bring a binding record
///
/// JSON as `zx1 bind` writes it, signed by both keys.
#[utoipa::path(put, path = "/v1/bindings", request_body(content = Object, content_type = "application/json"), responses((status = 200, body = Receipt), (status = 201, body = Receipt)))]
pub(super) async fn binding(State(app): State<App>, headers: HeaderMap, request: Body) -> Result<Response> {
    body::is_of(&headers, "application/json")?;
    let bytes = small(&app, request).await?;
    let no_text = |_| Error::BindingRefused("The binding record is not UTF-8; send it as JSON.".to_owned());
    let text = String::from_utf8(bytes.into()).map_err(no_text)?;
    Ok(receipt(nano::bind(&app.index, &text).await?))
}

async fn small(app: &App, request: Body) -> Result<Bytes> {
    if app.stopping.is_cancelled() {
        return Err(Error::Stopping);
    }
    let limits = &app.index.config.limits;
    Ok(body::read(request, limits.body_bytes, limits.body_time()).await?)
}
