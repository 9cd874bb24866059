use crate::common::{NOW, SECOND, agent, public};
use proptest::prelude::*;
use std::collections::HashMap;
use zx1_mesh::Reason;
use zx1_mesh::defaults::{MAX_WAITING, MAX_WAITING_BYTES, MAX_WAITING_PER_PEER, WAITING_LIFE};
use zx1_mesh::senders::{Line, Waiting};

fn line(author: u8) -> Line {
    (agent(author), public(author))
}

#[test]
fn an_authors_messages_come_out_in_their_order_and_once() {
    let mut waiting = Waiting::default();
    for number in 0..10u32 {
        waiting.push(line((number % 2) as u8), 1u8, number, 100, NOW + u64::from(number)).unwrap();
    }
    let numbers: Vec<u32> = waiting.release(&agent(1)).into_iter().map(|(_, number, _)| number).collect();
    assert_eq!(numbers, [1, 3, 5, 7, 9]);
    assert!(waiting.release(&agent(1)).is_empty() && !waiting.has(&line(1)) && waiting.has(&line(0)));
    assert_eq!((waiting.len(), waiting.bytes()), (5, 500));
}

#[test]
fn what_another_source_brings_in_an_authors_name_is_another_line() {
    let mut waiting = Waiting::default();
    waiting.push((agent(1), public(2)), 1u8, (), 1, NOW).unwrap();
    assert!(!waiting.has(&line(1)));
}

#[test]
fn a_peer_has_64_places_and_all_together_1024() {
    let mut waiting = Waiting::default();
    let mut refused = Vec::new();
    for peer in 0..20u8 {
        for number in 0..100 {
            if let Err((_, _, reason)) = waiting.push(line(number), peer, (), 1, NOW) {
                refused.push(reason);
            }
        }
    }
    assert_eq!(waiting.len(), MAX_WAITING);
    assert_eq!(refused[0], Reason::WaitingPeerFull);
    assert_eq!(refused.last(), Some(&Reason::WaitingFull));
    assert_eq!(MAX_WAITING / MAX_WAITING_PER_PEER, 16);
    // A place is free again once a message has left.
    waiting.release(&agent(0));
    assert_eq!(waiting.push(line(0), 0, (), 1, NOW), Ok(()));
}

#[test]
fn the_bytes_are_bounded_as_well() {
    let mut waiting = Waiting::default();
    for peer in 0..16u8 {
        waiting.push(line(1), peer, (), MAX_WAITING_BYTES / 16, NOW).unwrap();
    }
    assert_eq!(waiting.push(line(1), 99, (), 1, NOW), Err((99, (), Reason::WaitingFull)));
}

#[test]
fn after_four_seconds_or_a_jump_of_the_clock_back_a_message_leaves() {
    let mut waiting = Waiting::default();
    waiting.push(line(1), 1u8, 'a', 1, NOW).unwrap();
    waiting.push(line(1), 1u8, 'b', 1, NOW + SECOND).unwrap();
    assert!(waiting.expire(NOW + WAITING_LIFE - 1).is_empty());
    assert_eq!(waiting.expire(NOW + WAITING_LIFE), [(1, 'a')]);
    assert_eq!(waiting.expire(NOW), [(1, 'b')]);
    assert!(waiting.is_empty());
}

#[derive(Clone, Debug)]
enum Step {
    Push { author: u8, peer: u8, bytes: usize },
    Release(u8),
    Expire,
    Clock(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0u8..6, 0u8..3, 0usize..70_000).prop_map(|(author, peer, bytes)| Step::Push { author, peer, bytes }),
        2 => (0u8..6).prop_map(Step::Release),
        1 => Just(Step::Expire),
        2 => (-3_000_000i64..3_000_000).prop_map(Step::Clock),
    ]
}

proptest! {
    #[test]
    fn everything_that_goes_in_comes_out_once_in_order_and_within_the_bounds(
        steps in prop::collection::vec(step(), 0..400),
    ) {
        let mut waiting = Waiting::default();
        let (mut now, mut number) = (NOW, 0u32);
        let mut inside: HashMap<u8, Vec<(u32, usize)>> = HashMap::new();
        for step in steps {
            match step {
                Step::Push { author, peer, bytes } => {
                    number += 1;
                    if waiting.push(line(author), peer, number, bytes, now).is_ok() {
                        inside.entry(author).or_default().push((number, bytes));
                    }
                }
                Step::Release(author) => {
                    let out: Vec<u32> = waiting.release(&agent(author)).into_iter().map(|(_, it, _)| it).collect();
                    let expected = inside.remove(&author).unwrap_or_default();
                    prop_assert_eq!(out, expected.into_iter().map(|(it, _)| it).collect::<Vec<_>>());
                }
                Step::Expire => {
                    for (_, out) in waiting.expire(now) {
                        let of_author = inside.values_mut().find(|all| all.first().is_some_and(|(it, _)| *it == out));
                        of_author.unwrap().remove(0);
                    }
                }
                Step::Clock(by) => now = now.checked_add_signed(by).unwrap(),
            }
            let all: Vec<(u32, usize)> = inside.values().flatten().copied().collect();
            prop_assert_eq!(waiting.len(), all.len());
            prop_assert_eq!(waiting.bytes(), all.iter().map(|(_, bytes)| bytes).sum::<usize>());
            prop_assert!(waiting.len() <= MAX_WAITING && waiting.bytes() <= MAX_WAITING_BYTES);
        }
    }
}
