//! Judges (fix.md, "Courts"; decisions E5, E6).
//!
//! First the machine: what can be re-run was re-run, and its result ([`Reexecution`]) stands first in the
//! prompt. Then the model, with every party's text fenced as data. Its answer is read strictly
//! ([`read_opinion`]); what cannot be read is not a ruling. [`consequence`] says what follows from each end:
//!
//! | end | first court | higher court |
//! |---|---|---|
//! | a verdict with the machine | it is ruled | it is ruled |
//! | a verdict against it | the machine's | the machine's, unless it finds somebody evil |
//! | an unreadable answer | fulfilled if the fix has passed, else impossible | the previous ruling stands |
//! | no answer in time, or no model | void | the previous ruling stands |
//!
//! A verdict against the machine's own result is never silent: whatever is ruled then carries
//! [`Flag::ReexecutionContradicts`], and [`Reexecution::ruled`] says what that is.

mod case;
mod court;
mod opinion;
mod question;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use case::{Author, Case, Entry, Previous, Reexecution, Status};
pub use court::{Court, CourtConfig, CourtError, CourtRecord, Courts, CourtsRecord};
pub use opinion::{Flag, MAX_REASONING, Opinion, Outcome, read_opinion};

use crate::defaults;
use zx1_coded::Coded;
use zx1_model::answer::AnswerError;
use zx1_model::prompt::{FenceToken, Prompt};
use zx1_model::{Answer, Finish, Line, Model, ModelError, Scripted, Usage};
use zx1_scrub::neutral::{neutral, one_line};

/// A ruling, before it is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What is ruled.
    pub outcome: Outcome,
    /// Why, in the model's words: neutral text, at most [`MAX_REASONING`] bytes before it was made neutral.
    pub reasoning: String,
    /// What a reader should know.
    pub flags: BTreeSet<Flag>,
    /// Name of the model.
    pub model: String,
    /// What it took.
    pub usage: Usage,
    /// What it cost in micro-USD.
    pub micro_usd: u64,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum RuleError {
    /// The model's answer is not a ruling. First court: fulfilled if the fix has passed, else impossible. Above: the
    /// previous ruling stands.
    #[code(9365)]
    #[error("The judge's answer cannot be read. {why} It began with: {excerpt}")]
    Unparsable {
        /// What is wrong with the answer.
        why: AnswerError,
        /// Its first 200 bytes, neutral, on one line.
        excerpt: String,
        /// Whether the machine had found the fix to work, which then decides.
        has_passed: bool,
        /// Name of the model.
        model: String,
        /// What it took.
        usage: Usage,
    },
    /// No answer in time. First court: void. Above: the previous ruling stands.
    #[code(9366)]
    #[error(
        "The judge did not rule within {} s. A first dispute is void; an appealed ruling stands.",
        .after.as_secs()
    )]
    TimedOut {
        /// The time it had.
        after: Duration,
    },
    /// The model cannot be asked. The caller may try another model while there is time.
    #[code(9367, transient = Self::may_pass)]
    #[error("The judge's model cannot be asked. {0}")]
    Model(#[from] ModelError),
}

impl RuleError {
    fn may_pass(&self) -> bool {
        matches!(self, RuleError::Model(error) if error.transient())
    }

    /// The flag that tells of it.
    pub fn flag(&self) -> Flag {
        match self {
            Self::Unparsable { .. } => Flag::ParseError,
            Self::TimedOut { .. } => Flag::Timeout,
            Self::Model(_) => Flag::ModelError,
        }
    }
}

/// What follows from the end of a judging (decision E6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consequence {
    /// This is ruled.
    Ruled(Verdict),
    /// Everything goes back; nobody is punished for a judge that did not work.
    Void,
    /// The ruling of the court below stands. The flag says why.
    PreviousStands(Flag),
}

/// What follows. `time_is_over` says whether the judge's time has passed: before, a model that cannot be
/// asked is not an end yet, and `None` comes back: ask another.
pub fn consequence(court: Court, end: Result<Verdict, RuleError>, time_is_over: bool) -> Option<Consequence> {
    let error = match end {
        Ok(verdict) => return Some(Consequence::Ruled(verdict)),
        Err(error) => error,
    };
    if matches!(error, RuleError::Model(_)) && !time_is_over {
        return None;
    }
    if court != Court::District {
        return Some(Consequence::PreviousStands(error.flag()));
    }
    Some(match error {
        RuleError::Unparsable { why, has_passed, model, usage, .. } => Consequence::Ruled(Verdict {
            outcome: if has_passed { Outcome::Fulfilled } else { Outcome::Impossible },
            reasoning: if has_passed {
                format!("The judge's answer could not be read, and the machine found the fix to work. {why}")
            } else {
                format!("The judge's answer could not be read, so nobody is punished. {why}")
            },
            flags: BTreeSet::from([Flag::ParseError]),
            model,
            usage,
            micro_usd: 0,
        }),
        RuleError::TimedOut { .. } | RuleError::Model(_) => Consequence::Void,
    })
}

/// How a judge works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judge {
    /// Its time for one ruling. It starts when the re-execution's result is chained (decision E6), so the
    /// caller passes what is left.
    pub time: Duration,
    /// The longest answer in tokens.
    pub max_tokens: u32,
}

impl Default for Judge {
    fn default() -> Judge {
        Judge { time: defaults::JUDGE_TIME, max_tokens: defaults::JUDGE_TOKENS }
    }
}

impl Judge {
    /// The prompt for a case. `token` is new for each.
    pub fn prompt(&self, court: Court, case: &Case, token: FenceToken) -> Prompt {
        question::build(court, case, token)
    }

    /// Rule. One question, one answer; an unreadable one is not asked for again (fix.md, "Judge
    /// malfunction").
    pub async fn rule(
        &self,
        model: &dyn Model,
        court: Court,
        case: &Case,
        token: FenceToken,
    ) -> Result<Verdict, RuleError> {
        let prompt = self.prompt(court, case, token);
        let request = prompt.request(self.max_tokens);
        let answer = tokio::time::timeout(self.time, model.complete(&request))
            .await
            .map_err(|_| RuleError::TimedOut { after: self.time })??;
        verdict(court, case, &prompt, answer)
    }
}

/// What an answer rules.
fn verdict(court: Court, case: &Case, prompt: &Prompt, answer: Answer) -> Result<Verdict, RuleError> {
    let opinion = match answer.finish {
        // Cut in the middle: what can be read of it is not what the model meant to say.
        Finish::Length => Err(AnswerError::NotOneObject { why: "it was cut at its longest".into() }),
        Finish::Done | Finish::Other => read_opinion(&answer.text),
    };
    let opinion = opinion.map_err(|why| RuleError::Unparsable {
        why,
        excerpt: one_line(&answer.text, 200),
        has_passed: case.reexecution.decides() && case.reexecution.status == Status::Passed,
        model: answer.model.clone(),
        usage: answer.usage,
    })?;
    let mut flags = opinion.flags;
    let machine = [
        (Flag::ReexecutionContradicts, case.reexecution.contradicts(opinion.outcome)),
        (Flag::InjectionSuspected, prompt.suspicious),
        (Flag::TranscriptCut, prompt.cut),
        (Flag::InAbsentia, case.principal_argument.is_none() || case.agent_argument.is_none()),
    ];
    flags.extend(machine.into_iter().filter(|(_, is)| *is).map(|(flag, _)| flag));
    let outcome = case.reexecution.ruled(court, opinion.outcome);
    let reasoning = neutral(&opinion.reasoning, None).text;
    Ok(Verdict {
        outcome,
        reasoning: if outcome == opinion.outcome {
            reasoning
        } else {
            let machine = case.reexecution.status.name();
            format!("The machine decides: {machine}. The judge's answer was {}: {reasoning}", opinion.outcome)
        },
        flags,
        model: answer.model,
        usage: answer.usage,
        micro_usd: answer.micro_usd,
    })
}

/// A model with prepared rulings, one for each outcome, for tests and demonstrations.
pub fn scripted(outcomes: impl IntoIterator<Item = Outcome>) -> Scripted {
    let line = |outcome: Outcome| {
        let opinion = serde_json::json!({
            "outcome": outcome,
            "reasoning": format!("A script rules: {outcome}."),
            "flags": [],
        });
        Line::Say(opinion.to_string())
    };
    Scripted::lines(outcomes.into_iter().map(line)).named("scripted judge")
}
