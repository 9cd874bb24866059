use crate::common::key;
use crate::envelope::ciborium_bytes;
use crate::harness::{damage, damaged};
use crate::life::{build, life};
use ciborium::Value as Cbor;
use ed25519_dalek::Signer;
use proptest::prelude::*;
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::behavior_batch::{BatchFormatError, Built, MAX_BATCH_BYTES};
use zx1_protocol::bundle::{Bundle, BundleError, Signed};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::merkle::{leaf, verify};
use zx1_protocol::record::{BID_LEN, Record};
use zx1_protocol::units::Epoch;

/// What a batch key signs of it.
pub(crate) fn sign(message: &BatchMessage) -> Signed {
    let signature = key().sign(&message.to_bytes()).to_bytes();
    Signed { message: *message, signer: key().verifying_key().to_bytes().into(), signature }
}

fn message(built: &Built) -> BatchMessage {
    built.commitment().message(&[0x4e; 32], Epoch(built.batch.epoch_number.0 - 1), &[0x50; 32])
}

/// The bundle as it is uploaded.
pub(crate) fn signed(built: &Built) -> Bundle<'_> {
    built.bundle().unwrap().with_signed(sign(&message(built))).unwrap()
}

#[test]
fn what_is_signed_is_the_batch_itself() {
    let log = [crate::life::sent(zx1_protocol::envelope::MsgType::Accept, b"", |_| {})];
    let built = build(&log).unwrap();
    let bundle = built.bundle().unwrap();
    let good = message(&built);
    assert_eq!(bundle.signed(), None);
    assert_eq!(signed(&built).signed(), Some(&sign(&good)));
    assert_eq!(sign(&good).covered(), good.covered());
    for other in [
        BatchMessage { agent: [9; 32], ..good },
        BatchMessage { epoch: Epoch(1), ..good },
        BatchMessage { log_merkle_root: [9; 32], ..good },
        BatchMessage { log_len: 9, ..good },
        BatchMessage { batch_hash: [9; 32], ..good },
        BatchMessage { arrays_root: [9; 32], ..good },
        BatchMessage { arrays_len: 9, ..good },
    ] {
        assert_eq!(bundle.with_signed(sign(&other)).err(), Some(BundleError::SignedOther));
    }
    let forged = Signed { message: BatchMessage { network: [9; 32], ..good }, ..sign(&good) };
    assert_eq!(bundle.with_signed(forged).err(), Some(BundleError::Signature));
    let nobodys = Signed { signer: [0; 32].into(), ..sign(&good) };
    assert_eq!(bundle.with_signed(nobodys).err(), Some(BundleError::Signature));
}

/// Anybody may upload an agent's data, and a liar serves its own: neither makes good data useless.
#[test]
fn a_signature_that_does_not_hold_is_left_out_and_shelters_nobody() {
    let log = [crate::life::sent(zx1_protocol::envelope::MsgType::Accept, b"", |_| {})];
    let built = build(&log).unwrap();
    let good = signed(&built).to_vec();
    let signature = sign(&message(&built)).signature;
    let place = good.windows(64).position(|window| window == signature).unwrap();
    for damaged in [place + 40, place - 1, place - 32 - 36] {
        let mut bytes = good.clone();
        bytes[damaged] ^= 1;
        let lie = Bundle::decode(&bytes).unwrap();
        assert!(lie.signed().is_some());
        for checked in [lie.check().unwrap(), lie.check_against(&built.commitment()).unwrap()] {
            assert_eq!(checked.signed(), None);
            assert_eq!(checked.to_vec(), built.bundle().unwrap().to_vec());
            assert!(checked.record_proof(1).is_some());
        }
    }
    let checked = Bundle::decode(&good).unwrap().check().unwrap();
    assert_eq!((checked.signed(), checked.to_vec()), (Some(&sign(&message(&built))), good.clone()));
}

#[test]
fn a_bundle_of_the_first_edition_is_refused_by_its_version() {
    let first = ciborium_bytes(&Cbor::Array(vec![
        Cbor::from(1),
        Cbor::Bytes(vec![]),
        Cbor::Bytes(vec![]),
        Cbor::Bytes(vec![]),
    ]));
    let error = BundleError::Version { version: 1 };
    assert_eq!(Bundle::decode(&first), Err(error));
    assert!(error.to_string().contains("version 1"), "{error}");
}

#[test]
fn a_bundle_that_is_too_large_fails() {
    let batch = vec![0; MAX_BATCH_BYTES + 1];
    let error = BundleError::Batch(BatchFormatError::TooLarge);
    assert_eq!(Bundle::new(&batch, &[], &[]).err(), Some(error));
    let leaves = vec![[1; 32]; (1 << 20) + 1];
    assert_eq!(Bundle::new(&[], &[], &leaves).err(), Some(BundleError::TooManyLeaves));
    let record = Record::Bid(zx1_protocol::record::Bid {
        conversation: ConversationId([0; 16]),
        counterparty: AgentId([0; 32]),
        value: 0,
        slot: zx1_protocol::units::Slot(0),
        message: [0; 32],
    });
    let records = record.to_bytes().repeat((1 << 20) + 1);
    assert_eq!(Bundle::new(&[], &records, &[]).err(), Some(BundleError::TooManyRecords));
    assert_eq!(
        Bundle::new(&[], &records[BID_LEN..], &leaves[1..]).map(|bundle| bundle.arrays_len()),
        Ok(1 << 20)
    );
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
        let mut values = vec![Cbor::from(2), Cbor::Bytes(vec![])];
        let items = [built.batch_bytes.clone(), built.records.clone(), built.leaves.as_flattened().to_vec()];
        values.extend(items.map(Cbor::Bytes));
        prop_assert_eq!(ciborium_bytes(&Cbor::Array(values.clone())), bytes);
        let signed = signed(&built);
        let Signed { message, signer, signature } = signed.signed().unwrap();
        values[1] = Cbor::Bytes([&message.to_bytes()[..], signer.as_ref(), signature].concat());
        let bytes = ciborium_bytes(&Cbor::Array(values));
        prop_assert_eq!(&signed.to_vec(), &bytes);
        prop_assert_eq!(&signed.parts().slices().concat(), &bytes);
        prop_assert_eq!(Bundle::decode(&bytes), Ok(signed));
        prop_assert!(signed.check().is_ok());
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
        let bytes = damaged(&signed(&original).to_vec(), &harm);
        if let Ok(other) = Bundle::decode(&bytes) {
            prop_assert_eq!(&other.to_vec(), &bytes);
            // Whatever holds in itself is the bundle, or has another commitment.
            if let Ok(checked) = other.check() {
                let same = checked.leaves() == &original.leaves[..]
                    && (checked.batch_bytes(), checked.records_bytes()) == (&original.batch_bytes[..], &original.records[..]);
                prop_assert_eq!(*checked.commitment() == original.commitment(), same);
                prop_assert!(checked.signed().is_none() || bytes == signed(&original).to_vec());
            }
            if other.check_against(&original.commitment()).is_ok() {
                prop_assert_eq!((other.records_bytes(), other.leaves()), (&original.records[..], &original.leaves[..]));
            }
        }
    }
}
