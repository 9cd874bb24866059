//! Attacks on an agent that takes its owner's own commands, several processes or a node that lies: each fails.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "chain_client/party.rs"]
#[allow(dead_code)]
mod party;

use axum::{Router, body::Bytes, extract::State, response::IntoResponse, routing::post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use party::{AMOUNTS, Day, Party, claim, filler, sent};
use serde_json::Value;
use solana_address::Address;
use solana_signer::Signer as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zx1_chain::pda;
use zx1_chain::rpc::actions::{Actions, ChallengeWith};
use zx1_e2e::{Localnet, Zx1};
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::AgentId;
use zx1_protocol::payload::bid_payload;

const USDC: u64 = 1_000_000;
const PASSPHRASE: &[u8] = b"correct horse battery staple\n";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// An agent and the command line of its owner.
struct Agent {
    zx1: Zx1,
    mint: AgentId,
}

impl Agent {
    /// A living agent whose wallet is its key of every scope, its lease paid for ten days.
    fn new(net: &Localnet, index: usize, name: &str) -> Self {
        let file = net.wallet_file(index);
        let agent = Self::with_key(net, index, name, &file);
        agent.zx1.json(["lease", "pay", "--epochs", "9", "--yes"]);
        agent
    }

    /// The same with another key of every scope, its lease paid for one.
    fn with_key(net: &Localnet, index: usize, name: &str, key: &Path) -> Self {
        let zx1 = Zx1::new(net).keypair(net.wallet_file(index));
        let made = zx1.json(["register", "--name", name, "--uri", "https://example.org/a.json", "--yes"]);
        zx1.json(["keys", "add", path(key), "--scopes", "pay,batch,deal,peer", "--yes"]);
        zx1.json(["stake", "lock", "30", "--yes"]);
        zx1.json(["lease", "pay", "--yes"]);
        zx1.json(["batch", "open", "--yes"]);
        Self { zx1, mint: text(&made["agent"]).parse().unwrap() }
    }

    /// The command with the agent named, of whichever home.
    fn of<'a>(mint: &'a str, line: &[&'a str]) -> Vec<&'a str> {
        [&["--agent", mint], line].concat()
    }
}

/// Makes an offer in a home; its file.
fn offer(zx1: &Zx1, mint: &str, to: &str, name: &str) -> PathBuf {
    let file = zx1.home().join(name);
    zx1.json([
        "--agent",
        mint,
        "envelope",
        "make",
        "propose",
        "--to",
        to,
        "--value",
        "5",
        "--out",
        path(&file),
    ]);
    file
}

#[test]
fn a_sellers_hot_key_does_nothing_after_the_sale() {
    let net = Localnet::builder().start();
    let runtime = runtime();
    let hot_file = net.wallet_file(1);
    let agent = Agent::with_key(&net, 0, "sold", &hot_file);
    let mint = agent.mint.to_string();
    let (seller, hot) = (&agent.zx1, Zx1::new(&net).keypair(&hot_file));
    let buyer = Zx1::new(&net).keypair(net.wallet_file(2));
    let parties = [0, 1, 2].map(|number| Party::new(net.wallet(number), net.rpc_url()));
    let [former, hot_party, holder] = &parties;
    net.travel_epochs(1);
    let sold_in = net.status().epoch;
    runtime.block_on(former.give(agent.mint, holder.address()));

    // Before the buyer's first act: neither the key nor the seller does anything, and nor does the buyer.
    hot.run(Agent::of(&mint, &["lease", "pay", "--yes"])).fails_with(6027);
    hot.run(Agent::of(&mint, &["batch", "submit", "--no-upload", "--yes"])).fails_with(7528);
    let day = Day { epoch: sold_in - 1, entries: vec![vec![1; 70]], records: vec![filler(1)] };
    let landed = runtime.block_on(async {
        let message = hot_party.message(agent.mint, &day.commitment(agent.mint)).await;
        hot_party.try_land(&message, &hot_party.key).await
    });
    assert!([6027, 6201].contains(&landed.unwrap_err().code()), "the program itself");
    seller.run(Agent::of(&mint, &["stake", "lock", "1", "--yes"])).fails_with(7017);
    let list_itself =
        ["keys", "add", path(&net.wallet_file(0)), "--scopes", "batch", "--yes"].map(str::to_owned);
    let list_itself: Vec<&str> = list_itself.iter().map(String::as_str).collect();
    seller.run(Agent::of(&mint, &list_itself)).fails_with(7017);
    buyer.run(Agent::of(&mint, &["stake", "lock", "30", "--yes"])).fails_with(6201);
    let own = net.wallet_file(2);
    let list = ["keys", "add", path(&own), "--scopes", "pay,batch,deal,peer", "--yes"];
    buyer.run(Agent::of(&mint, &list)).fails_with(6201);

    // Taking over ends it, with the day of the sale as its last.
    let taken = buyer.json(Agent::of(&mint, &["take-over", "--yes"]));
    assert_eq!((&taken["tenure"]["number"], &taken["tenure"]["era"]), (&2.into(), &1.into()), "{taken}");
    assert_eq!(taken["ended"][0], hot_party.address().to_string(), "{taken}");
    let key = &taken["keys"][0];
    assert_eq!((&key["standing"], &key["until_epoch"]), (&"ended".into(), &sold_in.into()), "{taken}");
    assert_eq!(buyer.json(Agent::of(&mint, &["take-over", "--yes"]))["status"], "nothing_to_do");
    hot.run(Agent::of(&mint, &["lease", "pay", "--yes"])).fails_with(6027);
    let say = ["envelope", "make", "propose", "--to", &mint, "--value", "5"];
    hot.run(Agent::of(&mint, &say)).fails_with(7528);

    // The buyer's own keys, money and batches, from the next epoch on.
    let listed = buyer.json(Agent::of(&mint, &list));
    let of_buyer = holder.address().to_string();
    let own_key = listed["keys"].as_array().unwrap().iter().find(|key| key["key"] == of_buyer.as_str());
    assert_eq!(own_key.unwrap()["from_epoch"], sold_in + 1, "{listed}");
    let locked = buyer.json(Agent::of(&mint, &["stake", "lock", "30", "--yes"]));
    assert_eq!(locked["eras"].as_array().unwrap().len(), 2, "{locked}");
    buyer.json(Agent::of(&mint, &["lease", "pay", "--epochs", "5", "--yes"]));
    net.travel_epochs(1);
    buyer.run(Agent::of(&mint, &["batch", "submit", "--no-upload", "--yes"])).fails_with(7520);
    net.travel_epochs(1);
    let batch = buyer.json(Agent::of(&mint, &["batch", "submit", "--no-upload", "--yes"]));
    assert_eq!((&batch["covers_from"], &batch["epoch"]), (&(sold_in + 1).into(), &(sold_in + 1).into()));

    // A message that the seller dates back or forward does not count as evidence against the buyer.
    let payload = bid_payload(7, b"never said");
    for (epoch, refusal) in [(sold_in, 6105), (sold_in + 1, 6106)] {
        let message = sent(agent.mint, MsgType::Accept, epoch, 1, &payload);
        let with = ChallengeWith::Envelope {
            signature: hot_party.sign(&message.signed),
            signed: message.signed,
            signer: hot_party.address(),
        };
        let request = claim(former.address(), agent.mint, sold_in + 1, Ground::Bid, with);
        let refused = runtime.block_on(async {
            let sati = former.sati().await;
            let actions = Actions::new(&former.client, &sati).await.unwrap();
            actions.challenge(&request).await.map(|_| ()).unwrap_err()
        });
        assert_eq!(refused.code(), refusal, "{refused}");
    }

    // Everyone gets what he locked: the seller his era's stake, two days after.
    buyer.run(Agent::of(&mint, &["stake", "claim", "--era", "0", "--yes"])).fails_with(6212);
    net.travel_slots(1_000);
    let before = net.usdc(&former.address());
    seller.json(Agent::of(&mint, &["stake", "claim", "--era", "0", "--yes"]));
    assert_eq!(net.usdc(&former.address()), before + 30 * USDC);
    let left = buyer.json(Agent::of(&mint, &["stake", "show"]));
    assert_eq!(
        (&left["eras"][0]["era"], &left["eras"][0]["stake_micro_usdc"]),
        (&1.into(), &(30 * USDC).into())
    );
}

#[test]
fn a_liar_that_ends_its_key_and_sells_to_itself_is_slashed_all_the_same() {
    let net = Localnet::builder().start();
    let runtime = runtime();
    let served = tempfile::tempdir().unwrap();
    let data = path(served.path());
    let (deal_key, deal_file) = net.new_wallet(0, 0);
    let liar = Agent::new(&net, 0, "liar");
    let victim = Agent::new(&net, 1, "victim");
    let (mint, peer) = (liar.mint.to_string(), victim.mint.to_string());
    // A deal key of its own, which it can throw away.
    liar.zx1.json(["keys", "add", path(&deal_file), "--scopes", "deal", "--yes"]);
    net.travel_epochs(2);
    let deals = liar.zx1.clone().env("ZX1_DEAL_KEY", &deal_file);
    let deal = offer(&deals, &mint, &peer, "deal");
    victim.zx1.json(["log", "append", path(&deal)]);
    net.travel_epochs(1);
    // The batch knows nothing of it: another folder, the same keys. Then everything that signed is withdrawn.
    let forgetful = Zx1::new(&net).keypair(net.wallet_file(0));
    forgetful.json(["--agent", &mint, "batch", "submit", "--data", data, "--yes"]);
    let deal_key = deal_key.pubkey().to_string();
    liar.zx1.json(["keys", "end", &deal_key, "--yes"]);
    let (second, second_file) = net.new_wallet(1, 0);
    let former = Party::new(net.wallet(0), net.rpc_url());
    runtime.block_on(former.give(liar.mint, second.pubkey()));
    let second = Zx1::new(&net).keypair(second_file);
    second.json(["--agent", &mint, "take-over", "--yes"]);
    // Its account stays as long as anything that it signed can be challenged.
    second.run(["--agent", &mint, "keys", "close", &deal_key, "--yes"]).fails_with(6207);

    let file = victim.zx1.home().join("challenge.json");
    let found = victim.zx1.json(["challenge", "find", path(&deal), "--data", data, "--out", path(&file)]);
    assert_eq!(
        (&found["claims"][0]["presence"], &found["claims"][0]["in_log"]),
        (&"absent".into(), &false.into())
    );
    let before = net.usdc(&net.wallet(1).pubkey());
    let submitted = victim.zx1.json(["challenge", "submit", path(&file), "--yes"]);
    net.travel_slots(432_001);
    // Not even the wallet that locked the stake gets it away.
    liar.zx1.run(["stake", "claim", "--era", "0", "--yes"]).fails_with(6045);
    let challenge = text(&submitted["challenges"][0]["challenge"]);
    let resolved = victim.zx1.json(["challenge", "resolve", challenge, "--yes"]);
    assert_eq!(
        (&resolved["succeeded"], &resolved["slashed_micro_usdc"]),
        (&true.into(), &(30 * USDC).into())
    );
    let share = AMOUNTS.share(AMOUNTS.slash(AMOUNTS.min_stake).pot);
    assert_eq!(net.usdc(&net.wallet(1).pubkey()), before + share);
}

#[test]
fn a_thief_of_the_wallet_gives_a_days_notice_of_its_key_and_the_owner_cancels_it_unborn() {
    let net = Localnet::builder().start();
    let runtime = runtime();
    let agent = Agent::new(&net, 0, "alice");
    let (thief, thief_file) = net.new_wallet(1, 100);
    let thief = Party::new(thief, net.rpc_url());
    let name = thief.address().to_string();
    let listed_in = net.status().epoch;
    let listed = agent.zx1.json(["keys", "add", path(&thief_file), "--scopes", "batch,deal", "--yes"]);
    let of = |keys: &Value| {
        keys["keys"].as_array().unwrap().iter().find(|key| key["key"] == name.as_str()).cloned()
    };
    let key = of(&listed).unwrap();
    assert_eq!(
        (&key["standing"], &key["from_epoch"]),
        (&"notice".into(), &(listed_in + 2).into()),
        "{listed}"
    );

    // A planted double bid lands neither on that day nor on the next.
    let land = |epoch: u64| {
        runtime.block_on(async {
            let day = Day { epoch, entries: vec![vec![1; 70]], records: vec![filler(1)] };
            let message = thief.message(agent.mint, &day.commitment(agent.mint)).await;
            thief.try_land(&message, &thief.key).await.unwrap_err().code()
        })
    };
    net.travel_epochs(1);
    let stolen = agent.zx1.clone().env("ZX1_BATCH_KEY", &thief_file);
    stolen.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7528);
    assert_eq!(land(listed_in), 6028);
    let ended = agent.zx1.json(["keys", "end", &name, "--yes"]);
    let key = of(&ended).unwrap();
    assert_eq!(key["until_epoch"].as_u64().unwrap() + 1, listed_in + 2, "it counts in no epoch: {ended}");
    net.travel_epochs(2);
    assert_eq!(land(listed_in + 2), 6026);
    agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);

    // Nor is what it signs evidence.
    let message = sent(agent.mint, MsgType::Accept, listed_in + 2, 1, &bid_payload(7, b"never said"));
    let with = ChallengeWith::Envelope {
        signature: thief.sign(&message.signed),
        signed: message.signed,
        signer: thief.address(),
    };
    let request = claim(thief.address(), agent.mint, listed_in + 2, Ground::Bid, with);
    let refused = runtime.block_on(async {
        let sati = thief.sati().await;
        let actions = Actions::new(&thief.client, &sati).await.unwrap();
        actions.challenge(&request).await.map(|_| ()).unwrap_err()
    });
    assert_eq!(refused.code(), 6106, "{refused}");
}

#[test]
fn of_two_log_folders_of_one_agent_only_the_one_that_landed_goes_on() {
    let net = Localnet::builder().start();
    let (agent, peer) = (Agent::new(&net, 0, "alice"), Agent::new(&net, 1, "bob"));
    let (mint, to) = (agent.mint.to_string(), peer.mint.to_string());
    let second = Zx1::new(&net).keypair(net.wallet_file(0)).env("ZX1_AGENT", &mint);
    offer(&agent.zx1, &mint, &to, "one");
    offer(&second, &mint, &to, "two");
    net.travel_epochs(1);
    // Both sign; each batch lacks the other's deal, and one of them lands.
    second.json(["batch", "build"]);
    second.json(["batch", "sign"]);
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!(landed["status"], "confirmed");
    second.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7524);
    // On the next day the same: nothing is signed that would hide what the other folder has.
    offer(&second, &mint, &to, "three");
    net.travel_epochs(1);
    second.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7239);
    second.run(["batch", "sign"]).fails_with(7239);
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    let last = landed["epoch"].as_u64().unwrap();
    // A person who knows that the other one is not in use any more goes on here.
    let adopted = second.json(["batch", "adopt", "--yes"]);
    assert_eq!(adopted["last_epoch"], last, "{adopted}");
    net.travel_epochs(1);
    let landed = second.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&landed["covers_from"], &landed["epoch"]), (&(last + 1).into(), &(last + 1).into()));
    agent.zx1.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7239);
}

#[test]
fn a_restored_backup_of_the_log_signs_nothing_over_what_landed_since() {
    let net = Localnet::builder().start();
    let (agent, peer) = (Agent::new(&net, 0, "alice"), Agent::new(&net, 1, "bob"));
    let (mint, to) = (agent.mint.to_string(), peer.mint.to_string());
    offer(&agent.zx1, &mint, &to, "before");
    let backup = agent.zx1.home().join("alice.age");
    let save = ["key", "backup", path(&backup), "--all", "--passphrase-fd", "0"];
    agent.zx1.run_with_input(save, PASSPHRASE).ok();
    // What the backup lacks is said and lands.
    offer(&agent.zx1, &mint, &to, "after");
    net.travel_epochs(1);
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    let last = landed["epoch"].as_u64().unwrap();

    let restored = Zx1::new(&net);
    let restored = restored.clone().keypair(restored.home().join("id.json"));
    let load = ["key", "restore", path(&backup), "--passphrase-fd", "0"];
    restored.run_with_input(load, PASSPHRASE).ok();
    // The message that it lacks could be challenged by whoever has it, so it does not sign the epoch again.
    let number = last.to_string();
    restored.run(["batch", "submit", "--no-upload", "--epoch", &number, "--yes"]).fails_with(7239);
    offer(&restored, &mint, &to, "restored");
    net.travel_epochs(1);
    restored.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7239);
    // Nor does the keeper go on by itself.
    let kept = restored.run(["--output", "json-compact", "keeper", "run", "--once", "--cap", "0", "--yes"]);
    assert!(kept.stdout.contains("7239"), "{kept}");
    restored.json(["batch", "adopt", "--yes"]);
    let landed = restored.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&landed["covers_from"], &landed["epoch"]), (&(last + 1).into(), &(last + 1).into()));
}

#[test]
fn a_signed_batch_that_never_landed_blocks_nothing_and_hides_nothing() {
    let net = Localnet::builder().start();
    let (agent, peer) = (Agent::new(&net, 0, "alice"), Agent::new(&net, 1, "bob"));
    let (mint, to) = (agent.mint.to_string(), peer.mint.to_string());
    let first = net.status().epoch;
    offer(&agent.zx1, &mint, &to, "one");
    net.travel_epochs(1);
    agent.zx1.json(["batch", "build"]);
    agent.zx1.json(["batch", "sign"]);
    // A relayer sat on it: a day later it is sent again, and nothing else is signed for its place.
    offer(&agent.zx1, &mint, &to, "two");
    net.travel_epochs(1);
    let late = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&late["covers_from"], &late["epoch"]), (&first.into(), &first.into()), "{late}");
    let next = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&next["covers_from"], &next["epoch"]), (&(first + 1).into(), &(first + 1).into()), "{next}");

    // One that never lands is void after three days; the next batch covers its epoch.
    offer(&agent.zx1, &mint, &to, "three");
    net.travel_epochs(1);
    agent.zx1.json(["batch", "build"]);
    agent.zx1.json(["batch", "sign"]);
    net.travel_epochs(4);
    let epoch = (first + 2).to_string();
    agent.zx1.run(["batch", "submit", "--no-upload", "--epoch", &epoch, "--yes"]).fails_with(7533);
    let plan = agent.zx1.json(["keeper", "plan", "--cap", "0"]);
    let submits = plan["actions"].as_array().unwrap().iter().any(|it| it["do"] == "submit_batch");
    assert!(submits, "{plan}");
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&landed["covers_from"], &landed["epoch"]), (&(first + 2).into(), &(first + 6).into()));
    let head = agent.zx1.json(["batch", "show", "--all"]);
    let found = head["batches"].as_array().unwrap().iter().find(|it| it["epoch"] == first + 6).cloned();
    assert_eq!(found.unwrap()["log_len"], 1, "{head}");
}

/// What a node says of the head.
type Lie = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// A node that lies about one account, and passes everything else on.
#[derive(Clone)]
struct Liar {
    http: reqwest::Client,
    truth: String,
    about: String,
    lie: Lie,
}

impl Liar {
    /// Its URL; it runs as long as the runtime.
    fn start(
        runtime: &tokio::runtime::Runtime,
        net: &Localnet,
        about: Address,
        lie: impl Fn(&mut [u8]) + Send + Sync + 'static,
    ) -> String {
        let (truth, about) = (net.rpc_url().to_owned(), about.to_string());
        let liar = Self { http: reqwest::Client::new(), truth, about, lie: Arc::new(lie) };
        let app = Router::new().route("/", post(Self::answer)).with_state(liar);
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        url
    }

    async fn answer(State(liar): State<Self>, body: Bytes) -> impl IntoResponse {
        let request: Value = serde_json::from_slice(&body).unwrap();
        let asked = liar.http.post(&liar.truth).header("content-type", "application/json").body(body);
        let mut answer: Value = asked.send().await.unwrap().json().await.unwrap();
        match (&request, &mut answer) {
            (Value::Array(requests), Value::Array(answers)) => {
                for (request, answer) in requests.iter().zip(answers) {
                    liar.spoil(request, answer);
                }
            }
            (request, answer) => liar.spoil(request, answer),
        }
        ([("content-type", "application/json")], answer.to_string())
    }

    fn spoil(&self, request: &Value, answer: &mut Value) {
        let named = &request["params"][0];
        match request["method"].as_str().unwrap_or_default() {
            "getAccountInfo" if *named == self.about.as_str() => self.lie_of(&mut answer["result"]["value"]),
            "getMultipleAccounts" => {
                let place = named.as_array().unwrap().iter().position(|name| *name == self.about.as_str());
                if let Some(place) = place {
                    self.lie_of(&mut answer["result"]["value"][place]);
                }
            }
            _ => {}
        }
    }

    fn lie_of(&self, account: &mut Value) {
        if let Some(data) = account["data"][0].as_str() {
            let mut bytes = STANDARD.decode(data).unwrap();
            (self.lie)(&mut bytes);
            account["data"][0] = STANDARD.encode(bytes).into();
        }
    }
}

/// Behind the discriminator the last epoch comes first; the digest follows the agent.
fn move_last_epoch(head: &mut [u8]) {
    let last = u64::from_le_bytes(head[8..16].try_into().unwrap());
    head[8..16].copy_from_slice(&(last + 1).to_le_bytes());
}

fn change_digest(head: &mut [u8]) {
    head[80..112].fill(0x99);
}

#[test]
fn a_node_that_lies_about_the_head_gets_nothing_signed_where_a_second_one_is_asked() {
    let net = Localnet::builder().start();
    let runtime = runtime();
    let (agent, peer) = (Agent::new(&net, 0, "alice"), Agent::new(&net, 1, "bob"));
    let (mint, to) = (agent.mint.to_string(), peer.mint.to_string());
    let first = net.status().epoch;
    offer(&agent.zx1, &mint, &to, "one");
    net.travel_epochs(2);
    for lie in [move_last_epoch, change_digest] {
        let liar = Liar::start(&runtime, &net, pda::head(&agent.mint), lie);
        for (url, second) in [(liar.as_str(), net.rpc_url()), (net.rpc_url(), liar.as_str())] {
            let careful = agent.zx1.clone().url(url).env("ZX1_SECOND_URL", second);
            careful.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7238);
        }
    }
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&landed["covers_from"], &landed["epoch"]), (&first.into(), &(first + 1).into()), "{landed}");
}

#[test]
fn a_batch_signed_on_a_lying_nodes_head_never_lands_and_costs_time_only() {
    let net = Localnet::builder().start();
    let runtime = runtime();
    let (agent, peer) = (Agent::new(&net, 0, "alice"), Agent::new(&net, 1, "bob"));
    let (mint, to) = (agent.mint.to_string(), peer.mint.to_string());
    let first = net.status().epoch;
    offer(&agent.zx1, &mint, &to, "one");
    net.travel_epochs(2);
    // The node hides the epoch of the offer: a batch that the chain would then have taken for the epochs of both.
    let liar = Liar::start(&runtime, &net, pda::head(&agent.mint), move_last_epoch);
    let deceived = agent.zx1.clone().url(&liar);
    deceived.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(6074);
    let stake = agent.zx1.json(["stake", "show"]);
    assert_eq!(stake["eras"][0]["stake_micro_usdc"], 30 * USDC, "{stake}");
    assert_eq!(agent.zx1.json(["batch", "show", "--all"])["batches"][0]["on_chain"], false);
    // What was signed may still be sent by whoever has it; a true node is believed once it is void.
    net.travel_epochs(4);
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&landed["covers_from"], &landed["epoch"]), (&first.into(), &(first + 5).into()), "{landed}");

    // A digest that no head ever had counts as another log's.
    offer(&agent.zx1, &mint, &to, "two");
    net.travel_epochs(1);
    let liar = Liar::start(&runtime, &net, pda::head(&agent.mint), change_digest);
    let deceived = agent.zx1.clone().url(&liar);
    deceived.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7239);
    net.travel_epochs(1);
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!(
        (&landed["covers_from"], &landed["epoch"]),
        (&(first + 6).into(), &(first + 7).into()),
        "{landed}"
    );
}

#[test]
fn a_false_digest_before_the_first_batch_stops_nothing_once_the_truth_is_heard() {
    let net = Localnet::builder().start();
    let runtime = runtime();
    let agent = Agent::new(&net, 0, "alice");
    let first = net.status().epoch;
    net.travel_epochs(1);
    let liar = Liar::start(&runtime, &net, pda::head(&agent.mint), change_digest);
    let deceived = agent.zx1.clone().url(&liar);
    let refused = deceived.run(["batch", "submit", "--no-upload", "--yes"]);
    assert_ne!(refused.code, 0, "{refused}");
    // What was signed can never land. A true node might be one that is behind, until what was signed is too old.
    net.travel_epochs(1);
    agent.zx1.run(["batch", "submit", "--no-upload", "--yes"]).fails_with(7238);
    net.travel_epochs(3);
    let landed = agent.zx1.json(["batch", "submit", "--no-upload", "--yes"]);
    assert_eq!((&landed["covers_from"], &landed["epoch"]), (&first.into(), &(first + 4).into()), "{landed}");
}
