//! What counts, and what is shown apart (decision D2).
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{Facts, compute, take, uncovered};
use crate::merge::new_agent;
use crate::store::{BatchRow, ContractRow, ConversationRow, EnvelopeRow, RatingRow};
use crate::testing::micros;
use serde_json::json;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::record::KIND_SELECTION;
use zx1_protocol::reputation::Standing;
use zx1_protocol::units::Epoch;

const ME: AgentId = AgentId([1; 32]);
const RATER: AgentId = AgentId([2; 32]);

fn batch(epoch: i64, holds: bool) -> BatchRow {
    let content = json!({ "holds": holds, "slot_end": 900, "message_count": 3, "disputes": 1 });
    BatchRow {
        agent: ME,
        epoch,
        covers_from: epoch,
        tenure: 1,
        content: Some(content.to_string()),
        ..Default::default()
    }
}

/// Nothing, in the first tenure.
fn present() -> Facts {
    Facts { tenure: 1, ..Facts::default() }
}

fn held(epoch: i64, entry: i64, conversation: u8, score: i64) -> RatingRow {
    RatingRow {
        agent: ME,
        epoch,
        entry,
        rater: RATER,
        conversation: ConversationId([conversation; 16]),
        score,
        outcome: 2,
        role: 0,
        slot: 10,
    }
}

fn heard(of: &RatingRow, epoch: u64) -> EnvelopeRow {
    EnvelopeRow {
        hash: [of.conversation.0.to_vec(), of.score.to_be_bytes().to_vec()].concat(),
        rater: of.rater,
        target: ME,
        conversation: of.conversation,
        score: of.score,
        outcome: of.outcome,
        role: of.role,
        slot: of.slot,
        timestamp: micros(epoch) as i64,
        ..EnvelopeRow::default()
    }
}

fn selected(conversation: u8, by: AgentId) -> ConversationRow {
    ConversationRow {
        conversation: ConversationId([conversation; 16]),
        agent: by,
        other: ME,
        kind: i64::from(KIND_SELECTION),
        epoch: 5,
    }
}

#[test]
fn a_rating_counts_with_its_envelope_and_a_bound_task() {
    let rating = held(5, 0, 7, 50);
    let mut facts = Facts { batches: vec![batch(5, true)], ratings: vec![rating.clone()], ..present() };
    let standing = |facts: &Facts| compute(&ME, facts, Epoch(6)).standings[&(5, 0)];
    assert_eq!(standing(&facts), Standing::Unbound);
    facts.envelopes = vec![heard(&rating, 5)];
    assert_eq!(standing(&facts), Standing::Unbound);
    facts.conversations = vec![selected(7, RATER)];
    assert_eq!(standing(&facts), Standing::Bound);
    let reputation = compute(&ME, &facts, Epoch(6));
    let batch = reputation.present().counted.vector();
    assert_eq!((batch.reliability_score, batch.total_tasks), (50_000, 1));
    assert_eq!(batch.total_disputes, 1, "the batch's own counter");
    // A third party's selection binds nothing; a settled contract does.
    facts.conversations = vec![selected(7, AgentId([3; 32]))];
    assert_eq!(standing(&facts), Standing::Unbound);
    facts.contracts = vec![ContractRow {
        conversation: Some(ConversationId([7; 16])),
        settled: 1,
        ..ContractRow::default()
    }];
    assert_eq!(standing(&facts), Standing::Bound);
}

#[test]
fn a_batch_that_does_not_hold_counts_for_nothing() {
    let rating = held(5, 0, 7, 50);
    let facts = Facts {
        batches: vec![batch(5, false), BatchRow { epoch: 6, ..BatchRow::default() }],
        ratings: vec![rating.clone()],
        envelopes: vec![heard(&rating, 5)],
        conversations: vec![selected(7, RATER)],
        ..present()
    };
    let reputation = compute(&ME, &facts, Epoch(6));
    let batch = reputation.present().counted.vector();
    assert_eq!((batch.batches, batch.total_tasks), (0, 0));
    assert_eq!(reputation.real_time.total_tasks, 1, "it was heard");
}

#[test]
fn a_rating_that_the_batch_left_out_counts_as_well() {
    let left_out = held(5, 0, 8, -40);
    let facts = Facts {
        batches: vec![batch(5, true)],
        envelopes: vec![heard(&left_out, 5)],
        conversations: vec![selected(8, RATER)],
        ..present()
    };
    let reputation = compute(&ME, &facts, Epoch(6));
    assert_eq!(reputation.present().tally.left_out, 1);
    assert_eq!(reputation.present().counted.vector().reliability_score, -40_000);
    // In an epoch that no batch covers it is only heard.
    let later = Facts { envelopes: vec![heard(&left_out, 9)], ..facts };
    let reputation = compute(&ME, &later, Epoch(10));
    assert_eq!((reputation.present().tally.left_out, reputation.real_time.total_tasks), (0, 1));
}

#[test]
fn one_task_is_rated_once() {
    let (first, second) = (held(5, 0, 7, 50), held(5, 1, 7, 90));
    let facts = Facts {
        batches: vec![batch(5, true)],
        ratings: vec![first.clone(), second.clone()],
        envelopes: vec![heard(&first, 5), heard(&second, 5)],
        conversations: vec![selected(7, RATER)],
        ..present()
    };
    let reputation = compute(&ME, &facts, Epoch(6));
    assert_eq!(reputation.standings[&(5, 1)], Standing::Repeated);
    let turn = reputation.present();
    assert_eq!((turn.tally.bound, turn.tally.repeated), (1, 1));
    assert_eq!(turn.counted.vector().reliability_score, 50_000);
}

#[test]
fn a_batch_that_withholds_a_leaf_counts_for_nothing() {
    let rating = held(5, 0, 7, 50);
    let facts = Facts {
        batches: vec![BatchRow { withheld_slot: Some(9), ..batch(5, true) }],
        ratings: vec![rating.clone()],
        envelopes: vec![heard(&rating, 5)],
        conversations: vec![selected(7, RATER)],
        ..present()
    };
    let reputation = compute(&ME, &facts, Epoch(6));
    assert_eq!(reputation.turns, std::collections::BTreeMap::new());
    assert!(reputation.standings.is_empty());
}

#[test]
fn who_buys_an_agent_buys_no_reputation() {
    let (before, after) = (held(5, 0, 7, 50), held(9, 0, 8, -20));
    // The same task, rated again after the sale, counts once.
    let again = held(9, 1, 7, 100);
    let facts = Facts {
        batches: vec![batch(5, true), BatchRow { tenure: 2, ..batch(9, true) }],
        ratings: vec![before.clone(), after.clone(), again.clone()],
        envelopes: vec![heard(&before, 5), heard(&after, 9), heard(&again, 9)],
        conversations: vec![selected(7, RATER), selected(8, RATER)],
        tenure: 2,
        tenure_from: Epoch(8),
        ..present()
    };
    let reputation = compute(&ME, &facts, Epoch(10));
    let scores = |tenure: u32| reputation.turns[&tenure].counted.vector().reliability_score;
    assert_eq!((scores(1), scores(2)), (50_000, -20_000));
    assert_eq!(reputation.standings[&(9, 1)], Standing::Repeated);
    assert_eq!(reputation.real_time.total_tasks, 2, "what was heard before the take-over is the seller's");
    let mut row = new_agent(ME);
    take(&mut row, &reputation, 10);
    assert_eq!(row.reliability, -20_000);
    // Taken over, and no batch yet: nothing.
    let reputation = compute(&ME, &Facts { tenure: 3, tenure_from: Epoch(10), ..facts }, Epoch(10));
    assert_eq!(reputation.present().counted.vector(), Default::default());
    assert_eq!(reputation.real_time.total_tasks, 0);
}

#[test]
fn epochs_that_no_batch_covers_are_counted_and_a_marked_batch_covers_none() {
    let covers = |from: i64, epoch: i64| BatchRow { covers_from: from, ..batch(epoch, true) };
    let batches = [covers(3, 5), covers(8, 9), covers(10, 10)];
    assert_eq!(uncovered(&batches, Epoch(1), None), 4, "1, 2, 6 and 7");
    let marked = [covers(3, 5), BatchRow { withheld_slot: Some(1), ..covers(6, 9) }, covers(10, 10)];
    assert_eq!(uncovered(&marked, Epoch(3), None), 4);
    // A seller's last epochs without a batch are known when the next tenure begins.
    assert_eq!(uncovered(&batches, Epoch(3), Some(Epoch(8))), 2);
    assert_eq!(uncovered(&batches, Epoch(8), None), 0);
    assert_eq!(uncovered(&[], Epoch(3), Some(Epoch(8))), 5);
    assert_eq!(uncovered(&[], Epoch(9), Some(Epoch(8))), 0, "the head was opened later");
}

#[test]
fn idle_epochs_decay_and_only_what_changed_is_news() {
    let rating = held(5, 0, 7, 100);
    let facts = Facts {
        batches: vec![batch(5, true)],
        ratings: vec![rating.clone()],
        envelopes: vec![heard(&rating, 5)],
        conversations: vec![selected(7, RATER)],
        ..present()
    };
    let mut row = new_agent(ME);
    assert!(take(&mut row, &compute(&ME, &facts, Epoch(6)), 6));
    assert!(!take(&mut row, &compute(&ME, &facts, Epoch(12)), 12), "six epochs are free");
    assert!(take(&mut row, &compute(&ME, &facts, Epoch(13)), 13));
    assert_eq!(row.reliability, 95_000);
}
