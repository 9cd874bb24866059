//! Secrets in lists and tables: a column with a password's name, a member of a list with commas, the lines of a file
//! of secrets.

use super::Candidate;
use super::category::Category;
use super::looks::{
    is_chosen, is_code, is_location, is_mailbox, is_placeholder, is_technical, is_unlike_prose,
};
use super::memo::Site;
use super::text::{Text, every};
use std::ops::Range;

/// How many lines are read below a heading, and how many bytes of each.
const LINES: usize = 12;
const REACH: usize = 256;

fn fits(value: &[u8]) -> bool {
    is_chosen(value)
        && !is_placeholder(value)
        && !is_code(value)
        && !is_location(value)
        && !is_technical(value)
        && !is_mailbox(value)
}

/// Whether the name heads a column, and the passwords in it: `| User | Password |`, `user,password`.
pub(super) fn column(text: Text<'_>, name: &Range<usize>, found: &mut Vec<Candidate>) -> bool {
    let after = text.run(name.end, 64, |byte| byte == b' ');
    let before = text.run_back(name.start, 64, |byte| byte == b' ');
    let (left, right) = (text.before(before), text.at(after));
    let sign = if matches!(left, b'|' | b',' | b'\t' | b';') { left } else { right };
    let ends = |byte: u8| matches!(byte, 0 | b'\n' | b'\r') || byte == sign;
    if !matches!(sign, b'|' | b',' | b'\t' | b';') || !ends(left) || !ends(right) {
        return false;
    }
    let line = text.run_back(name.start, REACH, |byte| byte != b'\n');
    let number = text.peek(line..name.start).iter().filter(|byte| **byte == sign).count();
    // A heading of single words, and rows with as many cells.
    let heading = text.peek(line..text.run(name.end, REACH, |byte| byte != b'\n')).trim_ascii_end();
    let cells = |line: &[u8]| line.iter().filter(|byte| **byte == sign).count();
    let columns = cells(heading);
    let words = columns >= 2 && !heading.contains(&b' ');
    let mut at = text.run(name.end, REACH, |byte| byte != b'\n');
    let mut any = false;
    for _ in 0..LINES {
        let start = at + 1;
        at = text.run(start, REACH, |byte| byte != b'\n');
        // The line between the heading and the rows.
        if at > start
            && every(text.peek(start..at), |byte| matches!(byte, b'-' | b'+' | b'|' | b':' | b' ' | b'\r'))
        {
            continue;
        }
        let mut from = start;
        for _ in 0..number {
            from = text.run(from, at.saturating_sub(from), |byte| byte != sign) + 1;
        }
        if from >= at {
            return any;
        }
        let blank = |byte: u8| matches!(byte, b' ' | b'`' | b'"');
        let from = text.run(from, at - from, blank);
        let end = text.run(from, at.saturating_sub(from), |byte| byte != sign && byte != b'\r');
        let end = text.run_back(end, end.saturating_sub(from), blank);
        let value = text.slice(from..end);
        let table = words && cells(text.peek(start..at)) == columns;
        let sure = sign == b'|' || table || is_unlike_prose(value);
        if sure && fits(value) && !value.contains(&b' ') {
            found.push(Candidate { category: Category::Password, range: from..end });
            any = true;
        }
    }
    any
}

/// `D=shop,u=bob,p=secret`, `secret,id=s0,data=secret`: a member of a list that has a name or a kind beside it.
pub(super) fn member(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let start = text.run_back(anchor.start, 128, |byte| !byte.is_ascii_whitespace());
    let data = text.starts(anchor.start, ",data=");
    let names: &[&'static str] = if data { &["secret,"] } else { &["u="] };
    if !text.has(Site::Before, start..anchor.start, names) {
        return;
    }
    let end =
        text.run(anchor.end, 128, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b'"' | b'\''));
    let value = text.slice(anchor.end..end);
    let cased = value.len() >= 6 && !every(value, |byte| byte.is_ascii_lowercase()) && !is_location(value);
    if cased && !is_placeholder(value) {
        let category = if data { Category::Password } else { Category::DatabaseUrl };
        found.push(Candidate { category, range: anchor.end..end });
    }
}

/// `BUNDLE_GEMS__EXAMPLE__ORG="name:secret"`: a variable that is called as its host.
pub(super) fn host(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let name = text.run(anchor.end, 96, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !matches!(text.at(name), b'=' | b':') {
        return;
    }
    let start = text.run(text.blanks(name + 1), 1, |byte| matches!(byte, b'"' | b'\''));
    let end = text.run(start, 128, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''));
    let colon = text.run(start, end - start, |byte| byte != b':');
    let (user, secret) = (text.slice(start..colon), text.slice((colon + 1).min(end)..end));
    let person = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@');
    if !user.is_empty() && every(user, person) && is_chosen(secret) && !is_placeholder(secret) {
        found.push(Candidate { category: Category::BasicAuth, range: colon + 1..end });
    }
}

/// The lines of `pap-secrets`, of a pooler's list of users, of `davfs2`'s secrets: a name, then a word that is none.
pub(super) fn below(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let line = text.line(anchor.start);
    // The list may stand on the line of its name.
    let mut at = line.start;
    for _ in 0..4 {
        let end = text.run(at, REACH, |byte| byte != b'\n');
        let mut from = at;
        for number in 0..5 {
            let start = text.run(from, 64, |byte| matches!(byte, b' ' | b'\t' | b'"' | b'\''));
            let stop =
                text.run(start, 96, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''));
            if start >= end {
                break;
            }
            let value = text.slice(start..stop);
            let quoted = matches!(text.before(start), b'"' | b'\'');
            if number > 0
                && fits(value)
                && (quoted || stop >= end || at > line.start || is_unlike_prose(value))
            {
                found.push(Candidate { category: Category::Password, range: start..stop });
            }
            from = stop;
        }
        if end >= text.len() {
            return;
        }
        at = end + 1;
    }
}

/// `"name:secret"` in quotes or behind a flag, `host:port:database:name:secret`, wherever they stand.
pub(super) fn pairs(text: Text<'_>, found: &mut Vec<Candidate>) {
    let mut quiet = 0;
    for colon in memchr::memchr_iter(b':', text.0) {
        let next = text.at(colon + 1);
        if colon < quiet || !(next.is_ascii_alphanumeric()) {
            continue;
        }
        let person = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let start = text.run_back(colon, 48, person);
        if start == colon {
            continue;
        }
        if next.is_ascii_digit() && matches!(text.before(start), 0 | b'\n' | b' ' | b'\t' | b'"' | b'\'') {
            let port = text.run(colon + 1, 5, |byte| byte.is_ascii_digit());
            if text.at(port) == b':' {
                super::programs::pgpass(text, colon..port + 1, found);
                continue;
            }
        }
        let sign = text.before(start);
        let quoted = matches!(sign, b'"' | b'\'');
        // The flag stands in the same word or is the word before.
        let flagged = || {
            let word = text
                .run_back(start.saturating_sub(1), 32, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
            sign == b' ' && text.at(word) == b'-' && text.before(word) == b' '
        };
        if !quoted && !flagged() {
            continue;
        }
        let end = text.run(colon + 1, 96, |byte| {
            !byte.is_ascii_whitespace()
                && !matches!(byte, b'"' | b'\'' | b':' | b'/' | b'@' | b'&' | b'\\' | b'`' | b',')
        });
        quiet = end;
        let closed =
            if quoted { text.at(end) == sign } else { matches!(text.at(end), 0 | b' ' | b'\n' | b'\r') };
        let (user, secret) = (text.slice(start..colon), text.slice(colon + 1..end));
        if closed
            && user.first().is_some_and(u8::is_ascii_alphabetic)
            && is_unlike_prose(secret)
            && !is_technical(user)
            && !is_placeholder(secret)
        {
            found.push(Candidate { category: Category::BasicAuth, range: colon + 1..end });
        }
    }
}
