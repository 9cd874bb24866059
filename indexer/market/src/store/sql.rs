//! SQLite and Postgres. Both understand the same statements, so each is written once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
#[cfg(feature = "postgres")]
use sqlx::Postgres;
#[cfg(feature = "postgres")]
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
#[cfg(feature = "postgres")]
use sqlx::{Connection as _, PgConnection};
use sqlx::{Row, Sqlite};
use zx1_home::files;

use super::{
    Commit, ContractRow, DepositRow, EntryRow, EventRow, LapsedAfter, LatePayee, ListFilter, OutboxRow,
    OutboxState, Store, StoreError, StoreFuture, Stored,
};

static SQLITE: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/market/sqlite");
#[cfg(feature = "postgres")]
static POSTGRES: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/market/postgres");

/// SQLite in a file: one writing connection, several that read beside it.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    write: SqlitePool,
    /// For heartbeats, which no disk has to keep.
    beats: SqlitePool,
    read: SqlitePool,
    leased: Arc<Leased<zx1_home::Lock>>,
    path: PathBuf,
}

/// The lease of a store: what keeps others away, and its number.
#[derive(Debug)]
struct Leased<T> {
    /// 0: this process reads, or writes beside the server.
    number: AtomicI64,
    held: tokio::sync::Mutex<Option<T>>,
}

impl<T> Default for Leased<T> {
    fn default() -> Leased<T> {
        Leased { number: AtomicI64::new(0), held: tokio::sync::Mutex::new(None) }
    }
}

impl SqliteStore {
    /// Open the file, or make it, with mode 0600.
    pub async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
        let made = files::make_folder(files::folder_of(path)).and_then(|()| files::create_if_missing(path));
        made.map_err(sqlx::Error::Io)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            // Money hangs on it: a commit that has returned survives a loss of power.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(10));
        let write = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
        SQLITE.run(&write).await?;
        let relaxed = options.clone().synchronous(SqliteSynchronous::Off);
        let beats = SqlitePoolOptions::new().max_connections(1).connect_with(relaxed).await?;
        let read = SqlitePoolOptions::new().max_connections(8).connect_with(options.read_only(true)).await?;
        Ok(SqliteStore { write, beats, read, leased: Arc::default(), path: path.to_owned() })
    }

    /// Takes the lock file beside the database. The system lets go of it when the process dies.
    async fn hold(&self) -> Result<(), StoreError> {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".lock");
        // A server of this process that was just dropped may still be closing.
        let taken = tokio::task::spawn_blocking(move || {
            zx1_home::Lock::take_within(Path::new(&name), Duration::from_secs(2))
        });
        let lock = taken.await.map_err(|e| StoreError::Leased(e.to_string()))?;
        *self.leased.held.lock().await = Some(lock.map_err(|e| StoreError::Leased(e.to_string()))?);
        Ok(())
    }
}

/// Postgres by URL.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresStore {
    write: PgPool,
    beats: PgPool,
    read: PgPool,
    leased: Arc<Leased<PgConnection>>,
    url: String,
}

#[cfg(feature = "postgres")]
impl PostgresStore {
    /// Connect and migrate.
    pub async fn open(url: &str) -> Result<PostgresStore, StoreError> {
        let pool = PgPoolOptions::new()
            .max_connections(16)
            .acquire_timeout(Duration::from_secs(10))
            .connect(url)
            .await?;
        POSTGRES.run(&pool).await?;
        let (leased, url) = (Arc::default(), url.to_owned());
        Ok(PostgresStore { write: pool.clone(), beats: pool.clone(), read: pool, leased, url })
    }

    /// Takes an advisory lock for the life of a connection of its own.
    async fn hold(&self) -> Result<(), StoreError> {
        let mut connection = PgConnection::connect(&self.url).await?;
        let sql = "SELECT pg_try_advisory_lock(9417)";
        let taken: bool = sqlx::query(sql).fetch_one(&mut connection).await?.try_get(0)?;
        if !taken {
            return Err(StoreError::Leased("by its advisory lock".to_owned()));
        }
        *self.leased.held.lock().await = Some(connection);
        Ok(())
    }
}

const CONTRACT: &str = "SELECT version, id, principal, agent, state, bounty, head_seq, created_at, \
     updated_at, next_deadline, summary, snapshot FROM contracts WHERE id = $1";
const INSERT_CONTRACT: &str = "INSERT INTO contracts (id, version, principal, agent, state, bounty, \
     head_seq, created_at, updated_at, next_deadline, summary, snapshot) \
     VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING";
const UPDATE_CONTRACT: &str = "UPDATE contracts SET version = version + 1, principal = $2, agent = $3, \
     state = $4, bounty = $5, head_seq = $6, created_at = $7, updated_at = $8, next_deadline = $9, \
     summary = $10, snapshot = $11 WHERE id = $1 AND version = $12";
const REPLAY: &str =
    "INSERT INTO replays (digest, keep_until) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
const ENTRY: &str = "INSERT INTO entries (contract_id, seq, received_at, body) VALUES ($1, $2, $3, $4)";
const DUE: &str = "SELECT next_deadline, id FROM contracts WHERE next_deadline IS NOT NULL \
     AND next_deadline <= $1 AND next_deadline >= $3 AND (next_deadline > $3 OR id > $4) \
     ORDER BY next_deadline, id LIMIT $2";
const LIVE: &str =
    "SELECT id FROM contracts WHERE next_deadline IS NOT NULL AND id > $1 ORDER BY id LIMIT $2";
const BEAT: &str = "INSERT INTO heartbeat (one, at) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET at = $1";
const EVENTS: &str = "SELECT id, contract_id, at, body FROM events WHERE id > $1 ORDER BY id LIMIT $2";
const DEPOSIT: &str = "INSERT INTO deposits (contract_id, party, round, side, address, amount, status, post, \
     closed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
     ON CONFLICT (contract_id, party, round) DO UPDATE SET status = excluded.status, \
     closed_at = excluded.closed_at";
const LAPSED: &str = "SELECT contract_id, party, round, side, address, amount, status, post, closed_at FROM deposits \
     WHERE status = 'lapsed' AND post <> '' AND (closed_at, contract_id, party, round) > ($1, $2, $3, $4) \
     ORDER BY closed_at, contract_id, party, round LIMIT $5";
const TAKEN: &str = "SELECT d.contract_id, d.party, d.round, d.side, d.address, d.amount, d.status, d.post, \
     d.closed_at FROM contracts c JOIN deposits d ON d.contract_id = c.id \
     WHERE c.next_deadline IS NOT NULL AND d.status = 'taken' ORDER BY d.contract_id, d.round";
const HANDED_OVER: &str = "SELECT contract_id, kind, item, body, created_at, reason FROM outbox \
     WHERE state = 'done' ORDER BY created_at DESC, contract_id, kind, item LIMIT $1";
const OUTBOX: &str = "INSERT INTO outbox (contract_id, kind, item, body, created_at, state, reason) \
     VALUES ($1, $2, $3, $4, $5, 'open', '') ON CONFLICT (contract_id, kind, item) DO NOTHING";
const OUTBOX_IN: &str = "SELECT contract_id, kind, item, body, created_at, reason FROM outbox \
     WHERE state = $1 ORDER BY created_at, contract_id, kind, item";
const MOVE_OUTBOX: &str = "UPDATE outbox SET state = $5, reason = $6 \
     WHERE contract_id = $1 AND kind = $2 AND item = $3 AND state = $4";
// The first condition on created_at is what an index serves; the second one breaks ties as the order does.
const LIST: &str = "SELECT summary FROM contracts WHERE created_at <= $2 AND (created_at < $2 OR id > $3) \
     AND updated_at >= $4 AND state <> 'unfunded' ORDER BY created_at DESC, id LIMIT $1";
const LIST_STATE: &str = "SELECT summary FROM contracts WHERE created_at <= $2 \
     AND (created_at < $2 OR id > $3) AND updated_at >= $4 AND state = $5 \
     ORDER BY created_at DESC, id LIMIT $1";
// Two indexes, one for each side, instead of a scan by age.
const LIST_PARTY: &str = "SELECT summary FROM (\
     SELECT * FROM (SELECT id, created_at, summary FROM contracts WHERE principal = $5 AND created_at <= $2 \
     AND (created_at < $2 OR id > $3) AND updated_at >= $4 AND ($6 = '' OR state = $6) \
     ORDER BY created_at DESC, id LIMIT $1) AS mine UNION \
     SELECT * FROM (SELECT id, created_at, summary FROM contracts WHERE agent = $5 AND created_at <= $2 \
     AND (created_at < $2 OR id > $3) AND updated_at >= $4 AND ($6 = '' OR state = $6) \
     ORDER BY created_at DESC, id LIMIT $1) AS taken) AS both_sides ORDER BY created_at DESC, id LIMIT $1";
// What has changed is little and new: its index, not the one by age, which the plus keeps out.
const LIST_SINCE: &str = "SELECT summary FROM contracts WHERE updated_at >= $4 AND +created_at <= $2 \
     AND (+created_at < $2 OR id > $3) AND state <> 'unfunded' ORDER BY +created_at DESC, id LIMIT $1";
const UNPAID: &str = "SELECT c.id FROM deposits d JOIN contracts c ON c.id = d.contract_id \
     WHERE d.side = 'principal' AND d.status = 'lapsed' AND c.next_deadline IS NULL AND c.updated_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.contract_id = c.id AND o.state IN ('open', 'dead')) LIMIT $2";
const LATE: &str = "INSERT INTO late_payees (post_hash, depositor, round, payout, keep_until) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (post_hash, depositor, round) DO NOTHING";

macro_rules! store {
    ($store:ident, $db:ident, $serialize:expr, $relax:expr, $fence:expr) => {
        impl Store for $store {
            fn commit(&self, commit: Commit) -> StoreFuture<'_, i64> {
                Box::pin(async move {
                    let mut tx = self.write.begin().await?;
                    let number = self.leased.number.load(Ordering::Acquire);
                    if number > 0 {
                        let now: i64 = sqlx::query::<$db>($fence).fetch_one(&mut *tx).await?.try_get(0)?;
                        if now != number {
                            return Err(StoreError::Superseded);
                        }
                    }
                    let lock: Option<&'static str> = $serialize;
                    if let (Some(lock), false) = (lock, commit.events.is_empty()) {
                        sqlx::query::<$db>(lock).execute(&mut *tx).await?;
                    }
                    if let Some((digest, keep_until)) = commit.replay {
                        let done = sqlx::query::<$db>(REPLAY)
                            .bind(digest.to_vec())
                            .bind(i64::try_from(keep_until.0).unwrap_or(i64::MAX))
                            .execute(&mut *tx)
                            .await?;
                        if done.rows_affected() == 0 {
                            return Err(StoreError::Replayed);
                        }
                    }
                    let mut id = String::new();
                    if let Some(row) = commit.row {
                        id = row.id.clone();
                        let sql = if commit.version.is_some() { UPDATE_CONTRACT } else { INSERT_CONTRACT };
                        let query = sqlx::query::<$db>(sql)
                            .bind(row.id)
                            .bind(row.principal)
                            .bind(row.agent)
                            .bind(row.state)
                            .bind(row.bounty)
                            .bind(row.head_seq)
                            .bind(row.created_at)
                            .bind(row.updated_at)
                            .bind(row.next_deadline)
                            .bind(row.summary)
                            .bind(row.snapshot);
                        let (query, missing) = match commit.version {
                            Some(version) => (query.bind(version), StoreError::Moved),
                            None => (query, StoreError::Exists),
                        };
                        if query.execute(&mut *tx).await?.rows_affected() == 0 {
                            return Err(missing);
                        }
                    }
                    for entry in commit.entries {
                        sqlx::query::<$db>(ENTRY)
                            .bind(id.clone())
                            .bind(entry.seq)
                            .bind(entry.received_at)
                            .bind(entry.body)
                            .execute(&mut *tx)
                            .await?;
                    }
                    for d in commit.deposits {
                        sqlx::query::<$db>(DEPOSIT)
                            .bind(d.contract_id)
                            .bind(d.party)
                            .bind(d.round)
                            .bind(d.side)
                            .bind(d.address)
                            .bind(d.amount)
                            .bind(d.status)
                            .bind(d.post)
                            .bind(d.closed_at)
                            .execute(&mut *tx)
                            .await?;
                    }
                    for o in commit.outbox {
                        sqlx::query::<$db>(OUTBOX)
                            .bind(o.contract_id)
                            .bind(o.kind)
                            .bind(o.item)
                            .bind(o.body)
                            .bind(o.created_at)
                            .execute(&mut *tx)
                            .await?;
                    }
                    for (at, body) in commit.events {
                        sqlx::query::<$db>("INSERT INTO events (contract_id, at, body) VALUES ($1, $2, $3)")
                            .bind(id.clone())
                            .bind(at)
                            .bind(body)
                            .execute(&mut *tx)
                            .await?;
                    }
                    tx.commit().await?;
                    Ok(commit.version.map_or(1, |v| v.saturating_add(1)))
                })
            }

            fn seen(&self, digest: [u8; 32]) -> StoreFuture<'_, bool> {
                Box::pin(async move {
                    let sql = "SELECT 1 FROM replays WHERE digest = $1";
                    let row =
                        sqlx::query::<$db>(sql).bind(digest.to_vec()).fetch_optional(&self.read).await?;
                    Ok(row.is_some())
                })
            }

            fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Stored>> {
                Box::pin(async move {
                    let row = sqlx::query::<$db>(CONTRACT).bind(id).fetch_optional(&self.read).await?;
                    let Some(row) = row else { return Ok(None) };
                    Ok(Some(Stored {
                        version: row.try_get(0)?,
                        row: ContractRow {
                            id: row.try_get(1)?,
                            principal: row.try_get(2)?,
                            agent: row.try_get(3)?,
                            state: row.try_get(4)?,
                            bounty: row.try_get(5)?,
                            head_seq: row.try_get(6)?,
                            created_at: row.try_get(7)?,
                            updated_at: row.try_get(8)?,
                            next_deadline: row.try_get(9)?,
                            summary: row.try_get(10)?,
                            snapshot: row.try_get(11)?,
                        },
                    }))
                })
            }

            fn entries<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<EntryRow>> {
                self.entries_from(id, 0, i64::MAX)
            }

            fn entries_from<'a>(
                &'a self,
                id: &'a str,
                seq: i64,
                limit: i64,
            ) -> StoreFuture<'a, Vec<EntryRow>> {
                Box::pin(async move {
                    let sql = "SELECT seq, received_at, body FROM entries WHERE contract_id = $1 AND seq >= $2 \
                               ORDER BY seq LIMIT $3";
                    let query = sqlx::query::<$db>(sql).bind(id).bind(seq).bind(limit);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(EntryRow {
                                seq: row.try_get(0)?,
                                received_at: row.try_get(1)?,
                                body: row.try_get(2)?,
                            })
                        })
                        .collect()
                })
            }

            fn unpaid(&self, before: i64, limit: i64) -> StoreFuture<'_, Vec<String>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(UNPAID).bind(before).bind(limit);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
                })
            }

            fn forget<'a>(&'a self, id: &'a str, late: LatePayee) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    let mut tx = self.write.begin().await?;
                    let query = sqlx::query::<$db>(LATE).bind(late.post_hash).bind(late.depositor);
                    let query = query.bind(late.round).bind(late.payout).bind(late.keep_until);
                    query.execute(&mut *tx).await?;
                    for sql in [
                        "DELETE FROM outbox WHERE contract_id = $1",
                        "DELETE FROM deposits WHERE contract_id = $1",
                        "DELETE FROM entries WHERE contract_id = $1",
                        "DELETE FROM contracts WHERE id = $1",
                    ] {
                        sqlx::query::<$db>(sql).bind(id).execute(&mut *tx).await?;
                    }
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn late_payees<'a>(&'a self, post_hash: &'a str) -> StoreFuture<'a, Vec<LatePayee>> {
                Box::pin(async move {
                    let sql = "SELECT post_hash, depositor, round, payout, keep_until FROM late_payees \
                               WHERE post_hash = $1 ORDER BY depositor, round";
                    let rows = sqlx::query::<$db>(sql).bind(post_hash).fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(LatePayee {
                                post_hash: row.try_get(0)?,
                                depositor: row.try_get(1)?,
                                round: row.try_get(2)?,
                                payout: row.try_get(3)?,
                                keep_until: row.try_get(4)?,
                            })
                        })
                        .collect()
                })
            }

            fn list(&self, filter: ListFilter) -> StoreFuture<'_, Vec<String>> {
                Box::pin(async move {
                    let sql = match (&filter.party, &filter.state) {
                        (Some(_), _) => LIST_PARTY,
                        (None, Some(_)) => LIST_STATE,
                        (None, None) if filter.since.is_some() => LIST_SINCE,
                        (None, None) => LIST,
                    };
                    let (created, id) = filter.after.unwrap_or((i64::MAX, String::new()));
                    let since = filter.since.unwrap_or(i64::MIN);
                    let query = sqlx::query::<$db>(sql).bind(filter.limit).bind(created).bind(id).bind(since);
                    let query = match (filter.party, filter.state) {
                        (Some(party), state) => query.bind(party).bind(state.unwrap_or_default()),
                        (None, Some(state)) => query.bind(state),
                        (None, None) => query,
                    };
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
                })
            }

            fn counts(&self) -> StoreFuture<'_, Vec<(String, i64)>> {
                Box::pin(async move {
                    let sql = "SELECT state, COUNT(*) FROM contracts GROUP BY state ORDER BY state";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
                })
            }

            fn next_deadline(&self) -> StoreFuture<'_, Option<i64>> {
                Box::pin(async move {
                    let sql = "SELECT MIN(next_deadline) FROM contracts WHERE next_deadline IS NOT NULL";
                    Ok(sqlx::query::<$db>(sql).fetch_one(&self.read).await?.try_get(0)?)
                })
            }

            fn due(&self, now: i64, after: (i64, String), limit: i64) -> StoreFuture<'_, Vec<(i64, String)>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(DUE).bind(now).bind(limit).bind(after.0).bind(after.1);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
                })
            }

            fn live<'a>(&'a self, after: &'a str, limit: i64) -> StoreFuture<'a, Vec<String>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(LIVE).bind(after).bind(limit);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
                })
            }

            fn beat(&self, now: i64) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let mut tx = self.beats.begin().await?;
                    let relax: Option<&'static str> = $relax;
                    if let Some(relax) = relax {
                        sqlx::query::<$db>(relax).execute(&mut *tx).await?;
                    }
                    sqlx::query::<$db>(BEAT).bind(now).execute(&mut *tx).await?;
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn heartbeat(&self) -> StoreFuture<'_, Option<i64>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>("SELECT at FROM heartbeat WHERE one = 1");
                    let row = query.fetch_optional(&self.write).await?;
                    row.map(|row| Ok(row.try_get(0)?)).transpose()
                })
            }

            fn deposits<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<DepositRow>> {
                Box::pin(async move {
                    let sql = "SELECT contract_id, party, round, side, address, amount, status, post, closed_at \
                               FROM deposits WHERE contract_id = $1 ORDER BY side DESC, round, party";
                    let rows = sqlx::query::<$db>(sql).bind(id).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn waiting(&self) -> StoreFuture<'_, Vec<DepositRow>> {
                Box::pin(async move {
                    let sql = "SELECT contract_id, party, round, side, address, amount, status, post, closed_at \
                               FROM deposits WHERE status = 'waiting' ORDER BY contract_id, party, round";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn outbox(&self, state: OutboxState) -> StoreFuture<'_, Vec<OutboxRow>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(OUTBOX_IN).bind(state.as_str());
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| outbox!(row)).collect()
                })
            }

            fn move_outbox<'a>(
                &'a self,
                row: &'a OutboxRow,
                from: OutboxState,
                to: OutboxState,
                reason: &'a str,
            ) -> StoreFuture<'a, bool> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(MOVE_OUTBOX)
                        .bind(&row.contract_id)
                        .bind(&row.kind)
                        .bind(&row.item)
                        .bind(from.as_str())
                        .bind(to.as_str())
                        .bind(reason);
                    Ok(query.execute(&self.write).await?.rows_affected() > 0)
                })
            }

            fn events_after(&self, id: i64, limit: i64) -> StoreFuture<'_, Vec<EventRow>> {
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(EVENTS).bind(id).bind(limit).fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(EventRow {
                                id: row.try_get(0)?,
                                contract_id: row.try_get(1)?,
                                at: row.try_get(2)?,
                                body: row.try_get(3)?,
                            })
                        })
                        .collect()
                })
            }

            fn last_event(&self) -> StoreFuture<'_, i64> {
                Box::pin(async move {
                    let sql = "SELECT COALESCE(MAX(id), 0) FROM events";
                    Ok(sqlx::query::<$db>(sql).fetch_one(&self.read).await?.try_get(0)?)
                })
            }

            fn prune(&self, now: i64, events_before: i64) -> StoreFuture<'_, u64> {
                Box::pin(async move {
                    let mut tx = self.write.begin().await?;
                    let sql = "DELETE FROM replays WHERE keep_until < $1";
                    let replays = sqlx::query::<$db>(sql).bind(now).execute(&mut *tx).await?.rows_affected();
                    let sql = "DELETE FROM late_payees WHERE keep_until < $1";
                    sqlx::query::<$db>(sql).bind(now).execute(&mut *tx).await?;
                    let sql = "DELETE FROM events WHERE at < $1";
                    let query = sqlx::query::<$db>(sql).bind(events_before);
                    let events = query.execute(&mut *tx).await?.rows_affected();
                    tx.commit().await?;
                    Ok(replays.saturating_add(events))
                })
            }

            fn meta<'a>(&'a self, name: &'a str, value: &'a str) -> StoreFuture<'a, String> {
                Box::pin(async move {
                    let sql = "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
                    sqlx::query::<$db>(sql).bind(name).bind(value).execute(&self.write).await?;
                    let sql = "SELECT value FROM meta WHERE name = $1";
                    Ok(sqlx::query::<$db>(sql).bind(name).fetch_one(&self.write).await?.try_get(0)?)
                })
            }

            fn set_meta<'a>(&'a self, name: &'a str, value: &'a str) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    let sql = "INSERT INTO meta (name, value) VALUES ($1, $2) \
                               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                    sqlx::query::<$db>(sql).bind(name).bind(value).execute(&self.write).await?;
                    Ok(())
                })
            }

            fn lease(&self) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    self.hold().await?;
                    let sql = "UPDATE lease SET number = number + 1 WHERE one = 1 RETURNING number";
                    let number: i64 = sqlx::query::<$db>(sql).fetch_one(&self.write).await?.try_get(0)?;
                    self.leased.number.store(number, Ordering::Release);
                    Ok(())
                })
            }

            fn lapsed(&self, after: LapsedAfter, limit: i64) -> StoreFuture<'_, Vec<DepositRow>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(LAPSED).bind(after.0).bind(after.1).bind(after.2);
                    let rows = query.bind(after.3).bind(limit).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn taken(&self) -> StoreFuture<'_, Vec<DepositRow>> {
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(TAKEN).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn handed_over(&self, limit: i64) -> StoreFuture<'_, Vec<OutboxRow>> {
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(HANDED_OVER).bind(limit).fetch_all(&self.read).await?;
                    rows.iter().map(|row| outbox!(row)).collect()
                })
            }

            fn order<'a>(&'a self, body: &'a str) -> StoreFuture<'a, i64> {
                Box::pin(async move {
                    let sql = "INSERT INTO orders (body) VALUES ($1) RETURNING id";
                    Ok(sqlx::query::<$db>(sql).bind(body).fetch_one(&self.write).await?.try_get(0)?)
                })
            }

            fn orders(&self) -> StoreFuture<'_, Vec<(i64, String)>> {
                Box::pin(async move {
                    let sql = "SELECT id, body FROM orders WHERE answer IS NULL ORDER BY id";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
                })
            }

            fn answer_order<'a>(&'a self, id: i64, answer: &'a str) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    let sql = "UPDATE orders SET answer = $2 WHERE id = $1";
                    sqlx::query::<$db>(sql).bind(id).bind(answer).execute(&self.write).await?;
                    Ok(())
                })
            }

            fn answer(&self, id: i64) -> StoreFuture<'_, Option<String>> {
                Box::pin(async move {
                    let sql = "SELECT answer FROM orders WHERE id = $1";
                    let row = sqlx::query::<$db>(sql).bind(id).fetch_optional(&self.read).await?;
                    Ok(row.map(|row| row.try_get(0)).transpose()?.flatten())
                })
            }

            fn ping(&self) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    sqlx::query::<$db>("SELECT 1").execute(&self.read).await?;
                    Ok(())
                })
            }

            fn close(&self) -> BoxFuture<'_, ()> {
                Box::pin(async move {
                    self.read.close().await;
                    self.beats.close().await;
                    self.write.close().await;
                    // Last: whoever takes it over finds everything written.
                    drop(self.leased.held.lock().await.take());
                })
            }
        }
    };
}

macro_rules! outbox {
    ($row:ident) => {
        Ok(OutboxRow {
            contract_id: $row.try_get(0)?,
            kind: $row.try_get(1)?,
            item: $row.try_get(2)?,
            body: $row.try_get(3)?,
            created_at: $row.try_get(4)?,
            reason: $row.try_get(5)?,
        })
    };
}

macro_rules! deposit {
    ($row:ident) => {
        Ok(DepositRow {
            contract_id: $row.try_get(0)?,
            party: $row.try_get(1)?,
            round: $row.try_get(2)?,
            side: $row.try_get(3)?,
            address: $row.try_get(4)?,
            amount: $row.try_get(5)?,
            status: $row.try_get(6)?,
            post: $row.try_get(7)?,
            closed_at: $row.try_get(8)?,
        })
    };
}

store!(SqliteStore, Sqlite, None, None, "SELECT number FROM lease");
// Event ids come from a sequence, which does not wait for commits: without the lock a reader could see 5
// before 4 is there, and miss 4.
#[cfg(feature = "postgres")]
store!(
    PostgresStore,
    Postgres,
    Some("SELECT pg_advisory_xact_lock(9400)"),
    Some("SET LOCAL synchronous_commit TO OFF"),
    // Whoever takes the lease over waits for this commit.
    "SELECT number FROM lease FOR SHARE"
);
