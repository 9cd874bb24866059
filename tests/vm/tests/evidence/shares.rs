//! The finders' part: first slash, shares by halves in the order of ranks, the rest to the treasury.

use crate::common::{
    BID, BidProof, CHALLENGE_STAKE, FINE, LOST_TO_ANSWERER, LogProof, MIN_STAKE, Message, RANK_SLOTS,
    SELECTION, Scene, answer_of, only_event, refused, with_account,
};
use solana_signer::Signer;
use zx1_chain::pda;
use zx1_chain::token::TOKEN_2022_PROGRAM;
use zx1_interface::events::{ChallengeResolved, StakeMoved};
use zx1_interface::{Error, ids};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{Batch, Books, Filing, Key, LOG, World, address};

/// The finders' part of the minimum stake.
const POT: u64 = MIN_STAKE * 2 / 5;

/// A batch that hides `n` deals; each has a finder of its own, in this order of ranks, all filed.
fn found(scene: Scene, n: u32) -> (Scene, Vec<Filing>) {
    let (mut scene, filings) = hidden(scene, n);
    for filing in &filings {
        scene.file(filing);
    }
    (scene, filings)
}

/// The same, with nothing done yet.
fn hidden(mut scene: Scene, n: u32) -> (Scene, Vec<Filing>) {
    let deal = |nonce| Message { nonce: u64::from(nonce), ..scene.message(MsgType::Propose) };
    let deals: Vec<Message> = (0..n).map(deal).collect();
    let batch = scene.submit(&deals, &[]);
    let filings = (0..n)
        .map(|k| {
            scene.challenger = scene.party();
            scene.logged(&LogProof::of(&batch, k), BID)
        })
        .collect();
    (scene, filings)
}

fn usdc(scene: &mut Scene, who: &Key) -> u64 {
    scene.world.usdc_balance(&who.at())
}

fn treasury(scene: &mut Scene) -> u64 {
    let treasury = scene.world.treasury().pubkey();
    scene.world.usdc_balance(&treasury)
}

#[test]
fn finders_share_by_halves_and_the_treasury_gets_the_rest_at_the_end_ok() {
    let (mut scene, filings) = found(Scene::new(), 4);
    let held = scene.world.books(&scene.agent, 0);
    assert_eq!((held.stake, held.pot, held.deposits), (MIN_STAKE, 0, 4 * CHALLENGE_STAKE));
    scene.pass_window(&filings[3]);
    // Reward of each, and what is left of the pot.
    let shares = [(6_000_000, 6_000_000), (3_000_000, 3_000_000), (1_500_000, 1_500_000), (750_000, 0)];
    for (n, (filing, (reward, left))) in filings.iter().zip(shares).enumerate() {
        let before = scene.money(filing);
        let receipt = scene.world.resolve(&filing.challenge()).unwrap();
        scene.world.assert_books();
        let after = scene.money(filing);
        assert_eq!(after.0, before.0 + CHALLENGE_STAKE + reward);
        let deposits = (3 - n as u64) * CHALLENGE_STAKE;
        let books = Books { stake: 0, pot: left, deposits, shard: left + deposits, vault: left + deposits };
        assert_eq!(after.2, books);
        let slashed = if n == 0 { MIN_STAKE } else { 0 };
        // The treasury's part of the slash first, and at the end what nobody can win any more.
        let to_treasury = [MIN_STAKE - POT, 0, 0, 750_000][n];
        assert_eq!(after.1, before.1 + to_treasury);
        let event = ChallengeResolved::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
        assert_eq!((event.outcome, event.slashed, event.reward), (2, slashed, reward));
        let moved = StakeMoved::read(&only_event(&receipt, ids::STAKE_LOCK)).unwrap();
        assert_eq!((moved.slashed, moved.from_stake, moved.pot_usdc), (u8::from(n == 0), slashed, left));
        assert_eq!(scene.stake().open_challenges as usize, 3 - n);
    }
    // Every unit of the stake went somewhere.
    let won: u64 = shares.iter().map(|(reward, _)| reward).sum();
    assert_eq!(won + (MIN_STAKE - POT) + 750_000, MIN_STAKE);
    let slashed = scene.stake();
    assert_eq!((slashed.settled_rank, slashed.next_rank, slashed.deposits_usdc), (4, 4, 0));
}

#[test]
fn the_first_slash_is_the_slot_of_all() {
    let (mut scene, filings) = found(Scene::new(), 2);
    scene.pass_window(&filings[1]);
    scene.world.resolve(&filings[0].challenge()).unwrap();
    let slot = scene.world.slot();
    scene.world.advance_slots(10);
    scene.world.resolve(&filings[1].challenge()).unwrap();
    assert_eq!((scene.stake().slashed_slot, scene.stake().ended_slot), (slot, slot));
}

#[test]
fn an_answered_challenge_between_them_takes_no_share() {
    let mut scene = Scene::new();
    let deals: Vec<Message> =
        (0..3).map(|nonce| Message { nonce, ..scene.message(MsgType::Propose) }).collect();
    // The second was recorded.
    let batch = scene.submit(&deals, &[deals[1].bid(1_234_567)]);
    let filings: Vec<Filing> = (0..3)
        .map(|n| {
            scene.challenger = scene.party();
            scene.logged(&LogProof::of(&batch, n), BID)
        })
        .collect();
    for filing in &filings {
        scene.file(filing);
        scene.world.advance_slots(10);
    }
    scene.pass_window(&filings[0]);
    scene.world.resolve(&filings[0].challenge()).unwrap();
    // In time still, but after the first slash: nothing goes into an empty stake.
    let owner = scene.owner.clone();
    let before = scene.money(&filings[1]);
    scene.answer(&owner, &filings[1], &answer_of(&batch, 0, 1_234_567, [0; 32]));
    let after = scene.money(&filings[1]);
    assert_eq!((after.0, after.1), (before.0, before.1 + CHALLENGE_STAKE - LOST_TO_ANSWERER));
    assert_eq!((after.2.stake, after.2.pot), (0, 6_000_000));
    let before = scene.money(&filings[2]);
    scene.resolve(&filings[2]);
    assert_eq!(scene.money(&filings[2]).0, before.0 + CHALLENGE_STAKE + 3_000_000);
    assert_eq!(scene.money(&filings[2]).2, Books::default());
}

#[test]
fn an_answer_before_the_first_slash_adds_to_what_is_slashed() {
    let mut scene = Scene::new();
    let deals: Vec<Message> =
        (0..2).map(|nonce| Message { nonce, ..scene.message(MsgType::Propose) }).collect();
    let batch = scene.submit(&deals, &[deals[1].bid(1_234_567)]);
    let lie = scene.logged(&LogProof::of(&batch, 0), BID);
    scene.file(&lie);
    scene.challenger = scene.party();
    let mistaken = scene.logged(&LogProof::of(&batch, 1), BID);
    scene.file(&mistaken);
    let owner = scene.owner.clone();
    scene.answer(&owner, &mistaken, &answer_of(&batch, 0, 1_234_567, [0; 32]));
    let (before, stake) = (scene.money(&lie), MIN_STAKE + 1_500_000);
    assert_eq!(before.2.stake, stake);
    scene.resolve(&lie);
    // The answered rank is still to be passed, so the rest waits.
    let (pot, reward) = (stake * 2 / 5, stake / 5);
    let after = scene.money(&lie);
    assert_eq!((after.0, after.1), (before.0 + CHALLENGE_STAKE + reward, before.1 + stake - pot));
    assert_eq!(after.2.pot, pot - reward);
    scene.world.pass_rank(&mistaken.challenge()).unwrap();
    scene.world.settle_era(&scene.agent.clone(), 0).unwrap();
    scene.world.assert_books();
    assert_eq!(scene.money(&lie).1, after.1 + pot - reward);
}

#[test]
fn a_fined_stake_is_slashed_for_what_is_left() {
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let (asker, agent) = (scene.party(), scene.agent);
    scene.world.ask_leaf(&asker, &agent, scene.epoch, LOG, 0).unwrap();
    scene.world.advance_slots(108_001);
    scene.world.settle_ask(&scene.ask_at(LOG, 0)).unwrap();
    let filing = scene.logged(&LogProof::of(&batch, 0), BID);
    let before = scene.money(&filing);
    scene.file(&filing);
    scene.resolve(&filing);
    let stake = MIN_STAKE - FINE;
    let (after, reward) = (scene.money(&filing), stake / 5);
    assert_eq!((after.0, after.1, after.2), (before.0 + reward, before.1 + stake - reward, Books::default()));
}

#[test]
fn when_the_pot_is_empty_a_finder_gets_its_stake_back_and_no_more() {
    // Amounts by which the first takes all.
    let amounts = Amounts { share_percent: 100, finders_percent: 100, ..Amounts::DEFAULT };
    let (mut scene, filings) = found(Scene::of(World::configured_with(amounts)), 2);
    let before = scene.money(&filings[0]);
    scene.resolve(&filings[0]);
    assert_eq!(scene.money(&filings[0]).0, before.0 + CHALLENGE_STAKE + MIN_STAKE);
    let before = scene.money(&filings[1]);
    let receipt = scene.resolve(&filings[1]);
    assert_eq!(scene.money(&filings[1]), (before.0 + CHALLENGE_STAKE, before.1, Books::default()));
    assert_eq!(scene.challenge(&filings[1]).outcome, 3);
    let event = ChallengeResolved::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.outcome, event.slashed, event.reward), (3, 0, 0));
    assert_eq!(scene.world.ranks(&scene.agent, 0), (2, 2));
}

#[test]
fn with_nothing_for_finders_all_is_the_treasurys() {
    let amounts = Amounts { finders_percent: 0, ..Amounts::DEFAULT };
    let (mut scene, filings) = found(Scene::of(World::configured_with(amounts)), 2);
    for (filing, (outcome, slashed)) in filings.iter().zip([(2, MIN_STAKE), (3, 0)]) {
        let before = scene.money(filing);
        scene.resolve(filing);
        let after = scene.money(filing);
        assert_eq!((after.0, after.1), (before.0 + CHALLENGE_STAKE, before.1 + slashed));
        assert_eq!(scene.challenge(filing).outcome, outcome);
    }
}

#[test]
fn later_than_the_slash_a_finder_may_still_come_and_share() {
    // The era is slashed while a rank is outstanding; a third finder comes for another lie of the batch.
    let (mut scene, filings) = hidden(Scene::new(), 3);
    let message = scene.message(MsgType::Counter);
    scene.world.advance_epochs(1);
    scene.epoch += 1;
    let batch = scene.submit(&[], &[message.bid(1), message.bid(2)]);
    scene.challenger = scene.party();
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    scene.file(&double);
    scene.world.prepare(&filings[0]);
    scene.world.resolve(&double.challenge()).unwrap();
    scene.world.submit_challenge(&filings[0]).unwrap();
    scene.world.advance_slots(9);
    scene.file(&filings[1]);
    assert_eq!((scene.challenge(&filings[0]).rank, scene.challenge(&filings[1]).rank), (1, 2));
    scene.pass_window(&filings[1]);
    for (filing, reward) in [(&filings[0], 3_000_000), (&filings[1], 1_500_000)] {
        let before = scene.money(filing);
        scene.world.resolve(&filing.challenge()).unwrap();
        scene.world.assert_books();
        assert_eq!(scene.money(filing).0, before.0 + CHALLENGE_STAKE + reward);
    }
    assert_eq!(scene.world.books(&scene.agent, 0), Books::default());
}

// settle_era.

/// An era that was slashed while a further rank was held, which then lapsed: half of the pot is left.
fn left_over() -> (Scene, Filing) {
    let (mut scene, filings) = hidden(Scene::new(), 2);
    scene.world.prepare(&filings[0]);
    scene.world.begin(&filings[1]).unwrap();
    scene.world.submit_challenge(&filings[0]).unwrap();
    scene.resolve(&filings[0]);
    let mut filings = filings;
    (scene, filings.remove(1))
}

#[test]
fn what_nobody_can_win_any_more_goes_to_the_treasury_ok() {
    let (mut scene, idle) = left_over();
    let (agent, before) = (scene.agent, treasury(&mut scene));
    assert_eq!(scene.world.books(&agent, 0).pot, POT / 2);
    let stranger = scene.stranger();
    let settle = scene.world.settling_era(&agent, 0);
    refused(&mut scene.world, std::slice::from_ref(&settle), &stranger, &[], Error::RanksOutstanding);
    scene.world.pass_rank(&idle.draft()).unwrap();
    let stake = scene.stake();
    let receipt = scene.world.send_ok(std::slice::from_ref(&settle), &stranger, &[]);
    scene.world.assert_books();
    assert_eq!(treasury(&mut scene), before + POT / 2);
    assert_eq!(scene.world.books(&agent, 0), Books::default());
    let moved = StakeMoved::read(&only_event(&receipt, ids::STAKE_LOCK)).unwrap();
    assert_eq!((moved.from_stake, moved.to_stake, moved.pot_usdc, moved.slashed), (0, 0, 0, 0));
    let after = zx1_interface::accounts::StakeLockAccount {
        pot_usdc: 0,
        event_sequence: stake.event_sequence + 1,
        ..stake
    };
    assert_eq!(scene.stake(), after);
    refused(&mut scene.world, &[settle], &stranger, &[], Error::EraEmpty);
}

#[test]
fn an_era_that_was_not_slashed_is_not_settled() {
    let (mut scene, filings) = found(Scene::new(), 1);
    let (agent, stranger) = (scene.agent, scene.stranger());
    let settle = scene.world.settling_era(&agent, 0);
    refused(&mut scene.world, std::slice::from_ref(&settle), &stranger, &[], Error::EraEmpty);
    scene.resolve(&filings[0]);
    refused(&mut scene.world, &[settle], &stranger, &[], Error::EraEmpty);
}

#[test]
fn an_era_with_open_challenges_is_not_settled() {
    let (mut scene, filings) = found(Scene::new(), 2);
    let (agent, stranger) = (scene.agent, scene.stranger());
    scene.resolve(&filings[0]);
    let settle = scene.world.settling_era(&agent, 0);
    refused(&mut scene.world, &[settle], &stranger, &[], Error::OpenChallenges);
}

#[test]
fn nobody_elses_account_gets_the_rest() {
    let (mut scene, idle) = left_over();
    scene.world.pass_rank(&idle.draft()).unwrap();
    let (agent, thief) = (scene.agent, scene.party());
    let other = scene.world.living_agent();
    let settle = scene.world.settling_era(&agent, 0);
    let thiefs = scene.world.usdc_account(&thief.at());
    let cases = [
        (0, thief.at(), Error::WrongAddress),
        (1, pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (1, pda::tenure(&agent.mint), Error::WrongAccountType),
        (2, pda::shard(other.agent.shard()), Error::WrongAddress),
        (3, pda::vault(other.agent.shard()), Error::WrongAddress),
        (4, thiefs, Error::NotTreasury),
        (5, thief.at(), Error::WrongAddress),
        (6, address(ids::LEASE), Error::WrongAddress),
        (8, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(settle.clone(), place, account);
        let failure = scene.world.send_refused(&[wrong], &thief, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    // Another era's number with this one's account.
    let wrong = with_account(scene.world.settling_era(&agent, 1), 1, pda::stake(&agent.mint, 0));
    refused(&mut scene.world, &[wrong], &thief, &[], Error::WrongEra);
}

#[test]
fn a_slashed_era_is_claimed_only_when_its_order_and_pot_are_settled() {
    let (mut scene, idle) = left_over();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.world.advance_slots(432_001);
    let early = |scene: &mut Scene| {
        let failure = scene.world.claim_stake(&agent, &owner, 0).unwrap_err();
        failure.expect_code(Error::RanksOutstanding.code());
    };
    early(&mut scene);
    scene.world.pass_rank(&idle.draft()).unwrap();
    early(&mut scene);
    scene.world.settle_era(&agent, 0).unwrap();
    let before = usdc(&mut scene, &owner);
    scene.world.claim_stake(&agent, &owner, 0).unwrap();
    assert_eq!(usdc(&mut scene, &owner), before, "only the rent is left");
}

// Attacks.

#[test]
fn challenging_oneself_with_many_claims_loses_at_least_60_percent() {
    for claims in [1, 2, 7] {
        let (mut scene, filings) = hidden(Scene::new(), claims);
        let owner = scene.owner.clone();
        let filings: Vec<Filing> = filings.iter().map(|filing| scene.by(&owner, filing)).collect();
        // The stake lies in the vault already.
        let before = usdc(&mut scene, &owner) + MIN_STAKE;
        for filing in &filings {
            scene.file(filing);
        }
        scene.pass_window(&filings[claims as usize - 1]);
        for filing in &filings {
            scene.world.resolve(&filing.challenge()).unwrap();
            scene.world.assert_books();
        }
        let lost = before - usdc(&mut scene, &owner);
        assert!(lost >= MIN_STAKE * 3 / 5, "{claims} claims lose {lost}");
        assert_eq!(scene.world.books(&scene.agent, 0), Books::default());
    }
}

#[test]
fn a_parachute_double_bid_does_not_outrun_the_finders_rank() {
    // The liar planted a double bid, which nothing can answer and which needs no window. A finder begins with
    // another lie; only then the accomplice opens the double bid.
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Accept);
    let planted = scene.message(MsgType::Counter);
    let batch = scene.submit(std::slice::from_ref(&deal), &[planted.bid(1), planted.bid(2)]);
    let found = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    let accomplice = scene.party();
    let parachute = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    let parachute = scene.by(&accomplice, &parachute);
    scene.world.begin(&found).unwrap();
    scene.world.prepare(&parachute);
    scene.world.submit_challenge(&parachute).unwrap();
    let stranger = scene.stranger();
    let resolve = scene.world.resolving(&parachute.challenge());
    refused(&mut scene.world, std::slice::from_ref(&resolve), &stranger, &[], Error::LowerRankOpen);
    // The finder's evidence follows in its own time.
    scene.world.advance_slots(RANK_SLOTS);
    scene.world.append(&found.finder, found.nonce, found.written());
    scene.world.seal(&found).unwrap();
    scene.world.submit_challenge(&found).unwrap();
    refused(&mut scene.world, &[resolve], &stranger, &[], Error::LowerRankOpen);
    let (finders, accomplices) = (scene.money(&found).0, usdc(&mut scene, &accomplice));
    scene.resolve(&found);
    scene.world.resolve(&parachute.challenge()).unwrap();
    scene.world.assert_books();
    assert_eq!(scene.money(&found).0, finders + CHALLENGE_STAKE + 6_000_000);
    assert_eq!(usdc(&mut scene, &accomplice), accomplices + CHALLENGE_STAKE + 3_000_000);
}

#[test]
fn a_parachute_opened_first_still_leaves_the_finder_a_share() {
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Accept);
    let planted = scene.message(MsgType::Counter);
    let batch = scene.submit(std::slice::from_ref(&deal), &[planted.bid(1), planted.bid(2)]);
    let found = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    let accomplice = scene.party();
    let parachute = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    let parachute = scene.by(&accomplice, &parachute);
    scene.file(&parachute);
    scene.world.begin(&found).unwrap();
    scene.world.resolve(&parachute.challenge()).unwrap();
    scene.world.append(&found.finder, found.nonce, found.written());
    scene.world.seal(&found).unwrap();
    let before = scene.money(&found);
    scene.world.submit_challenge(&found).unwrap();
    scene.resolve(&found);
    assert_eq!(scene.money(&found).0, before.0 + 3_000_000);
}

#[test]
fn money_locked_after_a_slash_is_out_of_reach_of_the_old_batchs_finders() {
    // M3: the top-up is in an era of its own.
    let (mut scene, filings) = found(Scene::new(), 2);
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.pass_window(&filings[1]);
    scene.world.resolve(&filings[0].challenge()).unwrap();
    scene.world.lock_stake_in(&agent, &owner, 0, MIN_STAKE).unwrap_err().expect_code(Error::EraEnded.code());
    scene.world.lock_stake(&agent, &owner, 2 * MIN_STAKE).unwrap();
    let before = scene.money(&filings[1]);
    scene.world.resolve(&filings[1].challenge()).unwrap();
    scene.world.assert_books();
    assert_eq!(scene.money(&filings[1]).0, before.0 + CHALLENGE_STAKE + 3_000_000);
    let books = scene.world.books(&agent, 1);
    assert_eq!((books.stake, books.pot, books.shard), (2 * MIN_STAKE, 0, 2 * MIN_STAKE));
}

#[test]
fn a_challenged_stake_backs_no_further_lies() {
    // M3: while a challenge is open, no batch lands in its era; new money opens the next.
    let (mut scene, _) = found(Scene::new(), 1);
    let (agent, owner, keys) = (scene.agent, scene.owner.clone(), scene.keys.clone());
    scene.world.advance_epochs(1);
    let next = Batch::empty(scene.epoch + 1);
    let failure = scene.world.submit_batch(&agent, &keys.batch, &next).unwrap_err();
    failure.expect_code(Error::EraChallenged.code());
    scene.world.lock_stake_in(&agent, &owner, 0, 1).unwrap_err().expect_code(Error::EraChallenged.code());
    scene.world.lock_stake(&agent, &owner, MIN_STAKE).unwrap();
    scene.world.submit_batch(&agent, &keys.batch, &next).unwrap();
    assert_eq!(scene.world.batch(&agent, next.epoch).era, 1);
    scene.world.assert_books();
}

#[test]
fn a_holder_of_one_slot_writes_itself_into_no_stake() {
    // L2: the stake's owner is who opened the tenure; a borrower of the NFT locks nothing, not even nothing.
    let mut scene = Scene::new();
    let (agent, owner, borrower) = (scene.agent, scene.owner.clone(), scene.party());
    let lent = scene.world.transfer_agent(&agent, &owner, &borrower.at());
    for amount in [0, 1, MIN_STAKE] {
        let failure = scene.world.lock_stake_in(&lent, &borrower, 0, amount).unwrap_err();
        failure.expect_code(Error::NotTenureOwner.code());
    }
    assert_eq!(scene.stake().owner, owner.at().to_bytes());
    // Even after a take-over the former era's stake is the former owner's.
    scene.world.take_over(&lent, &borrower).unwrap();
    scene.world.lock_stake_in(&lent, &borrower, 0, 0).unwrap_err().expect_code(Error::WrongEra.code());
    assert_eq!(scene.stake().owner, owner.at().to_bytes());
}

#[test]
fn a_frivolous_treasury_pays_for_its_challenges() {
    // M5: who gets the treasury's part still loses two USDC a time, which the agent and the answerer get.
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&deal), &[deal.selection()]);
    let holder = Key(scene.world.treasury());
    scene.world.set_lamports(&holder.at(), 10_000_000_000);
    scene.world.fund_usdc(&holder.at(), CHALLENGE_STAKE);
    scene.challenger = holder;
    let filing = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    let (before, owner) = (treasury(&mut scene), scene.owner.clone());
    let owners = usdc(&mut scene, &owner);
    scene.file(&filing);
    scene.answer(&owner, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    assert_eq!(treasury(&mut scene), before - 2_000_000);
    assert_eq!(usdc(&mut scene, &owner), owners + LOST_TO_ANSWERER);
    assert_eq!(scene.stake().stake_usdc, MIN_STAKE + 1_500_000);
}

#[test]
fn an_answered_challenge_holds_nothing_up() {
    // M4: opened in the last slot of the last window, answered at once: claim and close wait for no second window.
    let mut scene = Scene::new();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.world.advance_epochs(9);
    scene.epoch += 9;
    let deal = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&deal), &[deal.selection()]);
    let filing = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    let submitted = scene.batch_account().submitted_slot;
    // The lease is dead four epochs on; the challenge comes in the last slot that there is.
    scene.world.warp_to_slot(submitted + 432_000);
    scene.file(&filing);
    scene.answer(&owner, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    scene.world.advance_slots(1);
    scene.world.close_batch(&agent, scene.epoch).unwrap();
    let dead = scene.epoch + 4;
    if scene.world.epoch() < dead {
        scene.world.warp_to_epoch(dead);
    }
    scene.world.queue_unlock(&agent, &owner, 0).unwrap();
    scene.world.advance_slots(432_001);
    scene.world.claim_stake(&agent, &owner, 0).unwrap();
    assert_eq!(scene.world.books(&agent, 0), Books::default());
}

#[test]
fn self_answering_farms_nothing() {
    // Challenger and answerer are one: the pair loses what the stake and the treasury get.
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&deal), &[deal.selection()]);
    let filing = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    let (who, before) = (filing.finder.clone(), scene.money(&filing));
    scene.file(&filing);
    scene.answer(&who, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    assert_eq!(scene.money(&filing).0, before.0 - CHALLENGE_STAKE + LOST_TO_ANSWERER);
    assert_eq!(scene.money(&filing).1, before.1 + 3_000_000);
}
