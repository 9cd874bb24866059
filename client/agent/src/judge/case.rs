//! What a judge has before it.

use serde::{Deserialize, Serialize};

use super::{Court, Outcome};

/// Who wrote a transcript's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// The contract's principal.
    Principal,
    /// The agent of this round.
    Agent,
    /// An agent of an earlier round.
    EarlierAgent,
    /// The judge, below.
    Judge,
    /// The market server.
    Server,
}

impl Author {
    /// Its name in a prompt.
    pub fn name(self) -> &'static str {
        match self {
            Author::Principal => "principal",
            Author::Agent => "agent",
            Author::EarlierAgent => "earlier_agent",
            Author::Judge => "judge",
            Author::Server => "server",
        }
    }
}

/// An entry of the signed transcript. The caller has verified the chain and who signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number in the chain.
    pub seq: u64,
    /// Its type: `post`, `fix`, `verify` and the others.
    pub kind: String,
    /// Who signed it.
    pub author: Author,
    /// Seconds since 1970, as its author says.
    pub timestamp: String,
    /// Its data, as text.
    pub text: String,
}

impl Entry {
    /// Talk, which gives way first when there is too much to read: a party must not be able to push the
    /// evidence out by talking.
    pub(super) fn is_talk(&self) -> bool {
        !matches!(
            self.kind.as_str(),
            "post"
                | "bond"
                | "accept"
                | "investigate"
                | "result"
                | "fix"
                | "verify"
                | "ruling"
                | "halt"
                | "dispute_filed"
                | "dispute_response"
                | "review_accept"
                | "review_reject"
                | "back_out"
        )
    }
}

/// What came of running the verification again in a clean sandbox (decision E6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// After the fix, the verification passed.
    Passed,
    /// The same, by changes that need consents that the contract does not grant.
    PassedWith,
    /// After the fix, the verification failed.
    Failed,
    /// It could not be re-run: no inputs, another system, no fix, a limit.
    NotPossible,
}

impl Status {
    /// Its name, as it stands on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::PassedWith => "passed_with",
            Status::Failed => "failed",
            Status::NotPossible => "not_possible",
        }
    }
}

/// The machine's evidence. Its status is a fact; its outputs are what a party's programs printed, and so
/// data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reexecution {
    /// What came of it.
    pub status: Status,
    /// Whether every input was chained before the fix. Inputs that were attached later prove nothing.
    pub inputs_before_fix: bool,
    /// The verification's exit code.
    pub exit: Option<i32>,
    /// An excerpt of its standard output, scrubbed.
    pub stdout: String,
    /// An excerpt of its error output, scrubbed.
    pub stderr: String,
    /// What the machine has to say about it: which limits, what was missing. This program's words.
    pub notes: String,
}

impl Reexecution {
    /// Nothing could be re-run, for this reason.
    pub fn not_possible(notes: impl Into<String>) -> Reexecution {
        Reexecution {
            status: Status::NotPossible,
            inputs_before_fix: false,
            exit: None,
            stdout: String::new(),
            stderr: String::new(),
            notes: notes.into(),
        }
    }

    /// Whether it decides the question whether the fix works: it was run, on inputs chained before the fix.
    pub fn decides(&self) -> bool {
        self.inputs_before_fix && matches!(self.status, Status::Passed | Status::Failed)
    }

    /// Whether an outcome is against it. A fix that passes may still be evil (it deletes the test), and one
    /// that fails may meet an evil principal; that is for the model to say, but never silently.
    pub fn contradicts(&self, outcome: Outcome) -> bool {
        if !self.decides() {
            return false;
        }
        match self.status {
            Status::Passed => !matches!(outcome, Outcome::Fulfilled | Outcome::EvilPrincipal),
            Status::Failed => matches!(outcome, Outcome::Fulfilled | Outcome::EvilPrincipal),
            Status::PassedWith | Status::NotPossible => false,
        }
    }

    /// What is ruled when a model answers so. Where the machine decides, the first court rules nothing else, and a
    /// higher one only that somebody is evil: a text that steers one model moves no money against the machine.
    pub fn ruled(&self, court: Court, answer: Outcome) -> Outcome {
        let is_evil = matches!(answer, Outcome::EvilAgent | Outcome::EvilPrincipal | Outcome::EvilBoth);
        match self.status {
            _ if !self.contradicts(answer) || (is_evil && court != Court::District) => answer,
            Status::Passed => Outcome::Fulfilled,
            _ => Outcome::Canceled,
        }
    }
}

/// The ruling of the court below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    /// Court that has to rule.
    pub court: Court,
    /// What it ruled.
    pub outcome: Outcome,
    /// Why. Made of strangers' texts, and so data.
    pub reasoning: String,
}

/// Everything that a judge has before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The transcript, in the chain's order.
    pub entries: Vec<Entry>,
    /// What the principal says. `None`: nothing in time.
    pub principal_argument: Option<String>,
    /// What the agent says. `None`: nothing in time.
    pub agent_argument: Option<String>,
    /// Who filed the dispute or the appeal.
    pub filed_by: Author,
    /// The machine's evidence.
    pub reexecution: Reexecution,
    /// The ruling that is appealed; none in the first court.
    pub previous: Option<Previous>,
}
