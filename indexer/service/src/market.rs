//! The markets' contracts: mirrored, and each transcript is run through the rules before it is shown. What a
//! market shows to strangers is shown here (decision E14), and nothing else.

use crate::error::{Error, Result};
use crate::index::{Index, now_ms};
use crate::merge::stream_row;
use crate::nano::{Held, Node};
use crate::reputation;
use crate::store::{Commit, ContractRow, Find, StreamRow, signed};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;
use zx1_market::case::{Report, Transcript, rebuild, replay};
use zx1_market::chain::Side;
use zx1_market::counts::FixCounts;
use zx1_market::wire::{ContractView, ListAnswer, ReputationAnswer};
use zx1_market::{EntryType, PartyId, State, bridge};
use zx1_net::{Endpoint, Fetcher, Limit, Options, Problem};
use zx1_protocol::ids::{AgentId, ConversationId};

/// Maximum size of a market server's answer, in bytes.
const MAX_ANSWER: usize = 16 << 20;
/// Number of contracts that are asked for in one page. A market server may return fewer.
const PAGE: usize = 200;
/// Pages before a market is not believed to end: a million contracts.
const MOST_PAGES: usize = 5_000;
/// A look asks for what has changed since the last one, and for what changed so long before, in milliseconds:
/// a commit of the market may become visible after a later one.
const SLACK_MS: i64 = 60_000;
/// After this time a market is read from the beginning to the end again, whatever it says has changed.
const WHOLE: Duration = Duration::from_secs(600);
/// Contracts whose escrow accounts are asked for at once.
const AT_ONCE: usize = 8;

/// The job that polls the configured market servers and stores their contracts.
#[derive(Debug, Clone)]
pub struct Markets {
    index: Arc<Index>,
    /// By the name that rows have them under: the address as the configuration writes it, without its last
    /// slash.
    markets: Arc<[(String, Fetcher)]>,
    node: Option<Node>,
    /// How far each market was read.
    seen: Arc<Mutex<HashMap<String, Seen>>>,
}

/// How far a market was read by this process.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// The latest change that was seen, Unix milliseconds by the market's clock.
    newest: Option<i64>,
    /// When it was read to its end last.
    whole: Option<Instant>,
    /// Contracts with an escrow account that may still hold something.
    funded: BTreeSet<String>,
}

impl Markets {
    /// Of this index; escrow accounts are read through the node.
    ///
    /// # Errors
    ///
    /// 9610
    pub fn new(index: Arc<Index>, node: Option<Node>) -> Result<Self> {
        let mut markets = Vec::new();
        for market in &index.config.markets {
            let wrong = |why: String| Error::Config(format!("The market {market} cannot be asked ({why})."));
            let endpoint = Endpoint::parse(market).map_err(|error| wrong(error.to_string()))?;
            let options = Options {
                user_agent: concat!("zx1-indexer/", env!("CARGO_PKG_VERSION")),
                ..Options::default()
            };
            let fetcher = Fetcher::new(endpoint, options).map_err(|error| wrong(error.to_string()))?;
            markets.push((market.trim_end_matches('/').to_owned(), fetcher));
        }
        Ok(Self { index, markets: markets.into(), node, seen: Arc::default() })
    }

    /// Polls the market servers until cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        let pause = Duration::from_secs(self.index.config.market_secs.max(1));
        loop {
            self.look().await;
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Polls all market servers once.
    pub async fn look(&self) {
        let mut standing = Vec::new();
        for (market, _) in self.markets.iter() {
            let reachable = match self.mirror(market).await {
                Ok(()) => true,
                Err(error) => {
                    tracing::warn!(code = error.code(), %error, "a market could not be read");
                    false
                }
            };
            let count = self.index.store.contract_count(market).await.unwrap_or(0);
            standing.push((market.to_owned(), reachable, count));
        }
        self.index.status.set(|it| it.markets = standing);
    }

    async fn ask(&self, market: &str, path: &str) -> Result<Option<String>> {
        let bad = |detail: String| Error::Market { url: market.to_owned(), detail };
        let (_, fetcher) = self
            .markets
            .iter()
            .find(|(name, _)| name == market)
            .ok_or_else(|| bad("it is not in the configuration".to_owned()))?;
        let answer = fetcher.fetch(fetcher.get(path), Limit::Whole(MAX_ANSWER)).await;
        let answer = answer.map_err(|error| bad(error.to_string()))?;
        match answer.status.as_u16() {
            200 => {}
            // Private, or gone.
            403 | 404 => return Ok(None),
            status => {
                let why = Problem::read(&answer.body).sentence_or("without a reason");
                return Err(bad(format!("it answers {status}: {why}")));
            }
        }
        String::from_utf8(answer.body).map(Some).map_err(|_| bad("its answer is not UTF-8".to_owned()))
    }

    async fn mirror(&self, market: &str) -> Result<()> {
        let mut seen = self.seen.lock().await.get(market).cloned();
        if seen.is_none() {
            // What an earlier process left: balances that it could not see to the end.
            seen = Some(Seen { funded: self.funded(market).await?, ..Seen::default() });
        }
        let mut seen = seen.unwrap_or_default();
        let read = self.read(market, &mut seen).await;
        let balances = self.balances(market, &mut seen).await;
        self.seen.lock().await.insert(market.to_owned(), seen);
        read.and(balances)
    }

    /// Reads the market's list page by page to its end: all of it from time to time, else what has changed.
    async fn read(&self, market: &str, seen: &mut Seen) -> Result<()> {
        let bad = |detail: String| Error::Market { url: market.to_owned(), detail };
        let since = match (seen.newest, seen.whole) {
            (Some(newest), Some(whole)) if whole.elapsed() < WHOLE => Some(newest.saturating_sub(SLACK_MS)),
            _ => None,
        };
        let began = Instant::now();
        let (mut cursor, mut newest): (Option<String>, _) = (None, seen.newest);
        let mut trouble = None;
        for page in 0.. {
            if page == MOST_PAGES {
                return Err(bad("its list does not end".to_owned()));
            }
            let mut path = format!("/contracts?limit={PAGE}");
            if let Some(since) = since {
                path.push_str(&format!("&updated_since={since}"));
            }
            if let Some(cursor) = &cursor {
                path.push_str(&format!("&cursor={cursor}"));
            }
            let text = self.ask(market, &path).await?.unwrap_or_default();
            let list: ListAnswer = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
            newest = newest.max(list.contracts.iter().map(|it| signed(it.updated_at.0.0)).max());
            // A contract that cannot be read must not hide those after it.
            trouble = self.take(market, list.contracts, seen).await?.or(trouble);
            let plain = |it: &String| it.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
            match list.next.filter(plain) {
                Some(next) if Some(&next) != cursor.as_ref() => cursor = Some(next),
                _ => break,
            }
        }
        if let Some(error) = trouble {
            return Err(error);
        }
        seen.newest = newest;
        if since.is_none() {
            seen.whole = Some(began);
        }
        Ok(())
    }

    /// Takes one page. Answers what was wrong with one of its contracts.
    async fn take(&self, market: &str, listed: Vec<ContractView>, seen: &mut Seen) -> Result<Option<Error>> {
        let bad = |detail: String| Error::Market { url: market.to_owned(), detail };
        let ids = listed.iter().map(|it| it.id.to_string());
        let known = self.index.store.contracts(Find::any("id", ids).and("market", "=", market)).await?;
        let known: HashMap<String, ContractRow> =
            known.into_iter().map(|row| (row.id.clone(), row)).collect();
        let (mut affected, mut trouble): (BTreeSet<AgentId>, _) = (BTreeSet::new(), None);
        let mut standings = BTreeMap::new();
        for listed in listed {
            let id = listed.id.to_string();
            let updated = signed(listed.updated_at.0.0);
            let before = known.get(&id);
            if before.is_some_and(|row| row.updated_at == updated && row.state == listed.status.as_str()) {
                continue;
            }
            let whole = match self.ask(market, &format!("/contracts/{id}")).await {
                Ok(whole) => whole,
                Err(error) => {
                    trouble = Some(error);
                    break;
                }
            };
            let (row, checked, view) = match &whole {
                Some(text) => match serde_json::from_str::<ContractView>(text) {
                    Ok(view) if view.id == listed.id => {
                        let checked = verify(text.clone()).await;
                        let fixes = self.fixes(market, &view, &mut standings).await;
                        (self.row(market, &view, checked.as_ref(), text, before, fixes).await, checked, view)
                    }
                    _ => {
                        trouble = Some(bad(format!("the contract {id} has not the form of one")));
                        continue;
                    }
                },
                // Only what the list shows.
                None => {
                    let text = serde_json::to_string(&listed).map_err(|error| bad(error.to_string()))?;
                    let fixes = self.fixes(market, &listed, &mut standings).await;
                    (self.row(market, &listed, None, &text, before, fixes).await, None, listed)
                }
            };
            let holds = checked.as_ref().is_some_and(|it| it.report.valid);
            // Before the row: a contract that is here as it stands is not looked at again.
            if holds && let Err(error) = self.hear(&view).await {
                trouble = Some(error);
                continue;
            }
            let stream = if holds { told(market, &view) } else { Vec::new() };
            if row.settled == 1 && before.is_none_or(|before| before.settled == 0) {
                affected.extend(self.rated_in(&row).await?);
            }
            if may_hold(&row) {
                seen.funded.insert(id);
            }
            {
                let _writer = self.index.writer().await;
                let commit = Commit { contracts: vec![row], stream, ..Commit::default() };
                self.index.write_rows(commit).await?;
            }
        }
        reputation::refresh(&self.index, &affected, "binding", &now_ms().to_string()).await?;
        Ok(trouble)
    }

    /// What the market has counted of both parties. One that does not say it keeps no contract from being shown.
    async fn fixes(
        &self,
        market: &str,
        view: &ContractView,
        known: &mut BTreeMap<PartyId, Option<ReputationAnswer>>,
    ) -> [Option<FixCounts>; 2] {
        let is_free = view.judge_pubkey.is_empty();
        let mut found = [None; 2];
        let sides = [(Side::Principal, Some(view.principal_pubkey)), (Side::Agent, view.agent_pubkey)];
        for (place, (side, party)) in found.iter_mut().zip(sides) {
            let Some(party) = party else { continue };
            let standing = match known.get(&party) {
                Some(standing) => standing,
                None => {
                    let text = self.ask(market, &format!("/reputation/{}", party.hex())).await.ok().flatten();
                    let answer = text.and_then(|text| serde_json::from_str(&text).ok());
                    &*known.entry(party).or_insert(answer)
                }
            };
            *place = standing.as_ref().and_then(|standing| standing.fixes(side, is_free));
        }
        found
    }

    /// The contracts of a market whose escrow accounts may hold something.
    async fn funded(&self, market: &str) -> Result<BTreeSet<String>> {
        let mut funded = BTreeSet::new();
        let mut find = Find::by("market", market).order(&["id"]).limit(500);
        loop {
            let rows = self.index.store.contracts(find.clone()).await?;
            let Some(last) = rows.last() else { return Ok(funded) };
            find.after = vec![last.id.clone().into()];
            funded.extend(rows.iter().filter(|row| may_hold(row)).map(|row| row.id.clone()));
        }
    }

    /// Asks for escrow accounts again: what they hold moves without an entry of the contract, and after its
    /// end.
    async fn balances(&self, market: &str, seen: &mut Seen) -> Result<()> {
        let Some(node) = &self.node else { return Ok(()) };
        let ids: Vec<String> = seen.funded.iter().cloned().collect();
        for page in ids.chunks(500) {
            let find = || Find::any("id", page.iter().cloned()).and("market", "=", market);
            let rows = self.index.store.contracts(find()).await?;
            let accounts: BTreeSet<String> = rows.iter().flat_map(|row| accounts_of(&row.summary)).collect();
            let held: BTreeMap<String, Held> = stream::iter(accounts)
                .map(|account| async move {
                    let held = node.held(&account).await?;
                    Some((account, held))
                })
                .buffer_unordered(AT_ONCE)
                .filter_map(std::future::ready)
                .collect()
                .await;
            let _writer = self.index.writer().await;
            let mut contracts = Vec::new();
            for mut row in self.index.store.contracts(find()).await? {
                let accounts = accounts_of(&row.summary);
                let Ok(mut summary) = serde_json::from_str::<Value>(&row.summary) else { continue };
                let known = escrow_of(&summary);
                let now: Vec<Value> = accounts
                    .into_iter()
                    .map(|account| {
                        let before = known.iter().find(|it| it["account"] == *account);
                        escrow(&account, held.get(&account), before)
                    })
                    .collect();
                if now != known {
                    summary["escrow"] = Value::from(now);
                    row.summary = summary.to_string();
                    contracts.push(row.clone());
                }
                if !may_hold(&row) {
                    seen.funded.remove(&row.id);
                }
            }
            if !contracts.is_empty() {
                self.index.write_rows(Commit { contracts, ..Commit::default() }).await?;
            }
        }
        Ok(())
    }

    /// Ratings that parties have chained after the end (decision G1): envelopes as from anywhere else. One that
    /// is refused is none; an error says that it could not be looked at.
    async fn hear(&self, view: &ContractView) -> Result<()> {
        for entry in view.transcript.iter().filter(|entry| entry.kind() == EntryType::Feedback) {
            let data = entry_data(entry);
            let envelope =
                data.get("envelope").and_then(Value::as_str).and_then(|text| hex::decode(text).ok());
            let Some(envelope) = envelope else { continue };
            match crate::ratings::put(&self.index, &envelope).await {
                Ok(_) => {}
                Err(error @ Error::EnvelopeRefused(_)) => {
                    tracing::debug!(code = error.code(), %error, contract = %view.id, "a rating is not taken");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Agents with ratings whose task this contract is.
    async fn rated_in(&self, row: &ContractRow) -> Result<Vec<AgentId>> {
        let Some(conversation) = row.conversation else { return Ok(Vec::new()) };
        let find = || Find::by("conversation", conversation);
        let mut agents: Vec<AgentId> =
            self.index.store.envelopes(find()).await?.iter().map(|it| it.target).collect();
        agents.extend(self.index.store.ratings(find()).await?.iter().map(|it| it.agent));
        Ok(agents)
    }

    async fn row(
        &self,
        market: &str,
        view: &ContractView,
        checked: Option<&Checked>,
        text: &str,
        before: Option<&ContractRow>,
        [principal_fixes, agent_fixes]: [Option<FixCounts>; 2],
    ) -> ContractRow {
        let server = PartyId::from_hex(&view.server_pubkey).ok();
        let conversation = server.map(|server| ConversationId(bridge::conversation_id(&server, &view.id)));
        let report = checked.map(|it| &it.report);
        // While somebody works on it, strangers see no transcript: the accounts that were seen before remain.
        let mut accounts = before.map(|row| accounts_of(&row.summary)).unwrap_or_default();
        for entry in &view.transcript {
            if !matches!(entry.kind(), EntryType::Opened | EntryType::Bonded) {
                continue;
            }
            let data = entry_data(entry);
            let deposit = data.get("deposit").unwrap_or(&data);
            let account = deposit.get("account").and_then(Value::as_str).map(str::to_owned);
            accounts.extend(account.filter(|account| !accounts.contains(account)));
        }
        let mut escrows = Vec::new();
        for account in accounts {
            let held = match &self.node {
                Some(node) => node.held(&account).await,
                None => None,
            };
            escrows.push(escrow(&account, held.as_ref(), None));
        }
        // The rules say it where the whole transcript is here; else the market's word on two of the windows.
        let deadline = match checked.filter(|it| it.report.valid && it.report.chain_head == view.chain_head) {
            Some(checked) => checked.deadline,
            None => view.closing_at.or(view.review_expires_at).map(|at| at.0.0),
        };
        let contract: Value = serde_json::from_str(&view.contract.to_string()).unwrap_or_default();
        let bounty = contract.get("escrow").and_then(|escrow| escrow.get("bounty")).cloned();
        let bounty_text = bounty.as_ref().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        let raw = bounty_text.as_deref().and_then(|text| zx1_market::Raw::from_xno(text).ok());
        let task = view.briefing.lines().next().unwrap_or_default();
        let (created, updated) = (signed(view.created_at.0.0), signed(view.updated_at.0.0));
        let settled = report.is_some_and(|it| it.valid) && view.status.is_terminal();
        let summary = Summary {
            id: view.id.to_string(),
            market: market.to_owned(),
            server: server.map(|server| server.to_string()),
            state: view.status.as_str().to_owned(),
            principal: view.principal_pubkey.to_string(),
            agent: view.agent_pubkey.map(|agent| agent.to_string()),
            principal_fixes,
            agent_fixes,
            bounty: bounty_text,
            bounty_raw: raw.map(|raw| raw.get().to_string()),
            created_at: created,
            updated_at: updated,
            closing_at: view.closing_at.map(|at| at.0.0),
            review_expires_at: view.review_expires_at.map(|at| at.0.0),
            deadline,
            chain_head: Some(view.chain_head.clone()).filter(|head| !head.is_empty()),
            entries: view.transcript.len(),
            verified: report.map(|report| report.valid),
            verify_error: report.and_then(|report| report.error.clone()),
            conversation: conversation.map(|it| it.to_string()),
            task: task.chars().take(200).collect(),
            escrow: escrows,
        };
        ContractRow {
            market: market.to_owned(),
            id: view.id.to_string(),
            state: view.status.as_str().to_owned(),
            principal: view.principal_pubkey.to_string(),
            agent: view.agent_pubkey.map(|agent| agent.to_string()),
            created_at: created,
            updated_at: updated,
            summary: json!(summary).to_string(),
            view: text.to_owned(),
            conversation,
            settled: i64::from(settled),
        }
    }
}

/// A contract as it is stored and shown. Times are Unix milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct Summary {
    id: String,
    /// the URL of the market
    market: String,
    server: Option<String>,
    state: String,
    principal: String,
    agent: Option<String>,
    /// fixes that the principal has received at this market in contracts of this kind, free or paid, when this one
    /// changed last; null when the market does not count them
    #[schema(value_type = Option<Fixes>)]
    principal_fixes: Option<FixCounts>,
    /// fixes that the agent has proposed, likewise
    #[schema(value_type = Option<Fixes>)]
    agent_fixes: Option<FixCounts>,
    /// the bounty in XNO, as a decimal number
    bounty: Option<String>,
    bounty_raw: Option<String>,
    created_at: i64,
    updated_at: i64,
    closing_at: Option<u64>,
    review_expires_at: Option<u64>,
    /// when the rules act next
    deadline: Option<u64>,
    chain_head: Option<String>,
    entries: usize,
    /// whether the transcript holds; null while strangers see none
    verified: Option<bool>,
    verify_error: Option<String>,
    conversation: Option<String>,
    task: String,
    #[schema(value_type = Vec<EscrowAccount>)]
    escrow: Vec<Value>,
}

/// A party's fixes, as a market counts them.
#[derive(Debug, Serialize, ToSchema)]
struct Fixes {
    fixes: u64,
    /// of these: passed in the principal's sandbox and failed on its machine
    failed_outside: u64,
}

/// An escrow account as the Nano node shows it.
#[derive(Debug, Serialize, ToSchema)]
struct EscrowAccount {
    account: String,
    balance_raw: Option<String>,
    receivable_raw: Option<String>,
}

/// What a transcript proves, and when the rules act next.
#[derive(Debug)]
struct Checked {
    report: Report,
    /// Unix milliseconds; none after the end.
    deadline: Option<u64>,
}

/// Runs a transcript through the rules; none when there is none to run.
async fn verify(text: String) -> Option<Checked> {
    let work = move || {
        let transcript = Transcript::parse(text.as_bytes()).ok()?;
        if transcript.entries.is_empty() {
            return None;
        }
        let report = replay(&transcript);
        let case = if report.valid { rebuild(&transcript).ok() } else { None };
        let deadline = case.and_then(|case| case.next_deadline()).map(|at| at.0);
        Some(Checked { report, deadline })
    };
    tokio::task::spawn_blocking(work).await.ok().flatten()
}

/// An escrow account as it is shown; where the node does not answer, as it was `before`.
fn escrow(account: &str, held: Option<&Held>, before: Option<&Value>) -> Value {
    match (held, before) {
        (None, Some(before)) => before.clone(),
        (held, _) => json!(EscrowAccount {
            account: account.to_owned(),
            balance_raw: held.map(|held| held.balance.clone()),
            receivable_raw: held.map(|held| held.receivable.clone()),
        }),
    }
}

fn escrow_of(summary: &Value) -> Vec<Value> {
    summary.get("escrow").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The escrow accounts that a row shows.
fn accounts_of(summary: &str) -> Vec<String> {
    let summary: Value = serde_json::from_str(summary).unwrap_or_default();
    let account = |it: &Value| it.get("account").and_then(Value::as_str).map(str::to_owned);
    escrow_of(&summary).iter().filter_map(account).collect()
}

/// Whether an escrow account of a contract may hold something, or may get it: not when it has ended and all of
/// them are known to be empty.
fn may_hold(row: &ContractRow) -> bool {
    let summary: Value = serde_json::from_str(&row.summary).unwrap_or_default();
    let accounts = escrow_of(&summary);
    let has_ended = row.state.parse::<State>().is_ok_and(State::is_terminal);
    let is_empty = |it: &Value| it["balance_raw"] == "0" && it["receivable_raw"] == "0";
    !(accounts.is_empty() || has_ended && accounts.iter().all(is_empty))
}

fn entry_data(entry: &zx1_market::Entry) -> Value {
    let value: Value = serde_json::from_str(&entry.to_json().to_string()).unwrap_or_default();
    value.get("data").cloned().unwrap_or_default()
}

/// The stream events that follow from a transcript that verifies.
fn told(market: &str, view: &ContractView) -> Vec<StreamRow> {
    let mut told = Vec::new();
    for (seq, entry) in view.transcript.iter().enumerate() {
        let kind = match entry.kind() {
            EntryType::Ruling => "verdict_issued",
            EntryType::DisputeFiled | EntryType::Appeal => "dispute_raised",
            _ => continue,
        };
        let data = entry_data(entry);
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let fields = json!({
            "source": "market",
            "contract": view.id.to_string(),
            "market": market,
            "court": text("court"),
            "ruling": text("outcome").or_else(|| text("ruling")),
            "epoch": null,
            "count": 1,
        });
        let origin = format!("market/{market}/{}/{seq}", view.id);
        told.push(stream_row(kind, origin, None, None, now_ms(), fields));
    }
    told
}

#[cfg(test)]
mod tests;
