//! An entry of a log (decision C2).

use super::cbor;
use super::envelope::describe_payload;
use super::fields::{self, Fields};
use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Result};
use crate::input;
use serde_json::json;
use zx1_protocol::envelope::EnvelopeError;
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;

/// What is typed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The entry: hex, base64, a file, or -
    data: String,
}

pub(super) fn run(args: Args, context: &Context) -> Result<()> {
    let input = input::read(&args.data, defaults::MAX_INPUT)?;
    let bytes = input.bytes.as_slice();
    if bytes.len() > defaults::MAX_MESSAGE {
        let (size, limit) = (bytes.len(), defaults::MAX_MESSAGE);
        return Err(Error::MessageTooLarge { what: "The log entry".to_owned(), size, limit }.into());
    }
    let entry = LogEntry::decode::<Sha3>(bytes).map_err(|error| {
        let why = match error {
            EnvelopeError::Malformed | EnvelopeError::NotCanonical => cbor::fault(bytes, &cbor::LOG_ENTRY),
            other => other.to_string(),
        };
        Error::NotEnvelope { what: "log entry".to_owned(), why }
    })?;
    let mut fields = Fields::new("Log entry");
    fields.both("bytes", json!(bytes.len()), format!("{} ({})", bytes.len(), input.encoding));
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
        .text("leaf", hex::encode(LogEntry::leaf::<Sha3>(bytes)));
    fields.section("verdicts", verdict);
    context.print(&fields)
}
