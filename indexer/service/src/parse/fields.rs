//! An event's fields as JSON, from the description that its layout gives.

use super::base58::{Base58, base58};
use super::{Registration, event_of};
use crate::store::EventRow;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Fields that are money: decimal strings, since they may pass what a browser's number holds.
const AMOUNTS: [&str; 12] = [
    "lamports",
    "amount",
    "stake_usdc",
    "pot_usdc",
    "from_stake",
    "to_stake",
    "to_answerer",
    "slashed",
    "reward",
    "fine",
    "to_asker",
    "burnt",
];

/// The fields of an event's row. An object without fields for bytes that are none.
///
/// A page has fifty of them and each has ten, so they are written as they are read, without a tree of values in
/// between.
#[derive(Debug, Clone, Copy)]
pub struct EventFields<'a>(pub &'a EventRow);

impl EventFields<'_> {
    /// As a tree of values.
    pub fn to_map(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }
}

impl Serialize for EventFields<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(row) = self;
        if let Some(registration) = Registration::read(&row.payload).filter(|_| row.name == super::REGISTERED)
        {
            return registration_fields(&registration).serialize(to);
        }
        if row.name == super::ATTESTED || row.name == super::UNATTESTED {
            return super::attested::attested_fields(&row.payload).unwrap_or_default().serialize(to);
        }
        let mut map = to.serialize_map(None)?;
        if let Some(event) = event_of(row) {
            let mut rest = row.payload.get(8..).unwrap_or_default();
            for field in event.fields() {
                let Some(value) = read(field.name, field.idl_type, &mut rest) else { break };
                map.serialize_entry(field.name, &value)?;
            }
        }
        map.end()
    }
}

/// The fields of a registration.
pub fn registration_fields(registration: &Registration) -> Map<String, Value> {
    let Registration { mint, owner, index } = registration;
    let mut fields = Map::new();
    for (name, value) in [("mint", mint.as_bytes()), ("owner", owner), ("index", index)] {
        fields.insert(name.to_owned(), base58(value).into());
    }
    fields
}

/// A field's value in its bytes.
enum Field<'a> {
    Number(u64),
    Signed(i64),
    /// As a decimal string.
    Amount(u64),
    /// As a decimal string.
    Long(i128),
    Key(&'a [u8; 32]),
    Hex(&'a [u8]),
}

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => to.serialize_u64(*number),
            Self::Signed(number) => to.serialize_i64(*number),
            Self::Amount(number) => to.collect_str(number),
            Self::Long(number) => to.collect_str(number),
            Self::Key(key) => Base58(*key).serialize(to),
            Self::Hex(bytes) => to.serialize_str(&hex::encode(bytes)),
        }
    }
}

fn read<'a>(name: &str, idl_type: &str, rest: &mut &'a [u8]) -> Option<Field<'a>> {
    fn take<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
        let (head, tail) = rest.split_at_checked(n)?;
        *rest = tail;
        Some(head)
    }
    fn some<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
        take(rest, N)?.try_into().ok()
    }
    Some(match idl_type {
        "\"u8\"" => Field::Number(u8::from_le_bytes(*some(rest)?).into()),
        "\"u16\"" => Field::Number(u16::from_le_bytes(*some(rest)?).into()),
        "\"u32\"" => Field::Number(u32::from_le_bytes(*some(rest)?).into()),
        "\"u64\"" => {
            let number = u64::from_le_bytes(*some(rest)?);
            if AMOUNTS.contains(&name) { Field::Amount(number) } else { Field::Number(number) }
        }
        "\"i64\"" => Field::Signed(i64::from_le_bytes(*some(rest)?)),
        "\"i128\"" => Field::Long(i128::from_le_bytes(*some(rest)?)),
        "\"pubkey\"" => Field::Key(some(rest)?),
        array => {
            let n: usize = array.rsplit(',').next()?.trim_end_matches("]}").trim().parse().ok()?;
            Field::Hex(take(rest, n)?)
        }
    })
}
