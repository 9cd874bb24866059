//! The words that parameters take: what a query is held against, and what the OpenAPI document lists.

use crate::parse::{ATTESTED, REGISTERED, UNATTESTED};
use crate::store::{AgentRow, Value};
use zx1_chain::rpc::Event;

/// What a list may be sorted by: the word, the expression, and a row's value of it.
pub(super) type Sort = (&'static str, &'static str, fn(&AgentRow) -> Value);

pub(super) const SORTS: [Sort; 12] = [
    ("number", "number", |row| row.number.into()),
    ("name", "search", |row| row.search.clone().into()),
    ("stake", "COALESCE(stake, -1)", |row| row.stake.map_or(Value::Int(-1), Value::from)),
    ("lease", "COALESCE(paid_through, -1)", |row| row.paid_through.unwrap_or(-1).into()),
    ("batches", "batches", |row| row.batches.into()),
    ("reliability", "reliability", |row| row.reliability.into()),
    ("cooperation", "cooperation", |row| row.cooperation.into()),
    ("notary", "notary", |row| row.notary.into()),
    ("tasks", "tasks", |row| row.tasks.into()),
    ("disputes", "disputes", |row| row.disputes.into()),
    ("challenges_lost", "challenges_lost", |row| row.challenges_lost.into()),
    ("last_active", "COALESCE(last_active, -1)", |row| row.last_active.unwrap_or(-1).into()),
];

pub(super) const ORDERS: [&str; 2] = ["asc", "desc"];
/// States of a lease.
pub(super) const AGENT_STATES: [&str; 4] = ["active", "grace", "deactivated", "none"];

/// Whether a batch's data is served.
pub(super) const DATA: [&str; 2] = ["served", "missing"];
pub(super) const RECORD_KINDS: [&str; 4] = ["bid", "selection", "verifier", "feedback"];

pub(super) const CHALLENGE_STATES: [&str; 6] =
    ["open", "unanswered", "answered", "succeeded", "empty", "closed"];
pub(super) const ASK_STATES: [&str; 6] = ["open", "overdue", "shown", "withheld", "settled", "closed"];

/// Names of all events.
pub(super) fn event_names_known() -> Vec<&'static str> {
    Event::NAMES.iter().chain(&[REGISTERED, ATTESTED, UNATTESTED]).copied().collect()
}

/// Words of a contract's states.
pub(super) fn contract_states_known() -> Vec<&'static str> {
    zx1_market::State::ALL.iter().map(|state| state.as_str()).collect()
}

/// Whether the missing events of a gap were found.
pub(super) const GAP_STATES: [&str; 3] = ["open", "refilled", "from_state"];
