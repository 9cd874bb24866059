//! The mirror of a real market: `fix-server` with its embedded ledger and the indexer, both as processes, both
//! killed in between. What the indexer shows of contracts is what the market, its rules and its ledger say.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use zx1_e2e::{Localnet, Running, binary};
use zx1_market::case::{Transcript, rebuild};
use zx1_market::chain::{Data, Head};
use zx1_market::wire::PlatformInfo;
use zx1_market::{Contract, ContractId, Entry, Millis, PartyKey, Raw, Terms, request};

/// The market's clock stands still here until it is moved.
const START: u64 = 1_800_000_000_000;
const CONFIG: &str = "[nano]\ndeposit_poll_ms = 10\nwork_threads = 1\n[limits]\n\
     address = { burst = 1000000, per_second = 1000000 }\nkey = { burst = 1000000, per_second = 1000000 }\n\
     posts = { burst = 1000000, per_second = 1000000 }\n";
/// More than a market gives on one page.
const CROWD: usize = 203;

fn key(number: u8) -> PartyKey {
    PartyKey::from_seed(&[number; 32])
}

struct Market {
    process: Running,
    http: reqwest::Client,
    url: String,
    nano: String,
    now: u64,
    terms: Terms,
}

fn ready(process: &Running) -> Value {
    let said = process.wait_for("\"ready\":true");
    serde_json::from_str(said.lines().find(|line| line.contains("\"ready\":true")).unwrap()).unwrap()
}

fn serve(folder: &Path, port: u16, now: u64) -> Running {
    let mut command = Command::new(binary("fix-server"));
    command.arg("--config").arg(folder.join("config.toml")).arg("--data").arg(folder.join("data"));
    command.args(["--port", &port.to_string(), "--test-clock", &now.to_string(), "--auto-fund"]);
    command.env_remove("FIX_NANO_SEED").env("FIX_LOG", "error");
    Running::start(command)
}

impl Market {
    async fn start(folder: &Path) -> Self {
        std::fs::write(folder.join("config.toml"), CONFIG).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = serve(folder, port, START);
        let ready = ready(&process);
        let url = ready["url"].as_str().unwrap().to_owned();
        // No connection outlives its server.
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        let info = http.get(format!("{url}/platform_info")).send().await.unwrap().text().await.unwrap();
        let info: PlatformInfo = serde_json::from_str(&info).unwrap();
        let nano = ready["nano_rpc"].as_str().unwrap().to_owned();
        Self { process, http, url, nano, now: START, terms: info.terms().unwrap() }
    }

    /// SIGKILL, and again on the same folder and port. Its ledger answers elsewhere.
    fn die(&mut self, folder: &Path) {
        self.process.kill9();
        let port = self.url.rsplit(':').next().unwrap().parse().unwrap();
        self.process = serve(folder, port, self.now);
        self.nano = ready(&self.process)["nano_rpc"].as_str().unwrap().to_owned();
    }

    async fn send(&self, method: &str, path: &str, body: Vec<u8>, who: Option<&PartyKey>) -> (u16, String) {
        let mut asked = self.http.request(method.parse().unwrap(), format!("{}{path}", self.url));
        if let Some(key) = who {
            let headers = request::sign(&self.terms.server, method, path, &body, Millis(self.now), key);
            asked = asked
                .header("X-Fix-Auth", headers.auth)
                .header("X-Fix-Pubkey", headers.pubkey)
                .header("X-Fix-Signature", headers.signature)
                .header("X-Fix-Timestamp", headers.timestamp);
        }
        let answer = asked.body(body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn get(&self, path: &str, who: Option<&PartyKey>) -> Value {
        let (status, text) = self.send("GET", path, Vec::new(), who).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn clock(&mut self, now: u64) {
        self.now = now;
        let body = json!({ "now_ms": now }).to_string().into_bytes();
        assert_eq!(self.send("POST", "/test/clock", body, None).await.0, 200);
    }

    async fn post(&self, bounty: &str, number: usize, autonomous: bool) -> ContractId {
        let mut builder = Contract::builder(format!("gcc foo{number}.c"), "undefined reference to `bar'");
        if !bounty.is_empty() {
            builder = builder.bounty(Raw::from_xno(bounty).unwrap());
        }
        if autonomous {
            builder = builder.autonomous();
        }
        let contract = builder.build(&self.terms).unwrap();
        let (principal, market, payout) = (key(1).id(), Some(self.terms.market()), Some(self.terms.platform));
        let data = Data::Post { contract: contract.json().clone(), principal, payout, market };
        let entry = Entry::sign(&data, Head::GENESIS, Millis(self.now), &key(1));
        let body = format!("{{\"chain_entry\":{}}}", entry.canonical()).into_bytes();
        let (status, text) = self.send("POST", "/contracts", body, Some(&key(1))).await;
        assert_eq!(status, 200, "{text}");
        entry.contract_id().unwrap()
    }

    async fn act(&self, id: ContractId, action: &str, data: Data, who: &PartyKey) {
        let head = self.get(&format!("/contracts/{id}/chain_head"), Some(who)).await;
        let mut hash = [0; 32];
        hex::decode_to_slice(head["chain_head"].as_str().unwrap(), &mut hash).unwrap();
        let head = Head { seq: head["seq"].as_u64().unwrap(), hash };
        let entry = Entry::sign(&data, head, Millis(self.now), who);
        let body = format!("{{\"chain_entry\":{}}}", entry.canonical()).into_bytes();
        let (status, text) = self.send("POST", &format!("/contracts/{id}/{action}"), body, Some(who)).await;
        assert_eq!(status, 200, "{action}: {text}");
    }

    /// Until the market itself says that the contract is in this state.
    async fn until(&self, id: ContractId, state: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let view = self.get(&format!("/contracts/{id}"), Some(&key(1))).await;
            if view["status"] == state {
                return;
            }
            assert!(Instant::now() < deadline, "{id} does not become {state}: {view}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// When the market's rules act next, from the transcript that its principal may read.
    async fn deadline(&self, id: ContractId) -> Option<u64> {
        let (_, text) = self.send("GET", &format!("/contracts/{id}"), Vec::new(), Some(&key(1))).await;
        let case = rebuild(&Transcript::parse(text.as_bytes()).unwrap()).unwrap();
        case.next_deadline().map(|at| at.0)
    }

    /// The escrow accounts of a contract by the market, and what the ledger says that they hold.
    async fn escrow(&self, id: ContractId) -> BTreeMap<String, (String, String)> {
        let said = self.get(&format!("/contracts/{id}/escrow"), Some(&key(1))).await;
        let mut found = BTreeMap::new();
        for account in said["accounts"].as_array().unwrap() {
            let account = account["address"].as_str().unwrap();
            let body = json!({ "action": "account_balance", "account": account });
            let text = self.http.post(&self.nano).body(body.to_string()).send().await.unwrap();
            let held: Value = serde_json::from_str(&text.text().await.unwrap()).unwrap();
            let text = |name: &str| held[name].as_str().unwrap().to_owned();
            found.insert(account.to_owned(), (text("balance"), text("receivable")));
        }
        found
    }

    /// All contracts that it lists: page by page.
    async fn listed(&self) -> BTreeMap<String, String> {
        let (mut found, mut cursor) = (BTreeMap::new(), String::new());
        loop {
            let page = self.get(&format!("/contracts?limit=50&cursor={cursor}"), None).await;
            for it in page["contracts"].as_array().unwrap() {
                let text = |name: &str| it[name].as_str().unwrap().to_owned();
                assert!(found.insert(text("id"), text("status")).is_none(), "listed twice: {it}");
            }
            match page["next"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => return found,
            }
        }
    }
}

struct Indexer {
    process: Running,
    url: String,
    http: reqwest::Client,
}

impl Indexer {
    fn start(net: &Localnet, data: &Path, market: &Market) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-indexer"));
        let config = data.join("config.toml");
        std::fs::write(&config, "market_secs = 1\n").unwrap();
        command.arg("--config").arg(config);
        command.args(["--rpc", net.rpc_url(), "--port", "0", "--ws", "", "--nano", &market.nano]);
        command.args(["--market", &market.url, "--data"]).arg(data);
        let process = Running::start(command);
        let url = ready(&process)["url"].as_str().unwrap().to_owned();
        Self { process, url, http: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    async fn get(&self, path: &str) -> Value {
        self.http.get(format!("{}{path}", self.url)).send().await.unwrap().json().await.unwrap()
    }

    async fn until(&self, path: &str, what: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.get(path).await;
            if what(&answer) {
                return answer;
            }
            assert!(Instant::now() < deadline, "{path}: {answer}\n{}", self.process.said());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn contract(&self, id: ContractId, what: impl Fn(&Value) -> bool) -> Value {
        let answer = self.until(&format!("/v1/contracts/{id}"), |it| what(&it["contract"])).await;
        answer["contract"].clone()
    }

    /// What it shows of a contract is in this state, and all of it as the market has it.
    async fn agrees(&self, market: &Market, id: ContractId, state: &str) -> Value {
        let (deadline, escrow) = (market.deadline(id).await, market.escrow(id).await);
        let shown = self
            .contract(id, |it| {
                let mut held = BTreeMap::new();
                for it in it["escrow"].as_array().into_iter().flatten() {
                    let text = |name: &str| it[name].as_str().unwrap_or("?").to_owned();
                    held.insert(text("account"), (text("balance_raw"), text("receivable_raw")));
                }
                it["state"] == state && held == escrow
            })
            .await;
        assert_eq!(shown["deadline"].as_u64(), deadline, "{shown}");
        shown
    }

    async fn listed(&self) -> BTreeMap<String, String> {
        let (mut found, mut path) = (BTreeMap::new(), "/v1/contracts?limit=200".to_owned());
        loop {
            let page = self.get(&path).await;
            for it in page["items"].as_array().unwrap() {
                let text = |name: &str| it[name].as_str().unwrap().to_owned();
                found.insert(text("id"), text("state"));
            }
            match page["next"].as_str() {
                Some(next) => path = format!("/v1/contracts?limit=200&cursor={next}"),
                None => return found,
            }
        }
    }

    async fn lists_what_the_market_lists(&self, market: &Market) {
        let want = market.listed().await;
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let here = self.listed().await;
            if here == want {
                return;
            }
            assert!(Instant::now() < deadline, "{here:?}\nis not\n{want:?}\n{}", self.process.said());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn fix() -> Data {
    Data::Fix { fix: "gcc foo.c -lbar".into(), explanation: "links libbar".into(), corrected_command: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_markets_contracts_are_mirrored_over_deaths_of_both_sides() {
    let net = tokio::task::spawn_blocking(|| Localnet::builder().start()).await.unwrap();
    let (market_folder, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut market = Market::start(market_folder.path()).await;
    let (principal, agent) = (key(1), key(2));

    // More contracts than a page holds, most of them of one moment.
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        crowd.push(market.post("", number, false).await);
    }
    market.clock(START + 1_000).await;
    let paid = market.post("0.5", 1_000, true).await;
    market.until(paid, "open").await;
    let mut indexer = Indexer::start(&net, folder.path(), &market);
    indexer.lists_what_the_market_lists(&market).await;
    assert_eq!(indexer.listed().await.len(), CROWD + 1);
    let status = indexer.until("/v1/status", |it| it["markets"][0]["contracts"] == CROWD + 1).await;
    assert_eq!(status["markets"][0]["reachable"], true, "{status}");

    // An open one shows what was posted, its timer, and the deposit to the raw.
    let shown = indexer.agrees(&market, paid, "open").await;
    assert_eq!((&shown["verified"], &shown["entries"]), (&true.into(), &2.into()), "{shown}");
    assert!(shown["deadline"].is_u64() && shown["escrow"].as_array().unwrap().len() == 1, "{shown}");
    let held = &shown["escrow"][0];
    assert!(held["balance_raw"] != "0" || held["receivable_raw"] != "0", "{shown}");
    let free = indexer.agrees(&market, crowd[0], "open").await;
    let deadline = free["deadline"].as_u64().unwrap();

    // Somebody works: strangers see the state, and the account that they saw before.
    market
        .act(paid, "bond", Data::Bond { agent: agent.id(), payout: Some(market.terms.platform) }, &agent)
        .await;
    market.until(paid, "investigating").await;
    let shown = indexer.contract(paid, |it| it["state"] == "investigating").await;
    assert_eq!((&shown["verified"], &shown["entries"]), (&Value::Null, &0.into()), "{shown}");
    assert_eq!(shown["escrow"].as_array().unwrap().len(), 1, "{shown}");
    assert_eq!(shown["agent"], agent.id().to_string());

    // The market dies; the indexer goes on with what it has, says so, and finds the market again.
    market.process.kill9();
    indexer.until("/v1/status", |it| it["markets"][0]["reachable"] == false).await;
    assert_eq!(indexer.get(&format!("/v1/contracts/{paid}")).await["contract"]["state"], "investigating");
    market.die(market_folder.path());
    indexer.until("/v1/status", |it| it["markets"][0]["reachable"] == true).await;

    // The indexer dies; meanwhile the contract goes on to its review.
    indexer.process.kill9();
    market.act(paid, "accept", Data::Accept { agent: agent.id() }, &agent).await;
    market.act(paid, "fix", fix(), &agent).await;
    market.until(paid, "review").await;
    let mut indexer = Indexer::start(&net, folder.path(), &market);
    let shown = indexer.contract(paid, |it| it["state"] == "review").await;
    assert_eq!(shown["deadline"].as_u64(), market.deadline(paid).await, "{shown}");
    assert_eq!(shown["deadline"], shown["review_expires_at"]);

    // A free one from its post to its end.
    let easy = crowd[1];
    market.act(easy, "accept", Data::Accept { agent: agent.id() }, &agent).await;
    indexer.contract(easy, |it| it["state"] == "in_progress").await;
    market.act(easy, "fix", fix(), &agent).await;
    let done = Data::Verify {
        success: true,
        explanation: String::new(),
        exit_code: None,
        output: String::new(),
        failure: None,
    };
    market.act(easy, "verify", done, &principal).await;
    let shown = indexer.agrees(&market, easy, "fulfilled").await;
    assert_eq!((&shown["verified"], &shown["deadline"]), (&true.into(), &Value::Null), "{shown}");

    // The paid one ends; what both sides deposited is paid out, and the index shows the empty accounts.
    let accept = Data::ReviewAccept { explanation: "fine".into() };
    market.act(paid, "review", accept, &principal).await;
    market.until(paid, "fulfilled").await;
    indexer.process.kill9();
    let indexer = Indexer::start(&net, folder.path(), &market);
    let shown = indexer
        .contract(paid, |it| {
            let escrow = it["escrow"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_empty = |it: &Value| it["balance_raw"] == "0" && it["receivable_raw"] == "0";
            it["state"] == "fulfilled" && escrow.len() == 2 && escrow.iter().all(is_empty)
        })
        .await;
    assert_eq!(shown["verified"], true, "{shown}");
    indexer.agrees(&market, paid, "fulfilled").await;
    for id in [paid, easy] {
        let theirs = market.get(&format!("/contracts/{id}"), None).await;
        let ours = indexer.get(&format!("/v1/contracts/{id}")).await["contract"].clone();
        assert_eq!(ours["transcript"], theirs["transcript"]);
        assert_eq!(ours["chain_head"], theirs["chain_head"]);
    }

    // The timer that was shown is the one that the market acts on, to the millisecond.
    market.clock(deadline - 1).await;
    market.until(crowd[0], "open").await;
    market.clock(deadline).await;
    market.until(crowd[0], "canceled").await;
    indexer.agrees(&market, crowd[0], "canceled").await;
    indexer.lists_what_the_market_lists(&market).await;
}
