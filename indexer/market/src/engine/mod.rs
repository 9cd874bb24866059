//! The market at work: one contract at a time, the transaction first, then its effects.
//!
//! Every action goes the same way. The contract's lock is taken, the case is read, everything whose time has
//! come happens and is committed on its own; then the action, and its commit; then its effects. So a crash
//! anywhere leaves either the state before or the state after with its effects still to do, and the tasks of
//! [`tasks`] do them.

mod announce;
mod desk;
mod money;
mod persist;
mod presence;
mod seats;
mod tasks;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use axum::http::HeaderMap;
use axum::response::Response;
use nano_escrow::journal::CrashPoints;
use tokio::sync::{Notify, OwnedMutexGuard};
use zx1_market::case::Step;
use zx1_market::request::ReplayKey;
use zx1_market::{Case, ContractId, Entry, Millis, PartyKey, State, Terms};

pub use self::seats::SeatLimits;
pub use self::tasks::Habits;
use crate::announce::Announcer;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::escrow::{Desk, LedgerProbe};
use crate::events::Events;
use crate::metrics::Metrics;
use crate::store::Store;

/// The market. Clones share everything.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    key: PartyKey,
    terms: Terms,
    clock: Arc<dyn Clock>,
    presence: presence::Presence,
    desk: Option<Desk>,
    ledger: Option<Arc<dyn LedgerProbe>>,
    events: Events,
    /// What announces open contracts; set once the market's address is known.
    announcer: OnceLock<Announcer>,
    metrics: Metrics,
    habits: Habits,
    points: CrashPoints,
    locks: Mutex<HashMap<ContractId, Weak<tokio::sync::Mutex<()>>>>,
    /// Contracts in each state: counted once, at the start, and with every commit.
    counts: Mutex<BTreeMap<State, u64>>,
    /// Contracts that contradict the escrow's journal, and why.
    stopped: Mutex<HashMap<String, String>>,
    /// A deadline may have moved.
    timers: Notify,
    /// Something was decided.
    outbox: Notify,
    /// A deposit is waited for.
    deposits: Notify,
    /// A seat before a judge is free, and somebody waits.
    court: Notify,
    seats: seats::Seats,
}

/// The parts that [`Engine::new`] puts together.
pub struct EngineParts {
    /// Storage of contracts, deposits and events.
    pub store: Arc<dyn Store>,
    /// The server's key.
    pub key: PartyKey,
    /// Fees, windows, addresses and judges of new contracts.
    pub terms: Terms,
    /// The source of time for windows and deadlines.
    pub clock: Arc<dyn Clock>,
    /// The escrow; without it only free contracts are taken.
    pub desk: Option<Desk>,
    /// What is asked whether the ledger answers; nothing when it is part of this process, or there is none.
    pub ledger: Option<Arc<dyn LedgerProbe>>,
    /// The public stream.
    pub events: Events,
    /// The counters that `/metrics` serves.
    pub metrics: Metrics,
    /// Intervals of the background tasks.
    pub habits: Habits,
    /// Seats before the judges.
    pub seats: SeatLimits,
    /// Crash points for tests. It is empty without the feature `testing`.
    pub points: CrashPoints,
}

impl Engine {
    /// Put it together. Refuses terms that cannot be kept (9102) and a database of another server (9416).
    pub async fn new(parts: EngineParts) -> Result<Engine> {
        parts.terms.check()?;
        let id = parts.key.id().to_string();
        let owner = parts.store.meta("server", &id).await?;
        if owner != id {
            return Err(crate::store::StoreError::OtherServer(owner).into());
        }
        let mut counts = BTreeMap::new();
        for (state, count) in parts.store.counts().await? {
            counts.insert(state.parse()?, u64::try_from(count).unwrap_or(0));
        }
        let engine = Engine {
            inner: Arc::new(Inner {
                store: parts.store,
                key: parts.key,
                terms: parts.terms,
                presence: presence::Presence::new(&*parts.clock),
                clock: parts.clock,
                desk: parts.desk,
                ledger: parts.ledger,
                events: parts.events,
                announcer: OnceLock::new(),
                metrics: parts.metrics,
                habits: parts.habits,
                points: parts.points,
                locks: Mutex::default(),
                counts: Mutex::new(counts),
                stopped: Mutex::default(),
                timers: Notify::new(),
                outbox: Notify::new(),
                deposits: Notify::new(),
                court: Notify::new(),
                seats: seats::Seats::new(parts.seats),
            }),
        };
        engine.open_court().await?;
        Ok(engine)
    }

    /// Announce open contracts from now on. Call it before [`Engine::start`].
    pub fn announce_by(&self, announcer: Announcer) {
        // The first one stays.
        let _ = self.inner.announcer.set(announcer);
    }

    /// The storage that requests read from.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The terms of new contracts.
    pub fn terms(&self) -> &Terms {
        &self.inner.terms
    }

    /// The server's key.
    pub(crate) fn key(&self) -> &PartyKey {
        &self.inner.key
    }

    /// The public stream.
    pub fn events(&self) -> &Events {
        &self.inner.events
    }

    /// The counters that `/metrics` serves.
    pub fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    /// The escrow; `None` in a market of free contracts.
    pub fn desk(&self) -> Option<&Desk> {
        self.inner.desk.as_ref()
    }

    /// Contracts in each state.
    pub(crate) fn counts(&self) -> BTreeMap<State, u64> {
        self.inner.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What `/metrics` answers to a request with these headers.
    pub(crate) fn figures(&self, request: &HeaderMap) -> Response {
        self.inner.metrics.served(&self.counts(), request)
    }

    fn count(&self, before: Option<State>, after: Option<State>) {
        if before == after {
            return;
        }
        let mut counts = self.inner.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = before {
            let count = counts.entry(before).or_default();
            *count = count.saturating_sub(1);
        }
        if let Some(after) = after {
            *counts.entry(after).or_default() += 1;
        }
    }

    async fn lock(&self, id: ContractId) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.inner.locks.lock().unwrap_or_else(PoisonError::into_inner);
            match locks.get(&id).and_then(Weak::upgrade) {
                Some(lock) => lock,
                None => {
                    // Forget locks that nobody holds, so that the map stays as small as the traffic.
                    if locks.len() >= 1024 {
                        locks.retain(|_, lock| lock.strong_count() > 0);
                    }
                    let lock = Arc::new(tokio::sync::Mutex::new(()));
                    locks.insert(id, Arc::downgrade(&lock));
                    lock
                }
            }
        };
        lock.lock_owned().await
    }

    /// A contract as it stands in the store. 9400 when there is none.
    pub async fn read(&self, id: ContractId) -> Result<Case> {
        Ok(self.load(id).await?.1)
    }

    async fn load(&self, id: ContractId) -> Result<(i64, Case)> {
        let name = id.to_string();
        let stored = self.inner.store.load(&name).await?.ok_or(Error::NoContract(name))?;
        Ok((stored.version, persist::case(&stored.row.snapshot)?))
    }

    /// A contract after everything whose time has come.
    pub async fn fresh(&self, id: ContractId) -> Result<Case> {
        let case = self.read(id).await?;
        if case.next_deadline().is_some_and(|at| at <= self.now()) {
            return self.run(id).await;
        }
        Ok(case)
    }

    /// Let everything happen whose time has come.
    pub async fn run(&self, id: ContractId) -> Result<Case> {
        let _lock = self.lock(id).await;
        let (version, case) = self.load(id).await?;
        let now = self.now().max(case.updated_at());
        Ok(self.catch_up(version, case, now).await?.1)
    }

    /// Under the lock: what the clock demands, committed on its own.
    async fn catch_up(&self, version: i64, case: Case, now: Millis) -> Result<(i64, Case)> {
        let stands = case.next_deadline().is_none_or(|at| at > now);
        if stands || self.moves(&case.id()).is_err() || self.is_held(&case, now) {
            return Ok((version, case));
        }
        let mut next = case.clone();
        let step = next.run(now, &self.inner.key)?;
        if next == case {
            return Ok((version, case));
        }
        let version = self.persist(Some((version, &case)), &mut next, step, None).await?;
        Ok((version, next))
    }

    /// Act on a contract. `act` sees it after everything whose time has come; what it changes is committed
    /// with the request's replay key before this returns.
    pub async fn act<T>(
        &self,
        id: ContractId,
        replay: Option<ReplayKey>,
        act: impl FnOnce(&mut Case, Millis, &PartyKey) -> Result<(Step, T)>,
    ) -> Result<(Case, T)> {
        let _lock = self.lock(id).await;
        self.moves(&id)?;
        let (version, case) = self.load(id).await?;
        // Its windows may have moved already while those of others are still to.
        let now = self.now().max(case.updated_at());
        self.not_seen(replay.as_ref()).await?;
        let (version, case) = self.unheld(version, case, now).await?;
        let (version, case) = self.catch_up(version, case, now).await?;
        let mut next = case.clone();
        let (step, answer) = act(&mut next, now, &self.inner.key)?;
        self.persist(Some((version, &case)), &mut next, step, replay).await?;
        Ok((next, answer))
    }

    /// A request that was taken is refused as such, whatever else would refuse it (decision E1).
    async fn not_seen(&self, replay: Option<&ReplayKey>) -> Result<()> {
        match replay {
            Some(key) if self.inner.store.seen(key.digest).await? => {
                Err(zx1_market::Refusal::of(zx1_market::Reason::RequestReplayed).into())
            }
            _ => Ok(()),
        }
    }

    /// Take a posted contract. 9412 when it exists, 9409 when it needs an escrow and there is none.
    pub async fn post(&self, post: Entry, replay: Option<ReplayKey>) -> Result<Case> {
        let (mut case, step) = Case::start(post, &self.inner.terms, self.now(), &self.inner.key)?;
        if !case.contract().is_free() {
            self.need_ledger()?;
        }
        let _lock = self.lock(case.id()).await;
        self.not_seen(replay.as_ref()).await?;
        if self.inner.store.load(&case.id().to_string()).await?.is_some() {
            return Err(crate::store::StoreError::Exists.into());
        }
        self.persist(None, &mut case, step, replay).await?;
        Ok(case)
    }

    /// Take over a contract from a transcript (decision E14). Answers `false` when it is here already.
    pub async fn import(&self, transcript: &zx1_market::case::Transcript) -> Result<bool> {
        let mut case = zx1_market::case::rebuild(transcript)?;
        let _lock = self.lock(case.id()).await;
        let id = case.id().to_string();
        let before = match self.inner.store.load(&id).await? {
            // Only one that stands still is replaced, by a longer transcript that begins as it does.
            Some(_) if self.moves(&case.id()).is_ok() => return Ok(false),
            Some(stored) => Some((stored.version, persist::case(&stored.row.snapshot)?)),
            None => None,
        };
        let mut known = 0;
        if before.is_some() {
            let entries = self.inner.store.entries(&id).await?;
            let begins = entries.iter().zip(&transcript.entries).all(|(row, e)| row.body == e.canonical());
            if !begins || transcript.entries.len() <= entries.len() {
                return Ok(false);
            }
            known = entries.len();
        }
        let mut step = Step::default();
        for (i, entry) in transcript.entries.iter().enumerate().skip(known) {
            let received_at = transcript.received_at.get(i).copied().unwrap_or_else(|| entry.at());
            step.entries.push(zx1_market::case::Chained { entry: entry.clone(), received_at });
        }
        // The escrow receives every settlement again if it knows the accounts: one that was paid stays paid.
        if let Some(desk) = &self.inner.desk
            && desk.statement(&id).await?.is_some()
        {
            let again = case.settlements().iter().cloned().map(zx1_market::case::Effect::Settle);
            step.effects.extend(again);
        }
        self.persist(before.as_ref().map(|(version, case)| (*version, case)), &mut case, step, None).await?;
        self.go_on(&id);
        Ok(true)
    }
}
