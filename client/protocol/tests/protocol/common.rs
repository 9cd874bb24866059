//! Owned messages, strategies for random ones, and the vectors' files.

use ed25519_dalek::{Signer, SigningKey};
use proptest::prelude::*;
use serde_json::Value;
use std::path::PathBuf;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::payload::Feedback;
use zx1_protocol::record::{self, Record};
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, Slot};

/// What an envelope borrows from.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) msg_type: MsgType,
    pub(crate) sender: AgentId,
    pub(crate) recipient: AgentId,
    pub(crate) timestamp: u64,
    pub(crate) block_ref: u64,
    pub(crate) nonce: u64,
    pub(crate) conversation_id: ConversationId,
    pub(crate) payload: Vec<u8>,
    pub(crate) payload_hash: Hash,
    pub(crate) signature: [u8; 64],
}

impl Message {
    pub(crate) fn header(&self) -> EnvelopeHeader<'_> {
        EnvelopeHeader {
            version: PROTOCOL_VERSION,
            msg_type: self.msg_type,
            sender: self.sender.as_bytes(),
            recipient: self.recipient.as_bytes(),
            timestamp: self.timestamp,
            block_ref: Slot(self.block_ref),
            nonce: self.nonce,
            conversation_id: self.conversation_id.as_bytes(),
            payload_hash: &self.payload_hash,
            payload_len: u32::try_from(self.payload.len()).unwrap(),
        }
    }

    pub(crate) fn envelope(&self) -> Envelope<'_> {
        Envelope { header: self.header(), payload: &self.payload, signature: &self.signature }
    }

    /// Hashes and signs anew after a change.
    pub(crate) fn seal(mut self) -> Self {
        self.payload_hash = Sha3::hashv(&[&self.payload]);
        self.signature = key().sign(&self.envelope().signing_bytes()).to_bytes();
        self
    }
}

pub(crate) fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

/// A key account of this key, of all scopes and without end.
pub(crate) fn agent_key(key: &SigningKey) -> AgentKey {
    let key = PublicKey::from_bytes(&key.verifying_key().to_bytes()).unwrap();
    AgentKey { key, scopes: Scopes::ALL, from: Epoch(0), until: OPEN }
}

/// Numbers of every CBOR width, not only large ones.
pub(crate) fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)
}

pub(crate) fn agent() -> impl Strategy<Value = AgentId> {
    any::<[u8; 32]>().prop_map(AgentId)
}

pub(crate) fn conversation() -> impl Strategy<Value = ConversationId> {
    any::<[u8; 16]>().prop_map(ConversationId)
}

pub(crate) fn feedback() -> impl Strategy<Value = Feedback> {
    (conversation(), agent(), -100i8..=100, 0u8..=2, any::<bool>(), 0u8..=1).prop_map(
        |(conversation_id, target_agent, score, outcome, is_dispute, role)| Feedback {
            conversation_id,
            target_agent,
            score,
            outcome,
            is_dispute,
            role,
        },
    )
}

pub(crate) fn msg_type() -> impl Strategy<Value = MsgType> {
    prop::sample::select(MsgType::ALL.to_vec())
}

/// A signed message of any type. FEEDBACK has a payload that parses, three times out of four.
pub(crate) fn message() -> impl Strategy<Value = Message> {
    let ids = (agent(), agent(), conversation());
    let payload = (prop::collection::vec(any::<u8>(), 0..300), feedback(), 0u8..4);
    (msg_type(), ids, number(), number(), number(), payload).prop_map(
        |(msg_type, (sender, recipient, conversation_id), timestamp, block_ref, nonce, payload)| {
            let (noise, feedback, choice) = payload;
            let rated = msg_type == MsgType::Feedback && choice > 0;
            let payload = if rated { feedback.to_cbor().unwrap() } else { noise };
            Message {
                msg_type,
                sender,
                recipient,
                timestamp,
                block_ref,
                nonce,
                conversation_id,
                payload,
                payload_hash: [0; 32],
                signature: [0; 64],
            }
            .seal()
        },
    )
}

pub(crate) fn record() -> impl Strategy<Value = Record> {
    let ids = (conversation(), agent(), any::<[u8; 32]>(), any::<[u8; 32]>());
    (0u8..4, ids, any::<i128>(), number(), -100i8..=100, 0u8..=2, 0u8..=1).prop_map(
        |(kind, (conversation, agent, attestation, message), value, slot, score, outcome, role)| {
            let slot = Slot(slot);
            match kind {
                0 => Record::Bid(record::Bid { conversation, counterparty: agent, value, slot, message }),
                1 => {
                    Record::Selection(record::Selection { conversation, counterparty: agent, slot, message })
                }
                2 => Record::Verifier(record::Verifier { conversation, verifier: agent, slot, message }),
                _ => Record::Feedback(record::Feedback {
                    conversation,
                    from: agent,
                    score,
                    outcome,
                    role,
                    slot,
                    attestation,
                    message,
                }),
            }
        },
    )
}

pub(crate) fn vectors_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

/// A committed vector file.
pub(crate) fn vectors(name: &str) -> Value {
    let path = vectors_dir().join("zx1").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn list(value: &Value) -> &[Value] {
    let list = value.as_array().unwrap();
    assert!(!list.is_empty(), "an empty section proves nothing");
    list
}

pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

pub(crate) fn array<const N: usize>(value: &Value) -> [u8; N] {
    bytes(value).try_into().unwrap()
}

pub(crate) fn id<T: From<[u8; N]>, const N: usize>(value: &Value) -> T {
    array(value).into()
}

pub(crate) fn hashes(value: &Value) -> Vec<Hash> {
    value.as_array().unwrap().iter().map(array).collect()
}

pub(crate) fn uint(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

pub(crate) fn small<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> T {
    uint(value).try_into().unwrap()
}

/// "Ok" or the name of the refusal, as the vectors write it.
pub(crate) fn verdict<T, E: std::fmt::Debug>(result: Result<T, E>) -> String {
    match result {
        Ok(_) => "Ok".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}
