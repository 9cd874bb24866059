//! Notaries: looking for one as a party, being one, and the ratings that follow.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A rating that is owed
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Due {
    /// who is rated
    pub target: String,
    /// 0 participant, 1 notary
    pub role: u8,
}

/// A rating to give: FEEDBACK in a conversation
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rate {
    /// conversation, 32 hex digits
    pub conversation: String,
    /// who is rated
    pub target: String,
    /// -100 to 100
    pub score: i8,
    /// 0 negative, 1 neutral, 2 positive; without one by the sign of the score
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<u8>,
    /// 0 participant, 1 notary; without one the role in which the agent took part
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<u8>,
}

/// A request for a notary
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskNotary {
    /// conversation of the task, 32 hex digits
    pub conversation: String,
    /// in what the fee is to be counted; offers in it rank before others of the same score
    pub unit: String,
}

/// A choice among the offers
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChooseNotary {
    /// conversation of the task, 32 hex digits
    pub conversation: String,
    /// agent that is to judge
    pub notary: String,
}

/// The search for the notary of one task
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Search {
    /// conversation of the task, 32 hex digits
    pub conversation: String,
    /// collecting, choosing, assigned, awaiting, judged or unjudged
    pub stage: String,
    /// when the stage ends by itself; none once the search is over
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_micros: Option<u64>,
    /// agent whose VERDICT counts
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notary: Option<String>,
    /// agents that were assigned so far, the first first
    pub notaries: Vec<String>,
    /// offers that can be chosen, the best first
    pub offers: Vec<NotaryOffer>,
    /// the VERDICT that counts
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Judgement>,
}

/// A notary's offer
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotaryOffer {
    /// agent that offers
    pub notary: String,
    /// what it asks for
    pub fee: String,
    /// in what the fee is counted
    pub unit: String,
    /// seconds to the VERDICT
    pub seconds: u32,
    /// its score as a notary by the ratings that were heard, in thousandths
    pub notary_score: i64,
}

/// A VERDICT that counts
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Judgement {
    /// agent that judged
    pub notary: String,
    /// 0 negative, 1 neutral, 2 positive
    pub outcome: u8,
    /// payload hash of the judged DELIVER
    pub deliver: String,
    /// hash of the VERDICT's envelope, which a DISPUTE names
    pub envelope: String,
}

/// Terms under which this agent offers to be a notary
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Serve {
    /// what it asks for, not negative
    pub fee: String,
    /// in what the fee is counted
    pub unit: String,
    /// seconds from the assignment to its VERDICT, 3 600 at most
    pub seconds: u32,
    /// tasks at a time, offers included; without one as many as are kept
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
}

/// A task of this agent as a notary
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Desk {
    /// conversation of the task, 32 hex digits
    pub conversation: String,
    /// offered, assigned, judged, missed or lapsed
    pub stage: String,
    /// when the stage ends by itself; none once the task is over
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_micros: Option<u64>,
    /// the parties as far as they are known, first the one that asked
    pub parties: Vec<String>,
    /// whether a VERDICT can be given now
    pub can_judge: bool,
    /// what the parties showed, in the order in which it came
    pub exhibits: Vec<Exhibit>,
    /// ratings that this agent owes
    pub owed: Vec<Due>,
}

/// An envelope that a party showed the notary
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Exhibit {
    /// hash of the message's header, which names it
    pub message: String,
    /// message type as a word
    pub r#type: String,
    /// agent that signed it
    pub sender: String,
    /// agent that it is for
    pub recipient: String,
    /// the sender's clock
    pub timestamp_micros: u64,
    /// hash of the payload
    pub payload_hash: String,
    /// whether it is a work product, which a VERDICT can name
    pub is_delivery: bool,
    /// the payload taken apart; only where one task is asked for
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub payload: Option<Value>,
}

/// A judgement to give
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Judge {
    /// conversation of the task, 32 hex digits
    pub conversation: String,
    /// 0 negative, 1 neutral, 2 positive
    pub outcome: u8,
    /// payload hash of the judged DELIVER, 64 hex digits; without one the last that was shown
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver: Option<String>,
    /// reason, at most 1 024 bytes
    #[serde(default)]
    pub reason: String,
}
