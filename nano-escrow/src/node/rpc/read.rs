//! Reading a node's JSON, whatever its dialect.

use std::fmt::Display;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::BlockHash;
use crate::node::NodeError;

/// An answer with the name of its action, for the errors.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    action: &'static str,
    value: &'a Value,
}

impl<'a> Answer<'a> {
    /// The answer of `action`.
    pub fn new(action: &'static str, value: &'a Value) -> Answer<'a> {
        Answer { action, value }
    }

    /// What cannot be read, as an error.
    pub fn unreadable(&self, reason: impl Into<String>) -> NodeError {
        NodeError::Unreadable { action: self.action, reason: reason.into() }
    }

    /// The JSON itself.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// The same action, another part of the answer.
    pub fn at(&self, value: &'a Value) -> Answer<'a> {
        Answer { action: self.action, value }
    }

    /// A field, `None` when it is missing, null or empty.
    pub fn field(&self, name: &str) -> Option<Answer<'a>> {
        match self.value.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.is_empty() => None,
            Some(value) => Some(self.at(value)),
        }
    }

    /// A field that must be there.
    pub fn need(&self, name: &str) -> Result<Answer<'a>, NodeError> {
        self.field(name).ok_or_else(|| self.unreadable(format!("{name} is missing")))
    }

    /// The text of a string, number or flag.
    pub fn text(&self) -> Result<String, NodeError> {
        match self.value {
            Value::String(text) => Ok(text.trim().to_owned()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(flag) => Ok(flag.to_string()),
            _ => Err(self.unreadable("a text is expected where a list or an object is")),
        }
    }

    /// Parse the text.
    pub fn parse<T: FromStr<Err: Display>>(&self) -> Result<T, NodeError> {
        let text = self.text()?;
        text.parse().map_err(|e| self.unreadable(format!("{:?}: {e}", clip(&text))))
    }

    /// A field that must be there, parsed.
    pub fn get<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, NodeError> {
        self.need(name)?.parse().map_err(|e| named(name, e))
    }

    /// A field that may be missing, parsed.
    pub fn maybe<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, NodeError> {
        self.field(name).map(|f| f.parse()).transpose().map_err(|e| named(name, e))
    }

    /// A flag: `"true"`, `true`, `"1"`, `1`; a missing one is false.
    pub fn flag(&self, name: &str) -> Result<bool, NodeError> {
        match self.field(name) {
            None => Ok(false),
            Some(field) => match field.text()?.to_ascii_lowercase().as_str() {
                "true" | "1" => Ok(true),
                "false" | "0" => Ok(false),
                other => {
                    Err(self.unreadable(format!("{name} is {:?} instead of true or false", clip(other))))
                }
            },
        }
    }

    /// A hash that may be missing; all zeros mean the same.
    pub fn maybe_hash(&self, name: &str) -> Result<Option<BlockHash>, NodeError> {
        Ok(self.maybe::<BlockHash>(name)?.filter(|h| !h.is_zero()))
    }

    /// 16 hexadecimal digits as a number.
    pub fn hex64(&self, name: &str) -> Result<u64, NodeError> {
        let text = self.need(name)?.text()?;
        u64::from_str_radix(&text, 16)
            .map_err(|_| self.unreadable(format!("{name} is not a hexadecimal number")))
    }

    /// The entries of an object; a missing field and an empty `[]` or `""` are an empty object.
    pub fn entries(&self, name: &str) -> Result<Vec<(&'a str, Answer<'a>)>, NodeError> {
        match self.field(name).map(|f| f.value) {
            None => Ok(Vec::new()),
            Some(Value::Object(map)) => Ok(map.iter().map(|(k, v)| (k.as_str(), self.at(v))).collect()),
            Some(Value::Array(list)) if list.is_empty() => Ok(Vec::new()),
            Some(_) => Err(self.unreadable(format!("{name} is not an object"))),
        }
    }

    /// The items of a list; a missing field and an empty `{}` or `""` are an empty list.
    pub fn items(&self, name: &str) -> Result<Vec<Answer<'a>>, NodeError> {
        match self.field(name).map(|f| f.value) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list.iter().map(|v| self.at(v)).collect()),
            Some(Value::Object(map)) if map.is_empty() => Ok(Vec::new()),
            Some(_) => Err(self.unreadable(format!("{name} is not a list"))),
        }
    }

    /// Parse a key of an object.
    pub fn key<T: FromStr<Err: Display>>(&self, key: &str) -> Result<T, NodeError> {
        key.parse().map_err(|e| self.unreadable(format!("{:?}: {e}", clip(key))))
    }
}

fn named(name: &str, error: NodeError) -> NodeError {
    match error {
        NodeError::Unreadable { action, reason } => {
            NodeError::Unreadable { action, reason: format!("{name}: {reason}") }
        }
        other => other,
    }
}

/// The beginning of a text: answers can be long, errors should not be.
fn clip(text: &str) -> String {
    text.chars().take(80).collect()
}

/// An object of texts.
pub(super) fn body<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// A list of texts.
pub(super) fn texts<T: Display>(items: &[T]) -> Value {
    items.iter().map(|i| Value::String(i.to_string())).collect()
}

/// A JSON string of it.
pub(super) fn text(item: impl Display) -> Value {
    Value::String(item.to_string())
}
