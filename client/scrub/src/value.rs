//! How a value is written: where it begins behind what may open it, and where it ends.

use super::memo::Site;
use super::text::{REACH, Text, every};
use std::cell::LazyCell;
use std::ops::Range;

/// How a value is tied to its name; it says how sure one can be that the rest is a value at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// `NAME=value`, `name%3Dvalue`, `<name>value`.
    Tight,
    /// `name: value`, `name = value`.
    Loose,
    /// A command-line option: `--name value`.
    Flag,
    /// `name value`, `name 'value'`, `the name is value`.
    Beside,
}

/// A value and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub range: Range<usize>,
    pub quoted: bool,
    pub tie: Tie,
    /// Name, separator and value are all that the line holds.
    pub alone: bool,
}

/// Behind what may stand around a value: `["…"]`, `<%= "…" %>`, `<(echo …)`, `<<< …`.
pub(super) fn opened(text: Text<'_>, at: usize) -> usize {
    match text.at(at) {
        b'[' if matches!(text.at(at + 1), b'"' | b'\'') => at + 1,
        b'<' => {
            let open = ["<%=", "<<<", "<(echo"].iter().find(|open| text.starts(at, open));
            open.map_or(at, |open| text.blanks(at + open.len()))
        }
        _ => at,
    }
}

/// Reads the value that begins at `at`.
pub(super) fn read(text: Text<'_>, at: usize, tie: Tie, name: &Range<usize>) -> Option<Value> {
    // b"…", f"…", r"…", and the dollar of $'…'.
    let at = opened(text, at);
    let prefixed = matches!(text.at(at), b'b' | b'f' | b'r' | b'u' | b'L' | b'N' | b'$' | b'@');
    let at = if prefixed && matches!(text.at(at + 1), b'"' | b'\'') { at + 1 } else { at };
    let slashes = text.run(at, 4, |byte| byte == b'\\') - at;
    let quote = text.at(at + slashes);
    // ``undefined method `password=' for …``
    if quote == b'\'' && text.before(name.start) == b'`' {
        return None;
    }
    // `NAME=`command``, `set /p NAME=The prompt`: not what is asked for.
    let command = || {
        let end = closing(text, at + 1, quote, 0);
        text.peek(at..end).contains(&b' ')
    };
    if quote == b'`' && tie == Tie::Tight && slashes == 0 && command()
        || tie == Tie::Tight
            && text.peek(name.start.saturating_sub(3)..name.start).eq_ignore_ascii_case(b"/p ")
    {
        return None;
    }
    // `"Password: ")`: the name stands in a string that ends here.
    let closed = matches!(text.at(name.end), b'"' | b'\'' | b'`' | b'\\' | b']');
    if matches!(quote, b'"' | b'`')
        && slashes == 0
        && !closed
        && tie != Tie::Tight
        && is_open(text, name.start, quote)
    {
        return None;
    }
    if matches!(quote, b'"' | b'\'' | b'`') {
        // A quote that is doubled, because the value stands in another's quotes.
        let doubled = quote == b'\'' && text.at(at + 1) == quote && text.at(at + 2).is_ascii_alphanumeric();
        let start = at + slashes + 1 + usize::from(doubled);
        let end = closing(text, start, quote, slashes);
        return Some(Value { range: start..end, quoted: true, tie, alone: false });
    }
    let end = bare_end(text, at);
    if end <= at {
        return None;
    }
    let line = text.line(name.start);
    let before = text.peek(line.start..name.start);
    let lead = |byte: u8| matches!(byte, b' ' | b'\t' | b'-' | b'"' | b'\'' | b'+' | b'{' | b'>' | b'#');
    let export = before.strip_prefix(b"export ").unwrap_or(before);
    // Nothing comes after it, or a comment, or one sign.
    let blank =
        |from: usize| text.run(from, line.end.saturating_sub(from), |byte| byte.is_ascii_whitespace());
    let next = blank(end);
    let tail = next >= line.end
        || text.at(next) == b'#'
        || (matches!(text.at(next), b',' | b';' | b'}') && blank(next + 1) >= line.end);
    Some(Value { range: at..end, quoted: false, tie, alone: tail && every(export, lead) })
}

/// Whether a string with that quote is open at a place.
pub(super) fn is_open(text: Text<'_>, at: usize, quote: u8) -> bool {
    let line = text.run_back(at, 160, |byte| byte != b'\n');
    let before = text.peek(line..at);
    let count = before
        .iter()
        .enumerate()
        .filter(|(at, byte)| **byte == quote && (*at == 0 || before.get(at - 1) != Some(&b'\\')))
        .count();
    at - line < 160 && count % 2 == 1
}

/// The closing quote: one with as many backslashes before it as the opening one had. A value that is cut off
/// ends with its line.
fn closing(text: Text<'_>, start: usize, quote: u8, slashes: usize) -> usize {
    let mut index = start;
    let limit = start.saturating_add(REACH * 8).min(text.len());
    while index < limit {
        let byte = text.at(index);
        if byte == b'\n' {
            return index;
        }
        if byte == quote {
            let back = index - text.run_back(index, 8, |byte| byte == b'\\').max(start);
            if (slashes == 0 && back.is_multiple_of(2)) || (slashes > 0 && back == slashes) {
                return index - if slashes > 0 { slashes } else { 0 };
            }
        }
        index += 1;
    }
    limit
}

/// The end of a value without quotes. It ends at a blank or a quote; `,`, `;` and `&` end it only where
/// another name or nothing follows, because passwords hold them too.
fn bare_end(text: Text<'_>, at: usize) -> usize {
    let stops = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | 0 | b',' | b';' | b'&')
    };
    let mut end = at;
    loop {
        end = text.run_seen(Site::Bare, end, REACH * 8, |byte| !stops(byte));
        if !matches!(text.at(end), b',' | b';' | b'&') || end >= at + REACH {
            break;
        }
        let next =
            text.run(end + 1, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        let named = next > end + 1 && matches!(text.at(next), b'=' | b':');
        let ends = text.at(end + 1).is_ascii_whitespace() || stops(text.at(end + 1)) || end + 1 >= text.len();
        let listed = matches!(text.at(end + 1), b'[' | b'{' | b'\\');
        if named || ends || listed {
            break;
        }
        end += 1;
    }
    // Brackets, commas and a full stop belong to the sentence around it; `\n` to JSON.
    if let Some(cut) = escape(text.slice(at..end)) {
        end = at + cut;
    }
    let whole = at..end;
    let first = |open: u8| text.run(whole.start, whole.len(), |byte| byte != open);
    let (round, square, curly) =
        (LazyCell::new(|| first(b'(')), LazyCell::new(|| first(b'[')), LazyCell::new(|| first(b'{')));
    while end > at {
        let last = text.before(end);
        let drop = match last {
            b')' => *round >= end,
            b']' => *square >= end,
            b'}' => *curly >= end,
            b',' | b';' | b':' | b'\\' => true,
            b'.' => text.at(end).is_ascii_whitespace() || end == text.len(),
            _ => false,
        };
        if !drop {
            break;
        }
        end -= 1;
    }
    end
}

/// Where `\n`, `\r` or `\t` is written out in the value.
fn escape(value: &[u8]) -> Option<usize> {
    value.windows(2).position(|pair| matches!(pair, b"\\n" | b"\\r" | b"\\t" | b"\\\\"))
}
