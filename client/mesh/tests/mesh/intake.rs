use crate::common::{CHAIN, ME, Message, NOW, SECOND, agent, agent_key, facts, letter, path, public};
use proptest::prelude::*;
use std::collections::HashMap;
use zx1_mesh::Reason;
use zx1_mesh::defaults::{MAX_WAITING, MAX_WAITING_PER_PEER, WAITING_LIFE};
use zx1_mesh::facts::Facts;
use zx1_mesh::gate::{Gate, Mode};
use zx1_mesh::intake::{Intake, Outcome};
use zx1_mesh::senders::{Batch, Lookup};
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::Slot;
use zx1_protocol::validate::Reason as Rule;

type Peer = u8;

fn intake() -> Intake<Peer, Message> {
    let mut intake = Intake::new(Gate::new(ME, Mode::Enforced));
    assert!(intake.set_chain(CHAIN, NOW).is_empty());
    intake
}

/// A cluster on which agents 1 to 9 have the key of their number.
fn found(author: &AgentId, lookup: &Lookup) -> Option<Facts> {
    let number = author.0[0];
    let is_registered = *author == agent(number) && (1..10).contains(&number);
    is_registered.then(|| {
        let has_it = lookup.all_keys || lookup.keys.contains(&public(number));
        let keys = if has_it { vec![agent_key(number, Scopes::ALL)] } else { Vec::new() };
        Facts { keys, has_all_keys: lookup.all_keys, ..facts(&[]) }
    })
}

fn answers(batch: &Batch) -> Vec<(AgentId, Option<Facts>)> {
    batch.lookups.iter().map(|(author, lookup)| (*author, found(author, lookup))).collect()
}

fn serve(intake: &mut Intake<Peer, Message>, now: u64) -> Vec<Outcome<Peer, Message>> {
    let mut outcomes = Vec::new();
    while let Some(batch) = intake.due(now) {
        let found = answers(&batch);
        outcomes.extend(intake.answer(batch.id, found, now));
    }
    outcomes
}

fn word<P, M>(outcome: &Outcome<P, M>) -> Result<u8, Reason> {
    match outcome {
        Outcome::Accepted(_, _, accepted) => Ok(accepted.author.0[0]),
        Outcome::Ignored(_, _, reason) | Outcome::Rejected(_, _, reason) => Err(*reason),
    }
}

/// The nonces of the accepted ones, in order.
fn nonces(outcomes: &[Outcome<Peer, Message>]) -> Vec<u64> {
    let accepted = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Accepted(_, message, _) => {
            Some(zx1_protocol::envelope::Envelope::decode(&message.bytes).unwrap().header.nonce)
        }
        _ => None,
    });
    accepted.collect()
}

#[test]
fn messages_of_an_unknown_author_wait_and_come_out_in_order() {
    let mut intake = intake();
    for nonce in [5, 6, 7] {
        assert_eq!(intake.receive(1, letter(MsgType::Deliver, agent(1), nonce).from(1), NOW), None);
    }
    let batch = intake.due(NOW).unwrap();
    // Facts are on their way; a later message does not pass the others.
    assert_eq!(intake.receive(2, letter(MsgType::Deliver, agent(1), 8).from(1), NOW), None);
    let outcomes = intake.answer(batch.id, answers(&batch), NOW + SECOND);
    assert_eq!(nonces(&outcomes), [5, 6, 7, 8]);
    assert_eq!((intake.waiting(), intake.counts().accepted, intake.counts().waited), (0, 4, 4));
    // Now it is known.
    let outcome = intake.receive(1, letter(MsgType::Deliver, agent(1), 9).from(1), NOW).unwrap();
    assert_eq!(word(&outcome), Ok(1));
}

#[test]
fn who_is_not_registered_or_not_answered_for_is_ignored() {
    let mut intake = intake();
    assert_eq!(intake.receive(1, letter(MsgType::Beacon, agent(20), 1).from(20), NOW), None);
    assert_eq!(
        serve(&mut intake, NOW).iter().map(word).collect::<Vec<_>>(),
        [Err(Rule::UnknownSender.into())]
    );
    assert_eq!(intake.receive(1, letter(MsgType::Beacon, agent(1), 1).from(1), NOW), None);
    assert!(intake.tick(NOW + WAITING_LIFE - 1).is_empty());
    let late = intake.tick(NOW + WAITING_LIFE);
    assert_eq!(late.iter().map(word).collect::<Vec<_>>(), [Err(Reason::WaitedTooLong)]);
    assert_eq!(intake.counts().of(&Reason::WaitedTooLong), 1);
}

#[test]
fn before_the_configuration_is_read_everything_waits() {
    let mut intake: Intake<Peer, Message> = Intake::new(Gate::new(ME, Mode::Enforced));
    assert_eq!(intake.receive(1, letter(MsgType::Advertise, agent(1), 1).from(1), NOW), None);
    assert!(serve(&mut intake, NOW).is_empty());
    assert_eq!(intake.waiting(), 1);
    assert_eq!(nonces(&intake.set_chain(CHAIN, NOW)), [1]);
}

#[test]
fn a_developers_network_asks_nobody() {
    let mut intake: Intake<Peer, Message> = Intake::new(Gate::new(ME, Mode::Dev));
    let message = letter(MsgType::Advertise, agent(20), 1).from(20);
    assert_eq!(word(&intake.receive(1, message.clone(), NOW).unwrap()), Ok(20));
    assert!(word(&intake.receive(1, message, NOW).unwrap()).is_err(), "a replay");
    assert_eq!(intake.due(NOW), None);
}

#[test]
fn over_its_rate_an_author_is_ignored_and_never_rejected() {
    let mut intake = intake();
    intake.receive(1, letter(MsgType::Advertise, agent(1), 1).from(1), NOW);
    serve(&mut intake, NOW);
    let mut excess = 0;
    for nonce in 2..302 {
        match intake.receive(1, letter(MsgType::Advertise, agent(1), nonce).from(1), NOW).unwrap() {
            Outcome::Accepted(..) => assert!(nonce <= 200),
            Outcome::Ignored(_, _, reason) => {
                assert!(reason == Reason::AuthorRate && reason.is_excess());
                excess += 1;
            }
            Outcome::Rejected(_, _, reason) => panic!("{reason}"),
        }
    }
    assert_eq!(excess, 101);
    // What was refused for its rate alone may come again later.
    let later = letter(MsgType::Advertise, agent(1), 290).from(1);
    assert_eq!(word(&intake.receive(1, later, NOW + SECOND).unwrap()), Ok(1));
}

/// A forged message in the name of agent 1, in one of many ways.
fn forged(number: u64) -> Message {
    let types =
        [MsgType::Beacon, MsgType::Feedback, MsgType::NotarizeBid, MsgType::Deliver, MsgType::Propose];
    let msg_type = types[(number % 5) as usize];
    let mut letter = letter(msg_type, agent(1), 1_000_000 + number);
    let stranger = 100 + (number % 100) as u8;
    match number % 7 {
        // A broken signature of the author itself.
        0 => {
            let mut message = letter.from(1);
            let last = message.bytes.len() - 1 - (number % 64) as usize;
            message.bytes[last] ^= 1;
            message
        }
        // A stranger's signature, published under the author's key, under its own, and under a third.
        1 => Message { bytes: letter.sign(stranger), path: path(msg_type, 1) },
        2 => letter.from(stranger),
        3 => Message { bytes: letter.sign(stranger), path: path(msg_type, stranger ^ 1) },
        // The author's own message, which is not what it speaks of, or for somebody else.
        4 => {
            letter.payload_hash = Some([7; 32]);
            letter.from(1)
        }
        5 => {
            let channel = if msg_type == MsgType::Deliver { Channel::Notary } else { Channel::Direct };
            let mut message = letter.from(1);
            if message.path.channel == channel {
                message.path.channel = Channel::Reputation;
            } else {
                message.path.channel = channel;
            }
            message
        }
        _ => {
            letter.timestamp -= 31 * SECOND;
            letter.from(1)
        }
    }
}

#[test]
fn a_thousand_forged_messages_change_nothing_for_the_author() {
    let mut honest = intake();
    let mut attacked = intake();
    let compare =
        |nonce: u64, now: u64, honest: &mut Intake<Peer, Message>, attacked: &mut Intake<Peer, Message>| {
            let types = [MsgType::Deliver, MsgType::Feedback, MsgType::Advertise];
            let message = letter(types[(nonce % 3) as usize], agent(1), nonce).from(1);
            let mut both = Vec::new();
            for intake in [honest, attacked] {
                let mut outcomes: Vec<_> = intake.receive(1, message.clone(), now).into_iter().collect();
                outcomes.extend(serve(intake, now));
                let own = outcomes.into_iter().filter(|outcome| matches!(outcome, Outcome::Accepted(..)));
                both.push(own.collect::<Vec<_>>());
            }
            assert_eq!(both[0].len(), 1, "nonce {nonce}");
            assert_eq!(both[0], both[1], "nonce {nonce}");
        };
    for number in 0..1_000 {
        let now = NOW + number * 5_000;
        if let Some(outcome) = attacked.receive(2, forged(number), now) {
            assert!(word(&outcome).is_err(), "{number}");
        }
        if number % 10 == 0 {
            compare(500 + number, now, &mut honest, &mut attacked);
        }
    }
    let author = agent(1);
    for channel in Channel::ALL {
        assert_eq!(honest.windows().seen(&author, channel), attacked.windows().seen(&author, channel));
    }
    // Its rate is as full as without the attack.
    let end = NOW + 1_000 * 5_000;
    let burst = |intake: &mut Intake<Peer, Message>| {
        let sent = (0..300).map(|number| letter(MsgType::Deliver, agent(1), 5_000 + number).from(1));
        let outcomes: Vec<_> = sent.filter_map(|message| intake.receive(1, message, end)).collect();
        nonces(&outcomes).len()
    };
    assert_eq!(burst(&mut honest), burst(&mut attacked));
}

#[test]
fn a_flood_of_unknown_senders_stays_within_its_places_and_known_authors_pass() {
    let mut intake = intake();
    intake.receive(1, letter(MsgType::Advertise, agent(1), 1).from(1), NOW);
    serve(&mut intake, NOW);
    let mut refused: HashMap<Reason2, u32> = HashMap::new();
    for number in 0..600u32 {
        let mut id = [0x77; 32];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let stranger = letter(MsgType::Beacon, AgentId(id), 1).from(50);
        if let Some(outcome) = intake.receive((number % 3) as u8 + 10, stranger, NOW) {
            *refused.entry(Reason2(word(&outcome).unwrap_err())).or_default() += 1;
        }
        let nonce = 1_000 + u64::from(number);
        let known = letter(MsgType::Advertise, agent(1), nonce).from(1);
        let now = NOW + u64::from(number) * SECOND / 50;
        assert_eq!(word(&intake.receive(1, known, now).unwrap()), Ok(1));
    }
    assert_eq!(intake.waiting(), 3 * MAX_WAITING_PER_PEER);
    assert!(intake.waiting() <= MAX_WAITING && intake.senders().queued() <= 3 * MAX_WAITING_PER_PEER + 1);
    assert_eq!(refused.keys().map(|it| it.0).collect::<Vec<_>>(), [Reason::WaitingPeerFull]);
}

#[test]
fn only_the_authors_own_peer_has_its_keys_listed() {
    let mut intake = intake();
    // A deal of agent 1 under a key that nobody knows yet, by a stranger's peer and by its own.
    for (source, lists) in [(9, false), (1, true)] {
        let bytes = letter(MsgType::Propose, agent(1), 10).sign(2);
        let message = Message { bytes, path: path(MsgType::Propose, source) };
        assert_eq!(intake.receive(source, message, NOW), None);
        let (mut listed, mut outcomes) = (false, Vec::new());
        while let Some(batch) = intake.due(NOW) {
            listed |= batch.lookups.iter().any(|(_, lookup)| lookup.all_keys);
            let found = answers(&batch);
            outcomes.extend(intake.answer(batch.id, found, NOW));
        }
        let reason = if lists { Rule::Signature.into() } else { Reason::UnknownKey };
        assert_eq!((listed, outcomes.iter().map(word).collect::<Vec<_>>()), (lists, vec![Err(reason)]));
    }
}

#[derive(PartialEq, Eq)]
struct Reason2(Reason);

impl std::hash::Hash for Reason2 {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        zx1_coded::Coded::code(&self.0).hash(state);
    }
}

#[test]
fn another_agents_direct_message_does_not_move_the_order_of_its_sender() {
    let mut intake = intake();
    intake.receive(1, letter(MsgType::Deliver, agent(1), 10).from(1), NOW);
    serve(&mut intake, NOW);
    // Agent 9 passes on what agent 1 sent to it.
    let mut passed_on = letter(MsgType::Deliver, agent(1), 900);
    passed_on.recipient = agent(9);
    let message = Message { bytes: passed_on.sign(1), path: path(MsgType::Deliver, 9) };
    assert_eq!(word(&intake.receive(9, message, NOW).unwrap()), Err(Reason::Recipient));
    assert_eq!(word(&intake.receive(1, letter(MsgType::Deliver, agent(1), 11).from(1), NOW).unwrap()), Ok(1));
}

#[derive(Clone, Debug)]
enum Step {
    Honest(u8, MsgType),
    Forged(u64),
    Damaged(u8, prop::sample::Index),
    Serve,
    Fail,
    Tick,
    Changed(u8),
    Clock(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let msg_type = prop::sample::select(MsgType::ALL.to_vec());
    prop_oneof![
        8 => (1u8..12, msg_type).prop_map(|(author, msg_type)| Step::Honest(author, msg_type)),
        4 => any::<u64>().prop_map(|number| Step::Forged(number % 10_000)),
        2 => (1u8..12, any::<prop::sample::Index>()).prop_map(|(author, at)| Step::Damaged(author, at)),
        3 => Just(Step::Serve),
        1 => Just(Step::Fail),
        1 => Just(Step::Tick),
        1 => (1u8..12).prop_map(Step::Changed),
        1 => (-2_000_000i64..5_000_000).prop_map(Step::Clock),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn everything_comes_out_once_and_nothing_is_accepted_twice(steps in prop::collection::vec(step(), 0..120)) {
        let mut intake = intake();
        let (mut now, mut nonce, mut given, mut out) = (NOW, 1u64, 0usize, Vec::new());
        for step in steps {
            let message = match step {
                Step::Honest(author, msg_type) => {
                    nonce += 1;
                    let mut letter = letter(msg_type, agent(author), nonce);
                    letter.timestamp = now;
                    Some(letter.from(author))
                }
                Step::Forged(number) => Some(forged(number)),
                Step::Damaged(author, at) => {
                    nonce += 1;
                    let mut message = letter(MsgType::Advertise, agent(author), nonce).from(author);
                    let at = at.index(message.bytes.len());
                    message.bytes[at] ^= 4;
                    Some(message)
                }
                Step::Serve => {
                    out.extend(serve(&mut intake, now));
                    None
                }
                Step::Fail => {
                    if let Some(batch) = intake.due(now) {
                        intake.failed(batch.id, now);
                    }
                    None
                }
                Step::Tick => {
                    out.extend(intake.tick(now));
                    None
                }
                Step::Changed(author) => {
                    intake.changed(&agent(author));
                    None
                }
                Step::Clock(by) => {
                    now = now.checked_add_signed(by).unwrap();
                    intake.set_chain(CHAIN, now);
                    None
                }
            };
            if let Some(message) = message {
                given += 1;
                out.extend(intake.receive(1, message, now));
            }
            prop_assert_eq!(given, out.len() + intake.waiting());
        }
        out.extend(intake.tick(u64::MAX));
        prop_assert_eq!(given, out.len());
        let mut accepted = nonces(&out);
        let all = accepted.len();
        accepted.sort_unstable();
        accepted.dedup();
        prop_assert_eq!(accepted.len(), all);
        // Agents 10 and 11 are not registered, and no stranger's signature counts.
        prop_assert!(out.iter().filter_map(|outcome| word(outcome).ok()).all(|author| author < 10));
        prop_assert_eq!(CHAIN.slot, Slot(400_000_000));
    }
}
