//! The connections of both databases: how they are opened, and how one server holds them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

#[cfg(feature = "postgres")]
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
#[cfg(feature = "postgres")]
use sqlx::{Connection as _, PgConnection};
use zx1_home::files;

use super::StoreError;

static SQLITE: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/market/sqlite");
#[cfg(feature = "postgres")]
static POSTGRES: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/market/postgres");

/// SQLite in a file: one writing connection, several that read beside it.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    pub(super) write: SqlitePool,
    /// For heartbeats, which no disk has to keep.
    pub(super) beats: SqlitePool,
    pub(super) read: SqlitePool,
    pub(super) leased: Arc<Leased<zx1_home::Lock>>,
    path: PathBuf,
}

/// The lease of a store: what keeps others away, and its number.
#[derive(Debug)]
pub(super) struct Leased<T> {
    /// 0: this process reads, or writes beside the server.
    pub(super) number: AtomicI64,
    pub(super) held: tokio::sync::Mutex<Option<T>>,
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
    pub(super) async fn hold(&self) -> Result<(), StoreError> {
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

/// Postgres: a lock was not had in time.
#[cfg(feature = "postgres")]
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Postgres by URL.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresStore {
    pub(super) write: PgPool,
    pub(super) beats: PgPool,
    pub(super) read: PgPool,
    pub(super) leased: Arc<Leased<PgConnection>>,
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
    pub(super) async fn hold(&self) -> Result<(), StoreError> {
        let mut connection = PgConnection::connect(&self.url).await?;
        // A server that has just ended may still be letting go of it.
        sqlx::query("SET lock_timeout = '2s'").execute(&mut connection).await?;
        match sqlx::query("SELECT pg_advisory_lock(9417)").execute(&mut connection).await {
            Ok(_) => {}
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(LOCK_NOT_AVAILABLE) => {
                return Err(StoreError::Leased("by its advisory lock".to_owned()));
            }
            Err(error) => return Err(error.into()),
        }
        *self.leased.held.lock().await = Some(connection);
        Ok(())
    }
}
