//! tick_lease: anybody moves a lease to the state that the clock says, and each step has one event.

use super::common::{Scene, only_event, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::lease::tick_lease;
use zx1_chain::pda;
use zx1_interface::accounts::LeaseAccount;
use zx1_interface::events::{GracePeriodEntered, LeaseExpired, LeasePaid};
use zx1_interface::{Error, ids};
use zx1_vm_tests::{Receipt, address, events};

const LEASE: usize = 0;

impl Scene {
    fn tick_instruction(&self) -> Instruction {
        tick_lease(self.agent.mint)
    }

    /// The stranger ticks.
    #[track_caller]
    fn tick(&mut self) -> Receipt {
        self.world.send_ok(&[tick_lease(self.agent.mint)], &self.stranger, &[])
    }

    /// The stranger ticks, which changes nothing and tells nothing.
    #[track_caller]
    fn tick_in_vain(&mut self) {
        let before = self.world.snapshot();
        let receipt = self.tick();
        before.assert_only_changed(&self.world, &[self.stranger.pubkey()]);
        assert!(events(&receipt, &address(ids::LEASE)).is_empty());
    }

    /// The stranger ticks, and only the lease changes.
    #[track_caller]
    fn tick_with_effect(&mut self) -> Receipt {
        let before = self.world.snapshot();
        let receipt = self.tick();
        before.assert_only_changed(&self.world, &[self.stranger.pubkey(), pda::lease(&self.agent.mint)]);
        receipt
    }

    fn flags(&self) -> (u8, u8) {
        (self.lease().in_grace_period, self.lease().deactivated)
    }
}

#[test]
fn an_active_lease_does_not_change() {
    let mut s = Scene::living();
    s.tick_in_vain();
    s.world.pay_lease(&s.agent, &s.owner, 5).unwrap();
    s.world.advance_epochs(5);
    s.tick_in_vain();
    assert_eq!(s.flags(), (0, 0));
}

#[test]
fn the_first_epoch_behind_is_the_grace_period_told_once() {
    let mut s = Scene::living();
    let (epoch, created, lease) = (s.world.epoch(), s.world.slot(), s.lease());
    s.world.warp_to_epoch(epoch + 1);
    let slot = s.world.slot();
    s.world.warp_to_slot(slot - 1);
    s.tick_in_vain();
    s.world.advance_slots(1);
    let receipt = s.tick_with_effect();
    assert_eq!(s.lease(), LeaseAccount { in_grace_period: 1, event_sequence: 2, ..lease });
    assert_eq!(
        only_event(&receipt, ids::LEASE, GracePeriodEntered::read),
        GracePeriodEntered {
            agent_id: s.agent.mint.0,
            epoch: epoch + 1,
            sequence: 1,
            account_created_slot: created,
        }
    );
    s.tick_in_vain();
    for _ in 0..2 {
        s.world.advance_epochs(1);
        s.tick_in_vain();
    }
    assert_eq!((s.world.epoch(), s.flags()), (epoch + 3, (1, 0)));
}

#[test]
fn the_fourth_epoch_behind_deactivates_told_once() {
    let mut s = Scene::living();
    let (epoch, created) = (s.world.epoch(), s.world.slot());
    s.world.warp_to_epoch(epoch + 4);
    let slot = s.world.slot();
    s.world.warp_to_slot(slot - 1);
    only_event(&s.tick_with_effect(), ids::LEASE, GracePeriodEntered::read);
    let lease = s.lease();
    s.world.advance_slots(1);
    let receipt = s.tick_with_effect();
    assert_eq!(s.lease(), LeaseAccount { in_grace_period: 0, deactivated: 1, event_sequence: 3, ..lease });
    assert_eq!(
        only_event(&receipt, ids::LEASE, LeaseExpired::read),
        LeaseExpired {
            agent_id: s.agent.mint.0,
            epoch: epoch + 4,
            sequence: 2,
            account_created_slot: created,
        }
    );
    s.tick_in_vain();
    s.world.advance_epochs(1_000);
    s.tick_in_vain();
}

#[test]
fn from_active_straight_to_deactivated_only_the_expiry_is_told() {
    let mut s = Scene::living();
    let lease = s.lease();
    s.world.advance_epochs(50);
    let receipt = s.tick_with_effect();
    let event = only_event(&receipt, ids::LEASE, LeaseExpired::read);
    assert_eq!((event.epoch, event.sequence), (s.world.epoch(), 1));
    assert_eq!(s.lease(), LeaseAccount { deactivated: 1, event_sequence: 2, ..lease });
}

#[test]
fn a_catching_up_payment_clears_the_grace_period_and_the_next_one_is_told_again() {
    let mut s = Scene::living();
    s.world.advance_epochs(2);
    only_event(&s.tick(), ids::LEASE, GracePeriodEntered::read);
    s.world.pay_lease(&s.agent, &s.owner, 2).unwrap();
    assert_eq!(s.flags(), (0, 0));
    s.tick_in_vain();
    s.world.advance_epochs(1);
    let event = only_event(&s.tick_with_effect(), ids::LEASE, GracePeriodEntered::read);
    assert_eq!((event.epoch, event.sequence), (s.world.epoch(), 3));
}

#[test]
fn the_events_of_a_whole_life_are_numbered_without_gaps() {
    let mut s = Scene::registered();
    let created = s.world.slot();
    let paid = s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_epochs(1);
    let grace = s.tick();
    s.world.advance_epochs(3);
    let expired = s.tick();
    let back = s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_epochs(4);
    let again = s.tick();
    let paid = [paid, back].map(|receipt| only_event(&receipt, ids::LEASE, LeasePaid::read));
    let grace = only_event(&grace, ids::LEASE, GracePeriodEntered::read);
    let expired = [expired, again].map(|receipt| only_event(&receipt, ids::LEASE, LeaseExpired::read));
    let numbers =
        [paid[0].sequence, grace.sequence, expired[0].sequence, paid[1].sequence, expired[1].sequence];
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    let slots = [
        paid[0].account_created_slot,
        grace.account_created_slot,
        expired[0].account_created_slot,
        paid[1].account_created_slot,
        expired[1].account_created_slot,
    ];
    assert_eq!(slots, [created; 5]);
    assert_eq!(s.lease().event_sequence, 5);
}

#[test]
fn another_agents_lease_fails() {
    let mut s = Scene::dead();
    let other = s.other_agent().agent;
    let instruction = with_account(s.tick_instruction(), LEASE, pda::lease(&other.mint));
    s.stranger_refused(&[instruction], Error::WrongAgent);
    let mut instruction = s.tick_instruction();
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.stranger_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn without_a_lease_fails() {
    let mut s = Scene::staked();
    s.stranger_refused(&[s.tick_instruction()], Error::AccountMissing);
}

#[test]
fn an_account_that_is_no_lease_fails() {
    let mut s = Scene::dead();
    let instruction = with_account(s.tick_instruction(), LEASE, pda::stake(&s.agent.mint, 0));
    s.stranger_refused(&[instruction], Error::WrongAccountOwner);
    let (copy, data) = (s.world.new_keypair().pubkey(), s.world.data(&pda::lease(&s.agent.mint)));
    s.world.set_data(&copy, &Address::new_from_array([8; 32]), &data);
    s.stranger_refused(&[with_account(s.tick_instruction(), LEASE, copy)], Error::WrongAccountOwner);
    s.world.set_data(&copy, &address(ids::LEASE), &[0; 88]);
    s.stranger_refused(&[with_account(s.tick_instruction(), LEASE, copy)], Error::WrongAccountType);
    // Right from its first byte, but too short.
    s.world.set_data(&copy, &address(ids::LEASE), &data[..data.len() - 1]);
    s.stranger_refused(&[with_account(s.tick_instruction(), LEASE, copy)], Error::WrongAccountType);
}

#[test]
fn an_account_of_the_first_edition_fails() {
    let mut s = Scene::dead();
    let at = 8 + std::mem::offset_of!(LeaseAccount, version);
    s.world.edit_data(&pda::lease(&s.agent.mint), |data| data[at] = 1);
    s.stranger_refused(&[s.tick_instruction()], Error::WrongVersion);
}
