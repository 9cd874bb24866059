use proptest::prelude::*;
use std::collections::HashSet;
use zx1_interface::constants::{ASK_SLOTS, CHALLENGE_WINDOW_SLOTS, RANK_SLOTS, SHOW_SLOTS};
use zx1_protocol::challenge::{Clock, Ground, claim32, commit32, may_ask, may_show, rank_holds};
use zx1_protocol::hash::{Keccak, Sha3};
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
fn every_part_changes_the_claim() {
    let all: HashSet<_> = Ground::ALL
        .into_iter()
        .flat_map(|ground| [true, false].map(|known| (ground, known)))
        .flat_map(|(ground, known)| {
            [[0; 32], [1; 32]].map(|message| claim32::<Sha3>(ground, known, &message))
        })
        .collect();
    assert_eq!(all.len(), 5 * 2 * 2);
    let claim = Sha3::hashv(&[b"zx1/claim/v2", &[1, 0], &[7; 32]]);
    assert_eq!(claim32::<Sha3>(Ground::Bid, false, &[7; 32]), claim);
}

#[test]
fn a_commitment_binds_challenger_batch_and_evidence() {
    let commit = |challenger: u8, batch: u8, evidence: &[u8]| {
        commit32::<Sha3>(&[challenger; 32], &[batch; 32], evidence)
    };
    let all: HashSet<_> =
        [commit(1, 2, b"x"), commit(2, 2, b"x"), commit(1, 1, b"x"), commit(1, 2, b"y"), commit(1, 2, b"")]
            .into();
    assert_eq!(all.len(), 5);
    assert_eq!(commit(1, 2, b"x"), Sha3::hashv(&[b"zx1/commit/v2", &[1; 32], &[2; 32], b"x"]));
}

#[test]
fn the_last_slot_of_each_time_still_belongs_to_it() {
    let since = Slot(1_000);
    type Rule = fn(Slot, Slot) -> bool;
    let rules: [(Rule, u64); 3] = [(rank_holds, RANK_SLOTS), (may_ask, ASK_SLOTS), (may_show, SHOW_SLOTS)];
    for (rule, slots) in rules {
        assert!(rule(since, since) && rule(since, Slot(since.0 + slots)));
        assert!(!rule(since, Slot(since.0 + slots + 1)));
        assert!(rule(Slot(u64::MAX), Slot(u64::MAX)));
    }
}

/// An ask that is answered in its last slot leaves time to challenge what was shown.
#[test]
fn what_an_ask_shows_can_still_be_challenged() {
    let batch = Slot(1_000);
    let asked = Slot(batch.0 + ASK_SLOTS);
    assert!(may_ask(batch, asked));
    let shown = Slot(asked.0 + SHOW_SLOTS);
    assert!(may_show(asked, shown));
    assert!(Clock { submitted: batch }.deadline().0 - shown.0 >= 108_000);
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
