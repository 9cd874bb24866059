//! Random inputs at random times, and restarts between any two. Never two notaries, never a verdict of another
//! one, always an end.

use crate::support::*;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use zx1_mesh::defaults::{CHOICE_TIME, MAX_JUDGE_SECONDS, OFFERS_TIME, REPLACEMENT_SLACK, REPLACEMENT_TIME};
use zx1_mesh::notary::{Bid, Choice, Search, Stage, deadline};
use zx1_protocol::ids::AgentId;
use zx1_protocol::mesh_payload::{Offer, Verdict};

const WHO: [AgentId; 5] = [A, B, N, M, STRANGER];
/// After this a search is over, whatever was said to it: offers, choice, two notaries, and the wait between them.
const LONGEST: u64 = OFFERS_TIME + CHOICE_TIME + 2 * MAX_JUDGE_SECONDS as u64 * SECOND + REPLACEMENT_TIME;

#[derive(Clone, Debug)]
enum Act {
    Pass(u64),
    Offer(usize, i128, u32, i64),
    Choose(usize),
    Adopt(usize, u32),
    Judge(usize),
    Restart,
    Send,
}

/// What an observer writes down about the notary that counts: who, until when, and whether the other chose it.
/// Times are since the request.
#[derive(Clone, Debug, Default)]
struct Observed {
    now: u64,
}

struct Random;

impl ReferenceStateMachine for Random {
    type State = Observed;
    type Transition = Act;

    fn init_state() -> BoxedStrategy<Observed> {
        Just(Observed::default()).boxed()
    }

    fn transitions(_: &Observed) -> BoxedStrategy<Act> {
        let seconds = prop_oneof![Just(60_u32), Just(600), Just(3_600), Just(u32::MAX)];
        let span = prop_oneof![
            3 => 0..SECOND,
            2 => prop::sample::select(vec![
                OFFERS_TIME, CHOICE_TIME, 60 * SECOND, 540 * SECOND, 600 * SECOND, 3_600 * SECOND, REPLACEMENT_TIME,
            ]),
        ];
        let who = 0..WHO.len();
        prop_oneof![
            4 => span.prop_map(Act::Pass),
            4 => (who.clone(), 0..5_i128, seconds.clone(), -2..3_i64)
                .prop_map(|(who, fee, seconds, score)| Act::Offer(who, fee, seconds, score)),
            3 => who.clone().prop_map(Act::Choose),
            2 => (who.clone(), seconds).prop_map(|(who, seconds)| Act::Adopt(who, seconds)),
            2 => who.prop_map(Act::Judge),
            1 => Just(Act::Restart),
            1 => Just(Act::Send),
        ]
        .boxed()
    }

    fn apply(mut state: Observed, act: &Act) -> Observed {
        if let Act::Pass(span) = act {
            state.now += span;
        }
        state
    }
}

struct Party {
    search: Search,
    now: u64,
}

fn terms(fee: i128, seconds: u32) -> Vec<u8> {
    Offer { fee, unit: "raw", seconds }.to_payload().unwrap()
}

impl StateMachineTest for Party {
    type SystemUnderTest = Party;
    type Reference = Random;

    fn init_test(_: &Observed) -> Party {
        Party { search: Search::ask(TASK, A, B, "raw", NOW), now: NOW }
    }

    fn apply(mut party: Party, state: &Observed, act: Act) -> Party {
        let now = NOW + state.now;
        let mut due = party.search.clone();
        due.advance(now);
        let before = party.search.clone();
        let search = &mut party.search;
        match act {
            // Nobody need look at the clock: the next input does.
            Act::Pass(_) => {}
            Act::Offer(who, fee, seconds, score) => {
                let bid = Bid::of(WHO[who], &terms(fee, seconds), score, b"").unwrap();
                let taken = search.offer(bid, now).is_ok();
                assert_eq!(taken, due.stage() == Stage::Collecting && who > 1);
            }
            Act::Choose(who) => {
                let offered = due.offers().iter().find(|bid| bid.notary == WHO[who]).cloned();
                let taken = search.choose(WHO[who], now).is_ok();
                assert_eq!(taken, due.stage() == Stage::Choosing && offered.is_some());
                if taken {
                    assert_eq!(search.until(), Some(deadline(now, offered.unwrap().seconds)));
                }
            }
            Act::Adopt(who, seconds) => {
                let _ = search.adopt(Choice { notary: WHO[who], seconds }, now);
            }
            Act::Judge(who) => {
                let payload = Verdict { outcome: 1, deliver: [0; 32], reason: "" }.to_payload().unwrap();
                let taken = search.judge(WHO[who], &payload, [9; 32], now);
                assert_eq!(taken.is_ok(), due.stage() == Stage::Assigned && due.notary() == Some(WHO[who]));
                if taken.is_ok() {
                    assert_eq!(search.verdict().unwrap().notary, WHO[who]);
                }
            }
            Act::Restart => {
                let text = serde_json::to_string(&search).unwrap();
                *search = serde_json::from_str(&text).unwrap();
                assert_eq!(search, &before);
            }
            Act::Send => {
                for task in search.tasks() {
                    search.done(task);
                    assert!(!search.tasks().contains(&task));
                }
            }
        }
        // A notary is replaced only when its time is over, or nearly so by the other party's clock.
        if let (Some(one), Some(two)) = (before.notary(), party.search.notary()) {
            let over = before.until().is_some_and(|until| until <= now + REPLACEMENT_SLACK);
            assert!(one == two || over, "{one} was replaced by {two} too early");
        }
        if before.stage().is_over() {
            let same = (before.stage(), before.verdict()) == (party.search.stage(), party.search.verdict());
            assert!(same, "an end that is none");
        }
        party.now = now;
        party
    }

    fn check_invariants(party: &Party, _: &Observed) {
        let search = &party.search;
        let all: Vec<_> = search.notaries().collect();
        assert!(all.len() <= 2 && !all.contains(&A) && !all.contains(&B));
        assert!(all.len() < 2 || all[0] != all[1]);
        assert_eq!(search.verdict().is_some(), search.stage() == Stage::Judged);
        assert!(search.verdict().is_none_or(|it| all.last() == Some(&it.notary)));
        assert!(search.until().is_none_or(|until| until <= NOW + LONGEST));
    }

    fn teardown(mut party: Party, _: Observed) {
        party.search.advance(NOW + LONGEST);
        assert!(party.search.stage().is_over() && party.search.tasks().is_empty());
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn one_notary_at_a_time_and_always_an_end(sequential 1..60 => Party);
}
