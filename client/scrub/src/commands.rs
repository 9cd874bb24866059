//! Secrets that a header or a phrase introduces.

use super::Candidate;
use super::category::Category;
use super::looks::{self, is_mixed, is_placeholder};
use super::memo::{Settled, Site};
use super::text::{Text, is_base64, is_basic, is_token};
use std::ops::Range;

/// A shell word: quoted or up to a blank.
fn word(text: Text<'_>, at: usize) -> Range<usize> {
    let slashes = text.run(at, 2, |byte| byte == b'\\') - at;
    let quote = text.at(at + slashes);
    if matches!(quote, b'"' | b'\'') {
        let start = at + slashes + 1;
        let mut end = text.run(start, 4096, |byte| byte != quote && byte != b'\n');
        if slashes > 0 && text.before(end) == b'\\' {
            end -= 1;
        }
        return start..end.max(start);
    }
    at..text.run_seen(Site::Word, at, 4096, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'|' | b'>')
    })
}

/// `Bearer …` and `Basic …`, wherever they stand.
pub(super) fn scheme(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    if text.before(anchor.start).is_ascii_alphanumeric() {
        return;
    }
    let mut at =
        text.run(anchor.end, 8, |byte| matches!(byte, b' ' | b':' | b'\t' | b'"' | b'\'' | b',' | b'\\'));
    if text.starts(anchor.end, "%20") {
        at = anchor.end + 3;
    } else if text.at(anchor.end) == b'+' && text.slice(anchor.clone()).eq_ignore_ascii_case(b"basic") {
        at = anchor.end + 1;
    }
    if at == anchor.end {
        return;
    }
    if text.slice(anchor).eq_ignore_ascii_case(b"basic") {
        let end = text.run(at, 8192, |byte| is_base64(byte) || is_token(byte));
        let value = text.slice(at..end);
        if value.len() >= 8 && is_basic(value) {
            found.push(Candidate { category: Category::BasicAuth, range: at..end });
        } else if text.at(end) == b' ' && end > at && text.before(at.saturating_sub(6)) == b' ' {
            // `Authorization: Basic name secret`, as clients take it down.
            let stop = text.run(end + 1, 64, |byte| !byte.is_ascii_whitespace());
            let secret = text.slice(end + 1..stop);
            let head = text.peek(at.saturating_sub(32)..at);
            let header = super::words::find(head, b"authorization:").is_some();
            if header && looks::is_chosen(secret) && matches!(text.at(stop), b'\n' | b'\r' | 0) {
                found.push(Candidate { category: Category::BasicAuth, range: end + 1..stop });
            }
        } else if text.at(end) == b':' && end > at {
            // Not encoded yet: `Basic name:secret`.
            let stop =
                text.run(end + 1, 64, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''));
            let secret = text.slice(end + 1..stop);
            if looks::is_chosen(secret) && !is_placeholder(secret) && !secret.contains(&b'/') {
                found.push(Candidate { category: Category::BasicAuth, range: end + 1..stop });
            }
        }
        return;
    }
    let end = text.run_seen(Site::Bearer, at, 8192, |byte| {
        is_base64(byte) || is_token(byte) || matches!(byte, b'.' | b'~' | b'%' | b':')
    });
    // What begins inside of another's token ends where that ends, and is mixed only if that is.
    if at < text.1.settled(Settled::Bearer) || is_placeholder(text.peek(at..end)) {
        return;
    }
    text.1.settle_cut(Settled::Bearer, at..end, 8192);
    if is_mixed(text.slice(at..end), 10) {
        found.push(Candidate { category: Category::Token, range: at..end });
    }
}

/// `Authorization: <anything else> …`.
pub(super) fn authorization(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let at = text.run(anchor.end, 8, |byte| {
        matches!(byte, b' ' | b':' | b'\t' | b'"' | b'\'' | b'=' | b'\\' | b'>' | b',')
    });
    if at == anchor.end {
        return;
    }
    let end = text.run_seen(Site::Authorization, at, 4096, |byte| {
        !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'\\')
    });
    let value = text.peek(at..end);
    let blank = text.run_seen(Site::AuthorizationScheme, at, end - at, |byte| byte != b' ');
    let first = text.peek(at..blank);
    let rest = value.get(first.len() + 1..).unwrap_or_default();
    let range = if rest.is_empty() { at..end } else { at + first.len() + 1..end };
    // Bearer and Basic are found by themselves.
    if first.eq_ignore_ascii_case(b"bearer") || first.eq_ignore_ascii_case(b"basic") {
        return;
    }
    let known = [
        &b"token"[..],
        b"digest",
        b"apikey",
        b"api-key",
        b"key",
        b"negotiate",
        b"hmac",
        b"hawk",
        b"ntlm",
        b"aws4-hmac-sha256",
        b"sharedkey",
        b"genie",
        b"klaviyo-api-key",
        b"ssws",
        b"bot",
    ];
    let scheme = known.iter().any(|name| first.eq_ignore_ascii_case(name))
        || rest.len() <= 512 && (super::looks::is_generated(rest, 24) || super::looks::is_uuid(rest));
    let one = rest.is_empty() && !is_placeholder(text.peek(range.clone()));
    // What begins inside of another's value ends where that ends, and is mixed only if that is.
    if !(one || scheme) || range.start < text.1.settled(Settled::Authorization) {
        return;
    }
    let secret = text.slice(range.clone());
    // `Credential=<access-key>/…`, `get("Authorization", "").split()`
    if secret.starts_with(b")") || text.at(end) == b'<' || secret.len() <= 512 && is_placeholder(secret) {
        return;
    }
    text.1.settle_cut(Settled::Authorization, at..end, 4096);
    if (one && is_mixed(secret, 12)) || (scheme && is_mixed(secret, 8)) {
        let category = if first.starts_with(b"AWS4") { Category::Aws } else { Category::Token };
        found.push(Candidate { category, range });
    }
}

/// `IDENTIFIED BY 'password'`, `pass:password` of openssl.
pub(super) fn phrase(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let word_at = |from: usize| text.run(from, 48, super::text::is_word);
    // `revision identified by '…'` is a sentence.
    let by = text.starts(anchor.start, "identified");
    let sql = ["create ", "alter ", "grant ", "user", "role", "link", "connect"];
    let line = text.line(anchor.start);
    let begins = text.peek(line.start..anchor.start).trim_ascii().is_empty();
    if by && !begins && !text.has(Site::Before, line.start..anchor.start, &sql) {
        return;
    }
    let openssl = text.slice(anchor.clone()).eq_ignore_ascii_case(b"pass:");
    if openssl && !text.line_has(anchor.start, &["-passin", "-passout", "openssl"]) {
        return;
    }
    let mut at = text.blanks(anchor.end);
    if text.starts(at, "PASSWORD ") || text.starts(at, "password ") {
        at = text.blanks(at + 9);
    }
    // `IDENTIFIED WITH mysql_native_password BY '…'`
    let by = text.blanks(word_at(at));
    if by > at && matches!(text.slice(by..by + 3), b"BY " | b"by " | b"AS " | b"as ") {
        at = text.blanks(by + 3);
    }
    if !openssl && !matches!(text.at(at), b'\'' | b'"') {
        return;
    }
    let range = word(text, at);
    if !range.is_empty() && !is_placeholder(text.peek(range.clone())) {
        found.push(Candidate { category: Category::Password, range });
    }
}

/// A shared access signature's `sig=`, and the `code=` of a function's URL.
pub(super) fn signature(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let before = text.before(anchor.start);
    let code = matches!(before, 0 | b'\n') || before == b'(' && text.starts(anchor.start, "code=");
    if !code && !matches!(before, b'?' | b'&' | b';' | b'"' | b'\'' | b' ') {
        return;
    }
    let end = text.run(anchor.end, 512, |byte| is_base64(byte) || is_token(byte) || byte == b'%');
    if end - anchor.end >= 20 && is_mixed(text.slice(anchor.end..end), 20) {
        found.push(Candidate { category: Category::Azure, range: anchor.end..end });
    }
}

/// Seeds in `otpauth://totp/…?secret=SEED`.
pub(super) fn otpauth(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let end = text.run_seen(Site::Otpauth, anchor.end, 1024, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'<' | b'>')
    });
    let Some(at) = text.find(Site::Otpauth, anchor.end..end, "secret=") else { return };
    let start = at + 7;
    let stop = text.run(start, 256, |byte| byte.is_ascii_alphanumeric() || byte == b'=');
    if stop > start + 7 {
        found.push(Candidate { category: Category::TotpSeed, range: start..stop });
    }
}

/// A seed in base32 near a word that speaks of one-time passwords.
pub(super) fn one_time(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let end = text.run_seen(Site::OneTime, anchor.end, 240, |byte| byte != b'\n');
    let next = text.run_seen(Site::OneTimeNext, end + 1, 120, |byte| byte != b'\n');
    let before = text.run_back_seen(Site::OneTime, anchor.start, 120, |byte| byte != b'\n');
    // Where an earlier word found nothing, this one finds nothing.
    let from = before.max(text.1.settled(Settled::OneTime));
    match base32(text, from, next) {
        Some(candidate) => found.push(candidate),
        None => text.1.settle(Settled::OneTime, next),
    }
}

/// The first run of base32 in a range: at least 16 characters, in one piece or in groups of four.
pub(super) fn base32(text: Text<'_>, from: usize, to: usize) -> Option<Candidate> {
    let mut at = from;
    while at < to {
        let byte = text.at(at);
        if !byte.is_ascii_alphanumeric()
            || text.before(at).is_ascii_alphanumeric()
            || matches!(text.before(at), b'_')
        {
            at += 1;
            continue;
        }
        let lower = text.slice(at..at + 4).iter().any(u8::is_ascii_lowercase);
        let fits = |byte: u8| {
            matches!(byte, b'2'..=b'7')
                || if lower { byte.is_ascii_lowercase() } else { byte.is_ascii_uppercase() }
        };
        let mut end = text.run(at, 256, fits);
        let piece = end - at;
        if piece == 4 {
            while matches!(text.at(end), b' ' | b'-') && text.run(end + 1, 5, fits) == end + 5 {
                end += 5;
            }
        }
        end = text.run(end, 8, |byte| byte == b'=');
        let value = text.slice(at..end);
        let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic() || byte.is_ascii_digit()).count();
        let digit = value.iter().any(u8::is_ascii_digit);
        let open = !text.at(end).is_ascii_alphanumeric() && text.at(end) != b'_';
        // Lower case in one piece is a word of the language; in groups it needs a digit, so that prose stays.
        let shape = if lower { digit && (piece == 4 || piece >= 16) } else { letters >= 16 };
        if open && letters >= 16 && shape {
            return Some(Candidate { category: Category::TotpSeed, range: at..end });
        }
        at = end.max(at + 1);
    }
    None
}

/// `/confirm/…`, `/invite/…`: who has the link needs nothing else.
pub(super) fn link(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let mut start = anchor.end;
    for _ in 0..5 {
        let end = text.run(start, 128, |byte| is_token(byte) || byte == b'.');
        let value = text.slice(start..end);
        let hex = value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
        if looks::is_generated(value, 16) && (hex || looks::is_random(value)) {
            found.push(Candidate { category: Category::Token, range: start..end });
        }
        if !matches!(text.at(end), b'/' | b':') {
            return;
        }
        start = end + 1;
    }
}

/// Webhooks: the path is the secret.
pub(super) fn webhook(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let end = text.run(anchor.end, 512, |byte| is_token(byte) || matches!(byte, b'/' | b'.' | b':' | b'@'));
    if end >= anchor.end + 16 && is_mixed(text.slice(anchor.end..end), 16) {
        found.push(Candidate { category: Category::Token, range: anchor.end..end });
    }
}

/// JSON web tokens, cut off ones too.
pub(super) fn jwt(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) {
    if !text.starts(start, "eyJ") || is_token(text.before(start)) {
        return;
    }
    let mut end = text.run(start, 16_384, is_token);
    let head = end - start;
    let mut parts = 1;
    while parts < 5 && text.at(end) == b'.' && (is_token(text.at(end + 1)) || text.at(end + 1) == b'.') {
        end = text.run(end + 1, 16_384, is_token);
        parts += 1;
    }
    // An unsecured token ends with a dot and no signature.
    if parts == 2 && text.at(end) == b'.' {
        end += 1;
    }
    let header = ["eyJhbGci", "eyJ0eXAi", "eyJraWQi", "eyJlbmMi", "eyJjdHki", "eyJ4NXQi"]
        .iter()
        .any(|known| text.starts(start, known));
    if (parts >= 2 && head >= 12 && end - start >= 30) || (header && head >= 16) {
        found.push(Candidate { category: Category::Jwt, range: start..end });
    }
}
