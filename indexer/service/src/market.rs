//! The markets' contracts: mirrored, and each transcript is run through the rules before it is shown. What a
//! market shows to strangers is shown here (decision E14), and nothing else.

use crate::error::{Error, Result};
use crate::index::{Index, now_ms};
use crate::merge::{Key, stream_row};
use crate::nano::Node;
use crate::reputation;
use crate::store::{Commit, ContractRow, Find, StreamRow, fixed, signed};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use zx1_market::case::{Report, Transcript, replay};
use zx1_market::wire::{ContractView, ListAnswer};
use zx1_market::{EntryType, PartyId, bridge};

/// The longest answer of a market that is read.
const MAX_ANSWER: usize = 16 << 20;
/// Contracts of a market that are looked at in one go.
const MOST: usize = 500;

/// The job.
#[derive(Debug, Clone)]
pub struct Markets {
    index: Arc<Index>,
    http: reqwest::Client,
    node: Option<Node>,
}

impl Markets {
    /// Of this index; escrow accounts are read through the node.
    ///
    /// # Errors
    ///
    /// 9610
    pub fn new(index: Arc<Index>, node: Option<Node>) -> Result<Self> {
        let http = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_secs(30))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("zx1-indexer/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::Config(format!("Markets cannot be asked ({error}).")))?;
        Ok(Self { index, http, node })
    }

    /// Looks until cancelled.
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

    /// Asks all markets once.
    pub async fn look(&self) {
        let mut standing = Vec::new();
        for market in &self.index.config.markets {
            let market = market.trim_end_matches('/');
            let reachable = match self.mirror(market).await {
                Ok(()) => true,
                Err(error) => {
                    tracing::warn!(code = error.code(), %error, "a market could not be read");
                    false
                }
            };
            let rows = self.index.store.contracts(Find::by("market", market)).await;
            let count = rows.map_or(0, |rows| i64::try_from(rows.len()).unwrap_or(i64::MAX));
            standing.push((market.to_owned(), reachable, count));
        }
        self.index.status.set(|it| it.markets = standing);
    }

    async fn ask(&self, market: &str, path: &str) -> Result<Option<String>> {
        let bad = |detail: String| Error::Market { url: market.to_owned(), detail };
        let asked = self.http.get(format!("{market}{path}")).send().await;
        let mut answer = asked.map_err(|error| bad(error.without_url().to_string()))?;
        match answer.status().as_u16() {
            200 => {}
            // Private, or gone.
            403 | 404 => return Ok(None),
            status => return Err(bad(format!("it answers {status}"))),
        }
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(|error| bad(error.without_url().to_string()))? {
            if body.len().saturating_add(part.len()) > MAX_ANSWER {
                return Err(bad("its answer is too long".to_owned()));
            }
            body.extend_from_slice(&part);
        }
        String::from_utf8(body).map(Some).map_err(|_| bad("its answer is no UTF-8".to_owned()))
    }

    async fn mirror(&self, market: &str) -> Result<()> {
        let bad = |detail: String| Error::Market { url: market.to_owned(), detail };
        let text = self.ask(market, "/contracts?limit=500").await?.unwrap_or_default();
        let list: ListAnswer = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let known = self.index.store.contracts(Find::by("market", market)).await?;
        let known: HashMap<String, ContractRow> =
            known.into_iter().map(|row| (row.id.clone(), row)).collect();
        let mut affected: BTreeSet<Key> = BTreeSet::new();
        for listed in list.contracts.into_iter().take(MOST) {
            let id = listed.id.to_string();
            let updated = signed(listed.updated_at.0.0);
            let before = known.get(&id);
            if before.is_some_and(|row| row.updated_at == updated && row.state == listed.status.as_str()) {
                continue;
            }
            let whole = self.ask(market, &format!("/contracts/{id}")).await?;
            let (row, report, view) = match &whole {
                Some(text) => match serde_json::from_str::<ContractView>(text) {
                    Ok(view) if view.id == listed.id => {
                        let report = verify(text.clone()).await;
                        (self.row(market, &view, report.as_ref(), text).await, report, view)
                    }
                    _ => return Err(bad(format!("the contract {id} has not the form of one"))),
                },
                // Only what the list shows.
                None => {
                    let text = serde_json::to_string(&listed).map_err(|error| bad(error.to_string()))?;
                    (self.row(market, &listed, None, &text).await, None, listed)
                }
            };
            let holds = report.as_ref().is_some_and(|report| report.valid);
            let stream = if holds { told(market, &view) } else { Vec::new() };
            if row.settled == 1 && before.is_none_or(|before| before.settled == 0) {
                affected.extend(self.rated_in(&row).await?);
            }
            {
                let _writer = self.index.writer().await;
                let commit = Commit { contracts: vec![row], stream, ..Commit::default() };
                self.index.write_rows(commit).await?;
            }
            if holds {
                self.hear(&view).await;
            }
        }
        reputation::refresh(&self.index, &affected, "binding", &now_ms().to_string()).await
    }

    /// Ratings that parties have chained after the end (decision G1): envelopes as from anywhere else.
    async fn hear(&self, view: &ContractView) {
        for entry in view.transcript.iter().filter(|entry| entry.kind() == EntryType::Feedback) {
            let data = entry_data(entry);
            let envelope =
                data.get("envelope").and_then(Value::as_str).and_then(|text| hex::decode(text).ok());
            let Some(envelope) = envelope else { continue };
            if let Err(error) = crate::ratings::put(&self.index, &envelope).await {
                tracing::debug!(code = error.code(), %error, contract = %view.id, "a rating is not taken");
            }
        }
    }

    /// Agents with ratings whose task this contract is.
    async fn rated_in(&self, row: &ContractRow) -> Result<Vec<Key>> {
        let Some(conversation) = row.conversation.clone() else { return Ok(Vec::new()) };
        let find = || Find::by("conversation", conversation.clone());
        let mut agents: Vec<Key> =
            self.index.store.envelopes(find()).await?.iter().map(|it| fixed(&it.target)).collect();
        agents.extend(self.index.store.ratings(find()).await?.iter().map(|it| fixed::<32>(&it.agent)));
        Ok(agents)
    }

    async fn row(
        &self,
        market: &str,
        view: &ContractView,
        report: Option<&Report>,
        text: &str,
    ) -> ContractRow {
        let server = PartyId::from_hex(&view.server_pubkey).ok();
        let conversation = server.map(|server| bridge::conversation_id(&server, &view.id));
        let mut escrow = Vec::new();
        for entry in &view.transcript {
            if !matches!(entry.kind(), EntryType::Opened | EntryType::Bonded) {
                continue;
            }
            let data = entry_data(entry);
            let deposit = data.get("deposit").unwrap_or(&data);
            let Some(account) = deposit.get("account").and_then(Value::as_str) else { continue };
            let held = match &self.node {
                Some(node) => node.held(account).await,
                None => None,
            };
            escrow.push(json!({
                "account": account,
                "balance_raw": held.as_ref().map(|held| held.balance.clone()),
                "receivable_raw": held.map(|held| held.receivable),
            }));
        }
        let contract: Value = serde_json::from_str(&view.contract.to_string()).unwrap_or_default();
        let bounty = contract.get("escrow").and_then(|escrow| escrow.get("bounty")).cloned();
        let bounty_text = bounty.as_ref().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        let raw = bounty_text.as_deref().and_then(|text| zx1_market::Raw::from_xno(text).ok());
        let task = view.briefing.lines().next().unwrap_or_default();
        let (created, updated) = (signed(view.created_at.0.0), signed(view.updated_at.0.0));
        let settled = report.is_some_and(|it| it.valid) && view.status.is_terminal();
        let summary = json!({
            "id": view.id.to_string(),
            "market": market,
            "server": server.map(|server| server.to_string()),
            "state": view.status.as_str(),
            "principal": view.principal_pubkey.to_string(),
            "agent": view.agent_pubkey.map(|agent| agent.to_string()),
            "bounty": bounty_text,
            "bounty_raw": raw.map(|raw| raw.get().to_string()),
            "created_at": created,
            "updated_at": updated,
            "closing_at": view.closing_at.map(|at| at.0.0),
            "review_expires_at": view.review_expires_at.map(|at| at.0.0),
            "deadline": Value::Null,
            "chain_head": Some(&view.chain_head).filter(|head| !head.is_empty()),
            "entries": view.transcript.len(),
            "verified": report.map(|report| report.valid),
            "verify_error": report.and_then(|report| report.error.clone()),
            "conversation": conversation.map(hex::encode),
            "task": task.chars().take(200).collect::<String>(),
            "escrow": escrow,
        });
        ContractRow {
            market: market.to_owned(),
            id: view.id.to_string(),
            state: view.status.as_str().to_owned(),
            principal: view.principal_pubkey.to_string(),
            agent: view.agent_pubkey.map(|agent| agent.to_string()),
            created_at: created,
            updated_at: updated,
            summary: summary.to_string(),
            view: text.to_owned(),
            conversation: conversation.map(|it| it.to_vec()),
            settled: i64::from(settled),
        }
    }
}

/// Runs a transcript through the rules; none when there is none to run.
async fn verify(text: String) -> Option<Report> {
    let work = move || {
        let transcript = Transcript::parse(text.as_bytes()).ok()?;
        (!transcript.entries.is_empty()).then(|| replay(&transcript))
    };
    tokio::task::spawn_blocking(work).await.ok().flatten()
}

fn entry_data(entry: &zx1_market::Entry) -> Value {
    let value: Value = serde_json::from_str(&entry.to_json().to_string()).unwrap_or_default();
    value.get("data").cloned().unwrap_or_default()
}

/// What the streams are told of a transcript that holds.
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
