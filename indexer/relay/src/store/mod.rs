//! What survives a restart: identities, ratings, proposals, bans, the allowlist, the channels' buffers. One
//! trait, two back ends, one conformance suite. Messages are kept nowhere but in the buffers.

mod sql;

use futures_util::future::BoxFuture;
use zx1_coded::Coded;
use zx1_relay_rules::AgentId;
use zx1_relay_rules::access::Subject;
use zx1_relay_rules::elo::Rating;
use zx1_relay_rules::proposal::{Key, Proposal};

#[cfg(feature = "postgres")]
pub use self::sql::PostgresStore;
pub use self::sql::SqliteStore;

/// What a store's methods return.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Why a store failed.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum StoreError {
    /// The database reported an error.
    #[code(7765, transient)]
    #[error("The database failed ({0}); look at its log and try again.")]
    Database(#[from] sqlx::Error),
    /// The schema could not be brought to this version.
    #[code(7766)]
    #[error("The database could not be migrated ({0}); use the version that made it, or restore a backup.")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A stored value cannot be decoded.
    #[code(7767)]
    #[error("The database holds something that cannot be read ({0}); restore a backup.")]
    Corrupt(String),
    /// The writer's lock is held.
    #[code(7768)]
    #[error("Another relay writes to this database; stop it, or use another database.")]
    Busy,
    /// Postgres is not compiled in.
    #[code(7769)]
    #[error("A Postgres is named, but this relay was built without it.")]
    NoPostgres,
}

/// Completions of a pair that moved ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The lesser key.
    pub a: Key,
    /// The other one.
    pub b: Key,
    /// When the last one was, in milliseconds of Unix time.
    pub last: u64,
    /// How many there were.
    pub count: u32,
}

/// What one transaction writes; all of it or nothing.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Proposals as they are now, and whether they have ended.
    pub proposals: Vec<(Proposal, bool)>,
    /// Ratings that moved.
    pub ratings: Vec<(Key, Rating)>,
    /// The pair that completed.
    pub pair: Option<Pair>,
    /// Who is banned, with the reason, from when on.
    pub ban: Option<(Subject, String, u64)>,
    /// Whose ban is lifted.
    pub unban: Option<Subject>,
    /// Who is put on the allowlist, with a note, from when on.
    pub allow: Option<(Key, Option<String>, u64)>,
    /// Who is taken off it.
    pub revoke: Option<Key>,
    /// Ratings of an older server, by id.
    pub import: Vec<(AgentId, Rating)>,
    /// The imported rating that has found its key.
    pub found: Option<AgentId>,
}

/// Everything that a relay starts with.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Kept {
    pub identities: Vec<(Key, AgentId)>,
    pub ratings: Vec<(Key, Rating)>,
    pub imported: Vec<(AgentId, Rating)>,
    pub pairs: Vec<Pair>,
    /// Those that have not ended.
    pub proposals: Vec<Proposal>,
    pub bans: Vec<(Subject, String)>,
    pub allowed: Vec<(Key, Option<String>)>,
    /// Channels and their buffers, as JSON.
    pub buffers: Vec<(String, String)>,
}

/// Where a relay's state survives a restart.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Reads what a relay starts with.
    fn load(&self) -> StoreFuture<'_, Kept>;
    /// Writes a transaction. It is on disk when this returns.
    fn commit(&self, commit: Commit) -> StoreFuture<'_, ()>;
    /// Keeps the id of a key. One that is kept already stays.
    fn remember(&self, key: Key, id: AgentId) -> StoreFuture<'_, ()>;
    /// Replaces the buffers of channels.
    fn buffer(&self, buffers: Vec<(String, String)>) -> StoreFuture<'_, ()>;
    /// Deletes proposals that ended before this time.
    fn sweep(&self, before: u64) -> StoreFuture<'_, ()>;
    /// Whether the database answers.
    fn ping(&self) -> StoreFuture<'_, ()>;
}
