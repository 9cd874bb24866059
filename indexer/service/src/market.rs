//! The markets' contracts: mirrored, and each transcript is run through the rules before it is shown. What a
//! market shows to strangers is shown here (decision E14), and nothing else.

mod news;
pub mod payments;
mod summary;

use crate::error::{Error, Result};
use crate::index::{Index, now_ms};
use crate::nano::{Held, Node};
use crate::party;
use crate::reputation;
use crate::store::{AgentRow, Commit, ContractRow, Find, TraceRow, signed, storable};
use futures_util::{StreamExt, stream};
use payments::Payment;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use zx1_market::case::{Report, Transcript, rebuild, replay};
use zx1_market::chain::Side;
use zx1_market::counts::FixCounts;
use zx1_market::money::{Outcome, Settlement};
use zx1_market::wire::{ContractView, EscrowAnswer, ListAnswer, ReputationAnswer};
use zx1_market::{EntryType, PartyId, State, bridge};
use zx1_net::{Endpoint, Fetcher, Limit, Options, Problem};
use zx1_protocol::ids::{AgentId, ConversationId};

use summary::EscrowAccount;
pub use summary::Summary;

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
            let mut row = row;
            self.pay(market, &mut row, checked.as_ref()).await;
            let known = self.known_as(&view).await?;
            let stream = news::of(market, &view, checked.as_ref(), &row, &known);
            if row.settled == 1 && before.is_none_or(|before| before.settled == 0) {
                affected.extend(self.rated_in(&row).await?);
            }
            if is_moving(&row, self.node.is_some()) {
                seen.funded.insert(id);
            }
            {
                let _writer = self.index.writer().await;
                let traces = traces(&row);
                let commit = Commit { contracts: vec![row], traces, stream, ..Commit::default() };
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
            funded.extend(
                rows.iter().filter(|row| is_moving(row, self.node.is_some())).map(|row| row.id.clone()),
            );
        }
    }

    /// Asks for escrow accounts and payments again: money moves without an entry of the contract, and after its
    /// end.
    async fn balances(&self, market: &str, seen: &mut Seen) -> Result<()> {
        let ids: Vec<String> = seen.funded.iter().cloned().collect();
        for page in ids.chunks(500) {
            let find = || Find::any("id", page.iter().cloned()).and("market", "=", market);
            let rows = self.index.store.contracts(find()).await?;
            let held = self.held(&rows).await;
            let mut paid = HashMap::new();
            for row in rows.iter().filter(|row| payments_of(&row.summary).iter().any(|it| !self.is_final(it)))
            {
                if let Some(payments) = self.payments(market, row, payments_of(&row.summary)).await {
                    paid.insert(row.id.clone(), payments);
                }
            }
            let parties = rows.iter().filter_map(|row| party::key_of(row.agent.as_deref()?));
            let known = party::agents(&*self.index.store, parties.collect()).await?;
            let _writer = self.index.writer().await;
            let (mut contracts, mut marks, mut stream) = (Vec::new(), Vec::new(), Vec::new());
            for mut row in self.index.store.contracts(find()).await? {
                let before = row.clone();
                let Ok(mut summary) = serde_json::from_str::<Value>(&row.summary) else { continue };
                let shown = escrow_of(&summary);
                let now: Vec<Value> = accounts_of(&row.summary)
                    .into_iter()
                    .map(|account| {
                        let before = shown.iter().find(|it| it["account"] == *account);
                        escrow(&account, held.get(&account), before)
                    })
                    .collect();
                if now != shown {
                    summary["escrow"] = Value::from(now);
                    row.summary = summary.to_string();
                }
                if let Some(payments) = paid.remove(&row.id) {
                    self.show(&mut row, &payments);
                }
                if row != before {
                    stream.extend(news::paid(&row, &known));
                    marks.extend(traces(&row));
                    contracts.push(row.clone());
                }
                if !is_moving(&row, self.node.is_some()) {
                    seen.funded.remove(&row.id);
                }
            }
            if !contracts.is_empty() {
                let commit = Commit { contracts, traces: marks, stream, ..Commit::default() };
                self.index.write_rows(commit).await?;
            }
        }
        Ok(())
    }

    /// What the escrow accounts of contracts hold, as far as the node answers.
    async fn held(&self, rows: &[ContractRow]) -> BTreeMap<String, Held> {
        let Some(node) = &self.node else { return BTreeMap::new() };
        let accounts: BTreeSet<String> = rows.iter().flat_map(|row| accounts_of(&row.summary)).collect();
        stream::iter(accounts)
            .map(|account| async move {
                let held = node.held(&account).await?;
                Some((account, held))
            })
            .buffer_unordered(AT_ONCE)
            .filter_map(std::future::ready)
            .collect()
            .await
    }

    fn is_final(&self, payment: &Payment) -> bool {
        payment.is_final(self.node.is_some())
    }

    /// The payments of a contract as they stand now; `None` when the market does not say.
    async fn payments(&self, market: &str, row: &ContractRow, ordered: Vec<Payment>) -> Option<Vec<Payment>> {
        let text = self.ask(market, &format!("/contracts/{}/escrow", row.id)).await.ok().flatten()?;
        let told: EscrowAnswer = serde_json::from_str(&text).ok()?;
        let mut payments = payments::matched(&ordered, &told);
        payments::check(&mut payments, &payments_of(&row.summary), self.node.as_ref()).await;
        Some(payments)
    }

    /// Takes what a contract's end orders into its row, and what is paid of it.
    async fn pay(&self, market: &str, row: &mut ContractRow, checked: Option<&Checked>) {
        let Some(checked) = checked.filter(|it| it.report.valid) else { return };
        let ordered = payments::ordered(&checked.report.settlements);
        if ordered.is_empty() {
            return;
        }
        let payments = self.payments(market, row, ordered.clone()).await.unwrap_or(ordered);
        self.show(row, &payments);
    }

    fn show(&self, row: &mut ContractRow, payments: &[Payment]) {
        let Ok(mut summary) = serde_json::from_str::<Value>(&row.summary) else { return };
        row.earned = payments::earned(payments, self.node.is_some());
        summary["payments"] = json!(payments);
        summary["earned_raw"] = json!(row.earned);
        row.summary = summary.to_string();
    }

    /// The agents on chain that stand behind a contract's parties.
    async fn known_as(&self, view: &ContractView) -> Result<HashMap<[u8; 32], AgentRow>> {
        let parties = std::iter::once(view.principal_pubkey).chain(view.agent_pubkey);
        let parties = parties.map(|party| *party.as_bytes()).collect();
        Ok(party::agents(&*self.index.store, parties).await?)
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
        let facts = checked.map(|it| it.facts).unwrap_or_default();
        let success = facts.success.filter(|_| settled && view.agent_pubkey.is_some());
        let repaired = facts.repaired.filter(|_| success == Some(true));
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
            payments: Vec::new(),
            taken_at: facts.taken,
            repaired_at: repaired.map(|(at, _)| at),
            repaired_ms: repaired.map(|(_, took)| took),
            success,
            earned_raw: None,
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
            bounty: raw.filter(|raw| !raw.is_zero()).map(|raw| raw.get().to_string()),
            success: success.map(i64::from),
            repaired_ms: repaired.map(|(_, took)| took),
            earned: None,
            search: storable(&summary.task).to_lowercase(),
        }
    }
}

/// What a transcript proves, and when the rules act next.
#[derive(Debug)]
struct Checked {
    report: Report,
    /// Unix milliseconds; none after the end.
    deadline: Option<u64>,
    facts: Facts,
}

/// What a transcript that holds says of the work. Times are Unix milliseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Facts {
    /// When the last agent took it.
    taken: Option<u64>,
    /// When the accepted fix came, and how long after the opening.
    repaired: Option<(u64, i64)>,
    /// Whether the agent repaired it; none where nobody could say.
    success: Option<bool>,
}

impl Facts {
    fn of(transcript: &Transcript, report: &Report) -> Self {
        // By the server's clock where it is known, else by the author's.
        let times = transcript.received_at.iter().map(|at| at.0);
        let times = times.map(Some).chain(std::iter::repeat(None));
        let entries = || transcript.entries.iter().zip(times.clone());
        let at = |(entry, time): (&zx1_market::Entry, Option<u64>)| time.unwrap_or(entry.at().0);
        let last =
            |wanted: &[EntryType]| entries().filter(|(it, _)| wanted.contains(&it.kind())).last().map(at);
        let opened = entries().find(|(it, _)| it.kind() == EntryType::Opened).map(at);
        let fixed = last(&[EntryType::Fix]);
        let took = |(opened, fixed): (u64, u64)| (fixed, signed(fixed.saturating_sub(opened)));
        let ordered = report.settlements.last().map(|it| it.settlement);
        let success = match (report.state, ordered) {
            (Some(State::Fulfilled), _) => Some(true),
            (Some(State::Resolved), Some(Settlement::Ruling(outcome, _))) => match outcome {
                Outcome::Fulfilled | Outcome::EvilPrincipal => Some(true),
                Outcome::Canceled | Outcome::EvilAgent | Outcome::EvilBoth => Some(false),
                Outcome::Impossible => None,
            },
            (Some(State::Canceled), Some(Settlement::AttemptsExhausted | Settlement::LateByAgent)) => {
                Some(false)
            }
            // Nothing is paid in a free contract: it failed where the agent had tried.
            (Some(State::Canceled), None) => {
                last(&[EntryType::Fix, EntryType::AttemptTimeout]).map(|_| false)
            }
            _ => None,
        };
        let taken = last(&[EntryType::Bond, EntryType::Bonded]);
        Self { taken, repaired: opened.zip(fixed).map(took), success }
    }
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
        let facts = if report.valid { Facts::of(&transcript, &report) } else { Facts::default() };
        Some(Checked { report, deadline, facts })
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

/// The payments that a row shows.
fn payments_of(summary: &str) -> Vec<Payment> {
    let summary: Value = serde_json::from_str(summary).unwrap_or_default();
    let payments = summary.get("payments").cloned().unwrap_or_default();
    serde_json::from_value(payments).unwrap_or_default()
}

/// Where a contract's money appears on the Nano ledger.
fn traces(row: &ContractRow) -> Vec<TraceRow> {
    let mut marks: BTreeSet<String> = accounts_of(&row.summary).into_iter().collect();
    for payment in payments_of(&row.summary) {
        marks.extend([payment.from, payment.to].into_iter().chain(payment.hash));
    }
    let trace = |mark| TraceRow { mark, market: row.market.clone(), id: row.id.clone() };
    marks.into_iter().map(trace).collect()
}

/// Whether money of a contract may still move: not when it has ended, all of its escrow accounts are known to be
/// empty, and every payment has arrived.
fn is_moving(row: &ContractRow, has_node: bool) -> bool {
    let summary: Value = serde_json::from_str(&row.summary).unwrap_or_default();
    let accounts = escrow_of(&summary);
    let has_ended = row.state.parse::<State>().is_ok_and(State::is_terminal);
    let is_empty = |it: &Value| it["balance_raw"] == "0" && it["receivable_raw"] == "0";
    let payments = payments_of(&row.summary);
    let is_paid = payments.iter().all(|payment| payment.is_final(has_node));
    let is_empty = if has_node { accounts.iter().all(is_empty) } else { !payments.is_empty() };
    !(accounts.is_empty() || has_ended && is_empty && is_paid)
}

fn entry_data(entry: &zx1_market::Entry) -> Value {
    let value: Value = serde_json::from_str(&entry.to_json().to_string()).unwrap_or_default();
    value.get("data").cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests;
