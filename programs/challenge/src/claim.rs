//! From evidence to a claim: the one record that an honest batch must hold (decisions B10 and B11). The
//! rules themselves are zx1-protocol's; here they meet the batch's account, and their errors get numbers.

use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::{BatchAccount, MAX_RECORD_BYTES, RecordedEnvelope};
use zx1_protocol::challenge::{Ground, claim_seed, evidence_hash};
use zx1_protocol::derive::{DeriveError, Expected, double_bid, from_log_entry};
use zx1_protocol::envelope::EnvelopeError;
use zx1_protocol::evidence::{
    Evidence, EvidenceError, KIND_DOUBLE_BID, KIND_ENVELOPE, KIND_LOG_ENTRY, LogEvidence, ProvenBid,
};
use zx1_protocol::hash::{Hash, Keccak};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::MerkleError;
use zx1_runtime::{Syscall, ensure, same};

/// The record that a challenge demands, and what it rests on.
pub struct Claim {
    /// keccak256 of what was shown.
    pub entry_hash: Hash,
    /// What makes the challenge unique beside batch, challenger and ground.
    pub evidence_hash: Hash,
    /// The packed record, zero-padded; empty when nothing can answer.
    pub record: [u8; MAX_RECORD_BYTES],
    /// Length of the record in bytes.
    pub record_len: u8,
    /// Whether the evidence determines a bid's value.
    pub value_known: bool,
}

/// Packs what is expected as accounts keep it; returns the record's length.
pub fn pack(expected: &Expected, record: &mut [u8; MAX_RECORD_BYTES]) -> u8 {
    const { assert!(MAX_RECORD_BYTES <= u8::MAX as usize) };
    expected.record.pack(record).len() as u8
}

/// Filled in place, and what it is filled from is looked at where it was decoded (`as_ref`): every move of
/// such values through a result would be a copy, and code for it.
impl Claim {
    /// A claim of nothing.
    pub const EMPTY: Self = Self {
        entry_hash: [0; 32],
        evidence_hash: [0; 32],
        record: [0; MAX_RECORD_BYTES],
        record_len: 0,
        value_known: false,
    };

    /// Checks evidence bytes against a batch.
    pub fn fill_from_bytes(&mut self, batch: &BatchAccount, ground: Ground, bytes: &[u8]) -> Result<()> {
        match &Evidence::parse(bytes) {
            Ok(Evidence::LogEntry(evidence)) => self.fill_from_log_entry(batch, ground, evidence),
            Ok(Evidence::DoubleBid(a, b)) => self.fill_from_double_bid(batch, ground, a, b),
            Err(error) => Err(of_evidence(*error).into()),
        }
    }

    fn fill_from_log_entry(
        &mut self,
        batch: &BatchAccount,
        ground: Ground,
        evidence: &LogEvidence,
    ) -> Result<()> {
        evidence.verify::<Syscall>(&batch.log_merkle_root, batch.log_len).map_err(of_merkle)?;
        let entry = LogEntry::decode::<Syscall>(evidence.entry);
        let entry = entry.as_ref().map_err(|error| of_envelope(*error))?;
        let shown = evidence.shown_payload;
        let expected = from_log_entry::<Syscall>(entry, &batch.agent_id, ground, shown);
        let expected = expected.as_ref().map_err(|error| of_derive(*error))?;
        self.identify(&evidence.leaf::<Syscall>(), KIND_LOG_ENTRY, shown.is_some());
        self.record_len = pack(expected, &mut self.record);
        self.value_known = expected.value_known;
        Ok(())
    }

    fn fill_from_double_bid(
        &mut self,
        batch: &BatchAccount,
        ground: Ground,
        a: &ProvenBid,
        b: &ProvenBid,
    ) -> Result<()> {
        ensure!(ground == Ground::DoubleBid, Error::NoGround);
        a.verify::<Syscall>(&batch.arrays_root, batch.arrays_len).map_err(of_merkle)?;
        b.verify::<Syscall>(&batch.arrays_root, batch.arrays_len).map_err(of_merkle)?;
        double_bid(&a.bid, &b.bid).map_err(of_derive)?;
        // In one order, so that the same pair the other way round is the same challenge.
        let (first, second) = if a.record <= b.record { (a.record, b.record) } else { (b.record, a.record) };
        self.identify(&Syscall::hashv(&[first, second]), KIND_DOUBLE_BID, false);
        self.value_known = true;
        Ok(())
    }

    /// Notes what was shown, and what that makes of the challenge's identity.
    #[inline(never)]
    fn identify(&mut self, entry_hash: &Hash, kind: u8, payload_shown: bool) {
        self.entry_hash = *entry_hash;
        self.evidence_hash = evidence_hash::<Syscall>(kind, entry_hash, payload_shown);
    }

    /// Takes over a recorded envelope, whose signature was verified when it was recorded.
    pub fn fill_from_envelope(
        &mut self,
        batch: &BatchAccount,
        ground: Ground,
        envelope: &RecordedEnvelope,
    ) -> Result<()> {
        ensure!(same(&envelope.agent_id, &batch.agent_id), Error::NotAgentsEntry);
        ensure!(envelope.ground == ground as u8, Error::GroundMismatch);
        let covered = batch.covers_from_epoch..=batch.epoch_number;
        ensure!(covered.contains(&envelope.epoch), Error::EnvelopeOutsideEpochs);
        self.identify(&envelope.entry_hash, KIND_ENVELOPE, true);
        self.record = envelope.expected_record;
        self.record_len = envelope.expected_len;
        self.value_known = true;
        Ok(())
    }
}

/// The ground of this number.
pub fn ground(number: u8) -> Result<Ground> {
    Ok(Ground::from_u8(number).ok_or(Error::UnknownGround)?)
}

/// The seed that stands for evidence and ground in a challenge's address.
pub fn seed(evidence_hash: &Hash, ground: u8) -> Hash {
    claim_seed::<Syscall>(evidence_hash, ground)
}

/// The number of a proof's fault.
#[inline(never)]
pub fn of_merkle(error: MerkleError) -> Error {
    match error {
        MerkleError::EmptyTree => Error::EmptyTree,
        MerkleError::WrongProofLength { .. } => Error::WrongProofLength,
        MerkleError::IndexOutOfRange | MerkleError::PaddingIndex => Error::IndexOutOfRange,
        MerkleError::RootMismatch => Error::ProofMismatch,
    }
}

/// The number of an envelope's fault.
pub fn of_envelope(error: EnvelopeError) -> Error {
    match error {
        EnvelopeError::PayloadHash | EnvelopeError::PayloadLength => Error::PayloadHashMismatch,
        _ => Error::MalformedEntry,
    }
}

/// The number of a derivation's fault.
#[inline(never)]
pub fn of_derive(error: DeriveError) -> Error {
    match error {
        DeriveError::NotAgentsEntry => Error::NotAgentsEntry,
        DeriveError::NoGround => Error::NoGround,
        DeriveError::FeedbackBySelf => Error::FeedbackBySelf,
        DeriveError::FeedbackAboutAnother => Error::FeedbackAboutAnother,
        DeriveError::FeedbackUnparsable => Error::MalformedFeedback,
        DeriveError::PayloadHashMismatch => Error::PayloadHashMismatch,
        DeriveError::PayloadNotAllowed => Error::PayloadNotAllowed,
        DeriveError::PayloadTooLong => Error::PayloadTooLong,
        DeriveError::NotSameBid | DeriveError::SameValue => Error::NotDoubleBid,
    }
}

fn of_evidence(error: EvidenceError) -> Error {
    match error {
        EvidenceError::NotABid => Error::MalformedRecord,
        _ => Error::MalformedEvidence,
    }
}
