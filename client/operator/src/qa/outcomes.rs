//! What a test runner printed, as outcomes by the names of tests.
//!
//! A run counts as complete only when the runner says so itself, and its own numbers agree with the lines that were read.
//! A name that is said twice, a runner that was ended, a tree that did not build: nobody knows what the tests say then.

use super::settings::Form;
use std::collections::BTreeMap;
use zx1_qa::gate::{Outcome, Tests};

/// What a runner printed and how it ended.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// Exit code, unless a signal or a limit ended it.
    pub exit: Option<i32>,
    /// Standard output of the runner.
    pub stdout: &'a str,
    /// Standard error of the runner.
    pub stderr: &'a str,
    /// Some of the output was left out.
    pub is_cut: bool,
}

/// Reads what a runner printed.
pub fn read(form: Form, printed: &Printed<'_>) -> Tests {
    let read = match form {
        Form::Libtest => libtest(printed),
        Form::Unittest => unittest(printed),
    };
    let Some(outcomes) = read else { return Tests::default() };
    let failed = outcomes.values().any(|outcome| *outcome == Outcome::Failed);
    let ended_so = match printed.exit {
        Some(0) => !failed,
        Some(_) => failed,
        None => false,
    };
    Tests { is_complete: ended_so && !printed.is_cut, outcomes }
}

/// Adds an outcome; `None` for a name that was there.
fn add(outcomes: &mut BTreeMap<String, Outcome>, name: String, outcome: Outcome) -> Option<()> {
    outcomes.insert(name, outcome).is_none().then_some(())
}

/// The labels of cargo's test programs, in the order in which they ran: `Running tests/a.rs (target/debug/deps/a-0f)` is
/// `a`, its hash left out, `Doc-tests x` is `doc x`.
fn labels(stderr: &str) -> Vec<String> {
    let label = |line: &str| {
        let line = line.trim_start();
        if let Some(name) = line.strip_prefix("Doc-tests ") {
            return Some(format!("doc {name}"));
        }
        let path = line.strip_prefix("Running ")?.rsplit_once(" (")?.1.strip_suffix(')')?;
        let file = path.rsplit('/').next()?;
        Some(file.rsplit_once('-').map_or(file, |(name, _)| name).to_owned())
    };
    stderr.lines().filter_map(label).collect()
}

fn libtest(printed: &Printed<'_>) -> Option<BTreeMap<String, Outcome>> {
    let labels = labels(printed.stderr);
    let mut outcomes = BTreeMap::new();
    let (mut blocks, mut expected, mut found) = (0usize, None::<usize>, 0usize);
    for line in printed.stdout.lines() {
        if let Some(rest) = line.strip_prefix("running ") {
            let count = rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"));
            let Some(count) = count.and_then(|count| count.parse().ok()) else { continue };
            if expected.is_some() {
                return None;
            }
            (expected, found) = (Some(count), 0);
        } else if line.starts_with("test result: ") {
            // Its block is whole: as many lines as it promised.
            if expected.take() != Some(found) {
                return None;
            }
            blocks = blocks.saturating_add(1);
        } else if let Some(rest) = line.strip_prefix("test ") {
            let Some((name, word)) = rest.rsplit_once(" ... ") else { continue };
            let outcome = match word.split([',', ' ']).next() {
                Some("ok") => Outcome::Passed,
                Some("FAILED") => Outcome::Failed,
                Some("ignored") => Outcome::Ignored,
                _ => return None,
            };
            let label = labels.get(blocks).map_or_else(String::new, |label| format!("{label} "));
            found = found.saturating_add(1);
            // A test that should panic says so behind its name.
            let name = name.split(" - should panic").next().unwrap_or(name);
            add(&mut outcomes, format!("{label}{name}"), outcome)?;
        }
    }
    let whole = expected.is_none() && blocks > 0 && (labels.is_empty() || labels.len() == blocks);
    whole.then_some(outcomes)
}

fn unittest(printed: &Printed<'_>) -> Option<BTreeMap<String, Outcome>> {
    let mut outcomes = BTreeMap::new();
    let (mut name, mut ran) = (None::<String>, None::<usize>);
    for line in printed.stderr.lines() {
        if let Some(rest) = line.strip_prefix("Ran ") {
            if ran.is_some() {
                return None;
            }
            ran = rest.split(' ').next()?.parse().ok();
            continue;
        }
        // `name (module.Class.name)`, or that and a line of words below it.
        let is_name =
            |text: &str| text.ends_with(')') && text.contains(" (") && !text.starts_with([' ', '=']);
        let Some((before, word)) = line.rsplit_once(" ... ") else {
            name = is_name(line).then(|| line.to_owned());
            continue;
        };
        let outcome = match word {
            "ok" | "expected failure" => Outcome::Passed,
            "FAIL" | "ERROR" | "unexpected success" => Outcome::Failed,
            word if word.starts_with("skipped ") => Outcome::Ignored,
            _ => continue,
        };
        let name = if is_name(before) { before.to_owned() } else { name.take()? };
        if name.contains("_FailedTest") {
            return None;
        }
        add(&mut outcomes, name, outcome)?;
    }
    (ran == Some(outcomes.len()) && ran > Some(0)).then_some(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(form: Form, exit: i32, stdout: &str, stderr: &str) -> Tests {
        read(form, &Printed { exit: Some(exit), stdout, stderr, is_cut: false })
    }

    const CARGO: &str = "\nrunning 2 tests\ntest a::works ... ok\ntest b - should panic ... ok\n\ntest result: ok. 2 passed; 0 failed\n\nrunning 2 tests\ntest works ... FAILED\ntest slow ... ignored, takes long\n\nfailures:\n\n---- works stdout ----\ntest of mine ... said\n\ntest result: FAILED. 0 passed; 1 failed\n";
    const RUNNING: &str = "    Finished `test` profile\n     Running unittests src/lib.rs (target/debug/deps/toy-0123abcd)\n     Running tests/it.rs (target/debug/deps/it-0123abcd)\nerror: test failed\n";

    #[test]
    fn what_cargo_prints_is_read_by_program_and_name() {
        let tests = of(Form::Libtest, 101, &CARGO.replace("test of mine ... said\n", ""), RUNNING);
        assert!(tests.is_complete);
        let names: Vec<_> = tests.outcomes.iter().map(|(name, it)| (name.as_str(), *it)).collect();
        assert_eq!(
            names,
            [
                ("it slow", Outcome::Ignored),
                ("it works", Outcome::Failed),
                ("toy a::works", Outcome::Passed),
                ("toy b", Outcome::Passed),
            ]
        );
    }

    #[test]
    fn what_is_not_whole_says_nothing() {
        let good = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed\n";
        assert!(of(Form::Libtest, 0, good, "").is_complete);
        for (exit, stdout, stderr) in [
            (0, "", ""),
            (101, "", "error: could not compile `toy`"),
            (0, "running 2 tests\ntest a ... ok\n\ntest result: ok.\n", ""),
            (0, "running 1 test\ntest a ... ok\n", ""),
            (101, good, ""),
            (0, "running 2 tests\ntest a ... ok\ntest a ... ok\n\ntest result: ok.\n", ""),
            (0, CARGO, RUNNING),
            (0, &good.replace("ok\n\n", "FAILED\n\n"), ""),
            (0, good, RUNNING),
        ] {
            assert!(!of(Form::Libtest, exit, stdout, stderr).is_complete, "{stdout}");
        }
        let printed = Printed { exit: Some(0), stdout: good, stderr: "", is_cut: true };
        assert!(!read(Form::Libtest, &printed).is_complete);
        assert!(!read(Form::Libtest, &Printed { exit: None, is_cut: false, ..printed }).is_complete);
    }

    #[test]
    fn what_unittest_prints_is_read_and_a_module_that_does_not_load_is_no_collection() {
        let text = "test_a (tests.test_calc.Calc.test_a) ... ok\ntest_b (tests.test_calc.Calc.test_b)\nWords about it. ... FAIL\ntest_c (tests.test_calc.Calc.test_c) ... skipped 'later'\n\n======\nFAIL: test_b (tests.test_calc.Calc.test_b)\n------\nRan 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n";
        let tests = of(Form::Unittest, 1, "", text);
        assert!(tests.is_complete);
        let words: Vec<_> = tests.outcomes.values().copied().collect();
        assert_eq!(words, [Outcome::Passed, Outcome::Failed, Outcome::Ignored]);
        let failed = "tests.test_new (unittest.loader._FailedTest.tests.test_new) ... ERROR\n\nRan 1 test in 0.0s\n\nFAILED\n";
        assert!(!of(Form::Unittest, 1, "", failed).is_complete);
        assert!(!of(Form::Unittest, 0, "", "Ran 0 tests in 0.0s\n\nNO TESTS RAN\n").is_complete);
        assert!(!of(Form::Unittest, 0, "", &text.replace("Ran 3", "Ran 4")).is_complete);
    }
}
