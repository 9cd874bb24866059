//! SQLite and Postgres. Both understand the same statements, so each is written once.

use std::path::Path;
use std::time::Duration;

use futures_util::future::BoxFuture;
#[cfg(feature = "postgres")]
use sqlx::Postgres;
#[cfg(feature = "postgres")]
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Row, Sqlite};
use zx1_home::files;

use super::{
    Commit, ContractRow, DepositRow, EntryRow, EventRow, ListFilter, OutboxRow, OutboxState, Store,
    StoreError, StoreFuture, Stored,
};

static SQLITE: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/market/sqlite");
#[cfg(feature = "postgres")]
static POSTGRES: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/market/postgres");

/// SQLite in a file: one writing connection, several that read beside it.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    write: SqlitePool,
    read: SqlitePool,
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
        let read = SqlitePoolOptions::new().max_connections(8).connect_with(options.read_only(true)).await?;
        Ok(SqliteStore { write, read })
    }
}

/// Postgres by URL.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresStore {
    write: PgPool,
    read: PgPool,
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
        Ok(PostgresStore { write: pool.clone(), read: pool })
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
const ENTRIES: &str = "SELECT seq, received_at, body FROM entries WHERE contract_id = $1 ORDER BY seq";
const DUE: &str = "SELECT id FROM contracts WHERE next_deadline IS NOT NULL AND next_deadline <= $1 \
     ORDER BY next_deadline, id LIMIT $2";
const EVENTS: &str = "SELECT id, contract_id, at, body FROM events WHERE id > $1 ORDER BY id LIMIT $2";
const DEPOSIT: &str = "INSERT INTO deposits (contract_id, party, round, side, address, amount, status) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) \
     ON CONFLICT (contract_id, party, round) DO UPDATE SET status = excluded.status";
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
const LIST_PARTY: &str = "SELECT summary FROM contracts WHERE created_at <= $2 \
     AND (created_at < $2 OR id > $3) AND updated_at >= $4 AND (principal = $5 OR agent = $5) \
     AND ($6 = '' OR state = $6) ORDER BY created_at DESC, id LIMIT $1";

macro_rules! store {
    ($store:ident, $db:ident, $serialize:expr) => {
        impl Store for $store {
            fn commit(&self, commit: Commit) -> StoreFuture<'_, i64> {
                Box::pin(async move {
                    let mut tx = self.write.begin().await?;
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
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(ENTRIES).bind(id).fetch_all(&self.read).await?;
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

            fn list(&self, filter: ListFilter) -> StoreFuture<'_, Vec<String>> {
                Box::pin(async move {
                    let sql = match (&filter.party, &filter.state) {
                        (Some(_), _) => LIST_PARTY,
                        (None, Some(_)) => LIST_STATE,
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

            fn due(&self, now: i64, limit: i64) -> StoreFuture<'_, Vec<String>> {
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(DUE).bind(now).bind(limit).fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
                })
            }

            fn deposits<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<DepositRow>> {
                Box::pin(async move {
                    let sql = "SELECT contract_id, party, round, side, address, amount, status FROM deposits \
                               WHERE contract_id = $1 ORDER BY side DESC, round, party";
                    let rows = sqlx::query::<$db>(sql).bind(id).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn waiting(&self) -> StoreFuture<'_, Vec<DepositRow>> {
                Box::pin(async move {
                    let sql = "SELECT contract_id, party, round, side, address, amount, status FROM deposits \
                               WHERE status = 'waiting' ORDER BY contract_id, party, round";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn outbox(&self, state: OutboxState) -> StoreFuture<'_, Vec<OutboxRow>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(OUTBOX_IN).bind(state.as_str());
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(OutboxRow {
                                contract_id: row.try_get(0)?,
                                kind: row.try_get(1)?,
                                item: row.try_get(2)?,
                                body: row.try_get(3)?,
                                created_at: row.try_get(4)?,
                                reason: row.try_get(5)?,
                            })
                        })
                        .collect()
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

            fn ping(&self) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    sqlx::query::<$db>("SELECT 1").execute(&self.read).await?;
                    Ok(())
                })
            }

            fn close(&self) -> BoxFuture<'_, ()> {
                Box::pin(async move {
                    self.read.close().await;
                    self.write.close().await;
                })
            }
        }
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
        })
    };
}

store!(SqliteStore, Sqlite, None);
// Event ids come from a sequence, which does not wait for commits: without the lock a reader could see 5
// before 4 is there, and miss 4.
#[cfg(feature = "postgres")]
store!(PostgresStore, Postgres, Some("SELECT pg_advisory_xact_lock(9400)"));
