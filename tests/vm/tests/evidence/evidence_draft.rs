//! begin_evidence, append_evidence, cancel_evidence.

use crate::common::{Scene, only_event, refused, with_account};
use solana_instruction::error::InstructionError;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::challenge::{append_evidence, begin_evidence, cancel_evidence};
use zx1_chain::pda;
use zx1_interface::accounts::EvidenceDraft;
use zx1_interface::events::{EvidenceDraftBegun, EvidenceDraftCanceled};
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::events;

const NONCE: u64 = 0x0102_0304_0506_0708;

/// A draft of the challenger's of this length, with these bytes in it.
fn begun(len: u32, written: &[u8]) -> Scene {
    let mut scene = Scene::new();
    let who = scene.challenger.clone();
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE, len)], &who, &[]);
    if !written.is_empty() {
        scene.world.send_ok(&[append_evidence(who.at(), NONCE, 0, written.to_vec())], &who, &[]);
    }
    scene
}

fn draft(scene: &Scene) -> (EvidenceDraft, Vec<u8>) {
    let at = pda::evidence_draft(&scene.challenger.at(), NONCE);
    (scene.world.read(&at), scene.world.data(&at)[EvidenceDraft::SIZE..].to_vec())
}

#[test]
fn a_draft_is_begun_and_written_ok() {
    let mut scene = Scene::new();
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let before = scene.world.lamports(&who.at());
    let receipt = scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 5)], &who, &[]);
    let rent = scene.world.rent(EvidenceDraft::SIZE + 5);
    assert_eq!(scene.world.lamports(&at), rent);
    assert_eq!(before - scene.world.lamports(&who.at()), rent + receipt.fee);
    let slot = scene.world.slot();
    let (account, bytes) = draft(&scene);
    let expected = EvidenceDraft {
        nonce: NONCE,
        created_slot: slot,
        event_sequence: 1,
        len: 5,
        written: 0,
        owner: who.at().to_bytes(),
        version: 1,
        bump: account.bump,
        reserved: [0; 6],
    };
    assert_eq!((account, bytes), (expected, vec![0; 5]));
    let event = EvidenceDraftBegun::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = EvidenceDraftBegun {
        draft: at.to_bytes(),
        owner: who.at().to_bytes(),
        len: 5,
        sequence: 0,
        account_created_slot: slot,
    };
    assert_eq!(event, expected_event);

    scene.world.advance_slots(3);
    let first = scene.world.send_ok(&[append_evidence(who.at(), NONCE, 0, vec![1, 2])], &who, &[]);
    assert!(events(&first, &zx1_vm_tests::address(ids::CHALLENGE)).is_empty(), "appending has no event");
    assert_eq!(draft(&scene), (EvidenceDraft { written: 2, ..expected }, vec![1, 2, 0, 0, 0]));
    scene.world.send_ok(&[append_evidence(who.at(), NONCE, 2, vec![3, 4, 5])], &who, &[]);
    assert_eq!(draft(&scene), (EvidenceDraft { written: 5, ..expected }, vec![1, 2, 3, 4, 5]));
}

#[test]
fn lengths_from_1_to_8192_are_allowed_and_no_others() {
    for (len, allowed) in [(1, true), (8_192, true), (0, false), (8_193, false), (u32::MAX, false)] {
        let mut scene = Scene::new();
        let who = scene.challenger.clone();
        let begin = begin_evidence(who.at(), NONCE, len);
        if allowed {
            scene.world.send_ok(&[begin], &who, &[]);
            assert_eq!(draft(&scene).1.len(), len as usize);
        } else {
            refused(&mut scene.world, &[begin], &who, &[], Error::InvalidDraftLength);
        }
    }
}

#[test]
fn the_same_nonce_twice_fails_and_another_does_not() {
    let mut scene = begun(5, &[1]);
    let who = scene.challenger.clone();
    for len in [5, 6] {
        let again = begin_evidence(who.at(), NONCE, len);
        refused(&mut scene.world, &[again], &who, &[], Error::AccountExists);
    }
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE + 1, 5)], &who, &[]);
    // Somebody else's nonces are their own.
    let other = scene.party();
    scene.world.send_ok(&[begin_evidence(other.at(), NONCE, 5)], &other, &[]);
}

#[test]
fn a_draft_whose_address_a_stranger_funded_first_is_begun_ok() {
    let mut scene = Scene::new();
    let (who, stranger) = (scene.challenger.clone(), scene.stranger());
    let at = pda::evidence_draft(&who.at(), NONCE);
    let rent = scene.world.rent(EvidenceDraft::SIZE + 100);
    let gift = rent - 7;
    scene.world.send_ok(&[system::transfer(&stranger.at(), &at, gift)], &stranger, &[]);
    let before = scene.world.lamports(&who.at());
    let receipt = scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 100)], &who, &[]);
    assert_eq!(before - scene.world.lamports(&who.at()), 7 + receipt.fee);
    assert_eq!(scene.world.lamports(&at), rent);
    assert_eq!(draft(&scene).1.len(), 100);
}

#[test]
fn another_address_fails() {
    let mut scene = Scene::new();
    let (who, stranger) = (scene.challenger.clone(), scene.stranger());
    for at in [pda::evidence_draft(&who.at(), 1), pda::evidence_draft(&stranger.at(), NONCE), stranger.at()] {
        let wrong = with_account(begin_evidence(who.at(), NONCE, 5), 1, at);
        refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAddress);
    }
}

#[test]
fn an_append_beyond_the_length_fails() {
    let mut scene = begun(5, &[1, 2]);
    let who = scene.challenger.clone();
    let before = draft(&scene);
    for len in [4, 100, 900] {
        let over = append_evidence(who.at(), NONCE, 2, vec![9; len]);
        refused(&mut scene.world, &[over], &who, &[], Error::DraftOverrun);
    }
    assert_eq!(draft(&scene), before);
    scene.world.send_ok(&[append_evidence(who.at(), NONCE, 2, vec![9; 3])], &who, &[]);
    // Full: not one byte more.
    let over = append_evidence(who.at(), NONCE, 5, vec![9]);
    refused(&mut scene.world, &[over], &who, &[], Error::DraftOverrun);
}

#[test]
fn an_append_at_another_place_than_the_end_fails() {
    let mut scene = begun(10, &[1, 2, 3]);
    let who = scene.challenger.clone();
    for offset in [0, 2, 4, 10, u32::MAX] {
        let wrong = append_evidence(who.at(), NONCE, offset, vec![7]);
        refused(&mut scene.world, &[wrong], &who, &[], Error::WrongDraftOffset);
    }
}

#[test]
fn the_same_append_twice_fails() {
    let mut scene = begun(10, &[]);
    let who = scene.challenger.clone();
    let append = append_evidence(who.at(), NONCE, 0, vec![7, 8]);
    scene.world.send_ok(std::slice::from_ref(&append), &who, &[]);
    refused(&mut scene.world, &[append], &who, &[], Error::WrongDraftOffset);
    assert_eq!(draft(&scene).0.written, 2);
}

#[test]
fn an_empty_append_fails() {
    let mut scene = begun(5, &[1]);
    let who = scene.challenger.clone();
    let empty = append_evidence(who.at(), NONCE, 1, vec![]);
    refused(&mut scene.world, &[empty], &who, &[], Error::DraftOverrun);
}

#[test]
fn an_append_by_another_fails() {
    let mut scene = begun(5, &[1]);
    let (who, other) = (scene.challenger.clone(), scene.party());
    let at = pda::evidence_draft(&who.at(), NONCE);
    let theirs = with_account(append_evidence(other.at(), NONCE, 1, vec![2]), 1, at);
    refused(&mut scene.world, &[theirs], &other, &[], Error::NotDraftOwner);
    // Nor by naming the owner without its signature.
    let mut unsigned = append_evidence(who.at(), NONCE, 1, vec![2]);
    unsigned.accounts[0].is_signer = false;
    let failure = scene.world.send_refused(&[unsigned], &other, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
}

#[test]
fn an_append_or_a_cancel_under_another_nonce_fails() {
    let mut scene = begun(5, &[1]);
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let append = with_account(append_evidence(who.at(), 1, 1, vec![2]), 1, at);
    refused(&mut scene.world, &[append], &who, &[], Error::WrongAddress);
    let cancel = with_account(cancel_evidence(who.at(), 1), 1, at);
    refused(&mut scene.world, &[cancel], &who, &[], Error::WrongAddress);
}

#[test]
fn an_append_to_what_is_no_draft_fails() {
    let mut scene = Scene::new();
    let who = scene.challenger.clone();
    let append = append_evidence(who.at(), NONCE, 0, vec![2]);
    refused(&mut scene.world, std::slice::from_ref(&append), &who, &[], Error::AccountMissing);
    let wrong = with_account(append, 1, pda::stake(&scene.agent.mint));
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAccountOwner);
}

#[test]
fn canceling_returns_the_rent_ok() {
    let mut scene = begun(1_000, &[1, 2, 3]);
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let created = scene.world.slot();
    scene.world.advance_slots(9);
    let (before, rent) = (scene.world.lamports(&who.at()), scene.world.rent(EvidenceDraft::SIZE + 1_000));
    let receipt = scene.world.send_ok(&[cancel_evidence(who.at(), NONCE)], &who, &[]);
    assert_eq!(scene.world.lamports(&who.at()), before + rent - receipt.fee);
    assert!(scene.world.account(&at).is_none());
    let event = EvidenceDraftCanceled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = EvidenceDraftCanceled {
        draft: at.to_bytes(),
        owner: who.at().to_bytes(),
        sequence: 1,
        account_created_slot: created,
    };
    assert_eq!(event, expected);
    // Once; and the nonce is free again.
    refused(&mut scene.world, &[cancel_evidence(who.at(), NONCE)], &who, &[], Error::AccountMissing);
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 3)], &who, &[]);
    assert_eq!(draft(&scene).1, [0; 3], "nothing of the old draft is left");
}

#[test]
fn canceling_by_another_fails() {
    let mut scene = begun(5, &[1]);
    let other = scene.party();
    let at = pda::evidence_draft(&scene.challenger.at(), NONCE);
    let theirs = with_account(cancel_evidence(other.at(), NONCE), 1, at);
    refused(&mut scene.world, &[theirs], &other, &[], Error::NotDraftOwner);
}

#[test]
fn a_canceled_draft_cannot_be_revived_in_the_same_transaction() {
    let mut scene = begun(3, &[1, 2, 3]);
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let rent = scene.world.rent(EvidenceDraft::SIZE + 3);
    let (cancel, fund) = (cancel_evidence(who.at(), NONCE), system::transfer(&who.at(), &at, rent));
    let again = cancel.clone();
    let failure = scene.world.send_refused(&[cancel.clone(), fund.clone(), again], &who, &[]);
    failure.expect_code(Error::AccountMissing.code());
    assert_eq!(failure.instruction(), Some(2));
    scene.world.send_ok(&[cancel, fund], &who, &[]);
    let left = scene.world.account(&at).unwrap();
    assert_eq!((left.data.len(), left.owner.to_bytes()), (0, ids::SYSTEM));
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 3)], &who, &[]);
    assert_eq!(draft(&scene), (EvidenceDraft { written: 0, ..draft(&scene).0 }, vec![0; 3]));
}
