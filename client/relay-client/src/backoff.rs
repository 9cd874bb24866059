//! How long to wait before connecting again. Time and random bits are arguments.

/// Bounds of the waits, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// Shortest wait, and the first one.
    pub first: u64,
    /// Longest wait, which is repeated.
    pub longest: u64,
    /// Duration of a connection after which the waits begin anew.
    pub reset: u64,
}

impl Default for Waits {
    fn default() -> Waits {
        Waits { first: 5_000, longest: 300_000, reset: 300_000 }
    }
}

/// Waits that double from loss to loss, each spread by a quarter so that clients do not come back together.
#[derive(Debug, Clone)]
pub struct Backoff {
    waits: Waits,
    next: u64,
}

impl Backoff {
    /// Begins with the first wait.
    pub fn new(waits: Waits) -> Backoff {
        Backoff { waits, next: waits.first }
    }

    /// The wait in milliseconds after a connection that stood for `stood` milliseconds; 0 for one that failed.
    pub fn lost(&mut self, stood: u64, random: u64) -> u64 {
        if stood >= self.waits.reset {
            self.next = self.waits.first;
        }
        let middle = self.next;
        self.next = middle.saturating_mul(2).min(self.waits.longest);
        let quarter = middle / 4;
        let low = middle.saturating_sub(quarter).max(self.waits.first.min(self.waits.longest));
        let high = middle.saturating_add(quarter).min(self.waits.longest).max(low);
        low.saturating_add(random % (high - low).saturating_add(1))
    }
}
