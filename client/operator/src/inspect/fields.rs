//! Fields of bytes, in order, for people and for scripts alike.

use serde_json::{Map, Value, json};
use solana_address::Address;
use std::fmt::Display;
use zx1_chain::rpc::Money;
use zx1_protocol::envelope::{BROADCAST, EnvelopeHeader};

/// Named values below a heading. As JSON it is an object of all that are not for people only.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// What the values are of.
    pub heading: String,
    /// Labels and values for people.
    pub rows: Vec<(String, String)>,
    /// Parts, each with its own heading.
    pub sections: Vec<Fields>,
    json: Map<String, Value>,
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
        self.sections.push(fields);
        self
    }
}

impl serde::Serialize for Fields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// An agent id or wallet in base58.
pub(super) fn base58(bytes: &[u8; 32]) -> String {
    Address::new_from_array(*bytes).to_string()
}

/// Lamports as SOL, without zeros at the end.
pub(super) fn sol(lamports: u64) -> String {
    let exact = Money::Lamports(lamports).to_string();
    let number = exact.trim_end_matches(" SOL").trim_end_matches('0').trim_end_matches('.');
    format!("{number} SOL")
}

/// A time of unix seconds for people, to the minute.
pub(super) fn minute(unix: i64) -> String {
    let known = jiff::Timestamp::from_second(unix);
    known.map_or_else(|_| format!("Unix time {unix}"), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// A time of unix microseconds for people.
fn moment(micros: u64) -> String {
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
        .text("sender", base58(header.sender));
    let recipient = base58(header.recipient);
    let broadcast = *header.recipient == BROADCAST;
    fields.both(
        "recipient",
        json!(recipient),
        if broadcast { "everybody".to_owned() } else { recipient.clone() },
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
        .text("conversation_id", hex::encode(header.conversation_id))
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
