//! Where the index is kept: one trait, two back ends, one conformance suite.
//!
//! A [`Commit`] is one transaction: events, what follows from them, and the cursor. Either all of it is there
//! afterwards or nothing, so a process that dies in between goes on as if it had not begun. Reading is by
//! [`Find`], whose texts are all constants of this crate; whatever comes from outside is bound as a value.

mod find;
mod rows;
mod sql;

use futures_util::future::BoxFuture;
use zx1_coded::Coded;

pub use find::{Condition, Find, Value};
pub use rows::{
    AgentRow, BatchRow, BindingRow, ChallengeRow, ContractRow, ConversationRow, CounterpartyRow, EnvelopeRow,
    EpochRow, EventRow, FeedbackRow, GapRow, LifeRow, RatingRow, Row, StreamRow, fixed, signed, storable,
    unsigned,
};
#[cfg(feature = "postgres")]
pub use sql::PostgresStore;
pub use sql::SqliteStore;

/// What a store's methods return.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Why a store refused.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum StoreError {
    /// The database refused an operation.
    #[code(9600, transient)]
    #[error("The database failed ({0}); look at its log and try again.")]
    Database(#[from] sqlx::Error),
    /// The schema could not be brought up to date.
    #[code(9601)]
    #[error("The database could not be migrated ({0}); use the version that made it, or rebuild the index.")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A stored value is not what it must be.
    #[code(9602)]
    #[error("The database holds something that cannot be read ({0}); rebuild the index from the chain.")]
    Corrupt(String),
    /// Postgres is not compiled in.
    #[code(9603)]
    #[error("The database URL begins with postgres:, but this indexer was built without Postgres.")]
    NoPostgres,
    /// The writer's lock is held.
    #[code(9604)]
    #[error("Another indexer writes to this database; stop it, or use another database.")]
    Busy,
}

/// An event with the number that the store gave it.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct StoredEvent {
    /// Rising in the order of arrival.
    pub id: i64,
    /// The event.
    #[sqlx(flatten)]
    pub row: EventRow,
}

/// An event of the streams with its id.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct StoredStream {
    /// Rising.
    pub id: i64,
    /// The event.
    #[sqlx(flatten)]
    pub row: StreamRow,
}

/// One transaction. Rows replace those with the same key; events and stream events that are there already
/// are left as they are.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)] // One field a table; see `rows`.
pub struct Commit {
    pub events: Vec<EventRow>,
    pub lives: Vec<LifeRow>,
    pub gaps: Vec<GapRow>,
    pub agents: Vec<AgentRow>,
    pub batches: Vec<BatchRow>,
    pub conversations: Vec<ConversationRow>,
    pub ratings: Vec<RatingRow>,
    pub counterparties: Vec<CounterpartyRow>,
    pub envelopes: Vec<EnvelopeRow>,
    pub challenges: Vec<ChallengeRow>,
    pub feedback: Vec<FeedbackRow>,
    pub contracts: Vec<ContractRow>,
    pub bindings: Vec<BindingRow>,
    pub epochs: Vec<EpochRow>,
    pub stream: Vec<StreamRow>,
    /// Facts about the database.
    pub meta: Vec<(&'static str, String)>,
    /// Removed before anything is written.
    pub remove: Vec<Remove>,
}

/// What a rollback or a repair takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remove {
    /// All events of a transaction: its slot and signature.
    Transaction(i64, Vec<u8>),
    /// A batch, and what its data said.
    Batch(Vec<u8>, i64),
    /// What a batch's data said.
    BatchData(Vec<u8>, i64),
    /// A challenge.
    Challenge(Vec<u8>, i64),
    /// A feedback entry.
    Feedback(i64),
    /// The gaps of a life.
    Gaps(Vec<u8>, i64),
    /// A life.
    Life(Vec<u8>, i64),
    /// A contract that its market no longer shows.
    Contract(String, String),
    /// Stream events that are older than this, Unix milliseconds.
    StreamBefore(i64),
}

/// Sums over the whole index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Agents.
    pub agents: i64,
    /// Micro-USDC locked.
    pub staked: i64,
    /// Micro-USDC slashed.
    pub slashed: i64,
    /// Micro-USDC of lease.
    pub lease_paid: i64,
    /// Batches.
    pub batches: i64,
    /// Of them without data.
    pub withheld: i64,
    /// Challenges.
    pub challenges: i64,
    /// Not resolved.
    pub challenges_open: i64,
    /// Lost by the agent.
    pub challenges_succeeded: i64,
    /// Entries of the feedback log.
    pub feedback: i64,
    /// With a resolution.
    pub feedback_resolved: i64,
    /// Contracts.
    pub contracts: i64,
    /// Of them open.
    pub contracts_open: i64,
    /// Events.
    pub events: i64,
    /// Open gaps.
    pub gaps: i64,
    /// Agents whose lease is paid up to an epoch, by that epoch; none is without a lease.
    pub leases: Vec<(Option<i64>, i64)>,
}

/// What happened in one epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EpochTotals {
    /// The epoch.
    pub epoch: i64,
    /// Batches submitted.
    pub batches: i64,
    /// Challenges submitted.
    pub challenges: i64,
    /// Feedback entries.
    pub feedback: i64,
    /// Agents registered or leased for the first time.
    pub joined: i64,
}

macro_rules! store_trait {
    ($($(#[doc = $doc:literal])* $method:ident $row:ty;)*) => {
        /// The index's memory. Every method is one transaction.
        pub trait Store: Send + Sync + 'static {
            $($(#[doc = $doc])* fn $method(&self, find: Find) -> StoreFuture<'_, Vec<$row>>;)*
            /// Writes it all, or nothing.
            fn commit(&self, commit: Commit) -> StoreFuture<'_, ()>;
            /// Facts about the database.
            fn meta(&self) -> StoreFuture<'_, std::collections::BTreeMap<String, String>>;
            /// Those of these transactions (signature and slot) of which events are here: in that slot, or in
            /// any after `finalized`, for what is only confirmed can still move to another slot.
            fn known<'a>(
                &'a self,
                listed: &'a [([u8; 64], i64)],
                finalized: i64,
            ) -> StoreFuture<'a, Vec<[u8; 64]>>;
            /// Signature and slot of the transactions after `from` up to and including `to`.
            fn signatures(&self, from: i64, to: i64) -> StoreFuture<'_, Vec<([u8; 64], i64)>>;
            /// The sequence numbers of a life that are here, in order.
            fn sequences<'a>(&'a self, account: &'a [u8], created: i64) -> StoreFuture<'a, Vec<i64>>;
            /// How many contracts of a market are here.
            fn contract_count<'a>(&'a self, market: &'a str) -> StoreFuture<'a, i64>;
            /// Sums.
            fn totals(&self) -> StoreFuture<'_, Totals>;
            /// Sums by epoch, from this epoch on; an epoch is a day of Unix time.
            fn epoch_totals(&self, from: i64) -> StoreFuture<'_, Vec<EpochTotals>>;
            /// The last stream event's id, 0 if there is none; and the first that is kept.
            fn stream_bounds(&self) -> StoreFuture<'_, (i64, i64)>;
            /// Whether it answers.
            fn ping(&self) -> StoreFuture<'_, ()>;
            /// Closes all connections.
            fn close(&self) -> BoxFuture<'_, ()>;
        }
    };
}
store_trait! {
    /// Events.
    events StoredEvent;
    /// Lives of accounts.
    lives LifeRow;
    /// Gaps.
    gaps GapRow;
    /// Agents.
    agents AgentRow;
    /// Batches.
    batches BatchRow;
    /// Conversations.
    conversations ConversationRow;
    /// Feedback events of batches.
    ratings RatingRow;
    /// Counterparties.
    counterparties CounterpartyRow;
    /// Signed ratings.
    envelopes EnvelopeRow;
    /// Challenges.
    challenges ChallengeRow;
    /// The feedback log.
    feedback FeedbackRow;
    /// Contracts.
    contracts ContractRow;
    /// Binding records.
    bindings BindingRow;
    /// Agents at the ends of epochs.
    epochs EpochRow;
    /// The streams.
    stream StoredStream;
}

/// Opens the store of a URL: `postgres://…`, or a path (`sqlite:…` or bare) to a file.
///
/// # Errors
///
/// 9600, 9601, 9603, 9604.
pub async fn open(url: &str) -> Result<std::sync::Arc<dyn Store>, StoreError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        #[cfg(feature = "postgres")]
        return Ok(std::sync::Arc::new(PostgresStore::open(url).await?));
        #[cfg(not(feature = "postgres"))]
        return Err(StoreError::NoPostgres);
    }
    let path = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(url);
    Ok(std::sync::Arc::new(SqliteStore::open(std::path::Path::new(path)).await?))
}

#[cfg(test)]
mod tests;
