//! Events of the streams (protocol.md, 9). Each has an origin, so that it is published once.

use super::Merge;
use crate::parse::base58;
use crate::store::{AgentRow, EventRow, StreamRow, unsigned};
use serde_json::{Map, Value, json};
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_interface::events::{ChallengeResolved, ChallengeSubmitted};
use zx1_protocol::ids::AgentId;

/// The types of stream events, as clients name them.
pub const KINDS: [&str; 9] = [
    "message",
    "reputation_update",
    "agent_joined",
    "agent_deactivated",
    "notary_assigned",
    "verdict_issued",
    "dispute_raised",
    "challenge_submitted",
    "challenge_resolved",
];

/// The name of a challenge's ground, `unknown` for other numbers.
pub fn ground_name(ground: i64) -> &'static str {
    match ground {
        1 => "bid",
        2 => "selection",
        3 => "verifier",
        4 => "feedback",
        5 => "double_bid",
        _ => "unknown",
    }
}

/// An event of the streams: what all have, then its own fields (a JSON object).
pub fn stream_row(
    kind: &str,
    origin: String,
    agent: Option<&AgentRow>,
    row: Option<&EventRow>,
    now_ms: i64,
    fields: Value,
) -> StreamRow {
    let slot = row.map(|row| row.slot);
    let signature = row.map(|row| row.signature.clone());
    let mut body = Map::new();
    body.insert("type".into(), kind.into());
    body.insert("slot".into(), json!(slot));
    body.insert("block_time".into(), json!(row.and_then(|row| row.block_time)));
    body.insert("at".into(), now_ms.into());
    body.insert("agent".into(), json!(agent.map(|agent| agent.mint)));
    let name = agent.map(|agent| agent.name.clone()).filter(|name| !name.is_empty());
    body.insert("agent_name".into(), json!(name));
    body.insert("signature".into(), json!(signature.as_deref().map(base58)));
    body.insert("retracts".into(), Value::Null);
    if let Value::Object(fields) = fields {
        body.extend(fields);
    }
    StreamRow {
        kind: kind.to_owned(),
        origin,
        slot,
        agent: agent.map(|agent| agent.mint),
        signature,
        at: now_ms,
        body: Value::Object(body).to_string(),
    }
}

const RETRACTS: &str = "retracts/";

/// Whether it takes another one back.
pub fn is_retraction(row: &StreamRow) -> bool {
    row.origin.starts_with(RETRACTS)
}

/// The event that takes an earlier one back, whose slot has vanished.
pub fn retraction(id: i64, earlier: &StreamRow, now_ms: i64) -> StreamRow {
    let mut body: Map<String, Value> = serde_json::from_str(&earlier.body).unwrap_or_default();
    body.insert("retracts".into(), id.into());
    body.insert("at".into(), now_ms.into());
    StreamRow {
        origin: format!("{RETRACTS}{id}"),
        at: now_ms,
        body: Value::Object(body).to_string(),
        ..earlier.clone()
    }
}

impl Merge {
    fn announce(&mut self, kind: &str, origin: String, mint: AgentId, row: Option<&EventRow>, fields: Value) {
        if !self.silent {
            let now_ms = self.now_ms;
            let agent = self.agent(mint).clone();
            self.stream.push(stream_row(kind, origin, Some(&agent), row, now_ms, fields));
        }
    }

    pub(super) fn announce_joined(&mut self, row: &EventRow, mint: AgentId, cause: &str) {
        let agent = self.agent(mint);
        let fields = json!({
            "cause": cause,
            "owner": agent.owner.as_deref().map(base58),
            "number": Some(agent.number).filter(|number| *number > 0),
            "paid_through_epoch": agent.paid_through,
        });
        self.announce("agent_joined", origin(row), mint, Some(row), fields);
    }

    /// A lease that has ended, seen by a tick or by the clock; told once for each time that it ends.
    pub fn announce_deactivated(&mut self, row: Option<&EventRow>, mint: AgentId, cause: &str, epoch: i64) {
        let paid_through = self.agent(mint).paid_through;
        let origin = format!("deactivated/{mint}/{}", paid_through.unwrap_or(-1));
        let fields = json!({ "cause": cause, "epoch": epoch, "paid_through_epoch": paid_through });
        self.announce("agent_deactivated", origin, mint, row, fields);
    }

    pub(super) fn announce_challenge(&mut self, row: &EventRow, e: &ChallengeSubmitted) {
        let fields = json!({
            "challenge": base58(&e.challenge),
            "epoch": e.epoch_number,
            "challenger": base58(&e.challenger),
            "ground": e.ground,
            "ground_name": ground_name(i64::from(e.ground)),
            "answer_until_slot": unsigned(row.created_slot).saturating_add(CHALLENGE_WINDOW_SLOTS),
        });
        self.announce("challenge_submitted", origin(row), e.agent_id.into(), Some(row), fields);
    }

    pub(super) fn announce_resolved(&mut self, row: &EventRow, e: &ChallengeResolved) {
        let fields = json!({
            "challenge": base58(&e.challenge),
            "epoch": e.epoch_number,
            "challenger": base58(&e.challenger),
            "succeeded": e.succeeded != 0,
            "slashed_micro_usdc": e.slashed.to_string(),
            "reward_micro_usdc": e.reward.to_string(),
        });
        self.announce("challenge_resolved", origin(row), e.agent_id.into(), Some(row), fields);
    }
}

/// With the slot: a transaction that lands again after a fork is published again.
fn origin(row: &EventRow) -> String {
    format!("event/{}/{}/{}", row.slot, base58(&row.signature), row.ordinal)
}
