use crate::Test;
use crate::toy::{LINE, PYTHON, Toy, runs, sleepers, until};
use std::path::Path;
use std::process::{Command, Stdio};
use zx1_operator::qa::journal::{How, Line};
use zx1_operator::qa::{Run, State, Tools};
use zx1_qa::finding::Finding;
use zx1_qa::journal::Point;
use zx1_qa::repro::Repro;

pub(crate) const ALL: &[(&str, Test)] = &[
    (
        "a_run_that_is_killed_at_a_named_point_leaves_nothing",
        a_run_that_is_killed_at_a_named_point_leaves_nothing,
    ),
    ("a_tool_dies_with_the_loop_that_started_it", a_tool_dies_with_the_loop_that_started_it),
    ("a_second_loop_is_refused_while_one_runs", a_second_loop_is_refused_while_one_runs),
];

/// What makes this program a loop that is killed.
pub(crate) const ARGUMENT: &str = "killed-loop";
const SLEEP: &str = "98765";

static POINT: std::sync::OnceLock<String> = std::sync::OnceLock::new();

fn end_here(point: Point) {
    if POINT.get().is_some_and(|wanted| *wanted == format!("{point:?}")) {
        // What a power cut is to a process.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}

fn finding() -> Finding {
    Finding {
        source: Some("qa-test".to_owned()),
        surface: Some("decoder".to_owned()),
        summary: "It fails.".to_owned(),
        repro: Some(Repro::parse(LINE).unwrap()),
        ..Finding::default()
    }
}

/// The loop: one call, one finding, and an end that it does not always reach.
pub(crate) fn child(arguments: &[String]) {
    let [point, home, repository, programs] = arguments else { panic!("{arguments:?}") };
    POINT.set(point.clone()).unwrap();
    let state = State::open(Path::new(home), Path::new(repository)).unwrap().with_hook(end_here);
    let tools = Tools::of_this_program().unwrap().with_programs(programs);
    let mut run = Run::begin(&state, "killed", None).unwrap();
    let line = if point == "sleep" {
        format!("qa_cli({{\"arguments\":[\"{SLEEP}\"],\"program\":\"zx1\"}})")
    } else {
        "qa_decode({\"hex\":\"80\"})".to_owned()
    };
    let given = run.given().unwrap();
    let answer = tools.run(given, &mut run, &Repro::parse(&line).unwrap()).unwrap();
    assert!(answer.ok, "{answer:?}");
    run.found(&finding()).unwrap();
    run.end("done").unwrap();
}

fn start(toy: &Toy, point: &str, programs: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([ARGUMENT, point]).arg(toy.home.path()).arg(toy.repository.path()).arg(programs);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// After the next run: no folder but its own, and every reservation settled once.
fn is_clean(state: &State) {
    let run = Run::begin(state, "after", None).unwrap();
    let folders: Vec<_> = std::fs::read_dir(state.runs()).unwrap().flatten().map(|it| it.path()).collect();
    assert_eq!(folders, [run.folder()]);
    run.end("done").unwrap();
    assert_eq!(std::fs::read_dir(state.runs()).unwrap().count(), 0);
    let lines = state.lines().unwrap();
    let reserved = lines.iter().filter(|line| matches!(line, Line::Reserved { .. })).count();
    let settled = lines.iter().filter(|line| matches!(line, Line::Settled { .. })).count();
    assert_eq!(reserved, settled);
    let begun = lines.iter().filter(|line| matches!(line, Line::Begun { .. })).count();
    let ended = lines.iter().filter(|line| matches!(line, Line::Ended { .. })).count();
    assert!(ended >= begun, "{begun} {ended}");
}

fn a_run_that_is_killed_at_a_named_point_leaves_nothing() {
    let (_folder, programs) = sleepers();
    let rows = [
        ("Locked", None, false),
        ("FolderMade", None, false),
        ("Reserved", Some(How::Refunded), false),
        ("ToolRunning", Some(How::Charged), false),
        ("Unsettled", Some(How::Charged), false),
        ("FindingWritten", Some(How::Settled), true),
    ];
    for (point, how, found) in rows {
        let toy = Toy::new();
        let state = toy.state();
        let status = start(&toy, point, &programs).status().unwrap();
        assert!(!status.success(), "{point}");
        is_clean(&state);
        let lines = state.lines().unwrap();
        let settled = lines.iter().find_map(|line| match line {
            Line::Settled { how, .. } => Some(*how),
            _ => None,
        });
        assert_eq!(settled, how, "{point}");
        // Run again, whatever was found is found once.
        assert!(start(&toy, "never", &programs).status().unwrap().success(), "{point}");
        let lines = state.lines().unwrap();
        let count = lines.iter().filter(|line| matches!(line, Line::Found { .. })).count();
        assert_eq!(count, 1, "{point}, found before: {found}");
    }
}

fn a_tool_dies_with_the_loop_that_started_it() {
    assert!(Path::new(PYTHON).exists() && !runs(SLEEP));
    let toy = Toy::new();
    let (_folder, programs) = sleepers();
    let mut child = start(&toy, "sleep", &programs).spawn().unwrap();
    until("the tool runs", || runs(SLEEP));
    child.kill().unwrap();
    child.wait().unwrap();
    until("the tool is gone", || !runs(SLEEP));
    is_clean(&toy.state());
}

fn a_second_loop_is_refused_while_one_runs() {
    let toy = Toy::new();
    let state = toy.state();
    let run = Run::begin(&state, "first", None).unwrap();
    let error = Run::begin(&state, "second", None).unwrap_err();
    assert_eq!(error.code(), 7839);
    drop(run);
    assert!(Run::begin(&state, "third", None).is_ok());
}
