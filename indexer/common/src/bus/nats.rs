//! The bus of many processes: a stream and a bucket of a NATS server with JetStream.
//!
//! Every process mirrors the stream, so that replays and subscriptions cost the server nothing. It hears what the server
//! republishes, and after a loss it reads the stream from the last number that was mirrored. Leases are entries of a bucket whose age is the
//! lease, changed by compare-and-set. Servers before 2.10 are refused; per-message lifetimes, which 2.10 ignores
//! silently, are not used.

mod connection;
mod leases;
mod mirror;
#[cfg(all(test, feature = "testing"))]
mod tests;

pub use connection::NatsSettings;

use super::{
    Body, Bus, BusError, Claim, Held, Message, Past, Published, Result, Start, State, Subscription, Watch,
    name,
};
use crate::topics::Topics;
use async_nats::jetstream;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use axum::body::Bytes;
use futures_util::future::BoxFuture;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// Within this time the server answers, or it is away.
const ANSWER: Duration = Duration::from_secs(2);

/// The connection to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Link {
    is_up: bool,
    /// Number of times that it was lost.
    losses: u64,
}

/// What the tasks of a bus share.
#[derive(Debug)]
struct Shared {
    settings: NatsSettings,
    client: async_nats::Client,
    jetstream: jetstream::Context,
    bucket: jetstream::kv::Store,
    topics: Topics<Body>,
    state: watch::Sender<State>,
    link: watch::Receiver<Link>,
    /// The last number that the server has given to a message of this process.
    published: watch::Sender<u64>,
    /// The last number that was mirrored.
    mirrored: watch::Sender<u64>,
}

impl Shared {
    fn is_connected(&self) -> bool {
        *self.state.borrow() == State::Connected
    }

    /// The bus counts as away from now on, until its keeper has reached it again.
    fn degrade(&self, why: &dyn std::fmt::Display) {
        let is_new = self.state.send_if_modified(|state| {
            let was = std::mem::replace(state, State::Degraded);
            was == State::Connected
        });
        if is_new {
            tracing::warn!(why = %why, "the bus is away; messages stay in this process");
        }
    }

    /// Waits for a connection. The future that ends when it is lost.
    async fn linked(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut link = self.link.clone();
        let losses = link.wait_for(|link| link.is_up).await.map(|link| link.losses);
        let losses = match losses {
            Ok(losses) => losses,
            // The client is gone, which outlives this.
            Err(_) => std::future::pending().await,
        };
        async move {
            let _ = link.wait_for(|link| link.losses != losses).await;
        }
    }

    /// The subject of a topic.
    fn subject(&self, topic: &str) -> String {
        format!("{}.topic.{}", self.settings.name, name::to_subject(topic))
    }

    /// Fails while the bus is away.
    fn available(&self) -> Result<()> {
        if self.is_connected() { Ok(()) } else { Err(BusError::Away) }
    }

    /// Waits until this number was mirrored, but not for long.
    async fn mirrored(&self, sequence: u64) {
        if self.is_connected() {
            let mut mirrored = self.mirrored.subscribe();
            let reached = mirrored.wait_for(|mirrored| *mirrored >= sequence);
            let _ = tokio::time::timeout(ANSWER, reached).await;
        }
    }

    async fn publish(&self, topic: &str, id: &str, bytes: Bytes) -> Result<Published> {
        name::check_message(topic, id, bytes.len())?;
        self.available()?;
        let message = PublishMessage::build().payload(bytes).message_id(id);
        let sent = async { self.jetstream.send_publish(self.subject(topic), message).await?.await };
        match sent.await {
            Ok(ack) => {
                self.published.send_if_modified(|last| {
                    let is_later = ack.sequence > *last;
                    *last = ack.sequence.max(*last);
                    is_later
                });
                Ok(Published { sequence: ack.sequence, duplicate: ack.duplicate })
            }
            Err(error) => Err(self.not_published(&error)),
        }
    }

    fn not_published(&self, error: &PublishError) -> BusError {
        match error.kind() {
            // Too much at once: the server is not away, and took nothing.
            PublishErrorKind::MaxAckPending => BusError::Away,
            PublishErrorKind::MaxPayloadExceeded | PublishErrorKind::Other => {
                BusError::Refused { what: "a message", why: error.to_string() }
            }
            _ => {
                self.degrade(error);
                BusError::Away
            }
        }
    }
}

/// A bus of all processes that use one stream of one NATS server or cluster. Clones share the connection.
#[derive(Debug, Clone)]
pub struct Nats {
    shared: Arc<Shared>,
    _keeper: Arc<AbortOnDropHandle<()>>,
}

impl Nats {
    /// Connects, makes stream and bucket where they are missing, and reads what is kept.
    ///
    /// # Errors
    ///
    /// When the server does not answer, is too old, or refuses. Once this has succeeded the bus reconnects by itself.
    pub async fn connect(settings: NatsSettings) -> Result<Nats> {
        let shared = Arc::new(connection::open(settings).await?);
        let mut state = shared.state.subscribe();
        let keeper = AbortOnDropHandle::new(tokio::spawn(mirror::keep(shared.clone())));
        let connected = state.wait_for(|state| *state == State::Connected);
        match tokio::time::timeout(connection::START, connected).await {
            Ok(Ok(_)) => Ok(Nats { shared, _keeper: Arc::new(keeper) }),
            _ => Err(BusError::Unreachable { why: "what it keeps was not read in time".to_owned() }),
        }
    }
}

impl Bus for Nats {
    fn publish<'a>(&'a self, topic: &'a str, id: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<Published>> {
        Box::pin(self.shared.publish(topic, id, bytes))
    }

    fn subscribe<'a>(&'a self, prefix: &'a str, start: Start) -> BoxFuture<'a, Result<Subscription>> {
        Box::pin(async move {
            name::check_prefix(prefix)?;
            if let Start::After(sequence) = start {
                self.shared.mirrored(sequence).await;
            }
            Ok(self.shared.topics.follow(prefix, start))
        })
    }

    fn after<'a>(&'a self, topic: &'a str, sequence: u64) -> BoxFuture<'a, Result<Past<Body>>> {
        Box::pin(async move {
            name::check(topic)?;
            let published = *self.shared.published.borrow();
            self.shared.mirrored(sequence.max(published)).await;
            Ok(self.shared.topics.after(topic, sequence))
        })
    }

    fn replay<'a>(&'a self, topic: &'a str, most: usize) -> BoxFuture<'a, Result<Vec<Message>>> {
        Box::pin(async move {
            name::check(topic)?;
            let published = *self.shared.published.borrow();
            self.shared.mirrored(published).await;
            Ok(self.shared.topics.last(topic, most))
        })
    }

    fn claim<'a>(&'a self, key: &'a str, value: Bytes) -> BoxFuture<'a, Result<Claim>> {
        Box::pin(self.shared.take(key, value, None))
    }

    fn take_over<'a>(&'a self, key: &'a str, value: Bytes, from: u64) -> BoxFuture<'a, Result<Claim>> {
        Box::pin(self.shared.take(key, value, Some(from)))
    }

    fn renew<'a>(&'a self, key: &'a str, value: Bytes, revision: u64) -> BoxFuture<'a, Result<Option<u64>>> {
        Box::pin(self.shared.renew(key, value, revision))
    }

    fn release<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.shared.release(key, revision))
    }

    fn holder<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Held>>> {
        Box::pin(self.shared.holder(key))
    }

    fn watch(&self, prefix: &str) -> Result<Watch> {
        leases::watch(&self.shared, prefix)
    }

    fn state(&self) -> watch::Receiver<State> {
        self.shared.state.subscribe()
    }
}
