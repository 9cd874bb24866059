use crate::common::feedback;
use crate::envelope::ciborium_bytes;
use crate::harness::{damage, damaged};
use ciborium::Value as Cbor;
use proptest::prelude::*;
use zx1_protocol::payload::{BidType, Feedback, NotarizeBid, PayloadError, bid_payload, bid_value};

#[test]
fn a_bid_value_is_little_endian_and_signed() {
    assert_eq!(bid_value(&bid_payload(5_000_000, b"JSON{}")), 5_000_000);
    assert_eq!(bid_value(&[0xff; 16]), -1);
    assert_eq!(bid_value(&[0xff; 17]), -1);
}

#[test]
fn a_short_payload_is_extended_with_zeros() {
    assert_eq!(bid_value(&[]), 0);
    assert_eq!(bid_value(&[1, 2]), 0x0201);
    assert_eq!(bid_value(&[0xff; 15]), (1 << 120) - 1);
}

#[test]
fn a_rating_out_of_range_fails_in_both_directions() {
    let good = Feedback {
        conversation_id: [1; 16],
        target_agent: [2; 32],
        score: 100,
        outcome: 2,
        is_dispute: true,
        role: 1,
    };
    assert_eq!(good.check(), Ok(()));
    assert_eq!(Feedback { score: -100, ..good }.check(), Ok(()));
    for (bad, error) in [
        (Feedback { score: 101, ..good }, PayloadError::Score),
        (Feedback { score: -101, ..good }, PayloadError::Score),
        (Feedback { score: i8::MIN, ..good }, PayloadError::Score),
        (Feedback { outcome: 3, ..good }, PayloadError::Outcome),
        (Feedback { role: 2, ..good }, PayloadError::Role),
    ] {
        assert_eq!(bad.to_cbor(), Err(error));
        assert_eq!(bad.encode_into(&mut [0; 80]), Err(error));
        assert_eq!(Feedback::decode(&ciborium_bytes(&items(&bad))), Err(error));
    }
}

#[test]
fn a_notarize_bid_is_type_conversation_and_terms() {
    let bytes = [&[1][..], &[7; 16], b"fee:5"].concat();
    let bid = NotarizeBid::decode(&bytes).unwrap();
    assert_eq!((bid.bid_type, bid.conversation_id, bid.terms), (BidType::Offer, &[7; 16], &b"fee:5"[..]));
    assert_eq!(NotarizeBid::decode(&bytes[..17]).unwrap().terms, b"");
    assert_eq!(NotarizeBid::decode(&bytes[..16]), Err(PayloadError::Malformed));
    assert_eq!(NotarizeBid::decode(&[]), Err(PayloadError::Malformed));
    assert_eq!(NotarizeBid::decode(&[2; 17]), Err(PayloadError::BidType));
}

fn items(feedback: &Feedback) -> Cbor {
    Cbor::Array(vec![
        Cbor::Bytes(feedback.conversation_id.to_vec()),
        Cbor::Bytes(feedback.target_agent.to_vec()),
        feedback.score.into(),
        feedback.outcome.into(),
        feedback.is_dispute.into(),
        feedback.role.into(),
    ])
}

proptest! {
    #[test]
    fn a_bid_value_comes_back(value: i128, content in prop::collection::vec(any::<u8>(), 0..40)) {
        prop_assert_eq!(bid_value(&bid_payload(value, &content)), value);
    }

    #[test]
    fn a_short_bid_value_is_what_zeros_make_of_it(payload in prop::collection::vec(any::<u8>(), 0..20)) {
        let mut padded = payload.clone();
        padded.resize(payload.len().max(16), 0);
        prop_assert_eq!(bid_value(&payload), i128::from_le_bytes(padded[..16].try_into().unwrap()));
    }

    #[test]
    fn feedback_comes_back_and_ciborium_agrees(feedback in feedback()) {
        let cbor = feedback.to_cbor().unwrap();
        prop_assert_eq!(Feedback::decode(&cbor), Ok(feedback));
        prop_assert_eq!(&ciborium_bytes(&items(&feedback)), &cbor);
        let mut buffer = vec![0; cbor.len()];
        prop_assert_eq!(feedback.encode_into(&mut buffer), Ok(cbor.len()));
        prop_assert_eq!(&buffer, &cbor);
        prop_assert_eq!(feedback.encode_into(&mut buffer[1..]), Err(PayloadError::BufferTooSmall));
    }

    #[test]
    fn damaged_feedback_is_refused_or_the_one_encoding_of_another(
        feedback in feedback(), harm in prop::collection::vec(damage(), 1..4),
    ) {
        let bytes = damaged(&feedback.to_cbor().unwrap(), &harm);
        if let Ok(other) = Feedback::decode(&bytes) {
            prop_assert_eq!(other.to_cbor(), Ok(bytes));
        }
    }

    #[test]
    fn a_notarize_bid_comes_back(offer: bool, conversation: [u8; 16], terms in prop::collection::vec(any::<u8>(), 0..40)) {
        let bid_type = if offer { BidType::Offer } else { BidType::Request };
        let bid = NotarizeBid { bid_type, conversation_id: &conversation, terms: &terms };
        let packed = bid.to_bytes();
        prop_assert_eq!(NotarizeBid::decode(&packed), Ok(bid));
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..100)) {
        prop_assert!(Feedback::decode(&noise).is_err());
        if let Ok(bid) = NotarizeBid::decode(&noise) {
            prop_assert_eq!(bid.to_bytes(), noise);
        }
    }
}
