//! What a sandbox costs: set up, run `true`, discard (bar: at most 30 ms), and its parts.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{BatchSize, Criterion};
use zx1_sandbox::{Command, Limits, Sandbox};

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
    criterion.final_summary();
}
