//! Answers and refusals on the wire.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use zx1_market::wire::ErrorBody;
use zx1_server::answer;
use zx1_server::problem::refused;

use crate::error::Error;

/// A JSON answer.
pub(crate) fn json(value: &impl Serialize) -> Result<Response, Error> {
    json_with(StatusCode::OK, value)
}

/// A JSON answer with a status. Through the text writer, as [`zx1_market::Json`] wants it.
pub(crate) fn json_with(status: StatusCode, value: &impl Serialize) -> Result<Response, Error> {
    answer::json(status, value).map_err(|e| crate::store::StoreError::Corrupt(e.to_string()).into())
}

/// The body of a 409 or 422 as older clients know it, beside a response.
#[derive(Clone)]
struct Older(String);

/// A 422 as older clients know it.
#[derive(Serialize)]
struct OlderShape<'a> {
    detail: [OlderItem<'a>; 1],
}

/// What is wrong with a body.
#[derive(Serialize)]
struct OlderItem<'a> {
    r#type: &'a str,
    loc: [&'a str; 1],
    msg: &'a str,
    input: Option<()>,
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let mut response = refused(&self);
        let older = match &self {
            Error::Market(refusal) if response.status() == StatusCode::CONFLICT => {
                serde_json::to_string(&ErrorBody::of(refusal)).ok()
            }
            Error::Shape { kind, message } => {
                let item = OlderItem { r#type: kind, loc: ["body"], msg: message, input: None };
                serde_json::to_string(&OlderShape { detail: [item] }).ok()
            }
            _ => None,
        };
        if let Some(older) = older {
            response.extensions_mut().insert(Older(older));
        }
        response
    }
}

/// The response as older clients know it: 409 and 422 have shapes of their own (decision E13).
pub(crate) fn as_older(mut response: Response) -> Response {
    let Some(Older(body)) = response.extensions_mut().remove() else { return response };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.map(|_| body.into())
}
