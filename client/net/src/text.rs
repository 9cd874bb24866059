//! Text of strangers as it may be shown on a terminal.

use std::error::Error;

/// Longest cause that is shown, in characters.
const LONGEST_CAUSE: usize = 200;

/// The innermost cause of an error, on one line: the outer ones repeat the address and add nothing.
pub fn deepest_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    one_line(&cause.to_string(), LONGEST_CAUSE)
}

/// Whether a character steers a terminal: it moves the cursor, breaks the line, changes colours, or changes the
/// direction of the text around it.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line of at most `limit` characters: what [`steers`] a terminal becomes a space, so that a server cannot
/// command or deceive the user's terminal.
pub fn one_line(text: &str, limit: usize) -> String {
    let clean = |c: char| if steers(c) { ' ' } else { c };
    text.trim().chars().map(clean).take(limit).collect::<String>().trim().to_owned()
}

/// A sentence as a part of another one: without its capital and its full stop. A first word in capitals keeps them.
pub fn clause(sentence: &str) -> String {
    let text = sentence.trim().trim_end_matches('.');
    let mut letters = text.chars();
    match (letters.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if first.is_uppercase() && !second.is_uppercase() => {
            format!("{}{}", first.to_lowercase(), letters.as_str())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_line_breaks_are_removed() {
        assert_eq!(one_line("a\u{1b}[31m\r\nb\t", 100), "a [31m  b");
        assert_eq!(one_line("äöü", 2), "äö");
        assert_eq!(one_line("a\u{202e}b\u{2028}c", 9), "a b c");
        assert_eq!(one_line("a\u{200f}b", 9), "a b");
        assert_eq!(one_line("\n\n", 10), "");
    }

    #[test]
    fn what_steers_a_terminal_is_found_and_letters_are_not() {
        let table = [
            ('\0', true),
            ('\t', true),
            ('\n', true),
            ('\r', true),
            ('\u{1b}', true),
            ('\u{7f}', true),
            ('\u{9b}', true),    // CSI in one character
            ('\u{61c}', true),   // Arabic letter mark
            ('\u{200d}', false), // joins emoji
            ('\u{200e}', true),  // left-to-right mark
            ('\u{200f}', true),  // right-to-left mark
            ('\u{2027}', false),
            ('\u{2028}', true), // line separator
            ('\u{202e}', true), // right-to-left override
            ('\u{202f}', false),
            ('\u{2065}', false),
            ('\u{2066}', true), // isolates
            ('\u{2069}', true),
            ('\u{206a}', false),
            ('a', false),
            (' ', false),
            ('ä', false),
            ('א', false),
            ('✓', false),
        ];
        for (c, expected) in table {
            assert_eq!(steers(c), expected, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn a_clause_begins_small_unless_it_is_a_name() {
        assert_eq!(clause("The log is empty."), "the log is empty");
        assert_eq!(clause("CBOR ends."), "CBOR ends");
        assert_eq!(clause(""), "");
    }

    #[test]
    fn the_innermost_cause_is_named() {
        let inner = std::io::Error::other("the socket\nis gone");
        let outer = std::io::Error::other(inner);
        assert_eq!(deepest_cause(&outer), "the socket is gone");
    }
}
