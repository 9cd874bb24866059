//! Forks, holes, late lists, gaps, duplicates, crashes: the index is always what the chain says in the end.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::slot_chunks;
use crate::chain::{Announced, Listed};
use crate::parse::Fact;
use crate::store::Find;
use crate::testing::{Fake, Rig, commitment, mint};
use proptest::prelude::*;
use std::sync::Arc;
use zx1_protocol::units::MicroUsdc;

/// A chain on which everything happens once.
fn busy() -> Fake {
    let chain = Fake::new();
    for number in 1..=3 {
        chain.register(mint(number), [100 + number; 32]);
        chain.stake(mint(number), 10_000_000);
        chain.lease(mint(number), 20_000, 0);
    }
    chain.open_tenure(mint(1), [101; 32], 19_990);
    chain.open_head(mint(1), 19_990);
    chain.add_key(mint(1), [61; 32], 15, 19_990);
    chain.batch(&commitment(mint(1), 19_998));
    chain.batch(&commitment(mint(1), 19_999));
    chain.ask(mint(1), 19_998, [70; 32]);
    chain.withhold([70; 32]);
    chain.feedback("It works.");
    chain.challenge(mint(2), 19_999, [50; 32]);
    // Several in one slot, of one agent too.
    let slot = chain.lock().confirmed + 1;
    for _ in 0..3 {
        let event = chain.staked(mint(3), 1_000_000);
        chain.send_in(slot, vec![Fact::Event(event)]);
    }
    chain.resolve(mint(2), 19_999, [50; 32]);
    chain.fine([70; 32], 2_000_000);
    chain.close_ask([70; 32]);
    chain.take_over(mint(1), [111; 32], 20_000);
    chain.stake(mint(1), 10_000_000);
    chain.feedback("It still works.");
    chain.pass(5);
    chain
}

/// Tells the first line that differs, which is what a reader of a failure wants.
#[track_caller]
fn same(left: Vec<String>, right: Vec<String>) {
    for (one, other) in left.iter().zip(&right) {
        assert_eq!(one, other);
    }
    assert_eq!(left.len(), right.len());
}

#[tokio::test]
async fn a_backfill_and_following_give_the_same_index() {
    let chain = busy();
    let whole = Rig::new(&chain).await;
    whole.round().await;
    // The same transactions, one slot after the other.
    let (all, last) = {
        let state = chain.lock();
        (state.txs.clone(), state.confirmed)
    };
    let slowly = Fake::new();
    {
        let mut state = slowly.lock();
        state.texts = chain.lock().texts.clone();
        state.owners = chain.lock().owners.clone();
    }
    let rig = Rig::new(&slowly).await;
    for slot in 1..=last {
        {
            let mut state = slowly.lock();
            state.txs.extend(all.iter().filter(|tx| tx.slot == slot).cloned());
            state.confirmed = slot;
        }
        rig.round().await;
    }
    same(rig.contents().await, whole.contents().await);
    let stakes = |rows: Vec<crate::store::AgentRow>| -> Vec<_> {
        rows.iter()
            .map(|row| (row.stake, row.slashed, row.batches, row.challenges_lost, row.paid_through))
            .collect()
    };
    let agents = stakes(rig.index.store.agents(Find::all().order(&["mint"])).await.unwrap());
    assert_eq!(agents, stakes(whole.index.store.agents(Find::all().order(&["mint"])).await.unwrap()));
    let (none, slashed) = (MicroUsdc(0), MicroUsdc(10_000_000));
    // What the fine has left of the former era, and the present one.
    assert_eq!(agents[0], (Some(MicroUsdc(18_000_000)), none, 2, 0, Some(20_000)));
    assert_eq!(agents[1], (Some(none), slashed, 0, 1, Some(20_000)));
    assert_eq!(agents[2], (Some(MicroUsdc(13_000_000)), none, 0, 0, Some(20_000)));
}

#[tokio::test]
async fn what_happens_is_told_once_and_in_order() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    rig.round().await;
    let told = rig.told().await;
    let joined = told.iter().filter(|kind| *kind == "agent_joined").count();
    assert_eq!(joined, 6, "three registered, three paid their first lease");
    let rest: Vec<_> = told.iter().filter(|kind| *kind != "agent_joined").map(String::as_str).collect();
    let expected = [
        "key_added",
        "leaf_asked",
        "batch_withheld",
        "challenge_submitted",
        "challenge_resolved",
        "key_ended",
        "taken_over",
    ];
    let chain_only = rest.iter().filter(|kind| **kind != "reputation_update");
    assert_eq!(chain_only.copied().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn texts_and_heads_of_the_feedback_log_are_read() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let rows = rig.index.store.feedback(Find::all().order(&["number"])).await.unwrap();
    assert_eq!(
        rows.iter().map(|row| row.text.as_deref().unwrap()).collect::<Vec<_>>(),
        ["It works.", "It still works.",]
    );
    assert_eq!(rows[1].previous_head.as_ref(), Some(&rows[0].head));
    assert_eq!(rig.index.status.get().log_head.to_vec(), rows[1].head);
}

#[tokio::test]
async fn a_challenge_is_answered_from_its_answer_on_and_counted_once() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    let counts = async || {
        let row = rig.index.agent_row(&mint(1)).await.unwrap().unwrap();
        (row.open_challenges, row.challenges_answered, row.challenges_lost)
    };
    chain.challenge(mint(1), 19_999, [51; 32]);
    rig.round().await;
    assert_eq!(counts().await, (1, 0, 0));
    let answer = chain.answer([51; 32]);
    rig.round().await;
    assert_eq!(counts().await, (0, 1, 0), "answered, and settled by it");
    // On a fork: it was not answered.
    let was = chain.lock().txs.last().cloned().unwrap();
    chain.vanish(answer);
    chain.pass(1);
    chain.finalize();
    rig.round().await;
    assert_eq!(counts().await, (1, 0, 0));
    let slot = chain.lock().confirmed + 1;
    chain.send_in(slot, was.facts);
    rig.round().await;
    assert_eq!(counts().await, (0, 1, 0));
    chain.close([51; 32]);
    rig.round().await;
    assert_eq!(counts().await, (0, 1, 0), "its closing counts no second one");
    // The same after everything is folded anew, and for a reader who comes late.
    let late = chain.stake(mint(1), 1);
    chain.change(late, |tx| tx.unlisted = true);
    chain.stake(mint(1), 1);
    rig.round().await;
    assert_eq!(counts().await, (0, 1, 0));
    let fresh = Rig::new(&chain).await;
    fresh.round().await;
    assert_eq!(fresh.index.agent_row(&mint(1)).await.unwrap().unwrap().challenges_answered, 1);
}

#[tokio::test]
async fn an_era_that_was_claimed_is_never_shown_again_and_the_next_one_begins() {
    let chain = Fake::new();
    chain.open_tenure(mint(1), [101; 32], 19_990);
    chain.stake(mint(1), 10_000_000);
    chain.queue_unlock(mint(1), 0, 500);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let stakes = async || {
        let rows = rig.index.store.stakes(Find::all().order(&["agent", "era"])).await.unwrap();
        rows.into_iter()
            .map(|row| (row.era, row.stake.0, row.unlock_slot, row.ended_slot, row.claimed_slot))
            .collect::<Vec<_>>()
    };
    let row = async || rig.index.agent_row(&mint(1)).await.unwrap().unwrap();
    assert_eq!(stakes().await, [(0, 10_000_000, Some(500), None, None)]);
    let claimed = chain.claim_stake(mint(1), 0);
    rig.round().await;
    assert_eq!(stakes().await, [(0, 0, None, None, Some(4))]);
    // The tenure has no event of it.
    assert_eq!((row().await.stake, row().await.era), (None, 1));
    chain.stake(mint(1), 3_000_000);
    rig.round().await;
    assert_eq!((row().await.stake, row().await.era), (Some(MicroUsdc(3_000_000)), 1));
    // On a fork: the claim never happened, and neither did the next era.
    let last = chain.lock().txs.last().unwrap().signature;
    chain.vanish(last);
    chain.vanish(claimed);
    chain.pass(1);
    chain.finalize();
    rig.round().await;
    assert_eq!(stakes().await, [(0, 10_000_000, Some(500), None, None)]);
    assert_eq!((row().await.stake, row().await.era), (Some(MicroUsdc(10_000_000)), 0));
}

#[tokio::test]
async fn a_take_over_ends_keys_and_era_and_is_rolled_back_with_its_slot() {
    let chain = busy();
    chain.open_tenure(mint(3), [103; 32], 19_990);
    chain.add_key(mint(3), [63; 32], 6, 19_990);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let before = rig.contents().await;
    let gone = chain.take_over(mint(3), [113; 32], 20_000);
    rig.round().await;
    let row = rig.index.agent_row(&mint(3)).await.unwrap().unwrap();
    assert_eq!((row.tenure, row.tenure_owner, row.era), (Some(2), Some(vec![113; 32]), 1));
    let keys = rig.index.store.keys(Find::by("agent", mint(3))).await.unwrap();
    assert_eq!((keys[0].until_epoch, keys[0].ended_slot.is_some()), (Some(20_000), true));
    let stakes = rig.index.store.stakes(Find::by("agent", mint(3))).await.unwrap();
    assert!(stakes[0].ended_slot.is_some(), "{stakes:?}");
    let tenures = rig.index.store.tenures(Find::by("agent", mint(3)).order(&["number"])).await.unwrap();
    assert_eq!(
        tenures.iter().map(|row| (row.number, row.from_epoch)).collect::<Vec<_>>(),
        [(1, 19_990), (2, 20_001)]
    );
    chain.vanish(gone);
    chain.pass(1);
    chain.finalize();
    rig.round().await;
    same(rig.contents().await, before);
}

#[tokio::test]
async fn keys_and_stakes_from_before_the_nodes_history_are_found_by_their_accounts() {
    let chain = busy();
    chain.open_tenure(mint(3), [103; 32], 19_990);
    chain.add_key(mint(3), [63; 32], 6, 19_990);
    chain.add_key(mint(3), [64; 32], 8, 19_990);
    chain.pass(400);
    chain.finalize();
    // The node lists nothing of what has one account only by its key or era.
    let old: Vec<[u8; 64]> = chain.lock().txs.iter().map(|tx| tx.signature).collect();
    for signature in old {
        chain.change(signature, |tx| {
            let is_old = |fact: &Fact| match fact {
                Fact::Event(event) => matches!(event.name(), "KeyAdded" | "TenureOpened" | "StakeLocked"),
                _ => false,
            };
            let of_third = crate::parse::agent_of;
            tx.unlisted = tx.facts.iter().any(|fact| {
                is_old(fact) && matches!(fact, Fact::Event(event) if of_third(event) == Some(mint(3)))
            });
        });
    }
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let keys = rig.index.store.keys(Find::by("agent", mint(3)).order(&["key"])).await.unwrap();
    assert_eq!(keys.iter().map(|row| (row.key[0], row.scopes)).collect::<Vec<_>>(), [(63, 6), (64, 8)]);
    let row = rig.index.agent_row(&mint(3)).await.unwrap().unwrap();
    assert_eq!((row.stake, row.tenure), (Some(MicroUsdc(13_000_000)), Some(1)));
}

#[tokio::test]
async fn a_sale_is_seen_at_the_next_look_and_only_the_sold_agent_is_asked_for() {
    let chain = Fake::new();
    for number in 1..=5 {
        chain.register(mint(number), [100 + number; 32]);
    }
    let rig = Rig::new(&chain).await;
    rig.round().await;
    // Two a look, so that the agents take turns.
    let mut config = rig.index.config.clone();
    config.chain.owner_checks = 2;
    let (store, ledger) = (rig.index.store.clone(), rig.index.ledger.clone());
    let index = crate::index::Index::open(store, ledger, config, Default::default()).await.unwrap();
    let registry = crate::ingest::Registry::new(index.clone());
    registry.look().await.unwrap();
    let calls = |name: &str| chain.lock().calls.get(name).copied().unwrap_or(0);
    let (agents, accounts) = (calls("agent"), calls("accounts"));
    for _ in 0..3 {
        registry.check().await.unwrap();
    }
    assert_eq!((calls("agent"), calls("accounts")), (agents, accounts + 3), "nobody was sold");
    // A buyer, whose own Nano account is not known; the seller's is not the agent's any more.
    let mut row = index.agent_row(&mint(4)).await.unwrap().unwrap();
    assert_eq!(row.owner.as_deref(), Some([104; 32].as_slice()));
    row.nano_address = Some("nano_seller".to_owned());
    index.write_rows(crate::store::Commit { agents: vec![row], ..Default::default() }).await.unwrap();
    chain.sell(mint(4), [200; 32]);
    for _ in 0..3 {
        registry.check().await.unwrap();
    }
    let row = index.agent_row(&mint(4)).await.unwrap().unwrap();
    assert_eq!((row.owner.as_deref(), row.nano_address), (Some([200; 32].as_slice()), None));
    assert!(
        row.search.contains(&solana_address::Address::new_from_array([200; 32]).to_string().to_lowercase())
    );
    assert_eq!(calls("agent"), agents + 1);
    // No agent any more.
    chain.lock().owners.remove(&mint(2));
    for _ in 0..6 {
        registry.check().await.unwrap();
    }
    assert_eq!(calls("agent"), agents + 2, "it is asked for once, and nobody else is");
}

#[tokio::test]
async fn a_vanished_transaction_is_rolled_back_and_retracted() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let before = rig.contents().await;
    // On a fork: another agent joins, a stake grows, a batch and a challenge appear.
    let gone = [
        chain.lease(mint(1), 20_005, 1),
        chain.stake(mint(1), 5_000_000),
        chain.batch(&commitment(mint(1), 20_000)),
        chain.challenge(mint(1), 20_000, [51; 32]),
        chain.feedback("Said on a fork."),
        chain.lease(mint(4), 20_000, 0),
    ];
    rig.round().await;
    let with = rig.contents().await;
    assert_ne!(before, with);
    for signature in gone {
        chain.vanish(signature);
    }
    chain.lock().texts.remove(&2);
    chain.pass(3);
    chain.finalize();
    rig.round().await;
    let mut after = rig.contents().await;
    // The agent that joined on the fork stays as an address that somebody has seen, with nothing.
    after.retain(|line| !line.starts_with("AgentRow") || !line.contains(&format!("mint: {}", mint(4))));
    same(after, before);
    let told = rig.index.store.stream(Find::all().order(&["id"])).await.unwrap();
    let retracted: Vec<_> = told.iter().filter(|it| !it.row.body.contains("\"retracts\":null")).collect();
    assert_eq!(retracted.len(), 2, "a joining and a challenge");
    assert_eq!(rig.index.status.get().finalized, chain.lock().confirmed);
}

#[tokio::test]
async fn a_transaction_that_landed_again_in_another_slot_is_moved() {
    let chain = busy();
    let moved = chain.stake(mint(1), 5_000_000);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    chain.pass(4);
    let slot = chain.lock().confirmed;
    chain.change(moved, |tx| tx.slot = slot);
    chain.pass(2);
    chain.finalize();
    rig.round().await;
    let fresh = Rig::new(&chain).await;
    fresh.round().await;
    same(rig.contents().await, fresh.contents().await);
    let row = rig.index.agent_row(&mint(1)).await.unwrap().unwrap();
    assert_eq!(row.stake, Some(MicroUsdc(23_000_000)));
}

#[tokio::test]
async fn what_lands_again_in_another_slot_is_told_taken_back_and_told_again() {
    let chain = busy();
    let moved = chain.challenge(mint(3), 20_000, [52; 32]);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let place = async || {
        let told =
            rig.index.store.stream(Find::by("kind", "challenge_submitted").order(&["id"])).await.unwrap();
        let of = |body: &str| serde_json::from_str::<serde_json::Value>(body).unwrap()["retracts"].as_i64();
        told.into_iter().map(|it| (it.id, it.row.slot.unwrap(), of(&it.row.body))).collect::<Vec<_>>()
    };
    let first = place().await[1];
    for round in 0..2 {
        chain.pass(4);
        let slot = chain.lock().confirmed;
        chain.change(moved, |tx| tx.slot = slot);
        chain.pass(2);
        if round == 0 {
            // Both are only confirmed until now.
            chain.lock().finalized = slot - 1;
        } else {
            chain.finalize();
        }
        rig.round().await;
    }
    let told = place().await;
    let taken_back: Vec<i64> = told.iter().filter_map(|(_, _, retracts)| *retracts).collect();
    let of_moved: Vec<_> = told.iter().skip(1).filter(|(_, _, retracts)| retracts.is_none()).collect();
    assert_eq!(taken_back.len() + 1, of_moved.len(), "{told:?}");
    assert!(taken_back.contains(&first.0), "{told:?}");
    assert!(taken_back.iter().all(|id| of_moved.iter().any(|it| it.0 == *id)), "{told:?}");
    let last = of_moved.last().unwrap();
    assert_eq!(last.1, i64::try_from(chain.lock().confirmed).unwrap() - 2, "{told:?}");
    assert!(!taken_back.contains(&last.0), "{told:?}");
}

#[tokio::test]
async fn a_node_whose_lists_are_behind_makes_nothing_vanish() {
    let chain = busy();
    chain.finalize();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let stake = chain.stake(mint(1), 5_000_000);
    rig.round().await;
    let before = rig.contents().await;
    chain.finalize();
    chain.lock().lists_behind = 1;
    assert_eq!(rig.ingest.round(false).await.unwrap_err().code(), 9615);
    assert_eq!(rig.contents().await, before, "nothing is rolled back");
    assert!(rig.index.status.get().finalized < chain.lock().finalized);
    chain.lock().lists_behind = 0;
    rig.round().await;
    assert_eq!(rig.index.status.get().finalized, chain.lock().finalized);
    assert_eq!(rig.contents().await, before);
    assert!(chain.lock().txs.iter().any(|tx| tx.signature == stake));
}

#[tokio::test]
async fn a_backfill_whose_accounts_could_not_be_read_is_settled_in_the_next_round() {
    let chain = busy();
    chain.pass(400);
    chain.finalize();
    let whole = Rig::new(&chain).await;
    assert!(whole.index.status.get().epoch > 20_000, "before the first round it is the clock's");
    whole.round().await;
    let mut failed = 0;
    loop {
        let rig = Rig::new(&chain).await;
        chain.lock().accounts_fail = failed + 1;
        if rig.ingest.round(false).await.is_ok() {
            break;
        }
        failed += 1;
        rig.round().await;
        assert_eq!(rig.index.store.meta().await.unwrap()["settled"], "1");
        assert_eq!(standing(&rig).await, standing(&whole).await, "request {failed}");
    }
    assert!(failed >= 2, "one for texts and one for the rest: {failed}");
}

#[tokio::test]
async fn a_transaction_that_only_the_finalized_history_lists_is_taken() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    let late = chain.stake(mint(1), 5_000_000);
    chain.change(late, |tx| tx.unlisted = true);
    chain.stake(mint(1), 1_000_000);
    rig.round().await;
    chain.change(late, |tx| tx.unlisted = false);
    chain.finalize();
    rig.round().await;
    let row = rig.index.agent_row(&mint(1)).await.unwrap().unwrap();
    assert_eq!(row.stake, Some(MicroUsdc(24_000_000)));
    let fresh = Rig::new(&chain).await;
    fresh.round().await;
    same(rig.contents().await, fresh.contents().await);
}

#[tokio::test]
async fn a_gap_is_proven_by_its_number_and_refilled_from_the_accounts_history() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let hole = chain.stake(mint(1), 5_000_000);
    // The program's list lacks it; the account's has it.
    chain.change(hole, |tx| tx.unlisted = true);
    chain.stake(mint(1), 1_000_000);
    rig.round().await;
    let gaps = rig.index.store.gaps(Find::all()).await.unwrap();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!((gaps[0].first, gaps[0].last, gaps[0].state.as_str()), (1, 1, "refilled"));
    let events = rig.index.events_of(&mint(1)).await.unwrap();
    let numbers: Vec<i64> =
        events.iter().filter(|row| row.name == "StakeLocked").map(|row| row.sequence).collect();
    assert_eq!(numbers, [0, 0, 1, 2], "of the former era and of the present one");
}

#[tokio::test]
async fn what_no_history_has_any_more_is_repaired_from_the_state() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let hole = chain.stake(mint(1), 5_000_000);
    chain.stake(mint(1), 1_000_000);
    let (before, after) = {
        let state = chain.lock();
        let at = |number: usize| state.txs[state.txs.len() - number].clone();
        (at(2), at(1))
    };
    assert_eq!(before.signature, hole);
    // Pruned: the accounts still say 16 USDC in the new era, as the later event does.
    chain.vanish(hole);
    rig.round().await;
    assert_eq!(after.facts.len(), 1);
    let gaps = rig.index.store.gaps(Find::all()).await.unwrap();
    assert_eq!((gaps[0].first, gaps[0].last, gaps[0].state.as_str()), (1, 1, "from_state"));
    assert_eq!(rig.index.agent_row(&mint(1)).await.unwrap().unwrap().stake, Some(MicroUsdc(24_000_000)));
    assert_eq!(rig.index.status.get().gaps_open, 1, "as it was when it was looked for");
    rig.round().await;
    assert_eq!(rig.index.status.get().gaps_open, 0);
}

#[tokio::test]
async fn a_listed_transaction_that_the_node_holds_back_stops_the_cursor() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let before = rig.index.status.get().slot;
    let hole = chain.stake(mint(1), 5_000_000);
    chain.change(hole, |tx| tx.withheld = true);
    chain.pass(3);
    assert_eq!(rig.ingest.round(false).await.unwrap_err().code(), 9614);
    assert_eq!(rig.index.status.get().slot, before, "nothing behind the hole is indexed");
    chain.change(hole, |tx| tx.withheld = false);
    rig.round().await;
    assert_eq!(rig.index.status.get().slot, before + 4);
}

#[tokio::test]
async fn an_announced_transaction_that_is_not_listed_yet_stops_the_cursor() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let before = rig.index.status.get().slot;
    let late = chain.stake(mint(1), 5_000_000);
    let slot = chain.lock().confirmed;
    chain.change(late, |tx| tx.unlisted = true);
    rig.announcements.announce(Announced { slot, signature: late });
    assert_eq!(rig.ingest.round(false).await.unwrap_err().code(), 9615);
    assert_eq!(rig.index.status.get().slot, before);
    chain.change(late, |tx| tx.unlisted = false);
    rig.round().await;
    assert!(rig.announcements.is_empty());
    // One that was on a fork never comes: patience ends, and the finalized history decides.
    rig.announcements.announce(Announced { slot: slot + 1, signature: [1; 64] });
    chain.pass(2);
    assert_eq!(rig.ingest.round(false).await.unwrap_err().code(), 9615);
    rig.ingest.round(true).await.unwrap();
    assert_eq!(rig.index.status.get().slot, slot + 2);
}

#[tokio::test]
async fn listing_the_same_again_changes_nothing() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let before = rig.contents().await;
    // A node that forgot the cursor: everything comes a second time.
    rig.index.writer().await.cursor = 0;
    rig.round().await;
    same(rig.contents().await, before);
}

#[tokio::test]
async fn a_process_that_dies_anywhere_goes_on_to_the_same_index() {
    let chain = busy();
    let whole = Rig::new(&chain).await;
    whole.round().await;
    let expected = whole.contents().await;
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let total = chain.lock().txs.len();
    for most in 0..=total {
        // It dies when the node has given so many transactions.
        let rig = Rig::on(&chain, folder.clone()).await;
        let hidden: Vec<[u8; 64]> = chain.lock().txs.iter().skip(most).map(|tx| tx.signature).collect();
        for signature in &hidden {
            chain.change(*signature, |tx| tx.withheld = true);
        }
        let done = rig.ingest.round(false).await;
        assert_eq!(done.is_err(), most < total, "after {most}");
        for signature in &hidden {
            chain.change(*signature, |tx| tx.withheld = false);
        }
        drop(rig.ingest);
        rig.index.store.close().await;
        drop(rig.index);
    }
    let rig = Rig::on(&chain, folder).await;
    rig.round().await;
    same(rig.contents().await, expected);
    assert_eq!(standing(&rig).await, standing(&whole).await);
}

/// How agents stand, without what the registry said.
async fn standing(rig: &Rig) -> Vec<(Option<MicroUsdc>, MicroUsdc, i64, Vec<u8>, i64, Option<i64>)> {
    let rows = rig.index.store.agents(Find::all().order(&["mint"])).await.unwrap();
    let of = |row: crate::store::AgentRow| {
        (row.stake, row.slashed, row.batches, row.head_digest, row.challenges_lost, row.paid_through)
    };
    rows.into_iter().map(of).collect()
}

#[tokio::test]
async fn what_is_final_is_read_as_final_and_not_compared_again() {
    let chain = busy();
    chain.pass(400);
    chain.finalize();
    chain.stake(mint(1), 1_000_000);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let (finalized, confirmed) = {
        let state = chain.lock();
        (state.finalized, state.confirmed)
    };
    let now = rig.index.status.get();
    assert_eq!((now.finalized, now.slot), (finalized, confirmed));
    let asked = chain.lock().calls["transaction"];
    assert_eq!(asked, chain.lock().txs.len(), "each was asked for once");
    let slowly = Rig::new(&busy()).await;
    slowly.round().await;
    assert_eq!(standing(&rig).await[1..], standing(&slowly).await[1..]);
}

#[tokio::test]
async fn an_interrupted_backfill_is_settled_by_the_next_process() {
    settled_after(1).await;
}

#[tokio::test]
async fn a_process_that_died_before_it_read_the_accounts_is_settled_though_nothing_new_happened() {
    settled_after(0).await;
}

async fn settled_after(slots: u64) {
    let chain = busy();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let rig = Rig::on(&chain, folder.clone()).await;
    // The events are there, the accounts were not read, and the process is gone.
    let mut rows = Vec::new();
    for mut row in {
        rig.round().await;
        rig.index.store.agents(Find::all()).await.unwrap()
    } {
        row.stake = Some(MicroUsdc(1));
        row.head_digest = vec![0; 32];
        rows.push(row);
    }
    let meta = vec![("settled", "0".to_owned())];
    let commit = crate::store::Commit { agents: rows, meta, ..Default::default() };
    rig.index.store.commit(commit).await.unwrap();
    drop(rig.ingest);
    rig.index.store.close().await;
    drop(rig.index);
    chain.pass(slots);
    let again = Rig::on(&chain, folder).await;
    again.round().await;
    let whole = Rig::new(&chain).await;
    whole.round().await;
    assert_eq!(standing(&again).await, standing(&whole).await);
    assert_eq!(again.index.store.meta().await.unwrap()["settled"], "1");
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_follows_a_chain_with_forks_as_sqlite_does() {
    let cluster = crate::testing::Cluster::start();
    let chain = busy();
    let folder = || Arc::new(tempfile::tempdir().unwrap());
    let rigs = [Rig::with(&chain, folder(), &cluster.url()).await, Rig::new(&chain).await];
    for rig in &rigs {
        rig.round().await;
    }
    let gone =
        [chain.lease(mint(1), 20_005, 1), chain.challenge(mint(1), 20_000, [51; 32]), chain.feedback("?")];
    let hole = chain.stake(mint(3), 1_000_000);
    chain.change(hole, |tx| tx.unlisted = true);
    chain.stake(mint(3), 1_000_000);
    for rig in &rigs {
        rig.round().await;
    }
    for signature in gone {
        chain.vanish(signature);
    }
    chain.lock().texts.remove(&2);
    chain.pass(3);
    chain.finalize();
    for rig in &rigs {
        rig.round().await;
    }
    let [postgres, sqlite] = &rigs;
    same(postgres.contents().await, sqlite.contents().await);
    assert_eq!(postgres.told().await, sqlite.told().await);
    let gaps = postgres.index.store.gaps(Find::all()).await.unwrap();
    assert_eq!(gaps, sqlite.index.store.gaps(Find::all()).await.unwrap());
    // A process that ends gives the writer's lock back.
    postgres.index.store.close().await;
    let again = crate::store::open(&cluster.url()).await;
    assert!(again.is_ok());
}

#[tokio::test]
async fn a_database_of_another_cluster_fails() {
    let chain = busy();
    let rig = Rig::new(&chain).await;
    let meta = vec![("genesis", "another".to_owned())];
    rig.index.store.commit(crate::store::Commit { meta, ..Default::default() }).await.unwrap();
    let (store, config) = (rig.index.store.clone(), rig.index.config.clone());
    let opened = crate::index::Index::open(store, Arc::new(chain.clone()), config, Default::default()).await;
    assert_eq!(opened.unwrap_err().code(), 9612);
}

#[tokio::test]
async fn a_lease_that_the_clock_ends_is_told_once() {
    let chain = busy();
    chain.lock().seconds_per_slot = 86_400;
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let ended = |told: Vec<String>| told.iter().filter(|kind| *kind == "agent_deactivated").count();
    assert_eq!(ended(rig.told().await), 3, "these slots are more than three epochs");
    chain.pass(1);
    rig.round().await;
    assert_eq!(ended(rig.told().await), 3);
    let epoch = rig.index.status.get().epoch;
    chain.lease(mint(1), epoch, 2);
    rig.round().await;
    chain.pass(10);
    rig.round().await;
    assert_eq!(ended(rig.told().await), 4, "a second life ends a second time");
    // The streams forget; what was published is not published again.
    let remove = vec![crate::store::Remove::StreamBefore(i64::MAX)];
    rig.index.store.commit(crate::store::Commit { remove, ..Default::default() }).await.unwrap();
    chain.pass(1);
    rig.round().await;
    assert_eq!(ended(rig.told().await), 0);
}

#[test]
fn chunks_end_with_a_slot() {
    let listed = |slot: u64, number: u8| Listed { slot, signature: [number; 64], failed: false };
    let all = [listed(1, 1), listed(2, 2), listed(2, 3), listed(2, 4), listed(3, 5)];
    let sizes = |size| slot_chunks(&all, size).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(sizes(2), [4, 1]);
    assert_eq!(sizes(1), [1, 3, 1]);
    assert_eq!(sizes(9), [5]);
    assert!(slot_chunks(&[], 3).is_empty());
}

/// Twenty histories; with ZX1_SOAK=1 a thousand.
fn cases() -> u32 {
    if std::env::var_os("ZX1_SOAK").is_some_and(|it| it == "1") { 1_000 } else { 20 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]
    /// Whatever is hidden, moved or lost on the way: once all is final and listed, the index is the one that
    /// reads the chain for the first time.
    #[test]
    fn any_history_ends_in_the_same_index(steps in proptest::collection::vec((0_u8..14, 1_u8..4), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let chain = Fake::new();
            let rig = Rig::new(&chain).await;
            let mut epoch = 19_000;
            let mut hidden = Vec::new();
            for (step, number) in steps {
                let agent = mint(number);
                match step {
                    0 | 1 => { chain.stake(agent, 1_000_000); }
                    2 => { chain.lease(agent, 20_000, 1); }
                    3 => { epoch += 1; chain.batch(&commitment(agent, epoch)); }
                    4 => {
                        let late = chain.stake(agent, 3_000_000);
                        chain.change(late, |tx| tx.unlisted = true);
                        hidden.push(late);
                    }
                    5 => {
                        // The newest slot was on a fork.
                        let newest = chain.lock().txs.last().cloned();
                        if let Some(tx) = newest.filter(|tx| tx.slot > chain.lock().finalized) {
                            hidden.retain(|it| *it != tx.signature);
                            chain.vanish(tx.signature);
                        }
                    }
                    6 => rig.round().await,
                    7 => {
                        for late in hidden.drain(..) {
                            chain.change(late, |tx| tx.unlisted = false);
                        }
                        chain.finalize();
                    }
                    8 => { chain.add_key(agent, [epoch as u8; 32], 15, 20_000); epoch += 1; }
                    9 => match chain.tenure(agent) {
                        None => { chain.open_tenure(agent, [number; 32], 20_000); }
                        Some(tenure) => { chain.take_over(agent, [tenure.number as u8; 32], 20_001); }
                    },
                    10 => {
                        epoch += 1;
                        chain.batch(&commitment(agent, epoch));
                        let ask = [epoch as u8; 32];
                        chain.ask(agent, epoch, ask);
                        if number == 1 { chain.withhold(ask) } else { chain.show(ask) };
                    }
                    11 => {
                        epoch += 1;
                        chain.stake(agent, 1_000_000);
                        chain.batch(&commitment(agent, epoch));
                        let challenge = [epoch as u8; 32];
                        chain.challenge(agent, epoch, challenge);
                        match number {
                            1 => { chain.replace(challenge, [99; 32]); }
                            2 => { chain.answer(challenge); }
                            _ => { chain.resolve(agent, epoch, challenge); }
                        }
                    }
                    _ => chain.pass(2),
                }
            }
            for late in hidden.drain(..) {
                chain.change(late, |tx| tx.unlisted = false);
            }
            chain.pass(1);
            chain.finalize();
            rig.round().await;
            rig.round().await;
            let fresh = Rig::new(&chain).await;
            fresh.round().await;
            let rows = |lines: Vec<String>| -> Vec<String> {
                lines.into_iter().filter(|line| !line.starts_with("AgentRow")).collect()
            };
            same(rows(rig.contents().await), rows(fresh.contents().await));
            for row in fresh.index.store.agents(Find::all()).await.unwrap() {
                let here = rig.index.agent_row(&row.mint).await.unwrap().unwrap();
                assert_eq!(
                    (
                        here.stake,
                        here.paid_through,
                        here.batches,
                        here.head_digest,
                        here.withheld,
                        here.lease_paid,
                    ),
                    (row.stake, row.paid_through, row.batches, row.head_digest, row.withheld, row.lease_paid),
                );
                assert_eq!(
                    (here.tenure, here.era, here.open_challenges, here.slashed, here.asks_open, here.asks_shown),
                    (row.tenure, row.era, row.open_challenges, row.slashed, row.asks_open, row.asks_shown),
                );
            }
        });
    }
}
