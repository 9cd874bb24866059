//! Rates, as `defaults.rs` writes them.

/// How often something may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Microseconds between two.
    pub interval_micros: u64,
    /// How many may come at once after a pause; one at least.
    pub burst: u64,
}

impl Rate {
    /// `number` a second, at most a million.
    pub const fn per_second(number: u64, burst: u64) -> Self {
        let number = if number == 0 { 1 } else { number };
        Self { interval_micros: 1_000_000 / number, burst }
    }

    /// The time in which an empty bucket fills.
    pub fn fill_micros(&self) -> u64 {
        self.interval_micros.saturating_mul(self.burst.max(1))
    }
}
