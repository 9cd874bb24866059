//! Names and passwords that a line says were tried, and rows of tables with passwords in them.

use super::Candidate;
use super::category::Category;
use super::looks::{
    is_chosen, is_code, is_location, is_mailbox, is_placeholder, is_technical, is_unlike_prose, is_uuid,
};
use super::memo::{Settled, Site};
use super::text::Text;
use super::words::find;
use std::ops::Range;

/// How far behind its word an attempt is read.
const REACH: usize = 96;

fn fits(value: &[u8]) -> bool {
    is_chosen(value)
        && !is_placeholder(value)
        && !is_code(value)
        && !is_location(value)
        && !is_technical(value)
        && !is_uuid(value)
        && !is_mailbox(value)
}

/// `trying bob:…`, `logged in with bob / …`, `auth failed for bob using '…'`.
pub(super) fn tried(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    if anchor.end < text.1.settled(Settled::Attempt) {
        return;
    }
    let line = text.line(anchor.start);
    let to = line.end.min(anchor.end + REACH);
    text.1.settle(Settled::Attempt, to);
    let quoted = |byte: u8| matches!(byte, b'"' | b'\'' | b'`');
    let person =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'\\' | b'/');
    let mut at = anchor.end;
    let mut before: &[u8] = b"";
    while at < to {
        let start = text.run(at, to - at, |byte| {
            byte.is_ascii_whitespace() || quoted(byte) || matches!(byte, b'(' | b'[')
        });
        let end = text.run(start, 96, |byte| !byte.is_ascii_whitespace() && !quoted(byte) && byte != b']');
        if end <= start {
            break;
        }
        let mut word = text.slice(start..end);
        while let Some(rest) = word.strip_suffix(b",").or(word.strip_suffix(b".")).or(word.strip_suffix(b")"))
        {
            word = rest;
        }
        let colon = word.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0);
        let in_quotes = quoted(text.before(start)) && quoted(text.at(end));
        let range = if let Some(colon) = colon {
            let (name, secret) = (word.get(..colon), word.get(colon + 1..));
            let both = name.zip(secret).is_some_and(|(name, secret)| {
                name.iter().all(person)
                    && !name.iter().all(u8::is_ascii_digit)
                    && !is_technical(name)
                    && fits(secret)
                    && (in_quotes || is_unlike_prose(secret) || secret.len() >= 8)
            });
            both.then_some(start + colon + 1..start + word.len())
        } else {
            let said = matches!(before, b"with" | b"using" | b"/" | b"tried" | b"and");
            (said && fits(word) && (in_quotes || before == b"/" || is_unlike_prose(word)))
                .then_some(start..start + word.len())
        };
        found.extend(range.map(|range| Candidate { category: Category::Password, range }));
        before = word;
        at = end + 1;
    }
}

/// `btoa("name:secret")`, `echo -n 'name:secret' | base64`: what is encoded for a header.
pub(super) fn encoded(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    if anchor.end < text.1.settled(Settled::Encoded) {
        return;
    }
    let line = text.line(anchor.start);
    let (from, to) = (line.start.max(anchor.start.saturating_sub(REACH)), line.end.min(anchor.end + REACH));
    text.1.settle(Settled::Encoded, to);
    let person = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@');
    let mut at = from;
    while at < to {
        let open = text.run(at, to - at, |byte| !matches!(byte, b'"' | b'\'' | b'`'));
        let sign = text.at(open);
        let end = text.run(open + 1, 96, |byte| byte != sign && byte != b'\n');
        if open >= to || text.at(end) != sign {
            return;
        }
        let value = text.slice(open + 1..end);
        let colon = value.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0);
        if let Some(colon) = colon {
            let (name, secret) =
                (value.get(..colon).unwrap_or_default(), value.get(colon + 1..).unwrap_or_default());
            if name.iter().all(person) && fits(secret) && !secret.contains(&b' ') {
                found.push(Candidate { category: Category::BasicAuth, range: open + colon + 2..end });
                return;
            }
        }
        at = end + 1;
    }
}

/// `INSERT INTO users (name, password) VALUES ('bob', '…')`: the value of the column with that name.
pub(super) fn inserted(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let line = text.line(anchor.start);
    let anchor = anchor.start..anchor.end - 1;
    let close = text.run_back(anchor.start, 4, |byte| byte.is_ascii_whitespace());
    if text.before(close) != b')'
        || !text.has(Site::Before, line.start..anchor.start, &["insert into", "replace into"])
    {
        return;
    }
    let open = text.run_back(close - 1, 256, |byte| byte != b'(');
    let columns = text.slice(open..close - 1);
    let kinds = [
        &b"password"[..],
        b"passwd",
        b"pwd",
        b"secret",
        b"token",
        b"api_key",
        b"apikey",
        b"passphrase",
        b"ssn",
        b"pass",
    ];
    let bracket = text.run(anchor.end, 4, |byte| byte.is_ascii_whitespace());
    if text.at(bracket) != b'(' {
        return;
    }
    let mut at = bracket + 1;
    for column in columns.split(|byte| *byte == b',') {
        at = text.run(at, 4, |byte| byte.is_ascii_whitespace());
        let sign = text.at(at);
        let string = matches!(sign, b'\'' | b'"');
        let end = if string {
            text.run(at + 1, 256, |byte| byte != sign && byte != b'\n')
        } else {
            text.run(at, 256, |byte| !matches!(byte, b',' | b')' | b'\n'))
        };
        let column = column.trim_ascii();
        let column = column.strip_prefix(b"`").or(column.strip_prefix(b"\"")).unwrap_or(column);
        let column = column.strip_suffix(b"`").or(column.strip_suffix(b"\"")).unwrap_or(column);
        let named = kinds
            .iter()
            .any(|kind| column.len() >= kind.len() && find(column, kind) == Some(column.len() - kind.len()));
        if string && named && end > at + 1 && !is_placeholder(text.peek(at + 1..end)) {
            found.push(Candidate { category: Category::Password, range: at + 1..end });
        }
        let next = text.run(end + usize::from(string), 4, |byte| byte.is_ascii_whitespace());
        if text.at(next) != b',' {
            return;
        }
        at = next + 1;
    }
}
