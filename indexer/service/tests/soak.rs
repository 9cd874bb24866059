//! Long histories: what is indexed of them equals an independent fold, in SQLite and in Postgres, also when the
//! process that reads them is killed again and again.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod synthetic;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use synthetic::{AGENTS, KINDS, NETWORK, Synthetic, created, emitted, mint, place, signature, slot};
use zx1_e2e::Running;
use zx1_indexer::chain::Announcements;
use zx1_indexer::index::Index;
use zx1_indexer::ingest::Ingest;
use zx1_indexer::metrics::Metrics;
use zx1_indexer::store::{self, Find, Store};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// Events: a million with ZX1_SOAK=1.
fn length() -> u64 {
    if std::env::var_os("ZX1_SOAK").is_some_and(|value| value == "1") {
        return 1_000_000;
    }
    eprintln!("20 000 events; 1 000 000 with ZX1_SOAK=1");
    20_000
}

async fn open(chain: Arc<Synthetic>, folder: &Path, db: &str, chunk: usize) -> (Arc<Index>, Ingest) {
    let mut config = synthetic::config(folder, db);
    if chunk > 0 {
        config.chain.chunk = chunk;
    }
    let store = store::open(&config.database()).await.unwrap();
    let index = Index::open(store, chain, config, Metrics::default()).await.unwrap();
    let ingest = Ingest::new(index.clone(), Announcements::default());
    (index, ingest)
}

/// How an agent must stand, folded here and not by the indexer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Standing {
    stake: Option<MicroUsdc>,
    stake_created: Option<i64>,
    unlock_slot: Option<i64>,
    paid_through: Option<i64>,
    lease_paid: MicroUsdc,
    batches: i64,
    last_epoch: Option<i64>,
    head: Vec<u8>,
    last_active: Option<i64>,
}

/// A sum modulo 2^256, limb by limb from the low end.
fn add(sum: &mut [u64; 4], number: &[u8; 32]) {
    let mut carry = false;
    for (limb, bytes) in sum.iter_mut().rev().zip(number.rchunks(8)) {
        let (once, first) = limb.overflowing_add(u64::from_be_bytes(bytes.try_into().unwrap()));
        let (twice, second) = once.overflowing_add(u64::from(carry));
        (*limb, carry) = (twice, first || second);
    }
}

struct Fold {
    agents: BTreeMap<AgentId, Standing>,
    /// Events by account life: creation slot and kind of account of each agent.
    lives: BTreeMap<(u64, u64), i64>,
    digest: String,
}

fn fold(events: u64) -> Fold {
    let mut agents: BTreeMap<AgentId, Standing> = BTreeMap::new();
    let (mut lives, mut digest) = (BTreeMap::new(), [0_u64; 4]);
    for number in 0..events {
        let (agent, round) = place(number);
        let (program, bytes) = emitted(number);
        let program = program.address().to_bytes();
        add(&mut digest, &Sha3::hashv(&[&signature(number), &[0; 4], &program, &bytes[8..]]));
        let at = slot(number) as i64;
        let standing = agents.entry(mint(agent)).or_default();
        standing.last_active = Some(at);
        let kind = number % KINDS;
        *lives.entry((agent, if kind == 3 { 1 } else { kind })).or_insert(0) += 1;
        match kind {
            0 => {
                standing.paid_through = Some(20_000 + round as i64);
                standing.lease_paid = standing.lease_paid.checked_add(MicroUsdc(1_000_000)).unwrap();
            }
            1 => {
                standing.stake = Some(MicroUsdc(10_000_000 + 1_000_000 * round));
                standing.stake_created = Some(created(number) as i64);
            }
            2 => {
                standing.batches += 1;
                standing.last_epoch = Some(1 + round as i64);
                // keccak(previous ‖ message), the message as decision P2 writes it.
                let previous = [round as u8; 32];
                let message = [
                    b"zx1/behavior-batch/v2".as_slice(),
                    &NETWORK,
                    mint(agent).as_ref(),
                    &(1 + round).to_le_bytes(),
                    &(1 + round).to_le_bytes(),
                    &previous,
                    &[2; 32],
                    &12_u32.to_le_bytes(),
                    &[round as u8; 32],
                    &[3; 32],
                    &5_u32.to_le_bytes(),
                ]
                .concat();
                standing.head = Sha3::hashv(&[&previous, &message]).to_vec();
            }
            _ => standing.unlock_slot = round.is_multiple_of(2).then_some(at + 432_000),
        }
    }
    let digest = digest.iter().map(|limb| format!("{limb:016x}")).collect();
    Fold { agents, lives, digest }
}

/// Compares a store with the fold, row by row.
async fn equals(store: &dyn Store, fold: &Fold, events: u64) {
    let meta = store.meta().await.unwrap();
    assert_eq!((&meta["digest"], &meta["events"]), (&fold.digest, &events.to_string()));
    assert_eq!(meta["cursor"], slot(events - 1).to_string());
    assert_eq!(meta["settled"], "1");
    let mut agents = BTreeMap::new();
    let stakes = store.stakes(Find::by("era", 0)).await.unwrap();
    let stakes: BTreeMap<AgentId, _> = stakes.into_iter().map(|row| (row.agent, row)).collect();
    for row in store.agents(Find::all()).await.unwrap() {
        assert_eq!((row.missing, row.withheld), (row.batches, 0));
        let stake = stakes.get(&row.mint);
        let standing = Standing {
            stake: row.stake,
            stake_created: stake.and_then(|stake| stake.created_slot),
            unlock_slot: stake.and_then(|stake| stake.unlock_slot),
            paid_through: row.paid_through,
            lease_paid: row.lease_paid,
            batches: row.batches,
            last_epoch: row.last_epoch,
            head: row.head_digest,
            last_active: row.last_active,
        };
        agents.insert(row.mint, standing);
    }
    assert_eq!(agents.len(), fold.agents.len());
    for (mint, standing) in &agents {
        assert_eq!(Some(standing), fold.agents.get(mint));
    }
    let lives = store.lives(Find::all()).await.unwrap();
    assert_eq!(lives.len(), fold.lives.len());
    assert!(lives.iter().all(|life| life.events == life.last + 1));
    let mut counts: Vec<i64> = lives.iter().map(|life| life.events).collect();
    let mut wanted: Vec<i64> = fold.lives.values().copied().collect();
    counts.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(counts, wanted);
    assert_eq!(store.gaps(Find::all()).await.unwrap(), []);
    // Every event is here once, in its place, with its bytes.
    let mut find = Find::all().order(&["slot", "position", "ordinal"]).limit(20_000);
    let mut number = 0;
    loop {
        let page = store.events(find.clone()).await.unwrap();
        let Some(last) = page.last() else { break };
        find.after = vec![last.row.slot.into(), last.row.position.into(), last.row.ordinal.into()];
        for stored in &page {
            let (program, bytes) = emitted(number);
            assert_eq!(stored.row.signature, signature(number), "event {number}");
            assert_eq!((stored.row.slot, stored.row.program), (slot(number) as i64, program.number()));
            assert_eq!(stored.row.payload, bytes[8..]);
            assert_eq!(stored.row.created_slot, created(number) as i64);
            assert_eq!(stored.row.agent, Some(mint(place(number).0)));
            number += 1;
        }
    }
    assert_eq!(number, events);
    let batches = store.totals().await.unwrap().batches;
    assert_eq!(batches, fold.agents.values().map(|it| it.batches).sum::<i64>());
}

async fn backfills(db: &str) {
    let (events, folder) = (length(), tempfile::tempdir().unwrap());
    let fold = fold(events);
    assert_eq!(fold.agents.len() as u64, AGENTS.min(events / KINDS));
    let (index, ingest) = open(Synthetic::of(events), folder.path(), db, 0).await;
    ingest.round(false).await.unwrap();
    equals(&*index.store, &fold, events).await;
    index.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_history_in_sqlite_is_what_an_independent_fold_says() {
    backfills("").await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_history_in_postgres_is_what_an_independent_fold_says() {
    let cluster = zx1_server::testing::Cluster::start();
    backfills(&cluster.url()).await;
}

/// Everything that follows from the chain, as lines.
async fn contents(store: &dyn Store) -> Vec<String> {
    let mut lines = Vec::new();
    for stored in store.events(Find::all().order(&["slot", "position", "ordinal"])).await.unwrap() {
        lines.push(format!("{:?}", stored.row));
    }
    for row in store.agents(Find::all().order(&["mint"])).await.unwrap() {
        lines.push(format!("{row:?}"));
    }
    for row in store.stakes(Find::all().order(&["agent", "era"])).await.unwrap() {
        lines.push(format!("{row:?}"));
    }
    for row in store.batches(Find::all().order(&["agent", "epoch"])).await.unwrap() {
        lines.push(format!("{row:?}"));
    }
    for row in store.lives(Find::all().order(&["account", "created_slot"])).await.unwrap() {
        lines.push(format!("{row:?}"));
    }
    for row in store.epochs(Find::all().order(&["agent", "epoch"])).await.unwrap() {
        lines.push(format!("{row:?}"));
    }
    for stored in store.stream(Find::all().order(&["id"])).await.unwrap() {
        // The moment at which it was indexed is another one, in its column and in its text.
        let row = stored.row;
        lines.push(format!("{} {} {:?} {:?}", row.kind, row.origin, row.slot, row.agent));
    }
    for (name, value) in store.meta().await.unwrap() {
        lines.push(format!("{name} {value}"));
    }
    lines
}

const VICTIM: &str = "ZX1_INDEXER_VICTIM";
/// Small, so that a death falls into many places of a transaction.
const CHUNK: usize = 192;

/// Not a test of its own: the process that is killed. It reads the same chain into the database that the
/// variable names, and tells each twentieth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_process_that_is_killed() {
    let Ok(given) = std::env::var(VICTIM) else { return };
    let (folder, db) = given.split_once('|').unwrap();
    let events = 20_000;
    let (index, ingest) = open(Synthetic::slow(events, 40), Path::new(folder), db, CHUNK).await;
    let telling = index.clone();
    tokio::spawn(async move {
        let (mut told, total) = (0, slot(events - 1));
        loop {
            let now = telling.status.get().slot * 20 / total;
            if now > told {
                println!("twentieth {now}.");
                told = now;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    });
    ingest.round(false).await.unwrap();
    index.store.close().await;
    println!("all of it.");
}

async fn dies_and_goes_on(db: &str) {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_process_that_is_killed", "--nocapture", "--test-threads", "1"]);
        command.env(VICTIM, format!("{}|{db}", folder.path().display()));
        Running::start(command)
    };
    for twentieth in [1, 4, 5, 9, 13, 17] {
        let mut process = start();
        // It tells only what is new to it; one that begins later may have passed this one already.
        let beyond: Vec<String> = (twentieth..=20).map(|it| format!("twentieth {it}.")).collect();
        tokio::task::block_in_place(|| {
            zx1_e2e::wait_until("it got on", || {
                let said = process.stdout();
                assert!(!said.contains("all of it."), "it was not killed in time: {said}");
                beyond.iter().any(|it| said.contains(it)).then_some(())
            });
        });
        process.kill9();
    }
    let mut last = start();
    let ended = tokio::task::block_in_place(|| last.wait());
    assert!(ended.success() && last.stdout().contains("all of it."), "{}", last.said());
    // Nobody disturbed this one, and it writes chunks of another size.
    let calm = tempfile::tempdir().unwrap();
    let (whole, ingest) = open(Synthetic::of(20_000), calm.path(), "", 0).await;
    ingest.round(false).await.unwrap();
    let (broken, _) = open(Synthetic::of(20_000), folder.path(), db, CHUNK).await;
    let (left, right) = (contents(&*broken.store).await, contents(&*whole.store).await);
    for (one, other) in left.iter().zip(&right) {
        assert_eq!(one, other);
    }
    assert_eq!(left.len(), right.len());
    equals(&*broken.store, &fold(20_000), 20_000).await;
    broken.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backfill_into_sqlite_that_is_killed_six_times_ends_as_an_undisturbed_one() {
    dies_and_goes_on("").await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backfill_into_postgres_that_is_killed_six_times_ends_as_an_undisturbed_one_in_sqlite() {
    let cluster = zx1_server::testing::Cluster::start();
    dies_and_goes_on(&cluster.url()).await;
}
