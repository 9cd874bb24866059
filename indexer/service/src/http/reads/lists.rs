//! Challenges, asks, the feedback log, events, contracts, bindings.

use super::{List, Page, list as list_answer, names};
use crate::error::{Error, Result};
use crate::http::App;
use crate::http::answer::{Digest, Head, Headed, headed, tagged};
use crate::http::items;
use crate::http::openapi::{
    AskQuery, ChallengeQuery, ContractQuery, EventQuery, FeedbackQuery, MarketQuery, PageQuery,
};
use crate::http::query::Query;
use crate::http::words::{ASK_STATES, CHALLENGE_STATES, contract_states_known, event_names_known};
use crate::parse::Program;
use crate::party;
use crate::store::{AgentRow, AskRow, ChallengeRow, ContractRow, Find, StoredEvent, signed};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use solana_address::Address;
use std::collections::HashMap;
use utoipa::ToSchema;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, SHOW_SLOTS};
use zx1_protocol::ids::AgentId;

/// Challenges, of one agent or of all.
pub(super) async fn challenges_of(
    app: &App,
    uri: &Uri,
    headers: &HeaderMap,
    agent: Option<AgentId>,
) -> Result<Response> {
    let query = Query::read(uri, &["agent", "challenger", "state", "limit", "cursor"])?;
    let standing = app.index.status.get();
    let mut find = Find::all().newest(&["submitted_slot", "address"]);
    if let Some(agent) = agent.or(query.key("agent")?) {
        find = find.and("agent", "=", agent);
    }
    if let Some(challenger) = query.key::<Address>("challenger")? {
        find = find.and("challenger", "=", challenger);
    }
    // The last slot at which a challenge that can still be answered was submitted.
    let window = signed(standing.slot.saturating_sub(CHALLENGE_WINDOW_SLOTS));
    find = match query.word("state", &CHALLENGE_STATES)? {
        None => find,
        // Nothing can answer a double bid.
        Some("open") => find.and("outcome", "=", 0).and("ground", "<>", items::DOUBLE_BID).and(
            "submitted_slot",
            ">=",
            window,
        ),
        Some("unanswered") => find
            .and("outcome", "=", 0)
            .either(("ground", "=", items::DOUBLE_BID), ("submitted_slot", "<", window)),
        Some("answered") => find.and("outcome", "=", 1),
        Some("succeeded") => find.and("outcome", "=", 2),
        Some("empty") => find.and("outcome", "=", 3),
        Some(_) => find.and("closed", "=", 1),
    };
    let list = agent.map_or_else(|| "challenges".to_owned(), |agent| format!("challenges/{agent}"));
    let page = Page::new(&list, &query, &[0, 2])?;
    let rows = app.index.store.challenges(page.find(find)?).await?;
    let place = |row: &ChallengeRow| vec![row.submitted_slot.into(), row.address.clone().into()];
    let (rows, next) = page.cut(rows, place);
    let names = names(app, rows.iter().map(|row| row.agent)).await?;
    let items = rows.iter().map(|row| items::Challenge::new(row, names.get(&row.agent), &standing)).collect();
    Ok(list_answer(app, headers, &Digest::Index, items, next))
}

/// All challenges, newest first
///
/// Claims against batches of all agents.
#[utoipa::path(get, path = "/v1/challenges", params(ChallengeQuery, PageQuery), responses((status = 200, body = Headed<List<items::Challenge>>)))]
pub(in crate::http) async fn challenges(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    challenges_of(&app, &uri, &headers, None).await
}

/// One challenge: its present or last life
///
/// An address may be used again after a challenge was closed; this is the latest use.
#[utoipa::path(get, path = "/v1/challenges/{address}", params(("address" = String, Path, description = "base58")), responses((status = 200, body = Headed<ChallengeAnswer>)))]
pub(in crate::http) async fn challenge(
    State(app): State<App>,
    Path(address): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let address: Address = address.parse().map_err(|_| Error::NoChallenge)?;
    let find = Find::by("address", address).newest(&["submitted_slot"]).limit(1);
    let row = app.index.store.challenges(find).await?.into_iter().next().ok_or(Error::NoChallenge)?;
    let names = names(&app, std::iter::once(row.agent)).await?;
    let mut challenge = items::Challenge::new(&row, names.get(&row.agent), &app.index.status.get());
    if let Some((other, conversation)) = challenge.hidden() {
        let name = super::names(&app, std::iter::once(other)).await?.remove(&other);
        let contracts = app.index.store.contracts(Find::by("conversation", conversation).limit(1)).await?;
        challenge.tell(name, contracts.into_iter().next().map(|row| row.id));
    }
    Ok(headed(&app, &headers, &Digest::Index, ChallengeAnswer { challenge }))
}

/// Asks, of one agent or of all.
pub(super) async fn asks_of(
    app: &App,
    uri: &Uri,
    headers: &HeaderMap,
    agent: Option<AgentId>,
) -> Result<Response> {
    let query = Query::read(uri, &["agent", "asker", "epoch", "state", "limit", "cursor"])?;
    let standing = app.index.status.get();
    let mut find = Find::all().newest(&["created_slot", "address"]);
    if let Some(agent) = agent.or(query.key("agent")?) {
        find = find.and("agent", "=", agent);
    }
    if let Some(asker) = query.key::<Address>("asker")? {
        find = find.and("asker", "=", asker);
    }
    if let Some(epoch) = query.number("epoch")? {
        find = find.and("epoch", "=", signed(epoch));
    }
    // The last slot at which an ask that can still be answered was made.
    let window = signed(standing.slot.saturating_sub(SHOW_SLOTS));
    find = match query.word("state", &ASK_STATES)? {
        None => find,
        Some("open") => find.and("state", "=", 0).and("created_slot", ">=", window),
        Some("overdue") => find.and("state", "=", 0).and("created_slot", "<", window),
        Some("shown") => find.and("state", "=", 1),
        Some("withheld") => find.and("state", "=", 2),
        Some("settled") => find.and("state", "=", 3),
        Some(_) => find.and("closed", "=", 1),
    };
    let list = agent.map_or_else(|| "asks".to_owned(), |agent| format!("asks/{agent}"));
    let page = Page::new(&list, &query, &[0, 2])?;
    let rows = app.index.store.asks(page.find(find)?).await?;
    let (rows, next) =
        page.cut(rows, |row: &AskRow| vec![row.created_slot.into(), row.address.clone().into()]);
    let names = names(app, rows.iter().map(|row| row.agent)).await?;
    let items = rows.iter().map(|row| items::Ask::new(row, names.get(&row.agent), &standing)).collect();
    Ok(list_answer(app, headers, &Digest::Index, items, next))
}

/// All asks for leaves, newest first
///
/// Requests to show one leaf of a batch, of all agents.
#[utoipa::path(get, path = "/v1/asks", params(AskQuery, PageQuery), responses((status = 200, body = Headed<List<items::Ask>>)))]
pub(in crate::http) async fn asks(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    asks_of(&app, &uri, &headers, None).await
}

/// One ask: its present or last life
///
/// An address may be used again after an ask was closed; this is the latest use.
#[utoipa::path(get, path = "/v1/asks/{address}", params(("address" = String, Path, description = "base58")), responses((status = 200, body = Headed<AskAnswer>)))]
pub(in crate::http) async fn ask(
    State(app): State<App>,
    Path(address): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let address: Address = address.parse().map_err(|_| Error::NoAsk)?;
    let find = Find::by("address", address).newest(&["created_slot"]).limit(1);
    let row = app.index.store.asks(find).await?.into_iter().next().ok_or(Error::NoAsk)?;
    let names = names(&app, std::iter::once(row.agent)).await?;
    let ask = items::Ask::new(&row, names.get(&row.agent), &app.index.status.get());
    Ok(headed(&app, &headers, &Digest::Index, AskAnswer { ask }))
}

/// The feedback log, newest first
///
/// Texts that anybody may append and nobody can edit, with what maintainers resolved.
#[utoipa::path(get, path = "/v1/feedback", params(FeedbackQuery, PageQuery), responses((status = 200, body = Headed<List<items::Entry>>)))]
pub(in crate::http) async fn feedback(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["sender", "payer", "resolved", "query", "limit", "cursor"])?;
    let mut find = Find::all().newest(&["number"]);
    for name in ["sender", "payer"] {
        if let Some(key) = query.key::<Address>(name)? {
            find = find.and(name, "=", key);
        }
    }
    find = match query.flag("resolved")? {
        None => find,
        Some(true) => find.sure("resolution_slot IS NOT NULL"),
        Some(false) => find.sure("resolution_slot IS NULL"),
    };
    if let Some(text) = query.get("query") {
        find = find.holds("LOWER(text)", text);
    }
    let page = Page::new("feedback", &query, &[0])?;
    let rows = app.index.store.feedback(page.find(find)?).await?;
    let (rows, next) = page.cut(rows, |row| vec![row.number.into()]);
    let items = rows.iter().map(items::Entry::new).collect();
    Ok(list_answer(&app, &headers, &Digest::Log, items, next))
}

/// One entry of the feedback log
///
/// An entry with its place in the log's hash chain.
#[utoipa::path(get, path = "/v1/feedback/{index}", params(("index" = u64, Path)), responses((status = 200, body = Headed<EntryAnswer>)))]
pub(in crate::http) async fn entry(
    State(app): State<App>,
    Path(index): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let index: u64 = index.parse().map_err(|_| Error::NoFeedback)?;
    let rows = app.index.store.feedback(Find::by("number", signed(index))).await?;
    let row = rows.into_iter().next().ok_or(Error::NoFeedback)?;
    Ok(headed(&app, &headers, &Digest::Log, EntryAnswer { entry: items::Entry::new(&row) }))
}

/// Events, of one agent or of all.
pub(super) async fn events_of(
    app: &App,
    uri: &Uri,
    headers: &HeaderMap,
    agent: Option<AgentId>,
) -> Result<Response> {
    let known = [
        "name",
        "program",
        "agent",
        "account",
        "signature",
        "from_slot",
        "to_slot",
        "finalized",
        "limit",
        "cursor",
    ];
    let query = Query::read(uri, &known)?;
    let standing = app.index.status.get();
    let mut find = Find::all().newest(&["slot", "position", "ordinal", "id"]);
    if let Some(agent) = agent.or(query.key("agent")?) {
        find = find.and("agent", "=", agent);
    }
    if let Some(name) = query.word("name", &event_names_known())? {
        find = find.and("name", "=", name);
    }
    if let Some(account) = query.key::<Address>("account")? {
        find = find.and("account", "=", account);
    }
    let programs = Program::ALL.map(Program::name);
    if let Some(program) = query.word("program", &programs)?.and_then(Program::of_name) {
        find = find.and("program", "=", program.number());
    }
    if let Some(slot) = query.number("from_slot")? {
        find = find.and("slot", ">=", signed(slot));
    }
    if let Some(slot) = query.number("to_slot")? {
        find = find.and("slot", "<=", signed(slot));
    }
    if let Some(text) = query.get("signature") {
        // Events lie by slot: without it, all of them would have to be looked at.
        let bad = |detail: &'static str| Error::parameter("signature", detail);
        if query.number("from_slot")?.is_none() || query.number("from_slot")? != query.number("to_slot")? {
            return Err(bad("name its slot as from_slot and to_slot; /v1/search finds it"));
        }
        let mut signature = [0; 64];
        if bs58::decode(text).onto(&mut signature) != Ok(signature.len()) {
            return Err(bad("it must be 64 bytes in base58"));
        }
        find = find.and("signature", "=", signature);
    }
    find = match query.flag("finalized")? {
        None => find,
        Some(true) => find.and("slot", "<=", signed(standing.finalized)),
        Some(false) => find.and("slot", ">", signed(standing.finalized)),
    };
    let list = agent.map_or_else(|| "events".to_owned(), |agent| format!("events/{agent}"));
    let page = Page::new(&list, &query, &[0, 0, 0, 0])?;
    let rows = app.index.store.events(page.find(find)?).await?;
    let (rows, next) = page.cut(rows, |stored| {
        let row = &stored.row;
        vec![row.slot.into(), row.position.into(), row.ordinal.into(), stored.id.into()]
    });
    let names = self::names(app, rows.iter().filter_map(|stored| stored.row.agent)).await?;
    let name = |stored: &StoredEvent| stored.row.agent.and_then(|agent| names.get(&agent));
    let items = rows.iter().map(|stored| items::Event::new(stored, name(stored), &standing)).collect();
    Ok(list_answer(app, headers, &Digest::Index, items, next))
}

/// Events of the programs, newest first
///
/// What the programs have logged, filtered by name, program, agent, account and slot.
#[utoipa::path(get, path = "/v1/events", params(EventQuery, PageQuery), responses((status = 200, body = Headed<List<items::Event<'static>>>)))]
pub(in crate::http) async fn events(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    events_of(&app, &uri, &headers, None).await
}

/// The markets' contracts
///
/// Contracts of the markets that this indexer follows, newest first, with the outcome of their verification.
#[utoipa::path(get, path = "/v1/contracts", params(ContractQuery, PageQuery), responses((status = 200, body = Headed<List<items::Contract>>)))]
pub(in crate::http) async fn contracts(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["state", "party", "agent", "market", "query", "limit", "cursor"])?;
    let mut find = Find::all().newest(&["created_at", "market", "id"]);
    if let Some(market) = query.get("market") {
        find = find.and("market", "=", market);
    }
    if let Some(state) = query.word("state", &contract_states_known())? {
        find = find.and("state", "=", state);
    }
    if let Some(text) = query.get("query") {
        find = find.holds("search", text);
    }
    if let Some(mint) = query.key::<AgentId>("agent")? {
        let rows = app.index.store.agents(Find::by("mint", mint)).await?;
        let parties = party::of_agents(&*app.index.store, &rows).await?;
        find.conditions.push(Find::any("agent", parties.into_values().flatten()).conditions.remove(0));
    }
    if let Some(party) = query.get("party") {
        // A party on either side.
        let party = party.to_ascii_lowercase();
        find = find.either(("principal", "=", party.clone()), ("agent", "=", party));
    }
    let page = Page::new("contracts", &query, &[0, 1, 1])?;
    let rows = app.index.store.contracts(page.find(find)?).await?;
    let (rows, next) =
        page.cut(rows, |row| vec![row.created_at.into(), row.market.clone().into(), row.id.clone().into()]);
    let known = known_as(&app, &rows).await?;
    let items = rows.iter().map(|row| items::Contract::new(row, &known)).collect();
    Ok(list_answer(&app, &headers, &Digest::Index, items, next))
}

/// The agents on chain behind the parties of contracts.
pub(super) async fn known_as(app: &App, rows: &[ContractRow]) -> Result<HashMap<[u8; 32], AgentRow>> {
    let parties = rows.iter().flat_map(|row| std::iter::once(&row.principal).chain(&row.agent));
    let parties = parties.filter_map(|party| party::key_of(party)).collect();
    Ok(party::agents(&*app.index.store, parties).await?)
}

/// A contract's answer: the market's JSON is passed on as it is, so that hashes over it hold.
#[derive(Serialize, ToSchema)]
struct ContractAnswer<'r> {
    #[serde(flatten)]
    head: Head,
    contract: ContractBody<'r>,
}

/// A contract's page.
#[derive(Serialize, ToSchema)]
struct ContractBody<'r> {
    #[serde(flatten)]
    summary: items::Contract,
    /// what the market serves
    #[schema(value_type = Object)]
    view: &'r RawValue,
    #[schema(value_type = Vec<Object>)]
    transcript: Vec<&'r RawValue>,
}

/// The page of a challenge.
#[derive(Serialize, ToSchema)]
struct ChallengeAnswer {
    challenge: items::Challenge,
}

/// The page of an ask.
#[derive(Serialize, ToSchema)]
struct AskAnswer {
    ask: items::Ask,
}

/// An entry of the feedback log.
#[derive(Serialize, ToSchema)]
struct EntryAnswer {
    entry: items::Entry,
}

/// A binding record.
#[derive(Serialize, ToSchema)]
struct BindingAnswer {
    /// as its wallet has signed it
    #[schema(value_type = Object)]
    binding: serde_json::Value,
}

#[derive(Deserialize)]
struct WithTranscript<'r> {
    #[serde(borrow, default)]
    transcript: Vec<&'r RawValue>,
}

/// One contract with its transcript
///
/// The market's own answer, untouched, beside what this indexer has checked of it.
#[utoipa::path(get, path = "/v1/contracts/{id}", params(("id" = String, Path, description = "16 lower-case hexadecimal digits"), MarketQuery), responses((status = 200, body = ContractAnswer<'static>)))]
pub(in crate::http) async fn contract(
    State(app): State<App>,
    Path(id): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["market"])?;
    let mut find = Find::by("id", id.to_ascii_lowercase()).newest(&["created_at", "market"]).limit(1);
    if let Some(market) = query.get("market") {
        find = find.and("market", "=", market);
    }
    let row = app.index.store.contracts(find).await?.into_iter().next().ok_or(Error::NoContract)?;
    let unreadable = |error: serde_json::Error| crate::store::StoreError::Corrupt(error.to_string());
    let view: &RawValue = serde_json::from_str(&row.view).map_err(unreadable)?;
    let parts: WithTranscript<'_> = serde_json::from_str(&row.view).map_err(unreadable)?;
    let known = known_as(&app, std::slice::from_ref(&row)).await?;
    let answer = ContractAnswer {
        head: Head::new(&app.index.status.get(), &Digest::Index),
        contract: ContractBody {
            summary: items::Contract::new(&row, &known),
            view,
            transcript: parts.transcript,
        },
    };
    Ok(tagged(&headers, serde_json::to_string(&answer).map_err(unreadable)?))
}

/// A wallet's binding record
///
/// It proves that a Solana wallet and a Nano account belong to one party.
#[utoipa::path(get, path = "/v1/bindings/{wallet}", params(("wallet" = String, Path, description = "base58")), responses((status = 200, body = Headed<BindingAnswer>)))]
pub(in crate::http) async fn binding(
    State(app): State<App>,
    Path(wallet): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let wallet: Address = wallet.parse().map_err(|_| Error::NoBinding)?;
    let rows = app.index.store.bindings(Find::by("wallet", wallet)).await?;
    let row = rows.into_iter().next().ok_or(Error::NoBinding)?;
    let record: serde_json::Value = serde_json::from_str(&row.record).unwrap_or_default();
    Ok(headed(&app, &headers, &Digest::Index, BindingAnswer { binding: record }))
}
