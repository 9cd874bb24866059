//! Answers and refusals on the wire.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use zx1_market::wire::{ErrorBody, ErrorDetail};
use zx1_server::answer::{self, A_MOMENT, Advice, refusal};

use crate::error::Error;

/// A JSON answer.
pub(crate) fn json(value: &impl Serialize) -> Result<Response, Error> {
    json_with(StatusCode::OK, value)
}

/// A JSON answer with a status. Through the text writer, as [`zx1_market::Json`] wants it.
pub(crate) fn json_with(status: StatusCode, value: &impl Serialize) -> Result<Response, Error> {
    answer::json(status, value).map_err(|e| crate::store::StoreError::Corrupt(e.to_string()).into())
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let body = match &self {
            Error::Market(refusal) => ErrorBody::of(refusal),
            // What is wrong inside is for the operator's log.
            error
                if error.status() >= 500
                    && !matches!(
                        error,
                        Error::NoEscrow
                            | Error::Stopping
                            | Error::TooManyStreams(_)
                            | Error::LedgerAway
                            | Error::Unsent(_)
                    ) =>
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
        let advice = match self {
            Error::TooMany(seconds) => Advice::Wait(seconds),
            Error::TooManyStreams(_) | Error::Stopping | Error::LedgerAway | Error::Unsent(_) => A_MOMENT,
            Error::LargeBody(_) | Error::SlowBody => Advice::Reconnect,
            _ => Advice::Read,
        };
        refusal(self.status(), &body, advice)
    }
}

/// One item of a 422, as older clients know them.
#[derive(Serialize, ToSchema)]
struct Item<'a> {
    r#type: &'a str,
    loc: &'a [&'a str],
    msg: &'a str,
    #[schema(value_type = Option<String>)]
    input: Option<()>,
}

/// A body that is not a JSON object of the right shape.
#[derive(Serialize, ToSchema)]
pub(super) struct Unprocessable<'a> {
    #[schema(value_type = Vec<Item>)]
    detail: [Item<'a>; 1],
}

/// 422: the body is not a JSON object of the right shape.
pub(crate) fn unprocessable(kind: &str, message: &str) -> Response {
    let body = Unprocessable { detail: [Item { r#type: kind, loc: &["body"], msg: message, input: None }] };
    refusal(422, &body, Advice::Read)
}

/// 405: the page exists, but not for this method.
pub(crate) fn method_not_allowed() -> Response {
    let body = ErrorBody {
        detail: ErrorDetail::Text("This page is not for this method; see /openapi.json.".to_owned()),
        code: Some(9402),
    };
    refusal(405, &body, Advice::Read)
}
