//! Messages through the gate: the bar is 24 000 a second on one core, with all rules.
#![allow(missing_docs, clippy::unwrap_used, clippy::arithmetic_side_effects, clippy::indexing_slicing)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ed25519_dalek::{Signer as _, SigningKey};
use std::hint::black_box;
use zx1_mesh::facts::{Chain, Facts, Known, Stake};
use zx1_mesh::gate::{Gate, Mode, Path, View};
use zx1_mesh::intake::{Arrived, Intake};
use zx1_protocol::channel::Channel;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::lease::Lease;
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

const NOW: u64 = 20_500 * 86_400_000_000;
const CHAIN: Chain = Chain { slot: Slot(400_000_000), min_stake: MicroUsdc(10_000_000) };
const AUTHORS: u32 = 100;
const EACH: u64 = 20;

struct Message(Vec<u8>, Path);

impl Arrived for Message {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn path(&self) -> Path {
        self.1
    }
}

fn author(number: u32) -> (AgentId, SigningKey) {
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&number.to_be_bytes());
    (AgentId(seed), SigningKey::from_bytes(&seed))
}

/// An ADVERTISE with a payload of 200 bytes.
fn message(number: u32, nonce: u64) -> Message {
    let (sender, key) = author(number);
    let draft = Draft {
        msg_type: MsgType::Advertise,
        sender,
        recipient: BROADCAST,
        timestamp: NOW,
        block_ref: CHAIN.slot,
        nonce,
        conversation_id: ConversationId([3; 16]),
        payload: &[b'x'; 200],
    };
    let source = WalletKey::from(key.verifying_key().to_bytes());
    let bytes = draft.sign(|bytes| key.sign(bytes).to_bytes()).unwrap();
    Message(bytes, Path { channel: Channel::Broadcast, source: Some(source) })
}

fn facts(number: u32) -> Facts {
    let key = PublicKey::from_bytes(&author(number).1.verifying_key().to_bytes()).unwrap();
    Facts {
        keys: vec![AgentKey { key, scopes: Scopes::ALL, from: Epoch(0), until: OPEN }],
        other_keys: Vec::new(),
        has_all_keys: true,
        stake: Some(Stake { amount: MicroUsdc(10_000_000), is_queued: false }),
        lease: Some(Lease { paid_through: Epoch(20_500) }),
    }
}

fn known() -> Intake<u8, Message> {
    let mut intake = Intake::new(Gate::new(AgentId([1; 32]), Mode::Enforced));
    intake.set_chain(CHAIN, NOW);
    let mut now = NOW;
    for number in 0..AUTHORS {
        assert!(intake.receive(0, message(number, 1), now).is_none());
        now += 100_000;
        while let Some(batch) = intake.due(now) {
            let found = batch.lookups.iter().map(|(author, _)| (*author, Some(facts(number))));
            intake.answer(batch.id, found.collect(), now);
        }
    }
    intake
}

fn gate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gate");
    group.throughput(Throughput::Elements(1));
    let gate = Gate::new(AgentId([1; 32]), Mode::Enforced);
    let facts = facts(1);
    let Message(bytes, path) = message(1, 5);
    let seen = SeenNonces::none(Channel::Broadcast);
    group.bench_function("verdict", |bencher| {
        let view = View { now: NOW, chain: Some(CHAIN), author: Known::Present(&facts), seen };
        bencher.iter(|| gate.verdict(black_box(&bytes), path, &view));
    });
    group.bench_function("open", |bencher| bencher.iter(|| gate.open(black_box(&bytes), path)));
    group.throughput(Throughput::Elements(u64::from(AUTHORS) * EACH));
    group.sample_size(20);
    group.bench_function("intake_of_100_authors", |bencher| {
        bencher.iter_batched(
            || {
                let all = (0..EACH).flat_map(|nonce| (0..AUTHORS).map(move |it| message(it, 10 + nonce)));
                (known(), all.collect::<Vec<_>>())
            },
            |(mut intake, messages)| {
                let now = NOW + 10_500_000;
                let accepted = intake.counts().accepted;
                for message in messages {
                    black_box(intake.receive(0, message, now));
                }
                assert_eq!(intake.counts().accepted - accepted, u64::from(AUTHORS) * EACH);
                intake
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, gate);
criterion_main!(benches);
