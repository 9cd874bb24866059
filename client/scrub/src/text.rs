//! Bytes seen from a position: neighbours, lines, runs. Nothing here can go out of bounds.

use super::memo::{Memo, Site};
use super::words::{Words, find};
use super::work;
use memchr::{memchr, memrchr};
use std::ops::Range;

/// Stands for a marker that is already there. One byte, so that no rule can match the words inside of a
/// marker.
pub(super) const ATOM: u8 = 0x1a;
/// How far a rule looks to the left and right of its anchor.
pub(super) const REACH: usize = 2048;
/// A window up to here is searched for a word from scratch: that is quicker than to remember it.
const SHORT: usize = 128;

/// The text that rules work on, and what they saw of it.
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(pub &'a [u8], pub &'a Memo);

impl<'a> Text<'a> {
    /// The byte there, 0 beyond the ends.
    pub(super) fn at(self, index: usize) -> u8 {
        work::looked(1);
        self.0.get(index).copied().unwrap_or(0)
    }

    /// The byte before, 0 at the start.
    pub(super) fn before(self, index: usize) -> u8 {
        index.checked_sub(1).map_or(0, |index| self.at(index))
    }

    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn slice(self, range: Range<usize>) -> &'a [u8] {
        let slice = self.peek(range);
        work::looked(slice.len());
        slice
    }

    /// As [`Self::slice`], for readers that look at the ends only or stop early.
    pub(super) fn peek(self, range: Range<usize>) -> &'a [u8] {
        self.0.get(range.start.min(self.len())..range.end.min(self.len())).unwrap_or_default()
    }

    /// The first index from `from` on whose byte does not fit, at most `limit` further.
    pub(super) fn run(self, from: usize, limit: usize, fits: impl Fn(u8) -> bool) -> usize {
        let end = from.saturating_add(limit).min(self.len());
        let rest = self.peek(from..end);
        let length = rest.iter().position(|byte| !fits(*byte)).unwrap_or(rest.len());
        work::looked(length + 1);
        from + length
    }

    /// As [`Self::run`], remembered for the next time that `site` asks. A site always asks for the same
    /// bytes.
    pub(super) fn run_seen(self, site: Site, from: usize, limit: usize, fits: impl Fn(u8) -> bool) -> usize {
        let end = from.saturating_add(limit).min(self.len());
        if from >= end {
            return from;
        }
        self.1.forward(site, from, end, |from, end| self.run(from, end - from, &fits))
    }

    /// The start of the run of fitting bytes that ends before `to`.
    pub(super) fn run_back(self, to: usize, limit: usize, fits: impl Fn(u8) -> bool) -> usize {
        let start = to.saturating_sub(limit);
        let rest = self.peek(start..to);
        let begin = rest.iter().rposition(|byte| !fits(*byte)).map_or(0, |last| last + 1);
        work::looked(rest.len() - begin + 1);
        start + begin
    }

    /// As [`Self::run_back`], remembered for the next time that `site` asks.
    pub(super) fn run_back_seen(
        self,
        site: Site,
        to: usize,
        limit: usize,
        fits: impl Fn(u8) -> bool,
    ) -> usize {
        let to = to.min(self.len());
        self.1.backward(site, to.saturating_sub(limit), to, |start, to| self.run_back(to, to - start, &fits))
    }

    pub(super) fn blanks(self, from: usize) -> usize {
        self.run(from, 64, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// The line around a position, cut to [`REACH`] on each side.
    pub(super) fn line(self, index: usize) -> Range<usize> {
        self.line_seen(Site::Line, index)
    }

    /// As [`Self::line`]. A rule that goes from line to line is another site for each of them.
    pub(super) fn line_seen(self, site: Site, index: usize) -> Range<usize> {
        let to = index.min(self.len());
        let start = self.1.backward(site, to.saturating_sub(REACH), to, |start, to| {
            let begin = memrchr(b'\n', self.peek(start..to)).map_or(start, |last| start + last + 1);
            work::looked(to - begin + 1);
            begin
        });
        let limit = index.saturating_add(REACH).min(self.len());
        if index >= limit {
            return start..index;
        }
        let end = self.1.forward(site, index, limit, |from, limit| {
            let end = memchr(b'\n', self.peek(from..limit)).map_or(limit, |length| from + length);
            work::looked(end - from + 1);
            end
        });
        start..end
    }

    pub(super) fn line_has(self, index: usize, words: &[&'static str]) -> bool {
        self.has(Site::Line, self.line(index), words)
    }

    /// Whether one of the words, in lower case, occurs in a range.
    pub(super) fn has(self, site: Site, range: Range<usize>, words: &[&'static str]) -> bool {
        words.iter().any(|word| self.find(site, range.clone(), word).is_some())
    }

    /// As [`Self::has`], for many words at once.
    pub(super) fn has_any(self, site: Site, range: Range<usize>, words: &'static Words) -> bool {
        let end = range.end.min(self.len());
        if end.saturating_sub(range.start) < SHORT {
            return words.are_in(self.slice(range));
        }
        let scan = |from: usize, end: usize| {
            let offset = words.begin(self.peek(from..end + words.longest), end - from);
            work::looked(offset + 1);
            from + offset
        };
        let at = self.1.word(site, words.name, range.start, end, scan);
        // The end of the range may cut off the word that begins there; another may begin after it.
        at < end && (at + words.longest <= end || words.are_in(self.slice(at..end)))
    }

    /// Where a word, in lower case, begins in a range, whatever the letter case of the text.
    pub(super) fn find(self, site: Site, range: Range<usize>, word: &'static str) -> Option<usize> {
        let last = range.end.min(self.len()).checked_sub(word.len())?;
        if last < range.start {
            return None;
        }
        let scan = |from: usize, end: usize| {
            let offset = find(self.peek(from..end + word.len() - 1), word.as_bytes()).unwrap_or(end - from);
            work::looked(offset + 1);
            from + offset
        };
        let at = if last - range.start < SHORT {
            scan(range.start, last + 1)
        } else {
            self.1.word(site, word, range.start, last + 1, scan)
        };
        (at <= last).then_some(at)
    }

    pub(super) fn starts(self, index: usize, word: &str) -> bool {
        self.slice(index..index + word.len()) == word.as_bytes()
    }
}

/// Whether every byte fits.
pub(super) fn every(bytes: &[u8], fits: impl Fn(u8) -> bool) -> bool {
    let length = bytes.iter().position(|byte| !fits(*byte)).unwrap_or(bytes.len());
    work::looked(length + 1);
    length == bytes.len()
}

/// What a byte may be part of, in a bit for each.
const BASE64: u8 = 1;
const TOKEN: u8 = 2;
const SHAPED: u8 = 4;
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = (byte as u8).is_ascii_alphanumeric();
        let base64 = letter || matches!(byte as u8, b'+' | b'/' | b'=');
        let token = letter || matches!(byte as u8, b'_' | b'-');
        let shaped = base64 || token || byte as u8 == b'.';
        kinds[byte] = (BASE64 * base64 as u8) | (TOKEN * token as u8) | (SHAPED * shaped as u8);
        byte += 1;
    }
    kinds
};

/// What kinds of bytes a value has, found in one pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kinds {
    pub digits: usize,
    pub upper: usize,
    pub lower: usize,
    /// How often a byte is of another kind than the one before it.
    pub changes: usize,
    /// Whether it has `.`, `-` or `/`, which part words.
    pub parted: bool,
    /// Whether it has a sign that no key has.
    pub foreign: bool,
}

impl Kinds {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut all = Self::default();
        let mut last = value.first().map_or(0, |byte| letter(*byte));
        for part in value.chunks(LANE) {
            let (mut counts, mut flags, mut changes) = (0_u64, 0, 0_u32);
            for byte in part {
                let kind = letter(*byte);
                counts = counts.wrapping_add(1 << (u32::from(kind & 3) * LANE_BITS));
                changes = changes.wrapping_add(u32::from((kind ^ last) & 3 != 0));
                flags |= kind;
                last = kind;
            }
            let lane = |number: u32| (counts >> (number * LANE_BITS)) as usize & LANE;
            all.lower += lane(0);
            all.upper += lane(1);
            all.digits += lane(2);
            all.changes += changes as usize;
            all.parted |= flags & PARTS != 0;
            all.foreign |= flags & FOREIGN != 0;
        }
        all
    }
}

/// Bits of a count, and the most that it holds.
const LANE_BITS: u32 = 16;
const LANE: usize = (1 << LANE_BITS) - 1;

/// 0 for a small letter, 1 for a capital, 2 for a digit, 3 for the rest; and what it says of a value.
const PARTS: u8 = 4;
const FOREIGN: u8 = 8;
static LETTERS: [u8; 256] = {
    let mut kinds = [3; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => 0,
            b'A'..=b'Z' => 1,
            b'0'..=b'9' => 2,
            b'+' | b'=' | b'_' | b'~' => 3,
            b'.' | b'-' | b'/' => 3 | PARTS,
            _ => 3 | FOREIGN,
        };
        byte += 1;
    }
    kinds
};

fn letter(byte: u8) -> u8 {
    LETTERS.get(usize::from(byte)).copied().unwrap_or(3)
}

/// Whether it has a letter, and whether a digit.
pub(super) fn letter_and_digit(value: &[u8]) -> (bool, bool) {
    let mut seen = 0_u8;
    for byte in value {
        seen |= 1 << (letter(*byte) & 3);
        if seen & 3 != 0 && seen & 4 != 0 {
            break;
        }
    }
    (seen & 3 != 0, seen & 4 != 0)
}

fn is_kind(byte: u8, kind: u8) -> bool {
    KINDS.get(usize::from(byte)).is_some_and(|kinds| kinds & kind != 0)
}

pub(super) fn is_base64(byte: u8) -> bool {
    is_kind(byte, BASE64)
}

pub(super) fn is_token(byte: u8) -> bool {
    is_kind(byte, TOKEN)
}

/// Base64 of either alphabet, or a dot.
pub(super) fn is_shaped(byte: u8) -> bool {
    is_kind(byte, SHAPED)
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether standard or URL-safe base64 decodes to printable text with a colon in it: a name and a password.
pub(super) fn is_basic(value: &[u8]) -> bool {
    let (mut bits, mut count, mut colon, mut length) = (0_u32, 0_u32, false, 0_usize);
    for byte in value {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return false,
        };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            let decoded = (bits >> count) & 0xff;
            bits &= (1 << count) - 1;
            if decoded < 0x20 || decoded == 0x7f {
                return false;
            }
            colon |= decoded == u32::from(b':') && length > 0;
            length += 1;
        }
    }
    colon && length >= 4
}
