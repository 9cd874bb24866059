use crate::envelope::ciborium_bytes;
use crate::harness::{damage, damaged};
use crate::life::{build, life};
use ciborium::Value as Cbor;
use proptest::prelude::*;
use zx1_protocol::behavior_batch::{BatchFormatError, Built, MAX_BATCH_BYTES};
use zx1_protocol::bundle::{Bundle, BundleError};
use zx1_protocol::hash::Sha3;
use zx1_protocol::merkle::{leaf, verify};
use zx1_protocol::record::Record;

#[test]
fn a_bundle_that_is_too_large_fails() {
    let batch = vec![0; MAX_BATCH_BYTES + 1];
    let error = BundleError::Batch(BatchFormatError::TooLarge);
    assert_eq!(Bundle::new(&batch, &[], &[]).err(), Some(error));
    let leaves = vec![[1; 32]; (1 << 20) + 1];
    assert_eq!(Bundle::new(&[], &[], &leaves).err(), Some(BundleError::TooManyLeaves));
    let record = Record::Bid(zx1_protocol::record::Bid {
        conversation: [0; 16],
        counterparty: [0; 32],
        value: 0,
        slot: zx1_protocol::units::Slot(0),
    });
    let records = record.to_bytes().repeat((1 << 20) + 1);
    assert_eq!(Bundle::new(&[], &records, &[]).err(), Some(BundleError::TooManyRecords));
    assert_eq!(Bundle::new(&[], &records[73..], &leaves[1..]).map(|bundle| bundle.arrays_len()), Ok(1 << 20));
}

#[test]
fn a_batch_that_lies_about_itself_is_no_shelter() {
    let log = [crate::life::sent(zx1_protocol::envelope::MsgType::Accept, b"", |_| {})];
    let mut built = build(&log).unwrap();
    built.batch.message_count += 1;
    built.batch_bytes = built.batch.to_cbor();
    let bundle = built.bundle().unwrap();
    assert_eq!(bundle.check().err(), Some(BundleError::Batch(BatchFormatError::Counters)));
    let commitment = built.batch.commitment();
    let checked = bundle.check_against(&commitment).unwrap();
    assert!(checked.batch().is_none() && checked.record_proof(1).is_some());
    let other = zx1_protocol::behavior_batch::Commitment { log_len: 2, ..commitment };
    assert_eq!(bundle.check_against(&other).err(), Some(BundleError::LogLength));
}

fn check_proofs(built: &Built) -> Result<(), TestCaseError> {
    let checked = built.bundle().unwrap().check().unwrap();
    let commitment = *checked.commitment();
    prop_assert_eq!(commitment, built.commitment());
    prop_assert_eq!(checked.batch(), Some(&built.batch));
    for entry in 0..checked.arrays_len() {
        let (packed, proof) = (checked.record_bytes(entry).unwrap(), checked.record_proof(entry).unwrap());
        let (root, len) = (&commitment.arrays_root, commitment.arrays_len);
        prop_assert_eq!(verify::<Sha3>(root, len, proof.index, &leaf::<Sha3>(packed), &proof.path), Ok(()));
        prop_assert_eq!(checked.record(entry).unwrap().to_bytes(), packed);
    }
    for (entry, leaf) in built.leaves.iter().enumerate() {
        let proof = checked.leaf_proof(entry.try_into().unwrap()).unwrap();
        let (root, len) = (&commitment.log_merkle_root, commitment.log_len);
        prop_assert_eq!(verify::<Sha3>(root, len, proof.index, leaf, &proof.path), Ok(()));
    }
    prop_assert_eq!(checked.record_bytes(checked.arrays_len()), None);
    prop_assert_eq!(checked.record_proof(checked.arrays_len()), None);
    prop_assert_eq!(checked.leaf_proof(checked.log_len()), None);
    prop_assert_eq!(checked.packed_records().flatten().copied().collect::<Vec<_>>(), built.records.clone());
    Ok(())
}

proptest! {
    #[test]
    fn a_bundle_comes_back_in_one_piece_and_in_several(log in life()) {
        let built = build(&log).unwrap();
        let bundle = built.bundle().unwrap();
        let bytes = bundle.to_vec();
        prop_assert_eq!(Bundle::decode(&bytes), Ok(bundle));
        let parts = bundle.parts();
        prop_assert_eq!(&parts.slices().concat(), &bytes);
        prop_assert_eq!(parts.len(), bytes.len());
        let items = [built.batch_bytes.clone(), built.records.clone(), built.leaves.as_flattened().to_vec()];
        let mut values = vec![Cbor::from(1)];
        values.extend(items.map(Cbor::Bytes));
        prop_assert_eq!(ciborium_bytes(&Cbor::Array(values)), bytes);
    }

    #[test]
    fn every_record_and_leaf_can_be_proven(log in life()) {
        check_proofs(&build(&log).unwrap())?;
    }

    #[test]
    fn damaged_bundles_are_refused_or_hold_for_what_they_say(
        log in life(), harm in prop::collection::vec(damage(), 1..4),
    ) {
        let original = build(&log).unwrap();
        let bytes = damaged(&original.bundle().unwrap().to_vec(), &harm);
        if let Ok(other) = Bundle::decode(&bytes) {
            prop_assert_eq!(&other.to_vec(), &bytes);
            // Whatever holds in itself is the bundle, or has another commitment.
            if let Ok(checked) = other.check() {
                let same = bytes == original.bundle().unwrap().to_vec();
                prop_assert_eq!(*checked.commitment() == original.commitment(), same);
            }
            if other.check_against(&original.commitment()).is_ok() {
                prop_assert_eq!((other.records_bytes(), other.leaves()), (&original.records[..], &original.leaves[..]));
            }
        }
    }
}
