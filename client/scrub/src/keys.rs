//! Values of names that say what they are.

use super::category::Category;
use super::judged::judge;
use super::names::{self, Trust, classify};
use super::nearby::{apart, chosen, tried};
use super::text::Text;
use super::value::Tie;
use super::words::find;
use super::{Candidate, commands, hex, numbered, rows, tied};
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
        // `PAT …`, but not `$x:pat => …`.
        let word = text.slice(anchor.clone());
        if word.eq_ignore_ascii_case(b"pat ") && (word != b"PAT " || text.before(anchor.start) == b'_') {
            return;
        }
        let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let start = text.run_back(anchor.start, 64, part);
        // `sid=`, `pw:` end with the sign after a name.
        let signed =
            matches!(text.slice(anchor.end.saturating_sub(2)..anchor.end), [_, b'='] | [b'w' | b'W', b':'])
                || text.slice(anchor.clone()).eq_ignore_ascii_case(b"pat:");
        let short = text.slice(anchor.clone()).len() == 3
            && text.slice(anchor.start..anchor.end - 1).eq_ignore_ascii_case(b"pw")
            || word == b"PAT ";
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
        if !matches!(trust, Trust::Digits | Trust::Weak)
            && let Some(range) = hex::apart(text, name.end)
        {
            found.push(Candidate { category: Category::HighEntropyHex, range });
            return;
        }
        let flag = text.at(name.start) == b'-';
        if category == Category::Password && rows::column(text, &name, found) {
            return;
        }
        if trust == Trust::Digits {
            let after = numbered::after(text, category, name.end);
            let number = after.or_else(|| {
                if category == Category::Ssn { numbered::quoted_before(text, &name) } else { None }
            });
            found.extend(number);
            return;
        }
        let Some(value) = tied::after_name(text, name.clone(), flag) else {
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

    /// The word for a password or a telephone in another script, whole.
    pub(super) fn foreign(
        &mut self,
        text: Text<'a>,
        name: Range<usize>,
        category: Category,
        found: &mut Vec<Candidate>,
    ) {
        // Some languages put the article at its end.
        let name = name.start..text.run(name.end, 2, |byte| byte.is_ascii_lowercase());
        if name.end <= self.read_to {
            return;
        }
        self.read_to = name.end;
        if category == Category::Phone {
            // The rest of the word, up to a colon of either width.
            let end = text.run(name.end, 24, |byte| byte >= 0x80);
            let colon = name.end..end;
            let end = text
                .slice(colon.clone())
                .windows(WIDE.len())
                .position(|piece| piece == WIDE)
                .map_or(end, |at| colon.start + at);
            let end = if text.starts(end, ":") || end == colon.end { end } else { end + WIDE.len() };
            found.extend(numbered::after(text, category, end));
            return;
        }
        if let Some(range) = beside(text, name.end) {
            found.push(Candidate { category, range });
            return;
        }
        let Some(value) = tied::after_name(text, name.clone(), false) else {
            return tried(text, &name, found);
        };
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

/// A colon as wide as a letter of Chinese.
const WIDE: &[u8] = "：".as_bytes();

/// `パスワードは「…」です`, `数据库密码：…`, `Пароль от базы: …`: a word of ASCII that nobody would write in a sentence, behind
/// words in another script.
fn beside(text: Text<'_>, from: usize) -> Option<Range<usize>> {
    let other =
        |byte: u8| byte >= 0x80 || matches!(byte, b' ' | b':' | b'=' | b'"' | b'\'' | b'`' | b'(' | b',');
    let start = text.run(from, 64, other);
    let end = text
        .run(start, 64, |byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>'));
    // Behind a sign of another script, or behind words of it.
    let between = text.slice(from..start);
    if !between.iter().any(|byte| *byte >= 0x80) {
        return None;
    }
    let value = text.slice(start..end);
    let value = value.strip_suffix(b".").or(value.strip_suffix(b",")).unwrap_or(value);
    let said = between.ends_with(WIDE)
        || between.ends_with(b": ")
        || between.ends_with(b"=")
        || [&b"\xe3\x80\x8c"[..], b"\xe3\x80\x8e", b"\xe2\x80\x9c", b"\xc2\xab"]
            .iter()
            .any(|quote| between.ends_with(quote));
    (said && chosen(value)).then(|| start..start + value.len())
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
