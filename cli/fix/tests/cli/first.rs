//! The first minute of somebody who has just installed fix, and what must not happen by accident.

use crate::support::{Home, Http, Market, said};
use crate::terminal::Terminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A recipe that is indented by spaces.
const MAKEFILE: &str = "all:\n    @echo built > out.txt\n";

/// A clean home, a terminal, two answers: no key, no market, no account.
#[test]
fn a_broken_makefile_is_repaired_and_undone_in_the_first_minute() {
    let home = Home::new();
    home.file("Makefile", MAKEFILE);
    let before = Home::files(&home.work());
    let mut terminal = Terminal::start(home.command(["make"]));
    terminal.wait_for("Allow this? --yes does not cover it. [y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("Apply the fix? [y/N]");
    assert_eq!(Home::files(&home.work()), before);
    terminal.type_keys("y\r");
    let (code, seen) = terminal.end();
    assert!(code == 0 && seen.contains("Fixed. Undo with: fix undo"), "{code}: {seen}");
    assert_eq!(std::fs::read_to_string(home.work().join("out.txt")).unwrap(), "built\n");
    home.fix(["undo"]).ok();
    assert_eq!(Home::files(&home.work()), before);
    assert!(!home.path().join(".fix/key.ed25519").exists(), "{seen}");
}

/// The rules repair what they know, also where a market would be asked.
#[test]
fn what_the_rules_know_is_not_posted() {
    let market = Market::start(&[]);
    let home = Home::new();
    home.file("m.c", crate::local::NEEDS_LM);
    let said = home.fix(["--server", market.url(), "--yes", "--bounty", "0.5", "gcc", "m.c", "-o", "m"]);
    assert!(said.code == 0 && home.work().join("m").exists(), "{said:?}");
    assert!(home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("No contracts"));
}

/// Nobody named a market: that none is there is no error.
#[test]
fn without_a_market_and_a_model_the_next_step_is_a_footnote() {
    let home = Home::new();
    // The usual address of a market may be taken on the machine that runs the tests.
    let said = said(&mut home.command(["--yes", "sh", "-c", "exit 7"]));
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("No rule knows this failure."), "{said:?}");
    assert!(said.err.contains("fix init") && !said.err.contains("error "), "{said:?}");
    assert!(!home.path().join(".fix/key.ed25519").exists(), "{said:?}");
}

#[test]
fn a_market_that_was_named_and_is_not_there_is_an_error() {
    let home = Home::new();
    let said = home.fix(["--market", "--yes", "sh", "-c", "exit 7"]);
    said.refused(7, 9369);
}

#[test]
fn a_slip_of_the_pen_in_a_command_of_fix_runs_and_sends_nothing() {
    let market = Market::start(&[]);
    let home = Home::new();
    for (word, meant) in
        [("contrcts", "contracts"), ("stauts", "status"), ("docter", "doctor"), ("hlep", "help")]
    {
        let said = home.fix(["--server", market.url(), "--yes", "--bounty", "0.5", word]);
        let err = said.refused(2, 9525);
        assert!(err.contains(&format!("Did you mean {meant}")), "{err}");
    }
    assert!(!home.path().join(".fix").exists());
    assert!(home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("No contracts"));
    // A program of that name is run, and `run` runs anything.
    home.file("contrcts", "#!/bin/sh\nexit 0\n");
    std::fs::set_permissions(
        home.work().join("contrcts"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let path = format!("{}:{}", home.work().display(), std::env::var("PATH").unwrap());
    assert_eq!(said(home.command(["contrcts"]).env("PATH", path)).code, 0);
    assert_eq!(home.fix(["run", "--", "./contrcts"]).code, 0);
}

#[test]
fn the_words_that_everybody_tries_first_are_commands() {
    let home = Home::new();
    assert!(home.fix(["help"]).ok().contains("Usage: fix"));
    assert!(home.fix(["help", "undo"]).ok().contains("Usage: fix undo"));
    assert!(home.fix(["version"]).ok().starts_with("fix 0."));
    assert!(home.fix(["status"]).ok().contains("none (fix init)"));
    assert!(home.fix(["config"]).ok().contains("model_budget"));
    let doctor = home.fix(["doctor"]);
    assert!(doctor.ok().contains("sandbox"), "{doctor:?}");
    assert!(!home.path().join(".fix").exists(), "nothing is made by looking");
}

#[test]
fn a_command_that_was_not_found_leaves_the_machine_only_by_a_typed_word() {
    let market = Market::start(&[]);
    let posts = Arc::new(AtomicUsize::new(0));
    let count = posts.clone();
    let model = Http::serve(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        None
    });
    let home = Home::new();
    let none = || home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("No contracts");
    let word = "no-such-program-anywhere";
    home.fix(["--server", market.url(), "--yes", "--bounty", "0.5", word]).refused(127, 9573);
    home.fix(["--yes", "--model", &format!("openai:m@{}", model.url), word]).refused(127, 9573);
    assert!(none() && posts.load(Ordering::SeqCst) == 0);
    for answer in ["y\r", "yes\r", "\r", "SEND\r"] {
        let mut terminal = Terminal::start(home.command(["--server", market.url(), "--yes", word]));
        terminal.wait_for("it all the same:");
        terminal.type_keys(answer);
        let (code, seen) = terminal.end();
        assert!(code == 127 && seen.contains("error 9502: "), "{code}: {seen}");
    }
    assert!(none());
    let mut terminal = Terminal::start(home.command(["--server", market.url(), "--yes", word]));
    terminal.wait_for("it all the same:");
    terminal.type_keys("send\r");
    terminal.wait_for("Waiting for an agent");
    terminal.interrupt();
    terminal.end();
    assert!(!none());
}

#[test]
fn after_ctrl_c_the_next_try_posts_anew_and_asks_for_nothing_old() {
    let market = Market::start(&[]);
    let home = Home::new();
    let line = ["--server", market.url(), "--yes", "test", "-f", "done"];
    for _ in 0..2 {
        let mut terminal = Terminal::start(home.command(line));
        terminal.wait_for("Waiting for an agent");
        terminal.interrupt();
        let (code, seen) = terminal.end();
        assert!(code == 130 && seen.contains("The contract is canceled"), "{code}: {seen}");
        assert!(!seen.contains("under way"), "{seen}");
        let records = std::fs::read_dir(home.path().join(".fix/contracts")).unwrap().count();
        assert_eq!(records, 0, "{seen}");
    }
    let listed = home.fix(["--json", "--server", market.url(), "contracts", "--all"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 2);
}

/// It ended while nobody watched here.
#[test]
fn a_contract_that_has_ended_is_not_under_way() {
    let market = Market::start(&[]);
    let home = Home::new();
    let server = ["--server", market.url()];
    let line = ["--yes", "test", "-f", "done"];
    let mut terminal = Terminal::start(home.command(server.iter().chain(&line)));
    terminal.wait_for("Waiting for an agent");
    terminal.kill();
    let listed = home.fix(["--json", "--server", market.url(), "contracts"]).json();
    let id = listed[0]["id"].as_str().unwrap();
    home.fix(server.iter().chain(&["cancel", id])).ok();
    let mut terminal = Terminal::start(home.command(server.iter().chain(&["test", "-f", "done"])));
    terminal.wait_for("Send this? [y/N]");
    terminal.type_keys("n\r");
    let (_, seen) = terminal.end();
    assert!(!seen.contains("under way"), "{seen}");
}

#[test]
fn the_first_use_says_which_key_it_made_or_took() {
    let market = Market::start(&[]);
    let line = ["--server", market.url(), "--yes", "sh", "-c", "exit 3"];
    let first_line = |home: &Home| {
        let mut terminal = Terminal::start(home.command(line));
        terminal.wait_for("Waiting for an agent");
        terminal.interrupt();
        terminal.end().1
    };
    let home = Home::new();
    let seen = first_line(&home);
    assert!(seen.contains("Your key was created: "), "{seen}");
    assert!(!first_line(&home).contains("Your key"));

    let other = Home::new();
    let zx1 = other.path().join(".config/zx1");
    std::fs::create_dir_all(&zx1).unwrap();
    std::fs::copy(home.path().join(".fix/key.ed25519"), zx1.join("id.json")).unwrap();
    let seen = first_line(&other);
    assert!(seen.contains("Your key is zx1's"), "{seen}");
    let id = |home: &Home| home.fix(["--json", "status"]).json()["fix_id"].clone();
    assert_eq!(id(&home), id(&other));
}

#[test]
fn init_takes_zx1s_key_keeps_its_own_and_makes_another_one_only_when_told() {
    let home = Home::new();
    let zx1 = home.path().join(".config/zx1");
    std::fs::create_dir_all(&zx1).unwrap();
    home.fix(["--key", zx1.join("id.json").to_str().unwrap(), "init"]).ok();
    let made = home.fix(["--json", "init"]).json();
    assert_eq!(made["origin"], "imported", "{made}");
    let again = home.fix(["--json", "init"]).json();
    assert_eq!((&again["origin"], &again["fix_id"]), (&"kept".into(), &made["fix_id"]));
    home.fix(["init", "--new"]).refused(1, 9516);
    std::fs::remove_file(home.path().join(".fix/key.ed25519")).unwrap();
    let new = home.fix(["--json", "init", "--new"]).json();
    assert!(new["origin"] == "created" && new["fix_id"] != made["fix_id"], "{new}");
}

#[test]
fn init_asks_once_for_a_model_and_takes_no_for_an_answer() {
    let home = Home::new();
    let mut terminal = Terminal::start(home.command(["init"]));
    terminal.wait_for("Your model (Enter: none):");
    terminal.type_keys("magic\r");
    terminal.wait_for("invalid model 'magic'");
    terminal.type_keys("\r");
    assert_eq!(terminal.end().0, 0);
    let (code, seen) = Terminal::start(home.command(["init"])).end();
    assert!(code == 0 && !seen.contains("Your model (Enter"), "{seen}");
    assert_eq!(home.fix(["config", "get", "model"]).ok(), "rules\n");
    home.fix(["config", "unset", "model"]).ok();
    let mut terminal = Terminal::start(home.command(["init"]));
    terminal.wait_for("Your model (Enter: none):");
    terminal.type_keys("openai:qwen@http://127.0.0.1:9/v1\r");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(home.fix(["config", "get", "model"]).ok(), "openai:qwen@http://127.0.0.1:9/v1\n");
}

#[test]
fn settings_are_checked_before_they_are_kept() {
    let home = Home::new();
    for (setting, value) in [
        ("model", "magic"),
        ("model_budget", "much"),
        ("model_tokens", "many"),
        ("server", "ftp://x"),
        ("bounty", "x"),
    ] {
        home.fix(["config", "set", setting, value]).refused(2, 9526);
    }
    home.fix(["config", "set", "nonsense", "1"]).refused(2, 9527);
    assert!(!home.path().join(".fix").exists());
    home.fix(["config", "set", "wallet.network", "live"]).ok();
    assert_eq!(home.fix(["config", "get", "wallet.network"]).ok(), "live\n");
    home.fix(["config", "unset", "wallet.network"]).ok();
    assert_eq!(home.fix(["config", "get", "wallet.network"]).ok(), "\n");
}

#[test]
fn doctor_fails_where_what_was_set_up_does_not_answer() {
    let home = Home::new();
    home.fix(["config", "set", "model", "openai:qwen@http://127.0.0.1:9/v1"]).ok();
    let said = home.fix(["doctor"]);
    assert!(said.refused(1, 9528).contains("fix doctor"), "{said:?}");
    assert!(said.out.contains("does not answer"), "{said:?}");
}

#[test]
fn what_only_a_shell_has_is_run_by_one() {
    let home = Home::new();
    let said = home.fix(["--local", "cd", "/nowhere"]);
    assert!(said.code != 127 && !said.err.contains("command not found"), "{said:?}");
}
