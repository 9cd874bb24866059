//! Answers and refusals on the wire. What a refusal says is the server's; how it is sent stands here.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An answer of this kind: text or bytes.
pub fn text(status: StatusCode, kind: &'static str, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A JSON answer.
///
/// # Errors
///
/// If the value cannot be JSON, such as a map whose keys are not strings.
pub fn json(status: StatusCode, value: &impl Serialize) -> serde_json::Result<Response> {
    Ok(text(status, "application/json", serde_json::to_string(value)?))
}

/// What a client should do after an error; becomes a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Read the sentence in the body.
    Read,
    /// Come back after this number of seconds.
    Wait(u64),
    /// Connect anew: what was sent was not read to its end, so nothing else can follow on this connection.
    Reconnect,
}

/// How long to wait when it is not known better, in seconds.
pub const A_MOMENT: Advice = Advice::Wait(5);

/// A refusal with its status, its JSON and what to do next.
pub fn refusal(status: u16, body: &impl Serialize, advice: Advice) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, body).unwrap_or_else(|_| status.into_response());
    let headers = response.headers_mut();
    match advice {
        Advice::Read => {}
        Advice::Wait(seconds) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        Advice::Reconnect => {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
    response
}
