//! answer_challenge: the right record at the right place, by anyone, in time, once.

use crate::common::{
    BID, BidProof, COUNTERPARTY, FEEDBACK, Filing, LogProof, Message, SELECTION, Scene, VERIFIER,
    bid_payload, expected, only_event, refused, with_account,
};
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use zx1_chain::instructions::challenge::answer_challenge;
use zx1_chain::pda;
use zx1_interface::accounts::ChallengeAccount;
use zx1_interface::events::ChallengeAnswered;
use zx1_interface::instruction::AnswerChallenge;
use zx1_interface::{Error, ids};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::merkle::Proof;
use zx1_vm_tests::Batch;

/// What an answer shows beside the place.
#[derive(Clone, Copy)]
struct Free {
    value: i128,
    attestation: [u8; 32],
}

const NOTHING: Free = Free { value: 0, attestation: [0; 32] };

fn value(value: i128) -> Free {
    Free { value, ..NOTHING }
}

fn answer(scene: &Scene, filing: &Filing, place: &Proof, free: Free) -> Instruction {
    let arguments = AnswerChallenge {
        leaf_index: place.index,
        merkle_proof: place.path.clone(),
        bid_value: free.value,
        attestation: free.attestation,
    };
    answer_challenge(scene.owner.at(), filing.challenge(), filing.addresses.batch(), &arguments)
}

/// A batch that holds all four kinds of records, and the four messages.
struct Honest {
    scene: Scene,
    batch: Batch,
}

const VALUE: i128 = 1_234_567;
const ATTESTATION: [u8; 32] = [0xa7; 32];

/// Entries and records: bid, selection, verifier, feedback, in this order.
fn honest() -> Honest {
    let scene = Scene::new();
    let messages = [
        scene.message(MsgType::Propose),
        scene.message(MsgType::Accept),
        scene.message(MsgType::NotarizeAssign),
        scene.feedback(),
    ];
    let records = [
        messages[0].bid(VALUE),
        messages[1].selection(),
        messages[2].verifier(),
        messages[3].feedback(&ATTESTATION),
        messages[1].bid(3),
    ];
    let mut scene = scene;
    let batch = scene.submit(&messages, &records);
    Honest { scene, batch }
}

impl Honest {
    /// Challenges the n-th message.
    fn challenge(&mut self, n: u32, ground: u8, shown: Option<&[u8]>) -> Filing {
        let mut proof = LogProof::of(&self.batch, n);
        proof.shown = shown.map(<[u8]>::to_vec);
        let filing = self.scene.inline(&proof, ground);
        self.scene.file(&filing);
        filing
    }

    fn place(&self, record: u32) -> Proof {
        BidProof::of(&self.batch, record).place
    }

    #[track_caller]
    fn refuse(&mut self, filing: &Filing, place: &Proof, free: Free, error: Error) {
        let (instruction, owner) = (answer(&self.scene, filing, place, free), self.scene.owner.clone());
        refused(&mut self.scene.world, &[instruction], &owner, &[], error);
    }

    #[track_caller]
    fn accept(&mut self, filing: &Filing, place: &Proof, free: Free) {
        let (instruction, owner) = (answer(&self.scene, filing, place, free), self.scene.owner.clone());
        self.scene.world.send_ok(&[instruction], &owner, &[]);
        assert_eq!(self.scene.challenge(filing).answered, 1);
    }
}

#[test]
fn the_right_record_answers_ok() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let before = h.scene.challenge(&filing);
    let money = h.scene.money(&filing);
    h.scene.world.advance_slots(1_000);
    let place = h.place(0);
    let (instruction, owner) = (answer(&h.scene, &filing, &place, value(VALUE)), h.scene.owner.clone());
    let snapshot = h.scene.world.snapshot();
    let receipt = h.scene.world.send_ok(&[instruction], &owner, &[]);
    snapshot.assert_only_changed(&h.scene.world, &[filing.challenge(), owner.at()]);

    let slot = h.scene.world.slot();
    let after = ChallengeAccount {
        answered: 1,
        answered_slot: slot,
        answerer: owner.at().to_bytes(),
        event_sequence: 2,
        ..before
    };
    assert_eq!(h.scene.challenge(&filing), after);
    assert_eq!(h.scene.money(&filing), money);
    assert_eq!(h.scene.stake().open_challenges, 1, "open until it is resolved");
    let event = ChallengeAnswered::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = ChallengeAnswered {
        agent_id: h.scene.id(),
        challenge: filing.challenge().to_bytes(),
        answerer: owner.at().to_bytes(),
        leaf_index: place.index,
        sequence: 1,
        account_created_slot: slot - 1_000,
    };
    assert_eq!(event, expected_event);
    // It settles for the agent.
    h.scene.resolve(&filing);
    let resolved = h.scene.challenge(&filing);
    assert_eq!((resolved.resolved, resolved.succeeded), (1, 0));
}

#[test]
fn every_ground_can_be_answered_with_its_record() {
    let mut h = honest();
    let attested = Free { attestation: ATTESTATION, ..NOTHING };
    let cases = [
        (0, BID, 0, value(VALUE)),
        (1, SELECTION, 1, NOTHING),
        (2, VERIFIER, 2, NOTHING),
        (3, FEEDBACK, 3, attested),
        (1, BID, 4, value(3)),
    ];
    for (message, ground, record, free) in cases {
        let filing = h.challenge(message, ground, None);
        let place = h.place(record);
        h.accept(&filing, &place, free);
    }
}

#[test]
fn fields_that_the_evidence_determines_are_not_the_answerers() {
    // Whatever value and attestation come along, a selection and a verifier have none.
    let mut h = honest();
    let noise = Free { value: -1, attestation: [9; 32] };
    for (message, ground) in [(1, SELECTION), (2, VERIFIER)] {
        let filing = h.challenge(message, ground, None);
        let place = h.place(message);
        h.accept(&filing, &place, noise);
    }
    // A shown payload fixes a bid's value: the answerer's is ignored.
    let filing = h.challenge(0, BID, Some(&bid_payload(VALUE)));
    let place = h.place(0);
    h.accept(&filing, &place, value(99));
}

#[test]
fn without_a_shown_payload_the_answerer_supplies_the_value() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let place = h.place(0);
    for wrong in [0, VALUE - 1, -VALUE, i128::MAX] {
        h.refuse(&filing, &place, value(wrong), Error::WrongRecord);
    }
    h.accept(&filing, &place, value(VALUE));
}

#[test]
fn a_batch_with_another_value_than_the_shown_payload_has_no_answer() {
    // The batch says 5, the payload 1 234 567.
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.bid(5)]);
    let mut h = Honest { scene, batch };
    let place = h.place(0);
    let shown = h.challenge(0, BID, Some(&message.payload));
    for free in [5, VALUE, 0] {
        h.refuse(&shown, &place, value(free), Error::WrongRecord);
    }
    // Without the payload the same lie passes: a challenger who wants to dispute the value shows it.
    let bare = h.challenge(0, BID, None);
    h.accept(&bare, &place, value(5));
    h.scene.resolve(&shown);
    assert_eq!(h.scene.challenge(&shown).succeeded, 1);
}

#[test]
fn a_feedbacks_attestation_is_the_answerers() {
    let mut h = honest();
    let filing = h.challenge(3, FEEDBACK, None);
    let place = h.place(3);
    h.refuse(&filing, &place, NOTHING, Error::WrongRecord);
    h.refuse(&filing, &place, Free { attestation: [1; 32], ..NOTHING }, Error::WrongRecord);
    h.accept(&filing, &place, Free { attestation: ATTESTATION, value: 17 });
}

#[test]
fn feedback_without_attestation_is_answered_with_zeros() {
    let mut scene = Scene::new();
    let message = scene.feedback();
    let batch = scene.submit(std::slice::from_ref(&message), &[message.feedback(&[0; 32])]);
    let mut h = Honest { scene, batch };
    let filing = h.challenge(0, FEEDBACK, None);
    let place = h.place(0);
    h.accept(&filing, &place, NOTHING);
}

#[test]
fn feedback_recorded_with_a_better_score_has_no_answer() {
    let mut scene = Scene::new();
    let message = scene.feedback();
    let mut embellished = message.feedback(&[0; 32]);
    // Kind, conversation and sender come before the score.
    assert_eq!(embellished[49].cast_signed(), -73);
    embellished[49] = 100;
    let batch = scene.submit(std::slice::from_ref(&message), &[embellished]);
    let mut h = Honest { scene, batch };
    let filing = h.challenge(0, FEEDBACK, None);
    let place = h.place(0);
    h.refuse(&filing, &place, NOTHING, Error::WrongRecord);
}

#[test]
fn a_wrong_place_fails() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    // Five records: indexes 0 to 2 are padding, the bid is at 3.
    let right = h.place(0);
    assert_eq!((right.index, right.path.len()), (3, 3));
    let at = |index| Proof { index, ..right.clone() };
    for index in [4, 7] {
        h.refuse(&filing, &at(index), value(VALUE), Error::WrongRecord);
    }
    for index in [0, 2, 8, 11, u32::MAX] {
        h.refuse(&filing, &at(index), value(VALUE), Error::IndexOutOfRange);
    }
    let mut tampered = right.clone();
    tampered.path[2][5] ^= 4;
    h.refuse(&filing, &tampered, value(VALUE), Error::WrongRecord);
    for len in [0, 2, 4] {
        let mut path = right.path.clone();
        path.resize(len, [0; 32]);
        h.refuse(&filing, &Proof { path, ..right.clone() }, value(VALUE), Error::WrongProofLength);
    }
    h.accept(&filing, &right, value(VALUE));
}

#[test]
fn another_arrays_record_fails() {
    // The ACCEPT gives a bid and a selection: neither answers for the other.
    let mut h = honest();
    let (bid, selection) = (h.challenge(1, BID, None), h.challenge(1, SELECTION, None));
    let (bid_place, selection_place) = (h.place(4), h.place(1));
    h.refuse(&bid, &selection_place, value(3), Error::WrongRecord);
    h.refuse(&selection, &bid_place, value(3), Error::WrongRecord);
    for n in 0..4 {
        let place = h.place(n);
        h.refuse(&bid, &place, value(3), Error::WrongRecord);
    }
}

#[test]
fn a_record_that_differs_in_one_field_fails() {
    let base = Scene::new();
    let message = base.message(MsgType::Accept);
    let variants = [
        Message { slot: message.slot + 1, ..message.clone() },
        Message { recipient: [0xcd; 32], ..message.clone() },
        Message { conversation: [0xc1; 16], ..message.clone() },
    ];
    for variant in variants {
        let mut scene = base.clone();
        let batch = scene.submit(std::slice::from_ref(&message), &[variant.selection(), variant.bid(VALUE)]);
        let mut h = Honest { scene, batch };
        let (selection, bid) = (h.challenge(0, SELECTION, None), h.challenge(0, BID, None));
        let (first, second) = (h.place(0), h.place(1));
        h.refuse(&selection, &first, NOTHING, Error::WrongRecord);
        h.refuse(&bid, &second, value(VALUE), Error::WrongRecord);
    }
}

#[test]
fn arrays_without_records_answer_nothing() {
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let mut h = Honest { scene, batch };
    let filing = h.challenge(0, BID, None);
    h.refuse(&filing, &Proof { index: 0, path: vec![] }, value(VALUE), Error::EmptyTree);
}

#[test]
fn a_single_record_takes_an_empty_proof() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.bid(VALUE)]);
    let mut h = Honest { scene, batch };
    let filing = h.challenge(0, BID, None);
    h.refuse(&filing, &Proof { index: 0, path: vec![[0; 32]] }, value(VALUE), Error::WrongProofLength);
    h.refuse(&filing, &Proof { index: 1, path: vec![] }, value(VALUE), Error::IndexOutOfRange);
    h.accept(&filing, &Proof { index: 0, path: vec![] }, value(VALUE));
}

#[test]
fn an_envelopes_challenge_is_answered_by_its_record() {
    let mut h = honest();
    let (message, owner) = (h.scene.message(MsgType::Propose), h.scene.owner.clone());
    h.scene.record(&owner, &message, BID, 1);
    let filing = h.scene.enveloped(&message, BID, 1);
    h.scene.file(&filing);
    let (right, other) = (h.place(0), h.place(4));
    h.refuse(&filing, &other, value(3), Error::WrongRecord);
    h.accept(&filing, &right, NOTHING);
}

#[test]
fn anyone_may_answer() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    h.scene.owner = h.scene.stranger();
    let place = h.place(0);
    h.accept(&filing, &place, value(VALUE));
    assert_eq!(h.scene.challenge(&filing).answerer, h.scene.owner.at().to_bytes());
    // Even the challenger, who loses the stake by it.
    let mut h = honest();
    let filing = h.challenge(1, SELECTION, None);
    h.scene.owner = h.scene.challenger.clone();
    let place = h.place(1);
    h.accept(&filing, &place, NOTHING);
}

#[test]
fn an_answer_without_its_signature_fails() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let mut unsigned = answer(&h.scene, &filing, &h.place(0), value(VALUE));
    unsigned.accounts[0].is_signer = false;
    let payer = h.scene.stranger();
    let failure = h.scene.world.send_refused(&[unsigned], &payer, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
}

#[test]
fn the_window_ends_after_its_last_slot() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let submitted = h.scene.challenge(&filing).submitted_slot;
    let place = h.place(0);
    h.scene.world.warp_to_slot(submitted + 432_001);
    h.refuse(&filing, &place, value(VALUE), Error::AnswerTooLate);
    h.scene.world.warp_to_slot(submitted + 432_000);
    h.accept(&filing, &place, value(VALUE));
}

#[test]
fn the_window_is_the_challenges_own_not_the_batchs() {
    let mut h = honest();
    // Challenged in the last slot of the batch's window: as long again for the answer.
    let submitted = h.scene.batch_account().submitted_slot;
    h.scene.world.warp_to_slot(submitted + 432_000);
    let filing = h.challenge(0, BID, None);
    h.scene.world.warp_to_slot(submitted + 864_000);
    let place = h.place(0);
    h.accept(&filing, &place, value(VALUE));
}

#[test]
fn a_second_answer_fails() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let place = h.place(0);
    h.accept(&filing, &place, value(VALUE));
    h.refuse(&filing, &place, value(VALUE), Error::AlreadyAnswered);
    h.scene.owner = h.scene.stranger();
    h.refuse(&filing, &place, value(VALUE), Error::AlreadyAnswered);
}

#[test]
fn a_resolved_challenge_takes_no_answer() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    h.scene.resolve(&filing);
    let place = h.place(0);
    h.refuse(&filing, &place, value(VALUE), Error::AlreadyResolved);
}

#[test]
fn a_double_bid_has_no_answer() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let records = [message.bid(1), message.bid(2)];
    let batch = scene.submit(std::slice::from_ref(&message), &records);
    let mut h = Honest { scene, batch };
    let (a, b) = (BidProof::of(&h.batch, 0), BidProof::of(&h.batch, 1));
    let filing = h.scene.double_bid(&a, &b);
    h.scene.file(&filing);
    for (place, free) in [(&a.place, 1), (&b.place, 2)] {
        h.refuse(&filing, place, value(free), Error::NoAnswer);
    }
    h.scene.resolve(&filing);
    assert_eq!(h.scene.challenge(&filing).succeeded, 1);
}

#[test]
fn another_batch_than_the_challenged_fails() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let place = h.place(0);
    // A later batch of the same agent with the same record, and another agent's.
    let message = h.scene.message(MsgType::Propose);
    h.scene.world.advance_epochs(1);
    h.scene.epoch += 1;
    h.scene.submit(&[], &[message.bid(VALUE)]);
    let later = h.scene.batch();
    let (other, other_owner) = h.scene.world.living_agent();
    let batch = Batch { epoch: h.scene.epoch, ..h.batch.clone() };
    h.scene.world.submit_batch(&other, &other_owner, &batch).unwrap();
    let theirs = pda::batch(&other.mint, h.scene.epoch);
    let owner = h.scene.owner.clone();
    let right = answer(&h.scene, &filing, &place, value(VALUE));
    let alone = answer(&h.scene, &filing, &Proof { index: 0, path: vec![] }, value(VALUE));
    for (instruction, account, error) in [
        (&alone, later, Error::WrongBatch),
        (&right, theirs, Error::WrongBatch),
        (&right, pda::batch(&other.mint, 1), Error::AccountMissing),
        (&right, pda::stake(&other.mint), Error::WrongAccountOwner),
        (&right, pda::head(&other.mint), Error::WrongAccountType),
    ] {
        let wrong = with_account(instruction.clone(), 2, account);
        refused(&mut h.scene.world, &[wrong], &owner, &[], error);
    }
}

#[test]
fn what_is_no_challenge_cannot_be_answered() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let right = answer(&h.scene, &filing, &h.place(0), value(VALUE));
    let owner = h.scene.owner.clone();
    h.scene.record(&owner, &h.scene.message(MsgType::Propose), BID, 1);
    let record = pda::recorded_envelope(&h.scene.challenger.at(), 1);
    let cases = [
        (record, Error::WrongAccountType),
        (filing.vault(), Error::WrongAccountOwner),
        (pda::challenge_vault(&record), Error::AccountMissing),
    ];
    for (account, error) in cases {
        let wrong = with_account(right.clone(), 1, account);
        refused(&mut h.scene.world, &[wrong], &owner, &[], error);
    }
}

#[test]
fn the_expected_record_is_what_the_answer_shows() {
    let mut h = honest();
    let filing = h.challenge(3, FEEDBACK, None);
    let account = h.scene.challenge(&filing);
    // Kind, conversation, who rated, score, outcome, role, slot, attestation.
    let record = [&[4][..], &[0xfe; 16], &COUNTERPARTY, &[(-73_i8).cast_unsigned(), 2, 1]].concat();
    assert_eq!(expected(&account)[..52], record);
    assert_eq!(expected(&account).len(), 92);
}
