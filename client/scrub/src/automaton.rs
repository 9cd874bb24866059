//! All anchors are looked for at once, whatever the case of their letters, by the algorithm of Aho and Corasick. The
//! table has two bytes for each state and class of bytes, so that the states that text is mostly in stay near.

use std::collections::VecDeque;

/// Bits of a class of bytes.
const SHIFT: u32 = 7;
/// In an entry of the table: a pattern ends here.
const MATCH: u16 = 1 << 15;

/// Finds every place where one of its patterns ends.
#[derive(Debug, Clone)]
pub(super) struct Automaton {
    /// The class of each byte, 0 for those that no pattern has.
    classes: [u8; 256],
    /// The next state, by state and class.
    next: Vec<u16>,
    /// The patterns that end in each state, longest first.
    ends: Vec<Vec<u16>>,
}

impl Automaton {
    /// `patterns` are in lower case. The states of all of them must be fewer than 32,768, the bytes in them fewer than
    /// 128; a test holds it.
    pub(super) fn new(patterns: &[impl AsRef<str>]) -> Self {
        let mut classes = [0_u8; 256];
        let mut count = 0_u8;
        for byte in patterns.iter().flat_map(|pattern| pattern.as_ref().bytes()) {
            if class(&classes, byte) == 0 {
                count += 1;
                for same in [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] {
                    if let Some(class) = classes.get_mut(usize::from(same)) {
                        *class = count;
                    }
                }
            }
        }
        debug_assert!(count < 1 << SHIFT, "{count} classes");
        let mut built = Self { classes, next: vec![0; 1 << SHIFT], ends: vec![Vec::new()] };
        for (number, pattern) in (0_u16..).zip(patterns) {
            let mut state = 0;
            for byte in pattern.as_ref().bytes() {
                let class = class(&classes, byte);
                let known = built.step(state, class);
                state = if known == 0 { built.grow(state, class) } else { known };
            }
            if let Some(ends) = built.ends.get_mut(usize::from(state)) {
                ends.push(number);
            }
        }
        debug_assert!(built.ends.len() < usize::from(MATCH), "{} states", built.ends.len());
        built.link();
        built
    }

    fn step(&self, state: u16, class: u8) -> u16 {
        self.next.get(usize::from(state) << SHIFT | usize::from(class)).copied().unwrap_or(0)
    }

    fn set(&mut self, state: u16, class: u8, next: u16) {
        if let Some(entry) = self.next.get_mut(usize::from(state) << SHIFT | usize::from(class)) {
            *entry = next;
        }
    }

    /// Adds a state after another.
    fn grow(&mut self, state: u16, class: u8) -> u16 {
        let added = u16::try_from(self.ends.len()).unwrap_or(0);
        self.ends.push(Vec::new());
        self.next.resize(self.next.len() + (1 << SHIFT), 0);
        self.set(state, class, added);
        added
    }

    /// Where no pattern goes on, the longest end of what was read that begins one goes on.
    fn link(&mut self) {
        let mut shorter = vec![0_u16; self.ends.len()];
        let mut queue = VecDeque::from([0_u16]);
        while let Some(state) = queue.pop_front() {
            let behind = shorter.get(usize::from(state)).copied().unwrap_or(0);
            for class in 0..1 << SHIFT {
                let child = self.step(state, class);
                let other = if state == 0 { 0 } else { self.step(behind, class) };
                if child == 0 {
                    self.set(state, class, other);
                    continue;
                }
                let more = self.ends.get(usize::from(other)).cloned().unwrap_or_default();
                if let Some(ends) = self.ends.get_mut(usize::from(child)) {
                    ends.extend(more);
                }
                if let Some(shorter) = shorter.get_mut(usize::from(child)) {
                    *shorter = other;
                }
                queue.push_back(child);
            }
        }
        for entry in &mut self.next {
            if self.ends.get(usize::from(*entry)).is_some_and(|ends| !ends.is_empty()) {
                *entry |= MATCH;
            }
        }
    }

    /// The number of each pattern that ends somewhere, and where, until `each` has enough.
    pub(super) fn scan(&self, text: &[u8], mut each: impl FnMut(u16, usize) -> bool) {
        let (mut state, mut at) = (0, 0);
        while let Some((length, next)) = self.advance(text.get(at..).unwrap_or_default(), state) {
            (state, at) = (next, at + length);
            for number in self.ends.get(usize::from(state)).into_iter().flatten() {
                if !each(*number, at) {
                    return;
                }
            }
        }
    }

    /// How far it is to the next end of a pattern, and the state there. By itself, so that the state stays in a
    /// register.
    #[inline(never)]
    fn advance(&self, text: &[u8], mut state: u16) -> Option<(usize, u16)> {
        let (classes, table) = (&self.classes, self.next.as_slice());
        for (at, byte) in text.iter().enumerate() {
            let place = usize::from(state) << SHIFT | usize::from(class(classes, *byte));
            state = *table.get(place)?;
            if state >= MATCH {
                return Some((at + 1, state & !MATCH));
            }
        }
        None
    }
}

fn class(classes: &[u8; 256], byte: u8) -> u8 {
    classes.get(usize::from(byte)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Automaton;

    #[test]
    fn every_place_of_every_pattern_is_found() {
        let patterns = ["he", "she", "his", "hers", "é!", "h"];
        let automaton = Automaton::new(&patterns);
        for text in ["USHERS his é! hehe", "", "shshehers", "É!é", "hhhh"] {
            let mut found = Vec::new();
            automaton.scan(text.as_bytes(), |number, end| {
                found.push((end, number));
                true
            });
            found.sort_unstable();
            let lower = text.to_ascii_lowercase();
            let mut wanted: Vec<_> = (0_u16..)
                .zip(patterns)
                .flat_map(|(number, it)| lower.match_indices(it).map(move |(at, _)| (at + it.len(), number)))
                .collect();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{text:?}");
        }
    }
}
