//! Bounds: how often somebody asks, how many streams are open, and who somebody is.

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A rate limit, as a token bucket: a burst, and a number of requests a second in the long run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Number of requests that are accepted at once when the bucket is full.
    pub burst: u32,
    /// Number of requests a second in the long run; 0 disables the limit.
    pub per_second: u32,
}

/// Whose request it is, for rates and streams: an address, of IPv6 its first 64 bits, because one customer
/// has them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Client(IpAddr);

impl std::fmt::Display for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Client {
    /// The client behind an address.
    pub fn new(address: IpAddr) -> Client {
        Client(match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & (u128::MAX << 64)).into()),
            v4 => v4,
        })
    }

    /// Whether it is this machine.
    pub fn is_loopback(&self) -> bool {
        match self.0 {
            IpAddr::V4(v4) => v4.is_loopback(),
            // Of ::1 the first 64 bits are left.
            IpAddr::V6(v6) => v6.is_unspecified(),
        }
    }

    /// Of a request: its peer, or what a proxy of ours says in `X-Forwarded-For`. A client may write that
    /// header as well, so it is read from its end, which our proxy has added, and only as far as one of
    /// `proxies` vouches for what stands before it. `None` without a peer.
    pub fn of(extensions: &Extensions, headers: &HeaderMap, proxies: &[IpAddr]) -> Option<Client> {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>()?.0.ip();
        let lines = headers.get_all("x-forwarded-for").iter().rev();
        // A line that is not text vouches for nothing, so it ends the walk as an invalid address does.
        let told = lines.flat_map(|line| line.to_str().unwrap_or("?").rsplit(','));
        Some(Client::new(behind(peer, told, proxies)))
    }
}

/// The last address that is not one of our proxies.
fn behind<'t>(peer: IpAddr, told: impl Iterator<Item = &'t str>, proxies: &[IpAddr]) -> IpAddr {
    let is_ours = |address: &IpAddr| {
        let address = address.to_canonical();
        proxies.iter().any(|proxy| proxy.to_canonical() == address)
    };
    let mut address = peer;
    for told in told {
        if !is_ours(&address) {
            break;
        }
        match told.trim().parse() {
            Ok(before) => address = before,
            Err(_) => break,
        }
    }
    address
}

/// Too many requests. Holds the number of seconds to wait, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooOften(pub u64);

/// The outcome of one request for its bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    rate: Rate,
    /// Requests that are left and seconds until the bucket is full again; or how long to wait.
    left: Result<(u64, u64), TooOften>,
}

impl Asked {
    /// Whether the request may go on.
    ///
    /// # Errors
    ///
    /// The bucket was empty.
    pub fn allowed(self) -> Result<(), TooOften> {
        self.left.map(|_| ())
    }

    /// Tells the client: `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10), where `name` is
    /// the policy's. A rate without a limit is not told.
    pub fn tell(self, name: &str, headers: &mut HeaderMap) {
        let Rate { burst, per_second } = self.rate;
        if per_second == 0 {
            return;
        }
        let (left, seconds) = self.left.unwrap_or_else(|TooOften(wait)| (0, wait));
        let window = burst.div_ceil(per_second).max(1);
        for (header, value) in [
            ("ratelimit-policy", format!("\"{name}\";q={burst};w={window}")),
            ("ratelimit", format!("\"{name}\";r={left};t={seconds}")),
        ] {
            if let Ok(value) = value.parse() {
                headers.append(header, value);
            }
        }
    }
}

/// Token buckets by key. Buckets that are full again are forgotten.
#[derive(Debug)]
pub struct Buckets<K> {
    rate: Rate,
    levels: Mutex<Levels<K>>,
}

#[derive(Debug)]
struct Levels<K> {
    /// What is left, in billionths, and when that was so.
    by_key: HashMap<K, (u64, Instant)>,
    /// With so many keys, full buckets are forgotten.
    sweep_at: usize,
}

/// Number of keys above which full buckets are evicted.
const MAX_BUCKETS: usize = 65_536;
/// Levels are counted in billionths: a rate of so many a second is the same number of billionths in a
/// billionth of a second.
const UNIT: u64 = 1_000_000_000;

impl<K: Hash + Eq> Buckets<K> {
    /// Creates buckets with this rate, all of them full.
    pub fn new(rate: Rate) -> Buckets<K> {
        let levels = Levels { by_key: HashMap::new(), sweep_at: MAX_BUCKETS };
        Buckets { rate, levels: Mutex::new(levels) }
    }

    /// Takes one.
    ///
    /// # Errors
    ///
    /// The bucket is empty.
    pub fn take(&self, key: K) -> Result<(), TooOften> {
        self.ask(key).allowed()
    }

    /// Takes one, and says what is left.
    pub fn ask(&self, key: K) -> Asked {
        Asked { rate: self.rate, left: self.take_at(key, Instant::now()) }
    }

    fn take_at(&self, key: K, now: Instant) -> Result<(u64, u64), TooOften> {
        let speed = u64::from(self.rate.per_second);
        if speed == 0 {
            return Ok((0, 0));
        }
        let full = u64::from(self.rate.burst).saturating_mul(UNIT);
        let filled = |(level, at): (u64, Instant)| {
            let passed = u64::try_from(now.saturating_duration_since(at).as_nanos()).unwrap_or(u64::MAX);
            level.saturating_add(passed.saturating_mul(speed)).min(full)
        };
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.by_key.len() >= levels.sweep_at {
            levels.by_key.retain(|_, bucket| filled(*bucket) < full);
            // However many addresses somebody has, looking at all of them costs each request the same.
            levels.sweep_at = levels.by_key.len().saturating_mul(2).max(MAX_BUCKETS);
        }
        let bucket = levels.by_key.entry(key).or_insert((full, now));
        let level = filled(*bucket);
        let left = level.checked_sub(UNIT);
        *bucket = (left.unwrap_or(level), now);
        match left {
            // A bucket's level is in billionths, and so is its speed in a billionth of a second.
            Some(left) => Ok((left / UNIT, full.saturating_sub(left).div_ceil(speed).div_ceil(UNIT))),
            None => {
                let nanoseconds = UNIT.saturating_sub(level).div_ceil(speed);
                Err(TooOften(nanoseconds.div_ceil(UNIT).max(1)))
            }
        }
    }
}

/// Error: no further stream may be opened. Holds the limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full(pub usize);

/// Permits for open streams.
#[derive(Debug)]
pub struct Seats {
    most: usize,
    per_client: usize,
    taken: AtomicUsize,
    by_client: Mutex<HashMap<Client, usize>>,
}

/// The permit of one open stream; dropping it releases the permit.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    client: Option<Client>,
}

impl Seats {
    /// Limits the number of open streams: in all, and of one client.
    pub fn new(most: usize, per_client: usize) -> Arc<Seats> {
        Arc::new(Seats { most, per_client, taken: AtomicUsize::new(0), by_client: Mutex::default() })
    }

    /// Takes a seat.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn seat(self: &Arc<Seats>, client: Option<Client>) -> Result<Seat, Full> {
        // From here on dropping gives it back, also when it is refused.
        let before = self.taken.fetch_add(1, Ordering::AcqRel);
        let mut seat = Seat { seats: self.clone(), client: None };
        if before >= self.most {
            return Err(Full(self.most));
        }
        if let Some(client) = client {
            let mut taken = self.by_client.lock().unwrap_or_else(PoisonError::into_inner);
            let count = taken.entry(client).or_insert(0);
            if *count >= self.per_client {
                return Err(Full(self.per_client));
            }
            *count = count.saturating_add(1);
            seat.client = Some(client);
        }
        Ok(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken.fetch_sub(1, Ordering::AcqRel);
        let Some(client) = self.client else { return };
        let mut taken = self.seats.by_client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&client) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::Duration;

    fn client(text: &str) -> Client {
        Client::new(text.parse().unwrap())
    }

    #[test]
    fn a_bucket_gives_its_burst_and_then_waits() {
        let buckets = Buckets::new(Rate { burst: 3, per_second: 1 });
        let now = Instant::now();
        for _ in 0..3 {
            buckets.take_at("a", now).unwrap();
        }
        assert_eq!(buckets.take_at("a", now), Err(TooOften(1)));
        buckets.take_at("b", now).unwrap();
        assert!(buckets.take_at("a", now + Duration::from_millis(999)).is_err());
        buckets.take_at("a", now + Duration::from_millis(1_000)).unwrap();
        let endless = Buckets::new(Rate { burst: 0, per_second: 0 });
        endless.take("a").unwrap();
    }

    #[test]
    fn who_asks_is_told_what_is_left_and_how_long_to_wait() {
        let buckets = Buckets::new(Rate { burst: 3, per_second: 2 });
        let told = |asked: Asked| {
            let mut headers = HeaderMap::new();
            asked.tell("address", &mut headers);
            ["ratelimit-policy", "ratelimit"].map(|name| headers[name].to_str().unwrap().to_owned())
        };
        assert_eq!(told(buckets.ask("a")), ["\"address\";q=3;w=2", "\"address\";r=2;t=1"]);
        let now = Instant::now();
        let rate = buckets.rate;
        let empty = Buckets::new(rate);
        let left: Vec<_> = (0..4).map(|_| Asked { rate, left: empty.take_at("a", now) }).collect();
        assert_eq!(told(left[2])[1], "\"address\";r=0;t=2");
        assert_eq!((told(left[3])[1].as_str(), left[3].allowed()), ("\"address\";r=0;t=1", Err(TooOften(1))));
        let mut headers = HeaderMap::new();
        Buckets::new(Rate { burst: 1, per_second: 0 }).ask("a").tell("address", &mut headers);
        assert!(headers.is_empty());
    }

    #[test]
    fn whoever_asks_more_often_than_the_clock_ticks_gets_its_rate_all_the_same() {
        let buckets = Buckets::new(Rate { burst: 1, per_second: 200 });
        let begin = Instant::now();
        // 10 000 requests in a second.
        let passed = (0..10_000)
            .filter(|n| buckets.take_at((), begin + Duration::from_micros(100 * n)).is_ok())
            .count();
        assert_eq!(passed, 200);
    }

    #[test]
    fn what_is_full_again_is_forgotten() {
        let buckets = Buckets::new(Rate { burst: 1, per_second: 1 });
        let begin = Instant::now();
        for key in 0..MAX_BUCKETS {
            buckets.take_at(key, begin).unwrap();
        }
        // All are in use, so all are kept, and the next look comes later.
        buckets.take_at(MAX_BUCKETS, begin).unwrap();
        assert_eq!(buckets.levels.lock().unwrap().sweep_at, 2 * MAX_BUCKETS);
        buckets.levels.lock().unwrap().sweep_at = MAX_BUCKETS;
        buckets.take_at(0, begin + Duration::from_secs(1)).unwrap();
        assert_eq!(buckets.levels.lock().unwrap().by_key.len(), 1);
    }

    #[test]
    fn one_customers_ipv6_addresses_are_one() {
        let a = client("2001:db8:1:2::1");
        assert_eq!(a, client("2001:db8:1:2:ffff::9"));
        assert_ne!(a, client("2001:db8:1:3::1"));
        assert_eq!(client("::ffff:127.0.0.1"), client("127.0.0.1"));
    }

    #[test]
    fn only_a_proxy_of_ours_says_whose_request_it_is() {
        let [proxy, second, other, liar] =
            ["10.0.0.1", "10.0.0.2", "192.0.2.7", "198.51.100.9"].map(|it| it.parse::<IpAddr>().unwrap());
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        let whose = |peer, told: &str| behind(peer, told.rsplit(','), &[proxy, second]);
        assert_eq!(whose(proxy, "198.51.100.9, 192.0.2.7"), other);
        assert_eq!(whose(mapped, "198.51.100.9, 192.0.2.7"), other);
        assert_eq!(whose(proxy, "nonsense"), proxy);
        assert_eq!(whose(proxy, ""), proxy);
        assert_eq!(whose(other, "198.51.100.9"), other);
        // One proxy of ours behind another.
        assert_eq!(whose(proxy, "198.51.100.9, 192.0.2.7, 10.0.0.2"), other);
        assert_eq!(whose(proxy, "198.51.100.9,10.0.0.2"), liar);
    }

    #[test]
    fn several_lines_of_a_header_are_one_list() {
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::from(([10, 0, 0, 1], 9))));
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "198.51.100.9".parse().unwrap());
        headers.append("x-forwarded-for", "192.0.2.7".parse().unwrap());
        let proxies = ["10.0.0.1".parse().unwrap()];
        assert_eq!(Client::of(&extensions, &headers, &proxies), Some(client("192.0.2.7")));
        assert_eq!(Client::of(&extensions, &headers, &[]), Some(client("10.0.0.1")));
        assert_eq!(Client::of(&Extensions::new(), &headers, &proxies), None);
    }

    #[test]
    fn seats_are_given_back_also_when_they_are_refused() {
        let seats = Seats::new(2, 1);
        let (a, b) = (Some(client("127.0.0.1")), Some(client("127.0.0.2")));
        let first = seats.seat(a).unwrap();
        assert_eq!(seats.seat(a).unwrap_err(), Full(1));
        let _second = seats.seat(b).unwrap();
        assert_eq!(seats.seat(None).unwrap_err(), Full(2));
        drop(first);
        seats.seat(a).unwrap();
    }
}
