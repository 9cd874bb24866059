//! Readable diffs of small text files, safe for a terminal.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

/// Files up to this size are compared line by line.
const TEXT_MAX: u64 = 64 << 10;
/// A diff that takes longer is coarser: two texts without a common line would take minutes.
const TIME_MAX: Duration = Duration::from_millis(200);
/// A diff longer than this is cut, bytes.
const DIFF_MAX: usize = 64 << 10;

/// The text of a small file; `None` when it is large or no text.
pub(super) fn text(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(TEXT_MAX + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > TEXT_MAX || bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// A unified diff with three lines of context, without file names.
pub(super) fn unified(before: &str, after: &str) -> String {
    let diff = similar::TextDiff::configure().timeout(TIME_MAX).diff_lines(before, after);
    let mut text = diff.unified_diff().context_radius(3).to_string();
    if text.len() > DIFF_MAX {
        let mut end = DIFF_MAX;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("\n[... the rest of the diff is left out ...]\n");
    }
    text
}

/// Escapes what steers a terminal or hides text: control characters, and those that reverse or hide.
pub(super) fn for_terminal(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c.to_string(),
            c if crate::error::hides(c) => c.escape_unicode().to_string(),
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_for_terminals_and_reversed_text_are_made_visible() {
        assert_eq!(for_terminal("a\u{1b}[2Jb\u{202e}c\n\td\r"), "a\\u{1b}[2Jb\\u{202e}c\n\td\\r");
    }

    #[test]
    fn a_changed_line_shows_both_sides() {
        let diff = unified("a\nb\nc\n", "a\nx\nc\n");
        assert!(diff.contains("-b\n+x\n"), "{diff}");
    }
}
