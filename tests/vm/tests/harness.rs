//! The harness itself: what its helpers promise.
#![allow(clippy::unwrap_used)] // A test fails by panicking, in its helpers too.

use solana_instruction::AccountMeta;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use zx1_chain::{
    pda, sati,
    token::{self, TOKEN_PROGRAM},
};
use zx1_interface::{accounts::KeyAccount, external::upgrade_authority, ids};
use zx1_protocol::challenge::Ground;
use zx1_protocol::evidence::{Evidence, ProvenBid};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::Scopes;
use zx1_protocol::record::{BID_LEN, Bid, Record};
use zx1_protocol::units::{Epoch, Slot};
use zx1_vm_tests::{
    Batch, Books, Ed25519Entry, Filing, Key, LOG, Living, START_SLOT, START_TIME, Shown, World, address,
    compute_limit, ed25519_custom, ed25519_instruction, ed25519_pair, sign, transaction_size,
};

#[test]
fn time_moves_slots_and_seconds_together() {
    let mut world = World::empty();
    assert_eq!((world.slot(), world.time()), (START_SLOT, START_TIME));
    let epoch = world.epoch();
    world.advance_slots(5);
    assert_eq!((world.slot(), world.time()), (START_SLOT + 5, START_TIME + 2));
    world.advance_epochs(3);
    assert_eq!(world.epoch(), epoch + 3);
    assert_eq!(world.slot(), START_SLOT + 5 + 3 * 216_000);
    world.warp_to_epoch(epoch + 4);
    assert_eq!((world.epoch(), world.time() % 86_400), (epoch + 4, 0));
    world.advance_slots(0);
    world.warp_to_slot(world.slot() - 3);
    assert_eq!(world.epoch(), epoch + 3);
}

#[test]
fn the_same_transfer_can_be_sent_twice() {
    let mut world = World::empty();
    let (from, to) = (world.new_wallet(10), world.new_keypair().pubkey());
    let transfer = system::transfer(&from.pubkey(), &to, 1_000_000_000);
    let receipt = world.send_ok(std::slice::from_ref(&transfer), &from, &[]);
    assert_eq!(receipt.size, transaction_size(std::slice::from_ref(&transfer), &from.pubkey()));
    world.send_ok(&[transfer], &from, &[&from]);
    assert_eq!(world.lamports(&to), 2_000_000_000);
}

#[test]
fn a_refused_transaction_changes_nothing_and_names_its_instruction() {
    let mut world = World::empty();
    let (from, to) = (world.new_wallet(1), world.new_keypair().pubkey());
    let instructions = [
        system::transfer(&from.pubkey(), &to, 500_000_000),
        system::transfer(&from.pubkey(), &to, 900_000_000),
    ];
    let failure = world.send_refused(&instructions, &from, &[]);
    assert_eq!(failure.instruction(), Some(1));
    failure.expect_code(1);
    assert!(format!("{failure:?}").contains("insufficient lamports"));
}

#[test]
fn snapshots_see_every_changed_account() {
    let mut world = World::empty();
    let (from, to) = (world.new_wallet(1), world.new_wallet(1).pubkey());
    let before = world.snapshot();
    world.send_ok(&[system::transfer(&from.pubkey(), &to, 5)], &from, &[]);
    let mut expected = vec![from.pubkey(), to];
    expected.sort_unstable();
    assert_eq!(before.changed(&world), expected);
    before.assert_only_changed(&world, &expected);
}

#[test]
fn a_cloned_world_is_a_fork() {
    let mut world = World::empty();
    let (from, to) = (world.new_wallet(1), world.new_wallet(1).pubkey());
    let mut fork = world.clone();
    fork.send_ok(&[system::transfer(&from.pubkey(), &to, 5)], &from, &[]);
    assert_eq!(fork.lamports(&to), world.lamports(&to) + 5);
}

#[test]
fn usdc_is_a_real_legacy_mint() {
    let mut world = World::empty();
    let (a, b) = (world.new_wallet(1), world.new_wallet(1));
    let from = world.fund_usdc(&a.pubkey(), 5_000_000);
    let to = world.fund_usdc(&b.pubkey(), 1);
    let mint = world.usdc_mint();
    assert_eq!(world.account(&mint).unwrap().owner, TOKEN_PROGRAM);
    assert_eq!(world.data(&mint)[44], 6);
    let transfer = token::transfer(&from, &mint, &to, &a.pubkey(), (2_000_000, 6), &TOKEN_PROGRAM).unwrap();
    let receipt = world.send_ok(&[transfer], &a, &[]);
    assert_eq!((world.usdc_balance(&a.pubkey()), world.usdc_balance(&b.pubkey())), (3_000_000, 2_000_001));
    assert!(receipt.units_of(&TOKEN_PROGRAM) > 0);
}

#[test]
fn ed25519_instructions_are_checked_by_the_precompile() {
    let mut world = World::empty();
    let (payer, signer) = (world.new_wallet(1), world.new_keypair());
    world.send_ok(&[ed25519_instruction(&signer, b"message")], &payer, &[]);
    world.send_ok(&[ed25519_pair((&signer, b"one"), (&payer, b"two"))], &payer, &[]);
    let mut bad = ed25519_instruction(&signer, b"message");
    *bad.data.last_mut().unwrap() ^= 1;
    assert!(world.send_refused(&[bad], &payer, &[]).instruction_error().is_some());
    // A signature whose parts lie in another instruction passes the precompile too: programs must look.
    let elsewhere = ed25519_instruction(&signer, b"message");
    let entry = Ed25519Entry {
        signature_instruction: 0,
        key_instruction: 0,
        message_instruction: 0,
        ..Ed25519Entry::own(16, 7)
    };
    world.send_ok(&[elsewhere, ed25519_custom(&[entry], &[])], &payer, &[]);
    assert_ne!(sign(&signer, b"a"), sign(&signer, b"b"));
}

#[test]
#[should_panic(expected = "are allowed")]
fn a_transaction_over_1232_bytes_fails_the_test() {
    let mut world = World::empty();
    let payer = world.new_wallet(1);
    let _ = world.send(&[ed25519_instruction(&payer, &[0; 1_200])], &payer, &[]);
}

#[test]
#[should_panic(expected = "ask for a signature")]
fn a_missing_key_fails_the_test() {
    let mut world = World::empty();
    let (payer, other) = (world.new_wallet(1), world.new_keypair());
    let mut instruction = compute_limit(1_000);
    instruction.accounts.push(AccountMeta::new_readonly(other.pubkey(), true));
    let _ = world.send(&[instruction], &payer, &[]);
}

#[test]
fn a_program_can_be_given_an_upgrade_authority() {
    let mut world = World::with_stand_ins();
    let at = solana_loader_v3_interface::get_program_data_address(&sati::PROGRAM);
    // LiteSVM deploys programs as final ones.
    assert_eq!(upgrade_authority(&world.data(&at)), Some(None));
    let authority = world.new_wallet(1);
    world.set_program_data(&sati::PROGRAM, Some(authority.pubkey()));
    assert_eq!(upgrade_authority(&world.data(&at)), Some(Some(authority.pubkey().to_bytes())));
    // It still runs.
    world.register_agent(&authority);
    world.set_program_data(&sati::PROGRAM, None);
    assert_eq!(upgrade_authority(&world.data(&at)), Some(None));
}

#[test]
fn a_new_world_has_every_program() {
    let world = World::new();
    for id in [
        ids::STAKE_LOCK,
        ids::LEASE,
        ids::BEHAVIOR_LOG,
        ids::CHALLENGE,
        ids::FEEDBACK_LOG,
        ids::SATI,
        ids::SAS,
    ] {
        assert!(world.account(&address(id)).is_some_and(|account| account.executable));
    }
}

#[test]
fn a_living_agent_lands_its_epoch_when_that_is_over() {
    let mut world = World::configured();
    let Living { agent, keys, .. } = world.living_agent();
    let epoch = world.epoch();
    assert_eq!(world.message_of(&agent, &Batch::empty(epoch)).covers_from, Epoch(epoch));
    world.advance_epochs(1);
    world.submit_batch(&agent, &keys.batch, &Batch::empty(epoch)).unwrap();
    world.advance_epochs(2);
    let later = Batch::empty(epoch + 2);
    assert_eq!(world.message_of(&agent, &later).covers_from, Epoch(epoch + 1));
    world.submit_batch(&agent, &keys.batch, &later).unwrap();
    assert_eq!((world.head(&agent).count, world.batch(&agent, epoch + 2).covers_from_epoch), (2, epoch + 1));
}

#[test]
fn keys_act_at_once_first_and_with_notice_later() {
    let mut world = World::configured();
    let Living { agent, owner, keys } = world.living_agent();
    assert_eq!(world.live_keys(&agent).len(), 3);
    assert_eq!(world.key(&agent, &keys.pay.at()).from_epoch, world.epoch());
    let later = world.new_key(&agent, &owner, Scopes::BATCH);
    let from = world.epoch() + 2;
    world.wait_for_key(&agent, &later.at());
    assert_eq!((world.epoch(), world.key(&agent, &later.at()).from_epoch), (from, from));
    let buyer = Key(world.new_party());
    let sold = world.transfer_agent(&agent, &owner, &buyer.at());
    world.take_over(&sold, &buyer).unwrap();
    assert_eq!(world.live_keys(&agent), []);
    assert_eq!((world.tenure(&agent).number, world.era(&agent)), (2, 1));
    let ended = world.close_key(&agent, &later.at()).unwrap();
    assert!(ended.units > 0 && world.find::<KeyAccount>(&pda::key(&agent.mint, &later.at())).is_none());
}

#[test]
fn books_hold_to_the_unit_through_a_challenge_and_an_ask() {
    let mut world = World::configured();
    let Living { agent, owner, keys } = world.living_agent();
    let amounts = world.amounts();
    let empty = Books { stake: amounts.min_stake, ..Books::default() };
    assert_eq!(world.books(&agent, 0), Books { shard: empty.stake, vault: empty.stake, ..empty });
    world.advance_epochs(1);
    let epoch = world.epoch() - 1;
    // Two bids of one message: what nothing can answer.
    let bid = |value| {
        let (conversation, counterparty, message) = (ConversationId([1; 16]), AgentId([2; 32]), [3; 32]);
        Record::Bid(Bid { conversation, counterparty, value, slot: Slot(4), message }).to_bytes()
    };
    let batch = Batch { epoch, entries: vec![b"an entry".to_vec()], records: vec![bid(1), bid(2)] };
    world.submit_batch(&agent, &keys.batch, &batch).unwrap();
    world.advance_slots(1);
    let asker = Key(world.new_party());
    world.ask_leaf(&asker, &agent, epoch, LOG, 0).unwrap();
    let ask = world.ask_address(&agent, epoch, LOG, 0);
    world.show_leaf(&owner, &ask, &batch.entries[0], &[]).unwrap();
    world.assert_books();
    let stake = amounts.min_stake + amounts.ask_to_stake;
    assert_eq!(world.books(&agent, 0).stake, stake);

    let place = |n: u32| batch.arrays().proof_of_entry(n).unwrap();
    let (first, second) = (place(0), place(1));
    let one: &[u8; BID_LEN] = batch.records[0].as_slice().try_into().unwrap();
    let two: &[u8; BID_LEN] = batch.records[1].as_slice().try_into().unwrap();
    let evidence = Evidence::DoubleBid(
        ProvenBid::new(one, first.index, &first.path).unwrap(),
        ProvenBid::new(two, second.index, &second.path).unwrap(),
    );
    let filing = Filing {
        finder: Key(world.new_party()),
        agent,
        epoch,
        nonce: 7,
        ground: Ground::DoubleBid,
        value_known: true,
        message: [3; 32],
        shown: Shown::Bytes(evidence.to_bytes().unwrap()),
    };
    let before = world.usdc_balance(&filing.finder.at());
    world.file(&filing);
    world.assert_books();
    assert_eq!(world.books(&agent, 0).deposits, amounts.challenge_stake);
    world.resolve(&filing.challenge()).unwrap();
    world.assert_books();
    assert_eq!(world.books(&agent, 0), Books::default());
    let won = amounts.share(amounts.slash(stake).pot);
    assert_eq!(world.usdc_balance(&filing.finder.at()), before + won);
    world.lock_stake(&agent, &owner, amounts.min_stake).unwrap();
    assert_eq!((world.era(&agent), world.ranks(&agent, 0)), (1, (1, 1)));
}
