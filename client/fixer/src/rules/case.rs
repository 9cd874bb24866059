//! A failure, prepared for the rules: clean text, split command, and the ways to correct it.

use std::ops::Range;

use regex::{Captures, Regex};

use super::shell::{self, Simple, Word};
use super::text::{self, RelPath};
use super::{Failure, Repair};

pub(crate) use super::halt::{Halt, Try};

/// `Some` or "not my failure".
pub(crate) trait OrNotMine<T> {
    fn mine(self) -> Try<T>;
    fn or_decline(self, reason: &str) -> Try<T>;
}

impl<T> OrNotMine<T> for Option<T> {
    fn mine(self) -> Try<T> {
        self.ok_or(Halt::NotMine)
    }

    fn or_decline(self, reason: &str) -> Try<T> {
        self.ok_or_else(|| Halt::decline(reason))
    }
}

/// A true condition, or "not my failure".
pub(crate) fn mine(condition: bool) -> Try<()> {
    if condition { Ok(()) } else { Err(Halt::NotMine) }
}

/// A regular expression that is compiled once, written in one or several parts. It is part of the program, so
/// it is always valid.
macro_rules! regex {
    ($($part:literal),+ $(,)?) => {{
        static REGEX: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
            #[allow(clippy::expect_used, reason = "the pattern is a literal, every rule's tests compile it")]
            regex::Regex::new(concat!($($part),+)).expect("a literal pattern")
        });
        &*REGEX
    }};
}
pub(crate) use regex;

/// Errors longer than this are cut: what a rule needs stands near the start or the end.
const MAX_ERROR: usize = 256 * 1024;

/// A failure with its text cleaned and its command split.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub(crate) failure: &'a Failure,
    /// The error without colours, carriage returns at line ends and typographic quotes.
    pub(crate) error: String,
    commands: Vec<Simple>,
}

impl<'a> Case<'a> {
    /// `None` when no rule can say anything: the command succeeded, is opaque, or changes folders.
    pub(crate) fn of(failure: &'a Failure) -> Option<Self> {
        if failure.exit_code == 0 || !matches!(failure.os.as_str(), "Linux" | "linux" | "") {
            return None;
        }
        let commands = shell::split(&failure.command)?;
        let moves =
            |simple: &Simple| matches!(simple.program(), "cd" | "pushd" | "popd" | "eval" | "exec" | "sudo");
        if commands.iter().any(moves) {
            return None;
        }
        let cut = match failure.error.len() > MAX_ERROR {
            false => failure.error.as_str(),
            true => {
                let mut start = failure.error.len() - MAX_ERROR;
                while !failure.error.is_char_boundary(start) {
                    start += 1;
                }
                failure.error.get(start..)?
            }
        };
        let error = regex!("\u{1b}\\[[0-9;?]*[A-Za-z]|\r(?:\n|$)")
            .replace_all(cut, |found: &Captures<'_>| if found[0].ends_with('\n') { "\n" } else { "" })
            .replace(['\u{2018}', '\u{2019}'], "'")
            .replace(['\u{201c}', '\u{201d}'], "\"");
        Some(Self { failure, error, commands })
    }

    /// The whole command, when it is one simple command of one of these programs.
    pub(crate) fn only(&self, programs: &[&str]) -> Try<&Simple> {
        match self.commands.as_slice() {
            [simple] if is_program(simple, programs) => Ok(simple),
            _ => Err(Halt::NotMine),
        }
    }

    /// The first simple command of one of these programs.
    pub(crate) fn any(&self, programs: &[&str]) -> Try<&Simple> {
        self.commands.iter().find(|simple| is_program(simple, programs)).mine()
    }

    /// The whole command, when it is one simple command.
    pub(crate) fn single(&self) -> Try<&Simple> {
        match self.commands.as_slice() {
            [simple] => Ok(simple),
            _ => Err(Halt::NotMine),
        }
    }

    /// All simple commands.
    pub(crate) fn commands(&self) -> &[Simple] {
        &self.commands
    }

    /// The first match in the error.
    pub(crate) fn find(&self, regex: &Regex) -> Try<Captures<'_>> {
        regex.captures(&self.error).mine()
    }

    /// All matches in the error.
    pub(crate) fn all<'t>(&'t self, regex: &'t Regex) -> impl Iterator<Item = Captures<'t>> {
        regex.captures_iter(&self.error)
    }

    /// The error contains this text.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.error.contains(text)
    }

    /// The command with a span replaced.
    pub(crate) fn with(&self, span: &Range<usize>, replacement: &str) -> Try<String> {
        let command = &self.failure.command;
        let (before, after) = (command.get(..span.start).mine()?, command.get(span.end..).mine()?);
        Ok(format!("{before}{replacement}{after}").trim().to_owned())
    }

    /// The command with one word replaced by another, which is quoted.
    pub(crate) fn with_word(&self, word: &Word, replacement: &str) -> Try<String> {
        self.with(&word.span, &shell::quote(replacement))
    }

    /// The command with words put after the last word of a simple command.
    pub(crate) fn with_appended(&self, simple: &Simple, words: &str) -> Try<String> {
        let end = simple.end();
        self.with(&(end..end), &format!(" {words}"))
    }

    /// The command with words put before a word.
    pub(crate) fn with_before(&self, word: &Word, words: &str) -> Try<String> {
        self.with(&(word.span.start..word.span.start), &format!("{words} "))
    }

    /// A command-line word that was meant as another: the typed word must be in the command.
    pub(crate) fn correct_word(
        &self,
        simple: &Simple,
        typed: &str,
        meant: &str,
        explanation: String,
    ) -> Try<Repair> {
        let word = simple.arg(typed).mine()?;
        Repair::command(self.with_word(word, meant)?, explanation, 92)
    }

    /// A misspelt path of the command, looked up among the files of its folder.
    pub(crate) fn correct_path(
        &self,
        probe: &super::probe::Probe<'_>,
        simple: &Simple,
        typed: &str,
        wanted: fn(&super::probe::Entry) -> bool,
    ) -> Try<Repair> {
        let word = simple.arg(typed).mine()?;
        let path = RelPath::parse(typed).mine()?;
        let entries = probe.list(&path.folder())?;
        let names: Vec<&str> =
            entries.iter().filter(|entry| wanted(entry)).map(|entry| entry.name.as_str()).collect();
        let meant = text::meant(path.name(), names.iter().copied())
            .or_decline(&format!("no single file has a name like {}", path.as_str()))?;
        let right = path.with_name(meant).or_decline("the file's name is unusual")?;
        let prefix = if typed.starts_with("./") { "./" } else { "" };
        let right = format!("{prefix}{}", right.as_str());
        Repair::command(
            self.with_word(word, &right)?,
            format!("There is no file {typed}, but there is {right}; the name was misspelt."),
            88,
        )
    }
}

impl Repair {
    /// A repair of the world.
    pub(crate) fn world(fix: String, explanation: impl Into<String>, confidence: u8) -> Try<Self> {
        Ok(Self { fix, corrected_command: None, explanation: explanation.into(), confidence })
    }

    /// A corrected command, and nothing else to do.
    pub(crate) fn command(corrected: String, explanation: impl Into<String>, confidence: u8) -> Try<Self> {
        Self::both("true".to_owned(), corrected, explanation, confidence)
    }

    /// A corrected command that needs a change of the world first.
    pub(crate) fn both(
        fix: String,
        corrected: String,
        explanation: impl Into<String>,
        confidence: u8,
    ) -> Try<Self> {
        Ok(Self { fix, corrected_command: Some(corrected), explanation: explanation.into(), confidence })
    }
}

/// The program's name without its folder and without a version, as in `/usr/bin/gcc-12` or `python3.11`.
pub(crate) fn base_name(simple: &Simple) -> &str {
    let program = simple.program();
    let name = program.rsplit_once('/').map_or(program, |(_, name)| name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    if bare.is_empty() { name } else { bare }
}

fn is_program(simple: &Simple, programs: &[&str]) -> bool {
    programs.contains(&base_name(simple))
}
