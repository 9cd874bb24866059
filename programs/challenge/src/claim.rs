//! From evidence to a claim: the one record that an honest batch must hold (decisions B10, B11 and P4). The
//! rules themselves are zx1-protocol's; here they meet the batch's account, and their errors get numbers.

use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::{BatchAccount, EvidenceDraft, KeyAccount, MAX_RECORD_BYTES};
use zx1_interface::external::Signed;
use zx1_protocol::challenge::{Ground, claim32};
use zx1_protocol::derive::{DeriveError, Expected, double_bid, from_envelope, from_log_entry};
use zx1_protocol::envelope::{EnvelopeError, parse_signing_bytes};
use zx1_protocol::evidence::{Evidence, EvidenceError, LogEvidence, ProvenBid};
use zx1_protocol::hash::{Hash, Keccak};
use zx1_protocol::keys::{Scopes, counts};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::{MerkleError, verify};
use zx1_protocol::units::Epoch;
use zx1_runtime::{Syscall, ensure, same};

/// What evidence claims, noted in its draft. Filled in place, and what it is filled from is looked at where it was
/// decoded (`as_ref`): every move of such values through a result would be a copy, and code for it.
pub trait Claimed {
    /// Checks evidence bytes against a batch.
    fn claim_by_bytes(&mut self, batch: &BatchAccount, ground: Ground, bytes: &[u8]) -> Result<()>;
    /// Checks an envelope, whose signature the precompile has verified, against a batch.
    fn claim_by_envelope(
        &mut self,
        batch: &BatchAccount,
        ground: Ground,
        signed: &Signed,
        key: &KeyAccount,
    ) -> Result<()>;
}

impl Claimed for EvidenceDraft {
    fn claim_by_bytes(&mut self, batch: &BatchAccount, ground: Ground, bytes: &[u8]) -> Result<()> {
        match &Evidence::parse(bytes) {
            Ok(Evidence::LogEntry(evidence)) => claim_by_log_entry(self, batch, ground, evidence),
            Ok(Evidence::DoubleBid(a, b)) => claim_by_double_bid(self, batch, ground, a, b),
            Err(error) => Err(of_evidence(*error).into()),
        }
    }

    #[inline(never)]
    fn claim_by_envelope(
        &mut self,
        batch: &BatchAccount,
        ground: Ground,
        signed: &Signed,
        key: &KeyAccount,
    ) -> Result<()> {
        let fields = parse_signing_bytes(signed.message);
        let fields = fields.as_ref().map_err(|error| of_envelope(*error))?;
        fields.check_payload::<Syscall>().map_err(of_envelope)?;
        let expected = from_envelope::<Syscall>(fields, &batch.agent_id, ground);
        let expected = expected.as_ref().map_err(|error| of_derive(*error))?;
        let epoch = fields.header.epoch();
        let covered = batch.covers_from_epoch..=batch.epoch_number;
        ensure!(covered.contains(&epoch.0), Error::EnvelopeOutsideEpochs);
        // Evidence is what a deal key signed in an epoch in which it was valid, whatever was ended since.
        let counts = same(&key.agent, &batch.agent_id)
            && same(&key.key, &signed.signer)
            && Scopes(key.scopes).has(Scopes::DEAL)
            && counts(Epoch(key.from_epoch), key.until_epoch, epoch);
        ensure!(counts, Error::WrongEnvelopeSigner);
        self.entry_hash = Syscall::hashv(&[signed.message]);
        demand(self, ground, expected);
        Ok(())
    }
}

fn claim_by_log_entry(
    draft: &mut EvidenceDraft,
    batch: &BatchAccount,
    ground: Ground,
    evidence: &LogEvidence,
) -> Result<()> {
    // Hashed once: `LogEvidence::verify` would hash it again.
    let leaf = evidence.leaf::<Syscall>();
    let (root, len) = (&batch.log_merkle_root, batch.log_len);
    verify::<Syscall>(root, len, evidence.leaf_index, &leaf, evidence.proof).map_err(of_merkle)?;
    let entry = LogEntry::decode::<Syscall>(evidence.entry);
    let entry = entry.as_ref().map_err(|error| of_envelope(*error))?;
    let expected = from_log_entry::<Syscall>(entry, &batch.agent_id, ground, evidence.shown_payload);
    let expected = expected.as_ref().map_err(|error| of_derive(*error))?;
    draft.entry_hash = leaf;
    demand(draft, ground, expected);
    Ok(())
}

fn claim_by_double_bid(
    draft: &mut EvidenceDraft,
    batch: &BatchAccount,
    ground: Ground,
    a: &ProvenBid,
    b: &ProvenBid,
) -> Result<()> {
    ensure!(ground == Ground::DoubleBid, Error::NoGround);
    a.verify::<Syscall>(&batch.arrays_root, batch.arrays_len).map_err(of_merkle)?;
    b.verify::<Syscall>(&batch.arrays_root, batch.arrays_len).map_err(of_merkle)?;
    double_bid(&a.bid, &b.bid).map_err(of_derive)?;
    // In one order, so that the same pair the other way round has the same hash.
    let (first, second) = if a.record <= b.record { (a.record, b.record) } else { (b.record, a.record) };
    draft.entry_hash = Syscall::hashv(&[first, second]);
    name(draft, ground, true, &a.bid.message);
    Ok(())
}

/// Demands this record.
fn demand(draft: &mut EvidenceDraft, ground: Ground, expected: &Expected) {
    const { assert!(MAX_RECORD_BYTES <= u8::MAX as usize) };
    draft.expected_len = expected.record.pack(&mut draft.expected_record).len() as u8;
    name(draft, ground, expected.value_known, expected.record.message());
}

/// Names the claim.
#[inline(never)]
fn name(draft: &mut EvidenceDraft, ground: Ground, value_known: bool, message: &Hash) {
    draft.ground = ground as u8;
    draft.value_known = u8::from(value_known);
    draft.claim = claim32::<Syscall>(ground, value_known, message);
}

/// The ground of this number.
pub fn ground(number: u8) -> Result<Ground> {
    Ok(Ground::from_u8(number).ok_or(Error::UnknownGround)?)
}

/// The claim with the value beside one without it: None when `record` is not one of a bid without a value. The
/// message's hash ends every record (decision P3).
pub fn stronger(number: u8, value_known: bool, record: &[u8]) -> Option<Hash> {
    if number != Ground::Bid as u8 || value_known {
        return None;
    }
    record.last_chunk().map(|message| claim32::<Syscall>(Ground::Bid, true, message))
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
fn of_envelope(error: EnvelopeError) -> Error {
    match error {
        EnvelopeError::PayloadHash | EnvelopeError::PayloadLength => Error::PayloadHashMismatch,
        _ => Error::MalformedEntry,
    }
}

/// The number of a derivation's fault.
#[inline(never)]
fn of_derive(error: DeriveError) -> Error {
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
