//! The principal's own folder: what agents ask to see there, and what they propose.

use std::path::PathBuf;
use std::time::Duration;

use zx1_market::defaults::MAX_OUTPUT;
use zx1_sandbox::{Canceller, ChangeSet, Command, Limits, Network, Sandbox, SandboxError};
use zx1_scrub::Scrubber;
use zx1_whitelist::ENVIRONMENT;

use crate::{Ran, Trial, check_investigation};

type Result<T> = std::result::Result<T, SandboxError>;

/// Longest time of an investigation command.
const INVESTIGATION_TIME: Duration = Duration::from_secs(20);
/// Bytes of output that an answer may have, with room for the scrubber's marks.
const ANSWER: usize = MAX_OUTPUT / 2;

/// Learns which run is under way, to cancel it from another thread.
pub trait Watch: std::fmt::Debug + Send + Sync {
    /// This run begins; `None`: it has ended.
    fn running(&self, run: Option<Canceller>);
}

/// The folder in which a command failed. Every run is in a sandbox over it; the real files stay as they are.
#[derive(Debug)]
pub struct WorkingFolder {
    folder: PathBuf,
    line: String,
    hosts: Vec<String>,
    masks: Vec<PathBuf>,
    watch: Box<dyn Watch>,
    scrubber: Scrubber,
    /// One sandbox for all that is only read.
    looking: Option<Sandbox>,
}

/// What an investigation command gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Output, scrubbed; or why it was refused.
    pub text: String,
    /// Its exit code; 128 and the signal when one ended it.
    pub exit: Option<i32>,
    /// It was not run.
    pub refused: bool,
}

/// A fix that was tried. Dropping it leaves no trace.
#[derive(Debug)]
pub struct Attempt {
    /// Its runs, and how they ended.
    pub trial: Trial,
    /// All that it changed.
    pub changes: ChangeSet,
    /// Holds the changes.
    pub sandbox: Sandbox,
}

impl WorkingFolder {
    /// The folder in which `line` failed. `hosts`: what a fix may reach. `masks`: paths that nobody may see,
    /// beside the usual secrets.
    pub fn new(
        folder: PathBuf,
        line: String,
        hosts: Vec<String>,
        masks: Vec<PathBuf>,
        watch: Box<dyn Watch>,
    ) -> Self {
        Self { folder, line, hosts, masks, watch, scrubber: Scrubber::new(), looking: None }
    }

    /// The scrubber for what leaves the machine.
    pub fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }

    /// Hosts that a fix may reach.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Hosts that a fix may reach from now on, instead.
    pub fn reach(&mut self, hosts: Vec<String>) {
        self.hosts = hosts;
        self.looking = None;
    }

    fn sandbox(&self) -> Result<Sandbox> {
        let mut builder = Sandbox::builder()
            .work_tree(&self.folder)
            .command_line(&self.line)
            .path_var(std::env::var_os("PATH").unwrap_or_default());
        for mask in self.masks.iter().filter(|mask| mask.exists()) {
            builder = builder.mask(mask);
        }
        if !self.hosts.is_empty() {
            builder = builder.network(Network::Hosts(self.hosts.clone()));
        }
        builder.build()
    }

    fn run(&self, sandbox: &mut Sandbox, line: &str, command: &Command, limits: &Limits) -> Result<Ran> {
        self.watch.running(Some(sandbox.canceller()));
        let outcome = sandbox.run(command, limits);
        self.watch.running(None);
        Ok(Ran::of(line, &outcome?))
    }

    /// Runs a line in the environment in which the command failed (decision E11).
    fn shell(&self, sandbox: &mut Sandbox, line: &str, time: Duration) -> Result<Ran> {
        let command = Command::shell(line).cwd(&self.folder).env_from_current();
        self.run(sandbox, line, &command, &Limits { time, ..Limits::default() })
    }

    /// Runs a command that only reads, as an agent asked for it. A refusal is an answer, too.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn investigate(&mut self, line: &str) -> Result<Answer> {
        let checked = match check_investigation(line, &self.folder) {
            Ok(checked) => checked,
            Err(refusal) => {
                let text = format!("error {}: {refusal}.", refusal.code());
                return Ok(Answer { text, exit: None, refused: true });
            }
        };
        let mut sandbox = match self.looking.take() {
            Some(sandbox) => sandbox,
            None => self.sandbox()?,
        };
        let fixed = ENVIRONMENT.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let mut command = Command::argv(&checked.argv).cwd(&self.folder).envs(fixed).read_only(true);
        if let Some(path) = std::env::var_os("PATH") {
            command = command.env("PATH", path);
        }
        let limits = Limits { time: INVESTIGATION_TIME, output: ANSWER, ..Limits::default() };
        let ran = self.run(&mut sandbox, line, &command, &limits)?;
        self.looking = Some(sandbox);
        let mut text = self.scrub_output(line, &ran.output());
        if ran.run.limit.is_some() || ran.run.signal.is_some() {
            text.push_str(&format!("\n[fix: {}]\n", ran.run));
        }
        Ok(Answer { text: cut(text, MAX_OUTPUT), exit: ran.run.status(), refused: false })
    }

    /// Runs the failing command alone, to see what it says (`fix it`).
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn rehearse(&self, time: Duration) -> Result<Ran> {
        self.shell(&mut self.sandbox()?, &self.line, time)
    }

    /// Tries a fix in a fresh sandbox, then runs the command again, or what corrects it; each may take `time`.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn attempt(&self, fix: &str, corrected: Option<&str>, time: Duration) -> Result<Attempt> {
        let mut sandbox = self.sandbox()?;
        let command = corrected.unwrap_or(&self.line);
        let trial = Trial::of(fix, command, |line| self.shell(&mut sandbox, line, time))?;
        let changes = sandbox.changes()?;
        let trial = Trial { as_root: sandbox.info().privileged, ..trial };
        Ok(Attempt { trial, changes, sandbox })
    }

    /// Scrubs output together with its command, which often explains what is harmless.
    pub fn scrub_output(&self, line: &str, output: &str) -> String {
        let prompt = format!("$ {line}\n");
        let whole = self.scrubber.scrub(&format!("{prompt}{output}")).text;
        match whole.strip_prefix(&prompt) {
            Some(rest) => rest.to_owned(),
            // The command itself has a secret.
            None => self.scrubber.scrub(output).text,
        }
    }
}

/// Shortens a text to `most` bytes: its beginning and its end.
pub fn cut(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let note = "\n[... left out ...]\n";
    let room = most.saturating_sub(note.len());
    let head = text.floor_char_boundary(room / 3);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(room.saturating_sub(head)));
    let (first, last) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{first}{note}{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_keeps_both_ends_and_the_bound() {
        let text = "ä".repeat(1_000) + "end";
        let short = cut(text, 300);
        assert!(short.len() <= 300 && short.starts_with('ä') && short.ends_with("end"), "{short}");
        assert_eq!(cut("short".to_owned(), 5), "short");
    }
}
