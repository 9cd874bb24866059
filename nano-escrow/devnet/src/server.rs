//! The RPC over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::doors::Gate;
use super::node::Node;
use super::rpc::{self, Outcome};

/// Any path, as a node; only POST.
pub(crate) fn router(node: Arc<Node>) -> Router {
    Router::new().fallback(handle).with_state(node)
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

async fn handle(
    State(node): State<Arc<Node>>,
    ConnectInfo(gate): ConnectInfo<Gate>,
    method: Method,
    body: Body,
) -> Response {
    if method != Method::POST {
        return json_response(StatusCode::OK, &json!({ "error": "Can only POST requests" }));
    }
    let Ok(body) = axum::body::to_bytes(body, node.options.max_body).await else {
        return json_response(StatusCode::PAYLOAD_TOO_LARGE, &json!({ "error": "The request is too large" }));
    };
    match rpc::answer_bytes(&node, &body).await {
        Outcome::Answer(value) => json_response(StatusCode::OK, &value),
        Outcome::Status(code, text) => {
            (StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY), text).into_response()
        }
        Outcome::Cut(value) => {
            // The head of an answer is longer than a hundred bytes, so its body is cut or missing.
            gate.shut_after(100 + value.to_string().len() / 2);
            json_response(StatusCode::OK, &value)
        }
        Outcome::Close => {
            gate.shut_after(0);
            StatusCode::OK.into_response()
        }
    }
}
