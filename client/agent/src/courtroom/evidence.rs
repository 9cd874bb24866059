//! The machine's evidence (decision E6): what a trial shows, for a ruling and for the chain.

use std::sync::Arc;

use zx1_market::chain::ReexecutionData;
use zx1_market::contract::{Limit, SignedTrial, TrialResult, Unmet, Verdict};
use zx1_scrub::Scrubber;
use zx1_trial::{Bench, CannotRun, Job, Trial};

use crate::judge::{Reexecution, Status};
use zx1_market_client::View;

/// Runs the last fix of a contract's agent again. Always answers: what cannot be run is said so. The result is of a
/// fix, if there is one.
pub(crate) async fn reexecute(
    bench: Arc<dyn Bench>,
    view: &View,
) -> (Reexecution, Option<(TrialResult, u64)>) {
    let job = Job::of(view.case(), view.entries());
    let trial = match job.clone() {
        Ok(job) => {
            let run = tokio::task::spawn_blocking(move || bench.run(&job)).await;
            run.unwrap_or_else(|e| Err(CannotRun(format!("The machine failed: {e}"))))
        }
        Err(why) => Err(why),
    };
    let result = job.as_ref().ok().map(|job| (result(job, &trial), job.seq));
    (evidence(&job, trial), result)
}

/// A trial in words, by the contract's conditions and consents.
pub fn result(job: &Job, trial: &Result<Trial, CannotRun>) -> TrialResult {
    match trial {
        Ok(trial) => trial.result(&job.verification, &job.consents, job.limits.runs),
        Err(_) => TrialResult::not_run(),
    }
}

/// The longest output in a result, in bytes, each stream.
const EXCERPT: usize = 12 << 10;

/// The machine's evidence, for a ruling and for the chain.
pub fn evidence(job: &Result<Job, CannotRun>, trial: Result<Trial, CannotRun>) -> Reexecution {
    let (job, trial) = match (job, &trial) {
        (Ok(job), Ok(trial)) => (job, trial),
        (Err(CannotRun(why)), _) | (_, Err(CannotRun(why))) => return Reexecution::not_possible(why),
    };
    let after = trial.last();
    let mut notes = Vec::new();
    if let Some(corrected) = &job.corrected_command {
        notes.push(format!(
            "The agent says that the failing command itself was wrong: after the fix, `{}` was run in \
             place of `{}`. Whether it does what the principal wanted is not for the machine to say.",
            zx1_scrub::neutral::one_line(corrected, 300),
            zx1_scrub::neutral::one_line(&job.command, 300)
        ));
    }
    if let Some(status) = trial.fix.run.status().filter(|status| *status != 0) {
        notes.push(format!("The fix itself ended with exit code {status}."));
    }
    let result = trial.result(&job.verification, &job.consents, job.limits.runs);
    let status = match result.verdict {
        Verdict::Passed => Status::Passed,
        Verdict::PassedWith => {
            let needs = result.changes.classes.difference(&job.consents).map(|class| class.as_str());
            notes.push(format!(
                "It passed with changes that the contract does not grant, so passing proves little: {}.",
                needs.collect::<Vec<_>>().join(", ")
            ));
            Status::PassedWith
        }
        Verdict::NotReproduced => {
            notes.push(
                "Without the fix the command passes here too, so the failure could not be reproduced."
                    .to_owned(),
            );
            Status::NotPossible
        }
        Verdict::Flaky => {
            notes.push(
                "Without the fix the command passes at times, so passing once proves nothing.".to_owned(),
            );
            Status::NotPossible
        }
        Verdict::NotRun => Status::NotPossible,
        Verdict::Failed => {
            if let Some(class) = trial.broken {
                notes.push(format!("What the fix left could not be taken over ({class})."));
            }
            match trial.unmet(&job.verification).filter(|_| trial.broken.is_none()) {
                Some(limit @ Unmet::Limit { limit: kind, .. }) => {
                    notes.push(format!("{limit} The limits are those of the contract's terms."));
                    // What a fix leaves behind is its own doing; time and memory may be this machine's.
                    if kind == Limit::Files { Status::Failed } else { Status::NotPossible }
                }
                _ => {
                    if !trial.as_root {
                        notes.push("It was run as an ordinary user; what needs root fails here.".to_owned());
                    }
                    Status::Failed
                }
            }
        }
    };
    if job.inputs.iter().any(|input| find(&input.content, b"[REDACTED:")) {
        notes.push("Parts of the input files were redacted before they were attached.".to_owned());
    }
    let scrubber = Scrubber::new();
    let clean = |text: &str| zx1_scrub::neutral::fit(&scrubber.scrub(text).text, EXCERPT, None).text;
    Reexecution {
        status,
        inputs_before_fix: true,
        exit: after.run.status(),
        stdout: clean(&after.run.stdout),
        stderr: clean(&after.stderr),
        notes: notes.join(" "),
    }
}

fn find(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The result as it is chained.
pub fn chained(found: &Reexecution, trial: Option<SignedTrial>) -> ReexecutionData {
    let ran = found.status != Status::NotPossible;
    let mut output = found.stdout.clone();
    if !found.stderr.is_empty() {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&found.stderr);
    }
    ReexecutionData {
        ran,
        success: ran.then_some(found.status == Status::Passed),
        exit_code: found.exit.map(i64::from),
        output,
        note: found.notes.clone(),
        trial,
        signature: None,
    }
}

/// The evidence out of the chain, for a judge that was restarted and for the courts above.
pub fn from_chain(data: &ReexecutionData) -> Reexecution {
    let verdict = data.trial.as_ref().map(|trial| trial.result.verdict);
    let status = match (data.ran, data.success) {
        (true, _) if verdict == Some(Verdict::PassedWith) => Status::PassedWith,
        // Nobody has signed what was run, so it is what the server says, and proves nothing.
        (true, Some(true)) if data.proves().is_none() => Status::NotPossible,
        (true, Some(true)) => Status::Passed,
        (true, Some(false)) => Status::Failed,
        _ => Status::NotPossible,
    };
    Reexecution {
        status,
        inputs_before_fix: data.ran,
        exit: data.exit_code.and_then(|code| i32::try_from(code).ok()),
        stdout: data.output.clone(),
        stderr: String::new(),
        notes: data.note.clone(),
    }
}
