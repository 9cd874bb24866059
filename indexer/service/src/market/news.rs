//! The stream events that follow from a contract: posted, taken, repaired, paid, disputed, ruled on.

use super::{Checked, entry_data, payments_of};
use crate::index::now_ms;
use crate::merge::stream_row;
use crate::party;
use crate::store::{AgentRow, ContractRow, StreamRow, signed};
use serde_json::{Value, json};
use std::collections::HashMap;
use zx1_market::EntryType;
use zx1_market::wire::ContractView;

/// Agents by the party that they act as.
type Known = HashMap<[u8; 32], AgentRow>;

/// An event about a contract. `party` is who it is about.
fn row(
    kind: &str,
    tail: &str,
    contract: &ContractRow,
    known: &Known,
    party: Option<&str>,
    more: Value,
) -> StreamRow {
    let summary: Value = serde_json::from_str(&contract.summary).unwrap_or_default();
    let mut fields = json!({
        "source": "market",
        "market": contract.market,
        "contract": contract.id,
        "task": summary["task"],
        "party": party,
        "principal": contract.principal,
        "bounty_raw": summary["bounty_raw"],
    });
    if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
        fields.extend(more);
    }
    let agent = party.and_then(party::key_of).and_then(|key| known.get(&key));
    let origin = format!("market/{}/{}/{tail}", contract.market, contract.id);
    stream_row(kind, origin, agent, None, now_ms(), fields)
}

/// What a contract's transcript says. One that does not hold says nothing; where strangers see none, that it was
/// posted and taken is known by the market's word.
pub(super) fn of(
    market: &str,
    view: &ContractView,
    checked: Option<&Checked>,
    contract: &ContractRow,
    known: &Known,
) -> Vec<StreamRow> {
    if checked.is_some_and(|it| !it.report.valid) {
        return Vec::new();
    }
    let mut told = Vec::new();
    let at = |time: i64, row: StreamRow| StreamRow { body: at_time(&row.body, time), at: time, ..row };
    let facts = checked.map(|it| it.facts).unwrap_or_default();
    let posted = row("contract_posted", "posted", contract, known, Some(&contract.principal), Value::Null);
    told.push(at(contract.created_at, posted));
    if let Some(agent) = &contract.agent {
        let time = facts.taken.map_or(contract.updated_at, signed);
        let taken =
            row("contract_taken", &format!("taken/{agent}"), contract, known, Some(agent), Value::Null);
        told.push(at(time, taken));
    }
    told.extend(disputes(market, view, checked));
    if contract.success == Some(1)
        && let (Some(agent), Some((time, took))) = (&contract.agent, facts.repaired)
    {
        let more = json!({ "repaired_ms": took });
        told.push(at(signed(time), row("contract_repaired", "repaired", contract, known, Some(agent), more)));
    }
    told.extend(paid(contract, known));
    told
}

/// The same body at another time.
fn at_time(body: &str, at: i64) -> String {
    let mut body: Value = serde_json::from_str(body).unwrap_or_default();
    body["at"] = at.into();
    body.to_string()
}

/// That the agent was paid, as soon as all of its pay has arrived.
pub(super) fn paid(contract: &ContractRow, known: &Known) -> Option<StreamRow> {
    let earned = contract.earned.as_deref()?;
    let agent = contract.agent.as_deref()?;
    let pays: Vec<_> = payments_of(&contract.summary).into_iter().filter(|it| it.is_pay()).collect();
    let whole = crate::nano::sum(pays.iter().map(|it| it.amount_raw.as_str()));
    if whole != earned {
        return None;
    }
    let more = json!({
        "amount_raw": earned,
        "hash": pays.iter().find_map(|it| it.hash.clone()),
    });
    Some(row("contract_paid", "paid", contract, known, Some(agent), more))
}

fn disputes(market: &str, view: &ContractView, checked: Option<&Checked>) -> Vec<StreamRow> {
    let mut told = Vec::new();
    if checked.is_none() {
        return told;
    }
    for (seq, entry) in view.transcript.iter().enumerate() {
        let kind = match entry.kind() {
            EntryType::Ruling => "verdict_issued",
            EntryType::DisputeFiled | EntryType::Appeal => "dispute_raised",
            _ => continue,
        };
        let data = entry_data(entry);
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let fields = json!({
            "source": "market",
            "contract": view.id.to_string(),
            "market": market,
            "court": text("court"),
            "ruling": text("outcome").or_else(|| text("ruling")),
            "epoch": null,
            "count": 1,
        });
        let origin = format!("market/{market}/{}/{seq}", view.id);
        told.push(stream_row(kind, origin, None, None, now_ms(), fields));
    }
    told
}
