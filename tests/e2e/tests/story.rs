//! The whole life of batches and challenges through the command line: a truthful batch, one that hides a bid
//! from its arrays, and one that leaves a deal out of its log. Every wallet is asserted to the micro-USDC.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use solana_address::Address;
use solana_signer::Signer as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use zx1_e2e::{Fault, FaultProxy, Localnet, Zx1};
use zx1_protocol::behavior_batch::Built;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::envelope::Envelope;
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::record::KIND_BID;

const USDC: u64 = 1_000_000;
/// A tenth of a USDC.
const DIME: u64 = USDC / 10;

/// An agent with its command line.
struct Party {
    zx1: Zx1,
    mint: String,
    wallet: Address,
}

impl Party {
    /// Registers, lists the wallet as the key of every scope, stakes 30, pays one epoch and opens its batches.
    fn new(net: &Localnet, index: usize, name: &str) -> Self {
        let file = net.wallet_file(index);
        let zx1 = Zx1::new(net).keypair(&file);
        let made = zx1.json(["register", "--name", name, "--uri", "https://example.org/a.json", "--yes"]);
        zx1.json(["keys", "add", path(&file), "--scopes", "pay,batch,deal,peer", "--yes"]);
        zx1.json(["stake", "lock", "30", "--yes"]);
        zx1.json(["lease", "pay", "--yes"]);
        zx1.json(["batch", "open", "--yes"]);
        Self { zx1, mint: text(&made["agent"]).to_owned(), wallet: net.wallet(index).pubkey() }
    }

    /// A file in the party's own folder.
    fn file(&self, name: &str) -> PathBuf {
        self.zx1.home().join(name)
    }

    /// Makes a message and returns its file and conversation.
    fn say(&self, words: &[&str], name: &str) -> (PathBuf, String) {
        let file = self.file(name);
        let mut line = vec!["envelope", "make"];
        line.extend_from_slice(words);
        line.extend(["--out", path(&file)]);
        let made = self.zx1.json(line);
        (file.clone(), text(&made["conversation"]).to_owned())
    }

    fn hears(&self, message: &Path) {
        let added = self.zx1.json(["log", "append", path(message)]);
        assert_eq!(added["added"][0]["new"], true, "{added}");
    }

    /// What stands for the agent, in all its eras.
    fn stake(&self) -> u64 {
        let shown = self.zx1.json(["stake", "show"]);
        let eras = shown["eras"].as_array().unwrap().iter();
        eras.map(|era| era["stake_micro_usdc"].as_u64().unwrap()).sum()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// The same batch without its bids: what a liar signs.
fn without_bids(bundle: &[u8]) -> Vec<u8> {
    let bundle = Bundle::decode(bundle).unwrap();
    let mut front = bundle.decode_batch().unwrap();
    front.bid_values.clear();
    let kept = bundle.packed_records().filter(|packed| packed[0] != KIND_BID).flatten().copied().collect();
    Built::new(front, kept, bundle.leaves().to_vec()).unwrap().bundle().unwrap().to_vec()
}

/// What a counterparty can make of a message: its log entry, in hex.
fn log_entry(message: &Path) -> String {
    let bytes = std::fs::read(message).unwrap();
    hex::encode(LogEntry::of(&Envelope::decode(&bytes).unwrap()).to_cbor::<Sha3>().unwrap())
}

#[test]
fn the_truthful_keep_their_stake_and_liars_lose_theirs() {
    let net = Localnet::builder().start();
    let treasury = Address::from_str(&net.env().treasury).unwrap();
    let served = tempfile::tempdir().unwrap();
    let data = served.path().to_str().unwrap();
    let (alice, bob, carol) =
        (Party::new(&net, 0, "alice"), Party::new(&net, 1, "bob"), Party::new(&net, 2, "carol"));
    let purses = || [alice.wallet, bob.wallet, carol.wallet, treasury].map(|wallet| net.usdc(&wallet) / DIME);
    assert_eq!(purses(), [9_690, 9_690, 9_690, 30]);

    // Alice offers to both, and both accept.
    let (offer, talk) =
        alice.say(&["propose", "--to", &bob.mint, "--value", "250", "--content", "a job"], "offer");
    bob.hears(&offer);
    let (deal, _) =
        bob.say(&["accept", "--to", &alice.mint, "--conversation", &talk, "--value", "250"], "deal");
    alice.hears(&deal);
    let (other, talk) = alice.say(&["propose", "--to", &carol.mint, "--value", "-3"], "other");
    carol.hears(&other);
    let (lost, _) =
        carol.say(&["accept", "--to", &alice.mint, "--conversation", &talk, "--value", "-3"], "lost");
    alice.hears(&lost);

    net.travel_epochs(1);
    // Alice tells the truth.
    let told = alice.zx1.json(["batch", "submit", "--data", data, "--yes"]);
    assert_eq!(
        (&told["status"], &told["upload"]["state"]),
        (&"confirmed".into(), &"served".into()),
        "{told}"
    );
    // Bob builds the truth and signs something else: the same log, no bids.
    let built = bob.zx1.json(["batch", "build"]);
    let unsigned = PathBuf::from(text(&built["file"]));
    let lie = without_bids(&std::fs::read(&unsigned).unwrap());
    std::fs::write(&unsigned, lie).unwrap();
    bob.zx1.json(["batch", "sign"]);
    bob.zx1.json(["batch", "submit", "--data", data, "--yes"]);
    // Carol's batch comes from a log that knows nothing: another home, the same key.
    let forgetful = Zx1::new(&net).keypair(net.wallet_file(2));
    forgetful.json(["--agent", &carol.mint, "batch", "submit", "--data", data, "--yes"]);

    // Bob challenges the truth although find tells him that it will be answered.
    let file = bob.file("wrong.json");
    bob.zx1.run(["challenge", "find", path(&offer), "--data", data, "--out", path(&file)]).fails_with(7540);
    assert!(!file.exists());
    let even = "--even-if-answerable";
    bob.zx1.json(["challenge", "find", path(&offer), "--data", data, even, "--out", path(&file)]);
    let wrong = bob.zx1.json(["challenge", "submit", path(&file), "--yes"]);
    assert_eq!(purses(), [9_690, 9_640, 9_690, 30]);
    // The answer settles it at once: 1.5 into the stake, 0.5 to who answered, 3 to the treasury.
    alice.zx1.run(["challenge", "watch", "--once"]).ok();
    let listed = alice.zx1.json(["challenge", "list"]);
    assert_eq!(listed["challenges"][0]["state"], "answered", "{listed}");
    assert_eq!(purses(), [9_695, 9_640, 9_690, 60]);
    assert_eq!(alice.stake(), 315 * DIME);

    // Alice challenges the other two: with a log entry, and with an envelope, which gives two claims.
    let entry = alice.file("entry.hex");
    std::fs::write(&entry, log_entry(&deal)).unwrap();
    let (hidden, left_out) = (alice.file("hidden.json"), alice.file("left-out.json"));
    let found = alice.zx1.json(["challenge", "find", path(&entry), "--data", data, "--out", path(&hidden)]);
    assert_eq!(found["claims"][0]["presence"], "absent", "{found}");
    assert_eq!(found["claims"][0]["in_log"], true, "{found}");
    let found = alice.zx1.json(["challenge", "find", path(&lost), "--data", data, "--out", path(&left_out)]);
    assert_eq!(found["claims"][0]["in_log"], false, "{found}");
    let hidden = alice.zx1.json(["challenge", "submit", path(&hidden), "--yes"]);
    let left_out = alice.zx1.json(["challenge", "submit", path(&left_out), "--yes"]);
    assert_eq!(purses(), [9_545, 9_640, 9_690, 60]);
    assert_eq!(bob.zx1.run(["challenge", "watch", "--once"]).code, 1, "nothing answers for Bob");
    // While it is challenged, no batch lands on its stake.
    let stopped = bob.zx1.json(["keeper", "plan", "--cap", "0"]);
    assert!(stopped["actions"].as_array().unwrap().iter().all(|it| it["do"] != "submit_batch"), "{stopped}");
    let claims = |submitted: &Value| -> Vec<String> {
        let all = submitted["challenges"].as_array().unwrap().iter();
        all.map(|one| text(&one["challenge"]).to_owned()).collect()
    };
    let (wrong, hidden, left_out) = (claims(&wrong), claims(&hidden), claims(&left_out));
    assert_eq!([wrong.len(), hidden.len(), left_out.len()], [1, 1, 2]);

    // Before the windows are over nothing is settled.
    alice.zx1.run(["challenge", "resolve", &hidden[0], "--yes"]).fails_with(7546);
    net.travel_epochs(2);
    net.travel_slots(1);
    for (challenges, succeeded) in [(&wrong, false), (&hidden, true), (&left_out, true)] {
        for challenge in challenges {
            let resolved = alice.zx1.json(["challenge", "resolve", challenge, "--yes"]);
            assert_eq!(resolved["succeeded"], succeeded, "{resolved}");
        }
        for challenge in challenges {
            alice.zx1.json(["challenge", "close", challenge, "--yes"]);
        }
    }
    // Alice: her three stakes of 5 back, half of each finders' part of 12, and half of what was left of Carol's.
    // The treasury: three leases, its part of Bob's challenge, and all the rest.
    assert_eq!(purses(), [9_845, 9_640, 9_690, 510]);
    assert_eq!([alice.stake(), bob.stake(), carol.stake()], [315 * DIME, 0, 0]);
    // All ranks were used: their deposits come back with the drafts.
    let drafts = alice.zx1.json(["challenge", "cancel"]);
    let drafts = drafts["drafts"].as_array().unwrap();
    assert_eq!(drafts.len(), 3);
    let before = net.lamports(&alice.wallet);
    for draft in drafts {
        assert_eq!(draft["deposit_returns"], true, "{draft}");
        alice.zx1.json(["challenge", "cancel", text(&draft["draft"]), "--yes"]);
    }
    assert!(net.lamports(&alice.wallet) > before + 3 * 10_000_000, "deposits and rent");

    // Alice stops paying: the lease dies, the stake is queued, and comes back.
    alice.zx1.run(["stake", "unlock", "--yes"]).fails_with(6012);
    net.travel_epochs(1);
    alice.zx1.json(["lease", "tick", "--yes"]);
    alice.zx1.json(["stake", "unlock", "--yes"]);
    assert_ne!(alice.zx1.run(["stake", "claim", "--yes"]).code, 0);
    net.travel_epochs(2);
    net.travel_slots(1);
    alice.zx1.json(["stake", "claim", "--yes"]);
    assert_eq!(purses(), [10_160, 9_640, 9_690, 510]);

    // Bob starts anew: the grace period's three epochs and today's, then a new stake, in an era of its own. The
    // empty one gives its rent back.
    bob.zx1.json(["lease", "pay", "--yes"]);
    let locked = bob.zx1.json(["stake", "lock", "30", "--yes"]);
    assert_eq!((&locked["tenure"]["era"], &locked["eras"][1]["era"]), (&1.into(), &1.into()), "{locked}");
    assert_eq!(purses(), [10_160, 9_300, 9_690, 550]);
    assert_eq!(bob.stake(), 30 * USDC);
    let claimed = bob.zx1.json(["stake", "claim", "--era", "0", "--yes"]);
    assert_eq!(claimed["eras"].as_array().unwrap().len(), 1, "{claimed}");
}

#[test]
fn a_leaf_that_is_asked_for_is_shown_by_the_keeper_and_withholding_is_fined() {
    let net = Localnet::builder().start();
    let served = tempfile::tempdir().unwrap();
    let data = served.path().to_str().unwrap();
    let (alice, bob) = (Party::new(&net, 0, "alice"), Party::new(&net, 1, "bob"));
    let (offer, talk) = alice.say(&["propose", "--to", &bob.mint, "--value", "7"], "offer");
    bob.hears(&offer);
    let (deal, _) =
        bob.say(&["accept", "--to", &alice.mint, "--conversation", &talk, "--value", "7"], "deal");
    alice.hears(&deal);
    net.travel_epochs(1);
    let batch = alice.zx1.json(["batch", "submit", "--data", data, "--yes"]);
    let epoch = batch["epoch"].to_string();
    let ask = |tree: &str, index: &str| {
        let line = ["--agent", &alice.mint, "ask", "leaf", index, "--epoch", &epoch, "--tree", tree, "--yes"];
        bob.zx1.json(line)
    };
    let late = ["--agent", &alice.mint, "ask", "leaf", "9", "--epoch", &epoch, "--tree", "log", "--yes"];
    bob.zx1.run(late).fails_with(7555);
    let purses = || [alice.wallet, bob.wallet].map(|wallet| net.usdc(&wallet) / DIME);
    assert_eq!(purses(), [9_690, 9_690]);

    // The keeper shows the entry, which only the agent has, and is paid for it.
    let first = ask("log", "1");
    assert_eq!(purses(), [9_690, 9_685]);
    alice.zx1.run(["keeper", "run", "--once", "--cap", "0", "--yes"]).ok();
    assert_eq!(purses(), [9_693, 9_685]);
    assert_eq!(alice.stake(), 301 * DIME);
    let listed = bob.zx1.json(["ask", "list"]);
    assert_eq!(listed["asks"][0]["state"], "shown", "{listed}");
    let settled = bob.zx1.json(["ask", "settle", text(&first["ask"]), "--yes"]);
    assert_eq!(settled["done"], "closed", "{settled}");

    // Nobody shows a record in time: its batch counts for nothing, and its agent pays.
    let second = ask("arrays", "0");
    let second = text(&second["ask"]);
    bob.zx1.run(["ask", "settle", second, "--yes"]).fails_with(7564);
    net.travel_slots(108_001);
    alice.zx1.run(["ask", "show", second, "--data", data, "--yes"]).fails_with(7559);
    let settled = bob.zx1.json(["ask", "settle", second, "--yes"]);
    assert_eq!(settled["done"], "settled", "{settled}");
    assert_eq!(purses(), [9_693, 9_715], "the price back, and 3 of the fine");
    assert_eq!(alice.stake(), 201 * DIME);
    let shown = alice.zx1.json(["batch", "show", "--all", "--data", data]);
    let of_epoch =
        shown["batches"].as_array().unwrap().iter().find(|it| it["epoch"].as_u64() == epoch.parse().ok());
    assert_eq!(of_epoch.unwrap()["withheld"], true, "{shown}");
    let seen = bob.zx1.json(["--agent", &alice.mint, "reputation", "show", "--data", data]);
    assert_eq!(
        (seen["withheld"][0].to_string(), &seen["epochs"]),
        (epoch.clone(), &Value::Array(Vec::new()))
    );
    let more = ["--agent", &alice.mint, "ask", "leaf", "0", "--epoch", &epoch, "--tree", "log", "--yes"];
    bob.zx1.run(more).fails_with(7557);
    assert_eq!(bob.zx1.json(["ask", "settle", second, "--yes"])["done"], "closed");
    assert_eq!(bob.zx1.json(["ask", "list"])["asks"], Value::Array(Vec::new()));

    // What is left is too little for a batch.
    net.travel_epochs(1);
    alice.zx1.run(["batch", "submit", "--data", data, "--yes"]).fails_with(6040);
    alice.zx1.json(["stake", "lock", "10", "--yes"]);
    alice.zx1.json(["batch", "submit", "--data", data, "--yes"]);
}

#[test]
fn a_lost_answer_makes_no_second_batch_and_no_second_challenge() {
    let net = Localnet::builder().start();
    let served = tempfile::tempdir().unwrap();
    let data = served.path().to_str().unwrap();
    let (alice, bob) = (Party::new(&net, 0, "alice"), Party::new(&net, 1, "bob"));
    let (offer, _) = alice.say(&["propose", "--to", &bob.mint, "--value", "1"], "offer");
    bob.hears(&offer);
    net.travel_epochs(1);
    let proxy = FaultProxy::start(net.rpc_url());

    // The answer to the batch is lost, and the node is gone after it: the command cannot know. It lands.
    let cut = |party: &Party| party.zx1.clone().url(proxy.url());
    proxy.fail("sendTransaction", 1, Fault::DropAfter);
    let first = cut(&alice).run(["batch", "submit", "--data", data, "--yes"]);
    proxy.clear();
    let again = alice.zx1.json(["batch", "submit", "--data", data, "--yes"]);
    assert_eq!(again["upload"]["state"], "served", "{first}\n{again}");
    let head = alice.zx1.json(["batch", "show", "--all", "--data", data]);
    assert_eq!(head["batches"].as_array().unwrap().len(), 1, "{head}");
    assert_eq!(head["batches"][0]["data"], "served");

    // The same with a challenge, which locks money.
    let file = bob.file("c.json");
    let even = "--even-if-answerable";
    bob.zx1.json(["challenge", "find", path(&offer), "--data", data, even, "--out", path(&file)]);
    let before = net.usdc(&bob.wallet);
    proxy.fail("sendTransaction", 1, Fault::DropAfter);
    cut(&bob).run(["challenge", "submit", path(&file), "--yes"]);
    proxy.clear();
    bob.zx1.run(["challenge", "submit", path(&file), "--yes"]);
    assert_eq!(before - net.usdc(&bob.wallet), 5 * USDC);
    let listed = bob.zx1.json(["challenge", "list"]);
    assert_eq!(listed["challenges"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn the_keeper_does_the_days_work_within_its_cap() {
    let net = Localnet::builder().start();
    let served = tempfile::tempdir().unwrap();
    let (alice, bob) = (Party::new(&net, 0, "alice"), Party::new(&net, 1, "bob"));
    alice.zx1.run(["config", "set", "upload", served.path().to_str().unwrap()]).ok();
    let (offer, _) = alice.say(&["propose", "--to", &bob.mint, "--value", "7"], "offer");
    bob.hears(&offer);
    net.travel_epochs(1);
    let before = net.usdc(&alice.wallet);

    // The plan changes nothing.
    let plan = alice.zx1.json(["keeper", "plan", "--cap", "1"]);
    assert_eq!(plan["actions"][0]["do"], "pay_lease", "{plan}");
    assert_eq!(net.usdc(&alice.wallet), before);
    // One USDC a day: one epoch of the two that are wanted, and the batch.
    alice.zx1.run(["--output", "json-compact", "keeper", "run", "--once", "--cap", "1", "--yes"]).ok();
    assert_eq!(before - net.usdc(&alice.wallet), USDC);
    let shown = alice.zx1.json(["batch", "show"]);
    assert_eq!(
        (&shown["batches"][0]["on_chain"], &shown["batches"][0]["data"]),
        (&true.into(), &"served".into())
    );
    // Again on the same day: the cap is used up.
    alice.zx1.run(["keeper", "run", "--once", "--cap", "1", "--yes"]).ok();
    assert_eq!(before - net.usdc(&alice.wallet), USDC);

    // A challenge against it is answered without a word.
    let file = bob.file("c.json");
    let (data, even) = (served.path().to_str().unwrap(), "--even-if-answerable");
    bob.zx1.json(["challenge", "find", path(&offer), "--data", data, even, "--out", path(&file)]);
    bob.zx1.json(["challenge", "submit", path(&file), "--yes"]);
    alice.zx1.run(["keeper", "run", "--once", "--cap", "1", "--yes"]).ok();
    let listed = alice.zx1.json(["challenge", "list"]);
    assert_eq!(listed["challenges"][0]["state"], "answered", "{listed}");
    // Its account stays through the window, and the challenger's keeper waits for that.
    bob.zx1.run(["keeper", "run", "--once", "--cap", "0", "--yes"]).ok();
    assert_eq!(bob.zx1.json(["challenge", "list"])["challenges"].as_array().unwrap().len(), 1);
    // Two days later the rent of the batch comes back; the agent keeps its stake.
    net.travel_epochs(2);
    net.travel_slots(1);
    alice.zx1.run(["keeper", "run", "--once", "--cap", "5", "--yes"]).ok();
    alice.zx1.run(["keeper", "run", "--once", "--cap", "5", "--yes"]).ok();
    assert_eq!(alice.stake(), 315 * DIME, "with its part of the lost challenge");
    bob.zx1.run(["keeper", "run", "--once", "--cap", "3", "--yes"]).ok();
    assert_eq!(bob.zx1.json(["challenge", "list"])["challenges"], Value::Array(Vec::new()));
    let shown = alice.zx1.json(["batch", "show", "--all"]);
    let first = &shown["batches"].as_array().unwrap()[0];
    assert_eq!(first["on_chain"], false, "{shown}");
}

#[test]
fn feedback_of_any_length_stands_for_ever_and_a_sponsor_pays_only_for_that() {
    let net = Localnet::builder().start();
    let owner = Zx1::new(&net);
    let maintainer = Zx1::new(&net).keypair(net.key_file("maintainer"));
    let short = owner.json(["feedback", "submit", "it is slow", "--yes"]);
    assert_eq!(short["index"], 0, "{short}");
    let long = "x".repeat(2_048);
    let told = owner.json(["feedback", "submit", &long, "--yes"]);
    assert_eq!(told["index"], 1, "{told}");
    owner.run(["feedback", "submit", &"x".repeat(2_049), "--yes"]).fails_with(7570);
    owner.run(["feedback", "submit", "", "--yes"]).fails_with(7570);
    let finding = [
        "feedback",
        "submit",
        "--source",
        "qa-fuzz",
        "--severity",
        "high",
        "--surface",
        "cli",
        "it panics",
        "--yes",
        "--repro",
    ];
    let with_repro = |repro: &'static str| finding.into_iter().chain([repro]);
    // What would run is a call of a tool, never a shell line.
    owner.run(with_repro("zx1 inspect tx 00")).fails_with(7801);
    owner.run(with_repro("qa_shell({\"text\":\"ls\"})")).fails_with(7802);
    owner.json(with_repro(r#"qa_cli({"program":"zx1","arguments":["inspect","tx","00"]})"#));
    let listed = owner.json(["feedback", "list", "--surface", "cli"]);
    assert_eq!((&listed["count"], &listed["entries"][0]["index"]), (&3.into(), &2.into()), "{listed}");
    let read = &listed["entries"][0]["finding"];
    assert_eq!((&read["severity"], &read["summary"]), (&"high".into(), &"it panics".into()));
    assert_eq!(read["repro"], r#"qa_cli({"arguments":["inspect","tx","00"],"program":"zx1"})"#);
    // Only the maintainer resolves.
    let commit = "7e141df0c1".repeat(4);
    assert_ne!(owner.run(["feedback", "resolve", "2", "--commit", &commit, "--yes"]).code, 0);
    maintainer.json(["feedback", "resolve", "2", "--commit", &commit, "--yes"]);
    let shown = owner.json(["feedback", "show", "2"]);
    assert_eq!(shown["resolution"]["commit"], commit.as_str(), "{shown}");
    owner.run(["feedback", "show", "3"]).fails_with(7571);

    // A wallet without a lamport speaks at a sponsor's cost.
    let sponsor = Zx1::new(&net).keypair(net.key_file("sponsor"));
    let serving = sponsor.spawn([
        "--output",
        "json-compact",
        "sponsor",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--per-sender",
        "2",
    ]);
    let line = serving.wait_for("listening");
    let line: Value =
        serde_json::from_str(line.lines().find(|line| line.contains("listening")).unwrap()).unwrap();
    let url = format!("http://{}", text(&line["listening"]));
    let (poor, poor_file) = net.new_wallet(0, 0);
    let speaker = Zx1::new(&net).keypair(poor_file);
    let told = speaker.json(["feedback", "submit", "--sponsor", &url, "I have nothing", "--yes"]);
    assert_eq!(told["index"], 3, "{told}");
    let told = speaker.json(["feedback", "submit", "--sponsor", &url, &"y".repeat(1_500), "--yes"]);
    assert_eq!(told["index"], 4, "{told}");
    assert_eq!(net.lamports(&poor.pubkey()), 0);
    speaker.run(["feedback", "submit", "--sponsor", &url, "once more", "--yes"]).fails_with(7573);
    let count = owner.json(["feedback", "list"]);
    assert_eq!(count["count"], 5);
}
