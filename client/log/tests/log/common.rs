//! Messages, most of them without real signatures: the log itself checks none, the inbox does.

use ed25519_dalek::{Signer as _, SigningKey};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use zx1_log::{AgentLog, Appended, LogHandle, LogReader};
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{Built, Direction};
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
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

/// The keys of AGENT, PEER and OTHER, as a registry would have them.
pub(crate) fn keys() -> HashMap<AgentId, Vec<PublicKey>> {
    let key = |agent| vec![PublicKey::from_bytes(key_of(agent).verifying_key().as_bytes()).unwrap()];
    [AGENT, PEER, OTHER].into_iter().map(|agent| (agent, key(agent))).collect()
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

pub(crate) fn seal(log: &mut AgentLog, covered: Covered) -> Built {
    let built = build(log, covered);
    log.seal(&built.bundle().unwrap(), covered, [9; 32].into(), [8; 64]).unwrap();
    built
}
