//! Trials: a fix runs in a sandbox, then the command that failed, and the conditions of the contract are judged
//! by the one rule of [`zx1_market::contract::unmet`] (decisions E6, E15).
//!
//! | who tries | on what | with |
//! |---|---|---|
//! | the principal | an overlay over its own files | [`WorkingFolder`] |
//! | the agent, for its own proof, and the courts | a new folder with the files that the contract holds | [`SandboxBench`] |
//!
//! Both end in a [`Trial`]. Nothing here touches real files: the principal commits the sandbox of an
//! [`Attempt`], or drops it.

mod clean;
mod environment;
mod folder;
mod investigate;
mod job;
mod rights;

use zx1_market::contract::{Limit, Run, Unmet, Verification, unmet};
use zx1_sandbox::{LimitKind, Outcome};

pub use clean::{Bench, SandboxBench, ScriptedBench};
pub use environment::environment;
pub use folder::{Answer, Attempt, Watch, WorkingFolder, cut};
pub use investigate::{check_investigation, roots};
pub use job::{CannotRun, Job};
pub use rights::asks_for_root;

/// A command line that was run, and what it wrote. Nothing of it is scrubbed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// The line, as the shell got it.
    pub line: String,
    /// How it ended, and its standard output.
    pub run: Run,
    /// Its standard error.
    pub stderr: String,
}

impl Ran {
    fn of(line: &str, outcome: &Outcome) -> Ran {
        let limit = outcome.limit_hit.map(|limit| match limit {
            LimitKind::Time => Limit::Time,
            LimitKind::Memory => Limit::Memory,
            LimitKind::Processes => Limit::Processes,
            LimitKind::Output => Limit::Output,
            LimitKind::Canceled => Limit::Canceled,
        });
        let stdout = outcome.stdout.text().into_owned();
        Ran {
            line: line.to_owned(),
            run: Run { exit: outcome.exit, signal: outcome.signal, limit, stdout },
            stderr: outcome.stderr.text().into_owned(),
        }
    }

    /// Standard output and after it standard error.
    pub fn output(&self) -> String {
        format!("{}{}", self.run.stdout, self.stderr)
    }
}

/// A fix that was tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// The command that failed, without the fix, in a sandbox of its own. `None`: it was not run.
    pub control: Option<Ran>,
    /// Run of the fix.
    pub fix: Ran,
    /// The verified command, after the fix. `None`: a limit ended the fix before.
    pub check: Option<Ran>,
    /// Whether they ran as root of the sandbox. The principal may have been root where the court is not.
    pub as_root: bool,
}

impl Trial {
    /// Runs a fix and after it a command with `run`, in one sandbox.
    fn of<E>(fix: &str, command: &str, mut run: impl FnMut(&str) -> Result<Ran, E>) -> Result<Trial, E> {
        let fix = run(fix)?;
        let check = if fix.run.limit.is_none() { Some(run(command)?) } else { None };
        Ok(Trial { fix, check, ..Trial::default() })
    }

    /// The first condition that does not hold after the fix.
    pub fn unmet(&self, conditions: &[Verification]) -> Option<Unmet> {
        unmet(conditions, &self.fix.run, self.check.as_ref().map_or(&Run::default(), |check| &check.run))
    }

    /// Whether the conditions do not hold without the fix, so that meeting them proves something. True where
    /// nobody looked.
    pub fn is_reproduced(&self, conditions: &[Verification]) -> bool {
        let control = self.control.as_ref();
        control.is_none_or(|control| unmet(conditions, &Run::default(), &control.run).is_some())
    }

    /// What ran last: the command, or the fix that a limit ended.
    pub fn last(&self) -> &Ran {
        self.check.as_ref().unwrap_or(&self.fix)
    }
}
