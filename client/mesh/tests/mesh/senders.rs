use crate::common::{NOW, SECOND, agent, agent_key, facts, public};
use proptest::prelude::*;
use std::collections::BTreeSet;
use zx1_mesh::Reason;
use zx1_mesh::defaults::{
    ABSENT_LIFE, ACCOUNTS_PER_BATCH, FACTS_LIFE, FACTS_LIFE_AWAY, FACTS_REFRESH, LOOKUP_TIMEOUT, MAX_ABSENT,
    MAX_BATCHES_IN_FLIGHT, MAX_QUEUED_LOOKUPS,
};
use zx1_mesh::facts::{Facts, Known, Need};
use zx1_mesh::senders::{Batch, Lookup, Senders};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;

fn own_key() -> Need {
    Need::Key(public(1))
}

/// What a cluster answers on which agent 1 has key 1.
fn found(lookup: &Lookup) -> Facts {
    let has_it = lookup.all_keys || lookup.keys.contains(&public(1));
    let keys = if has_it { vec![agent_key(1, Scopes::ALL)] } else { Vec::new() };
    Facts { keys, has_all_keys: lookup.all_keys, ..facts(&[]) }
}

fn answers(batch: &Batch) -> Vec<(AgentId, Option<Facts>)> {
    let answer =
        |(author, lookup): &(AgentId, Lookup)| (*author, (*author == agent(1)).then(|| found(lookup)));
    batch.lookups.iter().map(answer).collect()
}

/// Answers everything that is due.
fn serve(senders: &mut Senders, now: u64) -> Vec<AgentId> {
    let mut known = Vec::new();
    while let Some(batch) = senders.due(now) {
        let found = answers(&batch);
        known.extend(senders.answer(batch.id, found, now));
    }
    known
}

fn known(senders: &mut Senders, need: Need, now: u64) -> &'static str {
    match senders.ask(&agent(1), need, now) {
        Ok(Known::Asked) => "asked",
        Ok(Known::Absent) => "absent",
        Ok(Known::TooOld) => "too old",
        Ok(Known::Present(_)) => "present",
        Err(_) => "refused",
    }
}

/// Senders that know agent 1 with key 1 as of NOW.
fn knowing() -> Senders {
    let mut senders = Senders::default();
    assert_eq!(known(&mut senders, own_key(), NOW), "asked");
    assert_eq!(serve(&mut senders, NOW), [agent(1)]);
    senders
}

#[test]
fn an_author_is_asked_for_once_and_then_known_for_a_minute() {
    let mut senders = Senders::default();
    (0..10).for_each(|_| assert_eq!(known(&mut senders, own_key(), NOW), "asked"));
    let batch = senders.due(NOW).unwrap();
    assert_eq!(batch.lookups, [(agent(1), Lookup { keys: vec![public(1)], all_keys: false })]);
    // On its way it is not asked for again.
    assert_eq!(known(&mut senders, own_key(), NOW), "asked");
    assert_eq!(senders.due(NOW), None);
    assert_eq!(senders.answer(batch.id, answers(&batch), NOW + SECOND), [agent(1)]);
    // The facts are as old as the question.
    assert_eq!(known(&mut senders, own_key(), NOW + FACTS_LIFE), "present");
    assert_eq!(known(&mut senders, own_key(), NOW + FACTS_LIFE + 1), "asked");
}

#[test]
fn who_is_heard_is_read_again_before_the_facts_are_too_old() {
    let mut senders = knowing();
    assert_eq!(known(&mut senders, own_key(), NOW + FACTS_REFRESH), "present");
    assert_eq!(senders.due(NOW + FACTS_REFRESH), None);
    assert_eq!(known(&mut senders, own_key(), NOW + FACTS_REFRESH + 1), "present");
    assert_eq!(serve(&mut senders, NOW + FACTS_REFRESH + 1), [agent(1)]);
    assert_eq!(known(&mut senders, own_key(), NOW + FACTS_LIFE + 1), "present");
}

#[test]
fn that_there_is_no_such_agent_counts_for_ten_seconds() {
    let mut senders = Senders::default();
    let nobody = agent(7);
    assert_eq!(senders.ask(&nobody, own_key(), NOW), Ok(Known::Asked));
    serve(&mut senders, NOW);
    assert_eq!(senders.ask(&nobody, own_key(), NOW + ABSENT_LIFE), Ok(Known::Absent));
    assert_eq!(senders.ask(&nobody, own_key(), NOW + ABSENT_LIFE + 1), Ok(Known::Asked));
}

#[test]
fn while_the_cluster_is_away_facts_serve_for_ten_minutes_and_never_longer() {
    let mut senders = knowing();
    let mut now = NOW + FACTS_LIFE;
    let mut until_too_old = 0;
    while until_too_old == 0 {
        now += SECOND;
        if let Some(batch) = senders.due(now) {
            senders.failed(batch.id, now);
        }
        match known(&mut senders, own_key(), now) {
            "too old" => until_too_old = now - NOW,
            // Before the first failure nobody knows that the cluster is away.
            "asked" => assert!(now - NOW <= FACTS_LIFE + 2 * SECOND),
            other => assert_eq!(other, "present"),
        }
    }
    assert!(until_too_old > FACTS_LIFE_AWAY && until_too_old <= FACTS_LIFE_AWAY + SECOND);
    assert!(senders.is_away());
    // It is there again.
    now += 31 * SECOND;
    assert_eq!(serve(&mut senders, now), [agent(1)]);
    assert_eq!(known(&mut senders, own_key(), now), "present");
    assert!(!senders.is_away());
}

#[test]
fn failures_pause_longer_and_longer_and_a_hanging_call_is_one() {
    let mut senders = Senders::default();
    known(&mut senders, own_key(), NOW);
    let (mut now, mut pauses) = (NOW, Vec::new());
    let mut batch = senders.due(now).unwrap();
    for _ in 0..8 {
        senders.failed(batch.id, now);
        let began = now;
        batch = loop {
            match senders.due(now) {
                Some(batch) => break batch,
                None => now += SECOND / 10,
            }
        };
        pauses.push((now - began) / (SECOND / 10));
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
    let mut senders = Senders::default();
    known(&mut senders, own_key(), now);
    let batch = senders.due(now).unwrap();
    assert_eq!(senders.due(now + LOOKUP_TIMEOUT), None);
    assert!(!senders.is_away());
    assert_eq!(senders.due(now + LOOKUP_TIMEOUT + 1), None);
    assert!(senders.is_away(), "no answer in ten seconds");
    assert!(senders.answer(batch.id, answers(&batch), now + LOOKUP_TIMEOUT + 2).is_empty(), "too late");
    assert!(senders.due(now + LOOKUP_TIMEOUT + SECOND).is_some(), "asked for again");
}

#[test]
fn a_change_on_chain_ends_what_was_known_also_of_an_answer_on_its_way() {
    let mut senders = knowing();
    senders.changed(&agent(1));
    assert_eq!(known(&mut senders, own_key(), NOW + 1), "asked");
    let batch = senders.due(NOW + 1).unwrap();
    senders.changed(&agent(1));
    assert!(senders.answer(batch.id, answers(&batch), NOW + 2).is_empty());
    assert_eq!(known(&mut senders, own_key(), NOW + 2), "asked");
    assert_eq!(serve(&mut senders, NOW + 3), [agent(1)]);
    assert_eq!(known(&mut senders, own_key(), NOW + 3), "present");
}

#[test]
fn strangers_keys_in_an_authors_name_cost_a_few_lookups_and_never_its_own_key() {
    let mut senders = knowing();
    let mut lookups = 0;
    for number in 0..1_000u64 {
        let now = NOW + number * SECOND / 100;
        let stranger = Need::Key([(number % 250) as u8 + 2; 32].into());
        let _ = senders.ask(&agent(1), stranger, now);
        while let Some(batch) = senders.due(now) {
            lookups += 1;
            let found = answers(&batch);
            senders.answer(batch.id, found, now);
        }
        assert_eq!(known(&mut senders, own_key(), now), "present");
    }
    assert!(lookups <= 8, "{lookups}");
    // By then all of its keys are known, and these are none.
    assert_eq!(known(&mut senders, Need::Key(public(9)), NOW + 10 * SECOND), "present");
}

#[test]
fn a_batch_fits_one_call_and_the_rate_and_the_number_on_their_way_are_bounded() {
    let mut senders = Senders::default();
    for number in 0..=u16::MAX {
        let [high, low] = number.to_be_bytes();
        let mut id = [1; 32];
        (id[0], id[1]) = (high, low);
        let asked = senders.ask(&AgentId(id), own_key(), NOW);
        assert_eq!(asked.is_ok(), usize::from(number) < MAX_QUEUED_LOOKUPS);
        assert!(asked.is_ok() || asked == Err(Reason::LookupsFull));
    }
    let mut first = Vec::new();
    while let Some(batch) = senders.due(NOW) {
        assert!(
            batch.lookups.iter().map(|(_, lookup)| lookup.accounts()).sum::<usize>() <= ACCOUNTS_PER_BATCH
        );
        assert_eq!(batch.lookups.len(), 25);
        first.push(batch);
    }
    assert_eq!(first.len(), MAX_BATCHES_IN_FLIGHT);
    let mut calls = first.len();
    for batch in first {
        senders.answer(batch.id, answers(&batch), NOW);
    }
    while let Some(batch) = senders.due(NOW) {
        calls += 1;
        senders.answer(batch.id, answers(&batch), NOW);
    }
    assert_eq!(calls, 20, "calls in the first second");
}

#[test]
fn made_up_authors_push_no_known_one_out() {
    let mut senders = knowing();
    let mut number = 0u32;
    let mut now = NOW;
    while number < 3 * MAX_ABSENT as u32 {
        for _ in 0..25 {
            number += 1;
            let mut id = [9; 32];
            id[..4].copy_from_slice(&number.to_be_bytes());
            senders.ask(&AgentId(id), own_key(), now).unwrap();
        }
        now += SECOND / 20;
        serve(&mut senders, now);
    }
    assert!(now < NOW + FACTS_LIFE && senders.known() == 1);
    assert_eq!(known(&mut senders, own_key(), now), "present");
}

#[test]
fn a_clock_that_jumps_back_makes_no_old_fact_new_and_no_cluster_absent() {
    let mut senders = knowing();
    let hour_before = NOW - 3_600 * SECOND;
    assert_eq!(known(&mut senders, own_key(), hour_before), "asked");
    assert_eq!(serve(&mut senders, hour_before), [agent(1)]);
    assert_eq!(known(&mut senders, own_key(), hour_before), "present");
    // A question on its way is put again.
    let mut senders = Senders::default();
    known(&mut senders, own_key(), NOW);
    senders.due(NOW).unwrap();
    assert_eq!(serve(&mut senders, hour_before), [agent(1)]);
    assert!(!senders.is_away());
}

#[derive(Clone, Debug)]
enum Step {
    Ask(u8, Option<u8>),
    Due,
    Answer(usize),
    Fail(usize),
    Changed(u8),
    Clock(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..6, prop::option::of(0u8..4)).prop_map(|(author, key)| Step::Ask(author, key)),
        4 => Just(Step::Due),
        3 => (0usize..4).prop_map(Step::Answer),
        1 => (0usize..4).prop_map(Step::Fail),
        1 => (0u8..6).prop_map(Step::Changed),
        3 => (-20_000_000i64..60_000_000).prop_map(Step::Clock),
    ]
}

proptest! {
    #[test]
    fn facts_that_serve_were_asked_for_after_the_last_change_and_are_young(
        steps in prop::collection::vec(step(), 0..300),
    ) {
        let mut senders = Senders::default();
        let mut now = NOW;
        let mut latest = NOW;
        let mut flying: Vec<(Batch, u64)> = Vec::new();
        // When each author last changed and when the facts that it has were asked for, in steps.
        let mut asked: std::collections::HashMap<AgentId, u64> = Default::default();
        for step in steps {
            match step {
                Step::Ask(author, key) => {
                    let need = key.map_or(Need::AllKeys, |key| Need::Key(public(key + 1)));
                    if let Ok(Known::Present(facts)) = senders.ask(&agent(author), need, now) {
                        let serves = match need {
                            Need::Key(key) => facts.knows(&key),
                            Need::AllKeys => facts.has_all_keys,
                        };
                        prop_assert!(serves);
                        let age = now.checked_sub(asked[&agent(author)]);
                        prop_assert!(age.is_some_and(|age| age <= FACTS_LIFE_AWAY), "{age:?}");
                    }
                }
                Step::Due => {
                    if let Some(batch) = senders.due(now) {
                        let authors: BTreeSet<AgentId> = batch.lookups.iter().map(|(author, _)| *author).collect();
                        prop_assert_eq!(authors.len(), batch.lookups.len());
                        prop_assert!(!authors.is_empty());
                        flying.push((batch, now));
                    }
                }
                Step::Answer(at) if at < flying.len() => {
                    let (batch, at) = flying.remove(at);
                    let found = batch.lookups.iter().map(|(author, lookup)| (*author, Some(found(lookup)))).collect();
                    for author in senders.answer(batch.id, found, now) {
                        asked.insert(author, at.min(now));
                    }
                }
                Step::Fail(at) if at < flying.len() => {
                    let (batch, _) = flying.remove(at);
                    senders.failed(batch.id, now);
                }
                Step::Changed(author) => {
                    senders.changed(&agent(author));
                    let is_present = matches!(senders.ask(&agent(author), Need::AllKeys, now), Ok(Known::Present(_)));
                    prop_assert!(!is_present);
                }
                Step::Clock(by) => now = now.checked_add_signed(by).unwrap(),
                Step::Answer(_) | Step::Fail(_) => {}
            }
            latest = latest.max(now);
            prop_assert!(senders.queued() <= 6);
        }
        // Whatever happened, a cluster that answers makes everybody known.
        now = latest + 60 * SECOND;
        for author in 0..6 {
            let _ = senders.ask(&agent(author), Need::AllKeys, now);
        }
        now += LOOKUP_TIMEOUT + 1;
        for _ in 0..200 {
            now += SECOND;
            while let Some(batch) = senders.due(now) {
                let found = batch.lookups.iter().map(|(author, lookup)| (*author, Some(found(lookup)))).collect();
                senders.answer(batch.id, found, now);
            }
        }
        for author in 0..6 {
            let _ = senders.ask(&agent(author), Need::AllKeys, now);
        }
        now += SECOND;
        while let Some(batch) = senders.due(now) {
            let found = batch.lookups.iter().map(|(author, lookup)| (*author, Some(found(lookup)))).collect();
            senders.answer(batch.id, found, now);
        }
        for author in 0..6 {
            let is_present = matches!(senders.ask(&agent(author), Need::AllKeys, now), Ok(Known::Present(_)));
            prop_assert!(is_present);
        }
    }
}
