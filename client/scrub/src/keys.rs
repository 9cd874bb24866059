//! Values of names that say what they are.

use super::category::Category;
use super::looks;
use super::memo::Site;
use super::names::{self, Trust, classify};
use super::nearby::{apart, tried};
use super::text::{Text, is_basic};
use super::value::{self, Tie, Value};
use super::words::find;
use super::{Candidate, commands, rows};
use std::collections::HashMap;
use std::ops::Range;

/// From this length on a value counts as long.
const LONG: usize = 512;
/// Of how many names it is remembered what they are.
const KNOWN: usize = 4096;
/// How many names are read whose long values lie in one another.
const NESTED: usize = 16;

/// A name that ends before or at an anchor's stem was read already.
pub(super) struct Names<'a> {
    /// What was found out about names: texts have few of them, again and again.
    known: HashMap<&'a [u8], Option<(Category, Trust)>>,
    read_to: usize,
    /// The end of the last long value.
    long_to: usize,
    /// How many names with long values were read before it ended.
    nested: usize,
}

impl<'a> Names<'a> {
    pub(super) fn new() -> Self {
        Self { known: HashMap::new(), read_to: 0, long_to: 0, nested: 0 }
    }

    fn classify(&mut self, name: &'a [u8]) -> Option<(Category, Trust)> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let class = classify(name);
        if self.known.len() < KNOWN {
            self.known.insert(name, class);
        }
        class
    }

    /// The name around an anchor, its value, and what that is.
    pub(super) fn detect(&mut self, text: Text<'a>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
        if !text.slice(anchor.clone()).is_ascii() {
            return self.foreign(text, anchor, found);
        }
        let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let start = text.run_back(anchor.start, 64, part);
        // `sid=`, `pw:` end with the sign after a name.
        let signed =
            matches!(text.slice(anchor.end.saturating_sub(2)..anchor.end), [_, b'='] | [b'w' | b'W', b':'])
                || text.slice(anchor.clone()).eq_ignore_ascii_case(b"pat:");
        let short = text.slice(anchor.clone()).len() == 3
            && text.slice(anchor.start..anchor.end - 1).eq_ignore_ascii_case(b"pw");
        let anchor = if signed || short { anchor.start..anchor.end - 1 } else { anchor };
        // `tel:` and `tel ` are names with what follows them.
        let closed = matches!(text.before(anchor.end), b':' | b' ');
        let mut end = if closed { anchor.end } else { text.run(anchor.end, 64, part) };
        while end > anchor.end && matches!(text.before(end), b'.' | b'-') {
            end -= 1;
        }
        // `session id`
        if matches!(text.slice(end..end + 4), [b' ', b'i' | b'I', b'd' | b'D', b':' | b'=' | b' ']) {
            let word = text.slice(start..end);
            if ["session", "secret"].iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())) {
                end += 3;
            }
        }
        // `Key Content : …`, as Windows shows a network's password.
        if text.slice(start..end).eq_ignore_ascii_case(b"key") && text.starts(end, " Content") {
            end += " Content".len();
        }
        // `contact number`
        for more in [" number", " no"] {
            let known = text.peek(start..end).eq_ignore_ascii_case(b"contact");
            if known && text.slice(end..end + more.len()).eq_ignore_ascii_case(more.as_bytes()) {
                end += more.len();
            }
        }
        if end <= self.read_to {
            return;
        }
        self.read_to = end;
        let mut name = start..end;
        // "Account Number", "Client Secret", "API key": one word before, if it is in the same phrase.
        let word = text.slice(name.clone());
        if word.len() <= 8 && !word.starts_with(b"-") && text.before(start) == b' ' {
            let earlier = text.run_back(start - 1, 32, part);
            let joined = text.slice(earlier..end);
            if names::is_public(joined) {
                return;
            }
            if earlier + 1 < start
                && self.classify(joined).is_some_and(|(category, _)| {
                    category == Category::TotpSeed
                        || self.classify(word).is_none_or(|(_, trust)| trust != Trust::Strong)
                })
            {
                name = earlier..end;
            }
        }
        let Some((category, trust)) = self.classify(text.slice(name.clone())) else { return };
        if trust == Trust::Faint && is_public(text, &name) {
            return;
        }
        let flag = text.at(name.start) == b'-';
        if category == Category::Password && rows::column(text, &name, found) {
            return;
        }
        if trust == Trust::Digits {
            let after = digits(text, category, name.end);
            let number =
                after.or_else(|| if category == Category::Ssn { quoted_before(text, &name) } else { None });
            found.extend(number);
            return;
        }
        let Some(value) = value::after_name(text, name.clone(), flag) else {
            if category == Category::TotpSeed {
                commands::one_time(text, name, found);
            } else if category == Category::BasicAuth && text.at(name.end) == b' ' {
                super::typed::pair_flag(text, name, found);
            } else if category == Category::Password
                && (trust == Trust::Strong || matches!(text.before(name.start), b'"' | b'\'' | b'#'))
            {
                tried(text, &name, found);
            } else if trust == Trust::Strong {
                found.extend(apart(text, category, &name));
            }
            return;
        };
        if self.is_nested(&value.range) {
            // To judge each of them takes too long, and to leave them might leave a secret.
            self.read_to = self.read_to.max(value.range.end);
            found.push(Candidate { category, range: value.range });
            return;
        }
        let beside = value.tie == Tie::Beside && trust == Trust::Strong && category != Category::Password;
        let judged = judge(text, name.clone(), category, trust, value);
        let seed = category == Category::TotpSeed && judged.is_none();
        let password = trust == Trust::Strong && category == Category::Password && judged.is_none();
        found.extend(judged.or_else(|| beside.then(|| apart(text, category, &name)).flatten()));
        if password {
            tried(text, &name, found);
        }
        if seed {
            commands::one_time(text, name, found);
        }
    }

    /// The word for a password in another script, whole.
    fn foreign(&mut self, text: Text<'a>, name: Range<usize>, found: &mut Vec<Candidate>) {
        // Some languages put the article at its end.
        let name = name.start..text.run(name.end, 2, |byte| byte.is_ascii_lowercase());
        if name.end <= self.read_to {
            return;
        }
        self.read_to = name.end;
        let Some(value) = value::after_name(text, name.clone(), false) else {
            return tried(text, &name, found);
        };
        let category = Category::Password;
        if self.is_nested(&value.range) {
            self.read_to = self.read_to.max(value.range.end);
            found.push(Candidate { category, range: value.range });
        } else {
            found.extend(judge(text, name, category, Trust::Strong, value));
        }
    }

    /// Whether a long value stands in too many others.
    fn is_nested(&mut self, value: &Range<usize>) -> bool {
        if value.len() < LONG {
            return false;
        }
        self.nested = if value.start < self.long_to { self.nested + 1 } else { 0 };
        self.long_to = self.long_to.max(value.end);
        self.nested > NESTED
    }
}

/// `cache key`, `RSA key`: the word before says that the key is none, or is known by its fingerprint.
fn is_public(text: Text<'_>, name: &Range<usize>) -> bool {
    let earlier = text.peek(text.line(name.start).start.max(name.start.saturating_sub(40))..name.start);
    if ["fingerprint", "thumbprint", "digest", "checksum"]
        .iter()
        .any(|word| find(earlier, word.as_bytes()).is_some())
    {
        return true;
    }
    let phrase = text.peek(name.start.saturating_sub(12)..name.end);
    let mut words = phrase.rsplit(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')));
    let word = words.nth(1).unwrap_or_default();
    [
        &b"cache"[..],
        b"primary",
        b"foreign",
        b"public",
        b"rsa",
        b"dsa",
        b"ecdsa",
        b"eddsa",
        b"sort",
        b"partition",
        b"hash",
        b"result",
        b"row",
        b"object",
        b"idempotency",
        b"verification",
        b"verifying",
        b"sccache",
        b"ccache",
        b"host",
        b"build",
        b"ccache",
        b"jwks:",
        b"action",
        b"content",
        b"routing",
        b"dedup",
        b"message",
        b"record",
    ]
    .iter()
    .any(|known| word.eq_ignore_ascii_case(known))
}

/// The secret of a `name:secret` that is the last of a few words.
fn pair_in(value: &[u8]) -> Option<Range<usize>> {
    let start = value.iter().rposition(|byte| *byte == b' ')? + 1;
    let word = value.get(start..).filter(|word| word.len() <= 128)?;
    let colon = word.iter().position(|byte| *byte == b':').filter(|at| *at > 0)?;
    let secret = word.get(colon + 1..).unwrap_or_default();
    (looks::is_chosen(secret) && !looks::is_placeholder(secret)).then(|| start + colon + 1..value.len())
}

/// Whether this value of that name is a secret.
fn judge(
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

/// Digits after a name, with the signs that people put between them.
fn digits(text: Text<'_>, category: Category, name_end: usize) -> Option<Candidate> {
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
    let colon = text.before(name_end) == b':';
    if start == name_end && !colon && !sloped {
        return None;
    }
    // Beside a name in prose stands a number that nobody calls: `mobile 12345678 bytes`.
    let tied = colon || text.slice(name_end..start).iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'.'));
    let long = text.run(start, 15, |byte| byte.is_ascii_digit()) >= start + 10;
    if !tied && !long && category == Category::Phone && !matches!(text.at(start), b'0' | b'+' | b'(') {
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
    let count = text.slice(start..end).iter().filter(|byte| byte.is_ascii_digit()).count();
    let fits = if category == Category::Ssn { count == 9 } else { (7..=15).contains(&count) };
    let closed = !text.at(end).is_ascii_alphanumeric();
    // Nobody has these numbers.
    let made_up = count == 7 && text.starts(start, "555-01");
    (fits && closed && !made_up).then_some(Candidate { category, range: start..end })
}

/// `Duplicate entry '…' for key 'users.ssn'`: nine digits in quotes before the name.
fn quoted_before(text: Text<'_>, name: &Range<usize>) -> Option<Candidate> {
    let first = text.line(name.start).start.max(name.start.saturating_sub(48));
    let at = text.peek(first..name.start).windows(11).position(|piece| {
        matches!(piece, [b'"' | b'\'', digits @ .., b'"' | b'\''] if digits.iter().all(u8::is_ascii_digit))
    })?;
    Some(Candidate { category: Category::Ssn, range: first + at + 1..first + at + 10 })
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
