//! Authors, messages and facts.

use ed25519_dalek::{Signer as _, SigningKey};
use zx1_mesh::facts::{Chain, Facts, Stake};
use zx1_mesh::gate::Path;
use zx1_mesh::intake::Arrived;
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::{BROADCAST, Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Hash, Keccak as _, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::lease::Lease;
use zx1_protocol::payload::{BidType, Feedback, NotarizeBid};
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

pub(crate) const DAY: u64 = 20_500;
pub(crate) const SECOND: u64 = 1_000_000;
pub(crate) const NOW: u64 = DAY * 86_400 * SECOND + 1_000 * SECOND;
pub(crate) const CHAIN: Chain = Chain { slot: Slot(400_000_000), min_stake: MicroUsdc(10_000_000) };
/// The agent whose gate it is.
pub(crate) const ME: AgentId = AgentId([0xee; 32]);

pub(crate) fn key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

pub(crate) fn public(number: u8) -> WalletKey {
    key(number).verifying_key().to_bytes().into()
}

pub(crate) fn agent(number: u8) -> AgentId {
    AgentId([number; 32])
}

pub(crate) fn agent_key(number: u8, scopes: Scopes) -> AgentKey {
    let key = PublicKey::from_bytes(&public(number).to_bytes()).unwrap();
    AgentKey { key, scopes, from: Epoch(DAY - 100), until: OPEN }
}

/// An agent with stake and lease and these keys, which may do everything.
pub(crate) fn facts(keys: &[u8]) -> Facts {
    Facts {
        keys: keys.iter().map(|number| agent_key(*number, Scopes::ALL)).collect(),
        other_keys: Vec::new(),
        has_all_keys: true,
        stake: Some(Stake { amount: MicroUsdc(10_000_000), is_queued: false }),
        lease: Some(Lease { paid_through: Epoch(DAY) }),
    }
}

/// A message before its signature.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) msg_type: MsgType,
    pub(crate) sender: AgentId,
    pub(crate) recipient: AgentId,
    pub(crate) timestamp: u64,
    pub(crate) block_ref: u64,
    pub(crate) nonce: u64,
    pub(crate) payload: Vec<u8>,
    /// The payload's by default.
    pub(crate) payload_hash: Option<Hash>,
    pub(crate) payload_len: Option<u32>,
}

/// A message of this agent that keeps all rules.
pub(crate) fn letter(msg_type: MsgType, sender: AgentId, nonce: u64) -> Letter {
    let is_direct = channel_of(msg_type) == Channel::Direct;
    let conversation_id = ConversationId([3; 16]);
    let payload = match msg_type {
        MsgType::Feedback => {
            let rating = Feedback {
                conversation_id,
                target_agent: ME,
                score: 5,
                outcome: 2,
                is_dispute: false,
                role: 0,
            };
            rating.to_cbor().unwrap()
        }
        MsgType::NotarizeBid => {
            NotarizeBid { bid_type: BidType::Request, conversation_id, terms: b"" }.to_bytes()
        }
        _ => b"CBOR and more than sixteen bytes".to_vec(),
    };
    Letter {
        msg_type,
        sender,
        recipient: if is_direct { ME } else { BROADCAST },
        timestamp: NOW,
        block_ref: CHAIN.slot.0,
        nonce,
        payload,
        payload_hash: None,
        payload_len: None,
    }
}

impl Letter {
    pub(crate) fn sign(&self, by: u8) -> Vec<u8> {
        let hash = self.payload_hash.unwrap_or_else(|| Sha3::hashv(&[&self.payload]));
        let header = EnvelopeHeader {
            version: PROTOCOL_VERSION,
            msg_type: self.msg_type,
            sender: self.sender.as_bytes(),
            recipient: self.recipient.as_bytes(),
            timestamp: self.timestamp,
            block_ref: Slot(self.block_ref),
            nonce: self.nonce,
            conversation_id: &[3; 16],
            payload_hash: &hash,
            payload_len: self.payload_len.unwrap_or(self.payload.len() as u32),
        };
        let signing = [header.signing_header().as_slice(), &self.payload].concat();
        let signature = key(by).sign(&signing).to_bytes();
        Envelope { header, payload: &self.payload, signature: &signature }.to_cbor()
    }

    /// As it comes from the peer with this key.
    pub(crate) fn from(&self, by: u8) -> Message {
        Message { bytes: self.sign(by), path: path(self.msg_type, by) }
    }
}

pub(crate) fn path(msg_type: MsgType, source: u8) -> Path {
    Path { channel: channel_of(msg_type), source: Some(public(source)) }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) bytes: Vec<u8>,
    pub(crate) path: Path,
}

impl Arrived for Message {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn path(&self) -> Path {
        self.path
    }
}
