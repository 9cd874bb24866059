use std::collections::BTreeMap;
use zx1_protocol::behavior_batch::{BatchFormatError, BuildError};
use zx1_protocol::units::Epoch;
use zx1_protocol::{
    amounts, batch, beacon, bundle, context, derive, draft, envelope, evidence, feedback_log, finder, keys,
    lease, merkle, mesh_payload, nonce, payload, record, reputation, signature, unlock, validate,
};

/// Every numbered refusal once, with its sentence.
macro_rules! numbered {
    ($($error:expr),+ $(,)?) => { vec![$(($error.code(), $error.to_string())),+] };
}

#[test]
fn every_number_is_used_once_and_says_a_whole_sentence() {
    use BatchFormatError as Format;
    use BuildError as Build;
    use beacon::BeaconError as Beacon;
    use bundle::BundleError as Bundle;
    use draft::DraftError as Draft;
    use finder::FinderError as Finder;
    use validate::Reason;
    let payload = payload::PayloadError::Score;
    let entry = envelope::EnvelopeError::Malformed;
    let all = numbered![
        Reason::TooLarge,
        Reason::Malformed,
        Reason::NotCanonical,
        Reason::WrongChannel,
        Reason::Version,
        Reason::MsgType,
        Reason::UnknownSender,
        Reason::Signature,
        Reason::Nonce(nonce::NonceError::NotIncreasing { last: 1 }),
        Reason::Timestamp { off_by: 1 },
        Reason::PayloadHash,
        Reason::PayloadLength,
        Reason::Payload(payload),
        Reason::TooLongForEvidence,
        Reason::TooLongForLog,
        Reason::Scope,
        Reason::KeyEpoch { epoch: Epoch(1) },
        Reason::BlockRef { off_by: 151 },
        Draft::TooLarge,
        Draft::TooLongForEvidence,
        Draft::TooLongForLog,
        Draft::Payload(payload),
        Draft::Beacon(Beacon::TooShort),
        reputation::ReputationError::Rating(payload),
        reputation::ReputationError::NotIncreasing { last: Epoch(1) },
        Format::TooLarge,
        Format::Malformed,
        Format::Version { version: 1 },
        Format::NotCanonical,
        Format::TooManyEntries,
        Format::RatingOutOfRange,
        Format::NotChronological,
        Format::SlotsReversed,
        Format::Counters,
        Format::TreeTooLong,
        Format::Overflow,
        Format::EmptyRoot,
        Build::SlotsReversed,
        Build::EpochsReversed,
        Build::Entry(entry),
        Build::SentByAnother,
        Build::ReceivedFromSelf,
        Build::EpochNotCovered { epoch: Epoch(1) },
        Build::PayloadMissing,
        Build::PayloadMismatch,
        Build::AttestationNotUsed,
        Build::LogTooLong,
        Build::ArraysTooLong,
        Build::Records(Bundle::KindOrder),
        Build::OutOfMemory,
        Bundle::TooLarge,
        Bundle::Malformed,
        Bundle::NotCanonical,
        Bundle::Version { version: 1 },
        Bundle::MalformedSigned,
        Bundle::SignedOther,
        Bundle::Signature,
        Bundle::Batch(Format::Counters),
        Bundle::Record(record::RecordError::UnknownKind),
        Bundle::KindOrder,
        Bundle::NotChronological,
        Bundle::TooManyRecords,
        Bundle::TooManyLeaves,
        Bundle::CutLeaf,
        Bundle::LogLength,
        Bundle::LogRoot,
        Bundle::ArraysLength,
        Bundle::ArraysRoot,
        Bundle::Arrays,
        Bundle::OverflowHash,
        Finder::NotInLog,
        Finder::Entry(entry),
        Finder::NoClaim(derive::DeriveError::NoGround),
        Finder::Signature,
        Finder::NotCovered { epoch: Epoch(1) },
        nonce::NonceError::Exhausted,
        nonce::NonceError::NotIncreasing { last: 1 },
        nonce::NonceError::Replayed { highest: 1 },
        Beacon::TooShort,
        Beacon::NameNotUtf8,
        Beacon::OtherAgent,
        Beacon::OtherKey,
        Beacon::KeyNotOnChain,
        signature::KeyError::NotAPoint,
        signature::KeyError::SmallOrder,
    ];
    let mut seen = BTreeMap::new();
    for (code, sentence) in all {
        assert!((7300..7400).contains(&code), "{code}");
        assert_whole(&sentence);
        assert_eq!(seen.insert(code, sentence), None, "{code} is used twice");
    }
}

fn assert_whole(sentence: &str) {
    let whole = sentence.ends_with('.') && sentence.starts_with(char::is_uppercase);
    assert!(whole && !sentence.contains(['{', '}']), "{sentence}");
    assert!(!sentence.contains("  "), "{sentence}");
}

#[test]
fn every_error_says_a_sentence() {
    let slot = zx1_protocol::units::Slot(432_001);
    let sentences = [
        lease::LeaseError::TooFarAhead.to_string(),
        unlock::UnlockError::DelayNotOver { available: slot }.to_string(),
        unlock::UnlockError::BatchInWindow { until: slot }.to_string(),
        merkle::MerkleError::WrongProofLength { expected: 20 }.to_string(),
        merkle::TreeError::WrongCount.to_string(),
        envelope::EnvelopeError::NotCanonical.to_string(),
        payload::PayloadError::Score.to_string(),
        record::RecordError::WrongLength.to_string(),
        derive::DeriveError::PayloadTooLong.to_string(),
        batch::BatchError::TooOld.to_string(),
        amounts::AmountsError::PartsExceedWhole.to_string(),
        mesh_payload::MeshPayloadError::TextLength.to_string(),
        context::ContextError::TooLong.to_string(),
        keys::ScopesError.to_string(),
        evidence::EvidenceError::Truncated.to_string(),
        feedback_log::TextError::TooLong.to_string(),
    ];
    for sentence in &sentences {
        assert_whole(sentence);
    }
    assert!(sentences[1].contains("432001") && sentences[3].contains("20"));
}
