//! Private keys in text form, whole or cut off, and phrases that stand for keys.

use super::Candidate;
use super::category::Category;
use super::memo::{Settled, Site};
use super::text::{REACH, Text, is_base64};
use super::words::find;
use memchr::memchr_iter;
use std::ops::Range;

/// Most bytes that the body of a key may have; RSA with 16 384 bits needs 13 000.
const BODY: usize = 65_536;

fn push(found: &mut Vec<Candidate>, range: Range<usize>) {
    found.push(Candidate { category: Category::PrivateKey, range });
}

/// `-----BEGIN … PRIVATE KEY-----`: all up to the end line, or as far as it looks like a key.
pub(super) fn begin(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let label = text.run(anchor.end, 64, |byte| byte.is_ascii_alphanumeric() || byte == b' ');
    if find(text.slice(anchor.end..label), b"private key").is_none() {
        return;
    }
    let from = text.run(label, 5, |byte| byte == b'-');
    let end = body_end(text, from);
    // A message that only names the header.
    let named =
        end == from && matches!(text.at(from), b'"' | b'`') && text.before(anchor.start) == text.at(from);
    if named && !text.starts(from, "\" +") {
        return;
    }
    push(found, anchor.start..end);
    if end == from {
        logged(text, anchor.start, from, found);
    }
}

/// What stands before a line in a log may be so much longer or shorter than before another.
const DRIFT: usize = 8;

/// The lines below a header that a log's prefix stands before: the last word of each, while it is base64.
fn logged(text: Text<'_>, header: usize, from: usize, found: &mut Vec<Candidate>) {
    let prefix = header - text.line(header).start;
    let mut at = text.run(from, 4, |byte| matches!(byte, b'\r' | b' '));
    while prefix > 0 && text.at(at) == b'\n' && at < from + BODY {
        let line = at + 1..text.run(at + 1, REACH, |byte| byte != b'\n');
        let stop = text.run_back(line.end, 64.min(line.len()), |byte| byte.is_ascii_whitespace());
        let piece = text.run_back(stop, stop.saturating_sub(line.start), is_base64);
        let cut_off = line.end >= text.len();
        let known = piece > line.start && (piece - line.start).abs_diff(prefix) <= DRIFT;
        let last = || text.find(Site::Above, line.end..line.end + REACH, "-----end").is_some();
        if !known || !(stop - piece >= 32 || stop > piece && (cut_off || last())) {
            return;
        }
        push(found, piece..stop);
        at = line.end;
    }
}

/// `-----END … PRIVATE KEY-----` without a beginning: the lines of base64 before it.
pub(super) fn end(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let label = text.run(anchor.end, 64, |byte| byte.is_ascii_alphanumeric() || byte == b' ');
    if find(text.slice(anchor.end..label), b"private key").is_none() {
        return;
    }
    // On one line, with the line ends written out.
    let escaped = |byte: u8| is_base64(byte) || byte == b'\\';
    let mut start = text.run_back(anchor.start, BODY, escaped);
    let mut line = text.line(anchor.start);
    let prefix = anchor.start - line.start;
    // Above: whole lines of base64, and at last one that ends with it. A log's prefix stands before each of them.
    while line.start > 0 && anchor.start - line.start < BODY {
        line = text.line_seen(Site::Above, line.start - 1);
        let stop = text.run_back(line.end, 64, |byte| byte.is_ascii_whitespace());
        let piece = text.run_back(stop.max(line.start), REACH, is_base64).max(line.start);
        let rest = text.peek(line.start..piece).trim_ascii();
        let decorated = rest
            .iter()
            .all(|byte| matches!(byte, b'|' | b'>' | b'+' | b'#') || byte.is_ascii_digit() || *byte == b' ')
            || (prefix > 0 && piece > line.start && (piece - line.start).abs_diff(prefix) <= DRIFT);
        if stop.saturating_sub(piece) < if decorated { 16 } else { 40 } {
            break;
        }
        start = piece;
        if !decorated {
            break;
        }
    }
    let stop = text.run(label, 5, |byte| byte == b'-');
    push(found, start..stop.max(anchor.end));
}

/// The first bytes of a key's encoding, where the header is missing.
pub(super) fn body(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) {
    if is_base64(text.before(start)) && text.before(start) != b'=' {
        return;
    }
    let byte = |offset: usize| text.at(start + offset);
    let known = match byte(1) {
        // SEQUENCE of a long length, then the version 0: PKCS#1 and PKCS#8. A certificate goes on
        // differently.
        b'I' => {
            let version = matches!(byte(5), b'A' | b'Q' | b'g' | b'w') && text.starts(start + 6, "IBA");
            let encrypted = text.starts(start + 5, "jBA")
                || text.starts(start + 5, "TBX")
                || text.starts(start + 7, "BgkqhkiG9w0BBQ");
            text.starts(start, "MII") && (version || encrypted)
                || text.starts(start, "MIGHAgEAMB")
                || text.starts(start, "MIGkAgEB")
        }
        b'H' => text.starts(start, "MHcCAQE") || text.starts(start, "MHQCAQE"),
        b'C' => text.starts(start, "MC4CAQAwBQYDK2Vw"),
        b'3' => text.starts(start, "b3BlbnNzaC1rZXkt"),
        b'Q' => text.starts(start, "lQOsB") || text.starts(start, "lQdGB"),
        _ => false,
    };
    // What begins inside of a body that was found ends where it ends.
    if !known || start < text.1.settled(Settled::Body) {
        return;
    }
    let end = body_end(text, start);
    if end - start >= 32 {
        text.1.settle_cut(Settled::Body, start..end, BODY);
        push(found, start..end);
    }
}

/// Where the base64 of a key ends: after its end line, or before the first thing that is none.
fn body_end(text: Text<'_>, from: usize) -> usize {
    let limit = from.saturating_add(BODY).min(text.len());
    let mut index = from;
    let mut last = from;
    while index < limit {
        let byte = text.at(index);
        if text.starts(index, "-----END") || text.starts(index, "---- END") {
            let stop =
                text.run(index, 96, |byte| byte != b'\n' && byte != b'\\' && byte != b'"' && byte != b'\'');
            return stop
                .min(text.run(index + 8, 64, |byte| byte != b'-').saturating_add(5))
                .max(index + 8)
                .min(text.len());
        }
        if byte == b'\\' && matches!(text.at(index + 1), b'n' | b'r' | b't' | b'\\') {
            index += 2;
            continue;
        }
        if byte.is_ascii_whitespace() || matches!(byte, b'|' | b'>' | b'#' | b'+' | b'"' | b'\'' | b',') {
            // Two empty lines, or a quote at the end of a value, end it unless base64 goes on.
            index += 1;
            continue;
        }
        let stop = text.run(index, BODY, is_base64);
        let piece = text.slice(index..stop);
        let header = text.run(index, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if text.at(header) == b':'
            && text.at(header + 1) == b' '
            && ["Proc-Type", "DEK-Info", "Comment", "Version", "Hash", "Charset", "MessageID"]
                .iter()
                .any(|name| text.starts(index, name))
        {
            index = text.run(header, REACH, |byte| byte != b'\n' && byte != b'\\');
            last = index;
            continue;
        }
        let next =
            text.run(stop, 8, |byte| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'n' | b'r'));
        let closing = text.starts(next, "-----END") || stop >= text.len();
        let mixed = piece.iter().any(u8::is_ascii_digit)
            || piece.iter().any(|byte| matches!(byte, b'+' | b'/' | b'='));
        // Numbers of lines that a compiler or `cat -n` puts before them.
        let numbered =
            piece.len() <= 5 && piece.iter().all(u8::is_ascii_digit) && last > from && stop < text.len();
        if piece.len() >= 24
            || (!piece.is_empty() && (closing || (mixed && piece.ends_with(b"="))))
            || (piece.len() >= 12 && mixed)
        {
            last = stop;
        } else if !numbered || piece.is_empty() {
            break;
        }
        index = stop;
    }
    last
}

/// PuTTY: `Private-Lines: 14`, then so many lines.
pub(super) fn putty(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let at = text.blanks(anchor.end);
    let end = text.run(at, 4, |byte| byte.is_ascii_digit());
    let count: usize = std::str::from_utf8(text.slice(at..end)).unwrap_or_default().parse().unwrap_or(0);
    let start = text.run(end, 4, |byte| byte.is_ascii_whitespace());
    let mut stop = start;
    for _ in 0..count.min(400) {
        let line = text.run(stop, 128, is_base64);
        if line == stop {
            break;
        }
        stop = text.run(line, 2, |byte| matches!(byte, b'\r' | b'\n'));
    }
    if stop > start {
        let trailing = text.run_back(stop, 2, |byte| byte.is_ascii_whitespace());
        push(found, start..trailing);
    }
}

/// Three or more lines of base64 of one usual width, outside of a certificate or public key: the middle of a
/// key.
pub(super) fn bodies(text: Text<'_>, found: &mut Vec<Candidate>) {
    let mut offset = 0;
    let mut run: Option<(usize, usize, usize)> = None;
    let mut public = false;
    let close = |run: &mut Option<(usize, usize, usize)>, found: &mut Vec<Candidate>| {
        if let Some((start, end, 3..)) = run.take() {
            push(found, start..end);
        }
    };
    let ends = memchr_iter(b'\n', text.0).chain([text.len()]);
    for end in ends {
        let line = text.peek(offset..end);
        let start = offset;
        offset = end + 1;
        if line.len() > 120 || line.len() < 4 {
            close(&mut run, found);
            continue;
        }
        let content = line.trim_ascii();
        if content.starts_with(b"-----") {
            public = content.starts_with(b"-----BEGIN") && find(content, b"private").is_none();
            close(&mut run, found);
            continue;
        }
        let width = content.len();
        let fits = !public
            && matches!(width, 64 | 70 | 76)
            && content.iter().all(|byte| is_base64(*byte))
            && content.iter().any(u8::is_ascii_digit)
            && content.iter().any(u8::is_ascii_lowercase)
            && content.iter().any(u8::is_ascii_uppercase);
        if !fits {
            // The last line of a key is shorter.
            if let Some((_, end, count)) = &mut run
                && *count >= 3
                && width < 76
                && width > 1
                && content.iter().all(|byte| is_base64(*byte))
                && (content.ends_with(b"=") || width >= 16)
            {
                *end = start + line.trim_ascii_end().len();
            }
            close(&mut run, found);
            continue;
        }
        let end = start + line.trim_ascii_end().len();
        let begins = end - width;
        run = Some(run.map_or((begins, end, 1), |(first, _, count)| (first, end, count + 1)));
    }
    close(&mut run, found);
}

/// A phrase of twelve words or more that begins within 200 bytes.
pub(super) fn phrase(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let mut at = anchor.end;
    let end = (anchor.end + 200).min(text.len());
    while at < end {
        at = text.run(at, 200, |byte| byte.is_ascii_alphanumeric());
        at = text.run(at, 200, |byte| !byte.is_ascii_lowercase() && byte != b'1');
        if at >= end {
            return;
        }
        // Words that are too few from one on are too few from the next on.
        if at >= text.1.settled(Settled::Words) {
            match word_list(text, at) {
                Ok(range) => return push(found, range),
                Err(last) => text.1.settle(Settled::Words, last),
            }
        }
        at += 1;
    }
}

/// Twelve to twenty-four words of three to eight lower-case letters from `at` on, as BIP-39 has them.
pub(super) fn words(text: Text<'_>, at: usize) -> Option<Range<usize>> {
    word_list(text, at).ok()
}

/// As [`words`]; where they are too few, the end of the last one.
fn word_list(text: Text<'_>, at: usize) -> Result<Range<usize>, usize> {
    let mut count = 0_usize;
    let mut index = at;
    let mut last = at;
    while count < 25 {
        // `1. word 2. word`
        let number = text.run(index, 2, |byte| byte.is_ascii_digit());
        if number > index {
            index = text.run(number, 3, |byte| matches!(byte, b'.' | b')' | b':' | b' '));
        }
        let end = text.run(index, 9, |byte| byte.is_ascii_lowercase());
        // The list of words has none of these, and hardly a sentence is without them.
        let prose = matches!(
            text.peek(index..end),
            b"the"
                | b"and"
                | b"for"
                | b"are"
                | b"was"
                | b"has"
                | b"not"
                | b"but"
                | b"from"
                | b"with"
                | b"your"
                | b"its"
                | b"been"
                | b"does"
                | b"were"
                | b"per"
                | b"via"
                | b"our"
                | b"their"
                | b"must"
                | b"should"
        );
        if prose || !(3..=8).contains(&(end - index)) || text.at(end).is_ascii_alphanumeric() {
            break;
        }
        count += 1;
        last = end;
        let next = text.run(end, 3, |byte| matches!(byte, b' ' | b'\n' | b'\r' | b',' | b'-'));
        if next == end {
            break;
        }
        index = next;
    }
    // Prose has longer and shorter words within twelve; these counts are the ones that exist.
    if count >= 12 { Ok(at..last) } else { Err(last) }
}

/// A JSON web key: the private members of an object that names its type.
pub(super) fn jwk(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let start = text.run_back_seen(Site::Object, anchor.start, REACH, |byte| byte != b'{');
    let end = text.run_seen(Site::Object, anchor.end, REACH * 4, |byte| byte != b'}');
    for name in ["\"d\"", "\"p\"", "\"q\"", "\"dp\"", "\"dq\"", "\"qi\"", "\"k\""] {
        let Some(at) = text.find(Site::Object, start..end, name) else { continue };
        // Members are the same for each anchor of the object.
        let what = Settled::Member(name);
        if at < text.1.settled(what) {
            continue;
        }
        text.1.settle(what, at + 1);
        let open = text.run(at + name.len(), 8, |byte| matches!(byte, b' ' | b':' | b'\n' | b'\t'));
        if text.at(open) == b'"' {
            let stop = text.run(open + 1, REACH * 4, |byte| byte != b'"' && byte != b'\n');
            push(found, open + 1..stop);
        }
    }
}
