//! What the log refuses, what it takes twice, and nonces.

use crate::common::{AGENT, DAY, EPOCH, Message, PEER, contents, covered, folder, open};
use std::fs;
use zx1_interface::constants::{MAX_EVIDENCE_BYTES, MAX_EVIDENCE_PAYLOAD};
use zx1_log::{Append, LogError};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::{BROADCAST, MAX_LOGGED_PAYLOAD, MsgType};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::units::{Epoch, Slot};

fn refused(message: &Message) -> LogError {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let error = message.append_to(&mut log).unwrap_err();
    if message.direction == Direction::Sent {
        let checked = log.check_own(&message.envelope(), message.timestamp).unwrap_err();
        assert_eq!(checked.code(), error.code());
    }
    assert!(error.is_of_message(), "{error}");
    assert!(contents(&dir).is_empty());
    assert_eq!(fs::read_dir(dir.join("payloads")).unwrap().count(), 0, "no payload either");
    error
}

#[test]
fn messages_of_others_and_wrong_directions_fail() {
    let mut between_others = Message::deliver(1);
    (between_others.sender, between_others.recipient) = (PEER, AgentId([1; 32]));
    assert_eq!(refused(&between_others).code(), 7222);
    between_others.direction = Direction::Received;
    assert_eq!(refused(&between_others).code(), 7222);
    let mut own_as_received = Message::deliver(1);
    own_as_received.direction = Direction::Received;
    assert_eq!(refused(&own_as_received).code(), 7222);
    let mut own_broadcast_back = own_as_received;
    own_broadcast_back.recipient = BROADCAST;
    assert_eq!(refused(&own_broadcast_back).code(), 7222);
}

#[test]
fn broadcasts_are_logged_ok() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let mut message = Message::sent(1, MsgType::Advertise, b"hello".to_vec());
    message.recipient = BROADCAST;
    message.append_to(&mut log).unwrap();
    (message.sender, message.direction) = (PEER, Direction::Received);
    assert!(message.append_to(&mut log).unwrap().new);
}

#[test]
fn a_payload_that_no_challenge_can_rest_on_fails() {
    for msg_type in [MsgType::Propose, MsgType::Counter, MsgType::Accept, MsgType::NotarizeAssign] {
        let long = Message::sent(1, msg_type, vec![0; MAX_EVIDENCE_PAYLOAD + 1]);
        assert_eq!(refused(&long).code(), 7223);
        assert_eq!(refused(&long.incoming()).code(), 7223);
        let (_temp, dir) = folder();
        Message::sent(1, msg_type, vec![0; MAX_EVIDENCE_PAYLOAD]).append_to(&mut open(&dir)).unwrap();
    }
    let (_temp, dir) = folder();
    Message::sent(1, MsgType::Deliver, vec![0; MAX_EVIDENCE_PAYLOAD + 1]).append_to(&mut open(&dir)).unwrap();
}

#[test]
fn a_message_longer_than_64_kib_fails() {
    let overhead = Message::sent(1, MsgType::Deliver, vec![0; 60_000]).envelope().to_cbor().len() - 60_000;
    let most = 65_536 - overhead;
    assert_eq!(refused(&Message::sent(1, MsgType::Deliver, vec![0; most + 1])).code(), 7224);
    assert_eq!(refused(&Message::sent(1, MsgType::Deliver, vec![0; 1 << 20])).code(), 7224);
    let (_temp, dir) = folder();
    Message::sent(1, MsgType::Deliver, vec![0; most]).append_to(&mut open(&dir)).unwrap();
    assert_eq!(contents(&dir).len(), 1);
}

#[test]
fn an_envelope_with_another_payload_fails() {
    let mut message = Message::deliver(1);
    message.payload = b"work 2".to_vec();
    assert_eq!(refused(&message).code(), 7225);
    message.payload = b"longer work".to_vec();
    assert_eq!(refused(&message).code(), 7225);
}

/// Two messages never share a record (decision P3), so several bids of a slot contradict nothing.
#[test]
fn several_own_bids_of_a_slot_are_logged_ok() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let bids = [MsgType::Propose, MsgType::Counter, MsgType::Accept].into_iter().zip(1..);
    for (msg_type, number) in bids {
        let mut bid = Message::sent(number, msg_type, vec![number as u8; 20]);
        bid.slot = 1_000;
        assert!(bid.append_to(&mut log).unwrap().new);
    }
    assert_eq!(log.build(covered(0, 0), Slot(1), Slot(2)).unwrap().batch.arrays_len, 4);
}

#[test]
fn a_payload_whose_entry_nobody_could_show_fails() {
    for msg_type in [MsgType::NotarizeBid, MsgType::Feedback] {
        let long = Message::sent(1, msg_type, vec![1; MAX_LOGGED_PAYLOAD + 1]);
        assert_eq!(refused(&long).code(), 7245);
        let (_temp, dir) = folder();
        Message::sent(1, msg_type, vec![1; MAX_LOGGED_PAYLOAD]).append_to(&mut open(&dir)).unwrap();
        assert!(contents(&dir)[0].len() <= MAX_EVIDENCE_BYTES);
    }
}

#[test]
fn the_same_message_again_is_not_added_again() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let message = Message::propose(1, 10);
    let first = message.append_to(&mut log).unwrap();
    assert!(first.new);
    let again = message.append_to(&mut log).unwrap();
    assert_eq!((again.epoch, again.index, again.leaf, again.new), (first.epoch, 0, first.leaf, false));
    drop(log);
    let mut log = open(&dir);
    assert!(!message.append_to(&mut log).unwrap().new);
    // Received again after midnight.
    let incoming = Message::deliver(2).incoming();
    incoming.append_to(&mut log).unwrap();
    let later = log.append(&incoming.envelope(), Direction::Received, incoming.timestamp + DAY).unwrap();
    assert_eq!((later.epoch, later.index, later.new), (EPOCH, 1, false));
    let append = Append { envelope: message.envelope(), direction: Direction::Sent, arrival_micros: 0 };
    let new = Message::deliver(3);
    let other = Append { envelope: new.envelope(), direction: Direction::Sent, arrival_micros: 0 };
    let group = log.append_all(&[append, other, other]).unwrap();
    assert_eq!(
        group.iter().map(|a| (a.index, a.new)).collect::<Vec<_>>(),
        [(0, false), (2, true), (2, false)]
    );
}

#[test]
fn sent_messages_go_by_their_timestamp_and_received_ones_by_arrival() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let (sent, received) = (Message::deliver(1), Message::deliver(2).incoming());
    let arrival = (EPOCH.0 + 2) * DAY;
    assert_eq!(log.append(&sent.envelope(), Direction::Sent, arrival).unwrap().epoch, EPOCH);
    assert_eq!(
        log.append(&received.envelope(), Direction::Received, arrival).unwrap().epoch,
        Epoch(EPOCH.0 + 2)
    );
    let mut entries = log.reader().entries(EPOCH, Epoch(EPOCH.0 + 5)).unwrap();
    let first = entries.next_entry().unwrap().unwrap();
    assert_eq!((first.direction, first.arrival_micros), (Direction::Sent, arrival));
    let epochs = log.reader().epochs().unwrap();
    assert_eq!(epochs.iter().map(|e| (e.epoch.0 - EPOCH.0, e.entries)).collect::<Vec<_>>(), [(0, 1), (2, 1)]);
}

#[test]
fn payloads_come_back_by_hash_and_damaged_ones_are_found() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let message = Message::propose(1, 10);
    message.append_to(&mut log).unwrap();
    let hash = Sha3::hashv(&[&message.payload]);
    assert_eq!(log.payload(&hash).unwrap().as_ref(), Some(&message.payload));
    assert_eq!(log.payload(&[1; 32]).unwrap(), None);
    assert_eq!(log.payload(&Sha3::hashv(&[])).unwrap(), Some(Vec::new()));
    let file = dir.join("payloads").join(hex::encode(hash));
    fs::write(&file, b"other").unwrap();
    assert_eq!(log.payload(&hash).unwrap_err().code(), 7229);
    assert_eq!(log.put_payload(&message.payload).unwrap(), hash);
    assert_eq!(log.reader().payload(&hash).unwrap().as_ref(), Some(&message.payload));
}

#[test]
fn payloads_that_are_in_the_entry_are_not_stored_twice() {
    let (_temp, dir) = folder();
    Message::rating(1, 5).append_to(&mut open(&dir)).unwrap();
    assert_eq!(fs::read_dir(dir.join("payloads")).unwrap().count(), 0);
}

#[test]
fn own_nonces_start_at_the_clock_and_grow() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let now = EPOCH.0 * DAY;
    assert_eq!(log.reserve_nonce(Channel::Direct, now).unwrap(), now);
    assert_eq!(log.reserve_nonce(Channel::Direct, now).unwrap(), now + 1);
    assert_eq!(log.reserve_nonce(Channel::Broadcast, 7).unwrap(), 7);
    drop(log);
    // A clock that went back.
    let mut log = open(&dir);
    let next = log.reserve_nonce(Channel::Direct, 3).unwrap();
    assert!(next > now + 1, "{next}");
    drop(log);
    let mut log = open(&dir);
    assert_eq!(log.reserve_nonce(Channel::Direct, u64::MAX).unwrap(), u64::MAX);
    assert_eq!(log.reserve_nonce(Channel::Direct, 0).unwrap_err().code(), 7227);
    drop(log);
    assert_eq!(open(&dir).reserve_nonce(Channel::Direct, 0).unwrap_err().code(), 7227);
}

#[test]
fn attestations_are_kept_and_the_last_one_counts() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    log.put_attestation(&ConversationId([3; 16]), &PEER, [1; 32]).unwrap();
    log.put_attestation(&ConversationId([3; 16]), &PEER, [2; 32]).unwrap();
    log.put_attestation(&ConversationId([4; 16]), &PEER, [3; 32]).unwrap();
    assert_eq!(log.reader().attestation(&ConversationId([3; 16]), &PEER).unwrap(), Some([2; 32]));
    drop(log);
    let log = open(&dir);
    assert_eq!(log.attestation(&ConversationId([3; 16]), &PEER), Some([2; 32]));
    assert_eq!(log.attestation(&ConversationId([4; 16]), &PEER), Some([3; 32]));
    assert_eq!(log.attestation(&ConversationId([3; 16]), &AGENT), None);
}

#[test]
fn what_a_crash_left_unfinished_is_removed() {
    let (_temp, dir) = folder();
    drop(open(&dir));
    let left = [dir.join("nonces.unfinished"), dir.join("log").join("20000.log.unfinished")];
    left.iter().for_each(|path| fs::write(path, b"half").unwrap());
    drop(open(&dir));
    assert!(left.iter().all(|path| !path.exists()));
}

#[test]
fn an_agent_that_never_signs_a_batch_can_log_for_years() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    for day in 0..12 {
        Message::deliver(day).later(day).append_to(&mut log).unwrap();
    }
    drop(log);
    let mut log = open(&dir);
    // An old epoch is read when it is needed.
    assert!(!Message::deliver(2).later(2).append_to(&mut log).unwrap().new);
    assert_eq!(Message::deliver(100).later(1).append_to(&mut log).unwrap().index, 1);
    assert_eq!(contents(&dir).len(), 13);
}
