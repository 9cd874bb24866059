//! Our verification against Wycheproof's vectors, and against what strict verification adds (decision A4).

use crate::common::key;
use ed25519_dalek::{Signature, Signer, Verifier, VerifyingKey};
use proptest::prelude::*;
use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};
use zx1_protocol::signature::{KeyError, PublicKey, verify};

/// Wycheproof marks every Ed25519 case as valid or invalid; there is none that is merely acceptable. So
/// strict verification has nothing to decide here, and must agree with all of them. Among the invalid ones
/// are signatures with S + L (malleable), of the wrong length, and with points that do not decode.
#[test]
fn wycheproof_agrees() {
    let set = TestSet::load(TestName::Ed25519).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in set.test_groups {
        let public: [u8; 32] = group.key.pk.as_slice().try_into().unwrap();
        for test in group.tests {
            // A signature of another length cannot even be asked about.
            let signature: Result<&[u8; 64], _> = test.sig.as_slice().try_into();
            let holds = signature.is_ok_and(|signature| verify(&public, &test.msg, signature));
            match test.result {
                TestResult::Valid => valid += 1,
                TestResult::Invalid => invalid += 1,
                TestResult::Acceptable => panic!("case {}: decide what strict verification says", test.tc_id),
            }
            assert_eq!(holds, test.result == TestResult::Valid, "case {}: {}", test.tc_id, test.comment);
        }
    }
    assert!(valid >= 80 && invalid >= 60, "only {valid} and {invalid} cases");
}

/// The eight points of small order, in their canonical encodings.
const SMALL_ORDER: [&str; 8] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
];

#[test]
fn keys_of_small_order_fail() {
    for point in SMALL_ORDER {
        let bytes = hex::decode(point).unwrap().try_into().unwrap();
        assert_eq!(PublicKey::from_bytes(&bytes), Err(KeyError::SmallOrder), "{point}");
    }
}

#[test]
fn a_signature_that_fits_every_message_fails() {
    // Key and R are the neutral point and S is 0: the plain equation holds for any message.
    let neutral: [u8; 32] = hex::decode(SMALL_ORDER[0]).unwrap().try_into().unwrap();
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&neutral);
    let lenient = VerifyingKey::from_bytes(&neutral).unwrap();
    assert!(lenient.verify(b"anything", &Signature::from_bytes(&signature)).is_ok());
    assert!(!verify(&neutral, b"anything", &signature));
}

/// S of the signature of "message" under [`key`] whose R is the neutral point: the owner of a key can make
/// one with tests/vectors/ed25519.py as H(R ‖ A ‖ M) × its scalar, and the plain equation holds for it.
const S_FOR_NEUTRAL_R: &str = "d4c5323131ff9683cfb3d30197c786c9043f1052d6c2d5293f19d6f36b911104";

#[test]
fn a_commitment_of_small_order_fails_under_a_good_key() {
    let public = key().verifying_key();
    let signature: [u8; 64] =
        hex::decode([SMALL_ORDER[0], S_FOR_NEUTRAL_R].concat()).unwrap().try_into().unwrap();
    assert!(public.verify(b"message", &Signature::from_bytes(&signature)).is_ok());
    assert!(!verify(&public.to_bytes(), b"message", &signature));
}

#[test]
fn bytes_that_are_no_point_are_no_key() {
    let mut bytes = [0; 32];
    bytes[0] = 2;
    assert_eq!(PublicKey::from_bytes(&bytes), Err(KeyError::NotAPoint));
    assert!(!verify(&bytes, b"", &[0; 64]));
}

proptest! {
    #[test]
    fn a_signature_holds_for_its_message_only(message in prop::collection::vec(any::<u8>(), 0..200), at: prop::sample::Index, bit in 0u32..8) {
        let public = key().verifying_key().to_bytes();
        let signature = key().sign(&message).to_bytes();
        prop_assert!(verify(&public, &message, &signature));
        let mut other = signature;
        other[at.index(64)] ^= 1 << bit;
        prop_assert!(!verify(&public, &message, &other));
        let mut longer = message.clone();
        longer.push(0);
        prop_assert!(!verify(&public, &longer, &signature));
    }
}
