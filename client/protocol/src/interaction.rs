//! What ties a SATI FeedbackV1 attestation to a task (protocol.md, 7.2; decision D5).
//!
//! At ACCEPT time, before anyone knows how the task ends, the owner of the agent that will be rated signs
//! SATI's own hash over `task_ref` and `data_hash`; the two functions here give both. SATI's hash itself is
//! `zx1_chain::sati::interaction_hash`. The signature travels as the last 64 bytes of the ACCEPT payload,
//! and of the counterparty's first message after it ([`crate::payload::split_presignature`]). While the wallet
//! is not at hand, which is the rule when a deal key answers for the agent, those bytes are zero: then no
//! attestation is made, and the record's `attestation` stays zero (decision P1).

use crate::hash::{Hash, Keccak};
use crate::ids::{AgentId, ConversationId};
use crate::units::Slot;

/// SATI's `data_hash` of the rating: the interaction hash, keccak256(conversation id ‖ counterparty ‖
/// slot of the ACCEPT, big-endian). The counterparty is the one who will rate.
pub fn interaction_hash<K: Keccak>(
    conversation_id: &ConversationId,
    counterparty: &AgentId,
    slot_accepted: Slot,
) -> Hash {
    K::hashv(&[conversation_id.as_bytes(), counterparty.as_bytes(), &slot_accepted.0.to_be_bytes()])
}

/// SATI's `task_ref`: the conversation id, then 16 zero bytes.
pub fn task_ref(conversation_id: &ConversationId) -> [u8; 32] {
    let mut task_ref = [0; 32];
    crate::bytes::Writer::new(&mut task_ref).put(conversation_id.as_bytes());
    task_ref
}
