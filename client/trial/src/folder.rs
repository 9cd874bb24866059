//! The principal's own folder: what agents ask to see there, and what they propose.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use zx1_market::contract::Verification;
use zx1_market::defaults::MAX_OUTPUT;
use zx1_market::terms::CourtLimits;
use zx1_sandbox::{Builder, Canceller, Command, Limits, Network, Sandbox, SandboxError};
use zx1_scrub::Scrubber;
use zx1_whitelist::ENVIRONMENT;

use crate::attempt::{self, Attempt};
use crate::investigate::repository;
use crate::place::{Place, What};
use crate::{Ran, check_investigation};

type Result<T> = std::result::Result<T, SandboxError>;

/// Longest time of an investigation command.
const INVESTIGATION_TIME: Duration = Duration::from_secs(20);
/// Bytes of output that an answer may have, with room for the scrubber's marks.
const ANSWER: usize = MAX_OUTPUT / 2;
/// Bytes that may leave of a second look.
const LOOK_AGAIN: usize = 8 << 10;

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
    /// What the user wants a fix to see besides.
    seen: Vec<PathBuf>,
    /// Variables that the user names besides the known ones.
    variables: Vec<OsString>,
    limits: CourtLimits,
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
        Self {
            folder,
            line,
            hosts,
            masks,
            watch,
            scrubber: Scrubber::new(),
            seen: Vec::new(),
            variables: Vec::new(),
            limits: CourtLimits::default(),
        }
    }

    /// Paths and variables that a fix may see besides the working folder, its repository, toolchains and the usual
    /// variables. They are not scrubbed, and no investigation sees them.
    #[must_use]
    pub fn seeing(mut self, paths: Vec<PathBuf>, variables: Vec<OsString>) -> Self {
        (self.seen, self.variables) = (paths, variables);
        self
    }

    /// The limits of every run, as the contract names them.
    pub fn limit(&mut self, limits: CourtLimits) {
        self.limits = limits;
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
    }

    fn builder(&self) -> Builder {
        let mut builder = Sandbox::builder()
            .work_tree(&self.folder)
            .command_line(&self.line)
            .path_var(std::env::var_os("PATH").unwrap_or_default());
        for mask in self.masks.iter().filter(|mask| mask.exists()) {
            builder = builder.mask(mask);
        }
        repository(&self.folder).into_iter().fold(builder, Builder::show)
    }

    /// The view of an investigation, with scrubbed copies in place of the files.
    fn scrubbed(&self) -> Result<Sandbox> {
        let shown = crate::view::SYSTEM.iter().filter(|path| Path::new(path).exists());
        let builder = shown.fold(self.builder().tools_only(), Builder::show);
        let mut sandbox = builder.build()?;
        let mut roots = vec![self.folder.clone()];
        if let Some(repository) = repository(&self.folder) {
            // It holds the folder.
            roots = vec![repository];
        }
        crate::view::scrub(&mut sandbox, &roots, &self.scrubber)?;
        Ok(sandbox)
    }

    fn watched(&self, sandbox: &mut Sandbox, line: &str, command: &Command, limits: &Limits) -> Result<Ran> {
        self.watch.running(Some(sandbox.canceller()));
        let outcome = sandbox.run(command, limits);
        self.watch.running(None);
        Ok(Ran::of(line, &outcome?))
    }

    /// The variables of this process that programs are known to need and that hold no secret, and those that the user
    /// named.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let is_clean = |name: &OsString, value: &OsString| {
            let line = format!("{}={}", name.to_string_lossy(), value.to_string_lossy());
            self.scrubber.scrub(&line).findings.is_empty()
        };
        std::env::vars_os().filter(|(name, value)| is_clean(name, value)).collect()
    }

    /// Runs a line in the environment in which the command failed (decision E11).
    fn shell(&self, sandbox: &mut Sandbox, line: &str, time: Duration, named: bool) -> Result<Ran> {
        let mut command = Command::shell(line).cwd(&self.folder).envs(self.environment());
        for name in self.variables.iter().filter(|_| named) {
            if let Some(value) = std::env::var_os(name) {
                command = command.env(name, value);
            }
        }
        let limits = Limits {
            time,
            memory: u64::from(self.limits.memory_mib) << 20,
            processes: self.limits.processes,
            ..Limits::default()
        };
        self.watched(sandbox, line, &command, &limits)
    }

    /// Runs a command that only reads, as an agent asked for it. A refusal is an answer, too. The view is made anew:
    /// what came into the folder since the last one is scrubbed as well.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn investigate(&self, line: &str) -> Result<Answer> {
        let checked = match check_investigation(line, &self.folder) {
            Ok(checked) => checked,
            Err(refusal) => {
                let text = format!("error {}: {refusal}.", refusal.code());
                return Ok(Answer { text, exit: None, refused: true });
            }
        };
        let mut sandbox = self.scrubbed()?;
        let fixed = ENVIRONMENT.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let mut command = Command::argv(&checked.argv).cwd(&self.folder).envs(fixed).read_only(true);
        if let Some(path) = std::env::var_os("PATH") {
            command = command.env("PATH", path);
        }
        let limits = Limits { time: INVESTIGATION_TIME, output: ANSWER, ..Limits::default() };
        let ran = self.watched(&mut sandbox, line, &command, &limits)?;
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
        let place = Overlay { folder: self, time };
        place.run(&mut place.fresh()?, &self.line)
    }

    /// Runs the failing command without any fix: once, or three times when it meets the conditions.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn control(&self, conditions: &[Verification], time: Duration) -> Result<Vec<Ran>> {
        attempt::control(&Overlay { folder: self, time }, &self.line, conditions)
    }

    /// Tries a fix in a fresh sandbox, then runs the command, or what corrects it, until it has passed as often as it
    /// must; each may take `time`. Everything that goes wrong after the fix began is the attempt's failure.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox, before the fix began.
    pub fn attempt(
        &self,
        fix: &str,
        corrected: Option<&str>,
        from_outside: bool,
        conditions: &[Verification],
        control: Vec<Ran>,
        time: Duration,
    ) -> Result<Attempt> {
        let (command, usual) = (self.line.as_str(), self.limits.runs);
        let what = What { fix, command, corrected, from_outside, conditions, usual };
        attempt::attempt(&Overlay { folder: self, time }, control, &what)
    }

    /// What fix and command say in the view of an investigation: no more than an agent could have asked for, so it may
    /// leave without anybody's look. Scrubbed, at most 8 KiB.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn look_again(&self, fix: &str, corrected: Option<&str>, time: Duration) -> Result<String> {
        let mut sandbox = self.scrubbed()?;
        let mut text = String::new();
        for line in [fix, corrected.unwrap_or(&self.line)] {
            let ran = self.shell(&mut sandbox, line, time, false)?;
            text.push_str(&self.scrub_output(line, &ran.output()));
            if ran.run.limit.is_some() {
                break;
            }
        }
        Ok(cut(text, LOOK_AGAIN))
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

/// Sandboxes over the real folder.
struct Overlay<'a> {
    folder: &'a WorkingFolder,
    time: Duration,
}

impl Place for Overlay<'_> {
    fn fresh(&self) -> Result<Sandbox> {
        let folder = self.folder;
        let mut builder = folder.seen.iter().fold(folder.builder().hide_homes(), Builder::unmask);
        if !folder.hosts.is_empty() {
            builder = builder.network(Network::Hosts(folder.hosts.clone()));
        }
        builder.build()
    }

    fn run(&self, sandbox: &mut Sandbox, line: &str) -> Result<Ran> {
        self.folder.shell(sandbox, line, self.time, true)
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
