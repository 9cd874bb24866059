//! Values that a name has no sign before: what a sentence or the line says to be the secret.

use super::Candidate;
use super::category::Category;
use super::looks;
use super::memo::Site;
use super::text::{Text, is_base64, is_word};
use super::value;
use std::ops::Range;

/// `password authentication failed (tried "…")`, `SET PASSWORD FOR 'name' = '…'`, `password for user bob: …`: what a
/// word or a sign before it says to be the password.
pub(super) fn tried(text: Text<'_>, name: &Range<usize>, found: &mut Vec<Candidate>) {
    const SAID: [&str; 33] = [
        " still",
        " now",
        " expected",
        " er",
        " lautet",
        " ist",
        " est",
        " es",
        " jest",
        " är",
        " è",
        " é",
        "->",
        "→",
        " are",
        "tried",
        " with",
        " using",
        " value",
        " was",
        " is",
        " got",
        " be",
        " to",
        ":",
        "=",
        " given",
        " said",
        "(",
        " from",
        " as",
        " enter",
        " of",
    ];
    // A word that goes on is none.
    if is_word(text.at(name.end)) {
        return;
    }
    let line = text.line(name.start);
    let to = line.end.min(name.end.saturating_add(APART));
    // `if you pass X to Y` is a sentence.
    let verb = text.slice(name.clone()).eq_ignore_ascii_case(b"pass");
    let fits = |value: &[u8]| (!verb || looks::is_unlike_prose(value)) && chosen(value);
    let password = |range: Range<usize>| Candidate { category: Category::Password, range };
    // The quotes and brackets around the name.
    let mut from = text.run(name.end, 4, |byte| matches!(byte, b'"' | b'\'' | b'`' | b')' | b']'));
    // `log("password:", "…")`: the next argument.
    for sign in [b'"', b'\''] {
        if !value::is_open(text, name.start, sign) || matches!(text.at(name.end), b'"' | b'\'' | b'`') {
            continue;
        }
        let close = text.run(name.end, 24, |byte| byte != sign && byte != b'\n');
        let next = text.run(close + 1, 4, |byte| matches!(byte, b',' | b' '));
        let next = next + usize::from(text.at(next) == b'b');
        let end = text.run(next + 1, 64, |byte| byte != sign && byte != b'\n');
        if text.at(close) == sign
            && text.at(close + 1) == b','
            && text.at(next) == sign
            && text.at(end) == sign
            && fits(text.slice(next + 1..end))
        {
            found.push(password(next + 1..end));
            return;
        }
    }
    loop {
        let quote = text.run_seen(Site::Tried, from, to.saturating_sub(from), |byte| {
            !matches!(byte, b'"' | b'\'' | b'`')
        });
        if quote >= to {
            break;
        }
        let sign = text.at(quote);
        let end = text.run(quote + 1, 64, |byte| byte != sign && !byte.is_ascii_whitespace());
        if text.at(end) != sign {
            break;
        }
        let before = text.slice(from..quote).trim_ascii_end();
        let said = SAID.iter().any(|word| before.ends_with(word.as_bytes()));
        if said && fits(text.slice(quote + 1..end)) {
            found.push(password(quote + 1..end));
            return;
        }
        from = end + 1;
    }
    // Below it, as tests compare: `expected: '…'`.
    if line.end < text.len() && text.find(Site::Compared, name.end..line.end, "mismatch").is_some() {
        let next = text.run(line.end + 1, 8, |byte| matches!(byte, b' ' | b'-' | b'+'));
        let start = text.run(next, 12, |byte| byte.is_ascii_alphabetic() || matches!(byte, b':' | b' '));
        let sign = text.at(start);
        let end = text.run(start + 1, 64, |byte| byte != sign && !byte.is_ascii_whitespace());
        if matches!(sign, b'"' | b'\'') && text.at(end) == sign && fits(text.slice(start + 1..end)) {
            found.push(password(start + 1..end));
        }
    }
    // `Password for the user (…):`, and on the next line the password alone.
    if text.before(line.end) == b':' && line.end > name.end && !verb {
        let start = text.blanks(line.end + 1);
        let end = text.run(start, 64, |byte| !byte.is_ascii_whitespace());
        let value = text.slice(start..end);
        let whole = matches!(text.at(end), 0 | b'\n' | b'\r') && !value.contains(&b':');
        if whole && value.len() >= 8 && looks::is_random(value) && fits(value) {
            found.push(password(start..end));
        }
    }
    // `(gdb) p cfg->password`, and on the next line `$1 = 0x… "…"`.
    if name.end == line.end && text.at(line.end + 1) == b'$' && text.at(line.end + 2).is_ascii_digit() {
        let open = text.run(line.end + 1, 64, |byte| !matches!(byte, b'"' | b'\n'));
        let end = text.run(open + 1, 64, |byte| !matches!(byte, b'"' | b'\n'));
        if text.at(open) == b'"' && text.at(end) == b'"' && !looks::is_placeholder(text.peek(open + 1..end)) {
            found.push(password(open + 1..end));
        }
    }
    // `…  <- password`
    let arrow = text.run_back(name.start, 4, |byte| matches!(byte, b'<' | b'-' | b' '));
    if text.peek(arrow..name.start).trim_ascii() == b"<-" {
        let open = text.run_back(arrow, 64, |byte| !byte.is_ascii_whitespace());
        let stop = text.run(open, 64, |byte| !byte.is_ascii_whitespace());
        if fits(text.slice(open..stop)) {
            found.push(password(open..stop));
        }
    }
    // A quote before the name: `"…" is not a valid password`.
    let first = line.start.max(name.start.saturating_sub(APART / 2));
    let quoted = |byte: u8| matches!(byte, b'"' | b'\'' | b'`');
    let close = text.run_back(name.start, name.start - first, |byte| !quoted(byte));
    if close > first && !matches!(text.before(name.start), b'.' | b'_' | b'"' | b'\'') {
        let sign = text.before(close);
        let open = text.run_back(close - 1, 64.min(close - 1 - line.start), |byte| {
            byte != sign && !byte.is_ascii_whitespace()
        });
        let value = text.slice(open..close - 1);
        if open > line.start && text.before(open) == sign && looks::is_unlike_prose(value) && fits(value) {
            found.push(password(open..close - 1));
        }
    }
    // A sentence, a colon or a verb, and a word that is none of the language.
    let prose = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b' ' | b'_' | b'@' | b'-' | b'.' | b'(' | b')' | b'/' | b',')
    };
    let colon = text.run_seen(Site::TriedColon, name.end, to.saturating_sub(name.end), prose);
    // `Enter password for user 'bob':…`
    let typed = text.starts(colon, "\'") && text.peek(name.end..colon).ends_with(b" user ");
    let colon =
        if typed { text.run(colon + 1, 32, |byte| !matches!(byte, b'\'' | b'\n')) + 1 } else { colon };
    let gap = if typed && text.at(colon + 1) != b' ' { 1 } else { 2 };
    let end = text.run(colon + gap, 64, |byte| !byte.is_ascii_whitespace());
    let word = text.slice(colon + gap..end);
    let sentence = text.slice(name.end..colon).windows(2).any(|pair| pair == b". ");
    if !sentence
        && (gap == 1 && text.at(colon) == b':' || text.starts(colon, ": "))
        && end == line.end
        && !word.starts_with(b"\"")
        && !word.starts_with(b"'")
        && fits(word)
    {
        found.push(password(colon + gap..end));
        return;
    }
    let mut at = name.end;
    for _ in 0..10 {
        let start = text.blanks(at);
        if start >= to || text.at(start) == b'\n' {
            break;
        }
        let bracket = text.at(start) == b'(';
        let start = start + usize::from(bracket);
        let end = text.run(start, 64, |byte| !(byte.is_ascii_whitespace() || bracket && byte == b')'));
        let before = text.slice(name.end..start).trim_ascii_end();
        let said = SAID.iter().any(|word| before.ends_with(word.as_bytes()));
        let word = text.slice(start..end);
        if before.ends_with(b".") {
            break;
        }
        if matches!(word.first(), Some(b'"' | b'\'' | b'`')) {
            at = end;
            continue;
        }
        let odd = looks::is_mixed(word, 8) || word.len() >= 8 && !looks::is_camel(word);
        let last = end >= line.end && before.len() < 48 && odd;
        // A word of letters in any case, after the verb and at the end.
        let letters = word.len() >= 8
            && word.iter().all(u8::is_ascii_alphabetic)
            && word.iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 3
            && word.iter().any(u8::is_ascii_lowercase)
            && !looks::is_camel(word);
        let told = [" is", " es", " est", " ist", " er", " är", " è", " é"]
            .iter()
            .any(|verb| before.ends_with(verb.as_bytes()));
        if told && last && letters && !verb {
            found.push(password(start..end));
        }
        // `är Berlin_2845 /Nils`: no word of any language has all of these.
        let cased = word.iter().any(u8::is_ascii_uppercase) && word.iter().any(u8::is_ascii_lowercase);
        let kinds = word.len() >= 8 && cased && word.iter().any(u8::is_ascii_digit) && word.contains(&b'_');
        let odd = last || told && kinds || looks::is_unlike_prose(word);
        if said && !before.is_empty() && fits(word) && odd {
            found.push(password(start..end));
        }
        at = end;
    }
}

/// What may be a password in a sentence: chosen, and nothing else that a sentence has.
pub(super) fn chosen(value: &[u8]) -> bool {
    let expands = value.ends_with(b"=]") || value.starts_with(b"$");
    let names = value.contains(&b'/') && looks::is_reference(value)
        || value.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"password"));
    let other = || {
        looks::is_uuid(value)
            || looks::is_placeholder(value)
            || looks::is_code(value)
            || looks::is_location(value)
            || looks::is_pattern(value)
            || looks::is_technical(value)
            || looks::is_mailbox(value)
            || looks::is_assigned(value)
            || looks::is_camel(value)
    };
    looks::is_chosen(value) && !expands && !names && !other()
}

/// How far from a name its value may stand.
const APART: usize = 96;

/// `"vN3x…" is not a valid API key`, `expected x-api-key to equal "vN3x…"`: a name without a value, and on its line
/// what was clearly generated.
pub(super) fn apart(text: Text<'_>, category: Category, name: &Range<usize>) -> Option<Candidate> {
    // `credential id …` is known to all.
    if text.starts(name.end, " id") {
        return None;
    }
    let part = |byte: u8| is_base64(byte) || matches!(byte, b'_' | b'-');
    let line = text.line(name.start);
    let candidate = |range: Range<usize>| {
        let word = text.slice(range.clone());
        let whole = !part(text.before(range.start)) && !part(text.at(range.end));
        // `JID-‹hex›`: a thing's id.
        let bare = word
            .iter()
            .position(|byte| *byte == b'-')
            .filter(|at| (1..=8).contains(at) && word.iter().take(*at).all(u8::is_ascii_uppercase));
        let bare = bare.and_then(|at| word.get(at + 1..)).unwrap_or(word);
        let hex = bare.iter().all(u8::is_ascii_hexdigit);
        (whole
            && !hex
            && looks::is_generated(word, 24)
            && !looks::is_location(word)
            && !looks::is_address(word))
        .then_some(Candidate { category, range })
    };
    let first = line.start.max(name.start.saturating_sub(APART));
    let mut at = name.start;
    while at > first {
        let end = text.run_back(at, at - first, |byte| !part(byte));
        let start = text.run_back(end, end - first, part);
        if let Some(found) = candidate(start..end) {
            return Some(found);
        }
        at = start.min(at - 1);
    }
    let last = line.end.min(name.end.saturating_add(APART));
    let mut at = name.end;
    while at < last {
        let start = text.run(at, last - at, |byte| !part(byte));
        let end = text.run(start, last.saturating_sub(start), part);
        if let Some(found) = candidate(start..end) {
            return Some(found);
        }
        at = end.max(at + 1);
    }
    None
}
