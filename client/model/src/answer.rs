//! The strict reader of what a model says: exactly one JSON object of a closed shape, or nothing.
//!
//! The object may stand in one Markdown code fence. Anything before or after it, a second object, a repeated
//! key, an unknown field, a wrong type: refused. A reader that searched for something usable in a longer text
//! would find what a party has written there.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Longest answer that is read, in bytes.
pub const MAX_ANSWER: usize = 64 << 10;

/// Why an answer is not one. The texts name no more than a field of the answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It is too long.
    #[error("The answer is longer than {MAX_ANSWER} bytes. Answer with one short JSON object.")]
    TooLong,
    /// It is not one JSON object.
    #[error("The answer is not exactly one JSON object: {why}. Answer with the object and nothing else.")]
    NotOneObject {
        /// What is wrong.
        why: String,
    },
    /// The object has another shape.
    #[error("The answer has not the shape that was asked for: {why}. Answer with exactly these fields.")]
    Shape {
        /// What is wrong.
        why: String,
    },
}

impl AnswerError {
    /// The number of this error.
    pub fn code(&self) -> u16 {
        match self {
            Self::TooLong => 9355,
            Self::NotOneObject { .. } => 9356,
            Self::Shape { .. } => 9357,
        }
    }

    /// A wrong shape.
    pub fn shape(why: impl Into<String>) -> AnswerError {
        AnswerError::Shape { why: why.into() }
    }
}

/// The fields of the one object of an answer.
pub fn read(text: &str) -> Result<Fields, AnswerError> {
    if text.len() > MAX_ANSWER {
        return Err(AnswerError::TooLong);
    }
    let bad = |why: String| AnswerError::NotOneObject { why };
    let body = unfenced(text.trim_ascii()).map_err(|why| bad(why.into()))?;
    // serde_json itself ends at 128 levels and refuses what follows the value.
    let Strict(value) = serde_json::from_str(body)
        .map_err(|e| bad(format!("it cannot be read at line {} column {}", e.line(), e.column())))?;
    match value {
        Value::Object(map) => Ok(Fields(map)),
        _ => Err(bad("it is another JSON value".into())),
    }
}

/// The inside of a code fence that encloses everything, or the text as it is.
fn unfenced(text: &str) -> Result<&str, &'static str> {
    let Some(rest) = text.strip_prefix("```") else { return Ok(text) };
    let (info, rest) = rest.split_once('\n').ok_or("its code fence has no second line")?;
    if !matches!(info.trim_ascii().to_ascii_lowercase().as_str(), "" | "json") {
        return Err("its code fence is not JSON's");
    }
    let inside = rest.strip_suffix("```").ok_or("its code fence does not end at its end")?;
    // JSON has no raw newline inside a string, so a fence inside would not be JSON either.
    inside.ends_with('\n').then_some(inside).ok_or("its code fence does not end on a line of its own")
}

/// The fields of an object, to be taken out one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// A text of 1 to `max` bytes, not only space, without NUL.
    pub fn text(&mut self, name: &str, max: usize) -> Result<String, AnswerError> {
        let text = self.maybe_text(name, max)?;
        text.ok_or_else(|| AnswerError::shape(format!("the field {name} is missing")))
    }

    /// As [`Fields::text`], but it may be missing or null.
    pub fn maybe_text(&mut self, name: &str, max: usize) -> Result<Option<String>, AnswerError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(AnswerError::shape(format!("the field {name} is empty")))
            }
            Some(Value::String(text)) if text.len() > max => {
                Err(AnswerError::shape(format!("the field {name} is longer than {max} bytes")))
            }
            Some(Value::String(text)) if text.contains('\0') => {
                Err(AnswerError::shape(format!("the field {name} has a NUL character")))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(AnswerError::shape(format!("the field {name} is not a text"))),
        }
    }

    /// A list of at most `max` texts; missing is empty.
    pub fn texts(&mut self, name: &str, max: usize) -> Result<Vec<String>, AnswerError> {
        let bad = |what: &str| AnswerError::shape(format!("the field {name} {what}"));
        match self.0.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) if items.len() <= max => items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text),
                    _ => Err(bad("has something that is not a text")),
                })
                .collect(),
            Some(Value::Array(_)) => Err(bad("has too many entries")),
            Some(_) => Err(bad("is not a list")),
        }
    }

    /// Nothing may be left.
    pub fn end(self) -> Result<(), AnswerError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(AnswerError::shape("it has a field that nobody asked for"))
        }
    }
}

/// JSON without repeated keys. A reader that takes the first and another that takes the last would see two
/// different answers.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let Strict(value) = access.next_value()?;
            if map.insert(key, value).is_some() {
                return Err(de::Error::custom("a key is repeated"));
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_is_read_bare_or_in_a_code_fence_ok() {
        for good in [
            "{\"a\":\"b\"}",
            " \n{\"a\":\"b\"}\n",
            "```json\n{\"a\":\"b\"}\n```",
            "```\n{\"a\":\n\"b\"}\n```\n",
        ] {
            let mut fields = read(good).unwrap();
            assert_eq!(fields.text("a", 10).unwrap(), "b");
            fields.end().unwrap();
        }
    }

    #[test]
    fn anything_else_fails() {
        for bad in [
            "",
            "null",
            "[]",
            "\"{}\"",
            "{} {}",
            "{}x",
            "x{}",
            "Sure: {}",
            "{\"a\":1,\"a\":1}",
            "{\"a\":{\"b\":1,\"b\":2}}",
            "```json\n{}",
            "```json\n{}```",
            "```json {}```",
            "```rust\n{}\n```",
            "```json\n{}\n```\nok",
            "```json\n{}\n```\n```json\n{}\n```",
            "{'a':1}",
            "{\"a\":1,}",
            "{\"a\":NaN}",
            "\u{feff}{}",
            "\u{a0}{}",
            "// x\n{}",
        ] {
            assert_eq!(read(bad).unwrap_err().code(), 9356, "{bad:?}");
        }
        assert_eq!(read(&" ".repeat(MAX_ANSWER + 1)).unwrap_err().code(), 9355);
        assert_eq!(read(&"[".repeat(10_000)).unwrap_err().code(), 9356);
    }
}
