//! Where the indexer stands, sums, health.

use super::{List, Page, list as list_answer};
use crate::audit::Audit;
use crate::error::Result;
use crate::http::App;
use crate::http::answer::{Digest, Headed, headed, json as json_answer};
use crate::http::items;
use crate::http::openapi::{GapQuery, PageQuery};
use crate::http::query::Query;
use crate::http::words::GAP_STATES;
use crate::index::now_ms;
use crate::links::Links;
use crate::status::{Backfill, LastAudit, Phase};
use crate::store::{Alike, Find, GapRow, signed};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde::Serialize;
use std::sync::PoisonError;
use utoipa::ToSchema;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// Epochs of the network's page.
const EPOCHS: u64 = 60;

/// Where the index stands.
#[derive(Serialize, ToSchema)]
struct StatusAnswer {
    version: &'static str,
    cluster: String,
    genesis: String,
    chain_slot: u64,
    chain_finalized_slot: u64,
    lag_slots: u64,
    epoch: u64,
    /// the time of the chain in Unix seconds
    chain_time: i64,
    state: Phase,
    backfill: Option<Backfill>,
    events: u64,
    gaps_open: i64,
    subscribed: bool,
    nano: NanoStatus,
    markets: Vec<MarketStatus>,
    last_audit: Option<LastAudit>,
    uptime_seconds: u64,
    links: Links,
}

/// The Nano node.
#[derive(Serialize, ToSchema)]
struct NanoStatus {
    configured: bool,
    reachable: bool,
}

/// A market that is followed.
#[derive(Serialize, ToSchema)]
struct MarketStatus {
    url: String,
    reachable: bool,
    contracts: i64,
}

/// Sums over everything.
#[derive(Serialize, ToSchema)]
struct Network {
    agents: i64,
    agents_active: i64,
    agents_grace: i64,
    agents_deactivated: i64,
    staked_micro_usdc: String,
    slashed_micro_usdc: String,
    fined_micro_usdc: String,
    lease_paid_micro_usdc: String,
    /// how often a new holder took an agent over
    tenures_taken_over: i64,
    batches: i64,
    /// whose data nobody has uploaded
    batches_missing: i64,
    /// that are marked on chain
    batches_withheld: i64,
    challenges: i64,
    challenges_open: i64,
    challenges_succeeded: i64,
    asks: i64,
    asks_open: i64,
    feedback_entries: i64,
    feedback_resolved: i64,
    contracts: i64,
    contracts_open: i64,
    /// by an agent, of those that have ended
    contracts_repaired: i64,
    contracts_not_repaired: i64,
    /// the median time from opening to the accepted fix, in milliseconds; null before the first
    median_repair_ms: Option<i64>,
    /// what agents were paid out of principals' deposits, in raw
    paid_to_agents_raw: String,
    /// the bounties of open contracts, in raw
    bounties_open_raw: String,
    /// open contracts with a bounty
    bounties_open: i64,
    events: i64,
    /// what all bound Nano accounts hold, with what they may still receive; null while one of them is unknown, or
    /// without a Nano node
    nano_raw: Option<String>,
    epochs: Vec<NetworkEpoch>,
}

/// The network at the end of an epoch.
#[derive(Serialize, ToSchema)]
struct NetworkEpoch {
    epoch: u64,
    joined: i64,
    active: usize,
    staked_micro_usdc: String,
    batches: i64,
    challenges: i64,
    feedback: i64,
}

/// The last self-audit; null before the first.
#[derive(Serialize, ToSchema)]
struct AuditAnswer {
    audit: Option<Audit>,
}

/// How far behind the index is.
#[derive(Serialize, ToSchema)]
struct Health {
    ok: bool,
    slot: u64,
    chain_slot: u64,
    lag_slots: u64,
    lag_seconds: u64,
    state: Phase,
}

/// Whether the indexer serves.
#[derive(Serialize, ToSchema)]
struct Readiness {
    ready: bool,
    /// Whether the cluster's RPC has answered since the start, and is of the database's cluster.
    node: bool,
    /// Whether the first backfill since the start is done.
    backfilled: bool,
    /// Whether the database answers.
    store: bool,
    stopping: bool,
}

/// Where the index stands
///
/// How far the chain and the markets were read, and how the last self-audit ended.
#[utoipa::path(get, path = "/v1/status", responses((status = 200, body = Headed<StatusAnswer>)))]
pub(in crate::http) async fn status(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let it = app.index.status.get();
    let market = |(url, reachable, contracts): &(String, bool, i64)| MarketStatus {
        url: url.clone(),
        reachable: *reachable,
        contracts: *contracts,
    };
    let fields = StatusAnswer {
        version: env!("CARGO_PKG_VERSION"),
        cluster: app.cluster.clone(),
        chain_slot: it.chain_slot,
        chain_finalized_slot: it.chain_finalized,
        lag_slots: it.lag(),
        epoch: it.epoch,
        chain_time: it.chain_time,
        state: it.phase,
        backfill: it.backfill,
        events: it.events,
        gaps_open: it.gaps_open,
        subscribed: it.subscribed,
        nano: NanoStatus {
            configured: !app.index.config.nano.rpc.is_empty(),
            reachable: it.nano.unwrap_or(false),
        },
        markets: it.markets.iter().map(market).collect(),
        last_audit: it.last_audit,
        uptime_seconds: app.started.elapsed().as_secs(),
        links: Links::new(&app.index.config, &app.cluster, &it.genesis),
        genesis: it.genesis,
    };
    Ok(headed(&app, &headers, &Digest::Index, fields))
}

/// Sums over everything, and by epoch
///
/// Counts and amounts of the whole network, and of its last sixty epochs.
#[utoipa::path(get, path = "/v1/network", responses((status = 200, body = Headed<Network>)))]
pub(in crate::http) async fn network(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let it = app.index.status.get();
    let totals = app.index.store.totals().await?;
    let (mut active, mut grace, mut deactivated) = (0_i64, 0_i64, 0_i64);
    for (paid_through, count) in &totals.leases {
        let counter = match items::lease_state(*paid_through, it.epoch).0 {
            "active" => &mut active,
            "grace" => &mut grace,
            "deactivated" => &mut deactivated,
            _ => continue,
        };
        *counter = counter.saturating_add(*count);
    }
    let bound = app.index.store.agents(Find::all().sure("nano_address IS NOT NULL")).await?;
    let has_node = !app.index.config.nano.rpc.is_empty();
    let nano = crate::nano::total(&bound).filter(|_| has_node);
    let alike = app.index.store.alike(Find::all()).await?;
    let count = |is: &dyn Fn(&Alike) -> bool| {
        alike.iter().filter(|it| is(it)).fold(0_i64, |sum, it| sum.saturating_add(it.count))
    };
    let from = it.epoch.saturating_sub(EPOCHS.saturating_sub(1));
    let epochs = app.index.store.epoch_totals(signed(from)).await?;
    let stood =
        app.index.store.epochs(Find::all().and("epoch", "<=", signed(it.epoch)).order(&["epoch"])).await?;
    let epochs = per_epoch(&epochs, stood, from, it.epoch);
    let fields = Network {
        agents: totals.agents,
        agents_active: active,
        agents_grace: grace,
        agents_deactivated: deactivated,
        staked_micro_usdc: totals.staked.0.to_string(),
        slashed_micro_usdc: totals.slashed.0.to_string(),
        fined_micro_usdc: totals.fined.0.to_string(),
        tenures_taken_over: totals.taken_over,
        lease_paid_micro_usdc: totals.lease_paid.0.to_string(),
        batches: totals.batches,
        batches_missing: totals.missing,
        batches_withheld: totals.withheld,
        challenges: totals.challenges,
        challenges_open: totals.challenges_open,
        challenges_succeeded: totals.challenges_succeeded,
        asks: totals.asks,
        asks_open: totals.asks_open,
        feedback_entries: totals.feedback,
        feedback_resolved: totals.feedback_resolved,
        contracts: totals.contracts,
        contracts_open: totals.contracts_open,
        contracts_repaired: count(&|it| it.success == Some(1)),
        contracts_not_repaired: count(&|it| it.success == Some(0)),
        median_repair_ms: app.index.store.median_repair().await?,
        paid_to_agents_raw: Alike::earned(&alike),
        bounties_open_raw: Alike::offered(&alike),
        bounties_open: count(&|it| it.bounty.is_some()),
        events: totals.events,
        nano_raw: nano,
        epochs,
    };
    Ok(headed(&app, &headers, &Digest::Index, fields))
}

/// The network at each epoch's end.
fn per_epoch(
    totals: &[crate::store::EpochTotals],
    stood: Vec<crate::store::EpochRow>,
    from: u64,
    to: u64,
) -> Vec<NetworkEpoch> {
    let mut stood = stood.into_iter().peekable();
    let mut agents: std::collections::HashMap<AgentId, crate::store::EpochRow> =
        std::collections::HashMap::new();
    (from..=to)
        .map(|epoch| {
            while let Some(row) = stood.next_if(|row| row.epoch <= signed(epoch)) {
                agents.insert(row.agent, row);
            }
            let of = totals.iter().find(|it| it.epoch == signed(epoch)).copied().unwrap_or_default();
            let staked = agents.values().fold(MicroUsdc(0), |sum, row| sum.saturating_add(row.stake));
            let active = agents
                .values()
                .filter(|row| items::lease_state(row.paid_through, epoch).0 == "active")
                .count();
            NetworkEpoch {
                epoch,
                joined: of.joined,
                active,
                staked_micro_usdc: staked.0.to_string(),
                batches: of.batches,
                challenges: of.challenges,
                feedback: of.feedback,
            }
        })
        .collect()
}

/// What the last self-audit found
///
/// The index compared with the accounts on chain; null before the first one.
#[utoipa::path(get, path = "/v1/audit", responses((status = 200, body = Headed<AuditAnswer>)))]
pub(in crate::http) async fn audit(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    Query::read(&uri, &[])?;
    let audit = app.audit.read().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(headed(&app, &headers, &Digest::Index, AuditAnswer { audit }))
}

/// Missing sequence numbers, and whether they were found
///
/// Events that the node did not give, by account.
#[utoipa::path(get, path = "/v1/gaps", params(GapQuery, PageQuery), responses((status = 200, body = Headed<List<items::Gap>>)))]
pub(in crate::http) async fn gaps(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    let query = Query::read(&uri, &["state", "limit", "cursor"])?;
    let mut find = Find::all().newest(&["found_slot", "account", "created_slot", "first"]);
    if let Some(state) = query.word("state", &GAP_STATES)? {
        find = find.and("state", "=", state);
    }
    let page = Page::new("gaps", &query, &[0, 2, 0, 0])?;
    let rows = app.index.store.gaps(page.find(find)?).await?;
    let (rows, next) = page.cut(rows, |row: &GapRow| {
        vec![row.found_slot.into(), row.account.clone().into(), row.created_slot.into(), row.first.into()]
    });
    let items = rows.iter().map(items::Gap::new).collect();
    Ok(list_answer(&app, &headers, &Digest::Index, items, next))
}

/// How far behind the index is; 503 when it is too far
///
/// For a load balancer: slots and seconds behind the chain.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(in crate::http) async fn healthz(State(app): State<App>) -> Response {
    let it = app.index.status.get();
    let health = &app.index.config.health;
    let since_ms = now_ms().saturating_sub(it.caught_up_ms);
    let seconds =
        if it.caught_up_ms == 0 { app.started.elapsed().as_secs() } else { since_ms.unsigned_abs() / 1_000 };
    let late = seconds > health.max_lag_secs && it.phase != Phase::Backfill;
    let ok = it.lag() <= health.max_lag_slots && !late;
    let body = Health {
        ok,
        slot: it.slot,
        chain_slot: it.chain_slot,
        lag_slots: it.lag(),
        lag_seconds: seconds,
        state: it.phase,
    };
    json_answer(if ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &body)
}

/// Whether it serves; 503 until the node has answered and the first backfill is done, or while the store does not answer
///
/// For a load balancer, before it sends requests here.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = Readiness), (status = 503, body = Readiness)))]
pub(in crate::http) async fn readyz(State(app): State<App>) -> Response {
    let (backfilled, stopping) = (app.index.status.get().ready, app.stopping.is_cancelled());
    let store = app.index.store.ping().await.is_ok();
    let ready = backfilled && store && !stopping;
    let body = Readiness { ready, node: app.index.identified(), backfilled, store, stopping };
    json_answer(if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &body)
}

/// Metrics in the text format of Prometheus, or in OpenMetrics where `Accept` asks for it
///
/// For Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String, content_type = "text/plain")))]
pub(in crate::http) async fn metrics(State(app): State<App>, headers: HeaderMap) -> Response {
    app.index.metrics.served(&app.index.status.get(), &headers)
}
