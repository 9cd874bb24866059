//! add_key, end_key and close_key: which keys act for an agent, and from when until when.

use super::common::{
    DUPLICATE_MUTABLE, MISSING_SIGNATURE, Scene, WINDOW, gift, only_event, unsigned, with_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{close_key, end_key};
use zx1_chain::pda;
use zx1_interface::accounts::{KeyAccount, TenureAccount};
use zx1_interface::events::{KeyAdded, KeyClosed, KeyEnded};
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{Key, address};

// Places of add_key.
const ADD_KEY: usize = 1;
const ADD_INDEX: usize = 4;
const ADD_TOKEN: usize = 5;
const ADD_TENURE: usize = 6;
const ADD_ACCOUNT: usize = 7;
const ADD_STAKE: usize = 8;
const ADD_HEAD: usize = 9;

// Places of end_key.
const END_INDEX: usize = 3;
const END_TOKEN: usize = 4;
const END_TENURE: usize = 5;
const END_ACCOUNT: usize = 6;

// Places of close_key.
const CLOSE_PAYER: usize = 0;
const CLOSE_ACCOUNT: usize = 1;
const CLOSE_HEAD: usize = 2;

/// `until_epoch` of a key that has not ended, written out again.
const OPEN: u64 = u64::MAX;
/// Epochs of notice, and epochs after which nothing can need a deal key any more.
const NOTICE: u64 = 2;
const NEEDED: u64 = 35;

impl Scene {
    fn some_key(&mut self) -> Key {
        Key(self.world.new_keypair())
    }

    fn adding(&self, key: &Key, scopes: Scopes) -> Instruction {
        self.world.adding_key(&self.agent, &self.owner.at(), &key.at(), scopes)
    }

    /// The owner and the key sign, and are refused with this error.
    #[track_caller]
    fn adding_refused(&mut self, key: &Key, instruction: Instruction, error: Error) {
        self.world.send_refused(&[instruction], &self.owner, &[&key.0]).expect_code(error.code());
    }

    /// A new key of the owner's, with another account at one place.
    #[track_caller]
    fn adding_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let key = self.some_key();
        let instruction = with_account(self.adding(&key, Scopes::ALL), place, at);
        self.adding_refused(&key, instruction, error);
    }

    fn ending(&self, authority: &Key, key: &Key) -> Instruction {
        end_key(&self.agent.addresses(), authority.at(), key.at())
    }

    /// Somebody who signs is refused with this error; the stranger pays the fee.
    #[track_caller]
    fn ending_refused(&mut self, authority: &Key, instruction: Instruction, error: Error) {
        self.world.send_refused(&[instruction], &self.stranger, &[&authority.0]).expect_code(error.code());
    }

    /// The holder ends the pay key, with another account at one place.
    #[track_caller]
    fn ending_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let owner = self.owner.clone();
        let instruction = with_account(self.ending(&owner, &self.keys.pay), place, at);
        self.ending_refused(&owner, instruction, error);
    }

    #[track_caller]
    fn end(&mut self, key: &Key) {
        self.world.end_key(&self.agent, &self.owner, &key.at()).unwrap();
    }

    fn closing(&self, key: &Key) -> Instruction {
        self.world.closing_key(&self.agent, &key.at())
    }

    #[track_caller]
    fn closing_refused(&mut self, key: &Key, error: Error) {
        self.stranger_refused(&[self.closing(key)], error);
    }

    #[track_caller]
    fn close(&mut self, key: &Key) {
        self.world.close_key(&self.agent, &key.at()).unwrap();
        assert_eq!(self.world.account(&pda::key(&self.agent.mint, &key.at())), None);
    }

    fn key_at(&self, key: &Key) -> Address {
        pda::key(&self.agent.mint, &key.at())
    }
}

#[test]
fn a_first_key_acts_at_once_ok() {
    let mut s = Scene::opened();
    let (key, tenure) = (s.some_key(), s.tenure());
    let (owner, at) = (s.owner.at(), s.key_at(&key));
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&owner));
    let receipt = s.world.add_key(&s.agent, &s.owner, &key, Scopes(3)).unwrap();

    before.assert_only_changed(&s.world, &[owner, at, pda::tenure(&s.agent.mint)]);
    let rent = s.world.rent(KeyAccount::SIZE);
    assert_eq!((s.world.lamports(&at), s.world.data(&at).len()), (rent, KeyAccount::SIZE));
    assert_eq!(s.world.lamports(&owner), lamports - rent - receipt.fee);
    let named = key.at();
    let seeds: &[&[u8]] = &[b"key", s.agent.mint.as_ref(), named.as_ref()];
    let (derived, bump) = Address::find_program_address(seeds, &address(ids::STAKE_LOCK));
    assert_eq!(derived, at);
    let (slot, epoch) = (s.world.slot(), s.world.epoch());
    assert_eq!(
        s.key(&key),
        KeyAccount {
            created_slot: slot,
            event_sequence: 1,
            from_epoch: epoch,
            until_epoch: OPEN,
            ended_slot: 0,
            tenure: 1,
            scopes: 3,
            version: 2,
            bump,
            reserved: 0,
            agent: s.agent.mint.0,
            key: key.at().to_bytes(),
            owner: owner.to_bytes(),
            payer: owner.to_bytes(),
        }
    );
    assert_eq!(s.tenure(), TenureAccount { live_keys: 1, has_listed: 1, ..tenure });
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, KeyAdded::read),
        KeyAdded {
            agent_mint: s.agent.mint.0,
            key: key.at().to_bytes(),
            owner: owner.to_bytes(),
            scopes: 3,
            from_epoch: epoch,
            tenure: 1,
            sequence: 0,
            account_created_slot: slot,
        }
    );
}

#[test]
fn as_long_as_nothing_is_at_risk_every_key_acts_at_once_ok() {
    let mut s = Scene::opened();
    s.world.open_head(&s.agent).unwrap();
    for _ in 0..3 {
        s.world.advance_epochs(1);
        let key = s.world.new_key(&s.agent, &s.owner, Scopes::ALL);
        assert_eq!(s.key(&key).from_epoch, s.world.epoch());
    }
}

/// One transaction of the wallet's that was signed blindly once gave a thief half of the stake.
#[test]
fn with_a_stake_a_key_waits_two_epochs() {
    let mut s = Scene::staked();
    let key = s.world.new_key(&s.agent, &s.owner, Scopes::ALL);
    assert_eq!(s.key(&key).from_epoch, s.world.epoch() + NOTICE);
    // The holder, who sees the event, ends it before it was born: it never counts.
    let epoch = s.world.epoch();
    s.end(&key);
    assert_eq!((s.key(&key).from_epoch, s.key(&key).until_epoch), (epoch + 2, epoch + 1));
}

#[test]
fn once_a_batch_landed_a_key_waits_also_without_a_stake() {
    let mut s = Scene::landing();
    s.land(s.last_epoch());
    s.world.advance_epochs(6);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW);
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    let key = s.world.new_key(&s.agent, &s.owner, Scopes::ALL);
    assert_eq!(s.key(&key).from_epoch, s.world.epoch() + NOTICE);
}

#[test]
fn a_forged_absence_of_stake_or_head_shortens_no_notice() {
    let mut s = Scene::opened();
    s.world.open_head(&s.agent).unwrap();
    let other = s.other_agent().agent;
    let (empty, fresh) = (s.some_key().at(), s.world.register_agent(&s.owner).mint);
    for forged in [empty, pda::stake(&s.agent.mint, 1), pda::stake(&fresh, 0)] {
        s.adding_with_refused(ADD_STAKE, forged, Error::WrongAddress);
    }
    for (forged, error) in [
        (empty, Error::WrongAddress),
        (pda::head(&fresh), Error::WrongAddress),
        (pda::head(&other.mint), Error::WrongAgent),
    ] {
        s.adding_with_refused(ADD_HEAD, forged, error);
    }
    // Another agent's stake proves nothing about this one's absence.
    let key = s.some_key();
    let instruction = with_account(s.adding(&key, Scopes::ALL), ADD_STAKE, pda::stake(&other.mint, 0));
    s.world.send_ok(&[instruction], &s.owner, &[&key.0]);
    assert_eq!(s.key(&key).from_epoch, s.world.epoch() + NOTICE);
}

#[test]
fn scopes_are_one_or_more_of_four() {
    let mut s = Scene::opened();
    let key = s.some_key();
    for scopes in [0, 16, 17, 128, 255] {
        let instruction = s.adding(&key, Scopes(scopes));
        s.adding_refused(&key, instruction, Error::InvalidScopes);
    }
    for scopes in 1..=15 {
        let mut fork = s.fork();
        fork.world.add_key(&fork.agent, &fork.owner, &key, Scopes(scopes)).unwrap();
        assert_eq!(fork.key(&key).scopes, scopes);
    }
}

#[test]
fn eight_live_keys_are_the_most() {
    let mut s = Scene::opened();
    let keys: Vec<Key> = (0..8).map(|_| s.world.new_key(&s.agent, &s.owner, Scopes::PEER)).collect();
    assert_eq!(s.tenure().live_keys, 8);
    let ninth = s.some_key();
    let instruction = s.adding(&ninth, Scopes::PEER);
    s.adding_refused(&ninth, instruction.clone(), Error::TooManyKeys);
    s.end(&keys[3]);
    assert_eq!(s.tenure().live_keys, 7);
    s.world.send_ok(&[instruction], &s.owner, &[&ninth.0]);
    assert_eq!(s.tenure().live_keys, 8);
}

/// Somebody else's key would bind that one's peer id, score and bans to one's own agent.
#[test]
fn a_key_that_does_not_sign_fails() {
    let mut s = Scene::opened();
    let key = s.some_key();
    let instruction = unsigned(s.adding(&key, Scopes::ALL), ADD_KEY);
    let refusal = s.world.send_refused(&[instruction], &s.owner, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn the_owner_that_does_not_sign_fails() {
    let mut s = Scene::opened();
    let key = s.some_key();
    let instruction = unsigned(s.adding(&key, Scopes::ALL), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[&key.0]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn the_owner_lists_its_own_wallet_ok() {
    let mut s = Scene::opened();
    let owner = s.owner.clone();
    s.world.add_key(&s.agent, &owner, &owner, Scopes::ALL).unwrap();
    assert_eq!((s.key(&owner).key, s.key(&owner).owner), (owner.at().to_bytes(), owner.at().to_bytes()));
}

#[test]
fn one_key_serves_two_agents_each_for_itself_ok() {
    let mut s = Scene::opened();
    let (key, other) = (s.some_key(), s.other_agent());
    s.world.add_key(&s.agent, &s.owner, &key, Scopes::PAY).unwrap();
    s.world.add_key(&other.agent, &other.owner, &key, Scopes::DEAL).unwrap();
    s.end(&key);
    assert_ne!(s.key(&key).ended_slot, 0);
    assert_eq!(s.world.key(&other.agent, &key.at()).ended_slot, 0);
}

#[test]
fn lamports_that_a_stranger_sent_there_first_block_nothing_ok() {
    let mut s = Scene::opened();
    let key = s.some_key();
    let at = s.key_at(&key);
    gift(&mut s.world, &at, 1_000_000);
    s.world.add_key(&s.agent, &s.owner, &key, Scopes::ALL).unwrap();
    assert_eq!(s.key(&key).scopes, 15);
}

#[test]
fn whoever_does_not_hold_the_nft_lists_nothing() {
    let mut s = Scene::opened();
    let (key, stranger) = (s.some_key(), s.stranger.clone());
    s.world.create_delegate(&s.owner, &stranger.at(), &s.agent, 0);
    let theirs = s.world.adding_key(&s.agent, &stranger.at(), &key.at(), Scopes::ALL);
    s.world.send_refused(&[theirs], &stranger, &[&key.0]).expect_code(Error::NotAgentOwner.code());
    // A key of all scopes lists no further one.
    let all = s.world.new_key(&s.agent, &s.owner, Scopes::ALL);
    s.fund(&all);
    let theirs = s.world.adding_key(&s.agent, &all.at(), &key.at(), Scopes::ALL);
    s.world.send_refused(&[theirs], &all, &[&key.0]).expect_code(Error::NotAgentOwner.code());
}

#[test]
fn between_a_sale_and_the_take_over_nobody_lists_a_key() {
    let mut s = Scene::opened();
    let (key, former) = (s.some_key(), s.agent);
    let (agent, buyer) = s.sell();
    let instruction = s.adding(&key, Scopes::ALL);
    s.adding_refused(&key, instruction, Error::AgentNotHeld);
    s.agent = agent;
    let instruction = s.adding(&key, Scopes::ALL);
    s.adding_refused(&key, instruction, Error::NotAgentOwner);
    let theirs = s.world.adding_key(&agent, &buyer.at(), &key.at(), Scopes::ALL);
    s.world.send_refused(&[theirs], &buyer, &[&key.0]).expect_code(Error::NotTenureOwner.code());
    assert_ne!(former.token_account, agent.token_account);
}

#[test]
fn without_a_tenure_fails() {
    let mut s = Scene::registered();
    let key = s.some_key();
    let instruction = s.adding(&key, Scopes::ALL);
    s.adding_refused(&key, instruction, Error::TenureMissing);
}

#[test]
fn a_key_that_is_there_is_not_listed_again_ended_or_not() {
    let mut s = Scene::staked();
    let key = s.keys.pay.clone();
    let instruction = s.adding(&key, Scopes::ALL);
    s.adding_refused(&key, instruction.clone(), Error::AccountExists);
    s.end(&key);
    s.adding_refused(&key, instruction.clone(), Error::AccountExists);
    // Once its account is closed it is, with a notice of its own.
    s.close(&key);
    s.world.send_ok(&[instruction], &s.owner, &[&key.0]);
    assert_eq!((s.key(&key).from_epoch, s.key(&key).scopes), (s.world.epoch() + NOTICE, 15));
}

#[test]
fn another_agents_accounts_list_nothing() {
    let mut s = Scene::opened();
    let other = s.other_agent().agent;
    s.adding_with_refused(ADD_INDEX, other.agent_index, Error::WrongAgentIndex);
    s.adding_with_refused(ADD_TOKEN, other.token_account, Error::AgentNotHeld);
    s.adding_with_refused(ADD_TENURE, pda::tenure(&other.mint), Error::WrongAgent);
    let somebody = s.some_key();
    s.adding_with_refused(ADD_ACCOUNT, s.key_at(&somebody), Error::WrongAddress);
    let key = s.some_key();
    let mut instruction = s.adding(&key, Scopes::ALL);
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.adding_refused(&key, instruction, Error::WrongAgent);
    // Another agent's address for the same key.
    s.adding_with_refused(ADD_ACCOUNT, pda::key(&other.mint, &key.at()), Error::WrongAddress);
}

#[test]
fn the_tenure_as_the_keys_account_fails() {
    let mut s = Scene::opened();
    let key = s.some_key();
    let instruction = with_account(s.adding(&key, Scopes::ALL), ADD_ACCOUNT, pda::tenure(&s.agent.mint));
    let refusal = s.world.send_refused(&[instruction], &s.owner, &[&key.0]);
    assert_eq!(refusal.instruction_error(), Some(&DUPLICATE_MUTABLE));
}

#[test]
fn the_holder_ends_a_key_ok() {
    let mut s = Scene::staked();
    s.world.advance_epochs(3);
    let key = s.keys.batch.clone();
    let (account, tenure) = (s.key(&key), s.tenure());
    let before = s.world.snapshot();
    let receipt = s.world.end_key(&s.agent, &s.owner, &key.at()).unwrap();

    let changed = [s.world.faucet.pubkey(), s.key_at(&key), pda::tenure(&s.agent.mint)];
    before.assert_only_changed(&s.world, &changed);
    let (slot, epoch) = (s.world.slot(), s.world.epoch());
    let ended = KeyAccount { ended_slot: slot, until_epoch: epoch, event_sequence: 2, ..account };
    assert_eq!(s.key(&key), ended);
    assert_eq!(s.tenure(), TenureAccount { live_keys: 2, ..tenure });
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, KeyEnded::read),
        KeyEnded {
            agent_mint: s.agent.mint.0,
            key: key.at().to_bytes(),
            until_epoch: epoch,
            slot,
            sequence: 1,
            account_created_slot: account.created_slot,
        }
    );
}

#[test]
fn a_key_ends_itself_whatever_the_other_accounts_are_ok() {
    let mut s = Scene::staked();
    let key = s.keys.deal.clone();
    let mut instruction = s.ending(&key, &key);
    for place in 1..=END_TOKEN {
        instruction = with_account(instruction, place, s.some_key().at());
    }
    s.world.send_ok(&[instruction], &s.stranger, &[&key.0]);
    assert_eq!((s.key(&key).ended_slot, s.tenure().live_keys), (s.world.slot(), 2));
}

#[test]
fn a_key_ends_itself_while_somebody_else_holds_the_agent_ok() {
    let mut s = Scene::staked();
    s.sell();
    let key = s.keys.deal.clone();
    s.world.end_key(&s.agent, &key, &key.at()).unwrap();
    assert_eq!((s.key(&key).ended_slot, s.tenure().live_keys), (s.world.slot(), 2));
}

#[test]
fn an_ended_key_is_not_ended_again() {
    let mut s = Scene::staked();
    let (owner, key) = (s.owner.clone(), s.keys.deal.clone());
    s.end(&key);
    let account = s.key(&key);
    s.world.advance_epochs(1);
    for authority in [&owner, &key] {
        let instruction = s.ending(authority, &key);
        s.ending_refused(authority, instruction, Error::KeyEnded);
    }
    assert_eq!((s.key(&key), s.tenure().live_keys), (account, 2));
}

#[test]
fn one_key_does_not_end_another() {
    let mut s = Scene::staked();
    let all = s.world.new_key(&s.agent, &s.owner, Scopes::ALL);
    let deal = s.keys.deal.clone();
    let instruction = s.ending(&all, &deal);
    s.ending_refused(&all, instruction, Error::NotAgentOwner);
    // Nor does one that names itself with the other's account, or itself as the other.
    let instruction = with_account(s.ending(&all, &all), END_ACCOUNT, s.key_at(&deal));
    s.ending_refused(&all, instruction, Error::WrongKey);
    let instruction = with_account(s.ending(&all, &deal), END_ACCOUNT, s.key_at(&all));
    s.ending_refused(&all, instruction, Error::WrongKey);
}

#[test]
fn strangers_delegates_and_both_sides_of_a_sale_end_nothing() {
    let mut s = Scene::staked();
    let (owner, stranger, key) = (s.owner.clone(), s.stranger.clone(), s.keys.deal.clone());
    s.world.create_delegate(&s.owner, &stranger.at(), &s.agent, 0);
    let instruction = s.ending(&stranger, &key);
    s.ending_refused(&stranger, instruction, Error::NotAgentOwner);
    let (agent, buyer) = s.sell();
    let instruction = s.ending(&owner, &key);
    s.ending_refused(&owner, instruction, Error::AgentNotHeld);
    s.agent = agent;
    let instruction = s.ending(&owner, &key);
    s.ending_refused(&owner, instruction, Error::NotAgentOwner);
    // The buyer ends them all, by taking over.
    let instruction = s.ending(&buyer, &key);
    s.ending_refused(&buyer, instruction, Error::NotTenureOwner);
}

#[test]
fn ending_without_a_signature_fails() {
    let mut s = Scene::staked();
    for authority in [s.owner.clone(), s.keys.deal.clone()] {
        let instruction = unsigned(s.ending(&authority, &s.keys.deal), 0);
        let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
        assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
    }
}

#[test]
fn another_agents_accounts_end_nothing() {
    let mut s = Scene::staked();
    let other = s.other_agent();
    s.ending_with_refused(END_INDEX, other.agent.agent_index, Error::WrongAgentIndex);
    s.ending_with_refused(END_TOKEN, other.agent.token_account, Error::AgentNotHeld);
    s.ending_with_refused(END_TENURE, pda::tenure(&other.agent.mint), Error::WrongAgent);
    s.ending_with_refused(END_ACCOUNT, pda::key(&other.agent.mint, &other.keys.pay.at()), Error::WrongKey);
    // The holder of another agent, with its own proof and the victim's tenure and key.
    let (thief, key) = (other.owner.clone(), s.keys.deal.clone());
    let mut instruction = end_key(&other.agent.addresses(), thief.at(), key.at());
    for (place, at) in [(END_TENURE, pda::tenure(&s.agent.mint)), (END_ACCOUNT, s.key_at(&key))] {
        instruction = with_account(instruction, place, at);
    }
    s.ending_refused(&thief, instruction.clone(), Error::WrongKey);
    instruction.data[8..40].copy_from_slice(s.agent.mint.as_ref());
    s.ending_refused(&thief, instruction, Error::WrongAgent);
}

#[test]
fn a_key_ends_itself_only_against_its_own_agents_count() {
    let mut s = Scene::staked();
    let (other, key) = (s.other_agent().agent, s.keys.deal.clone());
    let instruction = with_account(s.ending(&key, &key), END_TENURE, pda::tenure(&other.mint));
    s.ending_refused(&key, instruction, Error::WrongAgent);
}

#[test]
fn a_pay_batch_or_peer_key_closes_at_once_and_its_payer_gets_the_rent_ok() {
    let mut s = Scene::staked();
    let peer = s.world.new_key(&s.agent, &s.owner, Scopes::PEER);
    let three = s.world.new_key(&s.agent, &s.owner, Scopes(11));
    for key in [s.keys.pay.clone(), s.keys.batch.clone(), peer, three] {
        s.end(&key);
        let (account, at, owner) = (s.key(&key), s.key_at(&key), s.owner.at());
        let lamports = s.world.lamports(&owner);
        let instruction = s.closing(&key);
        let before = s.world.snapshot();
        let receipt = s.world.send_ok(&[instruction], &s.stranger, &[]);
        before.assert_only_changed(&s.world, &[s.stranger.at(), owner, at]);
        assert_eq!(s.world.account(&at), None);
        assert_eq!(s.world.lamports(&owner), lamports + s.world.rent(KeyAccount::SIZE));
        assert_eq!(
            only_event(&receipt, ids::STAKE_LOCK, KeyClosed::read),
            KeyClosed {
                agent_mint: s.agent.mint.0,
                key: key.at().to_bytes(),
                payer: owner.to_bytes(),
                sequence: 2,
                account_created_slot: account.created_slot,
            }
        );
    }
}

#[test]
fn a_live_key_does_not_close() {
    let mut s = Scene::staked();
    for key in [s.keys.pay.clone(), s.keys.batch.clone(), s.keys.deal.clone()] {
        s.closing_refused(&key, Error::KeyNotEnded);
    }
    s.world.advance_epochs(100);
    s.closing_refused(&s.keys.pay.clone(), Error::KeyNotEnded);
}

#[test]
fn the_rent_goes_to_nobody_but_its_payer() {
    let mut s = Scene::staked();
    let key = s.keys.pay.clone();
    s.end(&key);
    for wallet in [s.stranger.at(), key.at(), s.some_key().at()] {
        let instruction = close_key(s.agent.mint, key.at(), wallet);
        s.stranger_refused(&[instruction], Error::WrongPayer);
    }
    // After a sale as well.
    let (agent, buyer) = s.sell();
    s.agent = agent;
    let instruction = with_account(s.closing(&key), CLOSE_PAYER, buyer.at());
    s.stranger_refused(&[instruction], Error::WrongPayer);
    s.close(&key);
}

/// The first edition's H1: the liar withdrew the key that had signed the evidence.
#[test]
fn a_deal_key_stays_until_the_batch_of_its_last_epoch_is_out_of_its_window() {
    let mut s = Scene::landing();
    s.world.pay_lease(&s.agent, &s.owner, 5).unwrap();
    s.land(s.last_epoch());
    let (deal, all) = (s.keys.deal.clone(), s.world.new_key(&s.agent, &s.owner, Scopes::ALL));
    s.world.wait_for_key(&s.agent, &all.at());
    let until = s.world.epoch();
    for key in [&deal, &all] {
        s.end(key);
        assert_eq!(s.key(key).until_epoch, until);
        s.closing_refused(key, Error::KeyStillNeeded);
    }
    // The window of the last batch is long over, but that one does not cover the key's last epoch.
    s.world.warp_to_epoch(until + 1);
    s.world.advance_slots(10);
    assert!(s.head().last_slot + WINDOW < s.world.slot());
    s.closing_refused(&deal, Error::KeyStillNeeded);
    s.land(until - 1);
    s.world.advance_slots(10);
    s.land(until);
    let last = s.world.slot();
    s.world.warp_to_slot(last + WINDOW);
    s.closing_refused(&deal, Error::KeyStillNeeded);
    s.closing_refused(&all, Error::KeyStillNeeded);
    s.world.advance_slots(1);
    s.close(&deal);
    s.close(&all);
}

#[test]
fn a_deal_key_of_an_agent_without_batches_stays_as_long_as_one_may_cover_it() {
    for opened in [false, true] {
        let mut s = Scene::staked();
        if opened {
            s.world.open_head(&s.agent).unwrap();
        }
        let (key, until) = (s.keys.deal.clone(), s.world.epoch());
        s.end(&key);
        s.closing_refused(&key, Error::KeyStillNeeded);
        s.world.warp_to_epoch(until + NEEDED + 1);
        let first = s.world.slot();
        s.world.warp_to_slot(first - 1);
        s.closing_refused(&key, Error::KeyStillNeeded);
        s.world.warp_to_slot(first);
        s.close(&key);
    }
}

#[test]
fn another_head_or_its_forged_absence_closes_no_deal_key() {
    let mut s = Scene::landing();
    s.land(s.last_epoch());
    let key = s.keys.deal.clone();
    s.end(&key);
    let other = s.other_agent().agent;
    let fresh = s.world.register_agent(&s.owner);
    for (at, error) in [
        (pda::head(&other.mint), Error::WrongAgent),
        (pda::head(&fresh.mint), Error::WrongAddress),
        (s.some_key().at(), Error::WrongAddress),
    ] {
        let instruction = with_account(s.closing(&key), CLOSE_HEAD, at);
        s.stranger_refused(&[instruction], error);
    }
}

#[test]
fn another_keys_or_agents_account_does_not_close() {
    let mut s = Scene::staked();
    let other = s.other_agent();
    let (pay, batch) = (s.keys.pay.clone(), s.keys.batch.clone());
    s.end(&pay);
    let instruction = with_account(s.closing(&pay), CLOSE_ACCOUNT, s.key_at(&batch));
    s.stranger_refused(&[instruction], Error::WrongKey);
    let theirs = pda::key(&other.agent.mint, &other.keys.pay.at());
    let instruction = with_account(s.closing(&pay), CLOSE_ACCOUNT, theirs);
    s.stranger_refused(&[instruction], Error::WrongKey);
    let instruction = with_account(s.closing(&pay), CLOSE_ACCOUNT, pda::tenure(&s.agent.mint));
    s.stranger_refused(&[instruction], Error::WrongAccountType);
    let twice = s.closing(&pay);
    s.close(&pay);
    s.stranger_refused(&[twice], Error::AccountMissing);
}
