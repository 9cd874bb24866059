//! The principal's trial and the machine's (an agent's own proof, a court) end alike, whatever fix and command
//! do (decision E15). Real sandboxes; this program is their helper.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use zx1_market::contract::{Control, InputFile, Limit, Step, Unmet, Verification};
use zx1_market::terms::CourtLimits;
use zx1_sandbox::Canceller;
use zx1_trial::{Bench, Job, SandboxBench, Watch, WorkingFolder};

/// What is tried, and what must come of it.
struct Row {
    name: &'static str,
    command: &'static str,
    fix: &'static str,
    conditions: Vec<Verification>,
    unmet: Option<Unmet>,
}

fn exits(expected: u8) -> Vec<Verification> {
    vec![Verification::ExitCode { expected }]
}

/// No command passes without the fix, so that the machine's control run proves something.
fn rows() -> Vec<Row> {
    let row = |name, command, fix, conditions, unmet| Row { name, command, fix, conditions, unmet };
    let limit = |step, limit| Some(Unmet::Limit { step, limit });
    let wrong = |found, expected| Some(Unmet::WrongExit { found: Some(found), expected });
    let prints = |pattern: &str| vec![Verification::OutputMatch { pattern: pattern.to_owned() }];
    vec![
        row("a_fix_that_works_ok", "test -f done", "touch done", exits(0), None),
        row("a_fix_that_works_and_ends_with_1_ok", "test -f done", "touch done; false", exits(0), None),
        row("a_fix_that_a_signal_ends_ok", "test -f done", "touch done; kill -9 $$", exits(0), None),
        row("a_fix_that_ends_with_0_and_does_nothing_fails", "test -f done", "true", exits(0), wrong(1, 0)),
        row(
            "a_signal_is_128_and_its_number_ok",
            "test -f done && kill -9 $$",
            "touch done",
            exits(137),
            None,
        ),
        row(
            "a_signal_is_no_success_fails",
            "test -f done && kill -9 $$",
            "touch done",
            exits(0),
            wrong(137, 0),
        ),
        row("another_exit_code_is_expected_ok", "test -f done && exit 3", "touch done", exits(3), None),
        row("output_that_matches_ok", "cat done", "echo built 3 > done; false", prints("^built [0-9]"), None),
        row(
            "output_of_the_fix_alone_fails",
            "cat input.txt",
            "echo built",
            prints("built"),
            Some(Unmet::OutputMismatch { pattern: "built".to_owned() }),
        ),
        row(
            "a_command_that_takes_too_long_fails",
            "test -f done && sleep 100",
            "touch done",
            exits(0),
            limit(Step::Check, Limit::Time),
        ),
        row(
            "a_fix_that_takes_too_long_fails",
            "test -f done",
            "touch done; sleep 100",
            exits(0),
            limit(Step::Apply, Limit::Time),
        ),
        row(
            "a_command_that_writes_too_much_fails",
            "test -f done && yes",
            "touch done",
            exits(0),
            limit(Step::Check, Limit::Output),
        ),
        row(
            "what_the_principal_has_to_say_is_left_open",
            "test -f done",
            "touch done",
            vec![Verification::Principal, Verification::ExitCode { expected: 0 }],
            Some(Unmet::Principal),
        ),
    ]
}

#[derive(Debug)]
struct Nobody;

impl Watch for Nobody {
    fn running(&self, _: Option<Canceller>) {}
}

const INPUT: &str = "an input\n";
/// Seconds: for each command of the principal, and for all of the machine.
const TIME: u32 = 5;

/// The principal's trial, and that nothing of it reaches its folder.
fn principal(row: &Row) -> Option<Unmet> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("input.txt"), INPUT).unwrap();
    let place = WorkingFolder::new(path.clone(), row.command.to_owned(), vec![], vec![], Box::new(Nobody));
    let time = Duration::from_secs(TIME.into());
    let control = place.control(&row.conditions, time).unwrap();
    let attempt = place.attempt(row.fix, None, true, &row.conditions, control, time).unwrap();
    let unmet = attempt.trial.unmet(&row.conditions);
    let changed = attempt.ready.as_ref().map(|ready| !ready.changes.is_empty());
    assert_eq!(changed.unwrap_or(row.fix.contains("done")), row.fix.contains("done"), "{:?}", attempt.ready);
    drop(attempt);
    let there: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, [Path::new("input.txt").as_os_str()]);
    unmet
}

/// The machine's trial, and that its control run fails.
fn machine(row: &Row) -> Option<Unmet> {
    let job = Job {
        command: row.command.to_owned(),
        corrected_command: None,
        fix: row.fix.to_owned(),
        inputs: vec![InputFile { path: "input.txt".into(), content: INPUT.into(), executable: false }],
        verification: row.conditions.clone(),
        limits: CourtLimits { reexecution: TIME, ..CourtLimits::default() },
        ..Job::default()
    };
    let trial = SandboxBench::default().run(&job).unwrap();
    let control = trial.control(&row.conditions).unwrap();
    assert!(matches!(control, Control::Fails(_)), "{:?}", trial.control);
    trial.unmet(&row.conditions)
}

fn main() -> ExitCode {
    zx1_sandbox::helper_main_if_asked();
    let trial = |name: String, row: Row, who: fn(&Row) -> Option<Unmet>| {
        libtest_mimic::Trial::test(name, move || {
            let found = who(&row);
            if found == row.unmet { Ok(()) } else { Err(format!("{found:?}, not {:?}", row.unmet).into()) }
        })
    };
    type Side = fn(&Row) -> Option<Unmet>;
    let both: [(&str, Side); 2] = [("principal", principal), ("machine", machine)];
    let trials = both
        .into_iter()
        .flat_map(|(who, run)| {
            rows().into_iter().map(move |row| trial(format!("{who}::{}", row.name), row, run))
        })
        .collect();
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code()
}
