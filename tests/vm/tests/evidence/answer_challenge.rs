//! answer_challenge: the right record at the right place, by anyone, in time, once; paid out at once.

use crate::common::{
    BID, BidProof, CHALLENGE_STAKE, COUNTERPARTY, FEEDBACK, LOST_TO_ANSWERER, LOST_TO_STAKE, LogProof,
    MIN_STAKE, Message, SELECTION, Scene, VERIFIER, bid_payload, expected, further_account, money,
    only_event, refused, with_account,
};
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{ChallengeAccount, StakeLockAccount};
use zx1_interface::events::{ChallengeAnswered, StakeMoved};
use zx1_interface::instruction::AnswerChallenge;
use zx1_interface::{Error, ids};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::merkle::Proof;
use zx1_vm_tests::{Batch, Books, Filing, Key, Receipt, address, events, keypair};

/// Part of a lost challenge stake that goes to the treasury.
const LOST_TO_TREASURY: u64 = CHALLENGE_STAKE - LOST_TO_STAKE - LOST_TO_ANSWERER;

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

fn shows(place: &Proof, free: Free) -> AnswerChallenge {
    AnswerChallenge {
        leaf_index: place.index,
        merkle_proof: place.path.clone(),
        bid_value: free.value,
        attestation: free.attestation,
    }
}

/// An answer of the holder's.
fn answer(scene: &mut Scene, filing: &Filing, place: &Proof, free: Free) -> Instruction {
    let owner = scene.owner.at();
    scene.world.answering(&owner, &filing.challenge(), &shows(place, free))
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
    fn challenge(&mut self, n: u32, ground: Ground, shown: Option<&[u8]>) -> Filing {
        let mut proof = LogProof::of(&self.batch, n);
        proof.shown = shown.map(<[u8]>::to_vec);
        let filing = self.scene.logged(&proof, ground);
        self.scene.file(&filing);
        filing
    }

    fn place(&self, record: u32) -> Proof {
        BidProof::of(&self.batch, record).place
    }

    #[track_caller]
    fn refuse(&mut self, filing: &Filing, place: &Proof, free: Free, error: Error) {
        let (instruction, owner) = (answer(&mut self.scene, filing, place, free), self.scene.owner.clone());
        refused(&mut self.scene.world, &[instruction], &owner, &[], error);
    }

    #[track_caller]
    fn accept(&mut self, filing: &Filing, place: &Proof, free: Free) -> Receipt {
        let owner = self.scene.owner.clone();
        let receipt = self.scene.answer(&owner, filing, &shows(place, free));
        assert_eq!(self.scene.challenge(filing).outcome, 1);
        receipt
    }
}

#[test]
fn the_right_record_answers_and_pays_ok() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let (before, stake) = (h.scene.challenge(&filing), h.scene.stake());
    let money = h.scene.money(&filing);
    let answerers = h.scene.world.usdc_balance(&h.scene.owner.at());
    h.scene.world.advance_slots(1_000);
    let place = h.place(0);
    let (instruction, owner) = (answer(&mut h.scene, &filing, &place, value(VALUE)), h.scene.owner.clone());
    let snapshot = h.scene.world.snapshot();
    let receipt = h.scene.world.send_ok(std::slice::from_ref(&instruction), &owner, &[]);
    let changed = [
        filing.challenge(),
        owner.at(),
        pda::stake(&h.scene.agent.mint, 0),
        pda::shard(h.scene.agent.shard()),
        pda::vault(h.scene.agent.shard()),
        instruction.accounts[money::OF_ANSWER + money::FIRST].pubkey,
        instruction.accounts[money::OF_ANSWER + money::SECOND].pubkey,
    ];
    snapshot.assert_only_changed(&h.scene.world, &changed);
    h.scene.world.assert_books();

    let slot = h.scene.world.slot();
    let after = ChallengeAccount {
        outcome: 1,
        passed: 1,
        settled_slot: slot,
        answerer: owner.at().to_bytes(),
        event_sequence: 2,
        ..before
    };
    assert_eq!(h.scene.challenge(&filing), after);
    // Nothing waits for the window: the agent's money is free at once.
    let settled = StakeLockAccount {
        stake_usdc: MIN_STAKE + LOST_TO_STAKE,
        deposits_usdc: 0,
        open_challenges: 0,
        settled_rank: 1,
        event_sequence: stake.event_sequence + 1,
        ..stake
    };
    assert_eq!(h.scene.stake(), settled);
    let whole = MIN_STAKE + LOST_TO_STAKE;
    let books = Books { stake: whole, shard: whole, vault: whole, ..Books::default() };
    assert_eq!(h.scene.money(&filing), (money.0, money.1 + LOST_TO_TREASURY, books));
    assert_eq!(h.scene.world.usdc_balance(&owner.at()), answerers + LOST_TO_ANSWERER);

    let event = ChallengeAnswered::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = ChallengeAnswered {
        agent_id: h.scene.id(),
        challenge: filing.challenge().to_bytes(),
        answerer: owner.at().to_bytes(),
        leaf_index: place.index,
        to_stake: LOST_TO_STAKE,
        to_answerer: LOST_TO_ANSWERER,
        sequence: 1,
        account_created_slot: slot - 1_000,
    };
    assert_eq!(event, expected_event);
    let moved = StakeMoved::read(&only_event(&receipt, ids::STAKE_LOCK)).unwrap();
    let expected_move = StakeMoved {
        agent_mint: h.scene.id(),
        era: 0,
        from_stake: 0,
        to_stake: LOST_TO_STAKE,
        stake_usdc: whole,
        pot_usdc: 0,
        slashed: 0,
        sequence: stake.event_sequence,
        account_created_slot: stake.created_slot,
    };
    assert_eq!(moved, expected_move);
    // Settled once and for all.
    let resolve = h.scene.world.resolving(&filing.challenge());
    refused(&mut h.scene.world, &[resolve], &owner, &[], Error::AlreadyResolved);
}

#[test]
fn an_answer_while_a_lower_rank_is_open_settles_without_the_order() {
    let mut h = honest();
    let (first, second) = (h.challenge(0, BID, None), h.challenge(1, SELECTION, None));
    let place = h.place(1);
    h.accept(&second, &place, NOTHING);
    assert_eq!((h.scene.challenge(&second).passed, h.scene.stake().open_challenges), (0, 1));
    assert_eq!(h.scene.world.ranks(&h.scene.agent, 0), (0, 2));
    let place = h.place(0);
    h.accept(&first, &place, value(VALUE));
    assert_eq!((h.scene.challenge(&first).passed, h.scene.stake().open_challenges), (1, 0));
    assert_eq!(h.scene.world.ranks(&h.scene.agent, 0), (1, 2));
    h.scene.world.pass_rank(&second.challenge()).unwrap();
    assert_eq!(h.scene.world.ranks(&h.scene.agent, 0), (2, 2));
    assert_eq!(h.scene.stake().stake_usdc, MIN_STAKE + 2 * LOST_TO_STAKE);
}

#[test]
fn what_an_emptied_era_would_get_goes_to_the_treasury() {
    // A lie and a true record in one batch: the lie slashes the era, then the other challenge is answered.
    let mut scene = Scene::new();
    let (lie, deal) = (scene.message(MsgType::Propose), scene.message(MsgType::Accept));
    let records = [lie.bid(1), lie.bid(2), deal.selection()];
    let batch = scene.submit(&[lie, deal], &records);
    let mut h = Honest { scene, batch };
    let (a, b) = (BidProof::of(&h.batch, 0), BidProof::of(&h.batch, 1));
    let double = h.scene.double_bid(&a, &b);
    h.scene.file(&double);
    let filing = h.challenge(1, SELECTION, None);
    h.scene.world.resolve(&double.challenge()).unwrap();
    let pot = h.scene.world.books(&h.scene.agent, 0).pot;
    assert_eq!((h.scene.stake().stake_usdc, pot), (0, 6_000_000));
    let before = h.scene.money(&filing);
    let (place, owners) = (h.place(2), h.scene.world.usdc_balance(&h.scene.owner.at()));
    let receipt = h.accept(&filing, &place, NOTHING);
    let after = h.scene.money(&filing);
    assert_eq!((after.0, after.1), (before.0, before.1 + LOST_TO_TREASURY + LOST_TO_STAKE));
    assert_eq!((after.2.stake, after.2.pot, after.2.deposits), (0, pot, 0));
    assert_eq!(h.scene.world.usdc_balance(&h.scene.owner.at()), owners + LOST_TO_ANSWERER);
    let event = ChallengeAnswered::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.to_stake, event.to_answerer), (0, LOST_TO_ANSWERER));
    assert_eq!(events(&receipt, &address(ids::STAKE_LOCK)), Vec::<Vec<u8>>::new());
}

#[test]
fn the_treasurys_own_wallet_may_answer_into_one_account() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    h.scene.owner = Key(h.scene.world.treasury());
    h.scene.world.set_lamports(&h.scene.owner.at(), 1_000_000_000);
    let (before, place) = (h.scene.money(&filing), h.place(0));
    h.accept(&filing, &place, value(VALUE));
    assert_eq!(h.scene.money(&filing).1, before.1 + LOST_TO_TREASURY + LOST_TO_ANSWERER);
}

#[test]
fn odd_amounts_fill_the_parts_in_order() {
    // What is not configured as a part is the treasury's; nothing is lost.
    let amounts = Amounts { challenge_stake: 1_500_001, lost_to_answerer: 1, ..Amounts::DEFAULT };
    assert!(amounts.check().is_ok());
    let lost = amounts.lost(amounts.challenge_stake);
    assert_eq!((lost.stake, lost.answerer, lost.treasury), (1_500_000, 1, 0));
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
    // Without the payload the same lie passes: a challenger who wants to dispute the value shows it.
    let bare = h.challenge(0, BID, None);
    h.accept(&bare, &place, value(5));
    let shown = h.challenge(0, BID, Some(&message.payload));
    for free in [5, VALUE, 0] {
        h.refuse(&shown, &place, value(free), Error::WrongRecord);
    }
    h.scene.resolve(&shown);
    assert_eq!(h.scene.challenge(&shown).outcome, 2);
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
        Message { nonce: message.nonce + 1, ..message.clone() },
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
fn one_record_answers_one_of_several_accepts_with_equal_conversation_slot_and_nonce() {
    // M1: the liar chooses nonce and slot; the record names the message's hash all the same.
    let mut scene = Scene::new();
    let first = scene.message(MsgType::Accept);
    let deals: Vec<Message> = (0..3_u8)
        .map(|n| Message { payload: [bid_payload(VALUE), vec![n]].concat(), ..first.clone() })
        .collect();
    let batch = scene.submit(&deals, &[deals[0].bid(VALUE), deals[0].selection()]);
    let mut h = Honest { scene, batch };
    let (bid, selection) = (h.place(0), h.place(1));
    for n in 0..3 {
        let (of_bid, of_selection) = (h.challenge(n, BID, None), h.challenge(n, SELECTION, None));
        if n == 0 {
            h.accept(&of_bid, &bid, value(VALUE));
            h.accept(&of_selection, &selection, NOTHING);
        } else {
            h.refuse(&of_bid, &bid, value(VALUE), Error::WrongRecord);
            h.refuse(&of_selection, &selection, NOTHING, Error::WrongRecord);
        }
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
    let message = h.scene.message(MsgType::Propose);
    let filing = h.scene.enveloped(&message, BID);
    h.scene.file(&filing);
    let (right, other) = (h.place(0), h.place(4));
    h.refuse(&filing, &other, value(3), Error::WrongRecord);
    h.accept(&filing, &right, NOTHING);
}

#[test]
fn anyone_may_answer() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    h.scene.owner = h.scene.party();
    let (place, who) = (h.place(0), h.scene.owner.at());
    let before = h.scene.world.usdc_balance(&who);
    h.accept(&filing, &place, value(VALUE));
    assert_eq!(h.scene.challenge(&filing).answerer, who.to_bytes());
    assert_eq!(h.scene.world.usdc_balance(&who), before + LOST_TO_ANSWERER);
    // Even the challenger, who loses most of the stake by it.
    let mut h = honest();
    let filing = h.challenge(1, SELECTION, None);
    h.scene.owner = h.scene.challenger.clone();
    let (place, before) = (h.place(1), h.scene.money(&filing).0);
    h.accept(&filing, &place, NOTHING);
    assert_eq!(h.scene.money(&filing).0, before + LOST_TO_ANSWERER);
}

#[test]
fn an_answer_without_its_signature_fails() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let place = h.place(0);
    let mut unsigned = answer(&mut h.scene, &filing, &place, value(VALUE));
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
    h.scene.owner = h.scene.party();
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
    h.scene.world.resolve(&filing.challenge()).unwrap();
    assert_eq!(h.scene.challenge(&filing).outcome, 2);
}

#[test]
fn another_batch_than_the_challenged_fails() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    // Another agent's batch with the same records: this one's can land no other while it is challenged.
    let other = h.scene.world.living_agent();
    h.scene.world.advance_epochs(1);
    let epoch = h.scene.world.epoch() - 1;
    let batch = Batch { epoch, ..h.batch.clone() };
    h.scene.world.submit_batch(&other.agent, &other.keys.batch, &batch).unwrap();
    let (owner, place) = (h.scene.owner.clone(), h.place(0));
    let right = answer(&mut h.scene, &filing, &place, value(VALUE));
    for (account, error) in [
        (pda::batch(&other.agent.mint, epoch), Error::WrongBatch),
        (pda::batch(&other.agent.mint, 1), Error::AccountMissing),
        (pda::lease(&other.agent.mint), Error::WrongAccountOwner),
        (pda::head(&other.agent.mint), Error::WrongAccountType),
    ] {
        let wrong = with_account(right.clone(), 2, account);
        refused(&mut h.scene.world, &[wrong], &owner, &[], error);
    }
}

#[test]
fn accounts_of_others_fail() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let (other, thief) = (h.scene.world.living_agent(), h.scene.party());
    let fake = keypair("fake USDC");
    h.scene.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let owner = h.scene.owner.clone();
    let fakes = h.scene.world.fund_token(&owner.at(), &fake.pubkey(), 0, &TOKEN_PROGRAM);
    let thiefs = h.scene.world.usdc_account(&thief.at());
    let owners = h.scene.world.usdc_account(&owner.at());
    let place = h.place(0);
    let right = answer(&mut h.scene, &filing, &place, value(VALUE));
    let cases = [
        (money::CONFIG, thief.at(), Error::WrongAddress),
        (money::STAKE, pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (money::SHARD, pda::shard(other.agent.shard()), Error::WrongAddress),
        (money::VAULT, pda::vault(other.agent.shard()), Error::WrongAddress),
        (money::FIRST, thiefs, Error::WrongTokenAccountOwner),
        (money::FIRST, fakes, Error::WrongUsdcMint),
        (money::FIRST, thief.at(), Error::NotLegacyToken),
        (money::SECOND, thiefs, Error::NotTreasury),
        (money::SECOND, owners, Error::NotTreasury),
        (money::AUTHORITY, thief.at(), Error::WrongAddress),
        (money::STAKE_LOCK, address(ids::LEASE), Error::WrongAddress),
        (money::TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), money::OF_ANSWER + place, account);
        let failure = h.scene.world.send_refused(&[wrong], &owner, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    let events = pda::event_authority(ids::LEASE);
    let wrong = with_account(right.clone(), money::OF_ANSWER + money::STAKE_LOCK_EVENTS, events);
    let failure = h.scene.world.send_refused(&[wrong], &owner, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::InvalidSeeds), "{failure:?}");
    // Any USDC account of the answerer's serves.
    let further = further_account(&mut h.scene, &owner.at());
    let right = with_account(right, money::OF_ANSWER + money::FIRST, further);
    h.scene.world.send_ok(&[right], &owner, &[]);
    assert_eq!(h.scene.world.token_balance(&further), LOST_TO_ANSWERER);
}

#[test]
fn what_is_no_challenge_cannot_be_answered() {
    let mut h = honest();
    let filing = h.challenge(0, BID, None);
    let (place, owner) = (h.place(0), h.scene.owner.clone());
    let right = answer(&mut h.scene, &filing, &place, value(VALUE));
    let cases = [
        (filing.draft(), Error::WrongAccountType),
        (pda::vault(h.scene.agent.shard()), Error::WrongAccountOwner),
        (pda::challenge(&h.scene.batch(), &[1; 32]), Error::AccountMissing),
    ];
    for (account, error) in cases {
        let wrong = with_account(right.clone(), 1, account);
        let failure = h.scene.world.send_refused(&[wrong], &owner, &[]);
        // The vault is another account of the instruction already, which Anchor refuses first.
        assert!([Some(error.code()), Some(2_040)].contains(&failure.code()), "{failure:?}");
    }
}

#[test]
fn the_expected_record_is_what_the_answer_shows() {
    let mut h = honest();
    let filing = h.challenge(3, FEEDBACK, None);
    let account = h.scene.challenge(&filing);
    // Kind, conversation, who rated, score, outcome, role, slot, attestation, message.
    let record = [&[4][..], &[0xfe; 16], &COUNTERPARTY, &[(-73_i8).cast_unsigned(), 2, 1]].concat();
    assert_eq!(expected(&account)[..52], record);
    assert_eq!(expected(&account)[92..], filing.message);
    assert_eq!(expected(&account).len(), 124);
}
