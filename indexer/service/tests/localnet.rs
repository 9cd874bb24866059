//! The indexer as a process against a real local cluster, fed by the command line: what it serves is what the
//! chain says, also after kill -9, and a second index from nothing is the same. With `ZX1_RECORD=1` the run's
//! transactions become `tests/fixtures/transactions.json`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod process;

use process::Indexer;
use serde::Serialize as _;
use serde_json::{Value, json};
use solana_address::Address;
use solana_rpc_client_api::request::RpcRequest;
use std::path::{Path, PathBuf};
use zx1_chain::rpc::{Client, ClientOptions, Cluster, READS_VERSION};
use zx1_e2e::{Localnet, Zx1};
use zx1_indexer::parse::Program;

struct Party {
    zx1: Zx1,
    mint: String,
}

impl Party {
    fn new(net: &Localnet, index: usize, name: &str) -> Self {
        let file = net.wallet_file(index);
        let zx1 = Zx1::new(net).keypair(&file);
        let made = zx1.json(["register", "--name", name, "--uri", "https://example.org/a.json", "--yes"]);
        zx1.json(["keys", "add", file.to_str().unwrap(), "--scopes", "pay,batch,deal,peer", "--yes"]);
        zx1.json(["stake", "lock", "30", "--yes"]);
        zx1.json(["lease", "pay", "--yes"]);
        zx1.json(["batch", "open", "--yes"]);
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
        assert_eq!(agent["stakes"][0]["micro_usdc"], "30000000");
        assert_eq!(agent["keys"][0]["scopes"], 15, "{agent}");
        let tenure = &agent["tenure"];
        assert_eq!((&tenure["number"], &tenure["owner"]), (&1.into(), &agent["owner"]), "{agent}");
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
    let batch = indexer.get(&format!("/v1/agents/{}/batches/{epoch}", alice.mint));
    assert_eq!(batch["batch"]["content"]["signed"], true, "{batch}");

    // Alice challenges Bob with the data that the indexer serves, and wins.
    let file = alice.zx1.home().join("challenge.json");
    let file = file.to_str().unwrap();
    alice.zx1.json(["challenge", "find", deal.to_str().unwrap(), "--data", &indexer.url, "--out", file]);
    let submitted = alice.zx1.json(["challenge", "submit", file, "--yes"]);
    let claims: Vec<&str> = submitted["challenges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["challenge"].as_str().unwrap())
        .collect();
    assert_eq!(claims.len(), 2, "an ACCEPT is a bid and a selection: {submitted}");
    let address = claims[0];
    let shown = indexer.until(&format!("/v1/challenges/{address}"), |it| it["challenge"]["state"] == "open");
    assert!(shown["challenge"]["expected_record"].is_string(), "{shown}");
    assert_eq!((&shown["challenge"]["rank"], &shown["challenge"]["era"]), (&0.into(), &0.into()), "{shown}");

    // Bob asks for two leaves; Alice shows one.
    let epoch_text = epoch.to_string();
    let ask = |tree: &str, index: &str| {
        let line =
            ["--agent", &alice.mint, "ask", "leaf", index, "--epoch", &epoch_text, "--tree", tree, "--yes"];
        bob.zx1.json(line)["ask"].as_str().unwrap().to_owned()
    };
    let (seen, silent) = (ask("log", "1"), ask("arrays", "0"));
    indexer.until(&format!("/v1/asks/{seen}"), |it| it["ask"]["state_name"] == "open");
    alice.zx1.json(["ask", "show", &seen, "--yes"]);
    let shown = indexer.until(&format!("/v1/asks/{seen}"), |it| it["ask"]["state"] == 1);
    assert!(shown["ask"]["leaf_hash"].is_string(), "{shown}");

    // It dies; much happens; it comes back.
    let mut indexer = indexer;
    indexer.process.kill9();
    alice.zx1.json(["feedback", "submit", "The indexer is away.", "--yes"]);
    alice.zx1.json(["feedback", "submit", &"It is long. ".repeat(130), "--yes"]);
    let maintainer = Zx1::new(&net).keypair(net.key_file("maintainer"));
    maintainer.json(["feedback", "resolve", "0", "--commit", &"ab".repeat(20), "--yes"]);
    net.travel_epochs(2);
    net.travel_slots(1);
    bob.zx1.json(["ask", "settle", &silent, "--yes"]);
    for words in ["resolve", "close"] {
        for claim in &claims {
            alice.zx1.json(["challenge", words, claim, "--yes"]);
        }
    }
    alice.zx1.json(["stake", "lock", "10", "--yes"]);
    let indexer = Indexer::start(&net, folder.path(), false);
    let shown = indexer.until(&format!("/v1/challenges/{address}"), |it| it["challenge"]["closed"] == true);
    assert_eq!(
        (&shown["challenge"]["outcome"], &shown["challenge"]["state"]),
        (&2.into(), &"succeeded".into())
    );
    assert_eq!(shown["challenge"]["slashed_micro_usdc"], "30000000");
    let feedback = indexer.until("/v1/feedback", |it| it["items"].as_array().unwrap().len() == 2);
    assert_eq!(feedback["items"][1]["text"], "The indexer is away.");
    assert_eq!(feedback["digest"], feedback["items"][0]["head"]);
    let agent =
        indexer.until(&format!("/v1/agents/{}", bob.mint), |it| it["agent"]["challenges"]["lost"] == 2);
    let stake = &agent["agent"]["stakes"][0];
    assert_eq!((&stake["micro_usdc"], &stake["ended"]), (&"0".into(), &true.into()), "{agent}");
    assert_eq!(agent["agent"]["slashed_micro_usdc"], "30000000");
    let data = indexer.get(&format!("/v1/agents/{}/batches/{epoch}", alice.mint));
    assert_eq!(data["batch"]["data"], "served", "it outlived the process");
    assert_eq!(data["batch"]["withheld"], true, "the other leaf was not shown: {data}");
    let agent = indexer.get(&format!("/v1/agents/{}", alice.mint));
    assert_eq!(agent["agent"]["reputation"]["batches"], 0, "and it counts for nothing: {agent}");

    // The audit from outside, and a second index from nothing.
    let first = indexer.caught_up(&net);
    let client = Client::new(Cluster::parse(net.rpc_url()).unwrap(), ClientOptions::default());
    let audit = indexer.runtime.block_on(zx1_operator::audit::audit(&client, &indexer.url)).unwrap();
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
    if std::env::var_os("ZX1_RECORD").is_some_and(|value| value == "1") {
        indexer.runtime.block_on(keep_transactions(&client));
    }
    // Every type of event was published, in order, once; some by the first process, the rest by the second.
    let told = indexer.get("/v1/network");
    assert_eq!((&told["agents"], &told["challenges_succeeded"]), (&2.into(), &2.into()), "{told}");
}

/// Writes the answers of `getTransaction` for all that these programs did, the oldest first.
async fn keep_transactions(client: &Client) {
    let mut listed: Vec<(u64, String)> = Vec::new();
    for program in Program::ALL {
        let params = json!([program.address().to_string(), { "commitment": "confirmed" }]);
        let lines: Vec<Value> = client.ask(RpcRequest::GetSignaturesForAddress, params).await.unwrap();
        let of = |it: &Value| (it["slot"].as_u64().unwrap(), it["signature"].as_str().unwrap().to_owned());
        // Newest first.
        listed.extend(lines.iter().filter(|it| it["err"].is_null()).rev().map(of));
    }
    let mut seen = std::collections::BTreeSet::new();
    listed.retain(|(_, signature)| seen.insert(signature.clone()));
    listed.sort_by_key(|(slot, _)| *slot);
    let mut transactions = Vec::new();
    for (_, signature) in listed {
        let settings = json!({
            "encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": READS_VERSION,
        });
        let answer: Value =
            client.ask(RpcRequest::GetTransaction, json!([signature, settings])).await.unwrap();
        transactions.push(json!({ "signature": signature, "answer": answer }));
    }
    let group = Address::new_from_array(client.config().await.unwrap().registry_group);
    let document = json!({
        "about": "Answers of getTransaction, recorded by tests/localnet.rs with ZX1_RECORD=1: two agents register, \
                  list a key, stake, pay and open their heads; two batches; an ask that is shown and one that is \
                  not; a challenge of two claims that is won and closed; feedback, one in several transactions, \
                  and a resolution.",
        "group": group.to_string(),
        "transactions": transactions,
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transactions.json");
    let mut text = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(b" ");
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut text, form)).unwrap();
    text.push(b'\n');
    std::fs::write(path, text).unwrap();
}
