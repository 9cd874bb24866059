//! What a trial shows, in words that carry nothing of what was printed (decisions E16 to E18), and the one rule
//! that makes a verdict of it. Payer, agent and court use it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Limit, Run, Step, Unmet};
use crate::canonical::Json;
use crate::fields::{Builder, Fields};
use crate::id::{ContractId, PartyId, PartyKey};
use crate::{Reason, Refusal, Result};

macro_rules! words {
    ($(#[$doc:meta])* $enum:ident { $($(#[$d:meta])* $name:ident $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum $enum { $($(#[$d])* #[serde(rename = $text)] $name,)* }

        impl $enum {
            /// Every one, in the order of their words.
            pub const ALL: &'static [$enum] = &[$($enum::$name),*];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($enum::$name => $text,)* }
            }

            /// From the word on the wire.
            pub fn from_word(word: &str) -> Option<$enum> {
                match word { $($text => Some($enum::$name),)* _ => None }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// How a command ended, in the words that leave the machine. A hostile fix chooses the exit code of the check, so all but
    /// the usual ones are one word.
    Ending {
        /// Exit code 0.
        Zero "0";
        /// Exit code 1.
        One "1";
        /// Exit code 126: it could not be executed.
        NotExecutable "126";
        /// Exit code 127: it was not found.
        NotFound "127";
        /// Exit code 2.
        Two "2";
        /// Anything else, or it was not run.
        Other "other";
        /// A signal ended it.
        Signal "signal";
        /// It took too long.
        Timeout "timeout";
    }
}

words! {
    /// A kind of change that needs a consent of its own (decision E18).
    ChangeClass {
        /// Files that are not text.
        Binary "binary";
        /// What continuous integration and coding agents obey.
        Ci "ci";
        /// Dot files and folders, and all that is or could become a git directory.
        Dotfile "dotfile";
        /// Programs, and new files of a kind that tools run.
        Executable "executable";
        /// Symbolic and hard links.
        Link "link";
        /// Files outside of the working folder.
        Outside "outside";
        /// What the failing command itself runs or obeys.
        OwnCommand "own_command";
        /// Folders of the system.
        System "system";
        /// Tests, and what steers them.
        Tests "tests";
    }
}

words! {
    /// Where a trial failed.
    FailedStep {
        /// The fix itself.
        Apply "apply";
        /// The command, after the fix.
        Check "check";
        /// The command, without the fix.
        Control "control";
        /// A bound that the principal has set itself.
        Limits "limits";
        /// The command on the real machine, after the fix was applied.
        Outside "outside";
    }
}

words! {
    /// Why a trial failed.
    FailureClass {
        /// A file was changed meanwhile.
        Conflict "conflict";
        /// Somebody stopped it.
        Killed "killed";
        /// A bound on memory, processes, output or files.
        Limit "limit";
        /// It needs consents that nobody gave.
        NeedsConsent "needs_consent";
        /// It works and cannot, or may not, be applied.
        NotApplied "not_applied";
        /// None of the others.
        Other "other";
        /// The output does not match.
        OutputMismatch "output_mismatch";
        /// It works in the sandbox and not on the real machine.
        OutsideFailed "outside_failed";
        /// It took too long.
        Timeout "timeout";
        /// What it left is larger than anybody applies.
        TooLarge "too_large";
        /// What it left cannot be read.
        Unreadable "unreadable";
        /// The command ended with another code.
        WrongExit "wrong_exit";
    }
}

words! {
    /// What a trial shows.
    Verdict {
        /// The command does not meet the conditions after the fix.
        Failed "failed";
        /// Without the fix the command sometimes meets them and sometimes not.
        Flaky "flaky";
        /// Without the fix the command meets them too.
        NotReproduced "not_reproduced";
        /// Nothing could be run.
        NotRun "not_run";
        /// It fails without the fix and meets the conditions after it, by changes that need no consent or have it.
        Passed "passed";
        /// The same, by changes that need consents that the contract does not grant.
        PassedWith "passed_with";
    }
}

impl Ending {
    /// The word for a run.
    pub fn of(run: &Run) -> Ending {
        match (run.limit, run.signal, run.exit) {
            (Some(Limit::Time), ..) => Ending::Timeout,
            (Some(_), ..) => Ending::Other,
            (None, Some(_), _) => Ending::Signal,
            (None, None, Some(exit)) => Ending::of_status(exit),
            (None, None, None) => Ending::Other,
        }
    }

    /// The word for a status as shells report it: 128 and more tell of a signal.
    pub fn of_status(status: i32) -> Ending {
        match status {
            0 => Ending::Zero,
            1 => Ending::One,
            2 => Ending::Two,
            126 => Ending::NotExecutable,
            127 => Ending::NotFound,
            129..=192 => Ending::Signal,
            _ => Ending::Other,
        }
    }
}

impl Ending {
    /// Whether a run that ended so can have failed the conditions. The word says which exit code it was up to 2 only, and
    /// nothing of what was printed.
    pub fn may_fail(self, conditions: &[super::Verification]) -> bool {
        conditions.iter().any(|condition| match condition {
            super::Verification::ExitCode { expected } => {
                self != Ending::of_status((*expected).into())
                    || matches!(self, Ending::Other | Ending::Signal)
            }
            super::Verification::OutputMatch { .. } => true,
            super::Verification::Principal => false,
        })
    }
}

/// All that leaves the machine of a failed attempt: 6 bits, whatever hostile code prints (decision E17).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Failure {
    /// Where it failed.
    pub step: FailedStep,
    /// How the command ended there.
    pub outcome: Ending,
    /// Why it does not count.
    pub class: FailureClass,
    /// The contract's condition that does not hold, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<u32>,
    /// With `needs_consent`: the kinds of changes that nobody agreed to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<ChangeClass>,
    /// Whether the output beside it comes from a second run that saw what an investigation sees. It counts as a
    /// round of investigation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rerun: bool,
}

impl Failure {
    /// A failure without further details.
    pub fn new(step: FailedStep, outcome: Ending, class: FailureClass) -> Failure {
        Failure { step, outcome, class, check: None, needs: BTreeSet::new(), rerun: false }
    }

    /// The failure of a condition that does not hold. `run` is the run that ended last; `conditions` the contract's.
    pub fn of(unmet: &Unmet, run: &Run, conditions: &[super::Verification]) -> Failure {
        let outcome = Ending::of(run);
        let at = |which: fn(&super::Verification) -> bool| {
            conditions.iter().position(which).and_then(|at| u32::try_from(at).ok())
        };
        match unmet {
            Unmet::Limit { step, limit } => {
                let step = match step {
                    Step::Apply => FailedStep::Apply,
                    Step::Check => FailedStep::Check,
                };
                let class = match limit {
                    Limit::Time => FailureClass::Timeout,
                    Limit::Files => FailureClass::TooLarge,
                    Limit::Canceled => FailureClass::Killed,
                    Limit::Memory | Limit::Processes | Limit::Output => FailureClass::Limit,
                };
                Failure::new(step, outcome, class)
            }
            Unmet::WrongExit { .. } => Failure {
                check: at(|one| matches!(one, super::Verification::ExitCode { .. })),
                ..Failure::new(FailedStep::Check, outcome, FailureClass::WrongExit)
            },
            Unmet::OutputMismatch { .. } => Failure {
                check: at(|one| matches!(one, super::Verification::OutputMatch { .. })),
                ..Failure::new(FailedStep::Check, outcome, FailureClass::OutputMismatch)
            },
            Unmet::Principal => Failure {
                check: at(|one| matches!(one, super::Verification::Principal)),
                ..Failure::new(FailedStep::Check, outcome, FailureClass::Other)
            },
        }
    }

    /// As it stands in an entry.
    pub(crate) fn to_json(&self) -> Json {
        let needs: Vec<Json> = self.needs.iter().map(|class| class.as_str().into()).collect();
        Builder::new()
            .put("step", self.step.as_str())
            .put("outcome", self.outcome.as_str())
            .put("class", self.class.as_str())
            .opt("check", self.check)
            .opt("needs", (!needs.is_empty()).then_some(needs))
            .opt("rerun", self.rerun.then_some(true))
            .build()
    }

    /// Read strictly: words that are known, kinds only where a consent is what is missing.
    pub(crate) fn read(mut f: Fields<'_>) -> Result<Failure> {
        let failure = Failure {
            step: word(&mut f, "step", FailedStep::from_word)?,
            outcome: word(&mut f, "outcome", Ending::from_word)?,
            class: word(&mut f, "class", FailureClass::from_word)?,
            check: f.raw("check").is_some().then(|| f.small("check")).transpose()?,
            needs: classes(&mut f, "needs")?,
            rerun: f.flag_or("rerun", false)?,
        };
        if failure.needs.is_empty() == (failure.class == FailureClass::NeedsConsent) {
            return f.refuse("needs", Reason::FieldWord);
        }
        f.done()?;
        Ok(failure)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let step = match self.step {
            FailedStep::Apply => "The fix failed in the sandbox",
            FailedStep::Check => "The command does not work after the fix",
            FailedStep::Control => "The failure cannot be reproduced in the sandbox",
            FailedStep::Limits => "No further attempt is tried unattended",
            FailedStep::Outside => "The command works in the sandbox, but not on the real machine",
        };
        match self.class {
            FailureClass::NeedsConsent => {
                let needs: Vec<&str> = self.needs.iter().map(|class| class.as_str()).collect();
                write!(f, "The fix needs consent to changes that nobody agreed to: {}.", needs.join(", "))
            }
            FailureClass::NotApplied | FailureClass::Conflict => {
                write!(f, "The command works in the sandbox, but the fix is not applied ({}).", self.class)
            }
            class => write!(f, "{step} ({class}, outcome {}).", self.outcome),
        }
    }
}

fn word<T>(f: &mut Fields<'_>, name: &'static str, from: fn(&str) -> Option<T>) -> Result<T> {
    match from(f.text(name, crate::defaults::MAX_WORD)?) {
        Some(value) => Ok(value),
        None => f.refuse(name, Reason::FieldWord),
    }
}

/// A sorted list of kinds of changes, none twice; an absent one is empty.
pub(super) fn classes(f: &mut Fields<'_>, name: &'static str) -> Result<BTreeSet<ChangeClass>> {
    let words = f.texts(name, ChangeClass::ALL.len(), crate::defaults::MAX_WORD)?;
    let mut found = BTreeSet::new();
    for word in &words {
        let Some(class) = ChangeClass::from_word(word) else { return f.refuse(name, Reason::FieldWord) };
        if found.last().is_some_and(|last| *last >= class) {
            return f.refuse(name, Reason::FieldWord);
        }
        found.insert(class);
    }
    Ok(found)
}

fn words_of(classes: &BTreeSet<ChangeClass>) -> Vec<Json> {
    classes.iter().map(|class| class.as_str().into()).collect()
}

/// How often a command was run, and how the last run ended that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Runs {
    /// How it ended: of several runs the first one that decided.
    pub outcome: Ending,
    /// How often it was run.
    pub runs: u32,
}

impl Runs {
    /// It was not run.
    pub const NONE: Runs = Runs { outcome: Ending::Other, runs: 0 };

    fn to_json(self) -> Json {
        Builder::new().put("outcome", self.outcome.as_str()).put("runs", self.runs).build()
    }

    fn read(mut f: Fields<'_>) -> Result<Runs> {
        let runs = Runs { outcome: word(&mut f, "outcome", Ending::from_word)?, runs: f.small("runs")? };
        f.done()?;
        Ok(runs)
    }
}

/// What a fix changed, by numbers and kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Changed {
    /// Kinds of changes that need a consent, granted or not.
    pub classes: BTreeSet<ChangeClass>,
    /// Paths that did not exist.
    pub created: u32,
    /// Paths that exist no more.
    pub deleted: u32,
    /// Paths that differ.
    pub modified: u32,
}

/// The result of a trial: control run, runs after the fix, classified changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrialResult {
    /// The command after the fix.
    pub after: Runs,
    /// What the fix changed.
    pub changes: Changed,
    /// The command without the fix.
    pub control: Runs,
    /// The verdict that follows from the runs and the changes.
    pub verdict: Verdict,
}

/// What the runs without a fix said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The conditions do not hold: there is something to repair.
    Fails(Runs),
    /// They held in one run and not in another.
    Flaky(Runs),
    /// They held in every run.
    Holds(Runs),
}

impl Control {
    /// How often a command that passes without a fix is run, before nothing is to be repaired.
    pub const RUNS: u32 = 3;

    /// The runs behind it.
    pub fn runs(self) -> Runs {
        match self {
            Control::Fails(runs) | Control::Flaky(runs) | Control::Holds(runs) => runs,
        }
    }

    /// Consecutive passes that a fix needs: twice; five times where the failure comes and goes.
    pub fn passes(self, usual: u32) -> u32 {
        if matches!(self, Control::Flaky(_)) { 5 } else { usual.max(1) }
    }

    /// Runs the command without a fix: once, or three times when it passes. `run` gives the run, and whether it meets the
    /// conditions.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn of<E>(
        mut run: impl FnMut() -> std::result::Result<(Run, bool), E>,
    ) -> std::result::Result<Control, E> {
        let (first, held) = run()?;
        if !held {
            return Ok(Control::Fails(Runs { outcome: Ending::of(&first), runs: 1 }));
        }
        for runs in 2..=Control::RUNS {
            let (run, held) = run()?;
            if !held {
                return Ok(Control::Flaky(Runs { outcome: Ending::of(&run), runs }));
            }
        }
        Ok(Control::Holds(Runs { outcome: Ending::of(&first), runs: Control::RUNS }))
    }
}

impl TrialResult {
    /// Nothing was run.
    pub fn not_run() -> TrialResult {
        let none = (Runs::NONE, Changed::default());
        TrialResult { after: none.0, changes: none.1, control: none.0, verdict: Verdict::NotRun }
    }

    /// The rule. `after`: the runs after the fix, and whether all that were needed passed; `granted`: what the
    /// contract agreed to beforehand.
    pub fn of(
        control: Control,
        after: (Runs, bool),
        changes: Changed,
        granted: &BTreeSet<ChangeClass>,
    ) -> TrialResult {
        let verdict = match control {
            Control::Holds(_) => Verdict::NotReproduced,
            Control::Flaky(_) => Verdict::Flaky,
            Control::Fails(_) if !after.1 => Verdict::Failed,
            Control::Fails(_) if changes.classes.is_subset(granted) => Verdict::Passed,
            Control::Fails(_) => Verdict::PassedWith,
        };
        TrialResult { after: after.0, changes, control: control.runs(), verdict }
    }

    fn builder(&self) -> Builder {
        let changes = Builder::new()
            .put("classes", words_of(&self.changes.classes))
            .put("created", self.changes.created)
            .put("deleted", self.changes.deleted)
            .put("modified", self.changes.modified);
        Builder::new()
            .put("after", self.after.to_json())
            .put("changes", changes.build())
            .put("control", self.control.to_json())
            .put("verdict", self.verdict.as_str())
    }

    /// As JSON: exactly these four fields.
    pub fn to_json(&self) -> Json {
        self.builder().build()
    }

    fn fields(f: &mut Fields<'_>) -> Result<TrialResult> {
        let mut changes = f.object("changes")?;
        let changed = Changed {
            classes: classes(&mut changes, "classes")?,
            created: changes.small("created")?,
            deleted: changes.small("deleted")?,
            modified: changes.small("modified")?,
        };
        changes.done()?;
        Ok(TrialResult {
            after: Runs::read(f.object("after")?)?,
            changes: changed,
            control: Runs::read(f.object("control")?)?,
            verdict: word(f, "verdict", Verdict::from_word)?,
        })
    }
}

/// A trial's result with the judge's signature over it, the contract and the fix: it stands by itself, wherever it
/// is copied to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignedTrial {
    /// The result that the judge signs.
    pub result: TrialResult,
    /// The entry of the fix.
    pub seq: u64,
    /// The judge's key.
    pub judge: PartyId,
    /// 128 lower-case hexadecimal digits.
    pub signature: String,
}

impl SignedTrial {
    fn message(result: &TrialResult, contract: ContractId, seq: u64) -> Vec<u8> {
        result.builder().text("contract", contract).put("seq", seq).build().canonical().into_bytes()
    }

    /// Sign a result as the judge.
    pub fn sign(result: TrialResult, contract: ContractId, seq: u64, key: &PartyKey) -> SignedTrial {
        let signature = hex::encode(key.sign(&SignedTrial::message(&result, contract, seq)));
        SignedTrial { result, seq, judge: key.id(), signature }
    }

    /// Checks the signature. 9053 when it does not hold.
    pub fn verify(&self, contract: ContractId) -> Result<()> {
        let signature = crate::digits::lower_hex::<64>(&self.signature);
        let message = SignedTrial::message(&self.result, contract, self.seq);
        match signature {
            Some(signature) if self.judge.verify(&message, &signature) => Ok(()),
            _ => Err(Refusal::with(Reason::JudgeSignature, "trial.judge_signature")),
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        self.result
            .builder()
            .put("seq", self.seq)
            .text("judge_pubkey", self.judge)
            .text("judge_signature", &self.signature)
            .build()
    }

    pub(crate) fn read(mut f: Fields<'_>) -> Result<SignedTrial> {
        let trial = SignedTrial {
            result: TrialResult::fields(&mut f)?,
            seq: f.number("seq")?,
            judge: f.party("judge_pubkey")?,
            signature: f.text("judge_signature", 128)?.to_owned(),
        };
        f.done()?;
        Ok(trial)
    }
}
