//! The rule of verification (decision E15): whether what was run meets a contract's conditions. The principal,
//! the agent's own proof and the courts all ask [`unmet`], so that none of them pays for obeying another rule.
//!
//! What counts is how the command ends after the fix (fix.md, "Verification"). How the fix's own script ends
//! does not count, because a script whose last line is `grep -q` may have repaired everything. Only a limit
//! that ended the script does: what it leaves behind is half a fix.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Verification;

/// The bound that ended a run early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Wall-clock time from start to end.
    Time,
    /// Memory of all processes together.
    Memory,
    /// Processes at the same time.
    Processes,
    /// Bytes written to standard output or standard error.
    Output,
    /// What it left behind: number, depth or size of the files that it changed.
    Files,
    /// Somebody stopped it, with Ctrl+C for example.
    Canceled,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Time => "it took too long",
            Limit::Memory => "it used too much memory",
            Limit::Processes => "it started too many processes",
            Limit::Output => "it wrote too much",
            Limit::Files => "it left too many, too deep or too large files",
            Limit::Canceled => "it was stopped",
        })
    }
}

/// How a command ended, as far as conditions ask for it. Displayed as part of a sentence: "exit code 1".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Exit code, 0 to 255, if the command ended by itself.
    pub exit: Option<i32>,
    /// Signal that ended the command.
    pub signal: Option<i32>,
    /// Bound that was hit.
    pub limit: Option<Limit>,
    /// Standard output as text.
    pub stdout: String,
}

impl Run {
    /// The status as a shell reports it: the exit code, or 128 and the number of the signal.
    pub fn status(&self) -> Option<i32> {
        self.exit.or_else(|| self.signal.map(|signal| signal.saturating_add(128)))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.limit, self.signal, self.exit) {
            (Some(limit), _, _) => limit.fmt(f),
            (None, Some(signal), _) => write!(f, "signal {signal} ended it"),
            (None, None, Some(exit)) => write!(f, "exit code {exit}"),
            (None, None, None) => f.write_str("no exit code"),
        }
    }
}

/// Which of the two runs of a trial: the fix, or the command that it repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The script of the fix.
    Apply,
    /// The command that is verified.
    Check,
}

/// The first condition that does not hold. Displayed as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum Unmet {
    /// A bound ended a run, so nothing is known about the rest.
    Limit {
        /// The run that the bound ended.
        step: Step,
        /// The bound that was hit.
        limit: Limit,
    },
    /// The command ended with another status.
    WrongExit {
        /// The status as [`Run::status`] reports it; `None` when the command did not end by itself.
        found: Option<i32>,
        /// The exit code that the contract expects, 0 to 255.
        expected: u8,
    },
    /// The command's standard output does not match.
    OutputMismatch {
        /// The contract's regular expression.
        pattern: String,
    },
    /// All that a machine can check holds; the rest is for the principal to say.
    Principal,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Limit { step: Step::Apply, limit } => write!(f, "The fix did not end by itself: {limit}."),
            Unmet::Limit { step: Step::Check, limit } => {
                write!(f, "The command did not end by itself: {limit}.")
            }
            Unmet::WrongExit { found: Some(found), expected: 0 } => {
                write!(f, "The command still fails: exit code {found}.")
            }
            Unmet::WrongExit { found: Some(found), expected } => {
                write!(f, "The command ended with exit code {found} instead of {expected}.")
            }
            Unmet::WrongExit { found: None, .. } => f.write_str("The command has no exit code."),
            Unmet::OutputMismatch { pattern } => write!(f, "The output does not match {pattern}."),
            Unmet::Principal => f.write_str("The principal has not said that this is what was wanted."),
        }
    }
}

/// The first condition that does not hold after a fix; `None`: the contract is met. `fix` is the run of the
/// fix, `check` the run of the command after it. What only the principal can say comes last, wherever it
/// stands in the contract.
pub fn unmet(conditions: &[Verification], fix: &Run, check: &Run) -> Option<Unmet> {
    for (step, run) in [(Step::Apply, fix), (Step::Check, check)] {
        if let Some(limit) = run.limit {
            return Some(Unmet::Limit { step, limit });
        }
    }
    let by_machine = conditions.iter().find_map(|condition| match condition {
        Verification::ExitCode { expected } => {
            let found = check.status();
            (found != Some((*expected).into())).then_some(Unmet::WrongExit { found, expected: *expected })
        }
        Verification::OutputMatch { pattern } => {
            let regex = condition.regex().and_then(Result::ok);
            let matches = regex.is_some_and(|regex| regex.is_match(&check.stdout));
            (!matches).then(|| Unmet::OutputMismatch { pattern: pattern.clone() })
        }
        Verification::Principal => None,
    });
    by_machine.or_else(|| conditions.contains(&Verification::Principal).then_some(Unmet::Principal))
}
