//! ask_leaf, show_leaf, settle_ask, close_ask: a batch whose leaves are withheld counts for nothing, and its
//! agent pays once.

use crate::common::{
    ASK_PRICE, ASK_TO_SHOWER, ASK_TO_STAKE, BID, BidProof, FINE, FINE_TO_ASKER, LogProof, MIN_STAKE, Message,
    SELECTION, Scene, answer_of, further_account, money, only_event, refused, with_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::challenge;
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{AskAccount, BatchAccount, HeadAccount, StakeLockAccount};
use zx1_interface::events::{AskClosed, AskSettled, BatchWithheld, LeafAsked, LeafShown, StakeMoved};
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Hash;
use zx1_vm_tests::{
    ARRAYS, Batch, Books, Key, LOG, MAX_TRANSACTION, Receipt, World, address, events, keypair,
};

/// Part of a shown leaf's price that goes to the treasury.
const ASK_TO_TREASURY: u64 = ASK_PRICE - ASK_TO_SHOWER - ASK_TO_STAKE;
/// Slots in which leaves may be asked for.
const ASK_SLOTS: u64 = 216_000;
/// Slots in which a leaf may be shown.
const SHOW_SLOTS: u64 = 108_000;

/// A batch of five log entries and three records, and somebody who asks.
fn landed() -> (Scene, Batch, Key) {
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Accept);
    let mut log = scene.chatter(4);
    log.push(deal.clone());
    let records = [deal.bid(1_234_567), deal.selection(), deal.verifier()];
    let batch = scene.submit(&log, &records);
    let asker = scene.party();
    (scene, batch, asker)
}

/// Asks for a leaf of the scene's batch.
#[track_caller]
fn ask(scene: &mut Scene, asker: &Key, tree: u8, index: u32) -> Receipt {
    let (agent, epoch) = (scene.agent, scene.epoch);
    let receipt = scene.world.ask_leaf(asker, &agent, epoch, tree, index).unwrap();
    scene.world.assert_books();
    receipt
}

fn asking(scene: &mut Scene, asker: &Key, tree: u8, index: u32) -> Instruction {
    let (agent, epoch) = (scene.agent, scene.epoch);
    scene.world.asking(&asker.at(), &agent, epoch, tree, index)
}

#[track_caller]
fn ask_refused(scene: &mut Scene, asker: &Key, tree: u8, index: u32, error: Error) {
    let ask = asking(scene, asker, tree, index);
    refused(&mut scene.world, &[ask], asker, &[], error);
}

/// The n-th leaf's path, counted without the padding.
fn path(batch: &Batch, tree: u8, n: u32) -> Vec<Hash> {
    let tree = if tree == LOG { batch.log() } else { batch.arrays() };
    tree.proof_of_entry(n).unwrap().path
}

fn leaf(batch: &Batch, tree: u8, n: u32) -> Vec<u8> {
    let leaves = if tree == LOG { &batch.entries } else { &batch.records };
    leaves[n as usize].clone()
}

/// Shows a leaf of the scene's batch.
#[track_caller]
fn show(scene: &mut Scene, shower: &Key, batch: &Batch, tree: u8, n: u32) -> Receipt {
    let at = scene.ask_at(tree, n);
    let receipt = scene.world.show_leaf(shower, &at, &leaf(batch, tree, n), &path(batch, tree, n)).unwrap();
    scene.world.assert_books();
    receipt
}

#[track_caller]
fn show_refused(scene: &mut Scene, shower: &Key, at: &Address, leaf: &[u8], proof: &[Hash], error: Error) {
    let show = scene.world.showing(&shower.at(), at, Ok(leaf), proof);
    refused(&mut scene.world, &[show], shower, &[], error);
}

/// Settles an ask; the faucet calls.
#[track_caller]
fn settle(scene: &mut Scene, tree: u8, n: u32) -> Receipt {
    let receipt = scene.world.settle_ask(&scene.ask_at(tree, n)).unwrap();
    scene.world.assert_books();
    receipt
}

#[track_caller]
fn settle_refused(scene: &mut Scene, tree: u8, n: u32, error: Error) {
    let at = scene.ask_at(tree, n);
    let (settle, stranger) = (scene.world.settling_ask(&at), scene.stranger());
    refused(&mut scene.world, &[settle], &stranger, &[], error);
}

fn usdc(scene: &mut Scene, who: &Key) -> u64 {
    scene.world.usdc_balance(&who.at())
}

fn treasury(scene: &mut Scene) -> u64 {
    let treasury = scene.world.treasury().pubkey();
    scene.world.usdc_balance(&treasury)
}

fn books(scene: &Scene) -> Books {
    scene.world.books(&scene.agent, 0)
}

/// An era's books when nothing else lies in the shard.
fn alone(stake: u64, deposits: u64) -> Books {
    Books { stake, pot: 0, deposits, shard: stake + deposits, vault: stake + deposits }
}

// Asking.

#[test]
fn a_leaf_is_asked_for_ok() {
    let (mut scene, _, asker) = landed();
    let (stake, before) = (scene.stake(), usdc(&mut scene, &asker));
    let lamports = scene.world.lamports(&asker.at());
    let at = scene.ask_at(LOG, 4);
    let instruction = asking(&mut scene, &asker, LOG, 4);
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(&[instruction], &asker, &[]);
    let from = scene.world.usdc_account(&asker.at());
    let changed = [
        at,
        asker.at(),
        from,
        pda::stake(&scene.agent.mint, 0),
        pda::shard(scene.agent.shard()),
        pda::vault(scene.agent.shard()),
    ];
    snapshot.assert_only_changed(&scene.world, &changed);
    scene.world.assert_books();
    let slot = scene.world.slot();
    let account = scene.ask(LOG, 4);
    let expected = AskAccount {
        created_slot: slot,
        event_sequence: 1,
        epoch_number: scene.epoch,
        price_usdc: ASK_PRICE,
        rank: 0,
        era: 0,
        index: 4,
        tree: 0,
        state: 0,
        version: 2,
        bump: account.bump,
        agent_id: scene.id(),
        batch: scene.batch().to_bytes(),
        asker: asker.at().to_bytes(),
    };
    assert_eq!(account, expected);
    assert_eq!(usdc(&mut scene, &asker), before - ASK_PRICE);
    assert_eq!(books(&scene), alone(MIN_STAKE, ASK_PRICE));
    let counted = StakeLockAccount { open_asks: 1, next_ask: 1, deposits_usdc: ASK_PRICE, ..stake };
    assert_eq!(scene.stake(), counted);
    let rent = scene.world.rent(AskAccount::SIZE);
    assert_eq!(lamports - scene.world.lamports(&asker.at()), rent + receipt.fee);
    let event = LeafAsked::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = LeafAsked {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        era: 0,
        rank: 0,
        ask: at.to_bytes(),
        asker: asker.at().to_bytes(),
        tree: 0,
        index: 4,
        sequence: 0,
        account_created_slot: slot,
    };
    assert_eq!(event, expected);
    assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
}

#[test]
fn every_leaf_of_both_trees_may_be_asked_for_and_no_other() {
    let (mut scene, _, asker) = landed();
    for (tree, len) in [(LOG, 5), (ARRAYS, 3)] {
        for index in 0..len {
            ask(&mut scene, &asker, tree, index);
        }
        for index in [len, len + 1, u32::MAX] {
            ask_refused(&mut scene, &asker, tree, index, Error::IndexOutOfRange);
        }
    }
    for tree in [2, 255] {
        ask_refused(&mut scene, &asker, tree, 0, Error::UnknownTree);
    }
    assert_eq!((scene.stake().open_asks, scene.stake().next_ask, scene.ask(ARRAYS, 2).rank), (8, 8, 7));
}

#[test]
fn an_empty_tree_has_no_leaves() {
    let mut scene = Scene::new();
    scene.submit(&[], &[]);
    let asker = scene.party();
    for tree in [LOG, ARRAYS] {
        ask_refused(&mut scene, &asker, tree, 0, Error::IndexOutOfRange);
    }
}

#[test]
fn the_time_to_ask_ends_after_its_last_slot() {
    let (mut scene, _, asker) = landed();
    let submitted = scene.batch_account().submitted_slot;
    scene.world.warp_to_slot(submitted + ASK_SLOTS + 1);
    ask_refused(&mut scene, &asker, LOG, 0, Error::AskTooLate);
    scene.world.warp_to_slot(submitted + ASK_SLOTS);
    ask(&mut scene, &asker, LOG, 0);
}

#[test]
fn the_same_leaf_twice_fails_while_the_first_ask_is_there() {
    let (mut scene, _, asker) = landed();
    let other = scene.party();
    ask(&mut scene, &asker, LOG, 2);
    for who in [&asker, &other] {
        ask_refused(&mut scene, who, LOG, 2, Error::AskExists);
    }
    // The same index of the other tree is another leaf.
    ask(&mut scene, &other, ARRAYS, 2);
}

#[test]
fn an_asker_with_exactly_the_price_can_ask_and_one_with_less_cannot() {
    for (funds, enough) in [(ASK_PRICE, true), (ASK_PRICE - 1, false), (0, false)] {
        let (mut scene, _, _) = landed();
        let asker = scene.stranger();
        scene.world.fund_usdc(&asker.at(), funds);
        if enough {
            ask(&mut scene, &asker, LOG, 0);
            assert_eq!(usdc(&mut scene, &asker), 0);
        } else {
            ask_refused(&mut scene, &asker, LOG, 0, Error::InsufficientUsdc);
        }
    }
}

#[test]
fn an_emptied_era_is_not_asked() {
    let mut scene = Scene::new();
    let lie = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&lie), &[lie.bid(1), lie.bid(2)]);
    let asker = scene.party();
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    scene.file(&double);
    scene.world.resolve(&double.challenge()).unwrap();
    ask_refused(&mut scene, &asker, LOG, 0, Error::EraEmpty);
}

#[test]
fn asks_with_accounts_of_others_fail() {
    let (mut scene, _, asker) = landed();
    let (other, thief) = (scene.world.living_agent(), scene.party());
    let thiefs = scene.world.usdc_account(&thief.at());
    let right = asking(&mut scene, &asker, LOG, 1);
    let cases = [
        (1, pda::lease(&scene.agent.mint), Error::WrongAccountOwner),
        (1, pda::head(&scene.agent.mint), Error::WrongAccountType),
        (1, pda::batch(&scene.agent.mint, 1), Error::AccountMissing),
        (2, scene.ask_at(LOG, 2), Error::WrongAddress),
        (2, scene.ask_at(ARRAYS, 1), Error::WrongAddress),
        (3, thiefs, Error::WrongTokenAccountOwner),
        (4, pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (5, pda::shard(other.agent.shard()), Error::WrongAddress),
        (6, pda::vault(other.agent.shard()), Error::WrongAddress),
        (7, thief.at(), Error::WrongAddress),
        (8, thief.at(), Error::WrongAddress),
        (9, address(ids::LEASE), Error::WrongAddress),
        (10, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), place, account);
        let failure = scene.world.send_refused(&[wrong], &asker, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    let mut unsigned = right;
    unsigned.accounts[0].is_signer = false;
    let failure = scene.world.send_refused(&[unsigned], &thief, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
}

// Showing.

#[test]
fn a_leaf_is_shown_and_pays_ok() {
    let (mut scene, batch, asker) = landed();
    ask(&mut scene, &asker, LOG, 4);
    let (before, stake, owner) = (scene.ask(LOG, 4), scene.stake(), scene.owner.clone());
    let (owners, treasurys) = (usdc(&mut scene, &owner), treasury(&mut scene));
    scene.world.advance_slots(50);
    let at = scene.ask_at(LOG, 4);
    let bytes = leaf(&batch, LOG, 4);
    let instruction = scene.world.showing(&owner.at(), &at, Ok(&bytes), &path(&batch, LOG, 4));
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(std::slice::from_ref(&instruction), &owner, &[]);
    let changed = [
        at,
        owner.at(),
        pda::stake(&scene.agent.mint, 0),
        pda::shard(scene.agent.shard()),
        pda::vault(scene.agent.shard()),
        instruction.accounts[money::OF_SHOW + money::FIRST].pubkey,
        instruction.accounts[money::OF_SHOW + money::SECOND].pubkey,
    ];
    snapshot.assert_only_changed(&scene.world, &changed);
    scene.world.assert_books();
    assert_eq!(scene.ask(LOG, 4), AskAccount { state: 1, event_sequence: 2, ..before });
    let settled = StakeLockAccount {
        stake_usdc: MIN_STAKE + ASK_TO_STAKE,
        deposits_usdc: 0,
        open_asks: 0,
        settled_ask: 1,
        event_sequence: stake.event_sequence + 1,
        ..stake
    };
    assert_eq!(scene.stake(), settled);
    assert_eq!(usdc(&mut scene, &owner), owners + ASK_TO_SHOWER);
    assert_eq!(treasury(&mut scene), treasurys + ASK_TO_TREASURY);
    assert_eq!(books(&scene), alone(MIN_STAKE + ASK_TO_STAKE, 0));
    let event = LeafShown::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = LeafShown {
        ask: at.to_bytes(),
        shower: owner.at().to_bytes(),
        leaf_hash: crate::common::keccak(&[&bytes]),
        sequence: 1,
        account_created_slot: before.created_slot,
    };
    assert_eq!(event, expected);
    let moved = StakeMoved::read(&only_event(&receipt, ids::STAKE_LOCK)).unwrap();
    assert_eq!((moved.from_stake, moved.to_stake, moved.slashed), (0, ASK_TO_STAKE, 0));
}

#[test]
fn every_leaf_of_both_trees_can_be_shown_by_anyone() {
    let (mut scene, batch, asker) = landed();
    let shower = scene.party();
    let before = usdc(&mut scene, &shower);
    for (tree, len) in [(LOG, 5), (ARRAYS, 3)] {
        for index in 0..len {
            ask(&mut scene, &asker, tree, index);
            show(&mut scene, &shower, &batch, tree, index);
        }
    }
    assert_eq!(usdc(&mut scene, &shower), before + 8 * ASK_TO_SHOWER);
    assert_eq!(books(&scene), alone(MIN_STAKE + 8 * ASK_TO_STAKE, 0));
}

#[test]
fn spam_pays_the_agent() {
    // Whoever asks for all leaves of an honest agent that is awake pays it for each.
    let (mut scene, batch, spammer) = landed();
    let owner = scene.owner.clone();
    let (owners, spammers) = (usdc(&mut scene, &owner), usdc(&mut scene, &spammer));
    for index in 0..5 {
        ask(&mut scene, &spammer, LOG, index);
    }
    for index in 0..5 {
        show(&mut scene, &owner, &batch, LOG, index);
    }
    assert_eq!(usdc(&mut scene, &spammer), spammers - 5 * ASK_PRICE);
    assert_eq!(usdc(&mut scene, &owner), owners + 5 * ASK_TO_SHOWER);
    assert_eq!(scene.stake().stake_usdc, MIN_STAKE + 5 * ASK_TO_STAKE);
    assert_eq!(scene.batch_account().withheld, 0);
}

#[test]
fn a_leaf_of_one_leaf_takes_an_empty_proof() {
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let (asker, owner) = (scene.party(), scene.owner.clone());
    ask(&mut scene, &asker, LOG, 0);
    let (at, bytes) = (scene.ask_at(LOG, 0), leaf(&batch, LOG, 0));
    show_refused(&mut scene, &owner, &at, &bytes, &[[0; 32]], Error::WrongProofLength);
    show(&mut scene, &owner, &batch, LOG, 0);
}

#[test]
fn a_wrong_leaf_fails() {
    let (mut scene, batch, asker) = landed();
    let owner = scene.owner.clone();
    ask(&mut scene, &asker, LOG, 4);
    let (at, right, proof) = (scene.ask_at(LOG, 4), leaf(&batch, LOG, 4), path(&batch, LOG, 4));
    let mut changed = right.clone();
    changed[0] ^= 1;
    for bytes in [changed, right[1..].to_vec(), [&right[..], &[0]].concat(), leaf(&batch, LOG, 3)] {
        show_refused(&mut scene, &owner, &at, &bytes, &proof, Error::WrongLeaf);
    }
    // Another leaf with its own proof, and the other tree's.
    show_refused(&mut scene, &owner, &at, &leaf(&batch, LOG, 3), &path(&batch, LOG, 3), Error::WrongLeaf);
    let record = leaf(&batch, ARRAYS, 2);
    show_refused(&mut scene, &owner, &at, &record, &path(&batch, ARRAYS, 2), Error::WrongProofLength);
    let mut tampered = proof.clone();
    tampered[2][9] ^= 1;
    show_refused(&mut scene, &owner, &at, &right, &tampered, Error::WrongLeaf);
    for len in [0, 2, 4] {
        let mut path = proof.clone();
        path.resize(len, [0; 32]);
        show_refused(&mut scene, &owner, &at, &right, &path, Error::WrongProofLength);
    }
    show(&mut scene, &owner, &batch, LOG, 4);
}

#[test]
fn an_inner_node_is_no_leaf() {
    // 64 bytes of two hashes lead to the root as well, one level higher.
    let (mut scene, batch, asker) = landed();
    let owner = scene.owner.clone();
    ask(&mut scene, &asker, LOG, 4);
    let proof = path(&batch, LOG, 4);
    let own = crate::common::keccak(&[&leaf(&batch, LOG, 4)]);
    for node in [[own, proof[0]].concat(), [proof[0], own].concat()] {
        let at = scene.ask_at(LOG, 4);
        show_refused(&mut scene, &owner, &at, &node, &proof[1..], Error::WrongProofLength);
    }
}

#[test]
fn a_leaf_is_shown_out_of_a_draft_ok() {
    // As long as a draft goes.
    let mut scene = Scene::new();
    let entries = vec![vec![7; 8_192], vec![8; 900]];
    let batch = Batch { epoch: scene.epoch, entries, records: vec![] };
    scene.submit_raw(&scene.world.message_of(&scene.agent, &batch));
    let (asker, owner) = (scene.party(), scene.owner.clone());
    let before = usdc(&mut scene, &owner);
    for n in [0, 1] {
        ask(&mut scene, &asker, LOG, n);
        let (at, bytes) = (scene.ask_at(LOG, n), leaf(&batch, LOG, n));
        let draft = scene.world.draft_of(&owner, u64::from(n), &bytes);
        let show = scene.world.showing(&owner.at(), &at, Err(draft), &path(&batch, LOG, n));
        let receipt = scene.world.send_ok(&[show], &owner, &[]);
        scene.world.assert_books();
        assert!(receipt.size <= MAX_TRANSACTION);
        assert_eq!(scene.ask(LOG, n).state, 1);
        // The draft is the shower's, and closes with its rent.
        let (rent, lamports) = (scene.world.lamports(&draft), scene.world.lamports(&owner.at()));
        let cancel = challenge::cancel_evidence(owner.at(), u64::from(n), None, None);
        let receipt = scene.world.send_ok(&[cancel], &owner, &[]);
        assert_eq!(scene.world.lamports(&owner.at()), lamports + rent - receipt.fee);
    }
    assert_eq!(usdc(&mut scene, &owner), before + 2 * ASK_TO_SHOWER);
}

#[test]
fn a_draft_that_does_not_hold_the_leaf_fails() {
    let (mut scene, batch, asker) = landed();
    let (owner, thief) = (scene.owner.clone(), scene.party());
    ask(&mut scene, &asker, LOG, 4);
    let (at, bytes, proof) = (scene.ask_at(LOG, 4), leaf(&batch, LOG, 4), path(&batch, LOG, 4));
    let right = scene.world.draft_of(&owner, 1, &bytes);
    let longer = scene.world.draft_of(&owner, 2, &[&bytes[..], &[0]].concat());
    let begin = scene.world.beginning_unranked(&owner.at(), 3, bytes.len());
    scene.world.send_ok(&[begin], &owner, &[]);
    scene.world.append(&owner, 3, &bytes[1..]);
    let incomplete = pda::evidence_draft(&owner.at(), 3);
    let with = |scene: &mut Scene, who: &Key, draft, error| {
        let show = scene.world.showing(&who.at(), &at, Err(draft), &proof);
        refused(&mut scene.world, &[show], who, &[], error);
    };
    with(&mut scene, &thief, right, Error::NotDraftOwner);
    with(&mut scene, &owner, longer, Error::WrongLeaf);
    with(&mut scene, &owner, incomplete, Error::DraftIncomplete);
    with(&mut scene, &owner, pda::evidence_draft(&owner.at(), 9), Error::AccountMissing);
    // Neither, and both.
    show_refused(&mut scene, &owner, &at, &[], &proof, Error::EvidenceMissing);
    let inline = scene.world.showing(&owner.at(), &at, Ok(&bytes), &proof);
    let both = with_account(inline, 3, right);
    refused(&mut scene.world, &[both], &owner, &[], Error::EvidenceMissing);
}

#[test]
fn the_time_to_show_ends_after_its_last_slot() {
    let (mut scene, batch, asker) = landed();
    let owner = scene.owner.clone();
    ask(&mut scene, &asker, LOG, 4);
    let (at, created) = (scene.ask_at(LOG, 4), scene.ask(LOG, 4).created_slot);
    scene.world.warp_to_slot(created + SHOW_SLOTS + 1);
    show_refused(&mut scene, &owner, &at, &leaf(&batch, LOG, 4), &path(&batch, LOG, 4), Error::ShowTooLate);
    scene.world.warp_to_slot(created + SHOW_SLOTS);
    settle_refused(&mut scene, LOG, 4, Error::ShowNotOver);
    show(&mut scene, &owner, &batch, LOG, 4);
}

#[test]
fn a_leaf_that_is_shown_in_the_last_slot_can_still_be_challenged() {
    // Asked for in the last slot, shown in the last slot: 108 000 slots of the batch's window are left.
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&deal), &[deal.bid(5)]);
    let (asker, owner) = (scene.party(), scene.owner.clone());
    let submitted = scene.batch_account().submitted_slot;
    scene.world.warp_to_slot(submitted + ASK_SLOTS);
    ask(&mut scene, &asker, LOG, 0);
    scene.world.advance_slots(SHOW_SLOTS);
    show(&mut scene, &owner, &batch, LOG, 0);
    assert_eq!(submitted + 432_000 - scene.world.slot(), 108_000);
    // Also in the last of these.
    scene.world.warp_to_slot(submitted + 432_000);
    let filing = scene.logged(&LogProof::of(&batch, 0).showing(&deal.payload), BID);
    let before = scene.money(&filing);
    scene.file(&filing);
    scene.resolve(&filing);
    let stake = MIN_STAKE + ASK_TO_STAKE;
    assert_eq!(scene.money(&filing).0, before.0 + stake / 5);
}

#[test]
fn showing_twice_or_after_the_settlement_fails() {
    let (mut scene, batch, asker) = landed();
    let owner = scene.owner.clone();
    ask(&mut scene, &asker, LOG, 4);
    ask(&mut scene, &asker, LOG, 3);
    show(&mut scene, &owner, &batch, LOG, 4);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    settle_refused(&mut scene, LOG, 4, Error::AskSettled);
    settle(&mut scene, LOG, 3);
    settle_refused(&mut scene, LOG, 3, Error::AskSettled);
    for n in [3, 4] {
        let (at, bytes, proof) = (scene.ask_at(LOG, n), leaf(&batch, LOG, n), path(&batch, LOG, n));
        show_refused(&mut scene, &owner, &at, &bytes, &proof, Error::AskSettled);
    }
}

#[test]
fn what_a_leaf_of_an_emptied_era_would_bring_goes_to_the_treasury() {
    let mut scene = Scene::new();
    let lie = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&lie), &[lie.bid(1), lie.bid(2)]);
    let (asker, shower) = (scene.party(), scene.party());
    ask(&mut scene, &asker, LOG, 0);
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    scene.file(&double);
    scene.world.resolve(&double.challenge()).unwrap();
    scene.world.assert_books();
    let (before, showers) = (treasury(&mut scene), usdc(&mut scene, &shower));
    show(&mut scene, &shower, &batch, LOG, 0);
    assert_eq!(treasury(&mut scene), before + ASK_TO_TREASURY + ASK_TO_STAKE);
    assert_eq!(usdc(&mut scene, &shower), showers + ASK_TO_SHOWER);
    assert_eq!(books(&scene), Books::default());
}

#[test]
fn shown_leaves_with_accounts_of_others_fail() {
    let (mut scene, batch, asker) = landed();
    let owner = scene.owner.clone();
    let (other, thief) = (scene.world.living_agent(), scene.party());
    ask(&mut scene, &asker, LOG, 4);
    ask(&mut scene, &asker, LOG, 3);
    let fake = keypair("fake USDC");
    scene.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let fakes = scene.world.fund_token(&owner.at(), &fake.pubkey(), 0, &TOKEN_PROGRAM);
    let (thiefs, owners) = (scene.world.usdc_account(&thief.at()), scene.world.usdc_account(&owner.at()));
    let at = scene.ask_at(LOG, 4);
    let right = scene.world.showing(&owner.at(), &at, Ok(&leaf(&batch, LOG, 4)), &path(&batch, LOG, 4));
    let of = money::OF_SHOW;
    let cases = [
        (1, scene.ask_at(LOG, 3), Error::WrongLeaf),
        (1, scene.ask_at(LOG, 2), Error::AccountMissing),
        (2, pda::batch(&other.agent.mint, 1), Error::AccountMissing),
        (2, pda::head(&scene.agent.mint), Error::WrongAccountType),
        (of + money::CONFIG, thief.at(), Error::WrongAddress),
        (of + money::STAKE, pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (of + money::SHARD, pda::shard(other.agent.shard()), Error::WrongAddress),
        (of + money::VAULT, pda::vault(other.agent.shard()), Error::WrongAddress),
        (of + money::FIRST, thiefs, Error::WrongTokenAccountOwner),
        (of + money::FIRST, fakes, Error::WrongUsdcMint),
        (of + money::SECOND, owners, Error::NotTreasury),
        (of + money::AUTHORITY, thief.at(), Error::WrongAddress),
        (of + money::STAKE_LOCK, address(ids::LEASE), Error::WrongAddress),
        (of + money::TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), place, account);
        let failure = scene.world.send_refused(&[wrong], &owner, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    let wrong = with_account(right, of + money::STAKE_LOCK_EVENTS, pda::event_authority(ids::LEASE));
    let failure = scene.world.send_refused(&[wrong], &owner, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::InvalidSeeds), "{failure:?}");
}

// Silence.

#[test]
fn a_withheld_leaf_marks_the_batch_and_costs_the_fine_ok() {
    let (mut scene, _, asker) = landed();
    ask(&mut scene, &asker, LOG, 4);
    let (before, stake, batch) = (scene.ask(LOG, 4), scene.stake(), scene.batch_account());
    let head = scene.world.head(&scene.agent);
    let (askers, treasurys) = (usdc(&mut scene, &asker), treasury(&mut scene));
    scene.world.warp_to_slot(before.created_slot + SHOW_SLOTS + 1);
    let at = scene.ask_at(LOG, 4);
    let (settle, stranger) = (scene.world.settling_ask(&at), scene.stranger());
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(std::slice::from_ref(&settle), &stranger, &[]);
    let changed = [
        at,
        stranger.at(),
        scene.batch(),
        pda::head(&scene.agent.mint),
        pda::stake(&scene.agent.mint, 0),
        pda::shard(scene.agent.shard()),
        pda::vault(scene.agent.shard()),
        settle.accounts[money::OF_SETTLE_ASK + money::FIRST].pubkey,
        settle.accounts[money::OF_SETTLE_ASK + money::SECOND].pubkey,
    ];
    snapshot.assert_only_changed(&scene.world, &changed);
    scene.world.assert_books();
    assert_eq!(scene.ask(LOG, 4), AskAccount { state: 3, event_sequence: 2, ..before });
    assert_eq!(scene.batch_account(), BatchAccount { withheld: 1, ..batch });
    let counted = HeadAccount { event_sequence: head.event_sequence + 1, ..head };
    assert_eq!(scene.world.head(&scene.agent), counted);
    let fined = StakeLockAccount {
        stake_usdc: MIN_STAKE - FINE,
        deposits_usdc: 0,
        open_asks: 0,
        settled_ask: 1,
        event_sequence: stake.event_sequence + 1,
        ..stake
    };
    assert_eq!(scene.stake(), fined);
    assert_eq!(usdc(&mut scene, &asker), askers + ASK_PRICE + FINE_TO_ASKER);
    assert_eq!(treasury(&mut scene), treasurys + FINE - FINE_TO_ASKER);
    assert_eq!(books(&scene), alone(MIN_STAKE - FINE, 0));

    let event = AskSettled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = AskSettled {
        agent_id: scene.id(),
        ask: at.to_bytes(),
        state: 3,
        fine: FINE,
        to_asker: ASK_PRICE + FINE_TO_ASKER,
        sequence: 1,
        account_created_slot: before.created_slot,
    };
    assert_eq!(event, expected);
    let marked = BatchWithheld::read(&only_event(&receipt, ids::BEHAVIOR_LOG)).unwrap();
    let expected = BatchWithheld {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        sequence: head.event_sequence,
        account_created_slot: head.created_slot,
    };
    assert_eq!(marked, expected);
    let moved = StakeMoved::read(&only_event(&receipt, ids::STAKE_LOCK)).unwrap();
    assert_eq!((moved.from_stake, moved.to_stake, moved.slashed), (FINE, 0, 0));
}

#[test]
fn a_batch_is_fined_once_and_other_askers_get_their_price_back() {
    let (mut scene, batch, first) = landed();
    let (second, owner) = (scene.party(), scene.owner.clone());
    ask(&mut scene, &first, LOG, 0);
    ask(&mut scene, &second, LOG, 1);
    ask(&mut scene, &second, ARRAYS, 1);
    scene.world.advance_slots(SHOW_SLOTS);
    // One of them is shown in time all the same.
    show(&mut scene, &owner, &batch, ARRAYS, 1);
    scene.world.advance_slots(1);
    // Whoever settles first is fined for; nobody asks any more.
    let (firsts, seconds) = (usdc(&mut scene, &first), usdc(&mut scene, &second));
    settle(&mut scene, LOG, 1);
    assert_eq!(usdc(&mut scene, &second), seconds + ASK_PRICE + FINE_TO_ASKER);
    let treasurys = treasury(&mut scene);
    let receipt = settle(&mut scene, LOG, 0);
    assert_eq!(usdc(&mut scene, &first), firsts + ASK_PRICE);
    assert_eq!(treasury(&mut scene), treasurys);
    let event = AskSettled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.state, event.fine, event.to_asker), (3, 0, ASK_PRICE));
    assert!(events(&receipt, &address(ids::BEHAVIOR_LOG)).is_empty(), "marked once");
    assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
    assert_eq!(books(&scene), alone(MIN_STAKE + ASK_TO_STAKE - FINE, 0));
    ask_refused(&mut scene, &first, LOG, 2, Error::BatchWithheld);
}

#[test]
fn a_leaf_is_shown_in_time_although_the_batch_is_marked() {
    let (mut scene, batch, first) = landed();
    let (second, owner) = (scene.party(), scene.owner.clone());
    ask(&mut scene, &first, LOG, 0);
    scene.world.advance_slots(SHOW_SLOTS);
    ask(&mut scene, &second, LOG, 1);
    scene.world.advance_slots(1);
    settle(&mut scene, LOG, 0);
    settle_refused(&mut scene, LOG, 1, Error::ShowNotOver);
    show(&mut scene, &owner, &batch, LOG, 1);
    assert_eq!(scene.batch_account().withheld, 1, "for ever");
    assert_eq!(books(&scene), alone(MIN_STAKE - FINE + ASK_TO_STAKE, 0));
}

#[test]
fn a_fine_is_never_above_what_is_there() {
    // Four batches, each withheld; the era holds 32 USDC.
    let mut scene = Scene::new();
    let (agent, owner, asker) = (scene.agent, scene.owner.clone(), scene.party());
    scene.world.lock_stake(&agent, &owner, 2_000_000).unwrap();
    let mut asks = Vec::new();
    for _ in 0..4 {
        scene.submit(&[scene.message(MsgType::Propose)], &[]);
        ask(&mut scene, &asker, LOG, 0);
        asks.push(scene.ask_at(LOG, 0));
        scene.world.advance_epochs(1);
        scene.epoch += 1;
    }
    assert_eq!(books(&scene), alone(32_000_000, 4 * ASK_PRICE));
    // Fine, the asker's part, what is left.
    for (at, (fine, to_asker, left)) in asks.iter().zip([
        (FINE, FINE_TO_ASKER, 22_000_000),
        (FINE, FINE_TO_ASKER, 12_000_000),
        (FINE, FINE_TO_ASKER, 2_000_000),
        (2_000_000, 2_000_000, 0),
    ]) {
        let (askers, treasurys) = (usdc(&mut scene, &asker), treasury(&mut scene));
        let receipt = scene.world.settle_ask(at).unwrap();
        scene.world.assert_books();
        assert_eq!(usdc(&mut scene, &asker), askers + ASK_PRICE + to_asker);
        assert_eq!(treasury(&mut scene), treasurys + fine - to_asker);
        assert_eq!(books(&scene).stake, left);
        let event = AskSettled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
        assert_eq!((event.fine, event.to_asker), (fine, ASK_PRICE + to_asker));
    }
    assert_eq!(books(&scene), Books::default());
    assert_eq!((scene.stake().slashed_slot, scene.stake().ended_slot), (0, 0), "fined, not slashed");
}

#[test]
fn a_fine_waits_for_the_eras_challenges_and_then_is_paid() {
    let (mut scene, batch, asker) = landed();
    let owner = scene.owner.clone();
    ask(&mut scene, &asker, LOG, 0);
    ask(&mut scene, &asker, LOG, 1);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    let filing = scene.logged(&LogProof::of(&batch, 4), SELECTION);
    scene.file(&filing);
    let (askers, before) = (usdc(&mut scene, &asker), books(&scene));
    let receipt = settle(&mut scene, LOG, 0);
    // Marked at once; the money stays.
    assert_eq!((scene.ask(LOG, 0).state, scene.batch_account().withheld), (2, 1));
    assert_eq!((usdc(&mut scene, &asker), books(&scene)), (askers, before));
    let event = AskSettled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.state, event.fine, event.to_asker), (2, 0, 0));
    assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
    assert_eq!(events(&receipt, &address(ids::BEHAVIOR_LOG)).len(), 1);
    settle_refused(&mut scene, LOG, 0, Error::OpenChallenges);
    // It is neither shown nor closed meanwhile; the batch's other ask has its price back.
    let (at, bytes, proof) = (scene.ask_at(LOG, 0), leaf(&batch, LOG, 0), path(&batch, LOG, 0));
    show_refused(&mut scene, &owner, &at, &bytes, &proof, Error::AskSettled);
    let (close, stranger) = (scene.world.closing_ask(&at), scene.stranger());
    refused(&mut scene.world, &[close], &stranger, &[], Error::AskNotSettled);
    settle(&mut scene, LOG, 1);
    assert_eq!(usdc(&mut scene, &asker), askers + ASK_PRICE);

    scene.answer(&owner, &filing, &answer_of(&batch, 1, 0, [0; 32]));
    let receipt = settle(&mut scene, LOG, 0);
    assert_eq!(usdc(&mut scene, &asker), askers + 2 * ASK_PRICE + FINE_TO_ASKER);
    assert_eq!(books(&scene), alone(MIN_STAKE + 1_500_000 - FINE, 0));
    assert!(events(&receipt, &address(ids::BEHAVIOR_LOG)).is_empty(), "marked once");
    assert_eq!(scene.ask(LOG, 0).state, 3);
    settle_refused(&mut scene, LOG, 0, Error::AskSettled);
}

#[test]
fn a_slash_comes_before_the_fine() {
    // The finder's part is not made smaller by an ask of the liar's own.
    let mut scene = Scene::new();
    let lie = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&lie), &[lie.bid(1), lie.bid(2)]);
    let accomplice = scene.party();
    ask(&mut scene, &accomplice, LOG, 0);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    let before = scene.money(&double);
    scene.file(&double);
    settle(&mut scene, LOG, 0);
    assert_eq!(scene.ask(LOG, 0).state, 2);
    scene.world.resolve(&double.challenge()).unwrap();
    scene.world.assert_books();
    assert_eq!(scene.money(&double).0, before.0 + MIN_STAKE / 5);
    let accomplices = usdc(&mut scene, &accomplice);
    let receipt = settle(&mut scene, LOG, 0);
    assert_eq!(usdc(&mut scene, &accomplice), accomplices + ASK_PRICE, "the price, and no fine");
    let event = AskSettled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.fine, event.to_asker), (0, ASK_PRICE));
    assert_eq!(books(&scene), Books::default());
}

#[test]
fn asking_oneself_gains_nothing() {
    // Neither by silence nor by showing: the pair loses what the treasury gets.
    let (mut scene, batch, _) = landed();
    let owner = scene.owner.clone();
    let all = |scene: &mut Scene| {
        let owner = scene.owner.clone();
        usdc(scene, &owner) + books(scene).stake
    };
    let before = all(&mut scene);
    ask(&mut scene, &owner, LOG, 0);
    show(&mut scene, &owner, &batch, LOG, 0);
    assert_eq!(all(&mut scene), before - ASK_TO_TREASURY);
    ask(&mut scene, &owner, LOG, 1);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    settle(&mut scene, LOG, 1);
    assert_eq!(all(&mut scene), before - ASK_TO_TREASURY - (FINE - FINE_TO_ASKER));
}

#[test]
fn a_leaf_longer_than_a_draft_cannot_be_shown_and_costs_the_fine() {
    // Why nobody may send or accept a message whose log entry is longer: on chain it cannot be helped.
    let mut scene = Scene::new();
    let entries = vec![vec![7; 8_193]];
    let batch = Batch { epoch: scene.epoch, entries, records: vec![] };
    scene.submit_raw(&scene.world.message_of(&scene.agent, &batch));
    let (asker, owner) = (scene.party(), scene.owner.clone());
    ask(&mut scene, &asker, LOG, 0);
    let begin = scene.world.beginning_unranked(&owner.at(), 1, 8_193);
    refused(&mut scene.world, &[begin], &owner, &[], Error::InvalidDraftLength);
    let at = scene.ask_at(LOG, 0);
    let inline = scene.world.showing(&owner.at(), &at, Ok(&leaf(&batch, LOG, 0)), &[]);
    assert!(zx1_vm_tests::transaction_size(&[inline], &owner.at()) > MAX_TRANSACTION);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    settle(&mut scene, LOG, 0);
    assert_eq!(books(&scene).stake, MIN_STAKE - FINE);
}

#[test]
fn settlements_with_accounts_of_others_fail() {
    let (mut scene, _, asker) = landed();
    let (other, thief, owner) = (scene.world.living_agent(), scene.party(), scene.owner.at());
    ask(&mut scene, &asker, LOG, 4);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    let (thiefs, owners) = (scene.world.usdc_account(&thief.at()), scene.world.usdc_account(&owner));
    let at = scene.ask_at(LOG, 4);
    let right = scene.world.settling_ask(&at);
    let of = money::OF_SETTLE_ASK;
    let cases = [
        (0, scene.ask_at(LOG, 2), Error::AccountMissing),
        (1, pda::batch(&other.agent.mint, 1), Error::AccountMissing),
        (2, pda::head(&other.agent.mint), Error::WrongAgent),
        (3, address(ids::LEASE), Error::WrongAddress),
        (of + money::CONFIG, thief.at(), Error::WrongAddress),
        (of + money::STAKE, pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (of + money::SHARD, pda::shard(other.agent.shard()), Error::WrongAddress),
        (of + money::VAULT, pda::vault(other.agent.shard()), Error::WrongAddress),
        (of + money::FIRST, thiefs, Error::WrongTokenAccountOwner),
        (of + money::FIRST, owners, Error::WrongTokenAccountOwner),
        (of + money::SECOND, thiefs, Error::NotTreasury),
        (of + money::AUTHORITY, thief.at(), Error::WrongAddress),
        (of + money::STAKE_LOCK, address(ids::LEASE), Error::WrongAddress),
        (of + money::TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), place, account);
        let failure = scene.world.send_refused(&[wrong], &thief, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    for place in [4, of + money::STAKE_LOCK_EVENTS] {
        let wrong = with_account(right.clone(), place, pda::event_authority(ids::LEASE));
        let failure = scene.world.send_refused(&[wrong], &thief, &[]);
        assert_eq!(failure.instruction_error(), Some(&InstructionError::InvalidSeeds), "{failure:?}");
    }
    // Any USDC account of the asker's serves.
    let further = further_account(&mut scene, &asker.at());
    let right = with_account(right, of + money::FIRST, further);
    scene.world.send_ok(&[right], &thief, &[]);
    assert_eq!(scene.world.token_balance(&further), ASK_PRICE + FINE_TO_ASKER);
}

#[test]
fn another_batch_of_the_agent_is_not_marked() {
    let (mut scene, _, asker) = landed();
    ask(&mut scene, &asker, LOG, 4);
    let at = scene.ask_at(LOG, 4);
    scene.world.advance_epochs(1);
    scene.epoch += 1;
    scene.submit(&[], &[]);
    let (right, stranger) = (scene.world.settling_ask(&at), scene.stranger());
    let wrong = with_account(right, 1, scene.batch());
    refused(&mut scene.world, &[wrong], &stranger, &[], Error::WrongBatch);
}

// Closing.

#[test]
fn a_stranger_closes_an_ask_and_the_asker_gets_the_rent_ok() {
    let (mut scene, batch, asker) = landed();
    ask(&mut scene, &asker, LOG, 4);
    let created = scene.ask(LOG, 4).created_slot;
    let (owner, stranger, at) = (scene.owner.clone(), scene.stranger(), scene.ask_at(LOG, 4));
    let close = scene.world.closing_ask(&at);
    refused(&mut scene.world, std::slice::from_ref(&close), &stranger, &[], Error::AskNotSettled);
    show(&mut scene, &owner, &batch, LOG, 4);
    for thief in [stranger.at(), owner.at()] {
        let wrong = challenge::close_ask(at, thief);
        refused(&mut scene.world, &[wrong], &stranger, &[], Error::WrongPayer);
    }
    let give = system::transfer(&stranger.at(), &at, 99);
    scene.world.send_ok(&[give], &stranger, &[]);
    let (lamports, rent) = (scene.world.lamports(&asker.at()), scene.world.rent(AskAccount::SIZE));
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(std::slice::from_ref(&close), &stranger, &[]);
    snapshot.assert_only_changed(&scene.world, &[at, asker.at(), stranger.at()]);
    assert_eq!(scene.world.lamports(&asker.at()), lamports + rent + 99);
    assert!(scene.world.account(&at).is_none());
    let event = AskClosed::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = AskClosed {
        ask: at.to_bytes(),
        asker: asker.at().to_bytes(),
        sequence: 2,
        account_created_slot: created,
    };
    assert_eq!(event, expected);
    refused(&mut scene.world, &[close], &stranger, &[], Error::AccountMissing);
    for (account, error) in [
        (scene.batch(), Error::WrongAccountOwner),
        (scene.world.draft_of(&owner, 5, &[1]), Error::WrongAccountType),
    ] {
        let wrong = challenge::close_ask(account, asker.at());
        refused(&mut scene.world, &[wrong], &stranger, &[], error);
    }
}

#[test]
fn a_settled_ask_closes_too() {
    let (mut scene, _, asker) = landed();
    ask(&mut scene, &asker, LOG, 4);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    settle(&mut scene, LOG, 4);
    let at = scene.ask_at(LOG, 4);
    scene.world.close_ask(&at).unwrap();
    assert!(scene.world.account(&at).is_none());
    // The batch is marked, so there is no second ask.
    ask_refused(&mut scene, &asker, LOG, 4, Error::BatchWithheld);
}

#[test]
fn a_shown_leaf_may_be_asked_for_again() {
    let (mut scene, batch, asker) = landed();
    let owner = scene.owner.clone();
    for rank in 0..3 {
        ask(&mut scene, &asker, LOG, 4);
        assert_eq!(scene.ask(LOG, 4).rank, rank);
        show(&mut scene, &owner, &batch, LOG, 4);
        ask_refused(&mut scene, &asker, LOG, 4, Error::AskExists);
        let at = scene.ask_at(LOG, 4);
        scene.world.close_ask(&at).unwrap();
    }
    assert_eq!(books(&scene), alone(MIN_STAKE + 3 * ASK_TO_STAKE, 0));
}

#[test]
fn an_open_ask_holds_claim_and_close_up_until_it_is_settled() {
    let (mut scene, _, asker) = landed();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    ask(&mut scene, &asker, LOG, 4);
    scene.world.advance_epochs(13);
    scene.world.queue_unlock(&agent, &owner, 0).unwrap();
    scene.world.advance_slots(432_001);
    scene.world.claim_stake(&agent, &owner, 0).unwrap_err().expect_code(Error::AskNotSettled.code());
    scene.world.close_batch(&agent, scene.epoch).unwrap_err();
    settle(&mut scene, LOG, 4);
    scene.world.close_batch(&agent, scene.epoch).unwrap();
    let before = usdc(&mut scene, &owner);
    scene.world.claim_stake(&agent, &owner, 0).unwrap();
    scene.world.assert_books();
    assert_eq!(usdc(&mut scene, &owner), before + MIN_STAKE - FINE);
}

#[test]
fn an_ask_takes_no_part_in_the_finders_order() {
    let (mut scene, _, asker) = landed();
    ask(&mut scene, &asker, LOG, 0);
    assert_eq!(scene.world.ranks(&scene.agent, 0), (0, 0));
    // And a batch with an open ask lands its successor.
    scene.world.advance_epochs(1);
    scene.epoch += 1;
    let next = Message { nonce: 2, ..scene.message(MsgType::Deliver) };
    scene.submit(&[next], &[]);
    assert_eq!(scene.stake().open_asks, 1);
}

#[test]
fn configured_amounts_divide_price_and_fine() {
    let amounts = Amounts {
        ask_price: 7,
        ask_to_shower: 3,
        ask_to_stake: 2,
        fine: 1_001,
        fine_to_asker: 1_000,
        ..Amounts::DEFAULT
    };
    let mut scene = Scene::of(World::configured_with(amounts));
    let batch = scene.submit(&scene.chatter(2), &[]);
    let (asker, owner) = (scene.party(), scene.owner.clone());
    let (askers, owners, treasurys) =
        (usdc(&mut scene, &asker), usdc(&mut scene, &owner), treasury(&mut scene));
    ask(&mut scene, &asker, LOG, 0);
    ask(&mut scene, &asker, LOG, 1);
    show(&mut scene, &owner, &batch, LOG, 0);
    scene.world.advance_slots(SHOW_SLOTS + 1);
    settle(&mut scene, LOG, 1);
    assert_eq!(usdc(&mut scene, &asker), askers - 7 + 1_000);
    assert_eq!(usdc(&mut scene, &owner), owners + 3);
    assert_eq!(treasury(&mut scene), treasurys + 2 + 1);
    assert_eq!(books(&scene), alone(MIN_STAKE + 2 - 1_001, 0));
}
