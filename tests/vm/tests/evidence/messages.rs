//! Messages, records, proofs and hashes.
//!
//! Evidence bytes, hashes and packed records are written out here a second time, so that a mistake in the
//! library that the programs share with the clients does not hide itself.

use zx1_interface::accounts::FeedbackEntry;
use zx1_protocol::envelope::{EnvelopeHeader, MsgType};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::Proof;
use zx1_protocol::payload::Feedback;
use zx1_protocol::units::Slot;
use zx1_vm_tests::Batch;

/// The grounds' numbers.
pub(crate) const BID: u8 = 1;
/// Ground 2, task selection.
pub(crate) const SELECTION: u8 = 2;
/// Ground 3, notary assignment.
pub(crate) const VERIFIER: u8 = 3;
/// Ground 4, a rating.
pub(crate) const FEEDBACK: u8 = 4;
/// Ground 5, double bid.
pub(crate) const DOUBLE_BID: u8 = 5;

/// Whom the agent trades with.
pub(crate) const COUNTERPARTY: [u8; 32] = [0xcc; 32];
/// Conversation id of every message.
pub(crate) const CONVERSATION: [u8; 16] = [0xc0; 16];
/// The slot of every message.
pub(crate) const SLOT: u64 = 399_990_000;

/// Keccak-256 of all parts.
pub(crate) fn keccak(parts: &[&[u8]]) -> Hash {
    Sha3::hashv(parts)
}

/// One message, signed or logged as need be.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) version: u8,
    pub(crate) kind: MsgType,
    pub(crate) sender: [u8; 32],
    pub(crate) recipient: [u8; 32],
    pub(crate) timestamp: u64,
    pub(crate) slot: u64,
    pub(crate) nonce: u64,
    pub(crate) conversation: [u8; 16],
    pub(crate) payload: Vec<u8>,
}

impl Message {
    /// The packed bytes that a sender signs, written by hand.
    pub(crate) fn signing_bytes(&self) -> Vec<u8> {
        [
            &[self.version][..],
            &self.kind.wire().to_be_bytes(),
            &self.sender,
            &self.recipient,
            &self.timestamp.to_be_bytes(),
            &self.slot.to_be_bytes(),
            &self.nonce.to_be_bytes(),
            &self.conversation,
            &keccak(&[&self.payload]),
            &u32::try_from(self.payload.len()).unwrap().to_be_bytes(),
            &self.payload,
        ]
        .concat()
    }

    /// The log's entry of it.
    pub(crate) fn entry(&self) -> Vec<u8> {
        let payload_hash = keccak(&[&self.payload]);
        let header = EnvelopeHeader {
            version: self.version,
            msg_type: self.kind,
            sender: &self.sender,
            recipient: &self.recipient,
            timestamp: self.timestamp,
            block_ref: Slot(self.slot),
            nonce: self.nonce,
            conversation_id: &self.conversation,
            payload_hash: &payload_hash,
            payload_len: u32::try_from(self.payload.len()).unwrap(),
        };
        let payload = if self.kind.payload_is_logged() { &self.payload[..] } else { &[] };
        LogEntry { header, signature: &[0x51; 64], payload }.to_cbor::<Sha3>().unwrap()
    }

    /// The bid's record with this value.
    pub(crate) fn bid(&self, value: i128) -> Vec<u8> {
        packed(1, &self.conversation, &self.recipient, &value.to_be_bytes(), self.slot)
    }

    /// The selection's record.
    pub(crate) fn selection(&self) -> Vec<u8> {
        packed(2, &self.conversation, &self.recipient, &[], self.slot)
    }

    /// The verifier's record.
    pub(crate) fn verifier(&self) -> Vec<u8> {
        packed(3, &self.conversation, &self.recipient, &[], self.slot)
    }

    /// The feedback event's record of a FEEDBACK message with [`rating`]'s payload.
    pub(crate) fn feedback(&self, attestation: &Hash) -> Vec<u8> {
        let rating = Feedback::decode(&self.payload).unwrap();
        let score = rating.score.to_be_bytes();
        let fixed = [&score[..], &[rating.outcome, rating.role]].concat();
        [packed(4, &rating.conversation_id.0, &self.sender, &fixed, self.slot), attestation.to_vec()].concat()
    }
}

fn packed(kind: u8, conversation: &[u8; 16], other: &[u8; 32], middle: &[u8], slot: u64) -> Vec<u8> {
    [&[kind][..], conversation, other, middle, &slot.to_be_bytes()].concat()
}

/// A payload that begins with this bid value, followed by some content.
pub(crate) fn bid_payload(value: i128) -> Vec<u8> {
    [&value.to_le_bytes()[..], b"json{}"].concat()
}

/// A FEEDBACK payload about an agent.
pub(crate) fn rating(target: [u8; 32]) -> Vec<u8> {
    let rating = Feedback {
        conversation_id: ConversationId([0xfe; 16]),
        target_agent: AgentId(target),
        score: -73,
        outcome: 2,
        is_dispute: true,
        role: 1,
    };
    rating.to_cbor().unwrap()
}

/// What makes a challenge unique, written by hand (decision B10).
pub(crate) fn evidence_hash(kind: u8, subject: &Hash, shown: bool) -> Hash {
    keccak(&[b"zx1/evidence/v1", &[kind], subject, &[u8::from(shown)]])
}

/// A log entry with its place.
#[derive(Clone, Debug)]
pub(crate) struct LogProof {
    pub(crate) place: Proof,
    pub(crate) entry: Vec<u8>,
    pub(crate) shown: Option<Vec<u8>>,
}

impl LogProof {
    /// The n-th entry of a batch's log, counted without the padding.
    pub(crate) fn of(batch: &Batch, n: u32) -> Self {
        let place = batch.log().proof_of_entry(n).unwrap();
        Self { place, entry: batch.entries[n as usize].clone(), shown: None }
    }

    /// The same with the payload.
    pub(crate) fn showing(&self, payload: &[u8]) -> Self {
        Self { shown: Some(payload.to_vec()), ..self.clone() }
    }

    /// The evidence bytes, written by hand.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let long = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_le_bytes()[..], bytes].concat();
        let shown = self.shown.as_ref().map_or(vec![0], |payload| [vec![1], long(payload)].concat());
        [vec![1], place_bytes(&self.place), long(&self.entry), shown].concat()
    }

    /// keccak256 of the entry.
    pub(crate) fn entry_hash(&self) -> Hash {
        keccak(&[&self.entry])
    }

    /// What makes it unique.
    pub(crate) fn hash(&self) -> Hash {
        evidence_hash(1, &self.entry_hash(), self.shown.is_some())
    }
}

fn place_bytes(place: &Proof) -> Vec<u8> {
    let count = [u8::try_from(place.path.len()).unwrap()];
    [&place.index.to_le_bytes()[..], &count, place.path.as_flattened()].concat()
}

/// A record with its place.
#[derive(Clone, Debug)]
pub(crate) struct BidProof {
    pub(crate) place: Proof,
    pub(crate) record: Vec<u8>,
}

impl BidProof {
    /// The n-th record of a batch, counted without the padding.
    pub(crate) fn of(batch: &Batch, n: u32) -> Self {
        let place = batch.arrays().proof_of_entry(n).unwrap();
        Self { place, record: batch.records[n as usize].clone() }
    }
}

/// The evidence bytes of two bids, written by hand.
pub(crate) fn double_bid_bytes(a: &BidProof, b: &BidProof) -> Vec<u8> {
    let part = |bid: &BidProof| [bid.record.clone(), place_bytes(&bid.place)].concat();
    [vec![2], part(a), part(b)].concat()
}

/// keccak256 of both records, the smaller first.
pub(crate) fn double_bid_entry(a: &BidProof, b: &BidProof) -> Hash {
    keccak(&[(&a.record).min(&b.record), (&a.record).max(&b.record)])
}

/// A tree of 2^depth leaves of which all but one are the same: its root and the one's proof.
pub(crate) fn sparse(depth: u32, index: u32, leaf: &Hash) -> (Hash, Proof) {
    let (mut filler, mut hash, mut at) = (keccak(&[b"another entry"]), *leaf, index);
    let mut path = Vec::new();
    for _ in 0..depth {
        path.push(filler);
        hash = if at & 1 == 1 { keccak(&[&filler, &hash]) } else { keccak(&[&hash, &filler]) };
        filler = keccak(&[&filler, &filler]);
        at >>= 1;
    }
    (hash, Proof { index, path })
}

/// The feedback log's head after an entry, written by hand (decision B13).
pub(crate) fn next_head(previous: &Hash, entry: &FeedbackEntry, text: &[u8]) -> Hash {
    keccak(&[
        previous,
        &entry.index.to_be_bytes(),
        &entry.timestamp.to_be_bytes(),
        &entry.slot.to_be_bytes(),
        &entry.sender,
        &entry.payer,
        previous,
        text,
    ])
}
