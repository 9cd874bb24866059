//! The interface as an OpenAPI 3.1 document, collected from the routes and the types of their answers. Served
//! at /openapi.json, written by `--print-openapi`, compared with `indexer/service/openapi.json` by a test.

use super::App;
use super::answer::Refusal;
use axum::response::Response;
use std::sync::LazyLock;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use zx1_server::openapi;

/// Parameters as they are described; handlers read them with [`super::query`].
macro_rules! parameters {
    ($place:ident: $($name:ident { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* })*) => {$(
        #[derive(IntoParams)]
        #[into_params(parameter_in = $place)]
        #[expect(dead_code, reason = "only its description is used")]
        pub(super) struct $name { $($(#[doc = $doc])* $field: $type,)* }
    )*};
}

parameters! { Path:
    Mint {
        /// the mint of the agent, base58
        mint: String,
    }
    MintEpoch {
        /// the mint of the agent, base58
        mint: String,
        epoch: u32,
    }
}

parameters! { Query:
    PageQuery {
        /// from 1 to 200; 50 by default
        limit: Option<u64>,
        /// `next` of the page before
        cursor: Option<String>,
    }
    AgentQuery {
        /// a part of the name, the mint or the owner
        query: Option<String>,
        /// active, grace, deactivated or none
        state: Option<String>,
        owner: Option<String>,
        staked: Option<bool>,
        /// has batches whose data is missing
        missing: Option<bool>,
        /// has batches that are marked
        withheld: Option<bool>,
        /// was convicted of leaving something out of a batch
        slashed: Option<bool>,
        sort: Option<String>,
        /// asc or desc
        order: Option<String>,
    }
    HistoryQuery {
        from_epoch: Option<u64>,
        to_epoch: Option<u64>,
    }
    EventQuery {
        name: Option<String>,
        program: Option<String>,
        account: Option<String>,
        /// of the transaction, base58; with its slot as from_slot and to_slot
        signature: Option<String>,
        from_slot: Option<u64>,
        to_slot: Option<u64>,
        finalized: Option<bool>,
        agent: Option<String>,
    }
    ChallengeQuery {
        agent: Option<String>,
        challenger: Option<String>,
        /// open, unanswered, answered, succeeded, empty or closed
        state: Option<String>,
    }
    AskQuery {
        agent: Option<String>,
        asker: Option<String>,
        /// of the batch
        epoch: Option<u64>,
        /// open, overdue, shown, withheld, settled or closed
        state: Option<String>,
    }
    BatchQuery {
        /// served or missing
        data: Option<String>,
        /// marked or not
        withheld: Option<bool>,
        /// that the batch was submitted for
        epoch: Option<u64>,
    }
    RecordQuery {
        /// bid, selection, verifier or feedback
        kind: Option<String>,
    }
    ProofQuery {
        /// either the number of a record
        record: Option<u64>,
        /// or that of a leaf
        leaf: Option<u64>,
    }
    FeedbackQuery {
        sender: Option<String>,
        payer: Option<String>,
        resolved: Option<bool>,
        /// a part of the text
        query: Option<String>,
    }
    ContractQuery {
        state: Option<String>,
        /// on either side, `fix_` and 64 hexadecimal digits
        party: Option<String>,
        /// the mint of an agent: the contracts that it took
        agent: Option<String>,
        /// a part of the task
        query: Option<String>,
        /// the URL of the market
        market: Option<String>,
    }
    MarketQuery {
        /// the URL of the market, where two have a contract of this id
        market: Option<String>,
    }
    SearchQuery {
        /// a transaction, an address, a slot, an epoch, a day, an agent's number or name, a contract, a party, a Nano
        /// account or block, or a part of a task
        query: String,
    }
    GapQuery {
        /// open, refilled or from_state
        state: Option<String>,
    }
    StreamQuery {
        /// types of events, separated by commas
        types: Option<String>,
        /// agents, separated by commas
        agent: Option<String>,
        /// begin after this event; 0 for all that are kept. The header Last-Event-ID wins over it.
        last_event_id: Option<u64>,
        /// of the past only the last ones that the filter lets through, from 1 to 1000; also when the stream
        /// resumes
        last: Option<u64>,
    }
}

/// Adds these refusals to every route.
pub(super) fn refusing(routes: OpenApiRouter<App>, statuses: &[u16]) -> OpenApiRouter<App> {
    openapi::refusing(routes, statuses, |_| "Refusal")
}

/// The document without its routes.
pub(super) fn base() -> OpenApi {
    let info = InfoBuilder::new().title("zx1-indexer").version(env!("CARGO_PKG_VERSION")).description(Some(
        "What the ledgers of zx1 say, rebuilt. Every answer carries the slot up to which it is complete, its \
         commitment and the digest that it rests on. Amounts are decimal strings.",
    ));
    let components = ComponentsBuilder::new().schema(Refusal::name(), Refusal::schema());
    OpenApiBuilder::new().info(info.build()).components(Some(components.build())).build()
}

static TEXT: LazyLock<String> = LazyLock::new(|| openapi::written(super::routes().into_openapi()));

/// The document as text.
pub fn text() -> &'static str {
    &TEXT
}

/// This document in OpenAPI 3.1
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, body = Object)))]
pub(super) async fn served() -> Response {
    openapi::served(text())
}
