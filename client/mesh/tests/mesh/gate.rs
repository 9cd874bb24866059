use crate::common::{
    CHAIN, DAY, Letter, ME, Message, NOW, SECOND, agent, agent_key, facts, letter, path, public,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use zx1_mesh::Reason;
use zx1_mesh::counts::Counts;
use zx1_mesh::facts::{Facts, Known, Need, Stake};
use zx1_mesh::gate::{Gate, Mode, Path, Verdict, View};
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::{MAX_LOGGED_PAYLOAD, MsgType};
use zx1_protocol::ids::WalletKey;
use zx1_protocol::keys::Scopes;
use zx1_protocol::lease::Lease;
use zx1_protocol::nonce::{NonceError, SeenNonces};
use zx1_protocol::payload::PayloadError;
use zx1_protocol::units::{Epoch, MicroUsdc};
use zx1_protocol::validate::{
    BLOCK_REF_TOLERANCE_SLOTS, MAX_MESSAGE_SIZE, Reason as Rule, TIMESTAMP_TOLERANCE_MICROS,
};

const GATE: Gate = Gate::new(ME, Mode::Enforced);

fn view<'a>(author: Known<'a>, channel: Channel) -> View<'a> {
    View { now: NOW, chain: Some(CHAIN), author, seen: SeenNonces::none(channel) }
}

/// The verdict of a peer that has these facts about the author.
fn judge(message: &Message, facts: &Facts) -> Verdict<'static> {
    owned(GATE.verdict(&message.bytes, message.path, &view(Known::Present(facts), message.path.channel)))
}

/// Without what it borrows.
fn owned(verdict: Verdict<'_>) -> Verdict<'static> {
    match verdict {
        Verdict::Accept(_) => panic!("accepted"),
        Verdict::Ignore(reason) => Verdict::Ignore(reason),
        Verdict::Reject(reason) => Verdict::Reject(reason),
        Verdict::Wait(need) => Verdict::Wait(need),
    }
}

fn changed(msg_type: MsgType, change: impl FnOnce(&mut Letter)) -> Message {
    let mut letter = letter(msg_type, agent(1), 10);
    change(&mut letter);
    letter.from(1)
}

fn bytes_changed(change: impl FnOnce(&mut Vec<u8>)) -> Message {
    let mut message = letter(MsgType::Beacon, agent(1), 10).from(1);
    change(&mut message.bytes);
    message
}

fn with_facts(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = facts(&[1]);
    change(&mut facts);
    facts
}

#[test]
fn every_type_of_message_is_accepted_by_its_own_channel_and_rejected_by_the_others() {
    let facts = facts(&[1]);
    for msg_type in MsgType::ALL {
        let message = letter(msg_type, agent(1), 10).from(1);
        for channel in Channel::ALL {
            let path = Path { channel, ..message.path };
            let verdict = GATE.verdict(&message.bytes, path, &view(Known::Present(&facts), channel));
            if channel == message.path.channel {
                assert!(
                    matches!(verdict, Verdict::Accept(valid) if valid.signer == public(1) && valid.channel == channel),
                    "{msg_type:?} {verdict:?}"
                );
            } else {
                assert_eq!(
                    verdict,
                    Verdict::Reject(Rule::WrongChannel.into()),
                    "{msg_type:?} by {channel:?}"
                );
            }
        }
    }
}

/// Each row: a message, what is known of its author, the verdict.
#[test]
fn each_reason_has_its_verdict() {
    use Verdict::{Ignore, Reject};
    let good = facts(&[1]);
    let beacon = |change: fn(&mut Letter)| changed(MsgType::Beacon, change);
    let unchanged = || beacon(|_| ());
    let off_by = TIMESTAMP_TOLERANCE_MICROS + 1;
    let far = BLOCK_REF_TOLERANCE_SLOTS + 1;
    let rule = |rule: Rule| Reason::Rule(rule);
    let small = MicroUsdc(9_999_999);
    let rows: Vec<(Message, Facts, Verdict<'static>)> = vec![
        (
            bytes_changed(|bytes| bytes.resize(MAX_MESSAGE_SIZE + 1, 0)),
            good.clone(),
            Reject(rule(Rule::TooLarge)),
        ),
        (bytes_changed(|bytes| bytes.truncate(100)), good.clone(), Reject(rule(Rule::Malformed))),
        (bytes_changed(Vec::clear), good.clone(), Reject(rule(Rule::Malformed))),
        (bytes_changed(|bytes| bytes.push(0)), good.clone(), Reject(rule(Rule::NotCanonical))),
        // Of another version nothing is known, not even how many fields it has.
        (bytes_changed(|bytes| bytes[1] = 2), good.clone(), Ignore(rule(Rule::Version))),
        (bytes_changed(|bytes| *bytes = vec![0x82, 2, 0]), good.clone(), Ignore(rule(Rule::Version))),
        (bytes_changed(|bytes| bytes[2] = 0x0E), good.clone(), Ignore(rule(Rule::MsgType))),
        (bytes_changed(|bytes| *bytes.last_mut().unwrap() ^= 1), good.clone(), Reject(rule(Rule::Signature))),
        (changed(MsgType::Propose, |it| it.recipient = agent(9)), good.clone(), Ignore(Reason::Recipient)),
        (
            Message { path: Path { source: None, ..path(MsgType::Beacon, 1) }, ..unchanged() },
            good.clone(),
            Reject(Reason::Source),
        ),
        // Signed by the author, and published again by somebody else.
        (Message { path: path(MsgType::Beacon, 2), ..unchanged() }, good.clone(), Reject(Reason::Source)),
        // The same by another key of the author.
        (
            Message { path: path(MsgType::Beacon, 2), ..unchanged() },
            facts(&[1, 2]),
            Reject(rule(Rule::Signature)),
        ),
        (letter(MsgType::Beacon, agent(1), 10).from(2), good.clone(), Ignore(Reason::UnknownKey)),
        (letter(MsgType::Deliver, agent(1), 10).from(2), good.clone(), Ignore(Reason::UnknownKey)),
        (
            Message {
                path: path(MsgType::Deliver, 1),
                bytes: letter(MsgType::Deliver, agent(1), 10).sign(2),
            },
            good.clone(),
            Reject(rule(Rule::Signature)),
        ),
        (unchanged(), with_facts(|it| it.stake = None), Ignore(Reason::StakeMissing)),
        (
            unchanged(),
            with_facts(|it| it.stake = Some(Stake { amount: small, is_queued: false })),
            Ignore(Reason::StakeTooSmall { stake: small, minimum: CHAIN.min_stake }),
        ),
        (
            unchanged(),
            with_facts(|it| it.stake = Some(Stake { amount: CHAIN.min_stake, is_queued: true })),
            Ignore(Reason::StakeQueued),
        ),
        (unchanged(), with_facts(|it| it.lease = None), Ignore(Reason::LeaseMissing)),
        (
            unchanged(),
            with_facts(|it| it.lease = Some(Lease { paid_through: Epoch(DAY - 4) })),
            Ignore(Reason::LeaseDeactivated),
        ),
        (
            letter(MsgType::Propose, agent(1), 10).from(1),
            with_facts(|it| it.keys = vec![agent_key(1, Scopes::PEER)]),
            Ignore(rule(Rule::Scope)),
        ),
        (unchanged(), with_facts(|it| it.keys = vec![agent_key(1, Scopes::PAY)]), Ignore(rule(Rule::Scope))),
        (
            unchanged(),
            with_facts(|it| it.keys[0].from = Epoch(DAY + 1)),
            Ignore(rule(Rule::KeyEpoch { epoch: Epoch(DAY) })),
        ),
        (beacon(|it| it.timestamp -= 30_000_001), good.clone(), Ignore(rule(Rule::Timestamp { off_by }))),
        (beacon(|it| it.timestamp += 30_000_001), good.clone(), Ignore(rule(Rule::Timestamp { off_by }))),
        (beacon(|it| it.payload_hash = Some([0; 32])), good.clone(), Reject(rule(Rule::PayloadHash))),
        (beacon(|it| it.payload_len = Some(1)), good.clone(), Reject(rule(Rule::PayloadLength))),
        (
            changed(MsgType::Feedback, |it| it.payload = vec![]),
            good.clone(),
            Reject(rule(Rule::Payload(PayloadError::Malformed))),
        ),
        (
            changed(MsgType::Propose, |it| it.payload = vec![0; 401]),
            good.clone(),
            Reject(rule(Rule::TooLongForEvidence)),
        ),
        (
            changed(MsgType::NotarizeBid, |it| it.payload.resize(MAX_LOGGED_PAYLOAD + 1, 0)),
            good.clone(),
            Reject(rule(Rule::TooLongForLog)),
        ),
        (beacon(|it| it.block_ref += 151), good.clone(), Ignore(rule(Rule::BlockRef { off_by: far }))),
    ];
    for (at, (message, facts, verdict)) in rows.into_iter().enumerate() {
        assert_eq!(judge(&message, &facts), verdict, "row {at}");
    }
}

#[test]
fn the_ends_of_what_is_allowed_are_allowed() {
    let facts = with_facts(|it| it.lease = Some(Lease { paid_through: Epoch(DAY - 3) }));
    let edges: [fn(&mut Letter); 4] = [
        |it| it.timestamp += TIMESTAMP_TOLERANCE_MICROS,
        |it| it.timestamp -= TIMESTAMP_TOLERANCE_MICROS,
        |it| it.block_ref += BLOCK_REF_TOLERANCE_SLOTS,
        |it| it.nonce = u64::MAX,
    ];
    for edge in edges {
        let message = changed(MsgType::Beacon, edge);
        let verdict =
            GATE.verdict(&message.bytes, message.path, &view(Known::Present(&facts), Channel::Broadcast));
        assert!(matches!(verdict, Verdict::Accept(_)), "{verdict:?}");
    }
}

#[test]
fn a_replay_is_ignored_on_a_topic_and_a_late_message_too_on_the_stream() {
    let facts = facts(&[1]);
    let verdict = |msg_type, nonce: u64, seen: SeenNonces| {
        let message = letter(msg_type, agent(1), nonce).from(1);
        let view = View { seen, ..view(Known::Present(&facts), message.path.channel) };
        match GATE.verdict(&message.bytes, message.path, &view) {
            Verdict::Accept(_) => None,
            Verdict::Ignore(reason) => Some(reason),
            other => panic!("{other:?}"),
        }
    };
    let topic = SeenNonces::none(Channel::Broadcast).with(100);
    assert_eq!(verdict(MsgType::Beacon, 99, topic), None);
    let replayed = Some(Reason::Rule(Rule::Nonce(NonceError::Replayed { highest: 100 })));
    assert_eq!(verdict(MsgType::Beacon, 100, topic), replayed);
    let stream = SeenNonces::none(Channel::Direct).with(100);
    let late = Some(Reason::Rule(Rule::Nonce(NonceError::NotIncreasing { last: 100 })));
    assert_eq!(verdict(MsgType::Deliver, 99, stream), late);
    assert_eq!(verdict(MsgType::Deliver, 101, stream), None);
}

#[test]
fn what_is_not_known_waits_and_what_is_known_to_be_absent_or_old_is_ignored() {
    let message = letter(MsgType::Beacon, agent(1), 10).from(1);
    let verdict = |view: &View<'_>| owned(GATE.verdict(&message.bytes, message.path, view));
    let of = |author| view(author, Channel::Broadcast);
    assert_eq!(verdict(&of(Known::Asked)), Verdict::Wait(Need::Key(public(1))));
    assert_eq!(verdict(&of(Known::Absent)), Verdict::Ignore(Rule::UnknownSender.into()));
    assert_eq!(verdict(&of(Known::TooOld)), Verdict::Ignore(Reason::FactsTooOld));
    let good = facts(&[1]);
    assert_eq!(
        verdict(&View { chain: None, ..of(Known::Present(&good)) }),
        Verdict::Wait(Need::Key(public(1)))
    );
    // The author is known, this key of it is not looked for yet.
    let other = with_facts(|it| (it.keys, it.has_all_keys) = (vec![agent_key(2, Scopes::ALL)], false));
    assert_eq!(verdict(&of(Known::Present(&other))), Verdict::Wait(Need::Key(public(1))));
    let direct = letter(MsgType::Deliver, agent(1), 10).from(1);
    let view = view(Known::Present(&other), Channel::Direct);
    assert_eq!(owned(GATE.verdict(&direct.bytes, direct.path, &view)), Verdict::Wait(Need::Key(public(1))));
}

#[test]
fn what_no_key_signed_is_rejected_before_anybody_is_asked_about_its_author() {
    let mut message = letter(MsgType::Beacon, agent(1), 10).from(1);
    *message.bytes.last_mut().unwrap() ^= 1;
    for author in [Known::Asked, Known::Absent, Known::TooOld] {
        let view = View { chain: None, ..view(author, Channel::Broadcast) };
        let verdict = GATE.verdict(&message.bytes, message.path, &view);
        assert_eq!(verdict, Verdict::Reject(Reason::Source));
    }
}

#[test]
fn a_deal_comes_over_the_stream_of_a_peer_key() {
    let deal =
        Message { bytes: letter(MsgType::Propose, agent(1), 10).sign(2), path: path(MsgType::Propose, 1) };
    let judge = |facts: &Facts| {
        let view = view(Known::Present(facts), Channel::Direct);
        owned(GATE.verdict(&deal.bytes, deal.path, &view))
    };
    let peer_alone = with_facts(|it| it.keys = vec![agent_key(1, Scopes::PEER)]);
    assert_eq!(judge(&peer_alone), Verdict::Reject(Rule::Signature.into()));
    let not_listed = Facts { has_all_keys: false, ..peer_alone };
    assert_eq!(judge(&not_listed), Verdict::Wait(Need::AllKeys));
    // A peer of somebody else's brings it: no key is listed for that one.
    let strangers = Facts { keys: vec![], other_keys: vec![public(1)], ..not_listed };
    assert_eq!(judge(&strangers), Verdict::Ignore(Reason::UnknownKey));
    let facts = with_facts(|it| it.keys = vec![agent_key(1, Scopes::PEER), agent_key(2, Scopes::DEAL)]);
    let verdict = GATE.verdict(&deal.bytes, deal.path, &view(Known::Present(&facts), Channel::Direct));
    assert!(matches!(verdict, Verdict::Accept(valid) if valid.signer == public(2)), "{verdict:?}");
}

#[test]
fn without_the_chain_everything_is_judged_but_the_chain() {
    let gate = Gate::new(ME, Mode::Dev);
    let view = |seen| View { now: NOW, chain: None, author: Known::Asked, seen };
    let none = SeenNonces::none(Channel::Broadcast);
    let message = letter(MsgType::Beacon, agent(1), 10).from(1);
    let verdict =
        |message: &Message, seen| gate.verdict(&message.bytes, message.path, &view(seen)).clone_reason();
    assert_eq!(verdict(&message, none), None);
    let replayed = Rule::Nonce(NonceError::Replayed { highest: 10 });
    assert_eq!(verdict(&message, none.with(10)), Some(replayed.into()));
    let rewrapped = Message { path: path(MsgType::Beacon, 2), ..message.clone() };
    assert_eq!(verdict(&rewrapped, none), Some(Rule::Signature.into()));
    let nobody = Message { path: Path { source: None, ..message.path }, ..message };
    assert_eq!(verdict(&nobody, none), Some(Reason::Source));
    let late = changed(MsgType::Beacon, |it| it.timestamp -= 40 * SECOND);
    assert_eq!(verdict(&late, none), Some(Rule::Timestamp { off_by: 40 * SECOND }.into()));
}

trait CloneReason {
    fn clone_reason(&self) -> Option<Reason>;
}

impl CloneReason for Verdict<'_> {
    fn clone_reason(&self) -> Option<Reason> {
        match self {
            Verdict::Ignore(reason) | Verdict::Reject(reason) => Some(*reason),
            Verdict::Accept(_) | Verdict::Wait(_) => None,
        }
    }
}

#[test]
fn every_reason_has_a_counter_of_its_own_name() {
    let names: Vec<&str> = Counts::default().refusals().map(|(name, _)| name).collect();
    let rows = Reason::ROWS.len() + Rule::ROWS.len();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), rows);
    assert!(Reason::ROWS.iter().all(|row| (7600..7700).contains(&row.code)));
    let mut counts = Counts::default();
    for reason in [Reason::Source, Reason::Rule(Rule::Version), Reason::Source] {
        counts.refused(&reason);
    }
    assert_eq!((counts.of(&Reason::Source), counts.of(&Rule::Version.into())), (2, 1));
    assert_eq!(counts.refusals().map(|(_, count)| count).sum::<u64>(), 3);
    assert_eq!(Reason::Rule(Rule::Version).code(), 7311);
}

#[test]
fn two_peers_with_different_views_never_disagree_about_a_rejection_by_one_and_acceptance_by_another() {
    // What a peer accepts is forwarded; no other view may reject it.
    let fresh = facts(&[1]);
    let ended = with_facts(|it| it.keys = vec![agent_key(2, Scopes::ALL)]);
    let poor = with_facts(|it| it.stake = None);
    for msg_type in MsgType::ALL.into_iter().filter(|it| it.is_broadcast()) {
        let message = letter(msg_type, agent(1), 10).from(1);
        let channel = message.path.channel;
        let views = [
            view(Known::Present(&fresh), channel),
            view(Known::Present(&ended), channel),
            view(Known::Present(&poor), channel),
            view(Known::Absent, channel),
            view(Known::Asked, channel),
            view(Known::TooOld, channel),
            View { now: NOW + 41 * SECOND, ..view(Known::Present(&fresh), channel) },
            View { seen: SeenNonces::up_to(channel, 1_000), ..view(Known::Present(&fresh), channel) },
        ];
        for view in views {
            let verdict = GATE.verdict(&message.bytes, message.path, &view);
            assert!(!matches!(verdict, Verdict::Reject(_)), "{msg_type:?} {verdict:?}");
        }
    }
}

proptest! {
    #[test]
    fn bytes_of_any_kind_get_a_verdict_and_never_an_acceptance(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        number in 0u8..4,
        source in any::<Option<[u8; 32]>>(),
    ) {
        let path = Path {
            channel: Channel::from_number(number).unwrap(),
            source: source.map(WalletKey::from),
        };
        let facts = facts(&[1]);
        let verdict = GATE.verdict(&bytes, path, &view(Known::Present(&facts), path.channel));
        prop_assert!(!matches!(verdict, Verdict::Accept(_) | Verdict::Wait(_)));
    }

    #[test]
    fn no_damaged_message_is_accepted(
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
        cut in any::<prop::sample::Index>(),
        msg_type in prop::sample::select(MsgType::ALL.to_vec()),
    ) {
        let facts = facts(&[1]);
        let message = letter(msg_type, agent(1), 10).from(1);
        let mut flipped = message.bytes.clone();
        flipped[at.index(message.bytes.len())] ^= 1 << bit;
        let shorter = message.bytes[..cut.index(message.bytes.len())].to_vec();
        for bytes in [flipped, shorter] {
            let view = view(Known::Present(&facts), message.path.channel);
            let verdict = GATE.verdict(&bytes, message.path, &view);
            prop_assert!(!matches!(verdict, Verdict::Accept(_)), "{:?}", verdict);
        }
    }

    #[test]
    fn only_the_authors_own_keys_are_accepted(signer in 1u8..6, source in 1u8..6, keys in prop::sample::subsequence(vec![1u8, 2, 3, 4, 5], 0..5)) {
        let facts = facts(&keys);
        let message = Message { bytes: letter(MsgType::Beacon, agent(1), 10).sign(signer), path: path(MsgType::Beacon, source) };
        let verdict = GATE.verdict(&message.bytes, message.path, &view(Known::Present(&facts), Channel::Broadcast));
        let accepted = matches!(verdict, Verdict::Accept(_));
        prop_assert_eq!(accepted, signer == source && keys.contains(&signer));
        prop_assert_eq!(matches!(verdict, Verdict::Reject(_)), signer != source);
    }
}
