//! Passwords that a person types, or a script pipes or feeds, where a program asks for one.

use super::Candidate;
use super::category::Category;
use super::looks::{is_bootstrap, is_camel, is_chosen, is_generated, is_placeholder, is_uuid};
use super::memo::{Settled, Site};
use super::programs::Part::{After, Whole};
use super::programs::{arguments, cut};
use super::text::{Text, every, is_shaped};
use super::words::find;
use Category::{BasicAuth, Password};
use std::ops::Range;

/// `echo secret | sudo -S …`: what a program reads as a password.
pub(super) fn piped(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    if text.before(anchor.start).is_ascii_alphanumeric() || anchor.end < text.1.settled(Settled::Piped) {
        return;
    }
    let (words, end) = arguments(text, anchor.end);
    text.1.settle(Settled::Piped, end);
    // `PassCmd "echo secret"`
    let fetched = || {
        let line = text.line(anchor.start);
        text.has(Site::Before, line.start..anchor.start, &["passcmd", "passwordeval", "password_command"])
    };
    if let [word] = &words[..]
        && matches!(text.before(anchor.start), b'"' | b'\'')
        && fetched()
    {
        let stop = text
            .run(word.plain.start, 96, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''));
        if is_chosen(text.slice(word.plain.start..stop)) {
            found.push(Candidate { category: Password, range: word.plain.start..stop });
        }
        return;
    }
    let (Some(word), b'|') = (words.last(), text.at(end)) else { return };
    let reader = text.slice(end..text.run(end, 160, |byte| byte != b'\n'));
    let reads = |names: &[&str]| names.iter().any(|name| find(reader, name.as_bytes()).is_some());
    let part = if reads(&["chpasswd"]) {
        After(b':')
    } else if reads(&["sudo -s", "-stdin", "passwd", "cryptsetup", "passphrase-fd", "kinit", "su -", "login"])
    {
        Whole
    } else {
        return;
    };
    if let Some(range) = cut(text, word.plain.clone(), part) {
        found.push(Candidate { category: Password, range });
    }
}

/// `kinit bob <<< 'secret'`, `--password-file=<(echo secret)`: what is fed to a program that asks for it.
pub(super) fn fed(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let line = text.line(anchor.start);
    let asks = [
        "pass",
        "kinit",
        "cryptsetup",
        "sudo",
        "stdin",
        "vnc",
        "secret",
        "token",
        "login",
        "gpg",
        "unlock",
        "auth",
        "key",
        "su ",
    ];
    if !text.has(Site::Before, line.start..anchor.start, &asks) {
        return;
    }
    let start = text.run(text.blanks(anchor.end), 1, |byte| matches!(byte, b'"' | b'\''));
    let end = text.run(start, 96, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b')' | b'<' | b'|')
    });
    let value = text.slice(start..end);
    if is_chosen(value)
        && !value.contains(&b':')
        && !is_placeholder(value)
        && !super::looks::is_location(value)
    {
        found.push(Candidate { category: Password, range: start..end });
    }
}

/// `ACL SETUSER bob on >secret`: Redis writes a sign before a password.
pub(super) fn acl(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let from = anchor.end.saturating_sub(2);
    let sign = text.run(from, 64, |byte| !matches!(byte, b'>' | b'\n'));
    let end = text.run(sign + 1, 128, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''));
    let value = text.slice(sign + 1..end);
    if text.at(sign) == b'>' && text.before(sign) == b' ' && value.len() >= 4 && !is_placeholder(value) {
        found.push(Candidate { category: Password, range: sign + 1..end });
    }
}

/// `WIFI:T:WPA;S:home;P:secret;;`: what is in a square code on the wall.
pub(super) fn wifi(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let mut at = anchor.end;
    for _ in 0..5 {
        let end = text.run(at, 80, |byte| !matches!(byte, b';' | b'\n' | b'"'));
        if text.starts(at, "P:") && end > at + 4 && !is_placeholder(text.peek(at + 2..end)) {
            found.push(Candidate { category: Password, range: at + 2..end });
        }
        if text.at(end) != b';' {
            return;
        }
        at = end + 1;
    }
}

/// The line below a command that prints a secret: `wg genkey`, `kubectl get secret … | base64 -d`.
pub(super) fn printed(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let part = |byte: u8| is_shaped(byte) || byte == b'~';
    let line = text.run(anchor.end, 160, |byte| byte != b'\n');
    let end = text.run(line + 1, 512, part);
    let value = text.slice(line + 1..end);
    let whole = text.at(line) == b'\n' && matches!(text.at(end), b'\n' | b'\r' | 0);
    if whole && (is_generated(value, 16) || is_uuid(value) || is_bootstrap(value)) {
        let key = find(text.slice(anchor.clone()), b"gen").is_some();
        let category = if key { Category::PrivateKey } else { Category::Token };
        found.push(Candidate { category, range: line + 1..end });
    }
}

/// The `result` of a resource that Terraform makes a password with.
pub(super) fn random(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let to = (anchor.end + 256).min(text.len());
    let Some(at) = text.find(Site::Before, anchor.end..to, "result") else { return };
    let open = text.run(at + "result".len(), 12, |byte| matches!(byte, b'"' | b' ' | b':' | b'='));
    let end = text.run(open, 128, |byte| !matches!(byte, b'"' | b'\n'));
    let value = text.slice(open..end);
    if text.before(open) == b'"' && text.at(end) == b'"' && value.len() >= 6 && !is_placeholder(value) {
        found.push(Candidate { category: Password, range: open..end });
    }
}

/// `[BasicAuth]` of Hurl: a name, a colon and the secret on the next line.
pub(super) fn section(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let line = text.run(anchor.end, 4, |byte| byte.is_ascii_whitespace());
    let colon = text.run(line, 64, |byte| !byte.is_ascii_whitespace() && byte != b':');
    let start = text.blanks(colon + 1);
    let end = text.run(start, 64, |byte| !byte.is_ascii_whitespace());
    if text.at(colon) == b':' && colon > line && end > start && !is_placeholder(text.peek(start..end)) {
        found.push(Candidate { category: BasicAuth, range: start..end });
    }
}

/// `-u name:secret` of any program.
pub(super) fn pair_flag(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let start = text.run(anchor.end, 2, |byte| matches!(byte, b'"' | b'\''));
    let end =
        text.run(start, 128, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`'));
    // `name:'secret'`
    let sign = text.at(end);
    if text.before(end) == b':' && matches!(sign, b'"' | b'\'') && end > start + 1 {
        let close = text.run(end + 1, 64, |byte| byte != sign && !byte.is_ascii_whitespace());
        let secret = text.slice(end + 1..close);
        if text.at(close) == sign && is_chosen(secret) && !is_placeholder(secret) {
            found.push(Candidate { category: BasicAuth, range: end + 1..close });
        }
        return;
    }
    let word = text.slice(start..end);
    let person = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@');
    let Some(colon) = word.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0) else { return };
    let (name, secret) = (word.get(..colon).unwrap_or_default(), word.get(colon + 1..).unwrap_or_default());
    if every(name, person)
        && is_chosen(secret)
        && !secret.contains(&b'/')
        && !super::looks::is_technical(name)
        && !is_placeholder(secret)
    {
        found.push(Candidate { category: BasicAuth, range: start + colon + 1..end });
    }
}

/// `send "secret\r"` of expect.
pub(super) fn sent(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let quoted = |byte: u8| matches!(byte, b'"' | b'\'');
    let start = text.run(anchor.end, 2, quoted);
    let end = text.run(start, 64, |byte| !byte.is_ascii_whitespace() && !quoted(byte));
    let value = text.slice(start..end);
    let typed = value.strip_suffix(b"\\r").or(value.strip_suffix(b"\\n"));
    let python = text.slice(anchor.clone()).ends_with(b"(").then_some(value);
    if let Some(value) =
        typed.or(python).filter(|value| quoted(text.at(end)) && is_chosen(value) && !is_placeholder(value))
    {
        found.push(Candidate { category: Password, range: start..start + value.len() });
    }
}

/// `… -u name -p secret` of any program.
pub(super) fn beside_user(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let line = text.line(anchor.start);
    let user = [" -u ", "-u=", "--user", "--login"];
    if !text.has(Site::Before, line.start..anchor.start, &user) {
        return;
    }
    let (words, _) = arguments(text, anchor.end);
    let Some(word) = words.first().map(|word| word.plain.clone()) else { return };
    let value = text.slice(word.clone());
    let place = |byte: &u8| matches!(byte, b'/' | b':');
    let cases = value.iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 3
        && value.len() >= 8
        && value.iter().all(u8::is_ascii_alphabetic)
        && value.iter().any(u8::is_ascii_lowercase)
        && !is_camel(value);
    if (cases || is_chosen(value))
        && !value.iter().any(place)
        && !value.starts_with(b"-")
        && !is_placeholder(value)
    {
        found.push(Candidate { category: Password, range: word });
    }
}

/// FTP's `PASS secret`: after a client's arrow or prompt, or below the user's name.
pub(super) fn ftp(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    if !text.starts(anchor.start, "PASS ") {
        return;
    }
    let line = text.line(anchor.start);
    let before = text.peek(line.start..anchor.start).trim_ascii_end();
    let near = before.get(before.len().saturating_sub(5)..).unwrap_or_default();
    let asked = near.ends_with(b">") || near.eq_ignore_ascii_case(b"quote");
    let above = || text.line_seen(Site::Above, line.start.saturating_sub(1));
    let named = before.is_empty() && line.start > 0 && text.has(Site::Above, above(), &["user ", "331 "]);
    let value = text.peek(anchor.end..line.end).trim_ascii_end();
    if (asked || named) && value.len() >= 3 && !value.contains(&b' ') && !is_placeholder(value) {
        found.push(Candidate { category: Password, range: anchor.end..anchor.end + value.len() });
    }
}
