//! Who signs an agent's deals: a process of its own with the deal key, which the network's process does not have
//! (decision I5). It answers the node's questions within limits of its own, whatever the node asks.

use super::wire::{Signed, ToSign};
use crate::message::type_of;
use crate::operator::Wallet;
use std::collections::VecDeque;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::bid_value;
use zx1_protocol::units::Slot;
use zx1_protocol::validate::TIMESTAMP_TOLERANCE_MICROS;

const HOUR: u64 = 3_600_000_000;

/// What a signer signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest bid value, in the unit that the parties agreed on; a negative value counts as a positive one.
    pub value: i128,
    /// Messages in any hour.
    pub per_hour: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { value: i128::MAX, per_hour: 120 }
    }
}

/// Signs the deals of one agent.
#[derive(Debug)]
pub struct Signer {
    agent: AgentId,
    key: Wallet,
    limits: Limits,
    /// When it signed within the last hour, unix microseconds.
    signed: VecDeque<u64>,
}

impl Signer {
    /// Signs for this agent with this key.
    pub fn new(agent: AgentId, key: Wallet, limits: Limits) -> Self {
        Self { agent, key, limits, signed: VecDeque::new() }
    }

    /// The answer to a question of the node.
    pub fn answer(&mut self, question: &ToSign, now_micros: u64) -> Signed {
        match self.sign(question, now_micros) {
            Ok(envelope) => Signed { envelope: Some(hex::encode(envelope)), why: None },
            Err(why) => Signed { envelope: None, why: Some(why) },
        }
    }

    /// The envelope.
    ///
    /// # Errors
    /// 7595 as a sentence's end: which limit it exceeds.
    fn sign(&mut self, question: &ToSign, now_micros: u64) -> Result<Vec<u8>, String> {
        let payload = hex::decode(&question.payload).map_err(|_| "the payload is not hex".to_owned())?;
        let msg_type = type_of(&question.r#type).ok_or_else(|| "the message type is not known".to_owned())?;
        let draft = Draft {
            msg_type,
            sender: parsed(&question.sender, "sender")?,
            recipient: parsed(&question.recipient, "recipient")?,
            timestamp: question.timestamp_micros,
            block_ref: Slot(question.block_ref),
            nonce: question.nonce,
            conversation_id: parsed::<ConversationId>(&question.conversation, "conversation")?,
            payload: &payload,
        };
        self.check(&draft, now_micros)?;
        let envelope = draft.sign(|bytes| self.key.sign(bytes)).map_err(|error| error.to_string())?;
        self.signed.push_back(now_micros);
        Ok(envelope)
    }

    fn check(&mut self, draft: &Draft<'_>, now_micros: u64) -> Result<(), String> {
        if draft.sender != self.agent {
            return Err("the message is of another agent".to_owned());
        }
        if !draft.msg_type.is_deal() {
            return Err("messages of this type are signed by the node's own key".to_owned());
        }
        if draft.timestamp.abs_diff(now_micros) > TIMESTAMP_TOLERANCE_MICROS {
            return Err("the timestamp is not that of this machine's clock".to_owned());
        }
        let value = bid_value(draft.payload);
        let is_bid = matches!(draft.msg_type, MsgType::Propose | MsgType::Counter | MsgType::Accept);
        if is_bid && value.unsigned_abs() > self.limits.value.unsigned_abs() {
            return Err(format!("the bid of {value} exceeds the limit of {}", self.limits.value));
        }
        // A clock that was put back makes nothing of what was signed free.
        self.signed.retain(|at| now_micros.saturating_sub(*at) < HOUR);
        if self.signed.len() >= self.limits.per_hour {
            return Err(format!("the limit of {} messages an hour is reached", self.limits.per_hour));
        }
        Ok(())
    }
}

fn parsed<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("the {what} cannot be parsed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::type_name;
    use solana_keypair::Keypair;
    use zx1_protocol::envelope::Envelope;
    use zx1_protocol::payload::bid_payload;

    const AGENT: AgentId = AgentId([1; 32]);
    const NOW: u64 = 1_700_000_000_000_000;

    fn question(msg_type: MsgType, value: i128) -> ToSign {
        ToSign {
            id: 1,
            r#type: type_name(msg_type),
            sender: AGENT.to_string(),
            recipient: AgentId([2; 32]).to_string(),
            conversation: ConversationId([3; 16]).to_string(),
            timestamp_micros: NOW,
            block_ref: 9,
            nonce: 7,
            payload: hex::encode(bid_payload(value, b"work")),
        }
    }

    fn signer(limits: Limits) -> Signer {
        Signer::new(AGENT, Wallet::new(Keypair::new()), limits)
    }

    #[test]
    fn a_deal_within_the_limits_is_signed_as_it_was_asked_for() {
        let mut signer = signer(Limits { value: 100, per_hour: 2 });
        let key = signer.key.address();
        let envelope = signer.answer(&question(MsgType::Propose, 100), NOW).envelope.unwrap();
        let bytes = hex::decode(envelope).unwrap();
        let envelope = Envelope::decode(&bytes).unwrap();
        assert_eq!((envelope.header.nonce, envelope.header.sender()), (7, AGENT));
        let signed = [envelope.header.signing_header().as_slice(), envelope.payload].concat();
        assert!(solana_signature::Signature::from(*envelope.signature).verify(key.as_ref(), &signed));
    }

    #[test]
    fn what_exceeds_a_limit_is_refused_and_says_which() {
        let mut signer = signer(Limits { value: 100, per_hour: 2 });
        let mut refused = |question: &ToSign, now: u64, part: &str| {
            let answer = signer.answer(question, now);
            assert_eq!(answer.envelope, None, "{part}");
            assert!(answer.why.as_deref().is_some_and(|why| why.contains(part)), "{answer:?}");
        };
        refused(&question(MsgType::Propose, 101), NOW, "exceeds the limit of 100");
        refused(&question(MsgType::Accept, -101), NOW, "exceeds the limit of 100");
        refused(&question(MsgType::Counter, i128::MIN), NOW, "exceeds the limit of 100");
        refused(&question(MsgType::Deliver, 1), NOW, "own key");
        refused(&question(MsgType::Propose, 1), NOW + 31_000_000, "clock");
        let other = ToSign { sender: AgentId([5; 32]).to_string(), ..question(MsgType::Propose, 1) };
        refused(&other, NOW, "another agent");
        refused(&ToSign { payload: "zz".into(), ..question(MsgType::Propose, 1) }, NOW, "hex");
        for _ in 0..2 {
            assert!(signer.answer(&question(MsgType::Propose, 1), NOW).envelope.is_some());
        }
        let answer = signer.answer(&question(MsgType::Propose, 1), NOW);
        assert!(answer.why.unwrap().contains("2 messages an hour"));
        let later = ToSign { timestamp_micros: NOW + HOUR, ..question(MsgType::Propose, 1) };
        assert!(signer.answer(&later, NOW + HOUR).envelope.is_some());
    }
}
