use crate::common::{NOW, SECOND, agent};
use proptest::prelude::*;
use zx1_mesh::Reason;
use zx1_mesh::limits::{AuthorLimits, Bucket, ConnectionLimits};
use zx1_mesh::rate::Rate;
use zx1_protocol::envelope::MsgType;

/// How many of these are accepted at once.
fn accepted(limits: &mut AuthorLimits, msg_type: MsgType, number: usize, now: u64) -> usize {
    (0..number).filter(|_| limits.take(&agent(1), msg_type, now).is_ok()).count()
}

#[test]
fn an_author_has_a_burst_of_200_and_then_100_a_second_on_all_channels_together() {
    let mut limits = AuthorLimits::default();
    assert_eq!(accepted(&mut limits, MsgType::Deliver, 150, NOW), 150);
    assert_eq!(accepted(&mut limits, MsgType::Advertise, 150, NOW), 50);
    assert_eq!(limits.take(&agent(1), MsgType::Reject, NOW), Err(Reason::AuthorRate));
    assert_eq!(limits.take(&agent(2), MsgType::Reject, NOW), Ok(()), "another author");
    assert_eq!(accepted(&mut limits, MsgType::Deliver, 500, NOW + SECOND), 100);
    assert_eq!(accepted(&mut limits, MsgType::Deliver, 500, NOW + 100 * SECOND), 200);
}

#[test]
fn a_beacon_comes_once_in_thirty_seconds_and_bids_and_ratings_ten_times_a_second() {
    let mut limits = AuthorLimits::default();
    assert_eq!(limits.take(&agent(1), MsgType::Beacon, NOW), Ok(()));
    assert_eq!(limits.take(&agent(1), MsgType::Beacon, NOW + 30 * SECOND - 1), Err(Reason::BeaconRate));
    assert_eq!(limits.take(&agent(1), MsgType::Beacon, NOW + 30 * SECOND), Ok(()));
    for (msg_type, reason) in
        [(MsgType::NotarizeBid, Reason::NotarizeBidRate), (MsgType::Feedback, Reason::FeedbackRate)]
    {
        let now = NOW + 60 * SECOND;
        assert_eq!(accepted(&mut limits, msg_type, 100, now), 20);
        assert_eq!(limits.take(&agent(1), msg_type, now), Err(reason));
        assert_eq!(accepted(&mut limits, msg_type, 100, now + SECOND), 10);
    }
}

#[test]
fn what_one_rate_refuses_takes_nothing_of_the_other() {
    let mut limits = AuthorLimits::default();
    assert_eq!(accepted(&mut limits, MsgType::Beacon, 1_000, NOW), 1);
    assert_eq!(accepted(&mut limits, MsgType::Deliver, 1_000, NOW), 199);
    // And the other way round: a rating that the common rate refuses is not counted as one.
    assert_eq!(limits.take(&agent(1), MsgType::Feedback, NOW), Err(Reason::AuthorRate));
    assert_eq!(accepted(&mut limits, MsgType::Feedback, 100, NOW + 2 * SECOND), 20);
}

#[test]
fn a_clock_that_jumps_back_locks_nobody_out_and_gives_nothing_away() {
    let mut limits = AuthorLimits::default();
    assert_eq!(accepted(&mut limits, MsgType::Deliver, 1_000, NOW), 200);
    assert_eq!(limits.take(&agent(2), MsgType::Beacon, NOW), Ok(()));
    assert_eq!(limits.take(&agent(3), MsgType::Deliver, NOW), Ok(()));
    let day_before = NOW - 86_400 * SECOND;
    assert_eq!(accepted(&mut limits, MsgType::Deliver, 1_000, day_before), 0);
    assert_eq!(accepted(&mut limits, MsgType::Deliver, 1_000, day_before + SECOND), 100);
    assert_eq!(limits.take(&agent(2), MsgType::Beacon, day_before), Err(Reason::BeaconRate));
    assert_eq!(limits.take(&agent(2), MsgType::Beacon, day_before + 30 * SECOND), Ok(()));
    // Who was within its rate stays within it.
    assert_eq!(limits.take(&agent(3), MsgType::Deliver, day_before), Ok(()));
}

#[test]
fn times_that_jitter_between_threads_give_nothing_away() {
    let mut limits = AuthorLimits::default();
    let jitter = |number: u64| NOW - (number % 2) * SECOND;
    let taken = (0..10_000).filter(|it| limits.take(&agent(1), MsgType::Deliver, jitter(*it)).is_ok());
    assert_eq!(taken.count(), 200);
}

#[test]
fn a_connection_brings_100_direct_messages_a_second() {
    let mut limits = ConnectionLimits::default();
    let mut brought =
        |connection: u32, now| (0..500).filter(|_| limits.take(&connection, now).is_ok()).count();
    assert_eq!((brought(1, NOW), brought(2, NOW), brought(1, NOW + SECOND)), (200, 200, 100));
    limits.closed(&1);
    assert_eq!(limits.take(&1, NOW + SECOND), Ok(()));
}

#[test]
fn the_number_of_authors_is_bounded() {
    let mut limits = AuthorLimits::new(3);
    for number in 0..10 {
        assert_eq!(limits.take(&agent(number), MsgType::Deliver, NOW), Ok(()));
    }
    assert_eq!(limits.len(), 3);
}

proptest! {
    #[test]
    fn no_more_is_taken_than_burst_and_rate_allow_for_all_time_that_the_clock_showed_to_pass(
        steps in prop::collection::vec(-100_000i64..200_000, 1..400),
        number in 1u64..50,
        burst in 1u64..30,
    ) {
        let rate = Rate::per_second(number, burst);
        let (mut bucket, mut now, mut passed, mut taken) = (Bucket::default(), NOW, 0, Vec::new());
        for step in steps {
            now = now.checked_add_signed(step).unwrap();
            passed += u64::try_from(step).unwrap_or(0);
            if bucket.take(rate, 1, now) {
                taken.push(passed);
            }
        }
        for (first, from) in taken.iter().enumerate() {
            for (last, to) in taken.iter().enumerate().skip(first) {
                let most = burst + (to - from) / rate.interval_micros + 1;
                prop_assert!((last - first + 1) as u64 <= most);
            }
        }
    }

    #[test]
    fn whatever_the_clock_did_a_bucket_is_full_again_in_its_time(
        clocks in prop::collection::vec(any::<u64>(), 0..50),
        at in 0u64..u64::MAX / 2,
    ) {
        let rate = Rate::per_second(10, 5);
        let mut bucket = Bucket::default();
        for clock in clocks {
            bucket.take(rate, 1, clock);
        }
        // Asked once, which is when the jump is seen, then half a second later.
        bucket.take(rate, 1, at);
        prop_assert!(bucket.take(rate, 5, at + 600_000));
    }
}
