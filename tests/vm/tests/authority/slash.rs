//! slash: only Challenge takes from a stake, and never more than is there.

use super::common::{
    Scene, VAULT_BYTES, WINDOW, forged_transaction, gift, only_event, send_unsigned, unsigned,
    unsigned_refused, with_account,
};
use super::relay::through_another_program;
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_instruction::{AccountMeta, Instruction};
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use solana_transaction_error::TransactionError;
use zx1_chain::instructions::lease::tick_lease;
use zx1_chain::instructions::stake_lock::slash;
use zx1_chain::pda;
use zx1_chain::token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::events::StakeSlashed;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{USDC, World, address};

const STAKE: usize = 1;
const VAULT: usize = 2;
const RECIPIENT: usize = 3;
const TOKEN: usize = 4;

/// Where the other program of these tests lies.
const OTHER_PROGRAM: Address = Address::new_from_array([66; 32]);

/// The legacy token program's refusal.
const MINT_MISMATCH: u32 = 3;

impl Scene {
    /// slash with Challenge's authority as the signer, in favor of the stranger.
    fn slash(&mut self, amount: u64) -> Instruction {
        let recipient = self.world.usdc_account(&self.stranger.pubkey());
        slash(self.agent.mint, pda::challenge_authority(), recipient, MicroUsdc(amount))
    }

    #[track_caller]
    fn slash_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.slash(1), place, at);
        unsigned_refused(&mut self.world, &instruction).expect_code(error.code());
    }

    fn vault(&self) -> u64 {
        self.world.stake_vault_balance(&self.agent)
    }
}

fn by(s: &mut Scene, wallet: &Keypair, amount: u64) -> Instruction {
    let recipient = s.world.usdc_account(&wallet.pubkey());
    slash(s.agent.mint, wallet.pubkey(), recipient, MicroUsdc(amount))
}

#[test]
fn a_wallet_fails_whoever_it_is() {
    let mut s = Scene::staked();
    let upgrade_authority = s.world.upgrade_authority();
    let (maintainer, treasury) = (s.world.maintainer(), s.world.treasury());
    s.world.set_lamports(&treasury.pubkey(), 10_000_000_000);
    let wallets =
        [s.owner.insecure_clone(), s.stranger.insecure_clone(), upgrade_authority, maintainer, treasury];
    for wallet in wallets {
        for amount in [0, 1, MIN_STAKE] {
            let instruction = by(&mut s, &wallet, amount);
            let refusal = s.world.send_refused(&[instruction], &wallet, &[]);
            refusal.expect_code(Error::NotChallengeProgram.code());
        }
    }
}

#[test]
fn challenges_authority_without_its_signature_fails() {
    let mut s = Scene::staked();
    let instruction = unsigned(s.slash(MIN_STAKE), 0);
    s.stranger_refused(&[instruction], Error::NotChallengeProgram);
}

#[test]
fn another_programs_derived_authority_fails() {
    // What another program can sign for: addresses derived from its own id, also from the same seed.
    let mut s = Scene::staked();
    for program in [ids::STAKE_LOCK, ids::FEEDBACK_LOG, ids::LEASE, [66; 32]] {
        let theirs = Address::find_program_address(&[b"authority"], &address(program)).0;
        s.slash_with_refused(0, theirs, Error::NotChallengeProgram);
    }
    // An address that Challenge signs for, but not this one.
    s.slash_with_refused(0, pda::event_authority(ids::CHALLENGE), Error::NotChallengeProgram);
}

#[test]
fn another_program_calls_and_signs_with_its_own_derived_authority_fails() {
    let mut s = Scene::living();
    let recipient = s.world.usdc_account(&s.stranger.pubkey());
    // The same seed as Challenge's authority has, under the other program's id.
    let (theirs, bump) = Address::find_program_address(&[b"authority"], &OTHER_PROGRAM);
    let call = slash(s.agent.mint, theirs, recipient, MicroUsdc(1));
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[&[b"authority", &[bump]]]);
    let refusal = s.world.send_refused(&[call], &s.stranger, &[]);
    refusal.expect_code(Error::NotChallengeProgram.code());
    assert_eq!(refusal.program(), Some(address(ids::STAKE_LOCK)));
}

#[test]
fn another_program_calls_and_names_challenges_authority_fails() {
    let mut s = Scene::living();
    // Without a signature it gets as far as StakeLock.
    let call = unsigned(s.slash(1), 0);
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[]);
    let refusal = s.world.send_refused(&[call], &s.stranger, &[]);
    refusal.expect_code(Error::NotChallengeProgram.code());
    assert_eq!(refusal.program(), Some(address(ids::STAKE_LOCK)));
    // As a signer, without seeds and with Challenge's own seeds, it does not: under another program's id they
    // are another address. (Under every second id they are none at all; this one is of the other half.)
    let bump = Address::find_program_address(&[b"authority"], &address(ids::CHALLENGE)).1;
    let challenges: &[&[u8]] = &[b"authority", &[bump]];
    let mut candidates = (100..=255).map(|byte| Address::new_from_array([byte; 32]));
    let id = candidates.find(|id| Address::create_program_address(challenges, id).is_ok()).unwrap();
    for signers in [&[][..], &[challenges]] {
        let call = s.slash(1);
        let call = through_another_program(&mut s.world, id, &call, signers);
        let refusal = s.world.send_refused(&[call], &s.stranger, &[]);
        assert_eq!(refusal.instruction_error(), Some(&InstructionError::PrivilegeEscalation));
        let reason = format!("{}'s signer privilege escalated", pda::challenge_authority());
        assert!(refusal.sent.logs.contains(&reason), "{refusal:?}");
    }
}

#[test]
fn the_other_program_of_these_tests_can_call_ok() {
    // Otherwise the refusals above would show nothing.
    let mut s = Scene::dead();
    let call = tick_lease(s.agent.mint);
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[]);
    s.world.send_ok(&[call], &s.stranger, &[]);
    assert_eq!(s.lease().deactivated, 1);
    // With a signature of its own, for an instruction that takes anybody's.
    let (theirs, bump) = Address::find_program_address(&[b"purse"], &OTHER_PROGRAM);
    gift(&mut s.world, &theirs, 5_000_000);
    let mut call = system::transfer(&theirs, &s.owner.pubkey(), 5_000_000);
    call.accounts.push(AccountMeta::new_readonly(address(ids::SYSTEM), false));
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[&[b"purse", &[bump]]]);
    s.world.send_ok(&[call], &s.stranger, &[]);
    assert_eq!(s.world.lamports(&theirs), 0);
}

#[test]
fn a_forged_signature_of_challenges_authority_never_reaches_the_program() {
    let mut s = Scene::staked();
    // Nobody has its key: the address is off the curve.
    assert!(!pda::challenge_authority().is_on_curve());
    let transaction = {
        let instruction = s.slash(1);
        forged_transaction(&mut s.world, &instruction)
    };
    let before = s.world.snapshot();
    let refusal = s.world.svm.send_transaction(transaction).unwrap_err();
    assert_eq!(refusal.err, TransactionError::SignatureFailure);
    assert!(refusal.meta.logs.is_empty());
    before.assert_unchanged(&s.world);
}

#[test]
fn challenge_takes_a_part_to_the_unit_ok() {
    let mut s = Scene::staked();
    let created = s.world.slot();
    s.world.advance_slots(5);
    let instruction = s.slash(3_333_333);
    let recipient = s.world.usdc_account(&s.stranger.pubkey());
    let (before, stake) = (s.world.snapshot(), s.stake());
    let receipt = send_unsigned(&mut s.world, &instruction).unwrap();

    let (stake_at, vault_at) = (pda::stake(&s.agent.mint), pda::stake_vault(&s.agent.mint));
    before.assert_only_changed(&s.world, &[s.world.faucet.pubkey(), stake_at, vault_at, recipient]);
    assert_eq!(s.vault(), 6_666_667);
    assert_eq!(s.world.usdc_balance(&s.stranger.pubkey()), 1_000 * USDC + 3_333_333);
    assert_eq!(s.stake(), StakeLockAccount { stake_usdc: 6_666_667, event_sequence: 2, ..stake });
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, StakeSlashed::read),
        StakeSlashed {
            agent_mint: s.agent.mint.0,
            amount: 3_333_333,
            recipient: recipient.to_bytes(),
            sequence: 1,
            account_created_slot: created,
        }
    );
}

#[test]
fn challenge_takes_the_whole_stake_and_the_accounts_stay_ok() {
    let mut s = Scene::staked();
    let instruction = s.slash(MIN_STAKE);
    send_unsigned(&mut s.world, &instruction).unwrap();
    assert_eq!((s.stake().stake_usdc, s.vault()), (0, 0));
    assert_eq!(s.world.lamports(&pda::stake(&s.agent.mint)), s.world.rent(StakeLockAccount::SIZE));
    assert_eq!(s.world.lamports(&pda::stake_vault(&s.agent.mint)), s.world.rent(VAULT_BYTES));
    assert_eq!(s.world.usdc_balance(&s.stranger.pubkey()), 1_010 * USDC);
    let instruction = s.slash(1);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::SlashExceedsStake.code());
}

#[test]
fn a_stake_in_the_unlock_queue_is_slashed_until_it_is_claimed_ok() {
    let mut s = Scene::queued();
    s.world.advance_slots(WINDOW);
    let stake = s.stake();
    let instruction = s.slash(4 * USDC);
    send_unsigned(&mut s.world, &instruction).unwrap();
    assert_eq!(s.stake(), StakeLockAccount { stake_usdc: 6 * USDC, event_sequence: 3, ..stake });
    s.world.claim_stake(&s.agent, &s.owner).unwrap();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), (1_000 - 1 - 4) * USDC);
}

#[test]
fn more_than_the_stake_fails() {
    let mut s = Scene::staked();
    for amount in [MIN_STAKE + 1, u64::MAX] {
        let instruction = s.slash(amount);
        unsigned_refused(&mut s.world, &instruction).expect_code(Error::SlashExceedsStake.code());
    }
}

#[test]
fn a_gift_in_the_vault_is_no_stake_fails() {
    let mut s = Scene::staked();
    let (mint, vault) = (s.world.usdc_mint(), pda::stake_vault(&s.agent.mint));
    let from = s.world.usdc_account(&s.stranger.pubkey());
    let donate = token::transfer(&from, &mint, &vault, &s.stranger.pubkey(), (50 * USDC, 6), &TOKEN_PROGRAM);
    s.world.send_ok(&[donate.unwrap()], &s.stranger, &[]);
    let instruction = s.slash(MIN_STAKE + 1);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::SlashExceedsStake.code());
}

#[test]
fn another_agents_stake_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent();
    s.slash_with_refused(STAKE, pda::stake(&other.mint), Error::WrongAgent);
    let mut instruction = s.slash(1);
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongAgent.code());
}

#[test]
fn another_agents_vault_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent();
    s.slash_with_refused(VAULT, pda::stake_vault(&other.mint), Error::WrongAddress);
    let theirs = s.world.usdc_account(&s.owner.pubkey());
    s.slash_with_refused(VAULT, theirs, Error::WrongAddress);
}

#[test]
fn another_token_program_fails() {
    let mut s = Scene::staked();
    s.slash_with_refused(TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken);
    s.slash_with_refused(TOKEN, address(ids::SYSTEM), Error::NotLegacyToken);
}

#[test]
fn a_recipient_of_another_mint_fails() {
    let mut s = Scene::staked();
    let fake = s.world.new_keypair();
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let theirs = s.world.fund_token(&s.stranger.pubkey(), &fake.pubkey(), 1, &TOKEN_PROGRAM);
    let instruction = with_account(s.slash(1), RECIPIENT, theirs);
    let refusal = unsigned_refused(&mut s.world, &instruction);
    refusal.expect_code(MINT_MISMATCH);
    assert_eq!(refusal.program(), Some(TOKEN_PROGRAM));
}

#[test]
fn without_a_stake_fails() {
    let mut s = Scene::registered();
    let instruction = s.slash(0);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::AccountMissing.code());
}

#[test]
fn a_forged_stake_fails() {
    let mut s = Scene::staked();
    let (forged, data) = (s.world.new_keypair().pubkey(), s.world.data(&pda::stake(&s.agent.mint)));
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
    s.slash_with_refused(STAKE, forged, Error::WrongAccountOwner);
}

#[test]
fn signatures_are_checked_again_afterwards() {
    // What the other tests rely on: the bypass lasts for one transaction.
    let mut s = Scene::staked();
    let instruction = s.slash(1);
    send_unsigned(&mut s.world, &instruction).unwrap();
    let world: &World = &s.world;
    assert!(world.svm.get_sigverify());
}
