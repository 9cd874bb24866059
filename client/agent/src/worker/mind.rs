//! What an agent does next: the rules first, then a model, and nothing when neither knows.

use std::sync::Arc;

use zx1_market::Case;

use super::memory::{Memory, failure, task};
use zx1_fixer::rules::{self, Step};
use zx1_fixer::solver::{Action, Bounds, MAX_LINE, Observation, Solver, is_line};
use zx1_model::Model;
use zx1_model::prompt::FenceToken;
use zx1_scrub::neutral::one_line;

/// What to do in a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Move {
    Investigate(String),
    Accept,
    Fix {
        fix: String,
        explanation: String,
        corrected_command: Option<String>,
    },
    Say(String),
    /// Decline, or leave when it was accepted.
    Leave(String),
}

/// Whether an investigation command may be asked for (decision E9): its grammar, before anybody is asked.
pub(super) fn allowed(command: &str) -> Result<(), String> {
    zx1_whitelist::Command::parse(command).map(|_| ()).map_err(|refusal| refusal.to_string())
}

// What a solver proposes fits a fix entry.
const _: () = assert!(MAX_LINE <= zx1_market::defaults::MAX_COMMAND);

/// Whether a repair is of no use, because it is another command and the contract takes none.
fn is_refused(case: &Case, corrected: Option<&str>) -> bool {
    corrected.is_some() && !case.contract().takes_corrected_commands()
}

/// Why a contract is left whose only repair is another command.
const ONLY_CORRECTED: &str =
    "The only repair known is a corrected command, which this contract does not take.";

/// Why the rules alone leave a contract.
fn no_rule(case: &Case, memory: &Memory) -> &'static str {
    match rules::decide(&failure(case), &memory.findings()) {
        Step::Propose(proposal) if is_refused(case, proposal.corrected_command.as_deref()) => ONLY_CORRECTED,
        _ => "No rule knows this failure well enough to repair it.",
    }
}

/// What the rules want, if they want anything. The surest repair is the diagnosis: when it cannot be used, a
/// less sure one would treat what is not ill.
pub(super) fn by_rules(case: &Case, memory: &Memory) -> Option<Move> {
    let failure = failure(case);
    let left = rounds_left(case);
    match rules::decide(&failure, &memory.findings()) {
        // A question that was refused, or cannot be asked any more, leads nowhere.
        Step::Investigate(command) => {
            let can = left > 0 && !memory.was_refused(&command) && allowed(&command).is_ok();
            can.then_some(Move::Investigate(command))
        }
        Step::Propose(proposal) => {
            let corrected = proposal.corrected_command.as_deref();
            let useless = memory.has_tried(&proposal.fix, corrected) || is_refused(case, corrected);
            if useless || !corrected.is_none_or(is_line) {
                return None;
            }
            Some(Move::Fix {
                fix: proposal.fix,
                explanation: proposal.explanation,
                corrected_command: proposal.corrected_command,
            })
        }
        Step::Decline(_) => None,
    }
}

/// Investigation rounds that the contract has left, over all agents.
pub(super) fn rounds_left(case: &Case) -> u32 {
    case.contract().execution.investigation_rounds.saturating_sub(case.investigations())
}

/// Thinks for one contract. What it knows is read from the chain each time; a model's machine is kept while
/// the program runs and made anew from the chain after a restart.
pub(super) struct Mind {
    pub(super) rules: bool,
    pub(super) model: Option<Arc<dyn Model>>,
    solver: Option<Solver<'static>>,
    /// What the solver waits for.
    waits: Waits,
    heard: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Nothing,
    Output,
    Acceptance,
    Verification,
    Said,
}

impl Mind {
    pub(super) fn new(rules: bool, model: Option<Arc<dyn Model>>) -> Mind {
        Mind { rules, model, solver: None, waits: Waits::Nothing, heard: 0 }
    }

    /// The next move of whoever holds the contract and has the word.
    pub(super) async fn next(&mut self, case: &Case, memory: &Memory) -> Move {
        if self.rules
            && let Some(found) = by_rules(case, memory)
        {
            return match found {
                // What is known for sure is taken first, and proposed then.
                Move::Fix { .. } if !memory.accepted => Move::Accept,
                // Questions belong to the investigation; while working they are still answered.
                other => other,
            };
        }
        let Some(model) = self.model.clone() else {
            return Move::Leave(no_rule(case, memory).to_owned());
        };
        let mut solver = match self.solver.take() {
            Some(solver) => solver,
            None => self.made_anew(case, memory),
        };
        for (seq, text) in &memory.heard {
            if *seq > self.heard {
                solver.hear(text.clone());
                self.heard = *seq;
            }
        }
        let observation = self.observation(memory);
        let action = solver.drive(&*model, observation).await;
        self.solver = Some(solver);
        self.waits = match &action {
            Action::Investigate(_) => Waits::Output,
            Action::Accept => Waits::Acceptance,
            Action::Propose(_) => Waits::Verification,
            Action::Say(_) => Waits::Said,
            Action::Decline(_) => Waits::Nothing,
        };
        match action {
            Action::Investigate(command) => Move::Investigate(command),
            Action::Accept => Move::Accept,
            Action::Decline(reason) => Move::Leave(reason),
            Action::Say(text) => Move::Say(text),
            Action::Propose(proposal) => {
                let corrected_command =
                    proposal.corrected_command.filter(|command| !command.trim().is_empty());
                Move::Fix { fix: proposal.fix, explanation: proposal.explanation, corrected_command }
            }
        }
    }

    /// The solver's observation of its last action, from the transcript.
    fn observation(&self, memory: &Memory) -> Observation {
        match self.waits {
            Waits::Nothing => Observation::Begin,
            Waits::Said => Observation::Said,
            Waits::Acceptance => Observation::Accepted,
            Waits::Output => match memory.answered.last() {
                Some(last) if last.refused => Observation::Refused { why: last.output.clone() },
                Some(last) => Observation::Output {
                    exit: last.exit.and_then(|code| i32::try_from(code).ok()),
                    text: last.output.clone(),
                },
                None => Observation::Refused { why: "No output came.".to_owned() },
            },
            Waits::Verification => Observation::Verified {
                text: memory.tried.last().and_then(|t| t.failure.clone()).unwrap_or_default(),
            },
        }
    }

    /// A machine that knows what stands in the chain.
    fn made_anew(&mut self, case: &Case, memory: &Memory) -> Solver<'static> {
        let attempts = case.contract().execution.max_attempts.saturating_sub(case.attempts());
        let defaults = Bounds::default();
        let bounds = Bounds {
            rounds: rounds_left(case),
            attempts,
            says: defaults.says.saturating_sub(memory.said),
            ..defaults
        };
        let mut solver = Solver::new(task(case.contract()), bounds, allowed, FenceToken::random);
        for answered in &memory.answered {
            let exit = answered.exit.and_then(|code| i32::try_from(code).ok());
            solver.recall_investigation(answered.command.clone(), exit, answered.output.clone());
        }
        for tried in &memory.tried {
            let result = tried.failure.clone().unwrap_or_else(|| "no verification came".to_owned());
            solver.recall_proposal(tried.fix.clone(), result);
        }
        if memory.accepted {
            solver.recall_accepted();
        }
        self.waits = Waits::Nothing;
        solver
    }

    /// A refusal of the server that the solver should know: an investigation that was not asked after all.
    pub(super) fn refused(&mut self, why: &str) {
        if self.waits == Waits::Output
            && let Some(solver) = &mut self.solver
        {
            solver.hear(format!("(the market) {}", one_line(why, 300)));
            self.waits = Waits::Nothing;
        }
    }
}
