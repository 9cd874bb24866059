//! The interface as an OpenAPI 3.1 document, collected from the routes and the types of their answers. Served
//! at /openapi.json, written by `--print-openapi`, compared with `indexer/service/openapi.json` by a test.

use super::words::{
    AGENT_STATES, ASK_STATES, CHALLENGE_STATES, DATA, GAP_STATES, ORDERS, RECORD_KINDS, SORTS,
    contract_states_known, event_names_known,
};
use crate::merge::KINDS;
use crate::parse::Program;
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::LazyLock;
use utoipa::IntoParams;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use zx1_server::openapi::{self, Style};

/// Parameters as they are described; handlers read them with [`super::query`].
macro_rules! parameters {
    ($place:ident: $($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* })*) => {$(
        #[derive(IntoParams)]
        #[into_params(parameter_in = $place)]
        #[expect(dead_code, reason = "only its description is used")]
        pub(super) struct $name { $($(#[$meta])* $field: $type,)* }
    )*};
}

/// Text of which only these words are known.
macro_rules! words {
    ($($name:ident = $words:expr;)*) => {$(
        fn $name() -> Object {
            ObjectBuilder::new().schema_type(Type::String).enum_values(Some($words)).build()
        }
    )*};
}

words! {
    agent_states = AGENT_STATES;
    sorts = SORTS.map(|(word, _, _)| word);
    orders = ORDERS;
    event_names = event_names_known();
    programs = Program::ALL.map(Program::name);
    challenge_states = CHALLENGE_STATES;
    ask_states = ASK_STATES;
    data_words = DATA;
    record_kinds = RECORD_KINDS;
    contract_states = contract_states_known();
    gap_states = GAP_STATES;
}

parameters! { Path:
    Mint {
        /// the mint of the agent, base58
        mint: String,
    }
    MintEpoch {
        /// the mint of the agent, base58
        mint: String,
        /// the last epoch that the batch covers
        epoch: u32,
    }
}

parameters! { Query:
    PageQuery {
        /// maximum number of items on the page
        #[param(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u64>,
        /// `next` of the page before
        cursor: Option<String>,
    }
    AgentQuery {
        /// a part of the name, the mint or the owner
        #[param(example = "arno")]
        query: Option<String>,
        /// of the lease
        #[param(schema_with = agent_states)]
        state: Option<String>,
        /// the wallet that holds the agent's token
        owner: Option<String>,
        /// has a stake that is not claimed
        staked: Option<bool>,
        /// has batches whose data is missing
        missing: Option<bool>,
        /// has batches that are marked
        withheld: Option<bool>,
        /// was convicted of leaving something out of a batch
        slashed: Option<bool>,
        /// `number` unless it is given
        #[param(schema_with = sorts)]
        sort: Option<String>,
        /// `asc` by number and name, else `desc`
        #[param(schema_with = orders)]
        order: Option<String>,
    }
    HistoryQuery {
        /// first epoch; 59 before the last one unless it is given
        from_epoch: Option<u64>,
        /// last epoch, the present one unless it is given; at most 399 after the first
        to_epoch: Option<u64>,
    }
    EventQuery {
        /// name of the event
        #[param(schema_with = event_names)]
        name: Option<String>,
        /// program that wrote it
        #[param(schema_with = programs)]
        program: Option<String>,
        /// account that it is about
        account: Option<String>,
        /// signature of the transaction, base58; with its slot as from_slot and to_slot
        signature: Option<String>,
        /// only events of this slot or later ones
        from_slot: Option<u64>,
        /// only events of this slot or earlier ones
        to_slot: Option<u64>,
        /// in a slot that is final
        finalized: Option<bool>,
        /// agent that it is about
        agent: Option<String>,
    }
    ChallengeQuery {
        /// the challenged agent
        agent: Option<String>,
        /// wallet that challenges
        challenger: Option<String>,
        /// where the challenge stands
        #[param(schema_with = challenge_states)]
        state: Option<String>,
    }
    AskQuery {
        /// the agent whose batch it is
        agent: Option<String>,
        /// wallet that asks
        asker: Option<String>,
        /// of the batch
        epoch: Option<u64>,
        /// where the ask stands
        #[param(schema_with = ask_states)]
        state: Option<String>,
    }
    BatchQuery {
        /// whether the data is served
        #[param(schema_with = data_words)]
        data: Option<String>,
        /// marked or not
        withheld: Option<bool>,
        /// that the batch was submitted for
        epoch: Option<u64>,
    }
    RecordQuery {
        /// kind of the record
        #[param(schema_with = record_kinds)]
        kind: Option<String>,
    }
    ProofQuery {
        /// number of a record; give either this or `leaf`
        record: Option<u32>,
        /// number of a leaf of the log
        leaf: Option<u32>,
    }
    FeedbackQuery {
        /// wallet that wrote the entry
        sender: Option<String>,
        /// wallet that paid for it
        payer: Option<String>,
        /// whether a maintainer has resolved it
        resolved: Option<bool>,
        /// a part of the text
        #[param(example = "works")]
        query: Option<String>,
    }
    ContractQuery {
        /// where the contract stands
        #[param(schema_with = contract_states)]
        state: Option<String>,
        /// id of the principal or the agent, `fix_` and 64 hexadecimal digits
        party: Option<String>,
        /// mint of an agent: the contracts that it took
        agent: Option<String>,
        /// part of the task
        query: Option<String>,
        /// URL of the market
        #[param(example = "https://market.example.org")]
        market: Option<String>,
    }
    MarketQuery {
        /// URL of the market, where two have a contract of this id
        #[param(example = "https://market.example.org")]
        market: Option<String>,
    }
    SearchQuery {
        /// a transaction, an address, a slot, an epoch, a day, an agent's number or name, a contract, a party, a Nano
        /// account or block, or a part of a task
        #[param(pattern = r"\S")]
        query: String,
    }
    GapQuery {
        /// whether the missing events were found
        #[param(schema_with = gap_states)]
        state: Option<String>,
    }
    StreamQuery {
        /// types of events, separated by commas
        types: Option<String>,
        /// mints of agents, separated by commas
        #[param(format = "base58-list", example = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T")]
        agent: Option<String>,
        /// begin after this event; 0 for all that are kept. The header Last-Event-ID wins over it.
        last_event_id: Option<u64>,
        /// of the past only the last ones that the filter lets through; also when the stream resumes
        #[param(minimum = 1, maximum = 1000)]
        last: Option<u64>,
    }
}

/// Tags of the document, and the first words of the paths that have them.
const TAGS: &[(&str, &str, &[&str])] = &[
    ("agents", "agents: stakes, leases, keys, batches, reputation", &["agents"]),
    ("batches", "behaviour batches of all agents", &["batches"]),
    ("challenges", "challenges of batches, and asks for their leaves", &["challenges", "asks"]),
    ("contracts", "contracts of the markets that are followed", &["contracts"]),
    ("feedback", "the feedback log, and ratings that are brought", &["feedback", "envelopes"]),
    ("bindings", "records that bind a Nano account to a wallet", &["bindings"]),
    ("events", "events of the programs, and streams of news", &["events", "stream", "ws"]),
    ("mesh", "what an observing node hears, which proves nothing", &["mesh"]),
    ("network", "sums, and where the index stands", &["network", "status", "audit", "gaps"]),
    ("operations", "health, metrics, this document", &["healthz", "readyz", "metrics", "openapi.json"]),
];

const BASE58: &str = "^[1-9A-HJ-NP-Za-km-z]{32,44}$";
const ADDRESS: &str = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";

/// Bounds and examples by name.
fn shape(name: &str) -> Option<Value> {
    let whole = |example: u64| json!({ "minimum": 0, "maximum": i64::MAX, "examples": [example] });
    Some(match name {
        "mint" | "owner" | "challenger" | "first_challenger" | "asker" | "wallet" | "sender" | "payer"
        | "account" | "address" | "query:agent" => {
            json!({ "format": "base58", "pattern": BASE58, "examples": [ADDRESS] })
        }
        "types" => {
            let kinds = KINDS.join("|");
            json!({ "pattern": format!("^({kinds})(,({kinds}))*$"), "examples": ["verdict_issued,challenge_submitted"] })
        }
        "epoch" | "era" | "tenure" => json!({ "minimum": 0, "maximum": u32::MAX, "examples": [20_600] }),
        "index" => whole(0),
        "id" => json!({ "examples": ["0ec3a1b2c4d5e6f7"] }),
        "cursor" => json!({ "pattern": "^(([0-9a-f]{2}){8,512})?$", "examples": ["4d1c0a5b9e6f7a83"] }),
        "digest" | "batch_hash" | "log_merkle_root" | "arrays_root" | "previous_digest" | "claim"
        | "entry_hash" => {
            json!({ "pattern": "^[0-9a-f]{64}$", "examples": ["9f".repeat(32)] })
        }
        "party" => json!({ "examples": [format!("fix_{}", "ab".repeat(32))] }),
        "last_event_id" => whole(0),
        name if name.ends_with("_epoch") => {
            json!({ "minimum": 0, "maximum": u32::MAX, "examples": [20_600] })
        }
        name if name.ends_with("_micro_usdc") => json!({ "pattern": "^[0-9]+$", "examples": ["10000000"] }),
        name if name.ends_with("_raw") => {
            json!({ "pattern": "^[0-9]+$", "examples": ["500000000000000000000000000000"] })
        }
        name if name == "slot" || name.ends_with("_slot") => whole(400_648_432),
        _ => return None,
    })
}

const STYLE: Style = Style {
    tags: TAGS,
    shape,
    is_tagged: |path| {
        path.starts_with("/v1/") && !matches!(path, "/v1/stream" | "/v1/ws") && !path.ends_with("/data")
    },
};

/// The document without its routes.
pub(super) fn base() -> OpenApi {
    let info = InfoBuilder::new().title("zx1-indexer").version(env!("CARGO_PKG_VERSION")).description(Some(
        "What the ledgers of zx1 say, rebuilt. Every answer carries the slot up to which it is complete, its \
         commitment and the digest that it rests on. Amounts are decimal strings.",
    ));
    let license = LicenseBuilder::new().name("AGPL-3.0-or-later").identifier(Some("AGPL-3.0-or-later"));
    OpenApiBuilder::new().info(info.license(Some(license.build())).build()).build()
}

static TEXT: LazyLock<String> = LazyLock::new(|| openapi::written(&super::routes().into_openapi(), &STYLE));

/// The document as text.
pub fn text() -> &'static str {
    &TEXT
}

/// This document in OpenAPI 3.1
///
/// `--print-openapi` writes the same.
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, body = Object)))]
pub(super) async fn served() -> Response {
    openapi::served(text())
}
