//! From transactions to rows.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::testing::{Fake, commitment, mint};
use proptest::prelude::*;
use serde_json::json;

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
fn a_row_gives_the_event_back() {
    let chain = Fake::new();
    chain.register(mint(1), [2; 32]);
    chain.stake(mint(1), 10);
    chain.batch(&commitment(mint(1), 7));
    chain.feedback("x");
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
        }
        assert_eq!(row.position, 3);
    }
    let ordinals: Vec<i64> = rows[5..].iter().map(|row| row.ordinal).collect();
    assert_eq!(ordinals, [0, 1, 2, 0], "two halves of a slash, the resolution; the closing");
}

#[test]
fn money_is_text_and_other_numbers_are_numbers() {
    let chain = Fake::new();
    chain.stake(mint(1), u64::MAX / 2);
    let fields = event_fields(&rows(&chain)[0]);
    assert_eq!(fields["lamports"], json!((u64::MAX / 2).to_string()));
    assert_eq!(fields["slot"], json!(1));
    assert_eq!(fields["agent_mint"], json!(bs58::encode(mint(1)).into_string()));
    let chain = Fake::new();
    chain.batch(&commitment(mint(1), 7));
    let fields = event_fields(&rows(&chain)[0]);
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
        let _ = (event_of(&row), event_fields(&row));
        let row = EventRow { name: String::new(), ..row };
        let _ = event_fields(&row);
    }

    #[test]
    fn no_account_panics(data in proptest::collection::vec(any::<u8>(), 0..400), which in 0_usize..7) {
        let touched = [
            Touched::Stake([1; 32]),
            Touched::Lease([1; 32]),
            Touched::Head([1; 32]),
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
    assert_eq!([REGISTERED, "StakeLocked", "LeasePaid", "BatchSubmitted"].map(count), [2, 2, 2, 2]);
    let names =
        ["ChallengeSubmitted", "ChallengeResolved", "ChallengeClosed", "StakeSlashed", "EnvelopeRecorded"];
    assert_eq!(names.map(count), [1, 1, 1, 2, 1]);
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
        assert!(!event_fields(row).is_empty(), "{}", row.name);
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
