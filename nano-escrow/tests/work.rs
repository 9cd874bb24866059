//! Solving, checking, asking peers, keeping.

#![allow(clippy::unwrap_used)]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use nano_escrow::node::{Call, NodeApi, NodeError};
use nano_escrow::work::{
    Cancel, MemoryCache, Path, Solver, Urgency, WorkCache, WorkError, WorkPeers, WorkService,
};
use nano_escrow::{BlockHash, Thresholds, Work};
use proptest::prelude::*;
use serde_json::{Value, json};

const DEV: u64 = Thresholds::DEV.send_or_change;

fn root(n: u8) -> BlockHash {
    BlockHash([n; 32])
}

/// A second opinion: another crate's BLAKE2b.
fn reference(root: &BlockHash, nonce: u64) -> u64 {
    let hash = blake2b_simd::Params::new()
        .hash_length(8)
        .to_state()
        .update(&nonce.to_le_bytes())
        .update(&root.0)
        .finalize();
    u64::from_le_bytes(hash.as_bytes().try_into().unwrap())
}

proptest! {
    #[test]
    fn every_path_computes_what_the_reference_computes(bytes in any::<[u8; 32]>(), start in any::<u64>()) {
        let root = BlockHash(bytes);
        for path in Path::ALL.into_iter().filter(|p| p.is_available()) {
            for (i, value) in path.values(&root, start).into_iter().enumerate() {
                let nonce = start.wrapping_add(i as u64);
                prop_assert_eq!(value, reference(&root, nonce), "{} lane {}", path, i);
                prop_assert_eq!(value, Work(nonce).value(&root));
            }
        }
    }

    #[test]
    fn every_path_finds_the_same_first_nonce(bytes in any::<[u8; 32]>(), start in any::<u64>()) {
        let root = BlockHash(bytes);
        let one = NonZeroUsize::MIN;
        let found: Vec<_> = Path::ALL
            .into_iter()
            .filter(|p| p.is_available())
            .map(|p| {
                let solver = Solver::default().with_threads(one).with_path(p);
                solver.solve_from(&root, Thresholds::DEV.old_account, start, &Cancel::new()).unwrap()
            })
            .collect();
        // 128 hashes on average; the first hit does not depend on how many are tried at a time.
        prop_assert!(found.windows(2).all(|w| w[0] == w[1]), "{:?}", found);
        let first = (0..).map(|i| Work(start.wrapping_add(i)))
            .find(|w| reference(&root, w.0) >= Thresholds::DEV.old_account).unwrap();
        prop_assert_eq!(found[0], first);
    }
}

#[test]
fn several_threads_solve_with_every_path_ok() {
    for path in Path::ALL {
        let solver = Solver::default().with_threads(NonZeroUsize::new(3).unwrap()).with_path(path);
        assert!(solver.path() == path || !path.is_available());
        let work = solver.solve(&root(1), DEV, &Cancel::new()).unwrap();
        assert!(work.is_valid(&root(1), DEV));
    }
}

#[test]
fn a_threshold_of_zero_takes_anything_ok() {
    for path in Path::ALL {
        let solver = Solver::default().with_path(path);
        assert!(solver.solve(&root(1), 0, &Cancel::new()).is_ok());
    }
}

#[test]
fn a_cancelled_solver_stops_fails() {
    let cancel = Cancel::new();
    let solver = Solver::default();
    std::thread::scope(|scope| {
        let solving = scope.spawn(|| solver.solve(&root(2), u64::MAX, &cancel));
        cancel.cancel();
        assert_eq!(solving.join().unwrap(), Err(WorkError::Cancelled));
    });
    assert_eq!(solver.solve(&root(2), u64::MAX, &cancel).unwrap_err().code(), 8101);
}

/// A peer that gives prepared answers, and counts.
struct Peer {
    asked: AtomicUsize,
    answer: fn(BlockHash, u64) -> Result<Value, NodeError>,
}

impl Peer {
    fn new(answer: fn(BlockHash, u64) -> Result<Value, NodeError>) -> Arc<Peer> {
        Arc::new(Peer { asked: AtomicUsize::new(0), answer })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl NodeApi for Peer {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        Box::pin(async move {
            assert_eq!(call.action, "work_generate");
            self.asked.fetch_add(1, Ordering::SeqCst);
            let root = call.body["hash"].as_str().unwrap().parse().unwrap();
            let threshold = u64::from_str_radix(call.body["difficulty"].as_str().unwrap(), 16).unwrap();
            (self.answer)(root, threshold)
        })
    }
}

fn honest(root: BlockHash, threshold: u64) -> Result<Value, NodeError> {
    let work = Solver::default().solve(&root, threshold, &Cancel::new()).unwrap();
    // Without leading zeros and in capitals, as some write it.
    Ok(json!({ "work": format!("{:X}", work.0), "difficulty": "0", "hash": root.to_string() }))
}

fn liar(root: BlockHash, threshold: u64) -> Result<Value, NodeError> {
    let bad = (0..).map(Work).find(|w| !w.is_valid(&root, threshold)).unwrap();
    Ok(json!({ "work": bad.to_string() }))
}

fn refusing(_: BlockHash, _: u64) -> Result<Value, NodeError> {
    Ok(json!({ "error": "Work generation is disabled" }))
}

fn gone(_: BlockHash, _: u64) -> Result<Value, NodeError> {
    Err(NodeError::Unreachable { action: "work_generate", reason: "gone".into() })
}

fn peers(list: &[(&str, &Arc<Peer>)]) -> WorkPeers {
    WorkPeers::new(list.iter().map(|(n, p)| (*n, (*p).clone() as Arc<dyn NodeApi>)), Duration::from_secs(60))
}

#[tokio::test]
async fn a_lying_peer_is_found_out_and_not_asked_again_ok() {
    let (lying, good) = (Peer::new(liar), Peer::new(honest));
    let peers = peers(&[("liar", &lying), ("good", &good)]);
    for n in 0..3 {
        let work = peers.work(root(n), DEV).await.unwrap();
        assert!(work.is_valid(&root(n), DEV));
    }
    assert_eq!((lying.asked(), good.asked()), (1, 3));
    let records = peers.records();
    assert_eq!((records[0].1.lies, records[1].1.good), (1, 3));
}

#[tokio::test]
async fn without_an_honest_peer_the_processor_solves_ok() {
    let (lying, off, lost) = (Peer::new(liar), Peer::new(refusing), Peer::new(gone));
    let peers = peers(&[("liar", &lying), ("off", &off), ("lost", &lost)]);
    let service = WorkService::new(Arc::new(MemoryCache::new()), peers.clone(), Some(Solver::default()));
    let work = service.get(root(1), DEV).await.unwrap();
    assert!(work.is_valid(&root(1), DEV));
    assert_eq!((lying.asked(), off.asked(), lost.asked()), (1, 1, 1));
    // All rest now, so nobody waits for them.
    service.get(root(2), DEV).await.unwrap();
    assert_eq!((lying.asked(), off.asked(), lost.asked()), (1, 1, 1));
    let without = WorkService::new(Arc::new(MemoryCache::new()), peers, None);
    assert_eq!(without.get(root(3), DEV).await.unwrap_err().code(), 8103);
}

#[tokio::test]
async fn a_slow_peer_does_not_hold_up_the_work_ok() {
    struct Slow;
    impl NodeApi for Slow {
        fn call(&self, _: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
            Box::pin(std::future::pending())
        }
    }
    let peers = WorkPeers::new([("slow", Arc::new(Slow) as Arc<dyn NodeApi>)], Duration::from_millis(1));
    let service = WorkService::new(Arc::new(MemoryCache::new()), peers, Some(Solver::default()));
    assert!(service.get(root(1), DEV).await.unwrap().is_valid(&root(1), DEV));
}

#[tokio::test]
async fn work_is_made_once_and_kept_ok() {
    let good = Peer::new(honest);
    let service = WorkService::new(Arc::new(MemoryCache::new()), peers(&[("good", &good)]), None);
    let many = (0..8).map(|_| service.get(root(1), DEV));
    let all = futures_util::future::join_all(many).await;
    let first = all[0].clone().unwrap();
    assert!(all.into_iter().all(|w| w == Ok(first)));
    assert_eq!(good.asked(), 1, "eight wanted it at once");
    assert_eq!(service.cached(root(1), DEV).await.unwrap(), Some(first));
    service.forget(root(1)).await.unwrap();
    assert_eq!(service.cached(root(1), DEV).await.unwrap(), None);
}

#[tokio::test]
async fn kept_work_that_is_too_weak_is_made_again_ok() {
    let cache = Arc::new(MemoryCache::new());
    let weak = (0..).map(Work).find(|w| !w.is_valid(&root(1), DEV)).unwrap();
    cache.put(root(1), weak).await.unwrap();
    let service = WorkService::new(cache, WorkPeers::default(), Some(Solver::default()));
    let work = service.get(root(1), DEV).await.unwrap();
    assert_ne!(work, weak);
    assert!(work.is_valid(&root(1), DEV));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wanted_now_goes_before_what_is_wanted_later_ok() {
    let service = WorkService::default();
    // Nobody ever finds this one, so it would hold the processor for ever.
    service.prefetch(root(1), u64::MAX);
    for n in 2..6 {
        let work = tokio::time::timeout(Duration::from_secs(60), service.get(root(n), DEV)).await.unwrap();
        assert!(work.unwrap().is_valid(&root(n), DEV));
    }
    // The same root, now wanted: the job for later becomes urgent and is waited for, not done twice.
    service.prefetch(root(7), DEV);
    assert!(service.get(root(7), DEV).await.unwrap().is_valid(&root(7), DEV));
    tokio::time::timeout(Duration::from_secs(60), service.shutdown()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payments_and_receives_go_before_a_refund_ok() {
    let service = WorkService::default();
    let refund = tokio::spawn({
        let service = service.clone();
        // Nobody ever finds this one.
        async move { service.get_for(root(1), u64::MAX, Urgency::Refund).await }
    });
    for (n, urgency) in [(2, Urgency::Payment), (3, Urgency::Receive), (4, Urgency::Payment)] {
        let work = service.get_for(root(n), DEV, urgency);
        let work = tokio::time::timeout(Duration::from_secs(60), work).await.unwrap().unwrap();
        assert!(work.is_valid(&root(n), DEV));
    }
    refund.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_wish_frees_the_processor_ok() {
    let service = WorkService::default();
    let impossible = service.get(root(1), u64::MAX);
    assert!(tokio::time::timeout(Duration::from_millis(5), impossible).await.is_err());
    let work = tokio::time::timeout(Duration::from_secs(60), service.get(root(2), DEV)).await.unwrap();
    assert!(work.unwrap().is_valid(&root(2), DEV));
}
