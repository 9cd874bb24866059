//! Hash, sign, verify, full validation, addresses, work by path. One core each.
//!
//! Bars: hash and sign 50 000 a second, verify 25 000, work 20 Mh/s with AVX2.

// The macros of criterion make functions without documentation.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nano_escrow::work::{Cancel, Path, Solver};
use nano_escrow::{
    Address, BlockHash, Head, PrivateKey, PublicKey, Raw, SignedBlock, StateBlock, Subtype, Thresholds,
};

fn key() -> PrivateKey {
    PrivateKey::from_bytes([7; 32])
}

fn head() -> Head {
    Head {
        account: key().public_key(),
        frontier: BlockHash([1; 32]),
        balance: Raw::XNO,
        representative: PublicKey([3; 32]),
    }
}

fn block() -> StateBlock {
    head().send(PrivateKey::from_bytes([8; 32]).address(), Raw(5)).unwrap_or_else(|e| panic!("{e}"))
}

fn signed() -> SignedBlock {
    let signed = block().sign(&key().keypair()).unwrap_or_else(|e| panic!("{e}"));
    let work = Solver::default().solve(&signed.root(), Thresholds::DEV.send_or_change, &Cancel::new());
    signed.with_work(work.unwrap_or_else(|e| panic!("{e}")))
}

fn blocks(c: &mut Criterion) {
    let mut group = c.benchmark_group("block");
    group.throughput(Throughput::Elements(1));
    let (block, signed, pair) = (block(), signed(), key().keypair());
    let account = block.account;
    let hash = block.hash();
    group.bench_function("hash", |b| b.iter(|| black_box(&block).hash()));
    group.bench_function("hash and sign, key prepared", |b| b.iter(|| black_box(block).sign(&pair)));
    group.bench_function("sign, key prepared", |b| b.iter(|| pair.sign(black_box(&hash))));
    group.bench_function("sign from the private key", |b| {
        let key = key();
        b.iter(|| black_box(&key).keypair().sign(&hash));
    });
    group.bench_function("verify strict", |b| {
        b.iter(|| account.verify_strict(&hash.0, black_box(&signed.signature)))
    });
    group.bench_function("verify as the network", |b| {
        b.iter(|| account.verify_network(&hash.0, black_box(&signed.signature)));
    });
    group.bench_function("full validation from JSON", |b| {
        let json = serde_json::to_string(&signed).unwrap_or_default();
        let head = head();
        b.iter(|| {
            let block = SignedBlock::from_json(black_box(&json)).ok();
            let good = block.is_some_and(|s| {
                head.check(&s.block) == Ok(Subtype::Send)
                    && s.verify_network().is_ok()
                    && s.has_work(&Thresholds::DEV, Subtype::Send.work_kind())
            });
            assert!(good);
        });
    });
    group.finish();
}

fn addresses(c: &mut Criterion) {
    let mut group = c.benchmark_group("address");
    group.throughput(Throughput::Elements(1));
    let address = key().address();
    let text = address.to_string();
    group.bench_function("encode", |b| b.iter(|| black_box(&address).to_string()));
    group.bench_function("decode", |b| b.iter(|| black_box(&text).parse::<Address>()));
    group.bench_function("derive key, public key and address", |b| {
        let seed = nano_escrow::Seed::from_bytes([9; 32]);
        let mut index = 0;
        b.iter(|| {
            index += 1;
            seed.wallet_key(index).address().to_string()
        });
    });
    group.finish();
}

fn work(c: &mut Criterion) {
    const HASHES: u64 = 1 << 16;
    let mut group = c.benchmark_group("work, one thread");
    group.throughput(Throughput::Elements(HASHES));
    for path in Path::ALL.into_iter().filter(|p| p.is_available()) {
        let solver = Solver::default().with_path(path);
        group.bench_function(BenchmarkId::from_parameter(path), |b| {
            b.iter(|| solver.measure(black_box(HASHES)))
        });
    }
    group.finish();
}

criterion_group!(benches, blocks, addresses, work);
criterion_main!(benches);
