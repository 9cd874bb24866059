//! SQLite and Postgres. Both understand the same statements, so each is written once.

use std::collections::{BTreeMap, BTreeSet};
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
use sqlx::{QueryBuilder, Row as _, Sqlite};
use zx1_home::{Lock, LockError, files};
use zx1_protocol::units::MicroUsdc;

use super::find::pattern;
use super::rows::{
    AgentRow, AskRow, BatchRow, BindingRow, ChallengeRow, ContractRow, ConversationRow, CounterpartyRow,
    EnvelopeRow, EpochRow, EventRow, FeedbackRow, GapRow, KeyRow, LifeRow, RatingRow, Row, StakeRow,
    StreamRow, TenureRow, TraceRow, fixed, unsigned,
};
use super::{
    Alike, Commit, Condition, EpochTotals, Find, Remove, Store, StoreError, StoreFuture, StoredEvent,
    StoredStream, Totals, Value,
};

static SQLITE: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/indexer/sqlite");
#[cfg(feature = "postgres")]
static POSTGRES: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/indexer/postgres");

/// Values in one statement; SQLite's own limit is 32 766.
const MAX_VALUES: usize = 16_000;
/// Keys in one list.
const MAX_KEYS: usize = 8_000;

/// SQLite in a file: one writing connection, several that read beside it.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    write: SqlitePool,
    read: SqlitePool,
    /// Held by the one writer.
    lock: std::sync::Arc<Lock>,
}

impl SqliteStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    ///
    /// 9600, 9601; 9604 while another process has it open.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        files::make_folder(files::folder_of(path)).map_err(sqlx::Error::Io)?;
        let lock = Lock::try_take(&path.with_extension("lock")).map_err(|error| match error {
            LockError::Held { .. } => StoreError::Busy,
            LockError::Io { source, .. } => sqlx::Error::Io(source).into(),
        })?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // No money hangs on it, and what a loss of power takes is read from the chain again.
            .synchronous(SqliteSynchronous::Normal)
            .pragma("temp_store", "memory")
            .busy_timeout(Duration::from_secs(10));
        // The writer changes the same pages of its indexes again and again: it keeps 64 MB of them, and they go
        // from the log to the file every 64 MB. Eight readers share the system's cache and need little.
        let writer = options.clone().pragma("cache_size", "-65536").pragma("wal_autocheckpoint", "32768");
        let write = SqlitePoolOptions::new().max_connections(1).connect_with(writer).await?;
        SQLITE.run(&write).await?;
        let reader = options.pragma("cache_size", "-8192").read_only(true);
        let read = SqlitePoolOptions::new().max_connections(8).connect_with(reader).await?;
        Ok(Self { write, read, lock: std::sync::Arc::new(lock) })
    }

    /// A statement that fails takes its transaction with it. So SQLite need not be able to undo the statement
    /// alone, for which it would copy every page before it changes it.
    const INSERT: &'static str = "INSERT OR FAIL";

    async fn begin(&self) -> Result<sqlx::Transaction<'static, Sqlite>, sqlx::Error> {
        self.write.begin().await
    }

    async fn release(&self) {
        self.lock.release();
    }
}

/// The number of the writer's lock: any will do; it is "zx1i".
#[cfg(feature = "postgres")]
const WRITER: i64 = 0x7a78_3169;

/// The number of the lock that a writer's transaction holds until it has ended: "zx1j".
#[cfg(feature = "postgres")]
const WRITING: i64 = 0x7a78_316a;

/// Postgres by URL.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresStore {
    write: PgPool,
    read: PgPool,
    /// The connection that holds the lock of the one writer.
    lock: std::sync::Arc<tokio::sync::Mutex<Option<sqlx::pool::PoolConnection<Postgres>>>>,
}

#[cfg(feature = "postgres")]
impl PostgresStore {
    /// Connects and migrates.
    ///
    /// # Errors
    ///
    /// 9600, 9601; 9604 while another process writes to it.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let pool = PgPoolOptions::new()
            .max_connections(16)
            .acquire_timeout(Duration::from_secs(10))
            .connect(url)
            .await?;
        let mut lock = pool.acquire().await?;
        // A process that died a moment ago may still hold it, until the server notices.
        let deadline = std::time::Instant::now() + Duration::from_secs(3);
        loop {
            let sql = "SELECT pg_try_advisory_lock($1)";
            let held: bool = sqlx::query_scalar(sql).bind(WRITER).fetch_one(&mut *lock).await?;
            if held {
                break;
            }
            if std::time::Instant::now() >= deadline {
                return Err(StoreError::Busy);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        POSTGRES.run(&pool).await?;
        let lock = std::sync::Arc::new(tokio::sync::Mutex::new(Some(lock)));
        let store = Self { write: pool.clone(), read: pool, lock };
        // Waits for what an earlier process has sent.
        store.begin().await?.rollback().await?;
        Ok(store)
    }

    const INSERT: &'static str = "INSERT";

    /// A transaction that alone writes. A process that died may have sent a COMMIT that the server has not
    /// done yet; who came after it must not read before that.
    async fn begin(&self) -> Result<sqlx::Transaction<'static, Postgres>, sqlx::Error> {
        let mut tx = self.write.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(WRITING).execute(&mut *tx).await?;
        Ok(tx)
    }

    async fn release(&self) {
        // The pool waits for it.
        if let Some(mut lock) = self.lock.lock().await.take() {
            let free = sqlx::query("SELECT pg_advisory_unlock($1)").bind(WRITER);
            if let Err(error) = free.execute(&mut *lock).await {
                tracing::debug!(%error, "the writer's lock ends with its connection");
            }
        }
    }
}

macro_rules! bind {
    ($db:ident, $query:expr, $value:expr) => {
        match $value {
            Value::Int(value) => $query.push_bind(value),
            Value::Text(value) => $query.push_bind(value),
            Value::Bytes(value) => $query.push_bind(value),
        }
    };
}

/// What follows ` WHERE `, with values bound.
macro_rules! conditions {
    ($db:ident, $query:expr, $find:expr) => {{
        let query: &mut QueryBuilder<$db> = $query;
        let find: Find = $find;
        let mut word = " WHERE ";
        for condition in find.conditions {
            query.push(word);
            word = " AND ";
            match condition {
                Condition::Is(column, operator, value) => {
                    query.push(column).push(" ").push(operator).push(" ");
                    bind!($db, query, value);
                }
                Condition::Either(either) => {
                    let mut word = "(";
                    for (column, operator, value) in either {
                        query.push(word).push(column).push(" ").push(operator).push(" ");
                        bind!($db, query, value);
                        word = " OR ";
                    }
                    query.push(")");
                }
                Condition::In(_, values) if values.is_empty() => {
                    query.push("1 = 0");
                }
                Condition::In(column, values) => {
                    query.push(column).push(" IN (");
                    let mut comma = "";
                    for value in values {
                        query.push(comma);
                        comma = ", ";
                        bind!($db, query, value);
                    }
                    query.push(")");
                }
                Condition::Holds(column, text) => {
                    query.push(column).push(" LIKE ").push_bind(pattern(&text)).push(" ESCAPE '\\'");
                }
                Condition::Sure(text) => {
                    query.push(text);
                }
            }
        }
        if !find.after.is_empty() {
            query.push(word).push("(").push(find.order.join(", ")).push(")");
            query.push(if find.descending { " < (" } else { " > (" });
            let mut comma = "";
            for value in find.after {
                query.push(comma);
                comma = ", ";
                bind!($db, query, value);
            }
            query.push(")");
        }
        if !find.order.is_empty() {
            let direction = if find.descending { " DESC" } else { "" };
            let order: Vec<String> = find.order.iter().map(|column| format!("{column}{direction}")).collect();
            query.push(" ORDER BY ").push(order.join(", "));
        }
        if let Some(limit) = find.limit {
            query.push(" LIMIT ").push_bind(limit);
        }
    }};
}

/// Writes rows, as many at once as a statement takes.
macro_rules! put {
    ($db:ident, $tx:expr, $row:ty, $rows:expr, $conflict:expr) => {{
        let rows: Vec<$row> = $rows;
        let at_once = MAX_VALUES / <$row>::COLUMNS.len();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let mut query = QueryBuilder::<$db>::new(<$row>::insert(Self::INSERT));
            query.push_values(rows.by_ref().take(at_once), |mut to, row| row.push(&mut to));
            query.push($conflict);
            query.build().execute(&mut *$tx).await?;
        }
    }};
}

macro_rules! select {
    ($self:expr, $db:ident, $out:ty, $select:expr, $find:expr) => {{
        let select: String = $select;
        let find: Find = $find;
        Box::pin(async move {
            let mut query = QueryBuilder::<$db>::new(select);
            conditions!($db, &mut query, find);
            Ok(query.build_query_as::<$out>().fetch_all(&$self.read).await?)
        })
    }};
}

/// Removes what one [`Remove`] names.
macro_rules! remove {
    ($db:ident, $tx:expr, $remove:expr) => {{
        let by_batch = [
            "DELETE FROM conversations WHERE agent = $1 AND epoch = $2",
            "DELETE FROM batch_ratings WHERE agent = $1 AND epoch = $2",
            "DELETE FROM counterparties WHERE agent = $1 AND epoch = $2",
        ];
        match $remove {
            Remove::Transaction(slot, signature) => {
                let sql = "DELETE FROM events WHERE slot = $1 AND signature = $2";
                sqlx::query::<$db>(sql).bind(slot).bind(signature).execute(&mut *$tx).await?;
            }
            Remove::Batch(agent, epoch) => {
                let whole = ["DELETE FROM batches WHERE agent = $1 AND epoch = $2"];
                for sql in by_batch.into_iter().chain(whole) {
                    sqlx::query::<$db>(sql)
                        .bind(&agent.as_bytes()[..])
                        .bind(epoch)
                        .execute(&mut *$tx)
                        .await?;
                }
            }
            Remove::BatchData(agent, epoch) => {
                for sql in by_batch {
                    sqlx::query::<$db>(sql)
                        .bind(&agent.as_bytes()[..])
                        .bind(epoch)
                        .execute(&mut *$tx)
                        .await?;
                }
            }
            Remove::Standing(agent) => {
                for sql in [
                    "DELETE FROM tenures WHERE agent = $1",
                    "DELETE FROM keys WHERE agent = $1",
                    "DELETE FROM stakes WHERE agent = $1",
                ] {
                    sqlx::query::<$db>(sql).bind(&agent.as_bytes()[..]).execute(&mut *$tx).await?;
                }
            }
            Remove::Ask(address, slot) => {
                let sql = "DELETE FROM asks WHERE address = $1 AND created_slot = $2";
                sqlx::query::<$db>(sql).bind(address).bind(slot).execute(&mut *$tx).await?;
            }
            Remove::Challenge(address, slot) => {
                let sql = "DELETE FROM challenges WHERE address = $1 AND submitted_slot = $2";
                sqlx::query::<$db>(sql).bind(address).bind(slot).execute(&mut *$tx).await?;
            }
            Remove::Feedback(number) => {
                let sql = "DELETE FROM feedback WHERE number = $1";
                sqlx::query::<$db>(sql).bind(number).execute(&mut *$tx).await?;
            }
            Remove::Gaps(account, created) => {
                let sql = "DELETE FROM gaps WHERE account = $1 AND created_slot = $2";
                sqlx::query::<$db>(sql).bind(account).bind(created).execute(&mut *$tx).await?;
            }
            Remove::Life(account, created) => {
                let sql = "DELETE FROM lives WHERE account = $1 AND created_slot = $2";
                sqlx::query::<$db>(sql).bind(account).bind(created).execute(&mut *$tx).await?;
            }
            Remove::Contract(market, id) => {
                let sql = "DELETE FROM contracts WHERE market = $1 AND id = $2";
                sqlx::query::<$db>(sql).bind(market).bind(id).execute(&mut *$tx).await?;
            }
            Remove::StreamBefore(at) => {
                let sql = "DELETE FROM stream WHERE at < $1";
                sqlx::query::<$db>(sql).bind(at).execute(&mut *$tx).await?;
            }
            Remove::MessagesBefore(at) => {
                let sql = "DELETE FROM stream WHERE kind = 'message' AND at < $1";
                sqlx::query::<$db>(sql).bind(at).execute(&mut *$tx).await?;
            }
        }
    }};
}

/// `SELECT id, columns FROM table `: of the two tables that number their rows.
fn with_id<T: Row>() -> String {
    format!("SELECT id, {} FROM {} ", T::COLUMNS.join(", "), T::TABLE)
}

const TOTALS: [&str; 5] = [
    "SELECT COUNT(*), CAST(COALESCE(SUM(stake), 0) AS BIGINT), CAST(COALESCE(SUM(slashed), 0) AS BIGINT), \
     CAST(COALESCE(SUM(fined), 0) AS BIGINT), CAST(COALESCE(SUM(lease_paid), 0) AS BIGINT), \
     CAST(COALESCE(SUM(CASE WHEN tenure > 1 THEN tenure - 1 ELSE 0 END), 0) AS BIGINT) FROM agents",
    "SELECT COUNT(*), COUNT(*) - COUNT(data_bytes), COUNT(withheld_slot) FROM batches",
    "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN outcome = 0 THEN 1 ELSE 0 END), 0) AS BIGINT), \
     CAST(COALESCE(SUM(CASE WHEN outcome = 2 THEN 1 ELSE 0 END), 0) AS BIGINT) FROM challenges",
    "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN state = 0 THEN 1 ELSE 0 END), 0) AS BIGINT) FROM asks",
    "SELECT COUNT(*), COUNT(resolution_slot) FROM feedback",
];
const ALIKE: &str = "SELECT agent, state, success, earned, \
     CASE WHEN state = 'open' THEN bounty ELSE NULL END AS offered, COUNT(*) FROM contracts ";
const EPOCHS: &str = "SELECT CAST(block_time / 86400 AS BIGINT) AS epoch, name, COUNT(*) FROM events \
     WHERE block_time >= $1 AND name IN ('BatchSubmitted', 'ChallengeSubmitted', 'FeedbackSubmitted', \
     'AgentRegistered') GROUP BY epoch, name ORDER BY epoch";

macro_rules! store {
    ($store:ident, $db:ident) => {
        impl Store for $store {
            fn events(&self, find: Find) -> StoreFuture<'_, Vec<StoredEvent>> {
                select!(self, $db, StoredEvent, with_id::<EventRow>(), find)
            }
            fn stream(&self, find: Find) -> StoreFuture<'_, Vec<StoredStream>> {
                select!(self, $db, StoredStream, with_id::<StreamRow>(), find)
            }
            fn lives(&self, find: Find) -> StoreFuture<'_, Vec<LifeRow>> {
                select!(self, $db, LifeRow, LifeRow::select(), find)
            }
            fn gaps(&self, find: Find) -> StoreFuture<'_, Vec<GapRow>> {
                select!(self, $db, GapRow, GapRow::select(), find)
            }
            fn agents(&self, find: Find) -> StoreFuture<'_, Vec<AgentRow>> {
                select!(self, $db, AgentRow, AgentRow::select(), find)
            }
            fn tenures(&self, find: Find) -> StoreFuture<'_, Vec<TenureRow>> {
                select!(self, $db, TenureRow, TenureRow::select(), find)
            }
            fn keys(&self, find: Find) -> StoreFuture<'_, Vec<KeyRow>> {
                select!(self, $db, KeyRow, KeyRow::select(), find)
            }
            fn stakes(&self, find: Find) -> StoreFuture<'_, Vec<StakeRow>> {
                select!(self, $db, StakeRow, StakeRow::select(), find)
            }
            fn batches(&self, find: Find) -> StoreFuture<'_, Vec<BatchRow>> {
                select!(self, $db, BatchRow, BatchRow::select(), find)
            }
            fn conversations(&self, find: Find) -> StoreFuture<'_, Vec<ConversationRow>> {
                select!(self, $db, ConversationRow, ConversationRow::select(), find)
            }
            fn ratings(&self, find: Find) -> StoreFuture<'_, Vec<RatingRow>> {
                select!(self, $db, RatingRow, RatingRow::select(), find)
            }
            fn counterparties(&self, find: Find) -> StoreFuture<'_, Vec<CounterpartyRow>> {
                select!(self, $db, CounterpartyRow, CounterpartyRow::select(), find)
            }
            fn envelopes(&self, find: Find) -> StoreFuture<'_, Vec<EnvelopeRow>> {
                select!(self, $db, EnvelopeRow, EnvelopeRow::select(), find)
            }
            fn challenges(&self, find: Find) -> StoreFuture<'_, Vec<ChallengeRow>> {
                select!(self, $db, ChallengeRow, ChallengeRow::select(), find)
            }
            fn asks(&self, find: Find) -> StoreFuture<'_, Vec<AskRow>> {
                select!(self, $db, AskRow, AskRow::select(), find)
            }
            fn feedback(&self, find: Find) -> StoreFuture<'_, Vec<FeedbackRow>> {
                select!(self, $db, FeedbackRow, FeedbackRow::select(), find)
            }
            fn contracts(&self, find: Find) -> StoreFuture<'_, Vec<ContractRow>> {
                select!(self, $db, ContractRow, ContractRow::select(), find)
            }
            fn traces(&self, find: Find) -> StoreFuture<'_, Vec<TraceRow>> {
                select!(self, $db, TraceRow, TraceRow::select(), find)
            }
            fn bindings(&self, find: Find) -> StoreFuture<'_, Vec<BindingRow>> {
                select!(self, $db, BindingRow, BindingRow::select(), find)
            }
            fn epochs(&self, find: Find) -> StoreFuture<'_, Vec<EpochRow>> {
                select!(self, $db, EpochRow, EpochRow::select(), find)
            }

            fn commit(&self, commit: Commit) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let mut tx = self.begin().await?;
                    for remove in commit.remove {
                        remove!($db, tx, remove);
                    }
                    put!(
                        $db,
                        tx,
                        EventRow,
                        commit.events,
                        " ON CONFLICT (slot, signature, ordinal) DO NOTHING"
                    );
                    put!($db, tx, LifeRow, commit.lives, LifeRow::replace());
                    put!($db, tx, GapRow, commit.gaps, GapRow::replace());
                    put!($db, tx, AgentRow, commit.agents, AgentRow::replace());
                    put!($db, tx, TenureRow, commit.tenures, TenureRow::replace());
                    put!($db, tx, KeyRow, commit.keys, KeyRow::replace());
                    put!($db, tx, StakeRow, commit.stakes, StakeRow::replace());
                    put!($db, tx, BatchRow, commit.batches, BatchRow::replace());
                    put!($db, tx, ConversationRow, commit.conversations, ConversationRow::replace());
                    put!($db, tx, RatingRow, commit.ratings, RatingRow::replace());
                    put!($db, tx, CounterpartyRow, commit.counterparties, CounterpartyRow::replace());
                    put!($db, tx, EnvelopeRow, commit.envelopes, EnvelopeRow::replace());
                    put!($db, tx, ChallengeRow, commit.challenges, ChallengeRow::replace());
                    put!($db, tx, AskRow, commit.asks, AskRow::replace());
                    put!($db, tx, FeedbackRow, commit.feedback, FeedbackRow::replace());
                    put!($db, tx, ContractRow, commit.contracts, ContractRow::replace());
                    put!($db, tx, TraceRow, commit.traces, TraceRow::replace());
                    put!($db, tx, BindingRow, commit.bindings, BindingRow::replace());
                    put!($db, tx, EpochRow, commit.epochs, EpochRow::replace());
                    put!($db, tx, StreamRow, commit.stream, " ON CONFLICT (origin) DO NOTHING");
                    for (name, value) in commit.meta {
                        let sql = "INSERT INTO meta (name, value) VALUES ($1, $2) \
                                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                        sqlx::query::<$db>(sql).bind(name).bind(value).execute(&mut *tx).await?;
                    }
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn meta(&self) -> StoreFuture<'_, BTreeMap<String, String>> {
                Box::pin(async move {
                    let sql = "SELECT name, value FROM meta";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
                })
            }

            fn known<'a>(
                &'a self,
                listed: &'a [([u8; 64], i64)],
                finalized: i64,
            ) -> StoreFuture<'a, Vec<[u8; 64]>> {
                Box::pin(async move {
                    let asked: BTreeSet<[u8; 64]> = listed.iter().map(|(signature, _)| *signature).collect();
                    let slots: BTreeSet<i64> =
                        listed.iter().map(|(_, slot)| *slot).filter(|slot| *slot <= finalized).collect();
                    let slots: Vec<i64> = slots.into_iter().collect();
                    // In their slots; a slot has few events. And wherever they were before a fork was left.
                    let final_ones = slots.chunks(MAX_KEYS).map(|it| Find::any("slot", it.iter().copied()));
                    let others = listed.chunks(MAX_KEYS).map(|chunk| {
                        let signatures = chunk.iter().map(|(signature, _)| *signature);
                        Find::any("signature", signatures).and("slot", ">", finalized)
                    });
                    let mut found = BTreeSet::new();
                    for find in final_ones.chain(others) {
                        let mut query =
                            QueryBuilder::<$db>::new("SELECT DISTINCT slot, signature FROM events");
                        conditions!($db, &mut query, find);
                        for row in query.build().fetch_all(&self.read).await? {
                            let signature = fixed(&row.try_get::<Vec<u8>, _>(1)?);
                            if asked.contains(&signature) {
                                found.insert(signature);
                            }
                        }
                    }
                    Ok(found.into_iter().collect())
                })
            }

            fn signatures(&self, from: i64, to: i64) -> StoreFuture<'_, Vec<([u8; 64], i64)>> {
                Box::pin(async move {
                    let sql = "SELECT DISTINCT signature, slot FROM events \
                               WHERE slot > $1 AND slot <= $2 ORDER BY slot";
                    let rows = sqlx::query::<$db>(sql).bind(from).bind(to).fetch_all(&self.read).await?;
                    let read = |row: &<$db as sqlx::Database>::Row| {
                        Ok((fixed(&row.try_get::<Vec<u8>, _>(0)?), row.try_get(1)?))
                    };
                    rows.iter().map(read).collect()
                })
            }

            fn sequences<'a>(&'a self, account: &'a [u8], created: i64) -> StoreFuture<'a, Vec<i64>> {
                Box::pin(async move {
                    let sql = "SELECT DISTINCT sequence FROM events \
                               WHERE account = $1 AND created_slot = $2 ORDER BY sequence";
                    let query = sqlx::query::<$db>(sql).bind(account).bind(created);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
                })
            }

            fn contract_count<'a>(&'a self, market: &'a str) -> StoreFuture<'a, i64> {
                Box::pin(async move {
                    let sql = "SELECT COUNT(*) FROM contracts WHERE market = $1";
                    Ok(sqlx::query_scalar(sql).bind(market).fetch_one(&self.read).await?)
                })
            }

            fn alike(&self, find: Find) -> StoreFuture<'_, Vec<Alike>> {
                Box::pin(async move {
                    let mut query = QueryBuilder::<$db>::new(ALIKE);
                    conditions!($db, &mut query, find);
                    query.push(" GROUP BY agent, state, success, earned, offered");
                    let read = |row: &<$db as sqlx::Database>::Row| {
                        Ok(Alike {
                            agent: row.try_get(0)?,
                            state: row.try_get(1)?,
                            success: row.try_get(2)?,
                            earned: row.try_get(3)?,
                            bounty: row.try_get(4)?,
                            count: row.try_get(5)?,
                        })
                    };
                    query.build().fetch_all(&self.read).await?.iter().map(read).collect()
                })
            }

            fn median_repair(&self) -> StoreFuture<'_, Option<i64>> {
                Box::pin(async move {
                    let repaired = "SELECT COUNT(repaired_ms) FROM contracts WHERE repaired_ms IS NOT NULL";
                    let count: i64 = sqlx::query_scalar(repaired).fetch_one(&self.read).await?;
                    let sql = "SELECT repaired_ms FROM contracts WHERE repaired_ms IS NOT NULL \
                               ORDER BY repaired_ms LIMIT 1 OFFSET $1";
                    // Of an even number the lower one of the two in the middle.
                    let middle = count.saturating_sub(1) / 2;
                    Ok(sqlx::query_scalar(sql).bind(middle).fetch_optional(&self.read).await?)
                })
            }

            fn totals(&self) -> StoreFuture<'_, Totals> {
                Box::pin(async move {
                    let one = |sql: &'static str| sqlx::query::<$db>(sql).fetch_one(&self.read);
                    let [agents, batches, challenges, asks, feedback] = TOTALS;
                    let (agents, batches, challenges) =
                        (one(agents).await?, one(batches).await?, one(challenges).await?);
                    let (asks, feedback) = (one(asks).await?, one(feedback).await?);
                    let contracts = one(
                        "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN state = 'open' THEN 1 ELSE 0 END), 0) \
                         AS BIGINT) FROM contracts",
                    )
                    .await?;
                    // Counting a million rows takes longer than everything else; the writer keeps the number.
                    let events = sqlx::query::<$db>("SELECT value FROM meta WHERE name = 'events'")
                        .fetch_optional(&self.read)
                        .await?;
                    let events = match events {
                        Some(row) => row.try_get::<String, _>(0)?.parse().unwrap_or(0),
                        None => 0,
                    };
                    let gaps = one("SELECT COUNT(*) FROM gaps WHERE state = 'open'").await?;
                    let sql = "SELECT paid_through, COUNT(*) FROM agents GROUP BY paid_through";
                    let leases = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    let leases: Result<Vec<_>, sqlx::Error> =
                        leases.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect();
                    Ok(Totals {
                        agents: agents.try_get(0)?,
                        staked: MicroUsdc(unsigned(agents.try_get(1)?)),
                        slashed: MicroUsdc(unsigned(agents.try_get(2)?)),
                        fined: MicroUsdc(unsigned(agents.try_get(3)?)),
                        lease_paid: MicroUsdc(unsigned(agents.try_get(4)?)),
                        taken_over: agents.try_get(5)?,
                        batches: batches.try_get(0)?,
                        missing: batches.try_get(1)?,
                        withheld: batches.try_get(2)?,
                        challenges: challenges.try_get(0)?,
                        challenges_open: challenges.try_get(1)?,
                        challenges_succeeded: challenges.try_get(2)?,
                        asks: asks.try_get(0)?,
                        asks_open: asks.try_get(1)?,
                        feedback: feedback.try_get(0)?,
                        feedback_resolved: feedback.try_get(1)?,
                        contracts: contracts.try_get(0)?,
                        contracts_open: contracts.try_get(1)?,
                        events,
                        gaps: gaps.try_get(0)?,
                        leases: leases?,
                    })
                })
            }

            fn epoch_totals(&self, from: i64) -> StoreFuture<'_, Vec<EpochTotals>> {
                Box::pin(async move {
                    let since = from.saturating_mul(86_400);
                    let rows = sqlx::query::<$db>(EPOCHS).bind(since).fetch_all(&self.read).await?;
                    let mut epochs: BTreeMap<i64, EpochTotals> = BTreeMap::new();
                    for row in rows {
                        let epoch: i64 = row.try_get(0)?;
                        let (name, count): (String, i64) = (row.try_get(1)?, row.try_get(2)?);
                        let none = EpochTotals { epoch, ..EpochTotals::default() };
                        let totals = epochs.entry(epoch).or_insert(none);
                        match name.as_str() {
                            "BatchSubmitted" => totals.batches = count,
                            "ChallengeSubmitted" => totals.challenges = count,
                            "FeedbackSubmitted" => totals.feedback = count,
                            _ => totals.joined = count,
                        }
                    }
                    Ok(epochs.into_values().collect())
                })
            }

            fn stream_bounds(&self) -> StoreFuture<'_, (i64, i64)> {
                Box::pin(async move {
                    let sql = "SELECT COALESCE(MAX(id), 0), COALESCE(MIN(id), 0) FROM stream";
                    let row = sqlx::query::<$db>(sql).fetch_one(&self.read).await?;
                    Ok((row.try_get(0)?, row.try_get(1)?))
                })
            }

            fn ping(&self) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    sqlx::query::<$db>("SELECT 1").fetch_one(&self.read).await?;
                    Ok(())
                })
            }

            fn close(&self) -> BoxFuture<'_, ()> {
                Box::pin(async move {
                    self.release().await;
                    self.read.close().await;
                    self.write.close().await;
                })
            }
        }
    };
}

store!(SqliteStore, Sqlite);
#[cfg(feature = "postgres")]
store!(PostgresStore, Postgres);
