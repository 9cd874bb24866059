//! Shell words: splitting a command into simple commands with the place of every word, and quoting.
//!
//! The splitter knows just enough of the POSIX grammar to be sure of what it says. Whatever it is not
//! sure of (expansions, substitutions, here-documents, groups, `cd`) makes the command *opaque*, and no
//! rule touches an opaque command.

use std::ops::Range;

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word after quote removal.
    pub(crate) text: String,
    /// Its place in the command, in bytes, quotes included.
    pub(crate) span: Range<usize>,
    /// It holds an unquoted `*`, `?` or `[`, so the shell may replace it by file names.
    pub(crate) glob: bool,
}

/// `> file`, `< file`, `>> file`, with or without a number before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// Whether it writes, as `>`, `>>` and `>|` do.
    pub(crate) writes: bool,
    pub(crate) target: Word,
}

/// A command without operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Word>,
    /// The program and its arguments; never empty.
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

impl Simple {
    /// The program as it was typed.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", |word| &word.text)
    }

    /// The arguments after the program.
    pub(crate) fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The arguments' texts.
    pub(crate) fn arg_texts(&self) -> impl Iterator<Item = &str> {
        self.args().iter().map(|word| word.text.as_str())
    }

    /// The first word with this text, the program left out.
    pub(crate) fn arg(&self, text: &str) -> Option<&Word> {
        self.args().iter().find(|word| word.text == text)
    }

    /// The value of an option: the word after `-C`, or the rest of `-Cvalue`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let args = self.args();
        args.iter().enumerate().find_map(|(at, word)| {
            let rest = word.text.strip_prefix(name)?;
            match rest {
                "" => args.get(at + 1).map(|next| next.text.as_str()),
                _ => Some(rest.strip_prefix('=').unwrap_or(rest)),
            }
        })
    }

    /// Where the last word ends, in bytes of the command.
    pub(crate) fn end(&self) -> usize {
        self.words.last().map_or(0, |word| word.span.end)
    }
}

/// Splits a command; `None` when it is opaque.
pub(crate) fn split(command: &str) -> Option<Vec<Simple>> {
    Splitter { text: command, bytes: command.as_bytes(), at: 0 }.list()
}

struct Splitter<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

enum Token {
    Word(Word),
    Writes,
    Reads,
    Operator,
    End,
}

impl Splitter<'_> {
    fn list(&mut self) -> Option<Vec<Simple>> {
        let mut commands = Vec::new();
        let mut now = Simple { assignments: Vec::new(), words: Vec::new(), redirects: Vec::new() };
        loop {
            match self.token()? {
                Token::Word(word) => {
                    if now.words.is_empty() && is_assignment(&word.text) {
                        now.assignments.push(word);
                    } else {
                        now.words.push(word);
                    }
                }
                direction @ (Token::Writes | Token::Reads) => {
                    let Token::Word(target) = self.token()? else { return None };
                    now.redirects.push(Redirect { writes: matches!(direction, Token::Writes), target });
                }
                end => {
                    if now.words.is_empty() {
                        return None;
                    }
                    let empty = Simple { assignments: Vec::new(), words: Vec::new(), redirects: Vec::new() };
                    commands.push(std::mem::replace(&mut now, empty));
                    if matches!(end, Token::End) {
                        return Some(commands);
                    }
                }
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn token(&mut self) -> Option<Token> {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let Some(first) = self.peek() else { return Some(Token::End) };
        match first {
            b'>' => {
                self.at += 1;
                if matches!(self.peek(), Some(b'>' | b'|')) {
                    self.at += 1;
                }
                // `>&2` duplicates, `>(…)` substitutes: not understood here.
                if matches!(self.peek(), Some(b'&' | b'(')) { None } else { Some(Token::Writes) }
            }
            b'<' => {
                self.at += 1;
                if matches!(self.peek(), Some(b'<' | b'&' | b'(' | b'>')) { None } else { Some(Token::Reads) }
            }
            b';' => {
                self.at += 1;
                if self.peek() == Some(b';') { None } else { Some(Token::Operator) }
            }
            b'&' => {
                // A single `&` starts a background job, whose exit code nobody sees.
                let double = self.bytes.get(self.at + 1) == Some(&b'&');
                self.at += 2;
                double.then_some(Token::Operator)
            }
            b'|' => {
                self.at += 1;
                match self.peek() {
                    Some(b'|') => self.at += 1,
                    Some(b'&') => return None,
                    _ => {}
                }
                Some(Token::Operator)
            }
            b'#' | b'(' | b')' | b'\n' | b'\r' | 0 => None,
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Token> {
        let start = self.at;
        let (mut text, mut glob, mut quoted) = (String::new(), false, false);
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b';' | b'|' | b'&' => break,
                b'>' | b'<' => {
                    // `2>file`: the number belongs to the redirection.
                    if !quoted && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
                        return self.token();
                    }
                    break;
                }
                b'(' | b')' | b'\n' | b'\r' | 0 | b'$' | b'`' | b'{' | b'}' => return None,
                b'~' if self.at == start => return None,
                b'!' if self.at == start => return None,
                b'\'' => {
                    quoted = true;
                    let from = self.at + 1;
                    let length = self.text.get(from..)?.find('\'')?;
                    text.push_str(self.text.get(from..from + length)?);
                    self.at = from + length + 1;
                }
                b'"' => {
                    quoted = true;
                    self.double_quoted(&mut text)?;
                }
                b'\\' => {
                    let next = self.text.get(self.at + 1..)?.chars().next()?;
                    if next == '\n' {
                        return None;
                    }
                    quoted = true;
                    text.push(next);
                    self.at += 1 + next.len_utf8();
                }
                _ => {
                    glob |= matches!(byte, b'*' | b'?' | b'[');
                    let next = self.text.get(self.at..)?.chars().next()?;
                    text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
        Some(Token::Word(Word { text, span: start..self.at, glob }))
    }

    fn double_quoted(&mut self, text: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            let next = self.text.get(self.at..)?.chars().next()?;
            match next {
                '"' => {
                    self.at += 1;
                    return Some(());
                }
                '$' | '`' | '\n' => return None,
                '\\' => {
                    let escaped = self.text.get(self.at + 1..)?.chars().next()?;
                    if !matches!(escaped, '"' | '\\' | '$' | '`') {
                        text.push('\\');
                    }
                    text.push(escaped);
                    self.at += 1 + escaped.len_utf8();
                }
                _ => {
                    text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
    }
}

/// Whether two lines are the same but for one word, and that word does not name a program of a folder in place of one
/// that is searched.
pub(crate) fn differ_in_a_word(old: &[Simple], new: &[Simple]) -> bool {
    /// A part without its place, which moves with the words before it.
    #[derive(PartialEq)]
    enum Part<'a> {
        Assignment(&'a str, bool),
        Program(&'a str, bool),
        Word(&'a str, bool),
        Redirect(bool, &'a str, bool),
    }
    fn parts(simple: &Simple) -> impl Iterator<Item = Part<'_>> {
        let assignments = simple.assignments.iter().map(|word| Part::Assignment(&word.text, word.glob));
        let words = simple.words.iter().enumerate().map(|(at, word)| match at {
            0 => Part::Program(&word.text, word.glob),
            _ => Part::Word(&word.text, word.glob),
        });
        let redirects = simple.redirects.iter();
        let redirects = redirects.map(|to| Part::Redirect(to.writes, &to.target.text, to.target.glob));
        assignments.chain(words).chain(redirects)
    }
    let shape = |line: &[Simple]| -> Vec<[usize; 3]> {
        line.iter().map(|one| [one.assignments.len(), one.words.len(), one.redirects.len()]).collect()
    };
    let pairs = old.iter().flat_map(parts).zip(new.iter().flat_map(parts));
    let other: Vec<_> = pairs.filter(|(old, new)| old != new).collect();
    let is_spelling = |old: &Part<'_>, new: &Part<'_>| match (old, new) {
        (Part::Program(old, false), Part::Program(new, false)) => old.contains('/') || !new.contains('/'),
        (Part::Word(_, false), Part::Word(_, false)) => true,
        _ => false,
    };
    shape(old) == shape(new) && matches!(other.as_slice(), [(old, new)] if is_spelling(old, new))
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Quotes a word so that every POSIX shell reads exactly this text.
pub(crate) fn quote(text: &str) -> String {
    let plain = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'/' | b'+' | b'@' | b',' | b':' | b'=')
    };
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(command: &str) -> Vec<Vec<String>> {
        split(command)
            .unwrap_or_default()
            .iter()
            .map(|simple| simple.words.iter().map(|word| word.text.clone()).collect())
            .collect()
    }

    #[test]
    fn words_quotes_and_operators_are_understood() {
        assert_eq!(texts(r#"gcc 'a b.c' -DX=\"y\" "c d""#), [["gcc", "a b.c", "-DX=\"y\"", "c d"]]);
        assert_eq!(
            texts("make && ./app; true | cat"),
            [vec!["make"], vec!["./app"], vec!["true"], vec!["cat"]]
        );
        let simple = split("A=1 B= sort -n <in 2>err >>out").unwrap().remove(0);
        assert_eq!(simple.assignments.len(), 2);
        assert_eq!(simple.words.len(), 2);
        let writes: Vec<_> = simple.redirects.iter().map(|r| (r.writes, r.target.text.as_str())).collect();
        assert_eq!(writes, [(false, "in"), (true, "err"), (true, "out")]);
    }

    #[test]
    fn whatever_is_not_certain_is_opaque() {
        for command in [
            "", "a $x", "a `b`", "a $(b)", "(a)", "a &", "{ a; }", "a <<E", "a 2>&1", "a \"$x\"", "a\nb",
            "~/x", "! a", "a 'b", "a \"b", "a; ;b", "a <(b)", "a |& b", "a # b", "a \\",
        ] {
            assert_eq!(split(command), None, "{command}");
        }
    }

    #[test]
    fn globs_and_options_are_seen() {
        let simple = split("find . -name *.c").unwrap().remove(0);
        assert!(simple.words[3].glob && !simple.words[1].glob);
        assert!(!split("find . -name '*.c'").unwrap()[0].words[3].glob);
        let make = split("make -C sub -j2").unwrap().remove(0);
        assert_eq!((make.option("-C"), make.option("-j"), make.option("-f")), (Some("sub"), Some("2"), None));
    }

    proptest::proptest! {
        #[test]
        fn a_quoted_word_is_read_back_as_it_was(text in "[^\0\n\r]{0,40}") {
            let command = format!("x {}", quote(&text));
            let simple = split(&command).unwrap().remove(0);
            proptest::prop_assert_eq!(&simple.words[1].text, &text);
            proptest::prop_assert!(!simple.words[1].glob);
        }
    }
}
