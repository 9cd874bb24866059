//! Rows from events.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{Merge, Needs, add_digest, event_digest, event_rows, missing, new_agent};
use crate::parse::Addresses;
use crate::store::EventRow;
use crate::testing::{Fake, commitment, mint};
use proptest::prelude::*;
use zx1_protocol::units::MicroUsdc;

fn rows(chain: &Fake) -> Vec<EventRow> {
    let parsed: Vec<_> = chain
        .lock()
        .txs
        .iter()
        .map(|tx| {
            let parsed = crate::parse::Parsed {
                signature: tx.signature,
                slot: tx.slot,
                block_time: Some(crate::testing::GENESIS + tx.slot as i64),
                facts: tx.facts.clone(),
            };
            (parsed, 0)
        })
        .collect();
    event_rows(&mut Addresses::default(), &parsed)
}

#[test]
fn missing_numbers_are_ranges() {
    assert_eq!(missing(&[], -1), []);
    assert_eq!(missing(&[0, 1, 2], 2), []);
    assert_eq!(missing(&[1, 2, 5], 7), [(0, 0), (3, 4), (6, 7)]);
    assert_eq!(missing(&[], 1), [(0, 1)]);
}

#[test]
fn the_rows_that_events_need_are_named() {
    let chain = Fake::new();
    chain.stake(mint(1), 10);
    chain.batch(&commitment(mint(1), 7));
    chain.challenge(mint(1), 7, [50; 32]);
    chain.feedback("x");
    let needs = Needs::of(&rows(&chain));
    assert_eq!(needs.agents.iter().collect::<Vec<_>>(), [&mint(1)]);
    assert_eq!(needs.batches.iter().collect::<Vec<_>>(), [&(mint(1), 7)]);
    assert_eq!(needs.challenges.iter().collect::<Vec<_>>(), [&([50; 32], 3)]);
    assert_eq!(needs.feedback.iter().collect::<Vec<_>>(), [&0]);
    assert_eq!(needs.lives.len(), 4);
    chain.ask(mint(1), 7, [70; 32]);
    assert_eq!(Needs::of(&rows(&chain)).asks.iter().collect::<Vec<_>>(), [&([70; 32], 5)]);
}

#[test]
fn an_event_behind_its_successor_asks_for_a_refold() {
    let chain = Fake::new();
    chain.stake(mint(1), 10);
    chain.stake(mint(1), 5);
    let mut events = rows(&chain);
    events.reverse();
    let mut merge = Merge::default();
    merge.take(&events);
    assert_eq!(merge.gaps.len(), 1, "number 1 came first");
    assert!(merge.refold.contains(&mint(1)));
    assert_eq!(merge.recheck.len(), 1);
    events.reverse();
    merge.refold(mint(1), &events);
    assert_eq!(merge.agents[&mint(1)].stake, Some(MicroUsdc(15)));
}

#[test]
fn a_refold_tells_nothing_again() {
    let chain = Fake::new();
    chain.lease(mint(1), 20_000, 0);
    chain.stake(mint(1), 10);
    chain.challenge(mint(1), 7, [50; 32]);
    let events = rows(&chain);
    let mut merge = Merge::default();
    merge.take(&events);
    assert_eq!(merge.stream.len(), 2);
    let before = merge.agents[&mint(1)].clone();
    merge.refold(mint(1), &events);
    assert_eq!(merge.stream.len(), 2);
    assert_eq!(merge.agents[&mint(1)], before);
}

#[test]
fn a_new_agent_is_found_by_its_mint() {
    let row = new_agent(mint(1));
    assert_eq!(row.search, mint(1).to_string().to_lowercase());
}

proptest! {
    #[test]
    fn a_digest_taken_away_is_as_if_it_had_not_been_added(sum: [u8; 32], one: [u8; 32], other: [u8; 32]) {
        let mut left = sum;
        add_digest(&mut left, &one, false);
        add_digest(&mut left, &other, false);
        let mut right = sum;
        add_digest(&mut right, &other, false);
        add_digest(&mut right, &one, false);
        prop_assert_eq!(left, right);
        add_digest(&mut left, &one, true);
        add_digest(&mut left, &other, true);
        prop_assert_eq!(left, sum);
    }

    #[test]
    fn missing_and_present_numbers_make_the_whole(
        present in proptest::collection::btree_set(0_i64..30, 0..30),
    ) {
        let last = 30;
        let sorted: Vec<i64> = present.iter().copied().collect();
        let mut all: Vec<i64> = sorted.clone();
        for (first, end) in missing(&sorted, last) {
            all.extend(first..=end);
        }
        all.sort_unstable();
        prop_assert_eq!(all, (0..=last).collect::<Vec<_>>());
    }

    #[test]
    fn rows_of_garbage_change_no_row(
        payload in proptest::collection::vec(any::<u8>(), 0..300),
        program in 0_i64..8,
    ) {
        let (account, signature) = (vec![1; 32], vec![2; 64]);
        let row = EventRow { payload, program, account, signature, ..EventRow::default() };
        let mut merge = Merge::default();
        merge.take(std::slice::from_ref(&row));
        let _ = event_digest(&row);
        prop_assert!(merge.batches.is_empty() || row.payload.len() > 100);
    }
}
