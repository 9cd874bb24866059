//! A transaction: one that landed, or one in bytes.

use super::fields::{Fields, minute, sol};
use serde_json::{Value, json};
use solana_signature::Signature;
use zx1_chain::rpc::{LandedTransaction, PartialTransaction, Summary, events, idl};

/// The fields of a transaction that has not been sent.
pub fn unsent(partial: &PartialTransaction) -> Fields {
    let mut fields = Fields::new("Transaction");
    if let Some(signature) = partial.signature() {
        fields.text("signature", signature);
    }
    fields.both("complete", json!(partial.is_complete()), if partial.is_complete() { "yes" } else { "no" });
    let signers = partial.signers();
    for (address, signed) in &signers {
        fields.shown(address.to_string(), if *signed { "signed" } else { "has not signed" });
    }
    let list =
        signers.iter().map(|(address, signed)| json!({ "address": address.to_string(), "signed": signed }));
    fields.hidden("signers", Value::Array(list.collect()));
    summarize(&mut fields, &partial.summary());
    fields
}

/// The fields of a transaction that landed; `logs` shows the programs' logs.
pub fn landed(signature: &Signature, transaction: &LandedTransaction, logs: bool) -> Fields {
    let mut fields = Fields::new("Transaction");
    fields.text("signature", signature).number("slot", transaction.slot);
    if let Some(seconds) = transaction.block_time {
        fields.both("block_time", json!(seconds), format!("{seconds} ({})", minute(seconds)));
    }
    match &transaction.error {
        None => fields.both("succeeded", json!(true), "yes"),
        Some(refusal) => fields.both("succeeded", json!(false), format!("no: {refusal}")),
    };
    if let Some(units) = transaction.units {
        fields.number("compute_units", units);
    }
    summarize(&mut fields, &transaction.summary());
    list_events(&mut fields, transaction);
    if logs {
        let mut section = Fields::new("Logs");
        for (index, line) in transaction.logs.iter().enumerate() {
            section.shown(index.to_string(), line.escape_debug().to_string());
        }
        fields.section("logs", section);
    }
    fields.hidden("logs", json!(transaction.logs));
    fields
}

fn summarize(fields: &mut Fields, summary: &Summary) {
    for (index, line) in summary.lines.iter().enumerate() {
        let number = index.saturating_add(1);
        let unknown = if line.understood { "" } else { " (not known to zx1)" };
        let mut section = Fields::new(format!("Instruction {number}: {}{unknown}", line.title));
        for (label, value) in &line.details {
            section.shown(label, value.escape_debug().to_string());
        }
        fields.section(&format!("instruction_{number}"), section);
    }
    let mut money = Fields::new("Money");
    for moved in &summary.moves {
        money.shown(moved.money.to_string(), format!("{} -> {}", moved.from, moved.to));
    }
    money.shown("fee", format!("{} by {}", sol(summary.fee), summary.payer));
    fields.section("money", money);
    for index in 0..summary.lines.len() {
        fields.drop_json(&format!("instruction_{}", index.saturating_add(1)));
    }
    fields.drop_json("money");
    if let Value::Object(object) = summary.to_json() {
        for (name, value) in object {
            fields.hidden(&name, value);
        }
    }
}

fn list_events(fields: &mut Fields, transaction: &LandedTransaction) {
    let mut list = Vec::new();
    // Decoded as the IDLs write them; which calls count as events is the client's decision.
    let counted = transaction.events();
    let decoded: Vec<idl::Decoded> = transaction
        .calls
        .iter()
        .filter(|called| called.inner)
        .filter_map(|called| idl::event(&called.call.program, events::payload(&called.call.data)?))
        .filter(|event| counted.iter().any(|known| known.name() == event.name))
        .collect();
    for (index, event) in decoded.iter().enumerate() {
        let mut section = Fields::new(format!("Event: {}", event.name));
        for (name, value) in &event.fields {
            section.text(name, value);
        }
        fields.section(&format!("event_{index}"), section);
        fields.drop_json(&format!("event_{index}"));
        list.push(json!({ "name": event.name, "program": event.program, "fields": event.to_json() }));
    }
    fields.hidden("events", Value::Array(list));
}
