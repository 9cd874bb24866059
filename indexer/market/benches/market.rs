//! How fast the market is, over real HTTP against a server in a process of its own: contracts through their
//! whole life, the delay of an event to a thousand agents, and the memory of a stream on which nothing
//! happens. One line of JSON on standard output. `ZX1_BENCH_CONTRACTS`, `ZX1_BENCH_AGENTS` and
//! `ZX1_BENCH_STREAMS` change the sizes.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nano_escrow::Raw;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zx1_market::chain::{Data, Head};
use zx1_market::contract::Contract;
use zx1_market::{ContractId, Entry, PartyId, PartyKey, Terms, request};
use zx1_market_server::Config;
use zx1_market_server::clock::{Clock, SystemClock};
use zx1_market_server::http::Rate;

struct Server {
    child: Child,
    url: String,
    id: PartyId,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
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
            .args(["--port", "0", "--auto-fund"])
            .env("FIX_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let id = ready["server"].as_str().unwrap().parse().unwrap();
        Server { child, url: ready["url"].as_str().unwrap().to_owned(), id, _folder: folder }
    }

    fn address(&self) -> String {
        self.url.trim_start_matches("http://").to_owned()
    }

    /// Resident memory in KiB.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

#[derive(Clone)]
struct Party {
    http: reqwest::Client,
    url: String,
    server: PartyId,
    key: PartyKey,
}

impl Party {
    async fn send(&self, method: &str, path: &str, body: String) -> Value {
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
        let text = response.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn head(&self, id: ContractId) -> Head {
        let got = self.send("GET", &format!("/contracts/{id}/chain_head"), String::new()).await;
        let mut hash = [0; 32];
        hex::decode_to_slice(got["chain_head"].as_str().unwrap(), &mut hash).unwrap();
        Head { seq: got["seq"].as_u64().unwrap(), hash }
    }

    async fn act(&self, id: ContractId, action: &str, data: Data) -> Value {
        let entry = Entry::sign(&data, self.head(id).await, SystemClock.now(), &self.key);
        let body = format!("{{\"chain_entry\":{}}}", entry.canonical());
        self.send("POST", &format!("/contracts/{id}/{action}"), body).await
    }

    async fn until(&self, id: ContractId, state: &str) {
        loop {
            let got = self.send("GET", &format!("/contracts/{id}"), String::new()).await;
            if got["status"] == state {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn post(&self, terms: &Terms, bounty: &str, n: u64) -> ContractId {
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

fn party(server: &Server, http: &reqwest::Client, kind: u8, n: u64) -> Party {
    let mut seed = [kind; 32];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    Party { http: http.clone(), url: server.url.clone(), server: server.id, key: PartyKey::from_seed(&seed) }
}

fn size(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

async fn terms(server: &Server, http: &reqwest::Client) -> Terms {
    let text = http.get(format!("{}/platform_info", server.url)).send().await.unwrap().text().await.unwrap();
    let info: zx1_market::wire::PlatformInfo = serde_json::from_str(&text).unwrap();
    info.terms().unwrap()
}

/// Contracts a second from post to fulfilled, with 32 at once; and until all of them are paid.
async fn lives(bounty: &'static str) -> (f64, f64) {
    let server = Server::start();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let terms = Arc::new(terms(&server, &http).await);
    let (count, next) = (size("ZX1_BENCH_CONTRACTS", 500), Arc::new(AtomicU64::new(0)));
    let began = Instant::now();
    let workers: Vec<_> = (0..32)
        .map(|worker| {
            let (principal, agent) = (party(&server, &http, 1, worker), party(&server, &http, 2, worker));
            let (next, terms) = (next.clone(), terms.clone());
            tokio::spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    let id = principal.post(&terms, bounty, n).await;
                    if !bounty.is_empty() {
                        principal.until(id, "open").await;
                        let bond = Data::Bond { agent: agent.key.id(), payout: Some(terms.platform) };
                        agent.act(id, "bond", bond).await;
                        agent.until(id, "investigating").await;
                    }
                    agent.act(id, "accept", Data::Accept { agent: agent.key.id() }).await;
                    let (fix, explanation) = ("gcc foo.c -lbar".to_owned(), String::new());
                    agent.act(id, "fix", Data::Fix { fix, explanation, corrected_command: None }).await;
                    let (explanation, output) = (String::new(), String::new());
                    let verify = Data::Verify {
                        success: true,
                        explanation,
                        exit_code: Some(0),
                        output,
                        failure: None,
                    };
                    assert_eq!(principal.act(id, "verify", verify).await["status"], "fulfilled");
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let fulfilled = began.elapsed();
    if !bounty.is_empty() {
        loop {
            let text =
                http.get(format!("{}/metrics", server.url)).send().await.unwrap().text().await.unwrap();
            if text.lines().any(|line| line == format!("fix_market_settlements_total {count}")) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    let all = count as f64;
    (all / fulfilled.as_secs_f64(), all / began.elapsed().as_secs_f64())
}

async fn subscribe(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /contracts/stream HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        head.extend(byte);
    }
    stream
}

/// Milliseconds from just before a post is sent until each agent has its event: the median and the 99th of a
/// hundred.
async fn delays() -> (f64, f64) {
    const POSTS: u64 = 50;
    let server = Server::start();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let terms = terms(&server, &http).await;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let agents = size("ZX1_BENCH_AGENTS", 1_000);
    for _ in 0..agents {
        let (mut stream, sender) = (subscribe(&server.address()).await, sender.clone());
        tokio::spawn(async move {
            let mut buffer = vec![0; 4_096];
            while let Ok(read) = stream.read(&mut buffer).await {
                let events = String::from_utf8_lossy(&buffer[..read]).matches("contract_posted").count();
                for _ in 0..events {
                    let _ = sender.send(Instant::now());
                }
                if read == 0 {
                    return;
                }
            }
        });
    }
    let principal = party(&server, &http, 1, 0);
    let mut delays = Vec::new();
    for n in 0..POSTS {
        let began = Instant::now();
        principal.post(&terms, "", n).await;
        for _ in 0..agents {
            let at = receiver.recv().await.unwrap();
            delays.push(at.duration_since(began).as_secs_f64() * 1e3);
        }
    }
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];
    (at(0.5), at(0.99))
}

/// KiB of resident memory for each stream on which nothing happens.
async fn idle() -> f64 {
    let server = Server::start();
    let count = size("ZX1_BENCH_STREAMS", 2_000);
    // What a first few bring with them is not theirs.
    let mut streams = Vec::new();
    for _ in 0..50 {
        streams.push(subscribe(&server.address()).await);
    }
    let before = server.memory();
    for _ in 0..count {
        streams.push(subscribe(&server.address()).await);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    (server.memory() - before) as f64 / count as f64
}

#[tokio::main]
async fn main() {
    let (free, _) = lives("").await;
    let (paid, settled) = lives("0.5").await;
    let (p50, p99) = delays().await;
    let figures = json!({
        "free_contracts_per_s": free,
        "paid_contracts_per_s": paid,
        "settled_contracts_per_s": settled,
        "sse_agents": size("ZX1_BENCH_AGENTS", 1_000),
        "sse_p50_ms": p50,
        "sse_p99_ms": p99,
        "idle_stream_kib": idle().await,
    });
    println!("{figures}");
}
