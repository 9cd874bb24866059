//! What has been read on the principal's machine, and the questions that rules may ask.

use super::halt::{Halt, Try};
use super::text::RelPath;

/// The outputs of the read-only commands that were run so far, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings(Vec<(String, String)>);

impl Findings {
    /// Adds a command of [`super::Step::Investigate`] with its (scrubbed) output.
    pub fn add(&mut self, command: impl Into<String>, output: impl Into<String>) {
        self.0.push((command.into(), output.into()));
    }

    /// How many commands were run.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// No command was run yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, command: &str) -> Option<&str> {
        self.0.iter().find(|(asked, _)| asked == command).map(|(_, output)| output.as_str())
    }
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) folder: bool,
    pub(crate) executable: bool,
    pub(crate) link: bool,
}

/// Asks for outputs: what is not known yet halts the rule with the command to run.
pub(crate) struct Probe<'a> {
    findings: &'a Findings,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(findings: &'a Findings) -> Self {
        Self { findings }
    }

    fn ask(&self, command: String) -> Try<&'a str> {
        self.findings.get(&command).ok_or(Halt::Ask(command))
    }

    /// The lines of a file, without carriage returns at their ends. A file that cannot be read declines.
    pub(crate) fn lines(&self, path: &RelPath) -> Try<Vec<&'a str>> {
        Ok(self.raw(path)?.lines().collect())
    }

    /// The text of a file. A file that cannot be read declines.
    pub(crate) fn raw(&self, path: &RelPath) -> Try<&'a str> {
        let output = self.ask(format!("cat {}", plain(path)?))?;
        if output.starts_with("cat: ") && output.trim_end().lines().count() == 1 {
            return Err(Halt::decline(format!("the file {} cannot be read", path.as_str())));
        }
        Ok(output)
    }

    /// What lies in a folder; empty when there is no such folder.
    pub(crate) fn list(&self, folder: &RelPath) -> Try<Vec<Entry>> {
        let output = self.ask(format!("ls -aF {}", plain(folder)?))?;
        if output.starts_with("ls: ") {
            return Ok(Vec::new());
        }
        Ok(output.lines().filter_map(entry).collect())
    }

    /// The names of the files and links in a folder, folders left out.
    pub(crate) fn files(&self, folder: &RelPath) -> Try<Vec<String>> {
        Ok(self.list(folder)?.into_iter().filter(|entry| !entry.folder).map(|entry| entry.name).collect())
    }

    /// The files of this name below the working folder, build results and dependencies left out.
    pub(crate) fn find(&self, name: &str) -> Try<Vec<RelPath>> {
        self.find_kind(name, "f")
    }

    /// The folders of this name below the working folder.
    pub(crate) fn find_folders(&self, name: &str) -> Try<Vec<RelPath>> {
        self.find_kind(name, "d")
    }

    fn find_kind(&self, name: &str, kind: &str) -> Try<Vec<RelPath>> {
        let name = RelPath::parse(name).filter(|path| path.parent().is_none()).ok_or(Halt::NotMine)?;
        let output = self.ask(format!("find . -maxdepth 6 -type {kind} -name \"{}\"", plain(&name)?))?;
        let mut paths: Vec<RelPath> = output
            .lines()
            .filter(|line| line.starts_with("./"))
            .filter_map(RelPath::parse)
            .filter(|path| !path.as_str().split('/').any(|part| NOT_SOURCES.contains(&part)))
            .collect();
        paths.sort();
        Ok(paths)
    }

    /// `path:line:text` of the lines that hold this identifier as a word, in files of one extension.
    pub(crate) fn grep(&self, identifier: &str, extension: &str) -> Try<Vec<(RelPath, &'a str)>> {
        let word = super::text::identifier(identifier).ok_or(Halt::NotMine)?;
        let output = self.ask(format!("grep -rnw --include=\"*.{extension}\" {word} ."))?;
        Ok(output
            .lines()
            .filter_map(|line| {
                let (path, rest) = line.split_once(':')?;
                let (_, text) = rest.split_once(':')?;
                Some((RelPath::parse(path)?, text))
            })
            .collect())
    }

    /// The working folder, absolute.
    pub(crate) fn working_folder(&self) -> Try<&'a str> {
        let folder = self.ask("pwd".to_owned())?.trim_end();
        if folder.starts_with('/') { Ok(folder) } else { Err(Halt::decline("the working folder is unknown")) }
    }

    /// A path of an error message, absolute or not, as one below the working folder.
    pub(crate) fn relative(&self, raw: &str) -> Try<RelPath> {
        let outside = || Halt::decline("the file lies outside the working folder or has an unusual name");
        let relative = match raw.starts_with('/') {
            false => raw,
            true => {
                let folder = self.working_folder()?;
                raw.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).ok_or_else(outside)?
            }
        };
        RelPath::parse(relative).ok_or_else(outside)
    }

    /// Whether a program is on the search path.
    pub(crate) fn has_program(&self, name: &str) -> Try<bool> {
        let name = super::text::name(name).filter(|name| !name.contains('/')).ok_or(Halt::NotMine)?;
        Ok(self.ask(format!("which {name}"))?.trim_start().starts_with('/'))
    }

    /// The programs of the system whose names begin with this letter.
    pub(crate) fn programs(&self, letter: char) -> Try<Vec<&'a str>> {
        let output = self.ask(format!("find /usr/bin /usr/local/bin -maxdepth 1 -name \"{letter}*\""))?;
        Ok(output.lines().filter_map(|line| line.rsplit_once('/')).map(|(_, name)| name).collect())
    }

    /// The ports that something listens on, as far as this machine shows them.
    pub(crate) fn listening(&self) -> Try<Vec<u16>> {
        let output = self.ask("cat /proc/net/tcp /proc/net/tcp6".to_owned())?;
        Ok(output
            .lines()
            .filter_map(|line| {
                let mut fields = line.split_whitespace().skip(1);
                let (_, port) = fields.next()?.rsplit_once(':')?;
                // 0A is LISTEN in the kernel's table.
                (fields.nth(1)? == "0A").then(|| u16::from_str_radix(port, 16).ok()).flatten()
            })
            .collect())
    }

    /// Whether a file is older than ten minutes.
    pub(crate) fn is_older_than_ten_minutes(&self, folder: &str, name: &str) -> Try<bool> {
        let output = self.ask(format!("find {folder} -maxdepth 1 -name \"{name}\" -mmin +10"))?;
        Ok(output.trim() == format!("{folder}/{name}"))
    }
}

/// Folders whose content nobody edits by hand.
const NOT_SOURCES: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "__pycache__"];

/// A path that needs no quoting: only such ones go into an investigation command.
fn plain(path: &RelPath) -> Try<&str> {
    let text = path.as_str();
    if super::shell::quote(text) == text {
        Ok(text)
    } else {
        Err(Halt::decline("the file's name needs quoting, and investigation commands take none"))
    }
}

fn entry(line: &str) -> Option<Entry> {
    let (name, mark) = match line.char_indices().last() {
        Some((at, mark @ ('/' | '*' | '@' | '=' | '|'))) => (line.get(..at)?, mark),
        _ => (line, ' '),
    };
    if matches!(name, "." | ".." | "") {
        return None;
    }
    Some(Entry { name: name.to_owned(), folder: mark == '/', executable: mark == '*', link: mark == '@' })
}
