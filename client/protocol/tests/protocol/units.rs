use proptest::prelude::*;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_protocol::units::{AmountError, Epoch, MicroUsdc, Slot};

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

#[test]
fn amounts_are_exact_both_ways() {
    for (text, micro) in [
        ("10", 10_000_000),
        ("10.5", 10_500_000),
        ("0.000001", 1),
        ("0", 0),
        ("18446744073709.551615", u64::MAX),
    ] {
        assert_eq!(text.parse(), Ok(MicroUsdc(micro)), "{text}");
        assert_eq!(MicroUsdc(micro).to_string(), format!("{text} USDC"));
    }
    assert_eq!("1.50".parse(), Ok(MicroUsdc(1_500_000)));
    assert_eq!(format!("{:.6}", MicroUsdc(10_500_000)), "10.500000 USDC");
}

#[test]
fn what_is_no_amount_fails() {
    for (text, error) in [
        ("", AmountError::Empty),
        (".", AmountError::NotDecimal),
        ("1.", AmountError::NotDecimal),
        (".5", AmountError::NotDecimal),
        ("-1", AmountError::Negative),
        ("+1", AmountError::NotDecimal),
        ("1e3", AmountError::NotDecimal),
        ("1,5", AmountError::NotDecimal),
        (" 1", AmountError::NotDecimal),
        ("1 USDC", AmountError::NotDecimal),
        ("0.0000001", AmountError::TooFine { decimals: 6 }),
        ("1.5.0", AmountError::NotDecimal),
        ("١", AmountError::NotDecimal),
        ("18446744073709.551616", AmountError::TooLarge),
    ] {
        assert_eq!(text.parse::<MicroUsdc>(), Err(error), "{text}");
    }
}

proptest! {
    #[test]
    fn amounts_come_back(micro: u64, shift in 0u32..64) {
        let amount = MicroUsdc(micro >> shift);
        for text in [amount.to_string(), format!("{amount:.3}"), format!("{amount:.6}")] {
            prop_assert_eq!(text.strip_suffix(" USDC").unwrap().parse(), Ok(amount));
        }
    }

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
