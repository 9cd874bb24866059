//! The interface as OpenAPI 3.1, from one table of routes. Served at /openapi.json, written by
//! `--print-openapi`, compared with `indexer/service/openapi.json` by a test.

use axum::response::Response;
use serde_json::{Map, Value, json};
use zx1_server::openapi::{self, Words, answer, content, names, parameter, reference};

/// One route.
struct Route {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    /// Parameters of the query, written as fields.
    query: &'static str,
    /// The kind of the body.
    body: Option<&'static str>,
    answer: Answer,
    refusals: &'static [u16],
}

/// What a route answers.
enum Answer {
    /// An object with its head: the further fields, as [`Words`] says.
    Object(&'static str),
    /// A page of these.
    List(&'static str),
    /// Without a head.
    Plain(&'static str),
    /// Bytes or text of this kind.
    Other(&'static str),
    /// 201 or 200.
    Receipt,
}

macro_rules! routes {
    ($($method:literal $path:literal $query:literal $body:expr, $answer:expr, $refusals:expr,
        $summary:literal;)*) => {
        const ROUTES: &[Route] = &[$(Route {
            method: $method, path: $path, summary: $summary, query: $query, body: $body, answer: $answer,
            refusals: $refusals,
        }),*];
    };
}

use Answer::{List, Object, Other, Plain, Receipt};

const READ: &[u16] = &[400, 429];
const ONE: &[u16] = &[400, 404, 429];
const DATA: &[u16] = &[404, 429];
const BRING: &[u16] = &[404, 408, 413, 422, 429, 503];
const HEALTH: &[u16] = &[503];
const STREAM: &[u16] = &[400, 429, 503];

routes! {
    "get" "/v1/status" "" None, Object("version cluster genesis chain_slot# chain_finalized_slot# \
        lag_slots# epoch# \
        chain_time# state backfill{?} events# gaps_open# subscribed! nano{} markets[] last_audit{?} \
        uptime_seconds#"),
        READ, "Where the index stands";
    "get" "/v1/network" "" None, Object("agents# agents_active# agents_grace# agents_deactivated# \
        staked_micro_usdc \
        slashed_micro_usdc lease_paid_micro_usdc batches# batches_withheld# challenges# challenges_open# \
        challenges_succeeded# feedback_entries# feedback_resolved# contracts# contracts_open# events# \
        nano_raw \
        epochs[]"), READ, "Sums over everything, and by epoch";
    "get" "/v1/audit" "" None, Object("audit{?}"), READ, "What the last self-audit found";
    "get" "/v1/gaps" "state limit# cursor" None, List("Gap"), READ,
        "Missing sequence numbers, and what became of them";
    "get" "/v1/agents" "query state owner staked! withheld! sort order limit# cursor" None, List("Agent"),
        READ,
        "Agents: search, filter, sort";
    "get" "/v1/agents/{mint}" "" None, Object("agent{} recent_events[]"), ONE, "One agent";
    "get" "/v1/agents/{mint}/history" "from_epoch# to_epoch#" None, Object("epochs[]"), ONE,
        "An agent by epoch";
    "get" "/v1/agents/{mint}/events" "name program account from_slot# to_slot# finalized! agent limit# \
        cursor" None,
        List("Event"), ONE, "An agent's events, newest first";
    "get" "/v1/agents/{mint}/counterparties" "limit# cursor" None, List("Counterparty"), ONE,
        "Whom an agent dealt with";
    "get" "/v1/agents/{mint}/ratings" "limit# cursor" None, List("Rating"), ONE,
        "Signed ratings that were heard";
    "get" "/v1/agents/{mint}/challenges" "agent challenger state limit# cursor" None, List("Challenge"), ONE,
        "Challenges against an agent";
    "get" "/v1/agents/{mint}/batches" "data limit# cursor" None, List("Batch"), ONE, "An agent's batches";
    "get" "/v1/agents/{mint}/batches/{epoch}" "" None, Object("batch{}"), ONE, "One batch";
    "get" "/v1/agents/{mint}/batches/{epoch}/records" "kind limit# cursor" None, List("Record"), ONE,
        "The records under arrays_root";
    "get" "/v1/agents/{mint}/batches/{epoch}/leaves" "limit# cursor" None, List("Leaf"), ONE,
        "The leaves under log_merkle_root";
    "get" "/v1/agents/{mint}/batches/{epoch}/proof" "record# leaf#" None, Object("proof{}"), ONE,
        "A Merkle proof of a record or a leaf";
    "get" "/v1/agents/{mint}/batches/{epoch}/data" "" None, Other("application/cbor"), DATA,
        "The bundle (C7)";
    "put" "/v1/agents/{mint}/batches/{epoch}/data" "" Some("application/cbor"), Receipt, BRING,
        "Bring a batch's bundle; it must be what the chain commits to";
    "get" "/v1/batches" "data limit# cursor" None, List("Batch"), READ, "All batches, newest first";
    "get" "/v1/challenges" "agent challenger state limit# cursor" None, List("Challenge"), READ,
        "All challenges";
    "get" "/v1/challenges/{address}" "" None, Object("challenge{}"), ONE, "One challenge";
    "get" "/v1/feedback" "sender payer resolved! query limit# cursor" None, List("Entry"), READ,
        "The feedback log, newest first";
    "get" "/v1/feedback/{index}" "" None, Object("entry{}"), ONE, "One entry";
    "get" "/v1/events" "agent name program account from_slot# to_slot# finalized! limit# cursor" None,
        List("Event"),
        READ, "Events of the programs, newest first";
    "get" "/v1/contracts" "state party market limit# cursor" None, List("Contract"), READ,
        "The markets' contracts";
    "get" "/v1/contracts/{id}" "market" None, Object("contract{}"), ONE, "One contract with its transcript";
    "post" "/v1/envelopes" "" Some("application/cbor"), Receipt, BRING, "Bring a signed FEEDBACK";
    "put" "/v1/bindings" "" Some("application/json"), Receipt, BRING, "Bring a binding record";
    "get" "/v1/bindings/{wallet}" "" None, Object("binding{}"), ONE, "A wallet's binding record";
    "get" "/v1/stream" "types agent last_event_id# last#" None, Other("text/event-stream"), STREAM,
        "Server-sent events";
    "get" "/v1/ws" "types agent last_event_id# last#" None, Other("application/json"), STREAM,
        "The same as a websocket";
    "get" "/healthz" "" None, Plain("ok! slot# chain_slot# lag_slots# lag_seconds# state"), HEALTH,
        "How far behind";
    "get" "/readyz" "" None, Plain("ready! backfilled! store! stopping!"), HEALTH, "Whether it serves";
    "get" "/metrics" "" None, Other("application/openmetrics-text"), READ, "Figures";
    "get" "/openapi.json" "" None, Other("application/json"), READ, "This document";
}

const WORDS: Words = Words { number: "integer", item: || json!({ "type": "object" }), note: |_| None };

fn object(words: &str) -> Value {
    WORDS.object(words)
}

const HEAD: &str = "slot# finalized_slot# commitment digest";

fn answers(route: &Route) -> Value {
    let mut answers = Map::new();
    let body = match &route.answer {
        Object(words) => content("application/json", object(&format!("{HEAD} {words}"))),
        List(item) => {
            let mut schema = object(HEAD);
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert("items".into(), json!({ "type": "array", "items": reference(item) }));
                properties.insert("next".into(), json!({ "type": ["string", "null"] }));
            }
            content("application/json", schema)
        }
        Plain(words) => content("application/json", object(words)),
        Other(kind) => content(kind, json!({})),
        Receipt => content("application/json", object("status")),
    };
    answers.insert("200".into(), answer("The answer", body.clone()));
    if matches!(route.answer, Receipt) {
        answers.insert("201".into(), answer("Stored", body));
    }
    for status in route.refusals {
        let refusal = content("application/json", reference("Refusal"));
        answers.insert(status.to_string(), answer("A refusal with its number and what to do", refusal));
    }
    Value::Object(answers)
}

/// What a parameter's name does not say.
fn note(parameter: &str) -> Option<&'static str> {
    match parameter {
        "last_event_id" => {
            Some("Begin after this event; 0 for all that are kept. Last-Event-ID wins over it.")
        }
        "last" => Some(
            "Of the past only the last so many of those that the filter lets through, from 1 to 1000; also \
             when the stream resumes.",
        ),
        _ => None,
    }
}

fn operation(route: &Route) -> Value {
    let mut parameters: Vec<Value> =
        names(route.path).map(|name| parameter(name, "path", json!({ "type": "string" }), None)).collect();
    parameters.extend(route.query.split_whitespace().map(|word| {
        let (name, schema, _) = WORDS.field(word);
        parameter(&name, "query", schema, note(&name))
    }));
    let mut operation = json!({
        "summary": route.summary,
        "parameters": parameters,
        "responses": answers(route),
    });
    if let (Some(kind), Some(object)) = (route.body, operation.as_object_mut()) {
        object.insert("requestBody".into(), openapi::body(kind, json!({})));
    }
    operation
}

fn schemas() -> Value {
    json!({
        "Refusal": object("detail code# error"),
        "Agent": object("mint number# name symbol uri soulbound! owner registered_slot# stake{?} lease{} \
        batches{} \
            challenges{} slashed_micro_usdc reputation{} nano{?} last_active_slot#"),
        "Batch": object("agent agent_name epoch# covers_from_epoch# submitted_slot# block_time# signature \
        signer payer \
            batch_hash log_merkle_root log_len# arrays_root arrays_len# open! window_ends_slot# \
        challenges# data \
            data_bytes# message"),
        "Challenge": object("address agent agent_name epoch# challenger ground# ground_name entry_hash \
        evidence_hash \
            evidence_account submitted_slot# answer_until_slot# answered_slot# answerer leaf_index# \
        resolved_slot# \
            succeeded! slashed_micro_usdc reward_micro_usdc closed! state expected_record signature"),
        "Entry": object("index# timestamp# slot# sender payer text previous_head head signature resolution{?}"),
        "Event": object("id# slot# block_time# signature ordinal# program name agent account \
        account_created_slot# \
            sequence# finalized! fields{}"),
        "Contract": object("id market server state principal agent bounty bounty_raw created_at# updated_at# \
            closing_at# review_expires_at# deadline# chain_head entries# verified! verify_error \
        conversation task \
            escrow[]"),
        "Record": object("entry# kind packed leaf conversation slot#"),
        "Leaf": object("entry# leaf"),
        "Rating": object("hash from target conversation score# outcome# role# is_dispute! slot# \
        timestamp_micros \
            in_batch! binding"),
        "Counterparty": object("agent name bids# selections# verifiers# ratings_given# ratings_received# \
        last_slot#"),
        "Gap": object("account account_created_slot# first# last# found_slot# state"),
    })
}

/// The document.
pub fn document() -> Value {
    let info = json!({
        "title": "zx1-indexer",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "What the ledgers of zx1 say, rebuilt. Every answer carries the slot up to \
    which it is \
            complete, its commitment and the digest that it rests on. Amounts are decimal strings.",
    });
    let operations = ROUTES.iter().map(|route| (route.method, route.path, operation(route)));
    openapi::document(info, operations, json!({ "schemas": schemas() }))
}

/// The document as text.
pub fn text_of() -> String {
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
