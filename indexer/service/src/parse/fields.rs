//! An event's fields as JSON, from the description that its layout gives.

use super::{Registration, event_of};
use crate::store::EventRow;
use serde_json::{Map, Value, json};
use solana_address::Address;
use solana_signature::Signature;

/// Fields that are money: decimal strings, since they may pass what a browser's number holds.
const AMOUNTS: [&str; 5] = ["lamports", "amount", "stake_usdc", "slashed", "reward"];

/// Bytes in base58. Of addresses (32 bytes) and signatures (64) a page has hundreds, so they go the way that is
/// made for their length.
pub fn base58(bytes: &[u8]) -> String {
    if let Ok(address) = <[u8; 32]>::try_from(bytes) {
        return Address::new_from_array(address).to_string();
    }
    match <[u8; 64]>::try_from(bytes) {
        Ok(signature) => Signature::from(signature).to_string(),
        Err(_) => bs58::encode(bytes).into_string(),
    }
}

/// The fields of an event's row. An object without fields for bytes that are none.
pub fn event_fields(row: &EventRow) -> Map<String, Value> {
    if let Some(registration) = Registration::read(&row.payload).filter(|_| row.name == super::REGISTERED) {
        return registration_fields(&registration);
    }
    if row.name == super::ATTESTED || row.name == super::UNATTESTED {
        return super::attested::attested_fields(&row.payload).unwrap_or_default();
    }
    let Some(event) = event_of(row) else { return Map::new() };
    let mut rest = row.payload.get(8..).unwrap_or_default();
    let mut fields = Map::new();
    for field in event.fields() {
        let Some(value) = read(field.name, field.idl_type, &mut rest) else { break };
        fields.insert(field.name.to_owned(), value);
    }
    fields
}

/// The fields of a registration.
pub fn registration_fields(registration: &Registration) -> Map<String, Value> {
    let Registration { mint, owner, index } = registration;
    let mut fields = Map::new();
    for (name, value) in [("mint", mint), ("owner", owner), ("index", index)] {
        fields.insert(name.to_owned(), base58(value).into());
    }
    fields
}

fn read(name: &str, idl_type: &str, rest: &mut &[u8]) -> Option<Value> {
    fn take<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
        let (head, tail) = rest.split_at_checked(n)?;
        *rest = tail;
        Some(head)
    }
    Some(match idl_type {
        "\"u8\"" => json!(take(rest, 1)?.first()?),
        "\"u16\"" => json!(u16::from_le_bytes(take(rest, 2)?.try_into().ok()?)),
        "\"u32\"" => json!(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?)),
        "\"u64\"" => {
            let number = u64::from_le_bytes(take(rest, 8)?.try_into().ok()?);
            if AMOUNTS.contains(&name) { Value::String(number.to_string()) } else { json!(number) }
        }
        "\"i64\"" => json!(i64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        "\"i128\"" => Value::String(i128::from_le_bytes(take(rest, 16)?.try_into().ok()?).to_string()),
        "\"pubkey\"" => base58(take(rest, 32)?).into(),
        array => {
            let n: usize = array.rsplit(',').next()?.trim_end_matches("]}").trim().parse().ok()?;
            Value::String(hex::encode(take(rest, n)?))
        }
    })
}
