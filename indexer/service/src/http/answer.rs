//! Answers and refusals on the wire.

use super::App;
use crate::error::Error;
use crate::status::Standing;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::hash::{Hash, Hasher};
use utoipa::ToSchema;
use zx1_server::answer::{self, text};
use zx1_server::problem::refused;

/// A JSON answer with a status.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    // Values of this crate are texts, numbers, lists and objects with text keys: they always have a text.
    let failed = |_| StatusCode::INTERNAL_SERVER_ERROR.into_response();
    answer::json(status, value).unwrap_or_else(failed)
}

/// What an answer rests on.
pub(super) enum Digest {
    /// The index digest.
    Index,
    /// The feedback log's head.
    Log,
    /// An agent's head.
    Head(Vec<u8>),
}

/// What an answer rests on.
#[derive(Serialize, ToSchema)]
pub(super) struct Head {
    /// everything up to here is in the answer
    slot: u64,
    /// everything up to here is final
    finalized_slot: u64,
    /// always `confirmed`, the commitment of the slot
    commitment: &'static str,
    /// of the events that the answer rests on
    digest: String,
}

/// An answer with its head.
#[derive(Serialize, ToSchema)]
pub(super) struct Headed<T> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    fields: T,
}

impl Head {
    pub(super) fn new(standing: &Standing, digest: &Digest) -> Self {
        let digest = match digest {
            Digest::Index => hex::encode(standing.digest),
            Digest::Log => hex::encode(standing.log_head),
            Digest::Head(digest) => hex::encode(digest),
        };
        Self { slot: standing.slot, finalized_slot: standing.finalized, commitment: "confirmed", digest }
    }
}

/// A JSON answer with its head, or 304 when the client has it already. `fields` is an object.
pub(super) fn headed(app: &App, request: &HeaderMap, digest: &Digest, fields: impl Serialize) -> Response {
    let whole = Headed { head: Head::new(&app.index.status.get(), digest), fields };
    match serde_json::to_string(&whole) {
        Ok(body) => tagged(request, body),
        // As in [`json`].
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Whether the client says that it has the answer with this tag.
pub(super) fn is_known(request: &HeaderMap, tag: &[u8]) -> bool {
    let known = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    known.flat_map(|value| value.split(',')).any(|it| it.trim().as_bytes() == tag)
}

/// A body with its tag; 304 when the client names the tag.
pub(super) fn tagged(request: &HeaderMap, body: String) -> Response {
    let mut hasher = std::hash::DefaultHasher::new();
    body.hash(&mut hasher);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    let is_known = is_known(request, tag.as_bytes());
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        text(StatusCode::OK, "application/json", body)
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        refused(&self)
    }
}
