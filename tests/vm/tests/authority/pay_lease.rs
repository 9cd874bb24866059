//! pay_lease: the holder or a pay key of its pays for epochs, first, in time, late and too late.

use super::common::{MISSING_SIGNATURE, Scene, gift, only_event, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::lease::{LeasePayment, pay_lease, tick_lease};
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{KeyAccount, LeaseAccount};
use zx1_interface::events::LeasePaid;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{Agent, Key, Receipt, USDC, address};

const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const KEY: usize = 5;
const LEASE: usize = 6;
const AUTHORITY_USDC: usize = 7;
const TREASURY_USDC: usize = 8;
const TOKEN: usize = 9;

/// The first payment, a later one of a live lease, one that brings a dead lease back.
const FIRST: u8 = 0;
const RENEWAL: u8 = 1;
const REACTIVATION: u8 = 2;

fn paid(receipt: &Receipt) -> LeasePaid {
    only_event(receipt, ids::LEASE, LeasePaid::read)
}

impl Scene {
    /// The agent has keys and no lease; every one of them has SOL and USDC.
    fn payable() -> Self {
        let mut scene = Self::tenured();
        for key in [scene.keys.pay.clone(), scene.keys.batch.clone(), scene.keys.deal.clone()] {
            scene.fund(&key);
        }
        scene
    }

    fn payment(&mut self, wallet: &Key, key: Option<Address>, epochs: u32) -> Instruction {
        let payment = LeasePayment {
            authority: wallet.pubkey(),
            key,
            authority_usdc: self.world.usdc_account(&wallet.pubkey()),
            treasury_usdc: self.world.treasury_usdc(),
            epochs,
        };
        pay_lease(&self.agent.addresses(), &payment)
    }

    fn owners_payment(&mut self, epochs: u32) -> Instruction {
        let owner = self.owner.clone();
        self.payment(&owner, None, epochs)
    }

    #[track_caller]
    fn pay_refused(&mut self, epochs: u32, error: Error) {
        let instruction = self.owners_payment(epochs);
        self.owner_refused(&[instruction], error);
    }

    #[track_caller]
    fn pay_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.owners_payment(1), place, at);
        self.owner_refused(&[instruction], error);
    }

    fn account_of(&self, key: &Key) -> Address {
        pda::key(&self.agent.mint, &key.at())
    }

    /// A key that shows its own account pays for one epoch.
    #[track_caller]
    fn key_pays(&mut self, key: &Key) -> LeasePaid {
        paid(&self.world.pay_lease(&self.agent, key, 1).unwrap())
    }

    /// A key that shows its own account is refused with this error.
    #[track_caller]
    fn key_refused(&mut self, key: &Key, error: Error) {
        let account = self.account_of(key);
        self.key_with_refused(key, Some(account), error);
    }

    /// A wallet that shows this account as its key's is refused with this error.
    #[track_caller]
    fn key_with_refused(&mut self, wallet: &Key, account: Option<Address>, error: Error) {
        let instruction = self.payment(wallet, account, 1);
        self.world.send_refused(&[instruction], wallet, &[]).expect_code(error.code());
    }

    fn treasury_balance(&mut self) -> u64 {
        let treasury = self.world.treasury().pubkey();
        self.world.usdc_balance(&treasury)
    }

    /// Pays as the owner, and checks price, reach, kind, flags, event and that nothing else changed.
    #[track_caller]
    fn pays(&mut self, epochs: u32, cost: u64, paid_through: u64, kind: u8, in_grace: u8) {
        let instruction = self.owners_payment(epochs);
        let owner = self.owner.pubkey();
        let (usdc, treasury) = (self.world.usdc_balance(&owner), self.treasury_balance());
        let before = self.world.account(&pda::lease(&self.agent.mint));
        let before = before.and_then(|account| LeaseAccount::read(&account.data));
        let snapshot = self.world.snapshot();
        let receipt = self.world.send_ok(&[instruction], &self.owner, &[]);

        let touched = [
            owner,
            pda::lease(&self.agent.mint),
            self.world.usdc_account(&owner),
            self.world.treasury_usdc(),
        ];
        // treasury_usdc() itself mints nothing, but is a transaction of the faucet's.
        snapshot.assert_only_changed(&self.world, &[&touched[..], &[self.world.faucet.pubkey()]].concat());
        assert_eq!(self.world.usdc_balance(&owner), usdc - cost);
        assert_eq!(self.treasury_balance(), treasury + cost);
        let slot = self.world.slot();
        let (created_slot, sequence) = before.map_or((slot, 0), |l| (l.created_slot, l.event_sequence));
        let program = address(ids::LEASE);
        assert_eq!(
            self.lease(),
            LeaseAccount {
                paid_through_epoch: paid_through,
                last_paid_slot: slot,
                created_slot,
                event_sequence: sequence + 1,
                in_grace_period: in_grace,
                deactivated: 0,
                version: 2,
                bump: Address::find_program_address(&[b"lease", self.agent.mint.as_ref()], &program).1,
                reserved: [0; 4],
                agent_id: self.agent.mint.0,
            }
        );
        assert_eq!(
            paid(&receipt),
            LeasePaid {
                agent_id: self.agent.mint.0,
                epoch: paid_through,
                amount: cost,
                payer: owner.to_bytes(),
                kind,
                sequence,
                account_created_slot: created_slot,
            }
        );
    }
}

#[test]
fn the_first_payment_is_for_the_current_epoch_ok() {
    let mut s = Scene::registered();
    let (epoch, owner) = (s.world.epoch(), s.owner.pubkey());
    s.treasury_balance();
    let lamports = s.world.lamports(&owner);
    s.pays(1, USDC, epoch, FIRST, 0);
    let rent = s.world.rent(LeaseAccount::SIZE);
    assert_eq!(s.world.lamports(&pda::lease(&s.agent.mint)), rent);
    assert_eq!(s.world.account(&pda::lease(&s.agent.mint)).unwrap().data.len(), LeaseAccount::SIZE);
    assert_eq!(s.world.lamports(&owner), lamports - rent - 5_000);
}

#[test]
fn the_first_payment_for_several_epochs_ok() {
    let mut s = Scene::registered();
    let epoch = s.world.epoch();
    s.pays(7, 7 * USDC, epoch + 6, FIRST, 0);
}

#[test]
fn the_last_second_of_an_epoch_and_the_first_of_the_next_ok() {
    let mut s = Scene::registered();
    let epoch = s.world.epoch();
    s.world.warp_to_epoch(epoch + 1);
    let first = s.world.slot();
    s.world.warp_to_slot(first - 1);
    assert_eq!((s.world.time() + 1) % 86_400, 0);
    let mut fork = s.fork();
    s.pays(1, USDC, epoch, FIRST, 0);
    fork.world.warp_to_slot(first);
    assert_eq!(fork.world.time() % 86_400, 0);
    fork.pays(1, USDC, epoch + 1, FIRST, 0);
}

#[test]
fn a_paid_lease_is_extended_from_where_it_ends_ok() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.pays(1, USDC, epoch + 1, RENEWAL, 0);
    s.pays(5, 5 * USDC, epoch + 6, RENEWAL, 0);
    s.world.advance_epochs(6);
    s.pays(1, USDC, epoch + 7, RENEWAL, 0);
}

#[test]
fn in_grace_every_missed_epoch_is_paid_and_only_the_last_clears_it_ok() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.world.advance_epochs(3);
    s.pays(1, USDC, epoch + 1, RENEWAL, 1);
    s.pays(1, USDC, epoch + 2, RENEWAL, 1);
    s.pays(1, USDC, epoch + 3, RENEWAL, 0);
}

#[test]
fn each_state_at_each_boundary_ok() {
    // (epochs behind, whether the slot is the last of that epoch) to (cost of one epoch, reach, kind, grace).
    for behind in 0..=5u64 {
        for last in [false, true] {
            let mut s = Scene::living();
            let epoch = s.world.epoch();
            if last {
                s.world.warp_to_epoch(epoch + behind + 1);
                let slot = s.world.slot();
                s.world.warp_to_slot(slot - 1);
            } else if behind > 0 {
                s.world.warp_to_epoch(epoch + behind);
            }
            assert_eq!(s.world.epoch(), epoch + behind);
            match behind {
                0 => s.pays(1, USDC, epoch + 1, RENEWAL, 0),
                1 => s.pays(1, USDC, epoch + 1, RENEWAL, 0),
                2 | 3 => s.pays(1, USDC, epoch + 1, RENEWAL, 1),
                _ => s.pays(1, 4 * USDC, epoch + behind, REACTIVATION, 0),
            }
        }
    }
}

#[test]
fn grace_is_caught_up_and_paid_ahead_at_once_ok() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.world.advance_epochs(2);
    // A tick has marked the grace period; the payment clears the mark.
    s.world.send_ok(&[tick_lease(s.agent.mint)], &s.stranger, &[]);
    assert_eq!(s.lease().in_grace_period, 1);
    s.pays(10, 10 * USDC, epoch + 10, RENEWAL, 0);
}

#[test]
fn reactivation_costs_four_usdc_however_long_it_was_dead_ok() {
    for epochs in [4, 5, 1_000] {
        let mut s = Scene::living();
        s.world.advance_epochs(epochs);
        s.world.send_ok(&[tick_lease(s.agent.mint)], &s.stranger, &[]);
        assert_eq!(s.lease().deactivated, 1);
        let now = s.world.epoch();
        s.pays(1, 4 * USDC, now, REACTIVATION, 0);
        // The next payment is an ordinary one.
        s.pays(1, USDC, now + 1, RENEWAL, 0);
    }
}

#[test]
fn reactivation_with_further_epochs_on_top_ok() {
    let mut s = Scene::dead();
    let now = s.world.epoch();
    s.pays(6, 9 * USDC, now + 5, REACTIVATION, 0);
}

#[test]
fn reactivation_with_a_micro_usdc_too_little_fails() {
    let mut s = Scene::dead();
    let purse = s.world.usdc_account(&s.owner.pubkey());
    let set = |s: &mut Scene, amount: u64| {
        s.world.edit_data(&purse, |data| data[64..72].copy_from_slice(&amount.to_le_bytes()));
    };
    set(&mut s, 4 * USDC - 1);
    s.pay_refused(1, Error::InsufficientUsdc);
    set(&mut s, 4 * USDC);
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 0);
}

#[test]
fn zero_epochs_fail_in_every_state() {
    Scene::registered().pay_refused(0, Error::NoEpochs);
    let mut s = Scene::living();
    s.pay_refused(0, Error::NoEpochs);
    s.world.advance_epochs(1);
    s.pay_refused(0, Error::NoEpochs);
    s.world.advance_epochs(3);
    s.pay_refused(0, Error::NoEpochs);
}

#[test]
fn ten_years_ahead_is_the_most() {
    // First payment and reactivation begin with the current epoch, a renewal after it.
    let mut s = Scene::registered();
    let epoch = s.world.epoch();
    s.world.fund_usdc(&s.owner.pubkey(), 10_000 * USDC);
    s.pay_refused(3_652, Error::LeaseTooFarAhead);
    s.pays(3_651, 3_651 * USDC, epoch + 3_650, FIRST, 0);
    s.pay_refused(1, Error::LeaseTooFarAhead);
    s.world.advance_epochs(1);
    s.pays(1, USDC, epoch + 3_651, RENEWAL, 0);
    s.pay_refused(u32::MAX, Error::LeaseTooFarAhead);

    let mut s = Scene::dead();
    let now = s.world.epoch();
    s.world.fund_usdc(&s.owner.pubkey(), 10_000 * USDC);
    s.pay_refused(3_652, Error::LeaseTooFarAhead);
    s.pays(3_651, 3_654 * USDC, now + 3_650, REACTIVATION, 0);
}

#[test]
fn more_usdc_than_there_is_fails() {
    let mut s = Scene::registered();
    s.pay_refused(1_001, Error::InsufficientUsdc);
    let epoch = s.world.epoch();
    s.pays(1_000, 1_000 * USDC, epoch + 999, FIRST, 0);
}

#[test]
fn lamports_that_a_stranger_sent_there_first_block_nothing_ok() {
    let mut s = Scene::registered();
    gift(&mut s.world, &pda::lease(&s.agent.mint), 1_000_000);
    let epoch = s.world.epoch();
    s.treasury_balance();
    let lamports = s.world.lamports(&s.owner.pubkey());
    s.pays(1, USDC, epoch, FIRST, 0);
    let rent = s.world.rent(LeaseAccount::SIZE);
    assert_eq!(s.world.lamports(&pda::lease(&s.agent.mint)), rent);
    assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports - (rent - 1_000_000) - 5_000);
}

#[test]
fn a_pay_key_pays_with_its_own_usdc_ok() {
    let mut s = Scene::payable();
    let key = s.keys.pay.clone();
    let receipt = s.world.pay_lease(&s.agent, &key, 2).unwrap();
    assert_eq!(paid(&receipt).payer, key.at().to_bytes());
    assert_eq!(s.world.usdc_balance(&key.at()), 998 * USDC);
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), 1_000 * USDC);
    assert_eq!(s.lease().paid_through_epoch, s.world.epoch() + 1);
}

#[test]
fn a_pay_key_lasts_until_it_is_ended_ok() {
    let mut s = Scene::payable();
    let key = s.keys.pay.clone();
    s.world.advance_epochs(10_000);
    s.key_pays(&key);
    s.world.end_key(&s.agent, &s.owner, &key.at()).unwrap();
    s.key_refused(&key, Error::KeyEnded);
    assert_eq!(s.lease().paid_through_epoch, s.world.epoch());
}

#[test]
fn a_pay_key_pays_in_grace_and_reactivates_ok() {
    let mut s = Scene::living();
    let (epoch, key) = (s.world.epoch(), s.keys.pay.clone());
    s.fund(&key);
    s.world.advance_epochs(1);
    s.key_pays(&key);
    assert_eq!((s.lease().paid_through_epoch, s.lease().in_grace_period), (epoch + 1, 0));
    s.world.advance_epochs(4);
    let event = s.key_pays(&key);
    assert_eq!((event.kind, event.amount), (REACTIVATION, 4 * USDC));
}

#[test]
fn every_set_of_scopes_with_pay_pays_and_every_other_is_refused() {
    let s = Scene::opened();
    for scopes in 1..=15 {
        let mut s = s.fork();
        let key = s.world.new_key(&s.agent, &s.owner, Scopes(scopes));
        s.fund(&key);
        if scopes & 1 == 1 {
            s.key_pays(&key);
        } else {
            s.key_refused(&key, Error::ScopeMissing);
        }
    }
}

#[test]
fn a_key_pays_from_the_first_slot_of_its_first_epoch_on() {
    let mut s = Scene::staked();
    let key = s.world.new_key(&s.agent, &s.owner, Scopes::PAY);
    s.fund(&key);
    s.key_refused(&key, Error::KeyNotYetValid);
    s.world.wait_for_key(&s.agent, &key.at());
    let first = s.world.slot();
    s.world.warp_to_slot(first - 1);
    s.key_refused(&key, Error::KeyNotYetValid);
    s.world.warp_to_slot(first);
    s.key_pays(&key);
}

/// An ended pay key once kept the lease alive against the unlock.
#[test]
fn an_ended_key_pays_no_more_in_the_very_slot() {
    let mut s = Scene::dead();
    let key = s.keys.pay.clone();
    s.fund(&key);
    s.world.end_key(&s.agent, &s.owner, &key.at()).unwrap();
    s.key_refused(&key, Error::KeyEnded);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.advance_slots(100);
    s.key_refused(&key, Error::KeyEnded);
    // Nor when its account is closed.
    s.world.close_key(&s.agent, &key.at()).unwrap();
    s.key_refused(&key, Error::AccountMissing);
}

#[test]
fn a_former_holders_key_fails_before_and_after_the_take_over() {
    let mut s = Scene::payable();
    let key = s.keys.pay.clone();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.key_refused(&key, Error::FormerHoldersKey);
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.key_refused(&key, Error::FormerHoldersKey);
    // The buyer pays as the holder, before and after it.
    s.world.pay_lease(&s.agent, &buyer, 1).unwrap();
}

#[test]
fn a_key_of_another_agent_or_another_key_fails() {
    let mut s = Scene::payable();
    let (other, key, stranger) = (s.other_agent(), s.keys.pay.clone(), s.stranger.clone());
    let theirs = pda::key(&other.agent.mint, &other.keys.pay.at());
    s.key_with_refused(&key, Some(theirs), Error::WrongKey);
    let own = s.account_of(&key);
    s.key_with_refused(&stranger, Some(own), Error::WrongSigner);
    let batch = s.account_of(&s.keys.batch);
    s.key_with_refused(&key, Some(batch), Error::WrongSigner);
    // A key of another agent of the same owner.
    let second = s.world.register_agent(&s.owner);
    s.world.open_tenure(&second, &s.owner).unwrap();
    let of_second = s.world.new_key(&second, &s.owner, Scopes::PAY);
    s.fund(&of_second);
    let account = pda::key(&second.mint, &of_second.at());
    s.key_with_refused(&of_second, Some(account), Error::WrongKey);
}

#[test]
fn a_forged_key_fails() {
    let mut s = Scene::payable();
    let stranger = s.stranger.clone();
    let data = s.world.data(&s.account_of(&s.keys.pay));
    let forged = s.world.new_keypair().pubkey();
    // The right bytes with the stranger's key in them, of another program.
    let (at, mut named) = (8 + std::mem::offset_of!(KeyAccount, key), data.clone());
    named[at..at + 32].copy_from_slice(stranger.at().as_ref());
    for program in [[8; 32], ids::SYSTEM, ids::LEASE] {
        s.world.set_data(&forged, &Address::new_from_array(program), &named);
        s.key_with_refused(&stranger, Some(forged), Error::WrongAccountOwner);
    }
    // Of StakeLock, but of another type, version or length.
    let program = address(ids::STAKE_LOCK);
    s.world.set_data(&forged, &program, &s.world.data(&pda::tenure(&s.agent.mint)).clone());
    s.key_with_refused(&stranger, Some(forged), Error::WrongAccountType);
    for length in [0, 8, named.len() - 1] {
        s.world.set_data(&forged, &program, &named[..length]);
        s.key_with_refused(&stranger, Some(forged), Error::WrongAccountType);
    }
    named[KeyAccount::VERSION_AT] = 1;
    s.world.set_data(&forged, &program, &named);
    s.key_with_refused(&stranger, Some(forged), Error::WrongVersion);
}

/// The first edition's C2: one delegation that was ever seen was everybody's, for every agent of the wallet.
#[test]
fn a_sati_delegation_pays_nothing() {
    let mut s = Scene::payable();
    let stranger = s.stranger.clone();
    let delegation = s.world.create_delegate(&s.owner, &stranger.at(), &s.agent, 0);
    s.key_with_refused(&stranger, Some(delegation), Error::WrongAccountOwner);
    s.key_with_refused(&stranger, None, Error::NotAgentOwner);
}

#[test]
fn a_needless_key_account_does_not_hinder_the_holder_ok() {
    let mut s = Scene::payable();
    for account in [s.account_of(&s.keys.deal), s.world.new_keypair().pubkey()] {
        let owner = s.owner.clone();
        let instruction = s.payment(&owner, Some(account), 1);
        s.world.send_ok(&[instruction], &s.owner, &[]);
    }
    assert_eq!(s.lease().paid_through_epoch, s.world.epoch() + 1);
}

#[test]
fn a_holder_pays_without_a_tenure_ok() {
    let mut s = Scene::registered();
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    let (agent, buyer) = s.sell();
    s.world.pay_lease(&agent, &buyer, 1).unwrap();
    assert_eq!(s.lease().paid_through_epoch, s.world.epoch() + 1);
}

#[test]
fn a_stranger_fails() {
    let mut s = Scene::living();
    let stranger = s.stranger.clone();
    s.key_with_refused(&stranger, None, Error::NotAgentOwner);
    let (wallet, own) = (s.owner.pubkey(), s.account_of(&stranger));
    s.key_with_refused(&stranger, Some(wallet), Error::AccountMissing);
    s.key_with_refused(&stranger, Some(own), Error::AccountMissing);
}

#[test]
fn a_former_owner_fails_and_the_new_one_pays() {
    let mut s = Scene::living();
    let former: Agent = s.agent;
    let (agent, buyer) = s.sell();
    s.pay_refused(1, Error::AgentNotHeld);
    s.agent = agent;
    s.pay_refused(1, Error::NotAgentOwner);
    s.world.pay_lease(&s.agent, &buyer, 1).unwrap();
    assert_eq!(s.lease().paid_through_epoch, s.world.epoch() + 1);
    assert_ne!(former.token_account, agent.token_account);
}

#[test]
fn a_burned_agent_fails() {
    let mut s = Scene::living();
    s.world.burn_agent(&s.agent, &s.owner);
    s.pay_refused(1, Error::AgentNotHeld);
    let key = s.keys.pay.clone();
    s.fund(&key);
    s.key_refused(&key, Error::AgentNotHeld);
}

#[test]
fn the_owner_without_a_signature_fails() {
    let mut s = Scene::living();
    let instruction = unsigned(s.owners_payment(1), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn any_usdc_account_of_the_treasury_serves_ok() {
    let mut s = Scene::registered();
    let associated = s.world.treasury_usdc();
    let (aside, account) = (s.world.new_keypair().pubkey(), s.world.account(&associated).unwrap());
    s.world.set_account(&aside, account);
    let instruction = with_account(s.owners_payment(3), TREASURY_USDC, aside);
    s.world.send_ok(&[instruction], &s.owner, &[]);
    assert_eq!((s.world.token_balance(&aside), s.world.token_balance(&associated)), (3 * USDC, 0));
}

#[test]
fn an_account_that_is_not_the_treasurys_usdc_fails() {
    let mut s = Scene::registered();
    let (treasury, theirs) = (s.world.treasury().pubkey(), s.world.usdc_account(&s.stranger.pubkey()));
    s.pay_with_refused(TREASURY_USDC, theirs, Error::NotTreasury);
    let (fake, fake_2022) = (s.world.new_keypair(), s.world.new_keypair());
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    s.world.create_mint(&fake_2022, 6, &TOKEN_2022_PROGRAM);
    let other = s.world.fund_token(&treasury, &fake.pubkey(), 1, &TOKEN_PROGRAM);
    s.pay_with_refused(TREASURY_USDC, other, Error::WrongUsdcMint);
    let other = s.world.fund_token(&treasury, &fake_2022.pubkey(), 1, &TOKEN_2022_PROGRAM);
    s.pay_with_refused(TREASURY_USDC, other, Error::NotLegacyToken);
    s.pay_with_refused(TREASURY_USDC, treasury, Error::NotLegacyToken);
}

#[test]
fn money_that_is_not_the_authoritys_usdc_fails() {
    let mut s = Scene::registered();
    let theirs = s.world.usdc_account(&s.stranger.pubkey());
    s.pay_with_refused(AUTHORITY_USDC, theirs, Error::WrongTokenAccountOwner);
    let fake = s.world.new_keypair();
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let other = s.world.fund_token(&s.owner.pubkey(), &fake.pubkey(), USDC, &TOKEN_PROGRAM);
    s.pay_with_refused(AUTHORITY_USDC, other, Error::WrongUsdcMint);
}

#[test]
fn another_token_program_fails() {
    let mut s = Scene::registered();
    s.pay_with_refused(TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken);
}

#[test]
fn another_agents_accounts_fail() {
    let mut s = Scene::living();
    let other = s.other_agent().agent;
    s.pay_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAgent);
    s.pay_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
    s.pay_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
    let mut instruction = s.owners_payment(1);
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.owner_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn a_key_with_the_holders_place_empty_fails() {
    // The key's own account in the place of the token account, and the other way round.
    let mut s = Scene::payable();
    let (key, token) = (s.keys.pay.clone(), s.agent.token_account);
    let own = s.account_of(&key);
    let instruction = with_account(s.payment(&key, Some(own), 1), AGENT_TOKEN, own);
    s.world.send_refused(&[instruction], &key, &[]).expect_code(Error::AgentNotHeld.code());
    let instruction = with_account(s.payment(&key, Some(own), 1), KEY, token);
    s.world.send_refused(&[instruction], &key, &[]).expect_code(Error::WrongAccountOwner.code());
}

#[test]
fn a_second_lease_at_another_address_fails() {
    let mut s = Scene::dead();
    let elsewhere = s.world.new_keypair().pubkey();
    s.pay_with_refused(LEASE, elsewhere, Error::WrongAddress);
}
