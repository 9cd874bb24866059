//! claim_stake: who locked an era's stake gets it back when nobody can hold anything against it any more.

use super::common::{
    DUPLICATE_MUTABLE, EPOCH_SLOTS, MIN_STAKE, MISSING_SIGNATURE, Scene, WINDOW, gift, only_event,
    send_unsigned, unsigned, with_account,
};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{cancel_unlock, claim_stake, lock_stake, settle, take_deposit};
use zx1_chain::pda;
use zx1_chain::token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{HeadAccount, StakeLockAccount, TenureAccount};
use zx1_interface::events::{StakeClaimed, StakeLocked};
use zx1_interface::instruction::{Settle, TakeDeposit};
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Batch, USDC, address};

const MINT: usize = 2;
const AGENT_TOKEN: usize = 3;
const TENURE: usize = 4;
const STAKE: usize = 5;
const SHARD: usize = 6;
const VAULT: usize = 7;
const OWNER_USDC: usize = 8;
const LEASE: usize = 9;
const HEAD: usize = 10;
const TOKEN: usize = 11;

impl Scene {
    /// The unlock's delay is over in this very slot.
    fn claimable() -> Self {
        let mut scene = Self::queued();
        scene.world.advance_slots(WINDOW);
        scene
    }

    fn claim(&mut self, wallet: &Keypair) -> Instruction {
        let to = self.world.usdc_account(&wallet.pubkey());
        claim_stake(&self.agent.addresses(), wallet.pubkey(), to, 0)
    }

    fn owners_claim(&mut self) -> Instruction {
        let to = self.world.usdc_account(&self.owner.pubkey());
        claim_stake(&self.agent.addresses(), self.owner.pubkey(), to, 0)
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

    /// The era's account is gone, the next era is the present one, and the vault owes nothing for it.
    #[track_caller]
    fn assert_claimed(&self) {
        assert_eq!(self.world.account(&pda::stake(&self.agent.mint, 0)), None);
        assert_ne!(self.tenure().era, 0);
        self.world.assert_books();
    }

    fn stake_rent(&self) -> u64 {
        self.world.rent(StakeLockAccount::SIZE)
    }
}

#[test]
fn at_the_slot_that_the_stake_names_the_owner_gets_stake_and_rent_ok() {
    let mut s = Scene::claimable();
    let (stake, tenure) = (s.stake(), s.tenure());
    assert_eq!(s.world.slot(), stake.unlock_available_slot);
    let (owner, shard) = (s.owner.pubkey(), s.agent.shard());
    let usdc = s.world.usdc_account(&owner);
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&owner));
    let receipt = s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();

    let changed = [owner, usdc, pda::stake(&s.agent.mint, 0), pda::tenure(&s.agent.mint), pda::shard(shard)];
    before.assert_only_changed(&s.world, &[&changed[..], &[pda::vault(shard)]].concat());
    s.assert_claimed();
    // One epoch of lease is all that the owner has spent.
    assert_eq!(s.world.usdc_balance(&owner), 1_000 * USDC - USDC);
    assert_eq!((s.vault(), s.shard_total()), (0, 0));
    assert_eq!(s.world.lamports(&owner), lamports + s.stake_rent() - receipt.fee);
    // No era is ever used twice.
    assert_eq!(s.tenure(), TenureAccount { era: 1, ..tenure });
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read),
        StakeClaimed {
            agent_mint: s.agent.mint.0,
            era: 0,
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
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW);
    // Lamports at their empty addresses change nothing.
    gift(&mut s.world, &pda::lease(&s.agent.mint), 1_000_000);
    gift(&mut s.world, &pda::head(&s.agent.mint), 1_000_000);
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 1_000 * USDC);
}

#[test]
fn lamports_of_strangers_go_to_the_owner_and_usdc_in_the_vault_to_nobody() {
    let mut s = Scene::claimable();
    let (owner, vault) = (s.owner.pubkey(), pda::vault(s.agent.shard()));
    let (mint, from) = (s.world.usdc_mint(), s.world.usdc_account(&s.stranger.pubkey()));
    let donate = token::transfer(&from, &mint, &vault, &s.stranger.pubkey(), (777, 6), &TOKEN_PROGRAM);
    s.world.send_ok(&[donate.unwrap()], &s.stranger, &[]);
    gift(&mut s.world, &pda::stake(&s.agent.mint, 0), 4_321);
    let lamports = s.world.lamports(&owner);
    let receipt = s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    assert_eq!(s.world.usdc_balance(&owner), 999 * USDC);
    assert_eq!((s.vault(), s.shard_total()), (777, 0));
    assert_eq!(s.world.lamports(&owner), lamports + s.stake_rent() + 4_321 - receipt.fee);
    assert_eq!(only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read).lamports, MIN_STAKE);
}

#[test]
fn lamports_sent_before_the_stake_existed_go_to_the_owner_ok() {
    let mut s = Scene::tenured();
    gift(&mut s.world, &pda::stake(&s.agent.mint, 0), 20_000_000);
    s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW);
    let lamports = s.world.lamports(&s.owner.pubkey());
    let receipt = s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports + 20_000_000 - receipt.fee);
    s.assert_claimed();
}

#[test]
fn afterwards_a_stake_is_locked_in_the_next_era_and_never_in_this_one_again() {
    let mut s = Scene::claimable();
    let created = s.stake().created_slot;
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(1);
    let former = s.world.locking(&s.agent, &s.owner.at(), 0, MIN_STAKE);
    s.owner_refused(&[former], Error::WrongEra);
    let receipt = s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE + 3).unwrap();
    let (now, stake) = (s.world.slot(), s.stake_of(1));
    assert_eq!((stake.stake_usdc, stake.event_sequence, stake.in_unlock_queue), (MIN_STAKE + 3, 1, 0));
    assert_eq!((stake.created_slot, stake.locked_since_slot), (now, now));
    assert_eq!((s.vault(), s.tenure().era), (MIN_STAKE + 3, 1));
    let event = only_event(&receipt, ids::STAKE_LOCK, StakeLocked::read);
    assert_eq!((event.era, event.sequence, event.account_created_slot), (1, 0, now));
    assert_ne!(now, created);
}

#[test]
fn closed_and_locked_in_one_transaction_ok() {
    let mut s = Scene::claimable();
    let from = s.world.usdc_account(&s.owner.pubkey());
    let claim = s.owners_claim();
    let (agent, owner) = (s.agent.addresses(), s.owner.pubkey());
    let lock = lock_stake(&agent, owner, from, 1, None, MicroUsdc(MIN_STAKE));
    s.world.send_ok(&[claim, lock], &s.owner, &[]);
    assert_eq!((s.stake_of(1).event_sequence, s.stake_of(1).in_unlock_queue), (1, 0));
    assert_eq!(s.stake_of(1).created_slot, s.world.slot());
    assert_eq!(s.vault(), MIN_STAKE);
    s.assert_claimed();
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
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    let cancel = cancel_unlock(&s.agent.addresses(), s.owner.pubkey(), 0);
    s.world.send_ok(&[cancel], &s.owner, &[]);
    s.world.advance_epochs(4);
    s.claim_refused(Error::UnlockNotQueued);
}

#[test]
fn twice_fails() {
    let mut s = Scene::claimable();
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.claim_refused(Error::AccountMissing);
}

#[test]
fn with_an_open_challenge_fails_and_after_its_settlement_the_rest_is_claimed() {
    let mut s = Scene::landing();
    let challenge = s.challenged();
    assert_eq!(s.stake().open_challenges, 1);
    // Nobody settles it, and the lease dies.
    s.world.advance_slots(4 * EPOCH_SLOTS);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW);
    s.claim_refused(Error::OpenChallenges);

    s.resolve(&challenge);
    let stake = s.stake();
    assert_eq!((stake.open_challenges, stake.stake_usdc, stake.pot_usdc, stake.deposits_usdc), (0, 0, 0, 0));
    // The slash has ended the era, whose own delay runs now.
    assert_eq!(stake.ended_slot, s.world.slot());
    s.world.advance_slots(WINDOW);
    s.claim_refused(Error::UnlockDelayNotOver);
    s.world.advance_slots(1);
    let (lamports, usdc) = (s.world.lamports(&s.owner.pubkey()), s.world.usdc_balance(&s.owner.pubkey()));
    let receipt = s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), usdc);
    assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports + s.stake_rent() - receipt.fee);
    assert_eq!(only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read).lamports, 0);
}

#[test]
fn an_ended_era_with_an_open_challenge_fails() {
    let mut s = Scene::landing();
    let challenge = s.challenged();
    s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    let ended = s.stake().ended_slot;
    assert_eq!(ended, s.world.slot());
    s.world.warp_to_slot(ended + WINDOW + 1);
    s.claim_refused(Error::OpenChallenges);
    s.resolve(&challenge);
    // A slash of an era that has ended begins no second delay.
    assert_eq!((s.stake().ended_slot, s.stake().slashed_slot), (ended, s.world.slot()));
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    assert_eq!((s.tenure().era, s.stake_of(1).stake_usdc), (1, MIN_STAKE));
}

#[test]
fn an_open_ask_fails_in_the_present_era_and_in_one_that_ended() {
    let mut present = Scene::claimable();
    let mut ended = Scene::staked();
    let (agent, buyer) = ended.sell();
    ended.agent = agent;
    ended.world.take_over(&agent, &buyer).unwrap();
    ended.world.advance_slots(WINDOW + 1);
    for s in [&mut present, &mut ended] {
        let usdc = s.world.usdc_account(&s.stranger.pubkey());
        let ask = TakeDeposit { agent_mint: s.agent.mint.0, era: 0, amount: 500_000, what: 3 };
        let take = take_deposit(pda::challenge_authority(), s.stranger.pubkey(), usdc, &ask);
        send_unsigned(&mut s.world, &take).unwrap();
        s.claim_refused(Error::AskNotSettled);
        let back = Settle {
            agent_mint: s.agent.mint.0,
            era: 0,
            from_deposits: 500_000,
            from_stake: 0,
            from_pot: 0,
            to_stake: 0,
            to_pot: 0,
            first: 500_000,
            second: 0,
            marks: 4,
        };
        let treasury = s.world.treasury_usdc();
        send_unsigned(&mut s.world, &settle(pda::challenge_authority(), usdc, treasury, &back)).unwrap();
        s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
        s.assert_claimed();
    }
}

#[test]
fn a_slashed_era_stays_until_pot_and_ranks_are_settled() {
    let mut s = Scene::landing();
    let filing = s.dishonest();
    s.world.advance_slots(1);
    s.world.file(&filing);
    // A second finder holds a rank behind the first, whose challenge takes half of the finders' part.
    let second = zx1_vm_tests::Key(s.world.new_party());
    let behind = filing.by(&second, 7);
    s.world.begin(&behind).unwrap();
    s.resolve(&filing.challenge());
    let stake = s.stake();
    assert_eq!((stake.settled_rank, stake.next_rank, stake.open_challenges), (1, 2, 0));
    assert_ne!(stake.pot_usdc, 0);
    s.world.advance_slots(WINDOW + 1);
    s.claim_refused(Error::RanksOutstanding);
    s.world.pass_rank(&behind.draft()).unwrap();
    s.claim_refused(Error::RanksOutstanding);
    s.world.settle_era(&s.agent, 0).unwrap();
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
}

#[test]
fn a_batch_inside_its_window_fails_and_one_slot_after_it_is_claimed() {
    let mut s = Scene::landing();
    s.land(s.last_epoch());
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
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
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
}

/// Who sold is not bound by the lease, so that a real batch of the era can be in its window.
#[test]
fn a_seller_waits_for_the_window_of_the_last_batch_that_it_landed() {
    let mut s = Scene::landing();
    let (former, owner) = (s.agent, s.owner.clone());
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.queue_unlock(&s.agent, &owner, 0).unwrap();
    // It borrows the agent back for a batch; its queue goes on.
    s.world.transfer_agent(&s.agent, &buyer, &owner.at());
    s.agent = former;
    s.world.advance_slots(10);
    s.land(s.last_epoch());
    let landed = s.world.slot();
    s.world.transfer_agent(&s.agent, &owner, &buyer.at());
    s.agent = agent;
    s.world.warp_to_slot(s.stake().unlock_available_slot);
    s.claim_refused(Error::BatchInWindow);
    s.world.warp_to_slot(landed + WINDOW);
    s.claim_refused(Error::BatchInWindow);
    s.world.advance_slots(1);
    s.world.claim_stake(&s.agent, &owner, 0).unwrap();
    s.assert_claimed();
}

#[test]
fn after_the_lease_was_paid_again_fails() {
    let mut s = Scene::queued();
    s.world.advance_slots(1);
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_slots(WINDOW);
    // In grace, and then dead a second time: the delay that ran does not count.
    s.claim_refused(Error::LeaseNotDeactivated);
    s.world.advance_slots(2 * EPOCH_SLOTS);
    s.claim_refused(Error::LeasePaidSinceQueueing);
    s.world.advance_slots(100 * EPOCH_SLOTS);
    s.claim_refused(Error::LeasePaidSinceQueueing);
    // Queued again, it works after another delay.
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW - 1);
    s.claim_refused(Error::UnlockDelayNotOver);
    s.world.advance_slots(1);
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
}

#[test]
fn a_payment_in_the_slot_of_the_queueing_fails() {
    let mut s = Scene::queued();
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_epochs(4);
    s.claim_refused(Error::LeasePaidSinceQueueing);
}

#[test]
fn after_a_sale_the_seller_gets_its_stake_and_the_buyer_fails() {
    let mut s = Scene::claimable();
    let (agent, buyer) = s.sell();
    s.claim_refused(Error::AgentNotHeld);
    s.agent = agent;
    let theirs = s.claim(&buyer);
    s.world.send_refused(&[theirs], &buyer, &[]).expect_code(Error::NotStakeOwner.code());
    // Whatever the buyer pays for the lease.
    s.world.pay_lease(&s.agent, &buyer, 1).unwrap();
    let (lamports, usdc) = (s.world.lamports(&s.owner.pubkey()), s.world.usdc_balance(&buyer.pubkey()));
    let receipt = s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 999 * USDC);
    assert_eq!(s.world.usdc_balance(&buyer.pubkey()), usdc);
    assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports + s.stake_rent() - receipt.fee);
    let event = only_event(&receipt, ids::STAKE_LOCK, StakeClaimed::read);
    assert_eq!(event.owner, s.owner.pubkey().to_bytes());
}

#[test]
fn after_a_take_over_the_former_holder_claims_without_a_queue_once_the_window_is_over() {
    let mut s = Scene::landing();
    s.land(s.last_epoch());
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.world.lock_stake(&s.agent, &buyer, MIN_STAKE).unwrap();
    let ended = s.stake().ended_slot;
    assert_eq!(ended, s.world.slot());
    s.claim_refused(Error::UnlockDelayNotOver);
    s.world.warp_to_slot(ended + WINDOW);
    s.claim_refused(Error::UnlockDelayNotOver);
    s.world.advance_slots(1);
    let theirs = s.claim(&buyer);
    s.world.send_refused(&[theirs], &buyer, &[]).expect_code(Error::NotStakeOwner.code());
    let tenure = s.tenure();
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    // The buyer's era is the present one as before, and its money is there.
    assert_eq!((s.tenure(), s.stake_of(1).stake_usdc), (tenure, MIN_STAKE));
    assert_eq!((s.vault(), s.shard_total()), (MIN_STAKE, MIN_STAKE));
}

/// The first edition's L4: a burned NFT whose mint or index is gone froze the stake for ever.
#[test]
fn an_ended_era_is_claimed_although_mint_index_and_nft_are_gone_ok() {
    let mut s = Scene::staked();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.world.burn_agent(&s.agent, &buyer);
    for gone in [s.agent.mint.into(), s.agent.agent_index, s.agent.token_account] {
        s.world.set_account(&gone, Account::default());
    }
    s.world.advance_slots(WINDOW + 1);
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 1_000 * USDC);
}

/// The same in an era that never ended: nobody took over what was burned.
#[test]
fn a_burned_nft_whose_mint_and_index_are_gone_freezes_no_stake_ok() {
    let mut s = Scene::staked();
    s.world.burn_agent(&s.agent, &s.owner);
    for gone in [s.agent.mint.into(), s.agent.agent_index, s.agent.token_account] {
        s.world.set_account(&gone, Account::default());
    }
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW);
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 1_000 * USDC);
}

#[test]
fn in_an_ended_era_no_account_but_tenure_stake_and_vault_matters_ok() {
    let mut s = Scene::staked();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.world.advance_slots(WINDOW + 1);
    let mut instruction = s.owners_claim();
    for place in [MINT, AGENT_TOKEN, LEASE, HEAD] {
        instruction = with_account(instruction, place, s.world.new_keypair().pubkey());
    }
    s.world.send_ok(&[instruction], &s.owner, &[]);
    s.assert_claimed();
}

#[test]
fn who_locked_the_stake_of_a_burned_nft_gets_it_and_others_fail() {
    let mut s = Scene::living();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.burn_agent(&s.agent, &buyer);
    // The lease that is paid is nobody's any more.
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW - 1);
    s.claim_refused(Error::UnlockDelayNotOver);
    s.world.advance_slots(1);
    for wallet in [s.stranger.insecure_clone(), buyer.insecure_clone()] {
        let theirs = s.claim(&wallet);
        s.world.send_refused(&[theirs], &wallet, &[]).expect_code(Error::NotStakeOwner.code());
    }
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
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
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.assert_claimed();
}

#[test]
fn a_stranger_a_delegate_and_a_key_of_all_scopes_fail() {
    let mut s = Scene::claimable();
    let stranger = s.stranger.insecure_clone();
    let instruction = s.claim(&stranger);
    s.stranger_refused(std::slice::from_ref(&instruction), Error::NotStakeOwner);
    s.world.create_delegate(&s.owner, &stranger.pubkey(), &s.agent, 0);
    s.stranger_refused(&[instruction], Error::NotStakeOwner);
    let all = s.world.new_key(&s.agent, &s.owner, zx1_protocol::keys::Scopes::ALL);
    s.fund(&all);
    let instruction = s.claim(&all);
    s.world.send_refused(&[instruction], &all, &[]).expect_code(Error::NotStakeOwner.code());
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
    let mut s = Scene::landing();
    s.land(s.last_epoch());
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(WINDOW);
    let other = s.world.register_agent(&s.owner);
    for empty in [s.world.new_keypair().pubkey(), pda::lease(&other.mint), pda::head(&other.mint)] {
        s.claim_with_refused(LEASE, empty, Error::WrongAddress);
        s.claim_with_refused(HEAD, empty, Error::WrongAddress);
    }
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
}

#[test]
fn another_agents_accounts_fail() {
    let mut s = Scene::claimable();
    let other = s.other_agent();
    let epoch = s.world.epoch();
    s.world.warp_to_epoch(epoch + 1);
    s.world.submit_batch(&other.agent, &other.keys.batch, &Batch::empty(epoch)).unwrap();
    let other = other.agent;
    assert_ne!(other.shard(), s.agent.shard());
    s.claim_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAgent);
    s.claim_with_refused(HEAD, pda::head(&other.mint), Error::WrongAgent);
    s.claim_with_refused(TENURE, pda::tenure(&other.mint), Error::WrongAgent);
    s.claim_with_refused(STAKE, pda::stake(&other.mint, 0), Error::WrongAgent);
    s.claim_with_refused(SHARD, pda::shard(other.shard()), Error::WrongAddress);
    s.claim_with_refused(VAULT, pda::vault(other.shard()), Error::WrongAddress);
    s.claim_with_refused(HEAD, pda::batch(&other.mint, epoch), Error::WrongAccountType);
    s.claim_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
    let mut instruction = s.owners_claim();
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.owner_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn another_era_in_the_arguments_fails() {
    let mut s = Scene::claimable();
    let mut instruction = s.owners_claim();
    instruction.data[40..44].copy_from_slice(&1u32.to_le_bytes());
    s.owner_refused(&[instruction], Error::WrongEra);
}

#[test]
fn a_forged_tenure_or_shard_fails() {
    let mut s = Scene::claimable();
    let (copy, mint) = (s.world.new_keypair().pubkey(), s.agent.mint);
    for (place, real, error) in [
        (TENURE, pda::tenure(&mint), Error::TenureMissing),
        (SHARD, pda::shard(s.agent.shard()), Error::VaultMissing),
    ] {
        let data = s.world.data(&real);
        s.world.set_data(&copy, &Address::new_from_array([8; 32]), &data);
        s.claim_with_refused(place, copy, error);
        // Of StakeLock, but of another type.
        let data = s.world.data(&pda::config());
        s.world.set_data(&copy, &address(ids::STAKE_LOCK), &data);
        s.claim_with_refused(place, copy, Error::WrongAccountType);
    }
}

#[test]
fn the_owner_of_another_agent_fails_with_its_own_nft_and_everything_else_the_victims() {
    let mut s = Scene::claimable();
    let thief = s.stranger.insecure_clone();
    let mine = s.world.register_agent(&thief);
    let mut instruction = s.claim(&thief);
    for (place, at) in [(MINT, mine.mint.into()), (AGENT_TOKEN, mine.token_account)] {
        instruction = with_account(instruction, place, at);
    }
    s.stranger_refused(&[instruction], Error::NotStakeOwner);
    // The stake's owner cannot show another agent's NFT either, to pose as one who sold.
    let mut instruction = s.owners_claim();
    for (place, at) in [(MINT, mine.mint.into()), (AGENT_TOKEN, mine.token_account)] {
        instruction = with_account(instruction, place, at);
    }
    s.owner_refused(&[instruction], Error::WrongAgent);
}

/// All money of a shard lies in one vault.
#[test]
fn a_claim_leaves_the_other_agents_of_the_vault_their_money() {
    let mut s = Scene::queued();
    let (agent, owner) = s.neighbor();
    s.world.lock_stake(&agent, &owner, 50 * USDC).unwrap();
    s.world.advance_slots(WINDOW);
    // The neighbor's account does not serve for a second claim.
    s.claim_with_refused(STAKE, pda::stake(&agent.mint, 0), Error::WrongAgent);
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    s.claim_refused(Error::AccountMissing);
    assert_eq!((s.vault(), s.shard_total()), (50 * USDC, 50 * USDC));
    s.assert_claimed();
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
    let vault = pda::vault(s.agent.shard());
    let instruction = with_account(s.owners_claim(), OWNER_USDC, vault);
    let refusal = s.world.send_refused(&[instruction], &s.owner, &[]);
    assert_eq!(refusal.instruction_error(), Some(&DUPLICATE_MUTABLE));
}
