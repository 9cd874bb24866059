//! A market in a process of its own, and parties that talk to it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nano_escrow::Raw;
use serde_json::Value;
use zx1_market::chain::{Data, Head};
use zx1_market::contract::Contract;
use zx1_market::{ContractId, Entry, PartyId, PartyKey, Terms, request};
use zx1_market_server::Config;
use zx1_market_server::clock::{Clock, SystemClock};
use zx1_market_server::http::Rate;

pub struct Server {
    child: Child,
    pub url: String,
    pub id: PartyId,
    pub ready: Value,
    folder: Option<tempfile::TempDir>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub fn start() -> Server {
        Server::start_in(tempfile::tempdir().unwrap(), &["--auto-fund"])
    }

    /// On a folder that may hold the data of an earlier one.
    pub fn start_in(folder: tempfile::TempDir, options: &[&str]) -> Server {
        let mut config = Config { data: folder.path().join("data"), ..Config::default() };
        let free = Rate { burst: u32::MAX, per_second: u32::MAX };
        (config.limits.address, config.limits.posts, config.limits.key) = (free, free, free);
        config.limits.streams_per_address = 100_000;
        config.limits.connections_per_address = 100_000;
        config.nano.deposit_poll_ms = 20;
        let path = folder.path().join("config.toml");
        std::fs::write(&path, config.print().unwrap()).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_fix-server"))
            .arg("--config")
            .arg(path)
            .args(["--port", "0"])
            .args(options)
            .env("FIX_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let id = ready["server"].as_str().unwrap().parse().unwrap();
        Server { child, url: ready["url"].as_str().unwrap().to_owned(), id, ready, folder: Some(folder) }
    }

    /// Stop it properly; what it leaves.
    pub fn stop(mut self) -> tempfile::TempDir {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        self.child.wait().unwrap();
        self.folder.take().unwrap()
    }

    /// User and system time so far, in seconds.
    pub fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        // USER_HZ, which Linux fixes for user space.
        ticks as f64 / 100.0
    }

    pub fn address(&self) -> String {
        self.url.trim_start_matches("http://").to_owned()
    }

    /// Resident memory in KiB.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

#[derive(Clone)]
pub struct Party {
    pub http: reqwest::Client,
    pub url: String,
    pub server: PartyId,
    pub key: PartyKey,
}

impl Party {
    pub async fn send(&self, method: &str, path: &str, body: String) -> Value {
        let (status, text) = self.ask(method, path, body).await;
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Status and text of the answer.
    pub async fn ask(&self, method: &str, path: &str, body: String) -> (reqwest::StatusCode, String) {
        let signed = request::sign(&self.server, method, path, body.as_bytes(), SystemClock.now(), &self.key);
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.url));
        let request = request
            .header("X-Fix-Auth", signed.auth)
            .header("X-Fix-Pubkey", signed.pubkey)
            .header("X-Fix-Signature", signed.signature)
            .header("X-Fix-Timestamp", signed.timestamp)
            .body(body);
        let response = request.send().await.unwrap();
        let status = response.status();
        (status, response.text().await.unwrap())
    }

    pub async fn head(&self, id: ContractId) -> Head {
        let got = self.send("GET", &format!("/contracts/{id}/chain_head"), String::new()).await;
        let mut hash = [0; 32];
        hex::decode_to_slice(got["chain_head"].as_str().unwrap(), &mut hash).unwrap();
        Head { seq: got["seq"].as_u64().unwrap(), hash }
    }

    pub async fn act(&self, id: ContractId, action: &str, data: Data) -> Value {
        let body = self.entry(id, &data).await;
        self.send("POST", &format!("/contracts/{id}/{action}"), body).await
    }

    /// Whether it was taken.
    pub async fn try_act(&self, id: ContractId, action: &str, data: Data) -> bool {
        let body = self.entry(id, &data).await;
        self.ask("POST", &format!("/contracts/{id}/{action}"), body).await.0.is_success()
    }

    async fn entry(&self, id: ContractId, data: &Data) -> String {
        let entry = Entry::sign(data, self.head(id).await, SystemClock.now(), &self.key);
        format!("{{\"chain_entry\":{}}}", entry.canonical())
    }

    pub async fn until(&self, id: ContractId, state: &str) {
        loop {
            let got = self.send("GET", &format!("/contracts/{id}"), String::new()).await;
            if got["status"] == state {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub async fn post(&self, terms: &Terms, bounty: &str, n: u64) -> ContractId {
        let mut contract = Contract::builder(format!("gcc foo{n}.c"), "undefined reference to `bar'");
        if !bounty.is_empty() {
            contract = contract.bounty(Raw::from_xno(bounty).unwrap());
        }
        let contract = contract.build(terms).unwrap().json().clone();
        let (market, payout) = (Some(terms.market()), Some(terms.platform));
        let data = Data::Post { contract, principal: self.key.id(), payout, market };
        let entry = Entry::sign(&data, Head::GENESIS, SystemClock.now(), &self.key);
        self.send("POST", "/contracts", format!("{{\"chain_entry\":{}}}", entry.canonical())).await;
        entry.contract_id().unwrap()
    }
}

pub fn party(server: &Server, http: &reqwest::Client, kind: u8, n: u64) -> Party {
    let mut seed = [kind; 32];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    Party { http: http.clone(), url: server.url.clone(), server: server.id, key: PartyKey::from_seed(&seed) }
}

pub fn size(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

pub async fn terms(server: &Server, http: &reqwest::Client) -> Terms {
    let text = http.get(format!("{}/platform_info", server.url)).send().await.unwrap().text().await.unwrap();
    let info: zx1_market::wire::PlatformInfo = serde_json::from_str(&text).unwrap();
    info.terms().unwrap()
}

/// An agent that takes the contract and repairs it, up to the proposal.
pub async fn repaired(principal: &Party, agent: &Party, terms: &Terms, bounty: &str, n: u64) -> ContractId {
    let id = principal.post(terms, bounty, n).await;
    if !bounty.is_empty() {
        principal.until(id, "open").await;
        let bond = Data::Bond { agent: agent.key.id(), payout: Some(terms.platform) };
        agent.act(id, "bond", bond).await;
        agent.until(id, "investigating").await;
    }
    agent.act(id, "accept", Data::Accept { agent: agent.key.id() }).await;
    let (fix, explanation) = ("gcc foo.c -lbar".to_owned(), String::new());
    agent.act(id, "fix", Data::Fix { fix, explanation, corrected_command: None }).await;
    id
}

pub async fn accepted(principal: &Party, id: ContractId) {
    let (explanation, output) = (String::new(), String::new());
    let verify = Data::Verify { success: true, explanation, exit_code: Some(0), output, failure: None };
    assert_eq!(principal.act(id, "verify", verify).await["status"], "fulfilled");
}
