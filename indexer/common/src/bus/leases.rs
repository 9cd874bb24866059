//! Who holds which name, in memory; and whoever watches.

use super::{Claim, name};
use crate::topics::{Feed, Follower, Lagged, has};
use axum::body::Bytes;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// A lease of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What its holder said.
    pub value: Bytes,
    /// Number of its last change; each claim, takeover and renewal gives a higher one.
    pub revision: u64,
}

/// What a [`Watch`] sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A name is held, or is held by somebody else.
    Held(Arc<str>, Held),
    /// Nobody holds the name any more.
    Gone(Arc<str>),
    /// The watcher was too slow and has missed this number of changes: it must watch anew.
    Lagged(u64),
}

/// Number of changes by which a watcher may be behind.
pub(super) const QUEUE: usize = 1 << 14;

/// Watches the leases at and below a prefix.
#[derive(Debug)]
pub struct Watch {
    prefix: Box<str>,
    backlog: VecDeque<Change>,
    follower: Follower<Change>,
    /// Ends leases in time, also while nobody else looks.
    table: Arc<Table>,
    _task: Option<AbortOnDropHandle<()>>,
}

impl Watch {
    /// The same while a task fills the table.
    #[cfg(feature = "nats")]
    pub(super) fn with(mut self, task: AbortOnDropHandle<()>) -> Watch {
        self._task = Some(task);
        self
    }

    /// Waits for the next change. Cancel-safe: nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Change {
        if let Some(change) = self.backlog.pop_front() {
            return change;
        }
        loop {
            let ends = self.table.sweep();
            let end = async {
                match ends {
                    Some(ends) => tokio::time::sleep_until(ends).await,
                    None => std::future::pending().await,
                }
            };
            let change = tokio::select! {
                biased;
                change = self.follower.next() => change,
                () = end => continue,
            };
            match change {
                Err(Lagged { missed }) => return Change::Lagged(missed),
                Ok(change) => match &change {
                    Change::Held(key, _) | Change::Gone(key) if !has(&self.prefix, key) => {}
                    _ => return change,
                },
            }
        }
    }
}

#[derive(Debug, Default)]
struct State {
    held: HashMap<Arc<str>, (Held, Instant)>,
    ends: BTreeSet<(Instant, Arc<str>)>,
    revision: u64,
}

/// Leases in memory: all of one process, or those of a bucket that a watch has heard of.
#[derive(Debug)]
pub(super) struct Table {
    lease: Duration,
    state: Mutex<State>,
    feed: Feed<Change>,
}

impl Table {
    pub(super) fn new(lease: Duration) -> Table {
        Table { lease, state: Mutex::default(), feed: Feed::new(QUEUE, usize::MAX) }
    }

    /// The state without what has ended.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while state.ends.first().is_some_and(|(ends, _)| *ends <= now) {
            if let Some((_, key)) = state.ends.pop_first() {
                state.held.remove(&key);
                self.tell(&state, Change::Gone(key));
            }
        }
        state
    }

    /// Ends what has run out. When the next lease ends.
    fn sweep(&self) -> Option<Instant> {
        self.state().ends.first().map(|(ends, _)| *ends)
    }

    fn tell(&self, state: &State, change: Change) {
        self.feed.push(state.revision, 0, change);
    }

    fn set(&self, state: &mut State, key: &str, held: Held) {
        state.revision = state.revision.max(held.revision);
        let key: Arc<str> = key.into();
        let ends = Instant::now() + self.lease;
        let before = state.held.insert(key.clone(), (held.clone(), ends));
        if let Some((_, ends)) = &before {
            state.ends.remove(&(*ends, key.clone()));
        }
        state.ends.insert((ends, key.clone()));
        if before.is_none_or(|(before, _)| before.value != held.value) {
            self.tell(state, Change::Held(key, held));
        }
    }

    fn give(&self, state: &mut State, key: &str, value: Bytes) -> u64 {
        let revision = state.revision.saturating_add(1);
        self.set(state, key, Held { value, revision });
        revision
    }

    fn remove(&self, state: &mut State, key: &str) {
        if let Some((key, (_, ends))) = state.held.remove_entry(key) {
            state.ends.remove(&(ends, key.clone()));
            self.tell(state, Change::Gone(key));
        }
    }

    /// Takes over what a bucket says.
    #[cfg(feature = "nats")]
    pub(super) fn hear(&self, key: &str, held: Option<Held>) {
        let mut state = self.state();
        match held {
            Some(held) => self.set(&mut state, key, held),
            None => self.remove(&mut state, key),
        }
    }

    /// Ends every lease that is not among these.
    #[cfg(feature = "nats")]
    pub(super) fn keep(&self, keys: &std::collections::HashSet<String>) {
        let mut state = self.state();
        let gone = state.held.keys().filter(|key| !keys.contains(&***key));
        let gone: Vec<Arc<str>> = gone.cloned().collect();
        for key in gone {
            self.remove(&mut state, &key);
        }
    }

    /// Takes a name that is free, is held with this value, or is held with the revision `from`.
    pub(super) fn claim(&self, key: &str, value: Bytes, from: Option<u64>) -> Claim {
        let mut state = self.state();
        match state.held.get(key) {
            Some((held, _)) if held.value != value && Some(held.revision) != from => {
                Claim::Held(held.clone())
            }
            _ => Claim::Taken { revision: self.give(&mut state, key, value) },
        }
    }

    pub(super) fn renew(&self, key: &str, value: Bytes) -> Option<u64> {
        let mut state = self.state();
        let is_held = state.held.get(key).is_some_and(|(held, _)| held.value == value);
        is_held.then(|| self.give(&mut state, key, value))
    }

    pub(super) fn release(&self, key: &str, revision: u64) -> bool {
        let mut state = self.state();
        let is_held = state.held.get(key).is_some_and(|(held, _)| held.revision == revision);
        if is_held {
            self.remove(&mut state, key);
        }
        is_held
    }

    pub(super) fn holder(&self, key: &str) -> Option<Held> {
        self.state().held.get(key).map(|(held, _)| held.clone())
    }

    pub(super) fn watch(self: &Arc<Table>, prefix: &str) -> super::Result<Watch> {
        name::check_prefix(prefix)?;
        let state = self.state();
        let held = state.held.iter().filter(|(key, _)| has(prefix, key));
        Ok(Watch {
            prefix: prefix.into(),
            backlog: held.map(|(key, (held, _))| Change::Held(key.clone(), held.clone())).collect(),
            follower: self.feed.follow(),
            table: self.clone(),
            _task: None,
        })
    }
}
