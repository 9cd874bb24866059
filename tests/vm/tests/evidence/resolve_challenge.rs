//! resolve_challenge: who gets which money, and when.

use crate::common::{
    BID, BidProof, Filing, Key, LogProof, Message, Scene, only_event, refused, with_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use spl_token_2022_interface::instruction as spl;
use zx1_chain::instructions::challenge::answer_challenge;
use zx1_chain::pda;
use zx1_chain::token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{ChallengeAccount, StakeLockAccount};
use zx1_interface::constants::{CHALLENGE_STAKE, MIN_STAKE};
use zx1_interface::events::{ChallengeResolved, StakeSlashed};
use zx1_interface::instruction::AnswerChallenge;
use zx1_interface::{Error, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{Batch, Receipt, address, events, keypair};

/// The places of resolve_challenge's accounts.
mod at {
    pub(super) const CHALLENGER: usize = 1;
    pub(super) const CHALLENGER_USDC: usize = 2;
    pub(super) const TREASURY_USDC: usize = 3;
    pub(super) const VAULT: usize = 4;
    pub(super) const STAKE: usize = 5;
    pub(super) const STAKE_VAULT: usize = 6;
    pub(super) const CONFIG: usize = 7;
    pub(super) const AUTHORITY: usize = 8;
    pub(super) const STAKE_LOCK: usize = 9;
    pub(super) const STAKE_LOCK_EVENTS: usize = 10;
    pub(super) const TOKEN: usize = 11;
}

/// A batch with one bid of value 5 and its log entry, and a challenge against it.
fn challenged() -> (Scene, Filing, Batch) {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&message), &[message.bid(5)]);
    let filing = scene.inline(&LogProof::of(&batch, 0), BID);
    scene.file(&filing);
    (scene, filing, batch)
}

fn answer(scene: &mut Scene, filing: &Filing, batch: &Batch) {
    let place = BidProof::of(batch, 0).place;
    let arguments = AnswerChallenge {
        leaf_index: place.index,
        merkle_proof: place.path,
        bid_value: 5,
        attestation: [0; 32],
    };
    let owner = scene.owner.clone();
    let instruction = answer_challenge(owner.at(), filing.challenge(), filing.addresses.batch(), &arguments);
    scene.world.send_ok(&[instruction], &owner, &[]);
}

fn resolved_event(receipt: &Receipt) -> ChallengeResolved {
    ChallengeResolved::read(&only_event(receipt, ids::CHALLENGE)).unwrap()
}

fn slashes(receipt: &Receipt) -> Vec<StakeSlashed> {
    let all = events(receipt, &address(ids::STAKE_LOCK));
    all.iter().map(|payload| StakeSlashed::read(payload).unwrap()).collect()
}

#[test]
fn an_unanswered_challenge_slashes_the_whole_stake_ok() {
    let (mut scene, filing, _) = challenged();
    let (before, stake) = (scene.challenge(&filing), scene.stake());
    assert_eq!(stake.open_challenges, 1);
    let money = scene.money(&filing);
    assert_eq!(money[2..], [MIN_STAKE, CHALLENGE_STAKE]);
    scene.pass_window(&filing);
    let (stranger, instruction) = (scene.stranger(), scene.resolving(&filing));
    let (lamports, paid) =
        (scene.world.lamports(&scene.challenger.at()), scene.world.lamports(&stranger.at()));
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(std::slice::from_ref(&instruction), &stranger, &[]);

    let half = MIN_STAKE / 2;
    let after = [money[0] + CHALLENGE_STAKE + half, money[1] + half, 0, 0];
    assert_eq!(scene.money(&filing), after);
    let resolved = ChallengeAccount { resolved: 1, succeeded: 1, event_sequence: 2, ..before };
    assert_eq!(scene.challenge(&filing), resolved);
    let slashed = StakeLockAccount {
        stake_usdc: 0,
        open_challenges: 0,
        event_sequence: stake.event_sequence + 2,
        ..stake
    };
    assert_eq!(scene.stake(), slashed);
    // The challenge's vault is closed and its rent the challenger's; who resolves pays only the fee.
    assert!(scene.world.account(&filing.vault()).is_none());
    assert_eq!(scene.world.lamports(&scene.challenger.at()), lamports + scene.world.rent(165));
    assert_eq!(scene.world.lamports(&stranger.at()), paid - receipt.fee);
    let treasury = instruction.accounts[at::TREASURY_USDC].pubkey;
    let changed = [
        filing.challenge(),
        filing.vault(),
        filing.addresses.challenger,
        filing.addresses.challenger_usdc,
        treasury,
        pda::stake(&scene.agent.mint),
        pda::stake_vault(&scene.agent.mint),
        stranger.at(),
    ];
    snapshot.assert_only_changed(&scene.world, &changed);

    let expected = ChallengeResolved {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        succeeded: 1,
        challenger: before.challenger,
        challenge: filing.challenge().to_bytes(),
        slashed: MIN_STAKE,
        reward: half,
        sequence: 1,
        account_created_slot: before.submitted_slot,
    };
    assert_eq!(resolved_event(&receipt), expected);
    let slash = |recipient: Address, sequence| StakeSlashed {
        agent_mint: scene.id(),
        amount: half,
        recipient: recipient.to_bytes(),
        sequence,
        account_created_slot: stake.created_slot,
    };
    let expected = [
        slash(filing.addresses.challenger_usdc, stake.event_sequence),
        slash(treasury, stake.event_sequence + 1),
    ];
    assert_eq!(slashes(&receipt), expected);
}

#[test]
fn an_answered_challenge_costs_the_challenger_its_stake() {
    let (mut scene, filing, batch) = challenged();
    scene.world.advance_slots(5);
    answer(&mut scene, &filing, &batch);
    let (before, stake, money) = (scene.challenge(&filing), scene.stake(), scene.money(&filing));
    let lamports = scene.world.lamports(&scene.challenger.at());
    let receipt = scene.resolve(&filing);
    assert_eq!(scene.money(&filing), [money[0], money[1] + CHALLENGE_STAKE, money[2], 0]);
    let resolved = ChallengeAccount { resolved: 1, succeeded: 0, event_sequence: 3, ..before };
    assert_eq!(scene.challenge(&filing), resolved);
    assert_eq!(scene.stake(), StakeLockAccount { open_challenges: 0, ..stake });
    assert_eq!(scene.world.lamports(&scene.challenger.at()), lamports + scene.world.rent(165));
    let event = resolved_event(&receipt);
    assert_eq!((event.succeeded, event.slashed, event.reward, event.sequence), (0, 0, 0, 2));
    assert_eq!(slashes(&receipt), []);
}

#[test]
fn the_window_ends_after_its_last_slot() {
    for answered in [false, true] {
        let (mut scene, filing, batch) = challenged();
        if answered {
            answer(&mut scene, &filing, &batch);
        }
        let (submitted, instruction) = (scene.challenge(&filing).submitted_slot, scene.resolving(&filing));
        let stranger = scene.stranger();
        for slot in [submitted, submitted + 1, submitted + 432_000] {
            scene.world.warp_to_slot(slot);
            let early = std::slice::from_ref(&instruction);
            refused(&mut scene.world, early, &stranger, &[], Error::WindowNotOver);
        }
        scene.world.warp_to_slot(submitted + 432_001);
        scene.world.send_ok(&[instruction], &stranger, &[]);
        assert_eq!(scene.challenge(&filing).succeeded, u8::from(!answered));
    }
}

#[test]
fn resolving_twice_fails() {
    let (mut scene, filing, _) = challenged();
    scene.resolve(&filing);
    let (stranger, again) = (scene.stranger(), scene.resolving(&filing));
    refused(&mut scene.world, &[again], &stranger, &[], Error::AlreadyResolved);
}

#[test]
fn an_odd_stake_gives_the_odd_unit_to_the_treasury() {
    for (extra, reward, rest) in
        [(1, 5_000_000, 5_000_001), (2, 5_000_001, 5_000_001), (3, 5_000_001, 5_000_002)]
    {
        let mut scene = Scene::new();
        let (agent, owner) = (scene.agent, scene.owner.clone());
        scene.world.lock_stake(&agent, &owner, extra).unwrap();
        let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
        let filing = scene.inline(&LogProof::of(&batch, 0), BID);
        let before = scene.money(&filing);
        scene.file(&filing);
        let receipt = scene.resolve(&filing);
        assert_eq!(scene.money(&filing), [before[0] + reward, before[1] + rest, 0, 0]);
        let event = resolved_event(&receipt);
        assert_eq!((event.slashed, event.reward), (MIN_STAKE + extra, reward));
        assert_eq!(slashes(&receipt).iter().map(|slash| slash.amount).collect::<Vec<_>>(), [reward, rest]);
    }
}

#[test]
fn a_large_stake_is_slashed_whole() {
    let mut scene = Scene::new();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.world.lock_stake(&agent, &owner, 777_777_777).unwrap();
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let filing = scene.inline(&LogProof::of(&batch, 0), BID);
    let before = scene.money(&filing);
    scene.file(&filing);
    scene.resolve(&filing);
    // 787 777 777: half of it rounded down, and the rest.
    assert_eq!(scene.money(&filing), [before[0] + 393_888_888, before[1] + 393_888_889, 0, 0]);
}

#[test]
fn a_stake_of_one_unit_goes_to_the_treasury() {
    let (mut scene, filing, _) = challenged();
    let at = pda::stake(&scene.agent.mint);
    // No instruction leaves such a stake; the rule must hold all the same. stake_usdc comes first.
    scene.world.edit_data(&at, |data| data[8..16].copy_from_slice(&1_u64.to_le_bytes()));
    assert_eq!(scene.stake().stake_usdc, 1);
    let before = scene.money(&filing);
    let receipt = scene.resolve(&filing);
    let after = [before[0] + CHALLENGE_STAKE, before[1] + 1, before[2] - 1, 0];
    assert_eq!(scene.money(&filing), after);
    assert_eq!(slashes(&receipt).len(), 1);
    assert_eq!((resolved_event(&receipt).slashed, resolved_event(&receipt).reward), (1, 0));
}

/// Three challengers of the same bid.
fn three() -> (Scene, Batch, Vec<(Key, Filing)>) {
    let (mut scene, filing, batch) = challenged();
    let mut all = vec![(scene.challenger.clone(), filing)];
    for _ in 0..2 {
        scene.challenger = scene.party();
        let filing = scene.inline(&LogProof::of(&batch, 0), BID);
        scene.file(&filing);
        all.push((scene.challenger.clone(), filing));
    }
    (scene, batch, all)
}

#[test]
fn later_winners_get_their_stake_back() {
    let (mut scene, _, all) = three();
    assert_eq!(scene.stake().open_challenges, 3);
    for (n, (who, filing)) in all.iter().enumerate() {
        scene.challenger = who.clone();
        let before = scene.money(filing);
        let receipt = scene.resolve(filing);
        let half = if n == 0 { MIN_STAKE / 2 } else { 0 };
        let after = [before[0] + CHALLENGE_STAKE + half, before[1] + half, 0, 0];
        assert_eq!(scene.money(filing), after);
        assert_eq!(scene.challenge(filing).succeeded, 1);
        assert_eq!(slashes(&receipt).len(), if n == 0 { 2 } else { 0 });
        let event = resolved_event(&receipt);
        assert_eq!((event.succeeded, event.slashed, event.reward), (1, half * 2, half));
        assert_eq!(scene.stake().open_challenges as usize, 2 - n);
    }
}

#[test]
fn winners_and_losers_settle_apart() {
    let (mut scene, batch, all) = three();
    answer(&mut scene, &all[1].1, &batch);
    for (n, (who, filing)) in all.iter().enumerate().rev() {
        scene.challenger = who.clone();
        scene.resolve(filing);
        assert_eq!(scene.challenge(filing).succeeded, u8::from(n != 1));
    }
    // The last in this order, the first in that one, took the stake.
    assert_eq!(scene.stake().stake_usdc, 0);
    assert_eq!(scene.stake().open_challenges, 0);
    let balances: Vec<u64> = all.iter().map(|(who, _)| scene.world.usdc_balance(&who.at())).collect();
    let start = 1_000_000_000;
    assert_eq!(balances, [start, start - CHALLENGE_STAKE, start + MIN_STAKE / 2]);
}

#[test]
fn a_stake_locked_again_is_the_next_winners() {
    let (mut scene, _, all) = three();
    scene.challenger = all[0].0.clone();
    scene.resolve(&all[0].1);
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.world.lock_stake(&agent, &owner, MIN_STAKE).unwrap();
    scene.challenger = all[1].0.clone();
    let before = scene.money(&all[1].1);
    scene.resolve(&all[1].1);
    let half = MIN_STAKE / 2;
    assert_eq!(scene.money(&all[1].1), [before[0] + CHALLENGE_STAKE + half, before[1] + half, 0, 0]);
}

#[test]
fn challenging_oneself_recovers_half_and_no_more() {
    let mut scene = Scene::new();
    scene.challenger = scene.owner.clone();
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let filing = scene.inline(&LogProof::of(&batch, 0), BID);
    let before = scene.money(&filing);
    scene.file(&filing);
    scene.resolve(&filing);
    assert_eq!(scene.money(&filing), [before[0] + MIN_STAKE / 2, before[1] + MIN_STAKE / 2, 0, 0]);
}

#[test]
fn donated_usdc_blocks_nothing() {
    for answered in [false, true] {
        let (mut scene, filing, batch) = challenged();
        let donor = scene.party();
        let (from, mint) = (scene.world.usdc_account(&donor.at()), scene.world.usdc_mint());
        let give = |to: &Address, amount| {
            token::transfer(&from, &mint, to, &donor.at(), (amount, 6), &TOKEN_PROGRAM).unwrap()
        };
        let gifts = [give(&filing.vault(), 3), give(&pda::stake_vault(&scene.agent.mint), 11)];
        let lamports = system::transfer(&donor.at(), &filing.vault(), 1_000);
        scene.world.send_ok(&[&gifts[..], &[lamports]].concat(), &donor, &[]);
        let before = scene.money(&filing);
        assert_eq!(before[2..], [MIN_STAKE + 11, CHALLENGE_STAKE + 3]);
        if answered {
            answer(&mut scene, &filing, &batch);
        }
        let sol = scene.world.lamports(&scene.challenger.at());
        scene.resolve(&filing);
        let half = MIN_STAKE / 2;
        // A gift in the challenge's vault goes with the stake; one in the stake's vault stays there.
        let after = if answered {
            [before[0], before[1] + CHALLENGE_STAKE + 3, before[2], 0]
        } else {
            [before[0] + CHALLENGE_STAKE + 3 + half, before[1] + half, 11, 0]
        };
        assert_eq!(scene.money(&filing), after);
        assert_eq!(scene.world.lamports(&scene.challenger.at()), sol + scene.world.rent(165) + 1_000);
    }
}

#[test]
fn the_agent_can_queue_and_claim_after_it_and_not_before() {
    for answered in [false, true] {
        let (mut scene, filing, batch) = challenged();
        if answered {
            answer(&mut scene, &filing, &batch);
        }
        let (agent, owner) = (scene.agent, scene.owner.clone());
        // The lease runs out, the unlock's delay and the batch's window pass: only the challenge remains.
        scene.world.advance_epochs(4);
        scene.world.queue_unlock(&agent, &owner).unwrap();
        scene.world.advance_slots(432_000);
        let failure = scene.world.claim_stake(&agent, &owner).unwrap_err();
        failure.expect_code(Error::OpenChallenges.code());
        let instruction = scene.resolving(&filing);
        scene.world.send_ok(&[instruction], &owner, &[]);
        assert_eq!(scene.stake().open_challenges, 0);
        let before = scene.world.usdc_balance(&owner.at());
        scene.world.claim_stake(&agent, &owner).unwrap();
        let left = if answered { MIN_STAKE } else { 0 };
        assert_eq!(scene.world.usdc_balance(&owner.at()), before + left);
        assert!(scene.world.account(&pda::stake(&agent.mint)).is_none());
    }
}

/// A further USDC account of a wallet.
fn further_account(scene: &mut Scene, owner: &Address) -> Address {
    let (faucet, account) = (scene.world.faucet.insecure_clone(), scene.world.new_keypair());
    let (rent, mint) = (scene.world.rent(token::ACCOUNT_LEN), scene.world.usdc_mint());
    let len = token::ACCOUNT_LEN as u64;
    let create = system::create_account(&faucet.pubkey(), &account.pubkey(), rent, len, &TOKEN_PROGRAM);
    let init = spl::initialize_account3(&TOKEN_PROGRAM, &account.pubkey(), &mint, owner).unwrap();
    scene.world.send_ok(&[create, init], &faucet, &[&account]);
    account.pubkey()
}

#[test]
fn any_usdc_account_of_challenger_and_treasury_serves() {
    let (mut scene, filing, _) = challenged();
    let (challenger, treasury) = (scene.challenger.at(), scene.world.treasury().pubkey());
    let (theirs, its) = (further_account(&mut scene, &challenger), further_account(&mut scene, &treasury));
    let instruction = with_account(scene.resolving(&filing), at::CHALLENGER_USDC, theirs);
    let instruction = with_account(instruction, at::TREASURY_USDC, its);
    scene.pass_window(&filing);
    let stranger = scene.stranger();
    scene.world.send_ok(&[instruction], &stranger, &[]);
    assert_eq!(scene.world.token_balance(&theirs), CHALLENGE_STAKE + MIN_STAKE / 2);
    assert_eq!(scene.world.token_balance(&its), MIN_STAKE / 2);
}

#[test]
fn accounts_of_others_fail() {
    let (mut scene, filing, batch) = challenged();
    let (other, other_owner) = scene.world.living_agent();
    let (thief, thief_owner) = (scene.party(), scene.owner.clone());
    let (thiefs, owners) =
        (scene.world.usdc_account(&thief.at()), scene.world.usdc_account(&thief_owner.at()));
    // A second challenge, whose vault could be emptied instead.
    let first = scene.challenger.clone();
    scene.challenger = scene.party();
    let second = scene.inline(&LogProof::of(&batch, 0), BID);
    scene.file(&second);
    scene.challenger = first;
    let fake = keypair("fake USDC");
    scene.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let treasury = scene.world.treasury().pubkey();
    let fakes = scene.world.fund_token(&treasury, &fake.pubkey(), 0, &TOKEN_PROGRAM);
    let challengers_fakes =
        scene.world.fund_token(&filing.addresses.challenger, &fake.pubkey(), 0, &TOKEN_PROGRAM);
    let challengers = filing.addresses.challenger_usdc;
    let further = further_account(&mut scene, &filing.addresses.challenger);
    assert_ne!(challengers, further);

    scene.pass_window(&second);
    let right = scene.resolving(&filing);
    let cases = [
        (at::CHALLENGER, thief.at(), Error::WrongPayer),
        (at::CHALLENGER, other_owner.pubkey(), Error::WrongPayer),
        (at::CHALLENGER_USDC, thiefs, Error::WrongTokenAccountOwner),
        (at::CHALLENGER_USDC, owners, Error::WrongTokenAccountOwner),
        (at::CHALLENGER_USDC, challengers_fakes, Error::WrongUsdcMint),
        (at::CHALLENGER_USDC, thief.at(), Error::NotLegacyToken),
        (at::TREASURY_USDC, thiefs, Error::NotTreasury),
        (at::TREASURY_USDC, further, Error::NotTreasury),
        (at::TREASURY_USDC, fakes, Error::WrongUsdcMint),
        (at::TREASURY_USDC, treasury, Error::NotLegacyToken),
        (at::VAULT, second.vault(), Error::WrongAddress),
        (at::VAULT, thiefs, Error::WrongAddress),
        (at::STAKE, pda::stake(&other.mint), Error::WrongAgent),
        (at::STAKE, pda::stake(&thief.at().into()), Error::AccountMissing),
        (at::STAKE, pda::lease(&other.mint), Error::WrongAccountOwner),
        (at::CONFIG, thief.at(), Error::WrongAddress),
        (at::AUTHORITY, thief.at(), Error::WrongAddress),
        (at::STAKE_LOCK, address(ids::LEASE), Error::WrongAddress),
        (at::TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), place, account);
        let failure = scene.world.send_refused(&[wrong], &thief, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
        assert_eq!(failure.program(), Some(address(ids::CHALLENGE)));
    }
    // What StakeLock checks.
    for (account, error) in
        [(pda::stake_vault(&other.mint), Error::WrongAddress), (thiefs, Error::WrongAddress)]
    {
        let wrong = with_account(right.clone(), at::STAKE_VAULT, account);
        let failure = scene.world.send_refused(&[wrong], &thief, &[]);
        failure.expect_code(error.code());
        assert_eq!(failure.program(), Some(address(ids::STAKE_LOCK)));
    }
    let wrong = with_account(right.clone(), at::STAKE_LOCK_EVENTS, pda::event_authority(ids::LEASE));
    let failure = scene.world.send_refused(&[wrong], &thief, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::InvalidSeeds), "{failure:?}");
    scene.world.send_ok(&[right], &thief, &[]);
}

#[test]
fn another_challenges_accounts_do_not_mix() {
    // Two challengers; one's challenge with the other as recipient.
    let (mut scene, batch, all) = three();
    answer(&mut scene, &all[0].1, &batch);
    scene.pass_window(&all[2].1);
    let stranger = scene.stranger();
    let loser = scene.resolving(&all[0].1);
    let winner = all[1].1.challenge();
    // The winner's challenge, the loser's everything else.
    let mixed: Instruction = with_account(loser, 0, winner);
    refused(&mut scene.world, &[mixed], &stranger, &[], Error::WrongPayer);
}

#[test]
fn an_envelopes_challenge_is_resolved_all_the_same() {
    let mut scene = Scene::new();
    scene.submit(&[], &[]);
    let (message, owner) = (scene.message(MsgType::Accept), scene.owner.clone());
    scene.record(&owner, &Message { nonce: 9, ..message.clone() }, BID, 1);
    let filing = scene.enveloped(&Message { nonce: 9, ..message }, BID, 1);
    let before = scene.money(&filing);
    scene.file(&filing);
    scene.resolve(&filing);
    assert_eq!(scene.money(&filing), [before[0] + MIN_STAKE / 2, before[1] + MIN_STAKE / 2, 0, 0]);
}
