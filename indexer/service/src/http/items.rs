//! Rows as they are shown.

use crate::merge::ground_name;
pub(super) use crate::parse::base58;
use crate::parse::{Base58, EventFields, Program};
use crate::status::Standing;
use crate::store::{
    AgentRow, BatchRow, ChallengeRow, ContractRow, EnvelopeRow, FeedbackRow, GapRow, StoredEvent, signed,
    unsigned,
};
use serde::Serialize;
use serde_json::{Value, json};
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::units::Epoch;

fn base58_or_null(bytes: Option<&Vec<u8>>) -> Value {
    bytes.map_or(Value::Null, |bytes| base58(bytes).into())
}

fn hex_or_null(bytes: Option<&Vec<u8>>) -> Value {
    bytes.map_or(Value::Null, |bytes| hex::encode(bytes).into())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The word for a lease's state now, and how many epochs it is behind.
pub(super) fn lease_state(paid_through: Option<i64>, epoch: u64) -> (&'static str, u64) {
    let Some(paid) = paid_through else { return ("none", 0) };
    let lease = Lease { paid_through: Epoch(unsigned(paid)) };
    let word = match lease.state(Epoch(epoch)) {
        LeaseState::Active => "active",
        LeaseState::Grace => "grace",
        LeaseState::Deactivated => "deactivated",
    };
    (word, Epoch(epoch).since(lease.paid_through))
}

/// An agent's batch-derived vector.
pub(super) fn vector(row: &AgentRow) -> Value {
    json!({
        "reliability": row.reliability,
        "cooperation": row.cooperation,
        "notary": row.notary,
        "tasks": row.tasks,
        "notarized": row.notarized,
        "disputes": row.disputes,
        "batches": row.counted_batches,
        "last_active_slot": row.reputation_slot,
    })
}

/// AgentSummary.
pub(super) fn agent(row: &AgentRow, standing: &Standing) -> Value {
    let (state, behind) = lease_state(row.paid_through, standing.epoch);
    let stake = row.stake.map(|stake| {
        json!({
            "micro_usdc": stake.to_string(),
            "locked_since_slot": row.stake_since,
            "unlock_available_slot": row.unlock_slot,
            "open_challenges": row.open_challenges,
            "created_slot": row.stake_created,
        })
    });
    let nano = row.nano_address.as_ref().map(|address| {
        json!({
            "address": address,
            "balance_raw": row.nano_balance,
            "receivable_raw": row.nano_receivable,
            "checked": row.nano_checked,
        })
    });
    json!({
        "mint": base58(&row.mint),
        "number": row.number,
        "name": row.name,
        "symbol": row.symbol,
        "uri": row.uri,
        "soulbound": row.soulbound != 0,
        "owner": base58_or_null(row.owner.as_ref()),
        "registered_slot": row.registered_slot,
        "stake": stake,
        "lease": {
            "state": state,
            "paid_through_epoch": row.paid_through,
            "behind": behind,
            "last_paid_slot": row.lease_paid_slot,
        },
        "batches": {
            "count": row.batches,
            "last_epoch": row.last_epoch,
            "last_slot": row.last_batch_slot,
            "withheld": row.withheld,
            "digest": hex::encode(&row.head_digest),
        },
        "challenges": {
            "open": row.open_challenges,
            "answered": row.challenges_answered,
            "lost": row.challenges_lost,
        },
        "slashed_micro_usdc": row.slashed.to_string(),
        "reputation": vector(row),
        "nano": nano,
        "last_active_slot": row.last_active,
    })
}

/// An agent's page beyond the summary.
pub(super) fn agent_detail(row: &AgentRow, standing: &Standing) -> Value {
    let mut value = agent(row, standing);
    let mut detail = parsed(&row.reputation);
    let neutral = crate::reputation::vector_json(&zx1_protocol::reputation::Vector::default());
    if !detail.is_object() {
        detail = json!({});
    }
    if let Some(detail) = detail.as_object_mut() {
        for name in ["unbound", "real_time"] {
            detail.entry(name).or_insert_with(|| neutral.clone());
        }
        detail
            .entry("tally")
            .or_insert_with(|| json!({ "bound": 0, "left_out": 0, "unbound": 0, "repeated": 0 }));
        detail.entry("as_of_epoch").or_insert_with(|| standing.epoch.into());
        detail.insert("batch".into(), vector(row));
    }
    if let Some(object) = value.as_object_mut() {
        object.insert("metadata".into(), parsed(&row.metadata));
        object.insert("token_account".into(), base58_or_null(row.token.as_ref()));
        object.insert("member_index".into(), base58_or_null(row.member_index.as_ref()));
        object.insert("delegates".into(), parsed(&row.delegates));
        // The market's tournament does not exist yet.
        object.insert("elo".into(), Value::Null);
        object.insert("reputation_detail".into(), detail);
    }
    value
}

/// ChainEvent.
#[derive(Serialize)]
pub(super) struct Event<'a> {
    id: i64,
    slot: i64,
    block_time: Option<i64>,
    signature: Base58<'a>,
    ordinal: i64,
    program: Option<&'static str>,
    name: &'a str,
    agent: Option<Base58<'a>>,
    account: Base58<'a>,
    account_created_slot: i64,
    sequence: i64,
    finalized: bool,
    fields: EventFields<'a>,
}

impl<'a> Event<'a> {
    pub(super) fn new(stored: &'a StoredEvent, standing: &Standing) -> Self {
        let row = &stored.row;
        Self {
            id: stored.id,
            slot: row.slot,
            block_time: row.block_time,
            signature: Base58(&row.signature),
            ordinal: row.ordinal,
            program: Program::of_number(row.program).map(Program::name),
            name: &row.name,
            agent: row.agent.as_deref().map(Base58),
            account: Base58(&row.account),
            account_created_slot: row.created_slot,
            sequence: row.sequence,
            finalized: row.slot <= signed(standing.finalized),
            fields: EventFields(row),
        }
    }
}

/// BatchSummary.
pub(super) fn batch(row: &BatchRow, name: Option<&String>) -> Value {
    let message = crate::bundles::commitment(row).message();
    json!({
        "agent": base58(&row.agent),
        "agent_name": name,
        "epoch": row.epoch,
        "covers_from_epoch": row.covers_from,
        "submitted_slot": row.submitted_slot,
        "block_time": row.block_time,
        "signature": base58(&row.signature),
        "signer": base58(&row.signer),
        "payer": base58(&row.payer),
        "batch_hash": hex::encode(&row.batch_hash),
        "log_merkle_root": hex::encode(&row.log_root),
        "log_len": row.log_len,
        "arrays_root": hex::encode(&row.arrays_root),
        "arrays_len": row.arrays_len,
        "open": row.open != 0,
        "window_ends_slot": unsigned(row.submitted_slot).saturating_add(CHALLENGE_WINDOW_SLOTS),
        "challenges": row.challenges,
        "data": if row.data_bytes.is_some() { "served" } else { "withheld" },
        "data_bytes": row.data_bytes,
        "message": hex::encode(message),
    })
}

/// What a batch says of itself; null while its data is withheld.
pub(super) fn content(row: &BatchRow) -> Value {
    row.content.as_deref().map_or(Value::Null, parsed)
}

/// Challenge.
pub(super) fn challenge(row: &ChallengeRow, name: Option<&String>, standing: &Standing) -> Value {
    let until = unsigned(row.submitted_slot).saturating_add(CHALLENGE_WINDOW_SLOTS);
    let state = match row.succeeded {
        Some(0) => "failed",
        Some(_) => "succeeded",
        None if row.answered_slot.is_some() => "answered",
        None if standing.slot > until => "unanswered",
        None => "open",
    };
    json!({
        "address": base58(&row.address),
        "agent": base58(&row.agent),
        "agent_name": name,
        "epoch": row.epoch,
        "challenger": base58(&row.challenger),
        "ground": row.ground,
        "ground_name": ground_name(row.ground),
        "entry_hash": hex::encode(&row.entry_hash),
        "evidence_hash": hex::encode(&row.evidence_hash),
        "evidence_account": base58_or_null(row.evidence_account.as_ref()),
        "submitted_slot": row.submitted_slot,
        "answer_until_slot": until,
        "answered_slot": row.answered_slot,
        "answerer": base58_or_null(row.answerer.as_ref()),
        "leaf_index": row.leaf_index,
        "resolved_slot": row.resolved_slot,
        "succeeded": row.succeeded.map(|it| it != 0),
        "slashed_micro_usdc": row.slashed.map(|it| it.to_string()),
        "reward_micro_usdc": row.reward.map(|it| it.to_string()),
        "closed": row.closed != 0,
        "state": state,
        "expected_record": hex_or_null(row.expected.as_ref()),
        "signature": base58(&row.signature),
    })
}

/// Entry of the feedback log.
pub(super) fn entry(row: &FeedbackRow) -> Value {
    let resolution = row.resolution_slot.map(|slot| {
        let commit = row.fix_commit.as_deref().unwrap_or_default();
        // A SHA-1 id is followed by 12 zero bytes.
        let commit = match commit.split_last_chunk::<12>() {
            Some((id, zeros)) if *zeros == [0; 12] => id,
            _ => commit,
        };
        json!({
            "slot": slot,
            "contract_hash": hex_or_null(row.contract_hash.as_ref()),
            "commit": hex::encode(commit),
            "maintainer": base58_or_null(row.maintainer.as_ref()),
        })
    });
    json!({
        "index": row.number,
        "timestamp": row.timestamp,
        "slot": row.slot,
        "sender": base58(&row.sender),
        "payer": base58(&row.payer),
        "text": row.text,
        "previous_head": hex_or_null(row.previous_head.as_ref()),
        "head": hex::encode(&row.head),
        "signature": base58_or_null(row.signature.as_ref()),
        "resolution": resolution,
    })
}

/// Contract.
pub(super) fn contract(row: &ContractRow) -> Value {
    parsed(&row.summary)
}

/// A signed rating.
pub(super) fn rating(row: &EnvelopeRow, in_batch: bool, binding: Option<&str>) -> Value {
    json!({
        "hash": hex::encode(&row.hash),
        "from": base58(&row.rater),
        "target": base58(&row.target),
        "conversation": hex::encode(&row.conversation),
        "score": row.score,
        "outcome": row.outcome,
        "role": row.role,
        "is_dispute": row.is_dispute != 0,
        "slot": row.slot,
        "timestamp_micros": row.timestamp.to_string(),
        "in_batch": in_batch,
        "binding": binding,
    })
}

/// A gap.
pub(super) fn gap(row: &GapRow) -> Value {
    json!({
        "account": base58(&row.account),
        "account_created_slot": row.created_slot,
        "first": row.first,
        "last": row.last,
        "found_slot": row.found_slot,
        "state": row.state,
    })
}
