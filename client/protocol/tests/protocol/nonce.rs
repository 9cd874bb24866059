use proptest::prelude::*;
use std::collections::HashMap;
use zx1_protocol::channel::Channel;
use zx1_protocol::nonce::{LastNonce, NonceError, next_nonce};

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
}
