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

/// One line of at most `limit` characters: control characters, line breaks and marks that reverse the order
/// of letters become spaces, so that a server cannot command or deceive the user's terminal.
pub fn one_line(text: &str, limit: usize) -> String {
    let clean = |c: char| match c {
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    text.trim().chars().map(clean).take(limit).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_line_breaks_are_removed() {
        assert_eq!(one_line("a\u{1b}[31m\r\nb\t", 100), "a [31m  b");
        assert_eq!(one_line("äöü", 2), "äö");
        assert_eq!(one_line("a\u{202e}b\u{2028}c", 9), "a b c");
        assert_eq!(one_line("\n\n", 10), "");
    }

    #[test]
    fn the_innermost_cause_is_named() {
        let inner = std::io::Error::other("the socket\nis gone");
        let outer = std::io::Error::other(inner);
        assert_eq!(deepest_cause(&outer), "the socket is gone");
    }
}
