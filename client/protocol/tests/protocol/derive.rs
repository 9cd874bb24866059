use crate::common::{Message, feedback, message};
use proptest::prelude::*;
use std::collections::HashSet;
use zx1_interface::constants::MAX_EVIDENCE_PAYLOAD;
use zx1_protocol::challenge::Ground;
use zx1_protocol::derive::{DeriveError, Expected, double_bid, from_envelope, from_log_entry};
use zx1_protocol::envelope::{MsgType, SIGNING_HEADER_LEN};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::{self, bid_payload, bid_value};
use zx1_protocol::record::{Bid, Feedback, Record, Selection, Verifier};
use zx1_protocol::units::Slot;

const AGENT: AgentId = AgentId([0xa1; 32]);
const OTHER: AgentId = AgentId([0xb2; 32]);

fn sent(msg_type: MsgType, payload: Vec<u8>) -> Message {
    Message {
        msg_type,
        sender: AGENT,
        recipient: OTHER,
        timestamp: 1,
        block_ref: 42,
        nonce: 1,
        conversation_id: ConversationId([9; 16]),
        payload,
        payload_hash: [0; 32],
        signature: [0; 64],
    }
    .seal()
}

fn logged(message: &Message, ground: Ground, shown: Option<&[u8]>) -> Result<Expected, DeriveError> {
    from_log_entry::<Sha3>(&LogEntry::of(&message.envelope()), AGENT.as_bytes(), ground, shown)
}

fn held(message: &Message, ground: Ground) -> Result<Expected, DeriveError> {
    from_envelope::<Sha3>(&message.envelope().signed_fields(), AGENT.as_bytes(), ground)
}

fn rated(rating: payload::Feedback) -> Message {
    let mut message = sent(MsgType::Feedback, rating.to_cbor().unwrap());
    message.sender = OTHER;
    message.seal()
}

fn hash_of(message: &Message) -> Hash {
    message.header().message32::<Sha3>()
}

fn bid(message: Hash, value: i128) -> Bid {
    Bid { conversation: ConversationId([9; 16]), counterparty: OTHER, value, slot: Slot(42), message }
}

#[test]
fn offers_give_bids() {
    for msg_type in [MsgType::Propose, MsgType::Counter, MsgType::Accept] {
        let message = sent(msg_type, bid_payload(-7, b"JSON"));
        let unknown = Expected { record: Record::Bid(bid(hash_of(&message), 0)), value_known: false };
        let known = Expected { record: Record::Bid(bid(hash_of(&message), -7)), value_known: true };
        assert_eq!(logged(&message, Ground::Bid, None), Ok(unknown));
        assert_eq!(logged(&message, Ground::Bid, Some(&message.payload)), Ok(known));
        assert_eq!(held(&message, Ground::Bid), Ok(known));
    }
}

#[test]
fn an_accept_gives_a_selection_too() {
    let message = sent(MsgType::Accept, bid_payload(1, b""));
    let selection = Selection {
        conversation: ConversationId([9; 16]),
        counterparty: OTHER,
        slot: Slot(42),
        message: hash_of(&message),
    };
    let expected = Expected { record: Record::Selection(selection), value_known: true };
    assert_eq!(logged(&message, Ground::Selection, None), Ok(expected));
    assert_eq!(held(&message, Ground::Selection), Ok(expected));
}

#[test]
fn an_assignment_gives_a_verifier() {
    let message = sent(MsgType::NotarizeAssign, vec![]);
    let verifier = Verifier {
        conversation: ConversationId([9; 16]),
        verifier: OTHER,
        slot: Slot(42),
        message: hash_of(&message),
    };
    let expected = Expected { record: Record::Verifier(verifier), value_known: true };
    assert_eq!(logged(&message, Ground::Verifier, None), Ok(expected));
    assert_eq!(held(&message, Ground::Verifier), Ok(expected));
}

#[test]
fn a_rating_takes_its_conversation_from_the_payload() {
    let rating = payload::Feedback {
        conversation_id: ConversationId([5; 16]),
        target_agent: AGENT,
        score: -3,
        outcome: 1,
        is_dispute: false,
        role: 1,
    };
    let event = Feedback {
        conversation: ConversationId([5; 16]),
        from: OTHER,
        score: -3,
        outcome: 1,
        role: 1,
        slot: Slot(42),
        attestation: [0; 32],
        message: hash_of(&rated(rating)),
    };
    let expected = Expected { record: Record::Feedback(event), value_known: true };
    assert_eq!(logged(&rated(rating), Ground::Feedback, None), Ok(expected));
    assert_eq!(held(&rated(rating), Ground::Feedback), Err(DeriveError::NoGround));
    let about_other = payload::Feedback { target_agent: OTHER, ..rating };
    assert_eq!(logged(&rated(about_other), Ground::Feedback, None), Err(DeriveError::FeedbackAboutAnother));
}

#[test]
fn a_rating_by_the_agent_itself_fails() {
    let message = sent(MsgType::Feedback, b"whatever".to_vec());
    assert_eq!(logged(&message, Ground::Feedback, None), Err(DeriveError::FeedbackBySelf));
}

#[test]
fn a_rating_that_does_not_parse_fails() {
    let mut message = sent(MsgType::Feedback, b"whatever".to_vec());
    message.sender = OTHER;
    assert_eq!(logged(&message.seal(), Ground::Feedback, None), Err(DeriveError::FeedbackUnparsable));
}

#[test]
fn a_payload_that_is_not_the_entrys_fails() {
    let message = sent(MsgType::Propose, bid_payload(3, b"x"));
    let other = bid_payload(4, b"x");
    for shown in [&other[..], &message.payload[..16], &[]] {
        assert_eq!(logged(&message, Ground::Bid, Some(shown)), Err(DeriveError::PayloadHashMismatch));
    }
}

#[test]
fn a_payload_on_a_ground_without_value_fails() {
    for (msg_type, ground) in [
        (MsgType::Accept, Ground::Selection),
        (MsgType::NotarizeAssign, Ground::Verifier),
        (MsgType::Feedback, Ground::Feedback),
    ] {
        let message = sent(msg_type, bid_payload(3, b""));
        let refused = logged(&message, ground, Some(&message.payload));
        assert_eq!(refused, Err(DeriveError::PayloadNotAllowed));
    }
}

#[test]
fn an_envelope_with_a_long_payload_fails_but_its_log_entry_does_not() {
    let fits = sent(MsgType::Propose, vec![1; MAX_EVIDENCE_PAYLOAD]);
    assert!(held(&fits, Ground::Bid).is_ok());
    let long = sent(MsgType::Propose, vec![1; MAX_EVIDENCE_PAYLOAD + 1]);
    assert_eq!(held(&long, Ground::Bid), Err(DeriveError::PayloadTooLong));
    assert!(logged(&long, Ground::Bid, Some(&long.payload)).is_ok());
}

#[test]
fn a_double_bid_is_one_message_with_two_values_and_nothing_else_counts() {
    let (one, other) = ([1; 32], [2; 32]);
    assert_eq!(double_bid(&bid(one, 1), &bid(one, 2)), Ok(()));
    assert_eq!(double_bid(&bid(one, 1), &bid(one, 1)), Err(DeriveError::SameValue));
    // Two honest counters in one slot.
    assert_eq!(double_bid(&bid(one, 1), &bid(other, 2)), Err(DeriveError::NotSameBid));
    for differing in [
        Bid { conversation: ConversationId([8; 16]), ..bid(one, 2) },
        Bid { counterparty: AGENT, ..bid(one, 2) },
        Bid { slot: Slot(43), ..bid(one, 2) },
    ] {
        assert_eq!(double_bid(&bid(one, 1), &differing), Ok(()));
    }
}

#[test]
fn accepts_with_one_nonce_never_share_a_record() {
    let accepts = [1, 2, 3].map(|value| sent(MsgType::Accept, bid_payload(value, b"")));
    let records: HashSet<_> =
        accepts.iter().map(|it| held(it, Ground::Selection).unwrap().record.to_bytes()).collect();
    assert_eq!(records.len(), 3);
}

#[test]
fn a_records_message_is_the_hash_of_what_is_signed_before_the_payload() {
    let message = sent(MsgType::Accept, bid_payload(1, b"terms"));
    let signed = message.envelope().signing_bytes();
    let hash = Sha3::hashv(&[&signed[..SIGNING_HEADER_LEN]]);
    for ground in [Ground::Bid, Ground::Selection] {
        let (entry, envelope) = (logged(&message, ground, None).unwrap(), held(&message, ground).unwrap());
        assert_eq!((entry.record.message(), envelope.record.message()), (&hash, &hash));
    }
}

const GROUNDS: [Ground; 5] =
    [Ground::Bid, Ground::Selection, Ground::Verifier, Ground::Feedback, Ground::DoubleBid];

/// The table of decision B11.
fn has_ground(msg_type: MsgType, ground: Ground) -> bool {
    matches!(
        (msg_type, ground),
        (MsgType::Propose | MsgType::Counter | MsgType::Accept, Ground::Bid)
            | (MsgType::Accept, Ground::Selection)
            | (MsgType::NotarizeAssign, Ground::Verifier)
            | (MsgType::Feedback, Ground::Feedback)
    )
}

#[test]
fn a_type_has_the_grounds_of_the_table_and_no_others() {
    for msg_type in MsgType::ALL {
        for ground in GROUNDS {
            let message = sent(msg_type, vec![]);
            let refused = logged(&message, ground, None) == Err(DeriveError::NoGround);
            assert_eq!(refused, !has_ground(msg_type, ground), "{msg_type:?} {ground:?}");
            let refused = held(&message, ground) == Err(DeriveError::NoGround);
            let own = has_ground(msg_type, ground) && ground != Ground::Feedback;
            assert_eq!(refused, !own, "{msg_type:?} {ground:?}");
        }
    }
}

/// A type of the agent's own messages with a ground that fits it.
fn own_ground() -> impl Strategy<Value = (MsgType, Ground)> {
    prop::sample::select(vec![
        (MsgType::Propose, Ground::Bid),
        (MsgType::Counter, Ground::Bid),
        (MsgType::Accept, Ground::Bid),
        (MsgType::Accept, Ground::Selection),
        (MsgType::NotarizeAssign, Ground::Verifier),
    ])
}

proptest! {
    #[test]
    fn a_message_of_somebody_else_obliges_nobody(message in message(), (msg_type, ground) in own_ground()) {
        let message = Message { msg_type, ..message }.seal();
        prop_assert_eq!(logged(&message, ground, None), Err(DeriveError::NotAgentsEntry));
        prop_assert_eq!(held(&message, ground), Err(DeriveError::NotAgentsEntry));
    }

    #[test]
    fn entry_and_envelope_agree_once_the_payload_is_shown(message in message(), (msg_type, ground) in own_ground()) {
        let message = Message { sender: AGENT, msg_type, ..message }.seal();
        let shown = (ground == Ground::Bid).then_some(&message.payload[..]);
        let expected = held(&message, ground).unwrap();
        prop_assert_eq!(logged(&message, ground, shown), Ok(expected));
        if let Record::Bid(bid) = expected.record {
            prop_assert_eq!(bid.value, bid_value(&message.payload));
        }
    }

    #[test]
    fn the_answerer_fills_only_what_is_free(message in message(), rating in feedback(), value: i128, attestation: [u8; 32]) {
        let message = Message { sender: AGENT, ..message }.seal();
        for ground in GROUNDS.into_iter().filter(|ground| has_ground(message.msg_type, *ground)) {
            let Ok(expected) = logged(&message, ground, None) else { continue };
            match (expected.record, expected.with_free_fields(value, &attestation)) {
                (Record::Bid(free), Record::Bid(filled)) => prop_assert_eq!(filled, Bid { value, ..free }),
                (before, after) => prop_assert_eq!(before, after),
            }
        }
        if let Ok(known) = held(&message, Ground::Bid) {
            prop_assert_eq!(known.with_free_fields(value, &attestation), known.record);
        }
        let rated = rated(payload::Feedback { target_agent: AGENT, ..rating });
        let expected = logged(&rated, Ground::Feedback, None).unwrap();
        let Record::Feedback(free) = expected.record else { panic!("not an event") };
        let filled = expected.with_free_fields(value, &attestation);
        prop_assert_eq!(filled, Record::Feedback(Feedback { attestation, ..free }));
    }

    #[test]
    fn whatever_is_derived_is_a_valid_record(message in message()) {
        for ground in GROUNDS {
            for agent in [message.sender, AGENT] {
                let entry = LogEntry::of(&message.envelope());
                if let Ok(expected) = from_log_entry::<Sha3>(&entry, agent.as_bytes(), ground, None) {
                    prop_assert_eq!(Record::parse(&expected.record.to_bytes()), Ok(expected.record));
                }
            }
        }
    }
}
