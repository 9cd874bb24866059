//! The time that messages carry and are judged by: this machine's, and on local clusters the chain's, which can be
//! moved (decision C6).

use crate::defaults::CLOCK_SLACK;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use zx1_home::{Clock, SystemClock};

/// This machine's clock, and by how much the chain's is ahead of it.
#[derive(Debug, Default)]
pub struct NodeClock {
    ahead: AtomicI64,
    is_wrong: bool,
}

impl NodeClock {
    /// The clock of a machine that is wrong by this number of seconds, whatever the chain shows: for tests.
    pub fn wrong_by(seconds: i64) -> Self {
        Self { ahead: AtomicI64::new(seconds.saturating_mul(1_000_000)), is_wrong: true }
    }

    /// By how many seconds it is ahead of a chain that shows this time, in unix seconds.
    pub fn ahead_of(&self, chain_seconds: i64) -> i64 {
        i64::try_from(self.unix_secs()).unwrap_or(i64::MAX).saturating_sub(chain_seconds)
    }

    /// The chain of a local cluster shows this time, in unix seconds.
    pub fn follow(&self, chain_seconds: i64) {
        if self.is_wrong {
            return;
        }
        let chain = i128::from(chain_seconds).saturating_mul(1_000_000);
        let off = chain.saturating_sub(i128::from(self.unix_micros()));
        // The chain counts seconds, so that its time is up to one second and a slot behind.
        if off.unsigned_abs() > u128::from(CLOCK_SLACK) {
            let system = i128::from(SystemClock.unix_micros());
            let ahead = i64::try_from(chain.saturating_sub(system)).unwrap_or_default();
            self.ahead.store(ahead, Ordering::Relaxed);
        }
    }
}

impl Clock for NodeClock {
    fn since_epoch(&self) -> Duration {
        let ahead = self.ahead.load(Ordering::Relaxed);
        Duration::from_micros(SystemClock.unix_micros().saturating_add_signed(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_was_moved_is_followed_and_one_that_counts_seconds_is_not() {
        let clock = NodeClock::default();
        let system = i64::try_from(SystemClock.unix_secs()).unwrap();
        clock.follow(system - 1);
        assert_eq!(clock.ahead.load(Ordering::Relaxed), 0);
        clock.follow(system + 86_400);
        let ahead = clock.unix_secs() - SystemClock.unix_secs();
        assert!((86_399..=86_401).contains(&ahead), "{ahead}");
        clock.follow(system);
        assert!(clock.unix_secs().abs_diff(SystemClock.unix_secs()) <= 1);
    }

    #[test]
    fn a_wrong_clock_follows_nothing_and_knows_by_how_much() {
        let clock = NodeClock::wrong_by(-600);
        let system = i64::try_from(SystemClock.unix_secs()).unwrap();
        clock.follow(system);
        assert!((-601..=-599).contains(&clock.ahead_of(system)));
    }
}
