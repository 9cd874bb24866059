//! What several processes of one service share: topics in order, and leases of names.
//!
//! | | |
//! |---|---|
//! | [`Local`] | one process: in its memory; always connected |
//! | [`Nats`] | many processes: one JetStream stream and one bucket of a NATS server (feature `nats`) |
//!
//! ```
//! # use zx1_server::bus::{Bus, Claim, Heard, Local, Settings, Start};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), zx1_server::bus::BusError> {
//! let bus = Local::new(Settings::default());
//! let mut rooms = bus.subscribe("rooms", Start::Now).await?;
//! let said = bus.publish("rooms.general", "7f3a", "hello".into()).await?;
//! assert!(bus.publish("rooms.general", "7f3a", "hello".into()).await?.duplicate);
//! let Heard::Item(heard) = rooms.next().await else { panic!() };
//! assert_eq!((&*heard.topic, heard.sequence, &*heard.event.id), ("rooms.general", said.sequence, "7f3a"));
//!
//! let claim = bus.claim("sessions.0a1b", "relay-1/42".into()).await?;
//! assert!(matches!(claim, Claim::Taken { .. }));
//! # Ok(()) }
//! ```
//!
//! **Messages.** One counter numbers the messages of all topics: numbers ascend in a topic and may skip. Of each topic
//! the last [`Bounds::kept`] stay, for [`Bounds::age`]. A message id counts once within [`Settings::window`], in all
//! topics: publishing it again answers the first number, so whoever is not sure publishes again. A publisher hears
//! its own message as everybody else does; whoever delivers before the bus does drops that copy by its id ([`Seen`]).
//!
//! **Away.** [`BusError::Away`] means that the bus did not take a message, or that its answer was lost. The caller
//! delivers to its own clients, remembers the id, and may publish again later under the same id. [`Bus::state`] says
//! when. Subscriptions outlive it: what others published meanwhile follows in order, and a [`Heard::Gap`] says where
//! more may have been published than is kept.
//!
//! **Leases.** A name has at most one holder, who loses it [`Settings::lease`] after its last [`Bus::renew`], with NATS up
//! to three seconds later. A watcher sees the end of names of which it hears nothing for that time, so also while the
//! bus is away. A value must name its claim alone (such as process and connection): claiming again with the value that
//! stands is a success, so whoever is not sure asks again. A takeover names the revision that it replaces, so of many
//! exactly one succeeds.

#[cfg(test)]
mod conformance;
mod error;
mod leases;
mod local;
mod name;
#[cfg(feature = "nats")]
mod nats;
mod seen;

pub use error::BusError;
pub use leases::{Change, Held, Watch};
pub use local::Local;
#[cfg(feature = "nats")]
pub use nats::{Nats, NatsSettings};
pub use seen::Seen;

pub use crate::topics::{Bounds, Past, Start};

use crate::topics::{self, Following, Item};
use axum::body::Bytes;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The result of a call.
pub type Result<T> = std::result::Result<T, BusError>;

/// Maximum bytes of a message or of a lease's value.
pub const MAX_BYTES: usize = 512 << 10;

/// What a bus keeps and for how long. Processes that share a bus have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Messages that are kept.
    pub bounds: Bounds,
    /// Within this time a message id counts once.
    pub window: Duration,
    /// Duration of a lease; at least a second.
    pub lease: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            bounds: Bounds::default(),
            window: Duration::from_secs(120),
            lease: Duration::from_secs(30),
        }
    }
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The message's id, unique in all topics.
    pub id: Arc<str>,
    /// The message itself, at most [`MAX_BYTES`].
    pub bytes: Bytes,
}

/// A message of a topic.
pub type Message = Item<Body>;

/// What a subscription hears.
pub type Heard = topics::Heard<Body>;

/// A subscription; [`Following::next`] waits for the next message.
pub type Subscription = Following<Body>;

/// A message that the bus has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Its number in its topic.
    pub sequence: u64,
    /// Whether its id was published before: then the number is that of the first.
    pub duplicate: bool,
}

/// The outcome of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The name is held with this value.
    Taken {
        /// What [`Bus::renew`] and [`Bus::release`] name.
        revision: u64,
    },
    /// Somebody else holds it.
    Held(Held),
}

/// Whether a bus can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Messages and leases are shared.
    Connected,
    /// Calls fail with [`BusError::Away`]; the bus is asked again and again.
    Degraded,
}

/// Topics and leases that processes share.
pub trait Bus: Send + Sync + std::fmt::Debug + 'static {
    /// Publishes a message: topic, id, bytes.
    ///
    /// # Errors
    ///
    /// [`BusError::Away`], or what the caller did wrong.
    fn publish<'a>(&'a self, topic: &'a str, id: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<Published>>;

    /// Subscribes to the topics at and below `prefix`: `rooms` has `rooms` and `rooms.a`; the empty prefix has all.
    ///
    /// # Errors
    ///
    /// When the prefix is not a topic.
    fn subscribe<'a>(&'a self, prefix: &'a str, start: Start) -> BoxFuture<'a, Result<Subscription>>;

    /// What is kept of a topic after a number that somebody has seen.
    ///
    /// # Errors
    ///
    /// As [`Bus::replay`].
    fn after<'a>(&'a self, topic: &'a str, sequence: u64) -> BoxFuture<'a, Result<Past<Body>>>;

    /// The last messages of a topic, at most `most`, oldest first. What this process has published is among them.
    ///
    /// # Errors
    ///
    /// When the topic is invalid. While the bus is away it answers with what is known.
    fn replay<'a>(&'a self, topic: &'a str, most: usize) -> BoxFuture<'a, Result<Vec<Message>>>;

    /// Claims a name that nobody holds.
    ///
    /// # Errors
    ///
    /// [`BusError::Away`], or what the caller did wrong.
    fn claim<'a>(&'a self, key: &'a str, value: Bytes) -> BoxFuture<'a, Result<Claim>>;

    /// Takes a name over from the holder with this revision.
    ///
    /// # Errors
    ///
    /// As [`Bus::claim`].
    fn take_over<'a>(&'a self, key: &'a str, value: Bytes, from: u64) -> BoxFuture<'a, Result<Claim>>;

    /// Extends a lease: value and revision are those of the caller's own claim. The new revision; `None` when the name is not held with this value any more.
    ///
    /// # Errors
    ///
    /// As [`Bus::claim`].
    fn renew<'a>(&'a self, key: &'a str, value: Bytes, revision: u64) -> BoxFuture<'a, Result<Option<u64>>>;

    /// Gives a name back. `false` when it was not held with this revision any more.
    ///
    /// # Errors
    ///
    /// As [`Bus::claim`].
    fn release<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<bool>>;

    /// Who holds a name.
    ///
    /// # Errors
    ///
    /// As [`Bus::claim`].
    fn holder<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Held>>>;

    /// Watches the names at and below `prefix`: first those that are held, then every change. A renewal is none.
    ///
    /// # Errors
    ///
    /// When the prefix is not a key.
    fn watch(&self, prefix: &str) -> Result<Watch>;

    /// Whether the bus can be used, and when that changes.
    fn state(&self) -> watch::Receiver<State>;
}
