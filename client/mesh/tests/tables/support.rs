//! Agents with keys, and the envelopes that they sign.

use ed25519_dalek::{Signer, SigningKey};
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::payload::{BidType, Feedback, NotarizeBid, bid_payload};
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, Slot};

pub(crate) const A: AgentId = AgentId([0xa1; 32]);
pub(crate) const B: AgentId = AgentId([0xb2; 32]);
pub(crate) const N: AgentId = AgentId([0xc3; 32]);
pub(crate) const M: AgentId = AgentId([0xd4; 32]);
pub(crate) const STRANGER: AgentId = AgentId([0xe5; 32]);
pub(crate) const TASK: ConversationId = ConversationId([7; 16]);
pub(crate) const NOW: u64 = 1_772_313_600_000_000;
pub(crate) const SECOND: u64 = 1_000_000;

fn key(agent: AgentId) -> SigningKey {
    SigningKey::from_bytes(&agent.0)
}

/// Every agent of these tests but the stranger has a key of all scopes.
pub(crate) fn keys(agent: &AgentId) -> Vec<AgentKey> {
    if *agent == STRANGER { Vec::new() } else { vec![agent_key(*agent, Scopes::ALL, OPEN)] }
}

pub(crate) fn agent_key(agent: AgentId, scopes: Scopes, until: u64) -> AgentKey {
    let key = PublicKey::from_bytes(&key(agent).verifying_key().to_bytes()).unwrap();
    AgentKey { key, scopes, from: Epoch(0), until }
}

/// A signed message with a nonce of its own.
pub(crate) fn message(
    nonce: u64,
    msg_type: MsgType,
    sender: AgentId,
    recipient: AgentId,
    payload: &[u8],
) -> Vec<u8> {
    message_in(TASK, nonce, msg_type, sender, recipient, payload)
}

pub(crate) fn message_in(
    conversation_id: ConversationId,
    nonce: u64,
    msg_type: MsgType,
    sender: AgentId,
    recipient: AgentId,
    payload: &[u8],
) -> Vec<u8> {
    let recipient = if msg_type.is_broadcast() { BROADCAST } else { recipient };
    let draft = Draft {
        msg_type,
        sender,
        recipient,
        timestamp: NOW + nonce,
        block_ref: Slot(1),
        nonce,
        conversation_id,
        payload,
    };
    draft.sign(|bytes| key(sender).sign(bytes).to_bytes()).unwrap()
}

pub(crate) fn decode(bytes: &[u8]) -> Envelope<'_> {
    Envelope::decode(bytes).unwrap()
}

pub(crate) fn bid(value: i128) -> Vec<u8> {
    bid_payload(value, b"JSON{}")
}

pub(crate) fn rating(target: AgentId, role: u8) -> Vec<u8> {
    let feedback = Feedback {
        conversation_id: TASK,
        target_agent: target,
        score: 50,
        outcome: 2,
        is_dispute: false,
        role,
    };
    feedback.to_cbor().unwrap()
}

/// The NOTARIZE_BID of a notary, signed.
pub(crate) fn offer_message(nonce: u64, notary: AgentId, terms: &[u8]) -> Vec<u8> {
    let bid = NotarizeBid { bid_type: BidType::Offer, conversation_id: TASK, terms };
    message(nonce, MsgType::NotarizeBid, notary, BROADCAST, &bid.to_bytes())
}
