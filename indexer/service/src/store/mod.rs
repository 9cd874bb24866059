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
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

pub use find::{Condition, Find, Value};
pub use rows::{
    AgentRow, AskRow, BatchRow, BindingRow, ChallengeRow, ContractRow, ConversationRow, CounterpartyRow,
    EnvelopeRow, EpochRow, EventRow, FeedbackRow, GapRow, KeyRow, LifeRow, RatingRow, Row, StakeRow,
    StreamRow, TenureRow, TraceRow, fixed, signed, storable, unsigned,
};
#[cfg(feature = "postgres")]
pub use sql::PostgresStore;
pub use sql::SqliteStore;

/// Result of a store's method, as a boxed future.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// An error of the store.
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
    /// Ascends in the order in which events are stored.
    pub id: i64,
    /// The stored columns of the event.
    #[sqlx(flatten)]
    pub row: EventRow,
}

/// An event of the streams with its id.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct StoredStream {
    /// Ascends in the order of publication; a client resumes after the last one that it has seen.
    pub id: i64,
    /// The stored columns of the event.
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
    pub tenures: Vec<TenureRow>,
    pub keys: Vec<KeyRow>,
    pub stakes: Vec<StakeRow>,
    pub batches: Vec<BatchRow>,
    pub conversations: Vec<ConversationRow>,
    pub ratings: Vec<RatingRow>,
    pub counterparties: Vec<CounterpartyRow>,
    pub envelopes: Vec<EnvelopeRow>,
    pub challenges: Vec<ChallengeRow>,
    pub asks: Vec<AskRow>,
    pub feedback: Vec<FeedbackRow>,
    pub contracts: Vec<ContractRow>,
    pub traces: Vec<TraceRow>,
    pub bindings: Vec<BindingRow>,
    pub epochs: Vec<EpochRow>,
    pub stream: Vec<StreamRow>,
    /// Named facts about the database, such as the cursor and the event digest.
    pub meta: Vec<(&'static str, String)>,
    /// Removed before anything is written.
    pub remove: Vec<Remove>,
}

/// What a rollback or a repair takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remove {
    /// All events of a transaction, by its slot and signature.
    Transaction(i64, Vec<u8>),
    /// An agent's tenures, keys and stakes.
    Standing(AgentId),
    /// A batch with everything that its data said, by agent and epoch.
    Batch(AgentId, i64),
    /// Only what a batch's data said, by agent and epoch.
    BatchData(AgentId, i64),
    /// A challenge: the address of its account, and the slot of submission.
    Challenge(Vec<u8>, i64),
    /// An ask: the address of its account, and the slot of its creation.
    Ask(Vec<u8>, i64),
    /// A feedback entry, by its index.
    Feedback(i64),
    /// All gaps of an incarnation: the account, and the slot of creation.
    Gaps(Vec<u8>, i64),
    /// The event counter of an incarnation: the account, and the slot of creation.
    Life(Vec<u8>, i64),
    /// A contract that its market no longer lists, by market and id.
    Contract(String, String),
    /// Stream events that are older than this time in Unix milliseconds.
    StreamBefore(i64),
    /// Stream events of the kind `message` that are older than this time in Unix milliseconds.
    MessagesBefore(i64),
}

/// Sums over the whole index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of agents, with or without stake.
    pub agents: i64,
    /// Stake that is locked now.
    pub staked: MicroUsdc,
    /// Stake that was ever slashed.
    pub slashed: MicroUsdc,
    /// Stake that was ever fined.
    pub fined: MicroUsdc,
    /// Lease that was ever paid.
    pub lease_paid: MicroUsdc,
    /// Number of times that a new holder took an agent over.
    pub taken_over: i64,
    /// Number of submitted batches.
    pub batches: i64,
    /// Number of these whose data is not served.
    pub missing: i64,
    /// Number of these that are marked on chain.
    pub withheld: i64,
    /// Number of submitted challenges.
    pub challenges: i64,
    /// Number of these that are not settled.
    pub challenges_open: i64,
    /// Number of challenges for which an agent was slashed.
    pub challenges_succeeded: i64,
    /// Number of asks.
    pub asks: i64,
    /// Number of these that are open.
    pub asks_open: i64,
    /// Number of entries in the feedback log.
    pub feedback: i64,
    /// Number of these that have a resolution.
    pub feedback_resolved: i64,
    /// Number of contracts of all markets.
    pub contracts: i64,
    /// Number of these whose status is `open`.
    pub contracts_open: i64,
    /// Number of stored events.
    pub events: i64,
    /// Number of gaps that are still open.
    pub gaps: i64,
    /// Number of agents by the last epoch for which their lease is paid; `None` are those without a lease.
    pub leases: Vec<(Option<i64>, i64)>,
}

/// Contracts that are alike: of one agent, in one state, with one result and one amount.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alike {
    /// Public key of the agent as `fix_<64 hex digits>`.
    pub agent: Option<String>,
    /// Status as the market server reports it.
    pub state: String,
    /// As in [`ContractRow`].
    pub success: Option<i64>,
    /// As in [`ContractRow`].
    pub earned: Option<String>,
    /// As in [`ContractRow`]; only of open ones.
    pub bounty: Option<String>,
    /// How many there are.
    pub count: i64,
}

impl Alike {
    /// What all of these have earned, in raw.
    pub fn earned(all: &[Self]) -> String {
        Self::sum(all, |it| it.earned.as_deref())
    }

    /// The bounties of the open ones, in raw.
    pub fn offered(all: &[Self]) -> String {
        Self::sum(all, |it| it.bounty.as_deref())
    }

    fn sum(all: &[Self], amount: impl Fn(&Self) -> Option<&str>) -> String {
        let each = all.iter().filter_map(|it| Some((amount(it)?.parse::<u128>().ok()?, it.count)));
        let sums = each.map(|(raw, count)| raw.saturating_mul(u128::from(unsigned(count))));
        sums.fold(0, u128::saturating_add).to_string()
    }
}

/// Counts of events in one epoch, by the time of their blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EpochTotals {
    /// The epoch: days since the Unix epoch.
    pub epoch: i64,
    /// Number of batches that were submitted.
    pub batches: i64,
    /// Number of challenges that were submitted.
    pub challenges: i64,
    /// Number of feedback entries that were submitted.
    pub feedback: i64,
    /// Number of agents that were registered.
    pub joined: i64,
}

macro_rules! store_trait {
    ($($(#[doc = $doc:literal])* $method:ident $row:ty;)*) => {
        /// The database of the index. Every method is one transaction.
        pub trait Store: Send + Sync + 'static {
            $($(#[doc = $doc])* fn $method(&self, find: Find) -> StoreFuture<'_, Vec<$row>>;)*
            /// Writes the whole commit, or nothing of it.
            fn commit(&self, commit: Commit) -> StoreFuture<'_, ()>;
            /// All named facts that commits have stored.
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
            /// The stored sequence numbers of an incarnation, in ascending order.
            fn sequences<'a>(&'a self, account: &'a [u8], created: i64) -> StoreFuture<'a, Vec<i64>>;
            /// Number of stored contracts of a market.
            fn contract_count<'a>(&'a self, market: &'a str) -> StoreFuture<'a, i64>;
            /// Contracts that match, counted by what their money depends on. The query has no order.
            fn alike(&self, find: Find) -> StoreFuture<'_, Vec<Alike>>;
            /// The median of the times that repairs took, in milliseconds; `None` before the first.
            fn median_repair(&self) -> StoreFuture<'_, Option<i64>>;
            /// Sums over the whole index.
            fn totals(&self) -> StoreFuture<'_, Totals>;
            /// Sums by epoch, from this epoch on; an epoch is a day of Unix time.
            fn epoch_totals(&self, from: i64) -> StoreFuture<'_, Vec<EpochTotals>>;
            /// The last stream event's id, 0 if there is none; and the first that is kept.
            fn stream_bounds(&self) -> StoreFuture<'_, (i64, i64)>;
            /// Checks that the database answers a query.
            fn ping(&self) -> StoreFuture<'_, ()>;
            /// Releases the writer's lock and closes all connections.
            fn close(&self) -> BoxFuture<'_, ()>;
        }
    };
}
store_trait! {
    /// Events that match, with their ids.
    events StoredEvent;
    /// Event counters of accounts' incarnations.
    lives LifeRow;
    /// Missing ranges of sequence numbers, open or not.
    gaps GapRow;
    /// Agents that match the query.
    agents AgentRow;
    /// Tenures, of all agents.
    tenures TenureRow;
    /// Keys, one row for each life.
    keys KeyRow;
    /// Stakes by era, claimed ones too.
    stakes StakeRow;
    /// Submitted batches that match.
    batches BatchRow;
    /// Conversations in served batches.
    conversations ConversationRow;
    /// Feedback events of served batches.
    ratings RatingRow;
    /// Agents' relations to each other, by epoch.
    counterparties CounterpartyRow;
    /// Signed ratings that the indexer has received.
    envelopes EnvelopeRow;
    /// Challenges, one row for each incarnation.
    challenges ChallengeRow;
    /// Asks, one row for each life.
    asks AskRow;
    /// Entries of the feedback log.
    feedback FeedbackRow;
    /// Contracts of all markets.
    contracts ContractRow;
    /// Nano addresses and blocks of contracts' payments.
    traces TraceRow;
    /// Binding records of wallets.
    bindings BindingRow;
    /// Agents' stake, lease and scores at the ends of epochs.
    epochs EpochRow;
    /// Stored events of the public streams.
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
