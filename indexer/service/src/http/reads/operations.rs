//! Where the indexer stands, sums, health.

use super::{Page, list as list_answer};
use crate::error::Result;
use crate::http::App;
use crate::http::answer::{Digest, headed, json as json_answer};
use crate::http::items;
use crate::http::query::Query;
use crate::index::now_ms;
use crate::status::Phase;
use crate::store::{Find, GapRow, signed};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::PoisonError;

/// Epochs of the network's page.
const EPOCHS: u64 = 60;

/// GET /v1/status
pub(in crate::http) async fn status(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let it = app.index.status.get();
    let markets: Vec<Value> = it
        .markets
        .iter()
        .map(|(url, reachable, count)| json!({ "url": url, "reachable": reachable, "contracts": count }))
        .collect();
    let fields = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "cluster": app.cluster,
        "genesis": it.genesis,
        "chain_slot": it.chain_slot,
        "chain_finalized_slot": it.chain_finalized,
        "lag_slots": it.lag(),
        "epoch": it.epoch,
        "chain_time": it.chain_time,
        "state": it.phase,
        "backfill": it.backfill,
        "events": it.events,
        "gaps_open": it.gaps_open,
        "subscribed": it.subscribed,
        "nano": {
            "configured": !app.index.config.nano.rpc.is_empty(),
            "reachable": it.nano.unwrap_or(false),
        },
        "markets": markets,
        "last_audit": it.last_audit.map(|audit| json!({ "at": audit.at, "differences": audit.differences })),
        "uptime_seconds": app.started.elapsed().as_secs(),
    });
    Ok(headed(&app, &headers, &Digest::Index, fields))
}

/// GET /v1/network
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
    let held = app.index.store.agents(Find::all().sure("nano_balance IS NOT NULL")).await?;
    let nano = crate::nano::sum(held.iter().filter_map(|row| row.nano_balance.as_deref()));
    let from = it.epoch.saturating_sub(EPOCHS.saturating_sub(1));
    let epochs = app.index.store.epoch_totals(signed(from)).await?;
    let stood =
        app.index.store.epochs(Find::all().and("epoch", "<=", signed(it.epoch)).order(&["epoch"])).await?;
    let epochs = per_epoch(&epochs, stood, from, it.epoch);
    let fields = json!({
        "agents": totals.agents,
        "agents_active": active,
        "agents_grace": grace,
        "agents_deactivated": deactivated,
        "staked_micro_usdc": totals.staked.to_string(),
        "slashed_micro_usdc": totals.slashed.to_string(),
        "lease_paid_micro_usdc": totals.lease_paid.to_string(),
        "batches": totals.batches,
        "batches_withheld": totals.withheld,
        "challenges": totals.challenges,
        "challenges_open": totals.challenges_open,
        "challenges_succeeded": totals.challenges_succeeded,
        "feedback_entries": totals.feedback,
        "feedback_resolved": totals.feedback_resolved,
        "contracts": totals.contracts,
        "contracts_open": totals.contracts_open,
        "events": totals.events,
        "nano_raw": nano,
        "epochs": epochs,
    });
    Ok(headed(&app, &headers, &Digest::Index, fields))
}

/// The network at each epoch's end.
fn per_epoch(
    totals: &[crate::store::EpochTotals],
    stood: Vec<crate::store::EpochRow>,
    from: u64,
    to: u64,
) -> Vec<Value> {
    let mut stood = stood.into_iter().peekable();
    let mut agents: std::collections::HashMap<Vec<u8>, crate::store::EpochRow> =
        std::collections::HashMap::new();
    (from..=to)
        .map(|epoch| {
            while let Some(row) = stood.next_if(|row| row.epoch <= signed(epoch)) {
                agents.insert(row.agent.clone(), row);
            }
            let of = totals.iter().find(|it| it.epoch == signed(epoch)).copied().unwrap_or_default();
            let staked = agents.values().fold(0_i64, |sum, row| sum.saturating_add(row.stake));
            let active = agents
                .values()
                .filter(|row| items::lease_state(row.paid_through, epoch).0 == "active")
                .count();
            json!({
                "epoch": epoch,
                "joined": of.joined,
                "active": active,
                "staked_micro_usdc": staked.to_string(),
                "batches": of.batches,
                "challenges": of.challenges,
                "feedback": of.feedback,
            })
        })
        .collect()
}

/// GET /v1/audit
pub(in crate::http) async fn audit(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    Query::read(&uri, &[])?;
    let audit = app.audit.read().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(headed(&app, &headers, &Digest::Index, json!({ "audit": audit })))
}

/// GET /v1/gaps
pub(in crate::http) async fn gaps(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    let query = Query::read(&uri, &["state", "limit", "cursor"])?;
    let mut find = Find::all().newest(&["found_slot", "account", "created_slot", "first"]);
    if let Some(state) = query.word("state", &["open", "refilled", "from_state"])? {
        find = find.and("state", "=", state);
    }
    let page = Page::new("gaps", &query, &[0, 2, 0, 0])?;
    let rows = app.index.store.gaps(page.find(find)?).await?;
    let (rows, next) = page.cut(rows, |row: &GapRow| {
        vec![row.found_slot.into(), row.account.clone().into(), row.created_slot.into(), row.first.into()]
    });
    let items = rows.iter().map(items::gap).collect();
    Ok(list_answer(&app, &headers, &Digest::Index, items, next))
}

/// GET /healthz: 503 when the index is too far behind.
pub(in crate::http) async fn healthz(State(app): State<App>) -> Response {
    let it = app.index.status.get();
    let health = &app.index.config.health;
    let since_ms = now_ms().saturating_sub(it.caught_up_ms);
    let seconds =
        if it.caught_up_ms == 0 { app.started.elapsed().as_secs() } else { since_ms.unsigned_abs() / 1_000 };
    let late = seconds > health.max_lag_secs && it.phase != Phase::Backfill;
    let ok = it.lag() <= health.max_lag_slots && !late;
    let body = json!({
        "ok": ok,
        "slot": it.slot,
        "chain_slot": it.chain_slot,
        "lag_slots": it.lag(),
        "lag_seconds": seconds,
        "state": it.phase,
    });
    json_answer(if ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &body)
}

/// GET /readyz: 503 until the first backfill is done, or while the store does not answer.
pub(in crate::http) async fn readyz(State(app): State<App>) -> Response {
    let (backfilled, stopping) = (app.index.status.get().ready, app.stopping.is_cancelled());
    let store = app.index.store.ping().await.is_ok();
    let ready = backfilled && store && !stopping;
    let body = json!({ "ready": ready, "backfilled": backfilled, "store": store, "stopping": stopping });
    json_answer(if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &body)
}

/// GET /metrics
pub(in crate::http) async fn metrics(State(app): State<App>) -> Response {
    let figures = app.index.metrics.text(&app.index.status.get());
    zx1_server::answer::figures(figures)
}
