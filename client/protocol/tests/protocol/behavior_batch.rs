use crate::envelope::ciborium_bytes;
use crate::harness::{damage, damaged};
use crate::life::{AGENT, EPOCH, Logged, build, builder, covered, life, rating_of, received, sent};
use ciborium::Value as Cbor;
use proptest::prelude::*;
use std::collections::HashSet;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{
    BATCH_VERSION, BatchFormatError, BehaviorBatch, BuildError, Builder, Built, Direction, MAX_BATCH_BYTES,
};
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::{Tree, ZERO, leaf};
use zx1_protocol::payload::bid_payload;
use zx1_protocol::record::{BID_LEN, Bid, Record};
use zx1_protocol::units::{Epoch, Slot};

/// The batch as another CBOR library sees it.
fn items(batch: &BehaviorBatch) -> Cbor {
    let bytes = |bytes: &[u8]| Cbor::Bytes(bytes.to_vec());
    let array = |items: Vec<Vec<Cbor>>| Cbor::Array(items.into_iter().map(Cbor::Array).collect());
    Cbor::Array(vec![
        BATCH_VERSION.into(),
        bytes(batch.agent_id.as_bytes()),
        batch.epoch_number.0.into(),
        batch.slot_start.0.into(),
        batch.slot_end.0.into(),
        batch.message_count.into(),
        Cbor::Array(batch.msg_type_counts.iter().map(|count| Cbor::from(*count)).collect()),
        batch.unique_counterparties.into(),
        batch.tasks_completed.into(),
        batch.notarizations.into(),
        batch.disputes.into(),
        array(
            (batch.bid_values.iter())
                .map(|bid| {
                    let value = bytes(&bid.value.to_be_bytes());
                    vec![
                        bytes(bid.conversation.as_bytes()),
                        bytes(bid.counterparty.as_bytes()),
                        value,
                        bid.slot.0.into(),
                        bytes(&bid.message),
                    ]
                })
                .collect(),
        ),
        array(
            (batch.task_selections.iter())
                .map(|it| {
                    vec![
                        bytes(it.conversation.as_bytes()),
                        bytes(it.counterparty.as_bytes()),
                        it.slot.0.into(),
                        bytes(&it.message),
                    ]
                })
                .collect(),
        ),
        array(
            (batch.verifier_ids.iter())
                .map(|it| {
                    vec![
                        bytes(it.conversation.as_bytes()),
                        bytes(it.verifier.as_bytes()),
                        it.slot.0.into(),
                        bytes(&it.message),
                    ]
                })
                .collect(),
        ),
        array(
            (batch.feedback_events.iter())
                .map(|event| {
                    let rating = [event.score.into(), event.outcome.into(), event.role.into()];
                    let mut items = vec![bytes(event.conversation.as_bytes()), bytes(event.from.as_bytes())];
                    items.extend(rating);
                    items.extend([event.slot.0.into(), bytes(&event.attestation), bytes(&event.message)]);
                    items
                })
                .collect(),
        ),
        batch.overflow.into(),
        bytes(&batch.overflow_data_hash),
        bytes(&batch.log_merkle_root),
        batch.log_len.into(),
        bytes(&batch.arrays_root),
        batch.arrays_len.into(),
    ])
}

/// `count` packed bids that all differ.
fn bids(count: u32) -> Vec<u8> {
    let bid = |i: u32| Bid {
        conversation: ConversationId(u128::from(i).to_be_bytes()),
        counterparty: AgentId([0xb2; 32]),
        value: i.into(),
        slot: Slot(u64::from(i) / 3),
        message: [0xc3; 32],
    };
    (0..count).flat_map(|i| Record::Bid(bid(i)).to_bytes()).collect()
}

fn empty() -> Built {
    build(&[]).unwrap()
}

#[test]
fn an_empty_log_gives_an_empty_batch() {
    let batch = empty().batch;
    assert_eq!(batch.epoch_number, Epoch(EPOCH + 1));
    assert_eq!((batch.log_len, batch.arrays_len, batch.message_count), (0, 0, 0));
    assert_eq!((batch.log_merkle_root, batch.arrays_root), (ZERO, ZERO));
    assert_eq!(BehaviorBatch::decode(&batch.to_cbor()), Ok(batch));
}

#[test]
fn counters_count_what_the_specification_says() {
    let broadcast = |message: &mut crate::common::Message| message.recipient = BROADCAST;
    let log = [
        sent(MsgType::Advertise, b"", broadcast),
        sent(MsgType::Deliver, b"", |_| {}),
        sent(MsgType::Deliver, b"", |message| message.recipient = AgentId([9; 32])),
        sent(MsgType::Verdict, b"", |_| {}),
        sent(MsgType::Dispute, b"", |_| {}),
        received(MsgType::Verdict, b"", |_| {}),
        received(MsgType::Verdict, b"", |message| message.sender = AgentId([8; 32])),
        received(MsgType::Dispute, b"", |_| {}),
        received(MsgType::Beacon, b"", |message| {
            (message.sender, message.recipient) = (AgentId([7; 32]), BROADCAST)
        }),
    ];
    let batch = build(&log).unwrap().batch;
    assert_eq!(batch.message_count, 5);
    let mut counts = [0; 16];
    (counts[1], counts[7], counts[10], counts[12]) = (1, 2, 1, 1);
    assert_eq!(batch.msg_type_counts, counts);
    // b2, 9 and 8; the one who only sent a beacon does not count.
    assert_eq!(batch.unique_counterparties, 3);
    assert_eq!((batch.tasks_completed, batch.notarizations, batch.disputes), (2, 1, 2));
}

#[test]
fn a_thousand_and_one_counterparties_are_counted_once_each() {
    let mut builder = builder();
    for round in 0..3u32 {
        for peer in 0..5_000u32 {
            let mut id = [1; 32];
            id[..4].copy_from_slice(&peer.to_be_bytes());
            let one = sent(MsgType::Reject, &round.to_be_bytes(), |message| message.recipient = AgentId(id));
            builder.push_encoded(Direction::Sent, &one.encoded(), None, None).unwrap();
        }
    }
    assert_eq!(builder.finish().unwrap().batch.unique_counterparties, 5_000);
}

#[test]
fn records_are_ordered_by_slot_and_then_as_in_the_log() {
    let at = |slot: u64, conversation: u8| {
        sent(MsgType::Propose, &bid_payload(conversation.into(), b""), |message| {
            (message.block_ref, message.conversation_id) = (slot, ConversationId([conversation; 16]));
        })
    };
    let batch = build(&[at(7, 2), at(5, 9), at(7, 1), at(5, 3)]).unwrap().batch;
    let found: Vec<_> = batch.bid_values.iter().map(|bid| (bid.slot.0, bid.conversation.0[0])).collect();
    assert_eq!(found, [(5, 9), (5, 3), (7, 2), (7, 1)]);
}

#[test]
fn accepts_with_one_nonce_in_one_slot_are_records_of_their_own() {
    let accept = |value: i128| sent(MsgType::Accept, &bid_payload(value, b""), |_| {});
    let log = [accept(5), accept(6), accept(7)];
    let header = log[0].message.header();
    for logged in &log[1..] {
        let other = logged.message.header();
        assert_eq!((other.nonce, other.block_ref), (header.nonce, header.block_ref));
        assert_eq!((other.conversation_id, other.recipient), (header.conversation_id, header.recipient));
    }
    let built = build(&log).unwrap();
    assert_eq!(built.batch.arrays_len, 6);
    let bundle = built.bundle().unwrap();
    let records: HashSet<_> = bundle.packed_records().collect();
    assert_eq!(records.len(), 6);
    let selections: HashSet<_> = built.batch.task_selections.iter().map(|it| it.message).collect();
    assert_eq!(selections, log.iter().map(|it| it.message.header().message32::<Sha3>()).collect());
    // An honest log never gives a double bid, however often conversation, recipient and slot repeat.
    let checked = bundle.check().unwrap();
    assert_eq!(zx1_protocol::finder::double_bids(&checked).count(), 0);
}

#[test]
fn a_batch_of_the_first_edition_is_refused_by_its_version() {
    let batch = empty().batch_bytes;
    let mut first = batch.clone();
    first[0] -= 1;
    first.remove(1);
    assert_eq!(BehaviorBatch::decode(&first), Err(BatchFormatError::Version { version: 1 }));
    let mut next = batch;
    next[1] = 3;
    assert_eq!(BehaviorBatch::decode(&next), Err(BatchFormatError::Version { version: 3 }));
}

#[test]
fn what_an_honest_log_cannot_hold_fails() {
    let propose = sent(MsgType::Propose, &bid_payload(5, b""), |_| {});
    let tomorrow = sent(MsgType::Reject, b"", |message| message.timestamp += 2 * 86_400_000_000);
    let rating = received(MsgType::Feedback, &rating_of(AgentId([9; 32])).to_cbor().unwrap(), |_| {});
    let push = |logged: &Logged, direction, payload: Option<&[u8]>, attestation| {
        builder().push_encoded(direction, &logged.encoded(), payload, attestation)
    };
    let own = Some(&propose.message.payload[..]);
    for (result, error) in [
        (push(&propose, Direction::Received, own, None), BuildError::ReceivedFromSelf),
        (push(&rating, Direction::Sent, None, None), BuildError::SentByAnother),
        (push(&propose, Direction::Sent, None, None), BuildError::PayloadMissing),
        (push(&propose, Direction::Sent, Some(b"other"), None), BuildError::PayloadMismatch),
        (
            push(&tomorrow, Direction::Sent, None, None),
            BuildError::EpochNotCovered { epoch: Epoch(EPOCH + 2) },
        ),
        (push(&propose, Direction::Sent, own, Some([1; 32])), BuildError::AttestationNotUsed),
        (push(&rating, Direction::Received, None, Some([1; 32])), BuildError::AttestationNotUsed),
    ] {
        assert_eq!(result, Err(error));
    }
    let backwards = Covered { from: Epoch(2), to: Epoch(1) };
    assert_eq!(Builder::new(AGENT, backwards, Slot(1), Slot(1)).err(), Some(BuildError::EpochsReversed));
    assert_eq!(Builder::new(AGENT, covered(), Slot(2), Slot(1)).err(), Some(BuildError::SlotsReversed));
    let bad = builder().push_encoded(Direction::Sent, b"\x80", None, None);
    assert!(matches!(bad, Err(BuildError::Entry(_))), "{bad:?}");
}

#[test]
fn a_refused_entry_leaves_the_builder_as_it_was() {
    let log = [sent(MsgType::Propose, &bid_payload(5, b""), |_| {}), received(MsgType::Verdict, b"", |_| {})];
    let mut builder = builder();
    for logged in &log {
        let refused = builder.push_encoded(logged.direction, &log[0].encoded(), None, Some([1; 32]));
        assert!(refused.is_err());
        let entry = LogEntry::of(&logged.message.envelope()).to_cbor::<Sha3>().unwrap();
        builder.push_encoded(logged.direction, &entry, logged.payload(), None).unwrap();
    }
    assert_eq!(builder.finish(), build(&log));
}

#[test]
fn the_thousand_and_first_entry_overflows() {
    let exact = Built::new(empty().batch, bids(1_000), vec![]).unwrap();
    assert!(!exact.batch.overflow && exact.batch.overflow_data_hash == ZERO);
    assert_eq!((exact.batch.bid_values.len(), exact.batch.arrays_len), (1_000, 1_000));
    let over = Built::new(empty().batch, bids(1_001), vec![]).unwrap();
    assert!(over.batch.overflow && over.batch.overflow_data_hash != ZERO);
    assert_eq!((over.batch.bid_values.len(), over.batch.arrays_len), (1_000, 1_001));
    assert_eq!(over.batch.bid_values, exact.batch.bid_values);
    for built in [exact, over] {
        assert_eq!(BehaviorBatch::decode(&built.batch_bytes).as_ref(), Ok(&built.batch));
        let tree = Tree::<Sha3>::of_entries(built.records.chunks(BID_LEN)).unwrap();
        assert_eq!(built.batch.arrays_root, tree.root());
        built.bundle().unwrap().check().unwrap();
    }
}

#[test]
fn the_largest_batch_fits_its_limit() {
    let bid = Bid {
        conversation: ConversationId([1; 16]),
        counterparty: AgentId([2; 32]),
        value: -1,
        slot: Slot(u64::MAX),
        message: [4; 32],
    };
    let event = zx1_protocol::record::Feedback {
        conversation: ConversationId([1; 16]),
        from: AgentId([2; 32]),
        score: -100,
        outcome: 2,
        role: 1,
        slot: Slot(u64::MAX),
        attestation: [3; 32],
        message: [4; 32],
    };
    let selection = zx1_protocol::record::Selection {
        conversation: ConversationId([1; 16]),
        counterparty: AgentId([2; 32]),
        slot: Slot(u64::MAX),
        message: [4; 32],
    };
    let verifier = zx1_protocol::record::Verifier {
        conversation: ConversationId([1; 16]),
        verifier: AgentId([2; 32]),
        slot: Slot(u64::MAX),
        message: [4; 32],
    };
    let largest = BehaviorBatch {
        epoch_number: Epoch(u64::MAX),
        slot_start: Slot(u64::MAX),
        slot_end: Slot(u64::MAX),
        message_count: u32::MAX,
        msg_type_counts: [u32::MAX; 16],
        unique_counterparties: u32::MAX,
        tasks_completed: u32::MAX,
        notarizations: u32::MAX,
        disputes: u32::MAX,
        bid_values: vec![bid; 1_000],
        task_selections: vec![selection; 1_000],
        verifier_ids: vec![verifier; 1_000],
        feedback_events: vec![event; 1_000],
        overflow: true,
        log_len: u32::MAX,
        arrays_len: u32::MAX,
        ..empty().batch
    };
    let len = largest.to_cbor().len();
    assert!(len <= MAX_BATCH_BYTES && len > MAX_BATCH_BYTES - 1_000, "{len}");
    let too_large = BehaviorBatch::decode(&vec![0; MAX_BATCH_BYTES + 1]);
    assert_eq!(too_large, Err(BatchFormatError::TooLarge));
}

proptest! {
    #[test]
    fn a_batch_comes_back_and_ciborium_agrees(log in life()) {
        let built = build(&log).unwrap();
        prop_assert_eq!(BehaviorBatch::decode(&built.batch_bytes), Ok(built.batch.clone()));
        prop_assert_eq!(&ciborium_bytes(&items(&built.batch)), &built.batch_bytes);
        let read: Cbor = ciborium::from_reader(&built.batch_bytes[..]).unwrap();
        prop_assert_eq!(read, items(&built.batch));
        prop_assert_eq!(built.batch.hash(), Sha3::hashv(&[&built.batch_bytes]));
        prop_assert_eq!(built.batch.commitment(), built.commitment());
    }

    #[test]
    fn pushing_an_entry_or_its_encoding_is_the_same(log in life()) {
        let mut other = builder();
        for logged in &log {
            let envelope = logged.message.envelope();
            other.push(logged.direction, &LogEntry::of(&envelope), logged.payload(), logged.attestation).unwrap();
        }
        prop_assert_eq!(other.finish(), build(&log));
    }

    #[test]
    fn leaves_are_those_of_the_entries_in_log_order(log in life()) {
        let built = build(&log).unwrap();
        let leaves: Vec<_> = log.iter().map(|logged| leaf::<Sha3>(&logged.encoded())).collect();
        prop_assert_eq!(&built.leaves, &leaves);
        prop_assert_eq!(built.batch.log_merkle_root, Tree::<Sha3>::new(leaves).unwrap().root());
    }

    #[test]
    fn damaged_batches_are_refused_or_the_one_encoding_of_another(
        log in life(), harm in prop::collection::vec(damage(), 1..4),
    ) {
        let bytes = damaged(&build(&log).unwrap().batch_bytes, &harm);
        if let Ok(other) = BehaviorBatch::decode(&bytes) {
            prop_assert_eq!(other.to_cbor(), bytes);
            prop_assert_eq!(other.check(), Ok(()));
        }
    }
}
