//! From transactions to rows.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::testing::{Fake, commitment, mint};
use proptest::prelude::*;
use serde_json::json;
use zx1_protocol::ids::AgentId;

fn rows(chain: &Fake) -> Vec<EventRow> {
    let mut addresses = Addresses::default();
    let txs = chain.lock().txs.clone();
    txs.iter()
        .flat_map(|tx| {
            let parsed =
                Parsed { signature: tx.signature, slot: tx.slot, block_time: None, facts: tx.facts.clone() };
            addresses.rows(&parsed, 3)
        })
        .collect()
}

#[test]
fn base58_is_the_same_whatever_the_length() {
    for length in 0..=65_u8 {
        for first in [0, 1, 255] {
            let mut bytes: Vec<u8> = (0..length).map(|at| at.wrapping_mul(73)).collect();
            if let Some(byte) = bytes.first_mut() {
                *byte = first;
            }
            assert_eq!(base58(&bytes), bs58::encode(&bytes).into_string(), "{bytes:?}");
        }
    }
}

#[test]
fn a_row_gives_the_event_back() {
    let chain = Fake::new();
    chain.register(mint(1), [2; 32]);
    chain.stake(mint(1), 10);
    chain.batch(&commitment(mint(1), 7));
    chain.feedback("x");
    chain.open_tenure(mint(1), [2; 32], 7);
    chain.add_key(mint(1), [61; 32], 15, 7);
    chain.ask(mint(1), 7, [70; 32]);
    chain.withhold([70; 32]);
    chain.challenge(mint(1), 7, [50; 32]);
    chain.resolve(mint(1), 7, [50; 32]);
    let facts: Vec<Fact> = chain.lock().txs.iter().flat_map(|tx| tx.facts.clone()).collect();
    let rows = rows(&chain);
    assert_eq!(rows.len(), facts.len());
    for (row, fact) in rows.iter().zip(&facts) {
        match fact {
            Fact::Event(event) => {
                assert_eq!(event_of(row).as_ref(), Some(event));
                assert_eq!(row.name, event.name());
            }
            Fact::Registered(registration) => {
                assert_eq!(Registration::read(&row.payload).as_ref(), Some(registration));
                assert_eq!(event_of(row), None);
            }
            Fact::Attested(_) => panic!("there is none"),
        }
        assert_eq!(row.position, 3);
    }
    let ordinals: Vec<i64> = rows[rows.len() - 3..].iter().map(|row| row.ordinal).collect();
    assert_eq!(ordinals, [0, 1, 0], "the slash, the resolution; the closing");
}

#[test]
fn money_is_text_and_other_numbers_are_numbers() {
    let chain = Fake::new();
    chain.stake(mint(1), u64::MAX / 2);
    let fields = EventFields(&rows(&chain)[0]).to_map();
    assert_eq!(fields["lamports"], json!((u64::MAX / 2).to_string()));
    assert_eq!(fields["slot"], json!(1));
    assert_eq!(fields["agent_mint"], json!(mint(1)));
    let chain = Fake::new();
    chain.batch(&commitment(mint(1), 7));
    let fields = EventFields(&rows(&chain)[0]).to_map();
    assert_eq!(fields["batch_hash"], json!("07".repeat(32)));
    assert_eq!(fields["log_len"], json!(1));
}

#[test]
fn every_program_has_one_number_and_one_name() {
    for program in Program::ALL {
        assert_eq!(Program::of_number(program.number()), Some(program));
        assert_eq!(Program::of_name(program.name()), Some(program));
        assert_eq!(Program::of_address(program.address().as_array()), Some(program));
    }
    assert_eq!(Program::of_number(6), None);
    assert_eq!(Program::of_name("SATI"), None);
}

proptest! {
    #[test]
    fn no_bytes_panic(payload in proptest::collection::vec(any::<u8>(), 0..400), program in -1_i64..8) {
        let row = EventRow { payload, program, name: REGISTERED.to_owned(), ..EventRow::default() };
        let _ = (event_of(&row), EventFields(&row).to_map());
        for name in ["", super::ATTESTED, super::UNATTESTED] {
            let row = EventRow { name: name.to_owned(), ..row.clone() };
            let _ = EventFields(&row).to_map();
        }
    }

    #[test]
    fn no_account_panics(data in proptest::collection::vec(any::<u8>(), 0..400), which in 0_usize..11) {
        let touched = [
            Touched::Tenure(AgentId([1; 32])),
            Touched::Key(AgentId([1; 32]), [2; 32]),
            Touched::Batch(AgentId([1; 32]), 3),
            Touched::Ask([1; 32], 2),
            Touched::Stake(AgentId([1; 32]), 4),
            Touched::Lease(AgentId([1; 32])),
            Touched::Head(AgentId([1; 32])),
            Touched::Challenge([1; 32], 2),
            Touched::Entry(0),
            Touched::Resolution(0),
            Touched::Log,
        ][which];
        let owner = Address::new_from_array(ids::FEEDBACK_LOG);
        let (address, lamports, executable) = (touched.address(), 1, false);
        let account = zx1_chain::rpc::RawAccount { address, lamports, owner, data, executable };
        let _ = touched.read(Some(&account));
        prop_assert!(touched.read(None).is_ok());
    }
}

fn called(program: Address, data: Vec<u8>) -> zx1_chain::rpc::Called {
    let call = zx1_chain::rpc::Call { program, accounts: Vec::new(), data };
    zx1_chain::rpc::Called { outer: 0, inner: true, call }
}

/// SATI's event as its program emits it: tag, name, schema, agent, what follows.
fn emitted(name: [u8; 8], schema: [u8; 32], agent: [u8; 32], rest: &[&[u8]]) -> zx1_chain::rpc::Called {
    let head = [zx1_interface::EVENT_TAG.as_slice(), &name, &schema, &agent].concat();
    called(zx1_chain::sati::PROGRAM, [head, rest.concat()].concat())
}

#[test]
fn an_attestation_is_shown_with_what_was_attested_and_a_closing_without() {
    use zx1_chain::sati::{self, Attestation, ContentType, Outcome};
    let rating = |agent: u8| Attestation {
        task_ref: [3; 32],
        agent: Address::new_from_array([agent; 32]),
        counterparty: Address::new_from_array([5; 32]),
        outcome: Outcome::Positive,
        data_hash: [6; 32],
        content_type: ContentType::Json,
        content: b"{\"score\":90}".to_vec(),
    };
    let actors = sati::Actors {
        payer: Address::new_from_array([1; 32]),
        agent_token_account: Address::new_from_array([2; 32]),
        sas_schema: Address::new_from_array([7; 32]),
        credential: Address::new_from_array([8; 32]),
    };
    let create = |agent: u8| {
        let made = sati::create_compressed_attestation(&actors, &rating(agent), &[0; 32]);
        called(made.program_id, made.data)
    };
    let created = |agent: u8| {
        let rest: [&[u8]; 3] = [&[5; 32], &[0], &[9; 32]];
        emitted(sati::event_discriminator::ATTESTATION_CREATED, [7; 32], [agent; 32], &rest)
    };
    let closed = emitted(sati::event_discriminator::ATTESTATION_CLOSED, [7; 32], [4; 32], &[&[9; 32]]);
    // Another program that says the same says nothing.
    let mut liar = created(8);
    liar.call.program = Address::new_from_array([8; 32]);
    // Two in one transaction; an event without its instruction; an instruction that made nothing.
    let calls = [create(4), created(4), liar, create(6), created(6), created(10), create(11), closed];
    let facts = super::attested::attestations(&calls);
    let parsed = Parsed { signature: [1; 64], slot: 40, block_time: None, facts };
    let rows = super::Addresses::default().rows(&parsed, 0);
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, [super::ATTESTED, super::ATTESTED, super::UNATTESTED]);
    assert_eq!(rows[0].agent, Some(AgentId([4; 32])));
    assert_eq!((rows[1].agent, rows[1].account.as_slice()), (Some(AgentId([6; 32])), [9; 32].as_slice()));
    let fields = EventFields(&rows[0]).to_map();
    let base58 = |byte: u8| json!(bs58::encode([byte; 32]).into_string());
    let shown = ["schema", "mint", "counterparty"].map(|name| fields[name].clone());
    assert_eq!(shown, [base58(7), base58(4), base58(5)]);
    assert_eq!((&fields["outcome"], &fields["content"]), (&json!(2), &json!("{\"score\":90}")));
    assert_eq!(fields["content_type"], "json");
    assert_eq!(EventFields(&rows[2]).to_map().keys().collect::<Vec<_>>(), ["mint", "schema"]);
}

/// Answers of a real node, recorded by our own run.
fn recorded() -> ([u8; 32], Vec<(solana_signature::Signature, serde_json::Value)>) {
    let text = include_str!("../../tests/fixtures/transactions.json");
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    let group: Address = document["group"].as_str().unwrap().parse().unwrap();
    let read =
        |it: &serde_json::Value| (it["signature"].as_str().unwrap().parse().unwrap(), it["answer"].clone());
    (group.to_bytes(), document["transactions"].as_array().unwrap().iter().map(read).collect())
}

#[test]
fn recorded_transactions_give_their_events_without_a_gap() {
    let (group, transactions) = recorded();
    let mut addresses = Addresses::default();
    let mut rows = Vec::new();
    for (signature, answer) in transactions {
        let landed = LandedTransaction::from_answer(signature, answer, None, true).unwrap();
        let parsed = transaction(&landed, &group);
        assert_eq!(parsed.slot, landed.slot);
        rows.extend(addresses.rows(&parsed, 0));
        // Another registry's agents are not ours.
        let other = transaction(&landed, &[1; 32]);
        assert!(other.facts.iter().all(|fact| matches!(fact, Fact::Event(_))));
    }
    let count = |name: &str| rows.iter().filter(|row| row.name == name).count();
    let names = [REGISTERED, "TenureOpened", "KeyAdded", "LeasePaid", "HeadOpened", "BatchSubmitted"];
    assert_eq!(names.map(count), [2; 6]);
    assert_eq!(count("StakeLocked"), 3);
    let names = ["EvidenceDraftBegun", "EvidenceSealed", "ChallengeSubmitted", "ChallengeResolved"];
    assert_eq!(names.map(count), [2; 4]);
    assert_eq!(["ChallengeClosed", "LeafAsked", "LeafShown"].map(count), [2, 2, 1]);
    assert_eq!(["BatchWithheld", "AskSettled"].map(count), [1, 1]);
    let names = ["FeedbackSubmitted", "FeedbackDraftBegun", "FeedbackResolved"];
    assert_eq!(names.map(count), [2, 1, 1]);
    let mut lives: std::collections::BTreeMap<(Vec<u8>, i64), Vec<i64>> = std::collections::BTreeMap::new();
    for row in &rows {
        lives.entry((row.account.clone(), row.created_slot)).or_default().push(row.sequence);
    }
    for (life, mut sequences) in lives {
        sequences.sort_unstable();
        // The configuration's one event was before the record, if it was recorded at all.
        let expected: Vec<i64> = (0..).take(sequences.len()).collect();
        assert_eq!(sequences, expected, "{life:?}");
    }
    for row in &rows {
        assert!(!EventFields(row).to_map().is_empty(), "{}", row.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_perturbed_answer_never_panics(which in 0_usize..1_000, at in 0_usize..100_000, byte in 32_u8..127) {
        let (group, transactions) = recorded();
        let (signature, answer) = &transactions[which % transactions.len()];
        let mut text = answer.to_string().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        if let Ok(answer) = serde_json::from_slice(&text)
            && let Ok(landed) = LandedTransaction::from_answer(*signature, answer, None, true)
        {
            let _ = Addresses::default().rows(&transaction(&landed, &group), 0);
        }
    }
}
