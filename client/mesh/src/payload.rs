//! What the payload of a message says, for people and programs: the formats that the protocol or this project
//! knows taken apart, everything else as hex.
//!
//! Nothing is refused here. A message that keeps the rules is shown, whatever its payload is; what does not
//! parse as its type's format is [`Shown::Opaque`].

use crate::text;
use serde::Serialize;
use zx1_protocol::beacon::Beacon;
use zx1_protocol::context::Context;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::{Advertise, Discover, Dispute, Offer, Verdict};
use zx1_protocol::payload::{BID_VALUE_LEN, BidType, FORMAT_HINT_LEN, Feedback, NotarizeBid, bid_value};

/// A payload, taken apart. Texts are a stranger's: whoever prints one escapes control characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Shown {
    /// ADVERTISE in the agreed form.
    Advertise {
        /// What the sender can do.
        caps: Vec<String>,
        /// Name of its payload schema.
        schema: String,
        /// In what the price is counted.
        unit: String,
        /// Usual price in that unit.
        #[serde(with = "text::decimal")]
        price: i128,
        /// Contract that is offered.
        #[serde(skip_serializing_if = "Option::is_none")]
        contract: Option<String>,
        /// Seconds for which it stands.
        ttl: u32,
    },
    /// DISCOVER in the agreed form.
    Discover {
        /// Capabilities that are looked for.
        want: Vec<String>,
        /// Maximum number of answers.
        max: u32,
    },
    /// PROPOSE, COUNTER or ACCEPT: every payload has a value, the rest is the agents' own.
    Bid {
        /// Bid value, in units that the agents agree on.
        #[serde(with = "text::decimal")]
        value: i128,
        /// Content behind the value, format hint included, as hex.
        content: String,
    },
    /// NOTARIZE_BID that asks for a notary.
    Request {
        /// Conversation id of the task.
        conversation: ConversationId,
        /// Terms, as hex.
        terms: String,
    },
    /// NOTARIZE_BID with terms that can be ranked.
    Offer {
        /// Conversation id of the task.
        conversation: ConversationId,
        /// What the notary asks for.
        #[serde(with = "text::decimal")]
        fee: i128,
        /// In what the fee is counted.
        unit: String,
        /// Seconds to the VERDICT.
        seconds: u32,
    },
    /// NOTARIZE_BID with terms in a format of the notary's own.
    OpaqueOffer {
        /// Conversation id of the task.
        conversation: ConversationId,
        /// Terms, as hex.
        terms: String,
    },
    /// VERDICT in the agreed form.
    Verdict {
        /// 0 negative, 1 neutral, 2 positive.
        outcome: u8,
        /// payload_hash of the judged DELIVER.
        #[serde(with = "text::bytes")]
        deliver: Hash,
        /// Reason in the sender's words.
        reason: String,
    },
    /// DISPUTE in the agreed form.
    Dispute {
        /// keccak256 of the VERDICT's envelope.
        #[serde(with = "text::bytes")]
        verdict: Hash,
        /// Reason in the sender's words.
        reason: String,
    },
    /// DELIVER that shows envelopes to somebody who did not receive them.
    Context {
        /// keccak256 of each envelope, as hex.
        envelopes: Vec<String>,
    },
    /// FEEDBACK, which every node reads.
    Feedback {
        /// Conversation id of the task.
        conversation: ConversationId,
        /// Who is rated.
        target: AgentId,
        /// -100 to 100.
        score: i8,
        /// 0 negative, 1 neutral, 2 positive.
        outcome: u8,
        /// Whether the outcome is contested.
        is_dispute: bool,
        /// 0 participant, 1 notary.
        role: u8,
    },
    /// BEACON: agent id and key are the envelope's own.
    Beacon {
        /// What the agent calls itself.
        name: String,
    },
    /// A format of the sender's own.
    Opaque {
        /// The first four bytes, when they are printable ASCII and may be a format hint.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// All bytes, as hex.
        hex: String,
    },
}

/// Takes the payload of a message of this type apart.
pub fn show(msg_type: MsgType, payload: &[u8]) -> Shown {
    known(msg_type, payload)
        .unwrap_or_else(|| Shown::Opaque { hint: hint(payload), hex: hex::encode(payload) })
}

/// The payload in a format that this project knows; `None` for another one.
fn known(msg_type: MsgType, payload: &[u8]) -> Option<Shown> {
    Some(match msg_type {
        MsgType::Advertise => {
            let Advertise { caps, schema, unit, price, contract, ttl } = Advertise::decode(payload).ok()?;
            Shown::Advertise {
                caps: owned(&caps),
                schema: schema.to_owned(),
                unit: unit.to_owned(),
                price,
                contract: contract.map(str::to_owned),
                ttl,
            }
        }
        MsgType::Discover => {
            let Discover { want, max } = Discover::decode(payload).ok()?;
            Shown::Discover { want: owned(&want), max }
        }
        MsgType::Propose | MsgType::Counter | MsgType::Accept => {
            let content = payload.get(BID_VALUE_LEN..).unwrap_or_default();
            Shown::Bid { value: bid_value(payload), content: hex::encode(content) }
        }
        MsgType::NotarizeBid => {
            let NotarizeBid { bid_type, conversation_id: conversation, terms } =
                NotarizeBid::decode(payload).ok()?;
            match (bid_type, Offer::decode(terms)) {
                (BidType::Request, _) => Shown::Request { conversation, terms: hex::encode(terms) },
                (BidType::Offer, Ok(Offer { fee, unit, seconds })) => {
                    Shown::Offer { conversation, fee, unit: unit.to_owned(), seconds }
                }
                (BidType::Offer, Err(_)) => Shown::OpaqueOffer { conversation, terms: hex::encode(terms) },
            }
        }
        MsgType::Verdict => {
            let Verdict { outcome, deliver, reason } = Verdict::decode(payload).ok()?;
            Shown::Verdict { outcome, deliver, reason: reason.to_owned() }
        }
        MsgType::Dispute => {
            let Dispute { verdict, reason } = Dispute::decode(payload).ok()?;
            Shown::Dispute { verdict, reason: reason.to_owned() }
        }
        MsgType::Deliver => {
            let context = Context::decode(payload).ok()?;
            let hashes = context.envelopes.iter().map(|envelope| hex::encode(Sha3::hashv(&[envelope])));
            Shown::Context { envelopes: hashes.collect() }
        }
        MsgType::Feedback => {
            let it = Feedback::decode(payload).ok()?;
            Shown::Feedback {
                conversation: it.conversation_id,
                target: it.target_agent,
                score: it.score,
                outcome: it.outcome,
                is_dispute: it.is_dispute,
                role: it.role,
            }
        }
        MsgType::Beacon => Shown::Beacon { name: Beacon::parse(payload).ok()?.name.to_owned() },
        MsgType::Reject | MsgType::NotarizeAssign => return None,
    })
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn hint(payload: &[u8]) -> Option<String> {
    let hint = payload.get(..FORMAT_HINT_LEN)?;
    let printable = hint.iter().all(u8::is_ascii_graphic);
    printable.then(|| hint.iter().copied().map(char::from).collect())
}
