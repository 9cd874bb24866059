use crate::common::message;
use crate::envelope::{ciborium_bytes, items};
use crate::harness::{damage, damaged};
use ciborium::Value as Cbor;
use proptest::prelude::*;
use zx1_protocol::envelope::{Envelope, EnvelopeError, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::leaf;

proptest! {
    #[test]
    fn cbor_comes_back(message in message()) {
        let entry = LogEntry::of(&message.envelope());
        let cbor = entry.to_cbor::<Sha3>().unwrap();
        prop_assert_eq!(LogEntry::decode::<Sha3>(&cbor), Ok(entry));
        prop_assert_eq!(LogEntry::leaf::<Sha3>(&cbor), leaf::<Sha3>(&cbor));
    }

    #[test]
    fn a_log_entry_is_too_long_for_a_tree_node(message in message()) {
        prop_assert!(LogEntry::of(&message.envelope()).to_cbor::<Sha3>().unwrap().len() > 64);
    }

    #[test]
    fn a_log_entry_keeps_the_payload_of_two_types_only(message in message()) {
        let entry_payload = LogEntry::of(&message.envelope()).payload.to_vec();
        match message.msg_type {
            MsgType::Feedback | MsgType::NotarizeBid => prop_assert_eq!(entry_payload, message.payload),
            _ => prop_assert!(entry_payload.is_empty()),
        }
    }

    #[test]
    fn ciborium_writes_the_same_bytes_and_reads_the_same_fields(message in message()) {
        let envelope = message.envelope();
        let entry = LogEntry::of(&envelope);
        let mut items = items(&Envelope { payload: entry.payload, ..envelope });
        // The signature comes before the payload here, unlike in an envelope.
        items.swap(10, 11);
        let cbor = entry.to_cbor::<Sha3>().unwrap();
        prop_assert_eq!(&ciborium_bytes(&Cbor::Array(items.clone())), &cbor);
        let read: Cbor = ciborium::from_reader(&cbor[..]).unwrap();
        prop_assert_eq!(read, Cbor::Array(items));
    }

    #[test]
    fn a_payload_where_none_belongs_fails(message in message(), noise in prop::collection::vec(any::<u8>(), 1..50)) {
        let mut entry = LogEntry::of(&message.envelope());
        entry.payload = &noise;
        let refused = if !message.msg_type.payload_is_logged() {
            EnvelopeError::PayloadNotLogged
        } else if noise.len() != message.payload.len() {
            EnvelopeError::PayloadLength
        } else {
            EnvelopeError::PayloadHash
        };
        prop_assume!(noise != message.payload);
        prop_assert_eq!(entry.to_cbor::<Sha3>(), Err(refused));
        prop_assert_eq!(entry.encode_into::<Sha3>(&mut [0; 600]), Err(refused));
    }

    #[test]
    fn encode_into_writes_what_to_cbor_returns(message in message()) {
        let entry = LogEntry::of(&message.envelope());
        let cbor = entry.to_cbor::<Sha3>().unwrap();
        let mut buffer = vec![0; cbor.len()];
        prop_assert_eq!(entry.encode_into::<Sha3>(&mut buffer), Ok(cbor.len()));
        prop_assert_eq!(&buffer, &cbor);
        let too_small = entry.encode_into::<Sha3>(&mut buffer[1..]);
        prop_assert_eq!(too_small, Err(EnvelopeError::BufferTooSmall));
    }

    #[test]
    fn what_is_decoded_is_always_the_one_encoding(
        message in message(), harm in prop::collection::vec(damage(), 1..4),
    ) {
        let original = LogEntry::of(&message.envelope()).to_cbor::<Sha3>().unwrap();
        let bytes = damaged(&original, &harm);
        if let Ok(entry) = LogEntry::decode::<Sha3>(&bytes) {
            prop_assert_eq!(entry.to_cbor::<Sha3>(), Ok(bytes));
        }
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(LogEntry::decode::<Sha3>(&noise).is_err());
    }
}
