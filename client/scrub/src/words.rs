//! Lists of words that are looked for together.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Input, MatchKind};
use memchr::memchr2_iter;

/// Words, in lower case. They are found whatever the letter case of the text.
#[derive(Debug)]
pub(super) struct Words {
    /// By which it is remembered what was seen of them.
    pub name: &'static str,
    /// Length of the longest.
    pub longest: usize,
    words: &'static [&'static str],
    automaton: Option<AhoCorasick>,
}

impl Words {
    pub(super) fn new(name: &'static str, words: &'static [&'static str]) -> Self {
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostFirst)
            .build(words)
            .ok();
        debug_assert!(automaton.is_some(), "the words are fixed and few");
        Self { name, longest: words.iter().map(|word| word.len()).max().unwrap_or(0), words, automaton }
    }

    /// Whether one of them occurs.
    pub(super) fn are_in(&self, text: &[u8]) -> bool {
        self.begin(text, text.len()) < text.len()
    }

    /// Where the first of them begins before `end`; `end` if none does. It may go on after `end`.
    pub(super) fn begin(&self, text: &[u8], end: usize) -> usize {
        let first = match &self.automaton {
            Some(automaton) => automaton.find(Input::new(text)).map(|found| found.start()),
            None => self.words.iter().filter_map(|word| find(text, word.as_bytes())).min(),
        };
        first.map_or(end, |at| at.min(end))
    }
}

/// Where `needle`, in lower case, occurs, whatever the letter case of the text.
pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let starts = text.get(..=text.len().checked_sub(needle.len())?)?;
    memchr2_iter(first, first.to_ascii_uppercase(), starts)
        .find(|at| text.get(*at..at + needle.len()).is_some_and(|part| part.eq_ignore_ascii_case(needle)))
}
