//! The local API as an OpenAPI 3.1 document. Served at /openapi.json, written by `--print-openapi`, compared with
//! `indexer/node/openapi.json` by a test.

use super::routes;
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::LazyLock;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use zx1_server::openapi::{self, Style};

/// The document without its routes.
pub(super) fn base() -> OpenApi {
    let license = LicenseBuilder::new().name("AGPL-3.0-or-later").identifier(Some("AGPL-3.0-or-later"));
    let info = InfoBuilder::new()
        .title("zx1 node")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "The local API of an agent's mesh node, for the agent's own programs. On loopback each request carries the \
             token from node.token in the agent's folder; on node.sock beside it none. Refusals are problem details \
             (RFC 9457). What the websocket sends: asyncapi.json.",
        ))
        .license(Some(license.build()));
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = ComponentsBuilder::new().security_scheme("token", SecurityScheme::Http(bearer)).build();
    OpenApiBuilder::new().info(info.build()).components(Some(components)).build()
}

const TAGS: &[(&str, &str, &[&str])] = &[
    ("messages", "sending and receiving", &["send", "outbox", "inbox", "conversations", "ws"]),
    ("notaries", "looking for one, being one, and ratings", &["notary", "rate"]),
    (
        "mesh",
        "peers and other agents",
        &["peers", "identity", "adverts", "heard", "reputation", "mesh", "observed"],
    ),
    ("signer", "the process that holds the deal key", &["signer"]),
    (
        "operations",
        "health, metrics, this document and that of the websocket",
        &["status", "stop", "healthz", "metrics", "openapi.json", "asyncapi.json"],
    ),
];

/// Bounds and examples by name.
fn shape(name: &str) -> Option<Value> {
    let hex = |digits: usize| json!({ "pattern": format!("^[0-9a-f]{{{digits}}}$"), "examples": ["ab".repeat(digits / 2)] });
    Some(match name {
        "conversation" => hex(32),
        "message" | "hash" | "payload_hash" => hex(64),
        "agent" | "sender" | "recipient" | "target" | "proposer" | "responder" | "notary" => json!({
            "pattern": "^[1-9A-HJ-NP-Za-km-z]{32,44}$",
            "examples": ["6tBou5MHL5aWpDy6cgf3wiwGGK2mR8qs68ujtpaoWrf2"],
        }),
        "after" | "id" | "next" | "acknowledged" => json!({ "examples": ["20783-12"] }),
        "limit" => json!({ "minimum": 1, "maximum": 256, "examples": [50] }),
        "ttl_seconds" => json!({ "minimum": 1, "maximum": 86400, "examples": [3600] }),
        "outcome" => json!({ "minimum": 0, "maximum": 2 }),
        "role" => json!({ "minimum": 0, "maximum": 1 }),
        "seconds" => json!({ "minimum": 1, "maximum": 3600, "examples": [600] }),
        "unit" => json!({ "examples": ["raw"] }),
        "deliver" => hex(64),
        "fee" => json!({ "pattern": "^[0-9]+$", "examples": ["1000"] }),
        "value" | "price" => json!({ "pattern": "^-?[0-9]+$", "examples": ["1000"] }),
        "score" => json!({ "minimum": -100, "maximum": 100 }),
        _ => return None,
    })
}

/// The document as text.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let style = Style { tags: TAGS, shape, is_tagged: |_| false };
        let mut document = routes().get_openapi().clone();
        document.merge(crate::observe::http::described().get_openapi().clone());
        openapi::written(&document, &style)
    });
    &TEXT
}

/// This document, OpenAPI 3.1
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, body = Object)))]
pub(crate) async fn served() -> Response {
    openapi::served(text())
}

#[cfg(test)]
mod tests {
    use super::super::door::OPEN;
    use super::*;

    #[test]
    fn the_committed_document_is_the_one_that_the_code_describes() {
        let committed = include_str!("../../openapi.json");
        assert!(committed == text(), "run zx1-node --print-openapi > indexer/node/openapi.json");
    }

    #[test]
    fn only_health_and_the_documents_need_no_token() {
        let document: Value = serde_json::from_str(text()).unwrap();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let is_open = operation["security"].is_null();
                assert_eq!(is_open, OPEN.contains(&path.as_str()), "{method} {path}");
            }
        }
    }
}
