//! Appends with one sync each and with group commit, and what a log of a million entries costs.
//!
//! The memory figures come from child processes of their own (VmHWM), so that the writer's is not in them.

#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{Criterion, Throughput, criterion_group};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zx1_log::{AgentLog, Append, LogReader, MAX_FROM_SENDER};
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, Slot};

const AGENT: AgentId = AgentId([1; 32]);
const EPOCH: Epoch = Epoch(20_000);
const START: u64 = EPOCH.0 * 86_400_000_000;
const MILLION: u64 = 1_000_000;
/// From here on they are sent: room for received ones ends below a million.
const FIRST_SENT: u64 = 900_000;
const TASK: &str = "ZX1_LOG_BENCH_TASK";
const DIR: &str = "ZX1_LOG_BENCH_DIR";

struct Message {
    sent: bool,
    /// The other agent. Of one sender only so many are taken.
    peer: AgentId,
    number: u64,
    signature: [u8; 64],
}

impl Message {
    fn new(number: u64) -> Self {
        let mut signature = [7; 64];
        signature[..8].copy_from_slice(&number.to_be_bytes());
        let mut peer = AgentId([2; 32]);
        peer.0[..8].copy_from_slice(&(number / u64::from(MAX_FROM_SENDER)).to_be_bytes());
        Self { sent: number >= FIRST_SENT, peer, number, signature }
    }

    fn append<'a>(&'a self, empty: &'a Hash) -> Append<'a> {
        let (sender, recipient) = if self.sent { (&AGENT, &self.peer) } else { (&self.peer, &AGENT) };
        let envelope = Envelope {
            header: EnvelopeHeader {
                version: PROTOCOL_VERSION,
                msg_type: MsgType::Verdict,
                sender: sender.as_bytes(),
                recipient: recipient.as_bytes(),
                timestamp: START + self.number,
                block_ref: Slot(400_000_000 + self.number / 100),
                nonce: START + self.number,
                conversation_id: &[3; 16],
                payload_hash: empty,
                payload_len: 0,
            },
            payload: &[],
            signature: &self.signature,
        };
        let direction = if self.sent { Direction::Sent } else { Direction::Received };
        Append { envelope, direction, arrival_micros: START + self.number }
    }
}

/// A folder on the disk that the target folder is on: memory would sync for nothing.
fn folder() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = temp.path().join("agent");
    (temp, dir)
}

fn add(log: &mut AgentLog, from: u64, count: u64) {
    let empty = Sha3::hashv(&[]);
    let messages: Vec<Message> = (from..from + count).map(Message::new).collect();
    let appends: Vec<Append<'_>> = messages.iter().map(|message| message.append(&empty)).collect();
    log.append_all(&appends).unwrap();
}

fn appends(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("append");
    group.sample_size(10);
    for size in [1, 10, 100, 1_000] {
        let (mut _temp, mut dir) = folder();
        let mut log = AgentLog::open(&dir, AGENT).unwrap();
        let mut next = 0;
        group.throughput(Throughput::Elements(size));
        group.bench_function(format!("{size} a sync"), |bencher| {
            bencher.iter_custom(|times| {
                let mut taken = Duration::ZERO;
                for _ in 0..times {
                    // An epoch holds 2^20 entries; the next one begins in a new folder, off the clock.
                    if next + size > MILLION {
                        (_temp, dir) = folder();
                        log = AgentLog::open(&dir, AGENT).unwrap();
                        next = 0;
                    }
                    let begun = Instant::now();
                    add(&mut log, next, size);
                    taken += begun.elapsed();
                    next += size;
                }
                taken
            });
        });
    }
    group.finish();
}

fn million(criterion: &mut Criterion) {
    let (_temp, dir) = folder();
    let begun = Instant::now();
    let mut log = AgentLog::open(&dir, AGENT).unwrap();
    for from in (0..MILLION).step_by(10_000) {
        add(&mut log, from, 10_000);
    }
    drop(log);
    println!("a million entries written in groups of 10 000: {:.1?}", begun.elapsed());
    for task in ["root", "build", "open"] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        assert!(child.env(TASK, task).env(DIR, &dir).status().unwrap().success());
    }
    let mut group = criterion.benchmark_group("a million entries");
    group.sample_size(10).throughput(Throughput::Elements(MILLION));
    group.bench_function("scan", |bencher| bencher.iter(|| scan(&dir)));
    group.bench_function("root", |bencher| {
        let reader = LogReader::new(&dir, AGENT);
        bencher.iter(|| black_box(reader.root(EPOCH, EPOCH).unwrap()));
    });
    group.finish();
}

fn scan(dir: &Path) -> u64 {
    let mut entries = LogReader::new(dir, AGENT).entries(EPOCH, EPOCH).unwrap();
    let mut count = 0;
    while let Some(entry) = entries.next_entry().unwrap() {
        black_box(entry.encoded);
        count += 1;
    }
    assert_eq!(count, MILLION);
    count
}

/// In a process of its own: one task, its time and the most memory that it had.
fn child(task: &str, dir: &Path) {
    let begun = Instant::now();
    let reader = LogReader::new(dir, AGENT);
    match task {
        "root" => {
            black_box(reader.root(EPOCH, EPOCH).unwrap());
        }
        "build" => {
            let covered = Covered { from: EPOCH, to: EPOCH };
            black_box(reader.build(covered, Slot(1), Slot(2)).unwrap());
        }
        _ => {
            black_box(AgentLog::open(dir, AGENT).unwrap());
        }
    }
    let took = begun.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown").to_owned();
    println!("{task} of a million entries, alone: {took:.2?}, {peak}");
}

criterion_group!(benches, appends, million);

fn main() {
    if let (Ok(task), Ok(dir)) = (std::env::var(TASK), std::env::var(DIR)) {
        return child(&task, Path::new(&dir));
    }
    println!("load: {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    benches();
    Criterion::default().configure_from_args().final_summary();
}
