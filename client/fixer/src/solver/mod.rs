//! A fixer that is driven by a model: a step machine without I/O.
//!
//! [`Solver::step`] takes an [`Observation`] and gives a [`Step`]: a question for the model, or an
//! [`Action`] for the caller. It holds no clock, no connection and no randomness: tokens of fences come from
//! the caller's function. [`Solver::drive`] asks a model until there is an action.
//!
//! | phase | actions | next observation |
//! |---|---|---|
//! | investigating | Investigate | [`Observation::Output`] |
//! | | Accept | [`Observation::Accepted`] |
//! | | Decline | none: the end |
//! | working | Propose | [`Observation::Verified`], if the contract did not end |
//! | | Decline | none: the caller backs out, or lets the time run out |
//! | both | Say | [`Observation::Said`] |
//!
//! A model that proposes while it investigates has accepted: the machine gives Accept first and the proposal
//! then, without another question.
//!
//! Everything is bounded: rounds, attempts, repairs of unreadable answers, refused commands, messages, calls,
//! and every text. What the contract's text says about rounds and capabilities is enforced by the caller, who
//! knows the contract; the machine shows it to the model.

mod action;
mod question;

use std::collections::VecDeque;

pub use action::{Action, MAX_LINE, Proposal, is_line, read_action};

use crate::defaults;
use zx1_model::answer::AnswerError;
use zx1_model::prompt::{FenceToken, PromptError};
use zx1_model::{Finish, Model, ModelError, Request};
use zx1_scrub::neutral::one_line;

/// What a contract says. All of it is a stranger's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// The command that failed.
    pub command: String,
    /// What it said, scrubbed.
    pub error: String,
    /// The environment, for example as JSON.
    pub environment: String,
    /// What a fix may use: sudo, network, docker. For example as JSON.
    pub capabilities: String,
    /// How the fix is verified.
    pub verification: String,
    /// The contract takes no corrected command, so a proposal with one is of no use.
    pub refuses_corrected: bool,
}

/// Bounds of a solver's work on one contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Investigation rounds that this contract has left. They count per contract, not per agent (E3).
    pub rounds: u32,
    /// Fixes that may be proposed.
    pub attempts: u32,
    /// Unreadable answers in a row that the model may repair.
    pub repairs: u32,
    /// Refused commands, in all.
    pub refusals: u32,
    /// Messages to the principal, in all.
    pub says: u32,
    /// Questions to the model, in all.
    pub calls: u32,
    /// The longest answer in tokens.
    pub max_tokens: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            rounds: defaults::ROUNDS,
            attempts: defaults::ATTEMPTS,
            repairs: 1,
            refusals: 3,
            says: 2,
            calls: 24,
            max_tokens: defaults::SOLVER_TOKENS,
        }
    }
}

/// What the caller saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// The contract was found, or bonded. The first observation.
    Begin,
    /// An investigation's output.
    Output {
        /// The exit code, if there was one.
        exit: Option<i32>,
        /// What came back, both outputs together.
        text: String,
    },
    /// The principal's client or the server refused an investigation after all. It costs the round.
    Refused {
        /// Reason that was given.
        why: String,
    },
    /// The contract is ours to fix.
    Accepted,
    /// A proposed fix did not pass.
    Verified {
        /// What the principal said, and the verification's output.
        text: String,
    },
    /// The message was sent.
    Said,
    /// The principal wrote, and nothing else is awaited. While an action is under way, [`Solver::hear`] takes
    /// the message.
    Heard {
        /// Text of the message.
        text: String,
    },
    /// The model answered a [`Step::Ask`].
    Answered(Result<String, ModelError>),
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Ask the model, and come back with [`Observation::Answered`].
    Ask(Box<Request>),
    /// Take this action.
    Act(Action),
}

/// Says whether an investigation command may run: the whitelist's grammar (decision E9), or why not.
pub type Whitelist<'a> = dyn Fn(&str) -> Result<(), String> + Send + Sync + 'a;

/// Makes the token of each prompt's fences: [`FenceToken::random`], or a test's own.
pub type Tokens<'a> = dyn FnMut() -> Result<FenceToken, PromptError> + Send + 'a;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Investigating,
    Working,
    Ended,
}

/// What has happened so far.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Event {
    Investigated { command: String, exit: Option<i32>, output: String },
    NotAllowed { command: String, why: String },
    Proposed { fix: String, result: String },
    Told { text: String },
    Heard { text: String },
}

/// The most events that are kept; the oldest go first.
const HISTORY: usize = 64;

/// The machine for one contract.
pub struct Solver<'a> {
    task: Task,
    bounds: Bounds,
    whitelist: Box<Whitelist<'a>>,
    tokens: Box<Tokens<'a>>,
    phase: Phase,
    history: VecDeque<Event>,
    /// The investigation under way.
    command: Option<String>,
    /// A proposal that waits for the acceptance, or for its verification.
    held: Option<Proposal>,
    proposed: Option<Proposal>,
    repairs_left: u32,
    /// Why the last answer could not be read.
    unreadable: Option<AnswerError>,
    /// Why the model could not be asked.
    failure: Option<ModelError>,
    asking: bool,
}

impl std::fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solver")
            .field("phase", &self.phase)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

impl<'a> Solver<'a> {
    /// A machine for one contract. It begins investigating.
    pub fn new(
        task: Task,
        bounds: Bounds,
        whitelist: impl Fn(&str) -> Result<(), String> + Send + Sync + 'a,
        tokens: impl FnMut() -> Result<FenceToken, PromptError> + Send + 'a,
    ) -> Solver<'a> {
        Solver {
            task,
            bounds,
            whitelist: Box::new(whitelist),
            tokens: Box::new(tokens),
            phase: Phase::Investigating,
            history: VecDeque::new(),
            command: None,
            held: None,
            proposed: None,
            repairs_left: bounds.repairs,
            unreadable: None,
            failure: None,
            asking: false,
        }
    }

    /// An investigation that was answered before this machine was made: by an earlier run of this program, or
    /// for an earlier agent. Its round is spent already.
    pub fn recall_investigation(&mut self, command: String, exit: Option<i32>, output: String) {
        self.remember(Event::Investigated { command, exit, output: kept(output) });
    }

    /// A fix that failed before this machine was made. Its attempt is spent already.
    pub fn recall_proposal(&mut self, fix: String, result: String) {
        self.remember(Event::Proposed { fix, result: kept(result) });
    }

    /// The contract was accepted before this machine was made.
    pub fn recall_accepted(&mut self) {
        self.phase = Phase::Working;
    }

    /// What is still allowed.
    pub fn bounds_left(&self) -> Bounds {
        self.bounds
    }

    /// The model's error, if it has declined because of one.
    pub fn failure(&self) -> Option<&ModelError> {
        self.failure.as_ref()
    }

    /// Whether it has declined.
    pub fn ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// One step. Never panics; an observation that does not fit is taken as what it says, and the end stays
    /// the end.
    pub fn step(&mut self, observation: Observation) -> Step {
        if self.phase == Phase::Ended {
            return Step::Act(Action::Decline("The work on this contract has ended.".into()));
        }
        match observation {
            Observation::Begin | Observation::Said => self.ask(),
            Observation::Output { exit, text } => {
                let command = self.command.take().unwrap_or_default();
                self.remember(Event::Investigated { command, exit, output: kept(text) });
                self.ask()
            }
            Observation::Refused { why } => {
                let command = self.command.take().unwrap_or_default();
                self.remember(Event::NotAllowed { command, why: kept(why) });
                self.ask()
            }
            Observation::Accepted => {
                self.phase = Phase::Working;
                match self.held.take() {
                    Some(proposal) => self.propose(proposal),
                    None => self.ask(),
                }
            }
            Observation::Verified { text } => {
                let fix = self.proposed.take().map(|p| p.fix).unwrap_or_default();
                self.remember(Event::Proposed { fix, result: kept(text) });
                if self.bounds.attempts == 0 {
                    return self.decline("No attempt is left.");
                }
                self.ask()
            }
            Observation::Heard { text } => {
                self.hear(text);
                self.ask()
            }
            Observation::Answered(_) if !self.asking => self.ask(),
            Observation::Answered(Ok(text)) => {
                self.asking = false;
                self.take_answer(&text)
            }
            Observation::Answered(Err(error)) => {
                self.asking = false;
                let declined = self.decline(&error.to_string());
                self.failure = Some(error);
                declined
            }
        }
    }

    /// A message of the principal that came while something else is awaited. The next question shows it.
    pub fn hear(&mut self, text: String) {
        self.remember(Event::Heard { text: kept(text) });
    }

    /// Step, and ask the model until there is an action.
    pub async fn drive(&mut self, model: &dyn Model, observation: Observation) -> Action {
        let mut step = self.step(observation);
        loop {
            match step {
                Step::Act(action) => return action,
                Step::Ask(request) => {
                    let answer = model.complete(&request).await;
                    // A truncated text is not an answer, even if what is left can be read.
                    let text =
                        answer.map(|a| if a.finish == Finish::Length { String::new() } else { a.text });
                    step = self.step(Observation::Answered(text));
                }
            }
        }
    }

    fn take_answer(&mut self, text: &str) -> Step {
        let action = match read_action(text) {
            Ok(action) => action,
            Err(error) => return self.repair(error),
        };
        if let Err(why) = self.fits(&action) {
            return self.repair(AnswerError::shape(why));
        }
        self.repairs_left = self.bounds.repairs;
        self.unreadable = None;
        match action {
            Action::Investigate(command) => self.investigate(command),
            Action::Accept => Step::Act(Action::Accept),
            Action::Decline(reason) => self.decline(&reason),
            Action::Propose(proposal) if self.phase == Phase::Investigating => {
                self.held = Some(proposal);
                Step::Act(Action::Accept)
            }
            Action::Propose(proposal) => self.propose(proposal),
            Action::Say(text) => {
                self.bounds.says = self.bounds.says.saturating_sub(1);
                self.remember(Event::Told { text: text.clone() });
                Step::Act(Action::Say(text))
            }
        }
    }

    /// Whether an action is allowed now. The error is half a sentence for the model.
    fn fits(&self, action: &Action) -> Result<(), &'static str> {
        match action {
            Action::Investigate(_) if self.phase == Phase::Working => {
                Err("the investigation is over; propose or decline")
            }
            Action::Investigate(_) if self.bounds.rounds == 0 => {
                Err("no investigation round is left; accept, propose or decline")
            }
            Action::Accept if self.phase == Phase::Working => {
                Err("the contract is accepted; propose or decline")
            }
            Action::Propose(_) if self.bounds.attempts == 0 => Err("no attempt is left; decline"),
            Action::Propose(Proposal { corrected_command: Some(line), .. })
                if self.task.refuses_corrected && !line.trim().is_empty() =>
            {
                Err("this contract takes no corrected command; propose a fix without one, or decline")
            }
            Action::Say(_) if self.bounds.says == 0 => Err("no message is left; choose another action"),
            _ => Ok(()),
        }
    }

    fn investigate(&mut self, command: String) -> Step {
        match (self.whitelist)(&command) {
            Ok(()) => {
                self.bounds.rounds = self.bounds.rounds.saturating_sub(1);
                self.command = Some(command.clone());
                Step::Act(Action::Investigate(command))
            }
            // The round is not spent, but asking for ever is.
            Err(_) if self.bounds.refusals == 0 => {
                self.decline("The model asks for commands that may not run.")
            }
            Err(why) => {
                self.bounds.refusals = self.bounds.refusals.saturating_sub(1);
                self.remember(Event::NotAllowed { command, why: kept(why) });
                self.ask()
            }
        }
    }

    fn propose(&mut self, proposal: Proposal) -> Step {
        if self.bounds.attempts == 0 {
            return self.decline("No attempt is left.");
        }
        self.bounds.attempts = self.bounds.attempts.saturating_sub(1);
        self.proposed = Some(proposal.clone());
        Step::Act(Action::Propose(proposal))
    }

    fn repair(&mut self, error: AnswerError) -> Step {
        if self.repairs_left == 0 {
            return self.decline("The model's answers cannot be read.");
        }
        self.repairs_left = self.repairs_left.saturating_sub(1);
        self.unreadable = Some(error);
        self.ask()
    }

    fn decline(&mut self, reason: &str) -> Step {
        self.phase = Phase::Ended;
        Step::Act(Action::Decline(one_line(reason, action::MAX_REASON)))
    }

    fn ask(&mut self) -> Step {
        if self.bounds.calls == 0 {
            return self.decline("The model was asked as often as is allowed for one contract.");
        }
        self.bounds.calls = self.bounds.calls.saturating_sub(1);
        let token = match (self.tokens)() {
            Ok(token) => token,
            Err(error) => return self.decline(&error.to_string()),
        };
        self.asking = true;
        let prompt = question::build(&question::View {
            task: &self.task,
            bounds: self.bounds,
            working: self.phase == Phase::Working,
            history: &self.history,
            unreadable: self.unreadable.as_ref(),
            token,
        });
        Step::Ask(Box::new(prompt.request(self.bounds.max_tokens)))
    }

    fn remember(&mut self, event: Event) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(event);
    }
}

/// A stranger's text, as much of it as a prompt could show: what comes is not kept whole.
fn kept(text: String) -> String {
    let bound = defaults::INVESTIGATION_OUTPUT;
    if text.len() <= 2 * bound {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(bound)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - bound)..).unwrap_or_default();
    format!("{head}\n...\n{tail}")
}
