//! Figures of the indexer (`cargo bench -p zx1-indexer`): backfill of synthetic events in SQLite and in
//! Postgres, memory, REST reads, fan-out to streams. Each figure is a line of JSON on standard output, which
//! `scripts/bench indexer` reads.
//!
//! `ZX1_BENCH_EVENTS` (1 000 000) and `ZX1_BENCH_CLIENTS` (1 000) change the sizes; `ZX1_BENCH_ONLY` leaves out
//! the reads whose name does not hold it, and `--serve FOLDER EVENTS` begins with an index that is there, for
//! whoever looks for what takes the time. Postgres is one of the
//! bench's own, or the one that `ZX1_BENCH_POSTGRES` names. Each store's backfill is a process of its own, so
//! that its memory is its own; the readers are another process, so that a core of the server is a core of the
//! server.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use futures_util::StreamExt;
use serde_json::json;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use synthetic::{AGENTS, Synthetic, mint};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zx1_indexer::chain::Announcements;
use zx1_indexer::index::Index;
use zx1_indexer::ingest::Ingest;
use zx1_indexer::metrics::Metrics;
use zx1_indexer::{Server, store};

fn size(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A line of /proc/self/status in MB: VmRSS is what is resident now, VmHWM the most that ever was.
fn memory_mb(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

/// Seconds of all cores that this process has used: fields 14 and 15 of its stat, in hundredths.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

async fn backfill(name: &str, db: &str, events: u64, folder: &std::path::Path) {
    let config = synthetic::config(folder, db);
    let store = store::open(&config.database()).await.unwrap();
    let index = Index::open(store, Synthetic::of(events), config, Metrics::default()).await.unwrap();
    let (began, cpu) = (Instant::now(), cpu_seconds());
    Ingest::new(index.clone(), Announcements::default()).round(false).await.unwrap();
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(index.status.get().events, events);
    println!(
        "{}",
        json!({
            "figure": "backfill", "store": name, "events": events, "seconds": seconds,
            "events_per_second": (events as f64 / seconds) as u64, "cpu_seconds": cpu_seconds() - cpu,
            "resident_mb": memory_mb("VmRSS:"), "peak_mb": memory_mb("VmHWM:"),
        })
    );
    index.store.close().await;
}

/// The other process: asks for these paths in turn over connections that stay open, and tells how long it took.
/// In a path `{}` stands for a number that no other request has, so that no answer is one that was kept.
async fn ask(address: &str, paths: &str, count: u64) {
    const CONNECTIONS: u64 = 16;
    let paths: Arc<Vec<String>> = Arc::new(paths.split(' ').map(str::to_owned).collect());
    let began = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for first in 0..CONNECTIONS {
        let (paths, address) = (paths.clone(), address.to_owned());
        all.spawn(async move {
            let mut socket = tokio::net::TcpStream::connect(&address).await.unwrap();
            socket.set_nodelay(true).unwrap();
            let mut buffer = Vec::new();
            for number in (first..count).step_by(CONNECTIONS as usize) {
                let path =
                    paths[number as usize % paths.len()].replace("{}", &(1 << 40 | number).to_string());
                let asked = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
                socket.write_all(asked.as_bytes()).await.unwrap();
                buffer.clear();
                let end = loop {
                    assert!(socket.read_buf(&mut buffer).await.unwrap() > 0, "the server hung up");
                    if let Some(at) = buffer.windows(4).position(|it| it == b"\r\n\r\n") {
                        break at + 4;
                    }
                };
                let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
                assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                let length: usize = length.trim().parse().unwrap();
                while buffer.len() < end + length {
                    assert!(socket.read_buf(&mut buffer).await.unwrap() > 0, "the server hung up");
                }
            }
        });
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
    println!("{}", began.elapsed().as_secs_f64());
}

async fn reads(server: &Server) {
    let one = |agent: u64| format!("/v1/agents/{}", mint(agent));
    let each = |path: &str| (0..AGENTS).map(|it| format!("{}{path}", one(it))).collect::<Vec<_>>().join(" ");
    let address = server.url().strip_prefix("http://").unwrap();
    for (name, paths, count) in [
        ("status", "/v1/status".to_owned(), 40_000_u64),
        ("one agent, the same", one(1), 40_000),
        ("one agent, 1 000 in turn", each(""), 40_000),
        ("an agent's events, 1 000 agents in turn", each("/events"), 40_000),
        ("an agent's events, each page asked for once", each("/events?to_slot={}"), 10_000),
        ("agents, 50 by stake", "/v1/agents?sort=stake".to_owned(), 20_000),
        ("events, newest 50", "/v1/events".to_owned(), 20_000),
    ] {
        if std::env::var("ZX1_BENCH_ONLY").is_ok_and(|only| !name.contains(&only)) {
            continue;
        }
        let cpu = cpu_seconds();
        let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--ask", address, &paths, &count.to_string()]).stderr(Stdio::inherit());
        let out = command.output().await.unwrap();
        assert!(out.status.success());
        let seconds: f64 = String::from_utf8(out.stdout).unwrap().trim().parse().unwrap();
        let cpu = (cpu_seconds() - cpu).max(0.01);
        println!(
            "{}",
            json!({
                "figure": "reads", "what": name, "reads": count,
                "per_second": (count as f64 / seconds) as u64,
                "per_second_and_core": (count as f64 / cpu) as u64,
            })
        );
    }
}

async fn fan_out(server: &Server, ledger: &Synthetic) {
    let clients = size("ZX1_BENCH_CLIENTS", 1_000);
    let url = format!("{}/v1/ws", server.url()).replace("http://", "ws://");
    let mut sockets = Vec::new();
    for _ in 0..clients {
        sockets.push(tokio_tungstenite::connect_async(&url).await.unwrap().0);
    }
    // Ten new agents join, one after the other; each client hears all of them.
    let heard = Arc::new(AtomicU64::new(0));
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    for mut socket in sockets {
        let (sender, heard) = (sender.clone(), heard.clone());
        tokio::spawn(async move {
            while let Some(Ok(message)) = socket.next().await {
                let Ok(text) = message.to_text() else { continue };
                let Ok(told) = serde_json::from_str::<serde_json::Value>(text) else { continue };
                let at = told["at"].as_i64().unwrap_or_default();
                heard.fetch_add(1, Ordering::Relaxed);
                let _ = sender.send(zx1_indexer::index::now_ms() - at);
            }
        });
    }
    drop(sender);
    let mut waits = Vec::new();
    for number in 0..10_u64 {
        let row = zx1_indexer::merge::stream_row(
            "agent_joined",
            format!("bench/{number}"),
            None,
            None,
            zx1_indexer::index::now_ms(),
            json!({ "cause": "registered" }),
        );
        let commit = store::Commit { stream: vec![row], ..store::Commit::default() };
        server.index().write_rows(commit).await.unwrap();
        for _ in 0..clients {
            let wait = tokio::time::timeout(Duration::from_secs(30), receiver.recv()).await.unwrap().unwrap();
            waits.push(wait);
        }
    }
    waits.sort_unstable();
    let at = |percent: usize| waits[(waits.len() - 1) * percent / 100];
    println!(
        "{}",
        json!({
            "figure": "fan_out", "clients": clients, "events": 10,
            "p50_ms": at(50), "p99_ms": at(99), "max_ms": at(100), "heard": heard.load(Ordering::Relaxed),
            "resident_mb_with_clients": memory_mb("VmRSS:"), "indexed": ledger.count(),
        })
    );
}

/// Runs a part in a process of its own and passes on what it says.
fn apart(arguments: &[&str]) {
    let status = Command::new(std::env::current_exe().unwrap()).args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--ask", address, paths, count] => return ask(address, paths, count.parse().unwrap()).await,
        ["--backfill", name, db, folder, events] => {
            return backfill(name, db, events.parse().unwrap(), folder.as_ref()).await;
        }
        ["--serve", folder, events] => return serve(folder.as_ref(), events.parse().unwrap(), false).await,
        _ => {}
    }
    // `cargo test --benches` only wants to know that it runs.
    let is_test = arguments.contains(&"--test");
    let events = if is_test { 2_000 } else { size("ZX1_BENCH_EVENTS", 1_000_000) };
    let folder = tempfile::tempdir().unwrap();
    let (path, count) = (folder.path().to_str().unwrap(), events.to_string());
    apart(&["--backfill", "SQLite", "", path, &count]);
    if !is_test {
        let named = std::env::var("ZX1_BENCH_POSTGRES").ok();
        let own = if named.is_none() { Some(zx1_server::testing::Cluster::durable()) } else { None };
        let url = named.unwrap_or_else(|| own.as_ref().unwrap().url());
        apart(&["--backfill", "Postgres", &url, path, &count]);
    }
    serve(folder.path(), events, is_test).await;
}

/// A server over the SQLite index in this folder, and what it can do.
async fn serve(folder: &std::path::Path, events: u64, is_test: bool) {
    let ledger = Synthetic::of(events);
    let config = synthetic::config(folder, "");
    let server = Server::start_on(config, ledger.clone(), "synthetic".to_owned(), None).await.unwrap();
    while !server.index().status.get().ready {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let resident = memory_mb("VmRSS:");
    println!("{}", json!({ "figure": "memory", "events": events, "resident_mb": resident }));
    if !is_test {
        reads(&server).await;
        fan_out(&server, &ledger).await;
    }
    server.stop().await;
}
