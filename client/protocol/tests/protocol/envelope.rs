use crate::common::{Message, key, message};
use crate::harness::{damage, damaged};
use ciborium::Value as Cbor;
use ed25519_dalek::Signature;
use proptest::prelude::*;
use std::collections::HashSet;
use zx1_protocol::envelope::{
    BROADCAST, Envelope, EnvelopeError, MsgType, SIGNING_HEADER_LEN, parse_signing_bytes,
};
use zx1_protocol::hash::Sha3;
use zx1_protocol::units::Epoch;

fn sample() -> Message {
    Message {
        msg_type: MsgType::Propose,
        sender: [0xa1; 32],
        recipient: [0xb2; 32],
        timestamp: 1_772_313_600_000_001,
        block_ref: 400_000_001,
        nonce: 2,
        conversation_id: [3; 16],
        payload: b"payload".to_vec(),
        payload_hash: [0; 32],
        signature: [0; 64],
    }
    .seal()
}

/// The envelope as another CBOR library sees it.
pub(crate) fn items(envelope: &Envelope<'_>) -> Vec<Cbor> {
    let header = &envelope.header;
    vec![
        header.version.into(),
        header.msg_type.wire().into(),
        Cbor::Bytes(header.sender.to_vec()),
        Cbor::Bytes(header.recipient.to_vec()),
        header.timestamp.into(),
        header.block_ref.0.into(),
        header.nonce.into(),
        Cbor::Bytes(header.conversation_id.to_vec()),
        Cbor::Bytes(header.payload_hash.to_vec()),
        header.payload_len.into(),
        Cbor::Bytes(envelope.payload.to_vec()),
        Cbor::Bytes(envelope.signature.to_vec()),
    ]
}

pub(crate) fn ciborium_bytes(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

#[test]
fn message_types_are_the_numbers_one_to_thirteen() {
    for wire in 0..=u16::MAX {
        match MsgType::try_from(wire) {
            Ok(msg_type) => assert_eq!(msg_type.wire(), wire),
            Err(error) => assert_eq!(error, EnvelopeError::UnknownType),
        }
        assert_eq!(MsgType::try_from(wire).is_ok(), (1..=13).contains(&wire));
    }
    let all: HashSet<_> = MsgType::ALL.iter().map(|msg_type| msg_type.wire()).collect();
    assert_eq!(all, (1..=13).collect());
}

#[test]
fn only_feedback_and_notarize_bid_are_logged_whole() {
    let logged: Vec<_> = MsgType::ALL.into_iter().filter(|msg_type| msg_type.payload_is_logged()).collect();
    assert_eq!(logged, [MsgType::NotarizeBid, MsgType::Feedback]);
}

#[test]
fn the_header_is_as_long_as_its_fields() {
    assert_eq!(SIGNING_HEADER_LEN, 1 + 2 + 32 + 32 + 8 + 8 + 8 + 16 + 32 + 4);
    let last = sample().header().signing_header();
    assert_eq!(last[SIGNING_HEADER_LEN - 4..], 7u32.to_be_bytes());
}

#[test]
fn the_epoch_is_that_of_the_timestamp() {
    let mut message = sample();
    message.timestamp = 86_400_000_000 * 5 - 1;
    assert_eq!(message.header().epoch(), Epoch(4));
    message.timestamp += 1;
    assert_eq!(message.header().epoch(), Epoch(5));
}

#[test]
fn a_buffer_that_just_fits_is_enough() {
    let message = sample();
    let cbor = message.envelope().to_cbor();
    for len in 0..cbor.len() {
        let refused = message.envelope().encode_into(&mut vec![0; len]);
        assert_eq!(refused, Err(EnvelopeError::BufferTooSmall), "{len} bytes");
    }
    let mut buffer = vec![0xee; cbor.len() + 3];
    assert_eq!(message.envelope().encode_into(&mut buffer), Ok(cbor.len()));
    assert_eq!((&buffer[..cbor.len()], &buffer[cbor.len()..]), (&cbor[..], &[0xee; 3][..]));
}

#[test]
fn a_payload_of_the_wrong_length_or_hash_fails() {
    let mut message = sample();
    assert_eq!(message.envelope().check_payload::<Sha3>(), Ok(()));
    message.payload[0] ^= 1;
    assert_eq!(message.envelope().check_payload::<Sha3>(), Err(EnvelopeError::PayloadHash));
    let short = message.header().check_payload::<Sha3>(b"payloa");
    assert_eq!(short, Err(EnvelopeError::PayloadLength));
}

#[test]
fn a_64_kib_payload_comes_back() {
    let mut message = sample();
    message.payload = vec![5; 65_536];
    let message = message.seal();
    let cbor = message.envelope().to_cbor();
    assert_eq!(Envelope::decode(&cbor), Ok(message.envelope()));
}

#[test]
fn every_prefix_and_every_longer_form_of_an_envelope_fails() {
    let cbor = sample().envelope().to_cbor();
    for len in 0..cbor.len() {
        assert_eq!(Envelope::decode(&cbor[..len]), Err(EnvelopeError::Malformed), "{len} bytes");
    }
    let with_more = [&cbor[..], &[0]].concat();
    assert_eq!(Envelope::decode(&with_more), Err(EnvelopeError::NotCanonical));
    let long_version = [&cbor[..1], &[0x18, 1], &cbor[2..]].concat();
    assert_eq!(Envelope::decode(&long_version), Err(EnvelopeError::NotCanonical));
    let long_array = [&[0x98, 12], &cbor[1..]].concat();
    assert_eq!(Envelope::decode(&long_array), Err(EnvelopeError::NotCanonical));
}

#[test]
fn a_length_beyond_memory_fails() {
    let huge = [&[0x8c, 1, 3, 0x5b][..], &[0xff; 8], &[0; 40]].concat();
    assert_eq!(Envelope::decode(&huge), Err(EnvelopeError::Malformed));
}

#[test]
fn broadcast_is_the_zero_address() {
    assert_eq!(BROADCAST, [0; 32]);
}

proptest! {
    #[test]
    fn cbor_comes_back(message in message()) {
        let cbor = message.envelope().to_cbor();
        prop_assert_eq!(Envelope::decode(&cbor), Ok(message.envelope()));
        prop_assert_eq!(Envelope::decode(&cbor).unwrap().check_payload::<Sha3>(), Ok(()));
    }

    #[test]
    fn signed_bytes_come_back(message in message()) {
        let signed = message.envelope().signing_bytes();
        let fields = parse_signing_bytes(&signed).unwrap();
        prop_assert_eq!(fields, message.envelope().signed_fields());
        prop_assert_eq!(fields.check_payload::<Sha3>(), Ok(()));
        prop_assert_eq!([&fields.header.signing_header()[..], fields.payload].concat(), &signed[..]);
        let signature = Signature::from_bytes(&message.signature);
        prop_assert!(key().verifying_key().verify_strict(&signed, &signature).is_ok());
    }

    #[test]
    fn ciborium_writes_the_same_bytes_and_reads_the_same_fields(message in message()) {
        let cbor = message.envelope().to_cbor();
        let expected = Cbor::Array(items(&message.envelope()));
        prop_assert_eq!(&ciborium_bytes(&expected), &cbor);
        let read: Cbor = ciborium::from_reader(&cbor[..]).unwrap();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn what_is_decoded_is_always_the_one_encoding(
        message in message(), harm in prop::collection::vec(damage(), 1..4),
    ) {
        let bytes = damaged(&message.envelope().to_cbor(), &harm);
        if let Ok(envelope) = Envelope::decode(&bytes) {
            prop_assert_eq!(envelope.to_cbor(), bytes);
        }
    }

    #[test]
    fn damaged_signed_bytes_are_never_read_as_others(
        message in message(), harm in prop::collection::vec(damage(), 1..4),
    ) {
        let bytes = damaged(&message.envelope().signing_bytes(), &harm);
        if let Ok(fields) = parse_signing_bytes(&bytes) {
            prop_assert_eq!([&fields.header.signing_header()[..], fields.payload].concat(), bytes);
        }
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Envelope::decode(&noise).is_err());
        if let Ok(fields) = parse_signing_bytes(&noise) {
            prop_assert_eq!(fields.header.payload_len as usize, fields.payload.len());
        }
    }
}
