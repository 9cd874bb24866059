//! What follows a name: where the separator ends, where the value ends, and whether it can be a secret.

use super::memo::Site;
use super::text::{ATOM, REACH, Text, every};
use super::words::find;
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

/// Reads separator and value after a name that ends at `end`.
pub(super) fn after_name(text: Text<'_>, name: Range<usize>, flag: bool) -> Option<Value> {
    let closed = text.run(name.end, 8, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b']' | b'*'));
    let quoted_name = closed > name.end;
    let at = text.blanks(closed);
    let spaced = at > closed;
    // `Secret Key [None]: …`: the prompt shows what was set before.
    let at = if spaced && text.at(at) == b'[' {
        let close = text.run(at, 24, |byte| byte != b']' && byte != b'\n');
        if text.starts(close, "]:") { close + 1 } else { at }
    } else {
        at
    };
    let (tie, mut at) = match (text.at(at), text.at(at + 1)) {
        (b'=', b'>') | (b':', b'=') | (b'=', b'=') => (Tie::Loose, at + 2),
        (b'=', _) if spaced || matches!(text.at(at + 1), b' ' | b'\t') => (Tie::Loose, at + 1),
        (b'=', _) => (Tie::Tight, at + 1),
        // A cell of a table.
        (b'|', b' ') if spaced => (Tie::Loose, at + 1),
        (b':', b':') => return None,
        // R and OCaml assign so.
        (b'<', b'-') if spaced => (Tie::Loose, at + 2),
        (b':', _) => (Tie::Loose, at + 1),
        (b'%', b'3') if matches!(text.at(at + 2), b'D' | b'd') => (Tie::Tight, at + 3),
        // `<property name="password">…` and `<property name="password" value="…"`.
        (b'>', _) if quoted_name && !spaced => (Tie::Tight, at + 1),
        (b'v', _) if quoted_name && spaced && text.starts(at, "value=") => (Tie::Tight, at + 6),
        // `--password <PASSWORD>' requires …`: a usage line, no tag.
        (b'>', b'\'' | b'"') if opens_tag(text, name.start) => return None,
        (b'>', b' ' | b'\t') if opens_tag(text, name.start) && !text.line_has(name.start, &["</"]) => {
            return None;
        }
        // `<Password><Value>…`
        (b'>', b'<') if !spaced && opens_tag(text, name.start) && text.at(at + 2) != b'/' => {
            let close = text.run(at + 2, 24, |byte| byte.is_ascii_alphabetic());
            if text.at(close) != b'>' {
                return None;
            }
            (Tie::Tight, close + 1)
        }
        (b'>', _) if !spaced && opens_tag(text, name.start) => (Tie::Tight, at + 1),
        // `user.setPassword("…")`
        (b'(', b'"' | b'\'' | b'`') if !spaced && sets(text.slice(name.clone())) => (Tie::Tight, at + 1),
        // `{"name": "DB_PASS", "value": "…"}`, and the same in YAML, on the next line.
        (b',' | b'\n' | b'\r', _) if let Some(value) = paired(text, at) => (Tie::Loose, value),
        // `assertEqual(user.password, "…")`
        (b',', _) if quoted_name || text.slice(name.clone()).contains(&b'.') => {
            let next = text.blanks(at + 1);
            matches!(text.at(next), b'"' | b'\'').then_some((Tie::Loose, next))?
        }
        (b'v', _) if spaced && let Some(value) = named_value(text, at) => (Tie::Loose, value),
        // `<wsse:Password Type="PasswordText">…</…`
        _ if spaced
            && opens_tag(text, name.start)
            && let Some(content) = content(text, at) =>
        {
            (Tie::Tight, content)
        }
        _ if flag && spaced && !quoted_name && text.at(at) != b'-' => (Tie::Flag, at),
        _ if spaced => return beside(text, name, at),
        _ => return None,
    };
    at = text.blanks(at);
    if tie == Tie::Loose {
        at = past_type(text, at);
    }
    read(text, at, tie, &name)
}

/// Where the value begins, if `value:` is the next member.
fn paired(text: Text<'_>, at: usize) -> Option<usize> {
    let next = text.run(at, 64, |byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'"' | b'\''));
    let name = text.peek(next..next + 5);
    let end = text.run(next + 5, 4, |byte| matches!(byte, b'"' | b'\'' | b' '));
    (name.eq_ignore_ascii_case(b"value") && matches!(text.at(end), b':' | b'=')).then_some(end + 1)
}

/// Where the text of an element begins whose attributes begin at `at`.
fn content(text: Text<'_>, at: usize) -> Option<usize> {
    let close = text.run(at, 96, |byte| !matches!(byte, b'>' | b'<' | b'\n'));
    let end = text.run(close + 1, 64, |byte| !byte.is_ascii_whitespace() && byte != b'<');
    (text.at(close) == b'>' && end > close + 1 && text.starts(end, "</")).then_some(close + 1)
}

/// The value of a property beside its name: `… 'spring.mail.password' value: "…"`
fn named_value(text: Text<'_>, at: usize) -> Option<usize> {
    (text.starts(at, "value") && matches!(text.at(at + 5), b':' | b'=')).then_some(at + 6)
}

/// Whether a method of that name takes the value: `user.setPassword`, `with_token`, `.password` of a builder.
fn sets(name: &[u8]) -> bool {
    let begins =
        |part: &[u8], verb: &[u8]| part.get(..verb.len()).is_some_and(|head| head.eq_ignore_ascii_case(verb));
    let mut parts = name.rsplit(|byte| *byte == b'.');
    let (method, object) = (parts.next().unwrap_or_default(), parts.next());
    let plain = |word: &[u8]| method.eq_ignore_ascii_case(word);
    begins(method, b"set")
        || name == b"PASSWORD"
        || begins(method, b"with")
        || object.is_some()
            && [&b"password"[..], b"secret", b"token", b"apikey", b"api_key"].into_iter().any(plain)
}

fn opens_tag(text: Text<'_>, start: usize) -> bool {
    matches!(text.before(start), b'<' | b':')
}

/// `let token: String = "…"`: the value stands after the type.
fn past_type(text: Text<'_>, at: usize) -> usize {
    let end = text.run(at, 64, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'&' | b'\'' | b'_' | b'<' | b'>')
    });
    let equals = text.blanks(end);
    let value = text.blanks(equals + 1);
    if end > at && text.at(equals) == b'=' && matches!(text.at(value), b'"' | b'\'') { value } else { at }
}

/// Values without a separator: SQL, `.netrc`, `ENV NAME value`, prose.
fn beside(text: Text<'_>, name: Range<usize>, at: usize) -> Option<Value> {
    let line = text.line(name.start);
    let word = text.slice(name.clone());
    let shouted =
        word.len() > 4 && word.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    let has = |words: &[&'static str]| text.has(Site::Before, line.start..name.start, words);
    let netrc =
        word.eq_ignore_ascii_case(b"password") && (line.start == name.start || has(&["login ", "machine "]));
    let declared = shouted && has(&["env ", "arg ", "set ", "setenv "]);
    if matches!(text.at(at), b'\'' | b'"') || declared || opened(text, at) > at {
        return read(text, at, Tie::Beside, &name);
    }
    for verb in ["is ", "was ", "set to ", "to ", "is: ", "of "] {
        if text.starts(at, verb) {
            return read(text, text.blanks(at + verb.len()), Tie::Beside, &name);
        }
    }
    // `bad token Nv1nZ…`: only what was clearly generated.
    let at = if matches!(text.at(at), b'(' | b'`') { at + 1 } else { at };
    let part = |byte: u8| super::text::is_base64(byte) || super::text::is_token(byte) || byte == b'.';
    let generated = text.run(at, REACH, part);
    let value = text.slice(at..generated);
    let value = value.strip_suffix(b".").unwrap_or(value);
    let compound = word.iter().any(|byte| matches!(byte, b'.' | b'_')) || shouted;
    let kept = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    if compound && kept && (8..=64).contains(&value.len()) && !is_code(value) && !is_location(value) {
        return read(text, at, Tie::Beside, &name);
    }
    if is_uuid(value) && !word.eq_ignore_ascii_case(b"session")
        || value.len() >= 20 && (is_generated(value, 20) || is_base32(value)) && !is_address(value)
    {
        return read(text, at, Tie::Beside, &name);
    }
    // `connect web password R?R6!Y`: the last word, if nobody would write it in a sentence.
    let end = text.run(at, REACH, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''));
    let chosen = text.peek(at..end);
    let kinds = [u8::is_ascii_digit as fn(&u8) -> bool, u8::is_ascii_alphabetic];
    // `psk S-q1pbuT5Js too short`: or a word that is none of the language.
    let sign = |byte: &u8| {
        byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'.' | b',' | b':' | b';' | b'(' | b')' | b'/')
    };
    let cased = [u8::is_ascii_lowercase as fn(&u8) -> bool, u8::is_ascii_uppercase];
    let named = ["pass", "pwd", "psk"].iter().any(|part| find(word, part.as_bytes()).is_some());
    let odd = named && cased.iter().all(|kind| chosen.iter().any(kind)) && chosen.iter().any(sign);
    let last = word.eq_ignore_ascii_case(b"password") && text.peek(end..line.end).trim_ascii().len() <= 1;
    if (last || odd)
        && (8..=64).contains(&chosen.len())
        && kinds.iter().all(|kind| chosen.iter().any(kind))
        && !is_code(chosen)
        && !is_location(chosen)
    {
        return read(text, at, Tie::Beside, &name);
    }
    // The whole rest of the line of a .netrc, so that prose with the word stays.
    let end = text.run(at, REACH, |byte| !byte.is_ascii_whitespace());
    let rest = text.peek(text.blanks(end)..line.end);
    let last = rest.is_empty()
        || rest.starts_with(b"account ")
        || rest.starts_with(b"machine ")
        || rest.starts_with(b"#");
    if netrc && (last || has(&["login "])) {
        return read(text, at, Tie::Beside, &name).map(|value| Value { alone: true, ..value });
    }
    None
}

/// Behind what may stand around a value: `["…"]`, `<%= "…" %>`, `<(echo …)`, `<<< …`.
fn opened(text: Text<'_>, at: usize) -> usize {
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
fn read(text: Text<'_>, at: usize, tie: Tie, name: &Range<usize>) -> Option<Value> {
    // b"…", f"…", r"…", and the dollar of $'…'.
    let at = opened(text, at);
    let prefixed = matches!(text.at(at), b'b' | b'f' | b'r' | b'u' | b'L' | b'N' | b'$' | b'@');
    let at = if prefixed && matches!(text.at(at + 1), b'"' | b'\'') { at + 1 } else { at };
    let slashes = text.run(at, 4, |byte| byte == b'\\') - at;
    let quote = text.at(at + slashes);
    if matches!(quote, b'"' | b'\'' | b'`') {
        let start = at + slashes + 1;
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

/// Most bytes of an expression in braces. Values may stand in one another, each with its braces.
const EXPRESSION: usize = 256;

/// A stand-in for a secret, or the expression that fetches it.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "null",
        "none",
        "nil",
        "undefined",
        "true",
        "false",
        "yes",
        "no",
        "required",
        "requires",
        "needs",
        "takes",
        "expects",
        "missing",
        "invalid",
        "empty",
        "unset",
        "redacted",
        "hidden",
        "masked",
        "string",
        "str",
        "int",
        "integer",
        "number",
        "bool",
        "boolean",
        "bytes",
        "object",
        "optional",
        "any",
        "void",
        "text",
        "char",
        "default",
        "not",
        "is",
        "the",
        "and",
        "or",
        "incorrect",
        "expired",
        "wrong",
        "failed",
        "denied",
        "ok",
        "error",
        "unknown",
        "disabled",
        "enabled",
        "auto",
        "prompt",
        "stdin",
        "n/a",
        "...",
        "null,",
        "varchar",
        "self",
        "this",
        "const",
        "let",
        "var",
        "new",
        "await",
        "unexpected",
        "expected",
        "found",
        "too",
        "must",
        "should",
        "cannot",
        "can't",
        "or:",
        "and:",
        "authentication",
        "provided",
        "supplied",
        "set",
        "not-set",
        "changed",
        // The word for the thing instead of the thing.
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "apikey",
        "api_key",
        "changeme",
        "changeit",
        "change-me",
        "change_me",
        "example",
        "username",
        "undef",
    ];
    if every(value, |byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'?' | b'#' | ATOM)) {
        return true;
    }
    if WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes())) {
        return true;
    }
    // A value may be long and asked about often, so nothing here goes over all of it without need.
    let starts =
        |prefix: &[u8]| value.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let ends = |suffix: &[u8]| {
        value
            .len()
            .checked_sub(suffix.len())
            .and_then(|from| value.get(from..))
            .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    let wraps = |open: &[u8], close: &[u8]| starts(open) && ends(close);
    let variable = starts(b"$")
        && !starts(b"$2")
        && !starts(b"$apr")
        && value.get(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'{' | b'(' | b'_'))
        && every(value.get(1..).unwrap_or_default(), is_expression);
    variable
        || wraps(b"<", b">")
        || wraps(b"{{", b"}}")
        || wraps(b"(", b")")
            && value.len() <= 24
            && every(value, |byte| byte.is_ascii_alphabetic() || matches!(byte, b'(' | b')' | b' '))
        || wraps(b"[", b"]")
            && every(value, |byte| byte.is_ascii_alphabetic() || matches!(byte, b'[' | b']' | b'_'))
        || wraps(b"${", b"}")
        || (wraps(b"%", b"%") && value.len() > 2)
        || (wraps(b"{", b"}") && value.len() <= EXPRESSION && every(value, is_expression))
        || starts(b"%(")
        || matches!(
            value,
            b"%s"
                | b"%d"
                | b"%v"
                | b"%q"
                | b"%S"
                | b"%D"
                | b"%V"
                | b"%Q"
                | b"{}"
                | b"[]"
                | b"{:?}"
                | b"()"
                | b"\"\""
                | b"''"
        )
        || [
            &b"process.env"[..],
            b"os.environ",
            b"os.getenv",
            b"env.",
            b"env(",
            b"env!(",
            b"getenv",
            b"std::env",
            b"system.getenv",
            b"secrets.",
            b"vars.",
            b"var.",
            b"your-",
            b"your_",
            b"vault:",
            b"@microsoft.keyvault(",
            b"!vault",
            b"!secret",
            b"file:",
            b"op://",
        ]
        .iter()
        .any(|prefix| starts(prefix))
        || ends(b"_here")
        || ends(b"-here")
}

fn is_expression(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'{' | b'}' | b'(' | b')' | b':' | b'-' | b'.' | b'?' | b'[' | b']')
}

/// Source code rather than a value: a call, a path of names, a type, an attribute.
pub(super) fn is_code(value: &[u8]) -> bool {
    let has = |needle: &[u8]| value.windows(needle.len()).any(|window| window == needle);
    let first = value.first().copied().unwrap_or(0);
    let named = first.is_ascii_alphabetic() || first == b'_';
    let call = named
        && value.iter().position(|b| *b == b'(').is_some_and(|at| {
            value.iter().take(at).all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'!'))
        });
    let dotted = named
        && has(b".")
        && value
            .split(|b| *b == b'.')
            .all(|part| !part.is_empty() && part.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_'));
    let generic = named && (has(b"<") || has(b"[") && has(b"]")) && !value.iter().any(u8::is_ascii_digit);
    call || dotted || generic || has(b"::") || first == b'&' || has(b"->")
}

/// A path or URL, which names where a secret lies but is none.
pub(super) fn is_location(value: &[u8]) -> bool {
    // Base64 may begin with a slash and hold several.
    let count = |kind: fn(&u8) -> bool| value.iter().filter(|byte| kind(byte)).count();
    let base64 = value.len() >= 32 && value.iter().all(|byte| super::text::is_base64(*byte));
    if base64
        && count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_uppercase) >= 6
        && count(u8::is_ascii_lowercase) >= 6
    {
        return false;
    }
    value.starts_with(b"/") && value.iter().skip(1).any(|b| *b == b'/')
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/")
        || value.windows(3).any(|window| window == b"://")
        || [&b".pem"[..], b".key", b".json", b".txt", b".crt", b".yml", b".yaml", b".toml", b".pub"]
            .iter()
            .any(|end| value.ends_with(end))
}

/// Letters and digits mixed, or letters and signs: what a person would not write in a sentence.
pub(super) fn is_mixed(value: &[u8], least: usize) -> bool {
    let digit = value.iter().any(u8::is_ascii_digit);
    let letter = value.iter().any(u8::is_ascii_alphabetic);
    let sign = value.iter().any(|b| {
        matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'/' | b'=' | b'~' | b'?')
    });
    let cases = value.iter().filter(|b| b.is_ascii_uppercase()).count() >= 3
        && value.iter().any(u8::is_ascii_lowercase);
    value.len() >= least && ((letter && (digit || sign)) || (digit && sign) || (cases && value.len() >= 16))
}

/// As [`is_mixed`], and long, and of one piece: a generated key.
pub(super) fn is_generated(value: &[u8], least: usize) -> bool {
    let plain = value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'~'));
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let upper = value.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = value.iter().filter(|b| b.is_ascii_lowercase()).count();
    let hex = value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
    plain
        && value.len() >= least
        && digits >= 2
        && (hex
            || upper >= 2 && lower >= 2
            || (digits >= 4
                && upper + lower >= 8
                && !value.contains(&b'.')
                && !value.contains(&b'-')
                && !value.contains(&b'/')))
}

/// A seed in base32.
fn is_base32(value: &[u8]) -> bool {
    matches!(value.len(), 16 | 20 | 24 | 26 | 32 | 52 | 56 | 64)
        && value.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7'))
        && value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
}

/// 32 bytes in base58: an account of Solana, a hash of a block.
pub(super) fn is_address(value: &[u8]) -> bool {
    let mut bytes = [0; 32];
    matches!(value.len(), 43 | 44) && bs58::decode(value).onto(&mut bytes[..]) == Ok(32)
}

/// Whether letters and digits change as often as in a random word, and not as in a name of several words.
pub(super) fn is_random(value: &[u8]) -> bool {
    let kind = |byte: &u8| match byte {
        b'a'..=b'z' => 0_u8,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changes = value.windows(2).filter(|pair| matches!(pair, [a, b] if kind(a) != kind(b))).count();
    changes * 5 >= value.len().saturating_sub(1) * 2
}

/// `db-password`, `my-token-secret`: the name under which a secret is kept.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let plain =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
    let words =
        [&b"password"[..], b"secret", b"token", b"key", b"creds", b"credentials", b"tls", b"cert", b"auth"];
    value.iter().all(plain)
        && value.split(|byte| matches!(byte, b'-' | b'_' | b'.')).any(|part| words.contains(&part))
        && value.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.'))
}

/// Five groups of hex digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A sentence in quotes, such as a validator's message.
pub(super) fn is_sentence(value: &[u8]) -> bool {
    let words: Vec<&[u8]> = value.split(|b| *b == b' ').filter(|word| !word.is_empty()).collect();
    let plain = |word: &&[u8]| {
        word.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'\'' | b',' | b'.' | b':' | b'-'))
    };
    let capital = value.first().is_some_and(u8::is_ascii_uppercase);
    words.len() >= 3
        && words.iter().filter(|word| plain(word)).count() + 1 >= words.len()
        && (capital
            || value.ends_with(b".")
            || words.len() >= 4
                && words.iter().any(|w| {
                    matches!(*w, b"is" | b"be" | b"must" | b"not" | b"for" | b"the" | b"to" | b"can't" | b"a")
                }))
}
