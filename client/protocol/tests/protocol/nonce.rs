use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};
use zx1_protocol::channel::Channel;
use zx1_protocol::nonce::{LastNonce, NonceError, REPLAY_WINDOW, ReplayWindow, SeenNonces, next_nonce};

#[test]
fn a_nonce_is_the_time_or_one_more_than_the_last() {
    assert_eq!(next_nonce(None, 0), Ok(0));
    assert_eq!(next_nonce(None, 500), Ok(500));
    assert_eq!(next_nonce(Some(499), 500), Ok(500));
    assert_eq!(next_nonce(Some(500), 500), Ok(501));
    assert_eq!(next_nonce(Some(900), 500), Ok(901));
    assert_eq!(next_nonce(Some(u64::MAX - 1), 500), Ok(u64::MAX));
    assert_eq!(next_nonce(Some(u64::MAX), 500), Err(NonceError::Exhausted));
}

#[test]
fn the_first_nonce_may_be_zero_and_only_once() {
    let seen = LastNonce::default().accept(0).unwrap();
    assert_eq!(seen.accept(0), Err(NonceError::NotIncreasing { last: 0 }));
    assert_eq!(seen.accept(1), Ok(LastNonce(Some(1))));
}

#[test]
fn a_topic_takes_what_comes_late_but_no_replay() {
    let mut seen = SeenNonces::none(Channel::Reputation);
    for nonce in [1_000, 1_002, 1_001, 1_000 - 125] {
        seen = seen.accept(nonce).unwrap();
    }
    for replay in [1_000, 1_001, 1_002, 875, 874, 0] {
        assert_eq!(seen.accept(replay), Err(NonceError::Replayed { highest: 1_002 }), "{replay}");
    }
    // The direct stream keeps its order.
    let seen = SeenNonces::none(Channel::Direct).accept(1_002).unwrap();
    assert_eq!(seen.accept(1_001), Err(NonceError::NotIncreasing { last: 1_002 }));
}

#[test]
fn the_window_holds_at_both_ends_of_the_numbers() {
    let zero = ReplayWindow::default().accept(0).unwrap();
    assert_eq!((zero.highest(), zero.accepts(0), zero.accepts(1)), (Some(0), false, true));
    let last = zero.accept(u64::MAX).unwrap();
    assert!(last.accepts(u64::MAX - 127) && !last.accepts(u64::MAX - 128) && !last.accepts(0));
}

#[test]
fn after_an_upgrade_everything_up_to_the_last_nonce_counts_as_seen() {
    for channel in Channel::ALL {
        let seen = SeenNonces::up_to(channel, 500);
        assert!((0..=500).all(|nonce| !seen.accepts(nonce)) && seen.accepts(501), "{channel:?}");
        assert_eq!(seen.highest(), Some(500));
    }
}

#[test]
fn only_windows_that_can_arise_are_read_back() {
    let mut bytes = ReplayWindow::default().with(7).to_bytes();
    assert!(ReplayWindow::from_bytes(&bytes).is_some());
    bytes[23] = 2;
    assert_eq!(ReplayWindow::from_bytes(&bytes), None, "the highest one itself was not accepted");
    bytes[23] = 0;
    assert_eq!(
        ReplayWindow::from_bytes(&bytes),
        None,
        "nothing was accepted, and yet there is a highest one"
    );
}

/// Nonces as a burst has them, as a sender that began anew has them, and any.
fn nonces() -> impl Strategy<Value = Vec<u64>> {
    let near = 1_000u64..1_400;
    prop::collection::vec(prop_oneof![8 => near, 1 => 1_300u64..3_000, 1 => any::<u64>()], 0..300)
}

/// One step of a sender's life: the clock moves, also back; a crash loses what was not saved.
#[derive(Clone, Debug)]
enum Step {
    Send { clock: u64 },
    CrashAfterSaving { clock: u64 },
    LoseFile,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u64..1_000).prop_map(|clock| Step::Send { clock }),
        1 => (0u64..1_000).prop_map(|clock| Step::CrashAfterSaving { clock }),
        1 => Just(Step::LoseFile),
    ]
}

proptest! {
    #[test]
    fn no_nonce_is_used_twice_whatever_the_clock_does(steps in prop::collection::vec(step(), 1..60)) {
        let (mut saved, mut used) = (None, Vec::new());
        for step in steps {
            match step {
                Step::Send { clock } => {
                    let nonce = next_nonce(saved, clock).unwrap();
                    saved = Some(nonce);
                    used.push(nonce);
                }
                Step::CrashAfterSaving { clock } => saved = Some(next_nonce(saved, clock).unwrap()),
                // Whoever loses the file needs a clock that is past all that was used.
                Step::LoseFile => saved = used.last().map(|last| next_nonce(None, last + 1).unwrap()),
            }
        }
        prop_assert!(used.is_sorted_by(|a, b| a < b), "{:?}", used);
    }

    #[test]
    fn a_receiver_takes_exactly_the_records_of_each_channel(
        messages in prop::collection::vec((0u8..3, 0u8..4, 0u64..30), 0..200),
    ) {
        let mut last: HashMap<(u8, Channel), LastNonce> = HashMap::new();
        // The model keeps everything that it took.
        let mut model: HashMap<(u8, u8), Vec<u64>> = HashMap::new();
        for (sender, number, nonce) in messages {
            let channel = Channel::from_number(number).unwrap();
            let seen = last.entry((sender, channel)).or_default();
            let taken = model.entry((sender, number)).or_default();
            let fresh = taken.iter().all(|old| *old < nonce);
            prop_assert_eq!(seen.accepts(nonce), fresh);
            match seen.accept(nonce) {
                Ok(next) => { *seen = next; taken.push(nonce); prop_assert!(fresh); }
                Err(error) => {
                    let last = *taken.last().unwrap();
                    prop_assert_eq!(error, NonceError::NotIncreasing { last });
                    prop_assert!(!fresh);
                }
            }
        }
    }

    #[test]
    fn the_window_takes_exactly_what_a_set_would(nonces in nonces(), reopen in any::<u8>()) {
        let mut window = ReplayWindow::default();
        let mut taken: BTreeSet<u64> = BTreeSet::new();
        for (at, nonce) in nonces.into_iter().enumerate() {
            let below = taken.last().and_then(|highest| highest.checked_sub(nonce));
            let fresh = !taken.contains(&nonce) && below.is_none_or(|below| below < u64::from(REPLAY_WINDOW));
            prop_assert_eq!(window.accepts(nonce), fresh);
            match window.accept(nonce) {
                Ok(next) => {
                    prop_assert!(fresh);
                    taken.insert(nonce);
                    prop_assert_eq!(next, window.with(nonce));
                    prop_assert_eq!(next, next.with(nonce), "once more changes nothing");
                    window = next;
                }
                Err(error) => {
                    let highest = *taken.last().unwrap();
                    prop_assert_eq!(error, NonceError::Replayed { highest });
                    prop_assert!(!fresh);
                }
            }
            prop_assert_eq!(window.highest(), taken.last().copied());
            if at % 16 == usize::from(reopen % 16) {
                prop_assert_eq!(ReplayWindow::from_bytes(&window.to_bytes()), Some(window));
            }
        }
    }

    #[test]
    fn what_a_log_remembers_does_not_depend_on_the_order(nonces in nonces()) {
        let forward = nonces.iter().fold(ReplayWindow::default(), |window, nonce| window.with(*nonce));
        let backward = nonces.iter().rev().fold(ReplayWindow::default(), |window, nonce| window.with(*nonce));
        prop_assert_eq!(forward, backward);
        prop_assert!(nonces.iter().all(|nonce| !forward.accepts(*nonce)));
    }
}
