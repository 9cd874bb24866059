//! The index: the store, the ledger behind it, and the one writer.
//!
//! Everything that is written goes through [`Index::writer`], so that whoever reads rows, changes them and
//! writes them back is alone. Readers are not held up.

use crate::chain::{Ledger, Listed};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hub::{self, Hub};
use crate::merge::{Key, Merge, Needs, add_digest, event_digest};
use crate::metrics::Metrics;
use crate::parse::{Addresses, Touched};
use crate::status::Status;
use crate::store::{AgentRow, Commit, EventRow, Find, Remove, Store, fixed, signed, storable};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard, Notify};
use utoipa::ToSchema;
use zx1_chain::rpc::registry::{AgentRecord, Delegate};
use zx1_coded::Coded as _;
use zx1_home::{Clock as _, SystemClock};
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::AgentId;

/// State of the single writer, behind [`Index::writer`].
#[derive(Debug, Default)]
pub struct Writer {
    /// Program addresses that are derived once and then looked up.
    pub addresses: Addresses,
    /// Digest of all stored events, to compare two indexes.
    pub digest: [u8; 32],
    /// Number of stored events.
    pub events: u64,
    /// Everything up to this slot is indexed, at confirmed commitment.
    pub cursor: u64,
    /// Everything up to this slot was compared with the finalized history.
    pub finalized: u64,
    /// Transactions after `finalized` that were examined, also those without events.
    pub seen: HashSet<Listed>,
    /// Accounts to be read when the backfill ends.
    pub later: BTreeSet<Touched>,
    /// Whether the accounts of a backfill are still to be read: an earlier process ended before it did, or it
    /// failed.
    pub unsettled: bool,
    /// The last epoch whose beginning was processed.
    pub epoch: Option<u64>,
}

/// The index, shared as an [`Arc`].
pub struct Index {
    /// The database of the index.
    pub store: Arc<dyn Store>,
    /// Client of the Solana cluster that is indexed.
    pub ledger: Arc<dyn Ledger>,
    /// The configuration that the process was started with.
    pub config: Config,
    /// Progress of the index, shared with readers.
    pub status: Status,
    /// Publishes new stream events to subscribers.
    pub hub: Hub,
    /// Counters and gauges that `/metrics` serves.
    pub metrics: Metrics,
    /// Held from reading what a reputation depends on until it is written, so that an older one never
    /// replaces a newer one.
    pub refreshing: Mutex<()>,
    /// Told when a wallet has bound another Nano account.
    pub bound: Notify,
    /// The genesis hash of the cluster that the database is of, once it is known.
    network: OnceLock<Hash>,
    /// Whether the node was found to be of that cluster.
    identified: AtomicBool,
    writer: Mutex<Writer>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Current time in Unix milliseconds.
pub fn now_ms() -> i64 {
    i64::try_from(SystemClock.unix_ms()).unwrap_or(i64::MAX)
}

/// Current time in Unix seconds.
pub fn now_s() -> i64 {
    now_ms().div_euclid(1_000)
}

/// How long a start waits for the node; whatever it does not say by then is asked again while the index serves.
const START: Duration = Duration::from_secs(5);

fn decoded(genesis: &str) -> Option<Hash> {
    let mut network = Hash::default();
    (bs58::decode(genesis).onto(&mut network) == Ok(network.len())).then_some(network)
}

fn number(text: Option<&String>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

impl Index {
    /// Opens the index and restores the cursor from the store. A node that does not answer yet is asked again
    /// before anything is written ([`Self::identify`]).
    ///
    /// # Errors
    ///
    /// 9612 when the node is of another cluster than the store.
    pub async fn open(
        store: Arc<dyn Store>,
        ledger: Arc<dyn Ledger>,
        config: Config,
        metrics: Metrics,
    ) -> Result<Arc<Self>> {
        let meta = store.meta().await?;
        let genesis = meta.get("genesis").cloned().unwrap_or_default();
        let network = decoded(&genesis).map_or_else(OnceLock::new, OnceLock::from);
        let mut writer = Writer {
            cursor: number(meta.get("cursor")),
            finalized: number(meta.get("finalized")),
            events: number(meta.get("events")),
            unsettled: meta.get("settled").is_some_and(|it| it == "0"),
            ..Writer::default()
        };
        if let Some(digest) = meta.get("digest").and_then(|text| hex::decode(text).ok()) {
            writer.digest = fixed(&digest);
        }
        let hub = hub::open(store.clone(), config.limits.stream_ring).await?;
        let status = Status::default();
        let log_head = log_head(&*store).await?;
        status.set(|standing| {
            // Until the chain's clock is read: leases that have ended must not look alive.
            standing.epoch = now_s().unsigned_abs() / zx1_interface::constants::EPOCH_SECONDS;
            standing.slot = writer.cursor;
            standing.finalized = writer.finalized;
            standing.digest = writer.digest;
            standing.events = writer.events;
            standing.log_head = log_head;
            standing.genesis = genesis;
        });
        let index = Arc::new(Self {
            store,
            ledger,
            config,
            status,
            hub,
            metrics,
            refreshing: Mutex::default(),
            bound: Notify::new(),
            network,
            identified: AtomicBool::new(false),
            writer: Mutex::new(writer),
        });
        match tokio::time::timeout(START, index.identify()).await {
            Ok(Err(error)) if !error.transient() => return Err(error),
            Ok(Err(error)) => tracing::warn!(code = error.code(), %error, "the node is waited for"),
            Err(_) => tracing::warn!("the node does not answer yet; it is waited for"),
            Ok(Ok(())) => {}
        }
        Ok(index)
    }

    /// Asks the node, once it answers, which cluster it is of. Before that nothing that it says is written.
    ///
    /// # Errors
    ///
    /// 9612 when it is of another cluster than the store; the node's.
    pub async fn identify(&self) -> Result<()> {
        if self.identified() {
            return Ok(());
        }
        let found = self.ledger.genesis().await?;
        let Some(network) = decoded(&found) else {
            let detail = format!("invalid hash {found}: expected 32 bytes in base58");
            return Err(Error::Malformed { what: "getGenesisHash", detail });
        };
        // Of two that ask at once the second finds what the first has stored.
        let _writer = self.writer().await;
        let stored = self.status.get().genesis;
        if stored.is_empty() {
            let meta = vec![("genesis", found.clone())];
            self.store.commit(Commit { meta, ..Commit::default() }).await?;
            self.network.get_or_init(|| network);
            self.status.set(|standing| standing.genesis = found);
        } else if stored != found {
            return Err(Error::OtherCluster { stored, found });
        }
        self.identified.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether the node has said that it is of the database's cluster.
    pub fn identified(&self) -> bool {
        self.identified.load(Ordering::Acquire)
    }

    /// The cluster's genesis hash, as batches' messages name it; zeros while neither node nor database know it, and
    /// then there are no batches.
    pub fn network(&self) -> Hash {
        self.network.get().copied().unwrap_or_default()
    }

    /// Locks the writer's state. Whoever reads rows to change them must hold the lock until they are written.
    pub async fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().await
    }

    /// Loads the rows that these events need, and all batches, challenges and asks of the agents in `whole`.
    pub async fn load(&self, needs: &Needs, whole: &BTreeSet<AgentId>) -> Result<Merge> {
        let mut merge = Merge { now_ms: now_ms(), network: self.network(), ..Merge::default() };
        let agents: BTreeSet<AgentId> = needs.agents.union(whole).copied().collect();
        for chunk in chunks(&agents) {
            for row in self.store.agents(Find::any("mint", chunk.iter().copied())).await? {
                merge.agents.insert(row.mint, row);
            }
            for row in self.store.tenures(Find::any("agent", chunk.iter().copied())).await? {
                merge.tenures.insert((row.agent, row.number), row);
            }
            for row in self.store.keys(Find::any("agent", chunk.iter().copied())).await? {
                merge.keys.insert((row.agent, fixed(&row.key), row.created_slot), row);
            }
            for row in self.store.stakes(Find::any("agent", chunk.iter().copied())).await? {
                merge.stakes.insert((row.agent, row.era), row);
            }
        }
        let owners: BTreeSet<AgentId> = needs.batches.iter().map(|(agent, _)| *agent).collect();
        let epochs: BTreeSet<i64> = needs.batches.iter().map(|(_, epoch)| *epoch).collect();
        for chunk in chunks(&owners) {
            let mut find = Find::any("agent", chunk.iter().copied());
            if let (Some(first), Some(last)) = (epochs.first(), epochs.last()) {
                find = find.and("epoch", ">=", *first).and("epoch", "<=", *last);
            }
            for row in self.store.batches(find).await? {
                let key = (row.agent, row.epoch);
                if needs.batches.contains(&key) {
                    merge.batches.insert(key, row);
                }
            }
        }
        let challenges: BTreeSet<Key> = needs.challenges.iter().map(|(address, _)| *address).collect();
        for chunk in chunks(&challenges) {
            for row in self.store.challenges(Find::any("address", chunk.iter().copied())).await? {
                merge.challenges.insert((fixed(&row.address), row.submitted_slot), row);
            }
        }
        let asks: BTreeSet<Key> = needs.asks.iter().map(|(address, _)| *address).collect();
        for chunk in chunks(&asks) {
            for row in self.store.asks(Find::any("address", chunk.iter().copied())).await? {
                merge.asks.insert((fixed(&row.address), row.created_slot), row);
            }
        }
        for mint in whole {
            for row in self.store.asks(Find::by("agent", *mint)).await? {
                merge.asks.insert((fixed(&row.address), row.created_slot), row);
            }
            for row in self.store.batches(Find::by("agent", *mint)).await? {
                merge.batches.insert((*mint, row.epoch), row);
            }
            for row in self.store.challenges(Find::by("agent", *mint)).await? {
                merge.challenges.insert((fixed(&row.address), row.submitted_slot), row);
            }
        }
        for chunk in chunks(&needs.feedback) {
            for row in self.store.feedback(Find::any("number", chunk)).await? {
                merge.feedback.insert(row.number, row);
            }
        }
        let accounts: BTreeSet<Key> = needs.lives.iter().map(|(account, _)| *account).collect();
        for chunk in chunks(&accounts) {
            for row in self.store.lives(Find::any("account", chunk.iter().copied())).await? {
                let life = (fixed(&row.account), row.created_slot);
                if needs.lives.contains(&life) {
                    merge.lives.insert(life, row);
                }
            }
        }
        Ok(merge)
    }

    /// Writes what was merged. `events` are new ones, `removed` those that are taken away with `commit`.
    pub async fn write(
        &self,
        writer: &mut Writer,
        merge: Merge,
        events: Vec<EventRow>,
        removed: &[EventRow],
        mut commit: Commit,
    ) -> Result<()> {
        let mut digest = writer.digest;
        let mut count = writer.events;
        for row in &events {
            add_digest(&mut digest, &event_digest(row), false);
            count = count.saturating_add(1);
        }
        for row in removed {
            add_digest(&mut digest, &event_digest(row), true);
            count = count.saturating_sub(1);
        }
        self.metrics.events.inc_by(events.len() as u64);
        commit.events = events;
        commit.lives.extend(merge.lives.into_values());
        commit.gaps.extend(merge.gaps);
        commit.remove.extend(merge.renewed.into_iter().map(Remove::Standing));
        commit.agents.extend(merge.agents.into_values());
        commit.tenures.extend(merge.tenures.into_values());
        commit.keys.extend(merge.keys.into_values());
        commit.stakes.extend(merge.stakes.into_values());
        commit.batches.extend(merge.batches.into_values());
        commit.challenges.extend(merge.challenges.into_values());
        commit.asks.extend(merge.asks.into_values());
        commit.feedback.extend(merge.feedback.into_values());
        commit.epochs.extend(merge.epochs.into_values());
        commit.stream.extend(merge.stream);
        commit.meta.push(("digest", hex::encode(digest)));
        commit.meta.push(("events", count.to_string()));
        let tells = !commit.stream.is_empty();
        let spoke = !commit.feedback.is_empty() || !removed.is_empty();
        self.store.commit(commit).await?;
        writer.digest = digest;
        writer.events = count;
        let head = if spoke { Some(log_head(&*self.store).await?) } else { None };
        self.status.set(|standing| {
            standing.digest = digest;
            standing.events = count;
            standing.log_head = head.unwrap_or(standing.log_head);
        });
        if tells {
            self.hub.wake();
        }
        Ok(())
    }

    /// Writes rows that do not follow from events (a batch's data, ratings, balances, contracts).
    pub async fn write_rows(&self, commit: Commit) -> Result<()> {
        let tells = !commit.stream.is_empty();
        self.store.commit(commit).await?;
        self.status.changed();
        if tells {
            self.hub.wake();
        }
        Ok(())
    }

    /// An agent's row, `None` when the index has no such agent.
    pub async fn agent_row(&self, mint: &AgentId) -> Result<Option<AgentRow>> {
        Ok(self.store.agents(Find::by("mint", *mint)).await?.into_iter().next())
    }

    /// An agent's events in the order of the ledger.
    pub async fn events_of(&self, mint: &AgentId) -> Result<Vec<EventRow>> {
        let find = Find::by("agent", *mint).order(&["slot", "position", "ordinal"]);
        Ok(self.store.events(find).await?.into_iter().map(|stored| stored.row).collect())
    }
}

/// The head of the feedback log after the last stored entry; zeros when there is none.
async fn log_head(store: &dyn Store) -> Result<[u8; 32]> {
    let last = store.feedback(Find::all().newest(&["number"]).limit(1)).await?;
    Ok(last.first().map_or([0; 32], |row| fixed(&row.head)))
}

/// Keys in lists that one statement takes.
pub fn chunks<T: Copy>(keys: &BTreeSet<T>) -> Vec<Vec<T>> {
    let keys: Vec<T> = keys.iter().copied().collect();
    keys.chunks(4_000).map(<[T]>::to_vec).collect()
}

/// A delegation as it is stored and shown. It gives no authority: keys do (decision P1).
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ShownDelegate {
    delegate: String,
    delegator: String,
    /// when the delegation expires, in Unix seconds
    expiry: i64,
    /// neither expired nor withdrawn
    live: bool,
}

impl From<&Delegate> for ShownDelegate {
    fn from(it: &Delegate) -> Self {
        Self {
            delegate: it.delegate.to_string(),
            delegator: it.delegator.to_string(),
            expiry: it.expiry,
            live: it.live,
        }
    }
}

/// Takes what the registry says into an agent's row.
pub fn identify(row: &mut AgentRow, record: &AgentRecord, delegates: &[Delegate], now: i64) {
    row.number = signed(record.member_number);
    row.name = storable(&record.metadata.name);
    row.symbol = storable(&record.metadata.symbol);
    row.uri = storable(&record.metadata.uri);
    row.metadata = serde_json::to_string(&record.metadata.entries).unwrap_or_else(|_| "[]".to_owned());
    row.soulbound = i64::from(record.soulbound);
    let owner = record.owner.map(|owner| owner.to_bytes().to_vec());
    if row.owner != owner {
        // The Nano account was bound to whoever owned it before; the new owner's comes with the next look.
        (row.nano_address, row.nano_balance, row.nano_receivable, row.nano_checked) =
            (None, None, None, None);
    }
    row.owner = owner;
    row.token = record.token.map(|token| token.to_bytes().to_vec());
    row.member_index = Some(record.index.to_bytes().to_vec());
    let list: Vec<ShownDelegate> = delegates.iter().map(ShownDelegate::from).collect();
    row.delegates = serde_json::to_string(&list).unwrap_or_else(|_| "[]".to_owned());
    row.identified = now.max(1);
    let owner = record.owner.map(|owner| owner.to_string()).unwrap_or_default();
    row.search = format!("{}\n{}\n{owner}", row.name, record.mint).to_lowercase();
}
