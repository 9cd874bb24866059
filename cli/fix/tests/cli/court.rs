//! Contracts that do not end well, with real processes: disputes from the prompt and from other commands,
//! rulings, appeals, reviews, leaving, stopping. After each the transcript is sound and every account on the
//! ledger holds, to the raw, what the table of vectors/fix/escrow_routing.json says.

use crate::support::{Home, Http, LIMIT, Market, Said, Service, said};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub(crate) const BOUNTY: &str = "0.5";

/// A market with a judge, an agent and a principal, each in a home of its own.
pub(crate) struct World {
    pub(crate) market: Market,
    pub(crate) home: Home,
    pub(crate) agents: Home,
    pub(crate) agent: Option<Service>,
    _judge: Option<Service>,
    pub(crate) judges: Home,
}

impl World {
    /// `windows`: lines of `[windows_ms]`. `rulings`: what district, appeals and supreme court rule.
    #[track_caller]
    pub(crate) fn start(windows: &str, rulings: &[&str]) -> Self {
        Self::start_by(Home::new(), windows, rulings)
    }

    /// The same with this home for the judge.
    #[track_caller]
    pub(crate) fn start_by(judges: Home, windows: &str, rulings: &[&str]) -> Self {
        let mut models = Vec::new();
        for (at, court) in ["--district", "--appeals", "--supreme"].into_iter().enumerate() {
            let Some(outcome) = rulings.get(at).or(rulings.last()) else { break };
            let opinion = json!({ "outcome": outcome, "reasoning": "So it is.", "flags": [] });
            let text = json!([opinion.to_string()]).to_string();
            let script = format!("script:{}", judges.file(court, text).display());
            models.extend([court.to_owned(), script]);
        }
        Self::judged(judges, windows, &models)
    }

    /// Nobody judges, and time stands still unless [`World::advance`] moves it.
    #[track_caller]
    pub(crate) fn on_a_test_clock(windows: &str) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let clock = ["--test-clock".to_owned(), since.to_string()];
        let world = Self::serving(Home::new(), windows, &[], &clock);
        world.home.follows_test_clock();
        world.agents.follows_test_clock();
        world
    }

    /// Moves the server's clock.
    pub(crate) fn advance(&self, millis: u64) {
        let body = json!({ "advance_ms": millis }).to_string();
        let to = format!("{}/test/clock", self.market.url());
        let line = ["-sf", "-H", "Content-Type: application/json", "-d", &body, &to];
        assert!(Command::new("curl").args(line).output().unwrap().status.success());
    }

    /// `judging`: options of `fix judge`; without any nobody judges.
    #[track_caller]
    pub(crate) fn judged(judges: Home, windows: &str, judging: &[String]) -> Self {
        Self::serving(judges, windows, judging, &[])
    }

    #[track_caller]
    fn serving(judges: Home, windows: &str, judging: &[String], serving: &[String]) -> Self {
        let id = judges.fix(["judge", "--id"]).ok().trim().to_owned();
        let config = judges.file("market.toml", format!("[windows_ms]\n{windows}"));
        let data = judges.path().join("market");
        let (config, data) = (config.to_str().unwrap(), data.to_str().unwrap());
        let mut options = vec!["--judge", &id, "--config", config, "--data", data];
        options.extend(serving.iter().map(String::as_str));
        let market = Market::start(&options);
        let judge = (!judging.is_empty()).then(|| {
            let arguments = ["--json", "--server", market.url(), "judge"];
            Service::start(judges.command(arguments.into_iter().chain(judging.iter().map(String::as_str))))
        });
        let (home, agents) = (Home::new(), Home::new());
        Self { market, home, agents, agent: None, _judge: judge, judges }
    }

    /// An agent whose fix works.
    pub(crate) fn with_agent(mut self) -> Self {
        self.agent = Some(self.market.scripted_agent(&self.agents, "touch done"));
        self
    }

    pub(crate) fn agent_stops(&mut self) {
        self.agent = None;
    }

    /// A command of the principal. Its money goes to its own wallet.
    pub(crate) fn ours(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(["--server", self.market.url()].iter().chain(arguments));
        let node = self.market.service.ready["nano_rpc"].as_str().unwrap();
        command.env("FIX_NANO_NODE", node).env("FIX_NANO_NETWORK", "dev");
        command
    }

    #[track_caller]
    pub(crate) fn we(&self, arguments: &[&str]) -> Said {
        said(&mut self.ours(arguments))
    }

    #[track_caller]
    pub(crate) fn they(&self, arguments: &[&str]) -> Said {
        self.agents.fix(["--server", self.market.url(), "--yes"].iter().chain(arguments))
    }

    /// A run of fix that asks whether the agent's fix may be applied, and the contract's id.
    pub(crate) fn at_the_consent(&self, options: &[&str]) -> (Terminal, String) {
        let line = [&["--bounty", BOUNTY], options, &["test", "-f", "done"]].concat();
        let mut terminal = Terminal::start(self.ours(&line));
        terminal.wait_for("Send this? [y/N]");
        terminal.type_keys("y\r");
        terminal.wait_for("Apply the fix? [y/N]");
        let id = self.id();
        (terminal, id)
    }

    /// The one contract.
    pub(crate) fn id(&self) -> String {
        let listed = self.we(&["--json", "contracts", "--all"]);
        let listed: Value = serde_json::from_str(listed.ok()).unwrap();
        listed[0]["id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
    }

    pub(crate) fn kept(&self, id: &str) -> PathBuf {
        let folder = self.home.path().join(".fix/transcripts");
        let files = Home::files(&folder).into_keys();
        files.into_iter().find(|path| path.to_string_lossy().contains(id)).expect("no transcript is kept")
    }

    /// The contract's entries, as the principal reads them now.
    pub(crate) fn transcript(&self, id: &str) -> Vec<Value> {
        self.we(&["show", id]).ok();
        let text = std::fs::read(self.kept(id)).unwrap();
        let transcript: Value = serde_json::from_slice(&text).unwrap();
        let entries = transcript["transcript"].as_array().or(transcript["entries"].as_array());
        entries.unwrap_or_else(|| panic!("{transcript}")).clone()
    }

    /// Types of the entries, in order.
    pub(crate) fn entries(&self, id: &str) -> Vec<String> {
        let kind = |entry: &Value| entry["type"].as_str().unwrap().to_owned();
        self.transcript(id).iter().map(kind).collect()
    }

    /// Waits until so many entries of a kind are chained.
    #[track_caller]
    pub(crate) fn wait_for(&self, id: &str, kind: &str, count: usize) {
        let deadline = Instant::now() + LIMIT;
        loop {
            let entries = self.entries(id);
            if entries.iter().filter(|entry| *entry == kind).count() >= count {
                return;
            }
            assert!(Instant::now() < deadline, "no {kind}: {entries:?}");
        }
    }

    /// What the ledger says of an address, received or not.
    pub(crate) fn balance(&self, address: &str) -> u128 {
        let rpc = self.market.service.ready["nano_rpc"].as_str().unwrap();
        let body = json!({ "action": "account_balance", "account": address }).to_string();
        let output = Command::new("curl").args(["-s", "-d", &body, rpc]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let number = |name: &str| answer[name].as_str().map_or(0, |text| text.parse::<u128>().unwrap());
        number("balance") + number("receivable")
    }

    /// The end: sound, in this state, and paid as the table says.
    #[track_caller]
    pub(crate) fn assert_ended(&self, id: &str, state: &str, scenario: &str, court: Option<&str>) {
        let row = row(scenario, court);
        let sums = ["principal", "agent", "platform", "charity"];
        self.assert_paid(id, state, sums.map(|payee| (payee, row[payee].as_str().unwrap())));
    }

    /// The end: sound, in this state, and these sums paid, each address's to the raw.
    #[track_caller]
    pub(crate) fn assert_paid<const N: usize>(
        &self,
        id: &str,
        state: &str,
        sums: [(&str, &str); N],
    ) -> BTreeMap<(String, String), u128> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let shown = self.we(&["--json", "show", id]);
            let report: Value = serde_json::from_str(shown.ok()).unwrap();
            if report["state"] == state {
                break;
            }
            assert!(Instant::now() < deadline, "{id} is {}: {:?}", report["state"], self.entries(id));
        }
        let verified = self.we(&["--json", "verify", id]);
        let report: Value = serde_json::from_str(verified.ok()).unwrap();
        assert_eq!(report["valid"], true, "{report}");
        let mut paid: BTreeMap<(String, String), u128> = BTreeMap::new();
        for account in report["settlements"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|settlement| settlement["accounts"].as_array().unwrap().iter())
        {
            for leg in account["legs"].as_array().unwrap() {
                let text = |name: &str| leg[name].as_str().unwrap().to_owned();
                *paid.entry((text("to"), text("address"))).or_default() +=
                    text("amount").parse::<u128>().unwrap();
            }
        }
        for (payee, xno) in sums {
            let sum: u128 = paid.iter().filter(|((to, _), _)| to == payee).map(|(_, raw)| raw).sum();
            assert_eq!(sum, raw(xno), "{payee}: {paid:?}");
        }
        for ((payee, address), owed) in &paid {
            while self.balance(address) != *owed {
                let found = self.balance(address);
                assert!(Instant::now() < deadline, "{payee} has {found} of {owed} at {address}");
                std::thread::yield_now();
            }
        }
        paid
    }
}

/// A row of the money table.
fn row(scenario: &str, court: Option<&str>) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/escrow_routing.json");
    let table: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // Of a ruling for nobody the court says who called it.
    let (court, filer) = match court.and_then(|court| court.split_once('/')) {
        Some((court, filer)) => (Some(court), Some(filer)),
        None => (court, None),
    };
    let mut rows = table["rows"].as_array().unwrap().iter();
    let found = rows.find(|row| {
        row["scenario"] == scenario
            && row["court"].as_str() == court
            && row["filer"].as_str() == filer
            && row["bounty"] == BOUNTY
    });
    found.unwrap_or_else(|| panic!("no row {scenario} {court:?} {filer:?}")).clone()
}

/// An amount of XNO in raw.
pub(crate) fn raw(xno: &str) -> u128 {
    let (whole, part) = xno.split_once('.').unwrap_or((xno, ""));
    format!("{whole}{part:0<30}").parse().unwrap()
}

#[test]
fn a_dispute_from_the_prompt_is_answered_ruled_and_paid() {
    let world = World::start("halt = 30000\n", &["evil_agent"]).with_agent();
    let (mut terminal, id) = world.at_the_consent(&[]);
    terminal.type_keys("n\r");
    terminal.wait_for("Why not?");
    terminal.type_keys("it reads my letters, password=hunter2hunter2\r");
    terminal.wait_for("Take it to the court? [y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("The district court rules evil_agent");
    let (code, seen) = terminal.end();
    assert!(code == 1 && seen.contains("it is resolved"), "{code}: {seen}");
    assert!(!world.home.work().join("done").exists());
    let said = json!(world.transcript(&id)).to_string();
    assert!(said.contains("it reads my letters") && !said.contains("hunter2"), "{said}");
    world.assert_ended(&id, "resolved", "ruling_evil_agent", Some("district"));
}

#[test]
fn a_dispute_goes_up_to_the_supreme_court_from_both_sides() {
    let mut world = World::start("response = 120000\n", &["canceled", "fulfilled", "canceled"]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    // From here on people act by hand, on both sides.
    world.agent_stops();
    terminal.kill();
    world.we(&["dispute", &id, "it never worked"]).refused(1, 9501);
    world.we(&["--yes", "dispute", &id, "it never worked with password=hunter2hunter2"]).ok();
    assert!(world.we(&["--yes", "respond", &id, "me too"]).code == 1, "one side cannot speak for both");
    world.they(&["respond", "--as-agent", &id, "see the exit code"]).ok();
    world.wait_for(&id, "ruling", 1);
    world.they(&["appeal", "--as-agent", &id, "the judge slept"]).ok();
    world.we(&["respond", &id, "it did not"]).ok();
    world.wait_for(&id, "ruling", 2);
    world.we(&["--yes", "appeal", &id, "now it did"]).ok();
    world.they(&["respond", "--as-agent", &id, "no"]).ok();
    world.wait_for(&id, "ruling", 3);
    let said = json!(world.transcript(&id)).to_string();
    assert!(said.contains("it never worked") && !said.contains("hunter2"), "{said}");
    world.assert_ended(&id, "resolved", "ruling_canceled", Some("supreme"));
    assert_eq!(world.they(&["appeal", "--as-agent", &id, "once more"]).code, 1);
}

#[test]
fn an_agent_disputes_a_rejection_and_the_silent_principal_loses_and_does_not_appeal() {
    let mut world = World::start("response = 3000\n", &["fulfilled"]).with_agent();
    let (mut terminal, id) = world.at_the_consent(&[]);
    world.agent_stops();
    terminal.type_keys("n\r");
    terminal.wait_for("Why not?");
    terminal.type_keys("\r");
    terminal.wait_for("Take it to the court? [y/N]");
    terminal.type_keys("n\r");
    terminal.wait_for("Rejected: ");
    world.wait_for(&id, "verify", 1);
    world.they(&["dispute", "--as-agent", &id, "it works"]).ok();
    terminal.wait_for("Your answer to the court");
    terminal.type_keys("\r");
    terminal.wait_for("The district court rules fulfilled");
    terminal.wait_for("Appeal to the appeals court? Losing there costs 0.05 XNO. [y/N]");
    terminal.type_keys("n\r");
    let (code, seen) = terminal.end();
    assert!(code == 1 && seen.contains("it is resolved"), "{code}: {seen}");
    world.assert_ended(&id, "resolved", "ruling_fulfilled", Some("district"));
}

#[test]
fn an_autonomous_fix_that_is_disputed_in_review_ends_when_both_waive() {
    let world = World::start("halt = 30000\n", &["impossible"]).with_agent();
    let (terminal, id) = world.at_the_consent(&["--autonomous"]);
    terminal.kill();
    world.we(&["review", &id, "dispute", "nobody could do this"]).ok();
    world.wait_for(&id, "ruling", 1);
    // After `impossible` either may appeal; the agent's side waives by itself.
    assert!(world.we(&["waive", &id]).ok().starts_with("Waived"));
    world.assert_ended(&id, "resolved", "ruling_impossible", Some("district/principal"));
}

#[test]
fn an_autonomous_fix_is_proven_applied_and_accepted() {
    let world = World::start("halt = 30000\n", &[]).with_agent();
    let said = world.we(&["--bounty", BOUNTY, "--autonomous", "--yes", "test", "-f", "done"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(world.home.work().join("done").exists());
    let id = world.id();
    assert!(world.entries(&id).contains(&"review_accept".to_owned()));
    world.assert_ended(&id, "fulfilled", "fulfilled", None);
}

#[test]
fn a_review_by_hand_accepts_or_rejects() {
    for (verdict, state, scenario) in
        [("accept", "fulfilled", "fulfilled"), ("reject", "canceled", "canceled_attempts_exhausted")]
    {
        let world = World::start("halt = 30000\n", &[]).with_agent();
        let (terminal, id) = world.at_the_consent(&["--autonomous"]);
        terminal.kill();
        let said = world.we(&["review", &id, verdict, "so be it"]);
        let next = if verdict == "accept" { "fix resume" } else { "fix show" };
        assert!(said.ok().contains(&format!("{next} {id}")), "{said:?}");
        world.assert_ended(&id, state, scenario, None);
        assert!(!world.home.work().join("done").exists());
        // Without anybody to ask the paid fix is not applied, and not forgotten.
        if verdict == "accept" {
            let said = world.we(&["resume", &id]);
            assert!(said.code == 1 && said.err.contains("error 9501: "), "{said:?}");
        }
        let said = world.we(&["--yes", "resume", &id]);
        let applied = verdict == "accept";
        assert_eq!((said.code == 0, world.home.work().join("done").exists()), (applied, applied), "{said:?}");
        assert!(world.we(&["resume", &id]).ok().contains("Nothing to resume here"));
    }
}

/// An agent that takes the contract and then thinks for ever.
fn with_a_silent_agent(world: &mut World) -> (Terminal, String) {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let model = Http::serve(move |_| {
        if calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) > 0 {
            return None;
        }
        let content = json!({ "action": "accept" }).to_string();
        let choice = json!({ "message": { "content": content }, "finish_reason": "stop" });
        Some(json!({ "choices": [choice], "usage": {} }).to_string())
    });
    let named = format!("openai:silent@{}", model.url);
    let agent = world.market.agent(&world.agents, &["--no-rules", "--model", &named]);
    world.agent = Some(agent);
    let command = world.ours(&["--bounty", BOUNTY, "--yes", "test", "-f", "done"]);
    let mut terminal = Terminal::start(command);
    terminal.wait_for("takes the contract.");
    let id = world.id();
    (terminal, id)
}

#[test]
fn leaving_within_the_grace_period_is_free() {
    let mut world = World::start("grace = 120000\n", &[]);
    let (terminal, id) = with_a_silent_agent(&mut world);
    // It costs nothing, so nothing is asked.
    assert!(world.we(&["back-out", &id, "I did it myself"]).ok().starts_with("Left"));
    terminal.wait_for_end("it is canceled");
    world.assert_ended(&id, "canceled", "grace_cancel", None);
}

#[test]
fn leaving_late_costs_the_principal_and_is_asked_for() {
    let mut world = World::start("grace = 1\n", &[]);
    let (terminal, id) = with_a_silent_agent(&mut world);
    world.wait_for(&id, "accept", 1);
    let refused = world.we(&["back-out", &id]);
    refused.refused(1, 9501);
    world.we(&["--yes", "back-out", &id, "I did it myself"]).ok();
    terminal.wait_for_end("it is canceled");
    world.assert_ended(&id, "canceled", "late_cancel_by_principal", None);
}

#[test]
fn an_agent_that_leaves_late_pays_and_the_contract_is_open_again() {
    let mut world = World::start("grace = 1\nopen = 120000\n", &[]);
    let (mut terminal, id) = with_a_silent_agent(&mut world);
    world.wait_for(&id, "accept", 1);
    world.agent_stops();
    world.they(&["back-out", "--as-agent", &id, "too hard"]).ok();
    terminal.wait_for("The contract is open again.");
    world.we(&["cancel", &id, "enough"]).ok();
    terminal.wait_for_end("it is canceled");
    world.assert_ended(&id, "canceled", "late_cancel_by_agent", None);
}

#[test]
fn a_halt_that_is_resumed_goes_on_to_a_fixed_command() {
    let world = World::start("halt = 120000\n", &[]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    assert!(world.we(&["halt", &id, "wait a moment"]).ok().contains("is halted"));
    let said = world.we(&["--yes", "resume", &id, "go on"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(world.home.work().join("done").exists());
    let entries = world.entries(&id);
    assert!(entries.contains(&"halt".to_owned()) && entries.contains(&"resume".to_owned()), "{entries:?}");
    world.assert_ended(&id, "fulfilled", "fulfilled", None);
}

/// The one record of a contract under way; `change` writes it anew.
pub(crate) fn change_record(home: &Home, change: impl FnOnce(&mut Value)) {
    let files = Home::files(&home.path().join(".fix/contracts"));
    let is_record = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let path = files.keys().find(is_record).expect("no contract is under way");
    let mut record: Value = serde_json::from_slice(&files[path]).unwrap();
    change(&mut record);
    std::fs::write(path, serde_json::to_vec(&record).unwrap()).unwrap();
}

/// Killed after the note and before the commit: a later fix's undo record is not this fix's.
#[test]
fn a_fix_that_was_killed_before_its_commit_is_not_taken_for_a_later_one() {
    let world = World::start("halt = 30000\n", &[]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    let transcript = world.transcript(&id);
    let fix = transcript.iter().find(|entry| entry["type"] == "fix").unwrap();
    let seq = fix["seq"].clone();
    change_record(&world.home, |record| {
        record["applied"] = json!({
            "seq": seq, "before": [], "process": 1, "changes": "", "done": null,
        });
    });
    let other = world.home.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("m.c"), crate::local::NEEDS_LM).unwrap();
    let mut command = world.home.command(["--local", "--yes", "gcc", "m.c", "-o", "m"]);
    assert_eq!(said(command.current_dir(&other)).code, 0);
    let said = world.we(&["--yes", "resume", &id]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(world.home.work().join("done").exists(), "{said:?}");
    world.assert_ended(&id, "fulfilled", "fulfilled", None);
}

#[test]
fn a_halt_that_nobody_takes_back_comes_before_the_judge() {
    let world = World::start("halt = 500\n", &["canceled"]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    world.we(&["halt", &id, "it runs rm -rf"]).ok();
    world.wait_for(&id, "ruling", 1);
    // The agent has lost, and its side gives up the appeal by itself, long before its window is over.
    world.wait_for(&id, "waive", 1);
    world.assert_ended(&id, "resolved", "ruling_canceled", Some("district"));
}

#[test]
fn a_judge_that_never_comes_voids_the_contract_and_all_is_given_back() {
    let windows = "response = 500\njudge = 500\nreexecution = 500\n";
    let world = World::start(windows, &[]).with_agent();
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
    world.wait_for(&id, "voided", 1);
    world.assert_ended(&id, "voided", "voided", None);
    world.we(&["appeal", &id, "but"]).refused(1, 9551);
}

#[test]
fn attempts_that_all_fail_end_the_contract_when_the_agent_does_not_object() {
    let mut world = World::start("halt = 30000\n", &[]);
    world.agent = Some(world.market.scripted_agent(&world.agents, "touch another"));
    let said = world.we(&["--bounty", BOUNTY, "--yes", "test", "-f", "done"]);
    assert!(said.code == 1 && said.err.contains("ended without a fix"), "{said:?}");
    assert_eq!(Home::files(&world.home.work()).len(), 0);
    let id = world.id();
    let tried = world.entries(&id).iter().filter(|entry| *entry == "fix").count();
    assert_eq!(tried, 5);
    world.assert_ended(&id, "canceled", "canceled_attempts_exhausted", None);
}
