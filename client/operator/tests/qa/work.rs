use crate::Test;
use crate::toy::{Toy, runs, sleepers, until};
use std::time::Duration;
use zx1_operator::qa::probe::{Wanted, probe};
use zx1_operator::qa::repeat::{Verdict, repeat};
use zx1_operator::qa::{QaError, Run, Tools};
use zx1_qa::dial::DialError;
use zx1_qa::repro::Repro;
use zx1_qa::suite::Suite;

pub(crate) const ALL: &[(&str, Test)] = &[
    ("decoders_answer_from_inside_of_a_jail", decoders_answer_from_inside_of_a_jail),
    ("a_jail_holds_against_what_the_attacks_look_for", a_jail_holds_against_what_the_attacks_look_for),
    ("the_kill_switch_ends_a_tool_that_runs", the_kill_switch_ends_a_tool_that_runs),
    ("a_command_line_that_hangs_is_a_finding_once", a_command_line_that_hangs_is_a_finding_once),
    (
        "a_budget_that_is_used_up_ends_the_probe_and_is_a_finding",
        a_budget_that_is_used_up_ends_the_probe_and_is_a_finding,
    ),
];

fn call(line: &str) -> Repro {
    Repro::parse(line).unwrap()
}

fn decoders_answer_from_inside_of_a_jail() {
    let toy = Toy::new();
    let state = toy.state();
    let tools = Tools::of_this_program().unwrap();
    let mut run = Run::begin(&state, "test", None).unwrap();
    let (verdict, answers) =
        repeat(&tools, &mut run, &call("qa_decode({\"hex\":\"80\",\"kind\":\"envelope\"})")).unwrap();
    assert_eq!((verdict, answers.len()), (Verdict::Works, 3));
    let given = run.given().unwrap();
    let all = tools.run(given, &mut run, &call("qa_decode({\"kind\":\"qa_repro\",\"seed\":7})")).unwrap();
    assert!(all.ok && all.seed == Some(7), "{all:?}");
    assert_eq!(all.details.get("runs").and_then(zx1_market::Json::as_u64), Some(400));
    for (line, code) in [
        ("qa_decode({\"kind\":\"nothing\"})", 7880),
        ("qa_story({\"parties\":3})", 7821),
        ("qa_fetch({\"url\":\"http://127.0.0.1/\"})", 7880),
    ] {
        let given = run.given().unwrap();
        assert_eq!(tools.run(given, &mut run, &call(line)).unwrap_err().code(), code, "{line}");
    }
    assert!(run.used().wall_ms > 0);
}

fn a_jail_holds_against_what_the_attacks_look_for() {
    let toy = Toy::new();
    let state = toy.state();
    let tools = Tools::of_this_program().unwrap();
    let mut run = Run::begin(&state, "test", None).unwrap();
    let attack = call("qa_attack({})");
    let refused = tools.run(run.given().unwrap(), &mut run, &attack).unwrap_err();
    assert_eq!(refused.code(), 7821);
    drop(run);
    state.set_dial("exercise").unwrap();
    let mut run = Run::begin(&state, "test", None).unwrap();
    let answer = tools.run(run.given().unwrap(), &mut run, &attack).unwrap();
    assert!(answer.ok, "{answer:?}");
    let unknown =
        tools.run(run.given().unwrap(), &mut run, &call("qa_attack({\"scene\":\"x\"})")).unwrap_err();
    assert_eq!(unknown.code(), 7880);
}

fn the_kill_switch_ends_a_tool_that_runs() {
    let toy = Toy::new();
    let (state, other) = (toy.state(), toy.state());
    let (_folder, programs) = sleepers();
    let tools = Tools::of_this_program().unwrap().with_programs(programs);
    let mut run = Run::begin(&state, "test", None).unwrap();
    let stopper = std::thread::spawn(move || {
        until("the tool runs", || runs("87654"));
        other.stop("a test").unwrap();
    });
    let given = run.given().unwrap();
    let slow = call("qa_cli({\"arguments\":[\"87654\"],\"program\":\"zx1\"})");
    let error = tools.run(given, &mut run, &slow).unwrap_err();
    stopper.join().unwrap();
    assert!(matches!(error, QaError::Dial(DialError::Stopped)), "{error}");
    assert!(!runs("87654"));
    assert_eq!(run.given().unwrap_err(), DialError::Stopped);
    drop(run);
    assert!(matches!(Run::begin(&state, "next", None), Err(QaError::Dial(DialError::Stopped))));
}

fn wanted(suite: &str, calls: u64) -> Wanted {
    let suite = Suite::of(suite).unwrap();
    Wanted { suite, source: "qa-test".to_owned(), seed: 1, time: Duration::from_secs(60), calls }
}

/// The program in the place of zx1 knows no options but numbers: it refuses without a number of an error.
fn a_command_line_that_hangs_is_a_finding_once() {
    let toy = Toy::new();
    let state = toy.state();
    let (_folder, programs) = sleepers();
    let tools = Tools::of_this_program().unwrap().with_programs(programs);
    for expected in [true, false] {
        let mut run = Run::begin(&state, "test", None).unwrap();
        let seen = probe(&tools, &mut run, &wanted("ux", 1)).unwrap();
        run.end("done").unwrap();
        assert_eq!((seen.calls, seen.flaky, seen.findings.len()), (1, 0, 1), "{seen:?}");
        let (finding, is_new) = &seen.findings[0];
        assert_eq!((finding.surface.as_deref(), *is_new), (Some("cli"), expected));
        assert!(finding.summary.contains("without a number"), "{}", finding.summary);
        assert_eq!(finding.version.as_deref(), Some(toy.head().as_str()));
        assert!(finding.build().is_ok() && seen.left_out.len() == 1, "{:?}", seen.left_out);
    }
}

fn a_budget_that_is_used_up_ends_the_probe_and_is_a_finding() {
    let toy = Toy::new();
    let path = toy.state().folder().join("qa.toml");
    std::fs::write(&path, "[budget]\nwall_seconds = 11\n").unwrap();
    let state = toy.state();
    let tools = Tools::of_this_program().unwrap();
    let mut run = Run::begin(&state, "test", None).unwrap();
    let seen = probe(&tools, &mut run, &wanted("fuzz", 1_000)).unwrap();
    assert!(seen.ended_by.is_some_and(|why| why.contains("wall_ms")));
    assert!(seen.findings[0].0.summary.starts_with("budget-exceeded"));
    assert!(seen.calls < 1_000 && run.used().wall_ms <= 11_000);
}
