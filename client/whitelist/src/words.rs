//! A command line as words: quotes, but no expansion of any kind.
//!
//! The rule behind every line here: **an accepted line means the same to a POSIX shell as to us.** No shell
//! ever runs it, but another implementation of this protocol may hand the same line to one, and a person
//! reads it as one. So whatever a shell would expand, split or redirect is refused instead of taken
//! literally; tests compare with a real `sh`.

use super::refusal::Refusal;

/// Bytes that one command may have.
pub const MAX_LINE: usize = 4096;
/// Words that one command may have, the program included.
pub const MAX_WORDS: usize = 128;

/// Splits a line into words.
///
/// - Words are separated by blanks and tabs. Newlines and other control characters are refused, quoted or
///   not, and so are characters that cannot be seen or that change the direction of the text.
/// - `'…'` is literal. `"…"` is literal but for `\"` and `\\`; `$`, a back-quote and every other backslash in
///   it are refused. Outside of quotes a backslash makes one ASCII punctuation mark or blank literal.
/// - Unquoted `|;&$()<>` and back-quotes, the globs `*?[`, braces, `~` and `#` at the start of a word are
///   refused.
pub(super) fn split(line: &str) -> Result<Vec<String>, Refusal> {
    if line.len() > MAX_LINE {
        return Err(Refusal::TooLong { length: line.len(), limit: MAX_LINE });
    }
    if let Some(character) = line.chars().find(|character| unprintable(*character)) {
        return Err(Refusal::Unprintable { code: character.into() });
    }
    let mut words = Vec::new();
    let mut characters = line.chars().peekable();
    loop {
        while characters.next_if(|character| matches!(character, ' ' | '\t')).is_some() {}
        if characters.peek().is_none() {
            return Ok(words);
        }
        if words.len() == MAX_WORDS {
            return Err(Refusal::TooManyWords { limit: MAX_WORDS });
        }
        words.push(word(&mut characters)?);
    }
}

fn word(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, Refusal> {
    let mut word = String::new();
    let mut at_start = true;
    while let Some(character) = characters.next_if(|character| !matches!(character, ' ' | '\t')) {
        let so_far = |word: &str| format!("{word}{character}");
        match character {
            '\'' => loop {
                match characters.next() {
                    Some('\'') => break,
                    Some(inside) => word.push(inside),
                    None => return Err(Refusal::OpenQuote { word: format!("'{word}") }),
                }
            },
            '"' => loop {
                match characters.next() {
                    Some('"') => break,
                    Some('\\') => match characters.next() {
                        Some(escaped @ ('"' | '\\')) => word.push(escaped),
                        Some(_) => return Err(Refusal::ShellSyntax { character: '\\', word }),
                        None => return Err(Refusal::OpenQuote { word: format!("\"{word}") }),
                    },
                    Some(inside @ ('$' | '`')) => {
                        return Err(Refusal::ShellSyntax {
                            character: inside,
                            word: format!("{word}{inside}"),
                        });
                    }
                    Some(inside) => word.push(inside),
                    None => return Err(Refusal::OpenQuote { word: format!("\"{word}") }),
                }
            },
            '\\' => match characters.next() {
                Some(escaped) if escaped.is_ascii_punctuation() || escaped == ' ' => word.push(escaped),
                Some(_) => return Err(Refusal::ShellSyntax { character: '\\', word: so_far(&word) }),
                None => return Err(Refusal::OpenQuote { word: so_far(&word) }),
            },
            '|' | ';' | '&' | '$' | '`' | '(' | ')' | '<' | '>' | '{' | '}' => {
                return Err(Refusal::ShellSyntax { character, word: so_far(&word) });
            }
            '*' | '?' | '[' => return Err(Refusal::Glob { character, word: so_far(&word) }),
            '~' | '#' if at_start => return Err(Refusal::ShellSyntax { character, word: so_far(&word) }),
            // After `=` and `:` some shells expand it as well.
            '~' => return Err(Refusal::ShellSyntax { character, word: so_far(&word) }),
            other => word.push(other),
        }
        at_start = false;
    }
    Ok(word)
}

/// Control characters, blanks other than the ASCII one, and what hides or reorders text on a screen.
fn unprintable(character: char) -> bool {
    match character {
        ' ' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control() || other.is_whitespace(),
    }
}
