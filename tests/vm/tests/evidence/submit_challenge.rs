//! submit_challenge: the claim of a sealed draft, its money and its accounts.

use crate::common::{
    BID, BidProof, CHALLENGE_STAKE, LogProof, MIN_STAKE, Message, SELECTION, Scene, at, challenge_program,
    expected, only_event, refused, with_account,
};
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft, StakeLockAccount};
use zx1_interface::events::ChallengeSubmitted;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{Batch, Books, Filing, address, keypair};

/// Anchor's refusal of a writable account that is passed twice.
const DUPLICATE_ACCOUNT: u32 = 2_040;

/// A batch whose log holds one bid that the arrays do not, the bid's proof and payload.
fn hidden_bid() -> (Scene, LogProof, Vec<u8>) {
    let mut scene = Scene::new();
    let mut log = scene.chatter(3);
    let bid = scene.message(MsgType::Propose);
    log.push(bid.clone());
    let batch = scene.submit(&log, &[]);
    (scene, LogProof::of(&batch, 3), bid.payload)
}

/// The same with a rank and the sealed draft, so that only submit_challenge is left.
fn prepared() -> (Scene, Filing) {
    let (mut scene, proof, _) = hidden_bid();
    let filing = scene.logged(&proof, BID);
    scene.world.prepare(&filing);
    (scene, filing)
}

#[test]
fn a_claim_is_opened_ok() {
    let (mut scene, filing) = prepared();
    let (draft, stake) = (scene.draft(&filing), scene.stake());
    let (before, lamports) = (scene.money(&filing), scene.world.lamports(&scene.challenger.at()));
    scene.world.advance_slots(7);
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.submit_challenge(&filing).unwrap();
    let usdc = scene.world.usdc_account(&filing.finder.at());
    let changed = [
        filing.draft(),
        filing.challenge(),
        filing.finder.at(),
        usdc,
        pda::stake(&scene.agent.mint, 0),
        pda::shard(scene.agent.shard()),
        pda::vault(scene.agent.shard()),
    ];
    snapshot.assert_only_changed(&scene.world, &changed);
    scene.world.assert_books();

    let slot = scene.world.slot();
    let account = scene.challenge(&filing);
    let opened = ChallengeAccount {
        epoch_number: scene.epoch,
        submitted_slot: slot,
        settled_slot: 0,
        event_sequence: 1,
        stake_usdc: CHALLENGE_STAKE,
        rank: 0,
        era: 0,
        agent_id: scene.id(),
        batch: scene.batch().to_bytes(),
        challenger: filing.finder.at().to_bytes(),
        payer: filing.finder.at().to_bytes(),
        claim: draft.claim,
        entry_hash: draft.entry_hash,
        answerer: [0; 32],
        expected_record: draft.expected_record,
        expected_len: 105,
        value_known: 0,
        ground: 1,
        outcome: 0,
        passed: 0,
        version: 2,
        bump: account.bump,
        reserved: [0; 5],
    };
    assert_eq!(account, opened);
    // The rank is the challenge's now, and the deposit comes back.
    let used = EvidenceDraft { state: 2, used: 1, ..draft };
    assert_eq!(scene.draft(&filing), used);
    let counted = StakeLockAccount { open_challenges: 1, deposits_usdc: CHALLENGE_STAKE, ..stake };
    assert_eq!(scene.stake(), counted);
    assert_eq!((counted.next_rank, counted.settled_rank), (1, 0));

    let locked = MIN_STAKE + CHALLENGE_STAKE;
    let books = Books { stake: MIN_STAKE, pot: 0, deposits: CHALLENGE_STAKE, shard: locked, vault: locked };
    assert_eq!(scene.money(&filing), (before.0 - CHALLENGE_STAKE, before.1, books));
    let rent = scene.world.rent(ChallengeAccount::SIZE);
    assert_eq!(scene.world.lamports(&filing.challenge()), rent);
    assert_eq!(lamports - scene.world.lamports(&scene.challenger.at()), rent + receipt.fee);

    let event = ChallengeSubmitted::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = ChallengeSubmitted {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        era: 0,
        rank: 0,
        challenger: account.challenger,
        challenge: filing.challenge().to_bytes(),
        draft: filing.draft().to_bytes(),
        claim: account.claim,
        entry_hash: account.entry_hash,
        ground: 1,
        value_known: 0,
        replaced: [0; 32],
        sequence: 0,
        account_created_slot: slot,
    };
    assert_eq!(event, expected_event);
}

#[test]
fn a_draft_that_is_not_sealed_fails() {
    let (mut scene, proof, _) = hidden_bid();
    let filing = scene.logged(&proof, BID);
    scene.world.begin(&filing).unwrap();
    scene.submit_refused(&filing, Error::NotSealed);
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    scene.submit_refused(&filing, Error::NotSealed);
    scene.world.seal(&filing).unwrap();
    scene.world.submit_challenge(&filing).unwrap();
}

#[test]
fn a_used_draft_fails() {
    let (mut scene, filing) = prepared();
    scene.world.submit_challenge(&filing).unwrap();
    scene.submit_refused(&filing, Error::AlreadyUsed);
    scene.world.advance_slots(1);
    scene.submit_refused(&filing, Error::AlreadyUsed);
}

#[test]
fn the_same_claim_twice_fails() {
    let (mut scene, proof, _) = hidden_bid();
    let first = scene.logged(&proof, BID);
    scene.file(&first);
    // By the same finder with a higher rank, and without any.
    let second = scene.logged(&proof, BID);
    scene.world.prepare(&second);
    scene.submit_refused(&second, Error::ChallengeExists);
    let third = scene.logged(&proof, BID);
    scene.world.prepare_unranked(&third);
    scene.submit_refused(&third, Error::ChallengeExists);
}

#[test]
fn the_same_entry_may_be_challenged_on_another_ground() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&message), &[]);
    let proof = LogProof::of(&batch, 0);
    let (bid, selection) = (scene.logged(&proof, BID), scene.logged(&proof, SELECTION));
    scene.file(&bid);
    scene.file(&selection);
    assert_eq!(expected(&scene.challenge(&bid)), message.bid(0));
    assert_eq!(expected(&scene.challenge(&selection)), message.selection());
    assert_eq!((scene.challenge(&bid).rank, scene.challenge(&selection).rank), (0, 1));
    assert_eq!(scene.stake().open_challenges, 2);
    assert_eq!(scene.money(&bid).2.deposits, 2 * CHALLENGE_STAKE);
}

#[test]
fn a_weak_claim_beside_a_strong_one_is_refused() {
    let (mut scene, proof, payload) = hidden_bid();
    let (weak, strong) = (scene.logged(&proof, BID), scene.logged(&proof.showing(&payload), BID));
    assert_ne!(weak.challenge(), strong.challenge());
    scene.world.prepare(&weak);
    scene.file(&strong);
    scene.submit_refused(&weak, Error::StrongerClaimOpen);
    // Neither does another account in the place of the strong one hide it.
    let nowhere = keypair("nowhere").pubkey();
    for account in [nowhere, scene.batch(), weak.challenge()] {
        let hidden = with_account(scene.world.submitting(&weak), at::STRONGER, account);
        refused(&mut scene.world, &[hidden], &weak.finder, &[], Error::WrongAddress);
    }
    // Answered or lost, the strong one stays until its window is over.
    scene.world.warp_to_slot(scene.challenge(&strong).submitted_slot + 431_999);
    scene.submit_refused(&weak, Error::StrongerClaimOpen);
}

#[test]
fn a_strong_claim_beside_a_weak_one_is_opened_ok() {
    // A liar's weak claim on itself, which the record of a false value answers, blocks nothing.
    let (mut scene, proof, payload) = hidden_bid();
    let (weak, strong) = (scene.logged(&proof, BID), scene.logged(&proof.showing(&payload), BID));
    scene.file(&weak);
    scene.file(&strong);
    assert_eq!((scene.challenge(&weak).value_known, scene.challenge(&strong).value_known), (0, 1));
    assert_eq!(scene.stake().open_challenges, 2);
}

#[test]
fn the_batchs_window_ends_after_its_last_slot() {
    let (mut scene, filing) = prepared();
    let submitted = scene.batch_account().submitted_slot;
    scene.world.warp_to_slot(submitted + 432_001);
    scene.submit_refused(&filing, Error::ChallengeWindowOver);
    scene.world.warp_to_slot(submitted + 432_000);
    scene.world.submit_challenge(&filing).unwrap();
    assert_eq!(scene.challenge(&filing).submitted_slot, submitted + 432_000);
}

#[test]
fn a_challenger_with_exactly_the_stake_can_challenge_and_one_with_less_cannot() {
    for (funds, enough) in [(CHALLENGE_STAKE, true), (CHALLENGE_STAKE - 1, false), (0, false)] {
        let (mut scene, proof, _) = hidden_bid();
        scene.challenger = scene.stranger();
        let wallet = scene.challenger.at();
        scene.world.fund_usdc(&wallet, funds);
        let filing = scene.logged(&proof, BID);
        scene.world.prepare(&filing);
        if enough {
            scene.world.submit_challenge(&filing).unwrap();
            assert_eq!(scene.world.usdc_balance(&wallet), 0);
        } else {
            scene.submit_refused(&filing, Error::InsufficientUsdc);
        }
    }
}

#[test]
fn the_owner_may_challenge_its_own_agent() {
    let (mut scene, proof, _) = hidden_bid();
    scene.challenger = scene.owner.clone();
    let filing = scene.logged(&proof, BID);
    let before = scene.money(&filing);
    scene.file(&filing);
    assert_eq!(scene.money(&filing).0, before.0 - CHALLENGE_STAKE);
}

#[test]
fn an_agent_whose_unlock_is_queued_can_still_be_challenged() {
    let mut scene = Scene::new();
    // The lease is paid for ten epochs from the scene's: three later it is in grace, four later it is dead.
    scene.world.advance_epochs(11);
    scene.epoch += 11;
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(&[message], &[]);
    scene.world.advance_epochs(1);
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.world.queue_unlock(&agent, &owner, 0).unwrap();
    let filing = scene.logged(&LogProof::of(&batch, 0), BID);
    scene.file(&filing);
    assert_eq!((scene.stake().open_challenges, scene.stake().in_unlock_queue), (1, 1));
}

#[test]
fn an_address_that_a_stranger_funded_first_blocks_nothing() {
    for (gift, paid) in [(-1_000_i64, 1_000), (5_000_000, 0)] {
        let (mut scene, filing) = prepared();
        let rent = scene.world.rent(ChallengeAccount::SIZE);
        let (stranger, gift) = (scene.stranger(), rent.checked_add_signed(gift).unwrap());
        let give = system::transfer(&stranger.at(), &filing.challenge(), gift);
        scene.world.send_ok(&[give], &stranger, &[]);
        let before = scene.world.lamports(&scene.challenger.at());
        let receipt = scene.world.submit_challenge(&filing).unwrap();
        assert_eq!(before - scene.world.lamports(&scene.challenger.at()), paid + receipt.fee);
        assert_eq!(scene.world.lamports(&filing.challenge()), rent.max(gift));
        scene.resolve(&filing);
        assert_eq!(scene.challenge(&filing).outcome, 2);
    }
}

#[test]
fn somebody_elses_draft_fails() {
    let (mut scene, filing) = prepared();
    let thief = scene.party();
    let theirs = scene.by(&thief, &filing);
    scene.world.prepare(&theirs);
    let wrong = with_account(scene.world.submitting(&theirs), at::DRAFT, filing.draft());
    refused(&mut scene.world, &[wrong], &thief, &[], Error::NotDraftOwner);
    // Nor may the thief name another draft of its own than the one of the nonce.
    let second = scene.by(&thief, &filing);
    let wrong = with_account(scene.world.submitting(&second), at::DRAFT, theirs.draft());
    refused(&mut scene.world, &[wrong], &thief, &[], Error::WrongAddress);
}

#[test]
fn what_is_no_draft_fails() {
    let (mut scene, filing) = prepared();
    let other = scene.filing(BID, false, filing.message, filing.shown.clone());
    scene.submit_refused(&other, Error::AccountMissing);
    scene.world.submit_challenge(&filing).unwrap();
    let submit = scene.world.submitting(&other);
    for (account, error) in [
        (pda::head(&scene.agent.mint), Error::WrongAccountOwner),
        (filing.challenge(), Error::WrongAccountType),
    ] {
        let wrong = with_account(submit.clone(), at::DRAFT, account);
        let failure = scene.world.send_refused(&[wrong], &filing.finder, &[]);
        assert!([Some(error.code()), Some(DUPLICATE_ACCOUNT)].contains(&failure.code()), "{failure:?}");
    }
}

#[test]
fn another_batch_than_the_sealed_one_fails() {
    let (mut scene, filing) = prepared();
    let other = scene.world.living_agent();
    scene.world.advance_epochs(1);
    let epoch = scene.world.epoch() - 1;
    scene.world.submit_batch(&other.agent, &other.keys.batch, &Batch::empty(epoch)).unwrap();
    scene.epoch = epoch;
    scene.submit(&[], &[]);
    let submit = scene.world.submitting(&filing);
    let cases = [
        (pda::batch(&other.agent.mint, epoch), Error::WrongBatch),
        (scene.batch(), Error::WrongBatch),
        (pda::batch(&scene.agent.mint, epoch + 1), Error::AccountMissing),
        (pda::head(&scene.agent.mint), Error::WrongAccountType),
        (pda::lease(&scene.agent.mint), Error::WrongAccountOwner),
    ];
    for (account, error) in cases {
        let wrong = with_account(submit.clone(), at::BATCH, account);
        refused(&mut scene.world, &[wrong], &filing.finder, &[], error);
    }
}

#[test]
fn another_stake_than_the_batchs_eras_fails() {
    let (mut scene, filing) = prepared();
    let other = scene.world.living_agent();
    let (agent, buyer, owner) = (scene.agent, scene.party(), scene.owner.clone());
    let sold = scene.world.transfer_agent(&agent, &owner, &buyer.at());
    scene.world.take_over(&sold, &buyer).unwrap();
    scene.world.lock_stake(&sold, &buyer, MIN_STAKE).unwrap();
    let submit = scene.world.submitting(&filing);
    let cases = [
        (pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (pda::stake(&scene.agent.mint, 1), Error::WrongEra),
        (pda::stake(&scene.agent.mint, 2), Error::AccountMissing),
        (pda::tenure(&scene.agent.mint), Error::WrongAccountType),
        (pda::lease(&scene.agent.mint), Error::WrongAccountOwner),
    ];
    for (account, error) in cases {
        let wrong = with_account(submit.clone(), at::STAKE, account);
        refused(&mut scene.world, &[wrong], &filing.finder, &[], error);
    }
    scene.world.submit_challenge(&filing).unwrap();
    assert_eq!((scene.stake().open_challenges, scene.world.stake(&agent, 1).open_challenges), (1, 0));
}

#[test]
fn an_emptied_era_takes_no_claim() {
    let mut scene = Scene::new();
    let (lie, other) = (scene.message(MsgType::Propose), scene.message(MsgType::Counter));
    let batch = scene.submit(&[lie.clone(), other], &[lie.bid(1), lie.bid(2)]);
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    let late = scene.logged(&LogProof::of(&batch, 1), BID);
    scene.world.prepare_unranked(&late);
    scene.file(&double);
    scene.world.resolve(&double.challenge()).unwrap();
    assert_eq!((scene.stake().stake_usdc, scene.stake().pot_usdc), (0, 0));
    scene.submit_refused(&late, Error::EraEmpty);
    // And it gives no rank away any more.
    let ranked = scene.logged(&LogProof::of(&batch, 1), BID);
    let begin = scene.world.beginning(&ranked);
    let failure = scene.world.send_refused(&[begin], &ranked.finder, &[]);
    failure.expect_code(Error::EraEmpty.code());
}

#[test]
fn another_mint_than_the_configured_usdc_fails() {
    let (mut scene, filing) = prepared();
    let (fake, fake_2022) = (keypair("fake USDC"), keypair("fake USDC of Token-2022"));
    scene.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    scene.world.create_mint(&fake_2022, 6, &TOKEN_2022_PROGRAM);
    let (who, wallet) = (filing.finder.clone(), filing.finder.at());
    let fakes = scene.world.fund_token(&wallet, &fake.pubkey(), 100_000_000, &TOKEN_PROGRAM);
    let fakes_2022 = scene.world.fund_token(&wallet, &fake_2022.pubkey(), 100_000_000, &TOKEN_2022_PROGRAM);
    let good = scene.world.submitting(&filing);
    for (account, error) in [
        (fakes, Error::WrongUsdcMint),
        (fakes_2022, Error::NotLegacyToken),
        (keypair("no account").pubkey(), Error::NotLegacyToken),
    ] {
        let wrong = with_account(good.clone(), at::CHALLENGER_USDC, account);
        refused(&mut scene.world, &[wrong], &who, &[], error);
    }
}

#[test]
fn a_stake_out_of_somebody_elses_pocket_fails() {
    let (mut scene, filing) = prepared();
    let owner = scene.owner.at();
    let theirs = scene.world.usdc_account(&owner);
    let wrong = with_account(scene.world.submitting(&filing), at::CHALLENGER_USDC, theirs);
    refused(&mut scene.world, &[wrong], &filing.finder, &[], Error::WrongTokenAccountOwner);
}

#[test]
fn a_challenge_without_the_challengers_signature_fails() {
    let (mut scene, filing) = prepared();
    let mut unsigned = scene.world.submitting(&filing);
    unsigned.accounts[0].is_signer = false;
    let stranger = scene.stranger();
    let failure = scene.world.send_refused(&[unsigned], &stranger, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature), "{failure:?}");
    assert_eq!(failure.program(), Some(challenge_program()));
}

#[test]
fn accounts_that_do_not_follow_from_the_draft_fail() {
    let (mut scene, filing) = prepared();
    let (stranger, other) = (scene.stranger().at(), scene.world.living_agent());
    let elsewhere = Filing { ground: SELECTION, ..filing.clone() };
    let shard = other.agent.shard();
    assert_ne!(shard, scene.agent.shard());
    let cases: [(usize, Address, Error); 11] = [
        (at::CONFIG, stranger, Error::WrongAddress),
        (at::CHALLENGE, stranger, Error::WrongAddress),
        (at::CHALLENGE, elsewhere.challenge(), Error::WrongAddress),
        (at::AUTHORITY, stranger, Error::WrongAddress),
        (at::STAKE_LOCK, address(ids::LEASE), Error::WrongAddress),
        (at::STRONGER, stranger, Error::WrongAddress),
        (at::SHARD, pda::shard(shard), Error::WrongAddress),
        (at::SHARD, pda::lease(&scene.agent.mint), Error::VaultMissing),
        (at::VAULT, pda::vault(shard), Error::WrongAddress),
        (at::TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
        (at::TOKEN, address(ids::SYSTEM), Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(scene.world.submitting(&filing), place, account);
        let failure = scene.world.send_refused(&[wrong], &filing.finder, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
}

#[test]
fn a_claims_address_that_is_another_claim_is_not_taken_over() {
    // A lower rank points at another open claim of the same batch.
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Accept);
    let batch = scene.submit(&[message], &[]);
    let proof = LogProof::of(&batch, 0);
    let (bid, selection) = (scene.logged(&proof, BID), scene.logged(&proof, SELECTION));
    scene.world.prepare(&bid);
    scene.file(&selection);
    let victim = scene.world.usdc_account(&selection.finder.at());
    let mut wrong = with_account(scene.world.submitting(&bid), at::CHALLENGE, selection.challenge());
    let thief = scene.party();
    let theirs = scene.by(&thief, &bid);
    scene.world.prepare(&theirs);
    refused(&mut scene.world, std::slice::from_ref(&wrong), &bid.finder, &[], Error::WrongAddress);
    wrong.accounts[at::REPLACED].pubkey = victim;
    let failure = scene.world.send_refused(&[wrong], &bid.finder, &[]);
    assert!([Some(Error::WrongAddress.code()), Some(DUPLICATE_ACCOUNT)].contains(&failure.code()));
}

#[test]
fn a_wrong_event_authority_fails() {
    let (mut scene, filing) = prepared();
    let other = pda::event_authority(ids::STAKE_LOCK);
    let wrong = with_account(scene.world.submitting(&filing), at::EVENT_AUTHORITY, other);
    let failure = scene.world.send_refused(&[wrong], &filing.finder, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::InvalidSeeds), "{failure:?}");
}

#[test]
fn without_the_system_program_nothing_can_be_created() {
    let (mut scene, filing) = prepared();
    let wrong = with_account(scene.world.submitting(&filing), at::SYSTEM, address(ids::TOKEN));
    let failure = scene.world.send_refused(&[wrong], &filing.finder, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingAccount), "{failure:?}");
}

#[test]
fn one_account_in_two_places_fails() {
    let (mut scene, filing) = prepared();
    let good = scene.world.submitting(&filing);
    let of = |place: usize| good.accounts[place].pubkey;
    for (place, other) in [
        (at::STAKE, at::DRAFT),
        (at::VAULT, at::CHALLENGER_USDC),
        (at::SHARD, at::STAKE),
        (at::CHALLENGER_USDC, at::VAULT),
    ] {
        let twice = with_account(good.clone(), place, of(other));
        scene.world.send_refused(&[twice], &filing.finder, &[]).expect_code(DUPLICATE_ACCOUNT);
    }
    // The claim's place may be passed twice, and is what it is all the same.
    for other in [at::DRAFT, at::STAKE, at::CHALLENGER_USDC] {
        let twice = with_account(good.clone(), at::CHALLENGE, of(other));
        let failure = scene.world.send_refused(&[twice], &filing.finder, &[]);
        assert!(failure.code().is_some(), "{failure:?}");
    }
}

#[test]
fn what_is_claimed_follows_from_what_was_shown() {
    // Two messages of one batch: neither's claim is opened by the other's draft.
    let mut scene = Scene::new();
    let first = scene.message(MsgType::Propose);
    let second = Message { nonce: 2, ..first.clone() };
    let batch = scene.submit(&[first, second], &[]);
    let (one, two) =
        (scene.logged(&LogProof::of(&batch, 0), BID), scene.logged(&LogProof::of(&batch, 1), BID));
    scene.world.prepare(&one);
    let wrong = with_account(scene.world.submitting(&one), at::CHALLENGE, two.challenge());
    refused(&mut scene.world, &[wrong], &one.finder, &[], Error::WrongAddress);
    scene.world.submit_challenge(&one).unwrap();
    scene.file(&two);
}
