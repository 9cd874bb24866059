//! The whole way of evidence out of trees as deep as they go, and drafts as long as they go.

use crate::common::{
    BID, BidProof, CHALLENGE_STAKE, LOST_TO_ANSWERER, LOST_TO_STAKE, LogProof, MIN_STAKE, Message,
    RANK_DEPOSIT, Scene, VERIFIER, double_bid_bytes, expected, keccak, sparse,
};
use zx1_interface::Error;
use zx1_interface::Layout;
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft};
use zx1_interface::constants::MAX_TREE_LEN;
use zx1_interface::instruction::AnswerChallenge;
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Hash;
use zx1_protocol::merkle::Proof;
use zx1_vm_tests::{APPEND_BYTES, Batch, Books, MAX_TRANSACTION};

const DEPTH: u32 = 20;
/// An answer of more hashes does not fit a transaction without a lookup table.
const ANSWERED_DEPTH: u32 = 16;

/// Lands a batch of these roots, of 2^depth leaves each; zeros are of an empty tree.
fn land(scene: &mut Scene, log: (Hash, u32), arrays: (Hash, u32)) {
    let message = scene.world.message_of(&scene.agent, &Batch::empty(scene.epoch));
    scene.submit_raw(&BatchMessage {
        log_merkle_root: log.0,
        log_len: log.1,
        arrays_root: arrays.0,
        arrays_len: arrays.1,
        ..message
    });
}

/// A batch of 2^20 log entries and 2^16 records, with a message's entry and a record among them.
fn deep(message: &Message, record: &[u8]) -> (Scene, LogProof, Proof) {
    let mut scene = Scene::new();
    let (log_root, place) = sparse(DEPTH, 0b1011_0010_1100_0111_0101, &keccak(&[&message.entry()]));
    let (arrays_root, answer) = sparse(ANSWERED_DEPTH, 0b0100_1110_0001_1011, &keccak(&[record]));
    land(&mut scene, (log_root, MAX_TREE_LEN), (arrays_root, 1 << ANSWERED_DEPTH));
    (scene, LogProof { place, entry: message.entry(), shown: None }, answer)
}

#[test]
fn a_lie_in_a_log_of_a_million_entries_is_slashed() {
    // A payload of 400 bytes: with the proof, the evidence needs several transactions.
    let payload = [&(-3_i128).to_le_bytes()[..], &[8; 384]].concat();
    let message = Message { payload, ..Scene::new().message(MsgType::Counter) };
    let (mut scene, proof, _) = deep(&message, b"an honest record of something else");
    let filing = scene.logged(&proof.showing(&message.payload), BID);
    let bytes = filing.written().to_vec();
    assert!(bytes.len() > APPEND_BYTES, "{} bytes go in several transactions", bytes.len());

    let (before, lamports) = (scene.money(&filing), scene.world.lamports(&scene.challenger.at()));
    let begun = scene.world.begin(&filing).unwrap();
    let largest = scene.world.append(&filing.finder, filing.nonce, &bytes);
    let draft_rent = scene.world.rent(EvidenceDraft::SIZE + bytes.len());
    assert_eq!(scene.world.lamports(&filing.draft()), draft_rent + RANK_DEPOSIT);
    let sealed = scene.world.seal(&filing).unwrap();
    let submitted = scene.world.submit_challenge(&filing).unwrap();
    let account = scene.challenge(&filing);
    assert_eq!(expected(&account), message.bid(-3));
    assert_eq!((account.value_known, account.entry_hash), (1, proof.entry_hash()));
    // The draft has served: rent and deposit come back at once.
    let canceled = scene.world.cancel_evidence(&filing).unwrap();
    assert!(scene.world.account(&filing.draft()).is_none());
    let fees = begun.fee * (4 + bytes.len().div_ceil(APPEND_BYTES) as u64);
    let rent = scene.world.rent(ChallengeAccount::SIZE);
    assert_eq!(lamports - scene.world.lamports(&scene.challenger.at()), rent + fees);

    let resolved = scene.resolve(&filing);
    let (pot, reward) = (MIN_STAKE * 40 / 100, MIN_STAKE * 20 / 100);
    let after = (before.0 + reward, before.1 + MIN_STAKE - pot + pot - reward, Books::default());
    assert_eq!(scene.money(&filing), after);
    for sent in [begun, sealed, submitted, canceled, resolved] {
        assert!(sent.size.max(largest) <= MAX_TRANSACTION);
        assert!(sent.units < 30_000, "{} units", sent.units);
    }
}

#[test]
fn a_false_alarm_in_deep_arrays_is_answered() {
    let message = Scene::new().message(MsgType::NotarizeAssign);
    let (mut scene, proof, answer) = deep(&message, &message.verifier());
    let filing = scene.logged(&proof, VERIFIER);
    let before = scene.money(&filing);
    scene.file(&filing);
    let arguments = AnswerChallenge {
        leaf_index: answer.index,
        merkle_proof: answer.path,
        bid_value: 0,
        attestation: [0; 32],
    };
    let owner = scene.owner.clone();
    let answered = scene.answer(&owner, &filing, &arguments);
    assert!(answered.size <= MAX_TRANSACTION && answered.units < 30_000, "{} units", answered.units);
    let treasury = CHALLENGE_STAKE - LOST_TO_STAKE - LOST_TO_ANSWERER;
    let books = Books {
        stake: MIN_STAKE + LOST_TO_STAKE,
        shard: MIN_STAKE + LOST_TO_STAKE,
        vault: MIN_STAKE + LOST_TO_STAKE,
        ..Books::default()
    };
    assert_eq!(scene.money(&filing), (before.0 - CHALLENGE_STAKE, before.1 + treasury, books));
}

#[test]
fn a_double_bid_among_a_million_records_is_slashed() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    // The two stand side by side.
    let records = [message.bid(1), message.bid(-1)];
    let leaves = records.each_ref().map(|record| keccak(&[record]));
    let pair = 0b101_1100_0001_1010_0110;
    let (arrays_root, above) = sparse(DEPTH - 1, pair, &keccak(&[&leaves[0], &leaves[1]]));
    land(&mut scene, ([0; 32], 0), (arrays_root, MAX_TREE_LEN));
    let proven = |n: usize| BidProof {
        place: Proof { index: pair * 2 + n as u32, path: [&[leaves[1 - n]][..], &above.path].concat() },
        record: records[n].clone(),
    };
    let (a, b) = (proven(0), proven(1));
    assert_eq!(double_bid_bytes(&a, &b).len(), 1 + 2 * (105 + 5 + 20 * 32));
    let filing = scene.double_bid(&a, &b);
    let before = scene.money(&filing);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let sealed = scene.world.seal(&filing).unwrap();
    assert!(sealed.units < 30_000, "{} units", sealed.units);
    scene.world.submit_challenge(&filing).unwrap();
    scene.world.resolve(&filing.challenge()).unwrap();
    scene.world.assert_books();
    let reward = MIN_STAKE / 5;
    assert_eq!(scene.money(&filing), (before.0 + reward, before.1 + MIN_STAKE - reward, Books::default()));
}

#[test]
fn a_wrong_hash_anywhere_in_a_deep_proof_fails() {
    let message = Scene::new().message(MsgType::Propose);
    let (mut scene, proof, _) = deep(&message, b"record");
    for level in [0, 10, 19] {
        let mut wrong = proof.clone();
        wrong.place.path[level][0] ^= 0x80;
        let filing = scene.logged(&wrong, BID);
        scene.seal_refused(&filing, Error::ProofMismatch);
    }
    let mut long = proof.clone();
    long.place.path.push([0; 32]);
    let mut short = proof;
    short.place.path.pop();
    for wrong in [long, short] {
        let filing = scene.logged(&wrong, BID);
        scene.seal_refused(&filing, Error::WrongProofLength);
    }
}

#[test]
fn the_largest_draft_serves() {
    // An entry with a shown payload so long that the evidence has exactly 8192 bytes.
    let base = Scene::new();
    let overhead = LogProof {
        place: sparse(0, 0, &[0; 32]).1,
        entry: Message { payload: vec![0; 7_000], ..base.message(MsgType::Propose) }.entry(),
        shown: Some(vec![]),
    };
    let payload = [&42_i128.to_le_bytes()[..], &vec![6; 8_192 - overhead.bytes().len() - 16]].concat();
    let message = Message { payload, ..base.message(MsgType::Propose) };
    let mut scene = base;
    let batch = scene.submit(std::slice::from_ref(&message), &[]);
    let filing = scene.logged(&LogProof::of(&batch, 0).showing(&message.payload), BID);
    assert_eq!(filing.written().len(), 8_192);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let receipt = scene.world.seal(&filing).unwrap();
    assert!(receipt.units < 30_000, "{} units", receipt.units);
    scene.world.submit_challenge(&filing).unwrap();
    assert_eq!(expected(&scene.challenge(&filing)), message.bid(42));
}

#[test]
fn a_draft_longer_than_the_evidence_fails() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(&[message], &[]);
    let mut filing = scene.logged(&LogProof::of(&batch, 0), BID);
    let longer = [filing.written(), &[0]].concat();
    filing.shown = zx1_vm_tests::Shown::Bytes(longer);
    scene.seal_refused(&filing, Error::MalformedEvidence);
}
