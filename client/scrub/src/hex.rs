//! Long hex strings: a secret, unless the text around says what public thing it is. The rule stands in the
//! module's documentation.

use super::explained::{BUILDS, CONTAINERS, EXPLAINS, GIT, KEYS, KEYS_AHEAD, LABELS, NO_THINGS, SECRETIVE};
use super::memo::Site;
use super::names::{Trust, classify, is_public};
use super::text::Text;
use super::words::find;
use std::ops::Range;
use std::sync::LazyLock;

/// Digits that a run must have to count.
pub(super) const LEAST: usize = 32;

/// Most bytes that are read apart.
const MOST_APART: usize = 1024;

/// How far before a run, and how far after it, a word may stand that says what it is.
const NEAR: usize = 48;
const AFTER: usize = 24;

/// Whether a run of hex digits is a secret.
pub(super) fn is_secret(text: Text<'_>, run: Range<usize>) -> bool {
    let digits = text.slice(run.clone());
    // Half a byte is left over.
    if !digits.len().is_multiple_of(2) {
        return false;
    }
    // A bit for each digit that occurs: 0 to 9 below the letters, capitals above them.
    let seen = digits.iter().fold(0_u32, |seen, digit| {
        let place = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => (digit.wrapping_sub(b'A') & 7) + 16,
        };
        seen | 1 << (place & 31)
    });
    let (numbers, small, capital) = (seen & 0x3ff, seen >> 10 & 0x3f, seen >> 16);
    // Programs write hex in one case.
    if small != 0 && capital != 0 {
        return false;
    }
    if numbers == 0 || small | capital == 0 || seen.count_ones() < 8 {
        return false;
    }
    let line = text.line(run.start);
    let before = text.peek(line.start..run.start);
    let near = before.get(before.len().saturating_sub(NEAR)..).unwrap_or_default();
    if labelled(before) || called(before).is_some_and(labelled) || listed(text, &line, &run) {
        return false;
    }
    // `SHA2-256(name)= …` of openssl, `SHA256 (name) = …` of BSD.
    let equals = before.strip_suffix(b"= ").is_some_and(|rest| rest.trim_ascii_end().ends_with(b")"));
    if equals && text.has(Site::Before, line.start..run.start, &["sha", "md5", "blake"]) {
        return false;
    }
    // The lock file of mix: a package, its version, its digests.
    if text.find(Site::Before, line.start..run.start, "{:hex,").is_some() {
        return false;
    }
    // The version of a key in a vault.
    let vault = || {
        near.ends_with(b"/")
            && (find(near, b"vault.azure.net/").is_some() || near.windows(9).any(|part| part == b"/secrets/"))
    };
    let vault = vault();
    if !vault && (SECRETIVE.are_in(near) || keyed(before)) {
        return true;
    }
    if vault || is_member(text, &run, near) {
        return false;
    }
    // Alone below a line that asked for a digest.
    let above = || text.line_seen(Site::Above, line.start.saturating_sub(1));
    if before.trim_ascii().is_empty()
        && run.end >= line.end.saturating_sub(1)
        && line.start > 0
        && (text.has(Site::Above, above(), &["hash", "checksum", "digest", "sha256", "sha1", "md5"])
            || is_column(text.peek(above())))
    {
        return false;
    }
    if is_second(text, &run) || is_openpgp(digits) && !KEYS_AHEAD.are_in(near) {
        return false;
    }
    let digest = ["sha1", "sha256", "sha512", "md5", "checksum", "digest"];
    if text.has(Site::Before, line.start..run.start, &digest) {
        return false;
    }
    let after = text.peek(run.end..line.end.min(run.end + AFTER));
    if compared(text, &line, &run, near)
        || in_path(text, &run)
        || is_thing(near)
        || EXPLAINS.are_in(near)
        || EXPLAINS.are_in(after)
    {
        return false;
    }
    if before.ends_with(b"0x") {
        let public = ["tx", "hash", "block", "address", "contract", "bytecode", "calldata", "topic", "slot"];
        let sent = text.has(Site::Line, line.clone(), &["mined", "reverted", "confirmed"]);
        let thing = near.strip_suffix(b"0x").is_some_and(is_thing);
        return digits.len() != 40
            && !sent
            && !thing
            && !public.iter().any(|word| find(near, word.as_bytes()).is_some());
    }
    // `new Wallet('‹hex›'); // private key`
    if SECRETIVE.are_in(after) {
        return true;
    }
    if matches!(digits.len(), 40 | 64) {
        if text.has_any(Site::Line, line.clone(), &GIT) || BUILDS.are_in(near) || BUILDS.are_in(after) {
            return false;
        }
        // `from <id> to <id>`, `built at <id>`; `index-<id>`.
        let before = near.strip_suffix(b"'").unwrap_or(near);
        let place = [&b" from "[..], b" to ", b" at ", b" onto ", b" of ", b" for ", b" on "];
        let placed = place.iter().any(|word| before.ends_with(word));
        // `[main <id>] subject` of git commit.
        let made = text.at(line.start) == b'[' && text.at(run.end) == b']' && before.ends_with(b" ");
        // A node of a cluster, and its port.
        let port = text.run(run.end + 1, 6, |byte| byte.is_ascii_digit()) - run.end;
        let node = text.at(run.end) == b':'
            && matches!(port, 5 | 6)
            && !text.at(run.end + port).is_ascii_alphanumeric();
        // `module x@<id>`
        let at = before.strip_suffix(b"@").and_then(<[u8]>::last).is_some_and(u8::is_ascii_alphanumeric);
        if digits.len() == 40 && (placed || node || at) || made {
            return false;
        }
        // The output of `git log --oneline --no-abbrev`, of `git ls-remote`, and below a line that ran git.
        let subject = before.is_empty() && matches!(text.at(run.end), b' ' | b'\t') && digits.len() == 40;
        let earlier = || text.line_seen(Site::Above, line.start.saturating_sub(1));
        let first = text.run(line.start, before.len(), |byte| byte.is_ascii_whitespace()) == run.start;
        let ran = first && text.has(Site::Above, earlier(), &["git ", "rev-parse"]);
        if subject || ran {
            return false;
        }
    }
    if digits.len() == 64 && is_half(text, near, &line) || is_part(near) {
        return false;
    }
    let tagged = digits.len() == 40 && text.before(run.start) == b':';
    if (digits.len() == 64 || tagged) && text.has_any(Site::Line, line.clone(), &CONTAINERS) {
        return false;
    }
    if text.before(run.start) == b'-' && find(near, b"cache").is_some() {
        return false;
    }
    // A trace and a span in it; a message's id.
    let rest = text.run(run.end + 1, 17, |byte| byte.is_ascii_hexdigit());
    let span = rest == run.end + 17 && matches!(text.at(run.end), b'-' | b',' | b':' | b'@' | b'/');
    let traced = digits.len() == 32 && (span || before.ends_with(b"00-") && text.at(run.end) == b'-');
    let mailed = before.ends_with(b"<") && text.at(run.end) == b'@';
    // A node's public key in its address.
    let node = digits.len() == 128 && before.ends_with(b"://") && text.at(run.end) == b'@';
    // A version after a name: `name#<id>`.
    let marked = before.strip_suffix(b"#").and_then(<[u8]>::last).is_some_and(u8::is_ascii_alphanumeric);
    !(traced || mailed || marked || node)
}

/// Bytes of a key that are written apart behind its name: `aa:bb:…`, `0x1f, 0xf0, …`, `0b0c 551d …`; at least 16 of them.
pub(super) fn apart(text: Text<'_>, name_end: usize) -> Option<Range<usize>> {
    // `key[16] = {`
    let size = text.run(name_end + 1, 4, |byte| byte.is_ascii_digit());
    let sized = text.at(name_end) == b'[' && text.at(size) == b']';
    let from = if sized { size + 1 } else { name_end };
    let opens = |byte: u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b':' | b'=' | b'{' | b'[' | b'(' | b'>')
    };
    let start = text.run(from, 24, opens);
    if start == from {
        return None;
    }
    let (mut at, mut end, mut bytes, mut seen) = (start, start, 0, 0_u32);
    let (mut width, mut sign) = (0, 0);
    while bytes < MOST_APART {
        let marked = text.at(at) == b'0' && matches!(text.at(at + 1), b'x' | b'X');
        let digits = at + if marked { 2 } else { 0 };
        let stop = text.run(digits, 5, |byte| byte.is_ascii_hexdigit());
        let group = text.slice(digits..stop);
        if !matches!(group.len(), 2 | 4) || width != 0 && group.len() != width {
            break;
        }
        width = group.len();
        seen |= group.iter().fold(0, |seen, digit| seen | 1 << char::from(*digit).to_digit(16).unwrap_or(0));
        bytes += width / 2;
        end = stop;
        let next = text.at(stop);
        if sign != 0 && next != sign || !matches!(next, b':' | b'-' | b' ' | b',') || next == b',' && !marked
        {
            break;
        }
        sign = next;
        at = text.run(stop + 1, 32, |byte| byte.is_ascii_whitespace());
    }
    let letters = seen >> 10 != 0 && seen << 22 != 0;
    (bytes >= LEAST / 2 && letters && seen.count_ones() >= 8 && !text.at(end).is_ascii_alphanumeric())
        .then_some(start..end)
}

/// `keyring_key = UNHEX('`: the name before a call says that its argument is a key.
fn keyed(before: &[u8]) -> bool {
    let Some(head) = called(before) else { return false };
    let head = head.trim_ascii_end();
    let Some(head) = head.strip_suffix(b"=").or(head.strip_suffix(b":")) else { return false };
    let head = head.trim_ascii_end();
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let name = head.get(head.len() - head.iter().rev().take(48).take_while(part).count()..);
    name.is_some_and(|name| {
        !is_public(name)
            && classify(name)
                .is_some_and(|(_, trust)| matches!(trust, Trust::Strong | Trust::Seed | Trust::Faint))
    })
}

/// A digest among others of its kind: of a file (`"https://host/a.ts": "‹hex›"`), of a package (`{<<"a">>,<<"‹hex›">>}`),
/// in a record after numbers (`3 1 1 ‹hex›`); the id of a node before its address.
fn is_member(text: Text<'_>, run: &Range<usize>, near: &[u8]) -> bool {
    let file = near.strip_suffix(b"\": \"").or(near.strip_suffix(b"\":\"")).is_some_and(|name| {
        let start = name.iter().rposition(|byte| *byte == b'"').map_or(0, |at| at + 1);
        let name = name.get(start..).unwrap_or_default();
        name.contains(&b'/')
            && name.iter().rposition(|byte| *byte == b'.').is_some_and(|dot| dot + 6 > name.len())
    });
    let mut words = near.rsplit(|byte| *byte == b' ');
    let number = |word: Option<&[u8]>| {
        word.is_some_and(|word| (1..=5).contains(&word.len()) && word.iter().all(u8::is_ascii_digit))
    };
    let record = words.next().is_some_and(<[u8]>::is_empty) && number(words.next()) && number(words.next());
    let dots = text.run(run.end + 1, 15, |byte| byte.is_ascii_digit() || byte == b'.');
    let address = text.peek(run.end + 1..dots);
    let node = run.len() == 40
        && text.at(run.end) == b' '
        && address.iter().filter(|byte| **byte == b'.').count() == 3;
    // `3-‹hex›`: a revision.
    let revision = near.strip_suffix(b"-").is_some_and(|rest| {
        let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let opens = rest.len().checked_sub(digits + 1).and_then(|at| rest.get(at));
        (1..=4).contains(&digits) && opens.is_none_or(|byte| matches!(byte, b'"' | b'\'' | b' ' | b'='))
    });
    file || revision || near.ends_with(b"\">>,<<\"") || record || node
}

/// `KEY_ID` alone on the line above: a column of ids.
fn is_column(above: &[u8]) -> bool {
    let head = above.trim_ascii();
    head.len() <= 24
        && head.get(head.len().saturating_sub(2)..).is_some_and(|end| end.eq_ignore_ascii_case(b"id"))
        && head.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b' '))
}

/// `x: … y: …`, `r=… s=…`: a point's coordinate, a signature's half, with the other one on the line.
fn is_half(text: Text<'_>, near: &[u8], line: &Range<usize>) -> bool {
    let name = near.trim_ascii_end().strip_suffix(b":").or(near.strip_suffix(b"="));
    let Some([rest @ .., letter]) = name else { return false };
    let apart = rest.last().is_none_or(|byte| matches!(byte, b' ' | b'{' | b'(' | b','));
    let other: &[&'static str] = match letter {
        b'x' => &[" y:", " y=", ",y="],
        b'y' => &["x:", "x="],
        b'r' => &[" s:", " s=", ",s="],
        b's' => &["r:", "r="],
        _ => return false,
    };
    apart && text.has(Site::Line, line.clone(), other)
}

/// `event <id>`, `refname '<id>'`, `ObjectRef(<id>)`: the word before names a thing or what is done to it.
fn is_thing(near: &[u8]) -> bool {
    let sign = |byte: &u8| {
        matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'(' | b'{' | b'[' | b':' | b'=' | b'@' | b'#')
    };
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let end = near.iter().rposition(|byte| !sign(byte)).map_or(0, |at| at + 1);
    let rest = near.get(..end).unwrap_or_default();
    let start = rest.iter().rposition(|byte| !part(byte)).map_or(0, |at| at + 1);
    let (earlier, word) = rest.split_at(start);
    // A query's parameter or a component of an address may be anything.
    let apart = earlier.last().is_none_or(|byte| !matches!(byte, b'/' | b'?' | b'&' | b'$' | b'\\'));
    // An argument of a call, or of a flag.
    let signs = near.get(end..).unwrap_or_default();
    let argument =
        signs.first() == Some(&b'(') && signs.len() > 1 || word.starts_with(b"-") && !word.starts_with(b"--");
    (1..=4).contains(&signs.len()) && apart && !argument && is_thing_name(word)
}

/// `‹id› -> ‹id›`: of two ids in a row, the second.
fn is_second(text: Text<'_>, run: &Range<usize>) -> bool {
    let between = text.run_back(run.start, 8, |byte| !byte.is_ascii_alphanumeric());
    let first = text.run_back(between, run.len() + 1, |byte| byte.is_ascii_hexdigit());
    between < run.start && between - first == run.len() && matches!(run.len(), 40 | 64)
}

/// `index-`, `app-web-`: the name of something before the id of its version. Some tokens begin so, too.
fn is_part(near: &[u8]) -> bool {
    let Some(rest) = near.strip_suffix(b"-").or(near.strip_suffix(b"_")) else { return false };
    let name = rest
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    let name = rest.get(rest.len() - name.count()..).unwrap_or_default();
    let tokens = [
        "pat", "sec", "pwd", "key", "tok", "api", "auth", "sess", "live", "test", "prod", "sk-", "pk-",
        "access",
    ];
    let version = name.contains(&b'.') && name.last().is_some_and(u8::is_ascii_digit);
    let path = rest.get(..rest.len() - name.len()).is_some_and(|head| head.ends_with(b"/"));
    let long = name.len() >= (if near.ends_with(b"-") { 3 } else { 4 })
        && name.first().is_some_and(u8::is_ascii_alphabetic);
    (version || path || long) && !tokens.iter().any(|token| find(name, token.as_bytes()).is_some())
}

/// Whether the last word of a name in any style names a thing.
fn is_thing_name(name: &[u8]) -> bool {
    let start = name.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    let piece = name.get(start..).filter(|piece| piece.len() > 1).unwrap_or(name);
    let hump = piece
        .windows(2)
        .rposition(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
        .map_or(0, |at| at + 1);
    let word = piece.get(hump..).unwrap_or_default();
    // `topic0`
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = word.get(..word.len() - digits).unwrap_or_default();
    // Of an id alone, another rule asks whose it is.
    word.len() >= 2
        && !name.eq_ignore_ascii_case(b"id")
        && word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
        && !NO_THINGS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        && !KEYS.iter().any(|part| find(word, part.as_bytes()).is_some())
}

/// 40 digits in upper case: a fingerprint of OpenPGP. Other programs write lower case.
fn is_openpgp(digits: &[u8]) -> bool {
    digits.len() == 40 && !digits.iter().any(u8::is_ascii_lowercase)
}

/// What stands before a call whose argument the run is: `public_key: hex!("…")`.
fn called(before: &[u8]) -> Option<&[u8]> {
    let rest = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
    let rest = rest.strip_suffix(b"(")?;
    let name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'!');
    rest.get(..rest.len() - rest.iter().rev().take(40).take_while(name).count())
}

/// The labels by their last bytes.
static BY_LAST: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let ends = |label: &&str, last: u8| label.as_bytes().last() == Some(&last);
    let with = |last: u8| LABELS.iter().copied().filter(|label| ends(label, last)).collect();
    (0..=127).map(with).collect()
});

/// A label right before the run.
fn labelled(before: &[u8]) -> bool {
    // A weak tag of HTTP.
    let before = before.strip_suffix(b"W/\"").unwrap_or(before);
    let mut end = before.len();
    let mut signs = 0;
    while let Some(byte) = end.checked_sub(1).and_then(|index| before.get(index)) {
        if !matches!(
            byte,
            b' ' | b'\t'
                | b'"'
                | b'\''
                | b'='
                | b':'
                | b'-'
                | b'('
                | b'['
                | b'`'
                | b'\\'
                | b'@'
                | b'>'
                | b'<'
                | b'/'
                | b'{'
        ) || signs > 8
        {
            break;
        }
        signs += 1;
        end -= 1;
    }
    let head = before.get(..end).unwrap_or_default();
    let ends = |word: &[u8]| {
        head.get(head.len().saturating_sub(word.len())..).is_some_and(|tail| tail.eq_ignore_ascii_case(word))
    };
    if [&b"ntlm hash"[..], b"nt hash", b"lm hash", b"password hash"].iter().any(|hash| ends(hash)) {
        return false;
    }
    let known = || {
        let last = head.last().map_or(0, u8::to_ascii_lowercase);
        let same = BY_LAST.get(usize::from(last)).map_or(&[][..], Vec::as_slice);
        same.iter().any(|label| {
            let start = head.len().checked_sub(label.len());
            let tail = start
                .and_then(|start| head.get(start..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(label.as_bytes()));
            let open = start.and_then(|start| start.checked_sub(1)).and_then(|index| head.get(index));
            tail && open.is_none_or(|byte| !byte.is_ascii_alphabetic())
        })
    };
    signs > 0 && (is_id(head) || known())
}

/// `page_id`, `run id`, `deploymentId`: the name of an id, and of nothing that lets in.
fn is_id(head: &[u8]) -> bool {
    let name = [&b"id"[..], b"ID", b"Id"].iter().find_map(|id| head.strip_suffix(*id));
    let Some(name) = name else { return false };
    let parted = matches!(name.last(), Some(b'_' | b'-' | b' ')) || head.ends_with(b"Id") || name.is_empty();
    let of = name.get(name.len().saturating_sub(16)..).unwrap_or_default();
    let secret =
        ["sess", "sid", "auth", "login", "cookie", "secret", "token", "private", "cred", "key", "pass"];
    parted && !secret.iter().any(|word| find(of, word.as_bytes()).is_some())
}

/// A line of a checksum list: the run, two blanks or a blank and a star, a name.
fn listed(text: Text<'_>, line: &Range<usize>, run: &Range<usize>) -> bool {
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\\');
    let first = text.run(line.start, run.start - line.start, blank) == run.start;
    let next = (text.at(run.end), text.at(run.end + 1), text.at(run.end + 2));
    first && matches!(next, (b' ', b' ' | b'*', name) if !name.is_ascii_whitespace() && name != 0)
}

/// `Expected sha256 …`, `Got …`: a comparison of digests, which the line or one of the two before it names.
fn compared(text: Text<'_>, line: &Range<usize>, run: &Range<usize>, near: &[u8]) -> bool {
    let label = near.trim_ascii_end();
    let label = label.strip_suffix(b"'").or(label.strip_suffix(b"\"")).unwrap_or(label).trim_ascii_end();
    let label = label.strip_suffix(b":").unwrap_or(label).trim_ascii_end();
    let verbs = [
        "got",
        "expected",
        "actual",
        "received",
        "wanted",
        "computed",
        "calculated",
        "found",
        "specified",
        "want",
        "have",
        "downloaded",
        "mismatch",
    ];
    let verb = verbs.iter().any(|verb| {
        label.len() >= verb.len()
            && label
                .get(label.len() - verb.len()..)
                .is_some_and(|tail| tail.eq_ignore_ascii_case(verb.as_bytes()))
    });
    if !verb {
        return false;
    }
    let earlier = text.line_seen(Site::Above, line.start.saturating_sub(1));
    let start = text.line_seen(Site::AboveThat, earlier.start.saturating_sub(1)).start;
    let digests = ["sha", "md5", "hash", "checksum", "digest", "integrity"];
    // `expected: …` above `actual: …`, `want: … have: …`.
    let next = text.run(line.end + 1, 256, |byte| byte != b'\n');
    let has = |words: &[&'static str]| text.has(Site::Compared, start..next, words);
    let both = has(&["expected", "want"]) && has(&["actual", "have", "got ", "got:"]);
    // In columns, and as long as a digest: `Got        <digest>`.
    let column = near.ends_with(b"   ") || near.ends_with(b": ");
    let both = both || column && matches!(run.len(), 40 | 64 | 96 | 128);
    both || text.has(Site::Compared, start..line.end, &digests)
}

/// A component of a path, or an object's name after `#` or `@` in a reference to a repository.
fn in_path(text: Text<'_>, run: &Range<usize>) -> bool {
    let blank = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'<');
    let start = text.run_back(run.start, 512, blank);
    let word = text.slice(start..run.start);
    let digits = run.len();
    let (before, after, next) = (text.before(run.start), text.at(run.end), text.at(run.end + 1));
    let extension = after == b'.' && next.is_ascii_alphanumeric();
    // A file's name, even behind a blank or a quote.
    let name = text.run(run.end + 1, 9, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let file = extension
        && next.is_ascii_lowercase()
        && name <= run.end + 9
        && !text.at(name).is_ascii_alphanumeric();
    if find(word, b"://").is_some() {
        // The version of a key in a vault.
        if find(word, b"vault.azure.net/").is_some() {
            return true;
        }
        let parts = [
            ".git",
            "/commit",
            "/blob/",
            "/tree/",
            "/archive/",
            "/raw/",
            "/packages/",
            "/rev/",
            "vault.azure.net/",
        ];
        let repository = parts.iter().any(|part| find(word, part.as_bytes()).is_some());
        return repository && matches!(before, b'/' | b'#' | b'@' | b'=')
            || (before == b'/' && after == b'/')
            || (before == b'/' && extension);
    }
    let folder = before == b'/' && word.len() > 1;
    // The version of a file in a page: `app.js?v=<hex>`.
    let fresh = [&b"?v="[..], b"?h=", b"?id=", b"?ver=", b"?hash="].iter().any(|query| word.ends_with(query))
        && word.contains(&b'.');
    // An image's tag: `registry/app:<hex>`.
    let tag = before == b':' && word.contains(&b'/') && !word.contains(&b'=');
    folder
        || fresh
        || tag
        || (file && !matches!(before, b'=' | b':'))
        || (after == b'/' && matches!(before, b'/' | b' ' | 0))
        || (extension && matches!(before, b'-' | b'.' | b'/' | b'_'))
        // From one object of git to another.
        || matches!(digits, 40 | 64) && (word.ends_with(b"..") || after == b'.' && next == b'.')
        || (before == b'@' && word.contains(&b'/'))
}
