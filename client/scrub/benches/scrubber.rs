//! The scrubber's bar in design.md: at least 50 MB/s.
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use zx1_scrub::Scrubber;

/// About this much text is scrubbed at once.
const SIZE: usize = 1 << 20;

fn read(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/scrubber");
    std::fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

fn repeat(texts: &[String]) -> String {
    texts
        .iter()
        .cycle()
        .scan(0, |size, text| {
            *size += text.len();
            (*size < SIZE).then_some(text.as_str())
        })
        .collect()
}

/// What commands really printed, without secrets.
fn clean() -> String {
    let outputs: Vec<serde_json::Value> = serde_json::from_str(&read("outputs.json")).unwrap();
    repeat(&outputs.iter().map(|output| output["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
}

/// The corpus: a secret and a look-alike in every few lines.
fn rich() -> String {
    let samples: Vec<String> = read("corpus.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned()
        })
        .collect();
    repeat(&samples)
}

fn scrub(criterion: &mut Criterion) {
    let scrubber = Scrubber::new();
    let mut group = criterion.benchmark_group("scrub");
    for (name, text) in [("compiler output", clean()), ("secret-rich text", rich())] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| scrubber.scrub(black_box(&text))));
    }
    group.finish();
    criterion.bench_function("build the scrubber", |bencher| bencher.iter(Scrubber::new));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = scrub
}
criterion_main!(benches);
