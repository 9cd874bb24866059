//! What a session reports, and what it asks.

use crate::error::{Error, Stopped};
use crate::model::Own;
use crate::payload::Payload;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use zx1_agent::bridge::BridgeError;
use zx1_market::contract::{Control, Failure};
use zx1_market::counts::FixCounts;
use zx1_market::money::Court;
use zx1_market::{ContractId, Entry, PartyId, Raw, State};
use zx1_market_client::{Bill, ClientError, Deposit};
use zx1_model::Spend;
use zx1_sandbox::ChangeSet;
use zx1_trial::{Answer as Investigated, Lack, Trial};

/// What an agent or a rule proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The fix as a shell command.
    pub fix: String,
    /// What takes the place of the command that failed, if that was wrong.
    pub corrected_command: Option<String>,
    /// Why the fix should work, for people.
    pub explanation: String,
}

/// A place where a fix is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Way {
    Rules,
    Model,
    Market,
}

impl Way {
    /// The word for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Model => "model",
            Self::Market => "market",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Progress of a session.
#[derive(Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants' texts say it")]
pub enum Event<'a> {
    /// The command is run again in the sandbox.
    Rehearsing { line: &'a str },
    /// A fix is looked for here.
    Trying { way: Way, to: Option<&'a str>, bounty: Option<Raw> },
    /// There is none here, and the next place is tried.
    NotHere { way: Way, error: &'a Error },
    /// No market was named, and none answers at the usual address.
    NoMarket { url: &'a str, has_model: bool },
    /// All that would leave the machine for the market. `deposit` is the whole deposit and its part that insures
    /// disputes, in a contract with a bounty; it is unknown in a dry run.
    Offer { payload: &'a Payload, agent_id: Option<&'a str>, server: &'a str, deposit: Option<(Raw, Raw)> },
    /// All that would go to the user's own model at first. `today`: what the day has cost so far.
    ForModel { payload: &'a Payload, own: &'a Own, today: Spend },
    /// A dry run ends. `sent`: what would have been sent, and where; nothing would, where it would only have been applied.
    DryRun { sent: Option<(&'a Payload, &'a str)> },
    /// The user's own model says or asks something.
    ModelSays { text: &'a str },
    /// A contract was posted.
    Posted(ContractId),
    /// The market's own ledger has made the deposit.
    Funded(Raw),
    /// The wallet holds less than the deposit.
    Short { balance: Raw, amount: Raw },
    /// The deposit is being paid from the wallet.
    Paying(&'a Deposit),
    /// The deposit has to be paid by other means.
    Deposit(&'a Deposit),
    /// An entry of the transcript. `ours`: this party has signed it.
    Entry { entry: &'a Entry, ours: bool },
    /// An agent has the contract. `fixes`: what the market has counted of it, in free contracts or in paid ones as this
    /// one is.
    Agent { agent: PartyId, fixes: FixCounts },
    /// The market does not answer; it is asked again until it does.
    Unreachable,
    /// The contract is halted.
    Halted(ContractId),
    /// An agent's command was answered.
    Answered { command: &'a str, answer: &'a Investigated },
    /// A built-in rule has read the output of a command.
    Investigated { command: &'a str, answer: &'a Investigated },
    /// A built-in rule knows a fix. The confidence is in percent.
    Rule { name: &'a str, title: &'a str, confidence: u8 },
    /// What an agent or a rule proposes for the line that failed.
    Proposed { proposal: &'a Proposal, line: &'a str },
    /// The proposal is being tried in the sandbox.
    Verifying,
    /// The proposal was tried. `judged_by_user`: only the user can say whether its output is right.
    Verified { trial: &'a Trial, failure: Option<&'a Failure>, passed: bool, judged_by_user: bool },
    /// The sandbox does not show the failure that the real machine shows, so no machine can prove a fix.
    NotReproduced { outside: u8, inside: &'a Control },
    /// The fix is applied, and the command runs on the real machine.
    RunningForReal { line: &'a str },
    /// The output of a failed attempt, scrubbed, before it is asked whether it may be sent.
    WouldSend { output: &'a str },
    /// It fails there, and the changes were taken back. `left`: what was changed again meanwhile.
    TakenBack { failure: &'a Failure, left: &'a [PathBuf] },
    /// A correction of the command's spelling fails in the sandbox, which lacks what it needs.
    Unproven { line: &'a str, lack: Lack },
    /// What a commit would change.
    Changes(&'a ChangeSet),
    /// The fix was applied. Without an undo record no file was changed.
    Applied { output: &'a str, undo: Option<&'a str>, folder: &'a Path },
    /// A fix that works is not applied.
    NotApplied(&'a Error),
    /// A fix was accepted while nobody watched here, and is applied now.
    Unapplied(ContractId),
    /// An accepted fix does not work here any more.
    Unmet { contract: ContractId, failure: &'a Failure },
    /// The market is being told that a fix is rejected.
    Rejected(&'a str),
    /// The user's answer to the agent was sent.
    Said(&'a str),
    /// The work went on before the user answered.
    Unanswered(ContractId),
    /// The user's answer came too late.
    Unsent(&'a ClientError),
    /// The session was stopped, and this became of the contract.
    Stopped(&'a Stopped),
    /// The contract has ended.
    Ended(Outcome),
    /// The 0x01 FEEDBACK was not left.
    FeedbackFailed { contract: ContractId, error: &'a BridgeError },
}

/// End of a contract.
#[derive(Debug)]
pub struct Outcome {
    /// The contract's id.
    pub contract: ContractId,
    /// Its final state.
    pub state: State,
    /// Whether an agent worked on it.
    pub taken: bool,
    /// Whether the contract let agents correct the command itself.
    pub takes_corrected_commands: bool,
    /// What it cost.
    pub bill: Bill,
    /// File of the saved transcript.
    pub transcript: Option<PathBuf>,
    /// The applied fix; its undo record, unless nothing had to be changed.
    pub applied: Option<Option<String>>,
}

/// A question with the answers yes and no.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// Whether the offer that was shown may be sent.
    Send,
    /// Whether what was shown may be sent to the user's own model, now and in later sessions.
    SendToModel {
        /// The model's name at its server.
        model: String,
        /// Where the server is.
        url: String,
    },
    /// Whether to send a command that was not found. Typed as a word, so that no habit answers it.
    SendNotFound,
    /// Whether to apply the fix of a contract that has ended, and was paid, while nobody watched here.
    ApplyPaid(ContractId),
    /// Whether to go on with an unfinished contract for the same command.
    GoOn(ContractId),
    /// Whether to apply a fix that changes so many files.
    Apply {
        /// Number of changed files.
        files: usize,
    },
    /// Whether to take a corrected command in place of the user's.
    Correct {
        /// Number of changed files.
        files: usize,
        /// The corrected command.
        line: String,
        /// Whether an agent wrote it. No check can tell whether it is what was wanted (`true` never fails).
        from_outside: bool,
    },
    /// Whether to run a correction of the command's spelling outside of the sandbox, in which it cannot be tested.
    RunUnproven {
        /// The corrected command.
        line: String,
        /// What the sandbox lacks.
        lack: Lack,
    },
    /// Whether to allow changes of one class that needs consent of its own (decision E11).
    Allow {
        /// What is changed.
        what: String,
        /// The changed paths.
        paths: Vec<PathBuf>,
    },
    /// Whether the output of a failed attempt, which was shown, may be sent to the agent.
    SendOutput,
    /// Whether the output that was shown is what the user wanted.
    Satisfied,
    /// Whether the agent acted in bad faith, so that the contract goes to the court.
    BadFaith,
    /// Whether to appeal.
    Appeal {
        /// The next court.
        court: Court,
        /// What losing there costs.
        fee: Raw,
    },
}

impl Question {
    /// Whether consent that was given beforehand answers it.
    pub fn takes_consent(&self) -> bool {
        match self {
            Self::Send
            | Self::SendToModel { .. }
            | Self::GoOn(_)
            | Self::ApplyPaid(_)
            | Self::Apply { .. } => true,
            Self::Correct { from_outside, .. } => !from_outside,
            Self::SendNotFound
            | Self::RunUnproven { .. }
            | Self::Allow { .. }
            | Self::SendOutput
            | Self::Satisfied
            | Self::BadFaith
            | Self::Appeal { .. } => false,
        }
    }
}

/// An answer to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The user agrees.
    Yes,
    /// The user declines.
    No,
    /// Nobody can be asked.
    Nobody,
}

/// A question that is answered with a line of text; an empty one says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prompt {
    /// Why a fix is rejected, for the agent.
    Why,
    /// An answer to the court, within 30 s.
    Response,
    /// The argument of an appeal.
    Argument,
    /// The answer to the agent's question in this contract.
    Reply(ContractId),
    /// The answer to the user's own model.
    ReplyToModel,
}

/// A user interface, or a policy in its place. Questions are asked on a thread of their own, so that a stop can
/// leave them behind.
pub trait Front: Send + Sync {
    /// Called with each step, to show progress.
    fn event(&self, event: Event<'_>);

    /// Whether a person can be asked.
    fn is_attended(&self) -> bool;

    /// Whether consent to whatever [`Question::takes_consent`] was given beforehand.
    fn consents(&self) -> bool;

    /// Asks for yes or no. Blocks.
    fn ask(&self, question: &Question) -> Answer;

    /// Asks for a line of text. Blocks.
    fn prompt(&self, prompt: &Prompt) -> String;

    /// Asks for a line of text until `enough` is set; what was half typed is then thrown away, because it must not
    /// become the answer to another question. Blocks.
    fn prompt_until(&self, prompt: &Prompt, enough: &AtomicBool) -> Option<String>;

    /// Called after a stop has left a question behind.
    fn left(&self) {}
}
