use crate::support::*;
use zx1_mesh::conversation::{Due, PARTICIPANT};
use zx1_mesh::defaults::{MAX_DESKS, MAX_EXHIBITS, OFFER_STANDS};
use zx1_mesh::notary::{Desk, DeskStage, DeskTask, Desks, NotaryError};
use zx1_protocol::context::{Context, ContextError};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::mesh_payload::{MeshPayloadError, Offer, Verdict};
use zx1_protocol::payload::NotarizeBid;
use zx1_protocol::validate::Reason;

const TERMS: Offer<'static> = Offer { fee: 5, unit: "raw", seconds: 600 };

fn desk() -> Desk {
    Desk::offer(TASK, N, A, TERMS, NOW).unwrap()
}

fn assigned() -> Desk {
    let mut desk = desk();
    desk.assign(A, NOW).unwrap();
    desk
}

fn work() -> Hash {
    Sha3::hashv(&[b"the work"])
}

fn deal() -> Vec<Vec<u8>> {
    vec![
        message(1, MsgType::Propose, B, A, &bid(5)),
        message(2, MsgType::Accept, A, B, &bid(5)),
        message(3, MsgType::Deliver, B, A, b"the work"),
    ]
}

fn context(envelopes: &[Vec<u8>]) -> Vec<u8> {
    Context { envelopes: envelopes.iter().map(Vec::as_slice).collect() }.to_payload().unwrap()
}

fn show(desk: &mut Desk, from: AgentId, envelopes: &[Vec<u8>]) -> Result<usize, NotaryError> {
    desk.show(from, &context(envelopes), &keys, NOW + 1).map(|fresh| fresh.len())
}

#[test]
fn a_notary_judges_what_both_parties_showed_and_tells_both() {
    let mut desk = desk();
    let [DeskTask::Offer(payload)] = &desk.tasks()[..] else { panic!() };
    let bid = NotarizeBid::decode(payload).unwrap();
    assert_eq!((bid.conversation_id, Offer::decode(bid.terms)), (TASK, Ok(TERMS)));
    desk.done(&DeskTask::Offer(Vec::new()));
    assert!(desk.tasks().is_empty() && !desk.can_judge());
    desk.assign(A, NOW).unwrap();
    assert_eq!(desk.until(), Some(NOW + 600 * SECOND));
    assert_eq!(show(&mut desk, A, &deal()), Ok(3));
    assert_eq!(desk.parties(), (A, Some(B)));
    assert_eq!(show(&mut desk, B, &deal()[1..]), Ok(0));
    assert!(desk.can_judge());
    desk.judge(2, work(), "it works", NOW + 2).unwrap();
    let tasks = desk.tasks();
    let [DeskTask::Verdict(A, one), DeskTask::Verdict(B, two)] = &tasks[..] else { panic!("{tasks:?}") };
    assert_eq!(one, two);
    assert_eq!(Verdict::decode(one), Ok(Verdict { outcome: 2, deliver: work(), reason: "it works" }));
    assert_eq!(desk.owed(), [A, B].map(|target| Due { target, role: PARTICIPANT }));
    desk.done(&tasks[1]);
    desk.done(&tasks[1]);
    assert_eq!(desk.tasks().len(), 1);
    assert_ne!(desk.name_of(&tasks[0]), desk.name_of(&tasks[1]));
    let again: Desk = serde_json::from_str(&serde_json::to_string(&desk).unwrap()).unwrap();
    assert_eq!(again, desk);
}

#[test]
fn an_assignment_comes_from_the_party_that_asked() {
    let mut desk = desk();
    assert_eq!(desk.assign(B, NOW), Err(NotaryError::NotAParty));
    assert_eq!(desk.assign(A, NOW + SECOND), Ok(()));
    let until = desk.until();
    // Again, and later by the other party once it is known: nothing changes.
    assert_eq!(desk.assign(A, NOW + 2 * SECOND), Ok(()));
    show(&mut desk, A, &deal()).unwrap();
    assert_eq!(desk.assign(B, NOW + 3 * SECOND), Ok(()));
    assert_eq!((desk.stage(), desk.until()), (DeskStage::Assigned, until));
    assert_eq!(desk.assign(STRANGER, NOW), Err(NotaryError::NotAParty));
    assert_eq!(Desk::offer(TASK, N, N, TERMS, NOW), Err(NotaryError::PartyAsNotary));
    let terms = Offer { seconds: 0, ..TERMS };
    assert_eq!(Desk::offer(TASK, N, A, terms, NOW), Err(NotaryError::Payload(MeshPayloadError::Seconds)));
}

#[test]
fn an_offer_lapses_and_a_task_is_missed() {
    let mut late = desk();
    assert_eq!(late.assign(A, NOW + OFFER_STANDS), Err(NotaryError::NotNow { stage: "lapsed" }));
    assert!(late.tasks().is_empty());
    let mut missed = assigned();
    show(&mut missed, A, &deal()).unwrap();
    let end = missed.until().unwrap();
    assert_eq!(missed.judge(2, work(), "", end), Err(NotaryError::NotNow { stage: "missed" }));
    assert!(missed.owed().is_empty() && missed.tasks().is_empty() && missed.until().is_none());
    // However much it offered, an hour is the most.
    let mut slow = Desk::offer(TASK, N, A, Offer { seconds: u32::MAX, ..TERMS }, NOW).unwrap();
    slow.assign(A, NOW).unwrap();
    assert_eq!(slow.until(), Some(NOW + 3_600 * SECOND));
}

#[test]
fn only_envelopes_between_the_two_parties_of_this_task_are_taken() {
    let other_task = message_in(ConversationId([8; 16]), 4, MsgType::Accept, A, B, &bid(5));
    let cases = [
        vec![deal()[1].clone(), message(5, MsgType::Deliver, M, A, b"x")],
        vec![deal()[1].clone(), message(5, MsgType::Deliver, A, M, b"x")],
        vec![deal()[1].clone(), message(5, MsgType::NotarizeAssign, A, N, b"")],
        vec![deal()[1].clone(), message(5, MsgType::Feedback, A, B, &rating(B, 0))],
        vec![deal()[1].clone(), other_task],
        vec![message(5, MsgType::Deliver, A, A, b"x")],
        vec![message(5, MsgType::Deliver, A, N, b"x")],
    ];
    for envelopes in cases {
        let mut desk = assigned();
        assert_eq!(show(&mut desk, A, &envelopes), Err(NotaryError::NotTheirs));
        assert!(desk.exhibits().is_empty() && desk.parties().1.is_none());
    }
}

#[test]
fn the_other_party_is_whom_the_asker_wrote_to() {
    // A message to the asker proves nothing about a deal.
    let mut desk = assigned();
    assert_eq!(show(&mut desk, A, &deal()[..1]), Err(NotaryError::OtherPartyUnknown));
    assert_eq!(show(&mut desk, M, &deal()), Err(NotaryError::NotAParty));
    assert_eq!(desk.judge(0, [0; 32], "", NOW + 1), Err(NotaryError::OtherPartyUnknown));
    // The other party may be the first to show something.
    assert_eq!(show(&mut desk, B, &deal()), Ok(3));
    assert_eq!(show(&mut desk, M, &deal()), Err(NotaryError::NotAParty));
}

#[test]
fn a_shown_envelope_keeps_form_signature_and_key_but_neither_nonce_nor_time() {
    // The deal is days old, and its nonces were used long ago.
    let late = NOW + 100 * SECOND;
    assert_eq!(assigned().show(A, &context(&deal()), &keys, late).map(|it| it.len()), Ok(3));
    let mut forged = deal();
    *forged[2].last_mut().unwrap() ^= 1;
    assert_eq!(show(&mut assigned(), A, &forged), Err(Reason::Signature.into()));
    assert_eq!(show(&mut assigned(), A, &[b"noise".to_vec()]), Err(Reason::Malformed.into()));
    let with = |scopes: Scopes, until: u64| {
        move |agent: &AgentId| -> Vec<AgentKey> { vec![agent_key(*agent, scopes, until)] }
    };
    let judge = |keys: &dyn Fn(&AgentId) -> Vec<AgentKey>| {
        assigned().show(A, &context(&deal()), keys, NOW).map(|it| it.len())
    };
    let epoch = zx1_protocol::units::Epoch::from_unix_micros(NOW);
    assert_eq!(judge(&with(Scopes::DEAL, epoch.0)), Ok(3));
    assert_eq!(judge(&with(Scopes::PEER, OPEN)), Err(Reason::Scope.into()));
    assert_eq!(judge(&with(Scopes::DEAL, epoch.0 - 1)), Err(Reason::KeyEpoch { epoch }.into()));
    assert_eq!(judge(&|_| Vec::new()), Err(Reason::UnknownSender.into()));
    let mut desk = assigned();
    assert_eq!(desk.show(A, b"JSON", &keys, NOW), Err(NotaryError::Context(ContextError::Hint)));
}

#[test]
fn a_verdict_names_a_work_product_that_was_shown() {
    let mut desk = assigned();
    show(&mut desk, A, &deal()).unwrap();
    for wrong in [[0; 32], Sha3::hashv(&[b"other work"])] {
        assert_eq!(desk.judge(2, wrong, "", NOW + 2), Err(NotaryError::UnknownDelivery));
    }
    assert_eq!(desk.judge(3, work(), "", NOW + 2), Err(NotaryError::Payload(MeshPayloadError::Outcome)));
    assert_eq!(desk.stage(), DeskStage::Assigned);
    // Zeros when nothing was delivered; envelopes that were shown do not count as work.
    let mut desk = assigned();
    let shown = message(3, MsgType::Deliver, B, A, &context(&deal()[..1]));
    show(&mut desk, A, &[deal()[1].clone(), shown.clone()]).unwrap();
    let hash = *decode(&shown).header.payload_hash;
    assert_eq!(desk.judge(0, hash, "", NOW + 2), Err(NotaryError::UnknownDelivery));
    assert_eq!(desk.judge(0, [0; 32], "nothing came", NOW + 2), Ok(()));
    assert_eq!(desk.judge(0, [0; 32], "again", NOW + 2), Err(NotaryError::NotNow { stage: "judged" }));
}

#[test]
fn what_is_shown_is_bounded() {
    let mut desk = assigned();
    let mut sent = 0;
    for part in 0..6 {
        let envelopes: Vec<_> =
            (0..50).map(|n| message(1 + part * 50 + n, MsgType::Deliver, A, B, b"x")).collect();
        match show(&mut desk, A, &envelopes) {
            Ok(fresh) => sent += fresh,
            Err(error) => assert_eq!(error, NotaryError::TooManyShown { limit: MAX_EXHIBITS }),
        }
    }
    assert_eq!((sent, desk.exhibits().len()), (250, 250));
}

#[test]
fn a_bounded_number_of_tasks_and_the_finished_ones_leave() {
    let mut desks = Desks::default();
    let desk = |n: u16, at: u64| {
        let mut id = [0; 16];
        id[..2].copy_from_slice(&n.to_be_bytes());
        Desk::offer(ConversationId(id), N, A, TERMS, at).unwrap()
    };
    for n in 0..MAX_DESKS as u16 {
        assert_eq!(desks.add(desk(n, NOW)), Ok(Vec::new()));
    }
    assert_eq!(desks.add(desk(0, NOW)), Err(NotaryError::Exists(ConversationId([0; 16]))));
    assert_eq!(desks.add(desk(999, NOW)), Err(NotaryError::Full { limit: MAX_DESKS }));
    assert_eq!(desks.next_deadline(), Some(NOW + OFFER_STANDS));
    assert_eq!(desks.advance(NOW + OFFER_STANDS).len(), MAX_DESKS);
    assert_eq!(desks.add(desk(999, NOW)).unwrap().len(), MAX_DESKS);
    assert_eq!(desks.iter().count(), 1);
    assert!(desks.get(ConversationId([0; 16])).is_err());
}
