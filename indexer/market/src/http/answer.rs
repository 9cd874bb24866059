//! Answers and refusals on the wire.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use zx1_market::wire::{ErrorBody, ErrorDetail};

use crate::error::Error;

/// A JSON answer.
pub(crate) fn json(value: &impl Serialize) -> Result<Response, Error> {
    json_with(StatusCode::OK, value)
}

/// A JSON answer with a status. Through the text writer, as [`zx1_market::Json`] wants it.
pub(crate) fn json_with(status: StatusCode, value: &impl Serialize) -> Result<Response, Error> {
    let text = serde_json::to_string(value).map_err(|e| crate::store::StoreError::Corrupt(e.to_string()))?;
    Ok(text_with(status, "application/json", text))
}

/// A text answer.
pub(crate) fn text_with(status: StatusCode, kind: &'static str, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = match &self {
            Error::Market(refusal) => ErrorBody::of(refusal),
            // What is wrong inside is for the operator's log.
            error
                if status.is_server_error()
                    && !matches!(error, Error::NoEscrow | Error::Stopping | Error::TooManyStreams(_)) =>
            {
                tracing::error!(code = error.code(), %error, "a request failed");
                ErrorBody {
                    detail: ErrorDetail::Text(
                        "The server failed; try again, and tell its operator.".to_owned(),
                    ),
                    code: Some(error.code()),
                }
            }
            error => ErrorBody { detail: ErrorDetail::Text(error.to_string()), code: Some(error.code()) },
        };
        let mut response = json_with(status, &body).unwrap_or_else(|_| status.into_response());
        let headers = response.headers_mut();
        match &self {
            Error::TooMany(seconds) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
            }
            Error::TooManyStreams(_) | Error::Stopping => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            // What was sent was not read to its end, so nothing else can follow on this connection.
            Error::LargeBody(_) | Error::SlowBody => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// One item of a 422, as older clients know them.
#[derive(Serialize)]
struct Item<'a> {
    r#type: &'a str,
    loc: &'a [&'a str],
    msg: &'a str,
    input: Option<()>,
}

#[derive(Serialize)]
struct Unprocessable<'a> {
    detail: [Item<'a>; 1],
}

/// 422: the body is no JSON object of the right shape.
pub(crate) fn unprocessable(kind: &str, message: &str) -> Response {
    let body = Unprocessable { detail: [Item { r#type: kind, loc: &["body"], msg: message, input: None }] };
    json_with(StatusCode::UNPROCESSABLE_ENTITY, &body)
        .unwrap_or_else(|_| StatusCode::UNPROCESSABLE_ENTITY.into_response())
}

/// 405.
pub(crate) fn method_not_allowed() -> Response {
    let body = ErrorBody {
        detail: ErrorDetail::Text("This page is not for this method; see /openapi.json.".to_owned()),
        code: Some(9402),
    };
    json_with(StatusCode::METHOD_NOT_ALLOWED, &body)
        .unwrap_or_else(|_| StatusCode::METHOD_NOT_ALLOWED.into_response())
}
