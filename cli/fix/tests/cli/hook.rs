//! The shell hooks, in real shells: what failed is remembered, what worked is not, and no process is started.

use crate::support::{Home, said};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs lines in an interactive shell; `None` when it is not installed.
fn shell(home: &Home, shell: &str, arguments: &[&str], script: &str) -> Option<String> {
    let mut command = home.command(["--version"]);
    let mut child = Command::new(shell);
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            child.env(name, value);
        }
    }
    command.arg("");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_fix")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    child.args(arguments).env("PATH", path).env("TERM", "dumb").current_dir(home.work());
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().ok()?;
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

/// What the hook has remembered.
fn remembered(home: &Home) -> Vec<String> {
    let folder = home.path().join(".fix/last");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let records = files.filter(|path| path.extension().is_none());
    records.map(|path| String::from_utf8(std::fs::read(path).unwrap()).unwrap()).collect()
}

#[test]
fn bash_remembers_the_last_command_that_failed() {
    let home = Home::new();
    let script =
        "set -o history\neval \"$(fix hook bash)\"\nls  'no such  file'\ntrue\nfix --nonsense\nexit\n";
    let Some(shown) = shell(&home, "bash", &["--norc", "-i"], script) else { return };
    let expected = format!("2\0{}\0ls  'no such  file'\0", home.work().display());
    assert_eq!(remembered(&home), [expected], "{shown}");
}

#[test]
fn zsh_remembers_the_last_command_that_failed() {
    let home = Home::new();
    let script = "eval \"$(fix hook zsh)\"\nls  'no such  file'\ntrue\nfix --nonsense\nexit\n";
    let Some(shown) = shell(&home, "zsh", &["-f", "-i"], script) else { return };
    let expected = format!("2\0{}\0ls  'no such  file'\0", home.work().display());
    assert_eq!(remembered(&home), [expected], "{shown}");
}

#[test]
fn fish_remembers_the_last_command_that_failed() {
    let home = Home::new();
    // Without a terminal fish reads its lines as one script; events are what the hook hangs on.
    let script = "fix hook fish | source\nls  'no such  file'\nemit fish_postexec \"ls  'no such  file'\"\n";
    let Some(shown) = shell(&home, "fish", &["--no-config", "-i"], script) else { return };
    let found = remembered(&home);
    let folder = home.work().display().to_string();
    assert_eq!(found.len(), 1, "{shown}");
    assert!(found[0].contains(&folder) && found[0].contains("ls  'no such  file'"), "{found:?}: {shown}");
}

#[test]
fn the_bash_hook_takes_less_than_5_ms_a_prompt_and_starts_no_process() {
    let home = Home::new();
    let hook = home.fix(["hook", "bash"]);
    // `$(` and backquotes would start a process.
    let body = hook.ok().split("}\n").next().unwrap().to_owned();
    assert!(!body.contains("$(") && !body.contains('`'), "{body}");
    let script =
        format!("set -o history\n{}\nfor i in {{1..200}}; do false; __fix_hook; done\nexit 0\n", hook.ok());
    let began = Instant::now();
    let Some(_) = shell(&home, "bash", &["--norc", "-i"], &script) else { return };
    let each = began.elapsed() / 200;
    assert!(each.as_micros() < 5_000, "{each:?}");
}

#[test]
fn fix_it_without_a_hook_says_how_to_get_one() {
    let home = Home::new();
    assert!(said(&mut home.command(["it"])).refused(1, 9543).contains("fix hook bash"));
}

#[test]
fn fix_it_repairs_what_failed_before() {
    let home = Home::new();
    home.file("m.c", crate::local::NEEDS_LM);
    let script = "set -o history\neval \"$(fix hook bash)\"\ngcc m.c -o m\nfix it --local --yes 2>&1\nexit\n";
    let Some(shown) = shell(&home, "bash", &["--norc", "-i"], script) else { return };
    assert!(home.work().join("m").exists(), "{shown}");
}
