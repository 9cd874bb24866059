//! The bus of one process.

use super::leases::Table;
use super::{
    Body, Bus, Claim, Held, Message, Past, Published, Result, Seen, Settings, Start, State, Subscription,
    Watch, name,
};
use crate::topics::Topics;
use axum::body::Bytes;
use futures_util::future::{BoxFuture, ready};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// Maximum number of message ids that are remembered.
const MAX_IDS: usize = 1 << 17;

/// A bus in the memory of one process. Clones share it.
#[derive(Debug, Clone)]
pub struct Local {
    topics: Topics<Body>,
    seen: Arc<Mutex<Seen<u64>>>,
    leases: Arc<Table>,
    state: Arc<watch::Sender<State>>,
}

impl Local {
    /// An empty bus.
    #[must_use]
    pub fn new(settings: Settings) -> Local {
        Local {
            topics: Topics::new(settings.bounds),
            seen: Arc::new(Mutex::new(Seen::new(settings.window, MAX_IDS))),
            leases: Arc::new(Table::new(settings.lease)),
            state: Arc::new(watch::Sender::new(State::Connected)),
        }
    }

    fn say(&self, topic: &str, id: &str, bytes: Bytes) -> Result<Published> {
        name::check_message(topic, id, bytes.len())?;
        let now = Instant::now();
        // Held while the message is added: the same id at the same time counts once.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sequence) = seen.get(id, now) {
            return Ok(Published { sequence: *sequence, duplicate: true });
        }
        let sequence = self.topics.push(topic, id.len() + bytes.len(), Body { id: id.into(), bytes });
        seen.insert(id, sequence, now);
        Ok(Published { sequence, duplicate: false })
    }

    fn take(&self, key: &str, value: Bytes, from: Option<u64>) -> Result<Claim> {
        name::check(key)?;
        name::check_size(value.len())?;
        Ok(self.leases.claim(key, value, from))
    }
}

fn done<'a, T: Send + 'a>(result: Result<T>) -> BoxFuture<'a, Result<T>> {
    Box::pin(ready(result))
}

impl Bus for Local {
    fn publish<'a>(&'a self, topic: &'a str, id: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<Published>> {
        done(self.say(topic, id, bytes))
    }

    fn subscribe<'a>(&'a self, prefix: &'a str, start: Start) -> BoxFuture<'a, Result<Subscription>> {
        done(name::check_prefix(prefix).map(|()| self.topics.follow(prefix, start)))
    }

    fn after<'a>(&'a self, topic: &'a str, sequence: u64) -> BoxFuture<'a, Result<Past<Body>>> {
        done(name::check(topic).map(|()| self.topics.after(topic, sequence)))
    }

    fn replay<'a>(&'a self, topic: &'a str, most: usize) -> BoxFuture<'a, Result<Vec<Message>>> {
        done(name::check(topic).map(|()| self.topics.last(topic, most)))
    }

    fn claim<'a>(&'a self, key: &'a str, value: Bytes) -> BoxFuture<'a, Result<Claim>> {
        done(self.take(key, value, None))
    }

    fn take_over<'a>(&'a self, key: &'a str, value: Bytes, from: u64) -> BoxFuture<'a, Result<Claim>> {
        done(self.take(key, value, Some(from)))
    }

    fn renew<'a>(&'a self, key: &'a str, value: Bytes, _: u64) -> BoxFuture<'a, Result<Option<u64>>> {
        done(name::check(key).map(|()| self.leases.renew(key, value)))
    }

    fn release<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<bool>> {
        done(name::check(key).map(|()| self.leases.release(key, revision)))
    }

    fn holder<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Held>>> {
        done(name::check(key).map(|()| self.leases.holder(key)))
    }

    fn watch(&self, prefix: &str) -> Result<Watch> {
        self.leases.watch(prefix)
    }

    fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }
}
