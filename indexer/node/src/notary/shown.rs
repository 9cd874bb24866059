//! Searches and tasks as the local API shows them.

use super::rows::Rows;
use std::collections::BTreeMap;
use zx1_mesh::conversation::Due;
use zx1_mesh::notary::{Desk, Search};
use zx1_mesh::payload;
use zx1_operator::message::type_name;
use zx1_operator::node::wire;
use zx1_protocol::context::Context;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::{Hash, Sha3};

/// A search as the local API shows it.
pub(super) fn search(row: &Search) -> wire::Search {
    let offer = |bid: &zx1_mesh::notary::Bid| wire::NotaryOffer {
        notary: bid.notary.to_string(),
        fee: bid.fee.to_string(),
        unit: bid.unit.clone(),
        seconds: bid.seconds,
        notary_score: bid.score,
    };
    wire::Search {
        conversation: row.conversation().to_string(),
        stage: row.stage().as_str().to_owned(),
        until_micros: row.until(),
        notary: row.notary().map(|notary| notary.to_string()),
        notaries: row.notaries().map(|notary| notary.to_string()).collect(),
        offers: row.offers().iter().map(offer).collect(),
        verdict: row.verdict().map(|it| wire::Judgement {
            notary: it.notary.to_string(),
            outcome: it.outcome,
            deliver: hex::encode(it.deliver),
            envelope: hex::encode(it.envelope),
        }),
    }
}

/// A task of this agent as a notary. `owed` are the ratings that were not given yet, `payloads` those that the parties
/// showed, by their messages.
pub(super) fn desk(row: &Desk, owed: &[Due], payloads: &BTreeMap<Hash, serde_json::Value>) -> wire::Desk {
    let (asker, other) = row.parties();
    let exhibits = row.exhibits().iter().map(|it| wire::Exhibit {
        message: hex::encode(it.message32),
        r#type: MsgType::try_from(it.msg_type).map(type_name).unwrap_or_default(),
        sender: it.sender.to_string(),
        recipient: it.recipient.to_string(),
        timestamp_micros: it.timestamp,
        payload_hash: hex::encode(it.payload_hash),
        is_delivery: it.is_delivery,
        payload: payloads.get(&it.message32).cloned(),
    });
    wire::Desk {
        conversation: row.conversation().to_string(),
        stage: row.stage().as_str().to_owned(),
        until_micros: row.until(),
        parties: [Some(asker), other].into_iter().flatten().map(|party| party.to_string()).collect(),
        can_judge: row.can_judge(),
        exhibits: exhibits.collect(),
        owed: dues(owed),
    }
}

/// Ratings that are owed.
pub fn dues(owed: &[Due]) -> Vec<wire::Due> {
    owed.iter().map(|due| wire::Due { target: due.target.to_string(), role: due.role }).collect()
}

/// All searches of this agent.
pub(super) fn searches(rows: &Rows) -> Vec<wire::Search> {
    rows.searches.iter().map(search).collect()
}

/// The payloads of the envelopes that a context shows, taken apart, by their messages. Only what the row has as an
/// exhibit was checked.
pub(super) fn payloads_of(context: &[u8], payloads: &mut BTreeMap<Hash, serde_json::Value>) {
    let Ok(context) = Context::decode(context) else { return };
    for bytes in context.envelopes {
        if let Ok(envelope) = Envelope::decode(bytes)
            && envelope.check_payload::<Sha3>().is_ok()
            && let Ok(shown) = serde_json::to_value(payload::show(envelope.header.msg_type, envelope.payload))
        {
            payloads.insert(envelope.header.message32::<Sha3>(), shown);
        }
    }
}
