//! Fields of bytes, in order, for a page and for JSON alike.

use crate::output::{Page, Report};
use serde_json::{Map, Value, json};
use solana_address::Address;
use std::fmt::Display;
use zx1_protocol::envelope::{BROADCAST, EnvelopeHeader};

/// A result made of named values, a heading, and verdicts.
#[derive(Debug, Default)]
pub(super) struct Fields {
    heading: String,
    json: Map<String, Value>,
    rows: Vec<(String, String)>,
    sections: Vec<(String, Fields)>,
}

impl Fields {
    pub(super) fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// A field whose JSON is a string, as it is shown.
    pub(super) fn text(&mut self, name: &str, value: impl Display) -> &mut Self {
        let value = value.to_string();
        self.both(name, json!(value), value)
    }

    /// A field whose JSON is a number.
    pub(super) fn number(&mut self, name: &str, value: u64) -> &mut Self {
        self.both(name, json!(value), value.to_string())
    }

    /// A field whose JSON is not what is shown.
    pub(super) fn both(&mut self, name: &str, json: Value, shown: impl Into<String>) -> &mut Self {
        self.json.insert(name.to_owned(), json);
        self.rows.push((name.replace('_', " "), shown.into()));
        self
    }

    /// A field for people only.
    pub(super) fn shown(&mut self, label: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.rows.push((label.into(), value.into()));
        self
    }

    /// A field for scripts only.
    pub(super) fn hidden(&mut self, name: &str, json: Value) -> &mut Self {
        self.json.insert(name.to_owned(), json);
        self
    }

    /// Takes a part out of the JSON again, when scripts get it in another form.
    pub(super) fn drop_json(&mut self, name: &str) -> &mut Self {
        self.json.remove(name);
        self
    }

    /// Fields of a part, under their own name and heading.
    pub(super) fn section(&mut self, name: &str, fields: Fields) -> &mut Self {
        self.json.insert(name.to_owned(), Value::Object(fields.json.clone()));
        self.sections.push((fields.heading.clone(), fields));
        self
    }

    fn draw_into(&self, page: &mut Page) {
        for (label, value) in &self.rows {
            page.field(label, value);
        }
        for (heading, fields) in &self.sections {
            page.heading(heading);
            fields.draw_into(page);
        }
    }
}

impl serde::Serialize for Fields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl Report for Fields {
    fn draw(&self, page: &mut Page) {
        page.heading(&self.heading);
        self.draw_into(page);
    }
}

/// An agent id or wallet in base58.
pub(super) fn base58(bytes: &[u8; 32]) -> String {
    Address::new_from_array(*bytes).to_string()
}

/// A time of unix microseconds for people.
pub(super) fn moment(micros: u64) -> String {
    let known = i64::try_from(micros).ok().and_then(|micros| jiff::Timestamp::from_microsecond(micros).ok());
    known.map_or_else(|| "beyond the calendar".to_owned(), |moment| moment.to_string())
}

/// The header that envelopes and log entries share.
pub(super) fn header(fields: &mut Fields, header: &EnvelopeHeader<'_>) {
    let wire = header.msg_type.wire();
    let name = type_name(wire);
    fields
        .number("version", header.version.into())
        .both("msg_type", json!(wire), format!("{wire:#04x} {name}"))
        .hidden("msg_type_name", json!(name))
        .text("sender", header.sender());
    let recipient = header.recipient();
    let broadcast = recipient == BROADCAST;
    fields.both(
        "recipient",
        json!(recipient),
        if broadcast { "everybody".to_owned() } else { recipient.to_string() },
    );
    fields
        .both(
            "timestamp",
            json!(header.timestamp),
            format!("{} ({})", header.timestamp, moment(header.timestamp)),
        )
        .number("epoch", header.epoch().0)
        .number("block_ref", header.block_ref.0)
        .number("nonce", header.nonce)
        .text("conversation_id", header.conversation())
        .text("payload_hash", hex::encode(header.payload_hash))
        .number("payload_len", header.payload_len.into());
}

/// A message type by its number.
pub(super) fn type_name(wire: u16) -> &'static str {
    match wire {
        0x01 => "ADVERTISE",
        0x02 => "DISCOVER",
        0x03 => "PROPOSE",
        0x04 => "COUNTER",
        0x05 => "ACCEPT",
        0x06 => "REJECT",
        0x07 => "DELIVER",
        0x08 => "NOTARIZE_BID",
        0x09 => "NOTARIZE_ASSIGN",
        0x0A => "VERDICT",
        0x0B => "FEEDBACK",
        0x0C => "DISPUTE",
        0x0D => "BEACON",
        _ => "unknown",
    }
}
