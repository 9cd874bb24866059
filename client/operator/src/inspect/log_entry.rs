//! An entry of a log (decision C2).

use super::envelope::describe_payload;
use super::fields::{self, Fields};
use super::{Malformed, cbor};
use serde_json::json;
use zx1_protocol::envelope::EnvelopeError;
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;

/// The fields of a log entry. `encoding` is how the bytes came.
///
/// # Errors
/// Why the bytes are not one.
pub fn log_entry(bytes: &[u8], encoding: &str) -> Result<Fields, Malformed> {
    let entry = LogEntry::decode::<Sha3>(bytes).map_err(|error| match error {
        EnvelopeError::Malformed | EnvelopeError::NotCanonical => {
            Malformed(cbor::fault(bytes, &cbor::LOG_ENTRY))
        }
        other => Malformed(other.to_string()),
    })?;
    let mut fields = Fields::new("Log entry");
    fields.both("bytes", json!(bytes.len()), format!("{} ({})", bytes.len(), encoding));
    fields::header(&mut fields, &entry.header);
    fields.text("signature", hex::encode(entry.signature));
    if entry.header.msg_type.payload_is_logged() {
        fields.text("payload", hex::encode(entry.payload));
        describe_payload(&mut fields, entry.header.msg_type, entry.payload);
    } else {
        fields.both("payload", json!(null), "not logged for this type; it is kept by its hash");
    }
    let mut verdict = Fields::new("Verdicts");
    verdict
        .both("canonical", json!(true), "yes")
        .both("signature_valid", json!(null), "not checked: it covers the payload, so inspect the envelope")
        .text("leaf", hex::encode(LogEntry::leaf::<Sha3>(bytes)))
        .text("message_hash", hex::encode(entry.header.message32::<Sha3>()));
    fields.section("verdicts", verdict);
    Ok(fields)
}
