//! resolve_challenge: who gets which money, and when. What several finders share is in shares.rs.

use crate::common::{
    BID, BidProof, CHALLENGE_STAKE, LOST_TO_ANSWERER, LOST_TO_STAKE, LogProof, MIN_STAKE, Message, SELECTION,
    Scene, answer_of, further_account, money, only_event, refused, with_account,
};
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use zx1_chain::pda;
use zx1_chain::token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{ChallengeAccount, StakeLockAccount};
use zx1_interface::events::{ChallengeResolved, StakeMoved};
use zx1_interface::{Error, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{Batch, Books, Filing, Key, address, events, keypair};

/// What the only finder of a lie takes of the minimum stake: half of two fifths.
const REWARD: u64 = MIN_STAKE / 5;

/// A batch with one bid of value 5 and its log entry, and a challenge against it.
fn challenged() -> (Scene, Filing, Batch) {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.bid(5)]);
    let filing = scene.logged(&LogProof::of(&batch, 0), BID);
    scene.file(&filing);
    (scene, filing, batch)
}

/// Answered by the holder.
fn answer(scene: &mut Scene, filing: &Filing, batch: &Batch) {
    let owner = scene.owner.clone();
    scene.answer(&owner, filing, &answer_of(batch, 0, 5, [0; 32]));
}

#[test]
fn an_unanswered_challenge_slashes_the_whole_stake_ok() {
    let (mut scene, filing, _) = challenged();
    let (before, stake) = (scene.challenge(&filing), scene.stake());
    let held = scene.money(&filing);
    scene.pass_window(&filing);
    let (stranger, instruction) = (scene.stranger(), scene.world.resolving(&filing.challenge()));
    let paid = scene.world.lamports(&stranger.at());
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(std::slice::from_ref(&instruction), &stranger, &[]);
    let changed = [
        filing.challenge(),
        pda::stake(&scene.agent.mint, 0),
        pda::shard(scene.agent.shard()),
        pda::vault(scene.agent.shard()),
        instruction.accounts[money::OF_RESOLVE + money::FIRST].pubkey,
        instruction.accounts[money::OF_RESOLVE + money::SECOND].pubkey,
        stranger.at(),
    ];
    snapshot.assert_only_changed(&scene.world, &changed);
    scene.world.assert_books();
    // Who resolves pays only the fee.
    assert_eq!(scene.world.lamports(&stranger.at()), paid - receipt.fee);

    let after = (held.0 + CHALLENGE_STAKE + REWARD, held.1 + MIN_STAKE - REWARD, Books::default());
    assert_eq!(scene.money(&filing), after);
    let slot = scene.world.slot();
    let resolved =
        ChallengeAccount { outcome: 2, passed: 1, settled_slot: slot, event_sequence: 2, ..before };
    assert_eq!(scene.challenge(&filing), resolved);
    let slashed = StakeLockAccount {
        stake_usdc: 0,
        deposits_usdc: 0,
        open_challenges: 0,
        settled_rank: 1,
        slashed_slot: slot,
        ended_slot: slot,
        event_sequence: stake.event_sequence + 1,
        ..stake
    };
    assert_eq!(scene.stake(), slashed);
    let expected = ChallengeResolved {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        outcome: 2,
        challenger: before.challenger,
        challenge: filing.challenge().to_bytes(),
        slashed: MIN_STAKE,
        reward: REWARD,
        sequence: 1,
        account_created_slot: before.submitted_slot,
    };
    let event = ChallengeResolved::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!(event, expected);
    let moved = StakeMoved::read(&only_event(&receipt, ids::STAKE_LOCK)).unwrap();
    let expected = StakeMoved {
        agent_mint: scene.id(),
        era: 0,
        from_stake: MIN_STAKE,
        to_stake: 0,
        stake_usdc: 0,
        pot_usdc: 0,
        slashed: 1,
        sequence: stake.event_sequence,
        account_created_slot: stake.created_slot,
    };
    assert_eq!(moved, expected);
}

#[test]
fn the_window_ends_after_its_last_slot() {
    let (mut scene, filing, _) = challenged();
    let (submitted, stranger) = (scene.challenge(&filing).submitted_slot, scene.stranger());
    let instruction = scene.world.resolving(&filing.challenge());
    for slot in [submitted, submitted + 1, submitted + 432_000] {
        scene.world.warp_to_slot(slot);
        let early = std::slice::from_ref(&instruction);
        refused(&mut scene.world, early, &stranger, &[], Error::WindowNotOver);
    }
    scene.world.warp_to_slot(submitted + 432_001);
    scene.world.send_ok(&[instruction], &stranger, &[]);
    assert_eq!(scene.challenge(&filing).outcome, 2);
}

#[test]
fn a_double_bid_needs_no_window() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.bid(1), message.bid(2)]);
    let filing = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    let before = scene.money(&filing);
    scene.file(&filing);
    let slot = scene.world.slot();
    scene.world.resolve(&filing.challenge()).unwrap();
    scene.world.assert_books();
    assert_eq!((scene.world.slot(), scene.challenge(&filing).outcome), (slot, 2));
    assert_eq!(scene.money(&filing), (before.0 + REWARD, before.1 + MIN_STAKE - REWARD, Books::default()));
}

#[test]
fn resolving_twice_or_after_an_answer_fails() {
    for answered in [false, true] {
        let (mut scene, filing, batch) = challenged();
        if answered {
            answer(&mut scene, &filing, &batch);
            scene.pass_window(&filing);
        } else {
            scene.resolve(&filing);
        }
        let (stranger, again) = (scene.stranger(), scene.world.resolving(&filing.challenge()));
        refused(&mut scene.world, &[again], &stranger, &[], Error::AlreadyResolved);
    }
}

#[test]
fn odd_stakes_are_rounded_down_for_the_finders() {
    // Stake; two fifths of it rounded down; half of that rounded down.
    for (extra, pot, reward) in [
        (1, 12_000_000, 6_000_000),
        (3, 12_000_001, 6_000_000),
        (5, 12_000_002, 6_000_001),
        (777_777_777, 323_111_110, 161_555_555),
    ] {
        let stake = MIN_STAKE + extra;
        assert_eq!((stake * 2 / 5, pot / 2), (pot, reward));
        let mut scene = Scene::new();
        let (agent, owner) = (scene.agent, scene.owner.clone());
        scene.world.lock_stake(&agent, &owner, extra).unwrap();
        let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
        let filing = scene.logged(&LogProof::of(&batch, 0), BID);
        let before = scene.money(&filing);
        scene.file(&filing);
        let receipt = scene.resolve(&filing);
        assert_eq!(scene.money(&filing), (before.0 + reward, before.1 + stake - reward, Books::default()));
        let event = ChallengeResolved::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
        assert_eq!((event.slashed, event.reward), (stake, reward));
    }
}

#[test]
fn a_stake_of_one_unit_goes_to_the_treasury() {
    let (mut scene, filing, _) = challenged();
    let (stake, shard) = (pda::stake(&scene.agent.mint, 0), pda::shard(scene.agent.shard()));
    // No instruction leaves such a stake; the rule must hold all the same. stake_usdc and total_usdc come first.
    scene.world.edit_data(&stake, |data| data[8..16].copy_from_slice(&1_u64.to_le_bytes()));
    let total = CHALLENGE_STAKE + 1;
    scene.world.edit_data(&shard, |data| data[8..16].copy_from_slice(&total.to_le_bytes()));
    let before = scene.money(&filing);
    let receipt = scene.resolve(&filing);
    let after = scene.money(&filing);
    assert_eq!((after.0, after.1), (before.0 + CHALLENGE_STAKE, before.1 + 1));
    assert_eq!((after.2.stake, after.2.pot, after.2.shard), (0, 0, 0));
    let event = ChallengeResolved::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.outcome, event.slashed, event.reward), (2, 1, 0));
}

#[test]
fn gifts_in_the_vault_block_nothing_and_belong_to_nobody() {
    for answered in [false, true] {
        let (mut scene, filing, batch) = challenged();
        let donor = scene.party();
        let (from, mint) = (scene.world.usdc_account(&donor.at()), scene.world.usdc_mint());
        let vault = pda::vault(scene.agent.shard());
        let give = token::transfer(&from, &mint, &vault, &donor.at(), (11, 6), &TOKEN_PROGRAM).unwrap();
        scene.world.send_ok(&[give], &donor, &[]);
        let before = scene.money(&filing);
        assert_eq!(before.2.vault, before.2.shard + 11);
        if answered {
            answer(&mut scene, &filing, &batch);
        } else {
            scene.resolve(&filing);
            let after = (before.0 + CHALLENGE_STAKE + REWARD, before.1 + MIN_STAKE - REWARD);
            assert_eq!((scene.money(&filing).0, scene.money(&filing).1), after);
        }
        let books = scene.money(&filing).2;
        assert_eq!(books.vault, books.shard + 11);
    }
}

#[test]
fn after_an_answer_the_agent_claims_all_of_it() {
    let (mut scene, filing, batch) = challenged();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    answer(&mut scene, &filing, &batch);
    scene.world.advance_epochs(13);
    scene.world.queue_unlock(&agent, &owner, 0).unwrap();
    scene.world.advance_slots(432_001);
    let before = scene.world.usdc_balance(&owner.at());
    scene.world.claim_stake(&agent, &owner, 0).unwrap();
    assert_eq!(scene.world.usdc_balance(&owner.at()), before + MIN_STAKE + LOST_TO_STAKE);
    assert_eq!(scene.world.books(&agent, 0), Books::default());
}

#[test]
fn nothing_is_claimed_while_a_challenge_is_open() {
    let (mut scene, filing, _) = challenged();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    // The lease runs out, the unlock's delay and the batch's window pass: only the challenge remains.
    scene.world.advance_epochs(13);
    scene.world.queue_unlock(&agent, &owner, 0).unwrap();
    scene.world.advance_slots(432_001);
    let failure = scene.world.claim_stake(&agent, &owner, 0).unwrap_err();
    failure.expect_code(Error::OpenChallenges.code());
    scene.world.resolve(&filing.challenge()).unwrap();
    // The era has ended by the slash, so its own delay runs; then there is only the rent.
    scene.world.advance_slots(432_001);
    let before = scene.world.usdc_balance(&owner.at());
    scene.world.claim_stake(&agent, &owner, 0).unwrap();
    assert_eq!(scene.world.usdc_balance(&owner.at()), before);
    assert!(scene.world.account(&pda::stake(&agent.mint, 0)).is_none());
}

#[test]
fn an_honest_agent_that_was_challenged_answers_is_paid_and_keeps_its_stake() {
    let (mut scene, filing, batch) = challenged();
    let (agent, owner, keys) = (scene.agent, scene.owner.clone(), scene.keys.clone());
    let before = scene.world.usdc_balance(&owner.at());
    answer(&mut scene, &filing, &batch);
    assert_eq!(scene.world.usdc_balance(&owner.at()), before + LOST_TO_ANSWERER);
    assert_eq!(scene.stake().stake_usdc, MIN_STAKE + LOST_TO_STAKE);
    // It goes on at once: tops up and lands its next batch, in the same era.
    scene.world.lock_stake(&agent, &owner, 1).unwrap();
    scene.world.advance_epochs(1);
    scene.world.submit_batch(&agent, &keys.batch, &Batch::empty(scene.epoch + 1)).unwrap();
    assert_eq!((scene.world.era(&agent), scene.stake().ended_slot), (0, 0));
    scene.world.assert_books();
}

#[test]
fn any_usdc_account_of_challenger_and_treasury_serves() {
    let (mut scene, filing, _) = challenged();
    let (challenger, treasury) = (scene.challenger.at(), scene.world.treasury().pubkey());
    let (theirs, its) = (further_account(&mut scene, &challenger), further_account(&mut scene, &treasury));
    scene.pass_window(&filing);
    let right = scene.world.resolving(&filing.challenge());
    let right = with_account(right, money::OF_RESOLVE + money::FIRST, theirs);
    let right = with_account(right, money::OF_RESOLVE + money::SECOND, its);
    let stranger = scene.stranger();
    scene.world.send_ok(&[right], &stranger, &[]);
    assert_eq!(scene.world.token_balance(&theirs), CHALLENGE_STAKE + REWARD);
    assert_eq!(scene.world.token_balance(&its), MIN_STAKE - REWARD);
}

#[test]
fn the_treasurys_own_challenge_is_paid_into_one_account() {
    let mut scene = Scene::new();
    let treasury = Key(scene.world.treasury());
    scene.world.set_lamports(&treasury.at(), 10_000_000_000);
    scene.world.fund_usdc(&treasury.at(), CHALLENGE_STAKE);
    scene.challenger = treasury;
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let filing = scene.logged(&LogProof::of(&batch, 0), BID);
    let before = scene.money(&filing);
    scene.file(&filing);
    scene.resolve(&filing);
    assert_eq!(scene.money(&filing).1, before.1 + MIN_STAKE);
}

#[test]
fn accounts_of_others_fail() {
    let (mut scene, filing, _) = challenged();
    let (other, thief) = (scene.world.living_agent(), scene.party());
    let (thiefs, owners) =
        (scene.world.usdc_account(&thief.at()), scene.world.usdc_account(&scene.owner.at()));
    let fake = keypair("fake USDC");
    scene.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let (treasury, challenger) = (scene.world.treasury().pubkey(), scene.challenger.at());
    let fakes = scene.world.fund_token(&treasury, &fake.pubkey(), 0, &TOKEN_PROGRAM);
    let challengers_fakes = scene.world.fund_token(&challenger, &fake.pubkey(), 0, &TOKEN_PROGRAM);
    let further = further_account(&mut scene, &challenger);
    scene.pass_window(&filing);
    let right = scene.world.resolving(&filing.challenge());
    let cases: [(usize, Address, Error); 19] = [
        (money::CONFIG, thief.at(), Error::WrongAddress),
        (money::STAKE, pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (money::STAKE, pda::stake(&scene.agent.mint, 1), Error::AccountMissing),
        (money::STAKE, pda::tenure(&scene.agent.mint), Error::WrongAccountType),
        (money::STAKE, pda::lease(&other.agent.mint), Error::WrongAccountOwner),
        (money::SHARD, pda::shard(other.agent.shard()), Error::WrongAddress),
        (money::SHARD, pda::lease(&other.agent.mint), Error::VaultMissing),
        (money::VAULT, pda::vault(other.agent.shard()), Error::WrongAddress),
        (money::FIRST, thiefs, Error::WrongTokenAccountOwner),
        (money::FIRST, owners, Error::WrongTokenAccountOwner),
        (money::FIRST, challengers_fakes, Error::WrongUsdcMint),
        (money::FIRST, thief.at(), Error::NotLegacyToken),
        (money::SECOND, thiefs, Error::NotTreasury),
        (money::SECOND, further, Error::NotTreasury),
        (money::SECOND, fakes, Error::WrongUsdcMint),
        (money::SECOND, treasury, Error::NotLegacyToken),
        (money::AUTHORITY, thief.at(), Error::WrongAddress),
        (money::STAKE_LOCK, address(ids::LEASE), Error::WrongAddress),
        (money::TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), money::OF_RESOLVE + place, account);
        let failure = scene.world.send_refused(&[wrong], &thief, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    let lease_events = pda::event_authority(ids::LEASE);
    let wrong = with_account(right.clone(), money::OF_RESOLVE + money::STAKE_LOCK_EVENTS, lease_events);
    let failure = scene.world.send_refused(&[wrong], &thief, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::InvalidSeeds), "{failure:?}");
    scene.world.send_ok(&[right], &thief, &[]);
}

#[test]
fn another_challenges_accounts_do_not_mix() {
    // Two claims of two finders; one's challenge with the other as recipient.
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Accept)], &[]);
    let first = scene.logged(&LogProof::of(&batch, 0), BID);
    scene.file(&first);
    scene.challenger = scene.party();
    let second = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    scene.file(&second);
    scene.pass_window(&second);
    let stranger = scene.stranger();
    let mixed = with_account(scene.world.resolving(&second.challenge()), 0, first.challenge());
    refused(&mut scene.world, &[mixed], &stranger, &[], Error::WrongTokenAccountOwner);
}

#[test]
fn an_envelopes_challenge_is_resolved_all_the_same() {
    let mut scene = Scene::new();
    scene.submit(&[], &[]);
    let message = Message { nonce: 9, ..scene.message(MsgType::Accept) };
    let filing = scene.enveloped(&message, BID);
    let before = scene.money(&filing);
    scene.file(&filing);
    scene.resolve(&filing);
    assert_eq!(scene.money(&filing), (before.0 + REWARD, before.1 + MIN_STAKE - REWARD, Books::default()));
}

#[test]
fn a_higher_rank_waits_for_the_lower_ones() {
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Accept)], &[]);
    let first = scene.logged(&LogProof::of(&batch, 0), BID);
    let second = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    scene.file(&first);
    scene.file(&second);
    scene.pass_window(&second);
    let (stranger, resolve) = (scene.stranger(), scene.world.resolving(&second.challenge()));
    refused(&mut scene.world, std::slice::from_ref(&resolve), &stranger, &[], Error::LowerRankOpen);
    let receipt = scene.world.resolve(&first.challenge()).unwrap();
    assert_eq!(events(&receipt, &address(ids::STAKE_LOCK)).len(), 1);
    scene.world.send_ok(&[resolve], &stranger, &[]);
    scene.world.assert_books();
    assert_eq!(scene.world.ranks(&scene.agent, 0), (2, 2));
}
