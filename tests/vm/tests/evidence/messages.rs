//! Messages, records, proofs and hashes.
//!
//! Evidence bytes, hashes and packed records are written out here a second time, so that a mistake in the
//! library that the programs share with the clients does not hide itself.

use zx1_interface::accounts::FeedbackEntry;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::{EnvelopeHeader, MsgType};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::Proof;
use zx1_protocol::payload::Feedback;
use zx1_protocol::units::Slot;
use zx1_vm_tests::Batch;

/// Ground 1, a bid.
pub(crate) const BID: Ground = Ground::Bid;
/// Ground 2, task selection.
pub(crate) const SELECTION: Ground = Ground::Selection;
/// Ground 3, notary assignment.
pub(crate) const VERIFIER: Ground = Ground::Verifier;
/// Ground 4, a rating.
pub(crate) const FEEDBACK: Ground = Ground::Feedback;
/// Ground 5, double bid.
pub(crate) const DOUBLE_BID: Ground = Ground::DoubleBid;

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
        [self.header_bytes(), self.payload.clone()].concat()
    }

    /// The hash of the header's packed bytes, by which records and claims know the message.
    pub(crate) fn message32(&self) -> Hash {
        keccak(&[&self.header_bytes()])
    }

    fn header_bytes(&self) -> Vec<u8> {
        let header = [
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
        ]
        .concat();
        assert_eq!(header.len(), 143);
        header
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
        self.packed(1, &value.to_be_bytes())
    }

    /// The selection's record.
    pub(crate) fn selection(&self) -> Vec<u8> {
        self.packed(2, &[])
    }

    /// The verifier's record.
    pub(crate) fn verifier(&self) -> Vec<u8> {
        self.packed(3, &[])
    }

    fn packed(&self, kind: u8, value: &[u8]) -> Vec<u8> {
        let (slot, message) = (self.slot.to_be_bytes(), self.message32());
        [&[kind][..], &self.conversation, &self.recipient, value, &slot, &message].concat()
    }

    /// The feedback event's record of a FEEDBACK message with [`rating`]'s payload.
    pub(crate) fn feedback(&self, attestation: &Hash) -> Vec<u8> {
        let rating = Feedback::decode(&self.payload).unwrap();
        let fixed = [&rating.score.to_be_bytes()[..], &[rating.outcome, rating.role]].concat();
        let (slot, message) = (self.slot.to_be_bytes(), self.message32());
        [&[4][..], &rating.conversation_id.0, &self.sender, &fixed, &slot, attestation, &message].concat()
    }
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

/// What is claimed of a message, written by hand (decision P4).
pub(crate) fn claim32(ground: Ground, value_known: bool, message: &Hash) -> Hash {
    keccak(&[b"zx1/claim/v2", &[ground as u8, u8::from(value_known)], message])
}

/// What a rank commits to, written by hand (decision P4).
pub(crate) fn commit32(finder: &[u8; 32], batch: &[u8; 32], evidence: &[u8]) -> Hash {
    keccak(&[b"zx1/commit/v2", finder, batch, evidence])
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

    /// The hash of the entry's header; zeros if the bytes are not a log entry.
    pub(crate) fn message32(&self) -> Hash {
        LogEntry::decode::<Sha3>(&self.entry).map_or([0; 32], |entry| entry.header.message32::<Sha3>())
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

    /// The hash of the message's header, with which the record ends.
    pub(crate) fn message32(&self) -> Hash {
        *self.record.last_chunk().unwrap()
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
