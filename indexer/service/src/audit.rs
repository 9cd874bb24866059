//! The self-audit: how things stand is derived again from the chain's accounts and compared with the index.
//! [`audit`] does the same with another indexer's answers, from outside.

use crate::chain::{Kind, Ledger};
use crate::error::{Error, Result};
use crate::index::{Index, now_s};
use crate::parse::{Touched, base58};
use crate::status::LastAudit;
use crate::store::{AgentRow, BatchRow, ChallengeRow, Find, LifeRow, fixed, signed};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use solana_address::Address;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;
use zx1_chain::rpc::{RawAccount, Stored};
use zx1_interface::Layout;
use zx1_interface::accounts::{
    BatchAccount, ChallengeAccount, FeedbackLogAccount, HeadAccount, LeaseAccount, StakeLockAccount,
};
use zx1_net::{Endpoint, Fetcher, Limit, Options, form_urlencoded};

/// So many differences are listed; more are only counted.
const MOST: usize = 1_000;

/// Something that the index says and the chain does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Difference {
    /// `stake`, `lease`, `head`, `batch`, `challenge`, `feedback`, `events`.
    pub what: String,
    /// The account, base58.
    pub account: String,
    /// The agent, base58.
    pub agent: Option<String>,
    /// What the index says.
    pub index: String,
    /// What the chain says.
    pub chain: String,
    /// Both in a sentence.
    pub sentence: String,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Audit {
    /// Unix seconds.
    pub at: i64,
    /// The index's slot.
    pub slot: u64,
    /// Accounts that were compared.
    pub accounts: usize,
    /// Events that those accounts count.
    pub events: u64,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// Rows to compare, wherever they come from.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// Agents.
    pub agents: BTreeMap<[u8; 32], AgentRow>,
    /// Batches.
    pub batches: BTreeMap<([u8; 32], i64), BatchRow>,
    /// Challenges.
    pub challenges: BTreeMap<([u8; 32], i64), ChallengeRow>,
    /// Lives; none where the one who claims does not say.
    pub lives: Option<BTreeMap<([u8; 32], i64), LifeRow>>,
    /// The feedback log's head.
    pub log_head: Option<[u8; 32]>,
}

/// The chain's accounts.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    stakes: Vec<Stored<StakeLockAccount>>,
    leases: Vec<Stored<LeaseAccount>>,
    heads: Vec<Stored<HeadAccount>>,
    batches: Vec<Stored<BatchAccount>>,
    challenges: Vec<Stored<ChallengeAccount>>,
    log: Option<FeedbackLogAccount>,
}

impl Chain {
    /// Reads all of them.
    ///
    /// # Errors
    ///
    /// The chain's.
    pub async fn read(ledger: &dyn Ledger) -> Result<Self> {
        fn decode<T: Layout>(accounts: Vec<RawAccount>) -> Result<Vec<Stored<T>>> {
            accounts.iter().map(|account| Ok(Stored::<T>::decode(account)?)).collect()
        }
        let log = ledger.accounts(&[Touched::Log.address()]).await?.into_iter().next().flatten();
        let log = log.filter(|account| !account.data.is_empty());
        Ok(Self {
            stakes: decode(ledger.scan(Kind::Stake).await?)?,
            leases: decode(ledger.scan(Kind::Lease).await?)?,
            heads: decode(ledger.scan(Kind::Head).await?)?,
            batches: decode(ledger.scan(Kind::Batch).await?)?,
            challenges: decode(ledger.scan(Kind::Challenge).await?)?,
            log: log
                .as_ref()
                .map(Stored::<FeedbackLogAccount>::decode)
                .transpose()?
                .map(|stored| stored.value),
        })
    }

    fn len(&self) -> usize {
        [self.stakes.len(), self.leases.len(), self.heads.len(), self.batches.len(), self.challenges.len()]
            .into_iter()
            .fold(usize::from(self.log.is_some()), usize::saturating_add)
    }
}

struct Comparison {
    differences: Vec<Difference>,
    events: u64,
}

impl Comparison {
    fn same(
        &mut self,
        what: &str,
        account: &Address,
        agent: Option<&[u8]>,
        index: impl Display,
        chain: impl Display,
    ) {
        let (index, chain) = (index.to_string(), chain.to_string());
        if index == chain || self.differences.len() >= MOST {
            return;
        }
        let agent = agent.map(base58);
        let of = agent.as_ref().map(|agent| format!(" of the agent {agent}")).unwrap_or_default();
        self.differences.push(Difference {
            what: what.to_owned(),
            account: account.to_string(),
            sentence: format!(
                "The index says {index} and the chain says {chain} for the {what}{of} ({account})."
            ),
            agent,
            index,
            chain,
        });
    }

    fn events(
        &mut self,
        claims: &Claims,
        account: &Address,
        agent: Option<&[u8]>,
        created: u64,
        on_chain: u64,
    ) {
        self.events = self.events.saturating_add(on_chain);
        let Some(lives) = &claims.lives else { return };
        let here = lives.get(&(account.to_bytes(), signed(created))).map_or(0, |life| life.events);
        self.same("events", account, agent, here, on_chain);
    }
}

/// Compares. Pure.
pub fn compare(claims: &Claims, chain: &Chain, slot: u64, at: i64) -> Audit {
    let mut found = Comparison { differences: Vec::new(), events: 0 };
    let nobody = AgentRow::default();
    let text = |value: Option<i64>| value.map_or_else(|| "nothing".to_owned(), |value| value.to_string());
    let mut staked: BTreeSet<[u8; 32]> = BTreeSet::new();
    for stake in &chain.stakes {
        let agent = claims.agents.get(&stake.agent_mint).unwrap_or(&nobody);
        let mint = Some(stake.agent_mint.as_slice());
        staked.insert(stake.agent_mint);
        found.same("stake", &stake.address, mint, text(agent.stake), stake.stake_usdc);
        found.same("open challenges", &stake.address, mint, agent.open_challenges, stake.open_challenges);
        let unlock = (stake.in_unlock_queue == 1).then(|| signed(stake.unlock_available_slot));
        found.same("unlock", &stake.address, mint, text(agent.unlock_slot), text(unlock));
        found.events(claims, &stake.address, mint, stake.created_slot, stake.event_sequence);
    }
    for agent in claims.agents.values() {
        let mint: [u8; 32] = fixed(&agent.mint);
        if let Some(stake) = agent.stake
            && !staked.contains(&mint)
        {
            found.same("stake", &Touched::Stake(mint).address(), Some(&mint), stake, "nothing");
        }
    }
    for lease in &chain.leases {
        let agent = claims.agents.get(&lease.agent_id).unwrap_or(&nobody);
        let mint = Some(lease.agent_id.as_slice());
        found.same("lease", &lease.address, mint, text(agent.paid_through), lease.paid_through_epoch);
        found.events(claims, &lease.address, mint, lease.created_slot, lease.event_sequence);
    }
    for head in &chain.heads {
        let agent = claims.agents.get(&head.agent_id).unwrap_or(&nobody);
        let mint = Some(head.agent_id.as_slice());
        found.same("number of batches", &head.address, mint, agent.batches, head.count);
        found.same("head", &head.address, mint, hex::encode(&agent.head_digest), hex::encode(head.digest));
        found.events(claims, &head.address, mint, head.created_slot, head.event_sequence);
    }
    for batch in &chain.batches {
        let mint = Some(batch.agent_id.as_slice());
        let index = claims.batches.get(&(batch.agent_id, signed(batch.epoch_number)));
        let of_index = index.map_or_else(
            || "nothing".to_owned(),
            |row| {
                format!(
                    "{}/{}/{}",
                    hex::encode(&row.batch_hash),
                    hex::encode(&row.log_root),
                    hex::encode(&row.arrays_root)
                )
            },
        );
        let of_chain = format!(
            "{}/{}/{}",
            hex::encode(batch.batch_hash),
            hex::encode(batch.log_merkle_root),
            hex::encode(batch.arrays_root)
        );
        found.same("batch", &batch.address, mint, of_index, of_chain);
    }
    for challenge in &chain.challenges {
        let mint = Some(challenge.agent_id.as_slice());
        let row = claims.challenges.get(&(challenge.address.to_bytes(), signed(challenge.submitted_slot)));
        let answered = row.is_some_and(|row| row.answered_slot.is_some());
        let resolved = row.and_then(|row| row.succeeded);
        let of_index = row.map_or_else(|| "nothing".to_owned(), |_| format!("{answered}/{}", text(resolved)));
        let is_resolved = (challenge.resolved == 1).then_some(i64::from(challenge.succeeded));
        let of_chain = format!("{}/{}", challenge.answered == 1, text(is_resolved));
        found.same("challenge", &challenge.address, mint, of_index, of_chain);
        found.events(claims, &challenge.address, mint, challenge.submitted_slot, challenge.event_sequence);
    }
    if let Some(log) = &chain.log {
        let address = Touched::Log.address();
        if let Some(head) = claims.log_head {
            found.same("feedback log", &address, None, hex::encode(head), hex::encode(log.head));
        }
        found.events(claims, &address, None, log.created_slot, log.event_sequence);
    }
    Audit { at, slot, accounts: chain.len(), events: found.events, differences: found.differences }
}

/// How often a difference is looked at again before it counts: the chain goes on while it is read.
const TRIES: usize = 4;

/// The self-audit of an index: a difference counts when it is there each time that the index has caught up.
///
/// # Errors
///
/// The chain's and the store's.
pub async fn self_audit(index: &Index) -> Result<Audit> {
    let mut lasting: Option<Audit> = None;
    for attempt in 1..=TRIES {
        let chain = Chain::read(&*index.ledger).await?;
        // What was read may be newer than the index; let it catch up with what was read.
        let there = index.ledger.slot(crate::chain::Finality::Confirmed).await?;
        for _ in 0..200 {
            if index.status.get().slot >= there {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let audit = compare(&own_claims(index).await?, &chain, index.status.get().slot, now_s());
        let audit = match lasting.take() {
            None => audit,
            Some(before) => {
                let differences: Vec<Difference> = audit
                    .differences
                    .into_iter()
                    .filter(|now| {
                        before
                            .differences
                            .iter()
                            .any(|then| then.what == now.what && then.account == now.account)
                    })
                    .collect();
                Audit { differences, ..audit }
            }
        };
        if audit.differences.is_empty() || attempt == TRIES {
            return Ok(audit);
        }
        lasting = Some(audit);
    }
    Err(Error::NotReady)
}

async fn own_claims(index: &Index) -> Result<Claims> {
    let store = &index.store;
    // One after the other while nothing is written, so that they belong together.
    let _writer = index.writer().await;
    let agents = store.agents(Find::all()).await?;
    let batches = store.batches(Find::all()).await?;
    let challenges = store.challenges(Find::all()).await?;
    let lives = store.lives(Find::all()).await?;
    Ok(Claims {
        agents: agents.into_iter().map(|row| (fixed(&row.mint), row)).collect(),
        batches: batches.into_iter().map(|row| ((fixed(&row.agent), row.epoch), row)).collect(),
        challenges: challenges
            .into_iter()
            .map(|row| ((fixed(&row.address), row.submitted_slot), row))
            .collect(),
        lives: Some(lives.into_iter().map(|row| ((fixed(&row.account), row.created_slot), row)).collect()),
        log_head: Some(index.status.get().log_head),
    })
}

/// The job: audits until cancelled, and keeps the last result for `/v1/audit`.
pub async fn run(index: Arc<Index>, last: Arc<std::sync::RwLock<Option<Audit>>>, cancel: CancellationToken) {
    let pause = Duration::from_secs(index.config.audit_secs);
    if pause.is_zero() {
        return;
    }
    loop {
        // The first when the first backfill is done.
        if index.status.get().ready {
            match self_audit(&index).await {
                Ok(audit) => {
                    for difference in &audit.differences {
                        tracing::error!(what = %difference.what, "{}", difference.sentence);
                    }
                    let differences = audit.differences.len();
                    index.metrics.differences.inc_by(differences as u64);
                    let at = audit.at;
                    *last.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(audit);
                    index.status.set(|it| it.last_audit = Some(LastAudit { at, differences }));
                }
                Err(error) => tracing::warn!(code = error.code(), %error, "the self-audit could not be made"),
            }
        }
        let wait = if index.status.get().ready { pause } else { Duration::from_secs(1) };
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Audits another indexer from outside: all that its REST answers say of agents, batches and challenges is
/// compared with the chain. `zx1 audit --indexer URL` calls this.
///
/// # Errors
///
/// 9619 when nothing that is an indexer answers; the chain's.
pub async fn audit(ledger: &dyn Ledger, url: &str) -> Result<Audit> {
    let remote = Remote::new(url)?;
    let mut lasting: Option<Audit> = None;
    for attempt in 1..=TRIES {
        let there = ledger.slot(crate::chain::Finality::Confirmed).await?;
        let chain = Chain::read(ledger).await?;
        let mut slot = 0;
        for _ in 0..200 {
            let status = remote.get("/v1/status").await?;
            slot = status
                .get("slot")
                .and_then(Value::as_u64)
                .ok_or_else(|| remote.bad("no slot in its status"))?;
            if slot >= there {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let mut audit = compare(&remote.claims(chain.len()).await?, &chain, slot, now_s());
        if let Some(before) = lasting.take() {
            audit.differences.retain(|now| {
                before.differences.iter().any(|then| then.what == now.what && then.account == now.account)
            });
        }
        if audit.differences.is_empty() || attempt == TRIES {
            return Ok(audit);
        }
        lasting = Some(audit);
    }
    Err(Error::NotReady)
}

/// The longest answer that is read.
const MOST_BYTES: usize = 8 << 20;
/// Items of a page.
const PAGE: usize = 200;
/// Of each list an indexer may hold so many items more than the chain has accounts now: what was closed since.
const MOST_GONE: usize = 1_000_000;

struct Remote {
    fetcher: Fetcher,
}

impl Remote {
    fn new(url: &str) -> Result<Self> {
        let bad = |detail: String| Error::Remote { url: url.to_owned(), detail };
        let endpoint = Endpoint::parse(url).map_err(|error| bad(error.to_string()))?;
        let fetcher = Fetcher::new(endpoint, Options::default()).map_err(|error| bad(error.to_string()))?;
        Ok(Self { fetcher })
    }

    fn bad(&self, detail: impl Display) -> Error {
        Error::Remote { url: self.fetcher.endpoint().to_string(), detail: detail.to_string() }
    }

    async fn get(&self, path: &str) -> Result<Value> {
        self.ask(path, &[]).await
    }

    /// One question. What is asked is escaped: a cursor is the other side's text.
    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> Result<Value> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        let mark = if query.is_empty() || path.contains('?') { "" } else { "?" };
        let request = self.fetcher.get(&format!("{path}{mark}{query}"));
        let answer = self.fetcher.fetch(request, Limit::Whole(MOST_BYTES)).await;
        let answer = answer.map_err(|error| self.bad(format!("{path}: {error}")))?;
        if !answer.status.is_success() {
            return Err(self.bad(format!("{path} answers {}", answer.status.as_u16())));
        }
        serde_json::from_slice(&answer.body).map_err(|error| self.bad(format!("{path}: {error}")))
    }

    /// Reads a list, page after page, and hands each item over. Whoever is asked may lie, so a list ends: each
    /// page counts as a full one, and `most` items are the end.
    async fn all(&self, path: &str, most: usize, mut take: impl FnMut(&Value) -> Result<()>) -> Result<()> {
        let (mut left, mut cursor) = (most, None::<String>);
        loop {
            let limit = PAGE.to_string();
            let mut query = vec![("limit", limit.as_str())];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = self.ask(path, &query).await?;
            let found = page
                .get("items")
                .and_then(Value::as_array)
                .ok_or_else(|| self.bad("a list without items"))?;
            if found.len() > PAGE {
                return Err(self.bad(format!("{path} answers with more items than were asked for")));
            }
            found.iter().try_for_each(&mut take)?;
            let next = page.get("next").and_then(Value::as_str).map(str::to_owned);
            if next.is_none() || next == cursor {
                return Ok(());
            }
            left = left.saturating_sub(PAGE);
            if left == 0 {
                return Err(self.bad(format!("{path} goes on after {most} items, more than there can be")));
            }
            cursor = next;
        }
    }

    /// All that it says. `accounts` is how many the chain has.
    async fn claims(&self, accounts: usize) -> Result<Claims> {
        let mut claims = Claims::default();
        let most = accounts.saturating_add(MOST_GONE);
        let take = |item: &Value| -> Result<()> {
            let read = || {
                let stake = item.get("stake").filter(|stake| !stake.is_null());
                let amount = stake.and_then(|stake| text_number(stake, "micro_usdc"));
                let of_stake = |name: &str| stake.and_then(|stake| stake.get(name)).and_then(Value::as_i64);
                let batches = item.get("batches")?;
                Some(AgentRow {
                    mint: key(item, "mint")?.to_vec(),
                    stake: amount,
                    unlock_slot: of_stake("unlock_available_slot"),
                    open_challenges: of_stake("open_challenges").unwrap_or(0),
                    paid_through: item.get("lease")?.get("paid_through_epoch")?.as_i64(),
                    batches: batches.get("count")?.as_i64()?,
                    head_digest: hash(batches, "digest")?,
                    ..AgentRow::default()
                })
            };
            let row = read().ok_or_else(|| self.bad("an agent has not the form of one"))?;
            claims.agents.insert(fixed(&row.mint), row);
            Ok(())
        };
        self.all("/v1/agents", most, take).await?;
        let take = |item: &Value| -> Result<()> {
            let read = || {
                Some(BatchRow {
                    agent: key(item, "agent")?.to_vec(),
                    epoch: item.get("epoch")?.as_i64()?,
                    batch_hash: hash(item, "batch_hash")?,
                    log_root: hash(item, "log_merkle_root")?,
                    arrays_root: hash(item, "arrays_root")?,
                    ..BatchRow::default()
                })
            };
            let row = read().ok_or_else(|| self.bad("a batch has not the form of one"))?;
            claims.batches.insert((fixed(&row.agent), row.epoch), row);
            Ok(())
        };
        self.all("/v1/batches", most, take).await?;
        let take = |item: &Value| -> Result<()> {
            let read = || {
                Some(ChallengeRow {
                    address: key(item, "address")?.to_vec(),
                    submitted_slot: item.get("submitted_slot")?.as_i64()?,
                    answered_slot: item.get("answered_slot")?.as_i64(),
                    succeeded: item.get("succeeded")?.as_bool().map(i64::from),
                    ..ChallengeRow::default()
                })
            };
            let row = read().ok_or_else(|| self.bad("a challenge has not the form of one"))?;
            claims.challenges.insert((fixed(&row.address), row.submitted_slot), row);
            Ok(())
        };
        self.all("/v1/challenges", most, take).await?;
        let feedback = self.get("/v1/feedback?limit=1").await?;
        let head = feedback.get("digest").and_then(Value::as_str).and_then(|text| hex::decode(text).ok());
        claims.log_head = head.map(|head| fixed(&head));
        Ok(claims)
    }
}

fn key(item: &Value, name: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    let length = bs58::decode(item.get(name)?.as_str()?).onto(&mut key).ok()?;
    (length == 32).then_some(key)
}

/// A hash. Nothing longer is kept: whoever is asked may fill an answer with one.
fn hash(item: &Value, name: &str) -> Option<Vec<u8>> {
    hex::decode(item.get(name)?.as_str()?).ok().filter(|hash| hash.len() <= 32)
}

fn text_number(item: &Value, name: &str) -> Option<i64> {
    item.get(name)?.as_str()?.parse::<u64>().ok().map(signed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::RawQuery;
    use axum::routing::get;
    use axum::{Json, Router};
    use serde_json::json;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An indexer whose list is this one, and how often it was asked.
    async fn remote(
        page: impl Fn(usize, String) -> Value + Clone + Send + Sync + 'static,
    ) -> (Remote, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        let answer = move |RawQuery(query): RawQuery| {
            let value = page(counter.fetch_add(1, Ordering::SeqCst), query.unwrap_or_default());
            async move { Json(value) }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/list", get(answer));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (Remote::new(&url).unwrap(), asked)
    }

    #[tokio::test]
    async fn a_list_that_never_ends_is_left() {
        let (remote, asked) =
            remote(|nth, _| json!({ "items": [nth], "next": format!("cursor {nth}") })).await;
        let mut taken = 0;
        let error = remote.all("/list", 1_000, |_| {
            taken += 1;
            Ok(())
        });
        assert_eq!(error.await.unwrap_err().code(), 9619);
        assert_eq!((taken, asked.load(Ordering::SeqCst)), (5, 5));
    }

    #[tokio::test]
    async fn an_answer_that_is_too_long_or_holds_too_much_is_left() {
        let (long, _) = remote(|_, _| json!({ "items": ["x".repeat(MOST_BYTES)] })).await;
        let error = long.all("/list", 1_000, |_| Ok(())).await.unwrap_err();
        assert_eq!(error.code(), 9619);
        assert!(error.to_string().contains("bytes"), "{error}");
        let (many, _) = remote(|_, _| json!({ "items": vec![0; PAGE + 1] })).await;
        assert_eq!(many.all("/list", 1_000, |_| Ok(())).await.unwrap_err().code(), 9619);
    }

    #[tokio::test]
    async fn a_cursor_is_one_parameter_whatever_it_says() {
        let (remote, _) = remote(|nth, query| match nth {
            0 => json!({ "items": [query], "next": "a&limit=1#b c" }),
            _ => json!({ "items": [query] }),
        })
        .await;
        let mut queries = Vec::new();
        let all = remote.all("/list", 1_000, |item| {
            queries.push(item.as_str().unwrap_or_default().to_owned());
            Ok(())
        });
        all.await.unwrap();
        assert_eq!(queries, ["limit=200", "limit=200&cursor=a%26limit%3D1%23b+c"]);
    }
}
