//! What the websocket sends, as an AsyncAPI 3.0 document. Served at /asyncapi.json, written by `--print-asyncapi`,
//! compared with `indexer/node/asyncapi.json` by a test. The schemas are those of the OpenAPI document.

use super::openapi;
use axum::response::Response;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use utoipa::PartialSchema as _;
use zx1_operator::node::DEFAULT_API;
use zx1_operator::node::wire::News;
use zx1_server::openapi::sorted;

/// What is sent: the type, what its id is, the schema of what it is about, and when it comes.
const KINDS: [(&str, &str, &str, &str); 6] = [
    (
        "message",
        "place in the agent's log, which is what a reader resumes from",
        "Message",
        "A message was received",
    ),
    (
        "draft",
        "number of the message in the outbox",
        "Draft",
        "A message of the outbox was taken, or has another state",
    ),
    ("heard", "counts up", "HeardMessage", "A message on a topic says something of an agent"),
    ("peer", "libp2p peer id", "PeerChange", "A peer was connected or is gone"),
    (
        "search",
        "conversation of the task",
        "Search",
        "A search for a notary has another stage, or another offer",
    ),
    ("desk", "conversation of the task", "Desk", "A task of this agent as a notary has changed"),
];

/// Schemas that no route of the REST interface has.
fn own_schemas() -> Map<String, Value> {
    let schemas = json!({
        "HeardMessage": {
            "type": "object",
            "description": "A message to all that the node keeps something of: BEACON, ADVERTISE, DISCOVER or FEEDBACK",
            "required": ["type", "sender", "payload"],
            "properties": {
                "type": { "type": "string", "description": "message type as a word" },
                "sender": { "type": "string", "description": "agent that sent it" },
                "payload": { "type": "object", "description": "the payload taken apart, with its `kind`" },
            },
        },
        "PeerChange": {
            "type": "object",
            "description": "Whether a peer is connected",
            "required": ["connected"],
            "properties": { "connected": { "type": "boolean", "description": "whether it is connected now" } },
        },
    });
    let Value::Object(schemas) = schemas else { return Map::new() };
    schemas
}

/// The schema of one kind of news: that of all news with its own words.
fn payload(kind: &str, id: &str, of: &str) -> Value {
    // Values of strings and numbers always have a text.
    let mut schema = serde_json::to_value(News::schema()).unwrap_or_default();
    let properties = &mut schema["properties"];
    properties["type"] = json!({ "const": kind, "description": "what it is about" });
    properties["id"] = json!({ "type": "string", "description": id });
    properties["of"] = json!({ "$ref": format!("#/components/schemas/{of}") });
    schema
}

/// Takes a schema of the OpenAPI document over, and those that it refers to.
fn with_its_parts(all: &Value, name: &str, schemas: &mut Map<String, Value>) {
    let Some(schema) = all.get(name).filter(|_| !schemas.contains_key(name)) else { return };
    schemas.insert(name.to_owned(), schema.clone());
    let text = schema.to_string();
    for part in text.split("\"#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()) {
        with_its_parts(all, part, schemas);
    }
}

fn document() -> Value {
    let rest: Value = serde_json::from_str(openapi::text()).unwrap_or_default();
    let mut schemas = own_schemas();
    let (mut messages, mut referred, mut operated) = (Map::new(), Map::new(), Vec::new());
    for (kind, id, of, summary) in KINDS {
        with_its_parts(&rest["components"]["schemas"], of, &mut schemas);
        let message = json!({
            "name": kind,
            "title": kind,
            "summary": summary,
            "contentType": "application/json",
            "payload": payload(kind, id, of),
        });
        messages.insert(kind.to_owned(), message);
        referred.insert(kind.to_owned(), json!({ "$ref": format!("#/components/messages/{kind}") }));
        operated.push(json!({ "$ref": format!("#/channels/news/messages/{kind}") }));
    }
    let after = json!({
        "type": "string",
        "description": "id of the last message that the reader has; without one only what comes from now on is sent",
        "pattern": "^[0-9]+-[0-9]+$",
    });
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "zx1 node",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What the websocket of an agent's mesh node sends. All else of the local API: openapi.json. \
                The reader sends nothing. One that is too slow is closed with a reason, and resumes with `after` behind \
                the last message that it has.",
            "license": { "name": "AGPL-3.0-or-later", "url": "https://www.gnu.org/licenses/agpl-3.0.html" },
        },
        "defaultContentType": "application/json",
        "servers": {
            "loopback": {
                "host": DEFAULT_API,
                "protocol": "ws",
                "description": "Where node.json in the agent's folder says. The socket node.sock beside it needs no token.",
                "security": [{ "$ref": "#/components/securitySchemes/token" }],
            },
        },
        "channels": {
            "news": {
                "address": "/v1/ws",
                "title": "News",
                "description": "Received messages from any place in the log on, then all news as it comes",
                "messages": referred,
                "bindings": {
                    "ws": {
                        "method": "GET",
                        "query": { "type": "object", "properties": { "after": after } },
                        "bindingVersion": "0.1.0",
                    },
                },
            },
        },
        "operations": {
            "sendNews": {
                "action": "send",
                "summary": "The node sends what happens",
                "channel": { "$ref": "#/channels/news" },
                "messages": operated,
            },
        },
        "components": {
            "messages": messages,
            "schemas": schemas,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token in node.token of the agent's folder",
                },
            },
        },
    })
}

/// The document as text.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| serde_json::to_string_pretty(&sorted(document())).unwrap_or_default() + "\n");
    &TEXT
}

/// What the websocket sends, as an AsyncAPI document
#[utoipa::path(get, path = "/asyncapi.json", responses((status = 200, body = Object)))]
pub(super) async fn served() -> Response {
    zx1_server::openapi::served(text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_document_is_the_one_that_the_code_describes() {
        let committed = include_str!("../../asyncapi.json");
        assert!(committed == text(), "run zx1-node --print-asyncapi > indexer/node/asyncapi.json");
    }

    #[test]
    fn every_reference_has_its_target() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(map) => map.iter().for_each(|(name, value)| match (name.as_str(), value) {
                    ("$ref", Value::String(target)) => found.push(target.clone()),
                    (_, value) => references(value, found),
                }),
                Value::Array(list) => list.iter().for_each(|value| references(value, found)),
                _ => {}
            }
        }
        let document: Value = serde_json::from_str(text()).unwrap();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 10, "{found:?}");
        for target in found {
            let target = target.strip_prefix('#').unwrap();
            assert!(document.pointer(target).is_some_and(|it| !it.is_null()), "{target}");
        }
    }
}
