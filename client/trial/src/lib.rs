//! Trials: a fix runs in a sandbox, then the command that failed, and the conditions of the contract are judged
//! by the rules of [`zx1_market::contract`] (decisions E6, E15, E16).
//!
//! | who tries | on what | with |
//! |---|---|---|
//! | the principal | an overlay over its own files | [`WorkingFolder`] |
//! | the agent, for its own proof, and the courts | a new folder with the files that the contract holds | [`SandboxBench`] |
//!
//! Both go the same way (`attempt.rs`) and end in a [`Trial`]: control runs without the fix, the fix, runs after it,
//! what the fix changed, and a run with the original tests where it changes those (`originals.rs`). Nothing here touches
//! real files: the principal commits what an [`Attempt`] holds, or drops it.

mod attempt;
mod clean;
mod environment;
mod folder;
mod investigate;
mod job;
mod lack;
mod originals;
mod place;
mod rights;
mod view;

use std::collections::BTreeSet;

use zx1_market::contract::{
    ChangeClass, Changed, Control, Ending, FailedStep, Failure, FailureClass, Limit, Run, Runs, TrialResult,
    Unmet, Verification, unmet,
};
use zx1_sandbox::{ChangeSet, Class, LimitKind, Outcome};

pub use attempt::{Attempt, Ready};
pub use clean::{Bench, SandboxBench, ScriptedBench};
pub use environment::environment;
pub use folder::{Answer, Watch, WorkingFolder, cut};
pub use investigate::{check_investigation, roots};
pub use job::{CannotRun, Job};
pub use lack::Lack;
pub use originals::{Originals, Rerun, Why};
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
            LimitKind::Files => Limit::Files,
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
    /// The command that failed, without the fix, each run in a sandbox of its own. Empty: it was not run.
    pub control: Vec<Ran>,
    /// Run of the fix.
    pub fix: Ran,
    /// The verified command, after the fix. Empty: the fix was ended before.
    pub checks: Vec<Ran>,
    /// What the fix changed.
    pub changes: Changed,
    /// What the fix left cannot be read: a failed attempt like others.
    pub broken: Option<FailureClass>,
    /// Whether they ran as root of the sandbox. The principal may have been root where the court is not.
    pub as_root: bool,
    /// What the command says that the sandbox lacks, when that explains why it fails.
    pub lack: Option<Lack>,
    /// The command with the original tests and files of its own, when a fix that works changes them.
    pub originals: Option<Originals>,
}

/// The conditions that a machine can check.
pub(crate) fn by_machine(conditions: &[Verification]) -> Vec<Verification> {
    conditions.iter().filter(|one| **one != Verification::Principal).cloned().collect()
}

impl Trial {
    /// The first condition that does not hold after the fix, in any run.
    pub fn unmet(&self, conditions: &[Verification]) -> Option<Unmet> {
        let none = [Ran::default()];
        let checks = if self.checks.is_empty() { &none[..] } else { &self.checks };
        let machine = by_machine(conditions);
        let failed = checks.iter().find_map(|check| unmet(&machine, &self.fix.run, &check.run));
        failed.or_else(|| conditions.contains(&Verification::Principal).then_some(Unmet::Principal))
    }

    /// What the runs without the fix say; nothing where nobody looked.
    pub fn control(&self, conditions: &[Verification]) -> Option<Control> {
        let machine = by_machine(conditions);
        let mut runs = self.control.iter();
        let mut last = None;
        Control::of(|| {
            let ran = runs.next().or(last).ok_or(())?;
            last = Some(ran);
            Ok::<_, ()>((ran.run.clone(), unmet(&machine, &Run::default(), &ran.run).is_none()))
        })
        .ok()
    }

    /// The result in words. `granted`: kinds of changes that the contract agrees to; `usual`: passes that a fix needs.
    pub fn result(
        &self,
        conditions: &[Verification],
        granted: &BTreeSet<ChangeClass>,
        usual: u32,
    ) -> TrialResult {
        let Some(control) = self.control(conditions) else { return TrialResult::not_run() };
        let runs = u32::try_from(self.checks.len()).unwrap_or(u32::MAX);
        let last = self.checks.last().map_or(Ending::Other, |check| Ending::of(&check.run));
        let passed =
            self.broken.is_none() && self.unmet(conditions).is_none() && runs >= control.passes(usual);
        TrialResult::of(control, (Runs { outcome: last, runs }, passed), self.changes.clone(), granted)
    }

    /// Why it does not count; nothing when all that a machine can check holds.
    pub fn failure(&self, conditions: &[Verification]) -> Option<Failure> {
        if let Some(class) = self.broken {
            return Some(Failure::new(FailedStep::Apply, Ending::of(&self.fix.run), class));
        }
        if let Some(Control::Holds(runs)) = self.control(conditions)
            && !self.control.is_empty()
        {
            return Some(Failure::new(FailedStep::Control, runs.outcome, FailureClass::Other));
        }
        let unmet = self.unmet(conditions).filter(|unmet| *unmet != Unmet::Principal)?;
        Some(Failure::of(&unmet, &self.last().run, conditions))
    }

    /// What ran last: the command, or the fix that a limit ended.
    pub fn last(&self) -> &Ran {
        self.checks.last().unwrap_or(&self.fix)
    }
}

/// The kind of change that the market knows a class by. `None`: it needs no consent.
pub fn class_on_the_wire(class: Class) -> Option<ChangeClass> {
    Some(match class {
        Class::InTree => return None,
        Class::OutsideTree => ChangeClass::Outside,
        Class::System => ChangeClass::System,
        Class::StartUpFile | Class::Hook | Class::Dotfile => ChangeClass::Dotfile,
        Class::SetuidBit | Class::Executable => ChangeClass::Executable,
        Class::OwnCommand => ChangeClass::OwnCommand,
        Class::Tests => ChangeClass::Tests,
        Class::Ci => ChangeClass::Ci,
        Class::Link => ChangeClass::Link,
        Class::Binary => ChangeClass::Binary,
    })
}

/// Whether a consent that was given beforehand covers a class. What would run with another user's rights is always
/// asked for.
pub fn is_granted(class: Class, granted: &BTreeSet<ChangeClass>) -> bool {
    class != Class::SetuidBit && class_on_the_wire(class).is_none_or(|kind| granted.contains(&kind))
}

/// A change set by numbers and kinds.
pub fn changed(changes: &ChangeSet) -> Changed {
    let (created, deleted, modified) = changes.counts();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Changed {
        classes: changes.classes().into_iter().filter_map(class_on_the_wire).collect(),
        created: number(created),
        deleted: number(deleted),
        modified: number(modified),
    }
}
