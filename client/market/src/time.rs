//! Time: Unix milliseconds, always handed in by the caller.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment or a span: milliseconds, since 1970 when it is a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Millis(pub u64);

impl Millis {
    /// A number of whole seconds.
    pub const fn secs(seconds: u64) -> Millis {
        Millis(seconds.saturating_mul(1000))
    }

    /// The sum; the end of time instead of more.
    pub const fn plus(self, span: Millis) -> Millis {
        Millis(self.0.saturating_add(span.0))
    }

    /// The difference; zero instead of less.
    pub const fn minus(self, span: Millis) -> Millis {
        Millis(self.0.saturating_sub(span.0))
    }

    /// Whole seconds, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// Seconds with decimals, as Python's `time.time()` gives them.
    pub fn as_secs_f64(self) -> f64 {
        // Exact: a millisecond count below 2^53 loses nothing.
        self.0 as f64 / 1000.0
    }

    /// From seconds with decimals, rounded to the millisecond. `None` for a negative or infinite number, and
    /// from 2^53 milliseconds on.
    pub fn from_secs_f64(seconds: f64) -> Option<Millis> {
        let millis = (seconds * 1000.0).round();
        // Below 2^53 the conversion is exact.
        (seconds.is_finite() && (0.0..9_007_199_254_740_992.0).contains(&millis))
            .then_some(Millis(millis as u64))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1000) {
            write!(f, "{}", self.0 / 1000)
        } else {
            write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
        }
    }
}
