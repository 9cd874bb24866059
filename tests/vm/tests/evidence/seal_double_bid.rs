//! seal_evidence of two bids that contradict each other.

use crate::common::{
    BID, BidProof, DOUBLE_BID, FEEDBACK, LogProof, Message, SELECTION, Scene, VERIFIER, claim32,
    double_bid_bytes, double_bid_entry, expected, only_event, sealed_record,
};
use zx1_interface::events::{ChallengeSubmitted, EvidenceSealed};
use zx1_interface::{Error, ids};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::merkle::Proof;
use zx1_vm_tests::{Batch, Shown};

/// A batch with a bid of value 5, then these records, then a selection.
fn two_faced(others: impl FnOnce(&Message) -> Vec<Vec<u8>>) -> (Scene, Batch) {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let records = [vec![message.bid(5)], others(&message), vec![message.selection()]].concat();
    let batch = scene.submit(&[message], &records);
    (scene, batch)
}

fn pair(batch: &Batch) -> [BidProof; 2] {
    [BidProof::of(batch, 0), BidProof::of(batch, 1)]
}

#[test]
fn two_values_of_one_bid_are_sealed_and_challenged_ok() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(-6)]);
    let [a, b] = pair(&batch);
    let claim = claim32(DOUBLE_BID, true, &scene.message(MsgType::Propose).message32());
    let filing = scene.double_bid(&a, &b);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let receipt = scene.world.seal(&filing).unwrap();
    let draft = scene.draft(&filing);
    assert_eq!(sealed_record(&draft), [0; 0], "nothing can answer it");
    assert_eq!((draft.ground, draft.value_known, draft.expected_len), (5, 1, 0));
    assert_eq!((draft.claim, draft.entry_hash), (claim, double_bid_entry(&a, &b)));
    let event = EvidenceSealed::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.ground, event.claim, event.entry_hash), (5, claim, draft.entry_hash));

    let receipt = scene.world.submit_challenge(&filing).unwrap();
    let account = scene.challenge(&filing);
    assert_eq!(expected(&account), [0; 0]);
    assert_eq!((account.ground, account.value_known, account.expected_len), (5, 1, 0));
    assert_eq!((account.claim, account.entry_hash), (claim, draft.entry_hash));
    assert_eq!(scene.stake().open_challenges, 1);
    let event = ChallengeSubmitted::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.ground, event.sequence, event.claim), (5, 0, claim));
}

#[test]
fn every_pair_of_one_message_is_one_claim() {
    // Three values, six pairs: whichever comes first is the one challenge.
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6), m.bid(7)]);
    let bids = [0, 1, 2].map(|n| BidProof::of(&batch, n));
    let pairs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)];
    let first = scene.double_bid(&bids[1], &bids[0]);
    scene.file(&first);
    assert_eq!(scene.challenge(&first).entry_hash, double_bid_entry(&bids[0], &bids[1]));
    for (a, b) in pairs {
        let again = scene.double_bid(&bids[a], &bids[b]);
        assert_eq!(again.challenge(), first.challenge());
        scene.world.prepare(&again);
        scene.submit_refused(&again, Error::ChallengeExists);
    }
    assert_eq!(scene.stake().open_challenges, 1);
}

#[test]
fn two_honest_counters_in_one_slot_are_no_double_bid() {
    // Conversation, counterparty and slot may repeat: the messages are two.
    let base = Scene::new().message(MsgType::Counter);
    let second = Message { nonce: base.nonce + 1, payload: vec![9; 20], ..base.clone() };
    let (a, b) = (base.bid(5), second.bid(6));
    assert_eq!((&a[..49], &a[65..73]), (&b[..49], &b[65..73]), "they differ in value and message only");
    let mut scene = Scene::new();
    let batch = scene.submit(&[base, second], &[a, b]);
    let [a, b] = pair(&batch);
    for (one, two) in [(&a, &b), (&b, &a)] {
        let filing = scene.double_bid(one, two);
        scene.seal_refused(&filing, Error::NotDoubleBid);
    }
}

#[test]
fn bids_that_do_not_contradict_each_other_fail() {
    let base = Scene::new().message(MsgType::Propose);
    let other = |change: fn(&mut Message)| {
        let mut message = base.clone();
        change(&mut message);
        message.bid(6)
    };
    let cases = [
        base.bid(5),
        other(|m| m.slot += 1),
        other(|m| m.recipient[31] ^= 1),
        other(|m| m.conversation[0] ^= 1),
        other(|m| m.timestamp += 1),
    ];
    for record in cases {
        let (mut scene, batch) = two_faced(|_| vec![record]);
        let [a, b] = pair(&batch);
        for (one, two) in [(&a, &b), (&b, &a)] {
            let filing = scene.double_bid(one, two);
            scene.seal_refused(&filing, Error::NotDoubleBid);
        }
    }
}

#[test]
fn two_values_of_one_message_count_whatever_else_the_records_say() {
    // A liar who bends conversation, counterparty or slot of its second record does not escape.
    let message = Scene::new().message(MsgType::Propose);
    for place in [1, 17, 65] {
        let mut bent = message.bid(6);
        bent[place] ^= 1;
        let (mut scene, batch) = two_faced(|_| vec![bent]);
        let [a, b] = pair(&batch);
        let filing = scene.double_bid(&a, &b);
        scene.file(&filing);
        assert_eq!(scene.challenge(&filing).ground, 5);
    }
}

#[test]
fn one_bid_twice_fails() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, _] = pair(&batch);
    let filing = scene.double_bid(&a, &a);
    scene.seal_refused(&filing, Error::NotDoubleBid);
}

#[test]
fn a_bid_that_is_not_in_the_arrays_fails() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, b] = pair(&batch);
    let invented = scene.message(MsgType::Propose).bid(7);
    let moved =
        |bid: &BidProof, index| BidProof { place: Proof { index, ..bid.place.clone() }, ..bid.clone() };
    // Three records: index 0 is padding, the bids are at 1 and 2.
    assert_eq!((a.place.index, b.place.index), (1, 2));
    let forged = |bid: &BidProof| BidProof { record: invented.clone(), ..bid.clone() };
    let short = |bid: &BidProof| BidProof {
        place: Proof { path: bid.place.path[1..].to_vec(), ..bid.place.clone() },
        ..bid.clone()
    };
    let cases = [
        (forged(&a), b.clone(), Error::ProofMismatch),
        (a.clone(), forged(&b), Error::ProofMismatch),
        (moved(&a, 3), b.clone(), Error::ProofMismatch),
        (a.clone(), moved(&b, 3), Error::ProofMismatch),
        (moved(&a, 0), b.clone(), Error::IndexOutOfRange),
        (a.clone(), moved(&b, 4), Error::IndexOutOfRange),
        (short(&a), b.clone(), Error::WrongProofLength),
        (a, short(&b), Error::WrongProofLength),
    ];
    for (one, two, error) in cases {
        let filing = scene.double_bid(&one, &two);
        scene.seal_refused(&filing, error);
    }
}

#[test]
fn arrays_without_records_prove_nothing() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    scene.submit(std::slice::from_ref(&message), &[]);
    let bid = |value| BidProof { place: Proof { index: 0, path: vec![] }, record: message.bid(value) };
    let filing = scene.double_bid(&bid(1), &bid(2));
    scene.seal_refused(&filing, Error::EmptyTree);
}

#[test]
fn records_of_another_kind_fail() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, b] = pair(&batch);
    for kind in [0, 2, 3, 4, 5] {
        let mut other = b.clone();
        other.record[0] = kind;
        for (one, two) in [(&a, &other), (&other, &a)] {
            let filing = scene.double_bid(one, two);
            scene.seal_refused(&filing, Error::MalformedRecord);
        }
    }
}

#[test]
fn evidence_that_ends_early_or_late_fails() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, b] = pair(&batch);
    let good = double_bid_bytes(&a, &b);
    for bytes in [good[..good.len() - 1].to_vec(), [&good[..], &[0]].concat(), good[..60].to_vec(), vec![2]] {
        let filing = scene.filing(DOUBLE_BID, true, a.message32(), Shown::Bytes(bytes));
        scene.seal_refused(&filing, Error::MalformedEvidence);
    }
}

#[test]
fn two_bids_on_any_other_ground_fail() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, b] = pair(&batch);
    let bytes = double_bid_bytes(&a, &b);
    for ground in [BID, SELECTION, VERIFIER, FEEDBACK] {
        let filing = scene.filing(ground, true, a.message32(), Shown::Bytes(bytes.clone()));
        scene.seal_refused(&filing, Error::NoGround);
    }
}

#[test]
fn a_log_entry_on_this_ground_fails() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let filing = scene.logged(&LogProof::of(&batch, 0), DOUBLE_BID);
    scene.seal_refused(&filing, Error::NoGround);
}
