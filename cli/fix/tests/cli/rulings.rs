//! More ends of contracts, with real processes: what the judge's machine finds decides, the rulings against
//! a principal and against both, agents that decline, a review that nobody answers. After each the transcript
//! is sound and the ledger holds what it should, to the raw.

use crate::court::{BOUNTY, World, raw};
use crate::support::{Home, Http};
use crate::terminal::Terminal;
use serde_json::json;

/// A model that rules as the court's machine has found, and says so.
fn evidence_decides() -> Http {
    Http::serve(|body| {
        let (outcome, reasoning) = if body.contains("the verification PASSED") {
            ("fulfilled", "The court's machine saw it work.")
        } else if body.contains("the verification FAILED") {
            ("canceled", "The court's machine saw it fail.")
        } else {
            ("impossible", "Nothing was run again.")
        };
        let content = json!({ "outcome": outcome, "reasoning": reasoning, "flags": [] }).to_string();
        let choice = json!({ "message": { "content": content }, "finish_reason": "stop" });
        Some(json!({ "choices": [choice], "usage": {} }).to_string())
    })
}

/// Also where people are root, as in containers: being root grants nothing that the court's sandbox lacks.
#[test]
fn the_judge_runs_the_fix_again_on_attached_files_and_what_it_finds_decides() {
    for (fix, works) in [("touch done", true), ("cp not-attached done", false)] {
        let model = evidence_decides();
        let judging = ["--model".to_owned(), format!("openai:evidence@{}", model.url)];
        let mut world = World::judged(Home::new(), "halt = 30000\n", &judging);
        world.agent = Some(world.market.scripted_agent(&world.agents, fix));
        world.home.file("notes.txt", "password=hunter2hunter2\n");
        world.home.file("not-attached", "x");
        let (terminal, id) = world.at_the_consent(&["--attach", "notes.txt"]);
        terminal.kill();
        world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
        world.wait_for(&id, "ruling", 1);
        let transcript = world.transcript(&id);
        let entry = |kind: &str| transcript.iter().find(|entry| entry["type"] == kind).unwrap();
        let found = &entry("reexecution")["data"];
        assert_eq!((&found["ran"], &found["success"]), (&json!(true), &json!(works)), "{found}");
        assert_eq!(entry("post")["data"]["contract"]["capabilities"]["sudo"], json!({ "available": false }));
        assert!(!json!(transcript).to_string().contains("hunter2"));
        // An agent that has lost waives by itself.
        if works {
            world.we(&["waive", &id]).ok();
        }
        let scenario = if works { "ruling_fulfilled" } else { "ruling_canceled" };
        world.assert_ended(&id, "resolved", scenario, Some("district"));
    }
}

/// The judge's model never answers. What its machine found, in a real sandbox, is signed and chained before it is asked.
#[test]
fn a_silent_judge_pays_what_its_machine_saw_work_and_voids_what_it_saw_fail() {
    for (fix, verdict, state, scenario) in [
        ("touch done", "passed", "fulfilled", "fulfilled"),
        ("cp not-attached done", "failed", "voided", "voided"),
    ] {
        let model = Http::serve(|_| None);
        let judging = ["--model".to_owned(), format!("openai:silent@{}", model.url)];
        let mut world = World::judged(Home::new(), "halt = 30000\njudge = 3000\n", &judging);
        world.agent = Some(world.market.scripted_agent(&world.agents, fix));
        world.home.file("notes.txt", "x\n");
        world.home.file("not-attached", "x");
        let (terminal, id) = world.at_the_consent(&["--attach", "notes.txt"]);
        terminal.kill();
        world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
        world.wait_for(&id, "reexecution", 1);
        world.assert_ended(&id, state, scenario, None);
        let transcript = world.transcript(&id);
        assert!(!transcript.iter().any(|entry| entry["type"] == "ruling"), "{transcript:?}");
        let found = transcript.iter().find(|entry| entry["type"] == "reexecution").unwrap();
        let trial = &found["data"]["trial"];
        assert_eq!(
            (&trial["verdict"], &trial["control"]["outcome"]),
            (&json!(verdict), &json!("1")),
            "{found}"
        );
        let judge = world.judges.fix(["judge", "--id"]).ok().trim().to_owned();
        assert_eq!(trial["judge_pubkey"], judge, "{found}");
    }
}

/// `--key` names a file anywhere: what a party's command could read of it would be the judge's own signature.
#[test]
fn a_partys_command_cannot_read_the_judges_key_wherever_it_lies() {
    let (judges, elsewhere) = (Home::new(), Home::new());
    judges.fix(["judge", "--id"]).ok();
    let key = elsewhere.path().join("court.secret");
    std::fs::copy(judges.path().join(".fix/judge.key"), &key).unwrap();
    let model = evidence_decides();
    let key = key.to_str().unwrap();
    let judging = ["--key", key, "--model", &format!("openai:evidence@{}", model.url)].map(str::to_owned);
    let mut world = World::judged(judges, "halt = 30000\n", &judging);
    // The principal's machine shows the file; the judge's must not.
    world.agent = Some(world.market.scripted_agent(&world.agents, &format!("test -s {key} && touch done")));
    world.home.file("notes.txt", "x");
    let (terminal, id) = world.at_the_consent(&["--attach", "notes.txt"]);
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
    world.wait_for(&id, "ruling", 1);
    let transcript = world.transcript(&id);
    let found = transcript.iter().find(|entry| entry["type"] == "reexecution").unwrap();
    assert_eq!((&found["data"]["ran"], &found["data"]["success"]), (&json!(true), &json!(false)), "{found}");
}

/// Only how the command ends is a condition, so a script whose last line is `grep -q` has done its work. The
/// court's machine sees it work; a principal that rejected it would lose bounty and insurance.
#[test]
fn a_fix_that_works_and_ends_with_1_is_accepted_and_no_court_is_asked() {
    let model = evidence_decides();
    let judging = ["--model".to_owned(), format!("openai:evidence@{}", model.url)];
    let mut world = World::judged(Home::new(), "halt = 30000\nobjection = 5000\n", &judging);
    world.agent = Some(world.market.scripted_agent(&world.agents, "touch done; grep -q x done"));
    world.home.file("notes.txt", "x");
    let said = world.we(&["--bounty", BOUNTY, "--yes", "--attach", "notes.txt", "test", "-f", "done"]);
    let id = world.id();
    let kinds = world.entries(&id);
    assert_eq!((said.code, world.home.work().join("done").exists()), (0, true), "{said:?}: {kinds:?}");
    assert!(!kinds.contains(&"dispute_filed".to_owned()), "{kinds:?}");
    world.assert_ended(&id, "fulfilled", "fulfilled", None);
}

#[test]
fn a_principal_in_bad_faith_loses_the_bounty_to_charity() {
    let world = World::start("halt = 30000\n", &["evil_principal"]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "I keep it and pay nothing"]).ok();
    world.wait_for(&id, "ruling", 1);
    // Only who has lost can waive.
    assert_eq!(world.they(&["waive", "--as-agent", &id]).code, 1);
    world.we(&["waive", &id]).ok();
    world.assert_ended(&id, "resolved", "ruling_evil_principal", Some("district"));
}

#[test]
fn an_appeal_may_find_both_in_bad_faith_and_both_pay() {
    let world = World::start("halt = 30000\n", &["evil_principal", "evil_both"]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
    world.wait_for(&id, "ruling", 1);
    world.we(&["--yes", "appeal", &id, "they did it together"]).ok();
    world.wait_for(&id, "ruling", 2);
    // Either may appeal; the agent's side gives it up by itself.
    world.we(&["waive", &id]).ok();
    world.assert_ended(&id, "resolved", "ruling_evil_both", Some("appeals"));
}

#[test]
fn both_in_bad_faith_in_the_first_court_when_both_waive() {
    let world = World::start("halt = 30000\n", &["evil_both"]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
    world.wait_for(&id, "ruling", 1);
    world.we(&["waive", &id]).ok();
    world.assert_ended(&id, "resolved", "ruling_evil_both", Some("district"));
}

#[test]
fn an_agent_that_declines_gets_its_bond_back_and_the_next_one_is_paid() {
    let mut world = World::start("open = 120000\n", &[]);
    let script = json!([json!({ "action": "decline", "reason": "too hard for me" }).to_string()]);
    let script = world.agents.file("script.json", script.to_string());
    let named = format!("script:{}", script.display());
    world.agent = Some(world.market.agent(&world.agents, &["--no-rules", "--model", &named]));
    let mut terminal = Terminal::start(world.ours(&["--bounty", BOUNTY, "--yes", "test", "-f", "done"]));
    terminal.wait_for("The agent declines: too hard for me");
    let id = world.id();
    let second = Home::new();
    let _second = world.market.scripted_agent(&second, "touch done");
    let (code, seen) = terminal.end();
    assert_eq!((code, world.home.work().join("done").exists()), (0, true), "{seen}");
    let kinds = world.entries(&id);
    let at = |kind: &str| kinds.iter().position(|entry| entry == kind).unwrap();
    assert!(at("decline") < at("accept") && kinds.iter().filter(|kind| *kind == "bond").count() == 2);
    let paid =
        world.assert_paid(&id, "fulfilled", [("principal", "0.17"), ("agent", "1.79"), ("platform", "0.05")]);
    let mut agents: Vec<u128> =
        paid.iter().filter(|((to, _), _)| to == "agent").map(|(_, amount)| *amount).collect();
    agents.sort_unstable();
    assert_eq!(agents, [raw("0.67"), raw("1.12")], "{paid:?}");
}

/// The review lasts two hours, so the server's clock is moved.
#[test]
fn a_review_that_nobody_answers_pays_the_agent_when_its_time_is_over() {
    for answers_late in [false, true] {
        let world = World::on_a_test_clock("halt = 30000\n").with_agent();
        let (mut terminal, id) = world.at_the_consent(&["--autonomous"]);
        if !answers_late {
            terminal.kill();
            world.advance(7_199_000);
            assert!(!world.entries(&id).contains(&"auto_fulfill".to_owned()), "a second is left");
            world.advance(1_001);
            world.wait_for(&id, "auto_fulfill", 1);
            assert!(!world.home.work().join("done").exists());
        } else {
            world.advance(7_200_001);
            world.wait_for(&id, "auto_fulfill", 1);
            // It is paid for; who comes back can still have it.
            terminal.type_keys("y\r");
            let (code, seen) = terminal.end();
            assert_eq!((code, world.home.work().join("done").exists()), (0, true), "{seen}");
        }
        world.assert_ended(&id, "fulfilled", "fulfilled", None);
    }
}

#[test]
fn the_test_clock_is_one_of_this_machine_only() {
    let home = Home::new();
    let mut command = home.command(["--server", "http://fix.example.org", "contracts"]);
    let said = crate::support::said(command.env("FIX_TEST_CLOCK", "1"));
    said.refused(1, 9567);
}
