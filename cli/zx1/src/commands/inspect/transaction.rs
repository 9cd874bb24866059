//! A transaction: one that landed, by its signature, or one in bytes.

use super::fields::Fields;
use crate::amount;
use crate::context::Context;
use crate::defaults;
use crate::errors::{Failure, Result};
use crate::files;
use crate::input;
use crate::words;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use solana_signature::Signature;
use std::path::Path;
use std::str::FromStr as _;
use zx1_chain::rpc::{LandedTransaction, PartialTransaction, Summary, events, idl};

/// What is typed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A signature to look up, or the transaction: hex, base64, a file (also of --sign-only), or -
    data: String,
    /// Show the program logs
    #[arg(long)]
    logs: bool,
}

pub(super) fn run(args: Args, context: &Context) -> Result<()> {
    if let Ok(signature) = Signature::from_str(&args.data)
        && !Path::new(&args.data).exists()
    {
        return context.wait(landed(context, signature, args.logs));
    }
    let text = match files::read_limited(Path::new(&args.data), defaults::MAX_INPUT) {
        // What --sign-only writes is JSON, and holds the transaction.
        Ok(Some(bytes)) if bytes.trim_ascii().starts_with(b"{") => {
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => STANDARD.encode(input::read(&args.data, defaults::MAX_INPUT)?.bytes),
    };
    let partial = PartialTransaction::from_text(&text).map_err(Failure::from)?;
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
    context.print(&fields)
}

async fn landed(context: &Context, signature: Signature, logs: bool) -> Result<()> {
    let chain = context.connect().await?;
    let transaction = chain.client.transaction(&signature).await?;
    let mut fields = Fields::new("Transaction");
    fields.text("signature", signature).number("slot", transaction.slot);
    if let Some(seconds) = transaction.block_time {
        fields.both("block_time", json!(seconds), format!("{seconds} ({})", words::moment(seconds)));
    }
    match &transaction.error {
        None => fields.both("succeeded", json!(true), "yes"),
        Some(refusal) => fields.both("succeeded", json!(false), format!("no: {refusal}")),
    };
    if let Some(units) = transaction.units {
        fields.number("compute_units", units);
    }
    summarize(&mut fields, &transaction.summary());
    list_events(&mut fields, &transaction);
    if logs {
        let mut section = Fields::new("Logs");
        for (index, line) in transaction.logs.iter().enumerate() {
            section.shown(index.to_string(), line.escape_debug().to_string());
        }
        fields.section("logs", section);
    }
    fields.hidden("logs", json!(transaction.logs));
    context.print(&fields)
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
    money.shown("fee", format!("{} by {}", amount::sol(summary.fee), summary.payer));
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
