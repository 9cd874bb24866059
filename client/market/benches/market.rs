//! Figures of the market's rules: verifying an entry, canonical JSON, replaying a transcript of 50 entries.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zx1_market::case::{Chained, Transcript, replay};
use zx1_market::chain::{Data, Head, SignatureForm};
use zx1_market::{Case, Contract, Entry, Json, Millis, PartyKey, Terms};

const START: Millis = Millis(1_708_531_200_000);

fn transcript() -> Transcript {
    let [principal, agent, server] = [1, 2, 3].map(|n| PartyKey::from_seed(&[n; 32]));
    let platform = nano_escrow::Address::from(nano_escrow::PublicKey([9; 32]));
    let terms = Terms::new(server.id(), platform).unwrap();
    let contract = Contract::builder("gcc foo.c", "undefined reference to `bar'").build(&terms).unwrap();
    let market = Some(terms.market());
    let post =
        Data::Post { contract: contract.json().clone(), principal: principal.id(), payout: None, market };
    let post = Entry::sign(&post, Head::GENESIS, START, &principal);
    let (mut case, step) = Case::start(post, &terms, START, &server).unwrap();
    let mut chained: Vec<Chained> = step.entries;
    let mut act = |case: &mut Case, key: &PartyKey, data: Data| {
        let entry = Entry::sign(&data, case.head(), START, key);
        chained.extend(case.handle(entry, START, &server).unwrap().entries);
    };
    act(&mut case, &agent, Data::Accept { agent: agent.id() });
    while case.head().seq < 48 {
        act(&mut case, &agent, Data::Message { message: "which gcc is it, and where is libbar?".repeat(8) });
    }
    act(
        &mut case,
        &agent,
        Data::Fix {
            fix: "gcc foo.c -lbar".into(),
            explanation: "links libbar".into(),
            corrected_command: None,
        },
    );
    let verify = Data::Verify {
        success: true,
        explanation: String::new(),
        exit_code: Some(0),
        output: String::new(),
        failure: None,
    };
    act(&mut case, &principal, verify);
    Transcript {
        contract_id: Some(case.id()),
        server: Some(server.id()),
        entries: chained.iter().map(|c| c.entry.clone()).collect(),
        received_at: chained.iter().map(|c| c.received_at).collect(),
    }
}

fn bench(c: &mut Criterion) {
    let transcript = transcript();
    assert_eq!(transcript.entries.len(), 50);
    let entry = transcript.entries.get(10).unwrap().clone();
    c.bench_function("verify a chain entry", |b| {
        b.iter(|| black_box(&entry).verify(SignatureForm::Full).unwrap())
    });
    c.bench_function("replay 50 entries", |b| b.iter(|| assert!(replay(black_box(&transcript)).valid)));
    let json = transcript.to_json();
    let text = json.canonical();
    let mut group = c.benchmark_group("canonical JSON");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("print", |b| b.iter(|| black_box(&json).canonical()));
    group.bench_function("read", |b| b.iter(|| Json::parse(black_box(text.as_bytes())).unwrap()));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
