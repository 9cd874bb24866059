//! The one door: rules, nonces, what is logged, and what a crash can do.

use crate::common::{
    AGENT, DAY, EPOCH, Message, OTHER, PEER, contents, covered, encoded, folder, key, keys, log_file, open,
    seal, share,
};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;
use zx1_log::{Admitted, Key, LogError, LogHandle, Origin, Received};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::{OPEN, Scopes};
use zx1_protocol::nonce::REPLAY_WINDOW;
use zx1_protocol::payload::{BidType, Feedback, NotarizeBid};
use zx1_protocol::units::{Epoch, Slot};

/// Of all messages here, within the tolerance.
const NOW: u64 = EPOCH.0 * DAY + 1_000_000;

/// Handed over by a person, at whatever slot.
const FILE: Origin = Origin::File { slot: None };

fn mesh(message: &Message) -> Origin {
    Origin::Mesh { channel: channel_of(message.msg_type), slot: Slot(message.slot) }
}

fn market(micros: u64) -> Origin {
    Origin::Market { signed_micros: micros, chained_micros: micros }
}

fn admit(log: &LogHandle, message: &Message, origin: Origin) -> zx1_log::Result<Admitted> {
    log.inbox().admit(&message.cbor(), &keys(), NOW, origin)
}

fn is_new(admitted: &Admitted) -> bool {
    admitted.logged.is_some_and(|place| place.new)
}

#[track_caller]
fn refused(admitted: zx1_log::Result<Admitted>, code: u32) {
    let error = admitted.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.is_of_message(), "{error}");
}

/// A DELIVER of the peer to this agent.
fn deliver(number: u64, nonce: u64) -> Message {
    let mut message = Message::deliver(number).incoming();
    message.nonce = nonce;
    message.signed()
}

/// A rating by the peer, on the topic.
fn rating(about: AgentId, number: u64, nonce: u64) -> Message {
    let feedback = Feedback {
        conversation_id: ConversationId([3; 16]),
        target_agent: about,
        score: 7,
        outcome: 2,
        is_dispute: false,
        role: 0,
    };
    let mut message = Message::sent(number, MsgType::Feedback, feedback.to_cbor().unwrap()).incoming();
    (message.recipient, message.nonce) = (BROADCAST, nonce);
    message.signed()
}

#[test]
fn what_breaks_a_rule_is_refused_from_every_origin_and_not_logged() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let good = deliver(1, 100);
    for (nonce, origin) in (200..).zip([mesh(&good), FILE, market(good.timestamp)]) {
        refused(log.inbox().admit(b"", &keys(), NOW, origin), 7301);
        refused(log.inbox().admit(&[good.cbor(), vec![0]].concat(), &keys(), NOW, origin), 7302);
        let mut unregistered = deliver(1, 100);
        unregistered.sender = AgentId([9; 32]);
        refused(admit(&log, &unregistered.signed(), origin), 7313);
        // In the peer's name by someone else, and in this agent's own name.
        refused(admit(&log, &deliver(1, 100).signed_by(OTHER), origin), 7314);
        refused(admit(&log, &Message::deliver(1).signed_by(PEER), origin), 7314);
        let stale = deliver(1, 100).earlier(31_000_000).signed();
        refused(admit(&log, &stale, origin), 7316);
        let mut between_others = deliver(2, nonce);
        between_others.recipient = OTHER;
        assert_eq!(admit(&log, &between_others.signed(), origin).unwrap().logged, None);
    }
    assert!(contents(&dir).is_empty());
    refused(admit(&log, &good, Origin::Mesh { channel: Channel::Reputation, slot: Slot(good.slot) }), 7303);
    assert!(contents(&dir).is_empty());
}

/// What a registry with this key account of the peer would say of a message.
fn judged(message: &Message, account: Key, origin: Origin) -> Option<u32> {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let keys = HashMap::from([(PEER, vec![account])]);
    let admitted = log.inbox().admit(&message.cbor(), &keys, NOW, origin);
    assert_eq!(contents(&dir).len(), usize::from(admitted.is_ok()));
    admitted.err().map(|error| {
        assert!(error.is_of_message(), "{error}");
        error.code()
    })
}

#[test]
fn only_a_deal_key_deals_and_a_peer_key_says_the_rest() {
    let deals = [MsgType::Propose, MsgType::Counter, MsgType::Accept, MsgType::NotarizeAssign];
    let others = [MsgType::Deliver, MsgType::Reject, MsgType::Verdict, MsgType::Dispute];
    let scoped = |scopes| key(PEER, scopes, Epoch(0), OPEN);
    let of = |msg_type| Message::sent(1, msg_type, vec![3; 20]).incoming().signed();
    let money = Scopes::PAY.and(Scopes::BATCH);
    for message in deals.map(of) {
        for origin in [mesh(&message), FILE, market(message.timestamp)] {
            assert_eq!(judged(&message, scoped(Scopes::DEAL), origin), None);
            assert_eq!(judged(&message, scoped(Scopes::PEER.and(money)), origin), Some(7321));
        }
    }
    for message in others.map(of) {
        assert_eq!(judged(&message, scoped(Scopes::DEAL), mesh(&message)), None);
        assert_eq!(judged(&message, scoped(Scopes::PEER), mesh(&message)), None);
        assert_eq!(judged(&message, scoped(money), mesh(&message)), Some(7321));
    }
}

#[test]
fn a_key_counts_from_its_first_epoch_to_its_last() {
    let message = Message::propose(1, 10).incoming().signed();
    for (from, until, code) in [
        (EPOCH.0, EPOCH.0, None),
        (EPOCH.0 - 5, OPEN, None),
        (EPOCH.0 + 1, OPEN, Some(7322)),
        (EPOCH.0 - 5, EPOCH.0 - 1, Some(7322)),
        // Canceled before it was born.
        (EPOCH.0, EPOCH.0 - 1, Some(7322)),
    ] {
        let account = key(PEER, Scopes::ALL, Epoch(from), until);
        assert_eq!(judged(&message, account, mesh(&message)), code, "{from} {until}");
    }
    // An own message is judged by the same rule.
    let (_temp, dir) = folder();
    let own = Message::propose(1, 10).signed();
    let keys = HashMap::from([(AGENT, vec![key(AGENT, Scopes::PEER, Epoch(0), OPEN)])]);
    refused(share(&dir).inbox().admit(&own.cbor(), &keys, NOW, FILE), 7321);
}

#[test]
fn a_slot_that_is_far_from_the_receivers_fails_at_receipt_and_not_later() {
    let message = deliver(1, 1);
    let at = |off: i64| Slot(message.slot.checked_add_signed(off).unwrap());
    let account = || key(PEER, Scopes::ALL, Epoch(0), OPEN);
    for (off, code) in [(0, None), (150, None), (-150, None), (151, Some(7323)), (-151, Some(7323))] {
        let on_stream = Origin::Mesh { channel: Channel::Direct, slot: at(off) };
        assert_eq!(judged(&message, account(), on_stream), code, "{off}");
        assert_eq!(judged(&message, account(), Origin::File { slot: Some(at(off)) }), code, "{off}");
    }
    assert_eq!(judged(&message, account(), market(NOW)), None);
    // What is in the log is there, also when the person gives it again much later.
    let (_temp, dir) = folder();
    let log = share(&dir);
    assert!(is_new(&admit(&log, &message, mesh(&message)).unwrap()));
    let again = admit(&log, &message, Origin::File { slot: Some(at(9_000)) }).unwrap();
    assert!(!is_new(&again));
}

#[test]
fn a_replayed_nonce_fails_and_leaves_no_entry() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let message = deliver(5, 100);
    assert!(is_new(&admit(&log, &message, mesh(&message)).unwrap()));
    for nonce in [100, 99, 0] {
        let replay = deliver(6, nonce);
        refused(admit(&log, &replay, mesh(&replay)), 7315);
        refused(admit(&log, &replay, FILE), 7315);
    }
    // A copy of the message itself is found, whatever way it takes.
    for origin in [mesh(&message), FILE, market(message.timestamp)] {
        let again = admit(&log, &message, origin).unwrap();
        assert_eq!(again.logged.map(|place| (place.index, place.new)), Some((0, false)));
    }
    // Another channel and another sender count for themselves.
    let rating = rating(AGENT, 7, 1);
    assert!(is_new(&admit(&log, &rating, mesh(&rating)).unwrap()));
    let mut other = deliver(6, 100);
    other.sender = OTHER;
    let other = other.signed();
    assert!(is_new(&admit(&log, &other, mesh(&other)).unwrap()));
    assert_eq!(log.seen_nonces(&PEER, Channel::Direct).unwrap().highest(), Some(100));
    assert_eq!(contents(&dir).len(), 3);
}

#[test]
fn a_topic_takes_what_comes_late_and_no_replay_also_after_a_restart() {
    let (_temp, dir) = folder();
    let nonces = [1_000, 1_003, 1_001, 1_000 - 124];
    {
        let log = share(&dir);
        for (number, nonce) in (0..).zip(nonces) {
            assert!(is_new(&admit(&log, &rating(AGENT, number, nonce), FILE).unwrap()));
        }
    }
    for _ in 0..2 {
        let log = share(&dir);
        for nonce in nonces.into_iter().chain([1_003 - 128, 0]) {
            refused(admit(&log, &rating(AGENT, 50, nonce), FILE), 7315);
        }
    }
    assert!(is_new(&admit(&share(&dir), &rating(AGENT, 51, 1_002), FILE).unwrap()));
    assert_eq!(contents(&dir).len(), 5);
}

#[test]
fn market_messages_come_in_any_order_but_no_nonce_serves_two() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    for (number, nonce) in [(1, 500), (2, 100), (3, 300)] {
        let message = deliver(number, nonce);
        assert!(is_new(&admit(&log, &message, market(message.timestamp)).unwrap()), "{nonce}");
    }
    for (number, nonce) in [(4, 500), (5, 100), (6, 300)] {
        refused(admit(&log, &deliver(number, nonce), market(NOW)), 7315);
    }
    drop(log);
    let log = share(&dir);
    for (number, nonce) in [(4, 500), (5, 100), (6, 300)] {
        refused(admit(&log, &deliver(number, nonce), market(NOW)), 7315);
    }
    // In one group as well.
    let group = [deliver(7, 400), deliver(8, 400)].map(|message| message.cbor());
    let received: Vec<Received<'_>> =
        group.iter().map(|bytes| Received { bytes, origin: market(NOW) }).collect();
    let outcomes = log.inbox().admit_all(&received, &keys(), NOW).unwrap();
    assert!(outcomes[0].as_ref().is_ok_and(is_new));
    assert_eq!(outcomes[1].as_ref().unwrap_err().code(), 7315);
    assert_eq!(contents(&dir).len(), 4);
}

#[test]
fn a_market_message_is_judged_by_the_time_that_its_entry_signs() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let message = deliver(1, 1);
    let at = message.timestamp;
    let read_later = |origin| log.inbox().admit(&message.cbor(), &keys(), at + 5 * DAY, origin);
    refused(read_later(Origin::Market { signed_micros: at + 31_000_000, chained_micros: at }), 7316);
    refused(read_later(Origin::Market { signed_micros: at, chained_micros: at + DAY + 1 }), 7316);
    refused(read_later(Origin::Market { signed_micros: at, chained_micros: at + 6 * DAY }), 7316);
    // A server that says that it chains tomorrow what was signed today.
    refused(admit(&log, &message, Origin::Market { signed_micros: at, chained_micros: NOW + DAY / 2 }), 7316);
    assert!(contents(&dir).is_empty());
    let place = read_later(Origin::Market { signed_micros: at, chained_micros: at + 60_000_000 }).unwrap();
    assert_eq!(place.logged.map(|place| place.epoch), Some(EPOCH), "it belongs to the epoch of its arrival");
}

#[test]
fn only_the_market_waives_anything_and_says_why() {
    let message = deliver(1, 1);
    assert!(mesh(&message).waivers().is_empty() && FILE.waivers().is_empty());
    let waivers = market(NOW).waivers();
    assert_eq!(waivers.iter().map(|waiver| waiver.rule).collect::<Vec<_>>(), [5, 6]);
    assert!(waivers.iter().all(|waiver| waiver.why.contains("because") || waiver.why.contains(':')));
}

/// A request of the peer for a notary in a conversation.
fn bid(conversation: ConversationId, number: u64) -> Message {
    let bid = NotarizeBid { bid_type: BidType::Request, conversation_id: conversation, terms: b"" };
    let mut message = Message::sent(number, MsgType::NotarizeBid, bid.to_bytes()).incoming();
    (message.recipient, message.nonce) = (BROADCAST, 1_000 + number);
    message.signed()
}

#[test]
fn only_what_concerns_this_agent_is_logged() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let logged = |message: &Message| admit(&log, message, mesh(message)).unwrap().logged.is_some();
    let mut advertise = Message::sent(1, MsgType::Advertise, b"hello".to_vec()).incoming();
    advertise.recipient = BROADCAST;
    assert!(!logged(&advertise.clone().signed()));
    (advertise.recipient, advertise.nonce) = (AGENT, 50);
    assert!(logged(&advertise.signed()));
    assert!(!logged(&rating(OTHER, 2, 100)));
    assert!(logged(&rating(AGENT, 3, 101)));
    let mut to_another = rating(AGENT, 4, 102);
    to_another.recipient = OTHER;
    assert!(logged(&to_another.signed()), "about this agent, whoever it is sent to");
    // A bid belongs to a conversation that this agent has.
    assert!(!logged(&bid(ConversationId([8; 16]), 5)) && !logged(&bid(ConversationId([0; 16]), 6)));
    let mut own = Message::deliver(7);
    own.conversation = ConversationId([8; 16]);
    log.append_own(&own.signed().envelope(), NOW).unwrap();
    assert!(logged(&bid(ConversationId([8; 16]), 8)) && !logged(&bid(ConversationId([9; 16]), 9)));
    drop(log);
    let log = share(&dir);
    assert!(
        admit(&log, &bid(ConversationId([8; 16]), 10), FILE).unwrap().logged.is_some(),
        "also after a restart"
    );
    // A batch can be built of all of it.
    log.build(covered(0, 0), Slot(1), Slot(2)).unwrap();
    assert_eq!(contents(&dir).len(), 6);
}

#[test]
fn what_is_not_logged_is_no_less_refused_as_a_replay() {
    let (_temp, dir) = folder();
    let message = rating(OTHER, 1, 100);
    assert_eq!(admit(&share(&dir), &message, mesh(&message)).unwrap().logged, None);
    lose_what_was_not_synced(&dir);
    refused(admit(&share(&dir), &message, mesh(&message)), 7315);
}

#[test]
fn an_own_message_that_comes_back_is_found_or_added_and_its_nonce_is_used() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let nonce = log.reserve_nonce(Channel::Direct, NOW).unwrap();
    let mut own = Message::deliver(1);
    own.nonce = nonce;
    let own = own.signed();
    log.append_own(&own.envelope(), NOW).unwrap();
    let back = log.inbox().admit(&own.cbor(), &keys(), NOW + 9 * DAY, market(NOW)).unwrap();
    assert_eq!((back.direction, is_new(&back)), (Direction::Sent, false));
    // Signed on another machine, with a number that this run would give out soon.
    let mut elsewhere = Message::deliver(2);
    elsewhere.nonce = nonce + 3;
    assert!(is_new(&admit(&log, &elsewhere.signed(), FILE).unwrap()));
    assert_eq!(log.reserve_nonce(Channel::Direct, NOW).unwrap(), nonce + 4);
}

#[test]
fn one_refusal_in_a_group_keeps_no_other_message_out() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let mut long = Message::propose(4, 5).incoming();
    (long.payload, long.nonce) = (vec![0; 500], 4);
    let group = [
        deliver(1, 1),
        deliver(2, 2).signed_by(OTHER),
        deliver(1, 1),
        deliver(3, 1),
        long.signed(),
        deliver(5, 5),
    ];
    let bytes: Vec<Vec<u8>> = group.iter().map(Message::cbor).collect();
    let received: Vec<Received<'_>> =
        bytes.iter().zip(&group).map(|(bytes, message)| Received { bytes, origin: mesh(message) }).collect();
    let outcomes = log.inbox().admit_all(&received, &keys(), NOW).unwrap();
    let said: Vec<Result<(u32, bool), u32>> = outcomes
        .iter()
        .map(|one| {
            one.as_ref().map(|a| a.logged.map_or((9, false), |p| (p.index, p.new))).map_err(LogError::code)
        })
        .collect();
    assert_eq!(said, [Ok((0, true)), Err(7314), Ok((0, false)), Err(7315), Err(7320), Ok((1, true))]);
    assert_eq!(contents(&dir), encoded(&[deliver(1, 1), deliver(5, 5)]));
}

#[test]
fn many_senders_at_once_share_their_groups_and_all_are_logged() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let log = &log;
            scope.spawn(move || {
                for number in thread * 100..thread * 100 + 40 {
                    let message = rating(AGENT, number, 10_000 + thread * 16 + number % 100 % 16);
                    // Of the window's numbers each is good for one message.
                    let admitted = admit(log, &message, mesh(&message));
                    assert_eq!(admitted.is_ok(), number % 100 < 16, "{admitted:?}");
                }
            });
        }
    });
    assert_eq!(contents(&dir).len(), 128);
}

#[test]
fn nonces_that_only_the_log_has_are_known_after_a_crash() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let before = fs::read(dir.join("nonces")).unwrap();
    let message = deliver(5, 100);
    admit(&log, &message, mesh(&message)).unwrap();
    let mut own = Message::deliver(6);
    own.nonce = 7_000;
    log.append_own(&own.envelope(), own.timestamp).unwrap();
    drop(log);
    // The nonce file is not synced with each message; a crash may take it back.
    fs::write(dir.join("nonces"), before).unwrap();
    let mut log = open(&dir);
    assert_eq!(log.seen_nonces(&PEER, Channel::Direct).highest(), Some(100));
    assert_eq!(log.reserve_nonce(Channel::Direct, 0).unwrap(), 7_001);
    // After a batch the log is not read for it any more, so then the file has it.
    seal(&mut log, covered(0, 0));
    Message::deliver(8).later(1).append_to(&mut log).unwrap();
    seal(&mut log, covered(1, 1));
    drop(log);
    fs::remove_file(log_file(&dir)).unwrap();
    assert_eq!(open(&dir).seen_nonces(&PEER, Channel::Direct).highest(), Some(100));
}

/// What a machine that loses power may do: of each file only what had been synced is left.
fn lose_what_was_not_synced(dir: &Path) {
    let logs = fs::read_dir(dir.join("log")).unwrap().map(|entry| entry.unwrap().path());
    for path in logs.chain([dir.join("nonces")]) {
        let bytes = fs::read(&path).unwrap();
        let synced = u64::from_be_bytes(bytes[52..60].try_into().unwrap());
        fs::write(&path, &bytes[..usize::try_from(synced).unwrap()]).unwrap();
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Of each message: number, whether it is about this agent, by the market.
    Group(Vec<(u64, bool, bool)>),
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = (0u64..60, any::<bool>(), any::<bool>());
    let step = prop_oneof![
        3 => prop::collection::vec(one, 1..10).prop_map(Step::Group),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 1..12)
}

/// Near both edges of the window, and beyond.
fn nonce() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..160, 1 => 1_000u64..1_130, 1 => (u64::MAX - 130)..=u64::MAX]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was acknowledged before a crash is there after it, and nothing is acknowledged as new twice.
    #[test]
    fn a_crash_between_two_syncs_loses_nothing_that_was_acknowledged(steps in steps()) {
        let (_temp, dir) = folder();
        let mut log = Some(share(&dir));
        let (mut acknowledged, mut logged) = (HashSet::new(), Vec::new());
        for step in steps {
            match step {
                Step::Crash => {
                    drop(log.take());
                    lose_what_was_not_synced(&dir);
                    log = Some(share(&dir));
                }
                Step::Group(group) => {
                    let messages: Vec<(Message, Origin)> = group
                        .into_iter()
                        .map(|(number, ours, by_market)| {
                            let about = if ours { AGENT } else { OTHER };
                            let message = rating(about, number, 1_000 + number);
                            let origin = if by_market { market(message.timestamp) } else { mesh(&message) };
                            (message, origin)
                        })
                        .collect();
                    let bytes: Vec<Vec<u8>> = messages.iter().map(|(message, _)| message.cbor()).collect();
                    let received: Vec<Received<'_>> = bytes
                        .iter()
                        .zip(&messages)
                        .map(|(bytes, (_, origin))| Received { bytes, origin: *origin })
                        .collect();
                    let open = log.as_ref().unwrap();
                    let outcomes = open.inbox().admit_all(&received, &keys(), NOW).unwrap();
                    for ((message, _), outcome) in messages.iter().zip(outcomes) {
                        let Ok(admitted) = outcome else { continue };
                        if admitted.logged.is_some_and(|place| !place.new) {
                            prop_assert!(logged.contains(&message.encoded()));
                            continue;
                        }
                        prop_assert!(acknowledged.insert(message.nonce), "{} twice", message.nonce);
                        if admitted.logged.is_some() {
                            logged.push(message.encoded());
                        }
                    }
                }
            }
            prop_assert_eq!(&contents(&dir), &logged);
        }
    }

    /// In groups, over reopenings, logged or not.
    #[test]
    fn of_each_channel_exactly_those_nonces_are_taken_that_a_set_would_take(
        groups in prop::collection::vec(
            (prop::collection::vec((any::<bool>(), any::<bool>(), nonce()), 1..60), any::<bool>()),
            1..6,
        ),
    ) {
        let (_temp, dir) = folder();
        let mut log = Some(share(&dir));
        let (mut on_topic, mut direct, mut number) = (BTreeSet::new(), BTreeSet::new(), 0);
        for (group, reopened) in groups {
            if reopened {
                drop(log.take());
            }
            let log = log.get_or_insert_with(|| share(&dir));
            let messages: Vec<Message> = group
                .iter()
                .map(|(topic, ours, nonce)| {
                    number += 1;
                    let about = if *ours { AGENT } else { OTHER };
                    if *topic { rating(about, number, *nonce) } else { deliver(number, *nonce) }
                })
                .collect();
            let bytes: Vec<Vec<u8>> = messages.iter().map(Message::cbor).collect();
            let received: Vec<Received<'_>> = bytes
                .iter()
                .zip(&messages)
                .map(|(bytes, message)| Received { bytes, origin: mesh(message) })
                .collect();
            let outcomes = log.inbox().admit_all(&received, &keys(), NOW).unwrap();
            prop_assert_eq!(outcomes.len(), group.len());
            for ((topic, _, nonce), outcome) in group.into_iter().zip(outcomes) {
                let taken = if topic { &mut on_topic } else { &mut direct };
                let width = if topic { u64::from(REPLAY_WINDOW) } else { 0 };
                let above = taken.last().is_none_or(|highest| nonce > *highest || highest - nonce < width);
                let fresh = above && !taken.contains(&nonce);
                prop_assert_eq!(outcome.map_err(|error| error.code()).err(), (!fresh).then_some(7315));
                if fresh {
                    taken.insert(nonce);
                }
            }
        }
    }
}
