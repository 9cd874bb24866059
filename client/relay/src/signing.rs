//! The texts that signatures cover: those of existing clients, and `zx1_sig`, which covers the terms too.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zx1_market::Json;

use crate::json::{Value, js_number, whole};

/// The signed fields of a proposal. What is falsy in JavaScript is written as nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The recipient, `@id`.
    pub to: String,
    /// What is to be done.
    pub task: String,
    /// How much; any number.
    pub amount: Option<f64>,
    /// What the signature is of.
    pub currency: Option<String>,
    /// Where it is paid to.
    pub payment_code: Option<String>,
    /// Covered by `zx1_sig` only.
    pub terms: Option<String>,
    /// Seconds from receipt.
    pub expires: Option<f64>,
    /// Points of the rating.
    pub elo_stake: Option<f64>,
    /// A market's contract, `https://host#<16 hex>`; covered by `zx1_sig` only.
    pub contract: Option<String>,
    /// A conversation of envelopes, 32 hex digits; covered by `zx1_sig` only.
    pub conversation: Option<String>,
}

fn text(value: Option<&String>) -> &str {
    value.map_or("", String::as_str)
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| *value != 0.0).map(js_number).unwrap_or_default()
}

/// AUTH of IDENTIFY's challenge.
pub fn auth(nonce: &str, challenge_id: &str, timestamp: f64) -> String {
    format!("AGENTCHAT_AUTH|{nonce}|{challenge_id}|{}", js_number(timestamp))
}

/// PROPOSAL as existing clients sign it; the terms are not covered.
pub fn proposal(terms: &Terms) -> String {
    [
        terms.to.as_str(),
        &terms.task,
        &number(terms.amount),
        text(terms.currency.as_ref()),
        text(terms.payment_code.as_ref()),
        &number(terms.expires),
        &number(terms.elo_stake),
    ]
    .join("|")
}

/// What `zx1_sig` covers: everything, by the hash of canonical JSON.
pub fn zx1_proposal(terms: &Terms) -> String {
    let text = |value: Option<&String>| value.map_or(Json::Null, |text| Json::Str(text.clone()));
    // A whole number is an integer to Python and JavaScript alike, so 5 and 5.0 are signed alike.
    let number = |value: Option<f64>| match value {
        None => Json::Null,
        Some(value) => match whole(value) {
            Some(whole) => Json::Int(whole.into()),
            None => Json::Float(value),
        },
    };
    let canonical = Json::object([
        ("to", Json::Str(terms.to.clone())),
        ("task", Json::Str(terms.task.clone())),
        ("amount", number(terms.amount)),
        ("currency", text(terms.currency.as_ref())),
        ("payment_code", text(terms.payment_code.as_ref())),
        ("terms", text(terms.terms.as_ref())),
        ("expires", number(terms.expires)),
        ("elo_stake", number(terms.elo_stake)),
        ("contract", text(terms.contract.as_ref())),
        ("conversation", text(terms.conversation.as_ref())),
    ]);
    format!("zx1/relay/v1|PROPOSAL|{}", hex::encode(canonical.sha256()))
}

/// ACCEPT of a proposal.
pub fn accept(id: &str, payment_code: Option<&String>, elo_stake: Option<f64>) -> String {
    format!("ACCEPT|{id}|{}|{}", text(payment_code), number(elo_stake))
}

/// REJECT of a proposal.
pub fn reject(id: &str, reason: Option<&String>) -> String {
    format!("REJECT|{id}|{}", text(reason))
}

/// COMPLETE of a proposal.
pub fn complete(id: &str, proof: Option<&String>) -> String {
    format!("COMPLETE|{id}|{}", text(proof))
}

/// DISPUTE of a proposal.
pub fn dispute(id: &str, reason: &str) -> String {
    format!("DISPUTE|{id}|{reason}")
}

/// A message. Relays pass its signature on and do not check it.
pub fn message(to: &str, content: &str, ts: f64) -> String {
    Value::object([("to", to.into()), ("content", content.into()), ("ts", ts.into())]).stringify()
}

/// REGISTER_SKILLS: the list as it was sent, order and all.
pub fn skills(skills: &Value) -> String {
    format!("REGISTER_SKILLS|{}", hex::encode(Sha256::digest(skills.stringify().as_bytes())))
}

/// A key's successor, signed by both keys.
pub fn rotation(old_pubkey: &str, new_pubkey: &str, timestamp: f64) -> String {
    let fields = [
        ("old_pubkey", old_pubkey.into()),
        ("new_pubkey", new_pubkey.into()),
        ("timestamp", timestamp.into()),
    ];
    Value::object(fields).stringify()
}

/// The end of a key.
pub fn revocation(pubkey: &str, agent_id: &str, reason: &str, timestamp: f64) -> String {
    Value::object([
        ("type", "REVOCATION".into()),
        ("pubkey", pubkey.into()),
        ("agent_id", agent_id.into()),
        ("reason", reason.into()),
        ("timestamp", timestamp.into()),
    ])
    .stringify()
}
