//! Words for people: the common ones, and epochs and slots.

pub use zx1_cli_common::words::{clause, count, duration, moment, plain, short};

/// An epoch and the UTC day that it is (decision B1): "20778 (2026-11-21)".
pub fn epoch(number: u64) -> String {
    let seconds = number.saturating_mul(zx1_interface::constants::EPOCH_SECONDS);
    let day = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    day.map_or_else(|| number.to_string(), |day| format!("{number} ({})", day.strftime("%Y-%m-%d")))
}

/// About how long slots take at the main network's rate, 400 ms each.
pub fn slots(slots: u64) -> String {
    format!("about {}", duration(slots.saturating_mul(2) / 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_utc_days_and_slots_take_time() {
        assert_eq!(epoch(20_778), "20778 (2026-11-21)");
        assert_eq!(epoch(u64::MAX), u64::MAX.to_string());
        assert_eq!(slots(432_000), "about 2 d");
    }
}
