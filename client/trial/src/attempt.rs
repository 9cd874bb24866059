//! The one way in which a fix is tried, by whomever.

use zx1_market::contract::{Control, FailureClass, Run, Verification, unmet};
use zx1_sandbox::{ChangeSet, Sandbox, SandboxError};

use crate::lack::Lack;
use crate::place::{Place, What};
use crate::{Ran, Trial, by_machine, changed, originals};

/// What is to be applied when a fix works.
#[derive(Debug)]
pub struct Ready {
    /// The changes that the attempt has made.
    pub changes: ChangeSet,
    /// The sandbox that holds the changes until they are committed.
    pub sandbox: Sandbox,
    /// Whether the command can be run once more on what the changes hold. If not, those of a corrected command hold what
    /// it has done.
    pub repeats: bool,
}

/// A fix that was tried. Dropping it leaves no trace.
#[derive(Debug)]
pub struct Attempt {
    /// Its runs, and how they ended.
    pub trial: Trial,
    /// What a commit would apply; nothing when the fix does not work.
    pub ready: Option<Ready>,
}

/// Runs a command without any fix: once, or three times when it passes.
pub(crate) fn control(
    place: &impl Place,
    command: &str,
    conditions: &[Verification],
) -> Result<Vec<Ran>, SandboxError> {
    let machine = by_machine(conditions);
    let mut runs = Vec::new();
    Control::of(|| {
        let ran = place.run(&mut place.fresh()?, command)?;
        let held = unmet(&machine, &Run::default(), &ran.run).is_none();
        let run = ran.run.clone();
        runs.push(ran);
        Ok::<_, SandboxError>((run, held))
    })?;
    Ok(runs)
}

/// What an error says after the fix began: its author's doing, and so a failed attempt.
fn broken(error: &SandboxError) -> FailureClass {
    match error {
        SandboxError::TooLarge { .. } => FailureClass::TooLarge,
        SandboxError::Scan { .. } => FailureClass::Unreadable,
        _ => FailureClass::Other,
    }
}

/// Tries a fix: in a fresh sandbox the fix, then the command as often as it has to pass. A command that cannot be run
/// twice in one place, because it makes what it then finds, gets a fresh one each time; then the fix alone is applied.
pub(crate) fn attempt(
    place: &impl Place,
    control: Vec<Ran>,
    what: &What<'_>,
) -> Result<Attempt, SandboxError> {
    let mut sandbox = place.fresh()?;
    let mut trial = Trial { control, as_root: sandbox.info().privileged, ..Trial::default() };
    // From here on nothing that goes wrong is the caller's error.
    match work(place, &mut trial, &mut sandbox, what) {
        Ok(Some(Applied { changes, in_another, fixed })) => {
            trial.originals = originals::rerun(place, what, &fixed);
            let repeats = in_another.is_none();
            let sandbox = in_another.unwrap_or(sandbox);
            Ok(Attempt { trial, ready: Some(Ready { changes, sandbox, repeats }) })
        }
        Ok(None) => Ok(Attempt { trial, ready: None }),
        Err(error) => {
            trial.broken = Some(broken(&error));
            Ok(Attempt { trial, ready: None })
        }
    }
}

struct Applied {
    changes: ChangeSet,
    in_another: Option<Sandbox>,
    /// What the fix alone has changed.
    fixed: ChangeSet,
}

fn work(
    place: &impl Place,
    trial: &mut Trial,
    sandbox: &mut Sandbox,
    what: &What<'_>,
) -> Result<Option<Applied>, SandboxError> {
    let What { fix, conditions, usual, .. } = *what;
    let command = what.corrected.unwrap_or(what.command);
    let is_strange = what.corrected.is_some();
    trial.fix = Ran { line: fix.to_owned(), ..Ran::default() };
    trial.fix = place.run(sandbox, fix)?;
    if trial.fix.run.limit.is_some() {
        return Ok(None);
    }
    let fixed = sandbox.changes()?;
    trial.changes = changed(&fixed);
    let machine = by_machine(conditions);
    let passes = |ran: &Ran| unmet(&machine, &Run::default(), &ran.run).is_none();
    // What only a person can say is said of one run.
    let needed = match trial.control(conditions) {
        _ if machine.is_empty() => 1,
        Some(control) => control.passes(usual),
        None => usual,
    };
    let mut repeats = true;
    for run in 0..needed {
        let mut ran = None;
        if repeats {
            let again = place.run(sandbox, command)?;
            repeats = run == 0 || passes(&again);
            ran = repeats.then_some(again);
        }
        let ran = match ran {
            Some(ran) => ran,
            None => {
                let mut fresh = place.fresh()?;
                if place.run(&mut fresh, fix)?.run.limit.is_some() {
                    return Ok(None);
                }
                place.run(&mut fresh, command)?
            }
        };
        let passed = passes(&ran);
        trial.checks.push(ran);
        if !passed {
            trial.lack = Lack::of(trial.last(), &sandbox.info().masked);
            return Ok(None);
        }
    }
    let products = |changes: ChangeSet, fixed: &ChangeSet| {
        let changes = changes.with_products_of(fixed, is_strange);
        if is_strange && what.from_outside { changes } else { changes.without_unseen_products(fixed) }
    };
    if repeats {
        let changes = products(sandbox.changes()?, &fixed);
        if is_strange {
            trial.changes = changed(&changes);
        }
        return Ok(Some(Applied { changes, in_another: None, fixed }));
    }
    let mut fresh = place.fresh()?;
    place.run(&mut fresh, fix)?;
    let mut changes = fresh.changes()?;
    if is_strange {
        place.run(&mut fresh, command)?;
        changes = products(fresh.changes()?, &changes);
    }
    trial.changes = changed(&changes);
    Ok(Some(Applied { changes, in_another: Some(fresh), fixed }))
}
