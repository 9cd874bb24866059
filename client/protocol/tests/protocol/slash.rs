use proptest::prelude::*;
use zx1_protocol::slash::split;
use zx1_protocol::units::MicroUsdc;

#[test]
fn the_odd_unit_goes_to_the_treasury() {
    for (stake, challenger, treasury) in [
        (0, 0, 0),
        (1, 0, 1),
        (2, 1, 1),
        (3, 1, 2),
        (99, 49, 50),
        (101, 50, 51),
        (10_000_000, 5_000_000, 5_000_000),
    ] {
        let parts = split(MicroUsdc(stake));
        assert_eq!((parts.challenger.0, parts.treasury.0), (challenger, treasury), "of {stake}");
    }
    assert_eq!(split(MicroUsdc(u64::MAX)).challenger.0, u64::MAX / 2);
}

proptest! {
    #[test]
    fn the_parts_add_up_and_the_challenger_has_the_floor_of_half(stake: u64) {
        let parts = split(MicroUsdc(stake));
        prop_assert_eq!(parts.challenger.checked_add(parts.treasury), Some(MicroUsdc(stake)));
        prop_assert_eq!(u128::from(parts.challenger.0), u128::from(stake) * 50 / 100);
    }
}
