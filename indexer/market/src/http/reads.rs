//! What anybody, a party or a judge may read (decision E14).

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use nano_escrow::Raw;
use utoipa::IntoParams;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use zx1_market::case::{Report, Transcript, replay};
use zx1_market::chain::{Data, Side};
use zx1_market::counts::FixCounts;
use zx1_market::wire::{
    ChainHeadAnswer, ContractView, DisputeStatus, EscrowAccount, EscrowAnswer, EscrowPayment, JudgeTask,
    ListAnswer, PartyCounts, PlatformInfo, ReadyAnswer, ReputationAnswer, ReviewStatus, RulingAnswer,
    Seconds, ServerKeyAnswer, Stats, StatusAnswer, TasksAnswer, VerifyChainAnswer,
};
use zx1_market::{Address, Case, ContractId, Entry, EntryType, Millis, PartyId, State as Stand};
use zx1_server::answer::text;
use zx1_server::limits::Client;

use super::App;
use super::answer::{json, json_with};
use super::auth::reader;
use super::long::LongReader;
use super::openapi::Id;
use crate::error::{Error, Result};
use crate::store::{DepositStatus, ListFilter, Store, StoreError};
use crate::view;

/// The parameters of a query, decoded.
pub(super) fn query(raw: Option<&str>) -> Vec<(String, String)> {
    zx1_server::query::pairs(raw).collect()
}

pub(super) fn parameter<'a>(query: &'a [(String, String)], name: &str) -> Option<&'a str> {
    query.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// Where a page of the list ends: the moment and the id of its last contract. Only this server reads it.
fn cursor((at, id): &(i64, String)) -> String {
    format!("{at}.{id}")
}

/// The reverse of [`cursor`]; `None` on the first page.
fn after(query: &[(String, String)]) -> Result<Option<(i64, String)>> {
    let read = |text: &str| {
        let (at, id) = text.split_once('.')?;
        Some((at.parse().ok()?, id.parse::<ContractId>().ok()?.to_string()))
    };
    parameter(query, "cursor")
        .filter(|text| !text.is_empty())
        .map(|text| read(text).ok_or_else(|| Error::query("cursor", "`next` of the page before")))
        .transpose()
}

/// A state by its word; `more` words are known to the caller.
pub(super) fn state(word: &str, more: &[&str]) -> Result<Stand> {
    let known = || Stand::ALL.iter().map(|state| state.as_str()).chain(more.iter().copied());
    let words = || known().collect::<Vec<_>>().join(", ");
    word.parse().map_err(|_| Error::query("status", format!("one of {}", words())))
}

/// A number from 0, as the store counts.
pub(super) fn number(text: Option<&str>, name: &'static str, expected: &'static str) -> Result<Option<i64>> {
    let read = |text: &str| text.parse::<i64>().ok().filter(|n| *n >= 0);
    text.map(|text| read(text).ok_or_else(|| Error::query(name, expected))).transpose()
}

/// Number of items of a page.
fn limit(query: &[(String, String)], default: i64) -> Result<i64> {
    let Some(text) = parameter(query, "limit") else { return Ok(default) };
    let wanted = text.parse::<i64>().ok().filter(|n| *n >= 1);
    let wanted = wanted.ok_or_else(|| Error::query("limit", "a whole number from 1"))?;
    Ok(wanted.min(MAX_LIST))
}

const MAX_LIST: i64 = zx1_market::defaults::MAX_LIST as i64;

/// Text of which only these words are known.
macro_rules! words {
    ($($name:ident = $words:expr;)*) => {$(
        pub(super) fn $name() -> Object {
            ObjectBuilder::new().schema_type(Type::String).enum_values(Some($words)).build()
        }
    )*};
}

words! {
    states = Stand::ALL.iter().map(|state| state.as_str());
    streamed_states = Stand::ALL.iter().map(|state| state.as_str()).chain([RETRY]);
    flags = FLAGS;
    kinds = KINDS;
}

/// The status of an event after a failed attempt; a contract is never in it.
pub(super) const RETRY: &str = "retry";
const FLAGS: [&str; 4] = ["1", "true", "0", "false"];
const KINDS: [&str; 2] = ["free", "paid"];

/// Parameters of the list of contracts.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
struct ListQuery {
    /// only contracts in this state
    #[param(schema_with = states)]
    status: Option<String>,
    /// maximum number of contracts; more than 200 count as 200
    #[param(minimum = 1, maximum = 9223372036854775807i64, default = 50)]
    limit: Option<u64>,
    /// `next` of the page before
    cursor: Option<String>,
    /// Unix milliseconds; only what has changed then or later
    updated_since: Option<u64>,
    /// 1 or true: only the signer's own
    #[param(schema_with = flags)]
    mine: Option<String>,
}

/// List contracts, newest first
///
/// Unpaid contracts are listed nowhere; the rest is a summary without the transcript.
#[utoipa::path(get, path = "/contracts", params(ListQuery), responses((status = 200, body = ListAnswer)))]
pub(super) async fn list(State(app): State<App>, request: Request) -> Result<Response> {
    let (parts, _) = request.into_parts();
    let query = query(parts.uri.query());
    let state = match parameter(&query, "status") {
        // Unpaid contracts are listed nowhere (decision E8).
        Some("unfunded") => return json(&ListAnswer { contracts: Vec::new(), next: None }),
        Some(word) => Some(state(word, &[])?.as_str().to_owned()),
        None => None,
    };
    let limit = limit(&query, 50)?;
    let party = match parameter(&query, "mine") {
        Some("1" | "true") => Some(reader(&app, &parts)?.ok_or(Error::NotForYou)?.to_string()),
        None | Some("0" | "false") => None,
        Some(_) => return Err(Error::query("mine", format!("one of {}", FLAGS.join(", ")))),
    };
    let after = after(&query)?;
    let since = number(parameter(&query, "updated_since"), "updated_since", "Unix milliseconds")?;
    let reader = app.unsent.reader(parts.extensions.get::<Client>().copied())?;
    Ok(list_pages(reader, app.engine.store().clone(), ListFilter { state, party, limit, after, since }))
}

/// Contracts of a list that are read at once.
const LIST_PAGE: i64 = 8;

/// What a list still has to say.
enum ListPart {
    Contracts { filter: ListFilter, begun: bool },
    End,
}

/// Up to `limit` contracts as one answer. Summaries were written by this server, so they are sent as they are.
fn list_pages(reader: LongReader, store: Arc<dyn Store>, filter: ListFilter) -> Response {
    let next = move |part| {
        let store = store.clone();
        async move {
            let ListPart::Contracts { mut filter, begun } = part else { return Ok(None) };
            let wanted = filter.limit.min(LIST_PAGE);
            let page = store.list(ListFilter { limit: wanted, ..filter.clone() }).await?;
            let mut text = String::from(if begun { "" } else { "{\"contracts\":[" });
            for (n, listed) in page.iter().enumerate() {
                if begun || n > 0 {
                    text.push(',');
                }
                text.push_str(&listed.summary);
            }
            filter.limit = filter.limit.saturating_sub(wanted);
            let is_full = i64::try_from(page.len()).is_ok_and(|count| count == wanted);
            if let Some(last) = page.into_iter().last().filter(|_| is_full) {
                let last = (last.created_at, last.id);
                if filter.limit > 0 {
                    filter.after = Some(last);
                    return Ok(Some((text, ListPart::Contracts { filter, begun: true })));
                }
                text.push_str(&format!("],\"next\":\"{}\"}}", cursor(&last)));
            } else {
                // A list that is not full is the last one; its form is what it was before there were pages.
                text.push_str("]}");
            }
            Ok(Some((text, ListPart::End)))
        }
    };
    reader.json(ListPart::Contracts { filter, begun: false }, next)
}

/// A contract and who reads it. Unpaid contracts are hidden from strangers.
async fn known(app: &App, id: &str, request: Request) -> Result<(Case, Option<PartyId>)> {
    let (parts, _) = request.into_parts();
    let who = reader(app, &parts)?;
    let id: ContractId = id.parse()?;
    let case = app.engine.fresh(id).await?;
    let stranger = !who.is_some_and(|who| case.may_read(&who));
    if case.state() == Stand::Unfunded && stranger {
        return Err(Error::NoContract(id.to_string()));
    }
    Ok((case, who))
}

/// A contract that this reader may read wholly, or 9401.
async fn readable(app: &App, id: &str, request: Request) -> Result<Case> {
    Ok(readable_by(app, id, request).await?.0)
}

async fn readable_by(app: &App, id: &str, request: Request) -> Result<(Case, Option<PartyId>)> {
    let (case, who) = known(app, id, request).await?;
    if case.is_public() || who.is_some_and(|who| case.may_read(&who)) {
        Ok((case, who))
    } else {
        Err(Error::NotForYou)
    }
}

/// The entries of a contract, and when each was taken.
async fn transcript(app: &App, case: &Case) -> Result<(Vec<Entry>, Vec<Millis>)> {
    let rows = app.engine.store().entries(&case.id().to_string()).await?;
    let mut entries = Vec::with_capacity(rows.len());
    let mut times = Vec::with_capacity(rows.len());
    for row in rows {
        let corrupt = |e: &dyn std::fmt::Display| StoreError::Corrupt(format!("entry {}: {e}", row.seq));
        entries.push(Entry::parse(row.body.as_bytes()).map_err(|e| corrupt(&e))?);
        times.push(Millis(u64::try_from(row.received_at).map_err(|e| corrupt(&e))?));
    }
    Ok((entries, times))
}

/// Entries that are read at once.
const PAGE: i64 = 16;

/// What a transcript still has to say.
enum Part {
    Begin,
    Entries { next: i64, times: String },
    End,
}

/// A contract with its entries before this one. They are kept as they are sent, so nothing is parsed.
fn whole(reader: LongReader, store: Arc<dyn Store>, case: &Case, head: i64) -> Result<Response> {
    let view = ContractView::new(case, Vec::new(), Vec::new());
    let view = serde_json::to_string(&view).map_err(|e| StoreError::Corrupt(e.to_string()))?;
    // Of texts before it none holds quotes that are not escaped, but a contract may hold the same fields.
    let (begin, end) = view
        .rsplit_once("\"transcript\":[],\"received_at\":[]")
        .ok_or_else(|| StoreError::Corrupt("a view has no transcript".to_owned()))?;
    let (begin, end) = (format!("{begin}\"transcript\":["), end.to_owned());
    let id = case.id().to_string();
    let next = move |part| {
        let (store, id) = (store.clone(), id.clone());
        let (begin, end) = match part {
            Part::Begin => (begin.clone(), String::new()),
            Part::Entries { .. } => (String::new(), end.clone()),
            Part::End => Default::default(),
        };
        async move {
            let (next, mut times) = match part {
                Part::Begin => {
                    return Ok(Some((begin, Part::Entries { next: 0, times: String::new() })));
                }
                Part::Entries { next, times } if next < head => (next, times),
                Part::Entries { times, .. } => {
                    return Ok(Some((format!("],\"received_at\":[{times}]{end}"), Part::End)));
                }
                Part::End => return Ok(None),
            };
            let rows = store.entries_from(&id, next, PAGE).await?;
            let (mut text, mut after) = (String::new(), next);
            for row in rows.into_iter().filter(|row| row.seq < head) {
                if row.seq > 0 {
                    text.push(',');
                    times.push(',');
                }
                text.push_str(&row.body);
                times.push_str(&row.received_at.to_string());
                after = row.seq.saturating_add(1);
            }
            if after == next {
                return Err(StoreError::Corrupt(format!("entry {next} of contract {id} is missing")));
            }
            Ok(Some((text, Part::Entries { next: after, times })))
        }
    };
    Ok(reader.json(Part::Begin, next))
}

/// A contract with its transcript
///
/// While it runs the transcript is for parties and judges; of an open one everybody sees the offer.
#[utoipa::path(get, path = "/contracts/{id}", params(Id), responses((status = 200, body = ContractView)))]
pub(super) async fn contract(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let client = request.extensions().get::<Client>().copied();
    let (case, who) = known(&app, &id, request).await?;
    let store = app.engine.store().clone();
    let mut head = i64::try_from(case.head().seq).unwrap_or(i64::MAX);
    if !case.is_public() && !who.is_some_and(|who| case.may_read(&who)) {
        if case.state() != Stand::Open {
            return Err(Error::NotForYou);
        }
        // An agent checks what was posted, and under which terms, before it bonds.
        let (entries, _) = transcript(&app, &case).await?;
        let offer = entries.iter().take_while(|entry| view::is_offer(entry.kind())).count();
        head = i64::try_from(offer).unwrap_or(head);
    }
    whole(app.unsent.reader(client)?, store, &case, head)
}

/// What the next entry must carry
///
/// Sequence number and hash of the transcript's end.
#[utoipa::path(get, path = "/contracts/{id}/chain_head", params(Id), responses((status = 200, body = ChainHeadAnswer)))]
pub(super) async fn chain_head(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let (case, _) = known(&app, &id, request).await?;
    json(&ChainHeadAnswer::from(case.head()))
}

/// Replay the transcript
///
/// Checks every signature, hash and transition, as `fix verify` does.
#[utoipa::path(get, path = "/contracts/{id}/verify_chain", params(Id), responses((status = 200, body = VerifyChainAnswer)))]
pub(super) async fn verify_chain(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let case = readable(&app, &id, request).await?;
    let (entries, received_at) = transcript(&app, &case).await?;
    let server = Some(case.terms().server);
    let transcript = Transcript { contract_id: Some(case.id()), server, entries, received_at };
    let report: Report = tokio::task::spawn_blocking(move || replay(&transcript))
        .await
        .map_err(|e| StoreError::Corrupt(format!("a transcript could not be replayed: {e}")))?;
    json(&VerifyChainAnswer::from(&report))
}

/// Where a dispute stands
///
/// The court, who has to answer, and until when.
#[utoipa::path(get, path = "/contracts/{id}/dispute_status", params(Id), responses((status = 200, body = DisputeStatus)))]
pub(super) async fn dispute_status(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let case = readable(&app, &id, request).await?;
    json(&DisputeStatus::of(&case, app.engine.now()))
}

/// The last ruling of a contract.
pub(super) async fn last_ruling(app: &App, case: &Case) -> Result<Option<RulingAnswer>> {
    let (entries, _) = transcript(app, case).await?;
    let Some(entry) = entries.iter().rev().find(|entry| entry.kind() == EntryType::Ruling) else {
        return Ok(None);
    };
    match entry.read()? {
        (Data::Ruling(ruling), _) => Ok(Some(RulingAnswer::of(case, &ruling))),
        _ => Ok(None),
    }
}

/// The last ruling, or null
///
/// What the last court has decided, and whether it can be appealed.
#[utoipa::path(get, path = "/contracts/{id}/ruling", params(Id), responses((status = 200, body = Option<RulingAnswer>)))]
pub(super) async fn ruling(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let case = readable(&app, &id, request).await?;
    json(&last_ruling(&app, &case).await?)
}

/// Where a review stands
///
/// How long the principal may still look at a fix, in autonomous mode.
#[utoipa::path(get, path = "/contracts/{id}/review_status", params(Id), responses((status = 200, body = ReviewStatus)))]
pub(super) async fn review_status(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let case = readable(&app, &id, request).await?;
    let until = case.review_expires_at();
    json(&ReviewStatus {
        status: case.state(),
        review_expires_at: until.map(Seconds),
        expires_at: until.map(Seconds),
        remaining: Seconds(until.unwrap_or_default().minus(app.engine.now())),
        closing_at: case.closing_at().map(Seconds),
    })
}

/// Deposits, planned and done payouts
///
/// Accounts and payments with their block hashes. An account that waits for a deposit is shown to its depositor.
#[utoipa::path(get, path = "/contracts/{id}/escrow", params(Id), responses((status = 200, body = EscrowAnswer)))]
pub(super) async fn escrow(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let (case, who) = readable_by(&app, &id, request).await?;
    let bond = zx1_market::money::inclusive_bond(&case.terms().fees, case.contract().bounty)?;
    let mut answer = EscrowAnswer { inclusive_bond: bond.into(), accounts: Vec::new(), payments: Vec::new() };
    let name = case.id().to_string();
    let statement = match app.engine.desk() {
        Some(desk) => desk.statement(&name).await?,
        None => None,
    };
    let principal = case.principal().to_string();
    let side = |depositor: &str| if depositor == principal { Side::Principal } else { Side::Agent };
    // Whoever knows an account before it is paid could send it something first (decision E19).
    let mut waiting = app.engine.store().deposits(&name).await?;
    waiting.retain(|row| row.status == DepositStatus::Waiting.as_str());
    let (own, hidden): (Vec<_>, Vec<_>) =
        waiting.into_iter().partition(|row| who.is_some_and(|who| who.to_string() == row.party));
    let is_hidden = |address: &Address| hidden.iter().any(|row| row.address == address.to_string());
    if let Some(statement) = &statement {
        for account in statement.accounts.iter().filter(|account| !is_hidden(&account.address)) {
            let received = Raw::checked_sum(account.deposits.iter().map(|d| d.amount)).unwrap_or(Raw::MAX);
            answer.accounts.push(EscrowAccount {
                side: side(&account.key.depositor),
                round: account.key.round,
                address: account.address,
                expected: account.expected.unwrap_or_default().into(),
                received: received.into(),
                confirmed: account.funded,
            });
        }
        for plan in &statement.plans {
            for leg in &plan.legs {
                let Some(to) = leg.to.filter(|_| !is_hidden(&leg.account)) else { continue };
                answer.payments.push(EscrowPayment {
                    kind: plan.kind.clone(),
                    from: leg.account,
                    to,
                    amount: leg.amount.into(),
                    hash: leg.block.map(|hash| hash.to_string()),
                    confirmed: leg.state == "confirmed",
                });
            }
        }
    }
    // The escrow knows nothing of an account that nobody has paid.
    for row in own {
        let Ok(address) = row.address.parse() else { continue };
        if !answer.accounts.iter().any(|account| account.address == address) {
            answer.accounts.push(EscrowAccount {
                side: side(&row.party),
                round: u32::try_from(row.round).unwrap_or_default(),
                address,
                expected: row.amount.parse().unwrap_or(bond).into(),
                received: Raw::ZERO.into(),
                confirmed: false,
            });
        }
    }
    json(&answer)
}

/// Parameters of the list of a judge's tasks.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
struct TasksQuery {
    /// maximum number of tasks; more than 200 count as 200
    #[param(minimum = 1, maximum = 9223372036854775807i64, default = 200)]
    limit: Option<u64>,
    /// `next` of the page before
    cursor: Option<String>,
}

/// What waits for a judge, the most urgent first
///
/// Disputed contracts whose re-execution or ruling is due from the signer.
#[utoipa::path(get, path = "/judge/tasks", params(TasksQuery), responses((status = 200, body = TasksAnswer)))]
pub(super) async fn judge_tasks(State(app): State<App>, request: Request) -> Result<Response> {
    let (parts, _) = request.into_parts();
    let who = reader(&app, &parts)?.ok_or(Error::NotForYou)?;
    if !app.engine.terms().is_judge(&who) {
        return Err(zx1_market::Refusal::of(zx1_market::Reason::NotAJudge).into());
    }
    let query = query(parts.uri.query());
    let limit = limit(&query, MAX_LIST)?;
    let after = after(&query)?.unwrap_or((i64::MIN, String::new()));
    app.engine.run_due().await?;
    let rows = app.engine.store().tasks(&who.to_string(), after, limit).await?;
    let is_full = i64::try_from(rows.len()).is_ok_and(|count| count == limit);
    let next = rows.last().filter(|_| is_full).map(|row| cursor(&(row.deadline, row.contract_id.clone())));
    let corrupt = |e: serde_json::Error| StoreError::Corrupt(format!("a judge's task: {e}"));
    let tasks: Vec<JudgeTask> =
        rows.iter().map(|row| serde_json::from_str(&row.body).map_err(corrupt)).collect::<Result<_, _>>()?;
    json(&TasksAnswer { tasks, next })
}

/// The server's key
///
/// The key that signs the server's entries, in both forms.
#[utoipa::path(get, path = "/server_pubkey", responses((status = 200, body = ServerKeyAnswer)))]
pub(super) async fn server_pubkey(State(app): State<App>) -> Result<Response> {
    let server = app.engine.terms().server;
    json(&ServerKeyAnswer { pubkey: server.hex(), fix_id: server })
}

fn counts(app: &App) -> Stats {
    let mut stats = Stats::default();
    for (state, count) in app.engine.counts() {
        match state {
            // Unpaid contracts are listed nowhere.
            Stand::Unfunded => continue,
            Stand::Open => stats.open += count,
            Stand::Fulfilled => stats.fulfilled += count,
            Stand::Canceled => stats.canceled += count,
            Stand::Resolved => stats.resolved += count,
            Stand::Voided => stats.voided += count,
            _ => stats.active += count,
        }
        stats.total += count;
    }
    stats
}

/// Prices and windows
///
/// The terms under which contracts are opened here, and counts.
#[utoipa::path(get, path = "/platform_info", responses((status = 200, body = PlatformInfo)))]
pub(super) async fn platform_info(State(app): State<App>) -> Result<Response> {
    json(&PlatformInfo::new(app.engine.terms(), counts(&app)))
}

/// Counts by state
///
/// How many contracts there are, without unpaid ones.
#[utoipa::path(get, path = "/stats", responses((status = 200, body = Stats)))]
pub(super) async fn stats(State(app): State<App>) -> Result<Response> {
    json(&counts(&app))
}

/// Where a party's reputation stands, and how often its fixes failed outside of the sandbox
///
/// Counts of this server only; scores stand on the ledgers.
#[utoipa::path(get, path = "/reputation/{pubkey}", params(("pubkey" = String, Path, description = "64 hexadecimal digits, with or without fix_")), responses((status = 200, body = ReputationAnswer)))]
pub(super) async fn reputation(State(app): State<App>, Path(pubkey): Path<String>) -> Result<Response> {
    let hex = pubkey.strip_prefix("fix_").unwrap_or(&pubkey);
    let party = PartyId::from_hex(hex)?;
    let (mut paid, mut free) = (PartyCounts::default(), PartyCounts::default());
    for row in app.engine.store().fix_counts(&party.to_string()).await? {
        let count = |n: i64| u64::try_from(n).unwrap_or_default();
        let counts = FixCounts { fixes: count(row.fixes), failed_outside: count(row.failed_outside) };
        let of = if row.paid == 1 { &mut paid } else { &mut free };
        match Side::from_word(&row.side) {
            Some(Side::Agent) => of.agent = counts,
            Some(Side::Principal) => of.principal = counts,
            None => return Err(StoreError::Corrupt(format!("counts of the side `{}`", row.side)).into()),
        }
    }
    json(&ReputationAnswer {
        paid: Some(paid),
        free: Some(free),
        pubkey: party.hex(),
        note: "Reputation stands on the ledgers: look up the party's Nano account, and its behaviour \
               batches with `zx1 reputation`."
            .to_owned(),
    })
}

/// The process answers
///
/// For a supervisor: nothing behind it is asked.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = StatusAnswer)))]
pub(super) async fn healthz() -> Response {
    text(StatusCode::OK, "application/json", "{\"status\":\"ok\"}")
}

/// Parameters of /readyz.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
struct ReadyQuery {
    /// `paid`: also 503 while no paid contract can begin
    #[param(schema_with = kinds)]
    r#for: Option<String>,
}

/// The store answers and the server is not stopping
///
/// For a load balancer; `free` and `paid` say what can begin now.
#[utoipa::path(get, path = "/readyz", params(ReadyQuery), responses((status = 200, body = ReadyAnswer), (status = 503, body = ReadyAnswer)))]
pub(super) async fn readyz(State(app): State<App>, request: Request) -> Result<Response> {
    let free = if app.stopping.is_cancelled() {
        Err("stopping")
    } else {
        app.engine.store().ping().await.map_err(|_| "no database")
    };
    let paid = free.is_ok() && app.engine.desk().is_some() && app.engine.ledger_away().is_none();
    let held = app.engine.desk().is_some() && !paid;
    let status = match free {
        Err(word) => word,
        Ok(()) if held => "held",
        Ok(()) => "ready",
    };
    let query = query(request.uri().query());
    let wanted = match parameter(&query, "for") {
        Some("paid") => paid,
        None | Some("free") => free.is_ok(),
        Some(_) => return Err(Error::query("for", format!("one of {}", KINDS.join(", ")))),
    };
    let code = if wanted { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json_with(code, &ReadyAnswer { status: status.to_owned(), free: free.is_ok(), paid })
}

/// Metrics in the text format of Prometheus, or in OpenMetrics where `Accept` asks for it
///
/// For Prometheus; 404 where metrics have an address of their own.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn metrics(State(app): State<App>, headers: HeaderMap) -> Result<Response> {
    if app.metrics_elsewhere { Err(Error::NoPage) } else { Ok(app.engine.figures(&headers)) }
}
