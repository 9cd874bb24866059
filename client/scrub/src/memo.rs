//! What was already seen of a text, so that no byte is looked at again for every anchor near it.
//!
//! Rules look around their anchors: for the end of a value, of a line, for a word on the line. Anchors may
//! stand four bytes apart and a value may have 16 KiB, so looking each time afresh costs thousands of looks a
//! byte on hostile text. A rule asks nearly the same question at the next anchor, a little further right. So
//! the answer is kept for the stretch that it holds for, and the stretch grows at its ends: each byte is looked
//! at about once for each [`Site`]. Answers are exactly those of a search from scratch.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Who asks. Each has a memory of its own, so that two rules that look at different places do not make each
/// other forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Site {
    Line,
    Above,
    AboveThat,
    Before,
    Bare,
    Cookie,
    CookieFirst,
    Url,
    UrlQuery,
    UrlAt,
    UrlValue,
    UrlTrim,
    UrlHost,
    Word,
    Bearer,
    Authorization,
    AuthorizationScheme,
    Otpauth,
    OneTime,
    OneTimeNext,
    Connection,
    Object,
    Compared,
    Array,
    Login,
    Tried,
    TriedColon,
}

/// How many there are.
const SITES: usize = Site::TriedColon as usize + 1;

/// Up to where a rule has settled the text, so that an anchor inside of it has nothing to add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Settled {
    OneTime,
    Bearer,
    Authorization,
    Body,
    Words,
    Piped,
    Attempt,
    Encoded,
    /// The arguments of a call, by the number of its name.
    Call(usize),
    /// The arguments of a program, by the number of its name.
    Program(usize),
    /// A form of a provider, by its number.
    Form(usize),
    /// A member of a JSON web key, by its name.
    Member(&'static str),
}

/// No stop within `low..high`. `ends`: the stop stands right there, after `high` forwards, before `low`
/// backwards.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    low: usize,
    high: usize,
    ends: bool,
}

/// What is known by keys that no text can choose, so a quick hash will do.
type Known<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// A quick hash.
#[derive(Debug, Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut eight = [0; 8];
            for (to, from) in eight.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.write_u64(u64::from_le_bytes(eight));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number.cast_unsigned() as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// The memory for one text.
#[derive(Debug)]
pub(super) struct Memo {
    forward: [Cell<Option<Stretch>>; SITES],
    backward: [Cell<Option<Stretch>>; SITES],
    words: RefCell<Known<(Site, &'static str), Stretch>>,
    settled: RefCell<Known<Settled, usize>>,
}

impl Memo {
    pub(super) fn new() -> Self {
        Self {
            forward: std::array::from_fn(|_| Cell::new(None)),
            backward: std::array::from_fn(|_| Cell::new(None)),
            words: RefCell::default(),
            settled: RefCell::default(),
        }
    }

    /// The first stop in `from..end`, or `end`. `scan` answers the same from scratch for any range.
    pub(super) fn forward(
        &self,
        site: Site,
        from: usize,
        end: usize,
        scan: impl Fn(usize, usize) -> usize,
    ) -> usize {
        let Some(cell) = self.forward.get(site as usize) else { return scan(from, end) };
        let (stretch, answer) = ahead(cell.get(), from, end, scan);
        cell.set(Some(stretch));
        answer
    }

    /// As [`Self::forward`], for the occurrences of a word.
    pub(super) fn word(
        &self,
        site: Site,
        word: &'static str,
        from: usize,
        end: usize,
        scan: impl Fn(usize, usize) -> usize,
    ) -> usize {
        let mut words = self.words.borrow_mut();
        let (stretch, answer) = ahead(words.get(&(site, word)).copied(), from, end, scan);
        words.insert((site, word), stretch);
        answer
    }

    /// The end of the last stop in `start..to`, or `start`.
    pub(super) fn backward(
        &self,
        site: Site,
        start: usize,
        to: usize,
        scan: impl Fn(usize, usize) -> usize,
    ) -> usize {
        let Some(cell) = self.backward.get(site as usize) else { return scan(start, to) };
        let mut known = cell.get();
        if let Some(seen) = known
            && seen.high < to
            && start <= seen.high
        {
            let at = scan(seen.high, to);
            // Either nothing stops between what is known and `to`, or what is known lies too far left.
            known = Some(if at > seen.high {
                Stretch { low: at, high: to, ends: true }
            } else {
                Stretch { high: to, ..seen }
            });
        }
        let stretch = match known {
            Some(seen) if seen.low <= to && to <= seen.high => {
                if seen.ends || seen.low <= start {
                    seen
                } else {
                    let low = scan(start, seen.low);
                    Stretch { low, ends: low > start, ..seen }
                }
            }
            _ => {
                let low = scan(start, to);
                Stretch { low, high: to, ends: low > start }
            }
        };
        cell.set(Some(stretch));
        stretch.low.max(start)
    }

    /// Up to where this is settled.
    pub(super) fn settled(&self, what: Settled) -> usize {
        self.settled.borrow().get(&what).copied().unwrap_or(0)
    }

    /// Settles what `limit` let a rule see. Where that cut it off, an anchor further on sees further, so only
    /// an eighth of it is settled.
    pub(super) fn settle_cut(&self, what: Settled, seen: Range<usize>, limit: usize) {
        self.settle(what, if seen.len() < limit { seen.end } else { seen.start + limit / 8 });
    }

    /// Settles the text before `to`.
    pub(super) fn settle(&self, what: Settled, to: usize) {
        let mut settled = self.settled.borrow_mut();
        let known = settled.entry(what).or_insert(0);
        *known = to.max(*known);
    }
}

fn ahead(
    known: Option<Stretch>,
    from: usize,
    end: usize,
    scan: impl Fn(usize, usize) -> usize,
) -> (Stretch, usize) {
    let mut known = known;
    if let Some(seen) = known
        && from < seen.low
        && seen.low <= end
    {
        let at = scan(from, seen.low);
        known = Some(if at < seen.low {
            Stretch { low: from, high: at, ends: true }
        } else {
            Stretch { low: from, ..seen }
        });
    }
    let stretch = match known {
        Some(seen) if seen.low <= from && from <= seen.high => {
            if seen.ends || seen.high >= end {
                seen
            } else {
                let high = scan(seen.high, end);
                Stretch { high, ends: high < end, ..seen }
            }
        }
        _ => {
            let high = scan(from, end);
            Stretch { low: from, high, ends: high < end }
        }
    };
    (stretch, stretch.high.min(end))
}
