//! What the market costs when it is old, full or stared at: a payout among old accounts, bytes of an unpaid post,
//! memory under readers that do not read, CPU time of reads among many contracts. One line of JSON on standard
//! output. `ZX1_BENCH_OLD` and `ZX1_BENCH_KEPT` change the largest sizes.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, missing_docs, unreachable_pub)]
mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use nano_escrow::{Address, PublicKey};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Row as _};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use zx1_market::chain::Data;
use zx1_market::{Terms, request};
use zx1_market_server::clock::{Clock, SystemClock};

use crate::support::{Party, Server, accepted, party, repaired, size, terms};

const AUTO: &[&str] = &["--auto-fund"];
const WEEK_MS: u64 = 7 * 86_400_000;

async fn open(folder: &Path, name: &str) -> SqliteConnection {
    // Old rows stand alone: what they belonged to is long deleted.
    let options = SqliteConnectOptions::new().filename(folder.join("data").join(name)).foreign_keys(false);
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// Accounts that were opened and closed within the last week, and as many deposits that nobody made.
async fn grow(folder: &Path, accounts: u64) {
    let now = SystemClock.now().0;
    let mut journal = open(folder, "escrow.db").await;
    let mut market = open(folder, "market.db").await;
    let mut to_journal = journal.begin().await.unwrap();
    let mut to_market = market.begin().await.unwrap();
    for n in 0..accounts {
        let mut key = [0x5a; 32];
        key[..8].copy_from_slice(&n.to_be_bytes());
        let closed = i64::try_from(now - WEEK_MS * n / accounts.max(1)).unwrap();
        let contract = format!("old{n:013x}");
        sqlx::query(
            "INSERT INTO account (account, contract, depositor, round, nonce, rep, head_balance, height, state, \
             created_at, closed_at) VALUES ($1, $2, 'principal', 0, $1, $1, zeroblob(16), 0, 'closed', $3, $3)",
        )
        .bind(&key[..])
        .bind(&contract)
        .bind(closed)
        .execute(&mut *to_journal)
        .await
        .unwrap();
        sqlx::query(
            "INSERT INTO deposits (contract_id, party, round, side, address, amount, status, post, closed_at) \
             VALUES ($1, $2, 0, 'principal', $3, '670000000000000000000000000000', 'lapsed', $4, $5)",
        )
        .bind(&contract)
        .bind(format!("fix_{}", hex::encode(key)))
        .bind(Address::from(PublicKey(key)).to_string())
        .bind(hex::encode(key))
        .bind(closed)
        .execute(&mut *to_market)
        .await
        .unwrap();
    }
    to_journal.commit().await.unwrap();
    to_market.commit().await.unwrap();
}

/// What the ledger has for an account, received or not.
async fn balance(server: &Server, http: &reqwest::Client, account: &Address) -> u128 {
    let body = json!({"action": "account_balance", "account": account, "include_only_confirmed": "false"});
    let url = server.ready["nano_rpc"].as_str().unwrap();
    let text = http.post(url).body(body.to_string()).send().await.unwrap().text().await.unwrap();
    let got: Value = serde_json::from_str(&text).unwrap();
    ["balance", "receivable"].iter().map(|part| got[*part].as_str().unwrap().parse::<u128>().unwrap()).sum()
}

struct World {
    server: Server,
    http: reqwest::Client,
    terms: Terms,
    principal: Party,
    agent: Party,
}

impl World {
    async fn on(server: Server) -> World {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let terms = terms(&server, &http).await;
        let (principal, agent) = (party(&server, &http, 1, 0), party(&server, &http, 2, 0));
        World { server, http, terms, principal, agent }
    }
}

/// Seconds until the server is ready, and milliseconds from `verify` until the agent's payout stands on the ledger,
/// the median and the longest of 20.
async fn payouts(old: u64) -> Value {
    let folder = Server::start().stop();
    grow(folder.path(), old).await;
    let began = Instant::now();
    let w = World::on(Server::start_in(folder, AUTO)).await;
    let ready = began.elapsed();
    let mut took = Vec::new();
    for n in 0..20 {
        let id = repaired(&w.principal, &w.agent, &w.terms, "0.5", n).await;
        let before = balance(&w.server, &w.http, &w.terms.platform).await;
        let began = Instant::now();
        accepted(&w.principal, id).await;
        // The benchmark's parties are all paid to one account: the agent's leg is the largest.
        while balance(&w.server, &w.http, &w.terms.platform).await < before + 10u128.pow(30) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    json!({
        "old_accounts": old,
        "ready_s": ready.as_secs_f64(),
        "p50_ms": took[took.len() / 2],
        "longest_ms": took[took.len() - 1],
        "resident_mb": w.server.memory() / 1_024,
    })
}

fn bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder.join("data")).unwrap().map(|file| file.unwrap());
    files.filter(|file| file.path().is_file()).map(|file| file.metadata().unwrap().len()).sum()
}

/// Bytes on disk of one unpaid post without inputs.
async fn unpaid() -> u64 {
    const POSTS: u64 = 500;
    let folder = Server::start().stop();
    let before = bytes(folder.path());
    let w = World::on(Server::start_in(folder, &[])).await;
    let mut principal = w.principal.clone();
    for n in 0..POSTS {
        principal.key = party(&w.server, &w.http, 3, n).key;
        principal.post(&w.terms, "0.5", n).await;
    }
    let folder = w.server.stop();
    (bytes(folder.path()) - before) / POSTS
}

/// Bytes of the longest transcript that talk makes, and the server's memory before, under and after 100 readers
/// that do not read, in MB.
async fn readers() -> Value {
    let w = World::on(Server::start()).await;
    let id = w.principal.post(&w.terms, "", 0).await;
    w.agent.act(id, "accept", Data::Accept { agent: w.agent.key.id() }).await;
    while w.agent.try_act(id, "chat", Data::Chat { message: "x".repeat(15_000) }).await {}
    let path = format!("/contracts/{id}");
    let signed = |key: &Party| request::sign(&w.server.id, "GET", &path, b"", SystemClock.now(), &key.key);
    let length = w.principal.send("GET", &path, String::new()).await.to_string().len();
    let before = w.server.memory();
    let mut silent: Vec<TcpStream> = Vec::new();
    for n in 0..100u8 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        socket.bind(([127, 0, 1, n], 0).into()).unwrap();
        let mut stream = socket.connect(w.server.address().parse().unwrap()).await.unwrap();
        let it = signed(if n % 2 == 0 { &w.principal } else { &w.agent });
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nX-Fix-Auth: {}\r\nX-Fix-Pubkey: {}\r\nX-Fix-Signature: {}\r\n\
             X-Fix-Timestamp: {}\r\n\r\n",
            it.auth, it.pubkey, it.signature, it.timestamp
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.readable().await.unwrap();
        silent.push(stream);
    }
    // A page waits for its reader in every one of them by then.
    let (mut under, mut same) = (0, 0);
    while same < 20 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = w.server.memory();
        same = if now <= under { same + 1 } else { 0 };
        under = under.max(now);
    }
    drop(silent);
    tokio::time::sleep(Duration::from_secs(2)).await;
    json!({
        "transcript_bytes": length,
        "before_mb": before / 1_024,
        "under_mb": under / 1_024,
        "after_mb": w.server.memory() / 1_024,
    })
}

/// Copies of an ended contract, of 1 000 principals and agents, one a second.
async fn keep(folder: &Path, id: &str, copies: u64) {
    let mut market = open(folder, "market.db").await;
    let row = sqlx::query("SELECT summary, snapshot FROM contracts WHERE id = $1").bind(id);
    let row = row.fetch_one(&mut market).await.unwrap();
    let (summary, snapshot): (String, String) = (row.get(0), row.get(1));
    let now = SystemClock.now().0;
    let mut to_market = market.begin().await.unwrap();
    for n in 0..copies {
        let new = format!("{n:016x}");
        let at = i64::try_from(now - 1_000 * n).unwrap();
        let party = |kind: u8| {
            format!("fix_{}", hex::encode([[kind; 16], u128::from(n % 1_000).to_be_bytes()].concat()))
        };
        sqlx::query(
            "INSERT INTO contracts (id, version, principal, agent, state, bounty, head_seq, created_at, \
             updated_at, next_deadline, summary, snapshot) SELECT $2, version, $3, $4, state, bounty, head_seq, \
             $5, $5, NULL, $6, $7 FROM contracts WHERE id = $1",
        )
        .bind(id)
        .bind(&new)
        .bind(party(4))
        .bind(party(5))
        .bind(at)
        .bind(summary.replace(id, &new))
        .bind(snapshot.replace(id, &new))
        .execute(&mut *to_market)
        .await
        .unwrap();
    }
    to_market.commit().await.unwrap();
}

/// Milliseconds of the server's CPU time for one read of each kind among that many contracts.
async fn reads(kept: u64) -> Value {
    let w = World::on(Server::start()).await;
    let id = repaired(&w.principal, &w.agent, &w.terms, "", 0).await;
    accepted(&w.principal, id).await;
    let folder = w.server.stop();
    keep(folder.path(), &id.to_string(), kept).await;
    let w = World::on(Server::start_in(folder, AUTO)).await;
    let recent = (SystemClock.now().0 / 1_000 - 60).to_string();
    let paths = [
        ("the newest 50", "/contracts?limit=50".to_owned(), false),
        ("the newest 50 of a state", "/contracts?limit=50&status=fulfilled".to_owned(), false),
        ("changed within a minute", format!("/contracts?limit=50&updated_since={recent}"), false),
        ("those of a new key", "/contracts?mine=1".to_owned(), true),
        ("one", format!("/contracts/{id}"), true),
        ("/stats", "/stats".to_owned(), false),
        ("/platform_info", "/platform_info".to_owned(), false),
    ];
    let mut figures = Vec::new();
    for (what, path, signed) in paths {
        const TIMES: u64 = 300;
        let ask = async |n: u64| {
            if signed && path.contains("mine") {
                // One key may ask only so often; a new one each time is the worst case.
                party(&w.server, &w.http, 6, n).send("GET", &path, String::new()).await;
            } else if signed {
                w.principal.send("GET", &path, String::new()).await;
            } else {
                let answer = w.http.get(format!("{}{path}", w.server.url)).send().await.unwrap();
                assert!(answer.status().is_success(), "{path}: {}", answer.status());
                answer.bytes().await.unwrap();
            }
        };
        ask(TIMES).await;
        let before = w.server.cpu();
        for n in 0..TIMES {
            ask(n).await;
        }
        figures.push(json!({"what": what, "cpu_ms": (w.server.cpu() - before) * 1e3 / TIMES as f64}));
    }
    json!({"contracts": kept, "reads": figures})
}

#[tokio::main]
async fn main() {
    let most = size("ZX1_BENCH_OLD", 200_000);
    let mut latency = Vec::new();
    for old in [0, most / 10, most] {
        latency.push(payouts(old).await);
    }
    let figures = json!({
        "payouts": latency,
        "unpaid_post_bytes": unpaid().await,
        "readers": readers().await,
        "reads": reads(size("ZX1_BENCH_KEPT", 300_000)).await,
    });
    println!("{figures}");
}
