//! A fix that changes what checks it is measured by the originals too, and cannot make that run say what it wants.
//! Real sandboxes, the principal's and the machine's; this program is their helper.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use zx1_market::contract::{InputFile, Verification};
use zx1_market::terms::CourtLimits;
use zx1_sandbox::Canceller;
use zx1_trial::{Bench, Job, SandboxBench, Trial, Watch, WorkingFolder};

/// The command runs a script, the script a test, and the test looks at the source, which is wrong. The stamp says
/// that nothing is to be done, and so does a file that stands in for the test.
const COMMAND: &str = "sh run.sh";
const FILES: [(&str, &str, bool); 4] = [
    ("run.sh", "test stamp.txt -nt tests/t.sh || test -e compiled.bin || exec tests/t.sh\n", false),
    ("tests/t.sh", "#!/bin/sh\ngrep -q good source.txt\n", true),
    ("tests/data/deep.txt", "data\n", false),
    ("source.txt", "bad\n", false),
];

const PASSES: &str = "passes, by its ordinary changes alone";

/// What a fix does, and what the run with the originals says of it. Every fix works.
fn rows() -> Vec<(&'static str, &'static str, Option<String>)> {
    let said = |text: &str| Some(format!("with the original {text}"));
    let tests = |end: &str| said(&format!("tests: {end}"));
    let own = |end: &str| said(&format!("files of the command: {end}"));
    let both = |end: &str| said(&format!("tests and files of the command: {end}"));
    vec![
        ("a_fix_of_the_source_is_not_run_again", "echo good > source.txt", None),
        ("an_own_test_rewrite_fails", "echo '#!/bin/sh' > tests/t.sh", tests("fails with 1")),
        ("the_runner_rewritten_fails", "echo true > run.sh", own("fails with 1")),
        (
            "a_fix_of_source_and_test_passes",
            "echo good > source.txt; echo '#!/bin/sh' > tests/t.sh",
            tests(PASSES),
        ),
        (
            "a_fix_of_source_test_and_runner_passes",
            "echo good > source.txt; echo '#!/bin/sh' > tests/t.sh; echo tests/t.sh > run.sh",
            both(PASSES),
        ),
        ("deleted_tests_are_there_again", "rm -r tests; echo true > run.sh", both("fails with 1")),
        (
            "deleted_tests_pass_when_the_source_is_right",
            "echo good > source.txt; rm -r tests; echo true > run.sh",
            both(PASSES),
        ),
        ("a_renamed_folder_of_tests_fails", "mv tests old; echo true > run.sh", both("fails with 1")),
        (
            "a_link_in_place_of_the_test_fails",
            "printf '#!/bin/sh\\n' > evil.txt; chmod +x evil.txt; ln -sf ../evil.txt tests/t.sh",
            tests("fails with 1"),
        ),
        (
            "a_link_in_place_of_the_folder_fails",
            "mv tests old; mkdir evil; printf '#!/bin/sh\\n' > evil/t.sh; chmod +x evil/t.sh; ln -s evil tests",
            tests("fails with 1"),
        ),
        (
            "a_link_out_of_the_folder_fails",
            "mv tests old; ln -s /bin tests; cp run.sh x.txt; echo true > run.sh",
            both("fails with 1"),
        ),
        (
            "a_hard_link_to_another_file_fails",
            "printf '#!/bin/sh\\n' > evil.txt; chmod +x evil.txt; ln -f evil.txt tests/t.sh",
            tests("fails with 1"),
        ),
        ("a_stamp_beside_it_fails", "echo '#!/bin/sh' > tests/t.sh; touch stamp.txt", tests("fails with 1")),
        (
            "a_stamp_of_the_future_is_seen",
            "echo '#!/bin/sh' > tests/t.sh; touch -d 2099-01-01 stamp.txt",
            tests("not run, the fix sets times in the future"),
        ),
        (
            "a_fix_that_does_something_else_the_second_time_is_seen",
            "echo '#!/bin/sh' > tests/t.sh; head -c 9 /dev/urandom | od > noise.txt",
            tests("not run, the fix does something else each time"),
        ),
        (
            "what_it_adds_outside_goes",
            "echo '#!/bin/sh' > tests/t.sh; touch /tmp/outside.txt",
            tests("fails with 1"),
        ),
        (
            "what_it_adds_under_another_name_each_time_goes",
            "echo good > source.txt; echo '#!/bin/sh' > tests/t.sh; mktemp; mkdir .cache; mktemp -p .cache",
            tests(PASSES),
        ),
        (
            "a_program_beside_it_goes",
            "echo '#!/bin/sh' > tests/t.sh; printf '#!/bin/sh\\n' > compiled.bin; chmod +x compiled.bin",
            tests("fails with 1"),
        ),
        (
            "a_link_beside_it_goes",
            "echo '#!/bin/sh' > tests/t.sh; ln -s source.txt compiled.bin",
            tests("fails with 1"),
        ),
        (
            "another_program_of_the_system_is_put_back",
            "echo '#!/bin/sh' > tests/t.sh; cp /bin/true \"$(command -v grep)\" 2> /dev/null || true",
            tests("fails with 1"),
        ),
        (
            "another_shell_is_put_back",
            "echo '#!/bin/sh' > tests/t.sh; cp /bin/true \"$(readlink -f /bin/sh)\" 2> /dev/null || true",
            tests("fails with 1"),
        ),
        (
            "what_is_loaded_in_place_of_a_source_goes",
            "echo '#!/bin/sh' > tests/t.sh; printf '\\0' > compiled.bin",
            tests("fails with 1"),
        ),
        (
            "tests_that_moved_are_back",
            "echo '#!/bin/sh' > tests/t.sh; mkdir tests/more; mv tests/data tests/more",
            tests("fails with 1"),
        ),
    ]
}

fn conditions() -> Vec<Verification> {
    vec![Verification::ExitCode { expected: 0 }]
}

#[derive(Debug)]
struct Nobody;

impl Watch for Nobody {
    fn running(&self, _: Option<Canceller>) {}
}

fn principal(fix: &str) -> Trial {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("work");
    std::fs::write(folder.path().join("outside.txt"), "outside\n").unwrap();
    for (name, content, executable) in FILES {
        let file = path.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        if executable {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o555)).unwrap();
        }
    }
    let place = WorkingFolder::new(path.clone(), COMMAND.to_owned(), vec![], vec![], Box::new(Nobody));
    let time = Duration::from_secs(60);
    let control = place.control(&conditions(), time).unwrap();
    let attempt = place.attempt(fix, None, true, &conditions(), control, time).unwrap();
    // What would be applied is the fix as it is, its tests included.
    let ready = attempt.ready.as_ref().unwrap_or_else(|| panic!("{:?}", attempt.trial));
    assert_eq!(zx1_trial::changed(&ready.changes), attempt.trial.changes);
    for (name, content, _) in FILES {
        assert_eq!(std::fs::read_to_string(path.join(name)).unwrap(), content);
    }
    attempt.trial
}

fn machine(fix: &str) -> Trial {
    let input = |(path, content, executable): (&str, &str, bool)| InputFile {
        path: path.into(),
        content: content.into(),
        executable,
    };
    let job = Job {
        command: COMMAND.to_owned(),
        fix: fix.to_owned(),
        inputs: FILES.into_iter().map(input).collect(),
        verification: conditions(),
        limits: CourtLimits { reexecution: 120, ..CourtLimits::default() },
        ..Job::default()
    };
    SandboxBench::default().run(&job).unwrap()
}

fn check(trial: &Trial, wanted: Option<&str>) -> Result<(), libtest_mimic::Failed> {
    let said = trial.originals.as_ref().map(ToString::to_string);
    let works = trial.unmet(&conditions()).is_none() && trial.broken.is_none();
    let absolute = trial.originals.iter().flat_map(|found| &found.paths).all(|path| Path::is_absolute(path));
    if said.as_deref() == wanted && works && absolute { Ok(()) } else { Err(format!("{trial:#?}").into()) }
}

fn main() -> ExitCode {
    zx1_sandbox::helper_main_if_asked();
    type Side = fn(&str) -> Trial;
    let both: [(&str, Side); 2] = [("principal", principal), ("machine", machine)];
    // The machine has nothing outside that it could show.
    let outside = libtest_mimic::Trial::test("principal::a_change_of_a_file_outside_is_seen", || {
        let wanted =
            "with the original tests: not run, the fix changes files outside of the working folder too";
        check(&principal("echo '#!/bin/sh' > tests/t.sh; echo x >> ../outside.txt"), Some(wanted))
    });
    let trials = both
        .into_iter()
        .flat_map(|(who, run)| {
            rows().into_iter().map(move |(name, fix, wanted)| {
                libtest_mimic::Trial::test(format!("{who}::{name}"), move || {
                    check(&run(fix), wanted.as_deref())
                })
            })
        })
        .chain([outside])
        .collect();
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code()
}
