//! Reading a request as a node does: texts, numbers and flags may each be written as the other.

use serde_json::{Map, Value};

use super::Text;
use nano_escrow::{Address, BlockHash, PublicKey, Raw};

/// What a node says of a request that lacks something or nests too deep.
pub(super) const UNREADABLE: &str = "Unable to parse JSON";
const BAD_ACCOUNT: &str = "Bad account number";

/// The request's fields.
pub(crate) struct Params<'a>(pub(crate) &'a Map<String, Value>);

/// A node takes these forms of the prefix too.
pub(crate) fn account(text: &str) -> Option<PublicKey> {
    let plain = match text.split_at_checked(4) {
        Some(("xrb-" | "xrb_", rest)) => format!("nano_{rest}"),
        _ => match text.strip_prefix("nano-") {
            Some(rest) => format!("nano_{rest}"),
            None => text.to_owned(),
        },
    };
    plain.parse::<Address>().ok().map(|a| a.public_key())
}

/// Hexadecimal digits with zeros before them left out, as a node reads them.
pub(crate) fn short_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.is_empty() || text.len() > 2 * N || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let full = format!("{text:0>width$}", width = 2 * N);
    let mut out = [0; N];
    hex::decode_to_slice(full, &mut out).ok()?;
    Some(out)
}

/// A value where a node would take a text.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl Params<'_> {
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(text_of)
    }

    pub(super) fn needed(&self, name: &str) -> Result<String, Text> {
        self.text(name).ok_or_else(|| UNREADABLE.into())
    }

    /// Anything that is not a flag counts as the default.
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        match self.text(name).as_deref() {
            Some("true" | "1") => true,
            Some("false" | "0") => false,
            _ => default,
        }
    }

    pub(super) fn account(&self, name: &str) -> Result<PublicKey, Text> {
        account(&self.needed(name)?).ok_or_else(|| BAD_ACCOUNT.into())
    }

    pub(super) fn hash(&self, name: &str) -> Result<BlockHash, Text> {
        short_hex(&self.needed(name)?).map(BlockHash).ok_or_else(|| "Invalid block hash".into())
    }

    /// A number without sign; "-1" means all, as everywhere in a node.
    pub(super) fn count(&self, name: &str) -> Result<Option<usize>, Text> {
        match self.text(name).as_deref() {
            None => Ok(None),
            Some("-1") => Ok(Some(usize::MAX)),
            Some(text) => text.parse().map(Some).map_err(|_| "Invalid count limit".into()),
        }
    }

    pub(super) fn threshold(&self) -> Result<Raw, Text> {
        match self.text("threshold") {
            None => Ok(Raw::ZERO),
            Some(text) => text.parse().map_err(|_| "Bad threshold number".into()),
        }
    }

    pub(super) fn difficulty(&self) -> Result<Option<u64>, Text> {
        match self.text("difficulty") {
            None => Ok(None),
            Some(text) => {
                short_hex(&text).map(|b| Some(u64::from_be_bytes(b))).ok_or_else(|| "Bad difficulty".into())
            }
        }
    }

    /// A list of texts.
    pub(super) fn list(&self, name: &str) -> Result<Vec<String>, Text> {
        match self.0.get(name) {
            Some(Value::Array(items)) => {
                items.iter().map(|v| text_of(v).ok_or_else(|| UNREADABLE.into())).collect()
            }
            // A property tree cannot tell a text from a list without items.
            Some(Value::String(_)) => Ok(Vec::new()),
            _ => Err(UNREADABLE.into()),
        }
    }
}

/// An account of a list, or what a node says of it.
pub(super) fn listed(text: &str) -> Result<PublicKey, Text> {
    account(text).ok_or_else(|| BAD_ACCOUNT.into())
}
