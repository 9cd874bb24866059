use proptest::prelude::*;
use std::collections::HashSet;
use zx1_interface::accounts::BatchAccount;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::PayloadError;
use zx1_protocol::reputation::{
    BatchFacts, Binding, Event, Ledger, MAX_REPUTATION, Rating, ReputationError, Standing, State, Turn,
    Vector, uncovered,
};
use zx1_protocol::units::{Epoch, Slot};

fn rating(score: i8, outcome: u8, role: u8) -> Rating {
    Rating { score, outcome, role, is_dispute: false }
}

fn batch(epoch: u64) -> BatchFacts {
    BatchFacts { epoch: Epoch(epoch), tenure: 1, slot_end: Slot(epoch * 10), message_count: 1, disputes: 0 }
}

fn event(number: u8, rating: Rating) -> Event {
    Event {
        rating,
        from: AgentId([number; 32]),
        conversation: ConversationId([number; 16]),
        slot: Slot(number.into()),
        in_batch: true,
        envelope_at_hand: true,
        binding: Some(Binding::Selection),
    }
}

fn rated(ratings: &[Rating]) -> Vector {
    let mut state = State::default();
    for rating in ratings {
        state.rate(rating).unwrap();
    }
    state.vector()
}

#[test]
fn a_new_agent_is_neutral() {
    assert_eq!(State::default().vector(), Vector::default());
}

#[test]
fn a_score_is_the_mean_in_thousandths_toward_zero() {
    let up = rated(&[rating(1, 1, 0), rating(0, 1, 0), rating(1, 1, 0)]);
    // 1000, then (1000 + 0) / 2 = 500, then (500 × 2 + 1000) / 3 = 666.
    assert_eq!((up.reliability_score, up.total_tasks), (666, 3));
    let down = rated(&[rating(-1, 1, 0), rating(0, 1, 0), rating(-1, 1, 0)]);
    assert_eq!(down.reliability_score, -666);
}

#[test]
fn roles_have_scores_of_their_own_and_share_the_cooperation() {
    let both = rated(&[rating(100, 2, 0), rating(-50, 0, 1), rating(-100, 0, 1)]);
    assert_eq!((both.reliability_score, both.notary_accuracy), (100_000, -75_000));
    assert_eq!((both.total_tasks, both.total_notarized), (1, 2));
    // +100, then 0, then -100 / 3.
    assert_eq!(both.cooperation_index, -33_333);
}

#[test]
fn disputes_count_by_hearsay_and_by_batches_own_counters() {
    let heard = rated(&[Rating { is_dispute: true, ..rating(0, 0, 0) }]);
    assert_eq!(heard.total_disputes, 1);
    let mut ledger = Ledger::default();
    let events = [event(1, Rating { is_dispute: true, ..rating(0, 0, 0) })];
    ledger.apply_batch(&BatchFacts { disputes: 4, ..batch(1) }, &events).unwrap();
    assert_eq!(ledger.turn(1).counted.vector().total_disputes, 4);
}

#[test]
fn a_rating_out_of_range_changes_nothing() {
    let mut ledger = Ledger::default();
    for (bad, error) in [
        (rating(101, 0, 0), PayloadError::Score),
        (rating(-128, 0, 0), PayloadError::Score),
        (rating(0, 3, 0), PayloadError::Outcome),
        (rating(0, 0, 2), PayloadError::Role),
    ] {
        let events = [event(1, rating(1, 1, 0)), event(2, bad)];
        assert_eq!(ledger.apply_batch(&batch(1), &events), Err(ReputationError::Rating(error)));
        assert_eq!(State::default().rate(&bad), Err(ReputationError::Rating(error)));
        assert_eq!(ledger, Ledger::default());
    }
}

#[test]
fn batches_come_in_the_order_of_their_epochs() {
    let mut ledger = Ledger::default();
    ledger.apply_batch(&batch(5), &[]).unwrap();
    for epoch in [5, 4, 0] {
        let error = ReputationError::NotIncreasing { last: Epoch(5) };
        assert_eq!(ledger.apply_batch(&batch(epoch), &[event(1, rating(1, 1, 0))]), Err(error));
    }
    assert_eq!(
        ledger.turn(1).counted.vector(),
        Vector { batches: 1, last_active_slot: Slot(50), ..Vector::default() }
    );
}

#[test]
fn decay_begins_with_the_seventh_idle_epoch() {
    let mut state = State::default();
    state.begin_batch(&batch(10)).unwrap();
    state.rate(&rating(100, 2, 0)).unwrap();
    state.rate(&rating(100, 2, 1)).unwrap();
    let scores = |epoch| {
        let vector = state.at(Epoch(epoch)).vector();
        (vector.reliability_score, vector.cooperation_index, vector.notary_accuracy)
    };
    // In epoch 17 the six epochs 11 to 16 have passed.
    assert_eq!(scores(17), (100_000, 100_000, 100_000));
    assert_eq!(scores(18), (95_000, 95_000, 100_000));
    assert_eq!(scores(19), (90_250, 90_250, 100_000));
    assert_eq!(scores(u64::MAX), (0, 0, 100_000));
    assert_eq!(scores(0), (100_000, 100_000, 100_000));
}

#[test]
fn what_is_not_positive_does_not_decay() {
    let mut state = State::default();
    state.begin_batch(&batch(10)).unwrap();
    state.rate(&rating(-100, 0, 0)).unwrap();
    assert_eq!(state.at(Epoch(1_000)), state);
}

#[test]
fn only_a_rating_with_envelope_and_binding_counts() {
    for in_batch in [true, false] {
        for envelope_at_hand in [true, false] {
            for binding in [None, Some(Binding::Selection), Some(Binding::Verifier), Some(Binding::Contract)]
            {
                let event = Event { in_batch, envelope_at_hand, binding, ..event(1, rating(7, 2, 0)) };
                let standing = match (envelope_at_hand, binding, in_batch) {
                    (true, Some(_), true) => Standing::Bound,
                    (true, Some(_), false) => Standing::LeftOut,
                    _ => Standing::Unbound,
                };
                assert_eq!(event.standing(), standing);
                let mut ledger = Ledger::default();
                ledger.apply_batch(&batch(1), &[event]).unwrap();
                let counts = u32::from(standing.counts());
                assert_eq!(ledger.turn(1).counted.vector().total_tasks, counts);
                assert_eq!(ledger.turn(1).apart.vector().total_tasks, 1 - counts);
            }
        }
    }
}

#[test]
fn a_task_is_rated_once_by_each_rater_in_each_role() {
    let events = [rating(10, 2, 0), rating(20, 2, 0), rating(30, 2, 1)].map(|rating| event(1, rating));
    let mut ledger = Ledger::default();
    ledger.apply_batch(&batch(1), &events).unwrap();
    ledger.apply_batch(&batch(2), &events).unwrap();
    let vector = ledger.turn(1).counted.vector();
    assert_eq!((vector.reliability_score, vector.notary_accuracy), (10_000, 30_000));
    assert_eq!((ledger.turn(1).tally.bound, ledger.turn(1).tally.repeated), (2, 4));
}

#[test]
fn a_tenure_takes_nothing_along() {
    let mut ledger = Ledger::default();
    ledger.apply_batch(&batch(1), &[event(1, rating(100, 2, 0))]).unwrap();
    let sold = BatchFacts { tenure: 2, ..batch(2) };
    // The first rater rates the same task again; that it did is not forgotten.
    let events = [event(1, rating(50, 2, 0)), event(2, rating(-10, 0, 0))];
    ledger.apply_batch(&sold, &events).unwrap();
    let [first, second] = [1, 2].map(|tenure| ledger.turn(tenure));
    assert_eq!((first.counted.vector().reliability_score, first.tally.bound), (100_000, 1));
    assert_eq!((second.counted.vector().reliability_score, second.tally.bound), (-10_000, 1));
    assert_eq!(second.tally.repeated, 1);
    assert_eq!(ledger.turn(3), Turn::default());
    assert_eq!(
        ledger.turns().map(|(number, turn)| (number, *turn)).collect::<Vec<_>>(),
        [(1, first), (2, second)]
    );
    // Epochs increase across tenures.
    let error = ReputationError::NotIncreasing { last: Epoch(2) };
    assert_eq!(ledger.apply_batch(&BatchFacts { tenure: 3, ..batch(2) }, &[]), Err(error));
}

#[test]
fn a_batch_that_withholds_counts_for_nothing() {
    let batch = crate::life::build(&[]).unwrap().batch;
    let mut account = BatchAccount {
        epoch_number: batch.epoch_number.0,
        covers_from_epoch: batch.epoch_number.0,
        submitted_slot: 1,
        log_len: batch.log_len,
        arrays_len: batch.arrays_len,
        era: 3,
        tenure: 4,
        agent_id: *batch.agent_id.as_bytes(),
        log_merkle_root: batch.log_merkle_root,
        batch_hash: batch.hash(),
        arrays_root: batch.arrays_root,
        signer: [1; 32],
        payer: [2; 32],
        withheld: 0,
        version: 2,
        bump: 255,
        reserved: [0; 5],
    };
    assert_eq!(Commitment::from(&account), batch.commitment());
    let facts = BatchFacts::of(&batch, &account).unwrap();
    assert_eq!((facts.epoch, facts.tenure, facts.slot_end), (batch.epoch_number, 4, batch.slot_end));
    account.withheld = 1;
    assert_eq!(BatchFacts::of(&batch, &account), None);
}

#[test]
fn uncovered_epochs_are_a_number() {
    let covered = |from, to| Covered { from: Epoch(from), to: Epoch(to) };
    assert_eq!(uncovered(Epoch(5), []), 0);
    assert_eq!(uncovered(Epoch(5), [covered(5, 9), covered(10, 10)]), 0);
    // Seven before the first, two before the second, which a sale or a long silence leaves.
    assert_eq!(uncovered(Epoch(5), [covered(12, 12), covered(15, 44)]), 9);
    assert_eq!(uncovered(Epoch(0), [covered(u64::MAX, u64::MAX)]), u64::MAX);
}

/// An independent and naive writing of decisions D1 and D3: rationals as pairs, decay as a loop.
#[derive(Clone, Default)]
struct Model {
    participant: (i128, i128),
    notary: (i128, i128),
    outcomes: (i128, i128),
    last: Option<u64>,
}

impl Model {
    fn mean(mean: &mut (i128, i128), score: i128) {
        mean.1 += 1;
        let sum = mean.0 * (mean.1 - 1) + score * 1_000;
        mean.0 = if sum < 0 { -(-sum / mean.1) } else { sum / mean.1 };
    }

    fn rate(&mut self, rating: &Rating) {
        let score = if rating.role == 0 { &mut self.participant } else { &mut self.notary };
        Self::mean(score, rating.score.into());
        Self::mean(&mut self.outcomes, [-100, 0, 100][rating.outcome as usize]);
    }

    fn pass_to(&mut self, epoch: u64) {
        let Some(last) = self.last else { return };
        let mut idle = 0;
        for _ in last + 1..epoch {
            idle += 1;
            if idle > 6 {
                for (score, _) in [&mut self.participant, &mut self.outcomes] {
                    if *score > 0 {
                        *score = *score * 95 / 100;
                    }
                }
            }
        }
    }
}

fn any_rating() -> impl Strategy<Value = Rating> {
    (-100i8..=100, 0u8..=2, 0u8..=1).prop_map(|(score, outcome, role)| rating(score, outcome, role))
}

fn any_event() -> impl Strategy<Value = Event> {
    (any_rating(), 0u8..12, any::<bool>(), any::<bool>(), 0u8..4).prop_map(
        |(rating, number, in_batch, envelope_at_hand, binding)| Event {
            in_batch,
            envelope_at_hand,
            binding: [None, Some(Binding::Selection), Some(Binding::Verifier), Some(Binding::Contract)]
                [binding as usize],
            ..event(number, rating)
        },
    )
}

proptest! {
    #[test]
    fn lives_go_as_the_model_says(
        life in prop::collection::vec((1u64..20, prop::collection::vec(any_rating(), 0..6)), 1..20), after in 0u64..40,
    ) {
        let (mut state, mut model, mut epoch) = (State::default(), Model::default(), 0);
        for (gap, ratings) in life {
            epoch += gap;
            state.begin_batch(&batch(epoch)).unwrap();
            model.pass_to(epoch);
            model.last = Some(epoch);
            for rating in ratings {
                state.rate(&rating).unwrap();
                model.rate(&rating);
            }
        }
        model.pass_to(epoch + after);
        let vector = state.at(Epoch(epoch + after)).vector();
        prop_assert_eq!(i128::from(vector.reliability_score), model.participant.0);
        prop_assert_eq!(i128::from(vector.cooperation_index), model.outcomes.0);
        prop_assert_eq!(i128::from(vector.notary_accuracy), model.notary.0);
        prop_assert_eq!(i128::from(vector.total_tasks), model.participant.1);
        for score in [vector.reliability_score, vector.cooperation_index, vector.notary_accuracy] {
            prop_assert!(score.abs() <= MAX_REPUTATION);
        }
    }

    #[test]
    fn every_rating_is_somewhere_and_counts_at_most_once(
        batches in prop::collection::vec(prop::collection::vec(any_event(), 0..10), 1..6),
    ) {
        let mut ledger = Ledger::default();
        let (mut total, mut keys) = (0, HashSet::new());
        for (number, events) in batches.iter().enumerate() {
            ledger.apply_batch(&batch(number as u64), events).unwrap();
            total += events.len() as u32;
            let counting = events.iter().filter(|event| event.standing().counts());
            keys.extend(counting.map(|event| (event.from, event.rating.role)));
        }
        let tally = ledger.turn(1).tally;
        prop_assert_eq!(tally.bound + tally.left_out + tally.unbound + tally.repeated, total);
        prop_assert_eq!((tally.bound + tally.left_out) as usize, keys.len());
        let sum = |vector: Vector| vector.total_tasks + vector.total_notarized;
        prop_assert_eq!(sum(ledger.turn(1).counted.vector()), tally.bound + tally.left_out);
        prop_assert_eq!(sum(ledger.turn(1).apart.vector()), tally.unbound + tally.repeated);
    }

    #[test]
    fn the_order_in_which_left_out_ratings_are_found_changes_nothing(
        events in prop::collection::vec(any_event(), 0..12).prop_shuffle(), seed in any::<u64>(),
    ) {
        let events: Vec<_> = events.into_iter().map(|event| Event { in_batch: false, ..event }).collect();
        let mut other = events.clone();
        let turn = seed as usize % other.len().max(1);
        other.rotate_left(turn);
        other.reverse();
        let [mut a, mut b] = [Ledger::default(), Ledger::default()];
        a.apply_batch(&batch(1), &events).unwrap();
        b.apply_batch(&batch(1), &other).unwrap();
        prop_assert_eq!(a.turn(1).counted, b.turn(1).counted);
    }

    #[test]
    fn a_longer_absence_never_leaves_more(score in 1i8..=100, first in 0u64..40, second in 0u64..40) {
        let mut state = State::default();
        state.begin_batch(&batch(1)).unwrap();
        state.rate(&rating(score, 2, 0)).unwrap();
        let later = state.at(Epoch(1 + first + second)).vector().reliability_score;
        prop_assert!(later <= state.at(Epoch(1 + first)).vector().reliability_score);
        prop_assert!(later >= 0);
    }
}
