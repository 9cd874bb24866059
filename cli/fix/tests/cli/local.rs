//! `--local`: rules and sandbox, no market.

use crate::support::{Home, Http, said};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program that needs -lm.
pub(crate) const NEEDS_LM: &str = "#include <math.h>\n#include <stdio.h>\n\
    int main(int argc, char **argv) { (void)argv; printf(\"%.3f\\n\", sqrt(argc + 1.0)); return 0; }\n";

#[test]
fn a_missing_library_is_found_proven_applied_and_undone() {
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let before = Home::files(&home.work());
    let said = home.fix(["--local", "--yes", "gcc", "m.c", "-o", "m"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("undefined reference") && said.err.contains("+ gcc m.c -o m -lm"), "{said:?}");
    let program = Command::new(home.work().join("m")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&program.stdout), "1.414\n");
    assert!(home.fix(["undo", "--list"]).ok().contains("applied"));
    home.fix(["undo"]).ok();
    assert_eq!(Home::files(&home.work()), before);
    home.fix(["undo"]).refused(1, 9532);
}

/// A contract that goes on after a crash knows its own commit by that (`Applied::is`).
#[test]
fn an_undo_record_is_named_after_the_process_that_made_it() {
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let mut command = home.command(["--local", "--yes", "gcc", "m.c", "-o", "m"]);
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    assert!(child.wait().unwrap().success());
    let listed = home.fix(["--json", "undo", "--list"]).json();
    let id = listed[0]["id"].as_str().unwrap();
    assert!(id.ends_with(&format!("-{}", child.id())), "{id}");
}

#[test]
fn a_dry_run_changes_nothing_and_keeps_the_commands_exit_code() {
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let before = Home::files(&home.work());
    let said = home.fix(["--local", "--dry-run", "gcc", "m.c", "-o", "m"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("A m  ") && said.err.contains("dry run"), "{said:?}");
    assert_eq!(Home::files(&home.work()), before);
}

#[test]
fn without_a_terminal_nothing_is_applied_unasked() {
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let said = home.fix(["--local", "gcc", "m.c", "-o", "m"]);
    said.refused(1, 9501);
    assert!(!home.work().join("m").exists());
}

#[test]
fn a_failure_that_no_rule_knows_is_declined_with_the_commands_exit_code() {
    let home = Home::new();
    let said = home.fix(["--local", "sh", "-c", "echo strange >&2; exit 42"]);
    assert_eq!(said.code, 42, "{said:?}");
    assert!(said.err.contains("strange\n") && said.err.contains("error 9300: "), "{said:?}");
}

#[test]
fn json_is_one_object_a_line_and_nothing_else() {
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let said = home.fix(["--json", "--local", "--yes", "sh", "-c", "echo out; gcc m.c -o m"]);
    let events = said.events();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"failed"), Some(&"end")), "{said:?}");
    assert_eq!(events.last().unwrap()["exit_code"].as_i64(), Some(said.code.into()));
    assert!(said.err.contains("out\n"), "{said:?}");
}

#[test]
fn what_lies_outside_of_the_folder_needs_its_own_consent() {
    let home = Home::new();
    // What the corrected command writes lies outside of the working folder.
    let target = home.path().join("outside");
    let mut command = home.command(["--local", "--yes", "gcc", "m.c", "-o", target.to_str().unwrap()]);
    home.file("m.c", NEEDS_LM);
    let said = said(&mut command);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("error 9547: "), "{said:?}");
    assert!(!target.exists());
}

/// A server on this machine, which no sandbox reaches, and how often it was asked.
pub(crate) fn counted() -> (Http, Arc<AtomicUsize>) {
    let hits = Arc::new(AtomicUsize::new(0));
    let count = hits.clone();
    let server = Http::serve(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Some("\"served\"".to_owned())
    });
    (server, hits)
}

/// Sentences without the breaks that fit them to the terminal.
fn unwrapped(text: &str) -> String {
    text.replace("\n     ", " ")
}

#[test]
fn a_spelling_that_cannot_be_tested_is_not_run_unasked() {
    let (server, hits) = counted();
    let home = Home::new();
    for options in [&[][..], &["--yes"], &["--yes", "--accept-corrected"]] {
        let line = [&["--local"], options, &["crul", "-sS", &server.url]].concat();
        let said = home.fix(line);
        said.refused(127, 9572);
        let whole = format!("Not run: curl -sS {} could not be tested without network", server.url);
        assert!(unwrapped(&said.err).contains(&whole), "{said:?}");
        assert!(!said.err.contains("run it?"), "{said:?}");
    }
    let said = home.fix(["--local", "--dry-run", "crul", "-sS", &server.url]);
    let text = unwrapped(&said.err);
    assert!(text.contains("cannot be taken back") && text.contains("dry run"), "{said:?}");
    assert_eq!(said.code, 127, "{said:?}");
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

#[test]
fn a_spelling_that_cannot_be_tested_is_an_event_for_programs() {
    let (server, hits) = counted();
    let home = Home::new();
    let said = home.fix(["--json", "--local", "--yes", "crul", "-sS", &server.url]);
    let events = said.events();
    let unproven = events.iter().find(|event| event["event"] == "unproven").unwrap();
    assert_eq!(unproven["command"], format!("curl -sS {}", server.url), "{said:?}");
    assert_eq!(unproven["lacks"], "network");
    let end = events.last().unwrap();
    assert_eq!((&end["event"], end["exit_code"].as_i64()), (&"end".into(), Some(127)), "{said:?}");
    assert!(end["fixed"] == false && said.code == 127 && said.err.contains("9572"), "{said:?}");
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

/// What fails for another reason than the sandbox is declined as before.
#[test]
fn a_spelling_that_fails_by_itself_is_not_offered() {
    let home = Home::new();
    let said = home.fix(["--local", "--yes", "crul", "--no-such-option"]);
    said.refused(127, 9544);
    assert!(!said.err.contains("could not be tested"), "{said:?}");
}
