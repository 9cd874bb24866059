use crate::support::*;
use zx1_mesh::defaults::{CHOICE_TIME, MAX_OFFERS, OFFERS_TIME, REPLACEMENT_TIME};
use zx1_mesh::notary::{
    Bid, Choice, NotaryError, Offers, Search, Stage, Task, choice_payload, deadline, read_choice,
};
use zx1_protocol::context::Context;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::{MeshPayloadError, Offer, Verdict};
use zx1_protocol::validate::Reason;

fn terms(fee: i128, unit: &str, seconds: u32) -> Vec<u8> {
    Offer { fee, unit, seconds }.to_payload().unwrap()
}

fn bid_of(notary: AgentId, fee: i128, seconds: u32, score: i64) -> Bid {
    Bid::of(notary, &terms(fee, "raw", seconds), score, b"envelope").unwrap()
}

fn verdict() -> Vec<u8> {
    Verdict { outcome: 2, deliver: [1; 32], reason: "" }.to_payload().unwrap()
}

/// A looks for a notary; N and M offered, N for 600 s, M for 1 200 s.
fn collecting() -> Search {
    let mut search = Search::ask(TASK, A, B, "raw", NOW);
    search.offer(bid_of(N, 5, 600, 10), NOW + 1).unwrap();
    search.offer(bid_of(M, 4, 1_200, 9), NOW + 2).unwrap();
    search
}

const CHOICE: u64 = NOW + OFFERS_TIME;

fn assigned() -> Search {
    let mut search = collecting();
    search.choose(N, CHOICE).unwrap();
    search
}

fn judge(search: &mut Search, who: AgentId, at: u64) -> Result<(), NotaryError> {
    search.judge(who, &verdict(), [3; 32], at).map(|_| ())
}

#[test]
fn every_way_of_a_search_ends() {
    for (from, _, to) in Stage::TABLE {
        assert!(!from.is_over());
        assert!(to.is_over() || Stage::TABLE.iter().any(|row| row.0 == *to));
    }
}

#[test]
fn offers_are_ranked_by_score_then_by_fee() {
    let mut offers = Offers::new("raw");
    let agent = |n: u8| AgentId([n; 32]);
    for (n, fee, unit, score) in
        [(1, 9, "raw", 5), (2, 3, "raw", 5), (3, 1, "gold", 5), (4, 99, "raw", 6), (5, 0, "raw", -1)]
    {
        offers.take(Bid::of(agent(n), &terms(fee, unit, 60), score, b"").unwrap());
    }
    let ranked: Vec<_> = offers.ranked().iter().map(|bid| bid.notary.0[0]).collect();
    assert_eq!(ranked, [4, 2, 1, 3, 5]);
    // A notary has one offer, its last.
    offers.take(Bid::of(agent(4), &terms(1, "raw", 60), -5, b"").unwrap());
    assert_eq!(offers.ranked().last().unwrap().notary, agent(4));
    assert_eq!(offers.ranked().len(), 5);
    assert_eq!(offers.best().unwrap().notary, agent(2));
}

#[test]
fn of_too_many_offers_the_worst_leave() {
    let mut offers = Offers::new("raw");
    for n in 0..=255 {
        offers.take(bid_of(AgentId([n; 32]), 1, 60, n.into()));
    }
    assert_eq!(offers.ranked().len(), MAX_OFFERS);
    assert_eq!(offers.ranked()[0].score, 255);
    assert_eq!(offers.ranked()[MAX_OFFERS - 1].score, 256 - MAX_OFFERS as i64);
}

#[test]
fn an_offer_in_another_format_is_not_ranked() {
    assert_eq!(Bid::of(N, b"fee:5", 0, b""), Err(NotaryError::Payload(MeshPayloadError::Hint)));
}

#[test]
fn a_search_goes_from_offers_to_choice_to_verdict() {
    let mut search = collecting();
    assert_eq!(search.tasks(), [Task::Ask]);
    search.done(Task::Ask);
    assert!(search.tasks().is_empty());
    assert_eq!(search.choose(N, NOW + 3), Err(NotaryError::NotNow { stage: "collecting" }));
    search.advance(CHOICE);
    assert!(search.can_choose());
    assert_eq!(
        search.offer(bid_of(STRANGER, 1, 60, 1), CHOICE),
        Err(NotaryError::NotNow { stage: "choosing" })
    );
    assert_eq!(search.choose(STRANGER, CHOICE), Err(NotaryError::NoOffer));
    search.choose(M, CHOICE + SECOND).unwrap();
    assert_eq!(search.until(), Some(CHOICE + SECOND + 1_200 * SECOND));
    assert_eq!(search.tasks(), [Task::Assign(M)]);
    search.done(Task::Assign(M));
    assert_eq!(search.tasks(), [Task::ShowChoice(M), Task::ShowContext(M)]);
    assert_eq!(search.chosen_offer(), Some(&b"envelope"[..]));
    search.done(Task::ShowChoice(M));
    search.done(Task::ShowContext(M));
    // What is of another notary is not of this one.
    search.done(Task::Assign(N));
    assert!(search.tasks().is_empty());
    assert_eq!(judge(&mut search, M, CHOICE + 2 * SECOND), Ok(()));
    assert_eq!((search.stage(), search.notary(), search.until()), (Stage::Judged, Some(M), None));
    assert_eq!(search.verdict().unwrap().outcome, 2);
    assert_eq!(judge(&mut search, M, CHOICE + 3 * SECOND), Err(NotaryError::OtherNotary));
}

#[test]
fn a_second_notary_is_refused_while_the_first_has_time() {
    let mut search = assigned();
    assert_eq!(search.choose(M, CHOICE + 1), Err(NotaryError::TwoNotaries));
    let theirs = Choice { notary: M, seconds: 60 };
    assert_eq!(search.adopt(theirs, CHOICE + 1), Err(NotaryError::TwoNotaries));
    assert_eq!(search.adopt(Choice { notary: N, seconds: 60 }, CHOICE + 1), Ok(()));
    assert_eq!((search.notary(), search.until()), (Some(N), Some(CHOICE + 600 * SECOND)));
}

#[test]
fn a_silent_notary_is_followed_once_by_the_next_offer() {
    let mut search = assigned();
    let first_end = CHOICE + 600 * SECOND;
    search.advance(first_end - 1);
    assert_eq!(search.notary(), Some(N));
    // The verdict that comes with the deadline is too late: the time passes first.
    assert_eq!(judge(&mut search, N, first_end), Err(NotaryError::OtherNotary));
    assert_eq!((search.notary(), search.until()), (Some(M), Some(first_end + 1_200 * SECOND)));
    assert_eq!(search.tasks(), [Task::Assign(M)]);
    assert_eq!(judge(&mut search, N, first_end + 1), Err(NotaryError::OtherNotary));
    search.advance(first_end + 1_200 * SECOND);
    assert_eq!((search.stage(), search.notary()), (Stage::Unjudged, None));
    assert_eq!(search.notaries().collect::<Vec<_>>(), [N, M]);
    assert_eq!(judge(&mut search, M, first_end + 1_200 * SECOND), Err(NotaryError::OtherNotary));
}

#[test]
fn without_offers_or_without_a_choice_nobody_judges() {
    let mut none = Search::ask(TASK, A, B, "raw", NOW);
    none.advance(CHOICE - 1);
    assert_eq!(none.stage(), Stage::Collecting);
    none.advance(CHOICE);
    assert_eq!(none.stage(), Stage::Unjudged);
    let mut undecided = collecting();
    undecided.advance(CHOICE + CHOICE_TIME);
    assert_eq!((undecided.stage(), undecided.notaries().count()), (Stage::Unjudged, 0));
}

#[test]
fn parties_are_not_notaries_of_their_own_task() {
    let mut search = Search::ask(TASK, A, B, "raw", NOW);
    for party in [A, B] {
        assert_eq!(search.offer(bid_of(party, 0, 60, 100), NOW), Err(NotaryError::PartyAsNotary));
        let choice = Choice { notary: party, seconds: 60 };
        assert_eq!(search.adopt(choice, NOW), Err(NotaryError::PartyAsNotary));
    }
}

#[test]
fn a_verdict_of_another_format_leaves_the_notary_its_time() {
    let mut search = assigned();
    let refused = search.judge(N, b"JSON{}", [3; 32], CHOICE + 1);
    assert_eq!(refused, Err(NotaryError::Payload(MeshPayloadError::Hint)));
    assert_eq!(judge(&mut search, N, CHOICE + 2), Ok(()));
}

#[test]
fn a_party_follows_the_choice_of_the_other() {
    let choice = Choice { notary: N, seconds: 600 };
    let mut search = Search::follow(TASK, B, A, choice, NOW).unwrap();
    assert_eq!((search.notary(), search.tasks()), (Some(N), vec![Task::ShowContext(N)]));
    assert_eq!(search.chosen_offer(), None);
    // The other one replaces it too early, then at its end, then once too often.
    let second = Choice { notary: M, seconds: 600 };
    assert_eq!(search.adopt(second, NOW + 500 * SECOND), Err(NotaryError::TwoNotaries));
    assert_eq!(search.adopt(second, NOW + 599 * SECOND), Ok(()));
    assert_eq!(search.notary(), Some(M));
    assert_eq!(judge(&mut search, N, NOW + 599 * SECOND), Err(NotaryError::OtherNotary));
    let third = Choice { notary: STRANGER, seconds: 600 };
    assert_eq!(search.adopt(third, NOW + 1_198 * SECOND), Err(NotaryError::TwoNotaries));
    search.advance(NOW + 1_199 * SECOND);
    assert_eq!(search.stage(), Stage::Unjudged);
}

#[test]
fn a_party_that_follows_waits_for_a_second_choice_and_then_no_longer() {
    let choice = Choice { notary: N, seconds: 600 };
    let mut search = Search::follow(TASK, B, A, choice, NOW).unwrap();
    let end = NOW + 600 * SECOND;
    search.advance(end);
    assert_eq!((search.stage(), search.notary()), (Stage::Awaiting, None));
    assert_eq!(judge(&mut search, N, end + 1), Err(NotaryError::OtherNotary));
    let mut taken = search.clone();
    assert_eq!(taken.adopt(Choice { notary: N, seconds: 9 }, end + 1), Err(NotaryError::TwoNotaries));
    assert_eq!(taken.adopt(Choice { notary: M, seconds: 9 }, end + 1), Ok(()));
    assert_eq!(taken.notary(), Some(M));
    search.advance(end + REPLACEMENT_TIME);
    assert_eq!(search.stage(), Stage::Unjudged);
    assert_eq!(
        search.adopt(Choice { notary: M, seconds: 9 }, end + REPLACEMENT_TIME),
        Err(NotaryError::NotNow { stage: "unjudged" })
    );
}

#[test]
fn the_others_choice_ends_an_own_search() {
    let mut search = collecting();
    search.adopt(Choice { notary: M, seconds: 60 }, NOW + 5).unwrap();
    assert_eq!((search.notary(), search.until()), (Some(M), Some(NOW + 5 + 60 * SECOND)));
    assert_eq!(search.tasks(), [Task::ShowContext(M)]);
}

#[test]
fn no_time_is_longer_than_an_hour() {
    assert_eq!(deadline(NOW, u32::MAX), NOW + 3_600 * SECOND);
    assert_eq!(deadline(u64::MAX - 1, 60), u64::MAX);
}

#[test]
fn a_search_comes_back_from_json_with_its_tasks() {
    let mut search = assigned();
    search.done(Task::Assign(N));
    let text = serde_json::to_string(&search).unwrap();
    let again: Search = serde_json::from_str(&text).unwrap();
    assert_eq!((&again, again.tasks()), (&search, search.tasks()));
    assert!(search.name_of(Task::ShowChoice(N)).len() <= zx1_mesh::defaults::MAX_DRAFT_NAME);
}

#[test]
fn a_choice_is_shown_by_offer_and_assignment() {
    let offer = offer_message(1, N, &terms(5, "raw", 600));
    let assignment = message(2, MsgType::NotarizeAssign, A, N, b"");
    let payload = choice_payload(&offer, &assignment).unwrap();
    let read = |payload: &[u8]| read_choice(payload, TASK, A, &keys);
    assert_eq!(read(&payload), Ok(Choice { notary: N, seconds: 600 }));
    let wrong: Vec<Vec<&[u8]>> = {
        let to_m = Box::leak(message(3, MsgType::NotarizeAssign, A, M, b"").into_boxed_slice());
        let by_b = Box::leak(message(4, MsgType::NotarizeAssign, B, N, b"").into_boxed_slice());
        let request = Box::leak(
            message(5, MsgType::NotarizeBid, N, N, &[&[0][..], &TASK.0].concat()).into_boxed_slice(),
        );
        vec![
            vec![&offer],
            vec![&assignment, &offer],
            vec![&offer, &assignment, &assignment],
            vec![&offer, to_m],
            vec![&offer, by_b],
            vec![request, &assignment],
        ]
    };
    for envelopes in wrong {
        let payload = Context { envelopes }.to_payload().unwrap();
        assert_eq!(read(&payload), Err(NotaryError::NotAChoice));
    }
    assert_eq!(read_choice(&payload, ConversationId([9; 16]), A, &keys), Err(NotaryError::NotTheirs));
    assert_eq!(read_choice(&payload, TASK, B, &keys), Err(NotaryError::NotAChoice));
    assert_eq!(read_choice(&payload, TASK, A, &|_| Vec::new()), Err(Reason::UnknownSender.into()));
    let mut forged = assignment.clone();
    *forged.last_mut().unwrap() ^= 1;
    let payload = choice_payload(&offer, &forged).unwrap();
    assert_eq!(read(&payload), Err(Reason::Signature.into()));
}
