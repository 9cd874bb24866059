//! Building a batch from the log, saving it, and what is closed afterwards.

use crate::common::{AGENT, EPOCH, Message, PEER, build, contents, covered, folder, folder_with, open, seal};
use std::fs;
use zx1_log::{LogReader, SavedBatches};
use zx1_protocol::behavior_batch::{Builder, Direction};
use zx1_protocol::bundle::Bundle;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::record::Record;
use zx1_protocol::units::{Epoch, Slot};

fn day(epochs: u64) -> Vec<Message> {
    let base = epochs * 100;
    let all = [
        Message::propose(base + 1, 10),
        Message::deliver(base + 2).incoming(),
        Message::sent(base + 3, MsgType::Accept, vec![4; 20]),
        Message::sent(base + 4, MsgType::NotarizeAssign, b"notary".to_vec()),
        Message::rating(base + 5, 77),
    ];
    all.map(|message| message.later(epochs)).to_vec()
}

fn batches(dir: &std::path::Path) -> SavedBatches {
    LogReader::new(dir, AGENT).batches()
}

#[test]
fn the_batch_of_the_log_is_that_of_its_messages() {
    let messages = [day(0), day(2)].concat();
    let (_temp, dir) = folder_with(&messages);
    let mut log = open(&dir);
    log.put_attestation(&ConversationId([3; 16]), &PEER, [0x5A; 32]).unwrap();
    let covered = covered(0, 2);
    let built = build(&log, covered);
    let mut builder = Builder::new(AGENT, covered, Slot(1), Slot(2)).unwrap();
    for message in &messages {
        let envelope = message.envelope();
        let is_rating = message.msg_type == MsgType::Feedback;
        let attestation = is_rating.then_some([0x5A; 32]);
        builder
            .push(message.direction, &LogEntry::of(&envelope), Some(&message.payload), attestation)
            .unwrap();
    }
    assert_eq!(built, builder.finish().unwrap());
    assert_eq!((built.batch.log_len, built.batch.arrays_len), (10, 10));
    let bundle = built.bundle().unwrap();
    assert!(matches!(bundle.record(9), Some(Record::Feedback(event)) if event.attestation == [0x5A; 32]));
    assert_eq!(built.batch.log_merkle_root, log.reader().root(covered.from, covered.to).unwrap());
}

#[test]
fn an_attestation_for_a_rating_of_somebody_else_is_left_out() {
    let mut about_another = Message::rating(1, 5);
    let mut rating = zx1_protocol::payload::Feedback::decode(&about_another.payload).unwrap();
    rating.target_agent = AgentId([0x77; 32]);
    about_another = Message::sent(1, MsgType::Feedback, rating.to_cbor().unwrap()).incoming();
    let (_temp, dir) = folder_with(&[about_another]);
    let mut log = open(&dir);
    log.put_attestation(&ConversationId([3; 16]), &PEER, [0x5A; 32]).unwrap();
    assert_eq!(build(&log, covered(0, 0)).batch.arrays_len, 0);
}

#[test]
fn a_bid_whose_payload_is_gone_fails_by_its_hash() {
    let bid = Message::propose(1, 10);
    let (_temp, dir) = folder_with(std::slice::from_ref(&bid));
    let hash = hex::encode(Sha3::hashv(&[&bid.payload]));
    fs::remove_file(dir.join("payloads").join(&hash)).unwrap();
    let error = open(&dir).build(covered(0, 0), Slot(1), Slot(2)).unwrap_err();
    assert_eq!(error.code(), 7228);
    assert!(error.to_string().contains(&hash));
}

#[test]
fn a_sealed_epoch_takes_no_more_entries() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    assert_eq!(log.sealed_through(), None);
    let built = seal(&mut log, covered(0, 0));
    for reopened in [false, true] {
        if reopened {
            drop(log);
            log = open(&dir);
        }
        assert_eq!(log.sealed_through(), Some(EPOCH));
        assert_eq!(Message::deliver(50).append_to(&mut log).unwrap_err().code(), 7220);
        assert_eq!(Message::deliver(50).incoming().append_to(&mut log).unwrap_err().code(), 7220);
        // What is in there is in there, also when it arrives again the next day.
        assert!(!day(0)[1].append_to(&mut log).unwrap().new);
        let again = log.append(&day(0)[1].envelope(), Direction::Received, day(1)[1].timestamp).unwrap();
        assert_eq!((again.epoch, again.new), (EPOCH, false));
    }
    // A closed epoch's bid does not clash: the next batch has another root.
    let mut bid = Message::propose(1, 11).later(1);
    bid.slot = day(0)[0].slot;
    assert!(bid.append_to(&mut log).unwrap().new);
    assert_eq!(contents(&dir).len(), 6);
    let saved = log.batches().get(EPOCH).unwrap().unwrap();
    assert_eq!((saved.epoch(), saved.covered, saved.has_data), (EPOCH, covered(0, 0), true));
    assert_eq!(
        (saved.signer, saved.signature, saved.batch_hash),
        ([9; 32].into(), [8; 64], built.batch_hash)
    );
    let bytes = log.batches().bundle_bytes(EPOCH).unwrap().unwrap();
    let checked = Bundle::decode(&bytes).unwrap().check().unwrap();
    assert_eq!(*checked.commitment(), built.commitment());
}

#[test]
fn a_batch_of_a_log_that_has_grown_fails() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    let built = build(&log, covered(0, 0));
    Message::deliver(60).append_to(&mut log).unwrap();
    let bundle = built.bundle().unwrap();
    assert_eq!(log.seal(&bundle, covered(0, 0), [9; 32].into(), [8; 64]).unwrap_err().code(), 7231);
    assert_eq!((log.sealed_through(), batches(&dir).list().unwrap()), (None, vec![]));
    Message::deliver(61).append_to(&mut log).unwrap();
}

#[test]
fn the_same_batch_again_is_ok_and_another_one_fails() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    let built = seal(&mut log, covered(0, 0));
    let bundle = built.bundle().unwrap();
    log.seal(&bundle, covered(0, 0), [9; 32].into(), [8; 64]).unwrap();
    let other = log.build(covered(0, 0), Slot(1), Slot(3)).unwrap();
    let error = log.seal(&other.bundle().unwrap(), covered(0, 0), [9; 32].into(), [8; 64]).unwrap_err();
    assert_eq!(error.code(), 7230);
    assert_eq!(batches(&dir).get(EPOCH).unwrap().unwrap().batch_hash, built.batch_hash);
}

#[test]
fn a_batch_that_reaches_into_closed_epochs_fails() {
    let (_temp, dir) = folder_with(&[day(0), day(1)].concat());
    let mut log = open(&dir);
    seal(&mut log, covered(0, 0));
    let both = build(&log, covered(0, 1));
    let error = log.seal(&both.bundle().unwrap(), covered(0, 1), [9; 32].into(), [8; 64]).unwrap_err();
    assert_eq!(error.code(), 7220);
    seal(&mut log, covered(1, 1));
    assert_eq!(log.sealed_through(), Some(Epoch(EPOCH.0 + 1)));
}

#[test]
fn a_batch_of_another_agent_fails() {
    let (_temp, dir) = folder_with(&[]);
    let mut log = open(&dir);
    let other = Builder::new(AgentId([1; 32]), covered(0, 0), Slot(1), Slot(2)).unwrap().finish().unwrap();
    let error = log.seal(&other.bundle().unwrap(), covered(0, 0), [9; 32].into(), [8; 64]).unwrap_err();
    assert_eq!(error.code(), 7234);
}

#[test]
fn an_epoch_without_messages_can_be_sealed_ok() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let built = seal(&mut log, covered(0, 3));
    assert_eq!((built.batch.log_len, built.batch.log_merkle_root), (0, [0; 32]));
    drop(log);
    assert_eq!(open(&dir).sealed_through(), Some(Epoch(EPOCH.0 + 3)));
}

#[test]
fn a_pruned_batch_keeps_its_epoch_closed_and_comes_back_from_the_log() {
    let (_temp, dir) = folder_with(&[day(0), day(1)].concat());
    let mut log = open(&dir);
    let first = seal(&mut log, covered(0, 0));
    seal(&mut log, covered(1, 1));
    assert!(batches(&dir).prune(EPOCH).unwrap());
    assert!(!batches(&dir).prune(EPOCH).unwrap());
    assert_eq!(batches(&dir).bundle_bytes(EPOCH).unwrap(), None);
    let list = batches(&dir).list().unwrap();
    assert_eq!(list.iter().map(|saved| saved.has_data).collect::<Vec<_>>(), [false, true]);
    drop(log);
    let mut log = open(&dir);
    assert_eq!(Message::deliver(70).append_to(&mut log).unwrap_err().code(), 7220);
    assert_eq!(seal(&mut log, covered(0, 0)), first);
    assert!(log.batches().bundle_bytes(EPOCH).unwrap().is_some());
}

#[test]
fn data_without_a_signature_is_a_draft_and_closes_nothing() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    seal(&mut log, covered(0, 0));
    drop(log);
    // A crash between the two files.
    fs::remove_file(dir.join("batches").join(format!("{}.sig", EPOCH.0))).unwrap();
    let mut log = open(&dir);
    assert_eq!((log.sealed_through(), log.batches().bundle_bytes(EPOCH).unwrap()), (None, None));
    Message::deliver(80).append_to(&mut log).unwrap();
    assert!(!log.batches().prune(EPOCH).unwrap());
    seal(&mut log, covered(0, 0));
    assert!(log.batches().bundle_bytes(EPOCH).unwrap().is_some());
}

#[test]
fn saved_data_and_signatures_that_were_changed_fail() {
    let (_temp, dir) = folder_with(&day(0));
    seal(&mut open(&dir), covered(0, 0));
    let data = batches(&dir).data_path(EPOCH);
    let whole = fs::read(&data).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&data, &changed).unwrap();
        let error = batches(&dir).bundle_bytes(EPOCH).unwrap_err();
        assert!(matches!(error.code(), 7233 | 7234), "byte {at}: {error}");
    }
    let signature = dir.join("batches").join(format!("{}.sig", EPOCH.0));
    let whole = fs::read(&signature).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&signature, &changed).unwrap();
        let error = batches(&dir).get(EPOCH).unwrap_err();
        assert!(matches!(error.code(), 7203 | 7212), "byte {at}: {error}");
    }
}
