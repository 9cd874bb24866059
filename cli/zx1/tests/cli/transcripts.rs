//! What people see, word for word: `tests/cmd/*.trycmd` in an empty home, `tests/cmd/owner/*.trycmd` in one
//! with a key and an agent. Write them anew with `TRYCMD=overwrite`, and read what has changed.

use crate::support::{Home, said};
use std::path::{Path, PathBuf};

/// The agent that the owner's commands speak of.
const AGENT: &str = "11111111111111111111111111111112";

fn cases(home: &Path, zx1: &Path) -> trycmd::TestCases {
    let cases = trycmd::TestCases::new();
    cases
        .env("HOME", home.to_str().unwrap())
        .env("ZX1_HOME", zx1.to_str().unwrap())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .insert_var("[HOME]", home.to_str().unwrap().to_owned())
        .unwrap();
    cases
}

/// A home with the key of seed 7 and an agent.
fn owner() -> Home {
    let home = Home::new();
    let key = home.file("seed", [7u8; 32]);
    home.zx1(["init", "--import", &key]).ok();
    home.zx1(["config", "set", "agent", AGENT]).ok();
    home
}

#[test]
fn transcripts() {
    let home = tempfile::tempdir().unwrap();
    cases(home.path(), &home.path().join("zx1")).case("tests/cmd/*.trycmd");
}

#[test]
fn transcripts_of_an_owner() {
    let home = owner();
    cases(home.path(), &home.folder()).case("tests/cmd/owner/*.trycmd");
}

/// The commands of a file of transcripts, as a shell would split them, and the exit codes that they show.
fn commands(path: &Path) -> Vec<(Vec<String>, i32)> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut found: Vec<(Vec<String>, i32)> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ zx1 ") {
            found.push((words(command), 0));
        } else if let (Some(code), Some(last)) = (line.strip_prefix("? "), found.last_mut()) {
            last.1 = code.parse().unwrap();
        }
    }
    found
}

fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).unwrap();
        }
    }
}

#[test]
fn every_refusal_of_an_owner_is_a_sentence_with_a_next_step_and_changes_nothing() {
    let home = owner();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/owner");
    copy(&folder.join("files.in"), home.path());
    let ours = |path: &PathBuf| path.file_name().is_none_or(|name| name != ".lock");
    let files = || home.files().into_iter().filter(|(path, _)| ours(path)).collect::<Vec<_>>();
    let before = files();
    let mut files_seen = 0;
    let mut refused = 0;
    for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "trycmd") {
            continue;
        }
        files_seen += 1;
        for (arguments, code) in commands(&file) {
            let said = said(&mut home.command(&arguments));
            assert_eq!(said.code, code, "{arguments:?}: {said:?}");
            assert!(code == 1 || code == 2, "{arguments:?} does not fail");
            let refusals: Vec<&str> = said.err.lines().filter(|line| line.starts_with("error ")).collect();
            let nexts: Vec<&str> = said.err.lines().filter(|line| line.starts_with("next: ")).collect();
            assert_eq!((refusals.len(), nexts.len()), (1, 1), "{arguments:?}: {said:?}");
            assert!(refusals[0].ends_with(['.', '?']), "{arguments:?}: {said:?}");
            assert_eq!(files(), before, "{arguments:?} changed something");
            refused += 1;
        }
    }
    assert!(files_seen >= 5 && refused > 200, "{files_seen} {refused}");
}
