//! A request to send, as the message that is meant.

use crate::error::{Error, Result};
use zx1_operator::message::type_of;
use zx1_operator::node::wire::{Fields, Send};
use zx1_protocol::draft::DraftError;
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::{Advertise, Discover, Dispute, Verdict};
use zx1_protocol::payload::{self, Feedback};

/// What is to be signed.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Words {
    pub msg_type: MsgType,
    pub recipient: AgentId,
    pub conversation: ConversationId,
    pub payload: Vec<u8>,
}

/// The message that a request means. `fresh` is the id of a new conversation, should it begin one.
///
/// # Errors
/// 7688 with what is wrong; the protocol's for a payload that receivers would drop.
pub fn words(request: &Send, fresh: ConversationId) -> Result<Words> {
    let word = &request.r#type;
    let msg_type = type_of(word).ok_or_else(|| bad(format!("unknown message type '{word}'")))?;
    if msg_type == MsgType::Beacon {
        return Err(bad("the node sends BEACONs by itself".to_owned()));
    }
    let recipient = match (&request.recipient, msg_type.is_broadcast()) {
        (None, true) => BROADCAST,
        (Some(_), true) => return Err(bad(format!("{word} goes to a topic, without a recipient"))),
        (None, false) => return Err(bad(format!("{word} needs a recipient"))),
        (Some(agent), false) => this(agent, "recipient")?,
    };
    let conversation = match &request.conversation {
        Some(id) => this(id, "conversation")?,
        None if msg_type.begins_conversation() => fresh,
        None => return Err(bad(format!("{word} belongs to a conversation"))),
    };
    let payload = payload(request, msg_type, conversation)?;
    Ok(Words { msg_type, recipient, conversation, payload })
}

fn payload(request: &Send, msg_type: MsgType, conversation: ConversationId) -> Result<Vec<u8>> {
    let content = match (&request.text, &request.hex, &request.fields) {
        (Some(text), None, None) => text.as_bytes().to_vec(),
        (None, Some(hex), None) => hex::decode(hex).map_err(|_| bad("hex is not hexadecimal".to_owned()))?,
        (None, None, Some(fields)) => of_fields(fields, msg_type, conversation)?,
        (None, None, None) => Vec::new(),
        _ => return Err(bad("at most one of text, hex and fields is given".to_owned())),
    };
    match (&request.value, msg_type.has_bid_value()) {
        (None, false) => Ok(content),
        (None, true) => Err(bad(format!("{} needs a value", request.r#type))),
        (Some(_), false) => Err(bad(format!("{} has no value", request.r#type))),
        (Some(value), true) => {
            let value = value.parse().map_err(|_| bad("value is not an integer".to_owned()))?;
            let bid = payload::bid_payload(value, &content);
            // The place of the owner's signature, which the node does not have (decision D5).
            let is_accept = msg_type == MsgType::Accept;
            Ok(if is_accept { payload::append_presignature(bid, &[0; 64]) } else { bid })
        }
    }
}

fn of_fields(fields: &Fields, msg_type: MsgType, conversation_id: ConversationId) -> Result<Vec<u8>> {
    let texts = |texts: &[String]| -> Vec<String> { texts.to_vec() };
    let (of, payload) = match fields {
        Fields::Advertise { caps, schema, unit, price, contract, ttl } => {
            let caps = texts(caps);
            let price = if price.is_empty() { "0" } else { price };
            let advert = Advertise {
                caps: caps.iter().map(String::as_str).collect(),
                schema,
                unit: if unit.is_empty() { "none" } else { unit },
                price: price.parse().map_err(|_| bad("price is not an integer".to_owned()))?,
                contract: contract.as_deref(),
                ttl: *ttl,
            };
            (MsgType::Advertise, advert.to_payload().map_err(|error| bad_payload(&error)))
        }
        Fields::Discover { want, max } => {
            let want = texts(want);
            let search = Discover { want: want.iter().map(String::as_str).collect(), max: *max };
            (MsgType::Discover, search.to_payload().map_err(|error| bad_payload(&error)))
        }
        Fields::Verdict { outcome, deliver, reason } => {
            let verdict = Verdict { outcome: *outcome, deliver: hash(deliver, "deliver")?, reason };
            (MsgType::Verdict, verdict.to_payload().map_err(|error| bad_payload(&error)))
        }
        Fields::Dispute { verdict, reason } => {
            let dispute = Dispute { verdict: hash(verdict, "verdict")?, reason };
            (MsgType::Dispute, dispute.to_payload().map_err(|error| bad_payload(&error)))
        }
        Fields::Feedback { target, score, outcome, is_dispute, role } => {
            let rating = Feedback {
                conversation_id,
                target_agent: this(target, "target")?,
                score: *score,
                outcome: *outcome,
                is_dispute: *is_dispute,
                role: *role,
            };
            let payload = rating.to_cbor().map_err(|error| Error::from(DraftError::Payload(error)));
            (MsgType::Feedback, payload)
        }
    };
    if of != msg_type {
        return Err(bad("the fields are those of another message type".to_owned()));
    }
    payload
}

fn bad(why: String) -> Error {
    Error::BadRequest(why)
}

fn bad_payload(error: &impl std::fmt::Display) -> Error {
    let sentence = error.to_string();
    bad(sentence.trim_end_matches('.').to_owned())
}

fn this<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str, what: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| {
        let why = error.to_string();
        bad(format!("{what} '{}': {}", text.chars().take(80).collect::<String>(), why.trim_end_matches('.')))
    })
}

/// A hash of a request.
///
/// # Errors
/// 7688
pub fn hash(text: &str, what: &str) -> Result<Hash> {
    let mut hash = [0; 32];
    let decoded = hex::decode_to_slice(text, &mut hash);
    decoded.map_err(|_| bad(format!("{what} has 64 hexadecimal digits")))?;
    Ok(hash)
}

/// The agent of a path.
///
/// # Errors
/// 7688
pub fn agent(text: &str) -> Result<AgentId> {
    this(text, "agent")
}

/// The conversation of a path.
///
/// # Errors
/// 7688
pub fn conversation(text: &str) -> Result<ConversationId> {
    this(text, "conversation")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_mesh::payload::{Shown, show};

    const FRESH: ConversationId = ConversationId([9; 16]);

    fn other() -> String {
        AgentId([2; 32]).to_string()
    }

    fn refusal(request: Send) -> String {
        words(&request, FRESH).unwrap_err().to_string()
    }

    #[test]
    fn a_proposal_begins_a_conversation_and_has_value_and_content() {
        let request = Send {
            r#type: "propose".into(),
            recipient: Some(other()),
            value: Some("-7".into()),
            text: Some("translate".into()),
            ..Send::default()
        };
        let words = words(&request, FRESH).unwrap();
        assert_eq!((words.msg_type, words.conversation), (MsgType::Propose, FRESH));
        assert_eq!(payload::bid_value(&words.payload), -7);
        assert!(words.payload.ends_with(b"translate"));
    }

    #[test]
    fn fields_become_the_payload_that_others_read() {
        let fields = Fields::Advertise {
            caps: vec!["ocr".into()],
            schema: String::new(),
            unit: "XNO".into(),
            price: "5".into(),
            contract: None,
            ttl: 60,
        };
        let request = Send { r#type: "advertise".into(), fields: Some(fields), ..Send::default() };
        let words = words(&request, FRESH).unwrap();
        let Shown::Advertise { caps, price, ttl, .. } = show(words.msg_type, &words.payload) else {
            panic!()
        };
        assert_eq!((caps, price, ttl), (vec!["ocr".to_owned()], 5, 60));
        assert_eq!(words.recipient, BROADCAST);
    }

    #[test]
    fn every_mistake_is_named() {
        let of = |word: &str| Send { r#type: word.into(), ..Send::default() };
        let to = |word: &str| Send { recipient: Some(other()), ..of(word) };
        let conversation = Some("09".repeat(16));
        for (request, part) in [
            (of("shout"), "unknown message type 'shout'"),
            (of("beacon"), "by itself"),
            (of("propose"), "needs a recipient"),
            (to("advertise"), "without a recipient"),
            (to("propose"), "needs a value"),
            (to("deliver"), "belongs to a conversation"),
            (Send { value: Some("1.5".into()), ..to("propose") }, "value is not an integer"),
            (
                Send { value: Some("1".into()), conversation: conversation.clone(), ..to("reject") },
                "has no value",
            ),
            (Send { recipient: Some("x".into()), ..of("propose") }, "recipient 'x'"),
            (Send { conversation: Some("zz".into()), ..to("deliver") }, "conversation 'zz'"),
            (Send { hex: Some("0".into()), text: Some(String::new()), ..of("discover") }, "at most one"),
            (Send { hex: Some("0".into()), ..of("discover") }, "not hexadecimal"),
            (
                Send { fields: Some(Fields::Discover { want: vec!["a".into()], max: 1 }), ..of("advertise") },
                "another message type",
            ),
            (
                Send { fields: Some(Fields::Discover { want: vec![], max: 1 }), ..of("discover") },
                "from 1 to 16",
            ),
        ] {
            let said = refusal(request);
            assert!(said.contains(part), "{said} / {part}");
        }
    }
}
