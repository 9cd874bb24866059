//! close_challenge: the rent of a settled challenge goes back.

use crate::common::{BID, Filing, LogProof, Scene, only_event, refused};
use solana_instruction::Instruction;
use zx1_chain::instructions::challenge::close_challenge;
use zx1_interface::accounts::ChallengeAccount;
use zx1_interface::events::ChallengeClosed;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;

fn challenged() -> (Scene, Filing) {
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let filing = scene.inline(&LogProof::of(&batch, 0), BID);
    scene.file(&filing);
    (scene, filing)
}

fn closing(filing: &Filing) -> Instruction {
    close_challenge(filing.challenge(), filing.addresses.challenger)
}

#[test]
fn a_stranger_closes_it_and_the_challenger_gets_the_rent_ok() {
    let (mut scene, filing) = challenged();
    let created = scene.challenge(&filing).submitted_slot;
    scene.resolve(&filing);
    let stranger = scene.stranger();
    let rent = scene.world.rent(ChallengeAccount::SIZE);
    assert_eq!(scene.world.lamports(&filing.challenge()), rent);
    let (before, paid) = (scene.world.lamports(&scene.challenger.at()), scene.world.lamports(&stranger.at()));
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(&[closing(&filing)], &stranger, &[]);
    assert_eq!(scene.world.lamports(&scene.challenger.at()), before + rent);
    assert_eq!(scene.world.lamports(&stranger.at()), paid - receipt.fee);
    assert!(scene.world.account(&filing.challenge()).is_none());
    let changed = [filing.challenge(), scene.challenger.at(), stranger.at()];
    snapshot.assert_only_changed(&scene.world, &changed);
    let event = ChallengeClosed::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = ChallengeClosed {
        challenge: filing.challenge().to_bytes(),
        challenger: scene.challenger.at().to_bytes(),
        sequence: 2,
        account_created_slot: created,
    };
    assert_eq!(event, expected);
}

#[test]
fn the_challenger_itself_closes_it_and_gives_lamports_of_strangers_along() {
    let (mut scene, filing) = challenged();
    scene.resolve(&filing);
    let stranger = scene.stranger();
    let gift = solana_system_interface::instruction::transfer(&stranger.at(), &filing.challenge(), 12_345);
    scene.world.send_ok(&[gift], &stranger, &[]);
    let before = scene.world.lamports(&scene.challenger.at());
    let receipt = scene.world.send_ok(&[closing(&filing)], &scene.challenger, &[]);
    let rent = scene.world.rent(ChallengeAccount::SIZE);
    assert_eq!(scene.world.lamports(&scene.challenger.at()), before + rent + 12_345 - receipt.fee);
}

#[test]
fn an_unresolved_challenge_fails() {
    let (mut scene, filing) = challenged();
    let stranger = scene.stranger();
    refused(&mut scene.world, &[closing(&filing)], &stranger, &[], Error::NotResolved);
    // Also when its window is over, as long as nobody has resolved it.
    scene.pass_window(&filing);
    refused(&mut scene.world, &[closing(&filing)], &stranger, &[], Error::NotResolved);
}

#[test]
fn another_recipient_than_the_challenger_fails() {
    let (mut scene, filing) = challenged();
    scene.resolve(&filing);
    let stranger = scene.stranger();
    for thief in [stranger.at(), scene.owner.at(), scene.agent.mint.into()] {
        let wrong = close_challenge(filing.challenge(), thief);
        refused(&mut scene.world, &[wrong], &stranger, &[], Error::WrongPayer);
    }
}

#[test]
fn closing_twice_fails() {
    let (mut scene, filing) = challenged();
    scene.resolve(&filing);
    let stranger = scene.stranger();
    scene.world.send_ok(&[closing(&filing)], &stranger, &[]);
    refused(&mut scene.world, &[closing(&filing)], &stranger, &[], Error::AccountMissing);
}

#[test]
fn a_closed_challenge_cannot_be_submitted_again() {
    let (mut scene, filing) = challenged();
    scene.resolve(&filing);
    scene.world.send_ok(&[closing(&filing)], &scene.challenger, &[]);
    // The batch's window ends before that of any challenge of it.
    scene.refuse(&filing, Error::ChallengeWindowOver);
}

#[test]
fn what_is_no_challenge_cannot_be_closed() {
    let (mut scene, filing) = challenged();
    let stranger = scene.stranger();
    let who = filing.addresses.challenger;
    let vault = close_challenge(filing.vault(), who);
    refused(&mut scene.world, &[vault], &stranger, &[], Error::WrongAccountOwner);
    let (draft, _) = scene.draft(&scene.challenger.clone(), 1, &[1, 2, 3]);
    let draft = close_challenge(draft, who);
    refused(&mut scene.world, &[draft], &stranger, &[], Error::WrongAccountType);
}
