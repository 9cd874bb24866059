//! The built-in fixer: rules that repair the usual failures without any model.
//!
//! A rule looks at a [`Failure`] and says one of three things: it is not mine; I must see the output of this
//! read-only command first (decision E9, at most five a contract); or this is the [`Proposal`]. Everything
//! here is pure: the caller runs the commands. A failure that no rule knows is declined, never guessed.
//!
//! # Two kinds of repair
//!
//! - [`Kind::World`]: the command was right and the world was wrong. The fix changes files, and the command
//!   that failed, run again unchanged, must exit 0 (fix.md, "Verification").
//! - [`Kind::Command`]: the command itself was wrong: a misspelt subcommand, a missing `-lm`. No change of
//!   the world makes it pass honestly, so the proposal carries `corrected_command`. The principal is asked to
//!   take it in place of the one that failed, and the verification runs it.
//!
//! # What a fix never does
//!
//! No rule deletes a file, kills a process, calls `sudo`, or uses the network unless the contract grants it.
//! A file that stands in the way is moved to a new name (`mv -n`), never overwritten. Lines are changed in
//! place only where the rule has read them; the fix first checks that the line is still the same, and the
//! sandbox keeps the undo record (decision E11). Every word that comes from the error or from a file of the
//! principal is checked against a small alphabet and then quoted for the shell.
//!
//! # Use
//!
//! ```
//! use zx1_fixer::rules::{Failure, Findings, Step, decide};
//!
//! let failure = Failure::new("gcc app.c -o app", "app.c:(.text+0x1): undefined reference to `sqrt'\n\
//!     collect2: error: ld returned 1 exit status\n", 1);
//! match decide(&failure, &Findings::default()) {
//!     Step::Propose(proposal) => {
//!         assert_eq!(proposal.corrected_command.as_deref(), Some("gcc app.c -o app -lm"));
//!     }
//!     Step::Investigate(command) => println!("first show me: {command}"),
//!     Step::Decline(reason) => println!("{reason}"),
//! }
//! ```

mod case;
mod edit;
mod probe;
mod shell;
mod text;

mod archive;
mod cargo;
mod compile;
mod coreutils;
mod git;
mod halt;
mod headers;
mod java;
mod json;
mod link;
mod make;
mod node;
mod npm;
mod perl;
mod pip;
mod port;
mod python;
mod python_source;
mod rust;
mod script;
mod search;
mod table;

use std::fmt;

use case::{Case, Halt};
use probe::Probe;
use zx1_coded::Coded;

pub use probe::Findings;
pub use table::catalogue;

/// How many read-only commands a contract allows (fix.md, "Contract").
pub const MAX_ROUNDS: usize = 5;

/// A failed command, as a contract describes it (fix.md, "Contract").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// The command line, as the principal typed it.
    pub command: String,
    /// What it wrote to standard output and error, scrubbed (decision E10).
    pub error: String,
    /// Its exit code.
    pub exit_code: i32,
    /// `environment.os`, for example `Linux`.
    pub os: String,
    /// `environment.arch`, for example `x86_64`.
    pub arch: String,
    /// The contract's `environment.package_managers`.
    pub package_managers: Vec<String>,
    /// What the principal allows.
    pub capabilities: Capabilities,
}

impl Failure {
    /// A failure on Linux without any capability.
    pub fn new(command: impl Into<String>, error: impl Into<String>, exit_code: i32) -> Self {
        Self {
            command: command.into(),
            error: error.into(),
            exit_code,
            os: "Linux".to_owned(),
            ..Self::default()
        }
    }
}

/// What a fix may use (fix.md, "Contract").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Root rights beyond those of the command that failed, through `sudo`. No rule uses them.
    pub sudo: bool,
    /// The network, at least the package mirrors.
    pub network: bool,
    /// A container engine.
    pub docker: bool,
}

/// Whether the world or the command was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The fix changes the world; the failed command is run again unchanged.
    World,
    /// The command was wrong; the proposal has a `corrected_command`.
    Command,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::World => "world",
            Self::Command => "command",
        })
    }
}

/// One rule of the catalogue.
pub struct Rule {
    /// A stable name, for example `git-no-upstream`.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// The kind of tool that it knows, for example `git`.
    pub tool: &'static str,
    /// Which kind of repair it proposes.
    pub kind: Kind,
    /// One sentence: what it looks for and what it does.
    pub doc: &'static str,
    run: fn(&Case<'_>, &Probe<'_>) -> Result<Repair, Halt>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("id", &self.id)
            .field("tool", &self.tool)
            .field("kind", &self.kind)
            .finish()
    }
}

/// What a rule's function answers with; [`Rule`] adds its own name to make it a [`Proposal`].
struct Repair {
    fix: String,
    corrected_command: Option<String>,
    explanation: String,
    confidence: u8,
}

/// A repair to send as a contract's fix (fix.md, "Fix").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The rule that made it.
    pub rule: &'static str,
    /// A POSIX shell script that changes the world. It exits with something else than 0, changing nothing,
    /// when the files are not as the rule saw them. `true` when only the command was wrong.
    pub fix: String,
    /// `Some` when the command itself was wrong: what to run instead of it, after the fix. The verification
    /// runs it in place of the command that failed, and the principal must consent to that.
    pub corrected_command: Option<String>,
    /// For the principal, in a sentence or two.
    pub explanation: String,
    /// 1 to 100. What is surely this failure has 90 and more.
    pub confidence: u8,
}

impl Proposal {
    /// Whether it is only another spelling of `command`: nothing is done before it, and of a line that is understood
    /// whole one word is another. No word comes or goes, and no program of the folder takes the place of another one.
    pub fn respells(&self, command: &str) -> bool {
        let Some(corrected) = self.corrected_command.as_deref().filter(|_| self.fix == "true") else {
            return false;
        };
        shell::split(command)
            .zip(shell::split(corrected))
            .is_some_and(|(old, new)| shell::differ_in_a_word(&old, &new))
    }

    /// The whole repair as one script (`apt install libbar-dev && gcc foo.c`):
    /// for showing, and for clients that know no `corrected_command`.
    pub fn script(&self) -> String {
        match &self.corrected_command {
            None => self.fix.clone(),
            Some(command) if self.fix == "true" => command.clone(),
            Some(command) => format!("{} &&\n{command}", self.fix),
        }
    }
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Run this read-only command (it fits the grammar of decision E9) and add its output to the findings.
    Investigate(String),
    /// Submit this proposal.
    Propose(Proposal),
    /// Decline the contract.
    Decline(Decline),
}

/// Why a failure is declined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
pub enum Decline {
    /// No rule knows this failure.
    #[code(9300)]
    #[error("no rule knows this failure.")]
    Unknown,
    /// A rule knows it, but what it saw does not allow a certain repair.
    #[code(9301)]
    #[error("the rule {rule} knows this failure but declines: {reason}.")]
    Unsure {
        /// Name of the rule.
        rule: &'static str,
        /// What was missing or ambiguous.
        reason: String,
    },
    /// Several rules have equally good, different repairs.
    #[code(9302)]
    #[error("the rules {} repair this differently, and none is surer. Choose by hand.", .rules.join(", "))]
    Conflict {
        /// Names of the rules.
        rules: Vec<&'static str>,
    },
    /// The contract's investigation rounds are used up.
    #[code(9303)]
    #[error("the rule {rule} needs to read more than the {MAX_ROUNDS} commands that a contract allows.")]
    OutOfRounds {
        /// Name of the rule.
        rule: &'static str,
    },
    /// The repair needs something that the contract does not grant.
    #[code(9304)]
    #[error("the rule {rule} needs the {capability} capability, which is not granted.")]
    NotGranted {
        /// Name of the rule.
        rule: &'static str,
        /// Name of the capability.
        capability: &'static str,
    },
}

/// A rule that recognises a failure.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    rule: &'static Rule,
    case: std::rc::Rc<Case<'a>>,
}

impl Candidate<'_> {
    /// The rule that was chosen.
    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// What this rule wants next, given what has been read.
    pub fn step(&self, findings: &Findings) -> Step {
        let rule = self.rule.id;
        match (self.rule.run)(&self.case, &Probe::new(findings)) {
            Ok(repair) => Step::Propose(Proposal {
                rule,
                fix: repair.fix,
                corrected_command: repair.corrected_command,
                explanation: repair.explanation,
                confidence: repair.confidence.clamp(1, 100),
            }),
            Err(Halt::Ask(command)) if findings.len() < MAX_ROUNDS => Step::Investigate(command),
            Err(Halt::Ask(_)) => Step::Decline(Decline::OutOfRounds { rule }),
            Err(Halt::Decline(reason)) => Step::Decline(Decline::Unsure { rule, reason }),
            Err(Halt::NotGranted(capability)) => Step::Decline(Decline::NotGranted { rule, capability }),
            Err(Halt::NotMine) => Step::Decline(Decline::Unknown),
        }
    }
}

/// The rules that recognise a failure.
#[derive(Debug)]
pub struct Diagnosis;

impl Diagnosis {
    /// Every rule that recognises this failure, in the catalogue's order. An empty list means: decline.
    pub fn of(failure: &Failure) -> Vec<Candidate<'_>> {
        let nothing = Findings::default();
        let Some(case) = Case::of(failure).map(std::rc::Rc::new) else { return Vec::new() };
        catalogue()
            .iter()
            .filter(|rule| !matches!((rule.run)(&case, &Probe::new(&nothing)), Err(Halt::NotMine)))
            .map(|rule| Candidate { rule, case: case.clone() })
            .collect()
    }
}

/// What to do about a failure, given what has been read so far: the surest proposal of all rules, after
/// everything that they wanted to read has been read. Equally sure but different proposals are declined.
pub fn decide(failure: &Failure, findings: &Findings) -> Step {
    let mut proposals: Vec<Proposal> = Vec::new();
    let mut declined: Option<Decline> = None;
    for candidate in Diagnosis::of(failure) {
        match candidate.step(findings) {
            investigate @ Step::Investigate(_) => return investigate,
            Step::Propose(proposal) => proposals.push(proposal),
            Step::Decline(Decline::Unknown) => {}
            Step::Decline(reason) => {
                declined.get_or_insert(reason);
            }
        }
    }
    choose(proposals, declined)
}

/// The surest proposal; a conflict when another one is as sure and different.
fn choose(mut proposals: Vec<Proposal>, declined: Option<Decline>) -> Step {
    proposals.sort_by_key(|proposal| std::cmp::Reverse(proposal.confidence));
    let Some(best) = proposals.first() else { return Step::Decline(declined.unwrap_or(Decline::Unknown)) };
    let rivals: Vec<&Proposal> = proposals
        .iter()
        .filter(|other| other.confidence == best.confidence)
        .filter(|other| (&other.fix, &other.corrected_command) != (&best.fix, &best.corrected_command))
        .collect();
    if rivals.is_empty() {
        return Step::Propose(best.clone());
    }
    let rules = std::iter::once(best).chain(rivals).map(|proposal| proposal.rule).collect();
    Step::Decline(Decline::Conflict { rules })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(rule: &'static str, fix: &str, confidence: u8) -> Proposal {
        let explanation = String::new();
        Proposal { rule, fix: fix.to_owned(), corrected_command: None, explanation, confidence }
    }

    #[test]
    fn the_surest_proposal_wins() {
        let step = choose(vec![proposal("a", "x", 80), proposal("b", "y", 90)], None);
        assert_eq!(step, Step::Propose(proposal("b", "y", 90)));
    }

    #[test]
    fn equally_sure_and_different_proposals_are_declined() {
        let step = choose(vec![proposal("a", "x", 90), proposal("b", "y", 90), proposal("c", "z", 10)], None);
        assert_eq!(step, Step::Decline(Decline::Conflict { rules: vec!["a", "b"] }));
        let step = choose(vec![proposal("a", "x", 90), proposal("b", "x", 90)], None);
        assert!(matches!(step, Step::Propose(_)));
    }

    #[test]
    fn a_spelling_is_one_other_word_and_nothing_else() {
        let corrected = |fix: &str, line: &str| Proposal {
            corrected_command: Some(line.to_owned()),
            ..proposal("a", fix, 90)
        };
        for (command, line) in [
            ("kubeclt get pods", "kubectl get pods"),
            ("git push orgin main", "git push origin main"),
            ("make && git psuh", "make && git push"),
            ("./depoly.sh now", "./deploy.sh now"),
            ("A=1 crul 'http://h/a b' > out", "A=1 curl 'http://h/a b' > out"),
        ] {
            assert!(corrected("true", line).respells(command), "{line}");
            assert!(!corrected("touch x", line).respells(command), "{line}");
        }
        for (command, line) in [
            ("git push orgin", "git push origin --force"),
            ("git push orgin main", "git push origin master"),
            ("git psuh", "git psuh"),
            ("crul h > a", "curl h > b"),
            ("crul h > a", "curl h >> a; b"),
            ("crul h", "curl h && sh"),
            ("crul h", "curl $(sh)"),
            ("crul $h", "curl $h"),
            ("gti status", "./gti status"),
            ("ls *.c", "ls '*.c'"),
        ] {
            assert!(!corrected("true", line).respells(command), "{line}");
        }
        assert!(!proposal("a", "true", 90).respells("ls"));
    }

    #[test]
    fn a_script_holds_the_fix_and_the_corrected_command() {
        let mut both = proposal("a", "mkdir -p x", 90);
        assert_eq!(both.script(), "mkdir -p x");
        both.corrected_command = Some("make".to_owned());
        assert_eq!(both.script(), "mkdir -p x &&\nmake");
        both.fix = "true".to_owned();
        assert_eq!(both.script(), "make");
    }
}
