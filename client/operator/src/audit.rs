//! What an indexer says, compared with the chain's own accounts, from outside: an indexer can lie like any
//! server.

use crate::error::{Error, Refusal, Result};
use serde_json::Value;
use solana_address::Address;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;
use zx1_chain::rpc::audit::{
    Accounts, AgentClaim, BatchClaim, ChallengeClaim, Claims, KeyClaim, StakeClaim, TenureClaim, compare,
};
use zx1_chain::rpc::{ChainError, Client};
use zx1_home::{Clock as _, SystemClock};
use zx1_net::{Endpoint, Fetcher, Limit, Options, form_urlencoded};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::OPEN;
use zx1_protocol::units::MicroUsdc;

pub use zx1_chain::rpc::audit::{Audit, Difference};

/// How often a difference is looked at again before it counts: the chain goes on while it is read.
const TRIES: usize = 4;
/// How often an indexer that is behind is asked again, and the time between.
const WAITS: usize = 200;
const WAIT: Duration = Duration::from_millis(100);

/// The chain that an audit asks.
pub trait Source: Sync {
    /// The last confirmed slot.
    fn slot(&self) -> impl Future<Output = Result<u64, ChainError>> + Send;
    /// Every account of the protocol's programs that the audit compares.
    fn accounts(&self) -> impl Future<Output = Result<Accounts, ChainError>> + Send;
}

impl Source for Client {
    async fn slot(&self) -> Result<u64, ChainError> {
        Ok(self.time().await?.slot)
    }

    async fn accounts(&self) -> Result<Accounts, ChainError> {
        Accounts::read(self).await
    }
}

/// Compares all that an indexer's REST answers say of agents, batches and challenges with the chain. A
/// difference counts when it is still there after the indexer has had time to catch up.
///
/// # Errors
/// 9619 when nothing that is an indexer answers; the chain's.
pub async fn audit(source: &impl Source, url: &str) -> Result<Audit> {
    let remote = Remote::new(url)?;
    let mut lasting: Option<Audit> = None;
    let mut attempt = 1;
    loop {
        let there = source.slot().await?;
        let accounts = source.accounts().await?;
        let mut slot = 0;
        for _ in 0..WAITS {
            let status = remote.get("/v1/status").await?;
            let found = status.get("slot").and_then(Value::as_u64);
            slot = found.ok_or_else(|| remote.bad("no slot in its status"))?;
            if slot >= there {
                break;
            }
            tokio::time::sleep(WAIT).await;
        }
        let at = i64::try_from(SystemClock.unix_secs()).unwrap_or(i64::MAX);
        let mut audit = compare(&remote.claims(accounts.count()).await?, &accounts, slot, at);
        if let Some(before) = lasting.take() {
            audit.keep_lasting(&before);
        }
        if audit.differences.is_empty() || attempt == TRIES {
            return Ok(audit);
        }
        attempt = attempt.saturating_add(1);
        lasting = Some(audit);
    }
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
        let bad = |detail: String| Refusal::NotAnIndexer { url: url.to_owned(), detail };
        let endpoint = Endpoint::parse(url).map_err(|error| bad(error.to_string()))?;
        let fetcher = Fetcher::new(endpoint, Options::default()).map_err(|error| bad(error.to_string()))?;
        Ok(Self { fetcher })
    }

    fn bad(&self, detail: impl Display) -> Error {
        let url = self.fetcher.endpoint().to_string();
        Refusal::NotAnIndexer { url, detail: detail.to_string() }.into()
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
                let batches = item.get("batches")?;
                let tenure = item.get("tenure").filter(|tenure| !tenure.is_null());
                let claim = AgentClaim {
                    tenure: match tenure {
                        Some(tenure) => Some(tenure_of(tenure)?),
                        None => None,
                    },
                    paid_through: item.get("lease")?.get("paid_through_epoch")?.as_u64(),
                    batches: batches.get("count")?.as_u64()?,
                    head_digest: hash(batches, "digest")?,
                };
                let mint: AgentId = key(item, "mint")?;
                let list = |name: &str| item.get(name)?.as_array();
                let stakes = list("stakes")?.iter().map(stake_of).collect::<Option<Vec<_>>>()?;
                let keys = list("keys")?.iter().map(key_of).collect::<Option<Vec<_>>>()?;
                Some((mint, claim, stakes, keys))
            };
            let (mint, claim, stakes, keys) =
                read().ok_or_else(|| self.bad("an agent has not the form of one"))?;
            claims.agents.insert(mint, claim);
            claims.stakes.extend(stakes.into_iter().map(|(era, claim)| ((mint, era), claim)));
            let known = claims.keys.get_or_insert_default();
            known.extend(keys.into_iter().map(|(key, claim)| ((mint, key), claim)));
            Ok(())
        };
        self.all("/v1/agents", most, take).await?;
        let take = |item: &Value| -> Result<()> {
            let read = || {
                let claim = BatchClaim {
                    batch_hash: hash(item, "batch_hash")?,
                    log_merkle_root: hash(item, "log_merkle_root")?,
                    arrays_root: hash(item, "arrays_root")?,
                    withheld: item.get("withheld")?.as_bool()?,
                };
                Some(((key(item, "agent")?, item.get("epoch")?.as_u64()?), claim))
            };
            let (at, claim) = read().ok_or_else(|| self.bad("a batch has not the form of one"))?;
            claims.batches.insert(at, claim);
            Ok(())
        };
        self.all("/v1/batches", most, take).await?;
        let take = |item: &Value| -> Result<()> {
            let read = || {
                let claim = ChallengeClaim {
                    outcome: number(item, "outcome")?,
                    challenger: key(item, "challenger")?,
                };
                Some(((key(item, "address")?, item.get("submitted_slot")?.as_u64()?), claim))
            };
            let (at, claim) = read().ok_or_else(|| self.bad("a challenge has not the form of one"))?;
            claims.challenges.insert(at, claim);
            Ok(())
        };
        self.all("/v1/challenges", most, take).await?;
        let take = |item: &Value| -> Result<()> {
            let read = || {
                Some(((key(item, "address")?, item.get("created_slot")?.as_u64()?), number(item, "state")?))
            };
            let (at, state) = read().ok_or_else(|| self.bad("an ask has not the form of one"))?;
            claims.asks.get_or_insert_default().insert(at, state);
            Ok(())
        };
        self.all("/v1/asks", most, take).await?;
        let feedback = self.get("/v1/feedback?limit=1").await?;
        claims.log_head = hash(&feedback, "digest");
        Ok(claims)
    }
}

fn tenure_of(item: &Value) -> Option<TenureClaim> {
    Some(TenureClaim {
        number: number(item, "number")?,
        era: number(item, "era")?,
        owner: key(item, "owner")?,
    })
}

fn stake_of(item: &Value) -> Option<(u32, StakeClaim)> {
    let claim = StakeClaim {
        stake: MicroUsdc(key(item, "micro_usdc")?),
        unlock_slot: item.get("unlock_available_slot")?.as_u64(),
        ended: item.get("ended")?.as_bool()?,
        open_challenges: item.get("open_challenges")?.as_u64()?,
    };
    Some((number(item, "era")?, claim))
}

/// A key; `until_epoch` is null while it has not ended.
fn key_of(item: &Value) -> Option<(Address, KeyClaim)> {
    let until = item.get("until_epoch")?;
    let claim = KeyClaim {
        scopes: number(item, "scopes")?,
        from_epoch: item.get("from_epoch")?.as_u64()?,
        until_epoch: if until.is_null() { OPEN } else { until.as_u64()? },
    };
    Some((key(item, "key")?, claim))
}

fn number<T: TryFrom<u64>>(item: &Value, name: &str) -> Option<T> {
    T::try_from(item.get(name)?.as_u64()?).ok()
}

fn key<T: FromStr>(item: &Value, name: &str) -> Option<T> {
    item.get(name)?.as_str()?.parse().ok()
}

/// A hash; zeros before there is one.
fn hash(item: &Value, name: &str) -> Option<[u8; 32]> {
    let bytes = hex::decode(item.get(name)?.as_str()?).ok()?;
    if bytes.is_empty() { Some([0; 32]) } else { bytes.try_into().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::RawQuery;
    use axum::routing::get;
    use axum::{Json, Router};
    use serde_json::json;
    use std::sync::Arc;
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
