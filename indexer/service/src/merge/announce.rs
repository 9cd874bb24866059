//! Events of the streams (protocol.md, 9). Each has an origin, so that it is published once.

use super::Merge;
use crate::parse::base58;
use crate::store::{AgentRow, EventRow, StreamRow, unsigned};
use serde_json::{Map, Value, json};
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_interface::events::{
    BatchWithheld, ChallengeAnswered, ChallengeResolved, ChallengeSubmitted, KeyAdded, KeyEnded, LeafAsked,
    TakenOver,
};
use zx1_protocol::challenge::show_deadline;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::Slot;

/// The types of stream events, as clients name them.
pub const KINDS: [&str; 18] = [
    "contract_posted",
    "contract_taken",
    "contract_repaired",
    "contract_paid",
    "message",
    "reputation_update",
    "agent_joined",
    "agent_deactivated",
    "taken_over",
    "key_added",
    "key_ended",
    "notary_assigned",
    "verdict_issued",
    "dispute_raised",
    "challenge_submitted",
    "challenge_resolved",
    "leaf_asked",
    "batch_withheld",
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

/// The name of an ask's tree, `unknown` for other numbers.
pub fn tree_name(tree: i64) -> &'static str {
    match tree {
        0 => "log",
        1 => "arrays",
        _ => "unknown",
    }
}

/// The names of a key's scopes.
pub fn scope_names(scopes: u8) -> Vec<&'static str> {
    let named = Scopes::NAMED.into_iter().filter(|(scope, _)| Scopes(scopes).has(*scope));
    named.map(|(_, name)| name).collect()
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

    pub(super) fn announce_taken_over(&mut self, row: &EventRow, e: &TakenOver) {
        let fields = json!({
            "number": e.number,
            "owner": base58(&e.owner),
            "former_owner": base58(&e.former_owner),
            "from_epoch": e.from_epoch,
            "era": e.era,
        });
        self.announce("taken_over", origin(row), e.agent_mint.into(), Some(row), fields);
    }

    /// The notice that a key's first epoch leaves the holder time for (decision P1).
    pub(super) fn announce_key_added(&mut self, row: &EventRow, e: &KeyAdded) {
        let fields = json!({
            "key": base58(&e.key),
            "owner": base58(&e.owner),
            "scopes": e.scopes,
            "scope_names": scope_names(e.scopes),
            "from_epoch": e.from_epoch,
            "tenure": e.tenure,
        });
        self.announce("key_added", origin(row), e.agent_mint.into(), Some(row), fields);
    }

    pub(super) fn announce_key_ended(&mut self, row: &EventRow, e: &KeyEnded) {
        let fields = json!({ "key": base58(&e.key), "until_epoch": e.until_epoch });
        self.announce("key_ended", origin(row), e.agent_mint.into(), Some(row), fields);
    }

    pub(super) fn announce_challenge(&mut self, row: &EventRow, e: &ChallengeSubmitted) {
        let replaced = Some(base58(&e.replaced)).filter(|_| e.replaced != [0; 32]);
        let fields = json!({
            "challenge": base58(&e.challenge),
            "epoch": e.epoch_number,
            "era": e.era,
            "rank": e.rank,
            "challenger": base58(&e.challenger),
            "replaced": replaced,
            "claim": hex::encode(e.claim),
            "ground": e.ground,
            "ground_name": ground_name(i64::from(e.ground)),
            "value_known": e.value_known != 0,
            "answer_until_slot": unsigned(row.created_slot).saturating_add(CHALLENGE_WINDOW_SLOTS),
        });
        self.announce("challenge_submitted", origin(row), e.agent_id.into(), Some(row), fields);
    }

    pub(super) fn announce_answered(&mut self, row: &EventRow, e: &ChallengeAnswered) {
        let known = self.challenges.get(&(e.challenge, row.created_slot));
        let fields = json!({
            "challenge": base58(&e.challenge),
            "epoch": known.map(|challenge| challenge.epoch),
            "challenger": known.map(|challenge| base58(&challenge.challenger)),
            "outcome": super::ANSWERED,
            "succeeded": false,
            "answerer": base58(&e.answerer),
            "slashed_micro_usdc": "0",
            "reward_micro_usdc": "0",
        });
        self.announce("challenge_resolved", origin(row), e.agent_id.into(), Some(row), fields);
    }

    pub(super) fn announce_resolved(&mut self, row: &EventRow, e: &ChallengeResolved) {
        let fields = json!({
            "challenge": base58(&e.challenge),
            "epoch": e.epoch_number,
            "challenger": base58(&e.challenger),
            "outcome": e.outcome,
            "succeeded": e.outcome == 2,
            "answerer": null,
            "slashed_micro_usdc": e.slashed.to_string(),
            "reward_micro_usdc": e.reward.to_string(),
        });
        self.announce("challenge_resolved", origin(row), e.agent_id.into(), Some(row), fields);
    }

    pub(super) fn announce_asked(&mut self, row: &EventRow, e: &LeafAsked) {
        let fields = json!({
            "ask": base58(&e.ask),
            "epoch": e.epoch_number,
            "era": e.era,
            "tree": e.tree,
            "tree_name": tree_name(i64::from(e.tree)),
            "index": e.index,
            "asker": base58(&e.asker),
            "show_until_slot": show_deadline(Slot(unsigned(row.created_slot))).0,
        });
        self.announce("leaf_asked", origin(row), e.agent_id.into(), Some(row), fields);
    }

    pub(super) fn announce_withheld(&mut self, row: &EventRow, e: &BatchWithheld) {
        let fields = json!({ "epoch": e.epoch_number });
        self.announce("batch_withheld", origin(row), e.agent_id.into(), Some(row), fields);
    }
}

/// With the slot: a transaction that lands again after a fork is published again.
fn origin(row: &EventRow) -> String {
    format!("event/{}/{}/{}", row.slot, base58(&row.signature), row.ordinal)
}
