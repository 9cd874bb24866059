//! queue_unlock: the delay starts only for an agent whose lease is deactivated, or that never had one.

use super::common::{
    EPOCH_SLOTS, MISSING_SIGNATURE, Scene, WINDOW, gift, only_event, unsigned, with_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::queue_unlock;
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, associated_address, create_associated};
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::events::UnlockQueued;
use zx1_interface::{Error, ids};
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{Receipt, address};

const MINT: usize = 1;
const AGENT_TOKEN: usize = 2;
const STAKE: usize = 3;
const LEASE: usize = 4;

fn queued(receipt: &Receipt) -> UnlockQueued {
    only_event(receipt, ids::STAKE_LOCK, UnlockQueued::read)
}

impl Scene {
    fn queue(&self, wallet: &Keypair) -> Instruction {
        queue_unlock(&self.agent.addresses(), wallet.pubkey(), 0)
    }

    #[track_caller]
    fn queue_refused(&mut self, error: Error) {
        self.owner_refused(&[self.queue(&self.owner)], error);
    }

    #[track_caller]
    fn queue_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.queue(&self.owner), place, at);
        self.owner_refused(&[instruction], error);
    }

    /// Goes to the last slot before a zx1 epoch.
    fn warp_to_end_before(&mut self, epoch: u64) {
        self.world.warp_to_epoch(epoch);
        let slot = self.world.slot();
        self.world.warp_to_slot(slot - 1);
        assert_eq!(self.world.epoch(), epoch - 1);
    }
}

#[test]
fn the_owner_of_a_deactivated_agent_queues_ok() {
    let mut s = Scene::living();
    let created = s.world.slot();
    s.world.advance_epochs(4);
    let (before, stake) = (s.world.snapshot(), s.stake());
    let receipt = s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    let now = created + 4 * EPOCH_SLOTS;
    before.assert_only_changed(&s.world, &[s.owner.pubkey(), pda::stake(&s.agent.mint, 0)]);
    assert_eq!(
        s.stake(),
        StakeLockAccount {
            in_unlock_queue: 1,
            queued_slot: now,
            unlock_available_slot: now + 432_000,
            event_sequence: 2,
            ..stake
        }
    );
    assert_eq!(
        queued(&receipt),
        UnlockQueued {
            agent_mint: s.agent.mint.0,
            era: 0,
            unlock_available_slot: now + WINDOW,
            sequence: 1,
            account_created_slot: created,
        }
    );
}

#[test]
fn an_agent_that_never_had_a_lease_queues_ok() {
    let mut s = Scene::staked();
    let receipt = s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!(queued(&receipt).unlock_available_slot, s.world.slot() + WINDOW);
    assert_eq!(s.stake().in_unlock_queue, 1);
}

#[test]
fn lamports_at_the_empty_lease_address_block_nothing_ok() {
    let mut s = Scene::staked();
    gift(&mut s.world, &pda::lease(&s.agent.mint), 5_000_000);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!(s.stake().in_unlock_queue, 1);
}

#[test]
fn while_the_lease_is_paid_fails() {
    let mut s = Scene::living();
    s.queue_refused(Error::LeaseNotDeactivated);
    s.world.pay_lease(&s.agent, &s.owner, 10).unwrap();
    s.world.advance_epochs(10);
    s.queue_refused(Error::LeaseNotDeactivated);
}

#[test]
fn the_lease_dies_at_the_first_slot_after_three_epochs_of_grace() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    for behind in 1..=3 {
        s.world.warp_to_epoch(epoch + behind);
        s.queue_refused(Error::LeaseNotDeactivated);
    }
    s.warp_to_end_before(epoch + 4);
    s.queue_refused(Error::LeaseNotDeactivated);
    s.world.advance_slots(1);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!(s.stake().queued_slot, s.world.slot());
    // Nobody has ticked the lease: its state follows from the clock.
    assert_eq!((s.lease().deactivated, s.lease().in_grace_period), (0, 0));
}

#[test]
fn a_forged_absence_of_the_lease_fails() {
    let mut s = Scene::living();
    let empty = s.world.new_keypair().pubkey();
    s.queue_with_refused(LEASE, empty, Error::WrongAddress);
    // The empty address of an agent that has no lease.
    let other = s.world.register_agent(&s.owner);
    s.queue_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAddress);
    // The same address under another program.
    let elsewhere =
        Address::find_program_address(&[b"lease", s.agent.mint.as_ref()], &address(ids::STAKE_LOCK));
    s.queue_with_refused(LEASE, elsewhere.0, Error::WrongAddress);
}

#[test]
fn another_agents_dead_lease_fails() {
    let mut s = Scene::living();
    let other = s.other_agent().agent;
    s.world.pay_lease(&s.agent, &s.owner, 10).unwrap();
    s.world.advance_epochs(4);
    s.queue_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAgent);
}

#[test]
fn a_copy_of_a_dead_lease_under_another_owner_fails() {
    let mut s = Scene::dead();
    let copy = s.world.new_keypair().pubkey();
    let data = s.world.data(&pda::lease(&s.agent.mint));
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.set_data(&copy, &Address::new_from_array([8; 32]), &data);
    s.queue_with_refused(LEASE, copy, Error::WrongAddress);
}

#[test]
fn twice_fails() {
    let mut s = Scene::queued();
    s.queue_refused(Error::UnlockAlreadyQueued);
    s.world.advance_slots(WINDOW + 1);
    s.queue_refused(Error::UnlockAlreadyQueued);
}

#[test]
fn twice_without_a_lease_fails() {
    let mut s = Scene::staked();
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(1);
    s.queue_refused(Error::UnlockAlreadyQueued);
}

#[test]
fn after_the_lease_was_paid_and_died_again_it_is_queued_anew_ok() {
    let mut s = Scene::queued();
    let first = s.stake();
    s.world.advance_slots(100);
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.queue_refused(Error::LeaseNotDeactivated);
    s.world.advance_epochs(4);
    let receipt = s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    let now = s.world.slot();
    assert_eq!(now, first.queued_slot + 100 + 4 * EPOCH_SLOTS);
    assert_eq!(
        s.stake(),
        StakeLockAccount {
            queued_slot: now,
            unlock_available_slot: now + WINDOW,
            event_sequence: 3,
            ..first
        }
    );
    assert_eq!((queued(&receipt).sequence, queued(&receipt).unlock_available_slot), (2, now + WINDOW));
}

#[test]
fn a_payment_in_the_slot_of_the_queueing_counts_as_later() {
    let mut s = Scene::queued();
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    assert_eq!(s.lease().last_paid_slot, s.stake().queued_slot);
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!(s.stake().queued_slot, s.world.slot());
}

#[test]
fn a_lease_that_begins_after_the_queueing_counts_as_paid_since_ok() {
    let mut s = Scene::staked();
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(1);
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!(s.stake().queued_slot, s.world.slot());
}

#[test]
fn who_locked_the_stake_of_a_burned_nft_queues_whatever_the_lease_says_ok() {
    for mut s in [Scene::dead(), Scene::living()] {
        s.world.burn_agent(&s.agent, &s.owner);
        // Its token account is empty; any account serves.
        let any = s.world.new_keypair().pubkey();
        s.world.send_ok(&[with_account(s.queue(&s.owner), AGENT_TOKEN, any)], &s.owner, &[]);
        assert_eq!((s.stake().in_unlock_queue, s.stake().owner), (1, s.owner.pubkey().to_bytes()));
    }
}

/// In the first edition whoever touched the stake last got what a burned NFT left.
#[test]
fn who_held_a_burned_nft_last_does_not_queue_anothers_stake() {
    let mut s = Scene::dead();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.burn_agent(&s.agent, &buyer);
    let instruction = s.queue(&buyer);
    s.world.send_refused(&[instruction], &buyer, &[]).expect_code(Error::NotStakeOwner.code());
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!((s.stake().in_unlock_queue, s.stake().owner), (1, s.owner.pubkey().to_bytes()));
}

#[test]
fn a_stranger_fails_also_when_the_nft_was_burned() {
    let mut s = Scene::dead();
    let instruction = s.queue(&s.stranger);
    s.stranger_refused(std::slice::from_ref(&instruction), Error::NotStakeOwner);
    s.world.burn_agent(&s.agent, &s.owner);
    s.stranger_refused(&[instruction], Error::NotStakeOwner);
}

#[test]
fn a_delegate_and_a_key_of_all_scopes_fail() {
    let mut s = Scene::dead();
    s.world.create_delegate(&s.owner, &s.stranger.pubkey(), &s.agent, 0);
    let instruction = s.queue(&s.stranger);
    s.stranger_refused(&[instruction], Error::NotStakeOwner);
    let all = s.world.new_key(&s.agent, &s.owner, Scopes::ALL);
    s.fund(&all);
    let instruction = s.queue(&all);
    s.world.send_refused(&[instruction], &all, &[]).expect_code(Error::NotStakeOwner.code());
}

#[test]
fn after_a_sale_the_seller_queues_and_the_buyer_does_not() {
    // The lease is the buyer's now: whether it lives does not matter to the seller.
    let mut s = Scene::living();
    let former = s.agent;
    let (agent, buyer) = s.sell();
    // Its own token account shows that it holds none, but not that somebody does.
    s.queue_refused(Error::AgentNotHeld);
    s.agent = agent;
    let instruction = s.queue(&buyer);
    s.world.send_refused(&[instruction], &buyer, &[]).expect_code(Error::NotStakeOwner.code());
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!((s.stake().owner, s.stake().in_unlock_queue), (former.owner.to_bytes(), 1));
}

#[test]
fn a_holder_does_not_pass_for_one_who_sold() {
    // The lease lives; to queue, the holder would have to show that it holds nothing.
    let mut s = Scene::living();
    let (other, purse) = (s.other_agent().agent, s.world.usdc_account(&s.owner.pubkey()));
    let create = create_associated(
        &s.stranger.pubkey(),
        &s.stranger.pubkey(),
        &s.agent.mint.into(),
        &TOKEN_2022_PROGRAM,
    );
    s.world.send_ok(&[create], &s.stranger, &[]);
    let empty = associated_address(&s.stranger.pubkey(), &s.agent.mint.into(), &TOKEN_2022_PROGRAM);
    for token in [other.token_account, purse, empty, s.world.new_keypair().pubkey(), s.agent.mint.into()] {
        s.queue_with_refused(AGENT_TOKEN, token, Error::AgentNotHeld);
    }
    // Nor by a forged account of some program, in which a stranger holds it.
    let (forged, mut data) = (s.world.new_keypair().pubkey(), s.world.data(&s.agent.token_account));
    data[32..64].copy_from_slice(s.stranger.pubkey().as_ref());
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
    s.queue_with_refused(AGENT_TOKEN, forged, Error::AgentNotHeld);
    s.queue_with_refused(MINT, other.mint.into(), Error::WrongAgent);
}

#[test]
fn an_era_that_has_ended_needs_no_queue() {
    let mut s = Scene::dead();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.queue_refused(Error::EraEnded);
}

#[test]
fn another_era_fails() {
    let mut s = Scene::dead();
    let instruction = queue_unlock(&s.agent.addresses(), s.owner.pubkey(), 1);
    s.owner_refused(std::slice::from_ref(&instruction), Error::AccountMissing);
    s.owner_refused(&[with_account(instruction, STAKE, pda::stake(&s.agent.mint, 0))], Error::WrongEra);
}

#[test]
fn the_owner_without_a_signature_fails() {
    let mut s = Scene::dead();
    let instruction = unsigned(s.queue(&s.owner), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn without_a_stake_fails() {
    Scene::registered().queue_refused(Error::AccountMissing);
}

#[test]
fn another_agents_accounts_fail() {
    let mut s = Scene::dead();
    let other = s.other_agent().agent;
    s.queue_with_refused(STAKE, pda::stake(&other.mint, 0), Error::WrongAgent);
    s.queue_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
}

#[test]
fn the_owner_of_another_agent_fails_with_its_own_nft_and_everything_else_the_victims() {
    let mut s = Scene::dead();
    let mine = s.world.register_agent(&s.stranger);
    let stranger = s.stranger.pubkey();
    let mut instruction = s.queue(&s.stranger);
    for (place, at) in [(MINT, mine.mint.into()), (AGENT_TOKEN, mine.token_account)] {
        instruction = with_account(instruction, place, at);
    }
    assert_eq!(instruction.accounts[0].pubkey, stranger);
    s.stranger_refused(std::slice::from_ref(&instruction), Error::NotStakeOwner);
    // Were the stake its own, too.
    let at = 8 + std::mem::offset_of!(StakeLockAccount, owner);
    s.world.edit_data(&pda::stake(&s.agent.mint, 0), |data| {
        data[at..at + 32].copy_from_slice(stranger.as_ref())
    });
    s.stranger_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn an_account_of_another_type_as_stake_fails() {
    let mut s = Scene::dead();
    // The configuration is StakeLock's too. A copy, as Anchor refuses one account in two places by itself.
    let (copy, data) = (s.world.new_keypair().pubkey(), s.world.data(&pda::config()));
    s.world.set_data(&copy, &address(ids::STAKE_LOCK), &data);
    s.queue_with_refused(STAKE, copy, Error::WrongAccountType);
    s.queue_with_refused(STAKE, pda::vault(s.agent.shard()), Error::WrongAccountOwner);
}
