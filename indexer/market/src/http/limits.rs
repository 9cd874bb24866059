//! Bounds: bodies, rates, streams, connections.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use zx1_market::PartyId;

use crate::error::{Error, Result};

/// A bucket: so many at once, and so many a second in the long run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// At once.
    pub burst: u32,
    /// A second.
    pub per_second: u32,
}

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
    /// Streams at once.
    pub streams: usize,
    /// Streams at once from one address.
    pub streams_per_address: usize,
    /// Events that are kept in memory for streams that are behind.
    pub stream_ring: usize,
    /// A silent stream gets a comment after this, in milliseconds.
    pub keepalive_ms: u64,
    /// Proxies whose `X-Forwarded-For` is believed: its last address is the client's then.
    pub proxies: Vec<IpAddr>,
    /// Contracts posted from one address: each unpaid one is kept and watched until it expires.
    pub posts: Rate,
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
            connections: 25_000,
            streams: 20_000,
            streams_per_address: 256,
            stream_ring: 1_024,
            keepalive_ms: zx1_market::defaults::KEEPALIVE.0,
            proxies: Vec::new(),
            posts: Rate { burst: 60, per_second: 2 },
            address: Rate { burst: 500, per_second: 100 },
            key: Rate { burst: 100, per_second: 20 },
        }
    }
}

impl Limits {
    pub(crate) fn body_time(&self) -> Duration {
        Duration::from_millis(self.body_ms)
    }

    pub(crate) fn head_time(&self) -> Duration {
        Duration::from_millis(self.head_ms)
    }

    pub(crate) fn write_time(&self) -> Duration {
        Duration::from_millis(self.write_ms)
    }

    /// Whose request it is, for rates and streams: the peer, or what a proxy of ours says. A client may write
    /// the header as well, so only what the proxy itself has added at its end counts.
    pub(crate) fn client(&self, peer: IpAddr, forwarded: Option<&str>) -> IpAddr {
        if !self.proxies.contains(&peer) {
            return peer;
        }
        let last = forwarded.and_then(|list| list.rsplit(',').next());
        last.and_then(|address| address.trim().parse().ok()).unwrap_or(peer)
    }

    pub(crate) fn keepalive(&self) -> Duration {
        Duration::from_millis(self.keepalive_ms)
    }
}

/// Buckets by key. What is full again is forgotten.
#[derive(Debug)]
struct Buckets<K> {
    rate: Rate,
    levels: Mutex<HashMap<K, (f64, Instant)>>,
}

/// So many keys are remembered before full buckets are forgotten.
const MAX_BUCKETS: usize = 65_536;

impl<K: Hash + Eq> Buckets<K> {
    fn new(rate: Rate) -> Buckets<K> {
        Buckets { rate, levels: Mutex::default() }
    }

    fn take(&self, key: K) -> Result<()> {
        let (burst, speed) = (f64::from(self.rate.burst), f64::from(self.rate.per_second.max(1)));
        let now = Instant::now();
        let filled =
            |(level, at): (f64, Instant)| (level + now.duration_since(at).as_secs_f64() * speed).min(burst);
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= MAX_BUCKETS {
            levels.retain(|_, bucket| filled(*bucket) < burst);
        }
        let bucket = levels.entry(key).or_insert((burst, now));
        let level = filled(*bucket);
        if level < 1.0 {
            *bucket = (level, now);
            let wait = ((1.0 - level) / speed).ceil();
            // A wait is below `1 / speed`, at most a second.
            return Err(Error::TooMany(wait.max(1.0) as u64));
        }
        *bucket = (level - 1.0, now);
        Ok(())
    }
}

/// How often addresses and keys ask.
#[derive(Debug)]
pub(crate) struct Rates {
    addresses: Buckets<IpAddr>,
    posts: Buckets<IpAddr>,
    keys: Buckets<PartyId>,
}

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Rates {
        Rates {
            addresses: Buckets::new(limits.address),
            posts: Buckets::new(limits.posts),
            keys: Buckets::new(limits.key),
        }
    }

    /// One request of an address. Of IPv6 the first 64 bits count: one customer has them all.
    pub(crate) fn address(&self, address: IpAddr) -> Result<()> {
        self.addresses.take(network(address))
    }

    /// One contract posted from an address.
    pub(crate) fn post(&self, address: IpAddr) -> Result<()> {
        self.posts.take(network(address))
    }

    /// One signed request of a key.
    pub(crate) fn party(&self, party: &PartyId) -> Result<()> {
        self.keys.take(*party)
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_none() => {
            let bits = u128::from_be_bytes(v6.octets()) & (u128::MAX << 64);
            IpAddr::V6(bits.into())
        }
        other => other,
    }
}

/// Open streams.
#[derive(Debug)]
pub(crate) struct Streams {
    max: usize,
    per_address: usize,
    open: AtomicUsize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// One open stream; closing is dropping.
#[derive(Debug)]
pub(crate) struct Seat {
    streams: Arc<Streams>,
    address: Option<IpAddr>,
}

impl Streams {
    pub(crate) fn new(limits: &Limits) -> Streams {
        Streams {
            max: limits.streams,
            per_address: limits.streams_per_address,
            open: AtomicUsize::new(0),
            by_address: Mutex::default(),
        }
    }

    /// Take a seat, or 9405.
    pub(crate) fn seat(self: &Arc<Streams>, address: Option<IpAddr>) -> Result<Seat> {
        let address = address.map(network);
        let refuse = |n| Err(Error::TooManyStreams(n));
        if self.open.fetch_add(1, Ordering::AcqRel) >= self.max {
            self.open.fetch_sub(1, Ordering::AcqRel);
            return refuse(self.max);
        }
        if let Some(address) = address {
            let mut open = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            let count = open.entry(address).or_insert(0);
            if *count >= self.per_address {
                drop(open);
                self.open.fetch_sub(1, Ordering::AcqRel);
                return refuse(self.per_address);
            }
            *count += 1;
        }
        Ok(Seat { streams: self.clone(), address })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.streams.open.fetch_sub(1, Ordering::AcqRel);
        if let Some(address) = self.address {
            let mut open = self.streams.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(count) = open.get_mut(&address) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    open.remove(&address);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_then_waits() {
        let buckets = Buckets::new(Rate { burst: 3, per_second: 1 });
        for _ in 0..3 {
            buckets.take("a").unwrap();
        }
        assert_eq!(buckets.take("a").unwrap_err().status(), 429);
        buckets.take("b").unwrap();
    }

    #[test]
    fn one_customers_ipv6_addresses_are_one() {
        let a = network("2001:db8:1:2::1".parse().unwrap());
        assert_eq!(a, network("2001:db8:1:2:ffff::9".parse().unwrap()));
        assert_ne!(a, network("2001:db8:1:3::1".parse().unwrap()));
    }

    #[test]
    fn only_a_proxy_of_ours_says_whose_request_it_is() {
        let (proxy, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([192, 0, 2, 7]));
        let limits = Limits { proxies: vec![proxy], ..Limits::default() };
        assert_eq!(limits.client(proxy, Some("198.51.100.9, 192.0.2.7")), other);
        assert_eq!(limits.client(proxy, Some("nonsense")), proxy);
        assert_eq!(limits.client(proxy, None), proxy);
        assert_eq!(limits.client(other, Some("198.51.100.9")), other);
    }

    #[test]
    fn seats_are_given_back() {
        let limits = Limits { streams: 2, streams_per_address: 1, ..Limits::default() };
        let streams = Arc::new(Streams::new(&limits));
        let (a, b) = (Some(IpAddr::from([127, 0, 0, 1])), Some(IpAddr::from([127, 0, 0, 2])));
        let first = streams.seat(a).unwrap();
        assert!(streams.seat(a).is_err());
        let _second = streams.seat(b).unwrap();
        assert!(streams.seat(None).is_err());
        drop(first);
        streams.seat(a).unwrap();
    }
}
