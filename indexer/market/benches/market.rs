//! How fast the market is, over real HTTP against a server in a process of its own: contracts through their
//! whole life, the delay of an event to a thousand agents, and the memory of a stream on which nothing
//! happens. One line of JSON on standard output. `ZX1_BENCH_CONTRACTS`, `ZX1_BENCH_AGENTS` and
//! `ZX1_BENCH_STREAMS` change the sizes.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, missing_docs, unreachable_pub)]
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Server, accepted, party, repaired, size, terms};

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
                    let id = repaired(&principal, &agent, &terms, bounty, n).await;
                    accepted(&principal, id).await;
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
