//! Messages in, trees, batches: what has a bar in BENCHMARKS.md.
#![allow(missing_docs, clippy::unwrap_used, clippy::arithmetic_side_effects, clippy::indexing_slicing)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ed25519_dalek::{Signer, SigningKey};
use std::hint::black_box;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{Builder, Built, Direction};
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::{leaf, root_of_leaves};
use zx1_protocol::nonce::{LastNonce, SeenNonces};
use zx1_protocol::payload::bid_payload;
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::validate::{Context, Sender, validate};

const NOW: u64 = 20_500 * 86_400_000_000;
const TREE: u32 = 1 << 20;

fn message(number: u64, payload: &[u8]) -> Vec<u8> {
    let key = SigningKey::from_bytes(&[7; 32]);
    let draft = Draft {
        msg_type: MsgType::Propose,
        sender: AgentId([1; 32]),
        recipient: AgentId([2; 32]),
        timestamp: NOW,
        block_ref: Slot(number),
        nonce: number,
        conversation_id: ConversationId([3; 16]),
        payload,
    };
    draft.sign(|bytes| key.sign(bytes).to_bytes()).unwrap()
}

fn messages(criterion: &mut Criterion) {
    let key = PublicKey::from_bytes(&SigningKey::from_bytes(&[7; 32]).verifying_key().to_bytes()).unwrap();
    let bytes = message(1, &bid_payload(5, &[b'x'; 184]));
    let mut group = criterion.benchmark_group("messages");
    group.throughput(Throughput::Elements(1));
    group.bench_function("decode", |bencher| bencher.iter(|| Envelope::decode(black_box(&bytes)).unwrap()));
    group.bench_function("decode_and_validate", |bencher| {
        let key = AgentKey { key, scopes: Scopes::ALL, from: Epoch(0), until: OPEN };
        let sender = Sender::Registered { keys: &[key], seen: SeenNonces::Strict(LastNonce(Some(0))) };
        bencher.iter(|| validate(black_box(&bytes), &Context::new(NOW, Some(Slot(1)), sender)).unwrap());
    });
    let envelope = Envelope::decode(&bytes).unwrap();
    let signed = envelope.signing_bytes();
    group.bench_function("verify", |bencher| {
        bencher.iter(|| assert!(key.verify(black_box(&signed), envelope.signature)));
    });
    group.bench_function("verify_with_new_key", |bencher| {
        let bytes = key.to_bytes();
        bencher.iter(|| {
            assert!(zx1_protocol::signature::verify(black_box(&bytes), &signed, envelope.signature))
        });
    });
    group.finish();
}

fn hashing(criterion: &mut Criterion) {
    let entry = LogEntry::of(&Envelope::decode(&message(1, b"")).unwrap()).to_cbor::<Sha3>().unwrap();
    let mut group = criterion.benchmark_group("keccak");
    group.throughput(Throughput::Elements(1));
    group.bench_function("node_64_bytes", |bencher| {
        bencher.iter(|| Sha3::hashv(&[black_box(&[1; 32]), black_box(&[2; 32])]));
    });
    group.bench_function("log_entry", |bencher| bencher.iter(|| leaf::<Sha3>(black_box(&entry))));
    group.finish();
}

fn trees(criterion: &mut Criterion) {
    let entry = LogEntry::of(&Envelope::decode(&message(1, b"")).unwrap()).to_cbor::<Sha3>().unwrap();
    let leaves: Vec<Hash> = (0..TREE).map(|number| leaf::<Sha3>(&number.to_be_bytes())).collect();
    let mut group = criterion.benchmark_group("tree");
    group.sample_size(10).throughput(Throughput::Elements(TREE.into()));
    group.bench_function("root_of_2^20_leaves", |bencher| {
        bencher.iter(|| root_of_leaves::<Sha3>(TREE, leaves.iter().copied()).unwrap());
    });
    group.bench_function("root_of_2^20_entries", |bencher| {
        let mut entry = entry.clone();
        bencher.iter(|| {
            let leaves = (0..TREE).map(|number| {
                entry[40..44].copy_from_slice(&number.to_be_bytes());
                leaf::<Sha3>(&entry)
            });
            root_of_leaves::<Sha3>(TREE, leaves).unwrap()
        });
    });
    group.finish();
}

fn push(builder: &mut Builder, entry: &mut LogEntry<'_>, number: u64, payload: &[u8]) {
    entry.header.block_ref = Slot(number);
    entry.header.nonce = number;
    builder.push(Direction::Sent, entry, Some(payload), None).unwrap();
}

fn builder() -> Builder {
    let covered = Covered { from: Epoch(20_500), to: Epoch(20_500) };
    Builder::new(AgentId([1; 32]), covered, Slot(0), Slot(1_000_000)).unwrap()
}

fn batches(criterion: &mut Criterion) {
    let payload = bid_payload(5, b"");
    let bytes = message(1, &payload);
    let envelope = Envelope::decode(&bytes).unwrap();
    let mut group = criterion.benchmark_group("batch");
    group.sample_size(10).throughput(Throughput::Elements(1_000_000));
    group.bench_function("build_1_000_000_bids", |bencher| {
        bencher.iter(|| {
            let (mut builder, mut entry) = (builder(), LogEntry::of(&envelope));
            for number in 0..1_000_000 {
                push(&mut builder, &mut entry, number, &payload);
            }
            builder.finish().unwrap()
        });
    });
    let mut builder = builder();
    for number in 0..1_000_000 {
        push(&mut builder, &mut LogEntry::of(&envelope), number, &payload);
    }
    let built = builder.finish().unwrap();
    group.bench_function("check_bundle_of_1_000_000_bids", |bencher| {
        bencher.iter_batched(
            || &built,
            |built: &Built| built.bundle().unwrap().check().unwrap().commitment().batch_hash,
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, messages, hashing, trees, batches);
criterion_main!(benches);
