//! claim_stake: the stake goes back when nobody can hold anything against it any more.

use super::common::{
    DUPLICATE_MUTABLE, EPOCH_SLOTS, MISSING_SIGNATURE, Scene, VAULT_BYTES, WINDOW, dishonest_batch, gift,
    only_event, unsigned, with_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{cancel_unlock, claim_stake};
use zx1_chain::token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_chain::{instructions::stake_lock::lock_stake, pda};
use zx1_interface::accounts::{HeadAccount, StakeLockAccount};
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::events::{StakeClaimed, StakeLocked};
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::USDC;

const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const STAKE: usize = 5;
const VAULT: usize = 6;
const OWNER_USDC: usize = 7;
const LEASE: usize = 8;
const HEAD: usize = 9;
const TOKEN: usize = 10;

impl Scene {
    /// The unlock's delay is over in this very slot.
    fn claimable() -> Self {
        let mut scene = Self::queued();
        scene.world.advance_slots(WINDOW);
        scene
    }

    fn claim(&mut self, wallet: &Keypair) -> Instruction {
        let to = self.world.usdc_account(&wallet.pubkey());
        claim_stake(&self.agent.addresses(), wallet.pubkey(), to)
    }

    fn owners_claim(&mut self) -> Instruction {
        let to = self.world.usdc_account(&self.owner.pubkey());
        claim_stake(&self.agent.addresses(), self.owner.pubkey(), to)
    }

    #[track_caller]
    fn claim_refused(&mut self, error: Error) {
        let instruction = self.owners_claim();
        self.owner_refused(&[instruction], error);
    }

    #[track_caller]
    fn claim_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.owners_claim(), place, at);
        self.owner_refused(&[instruction], error);
    }

    /// The stake's accounts are gone.
    #[track_caller]
    fn assert_closed(&self) {
        assert_eq!(self.world.account(&pda::stake(&self.agent.mint)), None);
        assert_eq!(self.world.account(&pda::stake_vault(&self.agent.mint)), None);
    }

    fn rents(&self) -> u64 {
        self.world.rent(StakeLockAccount::SIZE) + self.world.rent(VAULT_BYTES)
    }
}

#[test]
fn at_the_slot_that_the_stake_names_the_owner_gets_stake_and_rent_ok() {
    let mut s = Scene::claimable();
    let stake = s.stake();
    assert_eq!(s.world.slot(), stake.unlock_available_slot);
    let owner = s.owner.pubkey();
    let usdc = s.world.usdc_account(&owner);
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&owner));
    let receipt = s.world.claim_stake(&s.agent, &s.owner).unwrap();

    let gone = [pda::stake(&s.agent.mint), pda::stake_vault(&s.agent.mint)];
    before.assert_only_changed(&s.world, &[owner, usdc, gone[0], gone[1]]);
    s.assert_closed();
    // One epoch of lease is all that the owner has spent.
    assert_eq!(s.world.usdc_balance(&owner), 1_000 * USDC - USDC);
    assert_eq!(s.world.lamports(&owner), lamports + s.rents() - receipt.fee);
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read),
        StakeClaimed {
            agent_mint: s.agent.mint.0,
            owner: owner.to_bytes(),
            lamports: MIN_STAKE,
            sequence: 2,
            account_created_slot: stake.created_slot,
        }
    );
}

#[test]
fn one_slot_earlier_fails() {
    let mut s = Scene::queued();
    s.claim_refused(Error::UnlockDelayNotOver);
    s.world.advance_slots(WINDOW - 1);
    assert_eq!(s.world.slot(), s.stake().unlock_available_slot - 1);
    s.claim_refused(Error::UnlockDelayNotOver);
}

#[test]
fn without_lease_and_batches_both_proven_absent_ok() {
    let mut s = Scene::staked();
    s.world.queue_unlock(&s.agent, &s.owner).unwrap();
    s.world.advance_slots(WINDOW);
    // Lamports at their empty addresses change nothing.
    gift(&mut s.world, &pda::lease(&s.agent.mint), 1_000_000);
    gift(&mut s.world, &pda::head(&s.agent.mint), 1_000_000);
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.assert_closed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 1_000 * USDC);
}

#[test]
fn gifts_of_strangers_go_to_the_owner_too_ok() {
    let mut s = Scene::claimable();
    let (owner, vault) = (s.owner.pubkey(), pda::stake_vault(&s.agent.mint));
    let (mint, from) = (s.world.usdc_mint(), s.world.usdc_account(&s.stranger.pubkey()));
    let donate = token::transfer(&from, &mint, &vault, &s.stranger.pubkey(), (777, 6), &TOKEN_PROGRAM);
    s.world.send_ok(&[donate.unwrap()], &s.stranger, &[]);
    gift(&mut s.world, &vault, 1_234);
    gift(&mut s.world, &pda::stake(&s.agent.mint), 4_321);
    let lamports = s.world.lamports(&owner);
    let receipt = s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.assert_closed();
    assert_eq!(s.world.usdc_balance(&owner), 999 * USDC + 777);
    assert_eq!(s.world.lamports(&owner), lamports + s.rents() + 1_234 + 4_321 - receipt.fee);
    // The event names the stake, not the gift.
    assert_eq!(only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read).lamports, MIN_STAKE);
}

#[test]
fn lamports_sent_before_the_stake_existed_go_to_the_owner_ok() {
    let mut s = Scene::registered();
    let (stake, vault) = (pda::stake(&s.agent.mint), pda::stake_vault(&s.agent.mint));
    gift(&mut s.world, &stake, 20_000_000);
    gift(&mut s.world, &vault, 30_000_000);
    s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    s.world.queue_unlock(&s.agent, &s.owner).unwrap();
    s.world.advance_slots(WINDOW);
    let lamports = s.world.lamports(&s.owner.pubkey());
    let receipt = s.world.claim_stake(&s.agent, &s.owner).unwrap();
    assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports + 50_000_000 - receipt.fee);
    s.assert_closed();
}

#[test]
fn the_stake_is_locked_again_afterwards_ok() {
    let mut s = Scene::claimable();
    let created = s.stake().created_slot;
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.world.advance_slots(1);
    let receipt = s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE + 3).unwrap();
    let now = s.world.slot();
    let stake = s.stake();
    assert_eq!((stake.stake_usdc, stake.event_sequence, stake.in_unlock_queue), (MIN_STAKE + 3, 1, 0));
    assert_eq!((stake.created_slot, stake.locked_since_slot), (now, now));
    assert_eq!(s.world.stake_vault_balance(&s.agent), MIN_STAKE + 3);
    // The sequence begins again; the creation slot tells the two accounts apart.
    let event = only_event(&receipt, ids::STAKE_LOCK, StakeLocked::read);
    assert_eq!((event.sequence, event.account_created_slot), (0, now));
    assert_ne!(now, created);
}

#[test]
fn closed_and_locked_in_one_transaction_ok() {
    let mut s = Scene::claimable();
    let (mint, from) = (s.world.usdc_mint(), s.world.usdc_account(&s.owner.pubkey()));
    let claim = s.owners_claim();
    let lock = lock_stake(&s.agent.addresses(), s.owner.pubkey(), mint, from, MicroUsdc(MIN_STAKE));
    s.world.send_ok(&[claim, lock], &s.owner, &[]);
    assert_eq!((s.stake().event_sequence, s.stake().in_unlock_queue), (1, 0));
    assert_eq!(s.stake().created_slot, s.world.slot());
    assert_eq!(s.world.stake_vault_balance(&s.agent), MIN_STAKE);
}

#[test]
fn nothing_queued_fails() {
    let mut s = Scene::dead();
    s.claim_refused(Error::UnlockNotQueued);
    s.world.advance_slots(WINDOW);
    s.claim_refused(Error::UnlockNotQueued);
}

#[test]
fn after_a_cancellation_fails() {
    let mut s = Scene::queued();
    s.world.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    let cancel = cancel_unlock(&s.agent.addresses(), s.owner.pubkey());
    s.world.send_ok(&[cancel], &s.owner, &[]);
    s.world.advance_epochs(4);
    s.claim_refused(Error::UnlockNotQueued);
}

#[test]
fn twice_fails() {
    let mut s = Scene::claimable();
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.claim_refused(Error::AccountMissing);
}

#[test]
fn with_an_open_challenge_fails_and_after_its_settlement_the_rest_is_claimed() {
    let mut s = Scene::living();
    let batch = dishonest_batch(&s.agent, s.world.epoch() - 1);
    s.world.submit_batch(&s.agent, &s.owner, &batch).unwrap();
    s.world.advance_slots(10);
    let challenge = s.challenge(&batch);
    assert_eq!(s.stake().open_challenges, 1);
    // Nobody settles it, and the lease dies.
    s.world.advance_slots(4 * EPOCH_SLOTS);
    s.world.queue_unlock(&s.agent, &s.owner).unwrap();
    s.world.advance_slots(WINDOW);
    s.claim_refused(Error::OpenChallenges);

    s.resolve(&challenge);
    assert_eq!((s.stake().open_challenges, s.stake().stake_usdc), (0, 0));
    let (lamports, usdc) = (s.world.lamports(&s.owner.pubkey()), s.world.usdc_balance(&s.owner.pubkey()));
    let receipt = s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.assert_closed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), usdc);
    assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports + s.rents() - receipt.fee);
    assert_eq!(only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read).lamports, 0);
}

#[test]
fn a_batch_inside_its_window_fails_and_one_slot_after_it_is_claimed() {
    let mut s = Scene::living();
    let batch = dishonest_batch(&s.agent, s.world.epoch() - 1);
    s.world.submit_batch(&s.agent, &s.owner, &batch).unwrap();
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner).unwrap();
    // A batch needs a live lease, a queue a dead one, and a payment after the queueing makes it worthless:
    // so every real batch's window is over before the delay is. The rule stands by itself all the same, and
    // to see it the head says that the last batch came in the slot after the queueing.
    let last = s.stake().queued_slot + 1;
    let mut head: HeadAccount = s.head();
    head.last_slot = last;
    let at = 8 + std::mem::offset_of!(HeadAccount, last_slot);
    s.world.edit_data(&pda::head(&s.agent.mint), |data| {
        data[at..at + 8].copy_from_slice(&last.to_le_bytes());
    });
    assert_eq!(s.head(), head);

    s.world.warp_to_slot(last + WINDOW);
    s.claim_refused(Error::BatchInWindow);
    s.world.advance_slots(1);
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.assert_closed();
}

#[test]
fn after_the_lease_was_paid_again_fails() {
    let mut s = Scene::queued();
    s.world.advance_slots(1);
    s.world.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    s.world.advance_slots(WINDOW);
    // In grace, and then dead a second time: the delay that ran does not count.
    s.claim_refused(Error::LeaseNotDeactivated);
    s.world.advance_slots(2 * EPOCH_SLOTS);
    s.claim_refused(Error::LeasePaidSinceQueueing);
    s.world.advance_slots(100 * EPOCH_SLOTS);
    s.claim_refused(Error::LeasePaidSinceQueueing);
    // Queued again, it works after another delay.
    s.world.queue_unlock(&s.agent, &s.owner).unwrap();
    s.world.advance_slots(WINDOW - 1);
    s.claim_refused(Error::UnlockDelayNotOver);
    s.world.advance_slots(1);
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.assert_closed();
}

#[test]
fn a_payment_in_the_slot_of_the_queueing_fails() {
    let mut s = Scene::queued();
    s.world.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    s.world.advance_epochs(4);
    s.claim_refused(Error::LeasePaidSinceQueueing);
}

#[test]
fn a_former_owner_fails_and_the_new_one_gets_it() {
    let mut s = Scene::claimable();
    let former = s.agent;
    let (agent, buyer) = s.sell();
    s.claim_refused(Error::AgentNotHeld);
    s.agent = agent;
    s.claim_refused(Error::NotAgentOwner);
    // The stake still names the former owner, who queued; the NFT decides.
    assert_eq!(s.stake().owner, former.owner.to_bytes());
    let (lamports, seller) = (s.world.lamports(&buyer.pubkey()), s.world.usdc_balance(&s.owner.pubkey()));
    let receipt = s.world.claim_stake(&s.agent, &buyer).unwrap();
    s.assert_closed();
    assert_eq!(s.world.usdc_balance(&buyer.pubkey()), 1_000 * USDC + MIN_STAKE);
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), seller);
    assert_eq!(s.world.lamports(&buyer.pubkey()), lamports + s.rents() - receipt.fee);
    let event = only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read);
    assert_eq!(event.owner, buyer.pubkey().to_bytes());
}

#[test]
fn the_last_owner_of_a_burned_nft_gets_it_and_a_stranger_fails() {
    let mut s = Scene::queued();
    s.world.burn_agent(&s.agent, &s.owner);
    s.world.advance_slots(WINDOW);
    let stranger = s.stranger.insecure_clone();
    let theirs = s.claim(&stranger);
    s.stranger_refused(&[theirs], Error::NotAgentOwner);
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.assert_closed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 999 * USDC);
}

#[test]
fn a_burned_nft_whose_token_account_was_closed_too_ok() {
    let mut s = Scene::queued();
    s.world.burn_agent(&s.agent, &s.owner);
    let owner = s.owner.pubkey();
    let close = token::close_account(&s.agent.token_account, &owner, &owner, &TOKEN_2022_PROGRAM).unwrap();
    s.world.send_ok(&[close], &s.owner, &[]);
    s.world.advance_slots(WINDOW);
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    s.assert_closed();
}

#[test]
fn a_stranger_and_a_delegate_fail() {
    let mut s = Scene::claimable();
    let stranger = s.stranger.insecure_clone();
    let instruction = s.claim(&stranger);
    s.stranger_refused(std::slice::from_ref(&instruction), Error::NotAgentOwner);
    s.world.create_delegate(&s.owner, &stranger.pubkey(), &s.agent, 0);
    s.stranger_refused(&[instruction], Error::NotAgentOwner);
}

#[test]
fn the_owner_without_a_signature_fails() {
    let mut s = Scene::claimable();
    let instruction = unsigned(s.owners_claim(), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn a_forged_absence_of_lease_or_head_fails() {
    let mut s = Scene::living();
    let batch = dishonest_batch(&s.agent, s.world.epoch() - 1);
    s.world.submit_batch(&s.agent, &s.owner, &batch).unwrap();
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner).unwrap();
    s.world.advance_slots(WINDOW);
    let other = s.world.register_agent(&s.owner);
    for empty in [s.world.new_keypair().pubkey(), pda::lease(&other.mint), pda::head(&other.mint)] {
        s.claim_with_refused(LEASE, empty, Error::WrongAddress);
        s.claim_with_refused(HEAD, empty, Error::WrongAddress);
    }
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
}

#[test]
fn another_agents_accounts_fail() {
    let mut s = Scene::claimable();
    let other = s.other_agent();
    let batch = dishonest_batch(&other, s.world.epoch() - 1);
    s.world.submit_batch(&other, &s.stranger, &batch).unwrap();
    s.claim_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAgent);
    s.claim_with_refused(HEAD, pda::head(&other.mint), Error::WrongAgent);
    s.claim_with_refused(STAKE, pda::stake(&other.mint), Error::WrongAgent);
    s.claim_with_refused(VAULT, pda::stake_vault(&other.mint), Error::WrongAddress);
    s.claim_with_refused(HEAD, pda::batch(&other.mint, batch.epoch), Error::WrongAccountType);
    s.claim_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
    s.claim_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
}

#[test]
fn the_owner_of_another_agent_fails_with_its_own_nft_and_everything_else_the_victims() {
    let mut s = Scene::claimable();
    let thief = s.stranger.insecure_clone();
    let mine = s.world.register_agent(&thief);
    let mut instruction = s.claim(&thief);
    for (place, at) in
        [(2, mine.mint.into()), (AGENT_INDEX, mine.agent_index), (AGENT_TOKEN, mine.token_account)]
    {
        instruction = with_account(instruction, place, at);
    }
    s.stranger_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn the_owners_own_token_account_as_vault_fails() {
    let mut s = Scene::claimable();
    let usdc = s.world.usdc_account(&s.owner.pubkey());
    let aside = s.world.new_keypair().pubkey();
    let account = s.world.account(&usdc).unwrap();
    s.world.set_account(&aside, account);
    s.claim_with_refused(VAULT, aside, Error::WrongAddress);
}

#[test]
fn a_token_account_that_is_not_the_owners_usdc_fails() {
    let mut s = Scene::claimable();
    let owner = s.owner.pubkey();
    let theirs = s.world.usdc_account(&s.stranger.pubkey());
    s.claim_with_refused(OWNER_USDC, theirs, Error::WrongTokenAccountOwner);
    let (fake, fake_2022) = (s.world.new_keypair(), s.world.new_keypair());
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    s.world.create_mint(&fake_2022, 6, &TOKEN_2022_PROGRAM);
    let other = s.world.fund_token(&owner, &fake.pubkey(), 1, &TOKEN_PROGRAM);
    s.claim_with_refused(OWNER_USDC, other, Error::WrongUsdcMint);
    let other = s.world.fund_token(&owner, &fake_2022.pubkey(), 1, &TOKEN_2022_PROGRAM);
    s.claim_with_refused(OWNER_USDC, other, Error::NotLegacyToken);
    s.claim_with_refused(TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken);
}

#[test]
fn the_vault_itself_as_the_owners_account_fails() {
    let mut s = Scene::claimable();
    let vault = pda::stake_vault(&s.agent.mint);
    let instruction = with_account(s.owners_claim(), OWNER_USDC, vault);
    let refusal = s.world.send_refused(&[instruction], &s.owner, &[]);
    assert_eq!(refusal.instruction_error(), Some(&DUPLICATE_MUTABLE));
}
