use proptest::prelude::*;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, UNLOCK_DELAY_SLOTS};
use zx1_protocol::units::Slot;
use zx1_protocol::unlock::{ClaimFacts, Unlock, UnlockError, check_claim_ended};

const QUEUED: Slot = Slot(1_000_000);
const AVAILABLE: Slot = Slot(QUEUED.0 + UNLOCK_DELAY_SLOTS);

fn queued() -> Unlock {
    Unlock::queue(QUEUED).unwrap()
}

/// Facts under which the stake may be claimed.
fn claimable() -> ClaimFacts {
    ClaimFacts {
        now: AVAILABLE,
        lease_deactivated_or_absent: true,
        lease_last_paid: None,
        open_challenges: 0,
        open_asks: 0,
        last_batch: None,
    }
}

#[test]
fn a_queued_unlock_is_available_after_the_delay() {
    assert_eq!(queued(), Unlock { queued: true, queued_slot: QUEUED, available: AVAILABLE });
    assert_eq!(Unlock::queue(Slot(u64::MAX)), Err(UnlockError::Overflow));
}

#[test]
fn claim_after_the_delay_ok() {
    assert_eq!(queued().check_claim(&claimable()), Ok(()));
    let long_ago = ClaimFacts {
        lease_last_paid: Some(Slot(QUEUED.0 - 1)),
        last_batch: Some(Slot(QUEUED.0 - 1)),
        ..claimable()
    };
    assert_eq!(queued().check_claim(&long_ago), Ok(()));
}

#[test]
fn claim_without_queueing_fails() {
    assert_eq!(Unlock::default().check_claim(&claimable()), Err(UnlockError::NotQueued));
}

#[test]
fn claim_one_slot_too_early_fails() {
    let early = ClaimFacts { now: Slot(AVAILABLE.0 - 1), ..claimable() };
    assert_eq!(queued().check_claim(&early), Err(UnlockError::DelayNotOver { available: AVAILABLE }));
}

#[test]
fn claim_by_a_live_agent_fails() {
    let live = ClaimFacts { lease_deactivated_or_absent: false, ..claimable() };
    assert_eq!(queued().check_claim(&live), Err(UnlockError::LeaseNotDeactivated));
}

#[test]
fn claim_after_a_payment_since_the_queueing_fails() {
    for paid in [QUEUED, Slot(QUEUED.0 + 1)] {
        let facts = ClaimFacts { lease_last_paid: Some(paid), ..claimable() };
        assert_eq!(queued().check_claim(&facts), Err(UnlockError::LeasePaidSinceQueueing));
    }
}

#[test]
fn claim_with_an_open_challenge_fails() {
    let facts = ClaimFacts { open_challenges: 1, ..claimable() };
    assert_eq!(queued().check_claim(&facts), Err(UnlockError::OpenChallenges));
}

#[test]
fn claim_with_an_open_ask_fails() {
    let facts = ClaimFacts { open_asks: 1, ..claimable() };
    assert_eq!(queued().check_claim(&facts), Err(UnlockError::OpenAsks));
}

#[test]
fn an_ended_era_is_claimed_when_its_last_batch_cannot_be_challenged() {
    let ended = Slot(1_000);
    let available = Slot(ended.0 + UNLOCK_DELAY_SLOTS + 1);
    let claim = |now: u64, challenges, asks| check_claim_ended(Slot(now), ended, challenges, asks);
    assert_eq!(claim(available.0, 0, 0), Ok(()));
    for now in [0, ended.0, available.0 - 1] {
        assert_eq!(claim(now, 0, 0), Err(UnlockError::DelayNotOver { available }));
    }
    // A batch that landed in the very slot of the end.
    let last_batch = zx1_protocol::challenge::Clock { submitted: ended };
    assert!(last_batch.is_over(available) && !last_batch.is_over(Slot(available.0 - 1)));
    assert_eq!(claim(available.0, 1, 1), Err(UnlockError::OpenChallenges));
    assert_eq!(claim(available.0, 0, 1), Err(UnlockError::OpenAsks));
    assert_eq!(check_claim_ended(Slot(u64::MAX), Slot(u64::MAX), 0, 0), Err(UnlockError::Overflow));
}

#[test]
fn claim_waits_until_the_last_batch_cannot_be_challenged() {
    let batch = Slot(AVAILABLE.0 - 10);
    let until = Slot(batch.0 + CHALLENGE_WINDOW_SLOTS);
    let within = ClaimFacts { last_batch: Some(batch), now: until, ..claimable() };
    assert_eq!(queued().check_claim(&within), Err(UnlockError::BatchInWindow { until }));
    let after = ClaimFacts { now: Slot(until.0 + 1), ..within };
    assert_eq!(queued().check_claim(&after), Ok(()));
}

#[test]
fn queue_needs_a_deactivated_lease() {
    assert_eq!(Unlock::default().check_queue(true, None), Ok(()));
    assert_eq!(Unlock::default().check_queue(true, Some(Slot(9))), Ok(()));
    assert_eq!(Unlock::default().check_queue(false, None), Err(UnlockError::LeaseNotDeactivated));
    assert_eq!(queued().check_queue(false, Some(QUEUED)), Err(UnlockError::LeaseNotDeactivated));
}

#[test]
fn queueing_again_is_for_those_who_paid_in_between() {
    assert_eq!(queued().check_queue(true, None), Err(UnlockError::AlreadyQueued));
    assert_eq!(queued().check_queue(true, Some(Slot(QUEUED.0 - 1))), Err(UnlockError::AlreadyQueued));
    assert_eq!(queued().check_queue(true, Some(QUEUED)), Ok(()));
    assert_eq!(queued().check_queue(true, Some(Slot(QUEUED.0 + 1))), Ok(()));
}

#[test]
fn cancel_is_for_agents_that_came_back() {
    assert_eq!(queued().check_cancel(true), Ok(()));
    assert_eq!(queued().check_cancel(false), Err(UnlockError::LeaseNotPaid));
    assert_eq!(Unlock::default().check_cancel(true), Err(UnlockError::NotQueued));
}

fn near(slot: Slot) -> impl Strategy<Value = Slot> {
    (slot.0 - 3..=slot.0 + 3).prop_map(Slot)
}

fn facts() -> impl Strategy<Value = ClaimFacts> {
    let window_ago = Slot(AVAILABLE.0 - CHALLENGE_WINDOW_SLOTS);
    (
        near(AVAILABLE),
        prop::bool::weighted(0.8),
        prop::option::of(near(QUEUED)),
        prop_oneof![4 => Just(0u32), 1 => any::<u32>()],
        prop_oneof![4 => Just(0u32), 1 => any::<u32>()],
        prop::option::of(near(window_ago)),
    )
        .prop_map(|(now, gone, lease_last_paid, open_challenges, open_asks, last_batch)| ClaimFacts {
            now,
            lease_deactivated_or_absent: gone,
            lease_last_paid,
            open_challenges,
            open_asks,
            last_batch,
        })
}

proptest! {
    #[test]
    fn a_claim_passes_exactly_when_nothing_is_left_to_answer_for(facts in facts(), is_queued: bool) {
        let unlock = Unlock { queued: is_queued, ..queued() };
        let free = is_queued
            && facts.now.0 >= QUEUED.0 + UNLOCK_DELAY_SLOTS
            && facts.lease_deactivated_or_absent
            && facts.lease_last_paid.is_none_or(|paid| paid.0 < QUEUED.0)
            && facts.open_challenges == 0
            && facts.open_asks == 0
            && facts.last_batch.is_none_or(|batch| facts.now.0 > batch.0 + CHALLENGE_WINDOW_SLOTS);
        prop_assert_eq!(unlock.check_claim(&facts).is_ok(), free);
    }

    #[test]
    fn waiting_longer_never_hurts(facts in facts(), more in 0u64..1_000_000) {
        let later = ClaimFacts { now: Slot(facts.now.0 + more), ..facts };
        if queued().check_claim(&facts).is_ok() {
            prop_assert_eq!(queued().check_claim(&later), Ok(()));
        }
    }

    #[test]
    fn what_can_be_queued_anew_could_never_be_claimed(paid in prop::option::of(near(QUEUED)), now: u64) {
        if queued().check_queue(true, paid).is_ok() {
            let facts = ClaimFacts { now: Slot(now), lease_last_paid: paid, ..claimable() };
            prop_assert!(queued().check_claim(&facts).is_err());
        }
    }

    #[test]
    fn no_numbers_make_it_panic(queued: bool, a: u64, b: u64, now: u64, paid: Option<u64>, batch: Option<u64>) {
        let unlock = Unlock { queued, queued_slot: Slot(a), available: Slot(b) };
        let facts = ClaimFacts {
            now: Slot(now),
            lease_last_paid: paid.map(Slot),
            last_batch: batch.map(Slot),
            ..claimable()
        };
        prop_assert!(queued || unlock.check_claim(&facts) == Err(UnlockError::NotQueued));
    }
}
