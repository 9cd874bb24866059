//! Messages, most of them without real signatures: the log itself checks none, the inbox does.

use ed25519_dalek::{Signer as _, SigningKey};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use zx1_log::{AgentLog, Appended, Key, LogHandle, LogReader, SavedBatches, Seen, View};
use zx1_protocol::batch::{BatchMessage, Covered, head_digest, open_digest};
use zx1_protocol::behavior_batch::{Built, Direction};
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::keys::{OPEN, Scopes};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::{Feedback, bid_payload};
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, Slot};

pub(crate) const AGENT: AgentId = AgentId([0xA1; 32]);
pub(crate) const PEER: AgentId = AgentId([0xB2; 32]);
pub(crate) const OTHER: AgentId = AgentId([0xC3; 32]);
pub(crate) const DAY: u64 = 86_400_000_000;
pub(crate) const EPOCH: Epoch = Epoch(20_000);
/// Bytes before the first record of a file.
pub(crate) const HEADER: usize = 68;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) direction: Direction,
    pub(crate) msg_type: MsgType,
    pub(crate) sender: AgentId,
    pub(crate) recipient: AgentId,
    pub(crate) timestamp: u64,
    pub(crate) slot: u64,
    pub(crate) nonce: u64,
    pub(crate) conversation: ConversationId,
    pub(crate) payload: Vec<u8>,
    hash: Hash,
    signature: [u8; 64],
}

impl Message {
    pub(crate) fn sent(number: u64, msg_type: MsgType, payload: Vec<u8>) -> Self {
        let hash = Sha3::hashv(&[&payload]);
        let mut signature = [7; 64];
        signature[..8].copy_from_slice(&number.to_be_bytes());
        Self {
            direction: Direction::Sent,
            msg_type,
            sender: AGENT,
            recipient: PEER,
            timestamp: EPOCH.0 * DAY + number,
            slot: 1_000 + number,
            nonce: 1 + number,
            conversation: ConversationId([3; 16]),
            payload,
            hash,
            signature,
        }
    }

    /// A DELIVER of this agent.
    pub(crate) fn deliver(number: u64) -> Self {
        Self::sent(number, MsgType::Deliver, format!("work {number}").into_bytes())
    }

    /// A PROPOSE of this agent.
    pub(crate) fn propose(number: u64, value: i128) -> Self {
        Self::sent(number, MsgType::Propose, bid_payload(value, b"CBORterms"))
    }

    /// A FEEDBACK about this agent.
    pub(crate) fn rating(number: u64, score: i8) -> Self {
        let feedback = Feedback {
            conversation_id: ConversationId([3; 16]),
            target_agent: AGENT,
            score,
            outcome: 2,
            is_dispute: false,
            role: 0,
        };
        Self::sent(number, MsgType::Feedback, feedback.to_cbor().unwrap()).incoming()
    }

    /// The same from the peer to this agent.
    pub(crate) fn incoming(mut self) -> Self {
        (self.sender, self.recipient, self.direction) = (PEER, AGENT, Direction::Received);
        self
    }

    /// Signed with the key of this agent, whoever the sender is.
    pub(crate) fn signed_by(mut self, agent: AgentId) -> Self {
        self.hash = Sha3::hashv(&[&self.payload]);
        self.signature = key_of(agent).sign(&self.envelope().signing_bytes()).to_bytes();
        self
    }

    /// Signed with the sender's key.
    pub(crate) fn signed(self) -> Self {
        let sender = self.sender;
        self.signed_by(sender)
    }

    /// The envelope's CBOR.
    pub(crate) fn cbor(&self) -> Vec<u8> {
        self.envelope().to_cbor()
    }

    pub(crate) fn earlier(mut self, micros: u64) -> Self {
        self.timestamp -= micros;
        self
    }

    pub(crate) fn later(mut self, epochs: u64) -> Self {
        self.timestamp += epochs * DAY;
        self
    }

    pub(crate) fn envelope(&self) -> Envelope<'_> {
        Envelope {
            header: EnvelopeHeader {
                version: PROTOCOL_VERSION,
                msg_type: self.msg_type,
                sender: self.sender.as_bytes(),
                recipient: self.recipient.as_bytes(),
                timestamp: self.timestamp,
                block_ref: Slot(self.slot),
                nonce: self.nonce,
                conversation_id: self.conversation.as_bytes(),
                payload_hash: &self.hash,
                payload_len: u32::try_from(self.payload.len()).unwrap(),
            },
            payload: &self.payload,
            signature: &self.signature,
        }
    }

    pub(crate) fn encoded(&self) -> Vec<u8> {
        LogEntry::of(&self.envelope()).to_cbor::<Sha3>().unwrap()
    }

    pub(crate) fn append_to(&self, log: &mut AgentLog) -> zx1_log::Result<Appended> {
        log.append(&self.envelope(), self.direction, self.timestamp)
    }
}

fn key_of(agent: AgentId) -> SigningKey {
    SigningKey::from_bytes(agent.as_bytes())
}

/// A key account with the agent's one key.
pub(crate) fn key(agent: AgentId, scopes: Scopes, from: Epoch, until: u64) -> Key {
    Key { key: PublicKey::from_bytes(key_of(agent).verifying_key().as_bytes()).unwrap(), scopes, from, until }
}

/// The keys of AGENT, PEER and OTHER, as a registry would have them.
pub(crate) fn keys() -> HashMap<AgentId, Vec<Key>> {
    let all = [AGENT, PEER, OTHER].into_iter();
    all.map(|agent| (agent, vec![key(agent, Scopes::ALL, Epoch(0), OPEN)])).collect()
}

/// The log for whoever comes first, or by way of its owner.
pub(crate) fn share(dir: &Path) -> LogHandle {
    LogHandle::open(dir, AGENT, Duration::from_secs(60)).unwrap()
}

/// A new agent's folder, not made yet.
pub(crate) fn folder() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("agents").join("agent");
    (temp, dir)
}

pub(crate) fn open(dir: &Path) -> AgentLog {
    AgentLog::open(dir, AGENT).unwrap()
}

/// A folder with these messages, closed again.
pub(crate) fn folder_with(messages: &[Message]) -> (TempDir, PathBuf) {
    let (temp, dir) = folder();
    let mut log = open(&dir);
    for message in messages {
        message.append_to(&mut log).unwrap();
    }
    (temp, dir)
}

pub(crate) fn log_file(dir: &Path) -> PathBuf {
    dir.join("log").join(format!("{}.log", EPOCH.0))
}

/// Everything in the log, encoded, in order.
pub(crate) fn contents(dir: &Path) -> Vec<Vec<u8>> {
    let mut entries = LogReader::new(dir, AGENT).entries(Epoch(0), Epoch(u64::MAX)).unwrap();
    let mut all = Vec::new();
    while let Some(entry) = entries.next_entry().unwrap() {
        all.push(entry.encoded.to_vec());
    }
    all
}

pub(crate) fn encoded(messages: &[Message]) -> Vec<Vec<u8>> {
    messages.iter().map(Message::encoded).collect()
}

pub(crate) fn covered(from: u64, to: u64) -> Covered {
    Covered { from: Epoch(EPOCH.0 + from), to: Epoch(EPOCH.0 + to) }
}

pub(crate) fn build(log: &AgentLog, covered: Covered) -> Built {
    log.build(covered, Slot(1), Slot(2)).unwrap()
}

pub(crate) const NETWORK: Hash = [0x6E; 32];

/// The digest of a head that nothing has moved.
pub(crate) fn opened() -> Hash {
    open_digest::<Sha3>(&NETWORK, AGENT.as_bytes())
}

/// The digest of the head after this message.
pub(crate) fn after(message: &BatchMessage) -> Hash {
    head_digest::<Sha3>(&message.previous_digest, &message.to_bytes())
}

/// One node's view; epochs count from [`EPOCH`].
pub(crate) fn view(last_epoch: i64, digest: Hash, current: u64) -> View {
    let last_epoch = Epoch(EPOCH.0.checked_add_signed(last_epoch).unwrap());
    View { last_epoch, digest, current: Epoch(EPOCH.0 + current) }
}

pub(crate) fn seen(views: impl Into<Vec<View>>) -> Seen {
    Seen { network: NETWORK, tenure_from: Epoch(0), views: views.into() }
}

/// A chain on which every batch before these epochs has landed, and which has just ended the last of them.
pub(crate) fn before(batches: &SavedBatches, covered: Covered) -> Seen {
    let signed = batches.list().unwrap().into_iter().filter(|saved| saved.epoch() < covered.to);
    let digest = signed.fold(opened(), |_, saved| after(&saved.message));
    let last_epoch = Epoch(covered.from.0 - 1);
    seen([View { last_epoch, digest, current: Epoch(covered.to.0 + 1) }])
}

/// What is signed of a batch on the head of the first view.
pub(crate) fn message(built: &Built, covered: Covered, seen: &Seen) -> BatchMessage {
    built.commitment().message(&seen.network, covered.from, &seen.views[0].digest)
}

/// The batch key's signature.
pub(crate) fn sign(message: &BatchMessage) -> (WalletKey, [u8; 64]) {
    let key = SigningKey::from_bytes(&[9; 32]);
    (key.verifying_key().to_bytes().into(), key.sign(&message.to_bytes()).to_bytes())
}

pub(crate) fn try_seal(
    log: &mut AgentLog,
    built: &Built,
    message: &BatchMessage,
    seen: &Seen,
) -> zx1_log::Result<()> {
    let (signer, signature) = sign(message);
    log.seal(&built.bundle().unwrap(), message, signer, signature, seen)
}

/// Builds, signs and seals after everything before has landed.
pub(crate) fn seal(log: &mut AgentLog, covered: Covered) -> Built {
    let built = build(log, covered);
    let seen = before(&log.batches(), covered);
    try_seal(log, &built, &message(&built, covered, &seen), &seen).unwrap();
    built
}
