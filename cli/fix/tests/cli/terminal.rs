//! Questions, on a real pseudo-terminal.

use crate::local::{NEEDS_LM, counted};
use crate::support::{Home, Http, Market};
use serde_json::json;
use std::sync::atomic::Ordering;

pub(crate) use zx1_cli_common::testing::Terminal;

#[test]
fn a_fix_is_applied_after_y_and_not_after_anything_else() {
    for (answer, exit) in [("n\r", 1), ("\r", 1), ("y\r", 0)] {
        let home = Home::new();
        home.file("m.c", NEEDS_LM);
        let mut terminal = Terminal::start(home.command(["--local", "gcc", "m.c", "-o", "m"]));
        terminal.wait_for("instead? [y/N]");
        terminal.type_keys(answer);
        let (code, seen) = terminal.end();
        assert_eq!((code, home.work().join("m").exists()), (exit, exit == 0), "{answer:?}: {seen}");
    }
}

#[test]
fn what_lies_outside_is_asked_for_apart_also_with_yes() {
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let target = home.path().join("outside");
    let mut terminal =
        Terminal::start(home.command(["--local", "--yes", "gcc", "m.c", "-o", target.to_str().unwrap()]));
    terminal.wait_for("--yes does not cover it. [y/N]");
    terminal.type_keys("y\r");
    let (code, seen) = terminal.end();
    assert_eq!((code, target.exists()), (0, true), "{seen}");
}

/// Many harmless lines neither push what is asked for apart out of sight, nor does the question leave any of
/// it out.
#[test]
fn what_is_asked_for_apart_is_shown_first_and_named_whole() {
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    let outside = home.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let fix = format!(
        "seq 1 200 > a-harmless; seq 1 200 > b-harmless; for n in 1 2 3 4 5 6 7; do echo evil > {}/o$n; done; \
         touch done",
        outside.display()
    );
    let _agent = market.scripted_agent(&agents, &fix);
    let see = outside.display().to_string();
    let line = ["--server", market.url(), "--yes", "--see", &see, "test", "-f", "done"];
    let mut terminal = Terminal::start(home.command(line));
    terminal.wait_for("--yes does not cover it. [y/N]");
    terminal.type_keys("n\r");
    terminal.wait_for("error 9547: ");
    terminal.interrupt();
    let (_, seen) = terminal.end();
    let shown = seen.split("What changes").nth(1).unwrap();
    let special = shown.find("needs a consent of its own: files outside of the working tree").unwrap();
    let ordinary = shown.find("a-harmless").unwrap();
    assert!(special < ordinary && !shown.contains("more lines"), "{seen}");
    assert_eq!(shown.matches("+evil").count(), 7, "{seen}");
    let question = shown.split("The fix changes files outside").nth(1).unwrap();
    let question = question.split("Allow this?").next().unwrap();
    for n in 1..=7 {
        let path = outside.join(format!("o{n}"));
        assert!(question.contains(&path.display().to_string()), "{question}");
    }
    assert!(std::fs::read_dir(&outside).unwrap().next().is_none());
}

#[test]
fn ctrl_c_belongs_to_the_command_while_it_runs() {
    let home = Home::new();
    let mut terminal = Terminal::start(home.command(["--local", "sh", "-c", "echo begun; exec sleep 100"]));
    terminal.wait_for("begun");
    terminal.interrupt();
    let (code, seen) = terminal.end();
    assert_eq!(code, 130, "{seen}");
    assert!(!seen.contains("fix:"), "{seen}");
}

#[test]
fn ctrl_c_at_a_question_ends_a_local_fix() {
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let mut terminal = Terminal::start(home.command(["--local", "gcc", "m.c", "-o", "m"]));
    terminal.wait_for("[y/N]");
    terminal.interrupt();
    let (code, seen) = terminal.end();
    assert!(code == 130 && !home.work().join("m").exists(), "{code}: {seen}");
}

#[test]
fn nothing_is_sent_before_the_payload_was_shown_and_agreed_to() {
    let market = Market::start(&[]);
    let home = Home::new();
    let password = "password=hunter2hunter2";
    let script = format!("echo {password} >&2; exit 3");
    let mut command = home.command(["--server", market.url(), "sh", "-c", &script]);
    command.env("SHELL", "/bin/sh");
    let mut terminal = Terminal::start(command);
    terminal.wait_for("This is all that leaves your machine");
    terminal.wait_for("Send this? [y/N]");
    terminal.type_keys("n\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, 3, "{seen}");
    let payload = seen.split("This is all that leaves your machine").nth(1).unwrap();
    assert!(payload.contains("[REDACTED:password]") && !payload.contains("hunter2"), "{payload}");
    assert!(home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("No contracts"));
}

/// With --yes nobody is asked, so nothing else would stop the post.
#[test]
fn ctrl_c_before_the_post_ends_it_and_nothing_is_under_way() {
    let market = Http::serve(|_| None);
    let home = Home::new();
    let line = ["--server", &market.url, "--yes", "--bounty", "0.5", "sh", "-c", "exit 3"];
    let mut terminal = Terminal::start(home.command(line));
    terminal.wait_for("Exit code 3: ");
    terminal.interrupt();
    let (code, seen) = terminal.end();
    assert!(code == 130 && seen.contains("error 9503: "), "{code}: {seen}");
    assert!(!home.path().join(".fix/contracts").exists(), "{seen}");
}

/// The ledger's node never answers. Whether the post is out already or not, nothing is left of it.
#[test]
fn ctrl_c_while_the_wallet_is_asked_pays_nothing() {
    let market = Market::start(&[]);
    let node = Http::serve(|_| None);
    let home = Home::new();
    let line = ["--server", market.url(), "--yes", "--bounty", "0.5", "sh", "-c", "exit 3"];
    let mut command = home.command(line);
    command.env("FIX_NANO_NODE", &node.url).env("FIX_NANO_NETWORK", "dev");
    let mut terminal = Terminal::start(command);
    terminal.wait_for("money     you deposit 0.67 XNO");
    terminal.interrupt();
    let (code, seen) = terminal.end();
    assert!(code == 130 && !seen.contains("Paying the deposit"), "{code}: {seen}");
    let listed = home.fix(["--server", market.url(), "contracts"]);
    assert!(listed.ok().contains("No contracts"), "{listed:?}");
}

#[test]
fn ctrl_c_takes_back_a_contract_that_nobody_has_taken() {
    let market = Market::start(&[]);
    let home = Home::new();
    home.file("m.c", NEEDS_LM);
    let command = home.command(["--server", market.url(), "--yes", "--market", "gcc", "m.c", "-o", "m"]);
    let mut terminal = Terminal::start(command);
    terminal.wait_for("Waiting for an agent");
    terminal.interrupt();
    let (code, seen) = terminal.end();
    assert_eq!(code, 130, "{seen}");
    assert!(seen.contains("The contract is canceled"), "{seen}");
    assert!(home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("canceled"));
}

/// A run of fix that asks whether the agent's fix may be applied.
fn before_consent(home: &Home, market: &Market) -> Terminal {
    let mut terminal = Terminal::start(home.command(["--server", market.url(), "test", "-f", "done"]));
    terminal.wait_for("Send this? [y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("Apply the fix? [y/N]");
    terminal
}

#[test]
fn ctrl_c_at_the_consent_halts_the_contract_and_applies_nothing() {
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    let _agent = market.scripted_agent(&agents, "touch done");
    let terminal = before_consent(&home, &market);
    terminal.interrupt();
    let (code, seen) = terminal.end();
    assert_eq!(code, 130, "{seen}");
    assert!(seen.contains("The contract is halted. Nothing was applied."), "{seen}");
    assert!(!home.work().join("done").exists());
}

#[test]
fn a_refused_fix_is_rejected_with_the_reason() {
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    let _agent = market.scripted_agent(&agents, "touch done");
    let mut terminal = before_consent(&home, &market);
    terminal.type_keys("n\r");
    terminal.wait_for("Why not?");
    terminal.type_keys("I wanted another name\r");
    terminal.wait_for("Rejected: The command works in the sandbox");
    assert!(!home.work().join("done").exists());
    terminal.interrupt();
    terminal.end();
}

#[test]
fn a_spelling_that_cannot_be_tested_is_run_after_y_and_not_after_anything_else() {
    for (answer, exit) in [("n\r", 127), ("\r", 127), ("yess\r", 127), ("y\r", 0)] {
        let (server, hits) = counted();
        let home = Home::new();
        let mut terminal = Terminal::start(home.command(["--local", "crul", "-sS", &server.url]));
        terminal.wait_for("it? [y/N]");
        terminal.type_keys(answer);
        let (code, seen) = terminal.end();
        let question = format!("curl -sS {} could not be tested without network; run it? [y/N]", server.url);
        assert!(seen.replace("\r\n", " ").contains(&question), "{seen}");
        let ran = exit == 0;
        assert_eq!((code, hits.load(Ordering::SeqCst)), (exit, usize::from(ran)), "{answer:?}: {seen}");
        assert_eq!(seen.contains("served"), ran, "{seen}");
    }
}

/// Neither option agrees to it, and nothing in the line steers the terminal.
#[test]
fn a_spelling_that_cannot_be_tested_is_asked_for_whole_and_escaped_also_with_yes() {
    let (server, hits) = counted();
    let home = Home::new();
    let url = format!("{}/\u{202e}x", server.url);
    let line = ["--local", "--yes", "--accept-corrected", "crul", "-sS", &url];
    let mut terminal = Terminal::start(home.command(line));
    terminal.wait_for("it. [y/N]");
    terminal.type_keys("n\r");
    let (code, seen) = terminal.end();
    let question = "/\u{fffd}x' could not be tested without network; run it? --yes does not cover it. [y/N]";
    assert!(seen.replace("\r\n", " ").contains(question), "{seen}");
    assert_eq!((code, hits.load(Ordering::SeqCst)), (127, 0), "{seen}");
    assert!(!seen.contains('\u{202e}'), "{seen}");
}

/// The exit code is that of the command that was run.
#[test]
fn a_spelling_that_was_run_unproven_ends_with_its_own_exit_code() {
    let home = Home::new();
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git").args(words).current_dir(home.work()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["remote", "add", "origin", "http://127.0.0.1:1/x.git"]);
    let mut terminal = Terminal::start(home.command(["--local", "git", "fetch", "orgin"]));
    terminal.wait_for("git fetch origin could not be tested without network; run it? [y/N]");
    terminal.type_keys("y\r");
    let (code, seen) = terminal.end();
    assert!(code == 128 && seen.contains("git fetch origin: exit code 128."), "{code}: {seen}");
}

/// A stranger's command that fails in the sandbox is a failed attempt, whatever it lacks there.
#[test]
fn a_strangers_spelling_is_never_offered_unproven() {
    let market = Market::start(&[]);
    let (server, hits) = counted();
    let (home, agents) = (Home::new(), Home::new());
    let corrected = format!("curl -sS {}", server.url);
    let propose = json!({
        "action": "propose", "fix": "true", "explanation": "A typo.", "corrected_command": corrected,
    });
    let accept = json!({ "action": "accept" });
    let answers: Vec<String> = [accept, propose.clone(), propose].iter().map(ToString::to_string).collect();
    let script = agents.file("script.json", serde_json::to_vec(&answers).unwrap());
    let _agent = market.agent(&agents, &["--no-rules", "--model", &format!("script:{}", script.display())]);
    let line = ["--server", market.url(), "--market", "--accept-corrected", "crul", "-sS", &server.url];
    let mut terminal = Terminal::start(home.command(line));
    terminal.wait_for("it all the same:");
    terminal.type_keys("send\r");
    terminal.wait_for("Send this output to the agent?");
    terminal.type_keys("n\r");
    terminal.wait_for("Rejected: ");
    terminal.interrupt();
    let (_, seen) = terminal.end();
    assert!(!seen.contains("run it?") && !seen.contains("Nothing proves"), "{seen}");
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

#[test]
fn what_the_original_tests_say_is_shown_before_the_question() {
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    std::fs::create_dir(home.work().join("tests")).unwrap();
    home.file("tests/t.sh", "test -f done\n");
    home.file("run.sh", "exec sh tests/t.sh\n");
    let _agent = market.scripted_agent(&agents, "echo true > tests/t.sh");
    let mut terminal = Terminal::start(home.command(["--server", market.url(), "sh", "run.sh"]));
    terminal.wait_for("Send this? [y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("Allow this?");
    terminal.type_keys("n\r");
    terminal.wait_for("Why not?");
    terminal.interrupt();
    let (_, seen) = terminal.end();
    let (before, _) = seen.split_once("Allow this?").unwrap();
    assert!(before.contains("with the original tests: fails with 1."), "{seen}");
    assert_eq!(std::fs::read_to_string(home.work().join("tests/t.sh")).unwrap(), "test -f done\n");
}
