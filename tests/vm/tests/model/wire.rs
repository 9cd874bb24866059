//! The protocol's bytes, written a second time from the decisions (B7, B9 to B11, B13, C1 to C5, P2 to P4), so that
//! the model shares no line with what it checks.

use sha3::{Digest, Keccak256};

pub(crate) type Hash = [u8; 32];

/// Index in the padded tree, and the path from there up.
pub(crate) type Place = (u32, Vec<Hash>);

/// keccak256 of the parts, one after the other.
pub(crate) fn keccak(parts: &[&[u8]]) -> Hash {
    let mut hasher = Keccak256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// The messages that every agent sends or gets in every epoch; each is one of these.
pub(crate) const PROPOSE: usize = 0;
pub(crate) const ACCEPT: usize = 1;
pub(crate) const ASSIGN: usize = 2;
pub(crate) const FEEDBACK: usize = 3;
pub(crate) const DELIVER: usize = 4;
/// A PROPOSE of 401 bytes, too long for an envelope challenge; it is in no log.
pub(crate) const LONG: usize = 5;
/// How many of them a log can hold.
pub(crate) const LOGGED: usize = 5;

/// The other side of every message.
const COUNTERPARTY: [u8; 32] = [0xc0; 32];
const SCORE: i8 = 50;

/// One message of an agent and an epoch.
pub(crate) struct Message {
    kind: u16,
    sender: [u8; 32],
    recipient: [u8; 32],
    timestamp: u64,
    block_ref: u64,
    conversation: [u8; 16],
    pub(crate) payload: Vec<u8>,
}

/// The bid's value in a message.
pub(crate) fn value(which: usize) -> i128 {
    -1_000 - i128::try_from(which).unwrap()
}

impl Message {
    pub(crate) fn new(agent: &[u8; 32], epoch: u64, which: usize) -> Self {
        let number = [u8::try_from(which).unwrap()];
        let conversation = keccak(&[b"conversation", agent, &epoch.to_le_bytes(), &number]);
        let conversation: [u8; 16] = conversation[..16].try_into().unwrap();
        let bid = value(which).to_le_bytes();
        let (kind, payload) = match which {
            PROPOSE => (0x03, [&bid[..], b"terms"].concat()),
            ACCEPT => (0x05, bid.to_vec()),
            ASSIGN => (0x09, b"please".to_vec()),
            FEEDBACK => (0x0b, feedback_payload(&conversation, agent)),
            DELIVER => (0x07, b"work".to_vec()),
            LONG => (0x03, vec![1; 401]),
            other => panic!("message {other}"),
        };
        let (sender, recipient) =
            if which == FEEDBACK { (COUNTERPARTY, *agent) } else { (*agent, COUNTERPARTY) };
        Self {
            kind,
            sender,
            recipient,
            timestamp: epoch * 86_400_000_000 + 17,
            block_ref: epoch * 1_000,
            conversation,
            payload,
        }
    }

    /// What its sender signs (C1).
    pub(crate) fn signing_bytes(&self) -> Vec<u8> {
        [self.header(), self.payload.clone()].concat()
    }

    /// What names it in records and claims (P3): the hash of the packed header.
    pub(crate) fn hash(&self) -> Hash {
        keccak(&[&self.header()])
    }

    fn header(&self) -> Vec<u8> {
        let mut bytes = vec![1];
        bytes.extend(self.kind.to_be_bytes());
        bytes.extend(self.sender);
        bytes.extend(self.recipient);
        bytes.extend(self.timestamp.to_be_bytes());
        bytes.extend(self.block_ref.to_be_bytes());
        bytes.extend(1u64.to_be_bytes());
        bytes.extend(self.conversation);
        bytes.extend(keccak(&[&self.payload]));
        bytes.extend(u32::try_from(self.payload.len()).unwrap().to_be_bytes());
        bytes
    }

    /// As a log keeps it (C2).
    pub(crate) fn entry(&self) -> Vec<u8> {
        let mut bytes = vec![0x80 | 12];
        cbor(&mut bytes, 0, 1);
        cbor(&mut bytes, 0, self.kind.into());
        cbor_bytes(&mut bytes, &self.sender);
        cbor_bytes(&mut bytes, &self.recipient);
        cbor(&mut bytes, 0, self.timestamp);
        cbor(&mut bytes, 0, self.block_ref);
        cbor(&mut bytes, 0, 1);
        cbor_bytes(&mut bytes, &self.conversation);
        cbor_bytes(&mut bytes, &keccak(&[&self.payload]));
        cbor(&mut bytes, 0, u64::try_from(self.payload.len()).unwrap());
        cbor_bytes(&mut bytes, &[8; 64]);
        let is_feedback = self.kind == 0x0b;
        cbor_bytes(&mut bytes, if is_feedback { &self.payload } else { &[] });
        bytes
    }

    /// The record that an honest batch holds for it (B9, P3): of a bid with this value, of a selection, of a
    /// verifier or of a rating, as the ground says.
    pub(crate) fn record(&self, ground: u8, value: i128) -> Vec<u8> {
        let (slot, hash) = (self.block_ref.to_be_bytes(), self.hash());
        match ground {
            1 => [&[1], &self.conversation[..], &self.recipient, &value.to_be_bytes(), &slot, &hash].concat(),
            2 | 3 => [&[ground], &self.conversation[..], &self.recipient, &slot, &hash].concat(),
            4 => {
                let rating = [SCORE.to_be_bytes()[0], 2, 0];
                [&[4], &self.conversation[..], &self.sender, &rating, &slot, &ATTESTATION, &hash].concat()
            }
            other => panic!("ground {other}"),
        }
    }
}

/// The attestation hash in every rating's record.
pub(crate) const ATTESTATION: Hash = [0xa7; 32];

/// A FEEDBACK payload: +50, positive, no dispute, as participant (C3).
fn feedback_payload(conversation: &[u8; 16], target: &[u8; 32]) -> Vec<u8> {
    let mut bytes = vec![0x80 | 6];
    cbor_bytes(&mut bytes, conversation);
    cbor_bytes(&mut bytes, target);
    cbor(&mut bytes, 0, u64::from(SCORE.unsigned_abs()));
    cbor(&mut bytes, 0, 2);
    bytes.push(0xf4);
    cbor(&mut bytes, 0, 0);
    bytes
}

fn cbor_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    cbor(out, 2, u64::try_from(bytes.len()).unwrap());
    out.extend(bytes);
}

/// A CBOR head in its shortest form.
fn cbor(out: &mut Vec<u8>, major: u8, number: u64) {
    let head = major << 5;
    let all = number.to_be_bytes();
    match number {
        0..=23 => out.push(head | all[7]),
        24..=0xff => out.extend([&[head | 24], &all[7..]].concat()),
        0x100..=0xffff => out.extend([&[head | 25], &all[6..]].concat()),
        0x1_0000..=0xffff_ffff => out.extend([&[head | 26], &all[4..]].concat()),
        _ => out.extend([&[head | 27], &all[..]].concat()),
    }
}

/// The levels of the tree over these entries, leaves first: padded on the left with zeros (C5).
fn levels(entries: &[Vec<u8>]) -> Vec<Vec<Hash>> {
    let width = entries.len().next_power_of_two();
    let mut level = vec![[0; 32]; width - entries.len()];
    level.extend(entries.iter().map(|entry| keccak(&[entry])));
    let mut all = vec![level];
    while let Some(below) = all.last().filter(|level| level.len() > 1) {
        let above = below.chunks(2).map(|pair| keccak(&[&pair[0], &pair[1]])).collect();
        all.push(above);
    }
    all
}

/// The root; zeros without entries.
pub(crate) fn root(entries: &[Vec<u8>]) -> Hash {
    if entries.is_empty() { [0; 32] } else { levels(entries).pop().unwrap()[0] }
}

/// Index in the padded tree, and the path from there up, of the entry in this place; where there is no
/// such entry, something that cannot hold.
pub(crate) fn proof(entries: &[Vec<u8>], place: Option<usize>) -> Place {
    let width = entries.len().next_power_of_two();
    let depth = usize::try_from(width.trailing_zeros()).unwrap();
    let Some(place) = place else {
        return (u32::try_from(width - 1).unwrap(), vec![[0x55; 32]; depth]);
    };
    let index = width - entries.len() + place;
    let mut at = index;
    let mut path = Vec::new();
    for level in &levels(entries)[..depth] {
        path.push(level[at ^ 1]);
        at /= 2;
    }
    (u32::try_from(index).unwrap(), path)
}

/// What a batch key signs (B7, P2).
pub(crate) struct BatchMessage {
    pub(crate) network: Hash,
    pub(crate) agent: [u8; 32],
    pub(crate) covers_from: u64,
    pub(crate) epoch: u64,
    pub(crate) previous: Hash,
    pub(crate) log: (Hash, u32),
    pub(crate) batch_hash: Hash,
    pub(crate) arrays: (Hash, u32),
}

impl BatchMessage {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [
            b"zx1/behavior-batch/v2",
            &self.network[..],
            &self.agent,
            &self.covers_from.to_le_bytes(),
            &self.epoch.to_le_bytes(),
            &self.previous,
            &self.log.0,
            &self.log.1.to_le_bytes(),
            &self.batch_hash,
            &self.arrays.0,
            &self.arrays.1.to_le_bytes(),
        ]
        .concat()
    }
}

/// The digest of a head without a batch (P2).
pub(crate) fn open_digest(network: &Hash, agent: &[u8; 32]) -> Hash {
    keccak(&[b"zx1/head/v2", network, agent])
}

fn placed(bytes: &mut Vec<u8>, (index, path): &Place) {
    bytes.extend(index.to_le_bytes());
    bytes.push(u8::try_from(path.len()).unwrap());
    bytes.extend(path.concat());
}

/// Evidence of a log entry, with or without its payload.
pub(crate) fn log_evidence(entry: &[u8], place: &Place, shown: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = vec![1];
    placed(&mut bytes, place);
    bytes.extend(u16::try_from(entry.len()).unwrap().to_le_bytes());
    bytes.extend(entry);
    bytes.push(u8::from(shown.is_some()));
    if let Some(payload) = shown {
        bytes.extend(u16::try_from(payload.len()).unwrap().to_le_bytes());
        bytes.extend(payload);
    }
    bytes
}

/// Evidence of two bids.
pub(crate) fn double_bid_evidence(bids: [(&[u8], Place); 2]) -> Vec<u8> {
    let mut bytes = vec![2];
    for (record, place) in bids {
        bytes.extend(record);
        placed(&mut bytes, &place);
    }
    bytes
}

/// What is claimed of a message (P4): the last seed of the challenge's address.
pub(crate) fn claim(ground: u8, value_known: bool, message: &Hash) -> Hash {
    keccak(&[b"zx1/claim/v2", &[ground], &[u8::from(value_known)], message])
}

/// The commitment with which a rank is taken (P4).
pub(crate) fn commit(finder: &[u8; 32], batch: &[u8; 32], evidence: &[u8]) -> Hash {
    keccak(&[b"zx1/commit/v2", finder, batch, evidence])
}

/// The feedback log's next head (B13).
pub(crate) fn log_head(
    head: &Hash,
    (index, time, slot): (u64, i64, u64),
    sender: &[u8; 32],
    text: &[u8],
) -> Hash {
    let numbers = [index.to_be_bytes(), time.to_be_bytes(), slot.to_be_bytes()].concat();
    // Who speaks pays as well.
    keccak(&[head, &numbers, sender, sender, head, text])
}
