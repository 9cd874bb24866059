//! A batch: a bundle (decision C7), its CBOR alone (C6), or the message that is signed for it (P2).

use super::fields::{Fields, base58, type_name};
use serde_json::{Value, json};
use zx1_interface::constants::BATCH_MESSAGE_PREFIX;
use zx1_protocol::batch::{BATCH_MESSAGE_LEN, BatchMessage, head_digest};
use zx1_protocol::behavior_batch::{BatchFormatError, BehaviorBatch, Commitment};
use zx1_protocol::bundle::Bundle;
use zx1_protocol::hash::Sha3;
use zx1_protocol::record::Record;

/// Records that are shown unless all are asked for.
const SHOWN: usize = 20;

/// Why bytes are not a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotABatch {
    /// They begin as the signed message does, and end otherwise.
    Message,
    /// They are a bundle, whose batch cannot be read.
    Bundle(BatchFormatError),
    /// They are neither a bundle nor a batch.
    Batch(BatchFormatError),
}

/// The fields of a batch; `all` shows every record.
///
/// # Errors
/// [`NotABatch`].
pub fn batch(bytes: &[u8], all: bool) -> Result<Fields, NotABatch> {
    if bytes.len() == BATCH_MESSAGE_LEN && bytes.starts_with(BATCH_MESSAGE_PREFIX) {
        return message(bytes).ok_or(NotABatch::Message);
    }
    if let Ok(bundle) = Bundle::decode(bytes) {
        return of_bundle(&bundle, bytes.len(), all).map_err(NotABatch::Bundle);
    }
    let batch = BehaviorBatch::decode(bytes).map_err(NotABatch::Batch)?;
    let mut fields = of_batch(&batch, all);
    fields.both("bytes", json!(bytes.len()), bytes.len().to_string());
    fields.section("verdicts", verdicts(&batch.commitment(), None));
    Ok(fields)
}

fn of_bundle(bundle: &Bundle<'_>, size: usize, all: bool) -> Result<Fields, BatchFormatError> {
    let batch = bundle.decode_batch()?;
    let mut fields = of_batch(&batch, all);
    fields
        .both(
            "bytes",
            json!(size),
            format!("{size}, with {} records and {} leaves", bundle.arrays_len(), bundle.log_len()),
        )
        .hidden("bundle", json!({ "records": bundle.arrays_len(), "leaves": bundle.log_len() }));
    let fault = bundle.check().err().map(|error| error.to_string());
    fields.section("verdicts", verdicts(&batch.commitment(), Some(fault)));
    Ok(fields)
}

fn of_batch(batch: &BehaviorBatch, all: bool) -> Fields {
    let mut fields = Fields::new("Behavior batch");
    fields
        .text("agent_id", batch.agent_id)
        .number("epoch_number", batch.epoch_number.0)
        .number("slot_start", batch.slot_start.0)
        .number("slot_end", batch.slot_end.0)
        .number("message_count", batch.message_count.into());
    let mut counts = serde_json::Map::new();
    for (wire, count) in (0u16..).zip(batch.msg_type_counts).filter(|(_, count)| *count > 0) {
        counts.insert(type_name(wire).to_owned(), json!(count));
        fields.shown(format!("  {}", type_name(wire)), count.to_string());
    }
    fields.hidden("msg_type_counts", Value::Object(counts));
    fields
        .number("unique_counterparties", batch.unique_counterparties.into())
        .number("tasks_completed", batch.tasks_completed.into())
        .number("notarizations", batch.notarizations.into())
        .number("disputes", batch.disputes.into());
    let hash = hex::encode(batch.overflow_data_hash);
    let overflow = if batch.overflow { format!("yes, all records hash to {hash}") } else { "no".to_owned() };
    fields.both("overflow", json!(batch.overflow), overflow).hidden("overflow_data_hash", json!(hash));
    fields
        .text("log_merkle_root", hex::encode(batch.log_merkle_root))
        .number("log_len", batch.log_len.into())
        .text("arrays_root", hex::encode(batch.arrays_root))
        .number("arrays_len", batch.arrays_len.into());
    array(&mut fields, "bid_values", batch.bid_values.iter().map(|bid| Record::Bid(*bid)), all);
    array(
        &mut fields,
        "task_selections",
        batch.task_selections.iter().map(|one| Record::Selection(*one)),
        all,
    );
    array(&mut fields, "verifier_ids", batch.verifier_ids.iter().map(|one| Record::Verifier(*one)), all);
    array(
        &mut fields,
        "feedback_events",
        batch.feedback_events.iter().map(|one| Record::Feedback(*one)),
        all,
    );
    fields
}

fn array(fields: &mut Fields, name: &str, records: impl ExactSizeIterator<Item = Record>, all: bool) {
    let count = records.len();
    let records: Vec<Record> = records.collect();
    let mut lines = Fields::new(format!("{} ({count})", name.replace('_', " ")));
    for (index, record) in records.iter().enumerate().take(if all { usize::MAX } else { SHOWN }) {
        lines.shown(index.to_string(), in_words(record));
    }
    if !all && count > SHOWN {
        lines.shown("…", format!("{} more", count.saturating_sub(SHOWN)));
    }
    if count > 0 {
        fields.section(name, lines);
    }
    // Scripts get all of them.
    fields.hidden(name, Value::Array(records.iter().map(to_json).collect()));
}

fn in_words(record: &Record) -> String {
    match record {
        Record::Bid(bid) => {
            let (to, value) = (bid.counterparty, bid.value);
            format!("{value} to {to}, conversation {}, slot {}", bid.conversation, bid.slot.0)
        }
        Record::Selection(one) => {
            let to = one.counterparty;
            format!("{to}, conversation {}, slot {}", one.conversation, one.slot.0)
        }
        Record::Verifier(one) => {
            let notary = one.verifier;
            format!("{notary}, conversation {}, slot {}", one.conversation, one.slot.0)
        }
        Record::Feedback(one) => {
            let (from, conversation) = (one.from, one.conversation);
            format!("{} from {from}, conversation {conversation}, slot {}", one.score, one.slot.0)
        }
    }
}

/// A record as JSON.
fn to_json(record: &Record) -> Value {
    match record {
        Record::Bid(bid) => json!({
            "conversation_id": bid.conversation,
            "counterparty": bid.counterparty,
            "bid_value": bid.value.to_string(),
            "slot": bid.slot.0,
            "message": hex::encode(bid.message),
        }),
        Record::Selection(one) => json!({
            "conversation_id": one.conversation,
            "counterparty": one.counterparty,
            "slot": one.slot.0,
            "message": hex::encode(one.message),
        }),
        Record::Verifier(one) => json!({
            "conversation_id": one.conversation,
            "verifier_id": one.verifier,
            "slot": one.slot.0,
            "message": hex::encode(one.message),
        }),
        Record::Feedback(one) => json!({
            "conversation_id": one.conversation,
            "from_agent": one.from,
            "score": one.score,
            "outcome": one.outcome,
            "role": one.role,
            "slot": one.slot.0,
            "sati_attestation_hash": hex::encode(one.attestation),
            "message": hex::encode(one.message),
        }),
    }
}

/// `fault`: what the data of a bundle contradicts; absent for a batch without data.
fn verdicts(commitment: &Commitment, fault: Option<Option<String>>) -> Fields {
    let mut verdict = Fields::new("Verdicts");
    verdict.both("canonical", json!(true), "yes");
    match fault {
        None => verdict.both("data_fits", json!(null), "not checked: there are no records and leaves here"),
        Some(None) => {
            verdict.both("data_fits", json!(true), "yes: records and leaves give the batch's roots")
        }
        Some(Some(fault)) => verdict.both("data_fits", json!(false), format!("no: {fault}")),
    };
    verdict.text("batch_hash", hex::encode(commitment.batch_hash));
    verdict
}

/// The message's fields.
fn message(bytes: &[u8]) -> Option<Fields> {
    let message = BatchMessage::parse(bytes)?;
    let mut fields = Fields::new("Message that is signed for a batch");
    fields
        .text("network", base58(&message.network))
        .text("agent_id", base58(&message.agent))
        .number("covers_from_epoch", message.covers_from.0)
        .number("epoch_number", message.epoch.0)
        .text("previous_digest", hex::encode(message.previous_digest))
        .text("log_merkle_root", hex::encode(message.log_merkle_root))
        .number("log_len", message.log_len.into())
        .text("batch_hash", hex::encode(message.batch_hash))
        .text("arrays_root", hex::encode(message.arrays_root))
        .number("arrays_len", message.arrays_len.into());
    let mut verdict = Fields::new("Verdicts");
    verdict.text("digest_after", hex::encode(head_digest::<Sha3>(&message.previous_digest, bytes)));
    fields.section("verdicts", verdict);
    Some(fields)
}
