//! Canonical JSON: exactly what Python's `json.dumps(value, sort_keys=True, separators=(",", ":"))` prints.
//!
//! Signatures and hashes cover this text, so it must be the same to the byte in every client (decision E2).
//! The difference between `1` and `1.0` is kept, integers have any length, and what Python refuses (NaN,
//! infinities) is refused. Lone surrogates, which no UTF-8 text can hold, are refused too.

mod parse;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

pub(crate) use self::parse::clip;
pub use self::parse::{Duplicates, parse_with};
use crate::Result;

/// An integer of any length, in its shortest decimal spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Integer(Box<str>);

impl Integer {
    /// From what JSON's grammar took for an integer. `-0` becomes `0`, as in Python.
    fn from_json(text: &str) -> Integer {
        Integer(if text == "-0" { "0".into() } else { text.into() })
    }

    /// The digits, with a minus sign when negative.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, if it is between 0 and 2^64 - 1.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The value, if it fits 64 bits with a sign.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }
}

impl<T: Into<i128>> From<T> for Integer {
    fn from(value: T) -> Integer {
        Integer(value.into().to_string().into())
    }
}

/// A JSON value that knows integers from floats. Objects are sorted by code point, as Python sorts them.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// The literal `null`, which field readers treat as an absent field.
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without point and exponent.
    Int(Integer),
    /// A number with a point or an exponent; finite.
    Float(f64),
    /// A string, unescaped.
    Str(String),
    /// An array of values.
    Array(Vec<Json>),
    /// An object; names are unique.
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Read JSON text strictly: at most [`crate::defaults::MAX_JSON_BYTES`] long and
    /// [`crate::defaults::MAX_JSON_DEPTH`] deep, no name twice in one object, nothing behind it.
    pub fn parse(text: &[u8]) -> Result<Json> {
        parse_with(text, Duplicates::Refuse)
    }

    /// The canonical text. Pure ASCII.
    pub fn canonical(&self) -> String {
        write::canonical(self)
    }

    /// SHA-256 of the canonical text.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.canonical().as_bytes()).into()
    }

    /// An object of these fields.
    pub fn object<K: Into<String>, V: Into<Json>>(fields: impl IntoIterator<Item = (K, V)>) -> Json {
        Json::Object(fields.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }

    /// The field of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    /// The fields, of an object.
    pub fn as_object(&self) -> Option<&BTreeMap<String, Json>> {
        if let Json::Object(fields) = self { Some(fields) } else { None }
    }

    /// The items, of a list.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    /// The text, of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::Str(text) = self { Some(text) } else { None }
    }

    /// The value, of a Boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self { Some(*value) } else { None }
    }

    /// The value, of an integer between 0 and 2^64 - 1.
    pub fn as_u64(&self) -> Option<u64> {
        if let Json::Int(value) = self { value.as_u64() } else { None }
    }

    /// The value, of a number of either kind; large integers lose digits.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Float(value) => Some(*value),
            Json::Int(value) => value.as_str().parse().ok(),
            _ => None,
        }
    }
}

impl fmt::Display for Json {
    /// The canonical text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.canonical())
    }
}

impl FromStr for Json {
    type Err = crate::Refusal;

    fn from_str(text: &str) -> Result<Json> {
        Json::parse(text.as_bytes())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Str(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Str(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        Json::Int(value.into())
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Json {
        Json::Int(value.into())
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Json {
        Json::Int(value.into())
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Json {
        Json::Array(items)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

// Through raw text, because serde's data model would turn large integers into floats. So it works with
// serde_json's text readers and writers only, and not through `serde_json::Value`.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        RawValue::from_string(self.canonical()).map_err(ser::Error::custom)?.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Json, D::Error> {
        let raw = Box::<RawValue>::deserialize(d)?;
        Json::parse(raw.get().as_bytes()).map_err(de::Error::custom)
    }
}
