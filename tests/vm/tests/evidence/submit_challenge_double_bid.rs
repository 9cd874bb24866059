//! submit_challenge with two bids that contradict each other.

use crate::common::{
    BID, BidProof, DOUBLE_BID, Filing, LogProof, Message, SELECTION, Scene, double_bid_bytes,
    double_bid_entry, evidence_hash, expected, only_event,
};
use zx1_chain::instructions::challenge::EvidenceSource;
use zx1_interface::constants::CHALLENGE_STAKE;
use zx1_interface::events::ChallengeSubmitted;
use zx1_interface::{Error, ids};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::merkle::Proof;
use zx1_vm_tests::Batch;

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
fn two_values_of_one_bid_are_challenged_ok() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(-6)]);
    let [a, b] = pair(&batch);
    let filing = scene.double_bid(&a, &b);
    let before = scene.money(&filing);
    let receipt = scene.file(&filing);
    let account = scene.challenge(&filing);
    assert_eq!(expected(&account), [0; 0], "nothing can answer it");
    assert_eq!((account.ground, account.value_known, account.expected_len), (DOUBLE_BID, 1, 0));
    assert_eq!(account.entry_hash, double_bid_entry(&a, &b));
    assert_eq!(account.evidence_hash, evidence_hash(2, &double_bid_entry(&a, &b), false));
    assert_eq!(account.submitted_slot, scene.world.slot());
    assert_eq!(scene.stake().open_challenges, 1);
    assert_eq!(scene.money(&filing), [before[0] - CHALLENGE_STAKE, before[1], before[2], CHALLENGE_STAKE]);
    let event = ChallengeSubmitted::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.ground, event.sequence, event.evidence_hash), (DOUBLE_BID, 0, account.evidence_hash));
}

#[test]
fn the_same_pair_swapped_is_the_same_challenge() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, b] = pair(&batch);
    let (one, other) = (scene.double_bid(&a, &b), scene.double_bid(&b, &a));
    assert_eq!(one.challenge(), other.challenge());
    // Whichever comes first is accepted, and then the other is not.
    for (first, second) in [(&one, &other), (&other, &one)] {
        let mut scene = scene.clone();
        scene.file(first);
        assert_eq!(scene.challenge(first).entry_hash, double_bid_entry(&a, &b));
        scene.refuse(second, Error::ChallengeExists);
        scene.refuse(first, Error::ChallengeExists);
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
    ];
    for record in cases {
        let (mut scene, batch) = two_faced(|_| vec![record]);
        let [a, b] = pair(&batch);
        for (one, two) in [(&a, &b), (&b, &a)] {
            let filing = scene.double_bid(one, two);
            scene.refuse(&filing, Error::NotDoubleBid);
        }
    }
}

#[test]
fn one_bid_twice_fails() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, _] = pair(&batch);
    let filing = scene.double_bid(&a, &a);
    scene.refuse(&filing, Error::NotDoubleBid);
}

#[test]
fn three_values_of_one_bid_make_three_challenges() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6), m.bid(7)]);
    let bids = [0, 1, 2].map(|n| BidProof::of(&batch, n));
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        let filing = scene.double_bid(&bids[a], &bids[b]);
        scene.file(&filing);
    }
    assert_eq!(scene.stake().open_challenges, 3);
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
        scene.refuse(&filing, error);
    }
}

#[test]
fn arrays_without_records_prove_nothing() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    scene.submit(std::slice::from_ref(&message), &[]);
    let bid = |value| BidProof { place: Proof { index: 0, path: vec![] }, record: message.bid(value) };
    let filing = scene.double_bid(&bid(1), &bid(2));
    scene.refuse(&filing, Error::EmptyTree);
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
            scene.refuse(&filing, Error::MalformedRecord);
        }
    }
}

#[test]
fn evidence_that_ends_early_or_late_fails() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, b] = pair(&batch);
    let filing = scene.double_bid(&a, &b);
    let good = double_bid_bytes(&a, &b);
    for bytes in [good[..good.len() - 1].to_vec(), [&good[..], &[0]].concat(), good[..60].to_vec(), vec![2]] {
        let wrong = Filing { source: EvidenceSource::Inline(bytes), ..filing.clone() };
        scene.refuse(&wrong, Error::MalformedEvidence);
    }
}

#[test]
fn two_bids_on_any_other_ground_fail() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let [a, b] = pair(&batch);
    let hash = evidence_hash(2, &double_bid_entry(&a, &b), false);
    let source = EvidenceSource::Inline(double_bid_bytes(&a, &b));
    let who = scene.challenger.clone();
    for ground in [BID, SELECTION, 3, 4] {
        let filing = scene.filing_by(&who, ground, hash, source.clone());
        scene.refuse(&filing, Error::NoGround);
    }
}

#[test]
fn a_log_entry_on_this_ground_fails() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(6)]);
    let filing = scene.inline(&LogProof::of(&batch, 0), DOUBLE_BID);
    scene.refuse(&filing, Error::NoGround);
}

#[test]
fn two_bids_out_of_a_draft_are_challenged_ok() {
    let (mut scene, batch) = two_faced(|m| vec![m.bid(i128::MIN)]);
    let [a, b] = pair(&batch);
    let who = scene.challenger.clone();
    let (draft, _) = scene.draft(&who, 3, &double_bid_bytes(&b, &a));
    let filing = Filing { source: EvidenceSource::Draft(draft), ..scene.double_bid(&a, &b) };
    scene.file(&filing);
    assert_eq!(scene.challenge(&filing).entry_hash, double_bid_entry(&a, &b));
    assert!(scene.world.account(&draft).is_none(), "the draft is closed");
}
