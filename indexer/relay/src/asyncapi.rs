//! Every frame, both ways, as an AsyncAPI 3.0 document. Served at /asyncapi.json, written by `--print-asyncapi`,
//! compared with `indexer/relay/asyncapi.json` by a test.

use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use zx1_relay_rules::hub::EXTENSIONS;
use zx1_server::openapi::sorted;

/// A frame: its type, when it is sent, its required fields and its other ones. A field is `name:kind`.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Value of the field `type`.
    pub name: &'static str,
    summary: &'static str,
    /// Fields that it always has, beside `type` (and of the relay's `ts`).
    pub required: &'static [&'static str],
    /// Fields that it may have.
    pub optional: &'static [&'static str],
}

const fn shape(
    name: &'static str,
    summary: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Shape {
    Shape { name, summary, required, optional }
}

/// Frames of clients.
pub const FROM_CLIENTS: &[Shape] = &[
    shape("IDENTIFY", "Begins: a name, and the key of who has one", &["name:name"], &["pubkey:pem"]),
    shape(
        "VERIFY_IDENTITY",
        "Answers CHALLENGE",
        &["challenge_id:text", "signature:signature", "timestamp:number"],
        &[],
    ),
    shape("JOIN", "Joins a channel", &["channel:channel"], &[]),
    shape("LEAVE", "Leaves it", &["channel:channel"], &[]),
    shape("LIST_AGENTS", "Asks for a page of members", &["channel:channel"], &["after:agent"]),
    shape("LIST_CHANNELS", "Asks for the public channels", &[], &[]),
    shape("CREATE_CHANNEL", "Makes a channel", &["channel:channel"], &["invite_only:bool"]),
    shape("INVITE", "Invites an agent", &["channel:channel", "agent:agent"], &[]),
    shape("TYPING", "Is writing", &["channel:channel"], &[]),
    shape("PING", "Asks for PONG", &[], &[]),
    shape(
        "MSG",
        "Says something to a channel or an agent",
        &["to:target", "content:content"],
        &["sig:signature"],
    ),
    shape("FILE_CHUNK", "A part of a file, to an agent", &["to:agent", "content:text"], &[]),
    shape(
        "PROPOSAL",
        "Proposes work to an agent",
        &["to:agent", "task:text", "sig:signature"],
        &[
            "amount:number",
            "currency:text",
            "payment_code:text",
            "terms:text",
            "expires:number",
            "elo_stake:number",
            "zx1_sig:signature",
            "contract:text",
            "conversation:text",
            "envelope:base64",
        ],
    ),
    shape(
        "ACCEPT",
        "Accepts a proposal",
        &["proposal_id:text", "sig:signature"],
        &["payment_code:text", "elo_stake:number", "envelope:base64"],
    ),
    shape(
        "REJECT",
        "Rejects it",
        &["proposal_id:text", "sig:signature"],
        &["reason:text", "envelope:base64"],
    ),
    shape(
        "COMPLETE",
        "Says that the work is done, or confirms it",
        &["proposal_id:text", "sig:signature"],
        &["proof:text", "envelope:base64"],
    ),
    shape(
        "DISPUTE",
        "Says that it is not",
        &["proposal_id:text", "reason:text", "sig:signature"],
        &["envelope:base64"],
    ),
    shape("SET_PRESENCE", "Changes presence", &["status:presence"], &["status_text:text"]),
    shape("SET_NICK", "Takes another name", &["nick:name"], &[]),
    shape("VERIFY_REQUEST", "Asks an agent to sign a nonce", &["target:agent", "nonce:text"], &[]),
    shape("VERIFY_RESPONSE", "Signs the nonce", &["request_id:text", "nonce:text", "sig:signature"], &[]),
    shape("REGISTER_SKILLS", "Replaces the own skills", &["skills:list", "sig:signature"], &[]),
    shape("SEARCH_SKILLS", "Looks for skills", &["query:object"], &["query_id:text"]),
    shape("ADMIN_APPROVE", "Puts a key on the allowlist", &["pubkey:pem", "admin_key:text"], &["note:text"]),
    shape("ADMIN_REVOKE", "Takes a key off it", &["admin_key:text"], &["pubkey:pem", "agent_id:agent"]),
    shape("ADMIN_LIST", "Asks for the allowlist", &["admin_key:text"], &[]),
    shape("ADMIN_KICK", "Closes a connection", &["agent_id:agent", "admin_key:text"], &["reason:text"]),
    shape(
        "ADMIN_BAN",
        "Closes it and keeps the agent out",
        &["agent_id:agent", "admin_key:text"],
        &["reason:text"],
    ),
    shape("ADMIN_UNBAN", "Lets it in again", &["agent_id:agent", "admin_key:text"], &[]),
    shape("ADMIN_RULE", "Rules on a proposal", &["proposal_id:text", "admin_key:text"], &["winner:agent"]),
];

/// Frames of the relay.
pub const FROM_RELAY: &[Shape] = &[
    shape(
        "WELCOME",
        "The connection is identified",
        &["agent_id:agent", "name:text", "server:text", "disclaimer:text"],
        &["verified:bool", "motd:text"],
    ),
    shape("CHALLENGE", "Sign the nonce", &["challenge_id:text", "nonce:text", "expires_at:number"], &[]),
    shape(
        "MSG",
        "Somebody, or the relay as @server, said something",
        &["from:agent", "from_name:text", "to:target", "content:text"],
        &["sig:signature", "msg_id:text", "replay:bool"],
    ),
    shape("JOINED", "The client is in the channel", &["channel:channel", "agents:list"], &["total:number"]),
    shape("LEFT", "The client has left it", &["channel:channel"], &[]),
    shape(
        "AGENT_JOINED",
        "Another agent came",
        &["channel:channel", "agent:agent", "name:text", "verified:bool"],
        &[],
    ),
    shape("AGENT_LEFT", "Another agent went", &["channel:channel", "agent:agent"], &["name:text"]),
    shape(
        "MEMBERS",
        "Who came, went and changed in a large channel",
        &["channel:channel", "joined:list", "left:list", "total:number"],
        &[],
    ),
    shape("CHANNELS", "The public channels", &["list:list"], &[]),
    shape("AGENTS", "A page of members", &["channel:channel", "list:list"], &["next:agent", "total:number"]),
    shape("ERROR", "A frame was refused", &["code:text", "message:text"], &[]),
    shape("PONG", "Answers PING", &[], &[]),
    shape("TYPING", "Another agent is writing", &["from:agent", "from_name:text", "channel:channel"], &[]),
    shape("FILE_CHUNK", "A part of a file", &["from:agent", "to:agent", "content:text"], &[]),
    shape(
        "PROPOSAL",
        "A proposal, to its recipient and its sender",
        &[
            "id:text",
            "from:agent",
            "to:agent",
            "task:text",
            "amount:any",
            "currency:any",
            "payment_code:any",
            "terms:any",
            "expires:any",
            "status:text",
            "created_at:number",
            "sig:signature",
            "elo_stake:any",
        ],
        &["zx1_sig:signature", "contract:text", "conversation:text", "envelope:base64"],
    ),
    shape(
        "ACCEPT",
        "A proposal was accepted",
        &[
            "proposal_id:text",
            "status:text",
            "updated_at:number",
            "from:agent",
            "to:agent",
            "sig:signature",
            "payment_code:any",
            "proposer_stake:number",
            "acceptor_stake:number",
        ],
        &["envelope:base64"],
    ),
    shape(
        "REJECT",
        "It was rejected",
        &[
            "proposal_id:text",
            "status:text",
            "updated_at:number",
            "from:agent",
            "to:agent",
            "sig:signature",
            "reason:any",
        ],
        &["envelope:base64"],
    ),
    shape(
        "COMPLETE",
        "It was completed, confirmed, or ruled on",
        &["proposal_id:text", "status:text", "updated_at:number", "from:agent", "rating_changes:any"],
        &[
            "to:agent",
            "sig:signature",
            "completed_by:agent",
            "completed_at:number",
            "proof:any",
            "elo_stakes:object",
            "envelope:base64",
        ],
    ),
    shape(
        "DISPUTE",
        "It was disputed, or the dispute ruled on",
        &["proposal_id:text", "status:text", "updated_at:number", "from:agent", "rating_changes:any"],
        &[
            "to:agent",
            "sig:signature",
            "disputed_by:agent",
            "disputed_at:number",
            "reason:text",
            "elo_stakes:object",
            "envelope:base64",
        ],
    ),
    shape(
        "PRESENCE_CHANGED",
        "The presence of an agent in a shared channel",
        &["agent_id:agent", "name:text", "presence:presence", "status_text:any"],
        &[],
    ),
    shape(
        "NICK_CHANGED",
        "An agent has another name",
        &["agent_id:agent", "old_nick:text", "new_nick:text"],
        &[],
    ),
    shape(
        "VERIFY_REQUEST",
        "Sign this nonce; or, to who asked, that it is under way",
        &["request_id:text"],
        &["from:agent", "nonce:text", "target:agent", "status:text"],
    ),
    shape(
        "VERIFY_SUCCESS",
        "The signature holds",
        &["request_id:text"],
        &["agent:agent", "pubkey:pem", "verified:bool"],
    ),
    shape(
        "VERIFY_FAILED",
        "It does not, or did not come",
        &["request_id:text", "target:agent", "reason:text"],
        &[],
    ),
    shape(
        "SESSION_DISPLACED",
        "The key has identified on another connection; this one is closed",
        &["reason:text", "new_ip:text"],
        &[],
    ),
    shape("KICKED", "The admin closes the connection", &["reason:text"], &[]),
    shape("BANNED", "The admin keeps the agent out", &["reason:text"], &[]),
    shape(
        "ADMIN_RESULT",
        "Answers an admin",
        &["action:text"],
        &["success:bool", "entries:list", "enabled:bool", "strict:bool"],
    ),
    shape(
        "SKILLS_REGISTERED",
        "The skills are registered",
        &["agent_id:agent", "skills_count:number", "registered_at:number"],
        &[],
    ),
    shape(
        "SEARCH_RESULTS",
        "Skills that fit",
        &["query_id:any", "query:object", "results:list", "total:number"],
        &[],
    ),
];

fn kind(word: &str) -> Value {
    match word {
        "agent" => json!({ "type": "string", "pattern": "^@[0-9A-Za-z]{1,64}$" }),
        "any" => json!({}),
        "base64" => json!({ "type": "string", "contentEncoding": "base64" }),
        "bool" => json!({ "type": "boolean" }),
        "channel" => json!({ "type": "string", "pattern": "^#[0-9A-Za-z_-]{1,31}$" }),
        "content" => json!({ "type": "string", "minLength": 1, "maxLength": 4_096 }),
        "list" => json!({ "type": "array" }),
        "name" => json!({ "type": "string", "pattern": "^[0-9A-Za-z_-]{1,32}$" }),
        "number" => json!({ "type": "number" }),
        "object" => json!({ "type": "object" }),
        "pem" => json!({ "type": "string", "maxLength": 1_024 }),
        "presence" => json!({ "enum": ["online", "away", "busy", "offline", "listening"] }),
        "signature" => json!({ "type": "string", "contentEncoding": "base64", "maxLength": 128 }),
        "target" => json!({ "type": "string", "pattern": "^[#@]" }),
        _ => json!({ "type": "string" }),
    }
}

fn message(shape: &Shape, is_relay: bool) -> Value {
    let mut properties = Map::new();
    properties.insert("type".to_owned(), json!({ "const": shape.name }));
    let mut required = vec!["type"];
    if is_relay {
        properties.insert("ts".to_owned(), json!({ "type": "integer", "description": "Unix milliseconds" }));
        required.push("ts");
    }
    for (fields, is_required) in [(shape.required, true), (shape.optional, false)] {
        for (name, word) in fields.iter().filter_map(|field| field.split_once(':')) {
            properties.insert(name.to_owned(), kind(word));
            if is_required {
                required.push(name);
            }
        }
    }
    json!({
        "name": shape.name,
        "title": shape.name,
        "summary": shape.summary,
        "contentType": "application/json",
        "payload": { "type": "object", "required": required, "properties": properties },
    })
}

fn document() -> Value {
    let (mut messages, mut referred) = (Map::new(), Map::new());
    let mut operations: [Vec<Value>; 2] = Default::default();
    let ways = [("client", FROM_CLIENTS), ("relay", FROM_RELAY)];
    for ((way, shapes), operated) in ways.into_iter().zip(&mut operations) {
        for shape in shapes {
            let name = format!("{way}.{}", shape.name);
            messages.insert(name.clone(), message(shape, way == "relay"));
            let target = format!("#/components/messages/{name}");
            referred.insert(name.clone(), json!({ "$ref": target }));
            operated.push(json!({ "$ref": format!("#/channels/relay/messages/{name}") }));
        }
    }
    let [received, sent] = operations;
    let channel = json!({ "$ref": "#/channels/relay" });
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "zx1 relay",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "One JSON object in each text message. Limits, closes, orders and signatures: docs/relay.md. Clients \
                 that know MEMBERS say so with the subprotocol {EXTENSIONS}."
            ),
            "license": { "name": "AGPL-3.0-or-later", "url": "https://www.gnu.org/licenses/agpl-3.0.html" },
        },
        "defaultContentType": "application/json",
        "servers": {
            "loopback": {
                "host": "127.0.0.1:6667",
                "protocol": "ws",
                "description": "The default; any path. Behind a proxy that ends TLS it is wss.",
            },
        },
        "channels": {
            "relay": {
                "address": "/",
                "title": "Relay",
                "description": "The one websocket of a client",
                "messages": referred,
            },
        },
        "operations": {
            "receiveFrames": {
                "action": "receive",
                "summary": "What clients send",
                "channel": channel,
                "messages": received,
            },
            "sendFrames": {
                "action": "send",
                "summary": "What the relay sends",
                "channel": channel,
                "messages": sent,
            },
        },
        "components": { "messages": messages },
    })
}

/// The document as text.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| serde_json::to_string_pretty(&sorted(document())).unwrap_or_default() + "\n");
    &TEXT
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_relay_rules::RelayError;
    use zx1_relay_rules::client::Frame;

    #[test]
    fn the_committed_document_is_the_one_that_the_code_describes() {
        let committed = include_str!("../asyncapi.json");
        assert!(committed == text(), "run zx1-relay --print-asyncapi > indexer/relay/asyncapi.json");
    }

    fn example(word: &str) -> Value {
        match word {
            "agent" | "target" => json!("@0123abcd"),
            "bool" => json!(true),
            "base64" => json!("AAAA"),
            "channel" => json!("#general"),
            "list" => json!([{ "capability": "x" }]),
            "number" => json!(7),
            "object" => json!({ "capability": "x" }),
            "presence" => json!("away"),
            "name" => json!("ada"),
            _ => json!("0123456789abcdef"),
        }
    }

    #[test]
    fn a_frame_with_its_required_fields_is_read_and_without_one_of_them_refused() {
        for shape in FROM_CLIENTS {
            // ADMIN_REVOKE names either of two; the signature of a proposal is asked for by the relay, not the reader.
            let of: Vec<_> = shape.required.iter().filter_map(|field| field.split_once(':')).collect();
            let mut frame = json!({ "type": shape.name });
            for (name, word) in &of {
                frame[*name] = example(word);
            }
            if shape.name == "ADMIN_REVOKE" {
                frame["agent_id"] = json!("0123abcd");
            }
            let read = Frame::parse(&frame.to_string());
            assert!(read.is_ok(), "{}: {read:?}", shape.name);
            for (name, _) in of.iter().filter(|(name, _)| *name != "sig") {
                let mut less = frame.clone();
                less.as_object_mut().unwrap().remove(*name);
                let refused = Frame::parse(&less.to_string());
                assert!(refused.is_err(), "{} without {name}", shape.name);
                assert_ne!(refused.err(), Some(RelayError::UnknownType), "{}", shape.name);
            }
        }
    }

    #[test]
    fn every_type_that_is_read_is_described() {
        let names: Vec<_> = FROM_CLIENTS.iter().map(|shape| shape.name).collect();
        let source = include_str!("../../../client/relay/src/client.rs");
        let arms = source.lines().filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>"));
        let read: Vec<_> = arms.map(|(name, _)| name).filter(|name| name.to_uppercase() == *name).collect();
        assert!(read.len() > 25, "{read:?}");
        for name in read {
            assert!(names.contains(&name), "{name}");
        }
    }
}
