//! Questions, on a real pseudo-terminal.

use crate::support::Home;
use std::process::Command;
use zx1_cli_common::testing::Terminal;

/// zx1 on a terminal, with no environment but the home.
fn at_terminal(home: &Home, arguments: &[&str]) -> Terminal {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zx1"));
    command.args(arguments).env_clear().env("HOME", home.path());
    Terminal::start(command)
}

#[test]
fn a_passphrase_is_typed_twice_and_never_shown() {
    let home = Home::with_key();
    let file = home.path().join("b.age");
    let mut terminal = at_terminal(&home, &["key", "backup", file.to_str().unwrap()]);
    terminal.wait_for("Passphrase:");
    terminal.type_keys("correct horse battery\r");
    terminal.wait_for("Once more:");
    terminal.type_keys("correct horse battery\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains("horse"), "{seen}");
    assert!(file.exists());

    let new = Home::new();
    let mut terminal = at_terminal(&new, &["key", "restore", file.to_str().unwrap()]);
    terminal.wait_for("Passphrase:");
    terminal.type_keys("correct horse battery\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(new.folder().join("id.json").exists());
}

#[test]
fn escape_breaks_a_backup_off_and_leaves_nothing() {
    let home = Home::with_key();
    let before = home.files();
    let mut terminal = at_terminal(&home, &["key", "backup", "b.age"]);
    terminal.wait_for("Passphrase:");
    terminal.type_keys("\u{1b}");
    let (code, seen) = terminal.end();
    assert_eq!(code, 1, "{seen}");
    assert!(seen.contains("7402"), "{seen}");
    assert_eq!(home.files(), before);
}

#[test]
fn colours_are_there_on_a_terminal_and_only_there() {
    let home = Home::new();
    let (_, seen) = at_terminal(&home, &["key", "show"]).end();
    assert!(seen.contains("\u{1b}[") && seen.contains("7410"), "{seen:?}");
    assert!(!home.zx1(["key", "show"]).err.contains('\u{1b}'));
}
