//! The interface as OpenAPI 3.1, from one table of routes. Served at /openapi.json, written by
//! `--print-openapi`, compared with `indexer/market/openapi.json` by a test.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};
use zx1_server::openapi::{self, Words, answer, body, content, parameter, reference};

/// Who may call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Anybody.
    All,
    /// A signature shows more; without one only what is public.
    Reader,
    /// A signed request of a party.
    Party,
    /// A signed request of a judge.
    Judge,
}

/// One route: method, path, what it does, who, the body's fields, the answer's fields, refusals.
struct Route {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    who: Who,
    body: Option<&'static str>,
    answer: &'static str,
    refusals: &'static [u16],
}

const ACT: &[u16] = &[400, 401, 403, 404, 409, 413, 422, 429];
const READ: &[u16] = &[401, 403, 404, 429];
const OPEN: &[u16] = &[429];

macro_rules! routes {
    ($($method:literal $path:literal $who:ident $body:expr, $answer:literal $refusals:ident:
        $summary:literal;)*) => {
        const ROUTES: &[Route] = &[$(Route {
            method: $method, path: $path, summary: $summary, who: Who::$who, body: $body, answer: $answer,
            refusals: $refusals,
        }),*];
    };
}

const PAYOUT: &str = "payout_address";

// A body's or an answer's fields are written as [`Words`] says.
routes! {
    "post" "/contracts" Party Some("contract{}? principal_pubkey payout_address?"),
        "contract_id status server_pubkey deposit{}?" ACT:
            "Post a contract; unfunded until its deposit is confirmed";
    "get" "/contracts" All None, "contracts[] next?" OPEN: "List contracts, newest first";
    "get" "/contracts/stream" All None, "" OPEN: "Server-sent events of new, taken and ended contracts";
    "get" "/contracts/{id}" Reader None,
        "id status contract{} principal_pubkey agent_pubkey? judge_pubkey execution_mode review_expires_at#? \
         closing_at#? last_investigation_at#? transcript[] received_at[] chain_head \
         server_pubkey created_at# updated_at# briefing" READ: "A contract with its transcript";
    "delete" "/contracts/{id}" Party Some("reason?"), "status" ACT:
        "Take back a contract that nobody has taken";
    "post" "/contracts/{id}/bond" Party Some("agent_pubkey payout_address?"), "status bond{} deposit{}?" ACT:
        "Reserve a contract; taken when the deposit is confirmed";
    "post" "/contracts/{id}/accept" Party Some("agent_pubkey"), "status" ACT: "Commit to fixing";
    "post" "/contracts/{id}/decline" Party Some("reason?"), "status" ACT:
        "Give the contract back before accepting";
    "post" "/contracts/{id}/investigate" Party Some("command"), "status command" ACT:
        "Ask for a read-only command";
    "post" "/contracts/{id}/result" Party Some("command output exit_code#? refused!?"), "status" ACT:
        "Answer an investigation";
    "post" "/contracts/{id}/fix" Party Some("fix explanation? corrected_command?"),
        "status review_expires_at#?" ACT: "Submit a fix";
    "post" "/contracts/{id}/verify" Party Some("success! explanation? exit_code#? output?"),
        "status closing_at#?"
        ACT: "Say whether the fix worked";
    "post" "/contracts/{id}/review" Party Some("action argument?"), "status closing_at#?" ACT:
        "Accept, reject or dispute a fix in autonomous mode";
    "post" "/contracts/{id}/dispute" Party Some("argument side"),
        "status court level# fee response_deadline# response_window# message" ACT: "File a dispute";
    "post" "/contracts/{id}/respond" Party Some("argument side"), "status court? level#? responded!?" ACT:
        "Answer a dispute or an appeal";
    "post" "/contracts/{id}/appeal" Party Some("argument side"),
        "status court level# fee response_deadline# response_window# message" ACT: "Call the next court";
    "post" "/contracts/{id}/waive" Party Some("side"), "status" ACT: "Give up an appeal or an objection";
    "post" "/contracts/{id}/chat" Party Some("message from_side msg_type?"), "status" ACT: "Say something";
    "post" "/contracts/{id}/halt" Party Some("reason?"), "status ruling{}? resume_until#?" ACT:
        "Stop everything";
    "post" "/contracts/{id}/resume" Party Some("reason?"), "status" ACT: "Take a halt back";
    "post" "/contracts/{id}/back_out" Party Some("reason?"), "status" ACT: "Leave in the middle of the work";
    "post" "/contracts/{id}/cancel" Party Some("reason?"), "status" ACT: "The same as DELETE";
    "post" "/contracts/{id}/void" Party Some(""), "status" ACT: "Void a dispute whose judge was late";
    "post" "/contracts/{id}/accounts" Party Some("payout_address"), "status" ACT: "Set the payout address";
    "post" "/contracts/{id}/feedback" Party Some(""), "status" ACT:
        "Leave a signed feedback envelope after the end";
    "get" "/contracts/{id}/chain_head" Reader None, "chain_head seq#" READ: "What the next entry must carry";
    "get" "/contracts/{id}/verify_chain" Reader None, "valid! entries# total_transcript# error? chain_head"
        READ:
        "Replay the transcript";
    "get" "/contracts/{id}/dispute_status" Reader None,
        "status filer? court? level#? response_deadline#? remaining#? responded!?" READ:
            "Where a dispute stands";
    "get" "/contracts/{id}/ruling" Reader None,
        "outcome reasoning court level# final! can_appeal! next_court? next_fee? flags[]" READ:
        "The last ruling, or null";
    "post" "/contracts/{id}/ruling" Judge Some("reexecution{}? ruling{}?"), "status?" ACT:
        "A judge's re-execution or ruling, one of both, signed in its data";
    "get" "/contracts/{id}/review_status" Reader None, "status review_expires_at#? remaining#? closing_at#?"
        READ:
        "Where a review stands";
    "get" "/contracts/{id}/escrow" Reader None, "inclusive_bond accounts[] payments[]" READ:
        "Deposits, planned and done payouts";
    "get" "/judge/tasks" Judge None, "tasks[]" READ: "What waits for a judge";
    "get" "/server_pubkey" All None, "pubkey fix_id" OPEN: "The server's key";
    "get" "/platform_info" All None,
        "model min_bounty max_bounty judge_fee min_inclusive_bond platform_fee_rate platform_fee_min \
         cancel_fee_rate court_tiers[] currency stats{} server_pubkey judges[] platform_address \
         charity_address windows_ms{} court{} compat!"
        OPEN: "Prices and windows";
    "get" "/stats" All None, "total# open# active# fulfilled# canceled# resolved# voided#" OPEN:
        "Counts by state";
    "get" "/reputation/{pubkey}" All None, "pubkey note" OPEN: "Where a party's reputation stands";
    "get" "/healthz" All None, "status" OPEN: "The process answers";
    "get" "/readyz" All None, "status" OPEN: "The database answers";
    "get" "/metrics" All None, "" OPEN: "Figures in the OpenMetrics format";
    "get" "/openapi.json" All None, "openapi info{} paths{} components{}" OPEN: "This document";
}

const WORDS: Words = Words {
    number: "number",
    item: || json!({}),
    note: |name| match name {
        "side" | "from_side" | "filer" => Some("principal or agent"),
        "action" => Some("accept, reject or dispute"),
        "msg_type" => Some("ask, answer or message"),
        PAYOUT => Some("a Nano address"),
        "fee" | "next_fee" | "inclusive_bond" | "min_bounty" | "max_bounty" | "judge_fee" => {
            Some("XNO as a decimal string")
        }
        "deposit" => Some("address, amount, amount_raw, uri, expires_at"),
        _ if name.ends_with("_at") || name.ends_with("deadline") => Some("Unix seconds"),
        _ => None,
    },
};

fn object(words: &str) -> Value {
    WORDS.object(words)
}

fn parameters(route: &Route) -> Value {
    let one = |name, place, note| parameter(name, place, json!({"type": "string"}), Some(note));
    let mut all = Vec::new();
    if route.path.contains("{id}") {
        all.push(one("id", "path", "16 lower-case hexadecimal digits"));
    }
    if route.path.contains("{pubkey}") {
        all.push(one("pubkey", "path", "64 hexadecimal digits, with or without fix_"));
    }
    match route.path {
        "/contracts" if route.method == "get" => {
            all.push(one("status", "query", "only contracts in this state"));
            all.push(one("limit", "query", "at most 200; 50 by default"));
            all.push(one("cursor", "query", "`next` of the page before"));
            all.push(one("updated_since", "query", "Unix milliseconds; only what has changed then or later"));
            all.push(one("mine", "query", "1: only the signer's own"));
        }
        "/contracts/stream" => {
            all.push(one("min_bounty", "query", "XNO; drops events without a bounty"));
            all.push(one("status", "query", "only events with this status"));
            all.push(one("Last-Event-ID", "header", "resume after this id"));
        }
        _ => {}
    }
    all.into()
}

fn operation(route: &Route) -> Value {
    let mut responses = Map::new();
    let kind = match route.path {
        "/contracts/stream" => "text/event-stream",
        "/metrics" => "application/openmetrics-text",
        _ => "application/json",
    };
    let schema = if route.answer.is_empty() { json!({"type": "string"}) } else { object(route.answer) };
    responses.insert("200".to_owned(), answer("done", content(kind, schema)));
    for status in route.refusals {
        let name = if *status == 422 { "Unprocessable" } else { "Refusal" };
        let reason =
            StatusCode::from_u16(*status).ok().and_then(|s| s.canonical_reason()).unwrap_or("refused");
        let refused = content("application/json", reference(name));
        responses.insert(status.to_string(), answer(reason, refused));
    }
    let mut operation =
        json!({"summary": route.summary, "parameters": parameters(route), "responses": responses});
    if let Some(operation) = operation.as_object_mut() {
        if let Some(words) = route.body {
            let mut schema = object(words);
            if route.who == Who::Party
                && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
            {
                properties.insert("chain_entry".to_owned(), reference("Entry"));
            }
            operation.insert("requestBody".to_owned(), body("application/json", schema));
        }
        let signed = json!({"pubkey": [], "signature": [], "timestamp": []});
        match route.who {
            Who::All => {}
            Who::Reader => {
                operation.insert("security".to_owned(), json!([{}, signed]));
            }
            Who::Party | Who::Judge => {
                operation.insert("security".to_owned(), json!([signed]));
            }
        }
    }
    operation
}

/// The document.
pub fn document() -> Value {
    let header =
        |name: &str, note: &str| json!({"type": "apiKey", "in": "header", "name": name, "description": note});
    let info = json!({
        "title": "fix market",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Contracts for failing commands. Every action is a signed entry in a hash \
        chain; requests \
            are signed over METHOD|PATH|BODY|TIMESTAMP. A party action carries its own signed \
            chain_entry.",
        "license": {"name": "AGPL-3.0-or-later"},
    });
    let components = json!({
        "securitySchemes": {
            "pubkey": header("X-Fix-Pubkey", "the Ed25519 key, 64 hexadecimal digits"),
            "signature": header("X-Fix-Signature", "128 hexadecimal digits"),
            "timestamp": header("X-Fix-Timestamp", "Unix seconds, at most 60 old and 5 ahead"),
        },
        "schemas": {
            "Entry": object("type data{} seq# author prev_hash timestamp# signature"),
            "Refusal": {
                "type": "object",
                "properties": {
                    "detail": {"oneOf": [
                        {"type": "string"},
                        object("error chain_head seq#"),
                    ]},
                    "code": {"type": "integer"},
                },
                "required": ["detail"],
            },
            "Unprocessable": {
                "type": "object",
                "properties": {"detail": {"type": "array", "items": object("type loc[] msg")}},
                "required": ["detail"],
            },
        },
    });
    openapi::document(info, ROUTES.iter().map(|it| (it.method, it.path, operation(it))), components)
}

/// The document as text.
pub fn text() -> String {
    openapi::written(&document())
}

/// GET /openapi.json
pub(super) async fn served() -> Response {
    openapi::served(&document())
}

/// Every route of the table: method and path.
pub fn routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|route| (route.method, route.path))
}
