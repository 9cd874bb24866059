//! Logs of an agent's life: random ones, and what the tests ask of them.

use crate::common::{Message, feedback, msg_type};
use proptest::prelude::*;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{BuildError, Builder, Built, Direction};
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::Feedback;
use zx1_protocol::units::{Epoch, Slot};

pub(crate) const AGENT: AgentId = AgentId([0xa1; 32]);
pub(crate) const EPOCH: u64 = 20_500;
const DAY: u64 = 86_400_000_000;

/// An entry of a log with what is kept beside it.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub(crate) direction: Direction,
    pub(crate) message: Message,
    pub(crate) attestation: Option<Hash>,
}

impl Logged {
    pub(crate) fn encoded(&self) -> Vec<u8> {
        LogEntry::of(&self.message.envelope()).to_cbor::<Sha3>().unwrap()
    }

    /// What the payload store would give: of own messages only.
    pub(crate) fn payload(&self) -> Option<&[u8]> {
        (self.direction == Direction::Sent).then_some(&self.message.payload[..])
    }
}

pub(crate) fn covered() -> Covered {
    Covered { from: Epoch(EPOCH), to: Epoch(EPOCH + 1) }
}

pub(crate) fn message(msg_type: MsgType, payload: &[u8]) -> Message {
    Message {
        msg_type,
        sender: AGENT,
        recipient: AgentId([0xb2; 32]),
        timestamp: EPOCH * DAY + 5,
        block_ref: 400_000_001,
        nonce: 7,
        conversation_id: ConversationId([3; 16]),
        payload: payload.to_vec(),
        payload_hash: [0; 32],
        signature: [0; 64],
    }
    .seal()
}

pub(crate) fn sent(msg_type: MsgType, payload: &[u8], change: impl FnOnce(&mut Message)) -> Logged {
    let mut message = message(msg_type, payload);
    change(&mut message);
    Logged { direction: Direction::Sent, message: message.seal(), attestation: None }
}

pub(crate) fn received(msg_type: MsgType, payload: &[u8], change: impl FnOnce(&mut Message)) -> Logged {
    let mut message = message(msg_type, payload);
    (message.sender, message.recipient) = (message.recipient, AGENT);
    change(&mut message);
    Logged { direction: Direction::Received, message: message.seal(), attestation: None }
}

pub(crate) fn rating_of(target_agent: AgentId) -> Feedback {
    let conversation_id = ConversationId([3; 16]);
    Feedback { conversation_id, target_agent, score: 5, outcome: 2, is_dispute: false, role: 0 }
}

fn peer() -> impl Strategy<Value = AgentId> {
    prop::sample::select(vec![AgentId([0xb2; 32]), AgentId([0xc3; 32]), AgentId([0xd4; 32])])
}

fn logged() -> impl Strategy<Value = Logged> {
    let ids = (peer(), 0u8..3, 0u64..2 * DAY, 0u64..6);
    let choices = (any::<bool>(), 0u8..4, any::<bool>());
    let payloads = (prop::collection::vec(any::<u8>(), 0..60), feedback());
    (msg_type(), ids, choices, payloads).prop_map(|(msg_type, ids, choices, (noise, rating))| {
        let (peer, conversation, time, slot) = ids;
        let (is_sent, choice, attested) = choices;
        let rating = Feedback { target_agent: if choice > 1 { AGENT } else { peer }, ..rating };
        let rated = msg_type == MsgType::Feedback && choice > 0;
        let payload = if rated { rating.to_cbor().unwrap() } else { noise };
        let change = |message: &mut Message| {
            if is_sent {
                message.recipient = peer
            } else {
                message.sender = peer
            }
            if choice == 3 && !matches!(msg_type, MsgType::Propose | MsgType::Accept) {
                message.recipient = BROADCAST;
            }
            message.conversation_id = ConversationId([conversation; 16]);
            message.timestamp = EPOCH * DAY + time;
            message.block_ref = slot;
        };
        let mut logged =
            if is_sent { sent(msg_type, &payload, change) } else { received(msg_type, &payload, change) };
        // An attestation only where one can be.
        let about_agent = rated && !is_sent && rating.target_agent == AGENT;
        logged.attestation = (about_agent && attested).then_some([0x77; 32]);
        logged
    })
}

/// A log that an honest agent can have. Conversation, recipient and slot of bids repeat.
pub(crate) fn life() -> impl Strategy<Value = Vec<Logged>> {
    prop::collection::vec(logged(), 0..40)
}

pub(crate) fn builder() -> Builder {
    Builder::new(AGENT, covered(), Slot(5), Slot(6)).unwrap()
}

pub(crate) fn build(log: &[Logged]) -> Result<Built, BuildError> {
    let mut builder = builder();
    for logged in log {
        let (direction, attestation) = (logged.direction, logged.attestation);
        builder.push_encoded(direction, &logged.encoded(), logged.payload(), attestation)?;
    }
    builder.finish()
}
