//! cancel_unlock: an agent that pays its lease again takes its queued unlock back.

use super::common::{MISSING_SIGNATURE, Scene, only_event, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::cancel_unlock;
use zx1_chain::pda;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::events::UnlockCanceled;
use zx1_interface::{Error, ids};

const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const STAKE: usize = 5;
const LEASE: usize = 6;

impl Scene {
    /// The unlock is queued, and then the lease is reactivated.
    fn reactivated() -> Self {
        let mut scene = Self::queued();
        scene.world.advance_slots(1_000);
        scene.world.pay_lease(&scene.agent, &scene.owner, 1).unwrap();
        scene
    }

    fn cancel(&self, wallet: &Keypair) -> Instruction {
        cancel_unlock(&self.agent.addresses(), wallet.pubkey(), 0)
    }

    #[track_caller]
    fn cancel_refused(&mut self, error: Error) {
        self.owner_refused(&[self.cancel(&self.owner)], error);
    }

    #[track_caller]
    fn cancel_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.cancel(&self.owner), place, at);
        self.owner_refused(&[instruction], error);
    }
}

#[test]
fn after_reactivation_ok() {
    let mut s = Scene::reactivated();
    let (before, stake) = (s.world.snapshot(), s.stake());
    assert_eq!((stake.in_unlock_queue, stake.event_sequence), (1, 2));
    let receipt = s.world.send_ok(&[s.cancel(&s.owner)], &s.owner, &[]);
    before.assert_only_changed(&s.world, &[s.owner.pubkey(), pda::stake(&s.agent.mint, 0)]);
    assert_eq!(
        s.stake(),
        StakeLockAccount {
            in_unlock_queue: 0,
            queued_slot: 0,
            unlock_available_slot: 0,
            event_sequence: 3,
            ..stake
        }
    );
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, UnlockCanceled::read),
        UnlockCanceled {
            agent_mint: s.agent.mint.0,
            era: 0,
            slot: s.world.slot(),
            sequence: 2,
            account_created_slot: stake.created_slot,
        }
    );
}

#[test]
fn in_the_grace_period_after_reactivation_ok() {
    let mut s = Scene::reactivated();
    s.world.advance_epochs(3);
    s.world.send_ok(&[s.cancel(&s.owner)], &s.owner, &[]);
    assert_eq!(s.stake().in_unlock_queue, 0);
}

#[test]
fn afterwards_the_stake_is_topped_up_and_the_unlock_queued_again_ok() {
    let mut s = Scene::reactivated();
    s.world.send_ok(&[s.cancel(&s.owner)], &s.owner, &[]);
    s.world.lock_stake(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    assert_eq!((s.stake().queued_slot, s.stake().event_sequence), (s.world.slot(), 5));
}

/// In the first edition the stake went with the NFT, and the buyer canceled.
#[test]
fn nobody_after_a_sale() {
    let mut s = Scene::reactivated();
    let former = s.agent;
    let (agent, buyer) = s.sell();
    s.agent = agent;
    // The stake is the seller's, and the NFT the buyer's: nobody has both.
    let instruction = s.cancel(&buyer);
    s.world.send_refused(&[instruction], &buyer, &[]).expect_code(Error::NotStakeOwner.code());
    s.cancel_refused(Error::NotAgentOwner);
    s.agent = former;
    s.cancel_refused(Error::AgentNotHeld);
}

#[test]
fn a_stranger_and_a_delegate_fail() {
    let mut s = Scene::reactivated();
    let instruction = s.cancel(&s.stranger);
    s.stranger_refused(std::slice::from_ref(&instruction), Error::NotStakeOwner);
    s.world.create_delegate(&s.owner, &s.stranger.pubkey(), &s.agent, 0);
    s.stranger_refused(&[instruction], Error::NotStakeOwner);
}

#[test]
fn the_owner_without_a_signature_fails() {
    let mut s = Scene::reactivated();
    let instruction = unsigned(s.cancel(&s.owner), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn the_last_owner_of_a_burned_nft_fails() {
    let mut s = Scene::reactivated();
    s.world.burn_agent(&s.agent, &s.owner);
    s.cancel_refused(Error::AgentNotHeld);
}

#[test]
fn nothing_queued_fails() {
    let mut s = Scene::living();
    s.cancel_refused(Error::UnlockNotQueued);
    s.world.advance_epochs(4);
    s.cancel_refused(Error::UnlockNotQueued);
}

#[test]
fn twice_fails() {
    let mut s = Scene::reactivated();
    s.world.send_ok(&[s.cancel(&s.owner)], &s.owner, &[]);
    s.cancel_refused(Error::UnlockNotQueued);
}

#[test]
fn a_dead_lease_fails() {
    let mut s = Scene::queued();
    s.cancel_refused(Error::LeaseNotPaid);
    // Paid, but dead again.
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_epochs(4);
    s.cancel_refused(Error::LeaseNotPaid);
}

#[test]
fn no_lease_at_all_fails() {
    let mut s = Scene::staked();
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.cancel_refused(Error::LeaseNotPaid);
}

#[test]
fn another_era_fails() {
    let mut s = Scene::reactivated();
    let instruction = cancel_unlock(&s.agent.addresses(), s.owner.pubkey(), 1);
    s.owner_refused(&[with_account(instruction, STAKE, pda::stake(&s.agent.mint, 0))], Error::WrongEra);
}

#[test]
fn another_agents_live_lease_or_stake_fails() {
    let mut s = Scene::queued();
    let other = s.other_agent().agent;
    s.cancel_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAgent);
    s.cancel_with_refused(STAKE, pda::stake(&other.mint, 0), Error::WrongAgent);
    let forged = s.world.new_keypair().pubkey();
    let data = s.world.data(&pda::lease(&other.mint));
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
    s.cancel_with_refused(LEASE, forged, Error::WrongAddress);
}

#[test]
fn the_owner_of_another_agent_fails_with_its_own_nft_and_everything_else_the_victims() {
    let mut s = Scene::reactivated();
    let mine = s.world.register_agent(&s.stranger);
    let mut instruction = s.cancel(&s.stranger);
    for (place, at) in
        [(2, mine.mint.into()), (AGENT_INDEX, mine.agent_index), (AGENT_TOKEN, mine.token_account)]
    {
        instruction = with_account(instruction, place, at);
    }
    s.stranger_refused(std::slice::from_ref(&instruction), Error::NotStakeOwner);
    // Were the stake its own, too.
    let at = 8 + std::mem::offset_of!(StakeLockAccount, owner);
    let thief = s.stranger.pubkey();
    s.world
        .edit_data(&pda::stake(&s.agent.mint, 0), |data| data[at..at + 32].copy_from_slice(thief.as_ref()));
    s.stranger_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn another_agents_index_or_token_account_fails() {
    let mut s = Scene::reactivated();
    let other = s.world.register_agent(&s.owner);
    s.cancel_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
    s.cancel_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
}

#[test]
fn without_a_stake_fails() {
    Scene::registered().cancel_refused(Error::AccountMissing);
}
