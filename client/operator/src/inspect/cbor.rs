//! Why bytes are not an envelope or a log entry: the protocol's reader only says that they are not.

use ciborium::value::Value;
use std::io::Cursor;

/// Items of an envelope's array, in order, with their length in bytes where they are byte strings.
pub(super) const ENVELOPE: [(&str, Kind); 12] = [
    ("version", Kind::Number),
    ("msg_type", Kind::Number),
    ("sender", Kind::Bytes(Some(32))),
    ("recipient", Kind::Bytes(Some(32))),
    ("timestamp", Kind::Number),
    ("block_ref", Kind::Number),
    ("nonce", Kind::Number),
    ("conversation_id", Kind::Bytes(Some(16))),
    ("payload_hash", Kind::Bytes(Some(32))),
    ("payload_len", Kind::Number),
    ("payload", Kind::Bytes(None)),
    ("signature", Kind::Bytes(Some(64))),
];

/// Items of a log entry: signature and payload change places.
pub(super) const LOG_ENTRY: [(&str, Kind); 12] = {
    let mut items = ENVELOPE;
    items[10] = ("signature", Kind::Bytes(Some(64)));
    items[11] = ("payload", Kind::Bytes(None));
    items
};

/// What an item must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Bytes(Option<usize>),
}

/// In a sentence, what stands where something else should.
pub(super) fn fault(bytes: &[u8], items: &[(&str, Kind)]) -> String {
    let mut cursor = Cursor::new(bytes);
    let value: Value = match ciborium::from_reader(&mut cursor) {
        Ok(value) => value,
        Err(error) => return broken(&error),
    };
    let read = usize::try_from(cursor.position()).unwrap_or(bytes.len());
    let Value::Array(found) = &value else {
        return format!("It is CBOR, but {} instead of an array of {}.", kind_name(&value), items.len());
    };
    if found.len() != items.len() {
        return format!("The array has {} items instead of {}.", found.len(), items.len());
    }
    for (index, (item, (name, kind))) in found.iter().zip(items).enumerate() {
        let place = index.saturating_add(1);
        match (kind, item) {
            (Kind::Number, Value::Integer(number)) if i128::from(*number) >= 0 => {}
            (Kind::Bytes(wanted), Value::Bytes(bytes)) => {
                if let Some(wanted) = wanted.filter(|wanted| *wanted != bytes.len()) {
                    return format!("Item {place}, {name}, has {} bytes instead of {wanted}.", bytes.len());
                }
            }
            (Kind::Number, other) => {
                return format!("Item {place}, {name}, is {} instead of a number.", kind_name(other));
            }
            (Kind::Bytes(_), other) => {
                return format!("Item {place}, {name}, is {} instead of bytes.", kind_name(other));
            }
        }
    }
    if read < bytes.len() {
        return format!("{} bytes follow the array.", bytes.len().saturating_sub(read));
    }
    match canonical(&value) {
        Some(canonical) if canonical != bytes => difference(bytes, &canonical),
        _ => "A number is larger than its field.".to_owned(),
    }
}

/// The same items in shortest form and definite length.
pub(super) fn canonical(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).ok()?;
    Some(bytes)
}

fn difference(bytes: &[u8], canonical: &[u8]) -> String {
    let at = bytes.iter().zip(canonical).take_while(|(a, b)| a == b).count();
    let byte = |bytes: &[u8]| bytes.get(at).map_or("nothing".to_owned(), |byte| format!("{byte:02x}"));
    format!(
        "It is not in shortest form: at offset {at} stands {}, and the canonical encoding, {} bytes long, \
         has {} there.",
        byte(bytes),
        canonical.len(),
        byte(canonical)
    )
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "a number",
        Value::Bytes(_) => "bytes",
        Value::Float(_) => "a fraction",
        Value::Text(_) => "a text",
        Value::Bool(_) => "true or false",
        Value::Null => "null",
        Value::Tag(..) => "a tagged value",
        Value::Array(_) => "an array",
        Value::Map(_) => "a map",
        _ => "something else",
    }
}

fn broken(error: &ciborium::de::Error<std::io::Error>) -> String {
    match error {
        ciborium::de::Error::Io(_) => "The CBOR ends too early.".to_owned(),
        ciborium::de::Error::Syntax(at) => format!("There is no CBOR at offset {at}."),
        ciborium::de::Error::Semantic(_, why) => format!("The CBOR makes no sense: {why}."),
        ciborium::de::Error::RecursionLimitExceeded => "The CBOR is nested too deeply.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named() {
        assert!(fault(&[0x8c, 1], &ENVELOPE).contains("ends too early"));
        assert_eq!(fault(&[0x01], &ENVELOPE), "It is CBOR, but a number instead of an array of 12.");
        assert_eq!(fault(&[0x81, 1], &ENVELOPE), "The array has 1 items instead of 12.");
        let small = [("a", Kind::Number), ("b", Kind::Bytes(Some(2)))];
        assert_eq!(fault(&[0x82, 0x61, 0x61, 0x40], &small), "Item 1, a, is a text instead of a number.");
        assert_eq!(fault(&[0x82, 1, 0x41, 0], &small), "Item 2, b, has 1 bytes instead of 2.");
        assert_eq!(fault(&[0x82, 1, 0x42, 0, 0, 9], &small), "1 bytes follow the array.");
        let long = fault(&[0x82, 0x18, 1, 0x42, 0, 0], &small);
        assert!(long.contains("at offset 1 stands 18") && long.contains("has 01 there"), "{long}");
    }
}
