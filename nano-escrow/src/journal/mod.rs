//! The journal: what was decided, before it is done. SQLite in WAL mode with `synchronous=FULL`, so that a commit
//! that has returned survives a loss of power; one writing process, kept by a lock file (decision F3).

mod crash;
mod error;
pub(crate) mod rows;
mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};
use zx1_home::{Lock, LockError, files};

pub use self::crash::CrashPoints;
#[cfg(feature = "testing")]
pub use self::crash::{At, Probe};
pub use self::error::JournalError;
pub use self::rows::{
    AccountRow, AccountState, AlarmRow, BlockRow, BlockState, DepositRow, DepositState, LegRow, PlanRow,
};
pub use self::work::JournalWork;
use crate::Network;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("src/journal/migrations");

/// A write transaction.
pub(crate) type Tx = Transaction<'static, Sqlite>;

/// An open journal. Clones of it share the connection.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    write: SqlitePool,
    read: SqlitePool,
    points: CrashPoints,
    path: Option<PathBuf>,
    read_only: bool,
    // Held as long as the journal is open; the system lets go of it when the process dies.
    _lock: Option<Lock>,
}

impl Journal {
    /// Open for writing, or make a new one. `fingerprint` names the seed without telling it.
    ///
    /// Fails with 8602 when another process has it, 8603 for another seed, 8604 for another network.
    pub async fn open(path: &Path, network: Network, fingerprint: &str) -> Result<Journal, JournalError> {
        Journal::open_with(path, network, fingerprint, CrashPoints::default()).await
    }

    /// As [`open`](Self::open), with crash points that a test has chosen.
    pub async fn open_with(
        path: &Path,
        network: Network,
        fingerprint: &str,
        points: CrashPoints,
    ) -> Result<Journal, JournalError> {
        let folder = files::folder_of(path);
        files::make_folder(folder).map_err(JournalError::file(folder))?;
        let lock = lock(path)?;
        // Made here so that nobody else can read the nonces; SQLite gives its other files the same mode.
        files::create_if_missing(path).map_err(JournalError::file(path))?;
        let options = options(path);
        let write = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(Duration::from_secs(60))
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options.clone())
            .await?;
        migrate(&write).await?;
        let read = SqlitePoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(60))
            .connect_lazy_with(options.read_only(true));
        let inner =
            Inner { write, read, points, path: Some(path.to_owned()), read_only: false, _lock: Some(lock) };
        let journal = Journal { inner: Arc::new(inner) };
        journal.identify(network, fingerprint).await?;
        Ok(journal)
    }

    /// Open beside a writing process, to look only.
    pub async fn open_read_only(path: &Path) -> Result<Journal, JournalError> {
        if !path.exists() {
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(JournalError::File { path: path.to_owned(), source: missing });
        }
        let read = SqlitePoolOptions::new()
            .max_connections(2)
            .connect_with(options(path).read_only(true).create_if_missing(false))
            .await?;
        let inner = Inner {
            write: read.clone(),
            read,
            points: CrashPoints::default(),
            path: Some(path.to_owned()),
            read_only: true,
            _lock: None,
        };
        Ok(Journal { inner: Arc::new(inner) })
    }

    /// A journal that is gone with the process: for simulations.
    pub async fn in_memory(
        network: Network,
        fingerprint: &str,
        points: CrashPoints,
    ) -> Result<Journal, JournalError> {
        let options = SqliteConnectOptions::new().in_memory(true).foreign_keys(true);
        let write = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await?;
        migrate(&write).await?;
        let inner = Inner { read: write.clone(), write, points, path: None, read_only: false, _lock: None };
        let journal = Journal { inner: Arc::new(inner) };
        journal.identify(network, fingerprint).await?;
        Ok(journal)
    }

    async fn identify(&self, network: Network, fingerprint: &str) -> Result<(), JournalError> {
        let mut tx = self.begin().await?;
        let found = rows::meta(&mut tx, "network").await?;
        if found.is_none() {
            rows::set_meta(&mut tx, "network", network.name()).await?;
            rows::set_meta(&mut tx, "genesis", &network.genesis().to_string()).await?;
            rows::set_meta(&mut tx, "seed", fingerprint).await?;
        } else if let Some(journal) = found.filter(|n| n != network.name()) {
            return Err(JournalError::WrongNetwork { journal, given: network });
        }
        let journal = rows::meta(&mut tx, "seed").await?.unwrap_or_default();
        if journal != fingerprint {
            return Err(JournalError::WrongSeed { journal, given: fingerprint.to_owned() });
        }
        if rows::meta(&mut tx, "id").await?.is_none() {
            let mut id = [0; 16];
            getrandom::fill(&mut id).map_err(|e| JournalError::Random(e.to_string()))?;
            rows::set_meta(&mut tx, "id", &hex::encode(id)).await?;
        }
        self.commit(tx, "open").await
    }

    /// The network that the journal was made for.
    pub async fn network(&self) -> Result<Network, JournalError> {
        let mut conn = self.read().await?;
        let name = rows::meta(&mut conn, "network").await?;
        let name = name.ok_or_else(|| JournalError::Corrupt("it names no network".into()))?;
        Ok(name.parse::<Network>()?)
    }

    /// What tells this journal from any other: 32 hexadecimal digits, drawn when it was made. Copies and restored
    /// backups keep it.
    pub async fn id(&self) -> Result<String, JournalError> {
        let mut conn = self.read().await?;
        let id = rows::meta(&mut conn, "id").await?;
        id.ok_or_else(|| JournalError::Corrupt("it has no id".into()))
    }

    /// Where the database is; none for one in memory.
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// Solved work, kept in this journal.
    pub fn work_cache(&self) -> Arc<JournalWork> {
        Arc::new(JournalWork::new(self.clone()))
    }

    /// The crash points of this journal.
    pub fn crash_points(&self) -> &CrashPoints {
        &self.inner.points
    }

    /// A connection to read with.
    pub(crate) async fn read(&self) -> Result<PoolConnection<Sqlite>, JournalError> {
        Ok(self.inner.read.acquire().await?)
    }

    /// Begin to write. There is one writer; others wait here.
    pub(crate) async fn begin(&self) -> Result<Tx, JournalError> {
        if self.inner.read_only {
            return Err(JournalError::ReadOnly);
        }
        Ok(self.inner.write.begin_with("BEGIN IMMEDIATE").await?)
    }

    /// Commit, with a crash point on either side.
    pub(crate) async fn commit(&self, tx: Tx, name: &str) -> Result<(), JournalError> {
        self.inner.points.pass("before", "commit", name).await;
        tx.commit().await?;
        self.inner.points.pass("after", "commit", name).await;
        Ok(())
    }

    /// Write everything back and let go of the lock, when this is the last clone.
    pub async fn close(self) {
        self.inner.read.close().await;
        self.inner.write.close().await;
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(30))
}

async fn migrate(pool: &SqlitePool) -> Result<(), JournalError> {
    MIGRATIONS.run(pool).await.map_err(|e| match e {
        sqlx::migrate::MigrateError::Execute(e) => JournalError::Database(e),
        other => JournalError::Schema(other.to_string()),
    })
}

/// Take the lock file beside the database.
fn lock(path: &Path) -> Result<Lock, JournalError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    Lock::try_take(Path::new(&name)).map_err(|error| match error {
        LockError::Held { .. } => JournalError::Locked(path.to_owned()),
        LockError::Io { path, source } => JournalError::File { path, source },
    })
}

/// Copy the database into a file, consistent, while it is in use: a cold backup that needs no lock.
pub async fn copy(conn: &mut SqliteConnection, to: &Path) -> Result<(), JournalError> {
    if to.exists() {
        return Err(JournalError::Exists(to.to_owned()));
    }
    conn.ping().await?;
    sqlx::query("VACUUM INTO ?").bind(to.to_string_lossy().into_owned()).execute(conn).await?;
    Ok(())
}
