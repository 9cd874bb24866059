use proptest::prelude::*;
use zx1_interface::constants::{
    BATCH_MESSAGE_PREFIX, MAX_BATCH_AGE_EPOCHS, MAX_COVERED_EPOCHS, MAX_TREE_LEN,
};
use zx1_protocol::batch::{
    BATCH_MESSAGE_LEN, BatchError, BatchMessage, Covered, check_epoch, check_trees, covers_from, first_open,
    head_digest, is_void, open_digest,
};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::units::Epoch;

const NOW: Epoch = Epoch(20_000);

fn back(epochs: u64) -> Epoch {
    Epoch(NOW.0 - epochs)
}

/// On a head of this last epoch, in a tenure that began long ago.
fn check(epoch: Epoch, last: Epoch) -> Result<Covered, BatchError> {
    check_epoch(epoch, NOW, last, Epoch(1))
}

fn message(fields: ([Hash; 6], u64, u64, u32, u32)) -> BatchMessage {
    let (
        [network, agent, previous_digest, log_merkle_root, batch_hash, arrays_root],
        from,
        epoch,
        log_len,
        len,
    ) = fields;
    BatchMessage {
        network,
        agent,
        covers_from: Epoch(from),
        epoch: Epoch(epoch),
        previous_digest,
        log_merkle_root,
        log_len,
        batch_hash,
        arrays_root,
        arrays_len: len,
    }
}

fn any_message() -> impl Strategy<Value = BatchMessage> {
    any::<([Hash; 6], u64, u64, u32, u32)>().prop_map(message)
}

#[test]
fn the_message_is_as_long_as_its_fields() {
    let fields = 32 + 32 + 8 + 8 + 32 + 32 + 4 + 32 + 32 + 4;
    assert_eq!(BATCH_MESSAGE_LEN, BATCH_MESSAGE_PREFIX.len() + fields);
    assert_eq!(BATCH_MESSAGE_LEN, 237);
}

#[test]
fn a_message_of_the_first_edition_is_none() {
    let message = message(Default::default()).to_bytes();
    assert!(BatchMessage::parse(&message).is_some());
    let mut first = message;
    first[20] = b'1';
    assert_eq!(BatchMessage::parse(&first), None);
    assert_eq!(BatchMessage::parse(&first[..165]), None);
    assert_eq!(BatchMessage::parse(&message[..165]), None);
}

#[test]
fn only_the_last_three_completed_epochs_can_be_submitted() {
    assert_eq!(check(Epoch(NOW.0 + 1), back(9)), Err(BatchError::FutureEpoch));
    assert_eq!(check(NOW, back(9)), Err(BatchError::CurrentEpoch));
    for age in 1..=3 {
        assert_eq!(check(back(age), back(9)), Ok(Covered { from: back(8), to: back(age) }));
    }
    assert_eq!(check(back(4), back(9)), Err(BatchError::TooOld));
}

#[test]
fn an_epoch_is_submitted_once_and_in_order() {
    assert_eq!(check(back(2), back(2)), Err(BatchError::NotIncreasing));
    assert_eq!(check(back(2), back(1)), Err(BatchError::NotIncreasing));
    assert_eq!(check(back(2), back(3)), Ok(Covered { from: back(2), to: back(2) }));
}

#[test]
fn a_batch_covers_the_epochs_that_were_left_out() {
    let covered = check(back(1), back(10)).unwrap();
    assert_eq!(covered, Covered { from: back(9), to: back(1) });
    assert!(covered.contains(back(9)) && covered.contains(back(5)) && covered.contains(back(1)));
    assert!(!covered.contains(back(10)) && !covered.contains(NOW));
}

#[test]
fn a_batch_covers_at_most_30_epochs() {
    assert_eq!(check(back(1), back(31)), Ok(Covered { from: back(30), to: back(1) }));
    assert_eq!(check(back(1), back(32)), Ok(Covered { from: back(30), to: back(1) }));
    assert_eq!(check(back(1), back(5_000)), Ok(Covered { from: back(30), to: back(1) }));
}

#[test]
fn no_batch_spans_the_boundary_of_a_tenure() {
    let check = |epoch, tenure_from| check_epoch(epoch, NOW, back(9), tenure_from);
    assert_eq!(check(back(1), back(3)), Ok(Covered { from: back(3), to: back(1) }));
    assert_eq!(check(back(1), back(1)), Ok(Covered { from: back(1), to: back(1) }));
    assert_eq!(check(back(1), NOW), Err(BatchError::BeforeTenure));
    assert_eq!(check(back(3), back(2)), Err(BatchError::BeforeTenure));
}

#[test]
fn the_first_batch_covers_from_the_epoch_in_which_the_head_was_opened() {
    let opened = Epoch(500);
    let last = first_open(opened);
    let covered = check_epoch(Epoch(502), Epoch(503), last, opened);
    assert_eq!(covered, Ok(Covered { from: opened, to: Epoch(502) }));
    // Nothing before it is ever covered.
    assert_eq!(check_epoch(Epoch(499), Epoch(500), last, Epoch(0)), Err(BatchError::NotIncreasing));
    assert_eq!(first_open(Epoch(0)), Epoch(0));
}

#[test]
fn trees_have_at_most_2_to_the_20_entries() {
    let (root, most) = ([1; 32], MAX_TREE_LEN);
    assert_eq!(check_trees(most, &root, most, &root), Ok(()));
    assert_eq!(check_trees(0, &[0; 32], 0, &[0; 32]), Ok(()));
    assert_eq!(check_trees(most + 1, &root, 0, &[0; 32]), Err(BatchError::LogTooLong));
    assert_eq!(check_trees(0, &[0; 32], most + 1, &root), Err(BatchError::ArraysTooLong));
}

#[test]
fn a_tree_is_empty_exactly_when_its_root_is_zero() {
    for (log_len, log_root, arrays_len, arrays_root, ok) in [
        (0, [0; 32], 0, [0; 32], true),
        (0, [1; 32], 0, [0; 32], false),
        (1, [0; 32], 0, [0; 32], false),
        (1, [1; 32], 0, [1; 32], false),
        (1, [1; 32], 1, [0; 32], false),
        (1, [1; 32], 1, [1; 32], true),
    ] {
        let result = check_trees(log_len, &log_root, arrays_len, &arrays_root);
        assert_eq!(result, if ok { Ok(()) } else { Err(BatchError::LengthRoot) });
    }
}

#[test]
fn a_message_is_void_when_the_head_moved_or_its_epoch_is_too_old() {
    let message = BatchMessage { epoch: back(1), previous_digest: [1; 32], ..message(Default::default()) };
    assert!(!is_void(&message, &[1; 32], NOW));
    assert!(is_void(&message, &[2; 32], NOW));
    assert!(!is_void(&message, &[1; 32], Epoch(back(1).0 + MAX_BATCH_AGE_EPOCHS)));
    assert!(is_void(&message, &[1; 32], Epoch(back(1).0 + MAX_BATCH_AGE_EPOCHS + 1)));
}

#[test]
fn a_head_begins_with_network_and_agent() {
    let digest = open_digest::<Sha3>(&[1; 32], &[2; 32]);
    assert_eq!(digest, Sha3::hashv(&[b"zx1/head/v2", &[1; 32], &[2; 32]]));
    assert_ne!(digest, open_digest::<Sha3>(&[3; 32], &[2; 32]));
    assert_ne!(digest, open_digest::<Sha3>(&[1; 32], &[3; 32]));
}

proptest! {
    #[test]
    fn every_field_is_where_the_decision_puts_it(message in any_message()) {
        let expected = [
            &b"zx1/behavior-batch/v2"[..], &message.network, &message.agent,
            &message.covers_from.0.to_le_bytes(), &message.epoch.0.to_le_bytes(), &message.previous_digest,
            &message.log_merkle_root, &message.log_len.to_le_bytes(), &message.batch_hash,
            &message.arrays_root, &message.arrays_len.to_le_bytes(),
        ]
        .concat();
        prop_assert_eq!(message.to_bytes().to_vec(), expected);
        prop_assert_eq!(BatchMessage::parse(&message.to_bytes()), Some(message));
    }

    #[test]
    fn every_other_length_is_none(message in any_message(), more in prop::collection::vec(any::<u8>(), 1..50)) {
        let bytes = message.to_bytes();
        for len in 0..bytes.len() {
            prop_assert_eq!(BatchMessage::parse(&bytes[..len]), None);
        }
        prop_assert_eq!(BatchMessage::parse(&[&bytes[..], &more].concat()), None);
    }

    #[test]
    fn the_head_commits_to_order_and_content(previous: Hash, a in any_message(), b in any_message()) {
        prop_assume!(a != b);
        let (a, b) = (a.to_bytes(), b.to_bytes());
        let digest = |first: &[u8], second: &[u8]| {
            head_digest::<Sha3>(&head_digest::<Sha3>(&previous, first), second)
        };
        prop_assert_ne!(digest(&a, &b), digest(&b, &a));
        prop_assert_eq!(head_digest::<Sha3>(&previous, &a), Sha3::hashv(&[&[&previous[..], &a].concat()]));
    }

    #[test]
    fn batches_never_overlap_and_leave_only_what_is_older_than_30(
        steps in prop::collection::vec((1u64..50, 1u64..=3), 1..20),
    ) {
        let (mut now, mut last) = (NOW, first_open(NOW));
        for (days, age) in steps {
            now = Epoch(now.0 + days);
            let epoch = Epoch(now.0 - age);
            match check_epoch(epoch, now, last, NOW) {
                Ok(covered) => {
                    prop_assert_eq!(covered.to, epoch);
                    prop_assert!(covered.from > last && covered.from >= NOW);
                    let long = epoch.0 - covered.from.0 + 1;
                    prop_assert!(long <= MAX_COVERED_EPOCHS);
                    prop_assert!(covered.from.0 == last.0 + 1 || long == MAX_COVERED_EPOCHS);
                    last = epoch;
                }
                Err(error) => {
                    let early = epoch <= last;
                    let expected = if early { BatchError::NotIncreasing } else { BatchError::BeforeTenure };
                    prop_assert_eq!(error, expected);
                }
            }
        }
    }

    #[test]
    fn no_numbers_make_it_panic(epoch: u64, current: u64, last: u64, tenure: u64) {
        let (epoch, current, last) = (Epoch(epoch), Epoch(current), Epoch(last));
        covers_from(epoch, last, Epoch(tenure));
        if let Ok(covered) = check_epoch(epoch, current, last, Epoch(tenure)) {
            prop_assert!(covered.from <= covered.to && covered.to < current && covered.from > last);
        }
    }
}
