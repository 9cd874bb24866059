//! Numbers behind a name: of telephones, of social security.

use super::Candidate;
use super::category::Category;
use super::text::Text;
use super::words::find;
use std::ops::Range;

/// Digits after a name, with the signs that people put between them.
pub(super) fn after(text: Text<'_>, category: Category, name_end: usize) -> Option<Candidate> {
    let tie = |byte: u8| {
        matches!(
            byte,
            b' ' | b'\t'
                | b'"'
                | b'\''
                | b'\\'
                | b':'
                | b'='
                | b'>'
                | b')'
                | b']'
                | b'['
                | b'.'
                | b','
                | b'|'
        )
    };
    // `/ssn/…`
    let sloped = category == Category::Ssn && text.at(name_end) == b'/';
    let name_end = name_end + usize::from(sloped);
    let mut start = text.run(name_end, 12, tie);
    // `SSN (unformatted) …`
    if text.at(start) == b'(' && text.at(start + 1).is_ascii_alphabetic() {
        let close = text.run(start, 24, |byte| byte != b')' && byte != b'\n');
        start = if text.at(close) == b')' { text.run(close, 8, tie) } else { start };
    }
    // `By.name("ssn")).sendKeys("…`
    if text.before(start) == b'.' && text.at(start).is_ascii_alphabetic() {
        let method = text.run(start, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
        start = if text.at(method) == b'(' { text.run(method + 1, 2, tie) } else { start };
    }
    // `WS-SSN PIC 9(9) VALUE …`
    if category == Category::Ssn
        && let Some(at) = find(text.peek(name_end..name_end + 32), b" value ")
    {
        start = name_end + at + " value ".len();
    }
    // `SSN as entered: …`, `Tel. Empfänger 0151 …`
    let word = |byte: u8| byte.is_ascii_alphabetic() || byte >= 0x80;
    if start > name_end && word(text.at(start)) {
        let end = text.run(start, 28, |byte| word(byte) || byte == b' ');
        let one = text.blanks(text.run(start, 20, word));
        let called = name_end >= 4 && find(text.peek(name_end - 4..name_end), b"tel").is_some();
        if text.at(end) == b':' {
            start = text.run(end, 4, tie);
        } else if called && matches!(text.at(one), b'0' | b'+') {
            start = one;
        }
    }
    for word in ["no.", "number", "nr", "value ", "is ", "was ", "#"] {
        if text.slice(start..start + word.len()).eq_ignore_ascii_case(word.as_bytes()) {
            start = text.run(start + word.len(), 8, tie);
        }
    }
    // `VALUES ('…')` and `Key (ssn)=(…)`; a bracket may also begin the number.
    let start = text.run(start, 1, |byte| byte == b'(');
    let start = text.run(start, 2, |byte| matches!(byte, b'"' | b'\''));
    let wide = name_end >= 3 && text.peek(name_end - 3..name_end) == "：".as_bytes();
    let colon = text.before(name_end) == b':' || wide;
    if start == name_end && !colon && !sloped {
        return None;
    }
    // Beside a name in prose stands a number that nobody calls: `mobile 12345678 bytes`.
    let tied = colon || text.slice(name_end..start).iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'.'));
    let long = text.run(start, 15, |byte| byte.is_ascii_digit()) >= start + 10;
    let called = || matches!(text.at(start), b'0' | b'+' | b'(') || is_grouped(text, start);
    if !tied && !long && category == Category::Phone && !called() {
        return None;
    }
    let mut end = text.run(start, 24, |byte| {
        byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'.' | b'(' | b')' | b'+' | b'/')
    });
    // A number in one piece ends with it, whatever number comes next.
    let piece = text.run(start, 16, |byte| byte.is_ascii_digit());
    if category == Category::Ssn && piece == start + 9 || category == Category::Phone && piece >= start + 9 {
        end = piece;
    }
    while end > start && !text.before(end).is_ascii_digit() {
        end -= 1;
    }
    // The bracket before it, if it closes in it.
    let start = start - usize::from(text.before(start) == b'(' && text.peek(start..end).contains(&b')'));
    let count = text.slice(start..end).iter().filter(|byte| byte.is_ascii_digit()).count();
    let fits = if category == Category::Ssn { count == 9 } else { (7..=15).contains(&count) };
    let closed = !text.at(end).is_ascii_alphanumeric();
    // Nobody has these numbers.
    let made_up = count == 7 && text.starts(start, "555-01");
    (fits && closed && !made_up).then_some(Candidate { category, range: start..end })
}

/// Nine digits or more in groups of two at least: `767 878 427`.
fn is_grouped(text: Text<'_>, start: usize) -> bool {
    let end = text.run(start, 20, |byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'));
    let groups = || text.peek(start..end).trim_ascii_end().split(|byte| matches!(byte, b' ' | b'-'));
    let digits: usize = groups().map(<[u8]>::len).sum();
    groups().count() >= 3
        && groups().all(|group| (2..=4).contains(&group.len()))
        && (9..=12).contains(&digits)
}

/// `Duplicate entry '…' for key 'users.ssn'`: nine digits in quotes before the name.
pub(super) fn quoted_before(text: Text<'_>, name: &Range<usize>) -> Option<Candidate> {
    let first = text.line(name.start).start.max(name.start.saturating_sub(48));
    let at = text.peek(first..name.start).windows(11).position(|piece| {
        matches!(piece, [b'"' | b'\'', digits @ .., b'"' | b'\''] if digits.iter().all(u8::is_ascii_digit))
    })?;
    Some(Candidate { category: Category::Ssn, range: first + at + 1..first + at + 10 })
}
