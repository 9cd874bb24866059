//! Agents: the list, one of them, and what hangs on it.

use super::{List, Page, agent_row, belongings, list as list_answer, names};
use crate::error::{Error, Result};
use crate::http::App;
use crate::http::answer::{Digest, Headed, headed};
use crate::http::items;
use crate::http::openapi::{AgentQuery, AskQuery, ChallengeQuery, EventQuery, HistoryQuery, Mint, PageQuery};
use crate::http::query::Query;
use crate::http::words::{AGENT_STATES, ORDERS, SORTS};
use crate::reputation;
use crate::store::{AgentRow, Find, Value, signed};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use serde::Serialize;
use solana_address::Address;
use std::collections::{BTreeMap, HashMap, HashSet};
use utoipa::ToSchema;
use zx1_interface::constants::GRACE_PERIOD_EPOCHS;
use zx1_protocol::ids::AgentId;
use zx1_protocol::reputation::Binding;
use zx1_protocol::units::Epoch;

/// Most epochs of a history, and how many when nothing is said.
const EPOCHS: (u64, u64) = (400, 60);

/// An agent's page.
#[derive(Serialize, ToSchema)]
struct AgentAnswer<'a> {
    agent: items::AgentDetail,
    /// the newest first
    recent_events: Vec<items::Event<'a>>,
}

/// An agent by epoch.
#[derive(Serialize, ToSchema)]
struct History {
    epochs: Vec<AgentEpoch>,
}

/// An agent at the end of an epoch. Counts are null without a batch, or while its data is missing.
#[derive(Serialize, ToSchema)]
struct AgentEpoch {
    epoch: u64,
    stake_micro_usdc: String,
    lease_paid_through: Option<i64>,
    lease_state: &'static str,
    batch: bool,
    /// the batch's data is not served
    missing: bool,
    /// the batch is marked on chain
    withheld: bool,
    messages: Option<u64>,
    counterparties: Option<u64>,
    tasks_completed: Option<u64>,
    notarizations: Option<u64>,
    disputes: Option<u64>,
    reliability: i64,
    cooperation: i64,
    notary: i64,
}

/// Whom an agent dealt with, and how often.
#[derive(Serialize, ToSchema)]
struct Counterparty {
    agent: String,
    name: Option<String>,
    bids: i64,
    selections: i64,
    verifiers: i64,
    ratings_given: i64,
    ratings_received: i64,
    last_slot: i64,
}

/// Agents: search, filter, sort
///
/// A page of agents with stakes, keys, lease, batches and scores. Filters hold together.
#[utoipa::path(get, path = "/v1/agents", params(AgentQuery, PageQuery), responses((status = 200, body = Headed<List<items::Agent>>)))]
pub(in crate::http) async fn list(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    let known = [
        "query", "state", "owner", "staked", "missing", "withheld", "slashed", "sort", "order", "limit",
        "cursor",
    ];
    let query = Query::read(&uri, &known)?;
    let standing = app.index.status.get();
    let words = SORTS.map(|(word, _, _)| word);
    let sort = query.word("sort", &words)?.unwrap_or("number");
    let [first, ..] = SORTS;
    let (_, expression, value) = SORTS.into_iter().find(|(word, _, _)| *word == sort).unwrap_or(first);
    let usual = if matches!(sort, "number" | "name") { "asc" } else { "desc" };
    let descending = query.word("order", &ORDERS)?.unwrap_or(usual) == "desc";
    let mut find = Find::all();
    if let Some(text) = query.get("query") {
        find = find.holds("search", text);
    }
    if let Some(owner) = query.key::<Address>("owner")? {
        find = find.and("owner", "=", owner);
    }
    find = match query.flag("staked")? {
        None => find,
        Some(true) => find.sure("stake IS NOT NULL"),
        Some(false) => find.sure("stake IS NULL"),
    };
    for name in ["missing", "withheld"] {
        find = match query.flag(name)? {
            None => find,
            Some(true) => find.and(name, ">", 0),
            Some(false) => find.and(name, "=", 0),
        };
    }
    find = match query.flag("slashed")? {
        None => find,
        Some(true) => find.either(("slashed", ">", 0), ("challenges_lost", ">", 0)),
        Some(false) => find.and("slashed", "=", 0).and("challenges_lost", "=", 0),
    };
    // A lease's state follows from the clock (decision B5).
    let (now, grace) = (signed(standing.epoch), signed(standing.epoch.saturating_sub(GRACE_PERIOD_EPOCHS)));
    find = match query.word("state", &AGENT_STATES)? {
        None => find,
        Some("active") => find.and("paid_through", ">=", now),
        Some("grace") => find.and("paid_through", "<", now).and("paid_through", ">=", grace),
        Some("deactivated") => find.and("paid_through", "<", grace),
        Some(_) => find.sure("paid_through IS NULL"),
    };
    find = if descending { find.newest(&[]) } else { find.order(&[]) };
    find.order = vec![expression, "mint"];
    let kinds: &'static [u8] = if sort == "name" { &[1, 2] } else { &[0, 2] };
    let page = Page::new("agents", &query, kinds)?;
    let rows = app.index.store.agents(page.find(find)?).await?;
    let (rows, next) = page.cut(rows, |row| vec![value(row), row.mint.into()]);
    let belongings = belongings(&app, &rows).await?;
    let none = items::Belongings::default();
    let item = |row: &AgentRow| items::Agent::new(row, belongings.get(&row.mint).unwrap_or(&none), &standing);
    let items = rows.iter().map(item).collect();
    Ok(list_answer(&app, &headers, &Digest::Index, items, next))
}

/// One agent with its newest events
///
/// Everything that the chain says of an agent: its tenures, delegates, reputation by what vouches for it, and its
/// twenty newest events.
#[utoipa::path(get, path = "/v1/agents/{mint}", params(Mint), responses((status = 200, body = Headed<AgentAnswer<'static>>)))]
pub(in crate::http) async fn one(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let row = agent_row(&app, &mint).await?;
    let standing = app.index.status.get();
    let find = Find::by("agent", row.mint).newest(&["slot", "position", "ordinal"]).limit(20);
    let recent = app.index.store.events(find).await?;
    let name = Some(&row.name).filter(|name| !name.is_empty());
    let recent: Vec<_> = recent.iter().map(|event| items::Event::new(event, name, &standing)).collect();
    let mine = belongings(&app, std::slice::from_ref(&row)).await?.remove(&row.mint).unwrap_or_default();
    let tenures = app.index.store.tenures(Find::by("agent", row.mint).order(&["number"])).await?;
    let batches = app.index.store.batches(Find::by("agent", row.mint).order(&["epoch"])).await?;
    let agent = items::AgentDetail::new(&row, &mine, &tenures, &batches, &standing);
    let fields = AgentAnswer { agent, recent_events: recent };
    Ok(headed(&app, &headers, &Digest::Head(row.head_digest), fields))
}

/// An agent's events, newest first
///
/// The events of all programs that name this agent.
#[utoipa::path(get, path = "/v1/agents/{mint}/events", params(Mint, EventQuery, PageQuery), responses((status = 200, body = Headed<List<items::Event<'static>>>)))]
pub(in crate::http) async fn events(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let row = agent_row(&app, &mint).await?;
    super::lists::events_of(&app, &uri, &headers, Some(row.mint)).await
}

/// Challenges against an agent
///
/// Claims that a batch leaves something out or says it twice, newest first.
#[utoipa::path(get, path = "/v1/agents/{mint}/challenges", params(Mint, ChallengeQuery, PageQuery), responses((status = 200, body = Headed<List<items::Challenge>>)))]
pub(in crate::http) async fn challenges(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let row = agent_row(&app, &mint).await?;
    super::lists::challenges_of(&app, &uri, &headers, Some(row.mint)).await
}

/// Asks for leaves of an agent's batches
///
/// Requests to show one leaf of a batch, newest first; one that is not met marks the batch.
#[utoipa::path(get, path = "/v1/agents/{mint}/asks", params(Mint, AskQuery, PageQuery), responses((status = 200, body = Headed<List<items::Ask>>)))]
pub(in crate::http) async fn asks(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let row = agent_row(&app, &mint).await?;
    super::lists::asks_of(&app, &uri, &headers, Some(row.mint)).await
}

/// An agent by epoch
///
/// Stake, lease, batch and scores at the end of each epoch.
#[utoipa::path(get, path = "/v1/agents/{mint}/history", params(Mint, HistoryQuery), responses((status = 200, body = Headed<History>)))]
pub(in crate::http) async fn history(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["from_epoch", "to_epoch"])?;
    let row = agent_row(&app, &mint).await?;
    let (most, usual) = EPOCHS;
    let to = query.number("to_epoch")?.unwrap_or(app.index.status.get().epoch);
    let from = query.number("from_epoch")?.unwrap_or(to.saturating_sub(usual.saturating_sub(1)));
    if from > to || to.saturating_sub(from) >= most {
        return Err(Error::parameter("from_epoch", "it must be before to_epoch, by 399 at most"));
    }
    let of = || Find::by("agent", row.mint).and("epoch", "<=", signed(to));
    let stood = app.index.store.epochs(of().order(&["epoch"])).await?;
    let batches = app.index.store.batches(of().and("epoch", ">=", signed(from))).await?;
    let batches: HashMap<i64, _> = batches.into_iter().map(|batch| (batch.epoch, batch)).collect();
    let mut stood = stood.into_iter().peekable();
    let mut now = None;
    let mut epochs = Vec::new();
    for epoch in from..=to {
        while let Some(next) = stood.next_if(|next| next.epoch <= signed(epoch)) {
            now = Some(next);
        }
        let batch = batches.get(&signed(epoch));
        let content = batch.map(items::content).unwrap_or_default();
        let of_batch = |name: &str| content.get(name).and_then(serde_json::Value::as_u64);
        let paid = now.as_ref().and_then(|row| row.paid_through);
        epochs.push(AgentEpoch {
            epoch,
            stake_micro_usdc: now.as_ref().map_or(0, |row| row.stake.0).to_string(),
            lease_paid_through: paid,
            lease_state: items::lease_state(paid, epoch).0,
            batch: batch.is_some(),
            missing: batch.is_some_and(|batch| batch.data_bytes.is_none()),
            withheld: batch.is_some_and(|batch| batch.withheld_slot.is_some()),
            messages: of_batch("message_count"),
            counterparties: of_batch("unique_counterparties"),
            tasks_completed: of_batch("tasks_completed"),
            notarizations: of_batch("notarizations"),
            disputes: of_batch("disputes"),
            reliability: now.as_ref().map_or(0, |row| row.reliability),
            cooperation: now.as_ref().map_or(0, |row| row.cooperation),
            notary: now.as_ref().map_or(0, |row| row.notary),
        });
    }
    Ok(headed(&app, &headers, &Digest::Head(row.head_digest), History { epochs }))
}

/// Whom an agent dealt with
///
/// Counted from the records of its batches and from signed ratings, the latest first.
#[utoipa::path(get, path = "/v1/agents/{mint}/counterparties", params(Mint, PageQuery), responses((status = 200, body = Headed<List<Counterparty>>)))]
pub(in crate::http) async fn counterparties(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    #[derive(Default)]
    struct With {
        bids: i64,
        selections: i64,
        verifiers: i64,
        given: i64,
        received: i64,
        last_slot: i64,
    }
    let query = Query::read(&uri, &["limit", "cursor"])?;
    let row = agent_row(&app, &mint).await?;
    let mut all: BTreeMap<AgentId, With> = BTreeMap::new();
    for it in app.index.store.counterparties(Find::by("agent", row.mint)).await? {
        let with = all.entry(it.other).or_default();
        with.bids = with.bids.saturating_add(it.bids);
        with.selections = with.selections.saturating_add(it.selections);
        with.verifiers = with.verifiers.saturating_add(it.verifiers);
        with.received = with.received.saturating_add(it.ratings);
        with.last_slot = with.last_slot.max(it.last_slot);
    }
    for it in app.index.store.envelopes(Find::by("rater", row.mint)).await? {
        let with = all.entry(it.target).or_default();
        with.given = with.given.saturating_add(1);
        with.last_slot = with.last_slot.max(it.slot);
    }
    let mut sorted: Vec<(AgentId, With)> = all.into_iter().collect();
    sorted.sort_by(|(a, of_a), (b, of_b)| (of_b.last_slot, b).cmp(&(of_a.last_slot, a)));
    // Counted together from rows, so the page is cut here.
    let page = Page::new("counterparties", &query, &[0, 2])?;
    let after = page.find(Find::all())?.after;
    if let [Value::Int(slot), Value::Bytes(other)] = after.as_slice() {
        sorted.retain(|(key, with)| (with.last_slot, key.as_ref()) < (*slot, other.as_slice()));
    }
    let (rows, next) = page.cut(sorted, |(other, with)| vec![with.last_slot.into(), (*other).into()]);
    let names = names(&app, rows.iter().map(|(other, _)| *other)).await?;
    let item = |(other, with): &(AgentId, With)| Counterparty {
        agent: other.to_string(),
        name: names.get(other).cloned(),
        bids: with.bids,
        selections: with.selections,
        verifiers: with.verifiers,
        ratings_given: with.given,
        ratings_received: with.received,
        last_slot: with.last_slot,
    };
    let items = rows.iter().map(item).collect();
    Ok(list_answer(&app, &headers, &Digest::Head(row.head_digest), items, next))
}

/// Signed ratings of an agent
///
/// FEEDBACK envelopes about it, and whether a batch holds each and a task stands behind it.
#[utoipa::path(get, path = "/v1/agents/{mint}/ratings", params(Mint, PageQuery), responses((status = 200, body = Headed<List<items::Rating>>)))]
pub(in crate::http) async fn ratings(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["limit", "cursor"])?;
    let missing = || Error::NoAgent(app.index.status.get().slot);
    let mint: AgentId = mint.parse().map_err(|_| missing())?;
    let page = Page::new("ratings", &query, &[0, 2])?;
    let find = Find::by("target", mint).newest(&["timestamp", "hash"]);
    let rows = app.index.store.envelopes(page.find(find)?).await?;
    let (rows, next) = page.cut(rows, |row| vec![row.timestamp.into(), row.hash.clone().into()]);
    let facts = reputation::facts(&app.index, &mint).await?;
    let held: HashSet<_> = facts
        .ratings
        .iter()
        .map(|it| (it.rater, it.conversation, it.score, it.outcome, it.role, it.slot))
        .collect();
    let names = names(&app, rows.iter().map(|row| row.rater)).await?;
    let items = rows
        .iter()
        .map(|row| {
            let same = (row.rater, row.conversation, row.score, row.outcome, row.role, row.slot);
            let binding = reputation::binding_of(mint, &facts, row.conversation, row.rater);
            let word = binding.map(|binding| match binding {
                Binding::Selection => "selection",
                Binding::Verifier => "verifier",
                Binding::Contract => "contract",
            });
            items::Rating::new(row, names.get(&row.rater), held.contains(&same), word)
        })
        .collect();
    Ok(list_answer(&app, &headers, &Digest::Index, items, next))
}

/// The epoch of now, for whoever computes anew.
pub(in crate::http) fn epoch(app: &App) -> Epoch {
    Epoch(app.index.status.get().epoch)
}
