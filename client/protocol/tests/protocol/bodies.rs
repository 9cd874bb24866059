//! What each fuzz target of this crate does with its bytes: one function per decoder. `tests/fuzz` runs them too.
//!
//! A decoder must not panic, and what it accepts must be the one encoding of what it returns.

use zx1_protocol::batch::BatchMessage;
use zx1_protocol::beacon::Beacon;
use zx1_protocol::behavior_batch::BehaviorBatch;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::context::Context as Shown;
use zx1_protocol::envelope::{Envelope, parse_signing_bytes};
use zx1_protocol::evidence::{Evidence, KIND_DOUBLE_BID, KIND_LOG_ENTRY};
use zx1_protocol::feedback_log::{check_text, packed_entry_parts, packed_numbers};
use zx1_protocol::finder;
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::mesh_payload::{Advertise, Discover, Dispute, Offer, Verdict};
use zx1_protocol::nonce::{LastNonce, SeenNonces};
use zx1_protocol::payload::{
    BidPayload, Feedback, NotarizeBid, bid_value, split_accept_presignature, split_presignature,
};
use zx1_protocol::record::Record;
use zx1_protocol::validate::{Candidate, Context, Sender};

/// A target's body.
pub(crate) type Body = fn(&[u8]);

/// All targets by name.
pub(crate) const ALL: [(&str, Body); 21] = [
    ("envelope", envelope),
    ("signing_bytes", signing_bytes),
    ("validate", validate),
    ("log_entry", log_entry),
    ("behavior_batch", behavior_batch),
    ("batch_message", batch_message),
    ("bundle", bundle),
    ("record", record),
    ("evidence_log_entry", evidence_log_entry),
    ("evidence_double_bid", evidence_double_bid),
    ("payload_feedback", payload_feedback),
    ("payload_notarize_bid", payload_notarize_bid),
    ("payload_bid", payload_bid),
    ("payload_beacon", payload_beacon),
    ("payload_advertise", payload_advertise),
    ("payload_discover", payload_discover),
    ("payload_offer", payload_offer),
    ("payload_verdict", payload_verdict),
    ("payload_dispute", payload_dispute),
    ("payload_context", payload_context),
    ("feedback_log", feedback_log),
];

/// The CBOR of a message.
pub(crate) fn envelope(bytes: &[u8]) {
    if let Ok(envelope) = Envelope::decode(bytes) {
        assert_eq!(envelope.to_cbor(), bytes);
        let _ = envelope.check_payload::<Sha3>();
    }
}

/// What a message's signature covers.
pub(crate) fn signing_bytes(bytes: &[u8]) {
    if let Ok(fields) = parse_signing_bytes(bytes) {
        let packed = [fields.header.signing_header().as_slice(), fields.payload].concat();
        assert_eq!(packed, bytes);
    }
}

/// The whole way of a message in, short of a signature that holds.
pub(crate) fn validate(bytes: &[u8]) {
    if let Ok(candidate) = Candidate::parse(bytes) {
        let sender = Sender::Registered { keys: &[], seen: SeenNonces::Strict(LastNonce(None)) };
        assert!(candidate.validate(&Context::new(0, None, sender)).is_err());
    }
}

/// A leaf of a log.
pub(crate) fn log_entry(bytes: &[u8]) {
    if let Ok(entry) = LogEntry::decode::<Sha3>(bytes) {
        assert_eq!(entry.to_cbor::<Sha3>().as_deref(), Ok(bytes));
        assert!(bytes.len() > 64);
    }
}

/// A batch's CBOR.
pub(crate) fn behavior_batch(bytes: &[u8]) {
    if let Ok(batch) = BehaviorBatch::decode(bytes) {
        assert_eq!(batch.to_cbor(), bytes);
        assert_eq!(batch.check(), Ok(()));
    }
}

/// What a batch key signs.
pub(crate) fn batch_message(bytes: &[u8]) {
    if let Some(message) = BatchMessage::parse(bytes) {
        assert_eq!(message.to_bytes(), bytes);
    }
}

/// A bundle, its check, and what the finder does with a checked one.
pub(crate) fn bundle(bytes: &[u8]) {
    let Ok(bundle) = Bundle::decode(bytes) else { return };
    assert_eq!(bundle.to_vec(), bytes);
    assert_eq!(bundle.parts().slices().concat(), bytes);
    assert_eq!(bundle.packed_records().count(), bundle.arrays_len() as usize);
    if let Ok(checked) = bundle.check() {
        for entry in 0..checked.arrays_len().min(4) {
            let record = checked.record_bytes(entry).unwrap_or_default();
            assert!(finder::answer(&checked, record, true).is_some());
        }
        for pair in finder::double_bids(&checked).take(4) {
            assert!(pair.evidence().is_some());
        }
    }
}

/// A packed record.
pub(crate) fn record(bytes: &[u8]) {
    if let Ok(record) = Record::parse(bytes) {
        assert_eq!(record.to_bytes(), bytes);
    }
}

/// Evidence, of whatever kind its first byte says.
fn evidence(bytes: &[u8]) {
    if let Ok(evidence) = Evidence::parse(bytes) {
        assert_eq!(evidence.to_bytes().as_deref(), Some(bytes));
    }
}

/// Evidence of kind 1; the kind byte stands before the input.
pub(crate) fn evidence_log_entry(bytes: &[u8]) {
    evidence(&[&[KIND_LOG_ENTRY], bytes].concat());
}

/// Evidence of kind 2; the kind byte stands before the input.
pub(crate) fn evidence_double_bid(bytes: &[u8]) {
    evidence(&[&[KIND_DOUBLE_BID], bytes].concat());
}

/// A FEEDBACK payload.
pub(crate) fn payload_feedback(bytes: &[u8]) {
    if let Ok(feedback) = Feedback::decode(bytes) {
        assert_eq!(feedback.to_cbor().as_deref(), Ok(bytes));
    }
}

/// A NOTARIZE_BID payload.
pub(crate) fn payload_notarize_bid(bytes: &[u8]) {
    if let Ok(bid) = NotarizeBid::decode(bytes) {
        assert_eq!(bid.to_bytes(), bytes);
    }
}

/// A PROPOSE, COUNTER or ACCEPT payload: it always means something.
pub(crate) fn payload_bid(bytes: &[u8]) {
    assert_eq!(BidPayload::parse(bytes).value, bid_value(bytes));
    if let Some((rest, signature)) = split_presignature(bytes) {
        assert_eq!([rest, signature].concat(), bytes);
    }
    assert_eq!(split_accept_presignature(bytes).is_some(), bytes.len() >= 80);
}

/// A BEACON payload.
pub(crate) fn payload_beacon(bytes: &[u8]) {
    if let Ok(beacon) = Beacon::parse(bytes) {
        assert_eq!(beacon.to_bytes(), bytes);
    }
}

/// An ADVERTISE payload.
pub(crate) fn payload_advertise(bytes: &[u8]) {
    if let Ok(payload) = Advertise::decode(bytes) {
        assert_eq!(payload.to_payload().as_deref(), Ok(bytes));
    }
}

/// A DISCOVER payload.
pub(crate) fn payload_discover(bytes: &[u8]) {
    if let Ok(payload) = Discover::decode(bytes) {
        assert_eq!(payload.to_payload().as_deref(), Ok(bytes));
    }
}

/// The terms of a notary's offer.
pub(crate) fn payload_offer(bytes: &[u8]) {
    if let Ok(payload) = Offer::decode(bytes) {
        assert_eq!(payload.to_payload().as_deref(), Ok(bytes));
    }
}

/// A VERDICT payload.
pub(crate) fn payload_verdict(bytes: &[u8]) {
    if let Ok(payload) = Verdict::decode(bytes) {
        assert_eq!(payload.to_payload().as_deref(), Ok(bytes));
    }
}

/// A DISPUTE payload.
pub(crate) fn payload_dispute(bytes: &[u8]) {
    if let Ok(payload) = Dispute::decode(bytes) {
        assert_eq!(payload.to_payload().as_deref(), Ok(bytes));
    }
}

/// Envelopes that are shown; whether they are envelopes is another target's business.
pub(crate) fn payload_context(bytes: &[u8]) {
    if let Ok(payload) = Shown::decode(bytes) {
        assert_eq!(payload.to_payload().as_deref(), Ok(bytes));
    }
}

/// The text of a feedback entry.
pub(crate) fn feedback_log(bytes: &[u8]) {
    let accepted = check_text(bytes).is_ok();
    let text = std::str::from_utf8(bytes);
    assert_eq!(accepted, text.is_ok_and(|text| !text.is_empty() && text.len() <= 2_048));
    let numbers = packed_numbers(1, -1, 2);
    let parts = packed_entry_parts(&numbers, &[1; 32], &[2; 32], &[3; 32], bytes);
    assert_eq!(parts.concat().len(), 24 + 96 + bytes.len());
}
