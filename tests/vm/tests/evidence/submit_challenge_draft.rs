//! submit_challenge with evidence out of a draft, as deep as trees go.

use crate::common::{
    self, APPEND_BYTES, BID, BidProof, Filing, LogProof, Message, Scene, VERIFIER, bid_payload,
    double_bid_bytes, expected, keccak, sparse,
};
use zx1_chain::instructions::challenge::{EvidenceSource, answer_challenge, append_evidence, begin_evidence};
use zx1_chain::pda;
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft};
use zx1_interface::constants::{CHALLENGE_STAKE, MAX_TREE_LEN, MIN_STAKE};
use zx1_interface::instruction::{AnswerChallenge, SubmitBatch};
use zx1_interface::{Error, Layout};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::merkle::Proof;
use zx1_vm_tests::{MAX_TRANSACTION, transaction_size};

const DEPTH: u32 = 20;

/// A batch of 2^20 log entries and 2^20 records, with a message's entry and a record among them.
struct Deep {
    scene: Scene,
    proof: LogProof,
    answer: Proof,
}

fn deep(message: &Message, record: &[u8], mut scene: Scene) -> Deep {
    let (log_root, place) = sparse(DEPTH, 0b1011_0010_1100_0111_0101, &keccak(&[&message.entry()]));
    let (arrays_root, answer) = sparse(DEPTH, 0b0100_1110_0001_1011_1110, &keccak(&[record]));
    scene.submit_raw(SubmitBatch {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        log_merkle_root: log_root,
        log_len: MAX_TREE_LEN,
        batch_hash: [1; 32],
        arrays_root,
        arrays_len: MAX_TREE_LEN,
    });
    let proof = LogProof { place, entry: message.entry(), shown: None };
    Deep { scene, proof, answer }
}

fn out_of_draft(scene: &mut Scene, proof: &LogProof, ground: u8, nonce: u64) -> (Filing, usize) {
    let who = scene.challenger.clone();
    let (draft, largest) = scene.draft(&who, nonce, &proof.bytes());
    (scene.filing_by(&who, ground, proof.hash(), EvidenceSource::Draft(draft)), largest)
}

#[test]
fn a_lie_in_a_log_of_a_million_entries_is_slashed() {
    let base = Scene::new();
    // A payload of 400 bytes: with the proof, the evidence needs several transactions.
    let payload = [&(-3_i128).to_le_bytes()[..], &[8; 384]].concat();
    let message = Message { payload, ..base.message(MsgType::Counter) };
    let Deep { mut scene, proof, .. } = deep(&message, b"an honest record of something else", base);
    let proof = proof.showing(&message.payload);
    let bytes = proof.bytes();
    assert!(bytes.len() > APPEND_BYTES, "{} bytes go in several transactions", bytes.len());
    // Inline it would not fit.
    let inline = scene.inline(&proof, BID);
    assert!(transaction_size(&[inline.instruction()], &scene.challenger.at()) > MAX_TRANSACTION);

    let lamports = scene.world.lamports(&scene.challenger.at());
    let (filing, largest) = out_of_draft(&mut scene, &proof, BID, 11);
    let before = scene.money(&filing);
    let EvidenceSource::Draft(draft) = filing.source else { panic!("a draft") };
    assert_eq!(scene.world.lamports(&draft), scene.world.rent(EvidenceDraft::SIZE + bytes.len()));
    let submitted = scene.file(&filing);
    assert!(scene.world.account(&draft).is_none(), "the draft is used up");
    let account = scene.challenge(&filing);
    assert_eq!(expected(&account), message.bid(-3));
    assert_eq!((account.value_known, account.entry_hash), (1, proof.entry_hash()));
    // Three transactions before it; what remains spent is the rent of challenge and vault.
    let rent = scene.world.rent(ChallengeAccount::SIZE) + scene.world.rent(165);
    let fees = submitted.fee * (2 + bytes.len().div_ceil(APPEND_BYTES) as u64);
    assert_eq!(lamports - scene.world.lamports(&scene.challenger.at()), rent + fees);

    let resolved = scene.resolve(&filing);
    assert_eq!(scene.challenge(&filing).succeeded, 1);
    let half = MIN_STAKE / 2;
    assert_eq!(scene.money(&filing), [before[0] + half, before[1] + half, 0, 0]);
    println!(
        "depth 20: draft {largest} bytes, submit {} bytes and {} units, resolve {} bytes and {} units",
        submitted.size, submitted.units, resolved.size, resolved.units
    );
    assert!(largest.max(submitted.size).max(resolved.size) <= MAX_TRANSACTION);
    assert!(submitted.units < 200_000, "{} units need no compute budget instruction", submitted.units);
}

#[test]
fn a_false_alarm_in_arrays_of_a_million_records_is_answered() {
    let base = Scene::new();
    let message = base.message(MsgType::NotarizeAssign);
    let Deep { mut scene, proof, answer } = deep(&message, &message.verifier(), base);
    let (filing, _) = out_of_draft(&mut scene, &proof, VERIFIER, 12);
    let before = scene.money(&filing);
    scene.file(&filing);
    let arguments = AnswerChallenge {
        leaf_index: answer.index,
        merkle_proof: answer.path,
        bid_value: 0,
        attestation: [0; 32],
    };
    assert_eq!(arguments.merkle_proof.len(), 20);
    let owner = scene.owner.clone();
    let instruction = answer_challenge(owner.at(), filing.challenge(), filing.addresses.batch(), &arguments);
    let answered = scene.world.send_ok(&[instruction], &owner, &[]);
    println!("depth 20: answer {} bytes and {} units", answered.size, answered.units);
    assert!(answered.size <= MAX_TRANSACTION);
    assert!(answered.units < 200_000, "{} units need no compute budget instruction", answered.units);
    scene.resolve(&filing);
    let after = [before[0] - CHALLENGE_STAKE, before[1] + CHALLENGE_STAKE, before[2], 0];
    assert_eq!(scene.money(&filing), after);
    assert_eq!(scene.challenge(&filing).succeeded, 0);
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
    scene.submit_raw(SubmitBatch {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        log_merkle_root: [0; 32],
        log_len: 0,
        batch_hash: [1; 32],
        arrays_root,
        arrays_len: MAX_TREE_LEN,
    });
    let proven = |n: usize| BidProof {
        place: Proof { index: pair * 2 + n as u32, path: [&[leaves[1 - n]][..], &above.path].concat() },
        record: records[n].clone(),
    };
    let (a, b) = (proven(0), proven(1));
    let (who, bytes) = (scene.challenger.clone(), double_bid_bytes(&a, &b));
    assert_eq!(bytes.len(), 1 + 2 * (73 + 5 + 20 * 32));
    let (draft, largest) = scene.draft(&who, 1, &bytes);
    let filing = Filing { source: EvidenceSource::Draft(draft), ..scene.double_bid(&a, &b) };
    let before = scene.money(&filing);
    let receipt = scene.file(&filing);
    println!("double bid at depth 20: {} units, {} bytes", receipt.units, receipt.size.max(largest));
    assert!(receipt.units < 200_000);
    scene.resolve(&filing);
    let half = MIN_STAKE / 2;
    assert_eq!(scene.money(&filing), [before[0] + half, before[1] + half, 0, 0]);
}

#[test]
fn a_wrong_hash_anywhere_in_a_deep_proof_fails() {
    let base = Scene::new();
    let message = base.message(MsgType::Propose);
    let Deep { mut scene, proof, .. } = deep(&message, b"record", base);
    for level in [0, 10, 19] {
        let mut wrong = proof.clone();
        wrong.place.path[level][0] ^= 0x80;
        let (filing, _) = out_of_draft(&mut scene, &wrong, BID, level as u64);
        scene.refuse(&filing, Error::ProofMismatch);
    }
    let mut long = proof.clone();
    long.place.path.push([0; 32]);
    let mut short = proof;
    short.place.path.pop();
    for (nonce, wrong) in [(30, long), (31, short)] {
        let (filing, _) = out_of_draft(&mut scene, &wrong, BID, nonce);
        scene.refuse(&filing, Error::WrongProofLength);
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
    let proof = LogProof::of(&batch, 0).showing(&message.payload);
    assert_eq!(proof.bytes().len(), 8_192);
    let (filing, _) = out_of_draft(&mut scene, &proof, BID, 1);
    let receipt = scene.file(&filing);
    assert_eq!(expected(&scene.challenge(&filing)), message.bid(42));
    assert!(receipt.units < 200_000, "{} units", receipt.units);
}

#[test]
fn the_same_evidence_inline_and_in_a_draft_is_the_same_challenge() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(&[message], &[]);
    let proof = LogProof::of(&batch, 0);
    let (drafted, _) = out_of_draft(&mut scene, &proof, BID, 1);
    let inline = scene.inline(&proof, BID);
    assert_eq!(drafted.challenge(), inline.challenge());
    scene.file(&inline);
    scene.refuse(&drafted, Error::ChallengeExists);
}

fn small() -> (Scene, LogProof) {
    let mut scene = Scene::new();
    let message = Message { payload: bid_payload(1), ..scene.message(MsgType::Propose) };
    let batch = scene.submit(&[message], &[]);
    (scene, LogProof::of(&batch, 0))
}

#[test]
fn a_draft_that_is_not_complete_fails() {
    let (mut scene, proof) = small();
    let (who, bytes) = (scene.challenger.clone(), proof.bytes());
    let len = u32::try_from(bytes.len()).unwrap();
    let draft = pda::evidence_draft(&who.at(), 1);
    let filing = scene.filing_by(&who, BID, proof.hash(), EvidenceSource::Draft(draft));
    scene.world.send_ok(&[begin_evidence(who.at(), 1, len)], &who, &[]);
    scene.refuse(&filing, Error::DraftIncomplete);
    let (most, last) = bytes.split_at(bytes.len() - 1);
    scene.world.send_ok(&[append_evidence(who.at(), 1, 0, most.to_vec())], &who, &[]);
    scene.refuse(&filing, Error::DraftIncomplete);
    scene.world.send_ok(&[append_evidence(who.at(), 1, len - 1, last.to_vec())], &who, &[]);
    scene.file(&filing);
}

#[test]
fn a_draft_longer_than_the_evidence_fails() {
    let (mut scene, proof) = small();
    let who = scene.challenger.clone();
    let (draft, _) = scene.draft(&who, 1, &[proof.bytes(), vec![0]].concat());
    let filing = scene.filing_by(&who, BID, proof.hash(), EvidenceSource::Draft(draft));
    scene.refuse(&filing, Error::MalformedEvidence);
}

#[test]
fn somebody_elses_draft_fails() {
    let (mut scene, proof) = small();
    let other = scene.party();
    let (draft, _) = scene.draft(&other, 1, &proof.bytes());
    let who = scene.challenger.clone();
    let filing = scene.filing_by(&who, BID, proof.hash(), EvidenceSource::Draft(draft));
    scene.refuse(&filing, Error::NotDraftOwner);
    // Who wrote it can use it.
    scene.challenger = other.clone();
    let filing = scene.filing_by(&other, BID, proof.hash(), EvidenceSource::Draft(draft));
    scene.file(&filing);
}

#[test]
fn a_refused_challenge_leaves_the_draft_as_it_is() {
    let (mut scene, proof) = small();
    let (filing, _) = out_of_draft(&mut scene, &proof, VERIFIER, 1);
    scene.refuse(&filing, Error::NoGround);
    let EvidenceSource::Draft(draft) = filing.source else { panic!("a draft") };
    let kept: EvidenceDraft = scene.world.read(&draft);
    assert_eq!(kept.written, kept.len);
    let who = scene.challenger.clone();
    let filing = scene.filing_by(&who, BID, proof.hash(), filing.source);
    scene.file(&filing);
    assert_eq!(scene.challenge(&filing).batch, scene.batch().to_bytes());
    assert_eq!(common::size::<ChallengeAccount>(), scene.world.data(&filing.challenge()).len());
}
