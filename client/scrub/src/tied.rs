//! What follows a name: which sign ties a value to it, and what stands between.

use super::looks::{self, is_address, is_base32, is_code, is_generated, is_location, is_uuid};
use super::memo::Site;
use super::text::{REACH, Text};
use super::value::{Tie, Value, opened, read};
use super::words::find;
use std::ops::Range;

/// Reads separator and value after a name that ends at `end`.
pub(super) fn after_name(text: Text<'_>, name: Range<usize>, flag: bool) -> Option<Value> {
    let closed = text.run(name.end, 8, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b']' | b'*'));
    let quoted_name = closed > name.end;
    let at = text.blanks(closed);
    let spaced = at > closed;
    // `${PASSWORD:0:2}`: a part of a variable.
    let part = text.before(name.start) == b'{'
        && text.at(at) == b':'
        && (text.at(at + 1).is_ascii_digit() || matches!(text.at(at + 1), b'?' | b'+'));
    if part && text.before(name.start - 1) == b'$' {
        return None;
    }
    // `Secret Key [None]: …`: the prompt shows what was set before.
    let at = if spaced && text.at(at) == b'[' {
        let close = text.run(at, 24, |byte| byte != b']' && byte != b'\n');
        if text.starts(close, "]:") { close + 1 } else { at }
    } else {
        at
    };
    // `private key (base64): …`
    let at = if spaced && text.at(at) == b'(' {
        let close =
            text.run(at + 1, 24, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_'));
        let next = text.blanks(close + 1);
        if text.at(close) == b')' && matches!(text.at(next), b':' | b'=') { next } else { at }
    } else {
        at
    };
    let (tie, mut at) = match (text.at(at), text.at(at + 1)) {
        (b':' | b'=', b' ' | b'\t' | b'{' | b'\n' | b'\r')
            if matches!(text.at(text.blanks(at + 1)), b'{' | b'\n' | b'\r')
                && let Some(value) = child(text, at) =>
        {
            (Tie::Loose, value)
        }
        (b'{', _)
            if spaced
                && quoted_name
                && let Some(value) = child(text, at) =>
        {
            (Tie::Loose, value)
        }
        (b'<', b'/')
            if text.starts(at, "</key>")
                && let Some(value) = property(text, at) =>
        {
            (Tie::Tight, value)
        }
        // `mongodb://<name>:<password>@…` is an example.
        (b'>', b'@') => return None,
        (b'=', b'>') if quoted_name && text.at(at + 2) == b'\n' => (Tie::Loose, dumped(text, at + 3)?),
        (b'=', b'>') | (b':', b'=') | (b'=', b'=') => (Tie::Loose, at + 2),
        (b'=', _) if spaced || matches!(text.at(at + 1), b' ' | b'\t') => (Tie::Loose, at + 1),
        (b'=', _) => (Tie::Tight, at + 1),
        // `process.env.PASSWORD || '…'`: what it is if nothing else is said.
        (b'|', b'|') | (b'?', b'?') if spaced && matches!(text.at(text.blanks(at + 2)), b'\'' | b'"') => {
            (Tie::Loose, at + 2)
        }
        // A cell of a table that is drawn with lines.
        (0xe2, 0x94 | 0x95) if spaced && text.at(at + 3) == b' ' => (Tie::Loose, at + 3),
        // A cell of a table.
        (b'|', b' ') if spaced && !is_template(text, &name) => (Tie::Loose, at + 1),
        (b':', b':') => return None,
        // The value stands on the next line.
        (b':', b'\n') if let Some(value) = next_line(text, at + 2) => (Tie::Loose, value),
        // R and OCaml assign so.
        (b'<', b'-') if spaced => (Tie::Loose, at + 2),
        (b':', _) => (Tie::Loose, at + 1),
        (b'%', b'3') if matches!(text.at(at + 2), b'D' | b'd') => (Tie::Tight, at + 3),
        // `<property name="password">…` and `<property name="password" value="…"`.
        (b'>', _) if quoted_name && !spaced => (Tie::Tight, inside(text, at + 1)),
        // `<setting name="Password" serializeAs="String"><value>…</…`
        _ if quoted_name
            && spaced
            && text.before(name.start.saturating_sub(1)) == b'='
            && let Some(content) = content(text, at) =>
        {
            (Tie::Tight, content)
        }
        // `ENV.fetch('PASSWORD') { '…' }`
        (b')', _) if quoted_name && let Some(value) = block(text, at + 1) => (Tie::Loose, value),
        // `fill_in 'Password', with: '…'`
        (b',', _) if quoted_name && text.starts(text.blanks(at + 1), "with:") => {
            (Tie::Loose, text.blanks(at + 1) + "with:".len())
        }
        (b'v', _) if quoted_name && spaced && text.starts(at, "value=") => (Tie::Tight, at + 6),
        // `--password <PASSWORD>' requires …`: a usage line, no tag.
        (b'>', b'\'' | b'"') if opens_tag(text, name.start) => return None,
        (b'>', b' ' | b'\t') if opens_tag(text, name.start) && !text.line_has(name.start, &["</"]) => {
            return None;
        }
        // `<Password><Value>…`
        (b'>', b'\n' | b'\r') if !spaced && opens_tag(text, name.start) && inside(text, at + 1) > at + 1 => {
            (Tie::Tight, inside(text, at + 1))
        }
        (b'>', b'<') if !spaced && opens_tag(text, name.start) && text.at(at + 2) != b'/' => {
            let close = text.run(at + 2, 24, |byte| byte.is_ascii_alphabetic());
            if text.at(close) != b'>' {
                return None;
            }
            (Tie::Tight, close + 1)
        }
        (b'>', _) if !spaced && opens_tag(text, name.start) => (Tie::Tight, at + 1),
        // `user.setPassword("…")`
        (b'(', b'"' | b'\'' | b'`') if !spaced && sets(text.slice(name.clone())) => {
            // The first of several arguments is another thing's name: `set_password("service", …)`.
            let sign = text.at(at + 1);
            let close = text.run(at + 2, 64, |byte| byte != sign && byte != b'\n');
            (text.at(text.blanks(close + 1)) != b',').then_some((Tie::Tight, at + 1))?
        }
        // `{"name": "DB_PASS", "value": "…"}`, and the same in YAML, on the next line.
        (b',' | b'\n' | b'\r', _) if let Some(value) = child(text, at) => (Tie::Loose, value),
        // `assertEqual(user.password, "…")`
        (b',', _) if quoted_name || is_symbol(text.slice(name.clone())) || is_field(text, &name) => {
            let next = text.blanks(at + 1);
            let sign = text.at(next);
            let close = text.run(next + 1, 64, |byte| byte != sign && byte != b'\n');
            // The name of the next member.
            let member = text.at(close) == sign && text.at(text.blanks(close + 1)) == b':';
            (matches!(sign, b'"' | b'\'') && !member).then_some((Tie::Loose, next))?
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
    // `<string name="password">Enter the password</string>` is a label.
    if text.before(at) == b'>' {
        let end =
            text.run(at, 64, |byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'.' | b'?' | b':'));
        if text.at(end) == b'<' && text.peek(at..end).contains(&b' ') {
            return None;
        }
    }
    if tie == Tie::Loose {
        at = past_type(text, at);
    }
    read(text, at, tie, &name)
}

/// What a member is called that has the secret of the name above or before it.
const CHILDREN: [&str; 13] = [
    "value",
    "default",
    "data",
    "string",
    "plaintext",
    "plain",
    "text",
    "content",
    "current",
    "raw",
    "val",
    "secret",
    "_value",
];
/// What stands between such a name and that member.
const SIBLINGS: [&str; 12] = [
    "type",
    "description",
    "sensitive",
    "scope",
    "name",
    "format",
    "tier",
    "overwrite",
    "kind",
    "nullable",
    "datatype",
    "secure",
];

/// Where the value of a member with a neutral name begins: `"db_password": {"value": …`, `name: DB_PASS`, on the next
/// line `value: …`, `variable "token" {`, on the next line `default = …`.
fn child(text: Text<'_>, at: usize) -> Option<usize> {
    let between = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b',' | b'"' | b'\'' | b'{' | b'[' | b':' | b'=' | b'-' | b'\\')
    };
    let mut next = text.run(at, 64, between);
    let opened = text.peek(at..next).iter().any(|byte| matches!(byte, b',' | b'{' | b'\n'));
    if !opened {
        return None;
    }
    for _ in 0..4 {
        let end = text.run(next, 32, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
        let end = if text.before(end) == b':' { end - 1 } else { end };
        let name = text.peek(next..end);
        let close = text.run(end, 4, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b' '));
        if name.is_empty() || !matches!(text.at(close), b':' | b'=') {
            return None;
        }
        let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        let value =
            name.get(name.len().saturating_sub(5)..).is_some_and(|end| end.eq_ignore_ascii_case(b"value"));
        if value || is(&CHILDREN) {
            return Some(close + 1 + usize::from(text.at(close + 1) == b'>'));
        }
        if !is(&SIBLINGS) {
            // `apiKey: { mainnet: "…" }`
            let start = text.run(close + 1, 4, |byte| matches!(byte, b' ' | b'"' | b'\''));
            let end = text.run(start, 128, super::text::is_token);
            let word = text.slice(start..end);
            let braced = text.peek(at..next).contains(&b'{');
            return (braced && is_generated(word, 20) && looks::is_random(word)).then_some(close + 1);
        }
        let stop = text.run(close + 1, 64, |byte| !matches!(byte, b',' | b'\n' | b';' | b'}'));
        next = text.run(stop, 48, between);
    }
    None
}

/// Where the string begins that follows a key in a property list.
fn property(text: Text<'_>, at: usize) -> Option<usize> {
    let next = text.run(at + "</key>".len(), 32, |byte| byte.is_ascii_whitespace());
    text.starts(next, "<string>").then_some(next + "<string>".len())
}

/// Where the text of an element begins whose attributes begin at `at`.
fn content(text: Text<'_>, at: usize) -> Option<usize> {
    let close = text.run(at, 96, |byte| !matches!(byte, b'>' | b'<' | b'\n'));
    let start = inside(text, close + 1);
    let end = text.run(start, 64, |byte| !byte.is_ascii_whitespace() && byte != b'<');
    (text.at(close) == b'>' && text.before(close) != b'/' && end > start && text.starts(end, "</"))
        .then_some(start)
}

/// Where the string begins that PHP shows below a member's name: `string(12) "…"`.
fn dumped(text: Text<'_>, at: usize) -> Option<usize> {
    let kind = text.blanks(at);
    let close = text.run(kind, 16, |byte| byte.is_ascii_alphanumeric() || byte == b'(');
    (text.starts(kind, "string(") && text.starts(close, ") \"")).then_some(close + 2)
}

/// Behind the tag that opens here, with the blanks before it: `<value>`.
fn inside(text: Text<'_>, at: usize) -> usize {
    let open = text.run(at, 32, |byte| byte.is_ascii_whitespace());
    let close = text.run(open + 1, 24, |byte| byte.is_ascii_alphabetic());
    if text.at(open) == b'<' && close > open + 1 && text.at(close) == b'>' { close + 1 } else { at }
}

/// Where the string begins that is taken if a variable is not set: a block of Ruby, `or '…'`.
fn block(text: Text<'_>, at: usize) -> Option<usize> {
    let open = text.blanks(at);
    let sign = ["{", "or ", "||", "??"].iter().find(|sign| text.starts(open, sign))?;
    let value = text.blanks(open + sign.len());
    matches!(text.at(value), b'\'' | b'"').then_some(value)
}

/// A line with one word that nobody would write in a sentence.
fn next_line(text: Text<'_>, at: usize) -> Option<usize> {
    let start = text.blanks(at);
    let end = text.run(start, 64, |byte| !byte.is_ascii_whitespace());
    let word = text.slice(start..end);
    let whole = matches!(text.at(end), 0 | b'\n' | b'\r');
    (whole
        && looks::is_chosen(word)
        && word.len() >= 8
        && !word.contains(&b':')
        && !is_code(word)
        && !is_location(word))
    .then_some(start)
}

/// `type(passwordField, "…")`: the call types the next argument into the field.
fn is_field(text: Text<'_>, name: &Range<usize>) -> bool {
    let call = text.peek(name.start.saturating_sub(10)..name.start);
    ["type(", "fill(", "keys(", "setvalue(", "enter(", "entertext(", "typetext("].iter().any(|verb| {
        call.get(call.len().saturating_sub(verb.len())..)
            .is_some_and(|end| end.eq_ignore_ascii_case(verb.as_bytes()))
    })
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

/// `{{ .Values.password | quote }}`, `$password | base64`: what follows the bar is a filter.
fn is_template(text: Text<'_>, name: &Range<usize>) -> bool {
    let before = text.slice(name.start.saturating_sub(48)..name.start);
    before.ends_with(b"$") || before.windows(2).any(|pair| pair == b"{{")
}

/// `user.password`, `CURLOPT_USERPWD`: a name that a string may follow as the next argument.
fn is_symbol(name: &[u8]) -> bool {
    let shouted = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    name.contains(&b'.') || name.contains(&b'_') && name.iter().all(shouted)
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
    // `DefaultPassword REG_SZ …`, `rootpw --plaintext …`: how it is kept.
    let at = ["REG_SZ", "--plaintext"]
        .iter()
        .find(|kind| text.starts(at, kind))
        .map_or(at, |kind| text.blanks(at + kind.len()));
    // `password 7 …`: how the rest is written.
    let kind = text.at(at).is_ascii_digit() && text.at(at + 1) == b' ';
    let at = if kind { text.blanks(at + 1) } else { at };
    if matches!(text.at(at), b'\'' | b'"') || declared || kind || opened(text, at) > at {
        return read(text, at, Tie::Beside, &name);
    }
    for verb in ["is ", "are ", "was ", "set to ", "to ", "is: ", "of "] {
        if text.starts(at, verb) {
            let value = read(text, text.blanks(at + verb.len()), Tie::Beside, &name);
            // `argument "password" to "connect"`
            let loose = matches!(verb, "to " | "of ");
            return value.filter(|value| !loose || looks::is_chosen(text.slice(value.range.clone())));
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
    if looks::is_license(value)
        || looks::is_bootstrap(value)
        || is_uuid(value) && !word.eq_ignore_ascii_case(b"session")
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
    let named = ["pass", "pwd", "psk", "pw"].iter().any(|part| find(word, part.as_bytes()).is_some());
    let odd = named && cased.iter().all(|kind| chosen.iter().any(kind)) && chosen.iter().any(sign);
    if named && !chosen.starts_with(b"-") && looks::is_unlike_prose(chosen) && !looks::is_technical(chosen) {
        return read(text, at, Tie::Beside, &name);
    }
    // `bindpw …`: a setting is all that the line holds.
    let first = text.peek(line.start..name.start).trim_ascii().is_empty();
    let whole = text.peek(end..line.end).trim_ascii().is_empty();
    if named && first && whole && word.len() > 4 && looks::is_chosen(chosen) && !looks::is_technical(chosen) {
        return read(text, at, Tie::Beside, &name);
    }
    // The last of the lines of an entry of a .netrc.
    let above = text.run_back(line.start.saturating_sub(1), 96, |byte| byte != b'\n');
    let entry = text.peek(above..line.start).trim_ascii_start();
    if first
        && whole
        && [&b"login "[..], b"machine ", b"user "].iter().any(|start| entry.starts_with(start))
        && chosen.len() >= 6
        && !chosen.iter().all(u8::is_ascii_lowercase)
    {
        return read(text, at, Tie::Beside, &name).map(|value| Value { alone: true, ..value });
    }
    let whole_word = ["password", "passwort", "kennwort", "passord", "wachtwoord", "senha"];
    let whole_word = whole_word.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    let last = whole_word && text.peek(end..line.end).trim_ascii().len() <= 1;
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
    let sure = || {
        let value = text.slice(at..end);
        has(&["machine "]) || line.start == name.start || looks::is_chosen(value)
    };
    if netrc && (last || has(&["login "])) && sure() {
        return read(text, at, Tie::Beside, &name).map(|value| Value { alone: true, ..value });
    }
    None
}
