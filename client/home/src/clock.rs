//! The source of time of a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where a program gets the time from.
pub trait Clock: Send + Sync {
    /// Time since the Unix epoch; zero before it.
    fn since_epoch(&self) -> Duration;

    /// Microseconds since the Unix epoch.
    fn unix_micros(&self) -> u64 {
        u64::try_from(self.since_epoch().as_micros()).unwrap_or(u64::MAX)
    }

    /// Milliseconds since the Unix epoch.
    fn unix_ms(&self) -> u64 {
        u64::try_from(self.since_epoch().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whole seconds since the Unix epoch.
    fn unix_secs(&self) -> u64 {
        self.since_epoch().as_secs()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn since_epoch(&self) -> Duration {
        (**self).since_epoch()
    }
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn since_epoch(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// A clock that stands still until it is moved. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct FixedClock(Arc<AtomicU64>);

impl FixedClock {
    /// Shows this many milliseconds since the Unix epoch.
    pub fn new(unix_ms: u64) -> FixedClock {
        FixedClock(Arc::new(AtomicU64::new(unix_ms)))
    }

    /// Moves it to a time, which may be an earlier one.
    pub fn set(&self, unix_ms: u64) {
        self.0.store(unix_ms, Ordering::Relaxed);
    }

    /// Moves it forward; it stops at the largest value.
    pub fn advance(&self, ms: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| Some(now.saturating_add(ms)));
    }
}

impl Clock for FixedClock {
    fn since_epoch(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_moves_only_when_it_is_moved() {
        let clock = FixedClock::new(1_999);
        let same = clock.clone();
        assert_eq!((clock.unix_ms(), clock.unix_secs()), (1_999, 1));
        same.advance(1);
        assert_eq!(clock.unix_secs(), 2);
        clock.advance(u64::MAX);
        assert_eq!(same.unix_ms(), u64::MAX);
        clock.set(7);
        assert_eq!(Arc::new(same).unix_ms(), 7);
    }

    #[test]
    fn the_systems_clock_is_in_this_century() {
        assert!((1_700_000_000..4_102_444_800).contains(&SystemClock.unix_secs()));
    }
}
