use crate::support::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use zx1_mesh::conversation::{
    Act, Conversation, ConversationError, Conversations, Due, NOTARY, PARTICIPANT, Phase, Received, Role,
    TABLE, act_of, owed_by_notary,
};
use zx1_mesh::defaults::{MAX_CONVERSATIONS, MAX_CONVERSATIONS_WITH_ONE, MAX_LINES};
use zx1_protocol::context::Context;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::Verdict;

const OF_COUNTERPARTY: Due = Due { target: B, role: PARTICIPANT };
const OF_NOTARY: Due = Due { target: N, role: NOTARY };

/// A deal between A, who proposed, and B, that has come to this phase by the usual way.
fn deal(phase: Phase) -> Conversations {
    let mut book = Conversations::new(A);
    let usual = [
        (Phase::ProposerBid, MsgType::Propose, A, B, bid(5)),
        (Phase::ResponderBid, MsgType::Counter, B, A, bid(7)),
        (Phase::Agreed, MsgType::Accept, A, B, bid(7)),
        (Phase::Delivered, MsgType::Deliver, B, A, b"the work".to_vec()),
        (Phase::Judged, MsgType::Verdict, N, A, verdict()),
        (Phase::Disputed, MsgType::Dispute, A, B, Vec::new()),
    ];
    for (nonce, (to, msg_type, from, recipient, payload)) in (1..).zip(usual) {
        if to == Phase::Judged {
            book.get_mut(TASK).unwrap().set_notary(N).unwrap();
        }
        assert_eq!(take(&mut book, nonce, msg_type, from, recipient, &payload), Received::InOrder, "{to}");
        assert_eq!(book.get(TASK).unwrap().phase, to);
        if to == phase {
            return book;
        }
    }
    panic!("{phase} is not on the usual way");
}

fn verdict() -> Vec<u8> {
    Verdict { outcome: 2, deliver: [1; 32], reason: "" }.to_payload().unwrap()
}

fn take(
    book: &mut Conversations,
    nonce: u64,
    msg_type: MsgType,
    from: AgentId,
    to: AgentId,
    payload: &[u8],
) -> Received {
    let bytes = message(nonce, msg_type, from, to, payload);
    if from == A { book.sent(&decode(&bytes), NOW) } else { book.received(&decode(&bytes), NOW) }
}

#[test]
fn the_table_has_one_way_for_each_act_and_leads_everywhere() {
    let ways: BTreeSet<_> = TABLE.iter().map(|(from, act, by, _)| (*from, *act, *by)).collect();
    assert_eq!(ways.len(), TABLE.len());
    for phase in Phase::ALL {
        let reached =
            phase == Phase::New || phase == Phase::Unjudged || TABLE.iter().any(|row| row.3 == phase);
        assert!(reached, "{phase}");
    }
    for act in Act::ALL {
        assert!(TABLE.iter().any(|row| row.1 == act), "{act}");
    }
}

#[test]
fn whoever_made_the_last_bid_cannot_answer_it() {
    for phase in [Phase::ProposerBid, Phase::ResponderBid] {
        let bidder = if phase == Phase::ProposerBid { Role::Proposer } else { Role::Responder };
        for act in [Act::Counter, Act::Accept, Act::Reject] {
            assert_eq!(phase.after(act, bidder), None, "{phase} {act}");
        }
    }
}

/// Both parties play the table; what each sends takes a while. Whatever crosses, they end with one outcome.
#[test]
fn messages_that_cross_leave_both_parties_with_one_outcome() {
    for first in [Act::Counter, Act::Accept, Act::Reject] {
        for second in [Act::Counter, Act::Accept, Act::Reject] {
            let open = Phase::ProposerBid;
            let both = [(first, Role::Proposer), (second, Role::Responder)];
            let may = both.map(|(act, by)| open.after(act, by).is_some());
            assert_ne!(may, [true, true], "{first} and {second} can cross");
        }
    }
}

#[test]
fn a_usual_deal_goes_from_bid_to_dispute() {
    let book = deal(Phase::Disputed);
    let it = book.get(TASK).unwrap();
    assert_eq!((it.proposer, it.responder, it.notary, it.value), (A, B, Some(N), 7));
    assert_eq!(it.lines.len(), 6);
    assert!(it.lines.iter().all(|line| !line.out_of_order));
    assert!(it.delivered.is_some() && it.verdict.is_some());
}

#[test]
fn a_move_that_the_table_does_not_have_is_kept_and_changes_nothing() {
    let mut book = deal(Phase::ProposerBid);
    // The bidder accepts its own bid; work for no deal; a verdict of nobody's notary.
    for (nonce, msg_type, from) in
        [(10, MsgType::Accept, A), (11, MsgType::Deliver, B), (12, MsgType::Dispute, B)]
    {
        let to = if from == A { B } else { A };
        assert_eq!(take(&mut book, nonce, msg_type, from, to, &bid(5)), Received::OutOfOrder);
    }
    let it = book.get(TASK).unwrap();
    assert_eq!((it.phase, it.value), (Phase::ProposerBid, 5));
    assert_eq!(it.lines.iter().map(|line| line.out_of_order).collect::<Vec<_>>(), [false, true, true, true]);
}

#[test]
fn an_accept_of_another_value_than_the_bids_makes_no_deal() {
    let mut book = deal(Phase::ResponderBid);
    assert_eq!(book.check(MsgType::Accept, B, TASK, &bid(8)), Err(ConversationError::OtherValue { bid: 7 }));
    assert_eq!(take(&mut book, 9, MsgType::Accept, A, B, &bid(8)), Received::OutOfOrder);
    assert_eq!(book.get(TASK).unwrap().phase, Phase::ResponderBid);
    assert_eq!(book.check(MsgType::Accept, B, TASK, &bid(7)), Ok(()));
}

#[test]
fn the_same_message_twice_is_one() {
    let mut book = deal(Phase::Delivered);
    let before = book.get(TASK).unwrap().clone();
    assert_eq!(take(&mut book, 4, MsgType::Deliver, B, A, b"the work"), Received::InOrder);
    assert_eq!(book.get(TASK).unwrap(), &before);
}

#[test]
fn what_is_sent_is_refused_unless_the_table_has_it() {
    let book = deal(Phase::ProposerBid);
    let phase = Phase::ProposerBid;
    for (msg_type, act) in [(MsgType::Accept, Act::Accept), (MsgType::Reject, Act::Reject)] {
        let error = ConversationError::OutOfOrder { act, phase };
        assert_eq!(book.check(msg_type, B, TASK, &bid(5)), Err(error));
    }
    assert_eq!(book.check(MsgType::Propose, B, TASK, &bid(5)), Err(ConversationError::Exists(TASK)));
    let other = ConversationId([8; 16]);
    assert_eq!(book.check(MsgType::Propose, B, other, &bid(5)), Ok(()));
    assert_eq!(book.check(MsgType::Propose, A, other, &bid(5)), Err(ConversationError::WrongRecipient));
    assert_eq!(book.check(MsgType::Counter, B, other, &bid(5)), Err(ConversationError::Unknown(other)));
    let book = deal(Phase::ResponderBid);
    assert_eq!(book.check(MsgType::Counter, B, TASK, &bid(6)), Ok(()));
    assert_eq!(book.check(MsgType::Counter, N, TASK, &bid(6)), Err(ConversationError::WrongRecipient));
}

#[test]
fn questions_say_what_the_table_says() {
    let book = deal(Phase::ResponderBid);
    let it = book.get(TASK).unwrap();
    assert!(it.can_accept(A) && it.can_counter(A) && it.can_reject(A));
    assert!(!it.can_accept(B) && !it.can_deliver(A) && !it.can_dispute(A) && !it.can_ask_for_notary(A));
    assert!(!it.can_accept(STRANGER));
    let book = deal(Phase::Delivered);
    let it = book.get(TASK).unwrap();
    assert!(it.can_ask_for_notary(A) && it.can_ask_for_notary(B) && !it.can_ask_for_notary(N));
    assert!(it.can_deliver(B) && !it.can_accept(A));
    assert!(deal(Phase::Judged).get(TASK).unwrap().can_dispute(B));
}

#[test]
fn envelopes_that_are_shown_are_no_work() {
    let mut book = deal(Phase::Agreed);
    let shown = Context { envelopes: vec![b"x"] }.to_payload().unwrap();
    assert_eq!(act_of(MsgType::Deliver, &shown), None);
    assert_eq!(take(&mut book, 9, MsgType::Deliver, B, A, &shown), Received::InOrder);
    assert_eq!(book.get(TASK).unwrap().phase, Phase::Agreed);
    // Nor does what a party sends its notary count as a delivery.
    book.get_mut(TASK).unwrap().set_notary(N).unwrap();
    assert_eq!(take(&mut book, 10, MsgType::Deliver, A, N, b"work"), Received::OutOfOrder);
    assert_eq!(book.get(TASK).unwrap().phase, Phase::Agreed);
}

#[test]
fn a_verdict_counts_from_the_notary_alone() {
    let mut book = deal(Phase::Delivered);
    for (nonce, judge) in [(10, B), (11, N), (12, M)] {
        assert_ne!(take(&mut book, nonce, MsgType::Verdict, judge, A, &verdict()), Received::InOrder);
    }
    let it = book.get_mut(TASK).unwrap();
    it.set_notary(M).unwrap();
    it.set_notary(N).unwrap();
    assert_eq!((it.notary, it.silent_notary), (Some(N), Some(M)));
    assert_eq!(it.set_notary(B), Err(ConversationError::PartyAsNotary));
    assert_ne!(take(&mut book, 13, MsgType::Verdict, M, A, &verdict()), Received::InOrder);
    assert_eq!(book.get(TASK).unwrap().phase, Phase::Delivered);
    assert_eq!(take(&mut book, 14, MsgType::Verdict, N, A, &verdict()), Received::InOrder);
    let it = book.get_mut(TASK).unwrap();
    assert_eq!(it.set_notary(M), Err(ConversationError::NoNotaryNow { phase: Phase::Judged }));
    assert_eq!(it.set_unjudged(), Err(ConversationError::NoNotaryNow { phase: Phase::Judged }));
}

#[test]
fn both_parties_owe_a_rating_of_each_other_and_of_the_notary() {
    let mut book = deal(Phase::Judged);
    let it = book.get(TASK).unwrap();
    assert_eq!(it.owed(A), [OF_COUNTERPARTY, OF_NOTARY]);
    assert_eq!(it.owed(B), [Due { target: A, role: PARTICIPANT }, OF_NOTARY]);
    assert_eq!(it.owed(N), owed_by_notary([A, B]));
    assert!(it.owed(STRANGER).is_empty() && !it.is_done(A));
    assert_eq!(take(&mut book, 20, MsgType::Feedback, A, B, &rating(B, PARTICIPANT)), Received::InOrder);
    assert_eq!(book.get(TASK).unwrap().owed(A), [OF_NOTARY]);
    assert_eq!(
        book.check(MsgType::Feedback, B, TASK, &rating(B, PARTICIPANT)),
        Err(ConversationError::NotToRate)
    );
    assert_eq!(book.check(MsgType::Feedback, B, TASK, &rating(N, NOTARY)), Ok(()));
    assert_eq!(take(&mut book, 21, MsgType::Feedback, A, B, &rating(N, NOTARY)), Received::InOrder);
    assert!(book.get(TASK).unwrap().is_done(A));
    assert!(!book.get(TASK).unwrap().is_done(B));
}

#[test]
fn a_rating_is_about_somebody_who_took_part_and_is_given_once() {
    let mut book = deal(Phase::Judged);
    let wrong = [rating(A, 0), rating(B, NOTARY), rating(N, PARTICIPANT), rating(STRANGER, 0), b"x".to_vec()];
    for payload in &wrong {
        assert_eq!(book.check(MsgType::Feedback, B, TASK, payload), Err(ConversationError::NotToRate));
    }
    for (nonce, payload) in (30..).zip(&wrong[..4]) {
        assert_eq!(take(&mut book, nonce, MsgType::Feedback, A, B, payload), Received::OutOfOrder);
    }
    assert_eq!(take(&mut book, 40, MsgType::Feedback, STRANGER, A, &rating(A, 0)), Received::Apart);
    assert_eq!(take(&mut book, 41, MsgType::Feedback, B, A, &rating(A, 0)), Received::InOrder);
    assert_eq!(take(&mut book, 42, MsgType::Feedback, B, A, &rating(A, 0)), Received::OutOfOrder);
}

#[test]
fn a_deal_without_a_notary_is_over_with_its_delivery() {
    let book = deal(Phase::Delivered);
    assert_eq!(book.get(TASK).unwrap().owed(A), [OF_COUNTERPARTY]);
    assert!(deal(Phase::Agreed).get(TASK).unwrap().owed(A).is_empty());
    // Whoever got nothing may say so.
    assert!(deal(Phase::Agreed).get(TASK).unwrap().can_rate(A, OF_COUNTERPARTY));
    assert!(!deal(Phase::ResponderBid).get(TASK).unwrap().can_rate(A, OF_COUNTERPARTY));
}

#[test]
fn a_task_that_nobody_judged_is_rated_with_its_silent_notary() {
    let mut book = deal(Phase::Delivered);
    let it = book.get_mut(TASK).unwrap();
    it.set_notary(N).unwrap();
    assert!(it.owed(A).is_empty());
    it.set_unjudged().unwrap();
    it.set_unjudged().unwrap();
    assert_eq!((it.phase, it.notary), (Phase::Unjudged, None));
    assert_eq!(it.owed(A), [OF_COUNTERPARTY, OF_NOTARY]);
    assert!(it.owed(N).is_empty());
    assert_ne!(take(&mut book, 50, MsgType::Verdict, N, A, &verdict()), Received::InOrder);
}

#[test]
fn a_stranger_displaces_no_line_of_a_conversation() {
    let mut book = deal(Phase::Delivered);
    for nonce in 100..300 {
        assert_eq!(take(&mut book, nonce, MsgType::Deliver, M, A, b"noise"), Received::Apart);
    }
    assert_eq!(book.get(TASK).unwrap().lines.len(), 4);
    for nonce in 300..400 {
        take(&mut book, nonce, MsgType::Deliver, B, A, b"more");
    }
    let it = book.get(TASK).unwrap();
    assert_eq!((it.lines.len(), it.omitted), (MAX_LINES, 104 - MAX_LINES as u64));
}

/// A proposal to A in a conversation of its own.
fn proposal(book: &mut Conversations, number: u32, from: AgentId, at: u64) -> Received {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&number.to_be_bytes());
    let bytes = unsigned_proposal(ConversationId(id), u64::from(number) + 1, from);
    book.received(&decode(&bytes), at)
}

/// The table does not look at signatures, which cost time here.
fn unsigned_proposal(id: ConversationId, nonce: u64, from: AgentId) -> Vec<u8> {
    use zx1_protocol::draft::Draft;
    use zx1_protocol::units::Slot;
    let payload = bid(1);
    let draft = Draft {
        msg_type: MsgType::Propose,
        sender: from,
        recipient: A,
        timestamp: NOW,
        block_ref: Slot(1),
        nonce,
        conversation_id: id,
        payload: &payload,
    };
    draft.sign(|_| [0; 64]).unwrap()
}

#[test]
fn one_agents_proposals_displace_only_each_other() {
    let mut book = deal(Phase::ProposerBid);
    for number in 0..200 {
        assert_eq!(proposal(&mut book, number, M, NOW + u64::from(number)), Received::InOrder);
    }
    assert_eq!(book.len(), MAX_CONVERSATIONS_WITH_ONE + 1);
    assert!(book.get(TASK).is_ok());
    assert_eq!(
        book.iter().filter(|it| it.proposer == M).map(|it| it.changed_micros).min(),
        Some(NOW + 200 - MAX_CONVERSATIONS_WITH_ONE as u64)
    );
}

#[test]
fn a_full_table_keeps_the_deals_that_this_agent_answered() {
    let mut book = deal(Phase::ResponderBid);
    for number in 0..(MAX_CONVERSATIONS as u32 + 100) {
        let mut from = [9; 32];
        from[..4].copy_from_slice(&number.to_be_bytes());
        proposal(&mut book, number, AgentId(from), NOW + 1 + u64::from(number));
    }
    assert_eq!(book.len(), MAX_CONVERSATIONS);
    assert!(book.get(TASK).is_ok());
}

#[test]
fn a_conversation_comes_back_from_json() {
    let book = deal(Phase::Disputed);
    let it = book.get(TASK).unwrap();
    let text = serde_json::to_string(it).unwrap();
    assert_eq!(&serde_json::from_str::<Conversation>(&text).unwrap(), it);
    assert!(text.contains(r#""value":"7""#), "{text}");
}

fn any_act() -> impl Strategy<Value = (MsgType, u8, u8, i128)> {
    let msg_type = prop::sample::select(MsgType::ALL.to_vec());
    (msg_type, 0..4u8, 0..4u8, 0..2i128)
}

proptest! {
    /// Whatever comes in whatever order, the phase follows the table, and what is sent after a check is in order.
    #[test]
    fn whatever_comes_the_table_is_kept(acts in prop::collection::vec(any_act(), 1..60)) {
        let who = [A, B, N, M];
        let mut book = deal(Phase::ProposerBid);
        for (nonce, (msg_type, from, to, value)) in (100..).zip(acts) {
            let (from, to) = (who[usize::from(from)], who[usize::from(to)]);
            let payload = match msg_type {
                MsgType::Feedback => rating(to, (value % 2) as u8),
                MsgType::NotarizeBid => [0; 17].to_vec(),
                MsgType::Beacon => continue,
                _ => bid(value * 5),
            };
            let before = book.get(TASK).unwrap().clone();
            let allowed = book.check(msg_type, to, TASK, &payload);
            let how = take(&mut book, nonce, msg_type, from, to, &payload);
            let after = book.get(TASK).unwrap();
            let act = act_of(msg_type, &payload);
            if from == A && to != A && act.is_some() && allowed.is_ok() {
                prop_assert_eq!(how, Received::InOrder);
            }
            if how != Received::InOrder || act.is_none() {
                prop_assert_eq!((before.phase, before.value, &before.ratings), (after.phase, after.value, &after.ratings));
            } else {
                let role = before.role_of(from).unwrap();
                prop_assert_eq!(before.phase.after(act.unwrap(), role), Some(after.phase));
            }
            prop_assert!(after.lines.len() <= MAX_LINES);
        }
    }
}
