//! Bounds: rates and streams.

use crate::config::{Limits, Rate};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// So many addresses are remembered before full buckets are forgotten.
const MAX_BUCKETS: usize = 65_536;
/// Tokens are counted in thousandths.
const UNIT: u64 = 1_000;

/// Buckets by address. What is full again is forgotten.
#[derive(Debug)]
struct Buckets {
    rate: Rate,
    levels: Mutex<HashMap<IpAddr, (u64, Instant)>>,
}

impl Buckets {
    fn new(rate: Rate) -> Self {
        Self { rate, levels: Mutex::default() }
    }

    fn take(&self, address: IpAddr) -> Result<()> {
        if self.rate.per_second == 0 {
            return Ok(());
        }
        let full = u64::from(self.rate.burst).saturating_mul(UNIT);
        let per_ms = u64::from(self.rate.per_second);
        let now = Instant::now();
        let filled = |(level, at): (u64, Instant)| {
            let ms = u64::try_from(now.duration_since(at).as_millis()).unwrap_or(u64::MAX);
            level.saturating_add(ms.saturating_mul(per_ms)).min(full)
        };
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= MAX_BUCKETS {
            levels.retain(|_, bucket| filled(*bucket) < full);
        }
        let bucket = levels.entry(network(address)).or_insert((full, now));
        let level = filled(*bucket);
        match level.checked_sub(UNIT) {
            Some(left) => {
                *bucket = (left, now);
                Ok(())
            }
            None => {
                *bucket = (level, now);
                let wait_ms = UNIT.saturating_sub(level).div_ceil(per_ms);
                Err(Error::TooMany(wait_ms.div_ceil(1_000).max(1)))
            }
        }
    }
}

/// Of IPv6 the first 64 bits count: one customer has them all.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.into(),
            None => IpAddr::V6((v6.to_bits() & (u128::MAX << 64)).into()),
        },
        v4 => v4,
    }
}

/// How often addresses ask.
#[derive(Debug)]
pub(crate) struct Rates {
    requests: Buckets,
    uploads: Buckets,
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { requests: Buckets::new(limits.address), uploads: Buckets::new(limits.uploads) }
    }

    /// One request.
    pub(super) fn address(&self, address: IpAddr) -> Result<()> {
        self.requests.take(address)
    }

    /// One upload.
    pub(super) fn upload(&self, address: IpAddr) -> Result<()> {
        self.uploads.take(address)
    }
}

/// Open streams.
#[derive(Debug)]
pub(crate) struct Streams {
    most: usize,
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
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.streams,
            per_address: limits.streams_per_address,
            open: AtomicUsize::new(0),
            by_address: Mutex::default(),
        }
    }

    /// Takes a seat.
    ///
    /// # Errors
    ///
    /// 9656
    pub(super) fn seat(self: &Arc<Self>, address: Option<IpAddr>) -> Result<Seat> {
        // From here on dropping gives it back, also when it is refused.
        let before = self.open.fetch_add(1, Ordering::AcqRel);
        let mut seat = Seat { streams: self.clone(), address: None };
        if before >= self.most {
            return Err(Error::TooManyStreams(self.most));
        }
        if let Some(address) = address.map(network) {
            let mut open = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            let count = open.entry(address).or_insert(0);
            if *count >= self.per_address {
                return Err(Error::TooManyStreams(self.per_address));
            }
            *count = count.saturating_add(1);
            seat.address = Some(address);
        }
        Ok(seat)
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
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn a_bucket_gives_its_burst_and_then_waits() {
        let buckets = Buckets::new(Rate { burst: 3, per_second: 1 });
        for _ in 0..3 {
            buckets.take(HERE).unwrap();
        }
        assert_eq!(buckets.take(HERE).unwrap_err().status(), 429);
        buckets.take("10.0.0.1".parse().unwrap()).unwrap();
        let endless = Buckets::new(Rate { burst: 0, per_second: 0 });
        endless.take(HERE).unwrap();
    }

    #[test]
    fn one_customers_ipv6_addresses_are_one() {
        let a = network("2001:db8:1:2::1".parse().unwrap());
        assert_eq!(a, network("2001:db8:1:2:ffff::9".parse().unwrap()));
        assert_ne!(a, network("2001:db8:1:3::1".parse().unwrap()));
        assert_eq!(network("::ffff:127.0.0.1".parse().unwrap()), HERE);
    }

    #[test]
    fn seats_are_given_back_also_when_they_are_refused() {
        let limits = Limits { streams: 2, streams_per_address: 1, ..Limits::default() };
        let streams = Arc::new(Streams::new(&limits));
        let first = streams.seat(Some(HERE)).unwrap();
        assert_eq!(streams.seat(Some(HERE)).unwrap_err().status(), 503);
        let _second = streams.seat(None).unwrap();
        assert!(streams.seat(None).is_err());
        drop(first);
        streams.seat(Some(HERE)).unwrap();
    }
}
