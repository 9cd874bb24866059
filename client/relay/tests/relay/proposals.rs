//! Proposals, stakes and ratings.

use proptest::prelude::*;
use zx1_relay_rules::defaults::{CONFIRM_MS, RULING_MS, Settings};
use zx1_relay_rules::elo::{Rating, gain, k_factor, loss};
use zx1_relay_rules::proposal::{Act, Book, Party, Settlement, State, TABLE, next};
use zx1_relay_rules::signing::Terms;
use zx1_relay_rules::{AgentId, RelayError};

fn party(n: u8) -> Party {
    Party { key: [n; 32], id: AgentId::parse(&format!("@agent{n}"), "to").unwrap() }
}

fn terms(stake: u32, expires: Option<f64>) -> Terms {
    Terms {
        to: "@agent2".into(),
        task: "x".into(),
        amount: None,
        currency: None,
        payment_code: None,
        terms: None,
        expires,
        elo_stake: Some(f64::from(stake)),
        contract: None,
        conversation: None,
    }
}

const A: [u8; 32] = [1; 32];
const B: [u8; 32] = [2; 32];
const MINUTE: u64 = 60_000;

fn accepted(stakes: (u32, u32)) -> Book {
    let mut book = Book::new(Settings::default());
    book.propose("p".into(), party(1), party(2), terms(stakes.0, None), 0).unwrap();
    book.accept("p", &B, stakes.1, 0).unwrap();
    book
}

#[test]
fn the_table_has_these_ways_and_no_others() {
    let ways = State::ALL.iter().flat_map(|state| Act::ALL.map(|act| next(*state, act))).flatten().count();
    assert_eq!((ways, TABLE.len()), (8, 8));
    for ended in [State::Rejected, State::Expired, State::Disputed] {
        assert!(Act::ALL.iter().all(|act| next(ended, *act).is_none()));
    }
}

#[test]
fn only_the_recipient_answers_and_only_parties_complete() {
    let mut book = Book::new(Settings::default());
    assert_eq!(
        book.propose("p".into(), party(1), party(1), terms(0, None), 0).unwrap_err(),
        RelayError::SelfProposal
    );
    book.propose("p".into(), party(1), party(2), terms(0, None), 0).unwrap();
    assert_eq!(book.accept("p", &A, 0, 1).unwrap_err(), RelayError::NotRecipient);
    assert_eq!(book.reject("p", &[3; 32], 1).unwrap_err(), RelayError::NotRecipient);
    assert_eq!(book.complete("p", &A, MINUTE), Err(RelayError::NotAccepted));
    assert_eq!(book.complete("p", &[3; 32], MINUTE), Err(RelayError::NotParty));
    assert_eq!(book.accept("q", &B, 0, 1).unwrap_err(), RelayError::NoProposal);
    book.reject("p", &B, 1).unwrap();
    assert_eq!(book.accept("p", &B, 0, 1).unwrap_err(), RelayError::NotPending);
}

#[test]
fn a_proposal_expires_before_and_after_it_was_accepted() {
    let new = || {
        let mut book = Book::new(Settings::default());
        book.propose("p".into(), party(1), party(2), terms(5, Some(120.0)), 0).unwrap();
        book
    };
    assert!(new().accept("p", &B, 0, 119_999).is_ok());
    assert_eq!(new().accept("p", &B, 0, 120_000).unwrap_err(), RelayError::ProposalExpired);
    let mut book = new();
    book.accept("p", &B, 0, 1).unwrap();
    assert_eq!(book.complete("p", &B, 120_000), Err(RelayError::ProposalExpired));
    assert!(book.clone().complete("p", &B, 119_999).is_ok());
    assert_eq!((book.tick(119_999), book.held(&A)), (vec![], 5));
    assert_eq!((book.tick(120_000), book.held(&A)), (vec!["p".to_owned()], 0));
    assert_eq!(book.get("p").unwrap().state, State::Expired);
}

#[test]
fn ratings_move_when_both_have_completed_and_not_before() {
    let mut book = accepted((50, 20));
    assert_eq!(book.complete("p", &A, MINUTE - 1), Err(RelayError::TooYoung { wait_ms: 1 }));
    assert_eq!(book.complete("p", &A, MINUTE), Ok(None));
    assert_eq!((book.rating(&A).rating, book.held(&A), book.held(&B)), (1_200, 50, 20));
    assert_eq!(book.complete("p", &A, MINUTE + 1), Err(RelayError::NotAccepted));
    assert_eq!(book.clone().complete("p", &B, MINUTE + CONFIRM_MS), Err(RelayError::NotAccepted));
    let moved = book.clone().complete("p", &B, MINUTE + CONFIRM_MS - 1).unwrap().unwrap();
    assert_eq!(moved.settlement, Settlement::Returned);
    // K 32, even: a win is 16, and half of it is gained.
    assert_eq!(
        moved.changes.map(|(_, change)| (change.old, change.new, change.transactions)),
        [(1_200, 1_208, 1); 2]
    );
    // Silence moves nothing and returns the stakes.
    book.tick(MINUTE + CONFIRM_MS);
    assert_eq!((book.rating(&A).rating, book.held(&A), book.held(&B)), (1_200, 0, 0));
}

#[test]
fn a_lone_dispute_moves_nothing_until_a_ruling() {
    let mut book = accepted((50, 20));
    assert_eq!(book.dispute("p", &A, 1), Ok(None));
    assert_eq!((book.rating(&B).rating, book.held(&B)), (1_200, 20));
    assert_eq!(book.rule("p", Some(&[3; 32]), 2), Err(RelayError::NotParty));
    let moved = book.clone().rule("p", Some(&A), 2).unwrap();
    assert_eq!(moved.changes.map(|(_, change)| change.new), [1_200 + 16 + 20, 1_200 - 16 - 20]);
    let mut ruled = book.clone();
    ruled.rule("p", None, 2).unwrap();
    assert_eq!((ruled.rating(&A).rating, ruled.held(&A)), (1_200, 0));
    assert_eq!(ruled.rule("p", Some(&A), 3), Err(RelayError::NotAccepted));
    book.tick(RULING_MS);
    assert_eq!(book.held(&A), 50);
    book.tick(RULING_MS + 1);
    assert_eq!((book.held(&A), book.rating(&A).rating), (0, 1_200));
    let mut older = Book::new(Settings { dispute_moves: true, ..Settings::default() });
    older.propose("p".into(), party(1), party(2), terms(0, None), 0).unwrap();
    older.accept("p", &B, 0, 0).unwrap();
    assert!(older.dispute("p", &A, 1).unwrap().is_some());
}

#[test]
fn a_completion_can_be_disputed_by_the_other_party_for_seven_days() {
    let mut book = accepted((0, 0));
    book.complete("p", &A, MINUTE).unwrap();
    assert_eq!(book.dispute("p", &A, MINUTE), Err(RelayError::NotAccepted));
    assert_eq!(book.clone().dispute("p", &B, MINUTE + CONFIRM_MS), Err(RelayError::NotAccepted));
    book.dispute("p", &B, MINUTE + CONFIRM_MS - 1).unwrap();
    assert_eq!(book.get("p").unwrap().state, State::Disputed);
}

#[test]
fn a_stake_is_what_the_rating_carries_above_the_floor() {
    let mut book = Book::new(Settings::default());
    assert!(book.propose("a".into(), party(1), party(2), terms(1_101, None), 0).is_err());
    book.propose("a".into(), party(1), party(2), terms(1_100, None), 0).unwrap();
    book.propose("b".into(), party(1), party(2), terms(1, None), 0).unwrap();
    assert!(matches!(book.accept("a", &B, 1_101, 0), Err(RelayError::StakeTooHigh { .. })));
    assert_eq!((book.held(&A), book.held(&B)), (0, 0));
    book.accept("a", &B, 1_100, 0).unwrap();
    assert!(matches!(book.accept("b", &B, 0, 0), Err(RelayError::StakeTooHigh { .. })));
}

#[test]
fn a_pair_gains_once_an_hour_and_less_each_time() {
    let mut book = Book::new(Settings::default());
    let mut round = |id: &str, at: u64| {
        book.propose(id.into(), party(1), party(2), terms(0, None), at).unwrap();
        book.accept(id, &B, 0, at).unwrap();
        book.complete(id, &A, at + MINUTE).unwrap();
        let [(_, change), _] = book.complete(id, &B, at + MINUTE).unwrap().unwrap().changes;
        change.new - change.old
    };
    assert_eq!(round("1", 0), 8);
    assert_eq!(round("2", 3_600_000 - 1), 0);
    assert_eq!(round("3", 3_600_000), 4);
    assert_eq!(round("4", 7_200_000), 3);
}

#[test]
fn the_k_factor_falls_at_30_and_100_and_the_floor_holds() {
    assert_eq!([29, 30, 99, 100].map(k_factor), [32, 24, 24, 16]);
    let at = |rating, transactions| Rating { rating, transactions };
    assert_eq!(
        (
            gain(at(1_200, 29), at(1_200, 0), 1),
            gain(at(1_200, 30), at(1_200, 0), 1),
            gain(at(1_200, 100), at(1_200, 0), 1)
        ),
        (8, 6, 4)
    );
    assert_eq!((gain(at(3_000, 0), at(100, 0), 1), loss(at(100, 0), at(3_000, 0))), (1, 1));
    let mut low = at(110, 5);
    assert_eq!((low.moved(-10).new, low.moved(-1).new), (100, 100));
}

proptest! {
    /// Random clients: escrow is the sum of the open stakes, never more than a rating carries, and a state changes
    /// only as the table says.
    #[test]
    fn random_clients_never_break_the_books(steps in prop::collection::vec((0u8..7, 0u8..4, 0u8..4, 0u32..600, 0u64..400_000_000), 1..60)) {
        let mut book = Book::new(Settings::default());
        let mut now = 0;
        let mut ids: Vec<String> = Vec::new();
        for (act, who, other, stake, wait) in steps {
            now += wait;
            let key = party(who).key;
            let id = ids.get(usize::from(other) % ids.len().max(1)).cloned().unwrap_or_default();
            let before = book.get(&id).map(|proposal| proposal.state);
            let sums = |book: &Book| (0..4).map(|n| book.rating(&[n; 32]).rating).sum::<u32>();
            let sum = sums(&book);
            match act {
                0 | 1 => {
                    let new = format!("p{}", ids.len());
                    let expires = (stake % 2 == 0).then(|| f64::from(stake) * 1_000.0);
                    if book.propose(new.clone(), party(who), party(other), terms(stake, expires), now).is_ok() { ids.push(new); }
                }
                2 => drop(book.accept(&id, &key, stake, now).map(|_| ())),
                3 => drop(book.reject(&id, &key, now).map(|_| ())),
                4 => drop(book.complete(&id, &key, now)),
                5 => { if let Ok(None) = book.dispute(&id, &key, now) { prop_assert_eq!(sums(&book), sum); } }
                _ => { book.tick(now); prop_assert_eq!(sums(&book), sum); }
            }
            if let (Some(before), Some(after)) = (before, book.get(&id)) {
                prop_assert!(before == after.state || TABLE.iter().any(|row| row.0 == before && row.2 == after.state));
            }
            for n in 0..4u8 {
                let open = ids.iter().filter_map(|id| book.get(id)).filter(|p| {
                    p.settlement.is_none() && matches!(p.state, State::Accepted | State::Completed | State::Disputed)
                });
                let due: u32 = open.map(|p| (if p.from.key == [n; 32] { p.proposer_stake() } else { 0 }) + (if p.to.key == [n; 32] { p.acceptor_stake } else { 0 })).sum();
                prop_assert_eq!(book.held(&[n; 32]), due);
                prop_assert!(book.rating(&[n; 32]).rating >= 100);
            }
        }
    }
}
