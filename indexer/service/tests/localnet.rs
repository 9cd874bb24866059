//! The indexer as a process against a real local cluster, fed by the command line: what it serves is what the
//! chain says, also after kill -9, and a second index from nothing is the same.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use zx1_e2e::{Localnet, Running, Zx1};
use zx1_indexer::chain::RpcLedger;

struct Indexer {
    process: Running,
    url: String,
    http: reqwest::Client,
    runtime: tokio::runtime::Runtime,
}

impl Indexer {
    fn start(net: &Localnet, data: &Path, websocket: bool) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-indexer"));
        command
            .args(["--rpc", net.rpc_url(), "--port", "0", "--data"])
            .arg(data)
            .args(["--ws", if websocket { net.ws_url() } else { "" }])
            .env("ZX1_INDEXER_LOG", "warn,zx1_indexer=debug");
        if let Some(nano) = &net.env().nano_rpc_url {
            command.args(["--nano", nano]);
        }
        let process = Running::start(command);
        let said = process.wait_for("\"ready\":true");
        let line = said.lines().find(|line| line.contains("\"ready\":true")).unwrap();
        let ready: Value = serde_json::from_str(line).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            url: ready["url"].as_str().unwrap().to_owned(),
            process,
            http: reqwest::Client::new(),
            runtime,
        }
    }

    fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.url);
        self.runtime.block_on(async { self.http.get(url).send().await.unwrap().json().await.unwrap() })
    }

    /// Asks until the answer is as it must be.
    #[track_caller]
    fn until(&self, path: &str, what: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.get(path);
            if what(&answer) {
                return answer;
            }
            assert!(Instant::now() < deadline, "{path}: {answer}\n{}", self.process.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Until it has indexed what the chain has now.
    #[track_caller]
    fn caught_up(&self, net: &Localnet) -> Value {
        let slot = net.status().slot;
        self.until("/v1/status", |it| it["slot"].as_u64() >= Some(slot) && it["state"] == "live")
    }
}

struct Party {
    zx1: Zx1,
    mint: String,
}

impl Party {
    fn new(net: &Localnet, index: usize, name: &str) -> Self {
        let zx1 = Zx1::new(net).keypair(net.wallet_file(index));
        let made = zx1.json(["register", "--name", name, "--uri", "https://example.org/a.json", "--yes"]);
        zx1.json(["stake", "lock", "10", "--yes"]);
        zx1.json(["lease", "pay", "--yes"]);
        Self { mint: made["agent"].as_str().unwrap().to_owned(), zx1 }
    }

    fn say(&self, words: &[&str], name: &str) -> (PathBuf, String) {
        let file = self.zx1.home().join(name);
        let mut line = vec!["envelope", "make"];
        line.extend_from_slice(words);
        line.extend(["--out", file.to_str().unwrap()]);
        let made = self.zx1.json(line);
        (file.clone(), made["conversation"].as_str().unwrap().to_owned())
    }

    fn hears(&self, message: &Path) {
        self.zx1.json(["log", "append", message.to_str().unwrap()]);
    }
}

#[test]
fn what_the_command_line_does_is_indexed_served_and_survives_kill_9() {
    let net = Localnet::builder().start();
    let folder = tempfile::tempdir().unwrap();
    // Agents from before the indexer come with the backfill, later ones by the subscription.
    let alice = Party::new(&net, 0, "alice");
    let indexer = Indexer::start(&net, folder.path(), true);
    let bob = Party::new(&net, 1, "bob");
    let agents = indexer.until("/v1/agents", |it| {
        let items = it["items"].as_array().unwrap();
        items.len() == 2 && items.iter().all(|it| it["lease"]["state"] == "active" && it["name"] != "")
    });
    for (at, name) in ["alice", "bob"].into_iter().enumerate() {
        let agent = &agents["items"][at];
        assert_eq!((&agent["name"], &agent["number"]), (&name.into(), &(at + 1).into()), "{agents}");
        assert_eq!(agent["stake"]["micro_usdc"], "10000000");
    }
    let status = indexer.until("/v1/status", |it| it["subscribed"] == true);
    assert_eq!(status["nano"]["configured"], true);

    // A deal; Alice's batch goes on chain and its data to the indexer.
    let (offer, talk) =
        alice.say(&["propose", "--to", &bob.mint, "--value", "250", "--content", "a job"], "offer");
    bob.hears(&offer);
    let (deal, _) =
        bob.say(&["accept", "--to", &alice.mint, "--conversation", &talk, "--value", "250"], "deal");
    alice.hears(&deal);
    net.travel_epochs(1);
    let told = alice.zx1.json(["batch", "submit", "--data", &indexer.url, "--yes"]);
    assert_eq!(told["upload"]["state"], "served", "{told}\n{}", indexer.process.said());
    // Bob's log knows nothing of the deal: his batch leaves it out.
    let forgetful = Zx1::new(&net).keypair(net.wallet_file(1));
    forgetful.json(["--agent", &bob.mint, "batch", "submit", "--data", &indexer.url, "--yes"]);
    let batches = indexer.until("/v1/batches?data=served", |it| it["items"].as_array().unwrap().len() == 2);
    assert_eq!(batches["items"][1]["agent_name"], "alice");
    let epoch = batches["items"][1]["epoch"].as_u64().unwrap();
    let records = indexer.get(&format!("/v1/agents/{}/batches/{epoch}/records", alice.mint));
    assert_eq!(records["items"][0]["value"], "250", "{records}");

    // Alice challenges Bob with the data that the indexer serves, and wins.
    let file = alice.zx1.home().join("challenge.json");
    let file = file.to_str().unwrap();
    alice.zx1.json(["challenge", "find", deal.to_str().unwrap(), "--data", &indexer.url, "--out", file]);
    let challenge = alice.zx1.json(["challenge", "submit", file, "--yes"]);
    let address = challenge["challenge"].as_str().unwrap();
    let shown = indexer.until(&format!("/v1/challenges/{address}"), |it| it["challenge"]["state"] == "open");
    assert!(shown["challenge"]["expected_record"].is_string(), "{shown}");

    // It dies; much happens; it comes back.
    let mut indexer = indexer;
    indexer.process.kill9();
    alice.zx1.json(["feedback", "submit", "The indexer is away.", "--yes"]);
    net.travel_epochs(2);
    net.travel_slots(1);
    alice.zx1.json(["challenge", "resolve", address, "--yes"]);
    alice.zx1.json(["challenge", "close", address, "--yes"]);
    let indexer = Indexer::start(&net, folder.path(), false);
    let shown = indexer.until(&format!("/v1/challenges/{address}"), |it| it["challenge"]["closed"] == true);
    assert_eq!(shown["challenge"]["succeeded"], true, "{shown}");
    assert_eq!(shown["challenge"]["slashed_micro_usdc"], "10000000");
    let feedback = indexer.until("/v1/feedback", |it| it["items"].as_array().unwrap().len() == 1);
    assert_eq!(feedback["items"][0]["text"], "The indexer is away.");
    assert_eq!(feedback["digest"], feedback["items"][0]["head"]);
    let agent =
        indexer.until(&format!("/v1/agents/{}", bob.mint), |it| it["agent"]["challenges"]["lost"] == 1);
    assert_eq!(agent["agent"]["stake"]["micro_usdc"], "0", "{agent}");
    assert_eq!(agent["agent"]["slashed_micro_usdc"], "10000000");
    let data = indexer.get(&format!("/v1/agents/{}/batches/{epoch}", alice.mint));
    assert_eq!(data["batch"]["data"], "served", "it outlived the process");

    // The audit from outside, and a second index from nothing.
    let first = indexer.caught_up(&net);
    let ledger = RpcLedger::new(net.rpc_url(), Duration::from_secs(20), 4).unwrap();
    let audit = indexer.runtime.block_on(zx1_indexer::audit(&ledger, &indexer.url)).unwrap();
    assert_eq!(audit.differences, [], "{audit:?}");
    assert!(audit.accounts >= 5, "{audit:?}");
    let fresh = tempfile::tempdir().unwrap();
    let second = Indexer::start(&net, fresh.path(), true);
    let again = second.caught_up(&net);
    assert_eq!((&again["digest"], &again["events"]), (&first["digest"], &first["events"]));
    let places = |it: &Value| -> Vec<(Value, Value, Value)> {
        let items = it["items"].as_array().unwrap();
        items.iter().map(|it| (it["slot"].clone(), it["ordinal"].clone(), it["signature"].clone())).collect()
    };
    let path = "/v1/events?limit=200";
    assert_eq!(places(&second.get(path)), places(&indexer.get(path)));
    assert_eq!(indexer.get("/v1/gaps")["items"], serde_json::json!([]));
    // A binding record made by the command line; the ledger knows the account, with nothing on it.
    let record = alice.zx1.home().join("binding.json");
    alice.zx1.run(["bind", "--file", record.to_str().unwrap()]).ok();
    let body = std::fs::read_to_string(&record).unwrap();
    let put = indexer.http.put(format!("{}/v1/bindings", indexer.url)).body(body).send();
    let put = indexer.runtime.block_on(put).unwrap();
    assert_eq!(put.status().as_u16(), 201, "{}", indexer.process.said());
    let shown = indexer.until(&format!("/v1/agents/{}", alice.mint), |it| it["agent"]["nano"].is_object());
    assert!(shown["agent"]["nano"]["address"].as_str().unwrap().starts_with("nano_"), "{shown}");
    // Every type of event was published, in order, once; some by the first process, the rest by the second.
    let told = indexer.get("/v1/network");
    assert_eq!((&told["agents"], &told["challenges_succeeded"]), (&2.into(), &1.into()), "{told}");
}
