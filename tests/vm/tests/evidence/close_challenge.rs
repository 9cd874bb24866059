//! close_challenge: the rent of a settled challenge goes back, when its claim cannot be opened again.

use crate::common::{BID, BidProof, LogProof, SELECTION, Scene, answer_of, only_event, refused};
use zx1_chain::instructions::challenge::close_challenge;
use zx1_interface::accounts::ChallengeAccount;
use zx1_interface::events::ChallengeClosed;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{Batch, Filing};

/// Two claims that no record answers, but a selection's.
fn challenged() -> (Scene, Filing, Filing, Batch) {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.selection()]);
    let proof = LogProof::of(&batch, 0);
    let (bid, selection) = (scene.logged(&proof, BID), scene.logged(&proof, SELECTION));
    scene.file(&bid);
    scene.file(&selection);
    (scene, bid, selection, batch)
}

#[test]
fn a_stranger_closes_it_and_the_payer_gets_the_rent_ok() {
    let (mut scene, filing, _, _) = challenged();
    let created = scene.challenge(&filing).submitted_slot;
    scene.resolve(&filing);
    let (stranger, close) = (scene.stranger(), scene.world.closing_challenge(&filing.challenge()));
    let rent = scene.world.rent(ChallengeAccount::SIZE);
    assert_eq!(scene.world.lamports(&filing.challenge()), rent);
    let (before, paid) = (scene.world.lamports(&scene.challenger.at()), scene.world.lamports(&stranger.at()));
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(&[close], &stranger, &[]);
    assert_eq!(scene.world.lamports(&scene.challenger.at()), before + rent);
    assert_eq!(scene.world.lamports(&stranger.at()), paid - receipt.fee);
    assert!(scene.world.account(&filing.challenge()).is_none());
    let changed = [filing.challenge(), scene.challenger.at(), stranger.at()];
    snapshot.assert_only_changed(&scene.world, &changed);
    let event = ChallengeClosed::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = ChallengeClosed {
        challenge: filing.challenge().to_bytes(),
        payer: scene.challenger.at().to_bytes(),
        sequence: 2,
        account_created_slot: created,
    };
    assert_eq!(event, expected);
}

#[test]
fn the_payer_itself_closes_it_and_gets_lamports_of_strangers_along() {
    let (mut scene, filing, _, _) = challenged();
    scene.resolve(&filing);
    let stranger = scene.stranger();
    let gift = solana_system_interface::instruction::transfer(&stranger.at(), &filing.challenge(), 12_345);
    scene.world.send_ok(&[gift], &stranger, &[]);
    let before = scene.world.lamports(&scene.challenger.at());
    let close = scene.world.closing_challenge(&filing.challenge());
    let receipt = scene.world.send_ok(&[close], &scene.challenger, &[]);
    let rent = scene.world.rent(ChallengeAccount::SIZE);
    assert_eq!(scene.world.lamports(&scene.challenger.at()), before + rent + 12_345 - receipt.fee);
}

#[test]
fn a_challenge_that_is_not_settled_fails() {
    let (mut scene, filing, _, _) = challenged();
    let (stranger, close) = (scene.stranger(), scene.world.closing_challenge(&filing.challenge()));
    refused(&mut scene.world, std::slice::from_ref(&close), &stranger, &[], Error::NotResolved);
    // Also when its window is over, as long as nobody has resolved it.
    scene.pass_window(&filing);
    refused(&mut scene.world, &[close], &stranger, &[], Error::NotResolved);
}

#[test]
fn one_whose_rank_was_not_passed_fails() {
    // The second claim is answered while the first is open.
    let (mut scene, first, second, batch) = challenged();
    let owner = scene.owner.clone();
    scene.answer(&owner, &second, &answer_of(&batch, 0, 0, [0; 32]));
    scene.pass_window(&second);
    let (stranger, close) = (scene.stranger(), scene.world.closing_challenge(&second.challenge()));
    refused(&mut scene.world, std::slice::from_ref(&close), &stranger, &[], Error::RankNotPassed);
    scene.world.resolve(&first.challenge()).unwrap();
    refused(&mut scene.world, std::slice::from_ref(&close), &stranger, &[], Error::RankNotPassed);
    scene.world.pass_rank(&second.challenge()).unwrap();
    scene.world.send_ok(&[close], &stranger, &[]);
}

#[test]
fn a_settled_challenge_stays_until_its_claim_cannot_be_opened_again() {
    let (mut scene, _, filing, batch) = challenged();
    let (owner, stranger) = (scene.owner.clone(), scene.stranger());
    scene.answer(&owner, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    let submitted = scene.challenge(&filing).submitted_slot;
    let close = scene.world.closing_challenge(&filing.challenge());
    scene.world.warp_to_slot(submitted + 432_000);
    refused(&mut scene.world, &[close], &stranger, &[], Error::WindowNotOver);
}

#[test]
fn another_recipient_than_the_payer_fails() {
    let (mut scene, filing, _, _) = challenged();
    scene.resolve(&filing);
    let stranger = scene.stranger();
    for thief in [stranger.at(), scene.owner.at(), scene.agent.mint.into()] {
        let wrong = close_challenge(filing.challenge(), thief, scene.agent.mint, 0);
        refused(&mut scene.world, &[wrong], &stranger, &[], Error::WrongPayer);
    }
}

#[test]
fn closing_twice_fails() {
    let (mut scene, filing, _, _) = challenged();
    scene.resolve(&filing);
    let (stranger, close) = (scene.stranger(), scene.world.closing_challenge(&filing.challenge()));
    scene.world.send_ok(std::slice::from_ref(&close), &stranger, &[]);
    refused(&mut scene.world, &[close], &stranger, &[], Error::AccountMissing);
}

#[test]
fn a_closed_challenge_cannot_be_opened_again() {
    // Another draft of it was sealed in time.
    let (mut scene, filing, second, _) = challenged();
    let again = scene.by(&filing.finder.clone(), &filing);
    scene.world.prepare_unranked(&again);
    scene.resolve(&filing);
    scene.world.resolve(&second.challenge()).unwrap();
    let close = scene.world.closing_challenge(&filing.challenge());
    let submit = scene.world.submitting(&again);
    let failure = scene.world.send_refused(&[close.clone(), submit.clone()], &filing.finder, &[]);
    // The slashed era is empty, and the batch's window is over before that of any challenge of it.
    failure.expect_code(Error::EraEmpty.code());
    scene.world.send_ok(&[close], &filing.finder, &[]);
    refused(&mut scene.world, &[submit], &filing.finder, &[], Error::EraEmpty);
}

#[test]
fn an_answered_claim_that_was_closed_cannot_be_opened_again() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.selection()]);
    let filing = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    scene.file(&filing);
    let again = scene.by(&filing.finder.clone(), &filing);
    scene.world.prepare_unranked(&again);
    let owner = scene.owner.clone();
    scene.answer(&owner, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    scene.pass_window(&filing);
    scene.world.close_challenge(&filing.challenge()).unwrap();
    scene.submit_refused(&again, Error::ChallengeWindowOver);
}

#[test]
fn when_the_era_is_claimed_what_was_not_passed_closes_too() {
    // The first rank is a draft that nobody ever passes; the second's challenge is answered.
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.selection()]);
    let unused = scene.logged(&LogProof::of(&batch, 0), BID);
    scene.world.begin(&unused).unwrap();
    let filing = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    scene.file(&filing);
    let (agent, owner, stranger) = (scene.agent, scene.owner.clone(), scene.stranger());
    scene.answer(&owner, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    assert_eq!(scene.world.ranks(&agent, 0), (0, 2));
    scene.world.advance_epochs(13);
    scene.world.queue_unlock(&agent, &owner, 0).unwrap();
    scene.world.advance_slots(432_001);
    let close = scene.world.closing_challenge(&filing.challenge());
    refused(&mut scene.world, std::slice::from_ref(&close), &stranger, &[], Error::RankNotPassed);
    // Another era's empty address does not say so.
    let wrong = close_challenge(filing.challenge(), filing.finder.at(), scene.agent.mint, 1);
    refused(&mut scene.world, &[wrong], &stranger, &[], Error::WrongAddress);
    scene.world.claim_stake(&agent, &owner, 0).unwrap();
    scene.world.send_ok(&[close], &stranger, &[]);
}

#[test]
fn what_is_no_challenge_cannot_be_closed() {
    let (mut scene, filing, _, _) = challenged();
    let (stranger, who) = (scene.stranger(), scene.challenger.at());
    let mint = scene.agent.mint;
    for (account, error) in [
        (zx1_chain::pda::vault(scene.agent.shard()), Error::WrongAccountOwner),
        (filing.draft(), Error::WrongAccountType),
    ] {
        let wrong = close_challenge(account, who, mint, 0);
        refused(&mut scene.world, &[wrong], &stranger, &[], error);
    }
}

#[test]
fn a_double_bid_settled_at_once_cannot_be_closed_and_opened_again_within_the_window() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let records = [message.bid(1), message.bid(2), message.bid(3)];
    let batch = scene.submit(std::slice::from_ref(&message), &records);
    let bids = [0, 1, 2].map(|n| BidProof::of(&batch, n));
    let filing = scene.double_bid(&bids[0], &bids[1]);
    // Somebody else's claim keeps the pot open, and another pair of the same message stands ready.
    let other = scene.logged(&LogProof::of(&batch, 0).showing(&message.payload), BID);
    let again = scene.double_bid(&bids[2], &bids[1]);
    scene.file(&filing);
    scene.file(&other);
    scene.world.prepare(&again);
    scene.world.resolve(&filing.challenge()).unwrap();
    assert_eq!(scene.stake().pot_usdc, 6_000_000);
    let close = scene.world.closing_challenge(&filing.challenge());
    for slots in [0, 1_000, 430_000] {
        scene.world.advance_slots(slots);
        refused(&mut scene.world, std::slice::from_ref(&close), &filing.finder, &[], Error::WindowNotOver);
        scene.submit_refused(&again, Error::ChallengeExists);
    }
    scene.pass_window(&filing);
    scene.world.close_challenge(&filing.challenge()).unwrap();
    scene.submit_refused(&again, Error::ChallengeWindowOver);
}
