use crate::common::record;
use crate::harness::{damage, damaged};
use proptest::prelude::*;
use zx1_interface::accounts::MAX_RECORD_BYTES;
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::merkle::leaf;
use zx1_protocol::record::{
    BID_LEN, FEEDBACK_LEN, Feedback, MAX_LEN, Record, RecordError, SELECTION_LEN, VERIFIER_LEN,
};
use zx1_protocol::units::Slot;

fn len(record: &Record) -> usize {
    match record {
        Record::Bid(_) => BID_LEN,
        Record::Selection(_) => SELECTION_LEN,
        Record::Verifier(_) => VERIFIER_LEN,
        Record::Feedback(_) => FEEDBACK_LEN,
    }
}

#[test]
fn no_record_is_as_long_as_two_hashes() {
    assert_eq!((BID_LEN, SELECTION_LEN, VERIFIER_LEN, FEEDBACK_LEN), (105, 89, 89, 124));
    assert_eq!((MAX_LEN, MAX_RECORD_BYTES), (124, 124));
}

#[test]
fn a_rating_out_of_range_fails() {
    let good = Feedback {
        conversation: ConversationId([1; 16]),
        from: AgentId([2; 32]),
        score: 100,
        outcome: 2,
        role: 1,
        slot: Slot(3),
        attestation: [4; 32],
        message: [5; 32],
    };
    assert!(Record::parse(&Record::Feedback(good).to_bytes()).is_ok());
    for bad in [
        Feedback { score: 101, ..good },
        Feedback { score: i8::MIN, ..good },
        Feedback { outcome: 3, ..good },
        Feedback { role: 2, ..good },
    ] {
        assert_eq!(Record::parse(&Record::Feedback(bad).to_bytes()), Err(RecordError::OutOfRange));
    }
}

proptest! {
    #[test]
    fn a_record_comes_back(record in record()) {
        let mut buffer = [0xee; MAX_LEN];
        let packed = record.pack(&mut buffer);
        prop_assert_eq!(packed.len(), len(&record));
        prop_assert_eq!(Record::parse(packed), Ok(record));
        prop_assert_eq!(record.to_bytes(), packed);
        prop_assert_eq!(record.leaf::<Sha3>(), leaf::<Sha3>(packed));
    }

    #[test]
    fn the_message_comes_last(record in record()) {
        prop_assert!(record.to_bytes().ends_with(record.message()));
    }

    #[test]
    fn every_other_length_fails(record in record(), more in prop::collection::vec(any::<u8>(), 1..50)) {
        let packed = record.to_bytes();
        for len in 1..packed.len() {
            prop_assert_eq!(Record::parse(&packed[..len]), Err(RecordError::WrongLength));
        }
        prop_assert_eq!(Record::parse(&[&packed[..], &more].concat()), Err(RecordError::WrongLength));
    }

    #[test]
    fn a_damaged_record_is_refused_or_another(record in record(), harm in prop::collection::vec(damage(), 1..4)) {
        let bytes = damaged(&record.to_bytes(), &harm);
        if let Ok(other) = Record::parse(&bytes) {
            prop_assert_eq!(other.to_bytes(), bytes);
        }
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..100)) {
        if let Ok(record) = Record::parse(&noise) {
            prop_assert_eq!(record.to_bytes(), noise);
        }
    }

    #[test]
    fn two_records_never_share_bytes(a in record(), b in record()) {
        prop_assert_eq!(a == b, a.to_bytes() == b.to_bytes());
    }
}
