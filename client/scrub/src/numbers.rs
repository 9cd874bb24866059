//! What digits give away: card numbers, social security numbers, telephone numbers, long hex, arrays of
//! bytes.

use super::Candidate;
use super::category::Category;
use super::hex;
use super::memo::Site;
use super::shaped;
use super::text::{Text, is_token, is_word};
use super::words::find;
use std::ops::Range;

/// One pass over the text's numbers, long words and the signs that a number may begin with.
pub(super) fn detect(text: Text<'_>, found: &mut Vec<Candidate>) {
    let bytes = text.0;
    // Numbers that were read as a group are not read again, nor anything within an array.
    let (mut done, mut array_end, mut shaped_end) = (0, 0, 0);
    for Range { start: index, end } in Starts::new(bytes) {
        if index < array_end {
            continue;
        }
        match bytes.get(index).copied().unwrap_or(0) {
            b'+' if index >= done => done = plus(text, index, found).unwrap_or(done),
            b'(' if index >= done => done = parentheses(text, index, found).unwrap_or(done),
            b'+' | b'(' => {}
            b'[' => array_end = array(text, index, found).unwrap_or(array_end),
            byte => {
                let length = end - index;
                if length >= BOT && index >= shaped_end {
                    shaped_end = shaped::detect(text, index..end, found);
                }
                if length >= hex::LEAST {
                    long(text, index..end, found);
                } else if (BOT..=28).contains(&length) && text.at(end) == b'.' {
                    bot(text, index..end, found);
                }
                if (8..=10).contains(&length) && text.at(end) == b':' && text.starts(end + 1, "AA") {
                    telegram(text, index..end, found);
                }
                if byte.is_ascii_digit() && index >= done && length <= 19 {
                    done = group(text, index, end, found).unwrap_or(done);
                }
            }
        }
    }
}

/// Least length of the number in a bot's token of Discord.
const BOT: usize = 24;
/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Words that are a number or begin with one, words of [`BOT`] bytes or more, and each of `+([`.
struct Starts<'a> {
    bytes: &'a [u8],
    /// What comes after the next block.
    rest: &'a [u8],
    /// Of the next block, which bytes belong to words, and which are digits, signs.
    next: Masks,
    /// Whether the last byte before `next` belongs to a word.
    in_word: bool,
    /// Where the present block begins, and what is left of it: a bit for each byte.
    base: usize,
    left: u64,
    /// Which bytes from `base` on belong to words, in this block and the next.
    words: u128,
    ended: bool,
}

#[derive(Clone, Copy, Default)]
struct Masks {
    words: u64,
    digits: u64,
    signs: u64,
}

impl<'a> Starts<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let (next, rest) = Masks::of(bytes);
        let mut starts = Self { bytes, rest, next, in_word: false, base: 0, left: 0, words: 0, ended: false };
        starts.advance(0);
        starts
    }

    /// Takes up the next block, which begins at `base`.
    fn advance(&mut self, base: usize) {
        let now = self.next;
        self.ended = self.rest.is_empty();
        (self.next, self.rest) = Masks::of(self.rest);
        let starts = now.words & !(now.words << 1 | u64::from(self.in_word));
        self.in_word = now.words >> (BLOCK - 1) == 1;
        // Where 2, 4, 8, 16, 24 bytes of words follow one another.
        self.words = u128::from(now.words) | u128::from(self.next.words) << BLOCK;
        let mut run = self.words;
        for more in [1, 2, 4, 8, BOT - 16] {
            run &= run >> more;
        }
        self.base = base;
        // The upper half is the next block's.
        self.left = starts & (now.digits | run as u64) | now.signs;
    }
}

impl Iterator for Starts<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while self.left == 0 {
            if self.ended {
                return None;
            }
            self.advance(self.base + BLOCK);
        }
        let bit = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        let start = self.base + bit;
        let length = (self.words >> bit).trailing_ones() as usize;
        let mut end = start + length;
        if bit + length == 2 * BLOCK {
            let rest = self.bytes.get(end..).unwrap_or_default();
            end += rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        }
        Some(start..end)
    }
}

impl Masks {
    /// Those of the first block, and what comes after it.
    fn of(bytes: &[u8]) -> (Self, &[u8]) {
        if let Some((block, rest)) = bytes.split_first_chunk() {
            return (Self::of_block(block), rest);
        }
        let mut block = [0; BLOCK];
        for (to, from) in block.iter_mut().zip(bytes) {
            *to = *from;
        }
        (Self::of_block(&block), &[])
    }

    fn of_block(block: &[u8; BLOCK]) -> Self {
        Self {
            words: bits(block, |byte| {
                let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
                letter | (byte.wrapping_sub(b'0') < 10) | (byte == b'_')
            }),
            digits: bits(block, |byte| byte.wrapping_sub(b'0') < 10),
            signs: bits(block, |byte| (byte == b'+') | (byte == b'(') | (byte == b'[')),
        }
    }
}

/// A bit for each byte that fits. Without branches, so that a compiler can take many bytes at once.
fn bits(block: &[u8; BLOCK], fits: impl Fn(u8) -> bool) -> u64 {
    let flags = block.map(|byte| u8::from(fits(byte)));
    let (eights, _) = flags.as_chunks();
    eights.iter().rev().fold(0, |bits, eight| {
        // The product's highest byte has the lowest bit of each.
        bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// A secret key of Solana in base58: 64 bytes, the second half of which is the public key of the first. Signatures, which
/// have the same length, never are.
fn keypair(word: &[u8]) -> bool {
    let mut bytes = [0; 64];
    (86..=88).contains(&word.len())
        && bs58::decode(word).onto(&mut bytes[..]) == Ok(64)
        && ed25519_dalek::SigningKey::from_keypair_bytes(&bytes).is_ok()
}

/// A private key of Bitcoin in its import format. Nothing public has this length and this start in base58.
fn is_wif(word: &[u8]) -> bool {
    word.len() == 52
        && matches!(word.first(), Some(b'K' | b'L'))
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() && !matches!(byte, b'0' | b'O' | b'I' | b'l'))
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_lowercase)
}

/// A bot's token of Discord: its number in base64, a dot, a time, a dot, a signature.
fn bot(text: Text<'_>, word: Range<usize>, found: &mut Vec<Candidate>) {
    let time = text.run(word.end + 1, 8, is_token);
    let end = text.run(time + 1, 48, is_token);
    let number = matches!(text.at(word.start), b'M' | b'N' | b'O') && !is_token(text.before(word.start));
    if number && time == word.end + 7 && text.at(time) == b'.' && (27..=40).contains(&(end - time - 1)) {
        found.push(Candidate { category: Category::Token, range: word.start..end });
    }
}

/// A bot's token of Telegram: its number, a colon, 35 characters.
fn telegram(text: Text<'_>, word: Range<usize>, found: &mut Vec<Candidate>) {
    let end = text.run(word.end + 1, 40, is_token);
    if end == word.end + 36 && text.slice(word.clone()).iter().all(u8::is_ascii_digit) {
        found.push(Candidate { category: Category::Token, range: word.start..end });
    }
}

/// A long word: all hex, or hex after `0x` or a name and `_`.
fn long(text: Text<'_>, word: Range<usize>, found: &mut Vec<Candidate>) {
    if keypair(text.slice(word.clone())) || is_wif(text.slice(word.clone())) {
        found.push(Candidate { category: Category::PrivateKey, range: word });
        return;
    }
    let start = text.run_back(word.end, word.len(), |byte| byte.is_ascii_hexdigit());
    if word.end - start < hex::LEAST {
        return;
    }
    let prefix = text.slice(word.start..start);
    // Our own public names are `fix_` and the key.
    let known = prefix.is_empty()
        || prefix == b"0x"
        || prefix == b"0X"
        // An id in XML begins with a sign.
        || (prefix.ends_with(b"_") && prefix != b"fix_" && !(prefix == b"_" && text.before(word.start) == b'"'));
    if known && hex::is_secret(text, start..word.end) {
        let begin = if prefix.eq_ignore_ascii_case(b"0x") { word.start } else { start };
        // A key of Mailgun goes on: `‹32›-‹8›-‹8›`.
        let mut end = word.end;
        if end - start == hex::LEAST {
            let piece = |from: usize| text.run(from + 1, 9, |byte| byte.is_ascii_hexdigit());
            let (first, second) = (piece(end), piece(piece(end)));
            let parted = text.at(end) == b'-' && text.at(first) == b'-';
            if parted && first == end + 9 && second == first + 9 && !is_word(text.at(second)) {
                end = second;
            }
        }
        found.push(Candidate { category: Category::HighEntropyHex, range: begin..end });
    }
}

/// A telephone number behind `sip:`, `to=` or an encoded plus: eleven digits or more, and no time.
pub(super) fn called(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) {
    let number = text.run(start, 1, |byte| byte == b'+');
    let number = if text.starts(number, "%2B") { number + 3 } else { number };
    let end = text.run(number, 18, |byte| byte.is_ascii_digit());
    let sip = text.before(start) == b':';
    let time = end - number == 13 && text.starts(number, "1") && number == start;
    let least = if sip { 10 } else { 11 };
    if (least..=15).contains(&(end - number)) && !time && !is_word(text.at(end)) {
        found.push(Candidate { category: Category::Phone, range: number..end });
    }
}

/// A card's number on its magnetic stripe: `%B4…^NAME^…`.
pub(super) fn track(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) {
    let end = text.run(start, 20, |byte| byte.is_ascii_digit());
    if end >= start + 13 && text.at(end) == b'^' {
        card(text, start, end, found);
    }
}

/// `Track 1: B4…^NAME^…`
pub(super) fn stripe(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) {
    let sign = text.run(start, 16, |byte| !matches!(byte, b'B' | b'\n'));
    if text.at(sign) == b'B' {
        track(text, sign + 1, found);
    }
}

/// A social security number as a field of EDI: nine digits up to the next sign.
pub(super) fn edi(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) {
    let end = text.run(start, 10, |byte| byte.is_ascii_digit());
    if end == start + 9 && matches!(text.at(end), b'~' | b'*' | b'\n' | b' ' | 0) {
        found.push(Candidate { category: Category::Ssn, range: start..end });
    }
}

/// A number that begins here, perhaps in groups. Answers where the groups end if they were something.
fn group(text: Text<'_>, start: usize, first_end: usize, found: &mut Vec<Candidate>) -> Option<usize> {
    let first = first_end - start;
    let next = text.at(first_end);
    if !text.slice(start..first_end).iter().all(u8::is_ascii_digit) {
        return None;
    }
    let before = text.before(start);
    if matches!(before, b'.' | b'-' | b'/' | b'#' | b'\\')
        || (before == b':' && text.before(start - 1).is_ascii_digit())
    {
        // `tel:` and `card:` are fine; a fraction, a path, a date, a port is not.
        return None;
    }
    if (13..=19).contains(&first) {
        // A time or a size.
        let unit = text.run(first_end + 1, 8, |byte| byte.is_ascii_alphabetic());
        let units = [
            &b"ns"[..],
            b"us",
            b"ms",
            b"s",
            b"sec",
            b"seconds",
            b"bytes",
            b"byte",
            b"B",
            b"bits",
            b"cycles",
            b"instructions",
        ];
        if next == b' ' && units.contains(&text.slice(first_end + 1..unit)) {
            return None;
        }
        return if is_named_id(text, start) { None } else { card(text, start, first_end, found) };
    }
    if next == b'/' && first <= 5 {
        return sloped(text, start, first_end, found);
    }
    if !matches!(next, b'-' | b' ' | b'.') || !text.at(first_end + 1).is_ascii_digit() {
        return None;
    }
    let mut groups = vec![first];
    let mut end = first_end;
    while text.at(end) == next && groups.len() < 6 {
        let stop = text.run(end + 1, 20, |byte| byte.is_ascii_digit());
        if stop == end + 1 {
            break;
        }
        groups.push(stop - end - 1);
        end = stop;
    }
    let closed = |end: usize| {
        let (after, then) = (text.at(end), text.at(end + 1));
        !(is_word(after) || matches!(after, b'-' | b'.' | b'/' | b':') && then.is_ascii_alphanumeric())
    };
    let cards: &[&[usize]] =
        &[&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3], &[4, 4, 4, 1], &[4, 4, 5]];
    if next != b'.' {
        for layout in cards {
            if groups.starts_with(layout) {
                let end = start + layout.iter().sum::<usize>() + layout.len() - 1;
                if closed(end)
                    && let Some(end) = card(text, start, end, found)
                {
                    return Some(end);
                }
            }
        }
    }
    if next == b'-' && groups == [3, 2, 4] && closed(end) && is_ssn(text.slice(start..end)) {
        found.push(Candidate { category: Category::Ssn, range: start..end });
        return Some(end);
    }
    if next == b' ' && closed(end) && is_abroad(text, start, &groups) {
        found.push(Candidate { category: Category::Phone, range: start..end });
        return Some(end);
    }
    let american = |at: usize| matches!(text.at(at), b'2'..=b'9');
    let call = groups == [3, 3, 4] && american(start) && american(start + 4);
    let prefixed =
        groups == [1, 3, 3, 4] && text.at(start) == b'1' && american(start + 2) && american(start + 6);
    let spoken =
        next != b' ' || text.line_has(start, &["phone", "call", "tel", "mobile", "fax", "sms", "contact"]);
    if (call || prefixed) && closed(end) && spoken {
        found.push(Candidate { category: Category::Phone, range: start..end });
        return Some(end);
    }
    None
}

/// `089/2558871`, as Germans and Austrians write it, on a line that speaks of calls.
fn sloped(text: Text<'_>, start: usize, sign: usize, found: &mut Vec<Candidate>) -> Option<usize> {
    let end = text.run(sign + 1, 10, |byte| byte.is_ascii_digit());
    let area = text.at(start) == b'0' && matches!(text.at(start + 1), b'1'..=b'9') && sign - start >= 3;
    let long = (4..=9).contains(&(end - sign - 1)) && (8..=12).contains(&(end - start - 1));
    let (after, then) = (text.at(end), text.at(end + 1));
    let closed =
        !(is_word(after) || matches!(after, b'-' | b'.' | b'/' | b':') && then.is_ascii_alphanumeric());
    let words = ["ruf", "telefon", "tel.", "tel:", "call", "phone", "fax", "handy", "mobil", "durchwahl"];
    if !area || !long || !closed || !text.line_has(start, &words) {
        return None;
    }
    found.push(Candidate { category: Category::Phone, range: start..end });
    Some(end)
}

/// `trace_id: 4…`: the number of something other than a card.
fn is_named_id(text: Text<'_>, start: usize) -> bool {
    let end = text.run_back(start, 4, |byte| matches!(byte, b':' | b'=' | b' ' | b'"' | b'\''));
    let name = text.slice(text.run_back(end, 24, |byte| is_token(byte) || byte == b'.')..end);
    let parted = [&b"_id"[..], b"-id", b"Id", b"ID"].iter().any(|id| name.ends_with(id));
    end < start && parted && !["card", "pan", "cc"].iter().any(|word| find(name, word.as_bytes()).is_some())
}

/// The Luhn check, and the first digits of a network.
fn card(text: Text<'_>, start: usize, end: usize, found: &mut Vec<Candidate>) -> Option<usize> {
    let digits: Vec<u8> =
        text.slice(start..end).iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0').collect();
    let lead =
        |count: usize| digits.iter().take(count).fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit));
    let network = match digits.len() {
        13 | 19 => lead(1) == 4 && digits.len() == 19 || lead(1) == 4 || lead(2) == 62 || lead(4) == 6011,
        14 => matches!(lead(2), 36 | 38 | 39) || (300..=305).contains(&lead(3)),
        15 => matches!(lead(2), 34 | 37),
        16 => {
            lead(1) == 4
                || (51..=55).contains(&lead(2))
                || (2221..=2720).contains(&lead(4))
                || matches!(lead(2), 65 | 62)
                || lead(4) == 6011
                || (644..=649).contains(&lead(3))
                || (3528..=3589).contains(&lead(4))
                || (5018..=5038).contains(&lead(4))
        }
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(*digit) * if place % 2 == 1 { 2 } else { 1 };
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    let varied = digits.iter().any(|digit| Some(digit) != digits.first());
    if !network || !sum.is_multiple_of(10) || !varied {
        return None;
    }
    found.push(Candidate { category: Category::CreditCard, range: start..end });
    Some(end)
}

/// A social security number, or a taxpayer's number, which begins with 9 and has few groups.
fn is_ssn(number: &[u8]) -> bool {
    let part = |range: Range<usize>| number.get(range).unwrap_or_default();
    let (area, group) = (part(0..3), part(4..6));
    let taxpayer = matches!(group, [b'5', _] | [b'6', b'0'..=b'5'] | [b'7', _] | [b'8', b'0'..=b'8'])
        || matches!(group, [b'9', digit] if *digit != b'3');
    area != b"000"
        && area != b"666"
        && (area.first() != Some(&b'9') || taxpayer)
        && group != b"00"
        && part(7..11) != b"0000"
}

/// `0049 30 12345678`, `07700 900123` of the United Kingdom, `06 12 34 56 78` of France; not in a row of numbers.
fn is_abroad(text: Text<'_>, start: usize, groups: &[usize]) -> bool {
    let digit = |offset: usize| text.at(start + offset);
    let row =
        text.before(start) == b' ' && start.checked_sub(2).is_some_and(|at| text.at(at).is_ascii_digit());
    let total: usize = groups.iter().sum();
    let called = digit(0) == b'0'
        && digit(1) == b'0'
        && matches!(digit(2), b'1'..=b'9')
        && matches!(groups.first(), Some(3..=5))
        && (10..=15).contains(&total)
        && groups.iter().skip(1).any(|group| *group >= 5);
    let british = digit(0) == b'0' && digit(1) == b'7' && groups == [5, 6];
    let french = digit(0) == b'0' && matches!(digit(1), b'1'..=b'9') && groups == [2, 2, 2, 2, 2];
    !row && (called || british || french)
}

/// `+49 30 1234567`: an international number.
fn plus(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) -> Option<usize> {
    let before = text.before(start);
    if !matches!(text.at(start + 1), b'1'..=b'9')
        || is_word(before)
        || matches!(before, b'+' | b')' | b']' | b'.')
    {
        return None;
    }
    let mut end = text
        .run(start + 1, 24, |byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'.' | b'(' | b')'));
    // A separator stands between digits, alone or with a bracket.
    let mut last = start + 1;
    let mut gap = 0;
    for index in start + 1..end {
        if text.at(index).is_ascii_digit() {
            gap = 0;
            last = index + 1;
        } else {
            gap += 1;
            if gap > 2
                || (gap == 2
                    && !matches!((text.before(index), text.at(index)), (b' ', b'(') | (b')', b' ' | b'-')))
            {
                break;
            }
        }
    }
    end = last;
    let number = text.slice(start + 1..end);
    let count = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    let apart = number.len() > count;
    let (after, then) = (text.at(end), text.at(end + 1));
    let closed = !(is_word(after) || matches!(after, b'.' | b',' | b':') && then.is_ascii_digit());
    // A line that a diff adds begins with a plus too.
    let added = matches!(before, 0 | b'\n');
    let least = if apart { 9 } else { 10 + usize::from(added) };
    // `+1 2 3 4`: numbers in a sum. Groups of a telephone number have two digits at least, but for the
    // first and, as in France, the second.
    let groups: Vec<usize> =
        number.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len).filter(|len| *len > 0).collect();
    let single = |place: usize, len: usize| place == 1 && len == 1 && groups.len() >= 4;
    let grouped =
        groups.iter().enumerate().skip(1).all(|(place, len)| (2..=8).contains(len) || single(place, *len))
            && groups.first().is_some_and(|len| *len <= 3 || !apart);
    let fits = count >= least && count <= 15 && closed && grouped && !(added && apart && groups.len() < 3);
    fits.then(|| found.push(Candidate { category: Category::Phone, range: start..end })).map(|()| end)
}

/// A telephone number such as `(415) 555-0123`.
fn parentheses(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) -> Option<usize> {
    let digits =
        |from: usize, count: usize| (from..from + count).all(|index| text.at(index).is_ascii_digit());
    if !digits(start + 1, 3) || text.at(start + 4) != b')' || !matches!(text.at(start + 1), b'2'..=b'9') {
        return None;
    }
    let next = text.run(start + 5, 2, |byte| matches!(byte, b' ' | b'-'));
    let fits = digits(next, 3)
        && matches!(text.at(next), b'2'..=b'9')
        && matches!(text.at(next + 3), b'-' | b' ' | b'.')
        && digits(next + 4, 4);
    let end = next + 8;
    (fits && !is_word(text.at(end)) && !is_word(text.before(start)))
        .then(|| found.push(Candidate { category: Category::Phone, range: start..end }))
        .map(|()| end)
}

/// An array of 64 bytes is a Solana keypair; one of 32, or one that is cut off, only where the line says so.
fn array(text: Text<'_>, start: usize, found: &mut Vec<Candidate>) -> Option<usize> {
    let blank = |byte: u8| byte.is_ascii_whitespace();
    let mut at = text.run(start + 1, 32, blank);
    let mut count = 0_usize;
    let mut varied = false;
    let mut first = None;
    loop {
        let hex = text.starts(at, "0x");
        let from = if hex { at + 2 } else { at };
        let end =
            text.run(from, 4, |byte| if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() });
        let digits = std::str::from_utf8(text.slice(from..end)).unwrap_or_default();
        let Ok(number) = u16::from_str_radix(digits, if hex { 16 } else { 10 }) else { break };
        if number > 255 || count > 64 {
            return None;
        }
        varied |= *first.get_or_insert(number) != number;
        count += 1;
        at = text.run(end, 32, blank);
        // Rust writes the type after the first number.
        if text.starts(at, "u8") {
            at = text.run(at + 2, 32, blank);
        }
        if text.at(at) != b',' {
            break;
        }
        at = text.run(at + 1, 32, blank);
    }
    let open = text.at(at) != b']';
    let said = || {
        let line = text.line(start);
        let above = text.line_seen(Site::Above, line.start.saturating_sub(1)).start;
        let words = ["secret", "private", "seed", "keypair", "signing", "id.json"];
        text.has(Site::Array, above..start, &words)
    };
    let cut = open && (at >= text.len() || text.at(at) == b'.' || text.at(at) == b'\xe2');
    let secret = (count == 64 && (!open || cut))
        || (count == 32 && !open && said())
        || (count >= 16 && cut && (count >= 33 || said()));
    if !secret || !varied {
        return None;
    }
    let end = if open { at } else { at + 1 };
    found.push(Candidate { category: Category::PrivateKey, range: start..end });
    Some(end)
}
