use zx1_protocol::{batch, derive, envelope, evidence, feedback_log, lease, merkle, payload, record, unlock};

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
        evidence::EvidenceError::Truncated.to_string(),
        feedback_log::TextError::TooLong.to_string(),
    ];
    for sentence in &sentences {
        let whole = sentence.ends_with('.') && sentence.starts_with(char::is_uppercase);
        assert!(whole && !sentence.contains(['{', '}']), "{sentence}");
    }
    assert!(sentences[1].contains("432001") && sentences[3].contains("20"));
}
