//! Reading JSON text, keeping what serde's data model would lose: integer or float, and any number of digits.

use std::collections::BTreeMap;

use super::{Integer, Json};
use crate::defaults::{MAX_INTEGER_DIGITS, MAX_JSON_BYTES, MAX_JSON_DEPTH};
use crate::{Reason, Refusal, Result};

/// What to do with a name that stands twice in one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Refuse: two readers could see two meanings. Everything that is signed or sent is read so.
    Refuse,
    /// The last one counts, as in Python's reader.
    LastWins,
}

/// Read JSON text as [`Json::parse`] does, with a choice about names that stand twice.
pub fn parse_with(text: &[u8], duplicates: Duplicates) -> Result<Json> {
    if text.len() > MAX_JSON_BYTES {
        return Err(Refusal::with(Reason::JsonTooLong, text.len()));
    }
    let text = std::str::from_utf8(text).map_err(|e| Refusal::with(Reason::JsonUtf8, e.valid_up_to()))?;
    let mut reader = Reader { text, at: 0, duplicates };
    reader.blank();
    let value = reader.value(0)?;
    reader.blank();
    if reader.at == text.len() { Ok(value) } else { Err(reader.syntax()) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    duplicates: Duplicates,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn syntax(&self) -> Refusal {
        Refusal::with(Reason::JsonSyntax, self.at)
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Take `byte`, or nothing.
    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json> {
        if self.rest().starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.syntax())
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        if depth > MAX_JSON_DEPTH {
            return Err(Reason::JsonTooDeep.into());
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::Str),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'N' | b'I') => Err(Reason::JsonNotFinite.into()),
            _ => Err(self.syntax()),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        self.at += 1;
        let mut fields = BTreeMap::new();
        self.blank();
        if self.take(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            self.blank();
            if self.peek() != Some(b'"') {
                return Err(self.syntax());
            }
            let name = self.string()?;
            self.blank();
            if !self.take(b':') {
                return Err(self.syntax());
            }
            self.blank();
            let value = self.value(depth + 1)?;
            if self.duplicates == Duplicates::Refuse && fields.contains_key(&name) {
                return Err(Refusal::with(Reason::JsonDuplicate, clip(&name)));
            }
            fields.insert(name, value);
            self.blank();
            if self.take(b'}') {
                return Ok(Json::Object(fields));
            }
            if !self.take(b',') {
                return Err(self.syntax());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json> {
        self.at += 1;
        let mut items = Vec::new();
        self.blank();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.blank();
            items.push(self.value(depth + 1)?);
            self.blank();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return Err(self.syntax());
            }
        }
    }

    /// Skip digits; how many there were.
    fn digits(&mut self) -> usize {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - from
    }

    fn number(&mut self) -> Result<Json> {
        let from = self.at;
        if self.take(b'-') && self.peek() == Some(b'I') {
            return Err(Reason::JsonNotFinite.into());
        }
        let zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (zero && whole > 1) {
            return Err(self.syntax());
        }
        let mut float = false;
        if self.take(b'.') {
            float = true;
            if self.digits() == 0 {
                return Err(self.syntax());
            }
        }
        if self.take(b'e') || self.take(b'E') {
            float = true;
            let _ = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return Err(self.syntax());
            }
        }
        let text = self.text.get(from..self.at).unwrap_or("");
        if !float {
            // Python refuses longer ones too.
            if whole > MAX_INTEGER_DIGITS {
                return Err(Refusal::with(Reason::JsonIntegerTooLong, whole));
            }
            return Ok(Json::Int(Integer::from_json(text)));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Json::Float(value)),
            _ => Err(Reason::JsonNotFinite.into()),
        }
    }

    fn string(&mut self) -> Result<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let run = rest.bytes().position(|b| b == b'"' || b == b'\\' || b < b' ').unwrap_or(rest.len());
            out.push_str(rest.get(..run).unwrap_or(""));
            self.at += run;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err(self.syntax()),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        self.at += 1;
        let kind = self.peek().ok_or_else(|| self.syntax())?;
        let c = match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.syntax()),
        };
        self.at += 1;
        Ok(c)
    }

    fn unit(&mut self) -> Result<u16> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|d| u16::from_str_radix(d, 16).ok()).ok_or_else(|| self.syntax())?;
        self.at += 4;
        Ok(unit)
    }

    fn unicode(&mut self) -> Result<char> {
        let first = self.unit()?;
        let lone = || Refusal::of(Reason::JsonSurrogate);
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first.into()).ok_or_else(lone);
        }
        if !self.rest().starts_with("\\u") {
            return Err(lone());
        }
        self.at += 2;
        let second = self.unit()?;
        char::decode_utf16([first, second]).next().and_then(|c| c.ok()).ok_or_else(lone)
    }
}

/// The beginning of a text, for a sentence.
pub(crate) fn clip(text: &str) -> String {
    text.chars().take(64).collect()
}
