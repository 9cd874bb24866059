//! One run over one failure.

use crate::event::{Answer, Event, Front, Prompt, Proposal, Question};
use crate::{Error, Interrupts, Refusal, Result};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use zx1_agent::bridge::Bridge;
use zx1_market::contract::{ChangeClass, Corrected, Failure, Unmet, Verification};
use zx1_market::defaults::TIMEOUT;
use zx1_trial::{Attempt, Ran, WorkingFolder};

/// Interval between two polls of a contract.
pub(crate) const POLL: Duration = Duration::from_millis(300);

/// Exit code of a shell that finds no such command.
pub(crate) const NOT_FOUND: u8 = 127;

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The command line as a shell reads it.
    pub line: String,
    /// The folder in which it ran, with links resolved.
    pub folder: PathBuf,
    /// What it wrote to standard output and error, without styles. Not scrubbed.
    pub output: String,
    /// The command's exit code, or 128 and the signal that ended it.
    pub exit: u8,
}

/// How a command is to be fixed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folder of contracts under way, undo records, transcripts, wallets.
    pub home: PathBuf,
    /// Hosts that a fix may reach, also when a contract is resumed.
    pub hosts: Vec<String>,
    /// Hosts that the fixes of new contracts may reach as well.
    pub usual_hosts: Vec<String>,
    /// Paths that no command of a sandbox may see, beside the usual secrets.
    pub masks: Vec<PathBuf>,
    /// Files that are sent with the offer, so that a judge can run the command again.
    pub attach: Vec<PathBuf>,
    /// A fix is accepted only if a line of the command's output then matches this regular expression.
    pub expect: Option<String>,
    /// The fix may use sudo.
    pub sudo: bool,
    /// The agent works alone; its fix waits for review.
    pub autonomous: bool,
    /// The transcript stays among the parties.
    pub private: bool,
    /// An agent's corrected command is taken without asking.
    pub accept_corrected: bool,
    /// Questions name all paths, however many.
    pub all_paths: bool,
    /// Paths that a fix may see besides the working folder, its repository and toolchains.
    pub see: Vec<PathBuf>,
    /// Variables that a fix may see besides the known ones.
    pub variables: Vec<OsString>,
    /// Kinds of changes that are agreed to beforehand, also in the contract.
    pub granted: BTreeSet<ChangeClass>,
}

/// One run over one failure.
pub struct Session<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) options: Options,
    pub(crate) front: Arc<dyn Front>,
    pub(crate) interrupts: Interrupts,
    pub(crate) failed: Failed,
    /// The folder over which fixes are tried.
    pub(crate) folder: WorkingFolder,
    /// The log of this party's 0x01 envelopes, if it has an agent id.
    pub(crate) bridge: Option<Arc<Bridge>>,
    /// Sequence number of the agent's last question that was shown here.
    pub(crate) asked: Option<u64>,
    /// The command without any fix, in the sandbox. The outcome of the run belongs to these conditions.
    pub(crate) control: Option<(Vec<Verification>, Vec<Ran>)>,
    /// What the corrected command of the last attempt printed, if it cannot be run twice: the changes hold what it did.
    pub(crate) ran_once: Option<String>,
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The command works now.
    Fixed,
    /// Nothing was changed: the fix was only shown, or there is none.
    AsBefore,
    /// Nothing was changed, and the user wants this line run in place of the command. Nothing has proven it.
    Unproven {
        /// The line, for a shell.
        line: String,
    },
}

impl<'a> Session<'a> {
    /// Gets ready to fix a failure.
    ///
    /// # Errors
    /// 9240: an allowed host that is not a host name; 9000 to 9099: what is expected is not a regular expression.
    pub fn new(
        failed: Failed,
        options: Options,
        runtime: &'a Runtime,
        front: Arc<dyn Front>,
        interrupts: Interrupts,
    ) -> Result<Self> {
        let hosts = together(&options.hosts, &options.usual_hosts);
        // What no sandbox takes is refused before anything is sent.
        zx1_sandbox::Network::Hosts(hosts.clone()).check()?;
        let masks = options.masks.clone();
        let watch = Box::new(interrupts.clone());
        let folder = WorkingFolder::new(failed.folder.clone(), failed.line.clone(), hosts, masks, watch)
            .seeing(options.see.clone(), options.variables.clone());
        let session = Self {
            runtime,
            options,
            front,
            interrupts,
            failed,
            folder,
            bridge: None,
            asked: None,
            control: None,
            ran_once: None,
        };
        if let Some(refused) = session.conditions().iter().find_map(|one| one.regex()?.err()) {
            return Err(refused.into());
        }
        Ok(session)
    }

    /// Runs the failing command alone in the sandbox, to see what it says.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn rehearse(&self) -> Result<Ran> {
        self.front.event(Event::Rehearsing { line: &self.failed.line });
        Ok(self.folder.rehearse(Duration::from_secs(TIMEOUT.into()))?)
    }

    /// What happens to an agent's corrected command that would replace the user's. The contract says so
    /// beforehand.
    pub(crate) fn corrected_commands(&self) -> Corrected {
        if self.options.accept_corrected {
            Corrected::Yes
        } else if self.front.is_attended() {
            Corrected::Asks
        } else {
            Corrected::No
        }
    }

    /// Whether somebody answers questions that nobody has agreed to beforehand.
    pub(crate) fn can_talk(&self) -> bool {
        self.front.is_attended() && !self.front.consents()
    }

    /// Asks, unless consent was given beforehand.
    ///
    /// # Errors
    /// [`Error::Unattended`], [`Error::Declined`], [`Error::Interrupted`].
    pub(crate) fn ask(&self, question: Question) -> Result<()> {
        if question.takes_consent() && self.front.consents() {
            return Ok(());
        }
        let front = self.front.clone();
        match self.unless_interrupted(move || front.ask(&question))? {
            Answer::Yes => Ok(()),
            Answer::No => Err(Error::Declined),
            Answer::Nobody => Err(Error::Unattended),
        }
    }

    /// Asks whether what was shown may leave the machine. A command that was not found leaves only when a person types
    /// that it shall, whatever was agreed to beforehand (decision E10).
    ///
    /// # Errors
    /// As [`Session::ask`]; 9573: nobody can confirm it.
    pub(crate) fn ask_to_send(&self, question: Question) -> Result<()> {
        if self.failed.exit != NOT_FOUND {
            return self.ask(question);
        }
        self.ask(Question::SendNotFound).map_err(|error| match error {
            Error::Unattended => Refusal::NotFoundUnconfirmed.into(),
            error => error,
        })
    }

    /// Asks a question whose answer may be no.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn confirms(&self, question: Question) -> Result<bool> {
        match self.ask(question) {
            Ok(()) => Ok(true),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(_) => Ok(false),
        }
    }

    /// Asks for a line of text.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn prompt(&self, prompt: Prompt) -> Result<String> {
        let front = self.front.clone();
        self.unless_interrupted(move || front.prompt(&prompt))
    }

    /// Waits for something that may be left at any moment.
    ///
    /// # Errors
    /// [`Error::Interrupted`], else its own.
    pub(crate) fn wait<T, E: Into<Error>>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.interrupts.pressed() => Err(Error::Interrupted),
                done = work => done.map_err(Into::into),
            }
        })
    }

    /// Before something that cannot be left any more: whether the session was asked to stop on the way.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn unless_pressed(&self) -> Result<()> {
        if self.interrupts.was_pressed() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Waits for an answer on a thread of its own: a stop must be able to leave it behind.
    fn unless_interrupted<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (sender, answer) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(ask()));
        let answer = self.runtime.block_on(async {
            tokio::select! {
                () = self.interrupts.pressed() => None,
                answer = answer => answer.ok(),
            }
        });
        answer.ok_or_else(|| {
            self.front.left();
            Error::Interrupted
        })
    }

    /// The command without any fix, in the sandbox: run once for these conditions.
    ///
    /// # Errors
    /// 9200 to 9299 from the sandbox.
    pub(crate) fn control(&mut self, conditions: &[Verification], seconds: u32) -> Result<Vec<Ran>> {
        if let Some((of, runs)) = &self.control
            && of == conditions
        {
            return Ok(runs.clone());
        }
        let runs = self.folder.control(conditions, Duration::from_secs(seconds.into()))?;
        self.control = Some((conditions.to_vec(), runs.clone()));
        Ok(runs)
    }

    /// Tries a fix in the sandbox: the attempt, and why it fails, if it does. What only the principal can say is asked
    /// for here.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; 9200 to 9299 from the sandbox, before the fix began.
    pub(crate) fn attempt(
        &mut self,
        proposal: &Proposal,
        from_outside: bool,
        conditions: &[Verification],
        seconds: u32,
    ) -> Result<(Attempt, Option<Failure>)> {
        let front = self.front.clone();
        front.event(Event::Proposed { proposal, line: &self.failed.line });
        front.event(Event::Verifying);
        let time = Duration::from_secs(seconds.into());
        let by_person = conditions.contains(&Verification::Principal);
        // Where a person judges, there is nothing that a run without the fix could prove.
        let control = if by_person { Vec::new() } else { self.control(conditions, seconds)? };
        let corrected = proposal.corrected_command.as_deref();
        let attempt =
            self.folder.attempt(&proposal.fix, corrected, from_outside, conditions, control, time)?;
        self.unless_pressed()?;
        let once = attempt.ready.as_ref().filter(|ready| corrected.is_some() && !ready.repeats);
        self.ran_once = once.map(|_| attempt.trial.last().output());
        let failure = attempt.trial.failure(conditions);
        let judged_by_user = failure.is_none() && by_person;
        front.event(Event::Verified {
            trial: &attempt.trial,
            failure: failure.as_ref(),
            passed: failure.is_none(),
            judged_by_user,
        });
        if failure.is_some() || !judged_by_user || self.confirms(Question::Satisfied)? {
            return Ok((attempt, failure));
        }
        let run = &attempt.trial.last().run;
        let refused = Failure::of(&Unmet::Principal, run, conditions);
        Ok((attempt, Some(refused)))
    }
}

/// Names of two lists, each once.
pub(crate) fn together(first: &[String], second: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in first.iter().chain(second) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_once_however_often_a_contract_goes_on() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let once = together(&names("a b"), &names("b c"));
        assert_eq!(once, names("a b c"));
        assert_eq!(together(&once, &names("b c")), once);
    }
}
