//! JSON as the relay's clients write it: JavaScript's numbers, and objects that keep their order.
//!
//! Signatures over skills cover `JSON.stringify` of what was sent, so order and numbers must survive reading.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use crate::{RelayError, Result};

/// One JSON value with the order of its fields.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The literal `null`, which field readers take for an absent field.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Every number is a double, as in JavaScript; finite.
    Number(f64),
    /// Text with its escapes undone.
    Text(String),
    /// Values in their order.
    List(Vec<Value>),
    /// The fields in JavaScript's order; every name stands once.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Reads one value with nothing behind it, at most `depth` lists and objects within each other.
    ///
    /// # Errors
    ///
    /// What is not JSON, halves of surrogate pairs, numbers beyond a double, and deeper values.
    pub fn parse(text: &str, depth: usize) -> Result<Value> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let numbers = RefCell::new(Numbers(text));
        let seed = Seed { depth, numbers: &numbers };
        let value = seed.deserialize(&mut reader).map_err(|_| RelayError::NotJson)?;
        reader.end().map_err(|_| RelayError::NotJson)?;
        Ok(value)
    }

    /// An object of these fields, in this order.
    pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
        Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The field of an object; `null` counts as absent.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let Value::Object(fields) = self else { return None };
        fields
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value)
            .filter(|value| **value != Value::Null)
    }

    /// The text, of a string.
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// The double, of a number.
    pub fn as_number(&self) -> Option<f64> {
        if let Value::Number(number) = self { Some(*number) } else { None }
    }

    /// The items, of a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List(items) = self { Some(items) } else { None }
    }

    /// The number, where it is whole and not below zero, at most 2^53.
    pub fn as_whole(&self) -> Option<u64> {
        self.as_number().and_then(whole)
    }

    /// As `JSON.stringify` writes it.
    pub fn stringify(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => out.push_str(&js_number(*number)),
            Value::Text(text) => quote(text, out),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Value::Object(fields) => {
                out.push('{');
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    quote(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl From<u64> for Value {
    /// Above 2^53 the nearest double, as in JavaScript.
    #[allow(clippy::cast_precision_loss)]
    fn from(number: u64) -> Value {
        Value::Number(number as f64)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value::from(number as u64)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// The double as a whole number from 0 to 2^53.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number)).then_some(number as u64)
}

/// ECMAScript's `Number::toString`; `null` for what JSON cannot say.
pub fn js_number(number: f64) -> String {
    if !number.is_finite() {
        return "null".into();
    }
    if number == 0.0 {
        return "0".into();
    }
    // Rust's `{:e}` gives the same shortest digits; only the layout differs.
    let text = format!("{:e}", number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1;
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    let body = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (head, tail) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{head}.{tail}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (head, tail) = digits.split_at(1);
        let dot = if tail.is_empty() { "" } else { "." };
        format!("{head}{dot}{tail}e{}{}", if exponent < 0 { "-" } else { "+" }, exponent.abs())
    };
    if number < 0.0 { format!("-{body}") } else { body }
}

/// Writes a string as `JSON.stringify` does.
fn quote(text: &str, out: &mut String) {
    // A string always serializes.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// The numbers of a JSON text in their order. serde_json may miss the nearest double of 17 digits by one, and what is
/// signed is that double's text.
struct Numbers<'a>(&'a str);

impl Numbers<'_> {
    /// The next one, of a text that a JSON reader has accepted up to there.
    fn next(&mut self) -> Option<f64> {
        let mut in_text = false;
        let mut bytes = self.0.bytes().enumerate();
        let from = loop {
            match bytes.next()? {
                (_, b'"') => in_text = !in_text,
                (_, b'\\') if in_text => drop(bytes.next()),
                (at, b'-' | b'0'..=b'9') if !in_text => break at,
                _ => {}
            }
        };
        let rest = self.0.get(from..)?;
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let (number, behind) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        self.0 = behind;
        number.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

#[derive(Clone, Copy)]
struct Seed<'a> {
    depth: usize,
    numbers: &'a RefCell<Numbers<'a>>,
}

impl Seed<'_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        let deeper = |depth| Seed { depth, ..self };
        self.depth.checked_sub(1).map(deeper).ok_or_else(|| E::custom("too deep"))
    }

    fn number<E: de::Error>(self) -> Result<Value, E> {
        self.numbers.borrow_mut().next().map(Value::Number).ok_or_else(|| E::custom("not a double"))
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Value, E> {
        self.number()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Value, E> {
        self.number()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Value, E> {
        self.number()
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut fields: Vec<(String, Value)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(inner)?;
            // As in JavaScript, a name that comes twice keeps its first place and its last value.
            if let Some(field) = places.get(&name).and_then(|at| fields.get_mut(*at)) {
                field.1 = value;
                continue;
            }
            places.insert(name.clone(), fields.len());
            fields.push((name, value));
        }
        // JavaScript lists array indices first, ascending. The sort is stable.
        fields.sort_by_key(|(name, _)| index(name).unwrap_or(u64::MAX));
        Ok(Value::Object(fields))
    }
}

/// The number of a name that JavaScript takes for an array index.
fn index(name: &str) -> Option<u64> {
    let plain = name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
    plain.then(|| name.parse::<u64>().ok()).flatten().filter(|index| *index < u64::from(u32::MAX))
}
