//! Figures of the indexer (`cargo bench -p zx1-indexer`): backfill of synthetic events in SQLite (and in
//! Postgres, when ZX1_BENCH_POSTGRES names one), REST reads, fan-out to streams, memory.
//!
//! `ZX1_BENCH_EVENTS` (1 000 000) and `ZX1_BENCH_CLIENTS` (1 000) change the sizes. Each figure is a line of
//! JSON on standard output.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use futures_util::{StreamExt, stream};
use serde_json::json;
use solana_address::Address;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zx1_chain::rpc::registry::{AgentRecord, Delegate};
use zx1_chain::rpc::{ChainTime, Event, RawAccount};
use zx1_indexer::chain::{Announcements, Asked, Finality, Kind, Ledger, Listed};
use zx1_indexer::index::Index;
use zx1_indexer::ingest::Ingest;
use zx1_indexer::metrics::Metrics;
use zx1_indexer::parse::{Fact, Parsed, Program};
use zx1_indexer::{Config, Server, store};
use zx1_interface::{Event as _, events, ids};

const AGENTS: u64 = 1_000;
/// Transactions in a slot.
const CROWD: u64 = 8;

/// A chain of lease payments and stakes, one event a transaction, made when it is asked for.
struct Synthetic {
    events: AtomicU64,
}

fn mint(number: u64) -> [u8; 32] {
    let mut mint = [7; 32];
    mint[..8].copy_from_slice(&number.to_be_bytes());
    mint
}

fn signature(number: u64) -> [u8; 64] {
    let mut signature = [9; 64];
    signature[..8].copy_from_slice(&number.to_be_bytes());
    signature
}

fn slot(number: u64) -> u64 {
    number / CROWD + 1
}

/// The bytes of the event as a program emits them.
fn emitted(number: u64) -> (Program, Vec<u8>) {
    let (agent, round) = (number / 2 % AGENTS, number / 2 / AGENTS);
    if number.is_multiple_of(2) {
        let event = events::LeasePaid {
            agent_id: mint(agent),
            epoch: 20_000 + round,
            amount: 1_000_000,
            payer: [1; 32],
            kind: u8::from(round > 0),
            sequence: round,
            account_created_slot: slot(agent * 2),
        };
        (Program::Lease, event.to_bytes().to_vec())
    } else {
        let event = events::StakeLocked {
            agent_mint: mint(agent),
            owner: [1; 32],
            lamports: 1_000_000,
            slot: slot(number),
            stake_usdc: 10_000_000 + round * 1_000_000,
            sequence: round,
            account_created_slot: slot(agent * 2 + 1),
        };
        (Program::StakeLock, event.to_bytes().to_vec())
    }
}

fn now<'a, T: Send + 'a>(value: T) -> Asked<'a, T> {
    Box::pin(async move { Ok(value) })
}

impl Synthetic {
    fn count(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }
}

impl Ledger for Synthetic {
    fn genesis(&self) -> Asked<'_, String> {
        now("synthetic".to_owned())
    }
    fn slot(&self, _: Finality) -> Asked<'_, u64> {
        now(slot(self.count().saturating_sub(1)))
    }
    fn time(&self) -> Asked<'_, ChainTime> {
        now(ChainTime { slot: slot(self.count()), unix: 1_800_000_000, epoch: 20_833 })
    }
    fn list(
        &self,
        address: Address,
        before: Option<[u8; 64]>,
        limit: usize,
        _: Finality,
    ) -> Asked<'_, Vec<Listed>> {
        let parity = match address.to_bytes() {
            ids::LEASE => 0,
            ids::STAKE_LOCK => 1,
            _ => return now(Vec::new()),
        };
        let end = before.map_or(self.count(), |it| u64::from_be_bytes(it[..8].try_into().unwrap()));
        let numbers = (0..end).rev().filter(|number| number % 2 == parity).take(limit);
        now(numbers.map(|it| Listed { slot: slot(it), signature: signature(it), failed: false }).collect())
    }
    fn transaction(&self, signature: [u8; 64], _: Finality) -> Asked<'_, Option<Parsed>> {
        let number = u64::from_be_bytes(signature[..8].try_into().unwrap());
        let (program, bytes) = emitted(number);
        let event = Event::read(program.address().as_array(), &bytes[8..]).unwrap();
        now(Some(Parsed {
            signature,
            slot: slot(number),
            block_time: Some(1_800_000_000),
            facts: vec![Fact::Event(event)],
        }))
    }
    fn order(&self, at: u64) -> Asked<'_, Option<Vec<[u8; 64]>>> {
        let first = (at - 1) * CROWD;
        now(Some((first..first + CROWD).map(signature).collect()))
    }
    fn accounts<'a>(&'a self, addresses: &'a [Address]) -> Asked<'a, Vec<Option<RawAccount>>> {
        now(vec![None; addresses.len()])
    }
    fn scan(&self, _: Kind) -> Asked<'_, Vec<RawAccount>> {
        now(Vec::new())
    }
    fn members(&self, _: u64) -> Asked<'_, Vec<(u64, Address, Address)>> {
        now(Vec::new())
    }
    fn agent(&self, _: Address) -> Asked<'_, Option<AgentRecord>> {
        now(None)
    }
    fn delegates(&self, _: Address) -> Asked<'_, Vec<Delegate>> {
        now(Vec::new())
    }
}

fn size(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

fn config(folder: &std::path::Path, db: &str) -> Config {
    let mut config = Config { data: folder.to_owned(), db: db.to_owned(), ..Config::default() };
    config.bind.set_port(0);
    config.chain.poll_ms = 50;
    config.chain.concurrency = 64;
    config.chain.chunk = 4_096;
    config.audit_secs = 0;
    config.limits.address.per_second = 0;
    config.limits.streams_per_address = 1 << 20;
    config
}

async fn backfill(name: &str, db: &str, events: u64, folder: &std::path::Path) {
    let ledger = Arc::new(Synthetic { events: events.into() });
    let config = config(folder, db);
    let store = store::open(&config.database()).await.unwrap();
    let index = Index::open(store, ledger, config, Metrics::default()).await.unwrap();
    let began = Instant::now();
    Ingest::new(index.clone(), Announcements::default()).round(false).await.unwrap();
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(index.status.get().events, events);
    println!(
        "{}",
        json!({
            "figure": format!("backfill, {name}"), "events": events, "seconds": seconds,
            "events_per_second": (events as f64 / seconds) as u64, "resident_mb": resident_mb(),
        })
    );
    index.store.close().await;
}

async fn reads(server: &Server) {
    let http = reqwest::Client::new();
    let one = bs58::encode(mint(1)).into_string();
    for (name, path, count) in [
        ("one agent", format!("/v1/agents/{one}"), 4_000_u64),
        ("agents, 50 of 1 000 by stake", "/v1/agents?sort=stake".to_owned(), 1_000),
        ("events, newest 50", "/v1/events".to_owned(), 1_000),
        ("status", "/v1/status".to_owned(), 8_000),
    ] {
        let url = format!("{}{path}", server.url());
        let began = Instant::now();
        stream::iter(0..count)
            .map(|_| async {
                let answer = http.get(&url).send().await.unwrap();
                assert_eq!(answer.status().as_u16(), 200);
                answer.bytes().await.unwrap().len()
            })
            .buffer_unordered(32)
            .for_each(|_| async {})
            .await;
        let seconds = began.elapsed().as_secs_f64();
        // Client and server share the cores.
        println!(
            "{}",
            json!({ "figure": format!("REST reads: {name}"), "per_second": (count as f64 / seconds) as u64 })
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
            "figure": "fan-out from the writing to the client, ms", "clients": clients, "events": 10,
            "p50": at(50), "p99": at(99), "max": at(100), "heard": heard.load(Ordering::Relaxed),
            "resident_mb_with_clients": resident_mb(), "indexed": ledger.count(),
        })
    );
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let events = if is_test { 2_000 } else { size("ZX1_BENCH_EVENTS", 1_000_000) };
    let folder = tempfile::tempdir().unwrap();
    backfill("SQLite", "", events, folder.path()).await;
    if let Ok(url) = std::env::var("ZX1_BENCH_POSTGRES") {
        backfill("Postgres", &url, events, folder.path()).await;
    }
    let ledger = Arc::new(Synthetic { events: events.into() });
    let server = Server::start_on(config(folder.path(), ""), ledger.clone(), "synthetic".to_owned(), None);
    let server = server.await.unwrap();
    while !server.index().status.get().ready {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!(
        "{}",
        json!({ "figure": "memory with the index open, MB", "events": events, "resident_mb": resident_mb() })
    );
    if !is_test {
        reads(&server).await;
        fan_out(&server, &ledger).await;
    }
    server.stop().await;
}
