//! A batch: a bundle (decision C7), its CBOR alone (C6), or the message that is signed for it (B7).

use super::fields::{Fields, base58, type_name};
use serde_json::{Value, json};
use zx1_interface::constants::BATCH_MESSAGE_PREFIX;
use zx1_protocol::batch::BATCH_MESSAGE_LEN;
use zx1_protocol::behavior_batch::{BatchFormatError, BehaviorBatch, Commitment};
use zx1_protocol::bundle::Bundle;
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
        .text("agent_id", base58(&batch.agent_id))
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
            let (to, value) = (base58(&bid.counterparty), bid.value);
            format!("{value} to {to}, conversation {}, slot {}", hex::encode(bid.conversation), bid.slot.0)
        }
        Record::Selection(one) => {
            let to = base58(&one.counterparty);
            format!("{to}, conversation {}, slot {}", hex::encode(one.conversation), one.slot.0)
        }
        Record::Verifier(one) => {
            let notary = base58(&one.verifier);
            format!("{notary}, conversation {}, slot {}", hex::encode(one.conversation), one.slot.0)
        }
        Record::Feedback(one) => {
            let (from, conversation) = (base58(&one.from), hex::encode(one.conversation));
            format!("{} from {from}, conversation {conversation}, slot {}", one.score, one.slot.0)
        }
    }
}

/// A record as JSON.
fn to_json(record: &Record) -> Value {
    match record {
        Record::Bid(bid) => json!({
            "conversation_id": hex::encode(bid.conversation),
            "counterparty": base58(&bid.counterparty),
            "bid_value": bid.value.to_string(),
            "slot": bid.slot.0,
        }),
        Record::Selection(one) => json!({
            "conversation_id": hex::encode(one.conversation),
            "counterparty": base58(&one.counterparty),
            "slot": one.slot.0,
        }),
        Record::Verifier(one) => json!({
            "conversation_id": hex::encode(one.conversation),
            "verifier_id": base58(&one.verifier),
            "slot": one.slot.0,
        }),
        Record::Feedback(one) => json!({
            "conversation_id": hex::encode(one.conversation),
            "from_agent": base58(&one.from),
            "score": one.score,
            "outcome": one.outcome,
            "role": one.role,
            "slot": one.slot.0,
            "sati_attestation_hash": hex::encode(one.attestation),
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
    verdict
        .text("batch_hash", hex::encode(commitment.batch_hash))
        .text("message_to_sign", hex::encode(commitment.message()));
    verdict
}

/// The 165 bytes, integers little-endian.
fn message(bytes: &[u8]) -> Option<Fields> {
    let mut rest = bytes.strip_prefix(BATCH_MESSAGE_PREFIX)?;
    let mut hash = || {
        let (head, tail) = rest.split_first_chunk::<32>()?;
        rest = tail;
        Some(*head)
    };
    let agent = hash()?;
    let (epoch, tail) = rest.split_first_chunk::<8>()?;
    let (log_root, tail) = tail.split_first_chunk::<32>()?;
    let (log_len, tail) = tail.split_first_chunk::<4>()?;
    let (batch_hash, tail) = tail.split_first_chunk::<32>()?;
    let (arrays_root, tail) = tail.split_first_chunk::<32>()?;
    let (arrays_len, tail) = tail.split_first_chunk::<4>()?;
    tail.is_empty().then_some(())?;
    let mut fields = Fields::new("Message that is signed for a batch");
    fields
        .text("agent_id", base58(&agent))
        .number("epoch_number", u64::from_le_bytes(*epoch))
        .text("log_merkle_root", hex::encode(log_root))
        .number("log_len", u32::from_le_bytes(*log_len).into())
        .text("batch_hash", hex::encode(batch_hash))
        .text("arrays_root", hex::encode(arrays_root))
        .number("arrays_len", u32::from_le_bytes(*arrays_len).into());
    Some(fields)
}
