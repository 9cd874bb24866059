//! Where the market is kept: one trait, two back ends.
//!
//! A [`Commit`] is one transaction: the replay key of the request, the entries, the snapshot with the next
//! deadline, deposits to wait for, decided payouts and public events. Either all of it is there afterwards or
//! nothing. Money hangs on it, so SQLite runs with WAL and `synchronous=FULL`.

mod backends;
mod inputs;
mod parts;
mod sql;
mod statements;

use futures_util::future::BoxFuture;
use zx1_coded::Coded;
use zx1_market::Millis;

#[cfg(feature = "postgres")]
pub use self::backends::PostgresStore;
pub use self::backends::SqliteStore;

/// What a store's methods return.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Why a store refused or failed.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum StoreError {
    /// 9410: another commit changed the contract since it was read.
    #[code(9410, transient)]
    #[error("the contract was changed meanwhile; read it again")]
    Moved,
    /// 9411: a request with this digest was already accepted.
    #[code(9411)]
    #[error("this request was taken already; sign a new one")]
    Replayed,
    /// 9412: a contract with this id is already stored.
    #[code(9412)]
    #[error("this contract exists already; sign a new post entry")]
    Exists,
    /// 9413: the database reported an error.
    #[code(9413, transient)]
    #[error("the database failed ({0}); look at its log and try again")]
    Database(#[from] sqlx::Error),
    /// 9414: the schema could not be brought to this version.
    #[code(9414)]
    #[error(
        "the database could not be migrated ({0}); use the server version that made it, or restore a backup"
    )]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// 9415: a stored value cannot be decoded.
    #[code(9415)]
    #[error("the database holds something that cannot be read ({0}); restore a backup")]
    Corrupt(String),
    /// 9417: another server writes to the database.
    #[code(9417)]
    #[error("another server has the database ({0}); stop it first, since money has one writer")]
    Leased(String),
    /// 9418: another server has taken the database over.
    #[code(9418)]
    #[error("another server has taken over the database; this one must stop")]
    Superseded,
    /// 9416: the database was made for another server's key.
    #[code(9416)]
    #[error(
        "the database belongs to the server {0}; give that server's key (FIX_SERVER_KEY) or another database"
    )]
    OtherServer(String),
}

/// A contract as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractRow {
    /// The contract's id, 16 hexadecimal digits.
    pub id: String,
    /// The principal's party id, `fix_` and 64 hexadecimal digits.
    pub principal: String,
    /// The party id of the present or last agent.
    pub agent: Option<String>,
    /// The word of the contract's state.
    pub state: String,
    /// The bounty in XNO, as a decimal.
    pub bounty: String,
    /// The seq of the next entry.
    pub head_seq: i64,
    /// When the contract was posted, in milliseconds of Unix time.
    pub created_at: i64,
    /// When the contract last changed, in milliseconds of Unix time.
    pub updated_at: i64,
    /// When the contract's next timer fires, in milliseconds of Unix time.
    pub next_deadline: Option<i64>,
    /// What a list shows of the contract, as JSON.
    pub summary: String,
    /// The whole case, as JSON.
    pub snapshot: String,
}

/// A contract, and the number of commits that it has had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The version that the next commit has to name.
    pub version: i64,
    /// The contract after its last commit.
    pub row: ContractRow,
}

/// A contract in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The contract's id.
    pub id: String,
    /// When it was posted, in milliseconds of Unix time.
    pub created_at: i64,
    /// What a list shows of it, as JSON.
    pub summary: String,
}

/// An entry as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    /// The entry's sequence number.
    pub seq: i64,
    /// When the server took the entry, in milliseconds of Unix time.
    pub received_at: i64,
    /// The signed entry as canonical JSON.
    pub body: String,
}

/// Status of a deposit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepositStatus {
    /// The ledger has not confirmed the deposit yet.
    Waiting,
    /// The deposit is confirmed and chained.
    Taken,
    /// The deposit came too late; whatever arrives goes back.
    Lapsed,
}

impl DepositStatus {
    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            DepositStatus::Waiting => "waiting",
            DepositStatus::Taken => "taken",
            DepositStatus::Lapsed => "lapsed",
        }
    }
}

/// A deposit that a contract waits for, or has waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepositRow {
    /// The contract's id.
    pub contract_id: String,
    /// The depositor's party id.
    pub party: String,
    /// The round of the account; 0 for the principal.
    pub round: i64,
    /// `principal` or `agent`.
    pub side: String,
    /// The escrow account.
    pub address: String,
    /// The amount to be paid, in raw.
    pub amount: String,
    /// The word of the [`DepositStatus`].
    pub status: String,
    /// Hash of the contract's post entry, 64 hexadecimal digits. Empty: the account's nonce was random.
    pub post: String,
    /// When it lapsed, in milliseconds of Unix time.
    pub closed_at: Option<i64>,
}

/// Where a list of lapsed deposits goes on: the time, contract, party and round of the last one.
pub type LapsedAfter = (i64, String, String, i64);

/// Status of an outbox line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutboxState {
    /// The escrow has not received it yet.
    Open,
    /// The escrow has accepted it.
    Done,
    /// The escrow refuses it for good, so that an operator has to decide (a dead letter).
    Dead,
    /// An operator has given it up.
    Dropped,
}

impl OutboxState {
    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            OutboxState::Open => "open",
            OutboxState::Done => "done",
            OutboxState::Dead => "dead",
            OutboxState::Dropped => "dropped",
        }
    }
}

/// A decision that the escrow has to receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// The contract's id.
    pub contract_id: String,
    /// The settlement's kind, or `expire`.
    pub kind: String,
    /// The round, or the party and the round.
    pub item: String,
    /// The decision as JSON.
    pub body: String,
    /// When it was decided, in milliseconds of Unix time.
    pub created_at: i64,
    /// Why it is dead or was dropped; empty otherwise.
    pub reason: String,
}

/// An event of the public stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// The event's number. Numbers rise with time.
    pub id: i64,
    /// The id of the contract that the event is about.
    pub contract_id: String,
    /// When it happened, in milliseconds of Unix time.
    pub at: i64,
    /// The JSON text after `data:`.
    pub body: String,
}

/// Everything that one transaction writes.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// The version that was read; `None` makes a new contract.
    pub version: Option<i64>,
    /// The contract after the change.
    pub row: Option<ContractRow>,
    /// The request that caused it: its digest, and the time until which it is remembered.
    pub replay: Option<([u8; 32], Millis)>,
    /// Entries to append.
    pub entries: Vec<EntryRow>,
    /// Deposits that are new or have changed.
    pub deposits: Vec<DepositRow>,
    /// Decisions for the escrow.
    pub outbox: Vec<OutboxRow>,
    /// Events to publish, each with its time in milliseconds and its JSON text.
    pub events: Vec<(i64, String)>,
    /// What the entries add to the counts of parties.
    pub fix_counts: Vec<FixCountRow>,
    /// What judges have to do in this contract, in place of what they had; `None` leaves it as it is.
    pub tasks: Option<Vec<TaskRow>>,
}

/// Fixes of a party on one side, in paid or in free contracts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixCountRow {
    /// The party's id.
    pub party: String,
    /// `principal` or `agent`.
    pub side: String,
    /// 1 in contracts with a bounty, 0 in free ones.
    pub paid: i64,
    /// Number of fixes.
    pub fixes: i64,
    /// How many of them were rejected because of the principal's real machine.
    pub failed_outside: i64,
}

/// Something that a judge has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// The judge's party id.
    pub judge: String,
    /// Until when, in milliseconds of Unix time.
    pub deadline: i64,
    /// The contract's id.
    pub contract_id: String,
    /// The task as JSON, as the judge reads it.
    pub body: String,
}

/// Where a late payment for a deleted contract goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatePayee {
    /// The whole hash of its post, 64 hexadecimal digits.
    pub post_hash: String,
    /// The depositor's party id.
    pub depositor: String,
    /// The round of the account; 0 for the principal.
    pub round: i64,
    /// The Nano address that the depositor has signed.
    pub payout: String,
    /// Until when this is kept, in milliseconds of Unix time.
    pub keep_until: i64,
}

/// An escrow account with money for a contract, depositor and round that the database does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanRow {
    /// The escrow account.
    pub account: String,
    /// The contract's id.
    pub contract_id: String,
    /// The depositor's party id.
    pub party: String,
    /// The round of the account; 0 for the principal.
    pub round: i64,
    /// What has come in, in raw.
    pub amount: String,
}

/// Filter for a list of contracts.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Only this state. Without it all but unpaid ones.
    pub state: Option<String>,
    /// Only where this party is principal or agent.
    pub party: Option<String>,
    /// Maximum number of contracts to list, newest first.
    pub limit: i64,
    /// Only what comes after the contract of this moment (Unix milliseconds) and id.
    pub after: Option<(i64, String)>,
    /// Only what has changed at or after this moment, Unix milliseconds.
    pub since: Option<i64>,
}

/// The market's memory. Every method is one transaction.
pub trait Store: Send + Sync + 'static {
    /// Writes all of it, or nothing, and returns the contract's new version. 9410 when the version is not the
    /// present one, 9411 when the request was accepted before, 9412 when a new contract already exists.
    fn commit(&self, commit: Commit) -> StoreFuture<'_, i64>;
    /// Whether a request with this digest was taken.
    fn seen(&self, digest: [u8; 32]) -> StoreFuture<'_, bool>;
    /// The contract with this id, if there is one.
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Stored>>;
    /// A contract's entries, in order.
    fn entries<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<EntryRow>>;
    /// Entries of a contract from this one on, in order, up to a limit.
    fn entries_from<'a>(&'a self, id: &'a str, seq: i64, limit: i64) -> StoreFuture<'a, Vec<EntryRow>>;
    /// Contracts that ended unpaid before this moment, and of which nothing is left to tell the escrow.
    fn unpaid(&self, before: i64, limit: i64) -> StoreFuture<'_, Vec<String>>;
    /// Deletes a contract that nobody paid, and keeps where a late payment goes.
    fn forget<'a>(&'a self, id: &'a str, late: LatePayee) -> StoreFuture<'a, ()>;
    /// Where late payments go, by the hash of the deleted post.
    fn late_payees<'a>(&'a self, post_hash: &'a str) -> StoreFuture<'a, Vec<LatePayee>>;
    /// Contracts, newest first.
    fn list(&self, filter: ListFilter) -> StoreFuture<'_, Vec<Listed>>;
    /// Number of contracts in each state.
    fn counts(&self) -> StoreFuture<'_, Vec<(String, i64)>>;
    /// The earliest deadline of all.
    fn next_deadline(&self) -> StoreFuture<'_, Option<i64>>;
    /// Contracts whose deadline is not after `now`, the earliest first: each deadline with its contract, beginning
    /// behind `after`.
    fn due(&self, now: i64, after: (i64, String), limit: i64) -> StoreFuture<'_, Vec<(i64, String)>>;
    /// Contracts that have not ended, by id, beginning behind `after`.
    fn live<'a>(&'a self, after: &'a str, limit: i64) -> StoreFuture<'a, Vec<String>>;
    /// Remembers that the server was there at this moment. It need not survive a loss of power.
    fn beat(&self, now: i64) -> StoreFuture<'_, ()>;
    /// The last heartbeat.
    fn heartbeat(&self) -> StoreFuture<'_, Option<i64>>;
    /// All deposits of a contract, whatever their status.
    fn deposits<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<DepositRow>>;
    /// Deposits that the ledger has not confirmed yet.
    fn waiting(&self) -> StoreFuture<'_, Vec<DepositRow>>;
    /// Decisions in this state, oldest first.
    fn outbox(&self, state: OutboxState) -> StoreFuture<'_, Vec<OutboxRow>>;
    /// Moves a decision, which its contract, kind and item name, from one state to another. Answers whether it
    /// was in the first one.
    fn move_outbox<'a>(
        &'a self,
        row: &'a OutboxRow,
        from: OutboxState,
        to: OutboxState,
        reason: &'a str,
    ) -> StoreFuture<'a, bool>;
    /// Events after `id`, in order.
    fn events_after(&self, id: i64, limit: i64) -> StoreFuture<'_, Vec<EventRow>>;
    /// The last event's id, 0 if there is none.
    fn last_event(&self) -> StoreFuture<'_, i64>;
    /// Forget requests that are too old to be accepted, and events before `events_before`.
    fn prune(&self, now: i64, events_before: i64) -> StoreFuture<'_, u64>;
    /// Set a fact about the database unless it is set; answers what is set.
    fn meta<'a>(&'a self, name: &'a str, value: &'a str) -> StoreFuture<'a, String>;
    /// Replaces a fact about the database.
    fn set_meta<'a>(&'a self, name: &'a str, value: &'a str) -> StoreFuture<'a, ()>;
    /// Becomes the one server that writes, until the store is closed. 9417 when another one is. From then on a commit
    /// fails with 9418 when another server has become it.
    fn lease(&self) -> StoreFuture<'_, ()>;
    /// Deposits that have lapsed, the earliest first.
    fn lapsed(&self, after: LapsedAfter, limit: i64) -> StoreFuture<'_, Vec<DepositRow>>;
    /// Deposits of contracts that have not ended, which were taken.
    fn taken(&self) -> StoreFuture<'_, Vec<DepositRow>>;
    /// Decisions that were handed over, the latest first, and at most `limit` of them.
    fn handed_over(&self, limit: i64) -> StoreFuture<'_, Vec<OutboxRow>>;
    /// Counts of a party; a side without a fix has no row.
    fn fix_counts<'a>(&'a self, party: &'a str) -> StoreFuture<'a, Vec<FixCountRow>>;
    /// What a judge has to do, the most urgent first, beginning behind a deadline and contract.
    fn tasks<'a>(&'a self, judge: &'a str, after: (i64, String), limit: i64)
    -> StoreFuture<'a, Vec<TaskRow>>;
    /// Replaces what judges have to do in a contract.
    fn set_tasks<'a>(&'a self, id: &'a str, tasks: Vec<TaskRow>) -> StoreFuture<'a, ()>;
    /// Orphaned accounts, by address.
    fn orphans(&self) -> StoreFuture<'_, Vec<OrphanRow>>;
    /// Replaces the whole list.
    fn set_orphans(&self, orphans: Vec<OrphanRow>) -> StoreFuture<'_, ()>;
    /// Orders something of the running server. Answers the order's number.
    fn order<'a>(&'a self, body: &'a str) -> StoreFuture<'a, i64>;
    /// Orders that were not carried out, oldest first.
    fn orders(&self) -> StoreFuture<'_, Vec<(i64, String)>>;
    /// Answers an order.
    fn answer_order<'a>(&'a self, id: i64, answer: &'a str) -> StoreFuture<'a, ()>;
    /// The answer to an order, when there is one.
    fn answer(&self, id: i64) -> StoreFuture<'_, Option<String>>;
    /// Fails when the database does not answer.
    fn ping(&self) -> StoreFuture<'_, ()>;
    /// Close all connections.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Statements that run whenever somebody polls, each with the column whose index finds its rows: for the test of their
/// plans.
#[cfg(feature = "testing")]
pub const POLLED: [(&str, &str); 3] = [
    (statements::TASKS, "judge"),
    (statements::FIX_COUNTS, "party"),
    (statements::DROP_TASKS, "contract_id"),
];

/// Open the store of a URL: `postgres://…`, or a path (`sqlite:…` or bare) to a file.
pub async fn open(url: &str) -> Result<std::sync::Arc<dyn Store>, StoreError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        #[cfg(feature = "postgres")]
        return Ok(std::sync::Arc::new(PostgresStore::open(url).await?));
        #[cfg(not(feature = "postgres"))]
        return Err(StoreError::Corrupt("this server was built without Postgres".to_owned()));
    }
    let path = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(url);
    Ok(std::sync::Arc::new(SqliteStore::open(std::path::Path::new(path)).await?))
}
