//! Shell scripts that change single lines of a file, and only while it still reads as the rule saw it.
//!
//! The scripts need a POSIX shell and GNU sed. Line numbers count from 1. Every text is checked by
//! [`super::text::line`] first.

use super::Repair;
use super::case::{Halt, OrNotMine, Try};
use super::probe::Probe;
use super::shell::quote;
use super::text::{self, RelPath};

/// A set of line edits of one file.
pub(crate) struct Edit<'a> {
    path: &'a RelPath,
    lines: &'a [&'a str],
    guards: Vec<(usize, String)>,
    /// `(line, order, sed command)`.
    commands: Vec<String>,
}

impl<'a> Edit<'a> {
    /// Edits of a file whose lines were read.
    pub(crate) fn new(path: &'a RelPath, lines: &'a [&'a str]) -> Self {
        Self { path, lines, guards: Vec::new(), commands: Vec::new() }
    }

    /// The text of a line.
    pub(crate) fn line(&self, number: usize) -> Try<&'a str> {
        let at = number.checked_sub(1).or_decline("the error names no line")?;
        self.lines.get(at).copied().or_decline("the file is shorter than the error says")
    }

    fn guard(&mut self, number: usize) -> Try<()> {
        let text = text::line(self.line(number)?).or_decline("the line cannot be shown whole")?.to_owned();
        if !self.guards.iter().any(|(known, _)| *known == number) {
            self.guards.push((number, text));
        }
        Ok(())
    }

    /// Replaces a line.
    pub(crate) fn replace(&mut self, number: usize, new: &str) -> Try<()> {
        self.guard(number)?;
        let new = text::line(new).or_decline("the new line has unusual characters")?;
        if new == self.line(number)? {
            return Err(Halt::decline("the line is already as it should be"));
        }
        self.commands.push(format!("{number}c\\\n{}", escape(new)));
        Ok(())
    }

    /// Puts a new line before a line.
    pub(crate) fn insert(&mut self, number: usize, new: &str) -> Try<()> {
        self.guard(number)?;
        let new = text::line(new).or_decline("the new line has unusual characters")?;
        self.commands.push(format!("{number}i\\\n{}", escape(new)));
        Ok(())
    }

    /// Puts a new line after a line.
    pub(crate) fn append(&mut self, number: usize, new: &str) -> Try<()> {
        self.guard(number)?;
        let new = text::line(new).or_decline("the new line has unusual characters")?;
        self.commands.push(format!("{number}a\\\n{}", escape(new)));
        Ok(())
    }

    /// Replaces `old` at a byte offset of a line.
    pub(crate) fn splice(&mut self, number: usize, at: usize, old: &str, new: &str) -> Try<()> {
        let line = self.line(number)?;
        let rest = line.get(at..).or_decline("the place lies outside the line")?;
        let after = rest.strip_prefix(old).or_decline("the line does not read as the error says")?;
        let before = line.get(..at).or_decline("the place lies outside the line")?;
        self.replace(number, &format!("{before}{new}{after}"))
    }

    /// Replaces the only place of a line where `old` stands as a whole word.
    pub(crate) fn replace_word(&mut self, number: usize, old: &str, new: &str) -> Try<()> {
        let line = self.line(number)?;
        let mut places = word_places(line, old);
        match (places.next(), places.next()) {
            (Some(at), None) => self.splice(number, at, old, new),
            _ => Err(Halt::decline(format!("{old} does not stand exactly once in the line"))),
        }
    }

    /// The POSIX shell script that makes the edit.
    pub(crate) fn script(self) -> Try<String> {
        if self.commands.is_empty() {
            return Err(Halt::decline("there is nothing to change"));
        }
        let path = self.path.quoted();
        let mut script = String::new();
        for (number, text) in &self.guards {
            script.push_str(&format!("test \"$(sed -n {number}p {path})\" = {} &&\n", quote(text)));
        }
        script.push_str("sed -i --follow-symlinks");
        for command in &self.commands {
            script.push_str(" -e ");
            script.push_str(&quote(command));
        }
        script.push(' ');
        script.push_str(&path);
        Ok(script)
    }

    /// The script as a repair.
    pub(crate) fn repair(self, explanation: impl Into<String>, confidence: u8) -> Try<Repair> {
        Repair::world(self.script()?, explanation, confidence)
    }
}

/// The text argument of sed's `a`, `c` and `i`: backslashes are doubled. A text that begins with blanks keeps
/// them because of a backslash in front.
fn escape(text: &str) -> String {
    let doubled = text.replace('\\', r"\\");
    if doubled.starts_with([' ', '\t']) { format!("\\{doubled}") } else { doubled }
}

/// The byte offsets where `word` stands in `line` and is not part of a longer name.
pub(crate) fn word_places<'t>(line: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name)
    })
}

/// `mkdir -p` of a folder.
pub(crate) fn make_folder(folder: &RelPath) -> String {
    format!("mkdir -p {}", folder.quoted())
}

/// The repair for a missing folder, with an explanation that names it. Where a folder of nearly its name exists, the
/// name may as well be misspelt.
pub(crate) fn missing_folder(probe: &Probe<'_>, folder: &RelPath, confidence: u8) -> Try<Repair> {
    let mut missing = folder.clone();
    loop {
        let there = probe.list(&missing.folder())?;
        let folders =
            there.iter().filter(|entry| entry.folder || entry.link).map(|entry| entry.name.as_str());
        if let Some(near) = text::meant(missing.name(), folders) {
            return Err(Halt::decline(format!(
                "there is no folder {}, but there is one named {near}",
                missing.as_str()
            )));
        }
        // What has no entries may be missing as well.
        match missing.parent() {
            Some(parent) if there.is_empty() => missing = parent,
            _ => break,
        }
    }
    let explanation = format!("The folder {} did not exist; it is made now.", folder.as_str());
    Repair::world(make_folder(folder), explanation, confidence)
}
