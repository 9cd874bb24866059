//! Building a batch from the log, saving it, and what is closed afterwards.

use crate::common::{
    AGENT, EPOCH, Message, NETWORK, PEER, after, before, build, contents, covered, folder, folder_with,
    log_file, message, open, opened, seal, seen, sign, try_seal, view,
};
use std::fs;
use std::path::Path;
use zx1_log::{AgentLog, LogReader, Next, SavedBatches, Seen, backup};
use zx1_protocol::batch::BatchMessage;
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

fn batches(dir: &Path) -> SavedBatches {
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
    Message::propose(1, 11).later(1).append_to(&mut log).unwrap();
    assert_eq!(contents(&dir).len(), 6);
    let saved = log.batches().get(EPOCH).unwrap().unwrap();
    assert_eq!((saved.epoch(), saved.covered(), saved.has_data), (EPOCH, covered(0, 0), true));
    assert_eq!((saved.signer, saved.signature), sign(&saved.message));
    assert_eq!(saved.message, built.commitment().message(&NETWORK, EPOCH, &opened()));
    let bytes = log.batches().bundle_bytes(EPOCH).unwrap().unwrap();
    let checked = Bundle::decode(&bytes).unwrap().check().unwrap();
    assert_eq!(*checked.commitment(), built.commitment());
    assert_eq!(
        checked.signed().map(|signed| signed.message),
        Some(saved.message),
        "it is served with its proof"
    );
}

#[test]
fn a_batch_of_a_log_that_has_grown_fails() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    let built = build(&log, covered(0, 0));
    Message::deliver(60).append_to(&mut log).unwrap();
    let seen = before(&log.batches(), covered(0, 0));
    let message = message(&built, covered(0, 0), &seen);
    assert_eq!(try_seal(&mut log, &built, &message, &seen).unwrap_err().code(), 7231);
    assert_eq!((log.sealed_through(), batches(&dir).list().unwrap()), (None, vec![]));
    Message::deliver(61).append_to(&mut log).unwrap();
}

#[test]
fn the_same_batch_again_is_ok_and_another_one_fails() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    let built = seal(&mut log, covered(0, 0));
    let chain = before(&log.batches(), covered(0, 0));
    let signed = message(&built, covered(0, 0), &chain);
    // Whatever the chain shows by now.
    try_seal(&mut log, &built, &signed, &seen([])).unwrap();
    let other = log.build(covered(0, 0), Slot(1), Slot(3)).unwrap();
    let another = message(&other, covered(0, 0), &chain);
    assert_eq!(try_seal(&mut log, &other, &another, &chain).unwrap_err().code(), 7230);
    // Nor on another head, when the first is void.
    let moved = seen([view(-1, [5; 32], 1)]);
    log.adopt(&[5; 32]).unwrap();
    let another = message(&built, covered(0, 0), &moved);
    assert_eq!(try_seal(&mut log, &built, &another, &moved).unwrap_err().code(), 7230);
    assert_eq!(batches(&dir).get(EPOCH).unwrap().unwrap().message, signed);
}

#[test]
fn a_signature_or_a_message_of_something_else_fails() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    let covered = covered(0, 0);
    let built = build(&log, covered);
    let chain = before(&log.batches(), covered);
    let good = message(&built, covered, &chain);
    let bundle = built.bundle().unwrap();
    let (signer, signature) = sign(&good);
    let error = log.seal(&bundle, &good, signer, [8; 64], &chain).unwrap_err();
    assert_eq!(error.code(), 7233, "{error}");
    let error = log.seal(&bundle, &good, [9; 32].into(), signature, &chain).unwrap_err();
    assert_eq!(error.code(), 7233, "{error}");
    for (message, code) in [
        (BatchMessage { network: [1; 32], ..good }, 7244),
        (BatchMessage { previous_digest: [1; 32], ..good }, 7244),
        (BatchMessage { log_len: 9, ..good }, 7244),
        (BatchMessage { epoch: Epoch(EPOCH.0 + 1), ..good }, 7244),
    ] {
        assert_eq!(try_seal(&mut log, &built, &message, &chain).unwrap_err().code(), code, "{message:?}");
    }
    // An epoch that is not over at every node, is too old, or lies before the tenure.
    let late = |current| seen([view(-1, opened(), current), view(-1, opened(), 1)]);
    assert_eq!(try_seal(&mut log, &built, &good, &late(0)).unwrap_err().code(), 7246);
    let old = seen([view(-1, opened(), 4)]);
    assert_eq!(try_seal(&mut log, &built, &good, &old).unwrap_err().code(), 7246);
    let tenure = Seen { tenure_from: Epoch(EPOCH.0 + 1), ..chain.clone() };
    assert_eq!(try_seal(&mut log, &built, &good, &tenure).unwrap_err().code(), 7246);
    assert_eq!((log.sealed_through(), log.batches().list().unwrap()), (None, vec![]));
    try_seal(&mut log, &built, &good, &chain).unwrap();
}

#[test]
fn a_batch_of_another_agent_fails() {
    let (_temp, dir) = folder_with(&[]);
    let mut log = open(&dir);
    let other = Builder::new(AgentId([1; 32]), covered(0, 0), Slot(1), Slot(2)).unwrap().finish().unwrap();
    let seen = before(&log.batches(), covered(0, 0));
    let message = message(&other, covered(0, 0), &seen);
    assert_eq!(try_seal(&mut log, &other, &message, &seen).unwrap_err().code(), 7234);
}

/// Builds, signs and seals on this chain, and says what was signed.
fn seal_on(log: &mut AgentLog, from: u64, to: u64, seen: &Seen) -> Result<BatchMessage, u32> {
    let built = build(log, covered(from, to));
    let message = message(&built, covered(from, to), seen);
    try_seal(log, &built, &message, seen).map(|()| message).map_err(|error| error.code())
}

#[test]
fn a_gap_fails() {
    let (_temp, dir) = folder_with(&[day(0), day(1), day(2)].concat());
    let mut log = open(&dir);
    let chain = seen([view(-1, opened(), 3)]);
    // Deals of the first days would be left out.
    assert_eq!(seal_on(&mut log, 1, 2, &chain), Err(7237));
    // The tenure begins with the second, so the first answers with somebody else's money.
    let tenure = Seen { tenure_from: Epoch(EPOCH.0 + 1), ..chain.clone() };
    assert_eq!(seal_on(&mut log, 0, 2, &tenure), Err(7237));
    seal_on(&mut log, 1, 2, &tenure).unwrap();

    // No batch covers more than 30 epochs, and none of them less than it must.
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    let chain = seen([view(-1, opened(), 31)]);
    assert_eq!(seal_on(&mut log, 0, 30, &chain), Err(7237));
    seal_on(&mut log, 1, 30, &chain).unwrap();
}

#[test]
fn the_same_bytes_come_again_until_they_land_and_nothing_else_is_signed() {
    let (_temp, dir) = folder_with(&[day(0), day(1)].concat());
    let mut log = open(&dir);
    let chain = |current| seen([view(-1, opened(), current)]);
    assert_eq!(log.next_batch(&chain(1)).unwrap(), Next::Sign(view(-1, opened(), 1)));
    let first = seal_on(&mut log, 0, 0, &chain(1)).unwrap();
    for current in 1..=3 {
        assert_eq!(log.next_batch(&chain(current)).unwrap(), Next::Send(EPOCH));
        assert_eq!(seal_on(&mut log, 0, 1, &chain(current.max(2))), Err(7236));
    }
    drop(log);
    let mut log = open(&dir);
    assert_eq!(log.next_batch(&chain(3)).unwrap(), Next::Send(EPOCH));
    // It lands, and the next one follows it.
    let landed = view(0, after(&first), 2);
    assert_eq!(log.next_batch(&seen([landed])).unwrap(), Next::Sign(landed));
    let second = seal_on(&mut log, 1, 1, &seen([landed])).unwrap();
    assert_eq!(second.previous_digest, after(&first));
    assert_eq!(log.next_batch(&seen([landed])).unwrap(), Next::Send(second.epoch));
}

#[test]
fn a_batch_that_grew_too_old_is_void_and_its_epochs_are_covered_by_the_next() {
    let (_temp, dir) = folder_with(&[day(0), day(4)].concat());
    let mut log = open(&dir);
    let chain = |current| seen([view(-1, opened(), current)]);
    let first = seal_on(&mut log, 0, 0, &chain(1)).unwrap();
    assert_eq!(log.next_batch(&chain(3)).unwrap(), Next::Send(EPOCH));
    assert_eq!(log.next_batch(&chain(4)).unwrap(), Next::Sign(view(-1, opened(), 4)));
    // Nothing of that is kept: by a node that is behind it may still land.
    assert_eq!(log.next_batch(&chain(3)).unwrap(), Next::Send(EPOCH));
    let both = seen([view(-1, opened(), 4), view(-1, opened(), 3)]);
    assert_eq!(log.next_batch(&both).unwrap(), Next::Send(EPOCH));
    // Its epoch stays closed, and the next batch must cover it again.
    assert_eq!(Message::deliver(50).append_to(&mut log).unwrap_err().code(), 7220);
    assert_eq!(seal_on(&mut log, 1, 4, &chain(5)), Err(7237));
    let second = seal_on(&mut log, 0, 4, &chain(5)).unwrap();
    assert_eq!(second.previous_digest, first.previous_digest);
    assert_eq!(second.log_len, 10);
    assert_eq!(log.next_batch(&chain(5)).unwrap(), Next::Send(second.epoch));
    let landed = view(4, after(&second), 5);
    assert_eq!(log.next_batch(&seen([landed])).unwrap(), Next::Sign(landed));
    // The first one landed after all, on a cluster whose clock a node had wrong.
    let landed = view(0, after(&first), 5);
    assert_eq!(log.next_batch(&seen([landed])).unwrap(), Next::Sign(landed));
}

#[test]
fn a_head_that_another_log_moved_stops_this_one_and_says_so() {
    let (_temp, dir) = folder_with(&[day(0), day(1), day(2)].concat());
    let mut log = open(&dir);
    // Two machines, one agent: the other one was faster, before this one's first batch or after it.
    let foreign = seen([view(0, [5; 32], 1)]);
    assert_eq!(log.next_batch(&foreign).unwrap_err().code(), 7239);
    assert_eq!(seal_on(&mut log, 0, 0, &foreign), Err(7239));
    seal_on(&mut log, 0, 0, &seen([view(-1, opened(), 1)])).unwrap();
    // Its own batch is void, because the digest is another.
    assert_eq!(log.next_batch(&foreign).unwrap_err().code(), 7239);
    let error = log.next_batch(&foreign).unwrap_err();
    assert!(error.to_string().contains(&EPOCH.0.to_string()), "{error}");
    // It takes messages all the same.
    Message::deliver(90).later(1).append_to(&mut log).unwrap();
    drop(log);
    let mut log = open(&dir);
    assert_eq!(log.next_batch(&foreign).unwrap_err().code(), 7239);
    // A person knows that the other machine is gone.
    log.adopt(&[5; 32]).unwrap();
    drop(log);
    let mut log = open(&dir);
    assert_eq!(log.next_batch(&foreign).unwrap(), Next::Sign(foreign.views[0]));
    let two = seen([view(0, [5; 32], 2)]);
    let next = seal_on(&mut log, 1, 1, &two).unwrap();
    let landed = seen([view(1, after(&next), 3)]);
    assert_eq!(log.next_batch(&landed).unwrap(), Next::Sign(landed.views[0]));
    assert_eq!(log.next_batch(&seen([view(2, [6; 32], 3)])).unwrap_err().code(), 7239);
}

#[test]
fn a_head_of_an_earlier_tenure_is_no_reason_to_stop() {
    let (_temp, dir) = folder_with(&day(1));
    let mut log = open(&dir);
    // The seller's last batch; the buyer's tenure begins behind it.
    let bought = Seen { tenure_from: Epoch(EPOCH.0 + 1), ..seen([view(0, [5; 32], 2)]) };
    assert_eq!(log.next_batch(&bought).unwrap(), Next::Sign(bought.views[0]));
    seal_on(&mut log, 1, 1, &bought).unwrap();
    let another = Seen { views: vec![view(1, [6; 32], 2)], ..bought };
    assert_eq!(log.next_batch(&another).unwrap_err().code(), 7239);
}

#[test]
fn no_node_is_believed_alone_when_another_one_contradicts_it() {
    let (_temp, dir) = folder_with(&[day(0), day(1)].concat());
    let mut log = open(&dir);
    assert_eq!(log.next_batch(&seen([])).unwrap_err().code(), 7243);
    let truth = view(-1, opened(), 1);
    for lie in [view(-1, [5; 32], 1), view(-2, opened(), 1), view(0, opened(), 1)] {
        for views in [[truth, lie], [lie, truth]] {
            assert_eq!(log.next_batch(&seen(views)).unwrap_err().code(), 7238);
            assert_eq!(seal_on(&mut log, 0, 0, &seen(views)), Err(7238));
        }
    }
    let first = seal_on(&mut log, 0, 0, &seen([truth, truth])).unwrap();
    // Sending it again is always safe; while one node has it on chain there is nothing to send or to sign.
    assert_eq!(log.next_batch(&seen([truth, view(0, [5; 32], 1)])).unwrap(), Next::Send(EPOCH));
    let landed = view(0, after(&first), 2);
    assert_eq!(log.next_batch(&seen([truth, landed])).unwrap_err().code(), 7238);
    assert_eq!(log.next_batch(&seen([view(7, after(&first), 8)])).unwrap_err().code(), 7238);
    let second = seal_on(&mut log, 1, 1, &seen([landed])).unwrap();
    // A node that lies behind, or back where the head was opened: no reason to sign anything.
    let behind = view(-1, opened(), 9);
    assert_eq!(log.next_batch(&seen([behind])).unwrap_err().code(), 7238);
    assert_eq!(
        log.next_batch(&seen([view(1, after(&second), 9)])).unwrap(),
        Next::Sign(view(1, after(&second), 9))
    );
}

#[test]
fn a_message_on_a_head_that_was_a_lie_stops_nothing_once_it_is_too_old() {
    let (_temp, dir) = folder_with(&[day(0), day(1)].concat());
    let mut log = open(&dir);
    // Before the first batch any head may be an earlier tenure's.
    let lie = view(-1, [5; 32], 1);
    let deceived = seen([lie]);
    let deceived = Seen { tenure_from: EPOCH, ..deceived };
    seal_on(&mut log, 0, 0, &deceived).unwrap();
    // The truth might be told by a node that is behind, as long as the message could land.
    for current in [1, 3] {
        let told = Seen { tenure_from: EPOCH, ..seen([view(-1, opened(), current)]) };
        assert_eq!(log.next_batch(&told).unwrap_err().code(), 7238, "{current}");
    }
    let truth = view(-1, opened(), 4);
    let told = Seen { tenure_from: EPOCH, ..seen([truth]) };
    assert_eq!(log.next_batch(&told).unwrap(), Next::Sign(truth));
    let first = seal_on(&mut log, 0, 3, &told).unwrap();
    let landed = view(3, after(&first), 5);
    assert_eq!(log.next_batch(&seen([landed])).unwrap(), Next::Sign(landed));
}

#[test]
fn a_copy_of_the_folder_stops_once_the_other_one_has_landed_a_batch() {
    let (temp, dir) = folder_with(&[day(0), day(1)].concat());
    let mut log = open(&dir);
    let first = seal(&mut log, covered(0, 0));
    drop(log);
    let copy = temp.path().join("copy");
    let restored = temp.path().join("restored");
    backup::export(&dir, AGENT, &copy).unwrap();
    backup::import(&copy, &restored, AGENT).unwrap();
    let (mut log, mut twin) = (open(&dir), open(&restored));
    let first =
        log.batches().get(EPOCH).unwrap().filter(|it| it.message.batch_hash == first.batch_hash).unwrap();
    let landed = seen([view(0, after(&first.message), 2)]);
    let second = seal_on(&mut log, 1, 1, &landed).unwrap();
    let moved = seen([view(1, after(&second), 3)]);
    assert_eq!(log.next_batch(&moved).unwrap(), Next::Sign(moved.views[0]));
    assert_eq!(twin.next_batch(&moved).unwrap_err().code(), 7239);
}

#[test]
fn a_batch_that_another_log_sealed_and_a_lost_id_fail() {
    let (_temp, dir) = folder_with(&day(0));
    seal(&mut open(&dir), covered(0, 0));
    let (_other_temp, other) = folder_with(&day(0));
    let name = format!("batches/{}.sig", EPOCH.0);
    fs::copy(dir.join(&name), other.join(&name)).unwrap();
    assert_eq!(AgentLog::open(&other, AGENT).unwrap_err().code(), 7208);
    fs::remove_file(dir.join("id")).unwrap();
    assert_eq!(AgentLog::open(&dir, AGENT).unwrap_err().code(), 7212);
    fs::remove_file(other.join(&name)).unwrap();
    fs::remove_file(other.join("id")).unwrap();
    assert_eq!(AgentLog::open(&other, AGENT).unwrap_err().code(), 7212);
}

#[test]
fn files_of_the_first_edition_fail_by_their_own_number() {
    let (_temp, dir) = folder_with(&day(0));
    let mut log = open(&dir);
    seal(&mut log, covered(0, 0));
    log.adopt(&[1; 32]).unwrap();
    drop(log);
    let signature = dir.join("batches").join(format!("{}.sig", EPOCH.0));
    let files = [log_file(&dir), dir.join("nonces"), dir.join("attestations"), dir.join("id"), signature];
    for path in files {
        let whole = fs::read(&path).unwrap();
        assert_eq!(whole[7], 2, "{}", path.display());
        for (version, code) in [(1, 7207), (3, 7203), (0, 7203)] {
            let mut other = whole.clone();
            other[7] = version;
            fs::write(&path, &other).unwrap();
            let error = AgentLog::open(&dir, AGENT).unwrap_err();
            assert_eq!(error.code(), code, "{}: {error}", path.display());
            assert_eq!(fs::read(&path).unwrap(), other, "it stays as it is");
        }
        fs::write(&path, whole).unwrap();
    }
    open(&dir);
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
