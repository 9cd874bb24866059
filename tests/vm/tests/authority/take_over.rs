//! take_over: a new holder begins its tenure. Every key and the era of before end; money stays with who locked
//! it.

use super::common::{DUPLICATE_MUTABLE, MISSING_SIGNATURE, Scene, only_event, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{add_key, take_over};
use zx1_chain::pda;
use zx1_interface::accounts::{KeyAccount, StakeLockAccount, TenureAccount};
use zx1_interface::events::{EraEnded, KeyEnded, TakenOver};
use zx1_interface::{Error, ids};
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{Agent, Key, address, events};

const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const TENURE: usize = 5;
const STAKE: usize = 6;
const KEY_0: usize = 7;

/// An agent that was sold, and nobody has taken over: `s.agent` is the buyer's.
struct Sold {
    s: Scene,
    buyer: Key,
    former: Agent,
}

fn sold(mut s: Scene) -> Sold {
    let former = s.agent;
    let (agent, buyer) = s.sell();
    s.agent = agent;
    Sold { s, buyer, former }
}

impl Sold {
    /// Names these keys.
    fn naming(&self, keys: &[Address]) -> Instruction {
        take_over(&self.s.agent.addresses(), self.buyer.at(), self.s.world.era(&self.s.agent), keys)
    }

    fn right(&self) -> Instruction {
        self.s.world.taking_over(&self.s.agent, &self.buyer.at())
    }

    #[track_caller]
    fn refused(&mut self, instruction: Instruction, error: Error) {
        self.s.world.send_refused(&[instruction], &self.buyer, &[]).expect_code(error.code());
    }

    #[track_caller]
    fn with_refused(&mut self, place: usize, at: Address, error: Error) {
        self.refused(with_account(self.right(), place, at), error);
    }

    #[track_caller]
    fn take_over(&mut self) {
        self.s.world.take_over(&self.s.agent, &self.buyer).unwrap();
    }
}

#[test]
fn the_new_holder_takes_over_ok() {
    let mut t = sold(Scene::landing());
    let mint = t.s.agent.mint;
    let keys = t.s.world.live_keys(&t.s.agent);
    assert_eq!(keys.len(), 3);
    let of = |t: &Sold, key: &Address| t.s.world.key(&t.s.agent, key);
    let before_keys: Vec<KeyAccount> = keys.iter().map(|key| of(&t, key)).collect();
    let (tenure, stake, head) = (t.s.tenure(), t.s.stake(), t.s.head());
    let snapshot = t.s.world.snapshot();
    let receipt = t.s.world.take_over(&t.s.agent, &t.buyer).unwrap();

    let mut changed = vec![t.buyer.at(), pda::tenure(&mint), pda::stake(&mint, 0)];
    changed.extend(keys.iter().map(|key| pda::key(&mint, key)));
    snapshot.assert_only_changed(&t.s.world, &changed);
    let (slot, epoch) = (t.s.world.slot(), t.s.world.epoch());
    for (key, before) in keys.iter().zip(&before_keys) {
        let ended = KeyAccount { ended_slot: slot, until_epoch: epoch, event_sequence: 2, ..*before };
        assert_eq!(of(&t, key), ended);
    }
    let sequence = stake.event_sequence;
    assert_eq!(t.s.stake(), StakeLockAccount { ended_slot: slot, event_sequence: sequence + 1, ..stake });
    assert_eq!(
        t.s.tenure(),
        TenureAccount {
            event_sequence: 2,
            from_epoch: epoch + 1,
            number: 2,
            era: 1,
            live_keys: 0,
            has_listed: 0,
            owner: t.buyer.at().to_bytes(),
            ..tenure
        }
    );
    // The chain of batches goes on.
    assert_eq!(t.s.head(), head);

    let all = events(&receipt, &address(ids::STAKE_LOCK));
    assert_eq!(all.len(), 5);
    for ((key, before), event) in keys.iter().zip(&before_keys).zip(&all) {
        assert_eq!(
            KeyEnded::read(event).unwrap(),
            KeyEnded {
                agent_mint: mint.0,
                key: key.to_bytes(),
                until_epoch: epoch,
                slot,
                sequence: 1,
                account_created_slot: before.created_slot,
            }
        );
    }
    assert_eq!(
        EraEnded::read(&all[3]).unwrap(),
        EraEnded { agent_mint: mint.0, era: 0, slot, sequence, account_created_slot: stake.created_slot }
    );
    assert_eq!(
        TakenOver::read(&all[4]).unwrap(),
        TakenOver {
            agent_mint: mint.0,
            owner: t.buyer.at().to_bytes(),
            former_owner: tenure.owner,
            number: 2,
            from_epoch: epoch + 1,
            era: 1,
            sequence: 1,
            account_created_slot: tenure.created_slot,
        }
    );
}

#[test]
fn without_keys_and_stake_the_era_moves_on_all_the_same_ok() {
    let mut t = sold(Scene::opened());
    let receipt = t.s.world.take_over(&t.s.agent, &t.buyer).unwrap();
    let event = only_event(&receipt, ids::STAKE_LOCK, TakenOver::read);
    assert_eq!((event.era, event.number), (1, 2));
    assert_eq!((t.s.tenure().era, t.s.tenure().live_keys), (1, 0));
}

#[test]
fn eight_keys_fit_the_transaction_ok() {
    let mut s = Scene::staked();
    for _ in 0..5 {
        s.world.new_key(&s.agent, &s.owner, Scopes::ALL);
    }
    let mut t = sold(s);
    assert_eq!(t.s.world.live_keys(&t.s.agent).len(), 8);
    t.take_over();
    assert!(t.s.world.live_keys(&t.s.agent).is_empty());
}

#[test]
fn the_keys_may_stand_in_any_order_ok() {
    let mut t = sold(Scene::staked());
    let mut keys = t.s.world.live_keys(&t.s.agent);
    keys.rotate_left(1);
    keys.swap(0, 1);
    let instruction = t.naming(&keys);
    t.s.world.send_ok(&[instruction], &t.buyer, &[]);
    assert!(t.s.world.live_keys(&t.s.agent).is_empty());
}

#[test]
fn an_unborn_key_ends_before_its_first_epoch() {
    let mut s = Scene::staked();
    let key = s.world.new_key(&s.agent, &s.owner, Scopes::DEAL);
    let from = s.key(&key).from_epoch;
    assert_eq!(from, s.world.epoch() + 2);
    let mut t = sold(s);
    t.take_over();
    assert_eq!((t.s.key(&key).from_epoch, t.s.key(&key).until_epoch), (from, from - 1));
    assert_eq!(t.s.key(&t.s.keys.deal).until_epoch, t.s.world.epoch());
}

#[test]
fn one_whose_tenure_it_is_takes_nothing_over() {
    let mut s = Scene::staked();
    let instruction = s.world.taking_over(&s.agent, &s.owner.at());
    s.owner_refused(&[instruction], Error::TenureIsYours);
    let mut t = sold(s);
    t.take_over();
    t.refused(t.right(), Error::TenureIsYours);
}

#[test]
fn whoever_does_not_hold_the_nft_takes_nothing_over() {
    let mut t = sold(Scene::staked());
    let (former, stranger, owner) = (t.former, t.s.stranger.clone(), t.s.owner.clone());
    t.s.world.create_delegate(&t.buyer, &stranger.at(), &t.s.agent, 0);
    let theirs = t.s.world.taking_over(&t.s.agent, &stranger.at());
    t.s.stranger_refused(&[theirs], Error::NotAgentOwner);
    // The seller, with its old token account and with the buyer's.
    for (agent, error) in [(former, Error::AgentNotHeld), (t.s.agent, Error::NotAgentOwner)] {
        let theirs = t.s.world.taking_over(&agent, &owner.at());
        t.s.owner_refused(&[theirs], error);
    }
    t.s.world.burn_agent(&t.s.agent, &t.buyer);
    t.refused(t.right(), Error::AgentNotHeld);
}

#[test]
fn the_holder_without_a_signature_fails() {
    let mut t = sold(Scene::staked());
    let instruction = unsigned(t.right(), 0);
    let refusal = t.s.world.send_refused(&[instruction], &t.s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn without_a_tenure_fails() {
    let mut t = sold(Scene::registered());
    t.refused(t.right(), Error::TenureMissing);
}

#[test]
fn a_live_key_that_is_not_named_fails() {
    let mut t = sold(Scene::staked());
    let keys = t.s.world.live_keys(&t.s.agent);
    for left_out in 0..3 {
        let mut named = keys.clone();
        named.remove(left_out);
        t.refused(t.naming(&named), Error::LiveKeysMissing);
    }
    t.refused(t.naming(&[]), Error::LiveKeysMissing);
}

#[test]
fn another_key_in_the_place_of_a_live_one_fails() {
    let mut s = Scene::staked();
    let (other, ended) = (s.other_agent(), s.world.new_key(&s.agent, &s.owner, Scopes::PEER));
    s.world.end_key(&s.agent, &s.owner, &ended.at()).unwrap();
    let mut t = sold(s);
    let keys = t.s.world.live_keys(&t.s.agent);
    assert_eq!(keys.len(), 3);
    // One that has ended, in a live one's place and besides all of them.
    let named = [keys[0], keys[1], ended.at()];
    t.refused(t.naming(&named), Error::LiveKeysMissing);
    t.refused(t.naming(&[&keys[..], &[ended.at()]].concat()), Error::LiveKeysMissing);
    // A live one of another agent's.
    t.with_refused(KEY_0, pda::key(&other.agent.mint, &other.keys.pay.at()), Error::LiveKeysMissing);
    // The same one twice.
    let twice = t.naming(&[keys[0], keys[1], keys[1]]);
    let refusal = t.s.world.send_refused(&[twice], &t.buyer, &[]);
    assert_eq!(refusal.instruction_error(), Some(&DUPLICATE_MUTABLE));
    // No key at all.
    let nothing = t.s.world.new_keypair();
    t.with_refused(KEY_0, nothing.pubkey(), Error::AccountMissing);
    let (copy, data) = (t.s.world.new_keypair(), t.s.world.data(&pda::key(&t.s.agent.mint, &keys[0])));
    let copy = copy.pubkey();
    t.s.world.set_data(&copy, &Address::new_from_array([8; 32]), &data);
    t.with_refused(KEY_0, copy, Error::WrongAccountOwner);
    t.take_over();
}

#[test]
fn the_former_era_does_not_stay_open_by_a_forged_absence() {
    let mut s = Scene::staked();
    let (other, empty) = (s.other_agent().agent, s.world.new_keypair());
    let empty = empty.pubkey();
    let mut t = sold(s);
    let mint = t.s.agent.mint;
    for (at, error) in [
        (empty, Error::WrongAddress),
        (pda::stake(&mint, 1), Error::WrongAddress),
        (pda::stake(&other.mint, 0), Error::WrongAgent),
    ] {
        t.with_refused(STAKE, at, error);
    }
}

#[test]
fn another_eras_stake_fails() {
    let mut s = Scene::landing();
    s.challenged();
    s.world.lock_stake(&s.agent, &s.owner, 30_000_000).unwrap();
    let mut t = sold(s);
    t.with_refused(STAKE, pda::stake(&t.s.agent.mint, 0), Error::WrongEra);
    t.take_over();
    assert_eq!((t.s.stake_of(1).ended_slot, t.s.tenure().era), (t.s.world.slot(), 2));
}

#[test]
fn an_era_that_had_ended_is_not_ended_again() {
    let mut s = Scene::landing();
    let challenge = s.challenged();
    s.resolve(&challenge);
    let stake = s.stake();
    s.world.advance_slots(5);
    let mut t = sold(s);
    let receipt = t.s.world.take_over(&t.s.agent, &t.buyer).unwrap();
    assert_eq!((t.s.stake(), t.s.tenure().era), (stake, 1));
    // Three keys and the tenure.
    assert_eq!(events(&receipt, &address(ids::STAKE_LOCK)).len(), 4);
}

#[test]
fn another_agents_accounts_fail() {
    let mut s = Scene::staked();
    let other = s.other_agent().agent;
    let mut t = sold(s);
    t.with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
    t.with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
    t.with_refused(TENURE, pda::tenure(&other.mint), Error::WrongAgent);
    let mut instruction = t.right();
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    t.refused(instruction, Error::WrongAgent);
}

#[test]
fn the_first_key_waits_one_epoch_and_the_next_two() {
    let mut t = sold(Scene::landing());
    t.take_over();
    let epoch = t.s.world.epoch();
    let first = t.s.world.new_key(&t.s.agent, &t.buyer, Scopes::BATCH);
    assert_eq!(t.s.key(&first).from_epoch, epoch + 1);
    assert_eq!(t.s.key(&first).tenure, 2);
    let second = t.s.world.new_key(&t.s.agent, &t.buyer, Scopes::DEAL);
    assert_eq!(t.s.key(&second).from_epoch, epoch + 2);
    // Ending the first one does not make the next one a first one.
    t.s.world.end_key(&t.s.agent, &t.buyer, &first.at()).unwrap();
    t.s.world.end_key(&t.s.agent, &t.buyer, &second.at()).unwrap();
    assert_eq!(t.s.tenure().live_keys, 0);
    let third = t.s.world.new_key(&t.s.agent, &t.buyer, Scopes::DEAL);
    assert_eq!(t.s.key(&third).from_epoch, epoch + 2);
}

#[test]
fn a_take_over_without_stake_and_batch_is_no_first_use() {
    let mut t = sold(Scene::opened());
    t.take_over();
    let key = t.s.world.new_key(&t.s.agent, &t.buyer, Scopes::ALL);
    assert_eq!(t.s.key(&key).from_epoch, t.s.world.epoch() + 1);
}

/// The first edition's L1: what a seller had signed away came back to life when it bought the agent back.
#[test]
fn a_key_of_before_a_sale_does_not_live_again_when_the_seller_buys_back() {
    let mut t = sold(Scene::landing());
    t.take_over();
    t.s.agent = t.s.world.transfer_agent(&t.s.agent, &t.buyer, &t.s.owner.at());
    t.s.world.take_over(&t.s.agent, &t.s.owner).unwrap();
    assert_eq!((t.s.tenure().number, t.s.tenure().owner), (3, t.s.owner.at().to_bytes()));
    let pay = t.s.keys.pay.clone();
    t.s.fund(&pay);
    // Another holder's key it is not, but it has ended.
    let mut payment = t.s.world.paying_lease(&t.s.agent, &pay.at(), 1);
    t.s.world.send_refused(&[payment.clone()], &pay, &[]).expect_code(Error::KeyEnded.code());
    // Listed again, it waits as any key does.
    t.s.world.close_key(&t.s.agent, &pay.at()).unwrap();
    t.s.world.add_key(&t.s.agent, &t.s.owner, &pay, Scopes::PAY).unwrap();
    payment = t.s.world.paying_lease(&t.s.agent, &pay.at(), 1);
    t.s.world.send_refused(&[payment], &pay, &[]).expect_code(Error::KeyNotYetValid.code());
}

/// The seller's keys bound the buyer until the buyer's first call.
#[test]
fn between_a_sale_and_the_take_over_the_sellers_keys_act_for_nobody() {
    let mut t = sold(Scene::landing());
    let (pay, batch) = (t.s.keys.pay.clone(), t.s.keys.batch.clone());
    t.s.fund(&pay);
    let payment = t.s.world.paying_lease(&t.s.agent, &pay.at(), 1);
    t.s.world.send_refused(&[payment], &pay, &[]).expect_code(Error::FormerHoldersKey.code());
    let message = t.s.message(t.s.last_epoch());
    let landing = t.s.world.landing(&t.s.agent, &t.s.owner.at(), &batch, &message);
    t.s.owner_refused(&landing, Error::NotTenureOwner);
    // After it, neither.
    t.take_over();
    let payment = t.s.world.paying_lease(&t.s.agent, &pay.at(), 1);
    t.s.world.send_refused(&[payment], &pay, &[]).expect_code(Error::FormerHoldersKey.code());
    let landing = t.s.world.landing(&t.s.agent, &t.s.owner.at(), &batch, &message);
    t.s.owner_refused(&landing, Error::FormerHoldersKey);
}

/// Two quick sales once lost the first one's end.
#[test]
fn two_sales_in_a_row_leave_no_key_of_the_first_seller_alive() {
    let mut t = sold(Scene::staked());
    let second = Key(t.s.world.new_party());
    t.s.agent = t.s.world.transfer_agent(&t.s.agent, &t.buyer, &second.at());
    // The one between did nothing, and has no part in it.
    t.refused(t.right(), Error::NotAgentOwner);
    t.s.world.take_over(&t.s.agent, &second).unwrap();
    assert!(t.s.world.live_keys(&t.s.agent).is_empty());
    assert_eq!((t.s.tenure().number, t.s.tenure().owner), (2, second.at().to_bytes()));
}

#[test]
fn a_loan_that_nobody_took_over_leaves_keys_and_era_as_they_were_ok() {
    let mut t = sold(Scene::landing());
    let (tenure, stake) = (t.s.tenure(), t.s.stake());
    t.s.agent = t.s.world.transfer_agent(&t.s.agent, &t.buyer, &t.s.owner.at());
    t.s.land(t.s.last_epoch());
    assert_eq!((t.s.tenure(), t.s.stake()), (tenure, stake));
}

#[test]
fn a_key_of_the_former_tenure_is_not_listed_again_while_its_account_is_there() {
    let mut t = sold(Scene::staked());
    t.take_over();
    let (agent, deal) = (t.s.agent.addresses(), t.s.keys.deal.clone());
    let again = add_key(&agent, t.buyer.at(), deal.at(), Scopes::ALL, 1);
    let refusal = t.s.world.send_refused(&[again], &t.buyer, &[&deal.0]);
    refusal.expect_code(Error::AccountExists.code());
}
