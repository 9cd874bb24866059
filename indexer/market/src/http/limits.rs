//! Bounds: bodies, rates, streams, connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zx1_market::{Millis, PartyId};
use zx1_server::limits::{Asked, Buckets, Client, Rate};
use zx1_server::serve::Bounds;

use crate::error::{Error, Result};

/// All bounds of the interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest body.
    pub body_bytes: usize,
    /// How long a body may take, in milliseconds.
    pub body_ms: u64,
    /// How long a request's head may take, in milliseconds.
    pub head_ms: u64,
    /// How long a client may take nothing of an answer, in milliseconds.
    pub write_ms: u64,
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address; those of `proxies` are not counted.
    pub connections_per_address: usize,
    /// Bytes of long answers (lists, transcripts) that were read and that nobody has taken. Above it none begins.
    pub unsent_bytes: u64,
    /// The same of one address.
    pub unsent_bytes_per_address: u64,
    /// Streams at once.
    pub streams: usize,
    /// Streams at once from one address.
    pub streams_per_address: usize,
    /// Events that are kept in memory for streams that are behind.
    pub stream_ring: usize,
    /// A silent stream gets a comment after this, in milliseconds.
    pub keepalive_ms: u64,
    /// Proxies whose `X-Forwarded-For` is believed: the last address in it that is none of them is the
    /// client's then.
    pub proxies: Vec<IpAddr>,
    /// Contracts posted from one address: each unpaid one is kept and watched until it expires.
    pub posts: Rate,
    /// Contracts posted from one address in a day without work (`X-Fix-Work`); 0 for any number. This machine's own are
    /// not counted.
    pub posts_per_day: u32,
    /// Requests of one address.
    pub address: Rate,
    /// Signed requests of one key.
    pub key: Rate,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: zx1_market::defaults::MAX_BODY,
            body_ms: 10_000,
            head_ms: 10_000,
            write_ms: 30_000,
            connections: zx1_server::serve::CONNECTIONS,
            connections_per_address: 512,
            unsent_bytes: 256 << 20,
            unsent_bytes_per_address: 32 << 20,
            streams: 20_000,
            streams_per_address: 256,
            stream_ring: 1_024,
            keepalive_ms: zx1_market::defaults::KEEPALIVE.0,
            proxies: Vec::new(),
            posts: Rate { burst: 60, per_second: 2 },
            posts_per_day: 100,
            address: Rate { burst: 500, per_second: 100 },
            key: Rate { burst: 100, per_second: 20 },
        }
    }
}

impl Limits {
    pub(crate) fn body_time(&self) -> Duration {
        Duration::from_millis(self.body_ms)
    }

    pub(crate) fn keepalive(&self) -> Duration {
        Duration::from_millis(self.keepalive_ms)
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            connections: self.connections,
            per_address: self.connections_per_address,
            proxies: self.proxies.clone(),
            head: Duration::from_millis(self.head_ms),
            write: Duration::from_millis(self.write_ms),
        }
    }
}

/// How often addresses and keys ask.
#[derive(Debug)]
pub(crate) struct Rates {
    clients: Buckets<Client>,
    posts: Buckets<Client>,
    posts_per_day: u32,
    /// Contracts that each address has posted on a day.
    posted: Mutex<(u64, HashMap<Client, u32>)>,
    keys: Buckets<PartyId>,
}

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Rates {
        Rates {
            clients: Buckets::new(limits.address),
            posts: Buckets::new(limits.posts),
            posts_per_day: limits.posts_per_day,
            posted: Mutex::default(),
            keys: Buckets::new(limits.key),
        }
    }

    /// One request of a client.
    pub(crate) fn request(&self, client: Client) -> Asked {
        self.clients.ask(client)
    }

    /// One contract that a client posts at this moment, perhaps with work behind it.
    pub(crate) fn post(&self, client: Client, now: Millis, worked: impl FnOnce() -> bool) -> Result<()> {
        self.posts.take(client)?;
        if self.posts_per_day == 0 || client.is_loopback() {
            return Ok(());
        }
        let day = now.as_secs() / 86_400;
        {
            let mut posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
            if posted.0 != day {
                *posted = (day, HashMap::new());
            }
            let count = posted.1.entry(client).or_default();
            if *count < self.posts_per_day {
                *count += 1;
                return Ok(());
            }
        }
        if worked() {
            return Ok(());
        }
        Err(Error::UnpaidPosts { most: self.posts_per_day, wait: 86_400 - now.as_secs() % 86_400 })
    }

    /// One signed request of a key.
    pub(crate) fn party(&self, party: &PartyId) -> Result<()> {
        Ok(self.keys.take(*party)?)
    }
}
