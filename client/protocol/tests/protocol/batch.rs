use proptest::prelude::*;
use zx1_interface::constants::{BATCH_MESSAGE_PREFIX, MAX_TREE_LEN};
use zx1_protocol::batch::{
    BATCH_MESSAGE_LEN, BatchError, Covered, batch_message, check_epoch, check_lengths, head_digest,
};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::units::Epoch;

const NOW: Epoch = Epoch(20_000);

fn back(epochs: u64) -> Epoch {
    Epoch(NOW.0 - epochs)
}

#[test]
fn the_message_is_as_long_as_its_fields() {
    assert_eq!(BATCH_MESSAGE_LEN, BATCH_MESSAGE_PREFIX.len() + 32 + 8 + 32 + 4 + 32 + 32 + 4);
}

#[test]
fn only_the_last_three_completed_epochs_can_be_submitted() {
    assert_eq!(check_epoch(Epoch(NOW.0 + 1), NOW, None), Err(BatchError::FutureEpoch));
    assert_eq!(check_epoch(NOW, NOW, None), Err(BatchError::CurrentEpoch));
    for age in 1..=3 {
        assert_eq!(check_epoch(back(age), NOW, None), Ok(Covered { from: back(age), to: back(age) }));
    }
    assert_eq!(check_epoch(back(4), NOW, None), Err(BatchError::TooOld));
}

#[test]
fn an_epoch_is_submitted_once_and_in_order() {
    assert_eq!(check_epoch(back(2), NOW, Some(back(2))), Err(BatchError::NotIncreasing));
    assert_eq!(check_epoch(back(2), NOW, Some(back(1))), Err(BatchError::NotIncreasing));
    assert_eq!(check_epoch(back(2), NOW, Some(back(3))), Ok(Covered { from: back(2), to: back(2) }));
}

#[test]
fn a_batch_covers_the_epochs_that_were_left_out() {
    let covered = check_epoch(back(1), NOW, Some(back(10))).unwrap();
    assert_eq!(covered, Covered { from: back(9), to: back(1) });
    assert!(covered.contains(back(9)) && covered.contains(back(5)) && covered.contains(back(1)));
    assert!(!covered.contains(back(10)) && !covered.contains(NOW));
}

#[test]
fn trees_have_at_most_2_to_the_20_entries() {
    assert_eq!(check_lengths(MAX_TREE_LEN, MAX_TREE_LEN), Ok(()));
    assert_eq!(check_lengths(0, 0), Ok(()));
    assert_eq!(check_lengths(MAX_TREE_LEN + 1, 0), Err(BatchError::LogTooLong));
    assert_eq!(check_lengths(0, MAX_TREE_LEN + 1), Err(BatchError::ArraysTooLong));
}

proptest! {
    #[test]
    fn every_field_is_where_the_decision_puts_it(
        agent: [u8; 32], epoch: u64, log_root: [u8; 32], log_len: u32, hash: [u8; 32], arrays_root: [u8; 32], arrays_len: u32,
    ) {
        let message = batch_message(&agent, Epoch(epoch), &log_root, log_len, &hash, &arrays_root, arrays_len);
        let expected = [
            &b"zx1/behavior-batch/v1"[..], &agent, &epoch.to_le_bytes(), &log_root, &log_len.to_le_bytes(), &hash,
            &arrays_root, &arrays_len.to_le_bytes(),
        ]
        .concat();
        prop_assert_eq!(message.to_vec(), expected);
    }

    #[test]
    fn the_head_commits_to_order_and_content(previous: [u8; 32], a: [u8; 165], b: [u8; 165]) {
        prop_assume!(a != b);
        let digest = |first: &[u8], second: &[u8]| {
            head_digest::<Sha3>(&head_digest::<Sha3>(&previous, first), second)
        };
        prop_assert_ne!(digest(&a, &b), digest(&b, &a));
        prop_assert_eq!(head_digest::<Sha3>(&previous, &a), Sha3::hashv(&[&[&previous[..], &a].concat()]));
    }

    #[test]
    fn batches_leave_no_gap_and_no_overlap(steps in prop::collection::vec((1u64..20, 1u64..=3), 1..20)) {
        let (mut now, mut last, mut next) = (NOW, None, None);
        for (days, age) in steps {
            now = Epoch(now.0 + days);
            let epoch = Epoch(now.0 - age);
            match check_epoch(epoch, now, last) {
                Ok(covered) => {
                    prop_assert_eq!(covered.to, epoch);
                    prop_assert_eq!(covered.from, next.unwrap_or(epoch));
                    (last, next) = (Some(epoch), Some(Epoch(epoch.0 + 1)));
                }
                Err(error) => {
                    prop_assert_eq!(error, BatchError::NotIncreasing);
                    prop_assert!(last.is_some_and(|last| last >= epoch));
                }
            }
        }
    }

    #[test]
    fn no_numbers_make_it_panic(epoch: u64, current: u64, last: Option<u64>) {
        if let Ok(covered) = check_epoch(Epoch(epoch), Epoch(current), last.map(Epoch)) {
            prop_assert!(covered.from <= covered.to && covered.to < Epoch(current));
        }
    }
}
