//! Limits of pushes and of the model.

use zx1_capsule::caps::{Budget, PushCaps, Pushes};

#[test]
fn a_push_of_exactly_the_limit_fits_and_one_byte_more_fails() {
    let caps = PushCaps::default();
    assert!(caps.fits(0, 64 << 20).is_ok());
    assert_eq!(caps.fits(0, (64 << 20) + 1).unwrap_err().code(), 7950);
    assert!(caps.fits((1 << 30) - 5, 5).is_ok());
    assert_eq!(caps.fits((1 << 30) - 5, 6).unwrap_err().code(), 7951);
    assert_eq!(caps.fits(u64::MAX, 1).unwrap_err().code(), 7951);
}

#[test]
fn the_sixty_first_push_of_an_hour_waits_until_the_first_is_an_hour_old() {
    let (caps, mut pushes) = (PushCaps::default(), Pushes::default());
    for at in 0..60 {
        pushes.take(at * 1_000, &caps).unwrap();
    }
    let refused = pushes.take(3_599_000, &caps).unwrap_err();
    assert_eq!(refused.code(), 7952);
    assert!(refused.to_string().contains("in 1 seconds"), "{refused}");
    assert!(pushes.take(3_600_000, &caps).is_ok());
    assert!(pushes.take(3_600_000, &caps).is_err(), "the second is not an hour old");
}

#[test]
fn a_clock_that_is_set_back_blocks_no_push() {
    let (caps, mut pushes) = (PushCaps::default(), Pushes::default());
    for _ in 0..60 {
        pushes.take(9_000_000_000, &caps).unwrap();
    }
    assert!(pushes.take(1_000, &caps).is_ok());
}

#[test]
fn a_budget_ends_by_tokens_by_time_and_by_rate() {
    let mut budget = Budget::default();
    assert_eq!((budget.tokens_left(), budget.seconds_left(7)), (1_000_000, 3_600));
    for _ in 0..10 {
        budget.send(1_000).unwrap();
    }
    assert_eq!(budget.send(60_999).unwrap_err().code(), 7955);
    budget.send(61_000).unwrap();
    assert_eq!(budget.send(3_601_000).unwrap_err().code(), 7954);
    budget.renew();
    budget.send(3_601_000).unwrap();
    budget.spend(999_999);
    budget.send(3_602_000).unwrap();
    budget.spend(1);
    assert_eq!(budget.send(3_603_000).unwrap_err().code(), 7953);
    assert_eq!(budget.tokens_left(), 0);
    budget.renew();
    assert_eq!(budget.send(9_000_000).unwrap_err().code(), 7953, "a new session has no new tokens");
}
