use crate::patch::GOOD;
use zx1_qa::gate::{GateError, Mutation, Origin, Outcome, Record, Review, Tests, may_merge, subject};
use zx1_qa::patch::Patch;

fn tests(rows: &[(&str, Outcome)]) -> Tests {
    Tests { is_complete: true, outcomes: rows.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect() }
}

use Outcome::{Failed, Ignored, Passed};

fn patch() -> Patch {
    Patch::parse(GOOD.as_bytes(), None).unwrap()
}

fn record() -> Record {
    let without = tests(&[("old", Passed), ("new", Failed)]);
    let with = tests(&[("old", Passed), ("new", Passed)]);
    let mutation = |hunk| Mutation { path: "src/lib.rs".to_owned(), hunk, tests: without.clone() };
    Record {
        commit: "ab".repeat(20),
        patch_sha256: patch().sha256(),
        repro: "qa_decode({\"hex\":\"00\"})".to_owned(),
        base: tests(&[("old", Passed)]),
        r0: vec![true; 3],
        r1: without.clone(),
        r2_repro: vec![false; 3],
        siblings: [("qa_decode({\"hex\":\"01\"})".to_owned(), false)].into(),
        r2: with.clone(),
        r3: with,
        lints_clean: true,
        r4: vec![mutation(0), mutation(1)],
    }
}

#[test]
fn an_honest_fix_passes_and_names_its_branch_by_its_patch() {
    let record = record();
    let passed = record.judge(&patch()).unwrap();
    assert_eq!(passed.gate(), record.gate());
    let hash = hex_of(&patch().sha256());
    assert_eq!(passed.branch(17), format!("qa/fb-17-{}", &hash[..8]));
    let origin = Origin { entry: 17, sender: "Sender", time: 5 };
    let message = passed.message("A panic.\nmore", &origin, "cc", "dd");
    assert!(
        message
            .starts_with("A panic.\n\nReported in entry 17 by Sender at 5.\n\nFeedback: 17\nContract: cc\n")
    );
    assert!(message.ends_with(&format!("Transcript: dd\nGate: {}\n", record.gate())));
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn each_run_that_shows_something_else_refuses_the_patch() {
    type Change = fn(&mut Record);
    let name = |name: &str| name.to_owned();
    let rows: Vec<(Change, GateError)> = vec![
        (|it| it.patch_sha256 = [0; 32], GateError::Record),
        (|it| it.commit = "HEAD".to_owned(), GateError::Record),
        (|it| it.r0 = vec![false; 3], GateError::NotReproduced),
        (|it| it.r0 = vec![true, false, true], GateError::Flaky { run: "R0" }),
        (|it| it.r0 = vec![true; 2], GateError::Aborted { run: "R0" }),
        (|it| it.r1.is_complete = false, GateError::Aborted { run: "R1" }),
        (|it| it.r1 = tests(&[("old", Passed)]), GateError::NoNewTest),
        (|it| it.r1 = tests(&[("old", Passed), ("new", Passed)]), GateError::TestProvesNothing(name("new"))),
        (|it| it.r1 = tests(&[("old", Passed), ("new", Ignored)]), GateError::TestProvesNothing(name("new"))),
        (|it| it.r2_repro = vec![true; 3], GateError::NotFixed),
        (|it| it.siblings.extend([("qa_a".to_owned(), true)]), GateError::Special(name("qa_a"))),
        (|it| it.r2_repro = vec![false, true, false], GateError::Flaky { run: "R2" }),
        (|it| it.r2.is_complete = false, GateError::Aborted { run: "R2" }),
        (|it| it.r2 = tests(&[("old", Passed)]), GateError::NewTestFails(name("new"))),
        (|it| it.r3.is_complete = false, GateError::Aborted { run: "R3" }),
        (|it| it.r3 = tests(&[("old2", Passed), ("new", Passed)]), GateError::TestGone(name("old"))),
        (|it| it.r3 = tests(&[("old", Ignored), ("new", Passed)]), GateError::TestGone(name("old"))),
        (|it| it.r3 = tests(&[("old", Failed), ("new", Passed)]), GateError::TestBroken(name("old"))),
        (|it| it.lints_clean = false, GateError::Lints),
        (|it| drop(it.r4.pop()), GateError::MutationMissing { path: name("src/lib.rs"), hunk: 1 }),
        (|it| it.r4[1].hunk = 0, GateError::MutationMissing { path: name("src/lib.rs"), hunk: 0 }),
        (
            |it| it.r4[1].tests = tests(&[("new", Passed)]),
            GateError::MutationSurvives { path: name("src/lib.rs"), hunk: 1 },
        ),
    ];
    for (change, error) in rows {
        let mut record = record();
        change(&mut record);
        assert_eq!(record.judge(&patch()), Err(error));
    }
}

#[test]
fn a_hunk_without_which_nothing_builds_is_needed() {
    let mut record = record();
    record.r4[0].tests = Tests::default();
    assert!(record.judge(&patch()).is_ok());
}

#[test]
fn a_record_is_read_back_from_its_one_text_and_from_no_other() {
    let text = record().canonical();
    assert_eq!(Record::parse(&text), Some(record()));
    assert_eq!(Record::parse(&format!(" {text}")), None);
    for (at, _) in text.char_indices() {
        assert_eq!(Record::parse(&text[..at]), None);
    }
    assert_eq!(Record::parse(&text.replace("failed", "skipped")), None);
}

#[test]
fn the_record_has_one_text_whatever_the_order_of_its_mutations() {
    let mut other = record();
    other.r4.reverse();
    assert_eq!(other.gate(), record().gate());
    let mut changed = record();
    changed.lints_clean = false;
    assert_ne!(changed.gate(), record().gate());
}

#[test]
fn a_merge_needs_a_terminal_the_typed_number_and_the_same_gate() {
    let good = Review {
        entry: 17,
        typed: "17",
        at_terminal: true,
        gate: "aa",
        trailer: "aa",
        tree_agrees: true,
        stopped: false,
    };
    assert_eq!(may_merge(&good), Ok(()));
    for bad in [
        Review { typed: "", ..good },
        Review { typed: "y", ..good },
        Review { typed: "017", ..good },
        Review { typed: "18", ..good },
        Review { at_terminal: false, ..good },
        Review { trailer: "ab", ..good },
        Review { tree_agrees: false, ..good },
        Review { stopped: true, ..good },
    ] {
        assert!(matches!(may_merge(&bad), Err(GateError::Merge(_))), "{bad:?}");
    }
}

#[test]
fn a_subject_is_one_line_of_72_characters_at_most() {
    assert_eq!(subject(&"ü".repeat(73)), "ü".repeat(72));
    assert_eq!(subject(&"a".repeat(72)), "a".repeat(72));
    assert_eq!(subject("\n\n first \u{7}line\nsecond"), "first line");
    assert_eq!(subject(" \n"), "A finding without a text");
}
