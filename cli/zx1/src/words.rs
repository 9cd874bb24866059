//! Words for people: the common ones, and epochs and slots.

use zx1_operator::facts::LeaseReport;

pub use zx1_cli_common::words::{clause, count, duration, moment, one_line, plain, short};

/// An epoch and the UTC day that it is (decision B1): "20778 (2026-11-21)".
pub fn epoch(number: u64) -> String {
    let seconds = number.saturating_mul(zx1_interface::constants::EPOCH_SECONDS);
    let day = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    day.map_or_else(|| number.to_string(), |day| format!("{number} ({})", day.strftime("%Y-%m-%d")))
}

/// A lease in one line.
pub fn lease(lease: &LeaseReport) -> String {
    let behind = || count(lease.days_behind, "day", "days");
    match lease.state {
        "none" => "none yet".to_owned(),
        "active" => match lease.days_left {
            0 => "active, paid for today".to_owned(),
            1 => "active, paid for today and tomorrow".to_owned(),
            days => format!("active, paid for today and {days} more days"),
        },
        "grace" => format!("in grace, {} behind", behind()),
        _ => format!("deactivated, {} behind", behind()),
    }
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
