use proptest::prelude::*;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

#[test]
fn an_epoch_changes_at_midnight() {
    assert_eq!(Epoch::from_unix_seconds(0), Some(Epoch(0)));
    assert_eq!(Epoch::from_unix_seconds(86_399), Some(Epoch(0)));
    assert_eq!(Epoch::from_unix_seconds(86_400), Some(Epoch(1)));
    assert_eq!(Epoch::from_unix_micros(86_399_999_999), Epoch(0));
    assert_eq!(Epoch::from_unix_micros(86_400_000_000), Epoch(1));
}

#[test]
fn a_time_before_1970_has_no_epoch() {
    assert_eq!(Epoch::from_unix_seconds(-1), None);
    assert_eq!(Epoch::from_unix_seconds(i64::MIN), None);
}

proptest! {
    #[test]
    fn seconds_and_microseconds_agree(seconds in 0i64..=(i64::MAX / 1_000_000), micros in 0u64..1_000_000) {
        let in_micros = u64::try_from(seconds).unwrap() * 1_000_000 + micros;
        prop_assert_eq!(Epoch::from_unix_seconds(seconds), Some(Epoch::from_unix_micros(in_micros)));
        prop_assert_eq!(Epoch::from_unix_micros(in_micros).0, u64::try_from(seconds).unwrap() / EPOCH_SECONDS);
    }

    #[test]
    fn checked_helpers_do_what_the_integers_do(a: u64, b: u64) {
        prop_assert_eq!(Epoch(a).checked_add(b).map(|epoch| epoch.0), a.checked_add(b));
        prop_assert_eq!(Epoch(a).checked_sub(b).map(|epoch| epoch.0), a.checked_sub(b));
        prop_assert_eq!(Epoch(a).since(Epoch(b)), a.saturating_sub(b));
        prop_assert_eq!(Slot(a).checked_add(b).map(|slot| slot.0), a.checked_add(b));
        prop_assert_eq!(Slot(a).saturating_add(b).0, a.saturating_add(b));
        prop_assert_eq!(MicroUsdc(a).checked_add(MicroUsdc(b)).map(|sum| sum.0), a.checked_add(b));
        prop_assert_eq!(MicroUsdc(a).checked_sub(MicroUsdc(b)).map(|rest| rest.0), a.checked_sub(b));
        prop_assert_eq!(MicroUsdc(a).checked_mul(b).map(|product| product.0), a.checked_mul(b));
    }
}
