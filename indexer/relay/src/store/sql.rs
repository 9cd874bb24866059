//! SQLite and Postgres. Both understand the same statements, so each is written once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
#[cfg(feature = "postgres")]
use sqlx::{
    Connection as _, PgConnection, Postgres,
    postgres::{PgPool, PgPoolOptions},
};
use sqlx::{Row as _, Sqlite};
use zx1_home::{Lock, LockError, files};
use zx1_relay_rules::AgentId;
use zx1_relay_rules::access::Subject;
use zx1_relay_rules::elo::Rating;
use zx1_relay_rules::proposal::Key;

use super::{Commit, Kept, Pair, Store, StoreError, StoreFuture};

static SQLITE: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/relay/sqlite");
#[cfg(feature = "postgres")]
static POSTGRES: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/relay/postgres");

const PROPOSAL: &str = "INSERT INTO proposals (id, body, updated_at, ended) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at, ended = excluded.ended";
const RATING: &str = "INSERT INTO ratings (key, rating, transactions) VALUES ($1, $2, $3) \
     ON CONFLICT (key) DO UPDATE SET rating = excluded.rating, transactions = excluded.transactions";
const IMPORT: &str = "INSERT INTO imported (id, rating, transactions) VALUES ($1, $2, $3) \
     ON CONFLICT (id) DO UPDATE SET rating = excluded.rating, transactions = excluded.transactions";
const PAIR: &str = "INSERT INTO pairs (a, b, last, count) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (a, b) DO UPDATE SET last = excluded.last, count = excluded.count";
const BAN: &str = "INSERT INTO bans (subject, reason, at) VALUES ($1, $2, $3) \
     ON CONFLICT (subject) DO UPDATE SET reason = excluded.reason, at = excluded.at";
const ALLOW: &str = "INSERT INTO allowed (key, note, at) VALUES ($1, $2, $3) \
     ON CONFLICT (key) DO UPDATE SET note = excluded.note, at = excluded.at";
const BUFFER: &str = "INSERT INTO buffers (channel, body) VALUES ($1, $2) \
     ON CONFLICT (channel) DO UPDATE SET body = excluded.body";
const IDENTITY: &str = "INSERT INTO identities (key, id) VALUES ($1, $2) ON CONFLICT DO NOTHING";

/// SQLite in a file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    pool: SqlitePool,
    _lock: Arc<Lock>,
}

impl SqliteStore {
    /// Opens the file, or makes it with mode 0600.
    ///
    /// # Errors
    ///
    /// 7765, 7766; 7768 while another process has it.
    pub async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
        let made = files::make_folder(files::folder_of(path)).and_then(|()| files::create_if_missing(path));
        made.map_err(sqlx::Error::Io)?;
        let lock = Lock::try_take(&path.with_extension("lock")).map_err(|error| match error {
            LockError::Held { .. } => StoreError::Busy,
            LockError::Io { source, .. } => sqlx::Error::Io(source).into(),
        })?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A rating that somebody has heard of survives a loss of power.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(10));
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
        SQLITE.run(&pool).await?;
        Ok(SqliteStore { pool, _lock: Arc::new(lock) })
    }
}

/// Postgres by URL.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresStore {
    pool: PgPool,
    /// Holds the advisory lock of the one writer.
    _lock: Arc<tokio::sync::Mutex<PgConnection>>,
}

#[cfg(feature = "postgres")]
impl PostgresStore {
    /// Connects and migrates.
    ///
    /// # Errors
    ///
    /// 7765, 7766; 7768 while another process has it.
    pub async fn open(url: &str) -> Result<PostgresStore, StoreError> {
        let mut lock = PgConnection::connect(url).await?;
        // A relay that has just ended may still be letting go of it.
        sqlx::query("SET lock_timeout = '2s'").execute(&mut lock).await?;
        match sqlx::query("SELECT pg_advisory_lock(7768)").execute(&mut lock).await {
            Ok(_) => {}
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55P03") => {
                return Err(StoreError::Busy);
            }
            Err(error) => return Err(error.into()),
        }
        let options = PgPoolOptions::new().max_connections(4).acquire_timeout(Duration::from_secs(10));
        let pool = options.connect(url).await?;
        POSTGRES.run(&pool).await?;
        Ok(PostgresStore { pool, _lock: Arc::new(tokio::sync::Mutex::new(lock)) })
    }
}

/// Times and counts as both databases keep them.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned<T: TryFrom<i64>>(number: i64) -> Result<T, StoreError> {
    T::try_from(number).map_err(|_| StoreError::Corrupt("a number is out of range".to_owned()))
}

fn key(bytes: Vec<u8>) -> Result<Key, StoreError> {
    bytes.try_into().map_err(|_| StoreError::Corrupt("a key has not 32 bytes".to_owned()))
}

fn id(text: &str) -> Result<AgentId, StoreError> {
    let id = AgentId::parse(&format!("@{text}"), "id");
    id.map_err(|_| StoreError::Corrupt("an id is none".to_owned()))
}

fn rating(rating: i64, transactions: i64) -> Result<Rating, StoreError> {
    Ok(Rating { rating: unsigned(rating)?, transactions: unsigned(transactions)? })
}

macro_rules! store {
    ($store:ident, $db:ident) => {
        impl Store for $store {
            fn load(&self) -> StoreFuture<'_, Kept> {
                Box::pin(async move {
                    let rows = async |sql: &'static str| sqlx::query::<$db>(sql).fetch_all(&self.pool).await;
                    let mut kept = Kept::default();
                    for row in rows("SELECT key, id FROM identities").await? {
                        kept.identities.push((key(row.try_get(0)?)?, id(row.try_get(1)?)?));
                    }
                    for row in rows("SELECT rating, transactions, key FROM ratings").await? {
                        let rating = rating(row.try_get(0)?, row.try_get(1)?)?;
                        kept.ratings.push((key(row.try_get(2)?)?, rating));
                    }
                    for row in rows("SELECT rating, transactions, id FROM imported").await? {
                        let rating = rating(row.try_get(0)?, row.try_get(1)?)?;
                        kept.imported.push((id(row.try_get(2)?)?, rating));
                    }
                    for row in rows("SELECT a, b, last, count FROM pairs").await? {
                        kept.pairs.push(Pair {
                            a: key(row.try_get(0)?)?,
                            b: key(row.try_get(1)?)?,
                            last: unsigned(row.try_get(2)?)?,
                            count: unsigned(row.try_get(3)?)?,
                        });
                    }
                    for row in rows("SELECT body FROM proposals WHERE ended = 0 ORDER BY id").await? {
                        let body: String = row.try_get(0)?;
                        let proposal = serde_json::from_str(&body);
                        kept.proposals
                            .push(proposal.map_err(|error| StoreError::Corrupt(error.to_string()))?);
                    }
                    for row in rows("SELECT subject, reason FROM bans ORDER BY subject").await? {
                        let subject = Subject::from_text(row.try_get(0)?);
                        let subject = subject.ok_or_else(|| StoreError::Corrupt("a ban's subject".into()))?;
                        kept.bans.push((subject, row.try_get(1)?));
                    }
                    for row in rows("SELECT key, note FROM allowed ORDER BY key").await? {
                        kept.allowed.push((key(row.try_get(0)?)?, row.try_get(1)?));
                    }
                    for row in rows("SELECT channel, body FROM buffers ORDER BY channel").await? {
                        kept.buffers.push((row.try_get(0)?, row.try_get(1)?));
                    }
                    Ok(kept)
                })
            }

            fn commit(&self, commit: Commit) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let mut tx = self.pool.begin().await?;
                    for (proposal, ended) in commit.proposals {
                        let body = serde_json::to_string(&proposal);
                        let body = body.map_err(|error| StoreError::Corrupt(error.to_string()))?;
                        let query = sqlx::query::<$db>(PROPOSAL).bind(proposal.id).bind(body);
                        let query = query.bind(stored(proposal.updated_at)).bind(i64::from(ended));
                        query.execute(&mut *tx).await?;
                    }
                    for (key, rating) in commit.ratings {
                        let query = sqlx::query::<$db>(RATING).bind(key.to_vec());
                        let query = query.bind(i64::from(rating.rating)).bind(i64::from(rating.transactions));
                        query.execute(&mut *tx).await?;
                    }
                    for (id, rating) in commit.import {
                        let query = sqlx::query::<$db>(IMPORT).bind(id.as_str().to_owned());
                        let query = query.bind(i64::from(rating.rating)).bind(i64::from(rating.transactions));
                        query.execute(&mut *tx).await?;
                    }
                    if let Some(id) = commit.found {
                        let query = sqlx::query::<$db>("DELETE FROM imported WHERE id = $1");
                        query.bind(id.as_str().to_owned()).execute(&mut *tx).await?;
                    }
                    if let Some(pair) = commit.pair {
                        let query = sqlx::query::<$db>(PAIR).bind(pair.a.to_vec()).bind(pair.b.to_vec());
                        query.bind(stored(pair.last)).bind(i64::from(pair.count)).execute(&mut *tx).await?;
                    }
                    if let Some((subject, reason, at)) = commit.ban {
                        let query = sqlx::query::<$db>(BAN).bind(subject.to_text()).bind(reason);
                        query.bind(stored(at)).execute(&mut *tx).await?;
                    }
                    if let Some(subject) = commit.unban {
                        let query = sqlx::query::<$db>("DELETE FROM bans WHERE subject = $1");
                        query.bind(subject.to_text()).execute(&mut *tx).await?;
                    }
                    if let Some((key, note, at)) = commit.allow {
                        let query = sqlx::query::<$db>(ALLOW).bind(key.to_vec()).bind(note);
                        query.bind(stored(at)).execute(&mut *tx).await?;
                    }
                    if let Some(key) = commit.revoke {
                        let query = sqlx::query::<$db>("DELETE FROM allowed WHERE key = $1");
                        query.bind(key.to_vec()).execute(&mut *tx).await?;
                    }
                    Ok(tx.commit().await?)
                })
            }

            fn remember(&self, key: Key, id: AgentId) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(IDENTITY).bind(key.to_vec()).bind(id.as_str().to_owned());
                    query.execute(&self.pool).await?;
                    Ok(())
                })
            }

            fn buffer(&self, buffers: Vec<(String, String)>) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let mut tx = self.pool.begin().await?;
                    for (channel, body) in buffers {
                        sqlx::query::<$db>(BUFFER).bind(channel).bind(body).execute(&mut *tx).await?;
                    }
                    Ok(tx.commit().await?)
                })
            }

            fn sweep(&self, before: u64) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let sql = "DELETE FROM proposals WHERE ended = 1 AND updated_at < $1";
                    sqlx::query::<$db>(sql).bind(stored(before)).execute(&self.pool).await?;
                    Ok(())
                })
            }

            fn ping(&self) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    sqlx::query::<$db>("SELECT 1").execute(&self.pool).await?;
                    Ok(())
                })
            }
        }
    };
}

store!(SqliteStore, Sqlite);
#[cfg(feature = "postgres")]
store!(PostgresStore, Postgres);
