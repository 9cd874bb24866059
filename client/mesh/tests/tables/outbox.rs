use crate::support::*;
use zx1_mesh::defaults::{DRAFT_TTL, MAX_DRAFTS_TO_ONE, MAX_ENDED_ROWS, RETRY_FIRST, RETRY_LONGEST};
use zx1_mesh::outbox::{Draft, Input, Outbox, OutboxError, Row, State};
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::ConversationId;

const HASH: [u8; 32] = [5; 32];

fn draft(name: &str) -> Draft<'_> {
    Draft {
        name,
        msg_type: MsgType::Deliver,
        recipient: B,
        conversation: TASK,
        payload: b"the work",
        ttl_micros: DRAFT_TTL,
    }
}

fn gossip(name: &str) -> Draft<'_> {
    Draft { msg_type: MsgType::Feedback, recipient: BROADCAST, ..draft(name) }
}

fn with(drafts: &[Draft<'_>]) -> Outbox {
    let mut outbox = Outbox::default();
    for draft in drafts {
        outbox.add(draft, NOW).unwrap();
    }
    outbox
}

fn due(outbox: &Outbox, at: u64) -> Vec<u64> {
    outbox.due(at).iter().map(|row| row.id).collect()
}

fn send(outbox: &mut Outbox, id: u64) {
    outbox.begin(id, NOW).unwrap();
    outbox.signed(id, HASH).unwrap();
}

fn not_now<T: std::fmt::Debug>(found: Result<T, OutboxError>) -> bool {
    matches!(found, Err(OutboxError::NotNow { .. }))
}

#[test]
fn nothing_leads_from_the_end_of_a_message_to_its_beginning() {
    for (from, input, to) in State::TABLE {
        let back = *to == State::Queued;
        assert_eq!(back, (*from, *input) == (State::Sent, Input::NotSigned));
        assert!(!matches!(from, State::Acknowledged | State::Expired | State::Refused));
    }
}

#[test]
fn a_draft_is_queued_sent_and_acknowledged() {
    let mut outbox = with(&[draft("one")]);
    assert_eq!(due(&outbox, NOW), [0]);
    assert!(not_now(outbox.signed(0, HASH)) && not_now(outbox.acknowledged(0)) && not_now(outbox.lost(0)));
    assert_eq!(outbox.begin(0, NOW).unwrap().state, State::Sent);
    assert!(due(&outbox, NOW).is_empty() && not_now(outbox.begin(0, NOW)) && not_now(outbox.acknowledged(0)));
    assert_eq!(outbox.signed(0, HASH).unwrap().message32, Some(HASH));
    assert!(
        not_now(outbox.signed(0, HASH)) && not_now(outbox.not_signed(0, NOW)) && not_now(outbox.refuse(0, 1))
    );
    assert_eq!(outbox.acknowledged(0).unwrap().state, State::Acknowledged);
    assert!(outbox.named("one").unwrap().is_over() && not_now(outbox.lost(0)));
    assert_eq!(outbox.get(9), Err(OutboxError::Unknown(9)));
}

#[test]
fn a_lost_answer_is_unanswered_and_is_never_sent_again_by_itself() {
    let mut outbox = with(&[draft("one"), draft("two")]);
    send(&mut outbox, 0);
    assert_eq!(outbox.lost(0).unwrap().state, State::Unanswered);
    for later in [NOW, NOW + DRAFT_TTL / 2] {
        outbox.reachable(B, later);
        assert!(due(&outbox, later).is_empty());
    }
    assert!(not_now(outbox.begin(0, NOW)) && not_now(outbox.begin(1, NOW)));
    // The caller decides; or the answer comes after all.
    let mut answered = outbox.clone();
    assert_eq!(answered.acknowledged(0).unwrap().state, State::Acknowledged);
    assert_eq!(due(&answered, NOW), [1]);
    assert!(outbox.settle(0).unwrap().settled);
    assert_eq!((due(&outbox, NOW), outbox.get(0).unwrap().state), (vec![1], State::Unanswered));
    assert!(not_now(outbox.settle(1)));
}

#[test]
fn an_unanswered_message_waits_for_the_caller_as_long_as_it_lives() {
    let mut outbox = with(&[draft("one")]);
    send(&mut outbox, 0);
    outbox.lost(0).unwrap();
    outbox.add(&draft("two"), NOW + DRAFT_TTL - 1).unwrap();
    let changed = outbox.advance(NOW + DRAFT_TTL);
    let states: Vec<_> = changed.iter().map(|row| (row.id, row.state)).collect();
    assert_eq!(states, [(0, State::Unanswered), (1, State::Refused)]);
    assert!(outbox.iter().all(Row::is_over) && outbox.advance(NOW + DRAFT_TTL).is_empty());
}

#[test]
fn one_conversation_goes_out_in_order_and_others_do_not_wait() {
    let other = Draft { conversation: ConversationId([8; 16]), ..draft("other") };
    let notary = Draft { recipient: N, ..draft("notary") };
    let mut outbox = with(&[draft("one"), draft("two"), other, notary, gossip("rating")]);
    assert_eq!(due(&outbox, NOW), [0, 2, 3, 4]);
    assert!(not_now(outbox.begin(1, NOW)));
    send(&mut outbox, 0);
    assert_eq!(due(&outbox, NOW), [2, 3, 4]);
    outbox.acknowledged(0).unwrap();
    assert_eq!(due(&outbox, NOW), [1, 2, 3, 4]);
}

#[test]
fn pauses_double_up_to_five_minutes_and_end_when_the_recipient_is_seen() {
    let mut outbox = with(&[draft("one")]);
    let mut now = NOW;
    for tries in 0..70_u32 {
        let row = outbox.unreachable(0, now).unwrap();
        let pause = RETRY_FIRST.saturating_mul(1 << tries.min(30)).min(RETRY_LONGEST);
        assert_eq!((row.tries, row.next_micros), (tries + 1, now + pause));
        assert!(due(&outbox, now + pause - 1).is_empty());
        assert_eq!(outbox.next_deadline(), Some(now + pause));
        now += pause;
        assert_eq!(due(&outbox, now), [0]);
    }
    outbox.unreachable(0, now).unwrap();
    outbox.reachable(N, now);
    assert!(due(&outbox, now).is_empty());
    outbox.reachable(B, now);
    assert_eq!(due(&outbox, now), [0]);
}

#[test]
fn a_signer_that_is_away_puts_the_draft_back() {
    let mut outbox = with(&[draft("one")]);
    outbox.begin(0, NOW).unwrap();
    let row = outbox.not_signed(0, NOW).unwrap();
    assert_eq!((row.state, row.tries, row.next_micros), (State::Queued, 1, NOW + RETRY_FIRST));
    assert_eq!(due(&outbox, NOW + RETRY_FIRST), [0]);
}

#[test]
fn what_is_behind_a_refused_or_expired_message_is_not_sent() {
    let mut outbox = with(&[draft("one"), draft("two"), Draft { recipient: N, ..draft("notary") }]);
    outbox.begin(0, NOW).unwrap();
    let changed = outbox.refuse(0, 7_331).unwrap();
    let found: Vec<_> = changed.iter().map(|row| (row.id, row.state, row.error)).collect();
    assert_eq!(found, [(0, State::Refused, Some(7_331)), (1, State::Refused, Some(0))]);
    assert_eq!(due(&outbox, NOW), [2]);

    let mut outbox = with(&[Draft { ttl_micros: SECOND, ..draft("one") }, draft("two")]);
    assert!(due(&outbox, NOW + SECOND).is_empty() && not_now(outbox.begin(0, NOW + SECOND)));
    assert_eq!(outbox.next_deadline(), Some(NOW));
    let states: Vec<_> = outbox.advance(NOW + SECOND).iter().map(|row| row.state).collect();
    assert_eq!(states, [State::Expired, State::Refused]);

    let mut outbox = with(&[draft("one"), draft("two")]);
    assert_eq!(outbox.take_back(1).unwrap().len(), 1);
    send(&mut outbox, 0);
    assert!(not_now(outbox.take_back(0)));
}

#[test]
fn ratings_on_a_topic_do_not_depend_on_each_other() {
    let mut outbox = with(&[gossip("one"), gossip("two")]);
    outbox.take_back(0).unwrap();
    assert_eq!(due(&outbox, NOW), [1]);
    send(&mut outbox, 1);
    assert!(not_now(outbox.acknowledged(1)));
    let row = outbox.published(1).unwrap();
    assert_eq!((row.state, row.is_over()), (State::Sent, true));
    assert!(not_now(outbox.lost(1)));
    let mut direct = with(&[draft("one")]);
    send(&mut direct, 0);
    assert!(not_now(direct.published(0)));
}

#[test]
fn after_a_restart_what_was_on_its_way_is_unanswered() {
    let mut outbox =
        with(&[draft("one"), Draft { recipient: N, ..draft("two") }, gossip("three"), gossip("four")]);
    send(&mut outbox, 0);
    outbox.begin(1, NOW).unwrap();
    send(&mut outbox, 2);
    outbox.published(2).unwrap();
    send(&mut outbox, 3);
    let rows: Vec<Row> = outbox.iter().cloned().collect();
    let (again, changed) = Outbox::load(rows.clone(), outbox.next_id()).unwrap();
    assert_eq!(
        changed.iter().map(|row| (row.id, row.state)).collect::<Vec<_>>(),
        [0, 1, 3].map(|id| (id, State::Unanswered))
    );
    assert_eq!(again.get(2), Ok(&rows[2]));
    assert!(due(&again, NOW).is_empty());
}

#[test]
fn the_same_draft_under_the_same_name_is_taken_once() {
    let mut outbox = with(&[draft("one")]);
    assert_eq!(outbox.add(&draft("one"), NOW + 9).unwrap().created_micros, NOW);
    assert_eq!(outbox.add(&Draft { payload: b"x", ..draft("one") }, NOW), Err(OutboxError::NameTaken(0)));
    assert_eq!(outbox.iter().count(), 1);
}

#[test]
fn a_draft_that_receivers_would_drop_is_refused() {
    let mut outbox = Outbox::default();
    let large = vec![0; 65_537];
    let long = "x".repeat(129);
    let wrong = [
        Draft { name: "", ..draft("x") },
        Draft { name: &long, ..draft("x") },
        Draft { payload: &large, ..draft("x") },
        Draft { msg_type: MsgType::Beacon, ..gossip("x") },
        Draft { recipient: BROADCAST, ..draft("x") },
        Draft { recipient: B, ..gossip("x") },
    ];
    for draft in wrong {
        assert!(matches!(outbox.add(&draft, NOW), Err(OutboxError::Draft(_))));
    }
    for ttl_micros in [0, DRAFT_TTL + 1] {
        let refused = outbox.add(&Draft { ttl_micros, ..draft("x") }, NOW);
        assert_eq!(refused, Err(OutboxError::Ttl { limit: DRAFT_TTL }));
    }
    assert_eq!(outbox.next_id(), 0);
}

#[test]
fn drafts_for_one_recipient_are_bounded_and_ended_rows_leave() {
    let mut outbox = Outbox::default();
    for n in 0..MAX_DRAFTS_TO_ONE {
        outbox.add(&draft(&n.to_string()), NOW).unwrap();
    }
    assert_eq!(outbox.add(&draft("more"), NOW), Err(OutboxError::Full { limit: MAX_DRAFTS_TO_ONE }));
    assert!(outbox.add(&Draft { recipient: N, ..draft("more") }, NOW).is_ok());
    assert!(outbox.forget().is_empty());
    for round in 0..20 {
        outbox
            .take_back(*due(&outbox, NOW).iter().find(|id| outbox.get(**id).unwrap().recipient == B).unwrap())
            .unwrap();
        for n in 0..MAX_DRAFTS_TO_ONE {
            outbox.add(&draft(&format!("{round}/{n}")), NOW).unwrap();
        }
    }
    let over = outbox.iter().filter(|row| row.is_over()).count();
    let gone = outbox.forget();
    assert_eq!((over - MAX_ENDED_ROWS, gone[0]), (gone.len(), 0));
    // The name is free again.
    assert!(outbox.named("0").is_none());
}

#[test]
fn a_row_has_this_form() {
    let mut outbox = with(&[draft("one")]);
    send(&mut outbox, 0);
    let text = serde_json::to_string(outbox.get(0).unwrap()).unwrap();
    let wanted = format!(
        r#"{{"version":1,"id":0,"name":"one","msg_type":7,"recipient":"{B}","conversation":"{TASK}","payload":"74686520776f726b","created_micros":{NOW},"expires_micros":{},"tries":0,"next_micros":{NOW},"state":"sent","message32":"{}","error":null,"settled":false}}"#,
        NOW + DRAFT_TTL,
        "05".repeat(32)
    );
    assert_eq!(text, wanted);
    assert_eq!(&serde_json::from_str::<Row>(&text).unwrap(), outbox.get(0).unwrap());
    assert!(serde_json::from_str::<Row>(&text.replace(r#""tries":0"#, r#""tries":0,"more":1"#)).is_err());
}

#[test]
fn rows_that_no_outbox_wrote_are_refused() {
    let outbox = with(&[draft("one"), draft("two")]);
    let [one, two]: [Row; 2] = outbox.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    let hash = Some(HASH);
    let wrong = [
        vec![Row { version: 2, ..one.clone() }],
        vec![Row { msg_type: 99, ..one.clone() }],
        vec![Row { message32: hash, ..one.clone() }],
        vec![Row { state: State::Acknowledged, ..one.clone() }],
        vec![Row { settled: true, ..one.clone() }],
        vec![Row { state: State::Sent, settled: true, ..one.clone() }],
        vec![Row { id: 2, ..one.clone() }],
        vec![one.clone(), Row { id: 0, ..two.clone() }],
        vec![one.clone(), Row { name: "one".into(), ..two.clone() }],
    ];
    for rows in wrong {
        assert!(matches!(Outbox::load(rows, 2), Err(OutboxError::Row(_))));
    }
    assert!(Outbox::load([one, two], 2).is_ok());
}
