//! Whether the value of a name is a secret.

use super::category::Category;
use super::looks;
use super::memo::Site;
use super::names::Trust;
use super::text::{Text, is_basic};
use super::value::{Tie, Value};
use super::words::find;
use super::{Candidate, commands};
use std::ops::Range;

/// The secret of a `name:secret` that is the last of a few words.
fn pair_in(value: &[u8]) -> Option<Range<usize>> {
    let start = value.iter().rposition(|byte| *byte == b' ')? + 1;
    let word = value.get(start..).filter(|word| word.len() <= 128)?;
    let colon = word.iter().position(|byte| *byte == b':').filter(|at| *at > 0)?;
    let secret = word.get(colon + 1..).unwrap_or_default();
    (looks::is_chosen(secret) && !looks::is_placeholder(secret)).then(|| start + colon + 1..value.len())
}

/// Whether this value of that name is a secret.
pub(super) fn judge(
    text: Text<'_>,
    name: Range<usize>,
    category: Category,
    trust: Trust,
    value: Value,
) -> Option<Candidate> {
    let mut range = value.range.clone();
    let bytes = text.slice(range.clone());
    // `Authorization: Bearer …` and its like have rules of their own.
    if looks::is_placeholder(bytes) || bytes.len() < 3 || looks::is_pattern(bytes) {
        return None;
    }
    // `"Forgot password?"` is a label; what follows `'Password: '` is not a value.
    let labelled =
        || ["password", "passwort", "passphrase"].iter().any(|word| find(bytes, word.as_bytes()).is_some());
    if value.quoted
        && (bytes.starts_with(b" ")
            || bytes.starts_with(b", ")
            || bytes.len() <= 64 && bytes.contains(&b' ') && labelled())
    {
        return None;
    }
    if !value.quoted && value.tie == Tie::Loose && looks::is_camel(bytes) {
        return None;
    }
    // `--password via the environment`
    let words = [
        &b"via"[..],
        b"in",
        b"on",
        b"as",
        b"for",
        b"to",
        b"with",
        b"from",
        b"at",
        b"by",
        b"flag",
        b"option",
        b"when",
        b"instead",
        b"if",
    ];
    // `--passphrase  ask for it`: a column of a help text.
    let column = text.before(range.start.saturating_sub(1)) == b' ' && text.before(range.start) == b' ';
    let column = column && bytes.iter().all(u8::is_ascii_lowercase);
    if value.tie == Tie::Flag && (words.contains(&bytes) || column) {
        return None;
    }
    let placed = [&b"./"[..], b"../", b"~/", b"/"].iter().any(|start| bytes.starts_with(start))
        && looks::is_location(bytes);
    if category == Category::Password && value.tie == Tie::Tight && placed && !value.quoted
        || bytes.contains(&b'/') && looks::is_reference(bytes)
    {
        return None;
    }
    // `CREDENTIALS="host name:secret"`
    if value.quoted
        && text.slice(name.clone()).to_ascii_lowercase().ends_with(b"credentials")
        && let Some(pair) = pair_in(bytes)
    {
        return Some(Candidate {
            category: Category::BasicAuth,
            range: range.start + pair.start..range.start + pair.end,
        });
    }
    if category == Category::BasicAuth {
        // `--creds name:password`
        let colon = bytes.iter().position(|byte| *byte == b':').filter(|at| *at > 0);
        if let Some(colon) = colon.filter(|_| trust == Trust::Strong) {
            let secret = bytes.get(colon + 1..).unwrap_or_default();
            let real = !secret.is_empty() && !secret.starts_with(b"//") && !looks::is_placeholder(secret);
            return real.then_some(Candidate { category, range: range.start + colon + 1..range.end });
        }
        let named = colon.filter(|at| {
            let (name, secret) = bytes.split_at(*at);
            let secret = secret.get(1..).unwrap_or_default();
            let person =
                |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@');
            name.iter().all(person)
                && looks::is_chosen(secret)
                && !secret.starts_with(b"/")
                && !looks::is_placeholder(secret)
        });
        // `'auth' => ['name', 'secret']`
        let bracket = matches!(text.before(range.start.saturating_sub(1)), b'[' | b'(');
        // `session.auth = "name", "secret"`
        let pair = value.tie == Tie::Loose && text.at(name.end) == b' ' && text.at(range.end + 1) == b',';
        if value.quoted && (bracket || pair) {
            let next = text.run(range.end + 1, 4, |byte| matches!(byte, b',' | b' '));
            let sign = text.at(next);
            let end = text.run(next + 1, 96, |byte| byte != sign && byte != b'\n');
            let both = matches!(sign, b'"' | b'\'') && text.at(end) == sign && next > range.end + 1;
            if both && !looks::is_placeholder(text.peek(next + 1..end)) {
                return Some(Candidate { category, range: next + 1..end });
            }
        }
        if let Some(colon) = named {
            return Some(Candidate { category, range: range.start + colon + 1..range.end });
        }
        // `REDISCLI_AUTH=…`
        if !value.quoted && looks::is_code(bytes) {
            return None;
        }
        let shouted = text
            .slice(name.clone())
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
        // `NEO4J_AUTH=name/secret`
        let slash = bytes.iter().position(|byte| *byte == b'/').filter(|at| (1..=32).contains(at));
        let split = slash.and_then(|at| bytes.get(at + 1..));
        if shouted
            && value.tie == Tie::Tight
            && split.is_some_and(|secret| looks::is_chosen(secret) && !secret.contains(&b'/'))
        {
            return Some(Candidate {
                category: Category::Password,
                range: range.end - split.map_or(0, <[u8]>::len)..range.end,
            });
        }
        if shouted && value.tie == Tie::Tight && looks::is_chosen(bytes) && !looks::is_location(bytes) {
            return Some(Candidate { category: Category::Password, range });
        }
        if !plain_login(text, &name)
            && looks::is_generated(bytes, 20)
            && looks::is_random(bytes)
            && !bytes.contains(&b'.')
        {
            return Some(Candidate { category: Category::Token, range });
        }
        return (bytes.len() >= 8 && is_basic(bytes)).then_some(Candidate { category, range });
    }
    // `"--token"`: the name of another flag.
    if bytes.starts_with(b"--") && looks::is_flag(bytes) {
        return None;
    }
    // `--password PASSWORD`: a usage line.
    if value.tie == Tie::Flag && bytes.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') {
        return None;
    }
    if category == Category::DatabaseUrl {
        // The URL's own rule decides about the usual form; this one is for `host=… password=…`, found by
        // name.
        return None;
    }
    let plain = text.slice(name.clone()).to_ascii_lowercase();
    if category == Category::TotpSeed {
        return commands::base32(text, range.start, range.end.max(range.start + 1));
    }
    if plain.ends_with(b"cookie") {
        // `NO_COOKIE: u32 = 34;`
        let header = matches!(&plain[..], b"cookie" | b"set-cookie") && value.tie != Tie::Beside;
        if !header && (looks::is_code(bytes) || !looks::is_mixed(bytes, 12)) {
            return None;
        }
        range = cookie(text, range, plain.ends_with(b"set-cookie"));
        let cookies = text.slice(range.clone());
        // A visitor's number, or what the page looks like.
        let plain = [
            &b"_ga"[..],
            b"_gid",
            b"_fbp",
            b"__utm",
            b"theme=",
            b"lang=",
            b"locale=",
            b"consent",
            b"AWSALB=deleted",
        ];
        if plain.iter().any(|name| cookies.starts_with(name)) && !cookies.contains(&b';') {
            return None;
        }
        let lets_in = cookies.iter().any(u8::is_ascii_digit) || range.len() >= 24;
        return (range.len() >= 8 && lets_in).then_some(Candidate { category, range });
    }
    if trust == Trust::Seed {
        if let Some(phrase) = super::pem::words(text, range.start) {
            return Some(Candidate { category, range: phrase });
        }
        let id = bytes.len().checked_sub(36).and_then(|at| bytes.get(at..)).is_some_and(looks::is_uuid);
        let long = !id
            && (bytes.len() >= 32 || looks::is_generated(bytes, 25))
            && !bytes.contains(&b' ')
            && !looks::is_location(bytes)
            && !looks::is_code(bytes);
        return long.then_some(Candidate { category, range });
    }
    let same = plain.ends_with(&bytes.to_ascii_lowercase()[..])
        && value.tie != Tie::Flag
        && bytes.iter().all(|b| b.is_ascii_lowercase() || *b == b'_');
    if same && !value.quoted && (value.tie == Tie::Tight && !value.alone || bytes.contains(&b'_')) {
        // `connect(password=password)`
        return None;
    }
    let password = category == Category::Password;
    if password && looks::is_pointer(bytes) {
        return None;
    }
    // `user.password = newPassword;`: a variable of that name.
    let kinds = [&b"password"[..], b"passwd", b"pwd", b"secret", b"token", b"key"];
    let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let bytes_all = bytes;
    let bytes = bytes.get(..bytes.len() - digits.min(2)).unwrap_or_default();
    let variable = bytes.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && kinds.iter().any(|kind| {
            bytes.len() > kind.len()
                && bytes.get(bytes.len() - kind.len()..).is_some_and(|end| end.eq_ignore_ascii_case(kind))
        });
    // `['password', 'remember_token']`: a list of names.
    let listed = text.at(name.end + 1) == b',' && value.quoted;
    if variable && (!value.quoted || listed) && value.tie == Tie::Loose {
        return None;
    }
    let bytes = bytes_all;
    // The number and the name of a resource: `arn:aws:secretsmanager:…:secret:name`.
    let resource = text.before(name.start) == b':' && text.before(name.start - 1).is_ascii_digit();
    if !password && (resource || looks::is_reference(bytes)) {
        return None;
    }
    let secret = match (value.quoted, value.tie, trust) {
        (_, Tie::Flag, Trust::Faint) if looks::is_uuid(bytes) => true,
        // `?key=‹uuid›`
        (_, Tie::Tight, Trust::Faint)
            if looks::is_uuid(bytes) && matches!(text.before(name.start), b'&' | b'?') =>
        {
            true
        }
        (_, Tie::Tight | Tie::Loose, Trust::Faint)
            if looks::is_uuid(bytes) && is_setting(text.slice(name.clone())) =>
        {
            true
        }
        (_, _, Trust::Faint) => {
            let openpgp =
                bytes.len() == 40 && bytes.iter().all(|b| b.is_ascii_digit() || matches!(b, b'A'..=b'F'));
            let beside = value.tie == Tie::Beside;
            (looks::is_generated(bytes, 16) || looks::is_license(bytes))
                && !looks::is_location(bytes)
                && !bytes.contains(&b'.')
                && !(beside && (openpgp || looks::is_address(bytes)))
        }
        (_, Tie::Beside, Trust::Weak) if looks::is_address(bytes) => false,
        (true, _, Trust::Strong) if password => !looks::is_sentence(bytes) && !same,
        (true, _, Trust::Strong) => {
            bytes.len() >= 6
                && !bytes.contains(&b' ')
                && !looks::is_location(bytes)
                && (looks::is_mixed(bytes, 6) || bytes.len() >= 12)
        }
        (true, _, _) => looks::is_mixed(bytes, 8) && !bytes.contains(&b' ') && !looks::is_location(bytes),
        (false, Tie::Flag, Trust::Strong) => {
            (password || looks::is_mixed(bytes, 6)) && !looks::is_location(bytes)
        }
        (false, Tie::Tight, Trust::Strong) => {
            (!looks::is_code(bytes) || looks::is_jumbled(bytes))
                && (password || !looks::is_location(bytes) && bytes.len() >= 6)
        }
        (false, Tie::Tight | Tie::Flag, _) => {
            looks::is_mixed(bytes, 8) && !looks::is_code(bytes) && !looks::is_location(bytes)
        }
        // A setting's whole line, and no name in any language.
        (false, Tie::Loose, Trust::Strong) if password && value.alone && looks::is_jumbled(bytes) => true,
        (false, Tie::Loose | Tie::Beside, _) if looks::is_code(bytes) || looks::is_location(bytes) => false,
        (false, Tie::Loose | Tie::Beside, Trust::Strong) if value.alone => {
            password || looks::is_mixed(bytes, 6) || bytes.len() >= 12
        }
        (false, Tie::Loose | Tie::Beside, Trust::Strong) => {
            looks::is_mixed(bytes, 6) || password && looks::is_chosen(bytes)
        }
        (false, Tie::Loose | Tie::Beside, _) => {
            looks::is_mixed(bytes, 12) || (value.alone && looks::is_mixed(bytes, 8))
        }
    };
    secret.then_some(Candidate { category, range })
}

/// `POSTMARK_KEY`, `services.postmark.key`: a key among a program's settings.
fn is_setting(name: &[u8]) -> bool {
    let things =
        ["cache", "idem", "row", "object", "sort", "primary", "partition", "routing", "dedup", "lock", "job"];
    let shouted = name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    let dotted = name.iter().filter(|byte| **byte == b'.').count() >= 2;
    (shouted && name.len() > 4 || dotted)
        && !things.iter().any(|thing| find(name, thing.as_bytes()).is_some())
}

/// Whether the name is that of who logs in.
fn plain_login(text: Text<'_>, name: &Range<usize>) -> bool {
    let name = text.slice(name.clone()).to_ascii_lowercase();
    [&b"login"[..], b"user", b"info"].iter().any(|end| name.ends_with(end))
}

/// The values of a cookie header: everything of `Cookie`, the first pair's value of `Set-Cookie`.
fn cookie(text: Text<'_>, range: Range<usize>, first_only: bool) -> Range<usize> {
    let mut end =
        text.run_seen(Site::Cookie, range.start, 4096, |byte| !matches!(byte, b'\n' | b'\r' | b'"' | b'\''));
    if first_only {
        end = text.run_seen(Site::CookieFirst, range.start, end - range.start, |byte| byte != b';');
    }
    range.start..end
}
