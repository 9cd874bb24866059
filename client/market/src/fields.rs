//! Reading an object strictly: every field is asked for, and what nobody asked for is refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::Json;
use crate::digits::lower_hex;
use crate::{Address, Millis, NetworkId, PartyId, Raw, Reason, Refusal, Result};

/// The fields of one object, with the place where it stands, for sentences.
pub(crate) struct Fields<'a> {
    place: String,
    fields: &'a BTreeMap<String, Json>,
    asked: BTreeSet<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of `value`, which must be an object. `place` is a path such as `contract.task`.
    pub(crate) fn of(value: &'a Json, place: impl Into<String>) -> Result<Fields<'a>> {
        let place = place.into();
        match value.as_object() {
            Some(fields) => Ok(Fields { place, fields, asked: BTreeSet::new() }),
            None => Err(Refusal::with(Reason::FieldNotObject, place)),
        }
    }

    /// The path of a field.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// The field, if it is there. `null` counts as absent: Python clients send it for "nothing".
    pub(crate) fn raw(&mut self, name: &'static str) -> Option<&'a Json> {
        self.asked.insert(name);
        self.fields.get(name).filter(|v| **v != Json::Null)
    }

    /// The field's value. 9020 when it is absent or `null`.
    pub(crate) fn need(&mut self, name: &'static str) -> Result<&'a Json> {
        self.raw(name).ok_or_else(|| Refusal::with(Reason::FieldMissing, self.path(name)))
    }

    /// Refuse the field with `reason`.
    pub(crate) fn refuse<T>(&self, name: &str, reason: Reason) -> Result<T> {
        Err(Refusal::with(reason, self.path(name)))
    }

    fn as_text(&self, name: &str, value: &'a Json, max: usize) -> Result<&'a str> {
        let Some(text) = value.as_str() else { return self.refuse(name, Reason::FieldNotText) };
        if text.len() > max {
            return Err(Refusal::with(Reason::FieldTooLong, format!("{} ({max} bytes)", self.path(name))));
        }
        Ok(text)
    }

    /// Text of at most `max` bytes.
    pub(crate) fn text(&mut self, name: &'static str, max: usize) -> Result<&'a str> {
        let value = self.need(name)?;
        self.as_text(name, value, max)
    }

    /// Text of at most `max` bytes; empty when absent.
    pub(crate) fn text_or_empty(&mut self, name: &'static str, max: usize) -> Result<String> {
        Ok(self.opt_text(name, max)?.unwrap_or_default().to_owned())
    }

    /// Text of at most `max` bytes, or nothing.
    pub(crate) fn opt_text(&mut self, name: &'static str, max: usize) -> Result<Option<&'a str>> {
        self.raw(name).map(|value| self.as_text(name, value, max)).transpose()
    }

    /// Text of 1 to `max` bytes that is not only blanks.
    pub(crate) fn filled(&mut self, name: &'static str, max: usize) -> Result<String> {
        let text = self.text(name, max)?;
        if text.trim().is_empty() { self.refuse(name, Reason::FieldEmpty) } else { Ok(text.to_owned()) }
    }

    /// One line of 1 to `max` bytes that is not only blanks and has no control character but tabs, or nothing.
    pub(crate) fn opt_line(&mut self, name: &'static str, max: usize) -> Result<Option<String>> {
        if self.raw(name).is_none() {
            return Ok(None);
        }
        let text = self.filled(name, max)?;
        // U+2028 and U+2029 end lines on some screens.
        let breaks = |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
        if text.chars().any(breaks) { self.refuse(name, Reason::FieldNotLine) } else { Ok(Some(text)) }
    }

    /// True or false.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool> {
        let value = self.need(name)?;
        value.as_bool().ok_or_else(|| Refusal::with(Reason::FieldNotFlag, self.path(name)))
    }

    /// True or false, or `default`.
    pub(crate) fn flag_or(&mut self, name: &'static str, default: bool) -> Result<bool> {
        if self.raw(name).is_some() { self.flag(name) } else { Ok(default) }
    }

    /// A whole number.
    pub(crate) fn number(&mut self, name: &'static str) -> Result<u64> {
        let value = self.need(name)?;
        value.as_u64().ok_or_else(|| Refusal::with(Reason::FieldNotNumber, self.path(name)))
    }

    /// A whole number of 32 bits.
    pub(crate) fn small(&mut self, name: &'static str) -> Result<u32> {
        let number = self.number(name)?;
        number.try_into().or_else(|_| self.refuse(name, Reason::FieldNotNumber))
    }

    /// A whole number, or nothing.
    pub(crate) fn opt_number(&mut self, name: &'static str) -> Result<Option<u64>> {
        self.raw(name).is_some().then(|| self.number(name)).transpose()
    }

    /// An exit status, which may be negative when a signal ended the command.
    pub(crate) fn opt_status(&mut self, name: &'static str) -> Result<Option<i64>> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        match value {
            Json::Int(n) if n.as_i64().is_some_and(|n| (-1024..=1024).contains(&n)) => Ok(n.as_i64()),
            _ => self.refuse(name, Reason::FieldNotNumber),
        }
    }

    /// A party id, `fix_` and 64 hexadecimal digits.
    pub(crate) fn party(&mut self, name: &'static str) -> Result<PartyId> {
        self.text(name, 128)?.parse()
    }

    /// A party id; `None` when the field is absent.
    pub(crate) fn opt_party(&mut self, name: &'static str) -> Result<Option<PartyId>> {
        self.opt_text(name, 128)?.map(str::parse).transpose()
    }

    /// A Nano address that somebody can own.
    pub(crate) fn address(&mut self, name: &'static str) -> Result<Address> {
        let text = self.text(name, 128)?;
        match text.parse::<Address>() {
            Ok(address) if !address.is_burn() => Ok(address),
            _ => self.refuse(name, Reason::FieldNotAddress),
        }
    }

    /// A Nano address, or nothing. Empty text counts as nothing.
    pub(crate) fn opt_address(&mut self, name: &'static str) -> Result<Option<Address>> {
        match self.opt_text(name, 128)? {
            None | Some("") => Ok(None),
            Some(_) => self.address(name).map(Some),
        }
    }

    /// An amount: a decimal string in XNO.
    pub(crate) fn amount(&mut self, name: &'static str) -> Result<Raw> {
        let text = self.text(name, 80)?;
        Raw::from_xno(text).or_else(|_| self.refuse(name, Reason::FieldNotAmount))
    }

    /// 32 bytes in lower-case hexadecimal digits.
    pub(crate) fn hash(&mut self, name: &'static str) -> Result<[u8; 32]> {
        let text = self.text(name, 64)?;
        lower_hex(text).ok_or_else(|| Refusal::with(Reason::FieldNotHex, self.path(name)))
    }

    /// A network's genesis hash.
    pub(crate) fn network(&mut self, name: &'static str) -> Result<NetworkId> {
        let text = self.text(name, 64)?;
        text.parse().or_else(|_| self.refuse(name, Reason::FieldNotHex))
    }

    /// A moment or a span in seconds with at most three decimals.
    pub(crate) fn seconds(&mut self, name: &'static str) -> Result<Millis> {
        let value = self.need(name)?;
        let exact = |at: &Millis| value.as_f64() == Some(at.as_secs_f64());
        match value.as_f64().and_then(Millis::from_secs_f64).filter(exact) {
            Some(at) => Ok(at),
            None => self.refuse(name, Reason::FieldNotNumber),
        }
    }

    /// A list of at most `max` items.
    pub(crate) fn list(&mut self, name: &'static str, max: usize) -> Result<&'a [Json]> {
        let value = self.need(name)?;
        let Some(items) = value.as_array() else { return self.refuse(name, Reason::FieldNotList) };
        if items.len() > max {
            return Err(Refusal::with(Reason::FieldTooMany, format!("{} ({max} items)", self.path(name))));
        }
        Ok(items)
    }

    /// A list of short texts, or none.
    pub(crate) fn texts(&mut self, name: &'static str, max: usize, each: usize) -> Result<Vec<String>> {
        if self.raw(name).is_none() {
            return Ok(Vec::new());
        }
        let items = self.list(name, max)?;
        items.iter().map(|item| self.as_text(name, item, each).map(str::to_owned)).collect()
    }

    /// An object in this one.
    pub(crate) fn object(&mut self, name: &'static str) -> Result<Fields<'a>> {
        Fields::of(self.need(name)?, self.path(name))
    }

    /// An object in this one, or nothing.
    pub(crate) fn opt_object(&mut self, name: &'static str) -> Result<Option<Fields<'a>>> {
        self.raw(name).map(|value| Fields::of(value, self.path(name))).transpose()
    }

    /// What nobody asked for, by name.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = (&'a str, &'a Json)> {
        let unknown = |name: &str| !self.asked.contains(name);
        let fields = self.fields;
        fields.iter().map(|(name, value)| (name.as_str(), value)).filter(move |(name, _)| unknown(name))
    }

    /// Refuse what nobody asked for.
    pub(crate) fn done(self) -> Result<()> {
        match self.fields.keys().find(|name| !self.asked.contains(name.as_str())) {
            Some(name) => {
                let name: String = name.chars().take(64).collect();
                Err(Refusal::with(Reason::FieldUnknown, self.path(&name)))
            }
            None => Ok(()),
        }
    }
}

/// Builds an object from the fields that are there.
#[derive(Default)]
pub(crate) struct Builder(BTreeMap<String, Json>);

impl Builder {
    pub(crate) fn new() -> Builder {
        Builder::default()
    }

    pub(crate) fn put(mut self, name: &str, value: impl Into<Json>) -> Builder {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn text(self, name: &str, value: impl ToString) -> Builder {
        self.put(name, value.to_string())
    }

    /// Left out when there is nothing.
    pub(crate) fn opt(self, name: &str, value: Option<impl Into<Json>>) -> Builder {
        match value {
            Some(value) => self.put(name, value),
            None => self,
        }
    }

    pub(crate) fn opt_text(self, name: &str, value: Option<impl ToString>) -> Builder {
        self.opt(name, value.map(|v| v.to_string()))
    }

    /// Left out when empty.
    pub(crate) fn filled(self, name: &str, value: &str) -> Builder {
        if value.is_empty() { self } else { self.put(name, value) }
    }

    pub(crate) fn build(self) -> Json {
        Json::Object(self.0)
    }
}
