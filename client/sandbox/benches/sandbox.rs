//! What a sandbox costs: set up, run `true`, discard (bar: at most 30 ms), and its parts.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion};
use zx1_sandbox::{Command, Consents, Limits, Records, Sandbox};

/// Half of them changed, half of them new.
const MANY: usize = 10_000;

/// Seconds for the dry run and commit of [`MANY`] files, and for their undo.
fn commit_and_undo() -> (Duration, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    for n in 0..MANY / 2 {
        std::fs::write(tree.join(format!("{n}.txt")), "before\n").unwrap();
    }
    let records = Records::open(folder.path().join("records")).unwrap();
    let mut sandbox = Sandbox::builder().work_tree(&tree).build().unwrap();
    let fix = Command::shell(format!("for i in $(seq 0 {}); do echo after > $i.txt; done", MANY - 1));
    assert!(sandbox.run(&fix, &Limits::default()).unwrap().success());
    let changes = sandbox.changes().unwrap();
    assert_eq!(changes.entries.len(), MANY);
    let began = Instant::now();
    let record = sandbox.commit(&changes, &Consents::none(), &records).unwrap();
    let committed = began.elapsed();
    let began = Instant::now();
    assert!(records.undo(record.id()).unwrap().is_empty());
    let undone = began.elapsed();
    assert_eq!(std::fs::read_dir(&tree).unwrap().count(), MANY / 2);
    assert_eq!(std::fs::read_to_string(tree.join("0.txt")).unwrap(), "before\n");
    (committed, undone)
}

fn main() {
    zx1_sandbox::helper_main_if_asked();
    let mut criterion = Criterion::default().configure_from_args();
    let folder = tempfile::tempdir().unwrap();
    let new = || Sandbox::builder().work_tree(folder.path()).build().unwrap();
    let nothing = Command::argv(["true"]);
    let limits = Limits::default();

    criterion.bench_function("set up, run true, discard", |bencher| {
        bencher.iter(|| {
            let mut sandbox = new();
            assert!(sandbox.run(&nothing, &limits).unwrap().success());
            sandbox.discard();
        });
    });
    criterion.bench_function("set up", |bencher| bencher.iter_with_large_drop(new));
    let mut sandbox = new();
    criterion.bench_function("run true", |bencher| {
        bencher.iter(|| assert!(sandbox.run(&nothing, &limits).unwrap().success()));
    });
    sandbox.run(&Command::shell("for i in $(seq 1000); do echo $i > $i; done"), &limits).unwrap();
    criterion.bench_function("changes, 1000 small files", |bencher| {
        bencher.iter(|| assert_eq!(sandbox.changes().unwrap().entries.len(), 1000));
    });
    criterion.bench_function("discard, 1000 small files", |bencher| {
        let filled = || {
            let mut sandbox = new();
            sandbox.run(&Command::shell("for i in $(seq 1000); do echo $i > $i; done"), &limits).unwrap();
            sandbox
        };
        bencher.iter_batched(filled, Sandbox::discard, BatchSize::PerIteration);
    });
    let mut many = criterion.benchmark_group("10 000 files");
    many.sample_size(10);
    many.bench_function("commit", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| commit_and_undo().0).sum());
    });
    many.bench_function("undo", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| commit_and_undo().1).sum());
    });
    many.finish();
    criterion.final_summary();
}
