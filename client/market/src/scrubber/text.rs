//! Bytes seen from a position: neighbours, lines, runs. Nothing here can go out of bounds.

use std::ops::Range;

/// Stands for a marker that is already there. One byte, so that no rule can match the words inside of a
/// marker.
pub(super) const ATOM: u8 = 0x1a;
/// How far a rule looks to the left and right of its anchor. It makes every rule linear on hostile text.
pub(super) const REACH: usize = 2048;

/// The text that rules work on.
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(pub &'a [u8]);

impl<'a> Text<'a> {
    /// The byte there, 0 beyond the ends.
    pub(super) fn at(self, index: usize) -> u8 {
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
        self.0.get(range.start.min(self.len())..range.end.min(self.len())).unwrap_or_default()
    }

    /// The first index from `from` on whose byte does not fit, at most `limit` further.
    pub(super) fn run(self, from: usize, limit: usize, fits: impl Fn(u8) -> bool) -> usize {
        let end = from.saturating_add(limit).min(self.len());
        let rest = self.slice(from..end);
        from + rest.iter().position(|byte| !fits(*byte)).unwrap_or(rest.len())
    }

    /// The start of the run of fitting bytes that ends before `to`.
    pub(super) fn run_back(self, to: usize, limit: usize, fits: impl Fn(u8) -> bool) -> usize {
        let start = to.saturating_sub(limit);
        let rest = self.slice(start..to);
        start + rest.iter().rposition(|byte| !fits(*byte)).map_or(0, |last| last + 1)
    }

    pub(super) fn blanks(self, from: usize) -> usize {
        self.run(from, 64, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// The line around a position, cut to [`REACH`] on each side.
    pub(super) fn line(self, index: usize) -> Range<usize> {
        self.run_back(index, REACH, |byte| byte != b'\n')..self.run(index, REACH, |byte| byte != b'\n')
    }

    pub(super) fn line_has(self, index: usize, words: &[&str]) -> bool {
        let line = self.slice(self.line(index));
        words.iter().any(|word| find(line, word.as_bytes()).is_some())
    }

    pub(super) fn starts(self, index: usize, word: &str) -> bool {
        self.slice(index..index + word.len()) == word.as_bytes()
    }
}

/// Where `needle`, in lower case, occurs, whatever the letter case of the text.
pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    text.windows(needle.len()).position(|window| {
        window.first().is_some_and(|b| b.to_ascii_lowercase() == first) && window.eq_ignore_ascii_case(needle)
    })
}

pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
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
