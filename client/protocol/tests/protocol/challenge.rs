use proptest::prelude::*;
use std::collections::HashSet;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_protocol::challenge::{Clock, Ground, evidence_hash};
use zx1_protocol::hash::Sha3;
use zx1_protocol::units::Slot;

#[test]
fn the_deadline_itself_still_belongs_to_the_window() {
    let clock = Clock { submitted: Slot(100) };
    let deadline = clock.deadline();
    assert_eq!(deadline, Slot(100 + CHALLENGE_WINDOW_SLOTS));
    assert!(clock.is_open(deadline) && !clock.is_over(deadline));
    let next = Slot(deadline.0 + 1);
    assert!(!clock.is_open(next) && clock.is_over(next));
}

#[test]
fn a_window_that_overflows_never_ends() {
    let clock = Clock { submitted: Slot(u64::MAX - 1) };
    assert_eq!(clock.deadline(), Slot(u64::MAX));
    assert!(!clock.is_over(Slot(u64::MAX)));
}

#[test]
fn grounds_have_the_numbers_one_to_five() {
    for number in 0..=u8::MAX {
        let ground = Ground::from_u8(number);
        assert_eq!(ground.is_some(), (1..=5).contains(&number));
        assert!(ground.is_none_or(|ground| ground as u8 == number));
    }
}

#[test]
fn only_a_double_bid_has_no_answer() {
    for ground in (1..=5).filter_map(Ground::from_u8) {
        assert_eq!(ground.can_be_answered(), ground != Ground::DoubleBid);
    }
}

#[test]
fn every_part_changes_the_evidence_hash() {
    let subjects = [[0; 32], [1; 32]];
    let all: HashSet<_> = (0..=u8::MAX)
        .flat_map(|kind| subjects.map(|subject| (kind, subject)))
        .flat_map(|(kind, subject)| [true, false].map(|shown| evidence_hash::<Sha3>(kind, &subject, shown)))
        .collect();
    assert_eq!(all.len(), 256 * 2 * 2);
}

proptest! {
    #[test]
    fn a_window_is_open_or_over_but_not_both(submitted: u64, now: u64) {
        let clock = Clock { submitted: Slot(submitted) };
        prop_assert_ne!(clock.is_open(Slot(now)), clock.is_over(Slot(now)));
        if let Some(deadline) = submitted.checked_add(CHALLENGE_WINDOW_SLOTS) {
            prop_assert_eq!(clock.is_open(Slot(now)), now <= deadline);
        }
    }
}
