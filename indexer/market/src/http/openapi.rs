//! The interface as an OpenAPI 3.1 document, collected from the routes, the table of actions and the types of
//! the wire. Served at /openapi.json, written by `--print-openapi`, compared with
//! `indexer/market/openapi.json` by a test.

use std::sync::LazyLock;

use axum::response::Response;
use axum::routing::MethodRouter;
use serde_json::{Value, json};
use utoipa::IntoParams;
use utoipa::openapi::path::{HttpMethod, OperationBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Paths, Required,
    ResponseBuilder,
};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use zx1_market::wire::{Action, Method, schema};
use zx1_server::openapi::{self, Style, refusing};

use super::App;

/// The contract of a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct Id {
    /// 16 lower-case hexadecimal digits
    id: String,
}

type Routes = OpenApiRouter<App>;

/// Routes that refuse so, and that need a signature, may have one, or need none.
fn group(routes: Routes, refusals: &[u16], signatures: &[bool]) -> Routes {
    let names = ["auth", "pubkey", "signature", "timestamp"];
    let signed = || names.iter().fold(SecurityRequirement::default(), |all, name| all.add(*name, [""; 0]));
    let mut routes = refusing(routes, refusals);
    for operation in openapi::operations(routes.get_openapi_mut()) {
        let one = |signed_it: &bool| if *signed_it { signed() } else { SecurityRequirement::default() };
        operation.security = (!signatures.is_empty()).then(|| signatures.iter().map(one).collect());
    }
    routes
}

/// Routes for anybody.
pub(super) fn open(routes: Routes) -> Routes {
    group(routes, &[400, 429, 500, 503], &[])
}

/// Routes that show more to whoever signs the request.
pub(super) fn readers(routes: Routes) -> Routes {
    group(routes, &[400, 401, 403, 404, 429, 500, 503], &[false, true])
}

/// Routes for judges.
pub(super) fn judges(routes: Routes) -> Routes {
    group(routes, &[400, 401, 403, 429, 500, 503], &[true])
}

/// The actions of the table.
pub(super) fn actions(routes: Routes) -> Routes {
    group(routes, &[400, 401, 403, 404, 408, 409, 410, 413, 415, 422, 429, 500, 501, 503], &[true])
}

/// A route of the table of actions.
pub(super) fn described(action: Action, handler: MethodRouter<App>) -> UtoipaMethodRouter<App> {
    let mut schemas = schema::Named::new();
    let (body, answer) = action.schemas(&mut schemas);
    let content = |schema| ContentBuilder::new().schema(Some(schema)).build();
    let body = RequestBodyBuilder::new().content("application/json", content(body));
    let entries = action.entries().iter().map(|kind| format!("`{}`", kind.as_str())).collect::<Vec<_>>();
    let carried = match entries.as_slice() {
        [] => "The body carries no entry.".to_owned(),
        entries => {
            format!("The body carries the party's own signed entry, of the type {}.", entries.join(" or "))
        }
    };
    let operation = OperationBuilder::new()
        .summary(Some(action.summary()))
        .description(Some(format!("{carried} What may follow on what: docs/fix.md, \"States\".")))
        .parameters(action.path().contains("{id}").then(|| Id::into_params(|| None)))
        .request_body(Some(body.required(Some(Required::True)).build()))
        .response("200", ResponseBuilder::new().content("application/json", content(answer)));
    let method = match action.method() {
        Method::Post => HttpMethod::Post,
        Method::Delete => HttpMethod::Delete,
    };
    let mut paths = Paths::new();
    paths.add_path_operation(action.path(), vec![method], operation);
    (schemas, paths, handler)
}

/// The document without its routes.
pub(super) fn base() -> OpenApi {
    let license = LicenseBuilder::new().name("AGPL-3.0-or-later").identifier(Some("AGPL-3.0-or-later"));
    let info = InfoBuilder::new()
        .title("fix market")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Contracts for failing commands. Every action is a signed entry in a hash chain; requests are \
             signed over the lines fix-request/v2, server, METHOD, PATH, TIMESTAMP, sha256 of BODY. A party action carries its own signed chain_entry. \
             Refusals are problem details (RFC 9457); with --compat 409 and 422 have the shapes of older clients.",
        ))
        .license(Some(license.build()));
    let header = |name: &str, note: &str| {
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(name, note)))
    };
    let components = ComponentsBuilder::new()
        .security_scheme("auth", header("X-Fix-Auth", "2"))
        .security_scheme("pubkey", header("X-Fix-Pubkey", "the Ed25519 key, 64 hexadecimal digits"))
        .security_scheme("signature", header("X-Fix-Signature", "128 hexadecimal digits"))
        .security_scheme("timestamp", header("X-Fix-Timestamp", "Unix seconds, at most 60 old and 5 ahead"));
    OpenApiBuilder::new().info(info.build()).components(Some(components.build())).build()
}

/// Tags of the document, and the first words of the paths that have them.
const TAGS: &[(&str, &str, &[&str])] = &[
    ("contracts", "contracts, their transcripts, and what parties do in them", &["contracts"]),
    ("judges", "what waits for a judge", &["judge"]),
    (
        "market",
        "the server's key, prices, counts, parties",
        &["server_pubkey", "platform_info", "stats", "reputation"],
    ),
    ("operations", "health, metrics, this document", &["healthz", "readyz", "metrics", "openapi.json"]),
];

/// The public key of RFC 8032, 7.1, test 1.
const KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

/// Bounds and examples by name.
fn shape(name: &str) -> Option<Value> {
    let hex = |digits: usize| json!({ "pattern": format!("^[0-9a-f]{{{digits}}}$"), "examples": ["ab".repeat(digits / 2)] });
    Some(match name {
        "id" | "contract_id" => hex(16),
        "chain_head" | "prev_hash" => json!({ "examples": ["9f".repeat(32)] }),
        "path:pubkey" => {
            json!({ "format": "ed25519", "pattern": "^(fix_)?[0-9a-f]{64}$", "examples": [KEY] })
        }
        "pubkey" | "server_pubkey" => json!({ "examples": [KEY] }),
        "principal_pubkey" | "agent_pubkey" | "author" | "fix_id" => {
            json!({ "examples": [format!("fix_{KEY}")] })
        }
        "signature" => hex(128),
        "cursor" => {
            json!({ "pattern": "^(-?[0-9]{1,18}\\.[0-9a-f]{16})?$", "examples": ["1795352373951.0ec3a1b2c4d5e6f7"] })
        }
        "updated_since" => json!({ "minimum": 0, "maximum": i64::MAX, "examples": [1_795_352_373_951_u64] }),
        "last_event_id" => json!({ "pattern": "^[0-9]{1,18}$", "examples": ["42"] }),
        "Last-Event-ID" => json!({ "pattern": "^[0-9]{1,18}$", "examples": ["42"] }),
        "min_bounty" => json!({ "pattern": "^[0-9]{1,8}(\\.[0-9]{1,30})?$", "examples": ["0.5"] }),
        "amount" | "bounty" | "inclusive_bond" | "judge_fee" | "fee" => json!({ "examples": ["0.67"] }),
        "amount_raw" => json!({ "pattern": "^[0-9]+$", "examples": ["670000000000000000000000000000"] }),
        "created_at" | "updated_at" | "expires_at" => json!({ "examples": [1_795_352_373.951] }),
        "seq" => json!({ "minimum": 0, "examples": [7] }),
        _ => return None,
    })
}

const STYLE: Style = Style { tags: TAGS, shape, is_tagged: |_| false };

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
