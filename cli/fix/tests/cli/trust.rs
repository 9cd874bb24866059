//! Trust between strangers, with real processes: what a hostile fix takes, fakes or breaks. Each of these did harm once.

use crate::court::{BOUNTY, World};
use crate::support::{Home, LIMIT, Market};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What a run said and how it ended, and the transcript.
struct Seen {
    /// `None`: it was ended when there were enough attempts.
    code: Option<i32>,
    err: String,
    entries: Vec<Value>,
}

/// A free contract over this command with a scripted agent, until it ends or `enough` attempts are posted.
fn free(home: &Home, fix: &str, options: &[&str], command: &[&str], enough: usize) -> Seen {
    let market = Market::start(&[]);
    let agents = Home::new();
    let _agent = market.scripted_agent(&agents, fix);
    let line = [&["--server", market.url(), "--yes"], options, command].concat();
    watch(home, home.command(line), enough)
}

fn watch(home: &Home, mut command: Command, enough: usize) -> Seen {
    let said = home.path().join("said");
    let mut child =
        command.stdout(Stdio::null()).stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
    let began = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if of(&transcript(home), "verify").len() >= enough {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        let seen = || std::fs::read_to_string(&said).unwrap();
        assert!(began.elapsed() < 3 * LIMIT, "{}: {:?}", seen(), transcript(home));
        std::thread::yield_now();
    };
    Seen { code, err: std::fs::read_to_string(&said).unwrap(), entries: transcript(home) }
}

/// The one transcript that is kept.
fn transcript(home: &Home) -> Vec<Value> {
    let mut todo = vec![home.path().join(".fix/transcripts")];
    let mut kept = None;
    // A file may be replaced at this moment.
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = std::fs::read(entry.path()).unwrap_or_default();
            kept = kept.or(serde_json::from_slice::<Value>(&text).ok());
            todo.push(entry.path());
        }
    }
    let Some(kept) = kept else { return Vec::new() };
    kept["transcript"].as_array().or(kept["entries"].as_array()).unwrap().clone()
}

fn of<'a>(entries: &'a [Value], kind: &str) -> Vec<&'a Value> {
    entries.iter().filter(|entry| entry["type"] == kind).map(|entry| &entry["data"]).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_fix_that_prints_the_principals_files_sends_nothing_of_them() {
    let home = Home::new();
    let other = home.path().join("other-project");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join(".env"), "STRIPE=sk_live_51HsecretSecretSecret99\n").unwrap();
    std::fs::write(other.join("notes.txt"), "my-private-notes-of-monday\n").unwrap();
    home.file(
        "deploy.pem",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
    );
    home.file("config.py", "PASSWORD = \"correct-horse-battery-9\"\n");
    let fix = format!(
        "for f in {0}/.env {0}/notes.txt deploy.pem config.py; do od -An -v -tx1 $f | tr -d ' \\n'; echo; done; \
         env | od -An -v -tx1 | tr -d ' \\n'; exit 1",
        other.display()
    );
    let market = Market::start(&[]);
    let agents = Home::new();
    let _agent = market.scripted_agent(&agents, &fix);
    let mut command = home.command(["--server", market.url(), "--yes", "test", "-f", "done"]);
    command.env("DB_PASS", "variable-of-the-user");
    let Seen { err: said, entries, .. } = watch(&home, command, 2);
    let all = json!(entries).to_string();
    for secret in [
        "sk_live_51HsecretSecretSecret99",
        "my-private-notes-of-monday",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        "correct-horse-battery-9",
        "variable-of-the-user",
    ] {
        assert!(!all.contains(secret) && !all.contains(&hex(secret)), "{secret}: {said:?}");
    }
    let told = of(&entries, "verify");
    assert!((1..=5).contains(&told.len()), "{told:?}");
    for one in told {
        assert_eq!(one["exit_code"], Value::Null, "{one}");
        assert_eq!(one["failure"]["step"], "check", "{one}");
        assert!(one["output"].as_str().unwrap_or_default().len() <= 8 << 10);
    }
}

#[test]
fn a_tool_that_cuts_text_shows_no_more_than_the_scrubber_lets_by() {
    let home = Home::new();
    let secret = "sk_live_4eC39HqLyjWDarjtT1zdp7dcABCD";
    home.file("docker-compose.yml", format!("environment:\n  STRIPE: {secret}\n  MODE: production\n"));
    let market = Market::start(&[]);
    let agents = Home::new();
    let ask = |command: &str| json!({ "action": "investigate", "command": command }).to_string();
    let script = json!([
        ask("grep -o . docker-compose.yml"),
        ask("cat docker-compose.yml"),
        ask("head -c 60 docker-compose.yml"),
        json!({ "action": "decline", "reason": "enough" }).to_string()
    ]);
    let script = agents.file("script.json", script.to_string());
    let _agent = market.agent(&agents, &["--no-rules", "--model", &format!("script:{}", script.display())]);
    home.fix(["--server", market.url(), "--yes", "test", "-f", "done"]);
    let entries = transcript(&home);
    let results = of(&entries, "result");
    assert_eq!(results.len(), 3, "{entries:?}");
    let joined: String = results[0]["output"].as_str().unwrap().lines().collect();
    assert!(joined.contains("production") && joined.contains("REDACTED"), "{joined}");
    for length in [secret.len(), 20, 12] {
        let part = &secret[secret.len() - length..];
        let seen =
            |result: &&&Value| result["output"].as_str().unwrap().lines().collect::<String>().contains(part);
        assert!(results.iter().find(seen).is_none(), "{part}: {results:?}");
    }
}

#[test]
fn a_fake_make_is_refused_here_and_is_no_evidence_in_court() {
    let judges = Home::new();
    let opinion = json!({ "outcome": "impossible", "reasoning": "So it is.", "flags": [] });
    let text = json!([opinion.to_string()]).to_string();
    let script = format!("script:{}", judges.file("opinion", text).display());
    let mut world = World::judged(judges, "halt = 30000\n", &["--model".to_owned(), script]);
    let fix = "mkdir -p bin; printf '#!/bin/sh\\nexit 0\\n' > tool.sh; touch /opt/x; od -c /etc/hostname /etc/machine-id; \
               ls /srv /opt /home";
    world.agent = Some(world.market.scripted_agent(&world.agents, fix));
    let tool = world.home.file("tool.sh", "#!/bin/sh\necho broken; exit 1\n");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let line = ["--bounty", BOUNTY, "--yes", "--attach", "tool.sh", "./tool.sh"];
    let mut terminal = Terminal::start(world.ours(&line));
    terminal.wait_for("needs a consent of its own: ");
    terminal.wait_for("--yes does not cover it. [y/N]");
    let id = world.id();
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "it only replaced the command"]).ok();
    world.wait_for(&id, "reexecution", 1);
    let entries = world.transcript(&id);
    let found = of(&entries, "reexecution")[0];
    assert_eq!((&found["ran"], &found["success"]), (&json!(true), &json!(false)), "{found}");
    let trial = &found["trial"];
    assert_eq!(trial["verdict"], "passed_with", "{found}");
    assert_eq!(trial["control"], json!({ "outcome": "1", "runs": 1 }));
    assert_eq!(trial["after"], json!({ "outcome": "0", "runs": 2 }));
    let classes = trial["changes"]["classes"].as_array().unwrap();
    assert!(classes.contains(&json!("own_command")), "{trial}");
    assert!(trial["judge_signature"].as_str().is_some_and(|text| text.len() == 128));
    // Nothing of the judge's machine is in it.
    for place in ["/etc/hostname", "/etc/machine-id"] {
        let text = std::fs::read_to_string(place).unwrap_or_default();
        assert!(text.trim().is_empty() || !found.to_string().contains(text.trim()), "{place}: {found}");
    }
    assert_eq!(world.we(&["--json", "verify", &id]).json()["valid"], true);
}

#[test]
fn what_cannot_be_read_is_a_failed_attempt_and_no_end_of_the_session() {
    for (fix, enough) in [
        ("i=0; while [ $i -lt 3000 ]; do mkdir d && cd d || exit 0; i=$((i+1)); done", 1),
        ("truncate -s 3G a", usize::MAX),
    ] {
        let home = Home::new();
        let Seen { code, err, entries } = free(&home, fix, &[], &["test", "-f", "done"], enough);
        let told = of(&entries, "verify");
        assert!(told.iter().all(|one| one["failure"]["class"] == "too_large"), "{told:?}");
        assert!(!told.is_empty() && !err.contains("error 92"), "{err}");
        if enough == usize::MAX {
            assert_eq!((code, told.len()), (Some(1), 5), "{err}");
            assert_eq!(entries.last().unwrap()["type"], "closed", "{entries:?}");
        }
    }
}

#[test]
fn a_failure_that_is_not_in_the_files_is_not_put_up_for_sale() {
    let home = Home::new();
    let lock = home.file("db.lock", "");
    let held = std::fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let market = Market::start(&[]);
    let agents = Home::new();
    let _agent = market.scripted_agent(&agents, "true");
    let said =
        home.fix(["--server", market.url(), "--bounty", BOUNTY, "--yes", "flock", "-n", "db.lock", "true"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("error 9570: ") && !said.err.contains("Fixed"), "{said:?}");
    assert!(transcript(&home).is_empty());
}

#[test]
fn git_control_in_any_form_needs_a_consent_and_costs_the_agent_no_attempt() {
    for (fix, path) in [
        ("mkdir evil; printf 'gitdir: evil' > .git; touch done", ".git"),
        ("mkdir -p sub evil; printf 'gitdir: ../evil' > sub/.git; touch done", "sub/.git"),
        ("mkdir -p b/objects b/refs; echo 'ref: refs/heads/x' > b/HEAD; touch b/config done", "b/HEAD"),
    ] {
        let home = Home::new();
        let Seen { err, entries, .. } = free(&home, fix, &[], &["test", "-f", "done"], 2);
        assert!(!home.work().join(path).exists() && !home.work().join("done").exists(), "{err}");
        let told = of(&entries, "verify");
        assert!(told.len() >= 2, "{err}");
        for one in told {
            assert_eq!(one["failure"]["class"], "needs_consent", "{one}");
            assert!(one["failure"]["needs"].as_array().unwrap().contains(&json!("dotfile")), "{one}");
        }
    }
}

#[test]
fn what_the_contract_grants_is_applied_unattended_and_nothing_else() {
    let home = Home::new();
    let fix = "echo x > .settings; touch done";
    let Seen { code, err, entries } =
        free(&home, fix, &["--allow", "dotfile"], &["test", "-f", "done"], usize::MAX);
    assert_eq!(code, Some(0), "{err}");
    assert!(home.work().join(".settings").exists());
    assert_eq!(of(&entries, "post")[0]["contract"]["consents"], json!(["dotfile"]));
    let home = Home::new();
    let fix = "echo x > .settings; ln -s / link; touch done";
    let Seen { err, entries, .. } = free(&home, fix, &["--allow", "dotfile"], &["test", "-f", "done"], 1);
    assert!(!home.work().join("link").exists() && !home.work().join("done").exists(), "{err}");
    assert_eq!(of(&entries, "verify")[0]["failure"]["needs"], json!(["link"]));
}

#[test]
fn a_rewritten_test_or_makefile_is_not_paid_unseen() {
    for (name, text, fix, command) in [
        ("Makefile", "test:\n\t@false\n", "printf 'test:\\n\\t@true\\n' > Makefile", vec!["make", "test"]),
        ("t.py", "raise SystemExit(1)\n", "echo > t.py", vec!["python3", "t.py"]),
        ("run.sh", "exit 1\n", "echo > run.sh", vec!["sh", "run.sh"]),
    ] {
        let home = Home::new();
        home.file(name, text);
        let Seen { err, entries, .. } = free(&home, fix, &[], &command, 1);
        assert!(!err.contains("Fixed"), "{err}");
        assert_eq!(std::fs::read_to_string(home.work().join(name)).unwrap(), text);
        assert_eq!(of(&entries, "verify")[0]["failure"]["needs"], json!(["own_command"]), "{entries:?}");
    }
}

/// The names of all files are on the screen before any diff, however long one is.
#[test]
fn two_hundred_lines_hide_no_name() {
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    let fix =
        "seq 1 200 > aaa-notes.txt; mkdir zz; echo evil > zz/hidden.rs; seq 1 20000 > big.txt; touch done";
    let _agent = market.scripted_agent(&agents, fix);
    let mut terminal = Terminal::start(home.command(["--server", market.url(), "test", "-f", "done"]));
    terminal.wait_for("Send this? [y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("Apply the fix? [y/N]");
    terminal.interrupt();
    let (_, seen) = terminal.end();
    let shown = seen.split("What changes").nth(1).unwrap();
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text}: {shown}"));
    assert!(at("zz/hidden.rs") < at("+1\r") && at("big.txt") < at("+1\r"), "{shown}");
    assert!(
        at("+evil") < at("Apply the fix?")
            && at("diff not shown: not text, or too large") < at("Apply the fix?")
    );
    assert!(!shown.contains("more lines"), "{shown}");
}

#[test]
fn what_works_in_the_sandbox_only_is_taken_back_and_told() {
    let home = Home::new();
    home.file("a.txt", "before\n");
    let market = Market::start(&[]);
    let agents = Home::new();
    let _agent = market.scripted_agent(&agents, "echo after > a.txt; touch done");
    let line = ["--server", market.url(), "--yes", "test -f done && test -z \"$ONLY_OUTSIDE\""];
    let mut command = home.command(line);
    command.env("ONLY_OUTSIDE", "1");
    let Seen { err, entries, .. } = watch(&home, command, 1);
    assert_eq!(std::fs::read_to_string(home.work().join("a.txt")).unwrap(), "before\n", "{err}");
    assert!(!home.work().join("done").exists(), "{err}");
    let failure = &of(&entries, "verify")[0]["failure"];
    assert_eq!(*failure, json!({ "class": "outside_failed", "outcome": "1", "step": "outside" }), "{err}");
}

/// Nobody can tell whether the agent or the principal is to blame, so it counts for both, and each sees the other's count.
#[test]
fn what_works_in_the_sandbox_only_is_counted_for_both_sides_and_shown_to_both() {
    let world = World::start("halt = 30000\n", &[]);
    let agent = world.market.scripted_agent(&world.agents, "touch done");
    let only = |options: &[&str]| {
        let command = ["test -f done && test -z \"$ONLY_OUTSIDE\""];
        let mut command = world.ours(&[&["--bounty", BOUNTY, "--yes"], options, &command].concat());
        command.env("ONLY_OUTSIDE", "1");
        command
    };
    let said = crate::support::said(&mut only(&["--autonomous"]));
    assert!(said.code != 0 && said.err.contains("no fix so far"), "{said:?}");
    assert!(!world.home.work().join("done").exists(), "{said:?}");
    let id = world.id();
    let rejected = world.transcript(&id);
    let failure = &of(&rejected, "review_reject")[0]["failure"];
    assert_eq!(*failure, json!({ "class": "outside_failed", "outcome": "1", "step": "outside" }));
    let author = |kind: &str| {
        let entry = rejected.iter().find(|entry| entry["type"] == kind).unwrap();
        entry["author"].as_str().unwrap().to_owned()
    };
    let (ours, theirs) = (author("post"), author("fix"));
    let counted = |party: &str| {
        let url = format!("{}/reputation/{party}", world.market.url());
        let output = Command::new("curl").args(["-sf", &url]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["paid"].clone()
    };
    let (none, once) =
        (json!({ "fixes": 0, "failed_outside": 0 }), json!({ "fixes": 1, "failed_outside": 1 }));
    assert_eq!(counted(&ours), json!({ "agent": none, "principal": once }));
    assert_eq!(counted(&theirs), json!({ "agent": once, "principal": none }));
    // The next contract: the agent hears of the principal, the principal of the agent.
    drop(agent);
    let agent = world.market.scripted_agent(&world.agents, "touch done");
    let log = world.home.path().join("second");
    let mut second =
        only(&[]).stdout(Stdio::null()).stderr(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let began = Instant::now();
    while counted(&theirs)["agent"]["failed_outside"] != 2 {
        assert!(began.elapsed() < 3 * LIMIT, "{:?}", std::fs::read_to_string(&log));
        std::thread::yield_now();
    }
    second.kill().unwrap();
    second.wait().unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains(": 1 of 1 fix failed outside the sandbox."), "{said}");
    assert_eq!(agent.event("found")["principal"], once);
    assert_eq!(counted(&ours)["principal"]["failed_outside"], 2);
}

#[test]
fn a_command_that_makes_what_it_then_finds_is_fixed_all_the_same() {
    let home = Home::new();
    let Seen { code, err, .. } = free(&home, "mkdir a", &[], &["mkdir", "a/b"], usize::MAX);
    assert_eq!(code, Some(0), "{err}");
    assert!(Path::new(&home.work()).join("a/b").is_dir(), "{err}");
}
