//! The sandbox in which agents look and fixes are tried (decision E11). Nothing here touches the real files;
//! only [`super::apply`] does.

use super::interrupt::Interrupts;
use super::{Failed, investigate};
use crate::errors::Result;
use std::path::PathBuf;
use std::time::Duration;
use zx1_market::defaults::MAX_OUTPUT;
use zx1_sandbox::{ChangeSet, Command, LimitKind, Limits, Network, Outcome, Sandbox};
use zx1_scrub::Scrubber;
use zx1_whitelist::ENVIRONMENT;

/// Longest time of an investigation command.
const INVESTIGATION_TIME: Duration = Duration::from_secs(20);
/// Bytes of output that an answer may have, with room for the scrubber's marks.
const ANSWER: usize = MAX_OUTPUT / 2;

/// Makes sandboxes for one failure.
#[derive(Debug)]
pub struct Bench {
    folder: PathBuf,
    line: String,
    hosts: Vec<String>,
    masks: Vec<PathBuf>,
    interrupts: Interrupts,
    scrubber: Scrubber,
    /// One sandbox for all that is only read.
    looking: Option<Sandbox>,
}

/// What an investigation command gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Output, scrubbed; or why it was refused.
    pub text: String,
    /// Its exit code, when it ended by itself.
    pub exit: Option<i32>,
    /// It was not run.
    pub refused: bool,
}

/// A run in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The command line.
    pub line: String,
    /// Exit code, when it ended by itself.
    pub exit: Option<i32>,
    /// Standard output, not scrubbed.
    pub stdout: String,
    /// Standard output and standard error, not scrubbed.
    pub output: String,
    /// Why it ended early, as a part of a sentence.
    pub stopped: Option<String>,
}

impl Ran {
    fn of(line: &str, outcome: &Outcome) -> Self {
        let stopped = outcome.limit_hit.map(|limit| {
            match limit {
                LimitKind::Time => "it took too long",
                LimitKind::Memory => "it used too much memory",
                LimitKind::Processes => "it started too many processes",
                LimitKind::Output => "it wrote too much",
                LimitKind::Canceled => "it was stopped by Ctrl+C",
            }
            .to_owned()
        });
        let signal = outcome.signal.map(|signal| format!("signal {signal} ended it"));
        let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
        Self {
            line: line.to_owned(),
            exit: outcome.exit,
            output: format!("{stdout}{stderr}"),
            stdout: stdout.into_owned(),
            stopped: stopped.or(signal),
        }
    }

    /// "exit code 1", "it took too long".
    pub fn how(&self) -> String {
        match (&self.stopped, self.exit) {
            (Some(why), _) => why.clone(),
            (None, Some(exit)) => format!("exit code {exit}"),
            (None, None) => "it did not end".to_owned(),
        }
    }
}

/// A fix that was tried. Dropping it leaves no trace.
#[derive(Debug)]
pub struct Attempt {
    /// The fix itself.
    pub fix: Ran,
    /// The verification, if the fix ended well.
    pub check: Option<Ran>,
    /// All that they changed.
    pub changes: ChangeSet,
    /// Holds the changes.
    pub sandbox: Sandbox,
}

impl Bench {
    /// `masks`: paths that nobody may see, beside the usual secrets.
    pub fn new(failed: &Failed, hosts: Vec<String>, masks: Vec<PathBuf>, interrupts: Interrupts) -> Self {
        Self {
            folder: failed.folder.clone(),
            line: failed.line.clone(),
            hosts,
            masks,
            interrupts,
            scrubber: Scrubber::new(),
            looking: None,
        }
    }

    /// The scrubber.
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
        let sandbox = builder.build()?;
        Ok(sandbox)
    }

    fn run(&self, sandbox: &mut Sandbox, command: &Command, limits: &Limits) -> Result<Outcome> {
        self.interrupts.stops(Some(sandbox.canceller()));
        let ran = sandbox.run(command, limits);
        self.interrupts.stops(None);
        Ok(ran?)
    }

    /// Runs a command that only reads, as an agent asked for it. A refusal is an answer, too.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn investigate(&mut self, line: &str) -> Result<Answer> {
        let checked = match investigate::check(line, &self.folder) {
            Ok(checked) => checked,
            Err(failure) => {
                let text = format!("error {}: {}", failure.code, failure.message);
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
        let outcome = self.run(&mut sandbox, &command, &limits)?;
        self.looking = Some(sandbox);
        let ran = Ran::of(line, &outcome);
        let mut text = self.scrub_output(line, &ran.output);
        if let Some(why) = &ran.stopped {
            text.push_str(&format!("\n[fix: {why}]\n"));
        }
        Ok(Answer { text: cut(text, MAX_OUTPUT), exit: ran.exit, refused: false })
    }

    /// Runs the failing command alone, to see what it says (`fix it`). The real files stay as they are.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn rehearse(&self, time: Duration) -> Result<Ran> {
        let mut sandbox = self.sandbox()?;
        let command = Command::shell(&self.line).cwd(&self.folder).env_from_current();
        let limits = Limits { time, ..Limits::default() };
        let outcome = self.run(&mut sandbox, &command, &limits)?;
        Ok(Ran::of(&self.line, &outcome))
    }

    /// Tries a fix in a fresh sandbox, then runs the command again, or what corrects it.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn attempt(&self, fix: &str, corrected: Option<&str>, time: Duration) -> Result<Attempt> {
        let mut sandbox = self.sandbox()?;
        let limits = Limits { time, ..Limits::default() };
        let shell = |line: &str| Command::shell(line).cwd(&self.folder).env_from_current();
        let outcome = self.run(&mut sandbox, &shell(fix), &limits)?;
        let fixed = Ran::of(fix, &outcome);
        let check = if outcome.success() {
            let line = corrected.unwrap_or(&self.line);
            let outcome = self.run(&mut sandbox, &shell(line), &limits)?;
            Some(Ran::of(line, &outcome))
        } else {
            None
        };
        let changes = sandbox.changes()?;
        Ok(Attempt { fix: fixed, check, changes, sandbox })
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

/// A text of at most so many bytes: its beginning and its end.
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
