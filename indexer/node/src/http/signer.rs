//! What the process with the deal key asks and answers.

use super::App;
use super::routes::{json_of, read};
use crate::error::{Error, Result};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;
use utoipa::IntoParams;
use zx1_operator::node::wire::{Signed, ToSign};

/// The next message that needs the deal key
///
/// Waits for one up to 25 s; then the answer is null.
#[utoipa::path(post, path = "/v1/signer/next", responses((status = 200, body = Option<ToSign>)))]
pub(super) async fn next(State(app): State<App>) -> Result<Response> {
    let question = tokio::select! {
        question = app.inner.signers.next() => question,
        () = app.inner.stopping.cancelled() => None,
    };
    json_of(StatusCode::OK, &question)
}

/// Parameters of a question.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct Question {
    /// number of the question
    question: u64,
}

/// Answer a question
#[utoipa::path(post, path = "/v1/signer/{question}", params(Question), request_body = Signed, responses((status = 200, body = Object)))]
pub(super) async fn signed(
    State(app): State<App>,
    Path(question): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response> {
    let question = question.parse().map_err(|_| Error::BadRequest("a question has a number".to_owned()))?;
    let signed: Signed = read(&headers, body).await?;
    app.inner.signers.answer(question, signed)?;
    json_of(StatusCode::OK, &json!({}))
}
