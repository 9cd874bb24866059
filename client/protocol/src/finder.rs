//! Both sides of a challenge (decisions B10, B11 and P4): what a piece of evidence allows against a batch, and what
//! answers a challenge against one's own.
//!
//! The rules are those of [`crate::derive`], which the programs apply as well; nothing is decided anew here.

use crate::batch::Covered;
use crate::bundle::Checked;
use crate::challenge::{Ground, claim32};
use crate::derive::{self, DeriveError, Expected};
use crate::envelope::{Envelope, EnvelopeError};
use crate::error::numbered;
use crate::evidence::{Evidence, LogEvidence, ProvenBid};
use crate::hash::{Hash, Sha3};
use crate::ids::{AgentId, WalletKey};
use crate::keys::{AgentKey, Scopes};
use crate::log_entry::LogEntry;
use crate::merkle::{Proof, ZERO, leaf};
use crate::record::{BID_LEN, Bid, KIND_BID, KIND_FEEDBACK, KIND_SELECTION, KIND_VERIFIER, Record};
use crate::units::Epoch;

/// The grounds that one message can give.
const GROUNDS: [Ground; 4] = [Ground::Bid, Ground::Selection, Ground::Verifier, Ground::Feedback];

/// Why a piece of evidence is of no use against this batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinderError {
    /// The log has no such leaf.
    NotInLog,
    /// The bytes are not a log entry, or the envelope's payload is not the one that it speaks of.
    Entry(EnvelopeError),
    /// It obliges the agent to nothing.
    NoClaim(DeriveError),
    /// The envelope's signature holds under none of the deal keys that were valid in its epoch.
    Signature,
    /// The envelope is of an epoch that the batch does not cover.
    NotCovered {
        /// The epoch of its timestamp.
        epoch: Epoch,
    },
}

numbered!(FinderError {
    7380 Self::NotInLog =>
        "The batch's log does not hold this entry; if you hold the whole envelope, show that instead.";
    7381 Self::Entry(error) => "The evidence does not decode. {error}";
    7382 Self::NoClaim(error) => "The evidence obliges the agent to nothing. {error}";
    7383 Self::Signature =>
        "The envelope was signed by none of the agent's deal keys that were valid in its epoch.";
    7384 Self::NotCovered { epoch } =>
        "The envelope is of epoch {}, which the batch does not cover; look at the batch that does.", epoch.0;
});

/// Whether the batch holds the record that it must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It does: a challenge would be answered, and the challenger's stake lost.
    Present {
        /// Number of the record, without the tree's padding.
        entry: u32,
        /// The record, free fields included.
        record: Record,
    },
    /// It does not: a challenge cannot be answered.
    Absent,
}

/// One ground that a piece of evidence gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Ground on which the batch can be challenged.
    pub ground: Ground,
    /// The record that an honest batch must hold.
    pub expected: Expected,
    /// What is claimed, and the seed of the challenge's address ([`claim32`]).
    pub claim: Hash,
    /// Whether the payload has to be shown for it.
    pub payload_shown: bool,
    /// Whether the batch holds it.
    pub presence: Presence,
}

/// Claims that a log entry gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFinding {
    /// Number of the entry in the log, without the tree's padding.
    pub entry: u32,
    /// Its proof under log_merkle_root.
    pub proof: Proof,
    /// At least one.
    pub claims: Vec<Claim>,
}

impl LogFinding {
    /// The bytes for a draft that is sealed on this claim's ground. `entry` and `payload` are what the finding
    /// was made from. `None` when they are too long for evidence.
    pub fn evidence(&self, claim: &Claim, entry: &[u8], payload: Option<&[u8]>) -> Option<Vec<u8>> {
        let evidence = LogEvidence {
            leaf_index: self.proof.index,
            proof: &self.proof.path,
            entry,
            shown_payload: payload.filter(|_| claim.payload_shown),
        };
        Evidence::LogEntry(evidence).to_bytes()
    }
}

/// What an envelope allows. The chain sees its signature in the transaction of `seal_evidence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeFinding {
    /// The key that signed it.
    pub signer: WalletKey,
    /// Whether the log holds its entry; if not, a deal was left out.
    pub in_log: Option<u32>,
    /// At least one.
    pub claims: Vec<Claim>,
}

/// What an entry of the batch's log allows against the batch of `agent`. The payload, where it is known,
/// makes a stronger claim: it disputes a bid's value too.
pub fn find_log_entry(
    checked: &Checked<'_>,
    agent: &AgentId,
    entry: &[u8],
    payload: Option<&[u8]>,
) -> Result<LogFinding, FinderError> {
    let decoded = LogEntry::decode::<Sha3>(entry).map_err(FinderError::Entry)?;
    let place = checked.find_leaf(&leaf::<Sha3>(entry)).ok_or(FinderError::NotInLog)?;
    let proof = checked.leaf_proof(place).ok_or(FinderError::NotInLog)?;
    let claims = claims(checked, |ground| {
        let shown = payload.filter(|_| ground == Ground::Bid);
        let expected = derive::from_log_entry::<Sha3>(&decoded, agent.as_bytes(), ground, shown)?;
        Ok((expected, shown.is_some()))
    })?;
    Ok(LogFinding { entry: place, proof, claims })
}

/// What an envelope in a counterparty's hands allows against the batch of `agent` that covers these epochs.
/// `keys` are the agent's key accounts, also those that have ended; being a batch's signer makes no envelope
/// count (decision P1).
pub fn find_envelope(
    checked: &Checked<'_>,
    covered: Covered,
    agent: &AgentId,
    envelope: &Envelope<'_>,
    keys: &[AgentKey],
) -> Result<EnvelopeFinding, FinderError> {
    envelope.check_payload::<Sha3>().map_err(FinderError::Entry)?;
    let fields = envelope.signed_fields();
    let claims = claims(checked, |ground| {
        Ok((derive::from_envelope::<Sha3>(&fields, agent.as_bytes(), ground)?, false))
    })?;
    let epoch = envelope.header.epoch();
    if !covered.contains(epoch) {
        return Err(FinderError::NotCovered { epoch });
    }
    let signed = envelope.signing_bytes();
    let valid = keys.iter().filter(|it| it.scopes.has(Scopes::DEAL) && it.counts_in(epoch));
    let signer = valid.map(|it| &it.key).find(|key| key.verify(&signed, envelope.signature));
    let signer = signer.ok_or(FinderError::Signature)?.to_bytes().into();
    let entry = LogEntry::of(envelope).to_cbor::<Sha3>().map_err(FinderError::Entry)?;
    Ok(EnvelopeFinding { signer, in_log: checked.find_leaf(&leaf::<Sha3>(&entry)), claims })
}

/// A record with its proof under arrays_root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenRecord {
    /// Number of the record, without the tree's padding.
    pub entry: u32,
    /// The bid, unpacked.
    pub bid: Bid,
    /// The packed record.
    pub packed: [u8; BID_LEN],
    /// Proof under the arrays root.
    pub proof: Proof,
}

/// Two bids that contradict each other (decision B11 c). No answer exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubleBid {
    /// The one with the smaller value.
    pub a: ProvenRecord,
    /// The bid that contradicts it.
    pub b: ProvenRecord,
}

impl DoubleBid {
    /// What is claimed ([`claim32`]).
    pub fn claim(&self) -> Hash {
        claim32::<Sha3>(Ground::DoubleBid, true, &self.a.bid.message)
    }

    /// The bytes for a draft; `None` never happens, since proofs have at most 20 hashes.
    pub fn evidence(&self) -> Option<Vec<u8>> {
        let [a, b] =
            [&self.a, &self.b].map(|it| ProvenBid::new(&it.packed, it.proof.index, &it.proof.path).ok());
        Evidence::DoubleBid(a?, b?).to_bytes()
    }
}

/// The bids that contradict another one: of each set of bids of one message, every value with the next larger
/// one. So every bid that is contradicted appears, and the result grows with the batch, not with its
/// square. Lazy, since the first one is enough for a challenge.
pub fn double_bids(checked: &Checked<'_>) -> impl Iterator<Item = DoubleBid> {
    let (first, packed) = checked.packed_of_kind(KIND_BID);
    let mut bids: Vec<(u32, Bid)> = (first..)
        .zip(packed)
        .filter_map(|(entry, packed)| Some((entry, Bid::parse(packed.try_into().ok()?)?)))
        .collect();
    bids.sort_unstable_by_key(|(entry, bid)| (bid.message, bid.value, *entry));
    let pairs = std::iter::successors(Some(1usize), |at| at.checked_add(1));
    let pairs = pairs.map_while(move |at| {
        let (a, b) = (bids.get(at.checked_sub(1)?)?, bids.get(at)?);
        Some(derive::double_bid(&a.1, &b.1).is_ok().then_some((*a, *b)))
    });
    pairs.flatten().filter_map(|(a, b)| Some(DoubleBid { a: prove(checked, a)?, b: prove(checked, b)? }))
}

fn prove(checked: &Checked<'_>, (entry, bid): (u32, Bid)) -> Option<ProvenRecord> {
    let packed = Record::Bid(bid).to_bytes().try_into().ok()?;
    Some(ProvenRecord { entry, bid, packed, proof: checked.record_proof(entry)? })
}

/// The arguments of `answer_challenge`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Number of the record, without the tree's padding.
    pub entry: u32,
    /// Record that answers the challenge.
    pub record: Record,
    /// Its proof; the index counts in the padded tree, as the instruction takes it.
    pub proof: Proof,
    /// The bid's value; 0 for other records, for which the program ignores it.
    pub value: i128,
    /// The attestation hash; zeros for other records than feedback, for which the program ignores it.
    pub attestation: Hash,
}

/// The answer that this bundle gives to a challenge against its batch; `None` when it has none, which is
/// when the challenge is right. `expected_record` are the first `expected_len` bytes of the challenge
/// account's field of that name, `value_known` is its field too.
pub fn answer(checked: &Checked<'_>, expected_record: &[u8], value_known: bool) -> Option<Answer> {
    let record = Record::parse(expected_record).ok()?;
    let (entry, record) = find(checked, &Expected { record, value_known })?;
    let proof = checked.record_proof(entry)?;
    let (value, attestation) = free_fields(&record);
    Some(Answer { entry, record, proof, value, attestation })
}

/// What the evidence gives on each ground; an error says why it gives nothing on any.
fn claims(
    checked: &Checked<'_>,
    derive: impl Fn(Ground) -> Result<(Expected, bool), DeriveError>,
) -> Result<Vec<Claim>, FinderError> {
    let mut claims = Vec::new();
    let mut why_not = DeriveError::NoGround;
    for ground in GROUNDS {
        match derive(ground) {
            Ok((expected, payload_shown)) => {
                let found = find(checked, &expected);
                let presence =
                    found.map_or(Presence::Absent, |(entry, record)| Presence::Present { entry, record });
                let claim = claim32::<Sha3>(ground, expected.value_known, expected.record.message());
                claims.push(Claim { ground, expected, claim, payload_shown, presence });
            }
            Err(DeriveError::NoGround) => {}
            // The ground that fits the message's type says more than the others.
            Err(error) => why_not = error,
        }
    }
    if claims.is_empty() { Err(FinderError::NoClaim(why_not)) } else { Ok(claims) }
}

/// The first record that is the expected one, whatever stands in the fields that are free.
fn find(checked: &Checked<'_>, expected: &Expected) -> Option<(u32, Record)> {
    let kind = match expected.record {
        Record::Bid(_) => KIND_BID,
        Record::Selection(_) => KIND_SELECTION,
        Record::Verifier(_) => KIND_VERIFIER,
        Record::Feedback(_) => KIND_FEEDBACK,
    };
    let (first, packed) = checked.packed_of_kind(kind);
    let records =
        (first..).zip(packed).filter_map(|(entry, packed)| Some((entry, Record::parse(packed).ok()?)));
    let mut matching = records.filter(|(_, record)| {
        let (value, attestation) = free_fields(record);
        expected.with_free_fields(value, &attestation) == *record
    });
    matching.next()
}

/// What an answerer supplies, as a record has it.
fn free_fields(record: &Record) -> (i128, Hash) {
    match record {
        Record::Bid(bid) => (bid.value, ZERO),
        Record::Feedback(event) => (0, event.attestation),
        Record::Selection(_) | Record::Verifier(_) => (0, ZERO),
    }
}
