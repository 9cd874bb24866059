//! The machine's evidence (decision E6): what a trial shows, for a ruling and for the chain.

use std::sync::Arc;

use zx1_market::chain::ReexecutionData;
use zx1_market::contract::Unmet;
use zx1_scrub::Scrubber;
use zx1_trial::{Bench, CannotRun, Job, Trial};

use crate::judge::{Reexecution, Status};
use zx1_market_client::View;

/// Runs the last fix of a contract's agent again. Always answers: what cannot be run is said so.
pub(crate) async fn reexecute(bench: Arc<dyn Bench>, view: &View) -> Reexecution {
    let job = Job::of(view.case(), view.entries());
    let trial = match job.clone() {
        Ok(job) => {
            let run = tokio::task::spawn_blocking(move || bench.run(&job)).await;
            run.unwrap_or_else(|e| Err(CannotRun(format!("The machine failed: {e}"))))
        }
        Err(why) => Err(why),
    };
    evidence(&job, trial)
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
    let status = if job.corrected_command.is_none() && !trial.is_reproduced(&job.verification) {
        notes.push(
            "Without the fix the command passes here too, so the failure could not be reproduced.".to_owned(),
        );
        Status::NotPossible
    } else {
        match trial.unmet(&job.verification) {
            None => Status::Passed,
            Some(limit @ Unmet::Limit { .. }) => {
                notes.push(format!("{limit} The limits are those of the contract's terms."));
                Status::NotPossible
            }
            Some(_) => {
                if !trial.as_root {
                    notes.push("It was run as an ordinary user; what needs root fails here.".to_owned());
                }
                Status::Failed
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
pub fn chained(found: &Reexecution) -> ReexecutionData {
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
        signature: None,
    }
}

/// The evidence out of the chain, for a judge that was restarted and for the courts above.
pub fn from_chain(data: &ReexecutionData) -> Reexecution {
    let status = match (data.ran, data.success) {
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
